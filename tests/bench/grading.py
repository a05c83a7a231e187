"""Grading a class of honest submissions, against nbgrader as it comes and otter-grader: submissions a second.

The class hands in right solutions of unit 04, each with a line of the learner's own, and every tenth leaves the second
exercise undone. Ours is graded twice. "Warm" counts from the first look at the submissions to the last judged grade, in
a process whose sandboxes have started. "Command" is ``python -m grader grade`` from its start to its end, with
gradebook, feedback pages and tables.

nbgrader runs with its own settings and the notebook's own check cells, and without a sandbox. It takes the same time
for each submission, so some of the class are enough: two of its runs, of few and of more submissions, give the time of
one and that of the start. otter-grader runs without Docker, in one process, each submission on its own.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from .class_run import SEED, Watch, write_class
from .other_graders import UNIT, StockNbgrader, with_otter
from .results import Bound, Result, Table

_ROOT = Path(__file__).resolve().parents[2]
_MB = 1_000_000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--learners", type=int, default=40, help="submissions in the class (40)")
    parser.add_argument("--stock", type=int, default=10, help="of these, graded by nbgrader as it comes (10)")
    parser.add_argument("--otter", type=int, default=4, help="of these, graded by otter-grader (4)")
    parser.add_argument("--rounds", type=int, default=3, help="how often ours grades the class (3)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min(options.learners, options.stock, options.otter, options.rounds) < 1:
        raise ValueError("learners, stock, otter and rounds are at least 1")
    if not sys.platform.startswith("linux"):
        raise OSError("classes are graded, and grading is measured, on Linux alone")
    with tempfile.TemporaryDirectory() as folder:
        yield from _compared(options, Path(folder))


def _compared(options: argparse.Namespace, folder: Path) -> Iterator[Result]:
    learners = options.learners
    expected = write_class(folder / "in", learners, ())
    submissions = sorted((folder / "in").iterdir())
    few = max(1, min(2, options.stock - 1))
    stock_course = StockNbgrader(folder / "stock")
    # In turn, so that a busy moment of the machine meets all of them.
    stock_times = [(few, stock_course.seconds(submissions[:few]))]
    commands = [graded_by_command(folder / "in", folder / "out 0")]
    if more := submissions[few : options.stock]:
        stock_times.append((len(more), stock_course.seconds(more)))
    otter = _otter(folder / "in", min(options.otter, learners))
    commands += [graded_by_command(folder / "in", folder / f"out {n}") for n in range(1, options.rounds)]
    warm = _warm(folder, options.rounds)
    start, each = _line(stock_times)

    command = statistics.median(seconds for seconds, _ in commands)
    peak = max(peak for _, peak in commands)
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
    yield Bound("submissions/s with warm workers, against nbgrader", each * learners / warm, "at least", 25)
    yield Bound(
        "submissions/s from the command's start, against nbgrader",
        (start + each * learners) / command,
        "at least",
        12,
    )
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


def _warm(folder: Path, rounds: int) -> float:
    """Seconds from the first look at the submissions to the last grade, with sandboxes that have started."""
    from grader.classroom.pools import local, usual_jobs
    from grader.units import unit_named

    jobs = usual_jobs(unit_named(UNIT).limits.memory)
    with local(jobs) as pool:
        for started in pool.ready(UNIT, "fork", SEED % 2**32):
            started.result()
        _judged(folder, "warm", pool)  # loads what this process needs
        times = []
        for number in range(rounds):
            began = time.perf_counter()
            grades = _judged(folder, f"warm {number}", pool)
            times.append(time.perf_counter() - began)
    assert all(grade is not None and grade.state == "graded" for grade in grades)
    return statistics.median(times)


def _judged(folder: Path, out: str, pool: object) -> list:
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


def _line(times: list[tuple[int, float]]) -> tuple[float, float]:
    """The seconds of the start and of each submission, from runs of few and of more."""
    if len(times) < 2:
        return 0.0, times[0][1] / times[0][0]
    (few, short), (more, long) = times
    each = (long - short) / (more - few) if more > few else long / more
    return max(0.0, short - few * each), each


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
