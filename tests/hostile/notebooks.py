"""Make submitted notebooks from the released ones: right solutions, wrong ones, cells of the learner's own."""

import json
from collections.abc import Callable, Iterable, Mapping
from textwrap import dedent
from typing import Any

import nbformat
from unit_notebooks import UNIT, release
from unit_notebooks import solutions as right

from .entry import Files


def changed(exercise: str, old: str, new: str, unit: str = UNIT) -> str:
    """The right solution of an exercise with one piece of its source replaced."""
    source = right(unit)[exercise]
    assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {exercise}"
    return source.replace(old, new)


def notebook(
    unit: str = UNIT,
    before: Mapping[str, str] | None = None,
    after: Mapping[str, str] | None = None,
    change: Callable[[nbformat.NotebookNode], Any] | None = None,
    **solutions: str | None,
) -> nbformat.NotebookNode:
    """A learner's notebook. Every exercise is solved rightly unless ``solutions`` has another source, or None.

    ``before`` and ``after`` put a cell of the learner's own beside the cell with that grade_id; ``change``
    may do anything to the notebook in the end.
    """
    made = release(unit)
    sources = {**right(unit), **solutions}
    cells = []
    for cell in made.cells:
        name = _graded(cell).get("grade_id", "")
        if sources.get(name):
            cell.source = dedent(sources[name]).strip()
        cells += [_own(before, name), cell, _own(after, name)]
    made.cells = [cell for cell in cells if cell is not None]
    if change:
        change(made)
    return made


def handed_in(unit: str = UNIT, name: str = "", **how: Any) -> Files:
    """A folder with one notebook, made as ``notebook`` says."""
    return {name or f"{unit}.ipynb": dump(notebook(unit, **how))}


def dump(made: Mapping[str, Any]) -> bytes:
    """The notebook as a file. Nothing is checked: what is broken stays so."""
    return json.dumps(made, indent=1).encode()


def graded_cell(made: nbformat.NotebookNode, grade_id: str) -> nbformat.NotebookNode:
    """The cell with this grade_id."""
    return next(cell for cell in made.cells if _graded(cell).get("grade_id") == grade_id)


def code_cells(made: Mapping[str, Any]) -> Iterable[Any]:
    return [cell for cell in made["cells"] if cell["cell_type"] == "code"]


def _own(cells: Mapping[str, str] | None, name: str) -> nbformat.NotebookNode | None:
    if not name or not cells or name not in cells:
        return None
    return nbformat.v4.new_code_cell(dedent(cells[name]).strip())


def _graded(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    return cell.get("metadata", {}).get("nbgrader", {})
