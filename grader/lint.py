"""What a notebook of the course must not have: one sentence for each fault."""

import re
from collections import Counter
from collections.abc import Iterator

import nbformat

from .cells import check_id, code_cells, grade_id
from .exercises import EXERCISES

_MOST_LINES, _MOST_SETUP_LINES = 40, 5
_MARKDOWN_IMAGE = re.compile(r"!\[(.*?)\][(\[]")
_HTML_IMAGE = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
_ALT = re.compile(r"""\balt\s*=\s*["'][^"']+["']""", re.IGNORECASE)


def faults(unit: str, notebook: nbformat.NotebookNode) -> Iterator[str]:
    """The faults of a solved notebook: empty or long cells, pictures without alt text, wrong exercises."""
    for position, cell in enumerate(notebook.cells):
        where = f"{unit}, cell {position + 1}"
        lines = cell.source.splitlines()
        if not cell.source.strip():
            yield f"{where} is empty"
        if len(lines) > _MOST_LINES:
            yield f"{where} has {len(lines)} lines: {_MOST_LINES} at most"
        if cell.cell_type == "markdown" and _without_alt(cell.source):
            yield f"{where} has a picture without alt text"
    yield from _setup_faults(unit, notebook)
    yield from _exercise_faults(unit, notebook)


def _without_alt(source: str) -> bool:
    return any(not alt.strip() for alt in _MARKDOWN_IMAGE.findall(source)) or any(
        not _ALT.search(tag) for tag in _HTML_IMAGE.findall(source)
    )


def _setup_faults(unit: str, notebook: nbformat.NotebookNode) -> Iterator[str]:
    first = next(iter(code_cells(notebook)), None)
    if first and len(first.source.splitlines()) > _MOST_SETUP_LINES:
        yield f"{unit}: the first code cell has more than {_MOST_SETUP_LINES} lines"


def _exercise_faults(unit: str, notebook: nbformat.NotebookNode) -> Iterator[str]:
    ids = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]
    yield from (f"{unit}: grade_id {name} stands {n} times" for name, n in Counter(ids).items() if n > 1)
    wanted = [exercise for exercise in EXERCISES.values() if exercise.unit == unit]
    for exercise in wanted:
        if exercise.id not in ids or check_id(exercise.id) not in ids:
            yield f"{unit}: {exercise.id} needs a solution cell and a check cell"
    for cell in notebook.cells:
        name = grade_id(cell)
        if name in EXERCISES and not (
            "### BEGIN SOLUTION" in cell.source and "### END SOLUTION" in cell.source
        ):
            yield f"{unit}: the solution of {name} is not between ### BEGIN SOLUTION and ### END SOLUTION"
        for exercise in EXERCISES.values():
            call = f'check("{exercise.id}", {", ".join(exercise.objects)})'
            if name == check_id(exercise.id) and cell.source.strip() != call:
                yield f"{unit}: the check cell of {exercise.id} must be {call}"
