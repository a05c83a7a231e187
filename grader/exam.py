"""The questions of one grading run: the public probes of a unit's exercises, and as many drawn from a seed.

The inputs go into the sandbox, the expected answers never do. They are made here, by the finished system.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from random import Random
from typing import Any

from . import references
from .answers import run_probe
from .cells import code_cells
from .exercise import Criterion, Exercise, fingerprint
from .judge import Report, judge
from .outcome import Outcome
from .sandbox.execution import Job
from .units import unit_named


class Exam:
    """What a run asks in a unit. The same ``seed`` gives the same questions.

    Raises UnknownUnit, and StaleReference where the stored reference belongs to other probes.
    """

    def __init__(self, unit: str, seed: int) -> None:
        self.unit = unit_named(unit)
        self.seed = seed
        self.exercises: dict[str, Exercise] = {
            exercise.id: _with_drawn(exercise, seed) for exercise in self.unit.exercises
        }

    @cached_property
    def questions(self) -> dict[str, list[dict[str, Any]]]:
        """The inputs of all probes by exercise: all that a sandbox is told."""
        return {
            name: [dict(probe.input) for probe in exercise.probes]
            for name, exercise in self.exercises.items()
        }

    @cached_property
    def _references(self) -> dict[str, dict[str, Any]]:
        return {
            exercise.id: _reference(exercise, self.exercises[exercise.id]) for exercise in self.unit.exercises
        }

    def job(self, notebook: Any, files: Mapping[str, bytes] | None = None, hash_seed: int = 0) -> Job:
        """A notebook of the unit, ready to be run and asked."""
        return Job(
            unit=self.unit.name,
            cells=tuple(cell.source for cell in code_cells(notebook)),
            questions=self.questions,
            files=files or {},
            limits=self.unit.limits,
            hash_seed=hash_seed,
            random_seed=self.seed % 2**32,
        )

    def report(self, exercise: str, attempt: Any) -> Report:
        """The report on an attempt, which may be of any shape."""
        return judge(self.exercises[exercise], attempt, self._references[exercise])


def _with_drawn(exercise: Exercise, seed: int) -> Exercise:
    criteria = tuple(
        _drawn(criterion, Random(f"{seed} {exercise.id} {position}"))
        for position, criterion in enumerate(exercise.criteria)
    )
    return replace(exercise, criteria=criteria)


def _drawn(criterion: Criterion, random: Random) -> Criterion:
    if criterion.draw is None:
        return criterion
    drawn = criterion.draw(random)
    if len(drawn) != len(criterion.probes):
        raise RuntimeError(f"{criterion.title!r} draws {len(drawn)} probes and has {len(criterion.probes)}")
    return replace(criterion, probes=criterion.probes + drawn)


def _reference(public: Exercise, asked: Exercise) -> dict[str, Any]:
    """The expected outcomes of all probes. What a misconception gives is stored for the public ones alone."""
    import hybrid_search

    stored = references.load(public)
    finished = tuple(getattr(hybrid_search, name) for name in asked.objects)

    def expected(given: dict) -> Outcome:
        return asked.compare.expected(lambda inputs: run_probe(asked, finished, inputs), given)

    places: list[int | None] = []  # of each probe among the stored ones; None for a drawn probe
    for before, criterion in zip(public.criteria, asked.criteria, strict=True):
        start = sum(place is not None for place in places)
        places += range(start, start + len(before.probes))
        places += [None] * (len(criterion.probes) - len(before.probes))
    return {
        "probes": fingerprint(asked.probes),
        "expected": [
            expected(probe.input) if place is None else stored["expected"][place]
            for place, probe in zip(places, asked.probes, strict=True)
        ],
        "misconceptions": {
            name: [None if place is None else outcomes[place] for place in places]
            for name, outcomes in stored["misconceptions"].items()
        },
    }
