"""Grading a class of honest submissions, against nbgrader as it comes and otter-grader: submissions a second.

The class hands in right solutions of unit 04, each with a line of the learner's own, and every tenth leaves the second
exercise undone. Ours is graded twice. "Warm" counts from the first look at the submissions to the last judged grade, in
a process whose sandboxes have started. "Command" is ``python -m grader grade`` from its start to its end, with
gradebook, feedback pages and tables.

nbgrader runs with its own settings and the notebook's own check cells, and without a sandbox. It takes the same time
for each submission, so some of the class are enough; a run with nothing to grade is its start. In each round nbgrader
grades some, and ours all, and what counts is the median of the rounds' ratios: a round meets one state of the machine.
otter-grader runs without Docker, in one process, each submission on its own.
"""

import argparse
import contextlib
import csv
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from grader.classroom.pools import Pool, local, usual_jobs

from .class_run import SEED, Watch, write_class
from .other_graders import UNIT, StockNbgrader, with_otter
from .results import Bound, Result, Table

_ROOT = Path(__file__).resolve().parents[2]
_MB = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--learners", type=int, default=40, help="submissions in the class (40)")
    parser.add_argument("--stock", type=int, default=12, help="of these, graded by nbgrader as it comes (12)")
    parser.add_argument("--otter", type=int, default=4, help="of these, graded by otter-grader (4)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (3)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min(options.learners, options.stock, options.otter, options.rounds) < 1:
        raise ValueError("learners, stock, otter and rounds are at least 1")
    if not sys.platform.startswith("linux"):
        raise OSError("classes are graded, and grading is measured, on Linux alone")
    with tempfile.TemporaryDirectory() as folder:
        yield from _compared(options, Path(folder))


def _compared(options: argparse.Namespace, folder: Path) -> Iterator[Result]:
    learners, rounds = options.learners, options.rounds
    expected = write_class(folder / "in", learners, ())
    submissions = sorted((folder / "in").iterdir())[: options.stock]
    stock_course = StockNbgrader(folder / "stock")
    stock, starts, commands, warms = [], [], [], []
    with _started() as pool:
        _judged(folder, "first", pool)  # loads what this process needs
        # Round after round, so that a busy moment of the machine meets all of them.
        for number in range(rounds):
            some = submissions[number::rounds]
            whole = stock_course.seconds(some) if some else 0.0
            starts.append(stock_course.seconds([]))  # all are graded: it starts, looks, and ends
            stock.append(max(1e-9, whole - starts[-1]) / len(some) if some else stock[-1])
            commands.append(graded_by_command(folder / "in", folder / f"out {number}"))
            began = time.perf_counter()
            grades = _judged(folder, f"warm {number}", pool)
            warms.append(time.perf_counter() - began)
            assert all(grade is not None and grade.state == "graded" for grade in grades)
    otter = _otter(folder / "in", min(options.otter, learners))
    each, start, warm = map(statistics.median, (stock, starts, warms))
    command = statistics.median(seconds for seconds, _ in commands)
    peak = max(peak for _, peak in commands)
    against_warm = statistics.median(learners * one / ours for one, ours in zip(stock, warms, strict=True))
    against_command = statistics.median(
        (first + learners * one) / ours for first, one, (ours, _) in zip(starts, stock, commands, strict=True)
    )

    rows = [
        ("ours, warm", learners, learners / warm, warm / learners, None),
        ("ours, command", learners, learners / command, command / learners, peak / _MB),
        ("nbgrader, after its start", options.stock, 1 / each, each, None),
        (f"nbgrader, command, {learners} of them", None, learners / (start + each * learners), None, None),
    ]
    if isinstance(otter, list):
        one = statistics.median(seconds for seconds, _ in otter)
        rows.append(("otter-grader, after its start", len(otter), 1 / one, one, None))
    columns = ("grader", "measured on", "submissions/s", "seconds each", "peak memory, MB")
    yield Table(f"A class of {learners}, unit 04", columns, rows)
    if isinstance(otter, str):
        yield otter
    yield Bound("submissions/s with warm workers, against nbgrader", against_warm, "at least", 25)
    yield Bound("submissions/s from the command's start, against nbgrader", against_command, "at least", 12)
    if isinstance(otter, list):
        yield Bound(
            "submissions/s with warm workers, against otter-grader", one * learners / warm, "at least", 1
        )
    ours = _points(folder / "out 0")
    theirs = stock_course.points()
    unlike = [name for name, points in theirs.items() if ours.get(name) != points]
    unlike += [name for name, points in expected.items() if ours.get(name) != points]
    yield Bound("submissions with other points than nbgrader gives", len(unlike), "at most", 0, "submissions")
    yield Bound("peak memory of the grader and its sandboxes", peak / _MB, "at most", 500, "MB")
    pages = _pages(folder / "out 0")
    yield Bound("a feedback page", 1000 * statistics.fmean(pages), "at most", 60, "ms")
    yield (
        f"nbgrader graded {len(theirs)} of the {learners}. Of the feedback pages the first takes "
        f"{1000 * pages[0]:.0f} ms, as its template is compiled, and the others {1000 * statistics.median(pages):.0f}."
    )
    yield _parts(folder)


def graded_by_command(submissions: Path, out: Path, *options: str) -> tuple[float, int]:
    """Grade a class as anybody would; the seconds of the whole command, and the most bytes in use at once."""
    command = [sys.executable, "-m", "grader", "grade", UNIT, "--seed", str(SEED)]
    command += ["--submissions", str(submissions), "--out", str(out), *options]
    began = time.perf_counter()
    with (
        subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        ) as grader,
        Watch(grader.pid) as watch,
    ):
        said, _ = grader.communicate()
        seconds = time.perf_counter() - began
    if grader.returncode:
        raise OSError(f"the grader ended with {grader.returncode}: {said.decode()[-2000:]}")
    return seconds, watch.peak


@contextlib.contextmanager
def _started() -> Iterator[Pool]:
    """A pool whose sandboxes have started."""
    from grader.units import unit_named

    with local(usual_jobs(unit_named(UNIT).limits.memory)) as pool:
        for started in pool.ready(UNIT, "fork", SEED % 2**32):
            started.result()
        yield pool


def _judged(folder: Path, out: str, pool: Pool) -> list:
    """Take in, run and judge the class; its grades."""
    from grader.classroom.places import Places
    from grader.classroom.run import Order, _Run
    from grader.classroom.submissions import find_submissions
    from grader.units import unit_named

    unit = unit_named(UNIT)
    order = Order(unit, folder / "in", Places.below(folder / out, UNIT), seed=SEED)
    order.places.executed.mkdir(parents=True)
    with find_submissions(order.submissions, unit) as found:
        one = _Run(order, SEED, len(found))
        one.execute(pool, found)
    return [each.grade for each in one.class_list]


def _otter(submissions: Path, number: int) -> list[tuple[float, float]] | str:
    try:
        return with_otter(submissions, number)
    except ImportError as missing:
        return f"Without {missing}, which is left out: pip install -e '.[bench]'"


def _points(out: Path) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with open(out / "grades.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["learner"], {})[row["exercise"]] = float(row["points"] or "nan")
    return found


def _pages(out: Path) -> list[float]:
    """The seconds of each feedback page, made one after the other."""
    import nbformat

    from grader.classroom.gradebook import Scores
    from grader.classroom.pages import FeedbackPages
    from grader.nbgrader_course import course_config

    made, times = FeedbackPages(course_config(_ROOT)), []
    for path in sorted((out / "autograded").glob(f"*/{UNIT}/*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
        cells = {one["grade_id"]: (one["points"], one["points"], False) for one in marks if one.get("grade")}
        scores = Scores(path.parts[-3], cells)
        began = time.perf_counter()
        made.page(UNIT, notebook, scores)
        times.append(time.perf_counter() - began)
    return times


def _parts(folder: Path) -> Table:
    """Where the time of the command goes."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.grading_parts", str(folder / "in"), str(folder / "parts")],
        cwd=_ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    rows = [
        (part, one["times"], one["span"], 1000 * one["sum"] / one["times"], one["processor"])
        for part, one in found.items()
    ]
    columns = ("part", "times", "from first to last, s", "ms each", "processor of the grader, s")
    return Table("Where the time goes (parts run beside each other)", columns, rows)
