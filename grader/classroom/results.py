"""What a class run left for one unit: the graded notebooks, each with its grade and its solution cells."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from ..grades import METADATA, GradeState, SubmissionGrade
from ..units import Unit
from .places import Places
from .similar import solution_cells


class NoResults(ValueError):
    """There is nothing to report on; the message says which command makes it."""


@dataclass(frozen=True)
class Result:
    """One learner's graded notebook. ``cells`` maps an exercise to the source of its solution cell."""

    learner: str
    grade: SubmissionGrade
    cells: Mapping[str, str]


@dataclass(frozen=True)
class ClassResults:
    """The class, in the order of the learners' names. ``damaged`` maps a learner to why nothing can be read."""

    unit: Unit
    results: tuple[Result, ...]
    damaged: Mapping[str, str]


def read_results(places: Places, unit: Unit, command: str) -> ClassResults:
    """The graded notebooks of a run.

    Raises NoResults, naming the ``command`` that makes them, where none is there or none can be read.
    """
    folder = places.autograded
    results, damaged = [], {}
    for learner, path in _graded_notebooks(folder, unit.name):
        try:
            results.append(_result(learner, path, unit))
        except OSError as error:
            damaged[learner] = f"{path.name} cannot be read: {error.strerror}"
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            damaged[learner] = "the graded notebook holds no grade that can be read; grade it again"
    if not results and damaged:
        raise NoResults(
            f"None of the {len(damaged)} graded notebooks of {unit.name} below {folder} holds a grade that "
            f"can be read. Grade them again: {command}"
        )
    if not results:
        raise NoResults(f"There is no graded notebook of {unit.name} below {folder}. Make them: {command}")
    return ClassResults(unit, tuple(results), damaged)


def _graded_notebooks(folder: Path, unit: str) -> Iterator[tuple[str, Path]]:
    try:
        learners = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise NoResults(f"{folder} cannot be read: {error.strerror}.") from error
    for learner in learners:
        if (learner / unit).is_dir():
            yield learner.name, learner / unit / f"{unit}.ipynb"


def _result(learner: str, path: Path, unit: Unit) -> Result:
    notebook = json.loads(path.read_bytes())
    grade = SubmissionGrade.from_json(notebook["metadata"][METADATA])
    if not _plausible(grade, unit):
        raise ValueError(f"{path} holds no grade of {unit.name}")
    return Result(learner, grade, solution_cells(notebook))


def _plausible(grade: SubmissionGrade, unit: Unit) -> bool:
    """Is it a grade of this unit, with texts where texts belong and numbers of a usual size?"""
    exercises = {exercise.id for exercise in unit.exercises}
    criteria = [criterion for exercise in grade.exercises for criterion in exercise.criteria]
    texts = [grade.reason, grade.engine, *grade.notes, *(criterion.title for criterion in criteria)]
    texts += [text for exercise in grade.exercises for text in (exercise.note, *exercise.misconceptions)]
    return (
        grade.unit == unit.name
        and grade.state in get_args(GradeState)
        and isinstance(grade.seed, int)
        and len(grade.exercises) == len(exercises)
        and {exercise.exercise for exercise in grade.exercises} == exercises
        and all(isinstance(text, str) for text in texts)
        and all(_within(scored.points, scored.max_points) for scored in (*grade.exercises, *criteria))
    )


def _within(points: object, max_points: object) -> bool:
    numbers = all(
        isinstance(number, int | float) and math.isfinite(number) for number in (points, max_points)
    )
    return numbers and 0 <= points <= max_points + 1e-9 and max_points > 0
