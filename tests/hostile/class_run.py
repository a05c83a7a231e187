"""The way a submission takes in a class run, from its folder to its grade, with neighbours beside it."""

import json
import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from grader.classroom.intake import take_in
from grader.classroom.second_run import unstable, with_other_seeds, worth_a_second_run
from grader.classroom.submissions import find_submissions
from grader.exam import Exam
from grader.grades import SubmissionGrade
from grader.sandbox.engines import close_runners, execute
from grader.sandbox.execution import Execution, Job
from grader.scoring import score, score_unrun
from grader.units import unit_named

from .entry import Files, Seeds, Submission, write
from .notebooks import changed, handed_in, release
from .world import World, processes

SEED = 20_231_004
AT_ONCE = 2
# A kernel needs longer for everything than a fork, so the short limits of the catalogue are stretched for it.
_PATIENCE = {"fork": 1, "kernel": 3}


@dataclass
class Result:
    """What came of a submission. ``read`` is all that its learner reads, ``kept`` all outputs of the notebook."""

    grade: SubmissionGrade | None = None
    read: str = ""
    kept: str = ""
    cells: list[Any] = field(default_factory=list)
    execution: Execution | None = None
    seconds: float = 0.0
    fault: str = ""
    neighbours: list[str] = field(default_factory=list)  # what was not as before for them
    left: str = ""  # processes that outlived the run

    @property
    def points(self) -> dict[str, float]:
        return {exercise.exercise: exercise.points for exercise in self.grade.exercises} if self.grade else {}


@cache
def exam(unit: str) -> Exam:
    return Exam(unit, SEED)


def neighbours() -> dict[str, Files]:
    """An honest full submission, and an honest one that is partly wrong."""
    return {
        "honest": handed_in(),
        "partly": handed_in(
            retriever=changed("retriever", ", start=1", ""),
            keyword_index=changed("keyword_index", "if pair[1] > 0", "if pair[1] >= 0"),
        ),
    }


class ClassRun:
    """Runs submissions of a world with one engine, two at once, each in the warm sandboxes of the others."""

    def __init__(self, world: World, folder: Path, engine: str) -> None:
        self.world, self.folder, self.engine = world, folder, engine
        self._before: dict[str, Any] = {}
        self._turn = 0

    def run(self, submissions: Collection[Submission], every: int = 1) -> dict[str, Result]:
        """The results by id. After ``every`` so many submissions a neighbour runs again in the same sandbox."""
        results: dict[str, Result] = {}
        # A worker keeps the sandboxes of two units warm, so those of one unit come together.
        todo = sorted(submissions, key=lambda one: (one.unit, one.kind == 26))
        lock = threading.Lock()
        self._before = {name: self._graded("N0-" + name, files) for name, files in neighbours().items()}

        def work() -> None:
            since = 0
            while True:
                with lock:
                    if not todo:
                        return
                    submission = todo.pop(0)
                result = results[submission.id] = self.one(submission.on(self.engine))
                since += 1
                if since >= every:
                    since = 0
                    result.neighbours = self._look_at_neighbours()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for worker in [pool.submit(work) for _ in range(AT_ONCE)]:
                worker.result()
        for submission in _to_try_again([one.on(self.engine) for one in submissions], results):
            results[submission.id] = self.one(submission, patience=3)
        last = self._look_at_neighbours(everyone=True)
        for result in results.values():
            result.neighbours += last
        return results

    def one(
        self,
        submission: Submission,
        files: Files | None = None,
        limits: Mapping[str, float] | None = None,
        many: int = 10**9,
        patience: float = 1,
    ) -> Result:
        """Grade one submission, with other files or limits where they are given.

        ``patience`` stretches the limits on time.
        """
        started = time.monotonic()
        result = Result()
        try:
            self._grade(submission, files, limits, many, patience, result)
        except Exception as fault:  # whatever is handed in, the others' grading goes on
            result.fault = f"{type(fault).__name__}: {fault}"
        result.seconds = time.monotonic() - started
        return result

    def _grade(self, submission, files, limits, many, patience, result: Result) -> None:
        unit, name = unit_named(submission.unit), submission.id
        folder = self.folder / f"{name}-{time.monotonic_ns()}"
        write(
            submission.make() if files is None else files,
            folder / name / unit.name,
            lambda text: self.world.fill(text, name, everywhere=True, many=many),
        )
        with find_submissions(folder, unit) as found:
            (handed,) = found
            taken = take_in(handed, release(unit.name), unit)
        notebook, asked = taken.notebook, exam(unit.name)
        if taken.state != "graded":
            result.grade = score_unrun(notebook, asked, taken.state, taken.reason, taken.notes)
        else:
            short = submission.limits if limits is None else limits
            job = Job(
                unit.name,
                tuple(cell.source for cell in notebook.cells if cell.cell_type == "code"),
                asked.questions,
                taken.files,
                replace(unit.limits, **_stretched(short, patience * _PATIENCE[self.engine])),
                SEED,
                SEED,
            )
            for _ in range(submission.times):
                result.execution = execute(job, self.engine)
            result.grade = score(notebook, result.execution, asked, taken.notes)
            own = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
            given = {cell.source for cell in release(unit.name).cells}
            if submission.kind == 26 and worth_a_second_run(set(own) - given, result.grade):
                second = execute(with_other_seeds(job), self.engine)
                differ = unstable(notebook, asked.exercises, result.execution, second)
                result.grade = score(notebook, result.execution, asked, taken.notes, differ)
        result.left = self._left(name)
        result.read = _read(notebook, result.grade)
        result.kept = json.dumps([cell.get("outputs") for cell in notebook.cells])
        result.cells = notebook.cells

    def _left(self, name: str) -> str:
        return str(found) if (found := processes(f"{self.world.token}-{name}")) else ""

    def _graded(self, name: str, files: Files) -> Any:
        """The grade of a neighbour, and everything in the graded notebook."""
        result = self.one(Submission(name, lambda: files, Seeds(), ()))
        if result.fault:
            return result.fault
        return result.grade, result.cells

    def _look_at_neighbours(self, everyone: bool = False) -> list[str]:
        names = list(self._before)
        self._turn += 1
        chosen = names if everyone else [names[self._turn % len(names)]]
        different = []
        for name in chosen:
            now = self._graded(f"N0-{name}", neighbours()[name])
            if now != self._before[name] or isinstance(now, str):
                different.append(f"{name}: {_difference(self._before[name], now)}")
        return different


def _stretched(limits: Mapping[str, float], times: float) -> dict[str, float]:
    return {name: limit * times if name.endswith("_seconds") else limit for name, limit in limits.items()}


def _to_try_again(submissions: Iterable[Submission], results: Mapping[str, Result]) -> Iterator[Submission]:
    """What was stopped is tried once more, alone, as in a class run; here only where it was unexpected.

    Limits of a second or two, which keep the suite short, are too few where the computer is busy.
    """
    for submission in submissions:
        result = results[submission.id]
        as_told = all(piece in result.read for piece in submission.says)
        if (
            result.execution
            and result.execution.stopped
            and not (as_told and result.points == submission.points)
        ):
            yield submission


def _difference(before: Any, now: Any) -> str:
    if isinstance(before, str) or isinstance(now, str):
        return f"before {str(before)[:200]}, now {str(now)[:200]}"
    if before[0] != now[0]:
        return f"{before[0]} became {now[0]}"
    return next(
        f"a cell's outputs: {str(one.get('outputs'))[:300]} became {str(other.get('outputs'))[:300]}"
        for one, other in zip(before[1], now[1], strict=True)
        if one != other
    )


def _read(notebook: Any, grade: SubmissionGrade) -> str:
    """The reason, all notes, and the text below each check."""
    texts = [grade.reason, *grade.notes, *(exercise.note for exercise in grade.exercises)]
    for cell in notebook.cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade"):
            texts += [output["data"]["text/plain"] for output in cell.outputs if "data" in output]
    return "\n".join(texts)


@contextmanager
def surroundings(world: World) -> Iterator[None]:
    """With the world's home as the home of whoever grades, and its secret in their environment."""
    before = dict(os.environ)
    os.environ |= {"HOME": str(world.home), "COURSE_SECRET": world.secret}
    try:
        yield
    finally:
        os.environ.clear()
        os.environ |= before


def end_of_runs(submissions: Iterable[Submission]) -> None:
    """No sandbox is kept, and what waited for a while has had its time."""
    close_runners()
    if any(submission.kind == 31 for submission in submissions):
        time.sleep(2.5)
