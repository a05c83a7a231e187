"""Where the executions of a class run take place: in threads here, or on the workers of a Dask cluster."""

import contextlib
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from ..sandbox.execution import EngineFault, Execution, Job
from . import kept

_SECONDS_TO_CONNECT = 10
_SECONDS_OF_A_TURN = 0.0005
# Bytes of memory: what a class run uses at most where nobody says how many jobs; and what of it the grader takes, and a
# warm parent besides its notebook.
_MOST_MEMORY = 2_000_000_000
_OF_GRADER, _OF_WARM_PARENT = 300_000_000, 160_000_000


class NoCluster(RuntimeError):
    """There is no cluster to be reached; the message says what to do."""


class Pool:
    """An Executor that runs jobs. ``ready`` starts the sandboxes of ``unit`` before the first job is there."""

    def __init__(self, executor: Executor, workers: int, sources: str = "") -> None:
        self._executor, self.workers, self._sources = executor, workers, sources
        self._running: set[Future] = set()

    def submit(self, job: Job, engine: str) -> Future:
        if self._sources:
            future = self._executor.submit(_execute_there, job, engine, self._sources)
        else:
            future = self._executor.submit(_execute, job, engine)
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        return future

    def ready(self, unit: str, engine: str, hash_seed: int) -> list[Future]:
        return [self.submit(Job(unit, cells=("",), hash_seed=hash_seed), engine) for _ in range(self.workers)]

    def abandon(self) -> None:
        """End what is running here, now: a cell may have minutes left, so its sandbox is ended first."""
        from ..sandbox.engines import close_runners

        self._executor.shutdown(wait=False, cancel_futures=True)
        # An engine whose sandbox ends under it tries once more.
        while running := list(self._running):
            with contextlib.suppress(RuntimeError):  # a thread may be starting a sandbox just now
                close_runners()
            wait(running, timeout=0.1)


def usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usual_jobs(memory: int) -> int:
    """As many as there are cores, and as stay within 2 GB should every notebook use all its ``memory`` at once."""
    within = (_MOST_MEMORY - _OF_GRADER) // (memory + _OF_WARM_PARENT)
    return max(1, min(usable_cores(), within))


@contextmanager
def local(jobs: int) -> Iterator[Pool]:
    """Threads, each of which drives a sandbox of its own; ``jobs`` of them."""
    from ..sandbox.engines import close_runners

    executor = ThreadPoolExecutor(jobs, thread_name_prefix="grading")
    pool = Pool(executor, jobs)
    before = sys.getswitchinterval()
    # A sandbox waits for its next cell while this process judges another notebook.
    sys.setswitchinterval(_SECONDS_OF_A_TURN)
    try:
        yield pool
    except BaseException:
        pool.abandon()
        raise
    finally:
        executor.shutdown(wait=True, cancel_futures=True)
        close_runners()
        sys.setswitchinterval(before)


@contextmanager
def cluster(address: str) -> Iterator[Pool]:
    """The workers of the Dask scheduler at ``address``, such as tcp://127.0.0.1:8786.

    A job whose worker is lost runs on another one. Raises NoCluster where Dask is not installed, no scheduler
    answers, or it has no worker.
    """
    try:
        from distributed import Client
    except ImportError:
        raise NoCluster(
            "--scheduler needs Dask. Install it with: pip install -e '.[cluster]' (here and on the workers)."
        ) from None
    try:
        client = Client(address, timeout=_SECONDS_TO_CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise NoCluster(
            f"No Dask scheduler answers at {address}. Start one with `dask scheduler` and workers with "
            f"`dask worker {address}`."
        ) from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise NoCluster(f"The scheduler at {address} has no worker. Add one: `dask worker {address}`.")
        # Two learners' jobs may be equal, and a second try equals the first: each is to run.
        executor = client.get_executor(pure=False)
        try:
            yield Pool(executor, threads, kept.sources())
        finally:
            executor.shutdown(wait=False)
            client.run(_close_there)


def _execute(job: Job, engine: str) -> Execution:
    from ..sandbox.engines import execute

    return execute(job, engine)


def _execute_there(job: Job, engine: str, sources: str) -> Execution | EngineFault:
    """On a worker, which must have the same course installed. A fault is returned: Dask prints what is raised."""
    if kept.sources() != sources:
        return EngineFault(
            "A worker has another version of the course than this machine. Install the same one on both."
        )
    try:
        return _execute(job, engine)
    except EngineFault as fault:
        return fault


def _close_there() -> None:
    from ..sandbox.engines import close_runners

    close_runners()
