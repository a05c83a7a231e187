"""What grading needs to know of each unit beyond its exercises: the limits, and the files it takes."""

from dataclasses import dataclass, field

from .exercise import Exercise
from .exercises import EXERCISES
from .sandbox.limits import Limits


@dataclass(frozen=True)
class Unit:
    """A unit as the grader sees it. ``files`` are the endings of files that a submission may bring along."""

    name: str
    files: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def exercises(self) -> tuple[Exercise, ...]:
        """The unit's exercises, in the order of the notebook."""
        return tuple(exercise for exercise in EXERCISES.values() if exercise.unit == self.name)


_OF_THEIR_OWN = {
    # The learner compares three searches on a document of their own. bm25s loads numba where that is installed, which
    # takes 180 MB of addresses in a real kernel.
    "05_tuning": Unit(
        "05_tuning",
        files=(".md", ".txt"),
        limits=Limits(cell_seconds=90, notebook_seconds=240, memory=600_000_000),
    ),
    # A Postgres server starts inside the sandbox and keeps its files there: 290 MB in all, 420 MB in a real kernel.
    "06_postgres": Unit(
        "06_postgres",
        limits=Limits(cell_seconds=60, notebook_seconds=240, memory=600_000_000, disk=300_000_000),
    ),
    # In the optional part a Postgres server starts there, too; the cross-encoder takes its time. 420 MB, and 540 MB.
    "07_reranking": Unit(
        "07_reranking",
        limits=Limits(cell_seconds=60, notebook_seconds=240, memory=650_000_000, disk=300_000_000),
    ),
    # Qdrant runs inside the notebook, beside the embedding model: 420 MB in all, and more in a kernel of its own.
    "08_tree": Unit("08_tree", limits=Limits(cell_seconds=60, notebook_seconds=240, memory=700_000_000)),
    "09_knee": Unit("09_knee", limits=Limits(cell_seconds=60, notebook_seconds=240, memory=700_000_000)),
}

UNITS: dict[str, Unit] = {
    name: _OF_THEIR_OWN.get(name, Unit(name))
    for name in dict.fromkeys(exercise.unit for exercise in EXERCISES.values())
}


class UnknownUnit(ValueError):
    """There is no such unit; the message lists those there are."""


def unit_named(name: str) -> Unit:
    """The unit of this name. Raises UnknownUnit."""
    if name not in UNITS:
        raise UnknownUnit(f"There is no unit {name!r}. The units are: {', '.join(UNITS)}.")
    return UNITS[name]
