"""The expected answers: made from the finished system by the build, read as JSON by everybody else."""

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from .answers import answer, collect
from .display import error_of
from .exercise import Exercise

FOLDER = Path(__file__).parent / "reference"


@cache
def load(exercise: Exercise) -> dict[str, Any]:
    """The stored reference of an exercise: "expected", one a probe, and "misconceptions", name -> answers."""
    try:
        stored = json.loads((FOLDER / f"{exercise.id}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        stored = {}
    if stored.get("probes") != fingerprint(exercise):
        raise RuntimeError(f"the reference of {exercise.id} is out of date: run python -m grader build")
    return stored


def fingerprint(exercise: Exercise) -> str:
    """Changes when a probe changes, so that old answers are never held against new questions."""
    inputs = json.dumps([probe.input for probe in exercise.probes], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:16]


def make(exercise: Exercise) -> dict[str, Any]:
    """Work out the reference of an exercise from hybrid_search and solutions/misconceptions."""
    import hybrid_search

    finished = tuple(getattr(hybrid_search, name) for name in exercise.objects)
    return _stable(
        {
            "exercise": exercise.id,
            "probes": fingerprint(exercise),
            "expected": [
                exercise.compare.expected(lambda given: answer(exercise, finished, given), probe.input)
                for probe in exercise.probes
            ],
            "misconceptions": {
                name: collect(exercise, objects) for name, objects in implementations(exercise).items()
            },
        }
    )


def _stable(value: Any) -> Any:
    """The same on every machine: numbers without their last digits, errors without Python's own words."""
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, list):
        return [_stable(item) for item in value]
    if isinstance(value, dict):
        kept = {"error": value["error"]} if error_of(value) else value
        return {key: _stable(item) for key, item in kept.items()}
    return value


def implementations(exercise: Exercise) -> dict[str, tuple]:
    """The wrong implementations of an exercise, by name, in the order in which it declares them."""
    from misconceptions import IMPLEMENTATIONS

    written = IMPLEMENTATIONS[exercise.id]
    if set(written) != set(exercise.misconceptions):
        raise RuntimeError(
            f"{exercise.id}: declared and written misconceptions differ: "
            f"{sorted(set(written) ^ set(exercise.misconceptions))}"
        )
    return {name: written[name] for name in exercise.misconceptions}
