"""Running a class's jobs: what is kept is not run, and what went wrong is tried once more, alone."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from grader.classroom.executions import run_all
from grader.classroom.kept import Kept
from grader.classroom.pools import Pool
from grader.sandbox.execution import CellResult, EngineFault, Execution, Job, NoSandbox


def ended(text: str, stopped: str = "") -> Execution:
    return Execution(
        (CellResult([{"output_type": "stream", "name": "stdout", "text": text}], 1, stopped),), "fork"
    )


class Engine:
    """Gives each job, known by its cell, the outcomes it is told, one a try; and sees what runs beside it."""

    def __init__(self, monkeypatch, **outcomes):
        self.outcomes = {name: list(several) for name, several in outcomes.items()}
        self.tried: list[str] = []
        self.beside: list[int] = []
        self._running, self._lock = 0, threading.Lock()
        monkeypatch.setattr("grader.sandbox.engines.execute", self.execute)

    def execute(self, job, engine):
        (name,) = job.cells
        with self._lock:
            self._running += 1
            self.tried.append(name)
            self.beside.append(self._running)
            outcome = self.outcomes[name].pop(0)
        threading.Event().wait(0.02)
        with self._lock:
            self._running -= 1
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path, {"seed": 1})


def run(kept, names, workers=4):
    jobs = [(kept.key(job, "fork"), job) for job in (Job("04_retriever", (name,)) for name in names)]
    with ThreadPoolExecutor(workers) as executor:
        found = dict(run_all(jobs, Pool(executor, workers), "fork", kept))
    return {job.cells[0]: found.get(key) for key, job in jobs}


def test_every_job_runs_once_and_equal_ones_together(kept, monkeypatch):
    engine = Engine(monkeypatch, a=[ended("a")], b=[ended("b")])
    assert run(kept, ["a", "b", "a"]) == {"a": ended("a"), "b": ended("b")}
    assert sorted(engine.tried) == ["a", "b"]


def test_what_is_kept_is_not_run_again(kept, monkeypatch):
    Engine(monkeypatch, a=[ended("a")])
    run(kept, ["a"])
    engine = Engine(monkeypatch, b=[ended("b")])
    assert run(kept, ["a", "b"]) == {"a": ended("a"), "b": ended("b")}
    assert engine.tried == ["b"]


@pytest.mark.parametrize("stopped", ["time", "memory", "died", "flood"])
def test_what_was_stopped_runs_once_more_alone_and_then_counts(kept, monkeypatch, stopped):
    others = {name: [ended(name)] for name in "bcdef"}
    engine = Engine(monkeypatch, a=[ended("", stopped), ended("", stopped)], **others)
    assert run(kept, "abcdef")["a"] == ended("", stopped)
    assert engine.tried.count("a") == 2
    assert engine.tried[-1] == "a" and engine.beside[-1] == 1
    assert max(engine.beside) > 1, "the others ran in parallel"


def test_a_second_try_that_ends_well_counts(kept, monkeypatch):
    Engine(monkeypatch, a=[ended("", "time"), ended("a")])
    assert run(kept, ["a"]) == {"a": ended("a")}


def test_of_two_tries_the_first_is_not_repeated_after_a_kill(kept, monkeypatch):
    job = Job("04_retriever", ("a",))
    kept.save(f"{kept.key(job, 'fork')}.first", ended("", "time"))
    engine = Engine(monkeypatch, a=[ended("a")])
    assert run(kept, ["a"]) == {"a": ended("a")}
    assert engine.tried == ["a"]


def test_a_fault_is_tried_again_and_then_is_the_graders(kept, monkeypatch):
    faults = [EngineFault("no space"), EngineFault("still none")]
    engine = Engine(monkeypatch, a=faults, b=[ended("b")], c=[ValueError("a bug"), ended("c")])
    found = run(kept, "abc")
    assert str(found["a"]) == "still none"
    assert (found["b"], found["c"]) == (ended("b"), ended("c"))
    assert engine.tried.count("a") == 2
    assert kept.load(kept.key(Job("04_retriever", ("a",)), "fork")) is None


def test_a_bug_of_an_engine_is_a_fault_and_no_zero(kept, monkeypatch):
    Engine(monkeypatch, a=[KeyError("x"), KeyError("x")])
    assert isinstance(run(kept, ["a"])["a"], EngineFault)


def test_a_missing_sandbox_stops_everything(kept, monkeypatch):
    Engine(monkeypatch, a=[NoSandbox("install bubblewrap")])
    with pytest.raises(NoSandbox, match="install bubblewrap"):
        run(kept, ["a"])


@pytest.mark.parametrize(
    "change",
    [
        {"unit": "05_tuning"},
        {"cells": ("b",)},
        {"questions": {"retriever": [{"k": 2}]}},
        {"files": {"notes.md": b"two"}},
        {"hash_seed": 1},
        {"random_seed": 1},
        {"limits": replace(Job("", ()).limits, cell_seconds=1)},
    ],
)
def test_whatever_of_a_job_changes_is_run_anew(kept, change):
    job = Job("04_retriever", ("a",), {"retriever": [{"k": 1}]}, {"notes.md": b"one"})
    assert kept.key(replace(job, **change), "fork") != kept.key(job, "fork")
    assert kept.key(job, "kernel") != kept.key(job, "fork")


def test_another_context_is_run_anew(tmp_path):
    job = Job("04_retriever", ("a",))
    keys = {
        Kept(tmp_path, {"seed": seed, "sources": sources}).key(job, "fork")
        for seed in (1, 2)
        for sources in "xy"
    }
    assert len(keys) == 4


@pytest.mark.parametrize("damage", [b"", b"x", b"\x1f\x8b cut short"])
def test_a_damaged_file_is_as_good_as_none(kept, tmp_path, damage):
    kept.save("name", ended("a"))
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    assert kept.load("name") == ended("a")
    for content in (damage, whole[: len(whole) // 2], whole[:-1]):
        path.write_bytes(content)
        assert kept.load("name") is None


def test_what_no_run_asks_for_is_forgotten(kept, tmp_path):
    kept.save("asked", ended("a"))
    later = Kept(tmp_path, {"seed": 1})
    later.save("other", ended("b"))
    later.save("other.first", ended("", "time"))
    later.prune()
    assert len(list(tmp_path.iterdir())) == 1
    assert later.load("other") == ended("b")
    assert later.load("asked") is None
