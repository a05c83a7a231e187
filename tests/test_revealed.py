"""What lies beside a learner's code: enough for every notebook, and nothing that solves the unit."""

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from functools import cache
from pathlib import Path

import pytest
from conftest import posix_only
from test_packaging import wheel  # noqa: F401

import hybrid_search
from grader.exercises import EXERCISES
from grader.revealed import END, stage, unit_of_modules, units_before
from grader.units import UNITS, UnknownUnit

# The last entry is the end of the course.
PLACES = [*UNITS, END]


def python(folder: Path, code: str, *arguments: str, **environment: str) -> str:
    """What code prints that has ``folder``, the installed packages, and nothing else of the course."""
    paths = [str(folder), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    done = subprocess.run(
        # Without -S Python would read the file that puts this project on its path.
        [sys.executable, "-I", "-S", "-B", "-c", f"import sys; sys.path += {paths!r}\n{code}", *arguments],
        cwd=folder.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@cache
def _staged(unit: str, folder: Path) -> Path:
    return stage(unit, folder / unit)


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    """The staged folder of a unit, written once."""
    folder = tmp_path_factory.mktemp("staged")
    return lambda unit: _staged(unit, folder)


TRY_IMPORTS = """
import importlib, json
said = {}
for name in json.loads(sys.argv[1]):
    module, _, wanted = name.rpartition(":")
    try:
        getattr(importlib.import_module(module), wanted) if module else importlib.import_module(wanted)
        said[name] = ""
        exec(f"from {module} import {wanted}" if module else "")
    except ImportError as error:
        said[name] = str(error)
import hybrid_search
print(json.dumps([said, hybrid_search.__all__, dir(hybrid_search)]))
"""


@pytest.mark.parametrize("unit", PLACES)
def test_what_the_unit_builds_and_later_ones_cannot_be_imported_and_earlier_parts_can(staged, unit):
    before = units_before(unit)
    modules = unit_of_modules()
    names = [
        (name, home)
        for module, home in modules.items()
        for name in (
            f"hybrid_search.{module}",
            *(f"hybrid_search:{n}" for n in hybrid_search._MODULES[module]),
        )
    ]
    said, exported, listed = json.loads(
        python(staged(unit), TRY_IMPORTS, json.dumps([name for name, _ in names]))
    )
    for name, home in names:
        if home in before:
            assert said[name] == "", name
        elif ":" in name:
            assert said[name] == f"{name.replace(':', '.')} comes after unit {home}: you build it there"
        else:
            assert said[name] == f"No module named {name!r}"
    assert (
        exported
        == listed
        == sorted(
            name for module in modules if modules[module] in before for name in hybrid_search._MODULES[module]
        )
    )


def test_a_name_from_a_later_unit_says_where_it_is_built_in_every_kind_of_import(staged):
    code = """
for line in ("from hybrid_search import Retriever", "import hybrid_search; hybrid_search.Retriever",
             "from hybrid_search import retriever"):
    try:
        exec(line)
    except ImportError as error:
        print(error)
from hybrid_search import *
print(rrf_table.__name__, "Retriever" in globals())
try:
    hybrid_search.retreiver
except AttributeError as error:
    print(error)
"""
    sentence = "hybrid_search.{} comes after unit 04_retriever: you build it there"
    assert python(staged("04_retriever"), "import hybrid_search" + code).splitlines() == [
        sentence.format("Retriever"),
        sentence.format("Retriever"),
        sentence.format("retriever"),
        "rrf_table False",
        "module 'hybrid_search' has no attribute 'retreiver'",
    ]


@pytest.mark.parametrize("unit", PLACES)
def test_only_what_a_kernel_needs_is_there(staged, unit):
    names = contents(staged(unit))
    assert {name.split("/")[0] for name in names} == {"lab", "grader", "hybrid_search"}
    for part in ("reference/", "misconceptions", ".ipynb", "__pycache__", "sandbox", "classroom"):
        assert not [name for name in names if part in name], part
    for module in ("build", "demo", "make_references", "exam", "units", "grades", "revealed", "__main__"):
        assert f"grader/{module}.py" not in names
    modules = {Path(name).stem for name in names if name.startswith("hybrid_search/")}
    revealed = {module for module, home in unit_of_modules().items() if home in units_before(unit)}
    assert modules == revealed | {"__init__", "_units", "documents"}


def test_the_exercises_end_with_the_unit(staged):
    code = "from grader.exercises import EXERCISES; print(*EXERCISES)"
    for unit in PLACES:
        units = {*units_before(unit), unit}
        wanted = [name for name, exercise in EXERCISES.items() if exercise.unit in units]
        assert python(staged(unit), code).split() == wanted


@pytest.mark.parametrize("unit", PLACES)
def test_what_is_imported_is_what_is_staged(staged, unit):
    """The solved notebooks run on it in both engines: test_notebook_cells.py and test_kernel_engine.py."""
    code = "import grader, hybrid_search, lab; print(grader.__file__, hybrid_search.__file__, lab.__file__)"
    homes = {Path(file).parents[1] for file in python(staged(unit), code).split()}
    assert homes == {staged(unit)}


def test_an_unknown_unit_is_named_and_nothing_is_written(tmp_path):
    with pytest.raises(UnknownUnit, match="no unit '04_retreiver'.* 04_retriever"):
        stage("04_retreiver", tmp_path / "staged")
    assert not (tmp_path / "staged").exists()


@posix_only
def test_the_files_are_copies_that_everybody_can_read(tmp_path):
    before = os.umask(0o077)
    try:
        folder = stage("01_embeddings", tmp_path / "new" / "staged")
    finally:
        os.umask(before)
    for path in (folder, *folder.rglob("*")):
        found = path.lstat()
        assert not path.is_symlink()
        assert oct(found.st_mode)[-3:] == ("755" if path.is_dir() else "644"), path
        assert path.is_dir() or found.st_nlink == 1


def test_a_wheel_stages_the_same_files_as_the_project(wheel, staged, tmp_path):  # noqa: F811
    unpacked = tmp_path / "unpacked"
    zipfile.ZipFile(wheel).extractall(unpacked)
    code = "import pathlib; from grader.revealed import stage; stage(sys.argv[1], pathlib.Path(sys.argv[2]))"
    for unit in ("00_start", "04_retriever"):
        python(unpacked, code, unit, str(tmp_path / unit))
        assert contents(tmp_path / unit) == contents(staged(unit))


def test_a_module_of_no_exercise_and_of_no_use_to_others_is_noticed(monkeypatch):
    monkeypatch.setitem(hybrid_search._MODULES, "helper", ("help_others",))
    with pytest.raises(RuntimeError, match="hybrid_search.helper belongs to 0 units"):
        unit_of_modules()
