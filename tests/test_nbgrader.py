"""nbgrader's own commands on the course, unchanged: from the assignment to exported grades."""

import csv
import os
import subprocess
import sys
import sysconfig

import nbformat
import pytest
from browser import copy_course, course_environment
from sample_class import UNIT, hand_in, right

from grader.demo import changed
from grader.sandbox.confinement import why_not


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return copy_course(tmp_path_factory.mktemp("course"))


@pytest.fixture(scope="module")
def nbgrader(course, tmp_path_factory):
    environment = course_environment(course, tmp_path_factory.mktemp("home"))
    environment["JUPYTER_CONFIG_PATH"] = str(course / "grader")
    environment["PATH"] = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]

    def call(*arguments: str) -> str:
        # From another folder: the configuration says where the course is.
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *arguments],
            cwd=environment["HOME"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return call


def changed_by(change) -> dict[str, str]:
    """Both solution cells, changed in the same way."""
    return {exercise: change(source) for exercise, source in right().items()}


@pytest.fixture(scope="module")
def graded(course, nbgrader):
    nbgrader("generate_assignment", UNIT, "--force")
    submitted = course / "grader" / "submitted"
    hand_in(submitted, "right", changed_by(lambda source: source))
    hand_in(submitted, "zero_based", changed_by(lambda source: source.replace(", start=1", "")))
    hand_in(submitted, "broken", changed_by(lambda source: source + "\n    this is no Python"))
    nbgrader("autograde", UNIT, "--RunInSandbox.seed=1")
    nbgrader("generate_feedback", UNIT)
    nbgrader("export", f"--CsvExportPlugin.to={course}/grades.csv", "--to", str(course / "grades.csv"))
    with open(course / "grades.csv", newline="", encoding="utf-8") as file:
        return {row["student_id"]: row for row in csv.DictReader(file)}


def test_the_grades_are_the_points_of_the_checks(graded):
    assert float(graded["right"]["score"]) == float(graded["right"]["max_score"]) == 10
    # Both exercises count from 1, but only the Retriever's ranks come from enumerate.
    assert float(graded["zero_based"]["score"]) == 2.5
    assert float(graded["broken"]["score"]) == 0


def test_the_feedback_page_names_the_mistake(graded, course):
    page = (course / "grader" / "feedback" / "zero_based" / UNIT / f"{UNIT}.html").read_text(encoding="utf-8")
    assert "Your ranks start at 0." in page
    assert "Traceback (most recent call last)" not in page


def test_generating_the_assignment_gives_the_committed_learner_notebook(graded, course, root):
    made = course / "notebooks" / UNIT / f"{UNIT}.ipynb"
    assert nbformat.read(made, as_version=4) == nbformat.read(
        root / "notebooks" / UNIT / f"{UNIT}.ipynb", as_version=4
    )


def test_validate_passes_the_solved_notebook_and_fails_the_untouched_one(course, nbgrader):
    solved = nbgrader("validate", str(course / "solutions" / "notebooks" / UNIT / f"{UNIT}.ipynb"))
    untouched = nbgrader("validate", str(course / "notebooks" / UNIT / f"{UNIT}.ipynb"))
    assert "Success! Your notebook passes all the tests." in solved
    assert "failed" in untouched


def test_the_sample_class_is_graded_and_its_mistakes_named(capsys):
    from grader.demo import demo

    assert demo() == 0
    table = {line.split()[0]: line for line in capsys.readouterr().out.splitlines() if line}
    assert "10/10" in table["amal"] and "all right" in table["amal"]
    assert "8/10" in table["bruno"] and "keyword_index: not attempted" in table["bruno"]
    assert "0/10" in table["chen"] and "not attempted" in table["chen"]
    assert "Your ranks start at 0." in table["dana"]
    assert "You ask each index for k results." in table["emre"]
    if why_not():
        return
    assert "0/10" in table["fay"] and "Network is unreachable" in table["fay"]
    assert "answers found: []" in table["answers"]


def test_the_sample_class_refuses_to_change_what_is_not_there():
    with pytest.raises(RuntimeError, match="2 times"):
        changed("a a", "a", "b")
