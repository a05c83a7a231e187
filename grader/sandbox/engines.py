"""Run a notebook on an engine by its name: the one function that grading calls.

It is a plain function of plain data, so any concurrent.futures Executor can call it, in threads, in processes
or on other machines. Each thread keeps the sandboxes it has warmed up for the next call.
"""

import contextlib
import os
import threading
from collections import OrderedDict
from multiprocessing.util import Finalize
from typing import Protocol

from .execution import EngineFault, Execution, Job, NoSandbox

ENGINES = ("fork", "kernel", "none")  # "none" runs a real kernel without a sandbox
_MOST_KEPT = 2  # runners a thread keeps: each holds a warm process


class Runner(Protocol):
    """A sandbox for notebooks of one unit."""

    def run(self, job: Job) -> Execution: ...

    def close(self) -> None: ...


_Key = tuple[str, str, int]  # engine, unit, hash_seed


class _Kept(threading.local):
    """The runners of one thread, the last used at the end."""

    def __init__(self) -> None:
        self.runners: OrderedDict[_Key, Runner] = OrderedDict()
        with _lock:
            _all.append(self.runners)


_lock = threading.Lock()
_all: list[OrderedDict[_Key, Runner]] = []
_kept = _Kept()
_inherited: list[object] = []


def execute(job: Job, engine: str = "fork") -> Execution:
    """Run a notebook; whatever its code does is a result. ``engine`` is one of ENGINES.

    Raises NoSandbox where this machine has none (never for "none"), EngineFault where the grader failed twice
    at running it, and ValueError for another engine.
    """
    if engine not in ENGINES:
        raise ValueError(f"There is no engine {engine!r}. The engines are: {', '.join(ENGINES)}.")
    key = (engine, job.unit, job.hash_seed)
    try:
        return _runner(key).run(job)
    except NoSandbox:
        raise
    except EngineFault:
        _drop(key)
    try:
        return _runner(key).run(job)
    except EngineFault:
        _drop(key)
        raise


def close_runners() -> None:
    """End the sandboxes that are kept, of all threads. Call it when nothing is running."""
    with _lock:
        runners = [runner for kept in _all for runner in kept.values()]
        for kept in _all:
            kept.clear()
    for runner in runners:
        runner.close()


def _runner(key: _Key) -> Runner:
    runners = _kept.runners
    if key not in runners:
        while len(runners) >= _MOST_KEPT:
            _, oldest = runners.popitem(last=False)
            oldest.close()
        runners[key] = _new_runner(*key)
    runners.move_to_end(key)
    return runners[key]


def _drop(key: _Key) -> None:
    if runner := _kept.runners.pop(key, None):
        with contextlib.suppress(OSError):
            runner.close()


def _new_runner(engine: str, unit: str, hash_seed: int) -> Runner:
    if engine == "fork":
        from .fork_engine import ForkRunner

        return ForkRunner(unit, hash_seed)
    from .kernel_engine import KernelRunner

    return KernelRunner(unit, hash_seed, sandbox=engine == "kernel")


def _leave_to_maker() -> None:
    """In a forked process: the runners belong to the one that made them."""
    global _lock, _all, _kept
    _inherited.extend(_all)  # kept alive, so that nothing of theirs is tidied away
    _lock, _all = threading.Lock(), []
    _kept = _Kept()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_maker)
# Runs at the end of this process, and of each worker process of a pool, which atexit does not.
Finalize(None, close_runners, exitpriority=10)
