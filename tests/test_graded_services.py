"""Unit 06 in a grading run: its Postgres server starts inside the sandbox, without a network."""

import nbformat
import pytest
from conftest import ROOT, need
from sandboxes import text

from grader.cells import grade_id
from grader.exam import Exam
from grader.sandbox import confinement, engines
from grader.scoring import score

UNIT = "06_postgres"
LISTENS = "lab.postgres().execute('SHOW listen_addresses').fetchone()"


@pytest.fixture(autouse=True)
def _no_runner_stays():
    need(not confinement.why_not(), "a sandbox")
    yield
    engines.close_runners()


def solved() -> nbformat.NotebookNode:
    """The solved unit: its first cell, its exercises and their checks."""
    path = ROOT / "solutions" / "notebooks" / UNIT / f"{UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    imports = [cell for cell in code if cell.source.startswith(("import numpy", "import hashlib"))]
    imports = [nbformat.v4.new_code_cell(cell.source.split("\n\n")[0]) for cell in imports]
    ask = nbformat.v4.new_code_cell(LISTENS)
    notebook.cells = [code[0], *imports, *filter(grade_id, code), ask]
    return notebook


@pytest.mark.parametrize("engine", ["fork", "kernel"])
def test_the_unit_earns_full_points_over_a_socket_of_the_sandbox(engine):
    notebook, exam = solved(), Exam(UNIT, seed=5)
    execution = engines.execute(exam.job(notebook), engine)
    assert execution.stopped == ""
    grade = score(notebook, execution, exam)
    assert [(one.exercise, one.points, one.max_points) for one in grade.exercises] == [
        (exercise.id, exercise.points, exercise.points) for exercise in exam.unit.exercises
    ]
    assert text(execution.cells[-1]).endswith("('',)")
