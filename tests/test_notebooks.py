"""The notebooks as they are handed out: the solved ones earn everything, the untouched ones nothing, in time."""

import sys
import time

import nbformat
import pytest
from conftest import ROOT, released
from nbclient import NotebookClient

from grader.exercises import EXERCISES
from grader.revealed import unit_of_modules, units_before
from lab.stored_vectors import NEWER_PYTHONS, PYTHON

UNITS = sorted(folder.name for folder in (ROOT / "solutions" / "notebooks").iterdir() if folder.is_dir())


def seconds_allowed(unit: str) -> int:
    """Where nothing is stored of this Python's reference, units 05 to 07 compute what differs at their first run.

    From 06 on there are services to be started.
    """
    if sys.version_info[:2] not in (PYTHON, *NEWER_PYTHONS) and unit in (
        "05_tuning",
        "06_postgres",
        "07_reranking",
    ):
        return 60 if unit == "05_tuning" else 120
    return 20 if unit < "06" else 40


def learner_edition(unit: str) -> nbformat.NotebookNode:
    return nbformat.reads(released(unit), as_version=4)


def solved_edition(unit: str) -> nbformat.NotebookNode:
    return nbformat.read(ROOT / "solutions" / "notebooks" / unit / f"{unit}.ipynb", as_version=4)


def run(notebook: nbformat.NotebookNode) -> tuple[nbformat.NotebookNode, float]:
    started = time.monotonic()
    NotebookClient(notebook, timeout=120, allow_errors=True).execute()
    return notebook, time.monotonic() - started


def outputs(notebook, kind: str) -> list:
    return [
        output for cell in notebook.cells for output in cell.get("outputs", ()) if output.output_type == kind
    ]


def points(notebook) -> dict[str, float]:
    """What nbgrader would read: the printed value of each check."""
    return {
        cell.metadata.nbgrader.grade_id.removeprefix("check_"): float(cell.outputs[-1].data["text/plain"])
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    }


def test_the_first_units_are_there():
    first = [
        "00_start",
        "01_embeddings",
        "02_bm25",
        "03_rrf_table",
        "04_retriever",
        "05_tuning",
        "06_postgres",
        "07_reranking",
        "08_tree",
        "09_knee",
    ]
    assert UNITS[: len(first)] == first


@pytest.mark.parametrize("unit", UNITS)
def test_the_solved_notebook_earns_full_points_without_an_error(unit):
    notebook, seconds = run(solved_edition(unit))
    assert outputs(notebook, "error") == []
    assert [output for output in outputs(notebook, "stream") if output.name == "stderr"] == []
    wanted = {name: exercise.points for name, exercise in EXERCISES.items() if exercise.unit == unit}
    assert points(notebook) == wanted
    assert seconds < seconds_allowed(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_the_untouched_notebook_earns_nothing_and_only_says_what_is_not_attempted(unit):
    notebook, seconds = run(learner_edition(unit))
    assert set(points(notebook).values()) == {0.0}
    errors = outputs(notebook, "error")
    assert errors, "a cell that needs the exercise should have said so"
    assert {error.ename for error in errors} == {"NotImplementedError"}
    assert {len(error.traceback) for error in errors} == {1}
    assert all(error.traceback[0].startswith("Not attempted yet") for error in errors)
    assert [output for output in outputs(notebook, "stream") if output.name == "stderr"] == []
    reports = [output.data["text/plain"] for output in outputs(notebook, "display_data")]
    assert sum("not attempted yet" in report for report in reports) == len(points(notebook))
    assert seconds < seconds_allowed(unit)


@pytest.mark.parametrize("unit", UNITS)
def test_the_learner_edition_holds_no_solution_and_no_output(unit):
    learner = learner_edition(unit)
    solved = solved_edition(unit)
    text = "\n".join(cell.source for cell in learner.cells)
    assert "BEGIN SOLUTION" not in text
    for cell in solved.cells:
        if cell.id in EXERCISES:
            body = cell.source.split("### BEGIN SOLUTION")[1].split("### END SOLUTION")[0]
            for line in filter(None, map(str.strip, body.splitlines())):
                released = next(other for other in learner.cells if other.id == cell.id)
                assert line not in [other.strip() for other in released.source.splitlines()]
    assert all(not cell.get("outputs") for cell in learner.cells + solved.cells)


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_imports_no_finished_part_of_itself_or_a_later_unit(unit):
    import ast

    import hybrid_search

    before = units_before(unit)
    revealed = [module for module, home in unit_of_modules().items() if home in before]
    notebook = learner_edition(unit)
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.ImportFrom) and node.module == "hybrid_search":
                for name in node.names:
                    assert hybrid_search._HOME[name.name] in revealed, name.name
            if isinstance(node, ast.Import):
                assert "hybrid_search" not in [name.name for name in node.names]


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_has_its_parts(unit):
    notebook = learner_edition(unit)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    for part in ("**Minutes:**", "**You need:**", "**Predict", "## Common mistakes", "## Summary", "## Quiz"):
        assert part in text, part
    summary = text.split("## Summary")[1].split("##")[0]
    assert 1 <= summary.count("\n- ") <= 5
    assert text.split("## Quiz")[1].count("<details><summary>Answer</summary>") == 2
    for exercise in EXERCISES.values():
        if exercise.unit == unit:
            assert f"`{exercise.id}` \u00b7 {exercise.points:g} point" in text


def test_links_between_units_lead_somewhere(root):
    import re

    for unit in UNITS:
        path = root / "notebooks" / unit / f"{unit}.ipynb"
        for cell in learner_edition(unit).cells:
            if cell.cell_type == "markdown":
                for target in re.findall(r"\]\((?!https?:|#)([^)\s]+)\)", cell.source):
                    assert (path.parent / target).exists(), f"{unit}: {target}"
