"""The notebooks as they are handed out: the solved ones earn everything, the untouched ones nothing, in time."""

import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import nbformat
import pytest
from browser import copy_course
from conftest import ROOT, need, posix_only, released
from cut_off import run_python, without_network
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


@dataclass(frozen=True)
class Run:
    """What a notebook shows, how long it took, and what came of an attempt to reach a network meanwhile."""

    notebook: nbformat.NotebookNode
    seconds: float
    network: str


RUN = """
import json, socket, sys, time
from pathlib import Path
import nbformat
from nbclient import NotebookClient
path, run = map(Path, sys.argv[1:])
network = "reached"
try:
    socket.create_connection(("192.0.2.1", 80), timeout=2)
except OSError as error:
    network = error.strerror
notebook = nbformat.read(path, as_version=4)
client = NotebookClient(notebook, timeout=60, allow_errors=True, resources={"metadata": {"path": path.parent}})
started = time.monotonic()
client.execute()
seconds = time.monotonic() - started
run.write_text(json.dumps({"notebook": notebook, "seconds": seconds, "network": network}), "utf-8")
"""


@pytest.fixture(scope="module")
def solved_run(tmp_path_factory) -> Callable[[str], Run]:
    """Call it with a unit for the run of its solved notebook: cut off, with a home folder that is new.

    All that is to be seen of it is looked at in one run, for some take long.
    """
    course = copy_course(tmp_path_factory.mktemp("course"))

    @cache
    def of(unit: str) -> Run:
        home = tmp_path_factory.mktemp("home")
        run_python(
            course, home, "-c", RUN, f"solutions/notebooks/{unit}/{unit}.ipynb", str(home / "run.json")
        )
        run = json.loads((home / "run.json").read_text("utf-8"))
        return Run(nbformat.from_dict(run["notebook"]), run["seconds"], run["network"])

    return of


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
def test_the_solved_notebook_earns_full_points_without_an_error(solved_run, unit):
    run = solved_run(unit)
    notebook, seconds = run.notebook, run.seconds
    assert outputs(notebook, "error") == []
    assert [output for output in outputs(notebook, "stream") if output.name == "stderr"] == []
    wanted = {name: exercise.points for name, exercise in EXERCISES.items() if exercise.unit == unit}
    assert points(notebook) == wanted
    assert seconds < seconds_allowed(unit)


@posix_only
@pytest.mark.parametrize("unit", UNITS)
def test_the_solved_notebook_needs_no_network(solved_run, unit):
    need(without_network(), "unshare or bwrap, to make a network namespace")
    run = solved_run(unit)
    assert run.network == "Network is unreachable"
    assert outputs(run.notebook, "error") == []
    assert outputs(run.notebook, "display_data")


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
