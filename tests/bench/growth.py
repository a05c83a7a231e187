"""How grading grows with the class, on this machine and on a Dask cluster: seconds and memory by submissions.

The classes are those of the benchmark "grading", and ``python -m grader grade`` grades them as anybody would. What a
submission takes beyond the command's fixed start is the difference between two sizes. The cluster is a scheduler with
workers of one thread each, all of them on this machine and on its loopback: more workers than cores show what the
cluster costs, not what more machines give.

One machine ends where its cores do: a class takes the seconds of a submission times its size. From there on a Dask
cluster takes over, ``python -m grader grade 04_retriever --submissions ../in --scheduler tcp://HOST:8786``, with
``dask scheduler`` on HOST and ``dask worker tcp://HOST:8786 --nthreads 1`` for each core of the others.
"""

import argparse
import contextlib
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .class_run import write_class
from .grading import graded_by_command
from .results import Bound, Result, Table

_MB = 1_000_000
# What a class of 640 may take more than one of 160 in seconds of a submission, and in memory.
_MOST_GROWTH, _MOST_MEMORY = 1.15, 600


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[10, 40, 160, 640], help="submissions (10 40 160 640)"
    )
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 2, 4], help="of a Dask cluster (1 2 4)")
    parser.add_argument("--learners", type=int, default=160, help="submissions for the cluster (160)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    sizes = sorted(set(options.sizes))
    if min([*sizes, *options.workers, options.learners]) < 1:
        raise ValueError("sizes, workers and learners are at least 1")
    if not sys.platform.startswith("linux"):
        raise OSError("classes are graded, and grading is measured, on Linux alone")
    measured = []
    for size in sizes:
        with _class_of(size) as folder:
            measured.append((size, *graded_by_command(folder / "in", folder / "out")))
    yield Table(
        "Classes of unit 04 on this machine",
        ("submissions", "seconds", "submissions/s", "ms more for each more", "peak memory, MB"),
        list(_rows(measured)),
    )
    if len(sizes) >= 3:
        yield from _bounds(measured)
    yield from _on_a_cluster(options.learners, options.workers)
    yield (
        "One machine ends where its cores do. From there on, a Dask cluster takes over: "
        "`python -m grader grade 04_retriever --submissions ../in --scheduler tcp://HOST:8786`, with `dask scheduler` "
        "on HOST and `dask worker tcp://HOST:8786 --nthreads 1` for each core of the other machines."
    )


Measured = tuple[int, float, int]  # submissions, seconds, bytes


def _rows(measured: Sequence[Measured]) -> Iterator[tuple]:
    for place, (size, seconds, peak) in enumerate(measured):
        more = 1000 * _each(measured[place - 1], measured[place]) if place else None
        yield size, seconds, size / seconds, more, peak / _MB


def _bounds(measured: Sequence[Measured]) -> Iterator[Bound]:
    """Of the largest class against the one before: a submission's seconds, without what the start takes."""
    first, before, last = measured[0], measured[-2], measured[-1]
    ratio = _each(first, last) / _each(first, before)
    name = f"seconds of a submission among {last[0]}, against {before[0]}"
    yield Bound(name, ratio, "at most", _MOST_GROWTH)
    yield Bound(f"peak memory for {last[0]}", last[2] / _MB, "at most", _MOST_MEMORY, "MB")


def _each(smaller: Measured, larger: Measured) -> float:
    return (larger[1] - smaller[1]) / (larger[0] - smaller[0])


def _on_a_cluster(learners: int, workers: Sequence[int]) -> Iterator[Result]:
    if not workers:
        return
    try:
        from distributed import LocalCluster
    except ImportError:
        yield "Without Dask, which is left out: pip install -e '.[bench]'"
        return
    rows = []
    for number in workers:
        with (
            _class_of(learners) as folder,
            LocalCluster(
                n_workers=number,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address=None,
                silence_logs=50,
            ) as cluster,
        ):
            where = ("--scheduler", cluster.scheduler_address)
            seconds, _ = graded_by_command(folder / "in", folder / "out", *where)
            rows.append((number, learners, seconds, learners / seconds))
    yield Table(
        "On a Dask cluster of workers on this machine",
        ("workers", "submissions", "seconds", "submissions/s"),
        rows,
    )


@contextlib.contextmanager
def _class_of(learners: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        write_class(Path(folder, "in"), learners, ())
        yield Path(folder)
