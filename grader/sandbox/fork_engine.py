"""The fast engine: a warm parent in a sandbox, and a forked child of it, locked in again, for each notebook.

The grader holds every clock and every limit. It sends a cell when the one before is done, interrupts it when
its time is up, and kills the process where that does not help, and with it everything that it started.
"""

import base64
import contextlib
import itertools
import json
import os
import select
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..asked import QUESTIONS_VARIABLE
from ..revealed import stage
from . import seccomp, warm
from .channel import Channel, Ended, TimeUp, TooLong
from .collected import Collected, why_stopped
from .confinement import COURSE, Mount, command, environment, need_parts, need_sandbox, python
from .execution import CellResult, EngineFault, Execution, Job, Stopped
from .limits import Limits
from .memory import memory_in_use, next_look
from .outputs import BadOutput, clean_count, parse
from .scratch import Scratch

_INSIDE = Path(__file__).with_name("inside")
_ENGINE = "/engine"
_PACKAGE = "course_sandbox"
_SECONDS_TO_START = 120.0
_SECONDS_TO_LOCK_IN = 30.0
_GRACE = 2.0  # seconds for a cell to stop after it was interrupted
_LOAD = b"L"  # as in inside/warm_parent.py
_places = itertools.count()  # those that start side by side do so on different processors
_DISK_OF_PARENT = 20_000_000
# What ends a notebook: more than honest code can send, as inside/wire.py cuts it.
_MOST_OF_CELL = 16  # times the limit on a cell's output, in bytes
_MOST_OF_NOTEBOOK = 80
_MOST_MESSAGES = 40  # of a cell, times the limit on its outputs


class ForkRunner:
    """Runs notebooks of one unit, one at a time. Not for several threads; ends with the thread it was made in.

    Raises NoSandbox where no sandbox can run, EngineFault where the warm parent does not start.
    """

    def __init__(self, unit: str, hash_seed: int = 0) -> None:
        need_parts()
        self.unit = unit
        self.broken = False
        self._owner = os.getpid()
        self._loaded = False
        try:
            self._scratch = Scratch()
            self._said = tempfile.TemporaryFile()  # noqa: SIM115 - what the warm parent says on stderr
            self._control, theirs = socket.socketpair()
        except OSError as problem:
            raise EngineFault(f"The sandbox could not be prepared: {problem}.") from problem
        try:
            with theirs:
                self._process = self._started(theirs, hash_seed)
            self._warm_up()
        except OSError as problem:
            self.close()
            raise EngineFault(f"The sandbox could not be prepared: {problem}.") from problem
        except BaseException:
            self.close()
            raise

    def run(self, job: Job) -> Execution:
        """Run a notebook. Whatever it does is a result; EngineFault is a fault of ours."""
        try:
            return self._run(job)
        except OSError as problem:
            self.broken = True
            raise EngineFault(f"The sandbox failed: {problem}.") from problem

    def _run(self, job: Job) -> Execution:
        start = time.monotonic()
        end, theirs = socket.socketpair()
        with end:
            with theirs:
                notebook = self._isolated(end, theirs)
            with contextlib.closing(_Notebook(notebook, end, job, start)) as running:
                try:
                    running.prepare()
                except (Ended, TimeUp, TooLong, BadOutput) as problem:
                    raise self._fault("a notebook's process could not lock itself in") from problem
                except _TooMuchMemory as problem:
                    raise self._fault("an empty notebook uses more memory than the limit allows") from problem
                cells = tuple(running.results())
        if running.loaded and not self._loaded:
            self._control.sendall(_LOAD)  # before the next notebook: one that embeds texts is seldom alone
            self._loaded = True
        return Execution(cells, "fork", time.monotonic() - start)

    def close(self) -> None:
        """End the warm parent, and with it everything in its sandbox. No more than once, and by its maker."""
        if os.getpid() != self._owner or self._said.closed:
            return
        self.broken = True
        self._control.close()  # it leaves when nobody can send it a notebook
        if process := getattr(self, "_process", None):
            try:
                process.wait(2)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._said.close()
        self._scratch.remove()

    def __enter__(self) -> "ForkRunner":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self, theirs: socket.socket, hash_seed: int) -> subprocess.Popen[bytes]:
        course = stage(self.unit, self._scratch.path / "course")
        variables = environment(hash_seed)
        variables["PYTHONPATH"] += f":{_ENGINE}"
        line = command(
            [python(), "-m", f"{_PACKAGE}.warm_parent", str(theirs.fileno())],
            mounts=[Mount(str(course), COURSE), Mount(str(_INSIDE), f"{_ENGINE}/{_PACKAGE}")],
            variables=variables,
            disk=_DISK_OF_PARENT,
        )
        return subprocess.Popen(
            line,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=self._said,
            stderr=self._said,
            cwd="/",
        )

    def _warm_up(self) -> None:
        settings = json.dumps(
            {
                "seccomp": base64.b64encode(seccomp.program()).decode("ascii"),
                "place": next(_places),
                "imports": warm.imports(self.unit),
                "warm_up": warm.lines(self.unit),
            }
        ).encode("ascii")
        self._control.settimeout(_SECONDS_TO_START)
        try:
            self._control.sendall(struct.pack("!I", len(settings)) + settings)
            need_sandbox()  # tried while the warm parent imports
            answer = self._control.recv(1)
        except OSError:
            answer = b""
        if answer != b"R":
            raise self._fault("the warm parent did not start")

    def _isolated(self, end: socket.socket, theirs: socket.socket) -> int:
        """A file descriptor of the process that runs the next notebook."""
        if self.broken:
            raise EngineFault("The sandbox has been closed.")
        end.settimeout(_SECONDS_TO_LOCK_IN)
        try:
            socket.send_fds(self._control, [b"J"], [theirs.fileno()])
            theirs.close()  # so that this end shows when nobody has the other
            _, descriptors, *_ = socket.recv_fds(end, 1, 1)
        except OSError as problem:
            raise self._fault("the warm parent is gone") from problem
        if not descriptors:
            raise self._fault("a notebook's process could not be made")
        return descriptors[0]

    def _fault(self, what: str) -> EngineFault:
        self.broken = True
        said = ""
        with contextlib.suppress(ValueError):  # another thread has closed the runner
            self._said.seek(0, os.SEEK_END)
            self._said.seek(max(0, self._said.tell() - 1_000))
            said = " ".join(self._said.read().decode("utf-8", "replace").split())
        return EngineFault(f"The sandbox failed: {what}. {f'It said: {said}' if said else ''}".strip())


class _Notebook:
    """A notebook while it runs: its process, its channel, its clock."""

    def __init__(self, process: int, end: socket.socket, job: Job, start: float) -> None:
        self._process = process  # a pidfd: never another process that got the same number
        self._number = _process_number(process)
        self._job = job
        self._end_of_notebook = start + job.limits.notebook_seconds
        self._channel = Channel(end, self._watch)
        self._collected = Collected()
        self.loaded = False  # did it load what the warm parent has put off?
        self._bytes_left = _MOST_OF_NOTEBOOK * job.limits.output_bytes

    def prepare(self) -> None:
        """Have the process lock itself in, and lay out what the notebook finds."""
        limits = self._job.limits
        order = {
            "limits": _limits_inside(limits),
            "output_characters": limits.output_bytes,
            "outputs": limits.outputs,
            "questions": dict(self._job.questions),
            "questions_variable": QUESTIONS_VARIABLE,
            "random_seed": self._job.random_seed,
            "files": {
                name: base64.b64encode(content).decode("ascii") for name, content in self._job.files.items()
            },
        }
        self._channel.send(order, _SECONDS_TO_LOCK_IN)
        if parse(self._channel.line(time.monotonic() + _SECONDS_TO_LOCK_IN)) != {"ready": True}:
            raise BadOutput("not ready")

    def results(self) -> Iterable[CellResult]:
        """The result of each cell, in order."""
        ended = False
        for source in self._job.cells:
            if ended:
                yield CellResult([], stopped="not run")
                continue
            outputs = self._collected.next_cell()
            count, stopped, ended = self._run(source)
            if stopped:
                self._collected.add({"output": why_stopped(stopped, self._job.limits)})
            yield CellResult(outputs, count, stopped)

    def close(self) -> None:
        """Kill the process, the first of its namespace, and wait until all the others have died with it."""
        self._signal(signal.SIGKILL)
        select.select([self._process], [], [], 10)
        os.close(self._process)

    def _run(self, source: str) -> tuple[int | None, Stopped, bool]:
        """Run one cell: its number, why it was stopped, and whether the notebook ended with it."""
        deadline = min(time.monotonic() + self._job.limits.cell_seconds, self._end_of_notebook)
        last = deadline == self._end_of_notebook
        stopped: Stopped = ""
        bytes_left = min(self._bytes_left, _MOST_OF_CELL * self._job.limits.output_bytes)
        messages_left = _MOST_MESSAGES * self._job.limits.outputs
        try:
            self._channel.send({"source": source}, deadline - time.monotonic())
            while True:
                try:
                    line = self._channel.line(deadline)
                except TimeUp:
                    if stopped:  # it does not stop
                        return None, stopped, True
                    stopped, deadline = "time", time.monotonic() + _GRACE
                    self._signal(signal.SIGINT)
                    continue
                bytes_left -= len(line)
                self._bytes_left -= len(line)
                messages_left -= 1
                if bytes_left < 0 or messages_left < 0:
                    return None, "flood", True
                message = _readable(line)
                if "done" in message:
                    self.loaded = message.get("loaded") is True
                    return clean_count(message["done"]), stopped, bool(stopped and last)
                self._collected.add(message)
        except _TooMuchMemory:
            return None, "memory", True
        except TooLong:
            return None, "flood", True
        except Ended:
            return None, stopped or "died", True

    def _watch(self) -> float:
        limit = self._job.limits.memory
        if (used := memory_in_use(self._number, limit)) > limit:
            self._signal(signal.SIGKILL)
            raise _TooMuchMemory
        return next_look(used, limit)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._process, number)


class _TooMuchMemory(Exception):
    """A notebook's processes use more memory than they may."""


def _readable(line: bytes) -> dict[str, Any]:
    """A message, or one that becomes a note where it is none."""
    try:
        return parse(line)
    except BadOutput:
        return {"output": None}


def _limits_inside(limits: Limits) -> dict[str, int]:
    return {
        "memory": limits.memory,
        "processes": limits.processes,
        "file_size": limits.file_size,
        "disk": limits.disk,
        "seconds": int(limits.notebook_seconds) + 60,
    }


def _process_number(process: int) -> int:
    """The process's number in /proc."""
    fields = Path(f"/proc/self/fdinfo/{process}").read_text(encoding="ascii")
    return int(fields.split("\nPid:")[1].split()[0])
