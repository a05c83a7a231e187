"""S1 to S14: what went wrong before anything ran."""

import json
from collections.abc import Callable
from typing import Any

import nbformat

from ..entry import (
    FULL,
    NOTHING,
    UNIT,
    Control,
    Files,
    Follows,
    Guess,
    Invalid,
    Link,
    Nbgrader,
    NoKernel,
    Stock,
    Submission,
)
from ..notebooks import code_cells, dump, graded_cell, handed_in, notebook, release, right

NAME = f"{UNIT}.ipynb"
_UNGRADED = {"retriever": None}  # stock nbgrader finds no cell to grade


def _raw(content: bytes) -> Callable[[], Files]:
    return lambda: {NAME: content}


def _changed(change: Callable[[nbformat.NotebookNode], Any], **how: Any) -> Callable[[], Files]:
    return lambda: handed_in(change=change, **how)


def _format_3() -> Files:
    made = notebook()
    for cell in code_cells(made):
        cell["metadata"].setdefault("collapsed", False)
    return {NAME: nbformat.writes(nbformat.convert(made, 3)).encode()}


def _version(major: Any, minor: Any) -> Callable[[], Files]:
    def change(made: nbformat.NotebookNode) -> None:
        made.nbformat, made.nbformat_minor = major, minor
        made.metadata["from_the_future"] = {"a": 1}

    return _changed(change)


def _old_minor(made: nbformat.NotebookNode) -> None:
    """Before 4.5 cells had no ids."""
    made.nbformat_minor = 2
    for cell in made.cells:
        del cell["id"]


def _cut_short() -> Files:
    content = dump(notebook())
    return {NAME: content[: len(content) // 2]}


def _latin_1() -> Files:
    made = notebook(before={"retriever": "# caf\u00e9"})
    return {NAME: json.dumps(made, ensure_ascii=False).replace("\u00b7", "-").encode("latin-1", "replace")}


def _cells_are_text() -> Files:
    return {NAME: dump({**notebook(), "cells": "all of them"})}


def _copied(grade_id: str, source: str | None = None) -> Callable[[], Files]:
    """The cell is there twice; the second copy has another source."""

    def change(made: nbformat.NotebookNode) -> None:
        first = graded_cell(made, grade_id)
        copy = nbformat.from_dict({**first, "id": first.id + "-copy"})
        copy.source = source or first.source
        made.cells.insert(made.cells.index(first) + 1, copy)

    return _changed(change)


def _three_times(made: nbformat.NotebookNode) -> None:
    for name in ("retriever", "check_retriever", "keyword_index"):
        first = graded_cell(made, name)
        made.cells += [
            nbformat.from_dict({**first, "id": f"{name}-{number}", "source": "raise RuntimeError('no')"})
            for number in (2, 3)
        ]


def _without(*names: str) -> Callable[[nbformat.NotebookNode], None]:
    def change(made: nbformat.NotebookNode) -> None:
        made.cells = [
            cell for cell in made.cells if cell.metadata.get("nbgrader", {}).get("grade_id") not in names
        ]

    return change


def _check_first(made: nbformat.NotebookNode) -> None:
    check = graded_cell(made, "check_retriever")
    made.cells.remove(check)
    made.cells.insert(2, check)


def _edit(name: str, source: str) -> Callable[[nbformat.NotebookNode], None]:
    def change(made: nbformat.NotebookNode) -> None:
        graded_cell(made, name).source = source

    return change


def _of_type(name: str, kind: str) -> Callable[[nbformat.NotebookNode], None]:
    def change(made: nbformat.NotebookNode) -> None:
        cell = graded_cell(made, name)
        cell.cell_type = kind
        for key in ("outputs", "execution_count"):
            cell.pop(key, None)

    return change


def _metadata(name: str, **values: Any) -> Callable[[nbformat.NotebookNode], None]:
    def change(made: nbformat.NotebookNode) -> None:
        graded_cell(made, name).metadata.nbgrader.update(values)

    return change


def _stripped(made: nbformat.NotebookNode) -> None:
    for name in ("check_retriever", "check_keyword_index"):
        graded_cell(made, name).metadata = nbformat.from_dict({})


def _upside_down(made: nbformat.NotebookNode) -> None:
    made.cells.reverse()


def _a_thousand_points(made: nbformat.NotebookNode) -> None:
    for name in ("check_retriever", "check_keyword_index"):
        graded_cell(made, name).metadata.nbgrader.points = 1000
        graded_cell(made, name).source = "pass"


def _all_that_is_graded(made: nbformat.NotebookNode) -> None:
    """A cell of the learner's own says that it is worth 50 points, and that it is a test."""
    extra = nbformat.v4.new_code_cell("50.0")
    extra.metadata["nbgrader"] = {
        "schema_version": 3,
        "grade": True,
        "grade_id": "bonus",
        "locked": True,
        "points": 50,
        "solution": False,
        "task": False,
        "cell_type": "code",
    }
    made.cells.append(extra)


def _kernel(**values: Any) -> Callable[[nbformat.NotebookNode], None]:
    def change(made: nbformat.NotebookNode) -> None:
        made.metadata = nbformat.from_dict(values)

    return change


def _zipped_bytes() -> bytes:
    return b"PK\x03\x04\x14\x00\x00\x00\x08\x00" + bytes(range(256)) * 4


_FAKE_GRADER = b"""
class Points(float):
    def __repr__(self):
        return "8"

def check(name, *objects):
    return Points(8)

def hint(name):
    pass
"""
_NO_RETRIEVER = """
class Retriever:
    def __init__(self, *indexes):
        pass
"""


def _library_of_ones_own() -> Files:
    return {
        **handed_in(retriever=None),
        "grader.py": _FAKE_GRADER,
        "numpy.py": b"raise RuntimeError('this is not numpy')",
        "sitecustomize.py": b"raise RuntimeError('at start')",
        "lab/__init__.py": b"def sections(): raise RuntimeError('not the lab')",
    }


def _two(first: str, second: str) -> Callable[[], Files]:
    def make() -> Files:
        return {first: dump(notebook()), second: dump(release())}

    return make


BROKEN = (
    Submission(
        "S1-renamed",
        lambda: handed_in(name="homework final (2).ipynb"),
        Nbgrader("fails"),
        says=("homework final (2).ipynb",),
    ),
    Submission(
        "S1-renamed-like-another-unit",
        lambda: handed_in(name="03_rrf_table.ipynb"),
        Nbgrader("fails"),
        says=("03_rrf_table.ipynb",),
    ),
    Submission("S2-empty-folder", dict, Nbgrader("fails"), ("othing was handed in",), NOTHING, "missing"),
    Submission(
        "S2-no-notebook",
        lambda: {"answers.pdf": b"%PDF-1.4", "notes.txt": b"I did not understand this."},
        Nbgrader("fails"),
        ("o notebook among the files", "answers.pdf"),
        NOTHING,
        "missing",
    ),
    *(
        Submission(f"S3-{name}", make, Nbgrader("fails"), (*says, "0 of 8 points"), NOTHING, "unreadable")
        for name, make, says in (
            ("not-json", _raw(b"print('hello')\n"), ()),
            ("cut-short", _cut_short, ()),
            ("empty-file", _raw(b""), ()),
            ("not-utf-8", _latin_1, ()),
            ("zip-with-another-ending", _raw(_zipped_bytes()), ()),
            ("a-list", _raw(b"[1, 2, 3]"), ()),
            ("null", _raw(b"null"), ()),
            ("nested-without-end", _raw(b"[" * 200_000), ()),
            ("cells-are-text", _cells_are_text, ()),
            ("nul-bytes", _raw(bytes(5000)), ()),
        )
    ),
    Submission("S4-format-3", _format_3, Invalid(), ("retriever: 8 of 8 points",)),
    Submission("S4-newer-minor", _version(4, 99), Invalid(), ("keyword_index: 2 of 2 points",)),
    Submission("S4-older-minor", _changed(_old_minor), Invalid(), ("retriever: 8 of 8 points",)),
    Submission("S5-format-5", _version(5, 0), Nbgrader("fails"), ("format 5", "0 of 8"), NOTHING, "refused"),
    Submission("S5-format-77", _version(77, 0), Nbgrader("fails"), ("format 77",), NOTHING, "refused"),
    Submission(
        "S6-solution-copied",
        _copied("retriever", _NO_RETRIEVER),
        Nbgrader("fails"),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S6-check-copied", _copied("check_retriever"), Nbgrader("fails"), ("retriever: 8 of 8 points",)
    ),
    Submission(
        "S6-split-cell",
        _copied("keyword_index", "KeywordIndex().search('', 1)"),
        Nbgrader("fails"),
        ("keyword_index: 2 of 2 points",),
    ),
    Submission("S6-three-times", _changed(_three_times), Nbgrader("fails"), ("retriever: 8 of 8 points",)),
    Submission(
        "S7-check-deleted",
        _changed(_without("check_retriever")),
        Stock(_UNGRADED),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S7-every-check-deleted",
        _changed(_without("check_retriever", "check_keyword_index")),
        Stock({"retriever": None, "keyword_index": None}),
        ("keyword_index: 2 of 2 points",),
    ),
    Submission(
        "S7-check-moved", _changed(_check_first), Stock({"retriever": 0}), ("retriever: 8 of 8 points",)
    ),
    Submission(
        "S7-upside-down", _changed(_upside_down), Stock({"retriever": 0}), ("retriever: 8 of 8 points",)
    ),
    Submission(
        "S7-check-edited",
        _changed(_edit("check_retriever", "8.0"), retriever=_NO_RETRIEVER),
        Stock({"retriever": 8}),
        ("retriever: 0 of 8 points",),
        {"retriever": 0, "keyword_index": 2},
    ),
    Submission(
        "S7-check-emptied",
        _changed(_edit("check_retriever", ""), retriever=None),
        Stock({"retriever": 8}),
        ("not attempted",),
        {"retriever": 0, "keyword_index": 2},
    ),
    Submission(
        "S7-check-made-markdown",
        _changed(_of_type("check_retriever", "markdown")),
        Stock(_UNGRADED),
        ("retriever: 8 of 8 points",),
    ),
    Submission("S7-metadata-stripped", _changed(_stripped), Stock(_UNGRADED), ("retriever: 8 of 8 points",)),
    Submission(
        "S7-flags-flipped",
        _changed(_metadata("check_retriever", grade=False, solution=True, locked=False)),
        Stock(_UNGRADED),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S7-metadata-is-nonsense",
        _changed(_metadata("check_retriever", grade_id=["a", {"list": 1}], grade="yes", points="many")),
        Stock(_UNGRADED),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S8-solution-made-markdown",
        _changed(_of_type("retriever", "markdown")),
        Stock({"retriever": 0}),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S8-solution-made-raw",
        _changed(_of_type("keyword_index", "raw")),
        Stock({"keyword_index": 0}),
        ("keyword_index: 2 of 2 points",),
    ),
    Submission(
        "S9-a-thousand-points",
        _changed(_a_thousand_points, retriever=None, keyword_index=None),
        Stock({"retriever": 1000, "keyword_index": 1000}),
        ("0 of 8 points",),
        NOTHING,
    ),
    Submission(
        "S9-a-test-of-ones-own",
        _changed(_all_that_is_graded, retriever=None),
        Stock({"bonus": 50}),
        ("0 of 8 points",),
        {"retriever": 0, "keyword_index": 2},
    ),
    Submission(
        "S10-julia",
        _changed(_kernel(kernelspec={"name": "julia-1.9", "display_name": "Julia", "language": "julia"})),
        NoKernel(),
        ("retriever: 8 of 8 points",),
    ),
    Submission("S10-no-kernel-named", _changed(_kernel()), NoKernel(), ("retriever: 8 of 8 points",)),
    Submission(
        "S10-a-command-as-kernel",
        _changed(
            _kernel(
                kernelspec={"name": "../../bin/sh", "display_name": "sh"},
                language_info={"name": "bash"},
            )
        ),
        NoKernel(),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S11-a-copy-beside",
        _two(NAME, f"{UNIT}-Copy1.ipynb"),
        Guess({"retriever": 0}, {"retriever": 8}),
        (f"{UNIT}-Copy1.ipynb",),
        NOTHING,
        "refused",
    ),
    Submission(
        "S11-two-renamed",
        _two("mine.ipynb", "also mine.ipynb"),
        Guess({"retriever": 0}, {"retriever": 8}),
        ("also mine.ipynb", "mine.ipynb"),
        NOTHING,
        "refused",
    ),
    Submission(
        "S12-library-of-ones-own",
        _library_of_ones_own,
        Stock({"retriever": 8}),
        ("grader.py", "numpy.py"),
        {"retriever": 0, "keyword_index": 2},
    ),
    Submission(
        "S12-exports-and-data",
        lambda: {
            **handed_in(before={"retriever": "assert not __import__('os').path.exists('grades.csv')"}),
            "grades.csv": b"=cmd|' /C calc'!A0,10\n",
            f"{UNIT}.html": b"<script>alert(1)</script>",
        },
        Control(handed_in, FULL),
        ("grades.csv", f"{UNIT}.html"),
    ),
    Submission(
        "S12-checkpoints",
        lambda: {
            **handed_in(),
            f".ipynb_checkpoints/{UNIT}-checkpoint.ipynb": dump(release()),
            "__pycache__/x.cpython-311.pyc": b"\0",
        },
        Guess({"retriever": 0}, {"retriever": 8}),
        ("retriever: 8 of 8 points",),
    ),
    Submission(
        "S13-link-to-the-solution",
        lambda: {NAME: Link(f"@COURSE@/solutions/notebooks/{UNIT}/{NAME}")},
        Follows({"retriever": 8}),
        ("link",),
        NOTHING,
        "refused",
    ),
    Submission(
        "S13-link-to-the-neighbour",
        lambda: {NAME: Link("@NEIGHBOUR@")},
        Follows({"retriever": 8}),
        ("link",),
        NOTHING,
        "refused",
    ),
    Submission(
        "S13-link-that-climbs",
        lambda: {NAME: Link("../../../../../../../../../../../../../..@NEIGHBOUR@")},
        Follows({"retriever": 8}),
        ("link",),
        NOTHING,
        "refused",
    ),
    Submission(
        "S13-link-to-nowhere",
        lambda: {NAME: Link("nowhere")},
        Nbgrader("fails"),
        ("link",),
        NOTHING,
        "refused",
    ),
    Submission(
        "S13-link-to-itself", lambda: {NAME: Link(NAME)}, Nbgrader("fails"), ("link",), NOTHING, "refused"
    ),
    Submission(
        "S13-folder-is-a-link",
        lambda: {".": Link("@NEIGHBOUR_FOLDER@")},
        Follows({"retriever": 8}),
        ("link",),
        NOTHING,
        "refused",
    ),
    Submission(
        "S14-nothing-done",
        lambda: handed_in(retriever=None, keyword_index=None),
        Control(handed_in, FULL),
        ("not attempted",),
        NOTHING,
    ),
    Submission(
        "S14-one-left-out",
        lambda: handed_in(keyword_index=None),
        Control(handed_in, FULL),
        ("not attempted", "retriever: 8 of 8 points"),
        {"retriever": 8, "keyword_index": 0},
    ),
    Submission(
        "S14-stub-in-place-and-class-below",
        lambda: handed_in(retriever="raise NotImplementedError\n" + right()["retriever"]),
        Control(handed_in, FULL),
        ("not attempted",),
        {"retriever": 0, "keyword_index": 2},
    ),
    Submission(
        "S14-solution-deleted",
        _changed(_without("retriever")),
        Control(handed_in, FULL),
        ("not attempted", "keyword_index: 2 of 2 points"),
        {"retriever": 0, "keyword_index": 2},
    ),
)
