"""Any submission becomes a notebook that can be run and judged, or a verdict; and never earns more than its own.

COURSE_TESTS=long tries 2,000 broken notebooks instead of 100.
"""

import copy
import importlib.util
import json
import os
import random
from collections import Counter
from pathlib import Path

import nbformat
import pytest
from conftest import need, posix_only
from unit_notebooks import UNIT, release, solutions

from grader.classroom import rebuilt
from grader.classroom.intake import parse, rebuild, take_in
from grader.classroom.rebuilt import NotANotebook, text_of
from grader.classroom.submissions import Submission, find_submissions
from grader.units import UNITS

NOTEBOOK = f"{UNIT}.ipynb"
LONG = os.environ.get("COURSE_TESTS") == "long"


def solved(unit: str = UNIT) -> nbformat.NotebookNode:
    notebook = release(unit)
    for cell in notebook.cells:
        cell.source = solutions(unit).get(cell.id, cell.source)
    return notebook


def grade_id(cell) -> str:
    return cell.metadata.get("nbgrader", {}).get("grade_id", "")


def cell(notebook, name: str):
    """The cell with this cell id."""
    return next(cell for cell in notebook.cells if cell.id == name)


def place(notebook, name: str) -> int:
    return [cell.id for cell in notebook.cells].index(name)


def own(source: str, **more):
    return nbformat.v4.new_code_cell(source, **more)


def sources(notebook, *names: str) -> list[str]:
    return [cell(notebook, name).source for name in names]


def extras(notebook) -> list[tuple[str, str]]:
    """The learner's own cells, each with the id of the cell before it."""
    before = ["", *(cell.id for cell in notebook.cells)]
    return [(before[at], cell.source) for at, cell in enumerate(notebook.cells) if cell.id.startswith("own-")]


def hand_in(folder: Path, notebook, name: str = NOTEBOOK, unit: str = UNIT) -> Submission:
    place = folder / "maria" / unit
    place.mkdir(parents=True, exist_ok=True)
    data = notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode()
    (place / name).write_bytes(data)
    return find_submissions(folder, unit)[0]


def must_hold(result, unit: str = UNIT) -> None:
    """What holds for every rebuilt notebook: all but the solutions and the learner's own cells is released."""
    nbformat.validate(result)
    original = release(unit)
    kept = [cell for cell in result.cells if not cell.id.startswith("own-")]
    assert [cell.id for cell in kept] == [cell.id for cell in original.cells]
    assert len({cell.id for cell in result.cells}) == len(result.cells)
    assert result.metadata == original.metadata
    assert (result.nbformat, result.nbformat_minor) == (4, 5)
    for cell, as_released in zip(kept, original.cells, strict=True):
        assert (cell.cell_type, cell.metadata) == (as_released.cell_type, as_released.metadata)
        if not cell.metadata.get("nbgrader", {}).get("solution"):
            assert cell.source == as_released.source
    for cell in result.cells:
        cell.source.encode("utf-8")
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None
        if cell.id.startswith("own-"):
            assert cell.cell_type == "code" and cell.metadata == {}


def rebuilt_from(notebook, unit: str = UNIT):
    result, notes = rebuild(release(unit), json.loads(json.dumps(notebook)))
    must_hold(result, unit)
    return result, notes


BOTH = ("retriever", "keyword_index")


def test_an_honest_submission_stays_as_it_is():
    result, notes = rebuilt_from(solved())
    assert result == solved()
    assert notes == []


@pytest.mark.parametrize("unit", UNITS)
def test_every_unit_takes_its_own_solutions(unit):
    result, notes = rebuilt_from(solved(unit), unit)
    assert result == solved(unit) and notes == []
    result, notes = rebuilt_from(release(unit), unit)
    assert result == release(unit) and notes == []


def test_outputs_and_counts_stay_behind():
    notebook = solved()
    for number, code in enumerate(cell for cell in notebook.cells if cell.cell_type == "code"):
        code.outputs = [nbformat.v4.new_output("stream", text="printed")]
        code.execution_count = number
    assert rebuilt_from(notebook) == (solved(), [])


# S1 to S14


@pytest.mark.parametrize("name", ["other.ipynb", "Kopie von 04_retriever.ipynb"])
def test_a_renamed_notebook_is_rebuilt_and_said(tmp_path, name):  # S1
    taken = take_in(hand_in(tmp_path, solved(), name), release(), UNIT)
    assert (taken.state, taken.notebook) == ("graded", solved())
    assert taken.notes == (f"The notebook is named {name} and not {NOTEBOOK}. It is graded all the same.",)


def test_nothing_handed_in_is_missing(tmp_path):  # S2
    (tmp_path / "maria" / UNIT).mkdir(parents=True)
    taken = take_in(find_submissions(tmp_path, UNIT)[0], release(), UNITS[UNIT])
    assert (taken.state, taken.reason) == ("missing", "nothing was handed in")
    assert taken.notebook == release()


WHOLE = json.dumps({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
UNREADABLE = {
    "empty": (b"", "the notebook's file is empty"),
    "blank": (b" \n\n", "the notebook's file is empty"),
    "html": (b"<html>\n<body></body>", "it is no notebook, or cut short: its JSON breaks in line 1"),
    "cut": (WHOLE[:-9], "it is no notebook, or cut short: its JSON breaks in line 1"),
    "two": (WHOLE + b"\n" + WHOLE, "it is no notebook, or cut short: its JSON breaks in line 2"),
    "utf-16": (WHOLE.decode().encode("utf-16"), "it is no notebook: its text is not in UTF-8"),
    "latin-1": ('{"ä": 1}'.encode("latin-1"), "it is no notebook: its text is not in UTF-8"),
    "zeros": (bytes(1000), "it is no notebook, or cut short: its JSON breaks in line 1"),
    "list": (b"[]", "it is no notebook: its JSON holds something else"),
    "number": (b"NaN", "it is no notebook: its JSON holds something else"),
    "depth": (b'{"a":' * 100_000, "it is no notebook: its JSON is nested too deeply"),
    "depth of lists": (b"[" * 400_000, "it is no notebook: its JSON is nested too deeply"),
    "digits": (b'{"nbformat": ' + b"9" * 10_000 + b"}", "it is no notebook: a number in it is too long"),
    "no format": (b'{"cells": []}', "it is no notebook: it does not say which notebook format it has"),
    "true": (b'{"nbformat": true}', "it is no notebook: it does not say which notebook format it has"),
    "half": (b'{"nbformat": 4.5}', "it is no notebook: it does not say which notebook format it has"),
    "no cells": (b'{"nbformat": 4}', "it is no notebook: it has no list of cells"),
    "cells by name": (b'{"nbformat": 4, "cells": {}}', "it is no notebook: it has no list of cells"),
    "no worksheets": (b'{"nbformat": 3, "cells": []}', "it is no notebook: it has no list of cells"),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_what_is_no_notebook_is_unreadable_and_says_why(tmp_path, kind):  # S3
    data, reason = UNREADABLE[kind]
    taken = take_in(hand_in(tmp_path, data), release(), UNIT)
    assert (taken.state, taken.reason) == ("unreadable", reason)
    assert taken.notebook == release()
    must_hold(taken.notebook)


def test_a_notebook_with_a_byte_order_mark_is_read(tmp_path):
    data = b"\xef\xbb\xbf" + json.dumps(solved()).encode()
    assert take_in(hand_in(tmp_path, data), release(), UNIT).notebook == solved()


def as_format_3(notebook) -> dict:
    cells = []
    for cell in notebook.cells:
        shared = {"cell_type": cell.cell_type, "metadata": cell.metadata}
        if cell.cell_type == "code":
            shared |= {"input": cell.source, "language": "python", "outputs": [], "prompt_number": 1}
        else:
            shared["source"] = cell.source.splitlines(keepends=True)
        cells.append(shared)
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": cells}]}


def test_the_old_format_is_converted():  # S4
    result, notes = rebuilt_from(as_format_3(solved()))
    assert result == solved()
    assert notes == ["The notebook has the old format 3. It was converted."]


def test_the_old_format_as_nbformat_writes_it():  # S4
    result, _notes = rebuilt_from(nbformat.v3.upgrade(nbformat.v4.downgrade(solved())))
    assert result == solved()


@pytest.mark.parametrize("minor", [0, 4, 6, 99, "5", None])
def test_another_minor_version_is_read(minor):  # S4
    notebook = {**solved(), "nbformat_minor": minor, "something new": {"a": 1}}
    assert rebuilt_from(notebook) == (solved(), [])


def test_a_notebook_of_a_version_without_cell_ids_is_read():  # S4
    notebook = solved()
    for one in notebook.cells:
        del one["id"]
    notebook.nbformat_minor = 4
    notebook.cells.insert(place(solved(), "cell-05") + 1, {"cell_type": "code", "source": "mine = 1"})
    result, notes = rebuilt_from(notebook)
    assert notes == [] and extras(result) == [("cell-05", "mine = 1")]
    assert sources(result, *BOTH) == sources(solved(), *BOTH)


@pytest.mark.parametrize("version", [5, 6, 2, 1, 0, -4, 10**50])
def test_another_format_is_refused_with_the_reason(tmp_path, version):  # S5
    taken = take_in(hand_in(tmp_path, {**solved(), "nbformat": version}), release(), UNIT)
    named = version if version < 10**6 else "?"
    assert (taken.state, taken.reason) == (
        "refused",
        f"it has the notebook format {named}; the grader reads 3 and 4",
    )
    assert taken.notebook == release()


@pytest.mark.parametrize(
    "second", ["", "raise SystemExit", "class Retriever: pass", solutions()["retriever"]]
)
def test_of_a_copied_cell_the_first_counts(second):  # S6
    notebook = solved()
    copied = {**cell(notebook, "retriever"), "source": second, "id": "copy"}
    notebook.cells.insert(place(notebook, "retriever") + 1, copied)
    result, notes = rebuilt_from(notebook)
    assert result == solved()
    assert notes == ["The cell retriever is there more than once. The first that is worked in counts."]


def test_a_copy_that_was_worked_in_counts_before_the_untouched_cell():  # S6
    notebook = solved()
    notebook.cells.insert(place(notebook, "retriever"), {**cell(release(), "retriever"), "id": "copy"})
    result, _notes = rebuilt_from(notebook)
    assert result == solved()


def test_a_copied_test_cell_is_dropped():  # S6
    notebook = solved()
    notebook.cells.append({**cell(notebook, "check_retriever"), "id": "copy"})
    notebook.cells.append(own('check("retriever", Retriever)'))
    assert rebuilt_from(notebook) == (solved(), [])
    notebook.cells.append(own("x = 1"))  # after the copy at the end, not after the cell that was copied
    assert extras(rebuilt_from(notebook)[0]) == [("cell-32", "x = 1")]


def _removed(notebook):
    notebook.cells.remove(cell(notebook, "check_retriever"))


def _all_removed(notebook):
    notebook.cells = [cell for cell in notebook.cells if cell.id in BOTH]


def _edited(notebook):
    cell(notebook, "check_retriever").source = "print(8.0)"


def _edited_and_stripped(notebook):
    cell(notebook, "check_retriever").update(source="print(8.0)", metadata={})


def _stripped(notebook):
    cell(notebook, "check_retriever").metadata = {}


def _markdown(notebook):
    cell(notebook, "check_retriever").cell_type = "markdown"


def _moved(notebook):
    notebook.cells.insert(0, notebook.cells.pop(place(notebook, "check_retriever")))


def _flipped(notebook):
    cell(notebook, "check_retriever").metadata.nbgrader.update(solution=True, locked=False, grade=False)


def _solution_flipped(notebook):
    cell(notebook, "retriever").metadata.nbgrader.update(solution=False, locked=True, grade=True)


def _swapped(notebook):
    solution, check = cell(notebook, "retriever"), cell(notebook, "check_retriever")
    check.metadata, check.id = {}, "other"
    solution.metadata.nbgrader.locked = True


@pytest.mark.parametrize(
    ("harm", "note"),
    [
        (_removed, "The cell check_retriever was missing. It was put back."),
        (_all_removed, "The cell check_keyword_index was missing. It was put back."),
        (_edited, "The cell check_retriever was changed. The released one runs in its place."),
        (_edited_and_stripped, "The cell check_retriever was changed. The released one runs in its place."),
        (_stripped, None),
        (_markdown, "The cell check_retriever was changed. The released one runs in its place."),
        (_moved, "Cells were moved. They run in the order of the released notebook."),
        (_flipped, "The marks or points of the cell check_retriever were changed. The released ones count."),
        (
            _solution_flipped,
            "The marks or points of the cell retriever were changed. The released ones count.",
        ),
        (_swapped, "The marks or points of the cell retriever were changed. The released ones count."),
    ],
)
def test_a_harmed_test_cell_comes_from_the_release(harm, note):  # S7
    notebook = solved()
    harm(notebook)
    result, notes = rebuilt_from(notebook)
    assert result == solved()
    assert note in notes if note else notes == []


@pytest.mark.parametrize("kind", ["markdown", "raw", "heading", "", None, ["code"]])
def test_a_solution_that_is_no_code_cell_runs_as_code(kind):  # S8
    notebook = solved()
    cell(notebook, "retriever").cell_type = kind
    result, notes = rebuilt_from(notebook)
    assert result == solved()
    assert notes == ["The cell retriever was no code cell. Its text is run as code."]


@pytest.mark.parametrize("points", [1000, -1, "1000", float("inf"), None, [8], True])
def test_points_come_from_the_release(points):  # S9
    notebook = solved()
    cell(notebook, "check_retriever").metadata.nbgrader.points = points
    result, notes = rebuilt_from(notebook)
    assert result == solved()
    assert notes == ["The marks or points of the cell check_retriever were changed. The released ones count."]


@pytest.mark.parametrize("kernel", ["julia-1.9", "bash", "python3; rm -rf /", "\u202e" * 500])
def test_the_kernel_is_the_courses(kernel):  # S10
    notebook = solved()
    notebook.metadata.kernelspec.name = kernel
    notebook.metadata.celltoolbar = "x"
    result, notes = rebuilt_from(notebook)
    assert result == solved()
    assert len(notes) == 1 and notes[0].startswith("The notebook names another kernel, ")
    assert len(notes[0]) < 150 and notes[0].isprintable()


def test_two_notebooks_are_refused(tmp_path):  # S11
    hand_in(tmp_path, solved(), "a.ipynb")
    taken = take_in(hand_in(tmp_path, solved(), "b.ipynb"), release(), UNIT)
    assert (taken.state, taken.notebook) == ("refused", release())
    assert taken.reason == "two notebooks for this unit, a.ipynb, b.ipynb: hand in one"


def test_other_files_are_ignored_and_named(tmp_path):  # S12
    for name in ("grader.py", "numpy.py", "report.html", "notes.md", "answers.csv", "work.zip"):
        hand_in(tmp_path, b"x", name)
    taken = take_in(hand_in(tmp_path, solved()), release(), UNIT)
    assert (taken.state, taken.notebook, taken.files) == ("graded", solved(), {})
    assert taken.notes == (
        "Not the notebook, and ignored: answers.csv, grader.py, notes.md, numpy.py, report.html.",
        "A zip inside the submission is not opened: work.zip.",
    )


def test_a_name_is_shown_without_control_characters_and_a_long_list_is_cut(tmp_path):
    names = ["\x1b[31mred.csv", "\u202egnp.csv", "\udcff.csv", *(f"{number:02}.csv" for number in range(30))]
    for name in names:
        hand_in(tmp_path, b"x", name)
    taken = take_in(hand_in(tmp_path, solved()), release(), UNIT)
    assert len(taken.notes) == 1 and taken.notes[0].isprintable()
    assert taken.notes[0].endswith(" and 23 more.")


def test_a_unit_takes_the_files_it_asks_for(tmp_path):  # S12
    unit = "05_tuning"
    hand_in(tmp_path, b"# mine", "mine.md", unit)
    hand_in(tmp_path, b"plain", "plain.TXT", unit)
    hand_in(tmp_path, b"no", "code.py", unit)
    hand_in(tmp_path, b"x" * 1_000_001, "large.md", unit)
    hand_in(tmp_path, b"no", "x" * 120 + ".md", unit)
    inner = tmp_path / "maria" / unit / "inner"
    inner.mkdir()
    (inner / "deep.md").write_text("no")
    taken = take_in(hand_in(tmp_path, solved(unit), f"{unit}.ipynb", unit), release(unit), unit)
    assert taken.state == "graded"
    assert taken.files == {"mine.md": b"# mine", "plain.TXT": b"plain"}
    assert taken.notes[1] == "large.md was left out: large.md is larger than 1 MB."
    assert "code.py" in taken.notes[0] and "inner/deep.md" in taken.notes[0]


def test_the_files_of_a_unit_are_bounded_in_number_and_size(tmp_path):
    unit = "05_tuning"
    for number in range(25):
        hand_in(tmp_path, b"x" * 300_000, f"{number:02}.md", unit)
    taken = take_in(hand_in(tmp_path, solved(unit), f"{unit}.ipynb", unit), release(unit), unit)
    assert sum(map(len, taken.files.values())) <= 5_000_000 and len(taken.files) == 16
    assert all("was left out" in note for note in taken.notes)


@posix_only
def test_links_are_refused(tmp_path):  # S13
    secret = tmp_path / "secret.ipynb"
    secret.write_text(json.dumps(solved()))
    place = tmp_path / "submitted" / "maria" / UNIT
    place.mkdir(parents=True)
    (place / NOTEBOOK).symlink_to(secret)
    taken = take_in(find_submissions(tmp_path / "submitted", UNIT)[0], release(), UNIT)
    assert (taken.state, taken.notebook) == ("refused", release())
    assert taken.reason == f"{NOTEBOOK} is a link, and links are not followed"


@posix_only
def test_a_link_that_comes_after_the_look_is_refused_too(tmp_path):  # S13
    submission = hand_in(tmp_path, solved())
    submission.notebook.unlink()
    submission.notebook.symlink_to("/etc/passwd")
    taken = take_in(submission, release(), UNIT)
    assert (taken.state, taken.notebook) == ("refused", release())
    submission.notebook.unlink()
    assert take_in(submission, release(), UNIT).reason == f"{NOTEBOOK} is not there any more"


@pytest.mark.parametrize("where", ["grader.classroom.entries._open", "grader.classroom.intake.rebuild"])
def test_what_the_machine_cannot_do_is_no_learners_fault(tmp_path, monkeypatch, where):
    def failing(*_arguments, **_more):
        raise OSError(24, "Too many open files")

    submission = hand_in(tmp_path, solved())
    monkeypatch.setattr(where, failing)
    with pytest.raises(OSError, match="Too many open files"):
        take_in(submission, release(), UNIT)


def test_what_was_not_attempted_stays_the_stub():  # S14
    notebook = solved()
    cell(notebook, "keyword_index").source = cell(release(), "keyword_index").source
    result, notes = rebuilt_from(notebook)
    assert (result, notes) == (notebook, [])
    assert "raise NotImplementedError" in cell(result, "keyword_index").source


# Marks that were lost


def stripped(notebook, ids: bool):
    for one in notebook.cells:
        one.metadata = {}
        if ids:
            one.id = f"new-{random.Random(one.id).randrange(10**9)}"
    return notebook


def test_cells_without_marks_are_known_by_their_ids():
    result, notes = rebuilt_from(stripped(solved(), ids=False))
    assert result == solved()
    assert notes == [f"The cell {name} had lost its marks. It was recognised." for name in BOTH]


@pytest.mark.parametrize("unit", UNITS)
def test_cells_without_marks_and_ids_are_known_by_what_they_define(unit):
    result, notes = rebuilt_from(stripped(solved(unit), ids=True), unit)
    assert result == solved(unit)
    assert len(notes) == len(UNITS[unit].exercises)
    assert all("had lost its marks. A cell that defines " in note for note in notes)


def test_a_definition_is_found_between_magics_and_is_not_run_twice():
    notebook = stripped(solved(), ids=True)
    at = next(at for at, one in enumerate(notebook.cells) if one.source == solutions()["retriever"])
    notebook.cells[at].source = "%matplotlib inline\n!ls\n" + notebook.cells[at].source
    result, _notes = rebuilt_from(notebook)
    assert cell(result, "retriever").source == notebook.cells[at].source
    assert extras(result) == []


def test_one_cell_may_define_what_two_exercises_ask_for():
    notebook = stripped(solved(), ids=True)
    both = "\n\n".join(solutions()[name] for name in BOTH)
    notebook.cells = [one for one in notebook.cells if one.source not in (solutions()[name] for name in BOTH)]
    notebook.cells[3:3] = [own(both), own("x = 1")]
    result, _notes = rebuilt_from(notebook)
    assert sources(result, *BOTH) == [both, both]
    assert extras(result) == [("retriever", "x = 1")]


def test_a_name_in_a_text_or_inside_a_function_is_no_definition():
    notebook = stripped(solved(), ids=True)
    notebook.cells = [
        own('"""\nclass Retriever:\n"""'),
        own("def f():\n    class Retriever: pass"),
        own("Retriever = 1"),
        own("class Retriever"),
    ]
    result, notes = rebuilt_from(notebook)
    assert sources(result, *BOTH) == sources(release(), *BOTH)
    assert "No exercise of this unit was found. Is it the notebook of another unit?" in notes


@pytest.mark.parametrize(
    "source",
    [
        "class Retriever: pass\nx = " + "(" * 20_000,
        "class Retriever: pass\nx = " + "-" * 90_000 + "1",
        "class Retriever: pass\nx = 1" + "+1" * 40_000,
        "class Retriever: pass\nx = a" + ".b" * 40_000,
        "class Retriever: pass\nx = f" + "()" * 40_000,
        "class Retriever: pass\n" + "if 1:" * 10_000,
        "class Retriever: pass\nx = " + "[" * 199 + "]" * 199,
        "class Retriever: pass\n" + "\n".join(" " * depth + "if 1:" for depth in range(200)),
        "class Retriever: pass\nx = " + "9" * 90_000,
        "class Retriever: pass\n# -*- coding: nonsense -*-",
        "class Retriever: pass\0",
    ],
)
def test_a_source_that_no_parser_likes_is_a_verdict(source):
    notebook = stripped(solved(), ids=True)
    notebook.cells = [own(source)]
    rebuilt_from(notebook)


def test_the_notebook_of_another_unit_is_said():
    result, notes = rebuilt_from(solved("03_rrf_table"))
    assert sources(result, *BOTH) == sources(release(), *BOTH)
    assert "No exercise of this unit was found. Is it the notebook of another unit?" in notes


def test_a_deleted_solution_cell_is_the_released_stub():
    notebook = solved()
    notebook.cells.remove(cell(notebook, "retriever"))
    result, notes = rebuilt_from(notebook)
    assert sources(result, *BOTH) == [cell(release(), "retriever").source, solutions()["keyword_index"]]
    assert notes == ["The cell retriever is not in the notebook. The released one stands there."]


# The learner's own cells


def test_own_cells_come_after_the_cell_that_they_followed():
    notebook = solved()
    for name, source in [
        ("retriever", "%%time\nRetriever()"),
        ("cell-06", "!pip list"),
        ("check_keyword_index", "x = 1"),
    ]:
        notebook.cells.insert(place(notebook, name) + 1, own(source))
    notebook.cells.insert(0, own("import os"))
    notebook.cells.insert(1, own("import sys"))
    notebook.cells.append(own("last = 1"))
    notebook.cells.append(nbformat.v4.new_markdown_cell("my notes"))
    notebook.cells.append(own("  \n "))
    result, notes = rebuilt_from(notebook)
    assert notes == []
    assert extras(result) == [
        ("", "import os"),
        ("own-1", "import sys"),
        ("cell-06", "!pip list"),
        ("retriever", "%%time\nRetriever()"),
        ("check_keyword_index", "x = 1"),
        ("cell-32", "last = 1"),
    ]


def test_a_released_cell_that_was_changed_runs_before_the_learners_version_of_it():
    notebook = solved()
    cell(notebook, "cell-01").source = "from nowhere import nothing"
    cell(notebook, "cell-07").source = "my_guess = [10, 2, 5]"
    cell(notebook, "cell-08").source = "words"
    notebook.cells.insert(place(notebook, "cell-07") + 1, own("mine = 1"))
    result, notes = rebuilt_from(notebook)
    assert notes == []
    assert extras(result) == [
        ("cell-01", "from nowhere import nothing"),
        ("cell-07", "my_guess = [10, 2, 5]"),
        ("own-2", "mine = 1"),
    ]


def test_text_that_became_code_runs_and_code_that_became_text_does_not():
    notebook = solved()
    cell(notebook, "cell-06").cell_type = "code"
    cell(notebook, "cell-06").source = "y = 2"
    cell(notebook, "cell-07").cell_type = "markdown"
    cell(notebook, "cell-07").source = "my_guess = 1"
    assert extras(rebuilt_from(notebook)[0]) == [("cell-06", "y = 2")]


def test_a_copy_of_a_released_cell_is_dropped():
    notebook = solved()
    for one in list(notebook.cells):
        notebook.cells.append({**one, "id": f"{one.id}-copy", "metadata": {}})
    result, notes = rebuilt_from(notebook)
    # The solutions are no released cells: their copies run again.
    assert [source for _before, source in extras(result)] == [solutions()[name] for name in BOTH]
    assert notes == []


def test_ids_are_unique_whatever_the_submission_calls_its_cells():
    notebook = solved()
    for name in ("own-1", "cell-02", "cell-02", "retriever", "", None, 5, "own-1"):
        notebook.cells.append({"cell_type": "code", "source": f"x = {name!r}", "id": name, "metadata": {}})
    result, _notes = rebuilt_from(notebook)
    assert len(extras(result)) == 8  # where another cell has the marks, the id of a graded cell is no mark


# Bounds


def test_a_notebook_of_too_many_cells_is_refused(tmp_path):
    notebook = solved()
    notebook.cells += [own(f"x = {number}") for number in range(1_000)]
    taken = take_in(hand_in(tmp_path, notebook), release(), UNIT)
    assert (taken.state, taken.reason) == ("refused", "it has more than 1000 cells")


def test_a_cell_that_is_too_long_is_left_out():
    notebook = solved()
    notebook.cells.append(own("x" * 500_001))
    cell(notebook, "retriever").source = "#" * 500_001
    result, notes = rebuilt_from(notebook)
    assert extras(result) == []
    assert sources(result, *BOTH) == [cell(release(), "retriever").source, solutions()["keyword_index"]]
    assert notes == [
        "The cell retriever holds no text, or too much. The released one stands there.",
        "A cell of more than 500000 characters was left out.",
    ]


def test_a_file_that_is_too_large_is_refused_unread(tmp_path):
    submission = hand_in(tmp_path, b"x")
    with open(submission.notebook, "r+b") as file:
        file.truncate(100_000_000_000)
    taken = take_in(submission, release(), UNIT)
    assert (taken.state, taken.reason) == ("refused", f"{NOTEBOOK} is larger than 10 MB")


def test_a_notebook_of_a_million_parts_is_refused(tmp_path):
    data = b'{"nbformat": 4, "cells": [' + b",".join([b"{}"] * 1_000_000) + b"]}"
    taken = take_in(hand_in(tmp_path, data), release(), UNIT)
    assert (taken.state, taken.reason) == ("refused", "it has too many parts to be a notebook")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\r\nb\rc", "a\nb\nc"),
        (["a\n", "b"], "a\nb"),
        ([], ""),
        ("\ud800x\udfff", "?x?"),
        ("a\0b", "a\N{REPLACEMENT CHARACTER}b"),
        ("\U0001f600", "\U0001f600"),
        (None, None),
        (5, None),
        (["a", 1], None),
        ({"a": 1}, None),
    ],
)
def test_a_source_becomes_valid_text(value, text):
    assert text_of(value) == text


def test_odd_values_in_a_notebook_are_read(tmp_path):
    data = (
        b'{"nbformat": 4, "nbformat": 4, "nbformat_minor": NaN, "metadata": [1e999, -Infinity], "cells": ['
        b'{"cell_type": "code", "metadata": {"nbgrader": {"grade_id": "retriever"}}, '
        b'"source": "first", "source": ["class Retriever:\\r\\n", "    x = \'\\ud800\'"]}, '
        b'null, 5, [], "x", {"cell_type": {}, "source": {"a": []}, "metadata": 7, "id": [1]}, '
        b'{"metadata": {"nbgrader": {"grade_id": ["keyword_index"]}}}, {"metadata": {"nbgrader": []}}]}'
    )
    taken = take_in(hand_in(tmp_path, data), release(), UNIT)
    assert taken.state == "graded"
    must_hold(taken.notebook)
    assert cell(taken.notebook, "retriever").source == "class Retriever:\n    x = '?'"


def test_what_nobody_thought_of_is_unreadable_and_no_error(tmp_path, monkeypatch):
    def failing(*_arguments):
        raise ZeroDivisionError

    monkeypatch.setattr("grader.classroom.intake.rebuild", failing)
    taken = take_in(hand_in(tmp_path, solved()), release(), UNIT)
    assert (taken.state, taken.reason) == ("unreadable", "it could not be taken apart (ZeroDivisionError)")
    assert taken.notebook == release()


def test_the_release_is_not_changed():
    original, submitted = release(), solved()
    submitted.cells.append(own("x = 1"))
    rebuild(original, submitted)
    assert original == release()


def test_a_release_that_somebody_ran_gives_neither_outputs_nor_a_cell_id_twice():
    original, submitted = release(), solved()
    cell(original, "cell-01").update(outputs=[nbformat.v4.new_output("stream", text="x")], execution_count=3)
    cell(original, "cell-07").id = "own-1"
    submitted.cells.append(own("x = 1"))
    result, _notes = rebuild(original, submitted)
    assert len({one.id for one in result.cells}) == len(result.cells) == len(original.cells) + 1
    assert (cell(result, "cell-01").outputs, cell(result, "cell-01").execution_count) == ([], None)


# The notebooks of nbgrader's own tests


def nbgrader_fixtures() -> list[Path]:
    """The fixture notebooks that the installed package carries, below nbgrader/tests."""
    spec = importlib.util.find_spec("nbgrader")
    return sorted((Path(spec.origin).parent / "tests").rglob("*.ipynb")) if spec and spec.origin else []


def test_every_fixture_notebook_of_nbgrader_gets_a_verdict(tmp_path):
    fixtures = nbgrader_fixtures()
    if not fixtures:
        pytest.skip("the installed nbgrader has no notebooks below nbgrader/tests")
    verdicts = {}
    for number, path in enumerate(fixtures):
        taken = take_in(hand_in(tmp_path / str(number), path.read_bytes()), release(), UNIT)
        must_hold(taken.notebook)
        verdicts[path.name] = taken.state
        assert taken.state in ("graded", "unreadable", "refused")
        assert (taken.reason == "") == (taken.state == "graded")
    assert set(verdicts.values()) == {"graded"}


# Notebooks that Hypothesis broke

HYPOTHESIS = importlib.util.find_spec("hypothesis") is not None
WEIRD = [
    None, True, 0, -1, 10**30, 1.5, float("nan"), float("inf"), "", "code", "markdown", "retriever",
    "check_retriever", "\ud800", "\0", "\u202e", [], {}, [[]], {"": None}, ["a", None], "x" * 1_000,
    {"nbgrader": {"grade_id": "check_retriever", "solution": True}}, "class Retriever: pass",
]  # fmt: skip


def spots(value, spot=()):
    """Every place in a value, the value itself first."""
    yield spot
    if isinstance(value, dict):
        for key in list(value):
            yield from spots(value[key], (*spot, key))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield from spots(value[index], (*spot, index))


def at(value, spot):
    for step in spot:
        value = value[step]
    return value


def change(notebook, draw):
    """Delete, replace, duplicate or move something, anywhere."""
    from hypothesis import strategies as st

    deepest = draw(st.sampled_from([3, 2, 3, 5, 9, 1]))  # else nearly all would lie in the metadata
    spot = draw(st.sampled_from([spot for spot in spots(notebook) if len(spot) <= deepest]))
    if not spot:
        return copy.deepcopy(draw(st.sampled_from(WEIRD))) if draw(st.integers(0, 9)) == 0 else notebook
    parent, step = at(notebook, spot[:-1]), spot[-1]
    how = draw(st.sampled_from(["delete", "replace", "wrap", "duplicate", "swap", "text"]))
    if how == "delete":
        del parent[step]
    elif how == "replace":
        parent[step] = copy.deepcopy(draw(st.sampled_from(WEIRD)))
    elif how == "wrap":
        parent[step] = draw(st.sampled_from([list, str, lambda value: {"a": value}, repr]))((parent[step],))
        if isinstance(parent[step], dict):
            parent[step] = {"a": list(parent[step]["a"])}
    elif how == "duplicate" and isinstance(parent, list):
        parent.insert(draw(st.integers(0, len(parent))), copy.deepcopy(parent[step]))
    elif how == "swap":
        other = draw(st.sampled_from([other for other in spots(parent) if len(other) == 1]))[0]
        parent[step], parent[other] = parent[other], parent[step]
    elif how == "text" and isinstance(parent[step], str):
        cut = draw(st.integers(0, len(parent[step])))
        parent[step] = parent[step][:cut] + draw(st.text(max_size=5)) + parent[step][cut:]
    return notebook


def garble(data: bytes, draw) -> bytes:
    """Cut the file, change bytes, or write it in another encoding."""
    from hypothesis import strategies as st

    how = draw(st.sampled_from(["nothing"] * 8 + ["cut", "byte", "insert", "encoding"]))
    place = draw(st.integers(0, max(len(data) - 1, 0)))
    if how == "cut":
        return data[:place]
    if how == "byte":
        return data[:place] + draw(st.binary(min_size=1, max_size=4)) + data[place + 1 :]
    if how == "insert":
        return data[:place] + data[place : place + 500] + data[place:]
    if how == "encoding":
        text = data.decode("utf-8", "replace")
        return text.encode(draw(st.sampled_from(["utf-16", "utf-32", "utf-8-sig", "utf-7", "cp037"])))
    return data


def texts_of(value) -> set[str]:
    """Every text that stands anywhere in a parsed submission."""
    own = {text_of(value)} - {None}
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return own.union(*(texts_of(part) for part in parts))


def test_a_notebook_that_hypothesis_broke_is_a_verdict_and_earns_nothing_of_its_own(tmp_path):
    need(HYPOTHESIS, "hypothesis")
    from hypothesis import HealthCheck, given, settings
    from hypothesis import strategies as st

    seen, whole = Counter(), json.dumps(solved())
    stubs = {one.id: one.source for one in release().cells}
    examples = 2_000 if LONG else 100

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def broken_notebook(data):
        notebook = json.loads(whole)
        if data.draw(st.booleans()):
            notebook["cells"].insert(4, dict(own("mine = 1", id="mine")))
        if data.draw(st.integers(0, 4)) == 0:
            notebook = json.loads(json.dumps(as_format_3(nbformat.from_dict(notebook))))
        for _change in range(data.draw(st.integers(1, 8))):
            if isinstance(notebook, dict):
                notebook = change(notebook, data.draw)
        handed_in = garble(json.dumps(notebook).encode(), data.draw)
        taken = take_in(hand_in(tmp_path, handed_in), release(), UNIT)
        seen[taken.state] += 1
        must_hold(taken.notebook)
        if taken.state != "graded":
            assert taken.reason and taken.notebook == release()
            return
        submitted = texts_of(parse(handed_in))
        for one in taken.notebook.cells:
            assert one.source == stubs.get(one.id) or one.source in submitted
        grade_ids = [grade_id(one) for one in taken.notebook.cells if grade_id(one)]
        assert grade_ids == [grade_id(one) for one in release().cells if grade_id(one)]
        assert all(note and "\n" not in note for note in taken.notes)

    broken_notebook()
    assert seen.total() >= examples
    assert min(seen["graded"], seen["unreadable"]) > examples / 20


def test_the_rules_above_see_a_rebuilding_that_breaks_them(monkeypatch):
    """A rebuilding that trusts the submission's own test cells does not pass as one that does not."""
    notebook = solved()
    _edited(notebook)
    trusting = rebuilt._assembled(release(), {place(release(), "check_retriever"): "print(8.0)"}, {})
    with pytest.raises(AssertionError):
        must_hold(trusting)
    with pytest.raises(NotANotebook):
        rebuild(release(), {"nbformat": 4})
