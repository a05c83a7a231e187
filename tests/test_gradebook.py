"""The one writer to nbgrader's gradebook: all of a class or nothing, and a teacher's scores stay."""

import contextlib
import sqlite3
from datetime import datetime
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sample_class import UNIT, gradebook_rows

from grader.classroom.gradebook import Entry, GradebookProblem, check_gradebook, grades_written
from grader.grades import ExerciseGrade, SubmissionGrade
from grader.nbgrader_course import course_config
from grader.notebooks import released
from grader.paths import ROOT

COURSE = "hybrid-search"
RELEASE = released(UNIT)


def entry(learner: str, retriever: float, keyword_index: float = 2, state: str = "graded", **more) -> Entry:
    exercises = (
        ExerciseGrade("retriever", retriever, 8),
        ExerciseGrade("keyword_index", keyword_index, 2),
    )
    return Entry(learner, SubmissionGrade(UNIT, state, exercises), **more)


def write(path: Path, *entries: Entry, config=None, release=RELEASE):
    with grades_written(path, UNIT, release, entries, config or course_config(ROOT)) as written:
        pass
    return written.scores


def opened(path: Path) -> Gradebook:
    return Gradebook(f"sqlite:///{path}", COURSE)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "gradebook.db"


def test_nbgrader_reads_the_grades(path):
    write(path, entry("amal", 8), entry("dana", 2.67, unanswered=frozenset({"keyword_index"})))
    with opened(path) as gradebook:
        assert gradebook.find_submission(UNIT, "amal").score == 10
        dana = gradebook.find_submission(UNIT, "dana")
        assert (dana.score, dana.max_score, dana.needs_manual_grade) == (pytest.approx(4.67), 10, False)
        assert gradebook.find_comment("keyword_index", UNIT, UNIT, "dana").comment == "No response."
        assert gradebook.find_comment("retriever", UNIT, UNIT, "dana").comment is None
        assert gradebook.find_assignment(UNIT).course_id == COURSE


def test_the_gradebook_is_as_nbgrader_itself_makes_it(path, tmp_path, monkeypatch):
    """The same assignment, cells, sources and checksums as after nbgrader generate_assignment and autograde."""
    from nbgrader.preprocessors import SaveAutoGrades, SaveCells

    notebook = released(UNIT)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            value = {"output_type": "execute_result", "data": {"text/plain": "1.5"}, "metadata": {}}
            cell.outputs = [type(cell)({**value, "execution_count": 1, "data": type(cell)(value["data"])})]
    other = tmp_path / "nbgrader.db"
    places = {"notebook": UNIT, "assignment": UNIT, "student": "amal", "db_url": f"sqlite:///{other}"}
    monkeypatch.setenv(
        "PATH", f"{Path(__import__('sys').executable).parent}:{__import__('os').environ['PATH']}"
    )
    with opened(other) as gradebook:
        gradebook.add_assignment(UNIT, course_id=COURSE)
    SaveCells().preprocess(released(UNIT), {"nbgrader": places})
    with opened(other) as gradebook:
        gradebook.add_student("amal")
        gradebook.add_submission(UNIT, "amal")
    SaveAutoGrades().preprocess(notebook, {"nbgrader": places})
    write(path, entry("amal", 1.5, 1.5, unanswered=frozenset({"retriever", "keyword_index"})))
    assert gradebook_rows(path) == gradebook_rows(other)


def test_a_teachers_scores_and_comments_stay_and_ask_for_another_look(path):
    write(path, entry("amal", 2))
    with opened(path) as gradebook:
        grade = gradebook.find_grade("check_retriever", UNIT, UNIT, "amal")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 7.0, 0.5, False
        gradebook.find_comment("retriever", UNIT, UNIT, "amal").manual_comment = "Well tried."
        gradebook.db.commit()
    scores = write(path, entry("amal", 3))["amal"]
    assert scores.cells["check_retriever"] == (7.5, 8, True)
    assert scores.cells["check_keyword_index"] == (2, 2, False)
    assert scores.points == 9.5
    assert scores.comments == {"retriever": "Well tried."}
    with opened(path) as gradebook:
        grade = gradebook.find_grade("check_retriever", UNIT, UNIT, "amal")
        assert (grade.auto_score, grade.manual_score, grade.needs_manual_grade) == (3, 7, True)
        assert not gradebook.find_grade("check_keyword_index", UNIT, UNIT, "amal").needs_manual_grade


def test_a_fault_of_the_grader_takes_no_points_and_gives_none(path):
    write(path, entry("amal", 8))
    before = gradebook_rows(path)
    scores = write(path, entry("amal", 0, 0, state="fault"))
    assert gradebook_rows(path) == before
    assert scores["amal"].points == 10
    scores = write(path, entry("bruno", 0, 0, state="fault"))
    assert not scores["bruno"].graded
    with opened(path) as gradebook:
        grade = gradebook.find_grade("check_retriever", UNIT, UNIT, "bruno")
        assert (grade.auto_score, grade.needs_manual_grade) == (None, True)


def test_what_could_not_be_run_is_zero(path):
    scores = write(path, entry("emre", 0, 0, state="missing"), entry("fatou", 0, 0, state="unreadable"))
    assert [held.graded and held.points for held in scores.values()] == [0, 0]


def test_a_name_and_a_due_date_stay_and_lateness_costs_what_the_course_says(path):
    write(path, entry("amal", 8))
    with opened(path) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-01-01 12:00:00")
        gradebook.update_or_create_student("amal", first_name="Amal", last_name="Haddad", email="a@b.c")
    late = datetime(2026, 1, 1, 13)
    scores = write(path, entry("amal", 8, submitted=late))["amal"]
    assert (scores.penalty, scores.points) == (0, 10)
    assert (scores.first_name, scores.last_name, scores.email) == ("Amal", "Haddad", "a@b.c")
    config = course_config(ROOT)
    config.LateSubmissionPlugin.penalty_method = "zero"
    scores = write(path, entry("amal", 8, submitted=late), config=config)["amal"]
    assert (scores.penalty, scores.points) == (10, 0)
    scores = write(path, entry("amal", 8, submitted=datetime(2026, 1, 1, 11)), config=config)["amal"]
    assert (scores.penalty, scores.points) == (0, 10)
    with opened(path) as gradebook:
        assert gradebook.find_assignment(UNIT).duedate == datetime(2026, 1, 1, 12)


def test_an_error_on_the_way_leaves_the_gradebook_as_it_was(path):
    write(path, entry("amal", 8))
    before = path.read_bytes()
    with (
        pytest.raises(KeyboardInterrupt),
        grades_written(path, UNIT, RELEASE, [entry("bruno", 1)], course_config(ROOT)) as written,
    ):
        assert written.scores["bruno"].points == 3
        raise KeyboardInterrupt
    assert path.read_bytes() == before


def test_an_error_on_the_way_leaves_no_new_gradebook(path):
    with (
        pytest.raises(OSError, match="no room"),
        grades_written(path, UNIT, RELEASE, [entry("bruno", 1)], course_config(ROOT)),
    ):
        raise OSError("no room")
    assert list(path.parent.iterdir()) == []


def test_another_version_of_the_unit_is_told_and_nothing_is_changed(path):
    write(path, entry("amal", 8))
    before = path.read_bytes()
    other = released(UNIT)
    other.cells = [
        cell
        for cell in other.cells
        if "keyword_index" not in cell.metadata.get("nbgrader", {}).get("grade_id", "")
    ]
    with pytest.raises(GradebookProblem, match="another version of unit 04_retriever.*--out"):
        write(path, entry("amal", 8), release=other)
    assert path.read_bytes() == before


def test_new_words_in_a_cell_reach_the_gradebook(path):
    write(path, entry("amal", 8))
    other = released(UNIT)
    cell = next(cell for cell in other.cells if cell.id == "retriever")
    cell.source += "\n# another word"
    write(path, entry("amal", 8), release=other)
    assert any("another word" in row[2] for row in gradebook_rows(path)["sources"])


def sql(path: Path, *commands: str) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for command in commands:
            connection.execute(command)


def no_database(path):
    path.write_bytes(b"this is no database, but it is long enough to look like a file")


PROBLEMS = {
    "an older one": (
        lambda path: sql(path, "UPDATE alembic_version SET version_num = '724cde206c17'"),
        "made by an older nbgrader.*nbgrader db upgrade",
    ),
    "one from before versions were kept": (
        lambda path: sql(path, "DROP TABLE alembic_version"),
        "made by an older nbgrader.*nbgrader db upgrade",
    ),
    "a newer one": (
        lambda path: sql(path, "UPDATE alembic_version SET version_num = 'from_the_future'"),
        "another version of nbgrader",
    ),
    "one without a version": (
        lambda path: sql(path, "DELETE FROM alembic_version"),
        "another version of nbgrader",
    ),
    "no database": (no_database, "damaged or no gradebook"),
    "another database": (
        lambda path: (path.unlink(), sql(path, "CREATE TABLE music (title TEXT)")),
        "no gradebook of nbgrader",
    ),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_gradebook_that_cannot_be_used_is_told_and_left_alone(path, kind):
    write(path, entry("amal", 8))
    spoil, sentence = PROBLEMS[kind]
    spoil(path)
    before = path.read_bytes()
    with pytest.raises(GradebookProblem, match=sentence):
        check_gradebook(path)
    assert path.read_bytes() == before


def test_a_good_gradebook_an_empty_file_and_none_pass(path):
    check_gradebook(path)
    path.touch()
    check_gradebook(path)
    assert write(path, entry("amal", 8))["amal"].points == 10
    check_gradebook(path)


def test_a_locked_gradebook_is_told(path, monkeypatch):
    write(path, entry("amal", 8))
    monkeypatch.setattr("grader.classroom.gradebook._SECONDS_TO_WAIT", 0.1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        for attempt in (lambda: check_gradebook(path), lambda: write(path, entry("amal", 1))):
            with pytest.raises(GradebookProblem, match="locked by another program.*same command again"):
                attempt()
        connection.execute("ROLLBACK")
    with opened(path) as gradebook:
        assert gradebook.find_submission(UNIT, "amal").score == 10


def test_a_full_disk_is_told_and_the_gradebook_is_as_it_was(path, monkeypatch):
    """SQLite says the same where its own limit of pages is reached."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    write(path, entry("amal", 8))
    before = path.read_bytes()

    def no_more_pages(connection, _record):
        connection.execute("PRAGMA max_page_count = 1")

    event.listen(Engine, "connect", no_more_pages)
    try:
        with pytest.raises(GradebookProblem, match="disk is full.*as it was"):
            write(path, *(entry(f"learner {number}", 1) for number in range(400)))
    finally:
        event.remove(Engine, "connect", no_more_pages)
    assert path.read_bytes() == before


def test_a_gradebook_that_may_not_be_written_is_told(path):
    write(path, entry("amal", 8))
    with contextlib.closing(sqlite3.connect(path)) as connection:
        problem = pytest.raises(GradebookProblem, match="cannot be written")
        connection.execute("PRAGMA query_only = 1")
        from grader.classroom.gradebook import _in_plain_words

        with problem, _in_plain_words(path):
            connection.execute("UPDATE student SET first_name = 'x'")
