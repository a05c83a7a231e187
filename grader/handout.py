"""Make the folder that a teacher gives to a class: the units so far, and nothing that solves the last of them."""

import json
import logging
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

import nbformat

from . import notebooks
from .paths import ROOT
from .revealed import END, make_folder, put, put_grader, put_hybrid_search, put_lab, units_before
from .units import UNITS

# From this heading of requirements.txt on, a learner does without.
_FOR_TEACHERS = "# checking and grading"
_README = Path(__file__).parent / "handed_out" / "README.md"


class HandoutError(ValueError):
    """The handout cannot be made; the message says why."""


def handout(unit: str, folder: Path) -> list[str]:
    """Make the handout of ``unit`` in ``folder``, which must be new or empty; the names of the units in it.

    The units up to ``unit`` are in it, and the finished code of those before it; with END, all of both. The
    folder is written whole or not at all. Raises UnknownUnit and HandoutError.
    """
    units = units_before(unit) if unit == END else [*units_before(unit), unit]
    folder = folder.resolve()
    if folder.exists() and not folder.is_dir():
        raise HandoutError(f"{folder} is a file: name a folder that is new or empty.")
    try:
        if folder.is_dir() and any(folder.iterdir()):
            raise HandoutError(f"{folder} is not empty: name a folder that is new or empty.")
        with _made_beside(folder) as made:
            _write(unit, units, made)
    except OSError as error:
        raise HandoutError(f"Cannot write the handout to {folder}: {error.strerror or error}.") from error
    return units


@contextmanager
def _made_beside(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of ``folder`` at the end, or disappears where something fails."""
    there = folder.is_dir()
    workplace = Path(tempfile.mkdtemp(prefix=".handout-", dir=folder if there else folder.parent))
    try:
        made = workplace / "made"
        make_folder(made)
        yield made
        if there:
            _move_into(made, folder)
        else:
            made.rename(folder)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _move_into(made: Path, folder: Path) -> None:
    moved = []
    try:
        for entry in sorted(made.iterdir()):
            moved.append(entry.rename(folder / entry.name))
    except BaseException:
        for entry in moved:
            entry.rename(made / entry.name)
        raise


def _write(unit: str, units: list[str], folder: Path) -> None:
    for name, notebook in _learner_notebooks(units):
        put(folder / "notebooks" / name / f"{name}.ipynb", notebook)
    put_lab(folder / "notebooks" / "lab", folder / "assets")
    put_grader(unit, folder / "grader", references=True)
    put_hybrid_search(unit, folder / "hybrid_search")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    put(folder / "pyproject.toml", _pyproject(project).encode())
    put(folder / "requirements.txt", b"# What the course needs is listed in pyproject.toml.\n-e .\n")
    put(folder / "README.md", _readme(unit, units).encode())
    put(folder / "LICENSE", (ROOT / "LICENSE").read_bytes())


def _learner_notebooks(units: list[str]) -> Iterator[tuple[str, bytes]]:
    """The learner notebooks, made anew: in those of the project somebody may have worked."""
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        for unit in units:
            notebook = notebooks.solved(ROOT / "solutions" / f"{unit}.py")
            notebooks.write(notebook, root / "solutions" / "notebooks" / unit / f"{unit}.ipynb")
        notebooks.release(root)
        for unit in units:
            path = root / "notebooks" / unit / f"{unit}.ipynb"
            notebooks.write(nbformat.read(path, as_version=4), path)
            yield unit, path.read_bytes()


def _pyproject(project: dict) -> str:
    build, about = project["build-system"], project["project"]
    requirements = _learner_requirements((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    lines = [
        "[build-system]",
        f"requires = {_toml(build['requires'])}",
        f"build-backend = {_toml(build['build-backend'])}",
        "",
        "[project]",
        *(f"{key} = {_toml(about[key])}" for key in ("name", "version", "description")),
        'readme = "README.md"',
        *(f"{key} = {_toml(about[key])}" for key in ("requires-python", "license", "license-files")),
        f"dependencies = {_toml(requirements)}",
        "",
        "[tool.hatch.build]",
        'dev-mode-dirs = ["notebooks", "."]',
        "",
        "[tool.hatch.build.targets.wheel]",
        'only-include = ["notebooks/lab", "hybrid_search", "grader"]',
    ]
    return "\n".join(lines) + "\n"


def _learner_requirements(text: str) -> list[str]:
    lines = text.partition(_FOR_TEACHERS)[0].splitlines()
    return [line for line in lines if line and not line.startswith(("#", "-"))]


def _toml(value: str | list[str]) -> str:
    if isinstance(value, str):
        return json.dumps(value)  # TOML's strings take the same escapes
    return "[\n" + "".join(f"    {_toml(item)},\n" for item in value) + "]"


def _readme(unit: str, units: list[str]) -> str:
    last = units[-1]
    text = _README.read_text(encoding="utf-8")
    files = ""
    if UNITS[last].files:
        files = (
            f"\nIf it reads a text of your own ({' or '.join(UNITS[last].files)}), hand in that file too.\n"
        )
    finished = f"the units before {last}"
    if unit == END:
        finished = "all units"
        text = text.partition("\n## The next handout")[0]
    elif len(units) == 1:
        finished = "earlier units, of which there are none yet"
    return Template(text).substitute(unit=last, last=last, files=files, finished=finished)
