"""Compare answers with the reference: points, the first difference, and the mistake behind it.

Nothing here runs a learner's code: an attempt comes in as plain JSON, and may be of any shape.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .compare import Row
from .display import clip, show
from .exercise import Criterion, Exercise, Probe, fingerprint
from .outcome import NOT_ATTEMPTED, NOTHING, Outcome, checked, error_name

State = Literal["ok", "partly", "wrong", "to do"]


@dataclass(frozen=True)
class Difference:
    """The first wrong answer of a criterion: the question, and both answers side by side or the error.

    ``heading`` names the rows' positions; ``none`` says that the learner's answer was None.
    """

    question: str
    rows: tuple[Row, ...] = ()
    heading: str = ""
    raised: str = ""
    none: bool = False


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
    """What came of an exercise. ``problem`` says why nothing could be tried at all."""

    exercise: Exercise
    verdicts: tuple[Verdict, ...]
    problem: str = ""

    @property
    def points(self) -> float:
        return min(round(sum(verdict.points for verdict in self.verdicts), 2), self.max_points)

    @property
    def max_points(self) -> float:
        return self.exercise.points

    @property
    def attempted(self) -> bool:
        return any(verdict.state != "to do" for verdict in self.verdicts)

    @property
    def misconceptions(self) -> list[str]:
        """The named mistakes, each once, in the order of the criteria."""
        return list(
            dict.fromkeys(verdict.misconception for verdict in self.verdicts if verdict.misconception)
        )


def judge(exercise: Exercise, attempt: Any, reference: dict[str, Any]) -> Report:
    """The report on an attempt, which answers.attempt wrote; ``reference`` is what references.load gives.

    Where a misconception's outcome for a probe is not known, it is None there.
    """
    attempt = attempt if isinstance(attempt, dict) else {}
    problem = attempt.get("problem")
    yours = _outcomes(attempt, exercise.probes)
    expected = reference["expected"]
    right = [exercise.compare.right(e, y) for e, y in zip(expected, yours, strict=True)]
    likeness = {
        name: [
            None if theirs is None else exercise.compare.alike(y, theirs)
            for y, theirs in zip(yours, outcomes, strict=True)
        ]
        for name, outcomes in (() if all(right) else reference["misconceptions"].items())
    }
    verdicts, start = [], 0
    for criterion in exercise.criteria:
        part = range(start, start + len(criterion.probes))
        start = part.stop
        verdicts.append(_verdict(exercise, criterion, part, yours, expected, right, likeness))
    return Report(exercise, tuple(verdicts), problem if isinstance(problem, str) else "")


def _outcomes(attempt: dict, probes: Sequence[Probe]) -> list[Outcome]:
    """One outcome a probe; what is missing, of another shape, or for other probes is NOTHING."""
    answers = attempt.get("answers")
    if not isinstance(answers, list) or attempt.get("probes") != fingerprint(probes):
        answers = []
    return [checked(answers[i]) if i < len(answers) else NOTHING for i in range(len(probes))]


def _verdict(
    exercise: Exercise,
    criterion: Criterion,
    part: range,
    yours: list[Outcome],
    expected: list[Outcome],
    right: list[bool],
    likeness: dict[str, list[bool | None]],
) -> Verdict:
    wrong = [i for i in part if not right[i]]
    points = criterion.points * (len(part) - len(wrong)) / len(part)
    if not wrong:
        return Verdict(criterion.title, "ok", points, criterion.points)
    tried = [i for i in wrong if error_name(yours[i]) != NOT_ATTEMPTED]
    if not tried:
        return Verdict(criterion.title, "partly" if points else "to do", points, criterion.points)
    first = tried[0]
    return Verdict(
        criterion.title,
        "partly" if points else "wrong",
        points,
        criterion.points,
        _difference(exercise, criterion.probes[first - part.start], expected[first], yours[first]),
        _misconception(first, wrong, likeness),
    )


def _misconception(first: int, wrong: list[int], likeness: dict[str, list[bool | None]]) -> str | None:
    """The misconception that gives the same wrong answers in this criterion, and the most alike everywhere.

    Two mistakes at once agree with neither everywhere. One that explains the answer shown, and at least half
    of all answers, is named too. Probes of which nothing is known (None) count neither way.
    """

    def explains_all(name: str) -> bool:
        known = [likeness[name][i] for i in wrong if likeness[name][i] is not None]
        return bool(known) and all(known)

    def share(name: str) -> float:
        known = [alike for alike in likeness[name] if alike is not None]
        return sum(known) / len(known)

    fitting = [
        name for name in likeness if explains_all(name) or (likeness[name][first] and share(name) >= 0.5)
    ]
    return max(fitting, key=lambda name: (explains_all(name), share(name)), default=None)


def _difference(exercise: Exercise, probe: Probe, expected: Outcome, yours: Outcome) -> Difference:
    if error_name(yours):
        return Difference(probe.label, raised=_raised(yours))
    if error_name(expected):
        row = Row(None, error_name(expected), clip(show(yours["value"])), "no error")
        return Difference(probe.label, (row,))
    return Difference(
        probe.label,
        tuple(exercise.compare.rows(expected, yours["value"])),
        exercise.compare.heading,
        none=yours["value"] is None,
    )


def _raised(yours: Outcome) -> str:
    text = error_name(yours)
    if yours.get("message"):
        text += f": {yours['message']}"
    return f"{text} ({yours['where']})" if yours.get("where") else text
