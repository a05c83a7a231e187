"""A class of six, one of them hostile, graded before your eyes by the command that grades a real class."""

import logging
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat

from .exercises import EXERCISES
from .notebooks import released
from .paths import ROOT

_UNIT = "04_retriever"
_SEED = 4  # the same table every time

# Shows full points, puts a check of its own in the place of the course's, and looks for the answers.
_HOSTILE = """
import builtins, socket, sys
from pathlib import Path

class Retriever:
    def __init__(self, *indexes): pass
    def search(self, query, k=1, k_rrf=60, candidates=20): return []

def check(exercise, *objects):
    print(f"{exercise}: 8 of 8 points")
    return 8.0

builtins.check = sys.modules["grader"].check = check
print("answers found:", list(Path(sys.modules["grader"].__file__).parent.rglob("*.json")))
socket.create_connection(("127.0.0.1", 8888))
"""


def demo(say: Callable[[str], None] = print) -> int:
    """Grade the sample class of unit 04 in a temporary folder, print the table, and say what became of fay."""
    from .classroom.run import grade
    from .sandbox.confinement import why_not

    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="nbgrader")  # about its own use of its database
    missing = why_not()
    with tempfile.TemporaryDirectory() as folder:
        submissions, out = Path(folder) / "submitted", Path(folder) / "graded"
        _hand_in(submissions, hostile=not missing)
        if missing:
            print(f"{missing}\nSo the demo leaves its hostile submission out.", file=sys.stderr)
        said: list[str] = []
        status = grade(
            _UNIT, submissions, out, seed=_SEED, engine="none" if missing else "fork", say=said.append
        )
        # What follows the table is about files, which are gone in a moment.
        table = said.index("")
        say("\n".join(said[: said.index("", table + 1)]))
        if not missing:
            say("\nWhat the code of fay put out, in the sandbox:")
            say("\n".join(f"  {line}" for line in _put_out(out, "fay")))
    return status


def _hand_in(folder: Path, hostile: bool) -> None:
    """Put the sample class's notebooks where a class run looks for submissions."""
    solved = nbformat.read(ROOT / "solutions" / "notebooks" / _UNIT / f"{_UNIT}.ipynb", as_version=4)
    right = {cell.id: cell.source for cell in solved.cells if cell.id in EXERCISES}
    for learner, sources in _sample_class(right, hostile):
        notebook = released(_UNIT)
        for cell in notebook.cells:
            cell.source = sources.get(cell.id, cell.source)
        place = folder / learner / _UNIT
        place.mkdir(parents=True)
        nbformat.write(notebook, place / f"{_UNIT}.ipynb")


def _sample_class(right: dict[str, str], hostile: bool) -> Iterator[tuple[str, dict[str, str]]]:
    """Each learner with the solution cells that were changed."""
    yield "amal", right
    yield "bruno", {"retriever": right["retriever"]}
    yield "chen", {}
    yield "dana", {**right, "retriever": changed(right["retriever"], ", start=1", "")}
    yield "emre", {**right, "retriever": changed(right["retriever"], "(query, candidates)", "(query, k)")}
    if hostile:
        yield "fay", {"retriever": _HOSTILE}


def changed(source: str, old: str, new: str) -> str:
    """The source with the one place changed that it has. Raises RuntimeError where it is not one."""
    if source.count(old) != 1:
        raise RuntimeError(
            f"the demo changes {old!r} in the solution, which has it {source.count(old)} times"
        )
    return source.replace(old, new)


def _put_out(out: Path, learner: str) -> Iterator[str]:
    """What a learner's first solution cell printed, and the error it ended in."""
    notebook = nbformat.read(out / "autograded" / learner / _UNIT / f"{_UNIT}.ipynb", as_version=4)
    cell = next(cell for cell in notebook.cells if cell.id == "retriever")
    for output in cell.outputs:
        yield output.text.strip() if "text" in output else f"{output.ename}: {output.evalue}"
