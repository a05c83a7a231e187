"""The class in numbers: scores, points by criterion, the mistakes met, and what else happened."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..exercise import Exercise
from ..grades import ExerciseGrade
from ..scoring import unstable_sentence
from .results import ClassResults, Result

UNSTABLE = "unstable"  # the name of the mistake
_TINY = 1e-9  # points are sums of fractions


@dataclass
class CriterionSummary:
    """How a criterion went, among the learners whose answers were judged."""

    exercise: str
    title: str
    max_points: float
    points: list[float] = field(default_factory=list)  # one number a learner

    @property
    def share(self) -> float | None:
        """The mean share of the criterion's points, from 0 to 1; None where nothing was judged."""
        return sum(self.points) / (len(self.points) * self.max_points) if self.points else None

    @property
    def all(self) -> int:
        return sum(points >= self.max_points - _TINY for points in self.points)

    @property
    def none(self) -> int:
        return sum(points <= _TINY for points in self.points)

    @property
    def part(self) -> int:
        return len(self.points) - self.all - self.none


@dataclass(frozen=True)
class Mistake:
    """A mistake and who made it. ``name`` and ``sentence`` are empty for mistakes that have no name."""

    exercise: str
    name: str
    sentence: str
    learners: tuple[str, ...]


@dataclass(frozen=True)
class Event:
    """Why an exercise has no answer to judge, in the words of the grade's note, and for whom."""

    exercise: str
    what: str
    learners: tuple[str, ...]


def judged(grade: ExerciseGrade) -> bool:
    """Was there an answer to judge? Where there was none, a note says why and there are no points."""
    silent = grade.note and not grade.points and not grade.unstable
    return grade.attempted and bool(grade.criteria) and not silent


def graded(class_results: ClassResults) -> list[Result]:
    """The submissions that ran; the others have no points, or no grade at all."""
    return [result for result in class_results.results if result.grade.state == "graded"]


def score_counts(scores: Iterable[float], max_points: float) -> list[int]:
    """How many scores lie in each whole point: from 0 to under 1, ..., and at the full number."""
    counts = [0] * (int(max_points) + 1)
    for score in scores:
        counts[min(int(score + _TINY), len(counts) - 1)] += 1
    return counts


def criteria(exercises: Sequence[Exercise], results: Iterable[Result]) -> list[CriterionSummary]:
    """Every criterion, in the order of the notebook."""
    found = {
        (exercise.id, criterion.title): CriterionSummary(exercise.id, criterion.title, criterion.points)
        for exercise in exercises
        for criterion in exercise.criteria
    }
    for result in results:
        for grade in filter(judged, result.grade.exercises):
            for criterion in grade.criteria:
                # A criterion that the course has no more is left out.
                if summary := found.get((grade.exercise, criterion.title)):
                    summary.points.append(criterion.points)
    return list(found.values())


def mistakes(exercises: Sequence[Exercise], results: Iterable[Result]) -> list[Mistake]:
    """The mistakes met, most frequent first; equally frequent ones in the order of the notebook.

    That answers differ from run to run is one, named UNSTABLE, whatever points they earned.
    """
    met: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        for grade in result.grade.exercises:
            names = [*grade.misconceptions, *([UNSTABLE] if grade.unstable else [])]
            for name in names:
                met[grade.exercise, name].append(result.learner)
            if not names and judged(grade) and grade.points < grade.max_points - _TINY:
                met[grade.exercise, ""].append(result.learner)
    known = {
        exercise.id: {UNSTABLE: unstable_sentence(), **exercise.misconceptions} for exercise in exercises
    }
    order = list(known)
    listed = [
        Mistake(exercise, name, known[exercise].get(name, name), tuple(learners))
        for (exercise, name), learners in met.items()
    ]
    return sorted(
        listed, key=lambda mistake: (-len(mistake.learners), order.index(mistake.exercise), mistake.name)
    )


def events(exercises: Sequence[Exercise], results: Iterable[Result]) -> list[Event]:
    """Why exercises have no answer to judge: exercise by exercise, the most frequent reason first."""
    met: dict[tuple[str, str], list[str]] = defaultdict(list)
    for result in results:
        for grade in result.grade.exercises:
            if not judged(grade):
                met[grade.exercise, grade.note or "no answer"].append(result.learner)
    order = [exercise.id for exercise in exercises]
    listed = [Event(exercise, what, tuple(learners)) for (exercise, what), learners in met.items()]
    return sorted(listed, key=lambda event: (order.index(event.exercise), -len(event.learners), event.what))
