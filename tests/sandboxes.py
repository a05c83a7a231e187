"""What the tests of the sandbox share: a runner that starts quickly, and sandboxes with a defence taken out."""

import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.sandbox import fork_engine, warm
from grader.sandbox.execution import CellResult, Execution, Job
from grader.sandbox.fork_engine import ForkRunner
from grader.sandbox.limits import Limits

UNIT = "04_retriever"
# Small, so that no test waits or fills the computer.
LIMITS = Limits(cell_seconds=8, notebook_seconds=30, memory=300_000_000)


@contextmanager
def cold_runner(unit: str = UNIT) -> Iterator[ForkRunner]:
    """A runner that has warmed up nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(warm, "imports", lambda unit: [])
        patch.setattr(warm, "lines", lambda unit: [])
        runner = ForkRunner(unit)
    with runner:
        yield runner


def run(runner: ForkRunner, *cells: str, limits: Limits = LIMITS, **job) -> Execution:
    return runner.run(Job(UNIT, cells, limits=limits, **job))


def text(result: CellResult) -> str:
    """All that a cell shows as plain text."""
    return "".join(
        output.get("text")
        or output.get("data", {}).get("text/plain")
        or f"{output.get('ename')}: {output.get('evalue')}"
        for output in result.outputs
    )


@contextmanager
def listening() -> Iterator[socket.socket]:
    """A server on this computer's loopback that takes every connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        taking = threading.Event()
        taking.set()

        def take() -> None:
            while taking.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                connection.close()

        thread = threading.Thread(target=take)
        thread.start()
        yield server
        taking.clear()
        thread.join()


class Weakened:
    """Takes defences out of the sandboxes that are started from now on."""

    def __init__(self, patch: pytest.MonkeyPatch, folder: Path) -> None:
        self._patch = patch
        self._folder = folder

    def inside(self, file: str, *changes: tuple[str, str]) -> None:
        """Change the code that runs inside; each change is a text that is there once, and its replacement."""
        if self._folder / "inside" != fork_engine._INSIDE:
            shutil.copytree(fork_engine._INSIDE, self._folder / "inside")
            self._folder.chmod(0o755)
            self._patch.setattr(fork_engine, "_INSIDE", self._folder / "inside")
        path = self._folder / "inside" / file
        code = path.read_text(encoding="utf-8")
        for old, new in changes:
            assert code.count(old) == 1, old
            code = code.replace(old, new)
        path.write_text(code, encoding="utf-8")

    def bubblewrap(self, *changes: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        """Change bubblewrap's command line: each change replaces these words, wherever they are in a row."""
        whole = fork_engine.command

        def weaker(*arguments, **options) -> list[str]:
            line = whole(*arguments, **options)
            for old, new in changes:
                assert tuple(old) in {tuple(line[i : i + len(old)]) for i in range(len(line))}, old
                line = _replaced(line, old, new)
            return line

        self._patch.setattr(fork_engine, "command", weaker)

    def anything(self, module: object, name: str, value: object) -> None:
        self._patch.setattr(module, name, value)


def _replaced(line: list[str], old: tuple[str, ...], new: tuple[str, ...]) -> list[str]:
    result, i = [], 0
    while i < len(line):
        if tuple(line[i : i + len(old)]) == old:
            result += new
            i += len(old)
        else:
            result.append(line[i])
            i += 1
    return result
