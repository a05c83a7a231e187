"""Grade a class: take in, run in sandboxes, judge, write gradebook, feedback pages and tables.

A run that was stopped at any point goes on with the same command: what is finished lies in ``executed``, and
the gradebook is written at the end, as a whole.
"""

import contextlib
import errno
import json
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from ..cells import code_cells
from ..files import PutAside, write_whole
from ..grades import GradeState, SubmissionGrade
from ..light_imports import without_grammars
from ..paths import ROOT
from ..sandbox.execution import EngineFault, Execution, Job, NoSandbox
from ..units import Unit, unit_named
from . import record
from .entries import CannotRead, read, shown
from .executions import run_all
from .forked import each_done
from .gradebook import Entry, Scores, check_gradebook, grades_written
from .kept import Kept, sources
from .places import Places
from .pools import Pool, cluster, local, usual_jobs
from .progress import Progress
from .submissions import TIMESTAMP, Submission, Submissions, find_submissions

_STOPPED = "\nStopped. Nothing is lost: the same command goes on from here. The gradebook is as it was."
_LONGEST_OF_THE_EXCHANGE = 1_000
_WORTH_A_SANDBOX = 40  # notebooks
_INTERRUPTED = 130  # what a shell expects after Ctrl-C


@dataclass(frozen=True)
class Order:
    """What was asked for. ``engine`` is "fork", "kernel" or "none", the last without a sandbox."""

    unit: Unit
    submissions: Path
    places: Places
    root: Path = ROOT
    jobs: int | None = None
    seed: int | None = None
    engine: str = "fork"
    scheduler: str = ""


@dataclass
class _OnItsWay:
    """A submission and what becomes of it. ``notebook`` is the rebuilt one, without outputs; the one that is written
    is put aside, and ``graded`` says where.
    """

    learner: str
    notebook: Any
    notes: tuple[str, ...]
    collected: Mapping[str, bytes]  # nbgrader's own files, which it needs again to release the feedback
    submitted: datetime | None
    own_sources: tuple[str, ...] = ()
    key: str = ""
    job: Job | None = None
    grade: SubmissionGrade | None = None
    graded: slice | None = None
    unanswered: frozenset[str] = field(default_factory=frozenset)
    stopped: bool = False


def grade(
    unit: str,
    submissions: Path | None = None,
    out: Path | None = None,
    jobs: int | None = None,
    seed: int | None = None,
    engine: str = "fork",
    scheduler: str = "",
    root: Path = ROOT,
    say: Callable[[str], None] = print,
) -> int:
    """Grade a class and print its table; the exit code: 0, or 1 where the grader failed on a submission.

    Raises ValueError, OSError or RuntimeError with a sentence for people, and then the gradebook is as before.
    """
    known = unit_named(unit)
    order = Order(
        known,
        submissions or root / "grader" / "submitted",
        Places.below(out, unit) if out else Places.of_course(root, unit),
        root,
        jobs,
        seed,
        engine,
        scheduler,
    )
    try:
        with _termination_as_interrupt():
            return _grade(order, say)
    except KeyboardInterrupt:
        print(_STOPPED, file=sys.stderr)
        return _INTERRUPTED
    except NoSandbox as missing:
        raise NoSandbox(
            f"{missing}\nTo grade submissions of people you trust without a sandbox, add --no-sandbox."
        ) from None
    except OSError as error:
        raise OSError(_said_of(error)) from error


def _grade(order: Order, say: Callable[[str], None]) -> int:
    places = order.places
    with find_submissions(order.submissions, order.unit) as found:
        check_gradebook(places.gradebook)
        places.need_writable()
        with places.held():
            return _grade_all(order, found, say)


def _grade_all(order: Order, found: Submissions, say: Callable[[str], None]) -> int:
    path = order.places.record
    seed, going_on = record.seed_for(order.unit.name, order.seed, record.Record.read(path))
    run = _Run(order, seed, len(found))
    run.record.write(path)
    if order.engine == "none":
        say("No sandbox: the submissions run with your rights, on your files and your network.")
    doing = "Going on with" if going_on else "Grading"
    say(f"{doing} {len(found)} submissions of {order.unit.name}, seed {seed}.")
    jobs = order.jobs or usual_jobs(order.unit.limits.memory)
    with _pool(order, jobs) as pool:
        run.execute(pool, found)
    if doubtful := run.doubtful():
        # Other seeds need other sandboxes, and each takes as long to start as many notebooks to run.
        with _pool(order, min(jobs, -(-len(doubtful) // _WORTH_A_SANDBOX))) as pool:
            run.run_again(pool, doubtful)
    _end_if_stopped()
    scores = run.write()
    run.kept.prune()
    run.record.ended = record.now()
    run.record.write(path)
    for line in run.summary(scores, found.ignored):
        say(line)
    if run.record.faults:
        print(
            f"The grader itself failed on {', '.join(sorted(run.record.faults))}: no points are given or taken there. "
            "The table says why. Run the same command again.",
            file=sys.stderr,
        )
        return 1
    return 0


def _pool(order: Order, jobs: int) -> contextlib.AbstractContextManager[Pool]:
    return cluster(order.scheduler) if order.scheduler else local(jobs)


def _of_the_exchange(submission: Submission) -> dict[str, bytes]:
    """The small files that nbgrader's exchange puts beside a notebook when it collects it."""
    found = {}
    for entry in submission.of_exchange if submission.notebook else ():
        with contextlib.suppress(CannotRead, OSError):
            found[entry.name] = read(entry.root, entry.path, _LONGEST_OF_THE_EXCHANGE)
    return found


def _when(collected: Mapping[str, bytes]) -> datetime | None:
    from nbgrader.utils import parse_utc

    with contextlib.suppress(ValueError, OverflowError):
        return parse_utc(collected[TIMESTAMP].decode().strip()) if TIMESTAMP in collected else None
    return None


class _Run:
    """One run: from the submissions that were found to everything that is written."""

    def __init__(self, order: Order, seed: int, learners: int) -> None:
        self.order, self.seed = order, seed
        self.record = record.Record(
            unit=order.unit.name,
            seed=seed,
            engine=order.engine,
            submissions=str(order.submissions),
            limits=asdict(order.unit.limits),
            versions=record.versions(),
            sources=sources(),
            started=record.now(),
            learners=learners,
        )
        self.class_list: list[_OnItsWay] = []
        self.aside = PutAside(order.places.executed)

    def execute(self, pool: Pool, found: Submissions) -> None:
        """Run and judge every submission; afterwards each of ``class_list`` has a grade."""
        order = self.order
        if order.engine == "fork":
            pool.ready(order.unit.name, order.engine, self.seed % 2**32)
        # Slow imports, while the sandboxes start.
        with without_grammars():
            import nbformat

            from ..exam import Exam
            from ..nbgrader_course import course_config
            from ..notebooks import released
            from .pages import feedback_pages

            self.config = course_config(order.root)
            self.pages = feedback_pages(order.root)
        self.exam = Exam(order.unit.name, self.seed)
        self.release = released(order.unit.name)
        self.kept = Kept(
            order.places.executed,
            {
                "release": nbformat.v4.writes(self.release),
                "seed": self.seed,
                "versions": self.record.versions,
                "sources": self.record.sources,
            },
        )
        with Progress("Submissions", len(found)) as progress:
            for key, ended in run_all(self._jobs(found, progress), pool, order.engine, self.kept):
                progress.advance(self._judge(key, ended))
            for key in {submission.key for submission in self.class_list if submission.grade is None}:
                progress.advance(self._judge(key, self.kept.load(key)))

    def _jobs(self, found: Submissions, progress: Progress) -> Iterator[tuple[str, Job]]:
        """Take the submissions in, one by one; the jobs of those that can run."""
        from .intake import take_in
        from .second_run import own_sources

        for submission in found:
            taken = take_in(submission, self.release, self.order.unit)
            collected = _of_the_exchange(submission)
            one = _OnItsWay(submission.learner, taken.notebook, taken.notes, collected, _when(collected))
            self.class_list.append(one)
            if taken.state != "graded":
                self._unrun(one, taken.state, taken.reason)
                progress.advance()
                continue
            one.own_sources = own_sources(one.notebook, self.release)
            one.unanswered = _unanswered(one.notebook)
            one.job = self.exam.job(one.notebook, taken.files, hash_seed=self.seed % 2**32)
            one.key = self.kept.key(one.job, self.order.engine)
            yield one.key, one.job

    def _judge(self, key: str, ended: Execution | EngineFault | None) -> int:
        """Judge all submissions with this key; how many there were."""
        judged = [one for one in self.class_list if one.key == key and one.grade is None]
        for one in judged:
            if isinstance(ended, Execution):
                self._score(one, ended)
            else:
                self._unrun(one, "fault", str(ended or "its execution was not kept"))
        _end_if_stopped()
        return len(judged)

    def _score(self, one: _OnItsWay, execution: Execution, unstable: frozenset[str] = frozenset()) -> None:
        from ..scoring import score

        one.grade = score(one.notebook, execution, self.exam, one.notes, unstable)
        one.graded = self.aside.put(json.dumps(one.notebook).encode())
        for cell in code_cells(one.notebook):
            cell.outputs = []
        one.stopped = bool(execution.stopped)

    def _unrun(self, one: _OnItsWay, state: GradeState, reason: str) -> None:
        from ..scoring import score_unrun
        from .rebuilt import untouched

        notebook = untouched(self.release)
        one.grade = score_unrun(notebook, self.exam, state, reason, one.notes)
        one.graded = self.aside.put(json.dumps(notebook).encode())
        one.unanswered = frozenset() if state == "fault" else _unanswered(notebook)
        (self.record.faults if state == "fault" else self.record.broken)[one.learner] = reason

    def doubtful(self) -> dict[str, tuple[Job, list[_OnItsWay]]]:
        """Second runs by their keys, with those whom they are about."""
        from .second_run import with_other_seeds, worth_a_second_run

        found: dict[str, tuple[Job, list[_OnItsWay]]] = {}
        for one in self.class_list:
            ran = one.grade.state == "graded" and not one.stopped
            if ran and worth_a_second_run(one.own_sources, one.grade):
                job = with_other_seeds(one.job)
                found.setdefault(self.kept.key(job, self.order.engine), (job, []))[1].append(one)
        return found

    def run_again(self, pool: Pool, doubtful: dict[str, tuple[Job, list[_OnItsWay]]]) -> None:
        """Tell learners whose answers change from run to run that they do."""
        from .second_run import unstable

        with Progress("Running again", len(doubtful)) as progress:
            jobs = ((key, job) for key, (job, _) in doubtful.items())
            for key, second in run_all(jobs, pool, self.order.engine, self.kept):
                progress.advance()
                first = self.kept.load(doubtful[key][1][0].key)
                if not isinstance(second, Execution) or first is None:
                    continue
                for one in doubtful[key][1]:
                    if differ := unstable(one.notebook, self.exam.exercises, first, second):
                        self._score(one, first, frozenset(differ))

    def write(self) -> dict[str, Scores]:
        """Write everything, the gradebook last; what it holds now."""
        from .tables import write_nbgrader_table, write_tables

        places, unit = self.order.places, self.order.unit.name
        self.class_list.sort(key=lambda one: one.learner.casefold())
        entries = [Entry(one.learner, one.grade, one.unanswered, one.submitted) for one in self.class_list]
        with grades_written(places.gradebook, unit, self.release, entries, self.config) as written:
            self._write_notebooks(written.scores)
            write_tables(places.results, unit, self._grades(), written.scores)
            write_nbgrader_table(places.results / "nbgrader.csv", unit, written.gradebook, self.config)
        return written.scores

    def _write_notebooks(self, scores: dict[str, Scores]) -> None:
        """The graded notebooks, and a feedback page of each."""

        def write(number: int) -> None:
            self._write_notebook(self.class_list[number], scores)

        with Progress("Feedback pages", len(self.class_list)) as progress:
            for _ in each_done(write, range(len(self.class_list))):
                progress.advance()

    def _write_notebook(self, one: _OnItsWay, scores: dict[str, Scores]) -> None:
        import nbformat

        folder, page = self.order.places.graded_folder(one.learner), self.order.places.page(one.learner)
        path = folder / f"{self.order.unit.name}.ipynb"
        fault = one.grade.state == "fault"
        if fault and path.exists():
            return  # what an earlier run made of it still stands
        notebook = nbformat.from_dict(json.loads(self.aside.get(one.graded)))
        write_whole(path, _as_bytes(notebook))
        for place in (folder, page.parent):
            for name, content in one.collected.items():
                write_whole(place / name, content)
        if not fault:
            made = self.pages.page(self.order.unit.name, notebook, scores[one.learner])
            write_whole(page, made.encode())

    def _grades(self) -> dict[str, SubmissionGrade]:
        return {one.learner: one.grade for one in self.class_list}

    def summary(self, scores: dict[str, Scores], ignored: Iterable[str]) -> Iterator[str]:
        from .tables import class_table

        places = self.order.places
        yield ""
        yield from class_table(self._grades(), scores)
        yield ""
        if names := list(ignored):
            yield f"Nobody's, and ignored: {', '.join(map(shown, names[:10]))}" + (
                " ..." if names[10:] else ""
            )
        if self.record.broken:
            yield f"{len(self.record.broken)} of {len(self.class_list)} could not be run and have no points."
        if self.order.engine == "none":
            yield "This class was graded without a sandbox."
        yield f"gradebook       {places.gradebook}"
        yield f"feedback pages  {places.feedback}"
        yield f"tables, record  {places.results}"
        yield f"The same questions again: --seed {self.seed}"


def _unanswered(notebook: Any) -> frozenset[str]:
    """The solution cells that are as they were handed out."""
    from nbgrader.utils import compute_checksum, is_solution

    return frozenset(
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if is_solution(cell) and cell.metadata.nbgrader.get("checksum") == compute_checksum(cell)
    )


def _as_bytes(notebook: Any) -> bytes:
    import nbformat

    return (nbformat.v4.writes(notebook) + "\n").encode("utf-8", "replace")


def _said_of(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            "The disk is full, and the gradebook is as it was. Make room and run the same command again: "
            "what is finished is kept."
        )
    if error.errno is None or not error.filename:
        return str(error)
    return f"{error.filename}: {error.strerror}. The gradebook is as it was."


_stopping = threading.Event()


@contextlib.contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """SIGTERM ends a run as Ctrl-C does, with its sandboxes. What is lost on the way, _end_if_stopped raises again."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        _stopping.set()
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # and not ignored, as in the background
        numbers.append(signal.SIGINT)
    said_before = sys.unraisablehook

    def say_unless_stopped(lost: Any) -> None:
        if lost.exc_type is not KeyboardInterrupt:
            said_before(lost)

    sys.unraisablehook = say_unless_stopped
    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        sys.unraisablehook = said_before
        for number, handler in before.items():
            signal.signal(number, handler)
        _stopping.clear()


def _end_if_stopped() -> None:
    """Raise KeyboardInterrupt again where it was lost: code that is not Python's passes on no error of a callback."""
    if _stopping.is_set():
        raise KeyboardInterrupt
