"""Run a learner's objects on the probes and write down what they give, as plain JSON."""

import copy
import linecache
import math
import numbers
import traceback
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from .exercise import Exercise

# A right answer is far smaller. What is larger is cut, so that feedback and files stay readable.
_MOST_ITEMS, _MOST_CHARACTERS, _MOST_DEPTH = 1_000, 10_000, 6


def collect(exercise: Exercise, objects: tuple) -> list[Any]:
    """The answer to each public probe, in order. Each probe gets inputs of its own; an error is an answer."""
    return [answer(exercise, objects, probe.input) for probe in exercise.probes]


def answer(exercise: Exercise, objects: tuple, given: Mapping[str, Any]) -> Any:
    try:
        return plain(exercise.answer(*objects, **copy.deepcopy(dict(given))))
    except Exception as error:
        return _error(error)


def plain(value: Any, depth: int = _MOST_DEPTH) -> Any:
    """A value as JSON: a document becomes {"document": its id}, any series of things a list."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value[:_MOST_CHARACTERS]
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < 2**63 else {"unreadable": "a huge number"}
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else {"unreadable": str(number)}
    if depth == 0:
        return {"unreadable": "nested too deeply"}
    if isinstance(value, Mapping):
        if "content" in value:
            return {"document": plain(value.get("id", value["content"]), depth - 1)}
        return {str(key): plain(item, depth - 1) for key, item in islice(value.items(), _MOST_ITEMS)}
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return plain(value.item(), depth)
    if isinstance(value, Iterable):
        return [plain(item, depth - 1) for item in islice(value, _MOST_ITEMS)]
    return {"unreadable": type(value).__name__}


def _error(error: Exception) -> dict[str, Any]:
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, Exception)]
    return {"error": kinds, "message": str(error)[:300], "where": _where(error)}


def _where(error: Exception) -> str:
    """The last line of the learner's own code that the error passed through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "ipykernel" in frame.filename or frame.filename.startswith("<"):
            line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
            return f"line {frame.lineno}: {line}"[:200]
    return ""
