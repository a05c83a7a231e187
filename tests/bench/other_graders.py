"""The same submissions in the graders that people would use instead: nbgrader as it comes, and otter-grader.

``python -m tests.bench.other_graders otter SUBMISSIONS NUMBER`` grades with otter-grader in one process, as
bench/grading.py asks, and prints seconds and points of each submission as JSON.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

UNIT = "04_retriever"
EXERCISES = {"retriever": ("Retriever", 8), "keyword_index": ("KeywordIndex", 2)}
_ROOT = Path(__file__).resolve().parents[2]

# What the notebook's own check cell does, as a test of otter-grader's.
_OTTER_TEST = """
from otter.test_files import test_case

OK_FORMAT = False
name = "{exercise}"
points = {points}


@test_case()
def test_{exercise}(env):
    from grader import check

    assert float(repr(check("{exercise}", env["{what}"]))) == {points}
"""


class StockNbgrader:
    """A course with the unit's notebook and no settings but a name, in an empty folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        source = folder / "source" / UNIT
        source.mkdir(parents=True)
        (folder / "nbgrader_config.py").write_text(
            'c = get_config()\nc.CourseDirectory.course_id = "stock"\n'
        )
        shutil.copy(_ROOT / "solutions" / "notebooks" / UNIT / f"{UNIT}.ipynb", source)
        self._nbgrader("generate_assignment", UNIT)

    def seconds(self, submissions: list[Path]) -> float:
        """How long ``nbgrader autograde`` takes for submissions that it has not seen before."""
        for submission in submissions:
            shutil.copytree(submission, self.folder / "submitted" / submission.name)
        began = time.perf_counter()
        self._nbgrader("autograde", UNIT)
        return time.perf_counter() - began

    def points(self) -> dict[str, dict[str, float]]:
        """What each learner got, by exercise."""
        question = (
            "SELECT s.student_id, b.name, g.auto_score FROM grade g JOIN base_cell b ON b.id = g.cell_id "
            "JOIN submitted_notebook n ON n.id = g.notebook_id "
            "JOIN submitted_assignment s ON s.id = n.assignment_id"
        )
        found: dict[str, dict[str, float]] = {}
        with closing(sqlite3.connect(self.folder / "gradebook.db")) as connection:
            for learner, cell, points in connection.execute(question):
                found.setdefault(learner, {})[cell.removeprefix("check_")] = points
        return found

    def _nbgrader(self, *arguments: str) -> None:
        _said(["nbgrader", *arguments], self.folder)


def with_otter(submissions: Path, number: int) -> list[tuple[float, float]]:
    """Seconds and points of each of the first submissions, in one process that has loaded everything.

    Raises ImportError where otter-grader is not installed.
    """
    from importlib.util import find_spec

    if find_spec("otter") is None:
        raise ImportError("otter-grader")
    said = _said(["tests.bench.other_graders", "otter", str(submissions), str(number)], _ROOT)
    return [tuple(pair) for pair in json.loads(said.splitlines()[-1])]


def _said(module: list[str], folder: Path) -> str:
    """What ``python -m`` prints with a module and its arguments, in a folder."""
    path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(
        [sys.executable, "-m", *module],
        cwd=folder,
        env=os.environ | {"PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise OSError(f"{' '.join(module[:2])} ended with {done.returncode}: {done.stderr[-2000:]}")
    return done.stdout


def _otter(submissions: Path, number: int) -> Iterator[tuple[float, float]]:
    from otter.api import grade_submission

    with tempfile.TemporaryDirectory() as folder:
        tests = Path(folder) / "autograder.zip"
        with zipfile.ZipFile(tests, "w") as archive:
            archive.writestr("otter_config.json", json.dumps({"pdf": False, "print_summary": False}))
            archive.writestr("files/", "")
            for exercise, (what, points) in EXERCISES.items():
                test = _OTTER_TEST.format(exercise=exercise, what=what, points=points)
                archive.writestr(f"tests/{exercise}.py", test)
        for submission in sorted(submissions.iterdir())[:number]:
            notebook = json.loads((submission / UNIT / f"{UNIT}.ipynb").read_bytes())
            # Its tests stand where nbgrader has cells.
            notebook["cells"] = [
                {**cell, "metadata": {}}
                for cell in notebook["cells"]
                if not cell["metadata"].get("nbgrader", {}).get("grade")
            ]
            path = Path(folder) / f"{submission.name}.ipynb"
            path.write_text(json.dumps(notebook), encoding="utf-8")
            began = time.perf_counter()
            results = grade_submission(str(path), str(tests), quiet=True)
            yield time.perf_counter() - began, results.total


if __name__ == "__main__":
    _grader, _submissions, _number = sys.argv[1:]
    print(json.dumps(list(_otter(Path(_submissions), int(_number)))))
