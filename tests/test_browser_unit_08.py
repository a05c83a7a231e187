"""Unit 08 in a real browser: the whole unit, and the slider through the steps of a search, by keyboard."""

import nbformat
import pytest
from browser import Notebook, browser_page, copy_course, running_lab, screenshot
from conftest import ROOT, need, posix_only

pytestmark = posix_only

UNIT = "notebooks/08_tree/08_tree.ipynb"
EXERCISES = ("build_tree", "branch_search")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need((ROOT / UNIT).is_file(), "the built notebooks")
    course = copy_course(tmp_path_factory.mktemp("course"))
    with running_lab(course, tmp_path_factory.mktemp("home"), "--unit", "08_tree") as lab:
        yield lab


def cells_with(part: str) -> list[str]:
    released = nbformat.read(ROOT / UNIT, as_version=4)
    return [cell.id for cell in released.cells if cell.cell_type == "code" and part in cell.source]


def test_a_learner_solves_the_unit_and_walks_through_a_search_with_the_arrow_keys(lab):
    solved = nbformat.read(ROOT / "solutions" / UNIT, as_version=4)
    with browser_page({"width": 1280, "height": 1000}) as page:
        notebook = Notebook.open(page, lab)
        for cell in solved.cells:
            if cell.id in EXERCISES:
                notebook.write(cell.id, cell.source)
        notebook.run_all(seconds=400)
        assert notebook.errors() == []
        for name in EXERCISES:
            assert f"{name}: 3 of 3 points" in notebook.output(f"check_{name}")
            screenshot(page, f"unit-08-{name}")
        first, last = cells_with("lab.WalkView(")
        for cell, steps in ((first, 5), (last, 10)):
            assert f"Step {steps} of {steps}" in notebook.output(cell)
            screenshot(page, f"unit-08-walk-of-{steps}")
        slider = notebook.locate(first).locator(".noUi-handle")
        slider.focus()
        for step in (4, 3, 2):
            page.keyboard.press("ArrowLeft")
            notebook.locate(first).get_by_text(f"Step {step} of 5").wait_for()
        picture = notebook.locate(first).locator("svg[role=img]")
        assert "step 2 of 5" in picture.get_attribute("aria-label")
        screenshot(page, "unit-08-walk-by-keyboard")
        (drawn,) = cells_with("lab.plot_walk(")
        notebook.locate(drawn)
        screenshot(page, "unit-08-tie")
        assert page.problems == []
