"""Unit 09 in a real browser: the whole unit, its pictures and its tables."""

import nbformat
import pytest
from browser import Notebook, browser_page, copy_course, running_lab, screenshot
from conftest import ROOT, need, posix_only

pytestmark = posix_only

UNIT = "notebooks/09_knee/09_knee.ipynb"
POINTS = {"knee": 3, "beam_search": 4, "pruning": 1}


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need((ROOT / UNIT).is_file(), "the built notebooks")
    course = copy_course(tmp_path_factory.mktemp("course"))
    with running_lab(course, tmp_path_factory.mktemp("home"), "--unit", "09_knee") as lab:
        yield lab


def cell_with(text: str) -> str:
    released = nbformat.read(ROOT / UNIT, as_version=4)
    return next(cell.id for cell in released.cells if cell.cell_type == "code" and text in cell.source)


def test_a_learner_solves_the_unit_and_sees_its_pictures(lab):
    solved = nbformat.read(ROOT / "solutions" / UNIT, as_version=4)
    with browser_page({"width": 1280, "height": 900}) as page:
        notebook = Notebook.open(page, lab)
        for cell in solved.cells:
            if cell.id in POINTS:
                notebook.write(cell.id, cell.source)
        notebook.run_all()
        assert notebook.errors() == []
        for name, points in POINTS.items():
            assert f"{name}: {points} of {points} points" in notebook.output(f"check_{name}")
        shown = {
            "curve": "lab.plot_knee(scores, knee(scores))",
            "kept": "lab.plot_kept(first_round, knee([score for _, score in first_round]), other",
            "measured": "return lab.measure_trees",
            "all-in-one": "lab.interval_table(in_all())",
            "paired": 'minus="flat"',
            "cuts": "return lab.measure_cuts",
        }
        for name, text in shown.items():
            cell = cell_with(text)
            notebook.locate(cell).scroll_into_view_if_needed()
            screenshot(page, f"unit-09-{name}")
        assert "14 of 36 nodes are kept" in notebook.output(cell_with(shown["kept"]))
        assert "flat recall" in notebook.output(cell_with(shown["measured"]))
        for cell, searches in (
            ("all-in-one", ("flat", "branch", "beam", "knee", "sensitive")),
            ("paired", ("branch", "beam", "knee", "sensitive")),
        ):
            table = notebook.output(cell_with(shown[cell]))
            for word in ("recall", "pruned", "compared", "ms", "width 3", "width 5", *searches):
                assert word in table, (cell, word)
            assert table.count(" to ") == 2 * len(searches) * 4  # an interval in every cell
        assert page.problems == []
