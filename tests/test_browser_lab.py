"""The course in JupyterLab, seen in a real browser: what a learner and an instructor find at the start."""

import pytest
from browser import LAPTOP, TABLET, Notebook, browser_page, copy_course, running_lab, screenshot
from conftest import ROOT, need, posix_only

pytestmark = posix_only


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    need((ROOT / "notebooks/00_start/00_start.ipynb").is_file(), "the built notebooks")
    return copy_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def learner(course, tmp_path_factory):
    with running_lab(course, tmp_path_factory.mktemp("home")) as lab:
        yield lab


@pytest.fixture(scope="module")
def instructor(course, tmp_path_factory):
    with running_lab(course, tmp_path_factory.mktemp("home"), "--instructor") as lab:
        yield lab


def menus(page) -> list[str]:
    return page.eval_on_selector_all(".lm-MenuBar-itemLabel", "items => items.map(item => item.textContent)")


@pytest.mark.parametrize("size", [LAPTOP, TABLET], ids=["laptop", "tablet"])
def test_a_learner_starts_in_unit_00_with_nothing_in_the_way(learner, size, request):
    with browser_page(size) as page:
        Notebook.open(page, learner)
        # A pop-up would come within the first seconds.
        page.wait_for_timeout(3000)
        screenshot(page, f"learner-{request.node.callspec.id}")
        assert page.locator(".jp-Notebook h1").first.is_visible()
        assert page.locator(".jp-toastContainer .Toastify__toast, .jp-Dialog").count() == 0
        assert "Nbgrader" not in menus(page)
        assert page.get_by_role("button", name="Validate").first.is_visible()
        assert page.problems == []


def test_a_learner_has_no_formgrader(learner):
    with browser_page() as page:
        page.goto(learner.url)
        assert page.goto(f"{learner.base}/formgrader").status == 404


def test_unit_00_runs_and_validates_in_the_browser(learner):
    with browser_page() as page:
        notebook = Notebook.open(page, learner)
        notebook.run_all()
        screenshot(page, "unit-00-run")
        assert [error for error in notebook.errors() if not error.startswith("NotImplementedError")] == []
        assert "The following cell failed:" in notebook.validate()


def test_an_instructor_finds_every_unit_in_the_formgrader_without_a_warning(instructor, course):
    units = sorted(path.name for path in (course / "solutions" / "notebooks").iterdir() if path.is_dir())
    with browser_page() as page:
        page.goto(f"{instructor.base}/formgrader?token={instructor.token}")
        page.get_by_role("link", name=units[-1]).first.wait_for()
        screenshot(page, "formgrader")
        listed = page.locator("#main table tbody tr td:first-child, tbody tr td.name").all_inner_texts()
        assert sorted(name for name in listed if name.strip()) == units
        assert page.locator(".alert").count() == 0
        assert page.problems == []


def test_an_instructor_opens_the_formgrader_from_the_menu(instructor):
    with browser_page() as page:
        Notebook.open(page, instructor)
        assert "Nbgrader" in menus(page)
        page.locator(".lm-MenuBar-itemLabel", has_text="Nbgrader").click()
        page.locator(".lm-Menu-itemLabel", has_text="Formgrader").first.click()
        frame = page.frame_locator("iframe[src*='formgrader']")
        frame.get_by_role("heading", name="Manage Assignments").wait_for()
        screenshot(page, "formgrader-in-lab")
        assert frame.locator(".alert").count() == 0
