"""What counts as a notebook's memory, and what does not."""

import contextlib
import os
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from conftest import need
from sandboxes import LIMITS, cold_runner, run, text

from grader.sandbox import confinement, memory
from grader.sandbox.channel import Channel
from grader.sandbox.fork_engine import ForkRunner

SMALL = replace(LIMITS, memory=200_000_000)
MANY_FILES = """
for folder in ("/tmp", "/dev/shm", "/notebook"):
    for number in range(3):
        with open(f"{folder}/{number}", "wb") as file:
            written = file.write(bytes(15_000_000))
import time
time.sleep(1)
"written"
"""
SHARED_BY_CHILDREN = """
import os, time
held = bytearray(b"x") * 100_000_000
for child in range(5):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
time.sleep(1)
"shared"
"""
# The new process waits for a writer before its program starts, and until then has its parent's very memory.
ABOUT_TO_START = """
import os, subprocess, sys
held = bytearray(b"x") * 90_000_000
os.mkfifo("/tmp/pipe")
subprocess.Popen(["sh", "-c", "sleep 1.5; : > /tmp/pipe"])
waits = [(os.POSIX_SPAWN_OPEN, 0, "/tmp/pipe", os.O_RDONLY, 0)]
os.waitpid(os.posix_spawn("/bin/true", ["true"], {}, file_actions=waits), 0)[1]
"""
GROWS_IN_CHILDREN = """
import os, time
for child in range(4):
    if os.fork() == 0:
        held = bytearray(b"x") * 60_000_000
        time.sleep(60)
        os._exit(0)
time.sleep(3)
"got it"
"""

CHILDREN_OF_CHILDREN = """
import os
held = []
while True:
    os.fork()
    held.append(bytearray(b"x") * 5_000_000)
"""


@pytest.fixture(scope="module")
def runner() -> Iterator[ForkRunner]:
    need(not confinement.why_not(), "a sandbox")
    with cold_runner() as one:
        yield one


def stopped(runner: ForkRunner, code: str, **limits: int) -> str:
    (cell,) = run(runner, code, limits=replace(SMALL, **limits)).cells
    return cell.stopped


def test_files_in_private_folders_count(runner):
    assert stopped(runner, MANY_FILES, memory=120_000_000) == "memory"
    assert stopped(runner, MANY_FILES, memory=300_000_000) == ""


def test_files_in_private_folders_do_not_count_unless_somebody_looks(runner, monkeypatch):
    monkeypatch.setattr(memory, "PRIVATE_FOLDERS", ())
    assert stopped(runner, MANY_FILES, memory=120_000_000) == ""


def test_memory_of_children_counts(runner):
    assert stopped(runner, GROWS_IN_CHILDREN) == "memory"


def test_what_processes_share_counts_once(runner):
    (cell,) = run(runner, SHARED_BY_CHILDREN, limits=SMALL).cells
    assert (cell.stopped, text(cell)) == ("", "'shared'")


def test_a_process_about_to_start_another_program_counts_once(runner, monkeypatch):
    need(memory._KCMP, "a processor whose system call for this is known")
    (cell,) = run(runner, ABOUT_TO_START, limits=SMALL).cells
    assert (cell.stopped, text(cell)) == ("", "0")
    monkeypatch.setattr(memory, "_is_parents", lambda process: False)
    assert stopped(runner, ABOUT_TO_START) == "memory"


def test_all_processes_stand_still_while_they_are_counted(runner, monkeypatch):
    def counted(entry: str) -> int:
        inside = memory._inside(os.readlink(f"/proc/{entry}/ns/pid"))
        seen.append((len(inside), all(map(memory._stands, inside))))
        return proportional(entry)

    seen: list[tuple[int, bool]] = []
    proportional = memory._proportional
    monkeypatch.setattr(memory, "_proportional", counted)
    assert stopped(runner, CHILDREN_OF_CHILDREN) == "memory"
    assert max(number for number, _ in seen) > 4
    assert all(still for _, still in seen)


def test_memory_is_watched_also_while_the_notebook_does_not_read():
    def watch() -> float:
        looks.append(1)
        if len(looks) == 3:
            raise MemoryError
        return 0.01

    looks: list[int] = []
    ours, theirs = socket.socketpair()
    with theirs, contextlib.closing(Channel(ours, watch)) as channel, pytest.raises(MemoryError):
        channel.send({"source": "x" * 10_000_000}, 20)


def test_what_is_gone_uses_nothing():
    assert memory.memory_in_use(2**22 + 1) == 0


def test_the_nearer_the_limit_the_sooner_the_next_look():
    assert memory.next_look(0, 10**10) == 0.2
    assert memory.next_look(400_000_000, 500_000_000) == 0.02
    assert memory.next_look(499_999_999, 500_000_000) == 0.01
