"""What an exercise is: its parts, in the order in which a maintainer declares them."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from .compare import Comparison


@dataclass(frozen=True)
class Probe:
    """One input on which the learner's object is tried: plain JSON, the keyword arguments of ``answer``."""

    input: Mapping[str, Any]
    label: str  # how the feedback names it


@dataclass(frozen=True)
class Criterion:
    """One behaviour, worth points in proportion to the probes answered rightly.

    ``probes`` are the public ones. When a class is graded, ``draw`` makes as many fresh ones, other in every
    run; where an answer is a fact and no code (a metric worked out by hand), there is nothing to draw.
    """

    title: str
    points: float
    probes: tuple[Probe, ...]
    draw: Callable[[Random], tuple[Probe, ...]] | None = None


@dataclass(frozen=True, eq=False)
class Exercise:
    """An exercise. ``answer(*objects, **probe.input)`` runs the learner's objects on one probe.

    ``objects`` are the names that the learner defines, in the order in which check() takes them; the
    finished ones have the same names in hybrid_search. ``misconceptions`` maps the name of a wrong
    implementation in solutions/misconceptions to the sentence a learner with the same answers reads. Where the
    object is a dict of numbers instead of code, ``keys`` are those it must have.
    """

    id: str
    unit: str
    title: str
    objects: tuple[str, ...]
    answer: Callable[..., Any]
    compare: Comparison
    criteria: tuple[Criterion, ...]
    hints: tuple[str, ...]
    misconceptions: Mapping[str, str]
    keys: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        return sum(criterion.points for criterion in self.criteria)

    @property
    def probes(self) -> list[Probe]:
        """The probes, in the order of the criteria: the public ones, unless an exam added others."""
        return [probe for criterion in self.criteria for probe in criterion.probes]


def fingerprint(probes: Sequence[Probe]) -> str:
    """Changes when a probe changes, so that old answers are never held against new questions."""
    inputs = json.dumps([probe.input for probe in probes], sort_keys=True)
    return hashlib.sha256(inputs.encode()).hexdigest()[:16]
