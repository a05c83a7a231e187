"""What the tests of Postgres share: processes that use a server, and the end of one."""

import subprocess
import sys
import time
from pathlib import Path

import fasteners
import psutil

from lab.postgres_keeper import KEEPER, claim


def wait_until_stopped(folder: Path, seconds: float = 30) -> None:
    """Until the keeper of a folder has ended, and with it the server."""
    keeper = fasteners.InterProcessLock(folder / KEEPER)
    assert keeper.acquire(timeout=seconds), f"the server in {folder} has not stopped"
    keeper.release()
    wait_for(lambda: not processes_of(folder))


def processes_of(folder: Path) -> list[psutil.Process]:
    """The keeper and the server of a folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if any(str(folder) in word for word in process.info["cmdline"] or ()):
            found.append(process)
    return found


def data_of(folder: Path) -> Path:
    return next(folder.glob("data-*"))


def server_of(folder: Path) -> psutil.Process:
    return psutil.Process(int(claim(data_of(folder))[0]))


def wait_for(condition, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


class Notebook:
    """Another process, which runs lines of Python one by one and prints."""

    def __init__(self, *lines: str) -> None:
        loop = "import sys\nfor line in sys.stdin: exec(line); print('done', flush=True)"
        self.process = subprocess.Popen(
            [sys.executable, "-c", loop], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        for line in lines:
            self.run(line)

    def begin(self, line: str) -> None:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def run(self, line: str) -> str:
        """What a line prints."""
        self.begin(line)
        said = ""
        for answer in self.process.stdout:
            if answer == "done\n":
                return said
            said += answer
        raise AssertionError(f"the process ended in: {line}\n{said}")

    def end(self) -> None:
        self.process.stdin.close()
        assert self.process.wait(30) == 0
        self.process.stdout.close()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_error) -> None:
        if self.process.poll() is None:
            self.kill()
