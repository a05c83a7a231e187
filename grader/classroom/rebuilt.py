"""The released notebook with a learner's work in it: their solution cells and their own extra cells, no more.

Nothing else of a submission reaches the kernel or the judge: test cells, points, metadata and the kernel's name
are the release's, whatever was done to the learner's copy.
"""

import ast
import copy
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..cells import grade_id
from ..exercises import EXERCISES
from ..grades import GradeState
from ..language import translate as _
from .entries import shown

MOST_CELLS = 1_000
MOST_SOURCE = 500_000  # characters of a cell
_MOST_PARSED = 100_000  # of a cell that is searched for a definition
_MOST_NOTES = 50
_FORMATS = (3, 4)
_MARKS = ("grade", "solution", "locked", "points")


class NotANotebook(ValueError):
    """What was handed in cannot be rebuilt; the message is a clause that says why, and ``state`` how it counts."""

    def __init__(self, reason: str, state: GradeState = "unreadable") -> None:
        super().__init__(reason)
        self.state = state


@dataclass(frozen=True)
class _Cell:
    """A submitted cell, as far as anything of it is used. ``source`` is None where it is no text."""

    kind: str
    source: str | None
    grade_id: str
    id: str
    marks: Mapping[str, Any]

    @property
    def runs(self) -> bool:
        """Is this code of the learner's that could run?"""
        return self.kind == "code" and bool(self.source and self.source.strip())


def rebuild(release: Any, submitted: Mapping[str, Any]) -> tuple[Any, list[str]]:
    """The notebook to run, and a sentence for everything that was not taken as it was handed in.

    ``release`` is the released notebook, ``submitted`` any notebook of format 3 or 4, as parsed JSON. Raises
    NotANotebook.
    """
    cells = _cells(submitted)
    graded = _Graded(release)
    places = _places(release, graded, cells)
    solutions, notes = _solutions(release, graded, cells, places)
    extras, cut = _extras(release, cells, places)
    notes += cut
    notes += _restored(release, graded, cells, places)
    notes += _of_the_metadata(release, submitted)
    return _assembled(release, solutions, extras), list(dict.fromkeys(notes))[:_MOST_NOTES]


def untouched(release: Any) -> Any:
    """A copy of the released notebook, without outputs."""
    return _assembled(release, {}, {})


def text_of(value: Any) -> str | None:
    """A source as valid text with plain line ends, from a string or a list of strings; None for anything else."""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "".join(value)
    if not isinstance(value, str):
        return None
    text = value.encode("utf-8", "replace").decode("utf-8")  # no halves of a surrogate pair
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")


class _Graded:
    """Which of the released cells hold an exercise, and which check it: positions by grade_id."""

    def __init__(self, release: Any) -> None:
        self.by_grade_id = {
            grade_id(cell): position for position, cell in enumerate(release.cells) if grade_id(cell)
        }
        self.solutions = [
            position
            for position in self.by_grade_id.values()
            if release.cells[position].metadata.nbgrader.get("solution")
        ]
        self.locked = [position for position in self.by_grade_id.values() if position not in self.solutions]


# What was handed in


def _cells(submitted: Mapping[str, Any]) -> list[_Cell]:
    version = submitted.get("nbformat")
    if isinstance(version, bool) or not isinstance(version, int):
        raise NotANotebook(_("it is no notebook: it does not say which notebook format it has"))
    if version not in _FORMATS:
        raise NotANotebook(
            _("it has the notebook format {version:.6}; the grader reads 3 and 4").format(
                version=str(version) if abs(version) < 10**6 else "?"
            ),
            "refused",
        )
    raw = submitted.get("cells") if version == 4 else _of_worksheets(submitted.get("worksheets"))
    if not isinstance(raw, list):
        raise NotANotebook(_("it is no notebook: it has no list of cells"))
    if len(raw) > MOST_CELLS:
        raise NotANotebook(_("it has more than {most} cells").format(most=MOST_CELLS), "refused")
    return [_cell(cell) for cell in raw if isinstance(cell, dict)]


def _of_worksheets(worksheets: Any) -> list[Any] | None:
    """The cells of a notebook of format 3."""
    if not isinstance(worksheets, list):
        return None
    lists = [sheet.get("cells") for sheet in worksheets if isinstance(sheet, dict)]
    return [cell for cells in lists if isinstance(cells, list) for cell in cells]


def _cell(raw: Mapping[str, Any]) -> _Cell:
    metadata = raw.get("metadata")
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    marks = marks if isinstance(marks, dict) else {}
    source = raw.get("source", raw.get("input"))
    return _Cell(
        _name(raw.get("cell_type")),
        text_of(source),
        _name(marks.get("grade_id")),
        _name(raw.get("id")),
        marks,
    )


def _name(value: Any) -> str:
    return value if isinstance(value, str) else ""


# Which released cell each is


def _places(release: Any, graded: _Graded, cells: list[_Cell]) -> list[int | None]:
    """For each submitted cell the position of the released one that it is, by grade_id, cell id, or source."""
    named = {cell.grade_id for cell in cells} - {""}
    by_id = {cell.get("id"): position for position, cell in enumerate(release.cells)}
    by_source = {_form(cell.source): position for position, cell in reversed(list(enumerate(release.cells)))}
    places: list[int | None] = []
    for cell in cells:
        place = graded.by_grade_id.get(cell.grade_id)
        if place is None and (place := by_id.get(cell.id)) is not None:
            # A cell that lost its marks; where another has them, that one is meant.
            place = None if grade_id(release.cells[place]) in named else place
        if place is None:
            place = by_source.get(_form(cell.source or ""))
            # The copy of a graded cell beside the graded cell itself.
            if place is not None and grade_id(release.cells[place]) in named:
                place = None
        places.append(place)
    return places


def _form(source: str) -> str:
    return source.replace("\r\n", "\n").strip()


def _solutions(
    release: Any, graded: _Graded, cells: list[_Cell], places: list[int | None]
) -> tuple[dict[int, str], list[str]]:
    """The source of each solution cell by its position; ``places`` learns where a definition was found."""
    solutions: dict[int, str] = {}
    notes, lost = [], []
    for place in graded.solutions:
        name = grade_id(release.cells[place])
        copies = [cell for cell, its in zip(cells, places, strict=True) if its == place]
        if not copies:
            lost.append(place)
            continue
        if len(copies) > 1:
            notes.append(
                _("The cell {name} is there more than once. The first that is worked in counts.").format(
                    name=name
                )
            )
        stub = _form(release.cells[place].source)
        cell = next((copy for copy in copies if copy.source and _form(copy.source) != stub), copies[0])
        if cell.source is None or len(cell.source) > MOST_SOURCE:
            notes.append(
                _("The cell {name} holds no text, or too much. The released one stands there.").format(
                    name=name
                )
            )
            continue
        solutions[place] = cell.source
        if cell.kind != "code":
            notes.append(_("The cell {name} was no code cell. Its text is run as code.").format(name=name))
        if cell.grade_id != name:
            notes.append(_("The cell {name} had lost its marks. It was recognised.").format(name=name))
    for place in lost:
        name = grade_id(release.cells[place])
        position = _definition(name, release, cells, places) if name in EXERCISES else None
        if position is None:
            notes.append(
                _("The cell {name} is not in the notebook. The released one stands there.").format(name=name)
            )
            continue
        solutions[place] = cells[position].source or ""
        if places[position] not in graded.by_grade_id.values():
            places[position] = place
        notes.append(
            _("The cell {name} had lost its marks. A cell that defines {what} was taken for it.").format(
                name=name, what=", ".join(EXERCISES[name].objects)
            )
        )
    if graded.solutions and not solutions:
        notes.append(_("No exercise of this unit was found. Is it the notebook of another unit?"))
    return solutions, notes


def _definition(exercise: str, release: Any, cells: list[_Cell], places: list[int | None]) -> int | None:
    """The first of the learner's own cells that defines what the exercise asks for."""
    wanted = set(EXERCISES[exercise].objects)
    for position, (cell, place) in enumerate(zip(cells, places, strict=True)):
        if not cell.runs or len(cell.source) > _MOST_PARSED:
            continue
        if place is not None and _form(cell.source) == _form(release.cells[place].source):
            continue
        if any(name in cell.source for name in wanted) and wanted & set(
            _defined(cell.source, bool(EXERCISES[exercise].keys))
        ):
            return position
    return None


def _defined(source: str, values_too: bool) -> Iterator[str]:
    """The functions and classes that a cell defines at its top level; with ``values_too`` all names it sets."""
    # IPython's magics and shell lines are no Python.
    python = re.sub(r"^[%!?].*$", "", source, flags=re.M)
    try:
        body = ast.parse(python).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        elif values_too and isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


# The learner's own cells


def _extras(
    release: Any, cells: list[_Cell], places: list[int | None]
) -> tuple[dict[int, list[str]], list[str]]:
    """The learner's own code by the position of the released cell that it follows, -1 for the top."""
    released = {_form(cell.source) for cell in release.cells}
    extras: dict[int, list[str]] = defaultdict(list)
    notes, anchor, met = [], -1, set()
    for cell, place in zip(cells, places, strict=True):
        first = place is not None and place not in met
        if first:
            met.add(place)
            anchor = place
        if place is not None and grade_id(release.cells[place]):
            continue
        # A released cell that the learner changed stays, and runs before their version of it.
        if not cell.runs or _form(cell.source) in released:
            continue
        if len(cell.source) > MOST_SOURCE:
            notes.append(_("A cell of more than {most} characters was left out.").format(most=MOST_SOURCE))
            continue
        extras[anchor].append(cell.source)
    return extras, notes


# What was put back


def _restored(release: Any, graded: _Graded, cells: list[_Cell], places: list[int | None]) -> Iterable[str]:
    by_place: dict[int, list[_Cell]] = defaultdict(list)
    for cell, place in zip(cells, places, strict=True):
        if place is not None:
            by_place[place].append(cell)
    for place in graded.locked:
        name, original = grade_id(release.cells[place]), _form(release.cells[place].source)
        if not by_place[place]:
            yield _("The cell {name} was missing. It was put back.").format(name=name)
        elif any(_form(cell.source or "") != original or cell.kind != "code" for cell in by_place[place]):
            yield _("The cell {name} was changed. The released one runs in its place.").format(name=name)
    for place in graded.by_grade_id.values():
        marks = release.cells[place].metadata.nbgrader
        for cell in by_place[place]:
            if cell.grade_id and any(
                mark in cell.marks and not _same(cell.marks[mark], marks.get(mark)) for mark in _MARKS
            ):
                yield _(
                    "The marks or points of the cell {name} were changed. The released ones count."
                ).format(name=grade_id(release.cells[place]))
    met = list(dict.fromkeys(place for place in places if place in graded.by_grade_id.values()))
    if met != sorted(met):
        yield _("Cells were moved. They run in the order of the released notebook.")


def _same(one: Any, other: Any) -> bool:
    return type(one) in (bool, int, float) and one == (other or 0)


def _of_the_metadata(release: Any, submitted: Mapping[str, Any]) -> Iterable[str]:
    if submitted.get("nbformat") != 4:
        yield _("The notebook has the old format {version}. It was converted.").format(
            version=submitted.get("nbformat")
        )
    metadata = submitted.get("metadata")
    kernel = metadata.get("kernelspec") if isinstance(metadata, dict) else None
    name = kernel.get("name") if isinstance(kernel, dict) else None
    if isinstance(name, str) and name != release.metadata.get("kernelspec", {}).get("name"):
        yield _("The notebook names another kernel, {name}. It runs with the course's.").format(
            name=shown(name, 40)
        )


# The result


def _assembled(release: Any, solutions: Mapping[int, str], extras: Mapping[int, list[str]]) -> Any:
    import nbformat

    notebook = copy.deepcopy(release)
    ids = {cell.get("id") for cell in notebook.cells}
    number = 0

    def own(position: int) -> Iterator[Any]:
        nonlocal number
        for source in extras.get(position, ()):
            number += 1
            while f"own-{number}" in ids:
                number += 1
            yield nbformat.v4.new_code_cell(source, id=f"own-{number}")

    cells = list(own(-1))
    for position, cell in enumerate(notebook.cells):
        cell.source = solutions.get(position, cell.source)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
        cells += [cell, *own(position)]
    notebook.cells = cells
    return notebook
