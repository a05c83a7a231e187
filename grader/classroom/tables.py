"""The tables of a class run: for people, for nbgrader, and for the imports of Moodle and Canvas."""

import csv
import io
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import feedback
from ..cells import check_id
from ..exercises import EXERCISES
from ..files import write_whole
from ..grades import ExerciseGrade, SubmissionGrade
from ..language import translate as _
from .gradebook import Scores
from .safe_csv import safe_cell, write_rows

_LEAST_FOR_WORDS = 24  # characters of the last column, however narrow the terminal is
_MOST_FOR_A_NAME = 24

# In the wording that Moodle's import page offers; the grade's own columns are named after the unit.
_MOODLE = ("ID number", "First name", "Last name", "Email address")
# Canvas wants these five, in this order, before the columns of assignments.
_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def what_happened(grade: SubmissionGrade) -> str:
    """A submission in a few words: the first mistake with a name, a note, or how it went."""
    if grade.state != "graded":
        return f"{grade.state}: {grade.reason}" if grade.reason else grade.state
    named = [
        _(EXERCISES[exercise.exercise].misconceptions[name])
        for exercise in grade.exercises
        for name in exercise.misconceptions
        if name in EXERCISES[exercise.exercise].misconceptions
    ]
    unlike = dict.fromkeys(exercise.note for exercise in grade.exercises)
    if named:
        words = named[0]
    elif len(grade.exercises) > 1 and len(unlike) == 1:
        words = grade.exercises[0].note
    else:
        words = next(
            (f"{exercise.exercise}: {exercise.note}" for exercise in grade.exercises if exercise.note), ""
        )
    if not words and grade.points >= grade.max_points:
        words = _("all right")
    return "; ".join([words or _("wrong, by a mistake without a name"), *grade.notes])


def class_table(
    grades: Mapping[str, SubmissionGrade], scores: Mapping[str, Scores], width: int | None = None
) -> Iterator[str]:
    """The lines of the table at the end of a run, no wider than the terminal."""
    width = width or shutil.get_terminal_size((110, 24)).columns
    exercises = [exercise.exercise for exercise in next(iter(grades.values())).exercises]
    name_width = min(max(len("learner"), *map(len, grades)), _MOST_FOR_A_NAME)
    heads = ["points", *exercises]
    widths = [max(len(head), 7) for head in heads]
    # Where the exercises leave no room for words, only the sum is shown.
    if name_width + sum(widths) + 2 * len(widths) + _LEAST_FOR_WORDS > width:
        heads, widths = heads[:1], widths[:1]
    room = max(width - name_width - sum(widths) - 2 * len(widths) - 2, _LEAST_FOR_WORDS)

    def line(name: str, cells: Iterable[str], words: str) -> str:
        columns = "".join(f"  {cell:>{size}}" for cell, size in zip(cells, widths, strict=False))
        return f"{_cut(name, name_width):<{name_width}}{columns}  {_cut(words, room)}".rstrip()

    yield line("learner", heads, "what happened")
    for learner, grade in grades.items():
        held = scores.get(learner)
        cells = ["-"] * len(heads)
        if held and held.graded:
            cells = [f"{_number(held.points)}/{_number(held.max_points)}"]
            cells += [_number(held.cells[check_id(exercise)][0]) for exercise in exercises]
        yield line(learner, cells, what_happened(grade))


def write_tables(
    folder: Path, unit: str, grades: Mapping[str, SubmissionGrade], scores: Mapping[str, Scores]
) -> None:
    """grades.csv, moodle.csv and canvas.csv. The points are those of the gradebook."""
    exercises = [exercise.exercise for exercise in next(iter(grades.values())).exercises]
    _write(
        folder / "grades.csv",
        ("learner", "exercise", "points", "max_points", "note"),
        (
            _grades_row(learner, exercise, grade, scores.get(learner))
            for learner, grade in grades.items()
            for exercise in grade.exercises
        ),
    )
    feedback_column = f"{unit} feedback"
    _write(
        folder / "moodle.csv",
        (*_MOODLE, unit, feedback_column),
        (
            {
                "ID number": learner,
                "First name": held.first_name,
                "Last name": held.last_name,
                "Email address": held.email,
                unit: held.points,
                feedback_column: _words(what_happened(grades[learner])),
            }
            for learner, held in _that_have_a_grade(grades, scores)
        ),
    )
    most = sum(EXERCISES[exercise].points for exercise in exercises)
    _write(
        folder / "canvas.csv",
        (*_CANVAS, unit),
        [
            {"Student": "Points Possible", unit: most},
            *(
                {
                    "Student": f"{held.last_name}, {held.first_name}" if held.last_name else learner,
                    "ID": held.platform_id,
                    "SIS Login ID": learner,
                    unit: held.points,
                }
                for learner, held in _that_have_a_grade(grades, scores)
            ),
        ],
    )


def write_nbgrader_table(path: Path, unit: str, gradebook: Any, config: Any) -> None:
    """nbgrader's own export of the unit. Its plugin quotes nothing, so it is handed cells that are safe."""
    from nbgrader.plugins import CsvExportPlugin

    plugin = CsvExportPlugin(config=config)
    plugin.assignment = [unit]
    part = path.with_name(f".{path.name}.part")
    plugin.to = str(part)
    plugin.export(_SafeGradebook(gradebook))
    os.replace(part, path)


def _that_have_a_grade(
    grades: Mapping[str, SubmissionGrade], scores: Mapping[str, Scores]
) -> Iterator[tuple[str, Scores]]:
    """An empty cell could wipe out what the platform holds, so a learner without a grade has no row."""
    for learner in grades:
        if learner in scores and scores[learner].graded:
            yield learner, scores[learner]


def _grades_row(
    learner: str, exercise: ExerciseGrade, grade: SubmissionGrade, held: Scores | None
) -> dict[str, Any]:
    points, by_hand = None, False
    if held:
        points, _most, by_hand = held.cells[check_id(exercise.exercise)]
    state = "" if grade.state == "graded" else f"{grade.state}: {grade.reason}"
    notes = [state or exercise.note, *grade.notes]
    if by_hand:
        notes.append(f"a teacher's score; the checks gave {_number(exercise.points)}")
    if grade.engine == "none":
        notes.append("graded without a sandbox")
    return {
        "learner": learner,
        "exercise": exercise.exercise,
        "points": points,
        "max_points": exercise.max_points,
        "note": _words("; ".join(filter(None, notes))),
    }


def _write(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    text = io.StringIO(newline="")
    write_rows(text, columns, rows)
    write_whole(path, text.getvalue().encode("utf-8"))


class _SafeGradebook:
    """What nbgrader's export reads of a gradebook, with texts that are safe in a CSV file."""

    def __init__(self, gradebook: Any) -> None:
        self._gradebook = gradebook
        self._learners = {_quoted(student.id): student.id for student in gradebook.students}

    @property
    def assignments(self) -> list[Any]:
        return self._gradebook.assignments

    @property
    def students(self) -> list[Any]:
        return [_SafeStudent(student) for student in self._gradebook.students]

    def find_submission(self, assignment: str, learner: str) -> Any:
        return self._gradebook.find_submission(assignment, self._learners[learner])


class _SafeStudent:
    def __init__(self, student: Any) -> None:
        self.id = _quoted(student.id)
        self.first_name, self.last_name = _quoted(student.first_name), _quoted(student.last_name)
        self.email = _quoted(student.email)


def _quoted(text: str | None) -> str:
    cell = io.StringIO()
    csv.writer(cell, lineterminator="").writerow([safe_cell(text), ""])
    return cell.getvalue()[:-1]


def _words(text: str) -> str:
    # In countries whose spreadsheets split at semicolons, a cell could begin after one.
    return text.replace(";", ",")


def _number(points: float | None) -> str:
    return "-" if points is None else feedback.number(points)


def _cut(text: str, width: int) -> str:
    """One line of what can be printed: no control character reaches the terminal."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return text if len(text) <= width else text[: width - 3] + "..."
