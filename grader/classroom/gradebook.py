"""The one writer to nbgrader's gradebook. A class is written in one transaction: all of it or nothing."""

import logging
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ..cells import check_id
from ..grades import SubmissionGrade

_SECONDS_TO_WAIT = 10  # for another program that writes to the gradebook


class GradebookProblem(RuntimeError):
    """The gradebook cannot be used; the message says why and what to do. It is as it was before."""


@dataclass(frozen=True)
class Entry:
    """What is written of a submission. ``unanswered`` are the grade_ids of untouched solution cells."""

    learner: str
    grade: SubmissionGrade
    unanswered: frozenset[str] = frozenset()
    submitted: datetime | None = None


@dataclass
class Scores:
    """What the gradebook says of a submission, where a teacher's score stands before that of the checks.

    ``cells`` holds for each check the points, the maximum, and whether a teacher gave them; ``comments`` for
    each solution cell what was remarked on it.
    """

    learner: str
    cells: dict[str, tuple[float | None, float, bool]] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)
    penalty: float = 0.0
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    platform_id: str = ""  # nbgrader's lms_user_id

    @property
    def graded(self) -> bool:
        return all(points is not None for points, _, _ in self.cells.values())

    @property
    def points(self) -> float:
        return round(max(0.0, sum(points or 0 for points, _, _ in self.cells.values()) - self.penalty), 2)

    @property
    def max_points(self) -> float:
        return sum(most for _, most, _ in self.cells.values())


def check_gradebook(path: Path) -> None:
    """Can a run write to this gradebook, as far as one can know before? One that does not exist can be made.

    Raises GradebookProblem.
    """
    if not path.exists() or not path.stat().st_size:
        return
    with _in_plain_words(path), closing(sqlite3.connect(path, timeout=_SECONDS_TO_WAIT)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if "alembic_version" in tables:
            found = [version for (version,) in connection.execute("SELECT version_num FROM alembic_version")]
            _need_this_version(path, found)
        elif "assignment" in tables:
            raise GradebookProblem(_OLDER.format(path=path))
        elif tables:
            raise GradebookProblem(f"{path} is a database, but no gradebook of nbgrader. Move it away.")
        connection.isolation_level = None
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")


_OLDER = "The gradebook {path} was made by an older nbgrader. Run `nbgrader db upgrade` (it keeps a copy), then grade."


def _need_this_version(path: Path, found: list[str]) -> None:
    from alembic.util.exc import CommandError

    scripts = _revisions()
    if found == [scripts.get_current_head()]:
        return
    try:
        known = found and scripts.get_revision(found[0])
    except CommandError:
        known = None
    if known:
        raise GradebookProblem(_OLDER.format(path=path))
    raise GradebookProblem(
        f"The gradebook {path} was made by another version of nbgrader than the one installed here. "
        "Install that version, or move the gradebook away."
    )


def _revisions() -> Any:
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    return ScriptDirectory(ALEMBIC_DIR)


@contextmanager
def _in_plain_words(path: Path) -> Iterator[None]:
    from sqlalchemy.exc import DatabaseError

    try:
        yield
    except (sqlite3.DatabaseError, DatabaseError) as error:
        raise GradebookProblem(_said_of(path, str(getattr(error, "orig", error)))) from error
    except ValueError as error:  # nbgrader's InvalidEntry, for whatever its database says
        if not isinstance(error.__context__, DatabaseError):
            raise
        raise GradebookProblem(_said_of(path, str(error.__context__.orig))) from error


def _said_of(path: Path, error: str) -> str:
    if "locked" in error:
        return (
            f"The gradebook {path} is locked by another program, such as a running nbgrader. "
            "Close it and run the same command again."
        )
    if "full" in error:
        return (
            f"The disk is full: the gradebook {path} is as it was. Make room and run the same command again."
        )
    if "readonly" in error or "unable to open" in error:
        return (
            f"The gradebook {path} cannot be written. Change its permissions and run the same command again."
        )
    if "not a database" in error or "malformed" in error:
        return f"{path} is damaged or no gradebook. Move it away or bring back a copy."
    return f"The gradebook {path} cannot be used: {error}."


@dataclass(frozen=True)
class Written:
    """A gradebook with a class's grades in it, before they are committed."""

    scores: dict[str, Scores]
    gradebook: Any  # nbgrader's


@contextmanager
def grades_written(
    path: Path, unit: str, release: Any, entries: Iterable[Entry], config: Any
) -> Iterator[Written]:
    """Write the grades of a class; they take effect when the context ends, and not at all after an error in it.

    ``release`` is the released notebook, ``config`` nbgrader's. A teacher's scores and comments stay, and make
    nbgrader ask for another look, as in its own autograding. Of a submission that the grader could not run, what
    was there stays; where nothing was, the grade is left open. Raises GradebookProblem.
    """
    entries = list(entries)
    new = not path.exists()
    try:
        with (
            _in_plain_words(path),
            _one_transaction(path, config.CourseDirectory.course_id) as gradebook,
        ):
            _enter_assignment(gradebook, unit, release, path)
            late = _late_penalties(config)
            for entry in entries:
                _enter(gradebook, unit, entry, late)
            yield Written(_scores(gradebook, unit, {entry.learner for entry in entries}), gradebook)
    except BaseException:
        if new:
            path.unlink(missing_ok=True)
        raise


@contextmanager
def _one_transaction(path: Path, course_id: str) -> Iterator[Any]:
    """nbgrader's Gradebook, whose commits take effect together at the end, or not at all after an error."""
    from nbgrader.api import Base, Course, Gradebook
    from sqlalchemy import create_engine, event, text
    from sqlalchemy.orm import scoped_session, sessionmaker

    log = logging.getLogger("tornado.application")  # nbgrader's, for errors that are told elsewhere
    before, log.disabled = log.disabled, True
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": _SECONDS_TO_WAIT})
    # The driver would begin a transaction later, and none for CREATE TABLE.
    event.listen(engine, "connect", lambda connection, _: setattr(connection, "isolation_level", None))
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
    try:
        with engine.begin() as connection:
            if not connection.dialect.has_table(connection, "alembic_version"):
                Base.metadata.create_all(connection)
                connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
                connection.execute(
                    text("INSERT INTO alembic_version (version_num) VALUES (:head)"),
                    {"head": _revisions().get_current_head()},
                )
            gradebook = Gradebook.__new__(Gradebook)  # its own __init__ opens and writes at once
            gradebook.engine, gradebook.authenticator, gradebook.course_id = engine, None, course_id
            gradebook.db = scoped_session(
                sessionmaker(bind=connection, join_transaction_mode="rollback_only", expire_on_commit=False)
            )
            try:
                if gradebook.db.get(Course, course_id) is None:
                    gradebook.db.add(Course(id=course_id))
                yield gradebook
                gradebook.db.commit()  # joins the transaction of the connection, which ends below
            finally:
                gradebook.db.remove()
    finally:
        engine.dispose()
        log.disabled = before


def _enter_assignment(gradebook: Any, unit: str, release: Any, path: Path) -> None:
    """What ``nbgrader generate_assignment`` enters, without its files."""
    from nbgrader.preprocessors import SaveCells

    gradebook.update_or_create_assignment(unit, course_id=gradebook.course_id)
    saver = SaveCells()
    saver.gradebook, saver.notebook_id, saver.assignment_id = gradebook, unit, unit
    saver.new_grade_cells, saver.new_solution_cells = {}, {}
    saver.new_task_cells, saver.new_source_cells = {}, {}
    for position, cell in enumerate(release.cells):
        saver.preprocess_cell(cell, {}, position)
    try:
        saver._create_notebook(release)
    except RuntimeError:  # cells came or went, and there are submissions
        raise GradebookProblem(
            f"The gradebook {path} holds submissions to another version of unit {unit}, with other exercises. "
            "Grade into another place with --out, or move the gradebook away."
        ) from None


def _enter(gradebook: Any, unit: str, entry: Entry, late: Any) -> None:
    from nbgrader.api import MissingEntry

    if entry.grade.state == "fault":
        try:
            gradebook.find_submission(unit, entry.learner)
            return
        except MissingEntry:
            pass
    gradebook.update_or_create_student(entry.learner)
    when = {"timestamp": entry.submitted} if entry.submitted else {}
    with gradebook.db.no_autoflush:  # which nbgrader's own code does not expect
        submission = gradebook.update_or_create_submission(unit, entry.learner, **when)
    if entry.grade.state == "fault":
        return
    points = {check_id(exercise.exercise): exercise.points for exercise in entry.grade.exercises}
    (notebook,) = submission.notebooks
    for grade in notebook.grades:
        grade.auto_score = float(points[grade.name])
        grade.needs_manual_grade = grade.manual_score is not None
    for comment in notebook.comments:
        comment.auto_comment = "No response." if comment.name in entry.unanswered else None
    notebook.late_submission_penalty = None
    if submission.assignment.duedate and (seconds := submission.total_seconds_late) > 0:
        gradebook.db.flush()
        gradebook.db.refresh(notebook)
        penalty = late.plugin_inst.late_submission_penalty(entry.learner, notebook.score, seconds)
        if penalty is not None:
            notebook.late_submission_penalty = late._check_late_penalty(notebook, penalty)


def _late_penalties(config: Any) -> Any:
    from nbgrader.preprocessors import AssignLatePenalties

    late = AssignLatePenalties(config=config)
    late.init_plugin()
    return late


def _scores(gradebook: Any, unit: str, learners: set[str]) -> dict[str, Scores]:
    from nbgrader.api import Assignment, BaseCell, Comment, Grade, GradeCell, Student, SubmittedAssignment
    from nbgrader.api import SubmittedNotebook as Notebook
    from sqlalchemy import select

    gradebook.db.flush()

    def rows(*columns: Any) -> Any:
        whole = (
            select(*columns)
            .join(SubmittedAssignment, SubmittedAssignment.student_id == Student.id)
            .join(Assignment, Assignment.id == SubmittedAssignment.assignment_id)
            .join(Notebook, Notebook.assignment_id == SubmittedAssignment.id)
            .where(Assignment.name == unit)
        )
        return whole, gradebook.db.execute

    whole, run = rows(Student, Notebook.late_submission_penalty)
    found = {
        student.id: Scores(
            student.id,
            penalty=penalty or 0.0,
            first_name=student.first_name or "",
            last_name=student.last_name or "",
            email=student.email or "",
            platform_id=student.lms_user_id or "",
        )
        for student, penalty in run(whole)
        if student.id in learners
    }
    whole, run = rows(
        Student.id,
        GradeCell.name,
        Grade.auto_score,
        Grade.manual_score,
        Grade.extra_credit,
        GradeCell.max_score,
    )
    whole = whole.join(Grade, Grade.notebook_id == Notebook.id).join(GradeCell, GradeCell.id == Grade.cell_id)
    for learner, cell, auto, manual, extra, most in run(whole):
        if learner in found:
            counts = auto if manual is None else manual
            points = None if counts is None else round(counts + (extra or 0), 2)
            by_hand = manual is not None or bool(extra)
            found[learner].cells[cell] = (points, most, by_hand)
    whole, run = rows(Student.id, BaseCell.name, Comment.auto_comment, Comment.manual_comment)
    whole = whole.join(Comment, Comment.notebook_id == Notebook.id).join(
        BaseCell, BaseCell.id == Comment.cell_id
    )
    for learner, cell, auto, manual in run(whole):
        if learner in found and (manual or auto):
            found[learner].comments[cell] = manual or auto
    return found
