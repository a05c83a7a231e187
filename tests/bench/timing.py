"""Time several ways to do one thing in turn, so that a busy moment of the machine meets all of them."""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from itertools import count


def in_turn(
    ways: Mapping[str, Callable[[], object]], seconds: float, rounds: int = 3
) -> dict[str, list[float]]:
    """The seconds of each call, by way: round after round, each way once a round, after one call of each unmeasured.

    There are at least ``rounds``, and more while fewer than ``seconds`` have passed in all.
    """
    for way in ways.values():
        way()
    times: dict[str, list[float]] = {name: [] for name in ways}
    began = time.perf_counter()
    for number in count():
        if number >= rounds and time.perf_counter() - began >= seconds:
            return times
        for name, way in ways.items():
            times[name].append(timed(way))
    raise AssertionError


def medians(times: Mapping[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(taken) for name, taken in times.items()}


def timed(action: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def ratio(times: Mapping[str, list[float]], one: str, *others: str) -> float:
    """How many times as long ``one`` takes as the fastest of the others: the median over the rounds.

    Within a round both met the same machine, so that the ratio moves less than either of its times.
    """
    rounds = zip(times[one], *(times[other] for other in others), strict=True)
    return statistics.median(mine / min(theirs) for mine, *theirs in rounds)


def with_blas_threads(threads: int, module: str, *arguments: str) -> str:
    """What ``python -m module`` prints in a process whose BLAS has so many threads: they are set before numpy loads."""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | dict.fromkeys(names, str(threads)),
        stdout=subprocess.PIPE,
        text=True,
    )
    if done.returncode:
        raise OSError(f"{module} ended with {done.returncode}")
    return done.stdout


def held_memory() -> int:
    """The bytes that this process alone holds; on Linux what it has freed is given back to the system first."""
    import ctypes
    import gc

    import psutil

    gc.collect()
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).malloc_trim(0)
    return psutil.Process().memory_full_info().uss
