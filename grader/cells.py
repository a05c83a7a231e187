"""What the cells of a notebook are: the code that runs, and the exercise that a cell belongs to."""

from typing import Any


def code_cells(notebook: Any) -> list[Any]:
    """The cells that run, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def grade_id(cell: Any) -> str:
    """nbgrader's name for a cell, or an empty text. A solution cell's is its exercise's."""
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def check_id(exercise: str) -> str:
    """The grade_id of the cell that checks an exercise."""
    return f"check_{exercise}"
