"""The executions of a class run on a Dask cluster: the same results, also where a worker is lost on the way."""

import contextlib
import os
import signal
import threading
import time

import pytest
from conftest import need
from sample_class import UNIT, hand_in, results, right, sandbox, with_line

from grader.__main__ import main
from grader.classroom.pools import cluster
from grader.classroom.run import grade

try:
    import distributed
except ImportError:
    distributed = None


def quiet(_line: str) -> None:
    """Where a run's lines are not of interest."""


@pytest.fixture(scope="module")
def workers():
    """A scheduler on loopback with two workers of one thread, each in a process of its own."""
    need(distributed, "the extra cluster: pip install -e '.[cluster]'")
    need(sandbox(), "a sandbox")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    ) as started:
        yield started


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("submissions")
    hand_in(folder, "amal", right())
    hand_in(folder, "bruno", {"retriever": right()["retriever"]})
    hand_in(folder, "emre", None)
    for number in range(3):
        hand_in(folder, f"slow {number}", with_line(f"import time; time.sleep(0.{number + 5})"))
    return folder


def test_a_worker_that_is_lost_loses_nothing_and_the_results_are_the_same(workers, submissions, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    assert grade(UNIT, submissions, here, seed=3, say=quiet) == 0
    (before, *_) = [worker.pid for worker in workers.workers.values()]

    def lose_one():
        until = time.monotonic() + 60
        while time.monotonic() < until and not list((there / "executed").glob("*.gz")):
            time.sleep(0.02)
        with contextlib.suppress(ProcessLookupError):
            os.kill(before, signal.SIGKILL)

    killer = threading.Thread(target=lose_one)
    killer.start()
    assert grade(UNIT, submissions, there, seed=3, scheduler=workers.scheduler_address, say=print) == 0
    killer.join()
    assert before not in [worker.pid for worker in workers.workers.values()], "one was lost"
    assert results(there) == results(here)


def test_a_worker_with_another_version_of_the_course_is_a_fault(
    workers, submissions, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("grader.classroom.pools.kept.sources", lambda: "another version")
    out = tmp_path / "out"
    assert grade(UNIT, submissions, out, scheduler=workers.scheduler_address, say=print) == 1
    said = capsys.readouterr()
    assert "fault: A worker has another version of the course" in said.out
    assert "amal" in said.err


def test_a_scheduler_that_does_not_answer_is_told(submissions, tmp_path, capsys, monkeypatch):
    need(distributed, "the extra cluster: pip install -e '.[cluster]'")
    monkeypatch.setattr("grader.classroom.pools._SECONDS_TO_CONNECT", 1)
    arguments = ["grade", UNIT, "--submissions", str(submissions), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--scheduler", "tcp://127.0.0.1:9"]) == 1
    error = capsys.readouterr().err
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in error and "Traceback" not in error


@pytest.mark.parametrize("address", ["", "nonsense://x", "127.0.0.1"])
def test_an_address_that_is_none_is_told(address, monkeypatch):
    from grader.classroom.pools import NoCluster

    need(distributed, "the extra cluster: pip install -e '.[cluster]'")
    monkeypatch.setattr("grader.classroom.pools._SECONDS_TO_CONNECT", 1)
    with pytest.raises(NoCluster, match="No Dask scheduler answers"), cluster(address or "tcp://127.0.0.1:0"):
        pass


def test_without_the_extra_it_says_how_to_get_it(submissions, tmp_path, capsys, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    arguments = ["grade", UNIT, "--submissions", str(submissions), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--scheduler", "tcp://127.0.0.1:9"]) == 1
    assert "pip install -e '.[cluster]'" in capsys.readouterr().err
