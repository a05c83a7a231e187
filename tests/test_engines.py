"""execute() runs a notebook from any thread or process, and keeps, replaces and ends its sandboxes."""

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest
from conftest import ROOT, need
from sandboxes import LIMITS, UNIT, text

from grader.sandbox import confinement, engines, fork_engine, warm
from grader.sandbox.execution import EngineFault, Execution, Job, NoSandbox


@pytest.fixture(autouse=True)
def cold(monkeypatch) -> Iterator[None]:
    """Sandboxes that start quickly, and none that stays."""
    monkeypatch.setattr(warm, "imports", lambda unit: [])
    monkeypatch.setattr(warm, "lines", lambda unit: [])
    yield
    engines.close_runners()


@pytest.fixture
def sandbox() -> None:
    need(not confinement.why_not(), "a sandbox")


def job(*cells: str, **changes) -> Job:
    return Job(**{"unit": UNIT, "cells": cells, "limits": LIMITS, **changes})


class Recorded:
    """A runner that only notes what is asked of it."""

    made: list["Recorded"] = []

    def __init__(self, unit: str, hash_seed: int = 0, **options) -> None:
        self.of = (unit, hash_seed, *options.values())
        self.closed = 0
        self.faults = 0
        self.made.append(self)

    def run(self, job: Job) -> Execution:
        if self.faults:
            raise EngineFault("broken")
        return Execution((), "fork")

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def recorded(monkeypatch) -> list[Recorded]:
    monkeypatch.setattr(fork_engine, "ForkRunner", Recorded)
    Recorded.made.clear()
    return Recorded.made


def test_a_runner_serves_all_notebooks_of_a_unit_and_a_seed(recorded):
    for _ in range(3):
        engines.execute(job())
    assert [one.of for one in recorded] == [(UNIT, 0)]


def test_at_most_two_runners_of_a_thread_are_kept(recorded):
    for seed in (1, 2, 1, 3, 1):
        engines.execute(job(hash_seed=seed))
    assert [(one.of[1], one.closed) for one in recorded] == [(1, 0), (2, 1), (3, 0)]
    engines.close_runners()
    assert [one.closed for one in recorded] == [1, 1, 1]


def test_a_runner_that_broke_is_replaced_and_the_notebook_runs(recorded):
    engines.execute(job())
    recorded[0].faults = 1
    assert engines.execute(job()).engine == "fork"
    assert [one.closed for one in recorded] == [1, 0]


def test_a_second_fault_is_raised(monkeypatch):
    def broken(unit, hash_seed):
        raise EngineFault("always broken")

    monkeypatch.setattr(fork_engine, "ForkRunner", broken)
    with pytest.raises(EngineFault, match="always broken"):
        engines.execute(job())


def test_an_unknown_engine_is_refused():
    with pytest.raises(ValueError, match="no engine 'docker'. The engines are: fork, kernel, none"):
        engines.execute(job(), engine="docker")


def test_where_no_sandbox_can_run_the_sentence_says_why(monkeypatch):
    monkeypatch.setattr(confinement, "why_not", lambda: "The program bubblewrap is missing.")
    with pytest.raises(NoSandbox, match="bubblewrap is missing"):
        engines.execute(job("1"))


def test_threads_run_notebooks_side_by_side(sandbox):
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(engines.execute, [job(f"{number} + 1") for number in range(6)]))
    assert [text(one.cells[0]) for one in results] == [str(number + 1) for number in range(6)]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_run_notebooks_and_leave_no_folder(method, sandbox, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    engines.execute(job("'kept by the one who forks'"))
    kept = set(tmp_path.iterdir())
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
        assert text(pool.submit(engines.execute, job("1 + 1")).result().cells[0]) == "2"
    assert set(tmp_path.iterdir()) == kept
    assert text(engines.execute(job("2 + 2")).cells[0]) == "4"


def test_a_job_and_an_execution_can_be_sent_elsewhere(sandbox):
    sent = pickle.loads(pickle.dumps(job("'hi'", questions={"a": [{"k": 1}]}, files={"a.md": b"x"})))
    execution = engines.execute(sent)
    assert pickle.loads(pickle.dumps(execution)) == execution


def test_a_warm_parent_that_was_killed_is_replaced(sandbox):
    engines.execute(job("1"))
    (runner,) = engines._kept.runners.values()
    os.kill(runner._process.pid, signal.SIGKILL)
    runner._process.wait()
    assert text(engines.execute(job("2")).cells[0]) == "2"


def test_a_sandbox_ends_with_its_thread(sandbox):
    found = []

    def work() -> None:
        engines.execute(job("1"))
        found.extend(engines._kept.runners.values())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found[0]._process.wait(10) != 0
    engines.close_runners()
    assert not found[0]._scratch.path.exists()


def test_what_the_warm_parent_says_is_in_the_fault(sandbox, monkeypatch):
    monkeypatch.setattr(
        warm,
        "lines",
        lambda unit: ["import threading, time; threading.Thread(target=time.sleep, args=(9,)).start()"],
    )
    with pytest.raises(EngineFault, match="2 threads: a process with threads cannot fork safely"):
        fork_engine.ForkRunner(UNIT)


def test_a_folder_that_a_killed_grader_left_is_removed_by_the_next(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
    make = "from grader.sandbox.scratch import Scratch; one = Scratch(); print(one.path.name, flush=True); "
    end = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"

    def grader(code: str) -> subprocess.Popen[str]:
        argv = [sys.executable, "-c", make + code]
        return subprocess.Popen(
            argv, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    with grader("input()") as living:
        kept = living.stdout.readline().strip()
        with grader(end) as killed:
            left = killed.stdout.readline().strip()
        assert {one.name for one in tmp_path.iterdir()} == {kept, left}
        with grader("one.remove()") as another:
            another.communicate()
        assert {one.name for one in tmp_path.iterdir()} == {kept}
        living.communicate("\n")


def test_a_runner_that_another_thread_closes_ends_what_it_runs(sandbox):
    results: list[object] = []

    def work() -> None:
        with pytest.raises(EngineFault), fork_engine.ForkRunner(UNIT) as runner:
            results.append(runner)
            results.append(
                runner.run(job("import time; time.sleep(60)", limits=replace(LIMITS, cell_seconds=60)))
            )
            runner.run(job("1"))

    thread = threading.Thread(target=work)
    thread.start()
    while not results:
        time.sleep(0.05)
    time.sleep(0.5)
    results[0].close()
    thread.join(10)
    assert not thread.is_alive()


def test_a_closed_runner_runs_nothing_and_closes_twice(sandbox):
    runner = fork_engine.ForkRunner(UNIT)
    folder = runner._scratch.path
    runner.close()
    runner.close()
    assert not folder.exists()
    with pytest.raises(EngineFault, match="closed"):
        runner.run(job("1"))


def test_sandboxes_that_start_side_by_side_do_so_on_different_processors(sandbox, monkeypatch):
    given = []
    send = fork_engine.ForkRunner._warm_up

    def warm_up(runner):
        given.append(next(fork_engine._places))
        send(runner)

    monkeypatch.setattr(fork_engine.ForkRunner, "_warm_up", warm_up)
    for _ in range(2):
        fork_engine.ForkRunner(UNIT).close()
    assert given[1] - given[0] == 2, "a sandbox that starts takes no place of its own"


@pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity"), reason="processes cannot be bound to a processor here"
)
def test_a_place_is_one_processor_and_the_next_place_the_next():
    from grader.sandbox.inside.warm_parent import _one_processor

    allowed = sorted(os.sched_getaffinity(0))
    used = []
    for place in range(len(allowed) + 1):
        with _one_processor(place):
            used.append(os.sched_getaffinity(0))
    assert used == [{number} for number in (*allowed, allowed[0])]
    assert os.sched_getaffinity(0) == set(allowed)
