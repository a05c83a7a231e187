"""Does a submission answer differently from run to run? Found by running it again with other seeds."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from ..cells import check_id, code_cells
from ..grades import SubmissionGrade
from ..sandbox.execution import Execution, Job
from ..scoring import answers_of

# What may come out otherwise in another process, and what is drawn afresh whatever the seeds are.
_ORDER = frozenset({"set", "frozenset", "hash", "id", "time", "datetime"})
_CHANCE = frozenset({"random", "secrets", "uuid", "urandom", "default_rng", "SystemRandom"})
_MAGICS = re.compile(r"^[%!?].*", re.MULTILINE)  # IPython's own lines
_MOST_CHARACTERS = 200_000


def worth_a_second_run(sources: Iterable[str], grade: SubmissionGrade) -> bool:
    """Might these cells answer differently next time, and would the learner want to know?

    Chance always is; the order of a set only where an attempt earned less than all its points.
    """
    names = {name for source in sources for name in _names(source)}
    if names & _CHANCE:
        return True
    lost = any(exercise.attempted and exercise.points < exercise.max_points for exercise in grade.exercises)
    return lost and bool(names & _ORDER)


def own_sources(notebook: Any, release: Any) -> tuple[str, ...]:
    """The code in a rebuilt notebook that is not the release's."""
    given = {cell.source for cell in release.cells}
    return tuple(cell.source for cell in code_cells(notebook) if cell.source not in given)


def with_other_seeds(job: Job) -> Job:
    """The same notebook with sets in another order and other random numbers."""
    return replace(job, hash_seed=(job.hash_seed + 1) % 2**32, random_seed=(job.random_seed + 1) % 2**32)


def unstable(notebook: Any, exercises: Iterable[str], first: Execution, second: Execution) -> set[str]:
    """The exercises whose answers differ. A run that was stopped shows nothing."""
    if first.stopped or second.stopped:
        return set()
    before, after = answers_of(notebook, first), answers_of(notebook, second)
    return {name for name in exercises if before.get(check_id(name)) != after.get(check_id(name))}


def _names(source: str) -> Iterator[str]:
    """The names that a cell's code mentions; "set" for the literals, too.

    "id" counts where it could order something: as a key, not where it is called to tell documents apart.
    """
    try:
        tree = ast.parse(_MAGICS.sub("pass", source[:_MOST_CHARACTERS]))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        match node:
            case ast.Set() | ast.SetComp():
                yield "set"
            case ast.keyword(arg="key", value=key):
                yield from (name.id for name in ast.walk(key) if isinstance(name, ast.Name))
            case ast.Name(id="id"):
                if id(node) not in called:
                    yield "id"
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield name
            case ast.Import(names=aliases):
                for alias in aliases:
                    yield from alias.name.split(".")
            case ast.ImportFrom(module=module, names=aliases):
                yield from (module or "").split(".")
                yield from (alias.name for alias in aliases)
