"""Classes of submissions of unit 04 for the tests of class runs: honest, broken and hostile ones."""

import contextlib
import csv
import hashlib
import io
import json
import sqlite3
import threading
from pathlib import Path
from typing import Any

import nbformat
from unit_notebooks import UNIT, release
from unit_notebooks import solutions as right

from grader.asked import ANSWERS
from grader.notebooks import released
from grader.sandbox.execution import CellResult, Execution, Job


def changed(source: str, old: str, new: str) -> str:
    assert source.count(old) == 1, f"the solution has {old!r} {source.count(old)} times"
    return source.replace(old, new)


def ranks_from_zero() -> dict[str, str]:
    return {**right(), "retriever": changed(right()["retriever"], ", start=1", "")}


def with_line(line: str) -> dict[str, str]:
    """All right, with a line more at the top of the retriever's cell."""
    return {**right(), "retriever": f"{line}\n{right()['retriever']}"}


def by_chance(line: str) -> dict[str, str]:
    """A retriever whose order depends on what ``line`` puts into ``luck``, a number from 0 to 1."""
    unlucky = (
        "class Retriever:\n"
        "    def __init__(self, *indexes, weights=None):\n"
        "        self.indexes = list(indexes)\n"
        "    def add_document(self, document):\n"
        "        pass\n"
        "    def search(self, query, k=1, k_rrf=60, candidates=20):\n"
        f"        {line}\n"
        "        return [({'id': 1, 'content': ''}, luck)]\n"
    )
    return {**right(), "retriever": unlucky}


def notebook(sources: dict[str, str]) -> Any:
    """The released notebook with these solution cells."""
    made = release()
    for cell in made.cells:
        cell.source = sources.get(cell.id, cell.source)
    return made


def hand_in(folder: Path, learner: str, content: dict[str, str] | bytes | None) -> Path:
    """Put a submission where nbgrader looks: solution cells, the file's bytes, or None for nothing."""
    place = folder / learner / UNIT
    place.mkdir(parents=True)
    if content is not None:
        data = content if isinstance(content, bytes) else nbformat.v4.writes(notebook(content)).encode()
        (place / f"{UNIT}.ipynb").write_bytes(data)
    return place


def small_class(folder: Path) -> Path:
    """Eight learners, each of whom went another way."""
    for learner, content in {
        "amal": right(),
        "bruno": {"retriever": right()["retriever"]},
        "chen": {},
        "dana": ranks_from_zero(),
        "emre": None,
        "fatou": b"{ this is no notebook",
        "gustav": with_line("import os; os._exit(3)"),
        "hana": with_line("print('x' * 3_000_000)"),
    }.items():
        hand_in(folder, learner, content)
    return folder


def points(folder: Path) -> dict[str, float]:
    """The sum of each learner's points in grades.csv of a results folder."""
    sums: dict[str, float] = {}
    with open(folder / "grades.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            sums[row["learner"]] = sums.get(row["learner"], 0) + float(row["points"] or "nan")
    return {learner: round(total, 2) for learner, total in sums.items()}


def sandbox() -> bool:
    """Is there a sandbox on this machine?"""
    from grader.sandbox.confinement import why_not

    return not why_not()


class Pretended:
    """An engine for submissions that this project's own tests wrote: their cells run in this very process.

    ``asked`` are the jobs it got. A cell with os._exit counts as the death of its process.
    """

    def __init__(self, monkeypatch: Any) -> None:
        self.asked: list[Job] = []
        self._cell = threading.local()
        self._lock = threading.Lock()
        self._given = {cell.source for cell in released(UNIT).cells if "check" not in cell.source}
        monkeypatch.setattr("grader.asked.questions", lambda: self.asked[-1].questions)
        monkeypatch.setattr("grader.asked.hand_in", self._hand_in)
        monkeypatch.setattr("grader.sandbox.engines.execute", self.execute)

    def execute(self, job: Job, engine: str = "fork") -> Execution:
        if len(job.cells) == 1:  # to warm a sandbox up
            return Execution((CellResult([]),), engine)
        with self._lock:
            self.asked.append(job)
            names: dict[str, Any] = {"__name__": "__main__"}
            results = [self._run(source, names) for source in job.cells]
        died = next((place for place, result in enumerate(results) if result.stopped), len(results))
        left = [CellResult([], None, "not run") for _ in results[died + 1 :]]
        return Execution((*results[: died + 1], *left), engine)

    def _run(self, source: str, names: dict[str, Any]) -> CellResult:
        if source in self._given:
            return CellResult([], 1)
        if "os._exit" in source:
            return CellResult([], 1, "died")
        self._cell.outputs = []
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(source, names)
        except Exception as error:
            told = {"ename": type(error).__name__, "evalue": str(error), "traceback": []}
            self._cell.outputs.append({"output_type": "error", **told})
        return CellResult(json.loads(json.dumps(self._cell.outputs)), 1)

    def _hand_in(self, attempt: dict[str, Any]) -> None:
        self._cell.outputs.append(
            {
                "output_type": "display_data",
                "data": {ANSWERS: attempt, "text/plain": "answers"},
                "metadata": {},
            }
        )


def gradebook_rows(path: Path) -> dict[str, list[tuple]]:
    """All that a gradebook says of learners, without its own ids and times."""
    questions = {
        "cells": "SELECT b.name, b.type, g.max_score FROM base_cell b LEFT JOIN grade_cells g ON g.id = b.id",
        "sources": "SELECT name, cell_type, source, locked, checksum FROM source_cell",
        "grades": "SELECT s.student_id, b.name, g.auto_score, g.manual_score, g.extra_credit, "
        "g.needs_manual_grade FROM grade g JOIN base_cell b ON b.id = g.cell_id "
        "JOIN submitted_notebook n ON n.id = g.notebook_id "
        "JOIN submitted_assignment s ON s.id = n.assignment_id",
        "comments": "SELECT s.student_id, b.name, c.auto_comment, c.manual_comment FROM comment c "
        "JOIN base_cell b ON b.id = c.cell_id JOIN submitted_notebook n ON n.id = c.notebook_id "
        "JOIN submitted_assignment s ON s.id = n.assignment_id",
        "notebooks": "SELECT s.student_id, m.name, n.late_submission_penalty FROM submitted_notebook n "
        "JOIN notebook m ON m.id = n.notebook_id JOIN submitted_assignment s ON s.id = n.assignment_id",
        "students": "SELECT id, first_name, last_name, email FROM student",
        "assignments": "SELECT name, course_id, duedate FROM assignment",
        "version": "SELECT version_num FROM alembic_version",
    }
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return {name: sorted(connection.execute(question), key=repr) for name, question in questions.items()}


def results(folder: Path) -> dict[str, Any]:
    """All that a run left in its folder and that does not depend on the time, by name."""
    found: dict[str, Any] = {"gradebook.db": gradebook_rows(folder / "gradebook.db")}
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".ipynb", ".csv", ".html"):
            found[str(path.relative_to(folder))] = path.read_text(encoding="utf-8")
    return found


def digest(folder: Path) -> str:
    """A hash of every file below a folder and of its name."""
    hashed = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            hashed.update(str(path.relative_to(folder)).encode() + hashlib.sha256(path.read_bytes()).digest())
    return hashed.hexdigest()
