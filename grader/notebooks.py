"""From a percent file to the solved notebook, and from there, through nbgrader, to the learner's."""

import shutil
import tempfile
from pathlib import Path

import jupytext
import nbformat

from .cells import check_id
from .exercises import EXERCISES
from .paths import ROOT

_KERNEL = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def solved(source: Path) -> nbformat.NotebookNode:
    """The solved notebook of a percent file. Cells are marked ``exercise="name"`` or ``check="name"``.

    Points and grade_ids come from the exercise's declaration; cell ids are the same on every build.
    """
    notebook = jupytext.reads(source.read_text(encoding="utf-8"), fmt="py:percent")
    notebook.metadata = nbformat.from_dict(_KERNEL)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for position, cell in enumerate(notebook.cells):
        graded = _nbgrader(source, cell)
        cell.metadata = nbformat.from_dict({"nbgrader": graded} if graded else {})
        cell.id = graded["grade_id"] if graded else f"cell-{position:02d}"
    return notebook


def _nbgrader(source: Path, cell: nbformat.NotebookNode) -> dict | None:
    exercise, check = cell.metadata.get("exercise"), cell.metadata.get("check")
    name = exercise or check
    if not name:
        return None
    if name not in EXERCISES or EXERCISES[name].unit != source.stem:
        raise ValueError(f"{source.name}: {name!r} is not an exercise of unit {source.stem}")
    common = {"schema_version": 3, "task": False, "cell_type": cell.cell_type}
    if exercise:
        return {**common, "grade_id": name, "grade": False, "solution": True, "locked": False}
    return {
        **common,
        "grade_id": check_id(name),
        "grade": True,
        "solution": False,
        "locked": True,
        "points": EXERCISES[name].points,
    }


def worked_in(path: Path) -> bool:
    """Has somebody run this notebook? A generated one holds no output and no execution count."""
    if path.suffix != ".ipynb" or not path.exists():
        return False
    try:
        cells = nbformat.read(path, as_version=4).cells
    except Exception:  # of many kinds, for a file that is no notebook
        return False
    return any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


def write(notebook: nbformat.NotebookNode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")


def release(root: Path) -> None:
    """Make the learner notebook of every solved one below ``root``, with nbgrader."""
    from nbgrader.converters import GenerateAssignment
    from nbgrader.coursedir import CourseDirectory

    from .nbgrader_course import course_config

    config = course_config(root)
    # The gradebook hears of an assignment when a class is graded, not when notebooks are built.
    config.GenerateAssignment.no_database = True
    config.SaveCells.enabled = False
    for unit in sorted(folder.name for folder in (root / "solutions" / "notebooks").iterdir()):
        config.CourseDirectory.assignment_id = unit
        GenerateAssignment(coursedir=CourseDirectory(config=config), config=config).start()


def released(unit: str) -> nbformat.NotebookNode:
    """The learner notebook of a unit as it is handed out, also where somebody has worked in the one here."""
    path = Path("notebooks") / unit / f"{unit}.ipynb"
    if (ROOT / path).is_file() and not worked_in(ROOT / path):
        return nbformat.read(ROOT / path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        source = Path("solutions/notebooks") / unit
        shutil.copytree(ROOT / source, Path(folder) / source)
        release(Path(folder))
        return nbformat.read(Path(folder) / path, as_version=4)
