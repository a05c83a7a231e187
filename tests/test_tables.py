"""The tables of a class run: what the platforms' imports need, and no cell that starts a formula."""

import csv
from types import SimpleNamespace

import pytest
from sample_class import UNIT

from grader.classroom.gradebook import Scores
from grader.classroom.tables import class_table, what_happened, write_nbgrader_table, write_tables
from grader.grades import ExerciseGrade, SubmissionGrade

FORMULA_STARTS = set("=+-@\t\r\n＝＋－＠")
HOSTILE = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    "＝1",
    "＋1",
    "－1",
    "＠A1",
    '"=1',
    "a;=1",
    "%0",
]


def graded(retriever=8.0, keyword_index=2.0, note="", misconceptions=(), **more):
    exercises = (
        ExerciseGrade("retriever", retriever, 8, note, misconceptions=misconceptions),
        ExerciseGrade("keyword_index", keyword_index, 2),
    )
    return SubmissionGrade(UNIT, **{"state": "graded", "exercises": exercises, "engine": "fork", **more})


def held(learner, grade, by_hand=None, **more):
    cells = {f"check_{each.exercise}": (each.points, each.max_points, False) for each in grade.exercises}
    if by_hand is not None:
        cells["check_retriever"] = (by_hand, 8, True)
    return Scores(learner, cells, **more)


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def tables(folder, grades, scores=None):
    write_tables(folder, UNIT, grades, scores or {name: held(name, grade) for name, grade in grades.items()})
    return {path.stem: rows(path) for path in folder.glob("*.csv")}


def test_grades_csv_has_a_row_for_each_learner_and_exercise(tmp_path):
    found = tables(tmp_path, {"amal": graded(), "dana": graded(2.67, note="not so")})["grades"]
    assert found == [
        ["learner", "exercise", "points", "max_points", "note"],
        ["amal", "retriever", "8", "8", ""],
        ["amal", "keyword_index", "2", "2", ""],
        ["dana", "retriever", "2.67", "8", "not so"],
        ["dana", "keyword_index", "2", "2", ""],
    ]


def test_a_teachers_score_counts_in_every_table_and_is_named(tmp_path):
    grade = graded(2)
    found = tables(tmp_path, {"amal": grade}, {"amal": held("amal", grade, by_hand=7.5)})
    assert found["grades"][1] == ["amal", "retriever", "7.5", "8", "a teacher's score, the checks gave 2"]
    assert found["moodle"][1][4] == found["canvas"][2][5] == "9.5"


def test_a_fault_has_no_points_anywhere(tmp_path):
    fault = graded(0, 0, state="fault", reason="no sandbox answered")
    open_grade = Scores("eve", {"check_retriever": (None, 8, False), "check_keyword_index": (None, 2, False)})
    found = tables(
        tmp_path,
        {"amal": graded(), "eve": fault},
        {"amal": held("amal", graded()), "eve": open_grade},
    )
    assert found["grades"][3] == ["eve", "retriever", "", "8", "fault: no sandbox answered"]
    # An empty cell in an import could wipe out what the platform holds.
    assert not any("eve" in row for row in found["moodle"] + found["canvas"])


def test_moodle_finds_the_learner_the_grade_and_the_feedback(tmp_path):
    grade = graded(0.5, misconceptions=("ranks_from_zero",))
    known = held("dana", grade, first_name="Dana", last_name="Ito", email="dana@example.org")
    heading, row = tables(tmp_path, {"dana": grade}, {"dana": known})["moodle"]
    assert heading == [
        "ID number",
        "First name",
        "Last name",
        "Email address",
        UNIT,
        f"{UNIT} feedback",
    ]
    assert row[:5] == ["dana", "Dana", "Ito", "dana@example.org", "2.5"]
    assert row[5].startswith("Your ranks start at 0.")


def test_canvas_finds_its_five_columns_and_the_points_possible(tmp_path):
    known = held("dana", graded(), first_name="Dana", last_name="Ito", platform_id="4711")
    heading, possible, amal, dana = tables(
        tmp_path, {"amal": graded(), "dana": graded()}, {"amal": held("amal", graded()), "dana": known}
    )["canvas"]
    assert heading == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", UNIT]
    assert possible == ["Points Possible", "", "", "", "", "10"]
    assert amal == ["amal", "", "", "amal", "", "10"]
    assert dana == ["Ito, Dana", "4711", "", "dana", "", "10"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_cell_can_start_a_formula(tmp_path, text):
    grade = graded(0, 0, note=text, notes=(text,), reason=text)
    known = held(text, grade, first_name=text, last_name=text, email=text, platform_id=text)
    found = tables(tmp_path, {text: grade}, {text: known})

    student = SimpleNamespace(id=text, first_name=text, last_name=text, email=text)
    assignment = SimpleNamespace(name=UNIT, duedate=None, max_score=10)
    submission = SimpleNamespace(timestamp=None, score=3.0, late_submission_penalty=0.0)

    class Gradebook:
        assignments, students = [assignment], [student]

        def find_submission(self, unit, learner):
            assert (unit, learner) == (UNIT, text)
            return submission

    write_nbgrader_table(tmp_path / "nbgrader.csv", UNIT, Gradebook(), None)
    found["nbgrader"] = rows(tmp_path / "nbgrader.csv")
    assert set(found) == {"grades", "moodle", "canvas", "nbgrader"}
    for name, table in found.items():
        assert {len(row) for row in table} == {len(table[0])}, name
        for cell in (cell for row in table for cell in row):
            assert not (cell and cell.strip()[:1] in FORMULA_STARTS), (name, cell)
            # Where a spreadsheet splits at semicolons, a cell begins after one.
            assert ";" not in cell or name == "nbgrader" or cell.startswith("a;="), (name, cell)


def test_nbgraders_own_export_is_in_its_own_form(tmp_path):
    class Gradebook:
        assignments = [SimpleNamespace(name=UNIT, duedate=None, max_score=10)]
        students = [SimpleNamespace(id='so, "and" so', first_name=None, last_name="Ito, jr", email=None)]

        def find_submission(self, unit, learner):
            return SimpleNamespace(timestamp=None, score=3.0, late_submission_penalty=0.0)

    write_nbgrader_table(tmp_path / "nbgrader.csv", UNIT, Gradebook(), None)
    heading, row = rows(tmp_path / "nbgrader.csv")
    assert dict(zip(heading, row, strict=True)) == {
        "assignment": UNIT,
        "duedate": "",
        "timestamp": "",
        "student_id": 'so, "and" so',
        "last_name": "Ito, jr",
        "first_name": "",
        "email": "",
        "raw_score": "3.0",
        "late_submission_penalty": "0.0",
        "score": "3.0",
        "max_score": "10",
    }


def test_numbers_stay_numbers(tmp_path):
    found = tables(tmp_path, {"2023001": graded(0.25)})
    assert found["grades"][1][:4] == ["2023001", "retriever", "0.25", "8"]


@pytest.mark.parametrize(
    ("grade", "words"),
    [
        (graded(), "all right"),
        (graded(1), "wrong, by a mistake without a name"),
        (graded(0, note="not attempted"), "retriever: not attempted"),
        (
            graded(0.5, note="x", misconceptions=("ranks_from_zero",)),
            "Your ranks start at 0. The formula counts from 1: the first document of a list adds 1 / (k_rrf + 1).",
        ),
        (graded(notes=("The notebook was renamed.",)), "all right; The notebook was renamed."),
        (graded(0, 0, state="missing", reason="nothing was handed in"), "missing: nothing was handed in"),
        (graded(1, misconceptions=("no_such_name",)), "wrong, by a mistake without a name"),
    ],
)
def test_what_happened_is_said_in_a_few_words(grade, words):
    assert what_happened(grade) == words


def test_one_note_for_all_exercises_is_said_once():
    exercises = tuple(ExerciseGrade(name, 0, 1, "not attempted") for name in ("retriever", "keyword_index"))
    assert what_happened(SubmissionGrade(UNIT, "graded", exercises)) == "not attempted"


@pytest.mark.parametrize("width", [60, 80, 110, 200])
def test_the_table_fits_the_terminal_and_prints_no_control_character(width):
    grades = {"amal": graded(), "x" * 70: graded(1, note="\x1b[2J" + "word " * 60), "hana": graded(0, 0)}
    scores = {name: held(name, grade) for name, grade in grades.items()}
    lines = list(class_table(grades, scores, width))
    assert max(map(len, lines)) <= width
    assert all(line.isprintable() for line in lines)
    assert "10/10" in lines[1] and "all right" in lines[1]
    assert ("keyword_index" in lines[0]) == (width >= 110)


def test_a_learner_without_a_grade_has_a_dash():
    lines = list(class_table({"eve": graded(0, 0, state="fault", reason="broken pipe")}, {}, 100))
    assert lines[1].split()[:4] == ["eve", "-", "-", "-"]
    assert "fault: broken pipe" in lines[1]
