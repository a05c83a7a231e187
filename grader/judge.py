"""Compare answers with the reference: points, the first difference, and the mistake behind it.

Nothing here runs a learner's code: answers come in as plain JSON.
"""

from dataclasses import dataclass
from typing import Any, Literal

from .compare import Row
from .display import error_of, show
from .exercise import Criterion, Exercise, Probe

State = Literal["ok", "partly", "wrong", "to do"]
_STUB = "NotImplementedError"


@dataclass(frozen=True)
class Difference:
    """The first wrong answer of a criterion: the question, and both answers side by side or the error."""

    question: str
    rows: tuple[Row, ...] = ()
    raised: str = ""


@dataclass(frozen=True)
class Verdict:
    """What came of one criterion."""

    title: str
    state: State
    points: float
    max_points: float
    difference: Difference | None = None
    misconception: str | None = None


@dataclass(frozen=True)
class Report:
    """What came of an exercise. ``points`` is never above ``max_points``."""

    exercise: Exercise
    verdicts: tuple[Verdict, ...]

    @property
    def points(self) -> float:
        return round(sum(verdict.points for verdict in self.verdicts), 2)

    @property
    def max_points(self) -> float:
        return self.exercise.points

    @property
    def attempted(self) -> bool:
        return any(verdict.state != "to do" for verdict in self.verdicts)


def judge(exercise: Exercise, answers: list[Any], reference: dict[str, Any]) -> Report:
    """``answers`` holds one answer a probe, in order; ``reference`` is what references.load gives."""
    expected = reference["expected"]
    right = [exercise.compare.right(e, a) for e, a in zip(expected, answers, strict=True)]
    likeness = {
        name: [exercise.compare.alike(a, m) for a, m in zip(answers, given, strict=True)]
        for name, given in reference["misconceptions"].items()
    }
    verdicts, start = [], 0
    for criterion in exercise.criteria:
        part = range(start, start + len(criterion.probes))
        start = part.stop
        verdicts.append(_verdict(exercise, criterion, part, answers, expected, right, likeness))
    return Report(exercise, tuple(verdicts))


def _verdict(
    exercise: Exercise,
    criterion: Criterion,
    part: range,
    answers: list[Any],
    expected: list[Any],
    right: list[bool],
    likeness: dict[str, list[bool]],
) -> Verdict:
    wrong = [i for i in part if not right[i]]
    points = criterion.points * (len(part) - len(wrong)) / len(part)
    if not wrong:
        return Verdict(criterion.title, "ok", points, criterion.points)
    if all(error_of(answers[i]) == _STUB for i in wrong):
        return Verdict(criterion.title, "partly" if points else "to do", points, criterion.points)
    first = next(i for i in wrong if error_of(answers[i]) != _STUB)
    return Verdict(
        criterion.title,
        "partly" if points else "wrong",
        points,
        criterion.points,
        _difference(exercise, criterion.probes[first - part.start], expected[first], answers[first]),
        _misconception([first, *(i for i in wrong if i != first)], likeness),
    )


def _misconception(wrong: list[int], likeness: dict[str, list[bool]]) -> str | None:
    """The misconception that gives the same wrong answers in this criterion, and the most alike everywhere.

    Two mistakes at once agree with neither everywhere. One that explains the answer shown, and at least half
    of all answers, is named too.
    """
    fitting = [
        name
        for name, alike in likeness.items()
        if all(alike[i] for i in wrong) or (alike[wrong[0]] and sum(alike) >= len(alike) / 2)
    ]
    return max(
        fitting, key=lambda name: (all(likeness[name][i] for i in wrong), sum(likeness[name])), default=None
    )


def _difference(exercise: Exercise, probe: Probe, expected: Any, answer: Any) -> Difference:
    if error_of(answer):
        return Difference(probe.label, raised=_raised(answer))
    if error_of(expected):
        return Difference(probe.label, (Row(1, error_of(expected), show(answer)[:60], "no error"),))
    return Difference(probe.label, tuple(exercise.compare.rows(expected, answer)))


def _raised(answer: dict[str, Any]) -> str:
    text = error_of(answer)
    if answer.get("message"):
        text += f": {answer['message']}"
    return f"{text} ({answer['where']})" if answer.get("where") else text
