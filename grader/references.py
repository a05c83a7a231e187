"""The stored reference answers, which the build makes: read as JSON, without any solution at hand."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from .exercise import Exercise, fingerprint

FOLDER = Path(__file__).parent / "reference"


class StaleReference(Exception):
    """The stored reference is missing or belongs to other probes; the message says what to do."""


@cache
def load(exercise: Exercise) -> dict[str, Any]:
    """The stored reference of an exercise.

    "expected" holds one expected outcome a public probe, "misconceptions" the outcomes of each wrong
    implementation by its name. Raises StaleReference.
    """
    try:
        stored = json.loads((FOLDER / f"{exercise.id}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        stored = {}
    if stored.get("probes") != fingerprint(exercise.probes):
        raise StaleReference(
            f"The reference of {exercise.id} is missing or out of date: run python -m grader build, "
            "or install the course again."
        )
    return stored
