"""The way of a JupyterHub: assignments and feedback travel through nbgrader's exchange."""

import json
import os
import subprocess
import sys
import sysconfig

import pytest
from browser import copy_course, course_environment
from conftest import need, posix_only

from grader.sandbox.confinement import why_not

pytestmark = posix_only

UNIT = "04_retriever"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The exchange that everybody may write to."""
    folder = tmp_path_factory.mktemp("exchange")
    folder.chmod(0o777)
    return folder


def run(command: list[str], cwd, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_class_on_a_hub_gets_its_assignment_grades_and_feedback_through_the_exchange(
    shared, tmp_path_factory
):
    need(not why_not(), "a sandbox")
    course, home = copy_course(tmp_path_factory.mktemp("course")), tmp_path_factory.mktemp("home")
    scripts = sysconfig.get_path("scripts") + os.pathsep + os.environ["PATH"]
    teacher = course_environment(course, home) | {"PATH": scripts}
    learner = teacher | {"JUPYTER_CONFIG_PATH": str(home / "nothing")}
    teacher |= {"JUPYTER_CONFIG_PATH": str(course / "grader"), "COURSE_EXCHANGE": str(shared)}
    work = tmp_path_factory.mktemp("learner")
    here = ["--course", "hybrid-search", f"--Exchange.root={shared}"]

    run(["nbgrader", "generate_assignment", UNIT, "--force"], course, teacher)
    run(["nbgrader", "release_assignment", UNIT], course, teacher)
    run(["nbgrader", "fetch_assignment", UNIT, *here], work, learner)
    solve(course, work / UNIT / f"{UNIT}.ipynb")
    run(["nbgrader", "submit", UNIT, *here], work, learner)
    run(["nbgrader", "collect", UNIT], course, teacher)
    (submission,) = (course / "grader" / "submitted").iterdir()

    table = run(["grader", "grade", UNIT], course, teacher)
    line = next(line for line in table.splitlines() if line.startswith(submission.name))
    assert line.split()[1:4] == ["10/10", "8", "2"]
    assert "ignored" not in line

    run(["nbgrader", "release_feedback", UNIT], course, teacher)
    run(["nbgrader", "fetch_feedback", UNIT, *here], work, learner)
    (page,) = (work / UNIT / "feedback").rglob("*.html")
    assert "retriever: 8 of 8 points" in page.read_text(encoding="utf-8")


def solve(course, path) -> None:
    solved = json.loads((course / "solutions" / "notebooks" / UNIT / path.name).read_text(encoding="utf-8"))
    right = {cell["id"]: cell["source"] for cell in solved["cells"]}
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        if cell["id"] in ("retriever", "keyword_index"):
            cell["source"] = right[cell["id"]]
    path.write_text(json.dumps(notebook), encoding="utf-8")
