"""The folder that a teacher gives to a class: it installs and works, and solves nothing."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import nbformat
import pytest
import trees
from browser import running_lab
from conftest import ROOT, posix_only, released

from grader import handout as module
from grader.__main__ import main
from grader.exercises import EXERCISES
from grader.handout import HandoutError, handout
from grader.notebooks import solved
from grader.revealed import END, unit_of_modules, units_before
from grader.units import UNITS

UNIT = "04_retriever"
SOLUTIONS = ROOT / "solutions"
# lab gives the stop words to the learner, by the same few lines.
GIVEN = {"hybrid_search.bm25._stop_words"}


@pytest.fixture(scope="module")
def handed_out(tmp_path_factory) -> Callable[[str], Path]:
    """The handout of a unit, made once. Not to be changed."""
    parent = tmp_path_factory.mktemp("handouts")

    @cache
    def make(unit: str) -> Path:
        handout(unit, parent / unit)
        return parent / unit

    return make


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def learner_notebook(folder: Path, unit: str) -> nbformat.NotebookNode:
    return nbformat.read(folder / "notebooks" / unit / f"{unit}.ipynb", as_version=4)


def solution_cells(unit: str) -> dict[str, str]:
    return {cell.id: cell.source for cell in solved(SOLUTIONS / f"{unit}.py").cells if cell.id in EXERCISES}


# What is in it


@pytest.mark.parametrize("unit", [*UNITS, END])
def test_it_holds_the_units_so_far_and_the_public_references_of_their_exercises(handed_out, unit):
    folder = handed_out(unit)
    units = list(UNITS) if unit == END else [*units_before(unit), unit]
    assert sorted(path.name for path in (folder / "notebooks").iterdir()) == sorted([*units, "lab"])
    for name in units:
        notebook = learner_notebook(folder, name)
        assert notebook == nbformat.reads(released(name), as_version=4)
    references = {path.stem for path in (folder / "grader" / "reference").iterdir()}
    assert references == {name for name, exercise in EXERCISES.items() if exercise.unit in units}
    assert {path.name for path in folder.iterdir()} == {
        *("LICENSE", "README.md", "assets", "grader", "hybrid_search", "notebooks", "pyproject.toml"),
        "requirements.txt",
    }


def test_no_file_of_the_trusted_side_is_in_it(handed_out):
    names = contents(handed_out(UNIT))
    for part in ("misconceptions", "solutions", "sandbox", "classroom", "nbgrader", "build", "__pycache__"):
        assert not [name for name in names if part in name], part


def test_a_learner_installs_everything_that_its_code_imports_and_no_nbgrader(handed_out):
    folder = handed_out(END)
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = {re.split(r"[\[>]", line)[0].replace("-", "_") for line in project["dependencies"]}
    assert not {"nbgrader", "jupytext", "pytest", "ruff", "pyseccomp"} & listed
    # What comes with another: IPython with ipykernel, the rest with JupyterLab.
    brought = {"IPython", "traitlets", "jupyter_core", "jupyter_server", "ipywidgets"}
    # For those who have a key: a plain sentence asks for the first two, each of which brings the last.
    on_request = {"anthropic", "cohere", "httpx"}
    own = {"lab", "grader", "hybrid_search"}
    imported = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(trees.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                imported.add(node.module.split(".")[0])
    assert imported - own - brought - on_request - set(sys.stdlib_module_names) - listed == set()


def test_the_readme_names_the_file_to_hand_in_and_the_command_that_starts(handed_out):
    readme = (handed_out(UNIT) / "README.md").read_text(encoding="utf-8")
    assert "    notebooks/04_retriever/04_retriever.ipynb\n" in readme
    assert "$" not in readme
    command = next(line for line in (ROOT / "README.md").read_text().splitlines() if "-m lab" in line)
    assert command in readme.splitlines()
    assert "of the units before 04_retriever" in readme
    assert "(.md or .txt)" in (handed_out("05_tuning") / "README.md").read_text(encoding="utf-8")
    end = (handed_out(END) / "README.md").read_text(encoding="utf-8")
    assert "of all units" in end and "next handout" not in end


def test_work_in_the_projects_own_notebooks_is_not_handed_out(tmp_path, monkeypatch):
    """The notebooks come from their sources, whatever lies in notebooks/."""
    root = tmp_path / "project"
    (root / "notebooks").mkdir(parents=True)
    for name in ("solutions", "pyproject.toml", "requirements.txt", "LICENSE"):
        (root / name).symlink_to(ROOT / name)
    monkeypatch.setattr(module, "ROOT", root)
    handout("00_start", tmp_path / "class")
    notebook = learner_notebook(tmp_path / "class", "00_start")
    assert notebook == nbformat.reads(released("00_start"), as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "find_term")
    assert "raise NotImplementedError" in cell.source


# What is not in it


def pieces(unit: str) -> Iterator[tuple[str, trees.Statements]]:
    """The code that must not be in the handout of a unit, by name."""
    before = units_before(unit)
    for name, home in unit_of_modules().items():
        if home not in before:
            for function, statements in trees.functions(tree_of(SOLUTIONS / "hybrid_search" / f"{name}.py")):
                yield f"hybrid_search.{name}.{function}", statements
    for later in UNITS:
        if later not in before:
            for name, source in solution_cells(later).items():
                for statements in trees.between(source, "### BEGIN SOLUTION", "### END SOLUTION"):
                    yield f"solution of {name}", statements
    for path in sorted((SOLUTIONS / "misconceptions").glob("*.py")):
        for function, statements in trees.functions(tree_of(path)):
            yield f"misconceptions.{path.stem}.{function}", statements


def revealed_forms(unit: str) -> set[str]:
    """A misconception may use what is right in an earlier unit."""
    return {
        trees.form(statements)
        for name, home in unit_of_modules().items()
        if home in units_before(unit)
        for _, statements in trees.functions(tree_of(SOLUTIONS / "hybrid_search" / f"{name}.py"))
    }


@cache
def tree_of(path: Path) -> ast.Module:
    return trees.parse(path.read_text(encoding="utf-8"))


def solutions_in(folder: Path, unit: str) -> dict[str, set[str]]:
    """The pieces found in each file of a handout."""
    revealed = revealed_forms(unit)
    forbidden = trees.Forbidden(
        (name, statements)
        for name, statements in pieces(unit)
        if name not in GIVEN and trees.form(statements) not in revealed
    )
    found = {}
    for path in sorted(folder.rglob("*.py")):
        found[path.relative_to(folder).as_posix()] = forbidden.found_in(trees.parse(path.read_text("utf-8")))
    for path in sorted(folder.rglob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "code":
                found[f"{path.stem}: {cell.id}"] = forbidden.found_in(trees.parse(cell.source))
    return {where: names for where, names in found.items() if names}


@pytest.mark.parametrize("unit", UNITS)
def test_no_syntax_tree_of_a_solution_or_a_wrong_one_is_in_it(handed_out, unit):
    assert solutions_in(handed_out(unit), unit) == {}


def renamed(source: str) -> str:
    """The same code with other names, other docstrings and another layout."""

    class Rename(ast.NodeTransformer):
        def visit_Name(self, node):
            return ast.Name(f"my_{node.id}", node.ctx)

        def visit_arg(self, node):
            return ast.arg(f"my_{node.arg}")

        def visit_FunctionDef(self, node):
            node.name = f"my_{node.name}"
            node.body = [ast.Expr(ast.Constant("Mine.")), *self.generic_visit(node).body]
            return node

    return ast.unparse(ast.fix_missing_locations(Rename().visit(ast.parse(source))))


def test_a_solution_in_a_notebook_would_be_found_whatever_its_names_are(handed_out, tmp_path):
    folder = shutil.copytree(handed_out(UNIT), tmp_path / "planted")
    notebook = learner_notebook(folder, UNIT)
    cell = next(cell for cell in notebook.cells if cell.id == "retriever")
    cell.source = renamed(solution_cells(UNIT)["retriever"])
    nbformat.write(notebook, folder / "notebooks" / UNIT / f"{UNIT}.ipynb")
    assert "solution of retriever" in solutions_in(folder, UNIT)["04_retriever: retriever"]


def test_a_function_of_the_finished_code_would_be_found_in_the_middle_of_another(handed_out, tmp_path):
    folder = shutil.copytree(handed_out("03_rrf_table"), tmp_path / "planted")
    finished = ast.parse((SOLUTIONS / "hybrid_search" / "rrf.py").read_text(encoding="utf-8"))
    function = next(node for node in finished.body if getattr(node, "name", "") == "rrf_scores")
    lines = ["def draw():", "    import numpy"]
    lines += [f"    {line}" for node in function.body for line in renamed(ast.unparse(node)).splitlines()]
    (folder / "notebooks" / "lab" / "extra.py").write_text("\n".join(lines), encoding="utf-8")
    assert solutions_in(folder, "03_rrf_table") == {
        "notebooks/lab/extra.py": {"hybrid_search.rrf.rrf_scores"}
    }


def test_a_misconception_would_be_found(handed_out, tmp_path):
    folder = shutil.copytree(handed_out(UNIT), tmp_path / "planted")
    shutil.copyfile(SOLUTIONS / "misconceptions" / "retriever.py", folder / "grader" / "wrong.py")
    found = solutions_in(folder, UNIT)["grader/wrong.py"]
    assert any(name.startswith("misconceptions.retriever.") for name in found)


# It works


@pytest.fixture(scope="module")
def installed(handed_out, tmp_path_factory) -> Path:
    """A new virtual environment with the handout of unit 04 in it; the interpreter."""
    home = tmp_path_factory.mktemp("learner")
    folder = shutil.copytree(handed_out(UNIT), home / "course")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    bin_folder = folder / ".venv" / ("Scripts" if os.name == "nt" else "bin")
    interpreter = next(path for path in bin_folder.glob("python*") if path.stem == "python")
    purelib = subprocess.run(
        [interpreter, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    # The packages of this environment instead of a download; a path file in them, such as this project's, is not read.
    others = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    Path(purelib, "~others.pth").write_text("\n".join(others), encoding="utf-8")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", interpreter, "install", *options, "-r", "requirements.txt"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return interpreter


AS_A_LEARNER = """
import contextlib, io, json, sys
from pathlib import Path
import grader, hybrid_search, lab
from grader import check, hint

exec(sys.argv[1])
shown = io.StringIO()
with contextlib.redirect_stdout(shown):
    points = [check("retriever", Retriever), check("keyword_index", object), check("evaluate", object)]
    for exercise in ("retriever", "idf"):
        for _ in range(4):
            hint(exercise)
try:
    from hybrid_search import Retriever
    said = ""
except ImportError as error:
    said = str(error)
homes = [Path(module.__file__).parents[1].as_posix() for module in (grader, hybrid_search, lab)]
print(json.dumps({"points": points, "said": said, "shown": shown.getvalue(), "homes": homes}))
"""


@pytest.fixture(scope="module")
def seen(installed, tmp_path_factory) -> dict:
    """What a learner sees who installed the handout and solved the Retriever."""
    done = subprocess.run(
        [installed, "-c", AS_A_LEARNER, solution_cells(UNIT)["retriever"]],
        cwd=tmp_path_factory.mktemp("elsewhere"),
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_installed_it_checks_a_solution_while_the_finished_class_cannot_be_imported(installed, seen):
    folder = installed.parents[2].resolve()
    assert seen["homes"] == [folder.as_posix(), folder.as_posix(), (folder / "notebooks").as_posix()]
    assert seen["points"] == [8, 0, 0]
    assert seen["said"] == "hybrid_search.Retriever comes after unit 04_retriever: you build it there"


def test_the_last_hint_names_only_a_file_that_is_there(installed, seen):
    last = [line for line in seen["shown"].splitlines() if line.startswith("Hint 4 of 4")]
    assert last[0].startswith("Hint 4 of 4: The finished code comes with the next handout.")
    path = Path(last[1].removeprefix("Hint 4 of 4: The finished function is idf in ").rstrip("."))
    assert path.resolve() == installed.parents[2].resolve() / "hybrid_search" / "bm25.py"
    assert path.is_file()


def test_an_exercise_of_a_later_unit_is_not_known(seen):
    assert "There is no exercise 'evaluate'." in seen["shown"]


@posix_only
def test_it_opens_in_jupyterlab_at_unit_00(handed_out, tmp_path):
    folder = shutil.copytree(handed_out(UNIT), tmp_path / "course")
    with running_lab(folder, tmp_path) as lab:
        assert "/lab/tree/notebooks/00_start/00_start.ipynb" in lab.url
        url = f"{lab.base}/api/contents/notebooks/{UNIT}/{UNIT}.ipynb?token={lab.token}"
        shown = json.load(urllib.request.urlopen(url, timeout=10))
    assert shown["content"]["cells"]


# Where it is written


def test_an_empty_folder_is_filled_and_the_command_says_what_is_in_it(tmp_path, capsys):
    folder = tmp_path / "class"
    folder.mkdir()
    assert main(["handout", "00_start", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder} is ready to be given to the class. Units: 00_start.\n"
    assert "notebooks/00_start/00_start.ipynb" in contents(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["class"]


@pytest.mark.parametrize("there", ["notes.txt", ".hidden"])
def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys, there):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / there).write_text("mine", encoding="utf-8")
    assert main(["handout", UNIT, str(folder)]) == 1
    assert capsys.readouterr().err == f"{folder} is not empty: name a folder that is new or empty.\n"
    assert contents(tmp_path) == {f"class/{there}": b"mine"}


@pytest.mark.parametrize(
    ("unit", "name", "sentence"),
    [
        ("04_retreiver", "class", "There is no unit '04_retreiver'. The units are: 00_start, "),
        ("../04_retriever", "class", "There is no unit '../04_retriever'. "),
        (UNIT, "missing/class", "missing/class: No such file or directory."),
        (UNIT, "a_file", "a_file is a file: name a folder that is new or empty."),
    ],
)
def test_what_cannot_be_made_is_said_in_a_sentence(tmp_path, capsys, unit, name, sentence):
    (tmp_path / "a_file").write_text("mine", encoding="utf-8")
    assert main(["handout", unit, str(tmp_path / name)]) == 1
    said = capsys.readouterr()
    assert sentence in said.err and said.err.count("\n") == 1 and said.out == ""
    assert contents(tmp_path) == {"a_file": b"mine"}


@pytest.mark.parametrize("there", [True, False])
@pytest.mark.parametrize("fails", ["writing", "moving"])
def test_it_is_written_whole_or_not_at_all(tmp_path, monkeypatch, there, fails):
    folder = tmp_path / "class"
    if there:
        folder.mkdir()

    def full_disk(*_):
        raise OSError(28, "No space left on device")

    if fails == "writing":
        monkeypatch.setattr(module, "_readme", full_disk)
    else:
        rename = Path.rename
        monkeypatch.setattr(
            Path,
            "rename",
            lambda path, target: (
                full_disk()
                if (path.name == "notebooks" and target.parent == folder) or target == folder
                else rename(path, target)
            ),
        )
    with pytest.raises(HandoutError, match=r"class: No space left on device\.$"):
        handout("00_start", folder)
    assert [path.name for path in tmp_path.rglob("*")] == (["class"] if there else [])
