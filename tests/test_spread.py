"""Where the suite is spread over two processes, tests that must be alone are, and a file stays together."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import ROOT, need

SETTINGS = """[pytest]
testpaths = tests
markers = alone: no other test runs meanwhile
"""
TESTS = """
import os, time
import pytest

def note(what):
    with open({log!r}, "a") as log:
        print(time.monotonic(), os.environ.get("PYTEST_XDIST_WORKER"), {file!r}, what, file=log)

@pytest.mark.parametrize("number", range(3))
def test_beside_others(number):
    note("begins")
    time.sleep(0.2)
    note("ends")

@pytest.mark.alone
def test_alone():
    note("alone")
    time.sleep(0.3)
    note("ends")
"""


@pytest.fixture
def suite(tmp_path) -> Path:
    """A small suite of two files; each of its tests writes down when it begins and ends."""
    need(find_spec("xdist"), "pytest-xdist")
    (tmp_path / "tests").mkdir()
    (tmp_path / "pytest.ini").write_text(SETTINGS, "utf-8")
    shutil.copy(ROOT / "tests" / "spread.py", tmp_path / "tests")
    (tmp_path / "tests" / "conftest.py").write_text("from spread import *\n", "utf-8")
    for file in "ab":
        code = TESTS.format(log=str(tmp_path / "log"), file=file)
        (tmp_path / "tests" / f"test_{file}.py").write_text(code, "utf-8")
    return tmp_path


def log(suite: Path, *arguments: str) -> list[list[str]]:
    """The process, the file and what was noted, in the order of time."""
    line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(line, cwd=suite, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.split() for line in (suite / "log").read_text("utf-8").splitlines()]
    return [noted for _moment, *noted in sorted(lines, key=lambda line: float(line[0]))]


def test_the_whole_suite_is_spread_by_files_and_whoever_must_be_alone_is(suite):
    noted = log(suite)
    assert {process for process, *_ in noted} == {"gw0", "gw1"}
    assert len({(process, file) for process, file, _ in noted}) == 2
    alone = [place for place, (*_, what) in enumerate(noted) if what == "alone"]
    assert alone == [0, 2], noted
    assert [noted[place + 1] for place in alone] == [[*noted[place][:2], "ends"] for place in alone]
    running = [what for *_, what in noted[4:]]
    assert ["begins", "begins"] in [running[place : place + 2] for place in range(len(running))], (
        "side by side"
    )


@pytest.mark.parametrize("arguments", [["-n", "0"], ["tests/test_a.py"], ["-p", "no:xdist"]])
def test_else_it_runs_in_one_process(suite, arguments):
    assert {process for process, *_ in log(suite, *arguments)} == {"None"}
