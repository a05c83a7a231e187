"""What a submission must not touch: a course, a gradebook, a home, a neighbour, listeners, another's process.

All of it lies in a temporary folder. After a run the world says what harm was done, and can be put back.
"""

import contextlib
import hashlib
import os
import shutil
import signal
import site
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from uuid import uuid4

from browser import copy_course
from conftest import ROOT

from .entry import UNIT
from .notebooks import dump, notebook

_KINDS = {
    "course": "project",
    "home": "home",
    "gradebook": "gradebook",
    "neighbour": "neighbour",
    "site": "start-up",
    "history": "project",
}
SECRET = "LEAKED"  # what a submission prints when it found an expected answer or a solution


class World:
    """The places around a run. Close it: it holds listeners and a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.course = copy_course(folder / "course")
        self.home = folder / "home"
        self.site = folder / "site"
        for path in (self.home, self.site, folder / "gradebook", folder / "neighbour"):
            path.mkdir(parents=True)
        (self.home / ".profile").write_text("# a learner's home\n")
        self.gradebook = folder / "gradebook" / "gradebook.db"
        _fill_gradebook(self.gradebook)
        self.neighbour = folder / "neighbour" / UNIT / f"{UNIT}.ipynb"
        self.neighbour.parent.mkdir()
        self.neighbour.write_bytes(dump(notebook()))
        self.history = _history(folder / "history", self.course)
        self.listeners = Listeners()
        self.token = uuid4().hex[:12]  # of this world, so that another's processes are not taken for ours
        self.secret = uuid4().hex
        self.victim = _sleeper(self.secret)
        self._before = _contents(folder)

    def fill(self, text: str, name: str, everywhere: bool = False, many: int = 10**9) -> str:
        """A text with the places of this world in it.

        Inside a sandbox a submission may try ``everywhere``: the project itself, Python's own folders, all
        processes. ``many`` is how often a submission does what has no bound.
        """
        courses = [str(self.course), *([str(ROOT)] if everywhere else [])]
        sites = site.getsitepackages() if everywhere else []
        values = {
            "ID": name,
            "TOKEN": f"{self.token}-{name}",
            "COURSES": repr(courses),
            "COURSE": courses[0],
            "HOME": str(self.home),
            "GRADEBOOK": str(self.gradebook),
            "NEIGHBOUR": str(self.neighbour),
            "SITES": repr([str(self.site), *sites]),
            "TCP": str(self.listeners.tcp),
            "UDP": str(self.listeners.udp),
            "UNIX": self.listeners.unix,
            "VICTIM": str(self.victim.pid),
            "SECRET": self.secret[::-1],  # written backwards: it must not be found in the notebook itself
            "PIDS": repr([self.victim.pid, *([os.getpid(), os.getppid()] if everywhere else [])]),
            "WALK": repr(["/"] if everywhere else [str(self.folder)]),
            "GITS": repr([str(self.history), *courses]),
            "TRAPS": repr(["/tmp", "/dev/shm", "/var/tmp", "."] if everywhere else [str(self.home)]),
            "MANY": str(many),
            "NEIGHBOUR_FOLDER": str(self.neighbour.parent),
        }
        for place, value in values.items():
            text = text.replace(f"@{place}@", value)
        return text

    def harm(self) -> dict[str, str]:
        """What is not as it was: the kind of harm, and what was seen of it."""
        seen: dict[str, str] = {}
        now = _contents(self.folder)
        for path in sorted(self._before.keys() | now.keys()):
            if self._before.get(path) != now.get(path):
                kind = _KINDS[path.relative_to(self.folder).parts[0]]
                seen[kind] = f"{seen.get(kind, '')} {path}".strip()
        seen |= self.listeners.heard()
        if left := processes(self.token):
            seen["process"] = f"{left}"
        if self.victim.poll() is not None:
            seen["victim"] = "it is dead"
        return seen

    def restore(self) -> None:
        """End what was left behind, and put everything back as it was."""
        while left := processes(self.token):
            for pid in left:
                end(pid)
            time.sleep(0.01)
        now = _contents(self.folder)
        for path in now.keys() - self._before.keys():
            path.unlink()
        for path, content in self._before.items():
            if now.get(path) != content:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                path.write_bytes(content)
        self.listeners.forget()
        if self.victim.poll() is not None:
            self.victim = _sleeper(self.secret)

    def close(self) -> None:
        for pid in processes(self.token):
            end(pid)
        self.listeners.close()
        self.victim.kill()
        self.victim.wait()


class Listeners:
    """A TCP, a UDP and an abstract unix socket on this machine, and what reached them."""

    def __init__(self) -> None:
        stream = socket.create_server(("127.0.0.1", 0))
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind(("127.0.0.1", 0))
        local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.unix = f"hostile-{uuid4().hex}"
        local.bind("\0" + self.unix)
        local.listen()
        self.tcp, self.udp = stream.getsockname()[1], datagrams.getsockname()[1]
        self._heard: dict[str, str] = {}
        self._sockets = {"tcp": stream, "udp": datagrams, "unix": local}
        self._open = True
        for kind in self._sockets:
            threading.Thread(target=self._listen, args=(kind,), daemon=True).start()

    def _listen(self, kind: str) -> None:
        one = self._sockets[kind]
        one.settimeout(0.2)
        while self._open:
            try:
                if kind == "udp":
                    text = one.recv(200)
                else:
                    connection, _ = one.accept()
                    self._heard[kind] = "a connection"
                    with connection:
                        connection.settimeout(0.5)
                        text = connection.recv(200)
            except TimeoutError:
                continue
            except OSError:
                if self._open:
                    continue
                return
            self._heard[kind] = f"{self._heard.get(kind, '')} {text.decode(errors='replace')}".strip()

    def heard(self) -> dict[str, str]:
        return dict(self._heard)

    def forget(self) -> None:
        self._heard.clear()

    def close(self) -> None:
        self._open = False
        for one in self._sockets.values():
            one.close()


def processes(token: str) -> list[int]:
    """The living processes with this word in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            command = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:
            continue
        if token.encode() in command and state not in "ZX":
            found.append(int(folder.name))
    return found


def end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def fingerprints(*folders: Path) -> dict[str, str]:
    """What stands in the files of some folders, without what Python and pytest keep for themselves."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_symlink():
                found[str(path)] = os.readlink(path)
            elif path.is_file() and not {"__pycache__", ".pytest_cache", ".ruff_cache"} & set(path.parts):
                found[str(path)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def project_folders() -> list[Path]:
    """The parts of the project that hold answers, or code that the next run trusts."""
    return [ROOT / name for name in ("grader", "solutions", "notebooks", "assets")]


def _contents(folder: Path) -> dict[Path, bytes]:
    found = {}
    for path in folder.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # a database's journal comes and goes
            if path.is_symlink():
                found[path] = os.readlink(path).encode()
            elif path.is_file() and "__pycache__" not in path.parts:
                found[path] = path.read_bytes()
    return found


def _fill_gradebook(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("create table grade (learner text, score real)")
        database.execute("insert into grade values ('neighbour', 10), ('cheat', 0)")
    database.close()


def _history(folder: Path, course: Path) -> Path:
    """A repository with the references and the solutions in it, as the project's own."""
    for name in ("grader/reference/retriever.json", "solutions/hybrid_search/retriever.py"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copyfile(course / name, folder / name)
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Everything"]):
        subprocess.run([*git, *command], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def _sleeper(secret: str) -> subprocess.Popen:
    """A process of the grader's user, with a secret in its environment, that lets itself be looked into."""
    # PR_SET_PTRACER: some systems let nobody but a process's own ancestors look into it.
    waits = "import ctypes, time; ctypes.CDLL(None).prctl(0x59616D61, -1, 0, 0, 0); time.sleep(3600)"
    return subprocess.Popen(
        [sys.executable, "-c", waits],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "COURSE_SECRET": secret},
    )
