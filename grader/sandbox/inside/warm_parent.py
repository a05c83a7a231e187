"""The warm parent: has imported what notebooks need, and forks a child for each notebook.

It runs under bubblewrap with one thread and no privileges, and never receives a line of a submission: a child
gets its notebook on a socket of its own, and only after it has locked itself in. Started with the number of
the file descriptor on which the grader speaks to it.
"""

import asyncio
import base64
import contextlib
import ctypes
import gc
import json
import os
import random
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from . import deferred
from .isolation import enter_namespaces, fork_into_namespaces, lock_in
from .shell import Bypassed, new_shell, run_cell, warm_up, wire

LOAD = b"L"  # the grader's word to load what was put off
_FAILED = 98  # exit status of a child that could not lock itself in


def main(descriptor: int) -> None:
    control = socket.socket(fileno=descriptor)
    gc.disable()  # imports leave little to collect, and looking for it takes long
    settings = _settings(control)
    seccomp = base64.b64decode(settings["seccomp"])
    shell = new_shell()
    place = settings["place"]
    with _one_processor(place):
        for name in settings["imports"]:
            with contextlib.suppress(ImportError):
                import_module(name)
        warm_up(shell, settings["warm_up"])
    gc.enable()
    _settle()
    control.sendall(b"R")
    while request := _next_request(control):
        if request == LOAD:
            with _one_processor(place):
                deferred.load()
            _settle()
            continue
        with request as channel:
            _start_notebook(channel, control, shell, seccomp)


def _settle() -> None:
    """Make ready to be forked: with one thread, and with little that the children do not share."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        raise RuntimeError(f"{threads} threads: a process with threads cannot fork safely")
    gc.collect()
    gc.freeze()
    with contextlib.suppress(AttributeError):  # of glibc alone
        ctypes.CDLL(None).malloc_trim(0)  # what imports and the model's loading needed for a while


@contextlib.contextmanager
def _one_processor(place: int) -> Iterator[None]:
    """While only one is there to use, numerical libraries start no threads. Another place is another processor."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(allowed)[place % len(allowed)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _settings(control: socket.socket) -> dict[str, Any]:
    (length,) = struct.unpack("!I", control.recv(4, socket.MSG_WAITALL))
    return json.loads(control.recv(length, socket.MSG_WAITALL))


def _next_request(control: socket.socket) -> socket.socket | bytes:
    """The socket of the next notebook, or LOAD; b"" where the grader has closed the control."""
    request, descriptors, *_ = socket.recv_fds(control, 1, 1)
    return socket.socket(fileno=descriptors[0]) if descriptors else request


def _start_notebook(channel: socket.socket, control: socket.socket, shell: Any, seccomp: bytes) -> None:
    """Make namespaces, and in them the process that runs the notebook; the grader gets hold of it."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG) != (0, 0):  # those that have ended since
            pass
    maker = os.getpid()
    try:
        notebook = fork_into_namespaces()
        if notebook is None:
            notebook = _by_two_forks(channel)
        if notebook == 0:
            control.close()
            _run_notebook(channel, shell, seccomp)
        if notebook:
            _hand_over(channel, notebook)
    except BaseException as problem:
        os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
    finally:
        if os.getpid() != maker:
            os._exit(_FAILED)


def _by_two_forks(channel: socket.socket) -> int | None:
    """0 in the notebook's process; None in this one, where the one between has handed it over."""
    between = os.fork()
    if between:
        os.waitpid(between, 0)
        return None
    enter_namespaces()
    notebook = os.fork()
    if notebook:
        _hand_over(channel, notebook)
        os._exit(0)
    return 0


def _hand_over(channel: socket.socket, notebook: int) -> None:
    descriptor = os.pidfd_open(notebook)
    socket.send_fds(channel, [b"P"], [descriptor])
    os.close(descriptor)


def _run_notebook(channel: socket.socket, shell: Any, seccomp: bytes) -> NoReturn:
    """Lock this process in, then run the cells that come, one at a time."""
    reader = channel.makefile("rb")
    job = json.loads(reader.readline())
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    lock_in(job["limits"], seccomp, channel.fileno())
    _lay_out(job)
    wire.connect(channel, job["output_characters"], job["outputs"])
    wire.send({"ready": True})
    bypassed = Bypassed()

    async def run_cells() -> None:
        for line in reader:
            goes_on = await run_cell(shell, json.loads(line)["source"])
            bypassed.send()
            wire.flush()
            if not goes_on:
                return
            wire.send({"done": shell.execution_count - 1, "loaded": deferred.loaded()})
            await asyncio.sleep(0)  # tasks that a cell has started go on

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(run_cells())
    finally:
        os._exit(0)


def _lay_out(job: dict[str, Any]) -> None:
    """The files of the notebook, the questions of check(), and where chance starts."""
    for name, content in job["files"].items():
        Path("/notebook", os.path.basename(name)).write_bytes(base64.b64decode(content))
    questions = Path("/tmp/questions.json")
    questions.write_text(json.dumps(job["questions"]), encoding="utf-8")
    os.environ[job["questions_variable"]] = str(questions)
    random.seed(job["random_seed"])
    with contextlib.suppress(ImportError):
        import_module("numpy.random").seed(job["random_seed"] % 2**32)


if __name__ == "__main__":
    try:
        main(int(sys.argv[1]))
    except BaseException as problem:
        os.write(2, f"{type(problem).__name__}: {problem}\n".encode())
        os._exit(97)
