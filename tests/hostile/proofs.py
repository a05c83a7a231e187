"""Show that a submission does harm where its one defence is off: what each proof of the catalogue means."""

import json
import threading
import time
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache, singledispatchmethod
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
from nbgrader.utils import determine_grade, is_grade

from grader.asked import ANSWERS
from grader.sandbox.engines import close_runners

from .class_run import AT_ONCE, SEED, ClassRun, exam
from .entry import (
    HONEST,
    UNIT,
    Control,
    Ends,
    Floods,
    Follows,
    Guess,
    Harm,
    Invalid,
    Nbgrader,
    NoKernel,
    Off,
    Outcome,
    Raised,
    Seeds,
    Stock,
    Submission,
    Trusting,
    write,
)
from .notebooks import release
from .plain import Plain
from .stock import StockCourse
from .world import SECRET, World

_JUST_TOO_MANY = 45  # of what a submission does without bound, where the limit is raised
_PATIENT = {"cell_seconds": 60, "notebook_seconds": 300}  # where a limit on time is not what is shown


class Prover:
    """Runs submissions without a defence, one at a time, in a world of its own; puts the world back each time."""

    def __init__(self, folder: Path, execute: bool) -> None:
        self.world, self.folder = World(folder / "world"), folder / "submitted"
        self.folder.mkdir()
        self.stock = StockCourse(self.folder / "nbgrader", self.world, execute)
        self._plain: dict[int, Plain] = {}
        self._sandboxed = ClassRun(self.world, self.folder / "sandboxed", "fork")
        self._lock = threading.Lock()

    def close(self) -> None:
        for plain in self._plain.values():
            plain.close()
        self.world.close()

    def prove(self, submission: Submission) -> None:
        """Raises AssertionError where the submission does no harm."""
        with self._lock:
            try:
                self._prove(submission.proof, submission)
            finally:
                self.world.restore()

    def honest_points(self, submission: Submission) -> dict[str, float]:
        """What the submission's cells earn in a plain process, judged outside of it."""
        with self._lock:
            outcome = self._run(submission, grading=True)
            self.world.restore()
        return self._judged(submission, outcome, "last")

    @singledispatchmethod
    def _prove(self, proof: Any, submission: Submission) -> None:
        raise TypeError(f"{submission.id} has no proof: {proof!r}")

    @_prove.register
    def _as_stock(self, proof: Stock, submission: Submission) -> None:
        outcome = self._run(submission, grading=proof.grading, stops=proof.stops)
        found = {name: outcome.points.get(name) for name in proof.points}
        assert found == dict(proof.points), f"stock points {outcome.points}, {outcome.printed[-2000:]}"
        _differs(found, submission)

    @_prove.register
    def _harm(self, proof: Harm, submission: Submission) -> None:
        outcome = self._run(submission, grading=proof.grading)
        for _ in range(submission.times - 1):
            outcome = self._run(submission, grading=proof.grading)
        deadline = time.monotonic() + 8
        while not set(proof.kinds) <= (seen := self._seen(outcome)).keys() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert set(proof.kinds) <= seen.keys(), (
            f"harm {seen}, ended {outcome.ended}, {outcome.printed[-2000:]}"
        )

    def _seen(self, outcome: Outcome) -> dict[str, str]:
        return self.world.harm() | ({"leak": SECRET} if SECRET in outcome.printed else {})

    @_prove.register
    def _ends(self, proof: Ends, submission: Submission) -> None:
        outcome = self._run(submission, grading=True, seconds=proof.seconds if proof.how == "time" else 20)
        assert outcome.ended == proof.how, f"{outcome.ended}, {outcome.printed[-2000:]}"

    @_prove.register
    def _raised(self, proof: Raised, submission: Submission) -> None:
        limits = {**submission.limits, **_PATIENT, **proof.limits}
        result = self._sandboxed.one(submission, limits=limits, many=_JUST_TOO_MANY)
        assert not result.fault, result.fault
        assert result.points == dict(proof.points), result.read

    @_prove.register
    def _control(self, proof: Control, submission: Submission) -> None:
        limits = {**submission.limits, **_PATIENT}
        result = self._sandboxed.one(submission, files=proof.make(), limits=limits)
        assert not result.fault, result.fault
        assert result.points == dict(proof.points), result.read

    @_prove.register
    def _trusting(self, proof: Trusting, submission: Submission) -> None:
        outcome = self._run(submission, grading=True)
        points = self._judged(submission, outcome, proof.anywhere)
        found = {name: points[name] for name in proof.points}
        assert found == dict(proof.points), outcome.printed[-2000:]
        _differs(found, submission)

    @_prove.register
    def _off(self, proof: Off, submission: Submission) -> None:
        outcome = self._run(submission, off=proof.function)
        for name, points in proof.points.items():
            found = outcome.points.get(name)
            assert points is None or found == points, f"{name}: {found}; {outcome.printed[-2000:]}"
        _differs({name: outcome.points.get(name) for name in proof.points}, submission)

    @_prove.register
    def _floods(self, proof: Floods, submission: Submission) -> None:
        outcome = self._run(submission, grading=True)
        assert outcome.ended == "done"
        size = sum(len(json.dumps(cell)) for cell in outcome.cells)
        outputs = sum(len(cell["outputs"]) for cell in outcome.cells)
        assert size >= proof.size and outputs >= proof.outputs, f"{size:,} bytes, {outputs:,} outputs"

    @_prove.register
    def _seeds(self, proof: Seeds, submission: Submission) -> None:
        answers = [
            [_answers(cell) for cell in self._run(submission, grading=True, hash_seed=seed).cells]
            for seed in (SEED, SEED + 1)
        ]
        assert answers[0] != answers[1]

    @_prove.register
    def _follows(self, proof: Follows, submission: Submission) -> None:
        outcome = self._run(submission)
        found = {name: outcome.points.get(name) for name in proof.points}
        assert found == dict(proof.points), outcome.printed[-2000:]
        _differs(found, submission)

    @_prove.register
    def _guess(self, proof: Guess, submission: Submission) -> None:
        for place, points in ((0, proof.first), (-1, proof.last)):
            outcome = self._run(submission, place=place)
            found = {name: outcome.points.get(name) for name in points}
            assert found == dict(points), outcome.printed[-2000:]

    @_prove.register
    def _invalid(self, proof: Invalid, submission: Submission) -> None:
        (content,) = submission.make().values()
        with pytest.raises((KeyError, AssertionError)):
            notebook = json.loads(content)
            assert all(cell["id"] for cell in notebook["cells"])
            assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)

    @_prove.register
    def _no_kernel(self, proof: NoKernel, submission: Submission) -> None:
        (content,) = submission.make().values()
        name = json.loads(content)["metadata"].get("kernelspec", {}).get("name", "")
        with pytest.raises((NoSuchKernel, ValueError)):
            KernelSpecManager().get_kernel_spec(name)

    @_prove.register
    def _nbgrader(self, proof: Nbgrader, submission: Submission) -> None:
        given = self.stock.gives(submission)
        assert given == proof.gives, given

    def _run(
        self,
        submission: Submission,
        grading: bool = False,
        seconds: float = 90,
        hash_seed: int = SEED,
        place: int = 0,
        **how: Any,
    ) -> Outcome:
        """Run the notebook as it was handed in: no intake, no sandbox, the course's folder at hand."""
        folder = self.folder / f"{submission.id}-{time.monotonic_ns()}"
        write(
            submission.make(),
            folder,
            lambda text: self.world.fill(text, submission.id, many=_JUST_TOO_MANY),
        )
        path = sorted(folder.rglob("*.ipynb"))[place] if not folder.is_symlink() else next(folder.glob("*"))
        notebook = nbformat.read(path, as_version=4)
        code = [cell for cell in notebook.cells if cell.cell_type == "code" and _matters(cell, submission)]
        questions = None
        if grading:
            questions = self.folder / f"questions-{submission.unit}.json"
            questions.write_text(json.dumps(exam(submission.unit).questions))
        if hash_seed not in self._plain:
            self._plain[hash_seed] = Plain(self.world, hash_seed)
        cells, ended = self._plain[hash_seed].run(
            [cell.source for cell in code], folder, questions, seconds, **how
        )
        for cell, result in zip(code, cells, strict=False):
            cell.outputs = [nbformat.from_dict(output) for output in result["outputs"]]
        return Outcome(cells, ended, _stock_points(code, len(cells)), ())

    def _judged(self, submission: Submission, outcome: Outcome, which: str) -> dict[str, float]:
        """The points of the first or last answers that came for each exercise, in any cell."""
        asked = exam(submission.unit)
        found: dict[str, Any] = {}
        for cell in outcome.cells:
            for attempt in _answers(cell):
                name = attempt["exercise"]
                if which == "last" or name not in found:
                    found[name] = attempt
        return {name: asked.report(name, found.get(name)).points for name in asked.exercises}


class Provers:
    """As many provers as class runs have workers, so that proofs take half the time."""

    def __init__(self, folder: Path, execute: bool) -> None:
        self._provers = [Prover(folder / str(number), execute) for number in range(AT_ONCE)]
        self.first = self._provers[0]
        self.problems: dict[str, BaseException | None] = {}  # of the submissions that were tried

    def prove(self, submissions: Collection[Submission]) -> None:
        """Try them all, and keep what each proof raised."""
        todo = iter(list(submissions))
        lock = threading.Lock()

        def work(prover: Prover) -> None:
            while True:
                with lock:
                    submission = next(todo, None)
                if submission is None:
                    return
                self.problems[submission.id] = _problem(prover, submission)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for worker in [pool.submit(work, prover) for prover in self._provers]:
                worker.result()
        close_runners()

    def close(self) -> None:
        for prover in self._provers:
            prover.close()


def _problem(prover: Prover, submission: Submission) -> BaseException | None:
    try:
        prover.prove(submission)
    except (Exception, pytest.fail.Exception) as problem:  # pytest's own is no Exception
        return problem
    return None


def _matters(cell: Any, submission: Submission) -> bool:
    """Not the lesson's own pictures and tables, which take long and are no part of any proof."""
    if submission.unit != UNIT or cell.metadata.get("nbgrader"):
        return True
    return cell.source not in _lesson() or "import" in cell.source


@cache
def _lesson() -> set[str]:
    return {cell.source for cell in release().cells}


def _answers(cell: Mapping[str, Any]) -> list[Any]:
    return [output["data"][ANSWERS] for output in cell["outputs"] if ANSWERS in output.get("data", {})]


def _stock_points(code: list, ran: int) -> dict[str, float | None]:
    """What stock nbgrader reads from the graded cells that ran, by exercise."""
    points: dict[str, float | None] = {}
    for cell in code[:ran]:
        try:
            if is_grade(cell):
                name = cell.metadata.nbgrader.grade_id.removeprefix("check_")
                points[name] = determine_grade(cell)[0]
        except (ValueError, AttributeError, TypeError):  # above the maximum, or no marks that nbgrader reads
            continue
    return points


def _differs(found: Mapping[str, float | None], submission: Submission) -> None:
    """A proof shows something that the submission must not come to."""
    wanted = submission.points
    if isinstance(wanted, Mapping):
        assert any(points != wanted.get(name) for name, points in found.items()), "that is no harm"
    assert wanted != HONEST
