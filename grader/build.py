"""Make everything that is generated: reference answers, both editions of the notebooks, the catalogue.

Each product is made in memory or in a temporary folder first, so that a fault leaves the project as it was.
"""

import json
import logging
import tempfile
from collections.abc import Callable
from pathlib import Path

import nbformat

from . import lint, make_references, notebooks
from .compare import same
from .exercises import EXERCISES
from .files import write_whole
from .paths import ROOT


def build(check: bool = False, say: Callable[[str], None] = print) -> int:
    """Write what is generated, or with ``check`` only compare. The exit status: 0, or 1 with a fault named."""
    logging.getLogger("traitlets").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        faults = _make_references(made / "grader" / "reference")
        faults += _make_notebooks(made)
        _make_catalogue(made / "assets" / "locale")
        if faults:
            for fault in faults:
                say(fault)
            return 1
        changed = [path for path in _products(made) if not _same_file(made / path, ROOT / path)]
        stale = _stale(made)
        kept = [path for path in changed + stale if notebooks.worked_in(ROOT / path)]
        for path in kept:
            say(
                f"{path} holds somebody's work and is left as it is: move it away, then run python -m grader build"
            )
        changed, stale = ([path for path in paths if path not in kept] for paths in (changed, stale))
        if check:
            for path in changed + stale:
                say(f"{path} is not what its source gives: run python -m grader build")
            return 1 if changed or stale or kept else 0
        for path in changed:
            write_whole(ROOT / path, (made / path).read_bytes())
        for path in stale:
            (ROOT / path).unlink()
            # nbgrader takes an empty folder for an assignment.
            if not any((ROOT / path).parent.iterdir()):
                (ROOT / path).parent.rmdir()
        say(f"{len(changed)} files written, {len(stale)} removed, {len(_products(made))} in all")
    return 1 if kept else 0


def _make_references(folder: Path) -> list[str]:
    folder.mkdir(parents=True)
    faults = []
    for exercise in EXERCISES.values():
        reference = make_references.make(exercise)
        text = json.dumps(reference, indent=1, ensure_ascii=False)
        (folder / f"{exercise.id}.json").write_text(text + "\n", encoding="utf-8", newline="\n")
        faults += [
            f"{exercise.id}: {one} and {other} answer the same: no probe tells them apart"
            for one, other in make_references.twins(exercise, reference["misconceptions"])
        ]
    return faults


def _make_notebooks(made: Path) -> list[str]:
    faults = []
    solved = made / "solutions" / "notebooks"
    for source in sorted((ROOT / "solutions").glob("[0-9][0-9]_*.py")):
        notebook = notebooks.solved(source)
        faults += lint.faults(source.stem, notebook)
        notebooks.write(notebook, solved / source.stem / f"{source.stem}.ipynb")
    if not faults:
        notebooks.release(made)
        for path in made.glob("notebooks/*/*.ipynb"):
            notebooks.write(nbformat.read(path, as_version=4), path)
    return faults


def _make_catalogue(folder: Path) -> None:
    """The sentences that a translator translates."""
    from babel.messages.catalog import Catalog
    from babel.messages.extract import extract_from_dir
    from babel.messages.pofile import write_po

    catalogue = Catalog(project="hybrid-search-course", charset="utf-8")
    keywords = {"_": None, "N_": None, "translate": None}
    for package in ("grader", "notebooks/lab"):
        found = extract_from_dir(ROOT / package, keywords=keywords, comment_tags=())
        for _filename, _line, message, _comments, _context in found:
            catalogue.add(message)
    folder.mkdir(parents=True)
    with open(folder / "course.pot", "wb") as file:
        write_po(file, catalogue, omit_header=True, sort_output=True, no_location=True)


def _products(made: Path) -> list[Path]:
    return sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())


def _stale(made: Path) -> list[Path]:
    """Generated files whose source is gone; whatever else lies beside a unit's notebook is not ours."""
    patterns = ("grader/reference/*.json", "solutions/notebooks/*/*.ipynb", "notebooks/*/*.ipynb")
    there = [path.relative_to(ROOT) for pattern in patterns for path in ROOT.glob(pattern)]
    own = (path for path in there if path.suffix == ".json" or path.stem == path.parent.name)
    return sorted(path for path in own if not (made / path).exists())


def _same_file(made: Path, there: Path) -> bool:
    """Bytes, except that numbers in reference answers may differ in their last digits between machines."""
    if not there.exists():
        return False
    if made.read_bytes() == there.read_bytes():
        return True
    if made.suffix != ".json":
        return False
    try:
        stored = json.loads(there.read_text("utf-8"))
    except ValueError:
        return False
    return same(json.loads(made.read_text("utf-8")), stored, 1e-9)
