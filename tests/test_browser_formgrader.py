"""The formgrader's own buttons grade as safely as the command line: an honest and a hostile submission."""

import pytest
from browser import browser_page, copy_course, running_lab, screenshot
from conftest import need, posix_only
from sample_class import UNIT, hand_in, right

from grader.sandbox.confinement import why_not

pytestmark = posix_only

# It answers for everybody, displays full points, and leaves a script for whoever looks at it.
HOSTILE = """
import builtins, sys
from IPython.display import HTML, display

class Retriever:
    def __init__(self, *indexes): ...
    def search(self, *args, **kwargs): return []

def check(*everything):
    print("retriever: 8 of 8 points")
    return 8.0

builtins.check = check
sys.modules["grader"].check = check
display(HTML("<script>document.title = 'taken over'</script><b>8 of 8 points</b>"))
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    need(not why_not(), "a sandbox")
    course = copy_course(tmp_path_factory.mktemp("course"))
    submitted = course / "grader" / "submitted"
    hand_in(submitted, "honest", right())
    hand_in(submitted, "hostile", {"retriever": HOSTILE, "keyword_index": HOSTILE})
    return course


@pytest.fixture(scope="module")
def instructor(course, tmp_path_factory):
    with running_lab(course, tmp_path_factory.mktemp("home"), "--instructor") as lab:
        yield lab


def press(page, row, icon: str) -> None:
    """Press a button of the formgrader's table and wait until it has succeeded."""
    row.locator(f".glyphicon-{icon}").click()
    modal = page.locator(".modal.in")
    modal.wait_for(timeout=120_000)
    said = modal.inner_text()
    assert said.strip().startswith("Success") or "Successfully" in said, said
    page.keyboard.press("Escape")
    modal.get_by_role("button", name="Close").or_(modal.locator(".close")).first.click()
    modal.wait_for(state="hidden")


def test_the_buttons_of_the_formgrader_give_honest_points(instructor, course):
    with browser_page() as page:
        page.goto(f"{instructor.base}/formgrader?token={instructor.token}")
        row = page.locator("tr", has_text=UNIT).first
        row.wait_for()
        press(page, row, "education")  # generate

        page.goto(f"{instructor.base}/formgrader/manage_submissions/{UNIT}")
        for learner, points in (("honest", "10 / 10"), ("hostile", "0 / 10")):
            row = page.locator("tr", has_text=learner).first
            row.wait_for()
            press(page, row, "flash")  # autograde
            row.get_by_text(points).wait_for()
            press(page, row, "comment")  # generate feedback
        screenshot(page, "formgrader-graded")
        assert [problem for problem in page.problems if "formgrader" in problem] == []

        # As the instructor looks at it: in the formgrader, and as the page that the learner gets.
        page.goto(f"{instructor.base}/formgrader/manage_students/hostile/{UNIT}")
        page.get_by_role("link", name=UNIT).last.click()
        page.locator(".nbgrader_cell, #notebook").first.wait_for()
        screenshot(page, "formgrader-hostile")
        assert page.title() != "taken over"
        assert "no answer came from check()" in page.inner_text("body").lower()

        feedback = course / "grader" / "feedback" / "hostile" / UNIT / f"{UNIT}.html"
        page.goto(f"file://{feedback}")
        screenshot(page, "feedback-hostile")
        assert page.title() != "taken over"
        assert "no answer came from check()" in page.inner_text("body").lower()
