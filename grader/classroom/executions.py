"""Run a class's jobs in parallel, keep what is finished, and try once more, alone, what went wrong."""

from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait

from ..sandbox.execution import EngineFault, Execution, Job, NoSandbox
from .kept import Kept
from .pools import Pool

_AHEAD = 4  # jobs for each worker that wait or have ended: what one gives can be large


def run_all(
    jobs: Iterable[tuple[str, Job]], pool: Pool, engine: str, kept: Kept
) -> Iterator[tuple[str, Execution | EngineFault]]:
    """The execution of each key's job, as they finish; an EngineFault where the grader could not run it.

    A job that was stopped (by a limit, or by its own death) or met a fault runs again when no other does, and
    the second time counts. What is in ``kept`` is not run, and of equal keys one. Raises NoSandbox.
    """
    running: dict[Future, tuple[str, Job]] = {}
    again: dict[str, Job] = {}
    seen = set()
    for key, job in jobs:
        if key in seen:
            continue
        seen.add(key)
        if (before := kept.load(key)) is not None:
            yield key, before
        elif kept.load(_first(key)) is not None:
            again[key] = job
        else:
            running[pool.submit(job, engine)] = (key, job)
        enough = len(running) >= _AHEAD * pool.workers
        yield from _finished(running, again, kept, timeout=None if enough else 0)
    while running:
        yield from _finished(running, again, kept)
    for key, job in again.items():
        ended = _outcome(pool.submit(job, engine))
        if isinstance(ended, Execution):
            kept.save(key, ended)
        yield key, ended


def _finished(
    running: dict[Future, tuple[str, Job]], again: dict[str, Job], kept: Kept, timeout: float | None = None
) -> Iterator[tuple[str, Execution]]:
    """What has ended by now, or in ``timeout`` seconds; what is to run once more goes into ``again``."""
    for future in wait(running, timeout, FIRST_COMPLETED).done:
        key, job = running.pop(future)
        ended = _outcome(future)
        if isinstance(ended, EngineFault):
            again[key] = job
        elif ended.stopped:
            kept.save(_first(key), ended)
            again[key] = job
        else:
            kept.save(key, ended)
            yield key, ended


def _first(key: str) -> str:
    """Where the first of two tries is kept: that it was stopped is all that matters of it."""
    return f"{key}.first"


def _outcome(future: Future) -> Execution | EngineFault:
    try:
        ended = future.result()
        if isinstance(ended, NoSandbox):
            raise ended
        return ended
    except NoSandbox:
        raise
    except EngineFault as fault:
        return fault
    # Whatever else goes wrong in an engine, or on the way here, is the grader's and costs nobody a point.
    except Exception as error:
        return EngineFault(f"{type(error).__name__}: {error}")
