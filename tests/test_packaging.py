"""The wheel: what is in it, what must not be, and that the course works from it alone."""

import json
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from conftest import ROOT, need

# What running and grading the course leaves in the project's folders.
NOT_SOURCES = {"__pycache__", ".ipynb_checkpoints", "submitted", "autograded", "feedback", "exchange"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def files_below(folder: str, pattern: str) -> set[str]:
    return {
        path.relative_to(ROOT / folder).as_posix()
        for path in (ROOT / folder).glob(pattern)
        if path.is_file() and not NOT_SOURCES & set(path.parts)
    }


def test_the_wheel_holds_the_three_packages_whole(names):
    for home, package in (("notebooks", "lab"), ("solutions", "hybrid_search"), (".", "grader")):
        for ending in ("py", "json", "js", "css"):
            assert files_below(home, f"{package}/**/*.{ending}") - names == set()


def test_the_wheel_holds_the_assets_and_the_learner_notebooks(names):
    assert {f"lab/assets/{name}" for name in files_below("assets", "**/*")} - names == set()
    notebooks = files_below("notebooks", "[0-9][0-9]_*/[0-9][0-9]_*.ipynb")
    assert {name for name in names if name.endswith(".ipynb")} == {
        f"lab/notebooks/{name}" for name in notebooks
    }


def test_the_wheel_holds_no_wrong_answers_solved_notebooks_tests_or_submissions(names):
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"lab", "hybrid_search", "grader"}
    for part in ("misconceptions", "submitted", "autograded", "feedback/", "gradebook.db", "__pycache__"):
        assert not [name for name in names if part in name], part


def test_the_wheel_needs_what_requirements_txt_lists(wheel, names):
    metadata = next(name for name in names if name.endswith(".dist-info/METADATA"))
    fields = Parser().parsestr(zipfile.ZipFile(wheel).read(metadata).decode("utf-8"))
    needed = {
        line.split("<")[0].split(">")[0] for line in fields.get_all("Requires-Dist") if "extra" not in line
    }
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert needed == {line.split(">")[0] for line in lines if line and line[0] not in "#-"}
    assert fields["Requires-Python"] == "<3.15,>=3.11"
    assert fields["License-Expression"] == "BSD-3-Clause"


USE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
import grader, hybrid_search, lab
from lab import launcher

class Index:
    def add_document(self, document): pass
    def search(self, query, k): return [({"content": "a"}, 0.5)]

root = launcher.course_root(Path.cwd())
print(json.dumps({
    "homes": [Path(module.__file__).parents[1].as_posix() for module in (lab, grader, hybrid_search)],
    "report": lab.report()[:200],
    "sections": len(lab.sections()),
    "found": hybrid_search.Retriever(Index()).search("a")[0][1],
    "root": root.as_posix(),
    "units": sorted(launcher.units(root)),
}))
"""


def test_the_course_works_from_the_wheel_alone(wheel, tmp_path):
    need(files_below("notebooks", "[0-9]*/*.ipynb"), "the built notebooks")
    unpacked, elsewhere = tmp_path / "unpacked", tmp_path / "elsewhere"
    zipfile.ZipFile(wheel).extractall(unpacked)
    elsewhere.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", USE, unpacked],
        cwd=elsewhere,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["homes"] == [unpacked.as_posix()] * 3
    assert seen["report"] == (ROOT / "assets" / "report.md").read_text(encoding="utf-8")[:200]
    assert seen["sections"] == 10
    assert seen["found"] == 1 / 61
    assert seen["root"] == (elsewhere / "hybrid-search-course").as_posix()
    assert seen["units"] == sorted(path.parent.name for path in (ROOT / "notebooks").glob("[0-9]*/*.ipynb"))
