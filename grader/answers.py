"""Run a learner's objects on probes and write down what they give, as plain JSON."""

import contextlib
import copy
import io
import linecache
import math
import numbers
import traceback
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from .display import clip, show
from .exercise import Exercise, Probe, fingerprint
from .language import translate as _
from .outcome import Outcome

# A right answer is far smaller. What is larger is cut, so that feedback and files stay readable.
_MOST_ITEMS, _MOST_CHARACTERS, _MOST_DEPTH = 3_000, 10_000, 6


def attempt(exercise: Exercise, objects: tuple, probes: Sequence[Probe]) -> dict[str, Any]:
    """Everything that judging needs to know of a try, as plain JSON; no answer is expected here.

    "problem" says what is wrong with the call itself, and then nothing was run; "answers" holds one outcome a
    probe, in order.
    """
    problem = call_problem(exercise, objects)
    answers = [] if problem else [run_probe(exercise, objects, probe.input) for probe in probes]
    return {"exercise": exercise.id, "probes": fingerprint(probes), "problem": problem, "answers": answers}


def call_problem(exercise: Exercise, objects: tuple) -> str:
    """What is wrong with a call of check(), as a sentence; empty where nothing is."""
    call = f'check("{exercise.id}", {", ".join(exercise.objects)})'
    if len(objects) != len(exercise.objects):
        return _("Call it as {call}: you gave {count} objects.").format(call=call, count=len(objects))
    if exercise.keys:
        return _numbers_problem(exercise, call, objects[0])
    for name, written in zip(exercise.objects, objects, strict=True):
        if name[0].isupper() and not isinstance(written, type):
            return _("Call it as {call}: give the class {name} itself, not an object made from it.").format(
                call=call, name=name
            )
        if not callable(written):
            return _("Call it as {call}: give the function {name} itself, without calling it.").format(
                call=call, name=name
            )
    return ""


def _numbers_problem(exercise: Exercise, call: str, written: object) -> str:
    """The same for a dict of numbers. A None is no problem: it stands for a number still to come."""
    name, keys = exercise.objects[0], ", ".join(f'"{key}"' for key in exercise.keys)
    if not isinstance(written, Mapping):
        return _("Call it as {call}: {name} must be a dict with the keys {keys}.").format(
            call=call, name=name, keys=keys
        )
    for key in exercise.keys:
        if key not in written:
            return _('{name} has no "{key}": it needs the keys {keys}.').format(name=name, key=key, keys=keys)
    for key in written:
        if key not in exercise.keys:
            return _('"{key}" is not asked for: {name} needs the keys {keys}, and no other.').format(
                key=clip(str(key)), name=name, keys=keys
            )
    for key, value in written.items():
        number = plain(value)
        if isinstance(number, str):
            return _('"{key}" is the text {text}: write a number, without quotes.').format(
                key=key, text=clip(repr(number))
            )
        if number is not None and (isinstance(number, bool) or not isinstance(number, int | float)):
            return _('"{key}" must be one number: you gave {value}.').format(
                key=key, value=clip(show(number))
            )
    return ""


def run_probe(exercise: Exercise, objects: tuple, given: Mapping[str, Any]) -> Outcome:
    """The outcome of one probe. It gets an input of its own; an error is an outcome like any other.

    Warnings and what is written on stderr are dropped: nbgrader takes either for a failure.
    """
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            return {"value": plain(exercise.answer(*objects, **copy.deepcopy(dict(given))))}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a learner's code may raise anything, SystemExit among it
        return _raised(error)


def plain(value: Any) -> Any:
    """A value as JSON: a document becomes {"document": its id}, any series of things a list."""
    return _plain(value, _MOST_DEPTH, _Budget(_MOST_ITEMS))


class _Budget:
    """How many items an answer may still hold, all its levels together."""

    def __init__(self, items: int) -> None:
        self.left = items

    def take(self, items: Iterable) -> Iterator:
        """The items, as long as the budget lasts."""
        for item in items:
            if self.left <= 0:
                return
            self.left -= 1
            yield item


def _plain(value: Any, depth: int, budget: _Budget) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _sendable(str.__str__(value)[:_MOST_CHARACTERS])
    if isinstance(value, numbers.Integral):
        return int(value) if abs(int(value)) < 2**63 else {"unreadable": _("a huge number")}
    if isinstance(value, numbers.Real):
        number = float(value)
        return number if math.isfinite(number) else {"unreadable": str(number)}
    if depth == 0:
        return {"unreadable": _("nested too deeply")}
    if isinstance(value, set | frozenset):
        return {"unreadable": _("a set, which has no order")}
    if isinstance(value, Mapping):
        if "content" in value:
            return {"document": _plain(value.get("id", value["content"]), depth - 1, budget)}
        items = budget.take(value.items())
        return {_sendable(str(key)): _plain(item, depth - 1, budget) for key, item in items}
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:
        return _plain(value.item(), depth, budget)
    if isinstance(value, Iterable):
        return [_plain(item, depth - 1, budget) for item in budget.take(value)]
    return {"unreadable": type(value).__name__}


def _sendable(text: str) -> str:
    """The text without lone surrogates, which no notebook can show."""
    return text.encode("utf-8", "backslashreplace").decode()


def _raised(error: BaseException) -> Outcome:
    names = [kind.__name__ for kind in type(error).__mro__ if kind not in (BaseException, object)]
    try:
        message = _sendable(str(error)[:300])
    except Exception:
        message = ""
    return {"error": names, "message": message, "where": _where(error)}


def _where(error: BaseException) -> str:
    """The last line of the learner's own code that the error passed through."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if "ipykernel" in frame.filename or frame.filename.startswith("<"):
            line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
            return f"line {frame.lineno}: {line}"[:200]
    return ""
