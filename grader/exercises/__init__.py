"""Every exercise of the course, by name, in the order of the units."""

from ..exercise import Exercise
from . import retriever

_MODULES = (retriever,)

EXERCISES: dict[str, Exercise] = {
    exercise.id: exercise for module in _MODULES for exercise in module.EXERCISES
}
