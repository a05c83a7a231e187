"""Learners whose solution cell of an exercise is the same code: worth a look, and no proof of anything.

Left out are cells where equality means nothing: the cell as it was released, the solution that the course
itself publishes, and a cell with fewer than LEAST_PARTS names, values, calls and statements more than the
released one. An exercise whose answer is numbers instead of code is not compared at all.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..exercise import Exercise
from .code_form import form_by_words, form_of

# Measured on the right solutions in tests/variants: what fits in one or two lines (rrf_score, find_term,
# cosine_distance, idf) stays below, the other exercises are above.
LEAST_PARTS = 40


@dataclass(frozen=True)
class SameCode:
    """Learners with the same code in an exercise, and each cell as it was written, in the same order."""

    exercise: str
    learners: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """What came of comparing an exercise's cells: the groups, and how many cells were left out and why."""

    groups: tuple[SameCode, ...] = ()
    compared: int = 0
    released: int = 0
    published: int = 0
    short: int = 0


def compare_cells(exercise: Exercise, cells: Mapping[str, str], released: str, published: str) -> Comparison:
    """Group the learners' cells, a mapping learner -> source. The largest group comes first."""
    if exercise.keys:
        return Comparison()
    stub, stub_by_words, solution = form_of(released), form_by_words(released), form_of(published)
    left_out = {"released": 0, "published": 0, "short": 0}
    found: dict[tuple[bool, str], list[str]] = defaultdict(list)
    for learner, source in cells.items():
        form = form_of(source)
        own = form.size - (stub if form.parsed else stub_by_words).size
        if form == stub:
            left_out["released"] += 1
        elif form == solution:
            left_out["published"] += 1
        elif own < LEAST_PARTS:
            left_out["short"] += 1
        else:
            found[form.parsed, form.text].append(learner)
    groups = [
        SameCode(exercise.id, tuple(sorted(learners)), tuple(cells[name] for name in sorted(learners)))
        for learners in found.values()
        if len(learners) > 1
    ]
    groups.sort(key=lambda group: (-len(group.learners), group.learners))
    return Comparison(tuple(groups), sum(map(len, found.values())), **left_out)


def solution_cells(notebook: Mapping[str, Any]) -> dict[str, str]:
    """The sources of a notebook's solution cells by exercise; of two with one grade_id the first counts.

    Raises KeyError, TypeError or AttributeError where it is no notebook.
    """
    cells: dict[str, str] = {}
    for cell in notebook["cells"]:
        graded = cell["metadata"].get("nbgrader", {})
        if graded.get("solution"):
            source = cell["source"]
            cells.setdefault(graded["grade_id"], source if isinstance(source, str) else "".join(source))
    return cells
