"""Each layer of the sandbox stops the attacks on it. test_sandbox_weakened.py shows that it is this layer."""

import socket
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from attacks import ATTACKS, DETACH, FIND, LEAVE, NAMES, SIGNAL, addressed, alive
from conftest import need
from sandboxes import LIMITS, cold_runner, listening, run, text

from grader.sandbox import confinement, fork_engine


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with listening() as server:
        yield server


@pytest.fixture(scope="module")
def runner() -> Iterator[fork_engine.ForkRunner]:
    need(not confinement.why_not(), "a sandbox")
    with cold_runner() as one:
        yield one


@pytest.fixture(autouse=True)
def secret(monkeypatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "a secret")


@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
def test_an_attack_is_stopped_and_the_next_notebook_runs(attack, runner, listener):
    execution = run(runner, addressed(attack.code, listener))
    assert text(execution.cells[0]).strip().startswith(attack.stopped)
    assert text(run(runner, "'next'").cells[0]) == "'next'"


# Attacks of several steps ---------------------------------------------------------------------------------


def test_a_file_that_one_notebook_leaves_is_not_there_for_the_next(runner):
    run(runner, LEAVE)
    assert text(run(runner, FIND).cells[0]) == "[]"


def test_a_process_left_behind_is_dead_when_the_notebook_has_run(runner):
    assert text(run(runner, DETACH.replace("MARK", "'left by the strong'")).cells[0]) == "True"
    assert not alive("left by the strong")


def test_signals_reach_no_process_but_the_notebooks_own(runner):
    run(runner, SIGNAL)
    assert text(run(runner, "'next'").cells[0]) == "'next'"


CHANNEL = "from course_sandbox.shell import wire\nchannel = wire._sender\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"x" * 100_000,
        b"{}\n",
        b'{"output": {"output_type": "stream", "name": "stdout", "text": "x"}}\n',
    ],
    ids=["a line without end", "messages without end", "outputs without end"],
)
def test_a_flood_of_messages_ends_the_notebook(sent, runner):
    execution = run(runner, "'before'", CHANNEL + f"while True: channel.sendall({sent!r})", "'after'")
    assert [cell.stopped for cell in execution.cells] == ["", "flood", "not run"]
    assert text(execution.cells[0]) == "'before'"


@pytest.mark.parametrize(
    "message",
    [
        b"no JSON\n",
        b"[1]\n",
        b'{"output": NaN}\n',
        b'{"output": {"output_type": "display_data", "data": {"application/json": 1e999}}}\n',
        b"[" * 100_000 + b"\n",
        b'{"output": {"output_type": "stream", "text": 7}}\n',
        b'{"done": -1, "output": {"output_type": ["stream"]}}\n',
        b'{"clear": [], "output": 1}\n{"display_id": {}, "update": true}\n',
    ],
)
def test_a_forged_message_harms_nobody(message, runner):
    execution = run(runner, CHANNEL + f"channel.sendall({message!r})", "1 + 1", "2 + 2")
    assert not execution.stopped
    assert len(execution.cells) == 3
    assert text(run(runner, "'next'").cells[0]) == "'next'"


def test_nothing_inside_holds_a_reference_or_a_solution(runner):
    look = """
import gc, os, sys
from pathlib import Path

sources = [path for top in ("/course", "/engine") for path in Path(top).rglob("*") if path.is_file()]
assert len(sources) > 30
print([str(path) for path in sources if path.parent.name == "reference" or "misconceptions" in str(path)])
print([str(path) for path in sources if b"class Retriever" in path.read_bytes()])
print([name for name in sys.modules if name.startswith(("misconceptions", "hybrid_search.retriever"))])
held = [one for one in gc.get_objects() if isinstance(one, dict) and "expected" in one]
print([one for one in held if "misconceptions" in one])
print([name for name in os.environ if "PROJECT" in name or "KEY" in name])
"""
    assert text(run(runner, look).cells[0]).split() == ["[]"] * 5


def test_a_notebook_sees_only_its_own_processes(runner):
    listed = run(runner, "import os\n[name for name in os.listdir('/proc') if name.isdecimal()]")
    assert text(listed.cells[0]) == "['1']"


def test_a_loop_that_ignores_interrupts_is_killed_after_the_grace(runner, monkeypatch):
    monkeypatch.setattr(fork_engine, "_GRACE", 0.3)
    ignore = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
    start = time.monotonic()
    limits = replace(LIMITS, cell_seconds=0.5)
    execution = run(runner, "'before'", ignore, "'after'", limits=limits)
    assert [cell.stopped for cell in execution.cells] == ["", "time", "not run"]
    assert time.monotonic() - start < 5


def test_the_notebooks_time_counts_all_cells(runner):
    limits = replace(LIMITS, notebook_seconds=1.5)
    execution = run(runner, *["import time; time.sleep(0.6)"] * 5, limits=limits)
    assert [cell.stopped for cell in execution.cells][-1] == "not run"
    assert execution.stopped == "time"
    assert execution.seconds < 4
