"""Unit 05 in a real browser: the whole unit, nbgrader's Validate, and the box for a text of one's own."""

import nbformat
import pytest
from browser import Notebook, browser_page, copy_course, running_lab, screenshot
from conftest import ROOT, need, posix_only

pytestmark = posix_only

UNIT = "notebooks/05_tuning/05_tuning.ipynb"
EXERCISES = ("metrics", "evaluate", "tuning")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need((ROOT / UNIT).is_file(), "the built notebooks")
    course = copy_course(tmp_path_factory.mktemp("course"))
    with running_lab(course, tmp_path_factory.mktemp("home"), "--unit", "05_tuning") as lab:
        yield lab


def cell_with(start: str) -> str:
    released = nbformat.read(ROOT / UNIT, as_version=4)
    return next(cell.id for cell in released.cells if cell.source.startswith(start))


def test_a_learner_solves_the_unit_and_validates(lab):
    solved = nbformat.read(ROOT / "solutions" / UNIT, as_version=4)
    with browser_page({"width": 1280, "height": 900}) as page:
        notebook = Notebook.open(page, lab)
        for cell in solved.cells:
            if cell.id in EXERCISES:
                notebook.write(cell.id, cell.source)
        notebook.run_all()
        assert notebook.errors() == []
        for name in EXERCISES:
            assert f"{name}: 2 of 2 points" in notebook.output(f"check_{name}")
            screenshot(page, f"unit-05-{name}")
        tuning = cell_with('print("guess:", my_guess)\nlab.TuningLab')
        assert "candidates" in notebook.output(tuning)
        screenshot(page, "unit-05-tuning-lab")
        notebook.save()
        assert "success" in notebook.validate().lower()
        assert page.problems == []


def test_a_text_of_ones_own_is_taken_and_a_bad_one_explained(lab, tmp_path):
    files = {
        "notes.md": b"# Notes\n\n## Pumps\n\nThe seal leaks.\n\n## Canteen\n\nOpen.\n\n## Invoices\n\nLate.\n",
        "latin.txt": b"caf\xe9",
        "huge.txt": b"word " * 10_000_000,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    with browser_page({"width": 800, "height": 900}) as page:
        notebook = Notebook.open(page, lab, UNIT)
        notebook.run(0)
        for cell in (1, cell_with("upload = ")):
            notebook.run(cell)
        box = notebook.locate(cell_with("upload = "))
        box.get_by_text("In use: report.md").wait_for()
        choose = box.get_by_label("A text file of your own")

        choose.set_input_files(tmp_path / "notes.md")
        box.get_by_text(f"In use: notes.md, {len(files['notes.md'])} characters.").wait_for()
        choose.set_input_files(tmp_path / "latin.txt")
        box.get_by_text("latin.txt is not text in UTF-8").wait_for()
        choose.set_input_files(tmp_path / "huge.txt")
        box.get_by_text("huge.txt is larger than 5 MB").wait_for()
        assert "In use: notes.md" in box.inner_text()
        screenshot(page, "unit-05-upload")

        choose.focus()
        cells = page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length")
        for key in ("a", "b", "x", "d", "d"):
            page.keyboard.press(key)
        assert page.evaluate("jupyterapp.shell.currentWidget.content.widgets.length") == cells
        assert page.problems == []
