"""The notebooks of a unit as tests need them: as they are handed out, and the right solution cells."""

import copy
from functools import cache

import nbformat
from conftest import ROOT, released

UNIT = "04_retriever"


@cache
def _release(unit: str) -> nbformat.NotebookNode:
    return nbformat.reads(released(unit), as_version=4)


def release(unit: str = UNIT) -> nbformat.NotebookNode:
    """The learner notebook of a unit, as it is handed out; a copy for whoever asks."""
    return copy.deepcopy(_release(unit))


@cache
def solutions(unit: str = UNIT) -> dict[str, str]:
    """The right solution cells of a unit by their grade_ids."""
    solved = nbformat.read(ROOT / "solutions" / "notebooks" / unit / f"{unit}.ipynb", as_version=4)
    return {
        cell.id: cell.source for cell in solved.cells if cell.metadata.get("nbgrader", {}).get("solution")
    }
