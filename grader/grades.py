"""What came of a submission, as it is kept in the graded notebook: points, notes, named mistakes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

# "graded": it ran, and this is what it earned. "missing", "unreadable" and "refused" earned nothing; "fault"
# is the grader's own failure and no grade at all.
GradeState = Literal["graded", "missing", "unreadable", "refused", "fault"]

METADATA = "hybrid_search"  # the key in a graded notebook's metadata


@dataclass(frozen=True)
class CriterionGrade:
    title: str
    points: float
    max_points: float


@dataclass(frozen=True)
class ExerciseGrade:
    """What an exercise earned. ``note`` says in a few words what else happened, such as "not attempted".

    ``unstable``: there were answers to judge, and they differ from run to run.
    """

    exercise: str
    points: float
    max_points: float
    note: str = ""
    attempted: bool = True
    criteria: tuple[CriterionGrade, ...] = ()
    misconceptions: tuple[str, ...] = ()
    unstable: bool = False


@dataclass(frozen=True)
class SubmissionGrade:
    """What a submission earned. ``reason`` explains a state other than "graded"; ``notes`` are the intake's."""

    unit: str
    state: GradeState
    exercises: tuple[ExerciseGrade, ...]
    reason: str = ""
    notes: tuple[str, ...] = ()
    seed: int = 0
    engine: str = ""  # "fork", "kernel", "none" (no sandbox), or empty where nothing ran

    @property
    def points(self) -> float:
        return round(sum(exercise.points for exercise in self.exercises), 2)

    @property
    def max_points(self) -> float:
        return sum(exercise.max_points for exercise in self.exercises)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "SubmissionGrade":
        """The grade that as_json wrote. Raises KeyError or TypeError for anything else."""
        exercises = tuple(
            ExerciseGrade(
                **{
                    **exercise,
                    "criteria": tuple(CriterionGrade(**criterion) for criterion in exercise["criteria"]),
                    "misconceptions": tuple(exercise["misconceptions"]),
                }
            )
            for exercise in stored["exercises"]
        )
        return cls(**{**stored, "exercises": exercises, "notes": tuple(stored["notes"])})
