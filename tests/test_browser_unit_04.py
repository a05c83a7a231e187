"""Unit 04 as a learner works in it: a typical mistake, the feedback, the right class, nbgrader's Validate."""

import nbformat
import pytest
from browser import Notebook, browser_page, copy_course, running_lab, screenshot
from conftest import ROOT, need, posix_only

pytestmark = posix_only

UNIT = "notebooks/04_retriever/04_retriever.ipynb"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need((ROOT / UNIT).is_file(), "the built notebooks")
    course = copy_course(tmp_path_factory.mktemp("course"))
    with running_lab(course, tmp_path_factory.mktemp("home"), "--unit", "04_retriever") as lab:
        yield lab


def solution(exercise: str) -> str:
    solved = nbformat.read(ROOT / "solutions" / UNIT, as_version=4)
    return next(cell.source for cell in solved.cells if cell.id == exercise)


def test_a_learner_makes_a_mistake_reads_its_name_mends_it_and_validates(lab):
    right = solution("retriever")
    assert right.count(", start=1") == 1
    with browser_page() as page:
        notebook = Notebook.open(page, lab)
        setup = next(i for i in range(20) if notebook.source(i).startswith("from grader import check, hint"))
        notebook.run(setup)

        notebook.write("retriever", right.replace(", start=1", ""))
        notebook.run("retriever")
        said = notebook.run("check_retriever")
        screenshot(page, "unit-04-wrong")
        assert "retriever: 0.67 of 8 points" in said
        assert "Your ranks start at 0." in said
        assert "expected" in said and "yours" in said
        assert 'hint("retriever") has 4 steps; you have seen 0.' in said

        notebook.write("retriever", right)
        notebook.run("retriever")
        said = notebook.run("check_retriever")
        screenshot(page, "unit-04-right")
        assert "retriever: 8 of 8 points" in said
        assert "wrong" not in said

        notebook.write("keyword_index", solution("keyword_index"))
        notebook.run_all()
        assert notebook.errors() == []
        notebook.save()
        assert "success" in notebook.validate().lower()
        assert page.problems == []


def test_the_feedback_can_be_read_in_the_dark_theme(lab):
    with browser_page() as page:
        notebook = Notebook.open(page, lab, UNIT)
        page.evaluate("jupyterapp.commands.execute('apputils:change-theme', {theme: 'JupyterLab Dark'})")
        page.wait_for_function("document.body.dataset.jpThemeLight === 'false'")
        notebook.run_all()
        notebook.locate("check_retriever")
        screenshot(page, "unit-04-dark")
        table = notebook.locate("check_retriever").locator("table").first
        ink, paper = table.evaluate(
            """element => {
              const cell = element.querySelector('td:nth-child(2)');
              const colour = name => getComputedStyle(document.body).getPropertyValue(name);
              return [getComputedStyle(cell).color, colour('--jp-layout-color0')];
            }"""
        )
        assert ink != paper
        brightness = sum(int(part) for part in ink.removeprefix("rgba(").removeprefix("rgb(").split(",")[:3])
        assert brightness > 3 * 128, f"{ink} on {paper}"
