"""Kernel provisioners: how a Jupyter kernel that runs a submission is started, interrupted and ended.

SandboxProvisioner starts it under bubblewrap. It is registered by the name `course-sandbox`, so that a kernel
specification can name it, too. TrustedProvisioner starts it without, for submissions that can be trusted.
"""

import asyncio
import contextlib
import json
import os
import select
import shutil
import signal
import site
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from jupyter_client.provisioning import LocalProvisioner
from traitlets import Any as AnyTrait
from traitlets import Integer, Unicode

from ..asked import ANSWERS, QUESTIONS_VARIABLE
from ..paths import ROOT
from .execution import EngineFault, Job
from .memory import memory_in_use, memory_of
from .relay import Relay

_INSIDE = Path(__file__).with_name("inside") / "kernel.py"
_START_SECONDS = 60
_START_BYTES = 5_000_000
# What a cell may send before it ends the notebook: more than honest code can, as inside/kernel.py cuts it.
_OVER_BYTES = 16  # times the limit on its output
_OVER_OUTPUTS = 20_000  # bytes for each output: updates of it, and what messages take besides their content
# What the system's own libraries ask for, where it is set.
_NEEDED = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "SYSTEMDRIVE")
_NO_INPUT = "input() cannot be answered here"
_LONGEST_FOLDER = 80  # characters; a Unix socket's path may have 107


class SubmissionProvisioner(LocalProvisioner):
    """What both have in common.

    ``job`` is what the kernel is to run, ``course`` the staged course's folder, and ``place`` a folder in which
    to make those that the kernel needs.
    """

    unit = Unicode(help="The unit whose staged course the kernel sees, where no job is given.", config=True)
    hash_seed = Integer(0, help="PYTHONHASHSEED of the kernel.", config=True)
    job = AnyTrait()
    course = AnyTrait()
    place = AnyTrait()
    flooded = False
    _folder: Path | None = None
    _log_file = None

    def _prepare(self) -> None:
        """Make the private folder, and the course and the job where nobody has given them."""
        place = str(self.place or tempfile.gettempdir())
        self._folder = Path(tempfile.mkdtemp(dir=place if len(place) < _LONGEST_FOLDER else "/tmp"))
        self._log_file = tempfile.TemporaryFile()  # noqa: SIM115 - kept until cleanup()
        self.job = self.job or Job(self.unit, ())
        if self.course is None:
            from ..revealed import stage

            self.course = stage(self.unit, self._folder / "course")

    def _input(self, **special: Any):
        """The file that inside/kernel.py reads what to prepare from."""
        prepared = {
            "answers": ANSWERS,
            "files": {},
            "hello": None,
            "hidden": [],
            "limits": {},
            "listening": {},
            "most_characters": self.job.limits.output_bytes,
            "most_outputs": self.job.limits.outputs,
            "no_input": _NO_INPUT,
            "random_seed": self.job.random_seed,
            **special,
        }
        file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        file.write(json.dumps(prepared).encode("ascii"))
        file.seek(0)
        return file

    def next_cell(self) -> None:
        """Said before each cell."""

    def _limits(self, *names: str) -> dict[str, int]:
        """Limits of each process, by their names in the module resource."""
        limits = self.job.limits
        values = {
            "AS": limits.memory,
            "CPU": int(limits.notebook_seconds) + 60,
            "FSIZE": limits.file_size,
            "NPROC": limits.processes,
            "NOFILE": 512,
            "CORE": 0,
            "MEMLOCK": 0,
            "MSGQUEUE": 0,
        }
        return {name: values[name] for name in names}

    def said(self) -> str:
        """The end of what the kernel's process has written besides its cells' output."""
        if self._log_file is None:
            return ""
        self._log_file.seek(max(0, os.fstat(self._log_file.fileno()).st_size - 1000))
        return " ".join(self._log_file.read(1000).decode("utf-8", "replace").split())

    async def cleanup(self, restart: bool = False) -> None:
        await super().cleanup(restart=restart)
        if restart:
            return
        if self._log_file is not None:
            self._log_file.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


class SandboxProvisioner(SubmissionProvisioner):
    """Starts the kernel under bubblewrap, as confinement.command() says."""

    relay: Relay | None = None
    _kernel_pid = 0
    _kernel: int | None = None  # pidfd of the kernel's process
    _sandbox: int | None = None  # pidfd of the sandbox's first process: what is inside ends with it

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        from . import confinement

        confinement.need_sandbox()
        self._prepare()
        manager = self.parent
        self.relay = Relay(self._folder, self._kill)
        manager.transport = "ipc"
        manager.cache_ports = False  # it follows the transport only once
        manager.ip = self.relay.address
        manager.connection_file = str(self._folder / "connection.json")
        kwargs = await super().pre_launch(**kwargs)
        await self.relay.open(manager.ports)
        return kwargs

    async def launch_kernel(self, cmd: list[str], **kwargs: Any):
        """Start the kernel; what it is called with comes from here, not from the kernel specification."""
        from . import confinement, seccomp

        self.relay.allow(_START_BYTES)
        inside = "/engine/kernel.py"
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        with ours, theirs, tempfile.TemporaryFile() as filter_file:
            filter_file.write(seccomp.program())
            filter_file.seek(0)
            command = confinement.command(
                [confinement.python(), inside],
                mounts=[
                    confinement.Mount(str(self.course), confinement.COURSE),
                    confinement.Mount(str(_INSIDE), inside),
                ],
                variables={
                    **confinement.environment(self.hash_seed),
                    QUESTIONS_VARIABLE: "/tmp/questions.json",
                },
                disk=self.job.limits.disk,
                seccomp_fd=filter_file.fileno(),
            )
            listening = {port: there.fileno() for port, there in self.relay.listening.items()}
            connection = {
                **json.loads(Path(self.parent.connection_file).read_text(encoding="utf-8")),
                "ip": "/tmp/kernel",
            }
            with self._input(
                connection_file="/tmp/connection.json",
                files=self._files(connection, confinement.WORKING_FOLDER),
                hello=theirs.fileno(),
                limits=self._limits("AS", "CPU", "FSIZE", "NPROC", "NOFILE", "CORE", "MEMLOCK", "MSGQUEUE"),
                listening=listening,
            ) as prepared:
                self.process = subprocess.Popen(
                    command,
                    stdin=prepared,
                    stdout=subprocess.DEVNULL,
                    stderr=self._log_file,
                    env={"PATH": os.environ.get("PATH", os.defpath)},
                    cwd="/",
                    pass_fds=(theirs.fileno(), filter_file.fileno(), *listening.values()),
                    start_new_session=True,
                )
            self.pid = self.process.pid
            theirs.close()
            await self._meet(ours)
        self.relay.hand_over()
        return self.connection_info

    def _files(self, connection: dict, working_folder: str) -> dict[str, str]:
        files = {
            "/tmp/connection.json": json.dumps(connection),
            "/tmp/questions.json": json.dumps(self.job.questions),
        }
        for name, content in self.job.files.items():
            files[f"{working_folder}/{os.path.basename(name)}"] = content.decode("latin-1")
        return files

    async def _meet(self, ours: socket.socket) -> None:
        """Learn from the kernel's first word, before it runs anything, which process it is."""
        ours.setblocking(False)
        for _attempt in range(_START_SECONDS * 100):
            try:
                _word, credentials, *_rest = ours.recvmsg(1, socket.CMSG_SPACE(struct.calcsize("3i")))
            except BlockingIOError:
                await asyncio.sleep(0.01)
                continue
            if not _word:
                break
            pid = struct.unpack("3i", credentials[0][2])[0]
            self._kernel_pid, self._kernel = pid, os.pidfd_open(pid)
            while (parent := _parent(pid)) != self.process.pid:
                pid = parent
            self._sandbox = os.pidfd_open(pid)
            return
        raise EngineFault(f"The sandbox of a kernel did not start. {self.said()}")

    def next_cell(self) -> None:
        """From now on the kernel may send what a cell may."""
        limits = self.job.limits
        self.relay.allow(_OVER_BYTES * limits.output_bytes + _OVER_OUTPUTS * limits.outputs)

    @property
    def flooded(self) -> bool:
        """Has the kernel sent more, and been killed?"""
        return self.relay.flooded

    async def send_signal(self, signum: int) -> None:
        if signum != signal.SIGINT:
            self._kill()
        elif self._kernel is not None:  # to the group it would end bubblewrap
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._kernel, signum)

    async def kill(self, restart: bool = False) -> None:
        self._kill()

    async def terminate(self, restart: bool = False) -> None:
        self._kill()

    def _kill(self) -> None:
        if self._sandbox is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._sandbox, signal.SIGKILL)
        elif self.process:
            self.process.kill()

    async def cleanup(self, restart: bool = False) -> None:
        self._kill()
        if self._sandbox is not None:  # its end means that nothing of it is left
            await asyncio.get_running_loop().run_in_executor(None, select.select, [self._sandbox], [], [], 10)
        await self.wait()
        for pidfd in (self._kernel, self._sandbox):
            if pidfd is not None:
                os.close(pidfd)
        self._kernel = self._sandbox = None
        if self.relay is not None:
            self.relay.close()
        await super().cleanup(restart=restart)

    def memory(self) -> int:
        """Bytes that all processes of the sandbox and its private folders use now."""
        return memory_in_use(self._kernel_pid, self.job.limits.memory)


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[1])


class TrustedProvisioner(SubmissionProvisioner):
    """Starts the kernel as any other program of this user, but for the environment and the packages it sees."""

    async def pre_launch(self, **kwargs: Any) -> dict[str, Any]:
        self._prepare()
        self.parent.connection_file = str(self._folder / "connection.json")
        return await super().pre_launch(**kwargs)

    async def launch_kernel(self, cmd: list[str], **kwargs: Any):
        """Start the kernel in a folder of its own, which is removed at the end."""
        for name in ("notebook", "tmp"):
            (self._folder / name).mkdir()
        questions = self._folder / "questions.json"
        questions.write_text(json.dumps(self.job.questions), encoding="utf-8")
        for name, content in self.job.files.items():
            (self._folder / "notebook" / os.path.basename(name)).write_bytes(content)
        with self._input(
            connection_file=self.parent.connection_file,
            hidden=_folders_with_answers(),
            limits=self._limits("AS", "CPU", "FSIZE", "CORE") if sys.platform == "linux" else {},
        ) as prepared:
            await super().launch_kernel(
                [sys.executable, str(_INSIDE)],
                stdin=prepared,
                stdout=subprocess.DEVNULL,
                stderr=self._log_file,
                env=self._variables() | {QUESTIONS_VARIABLE: str(questions)},
                cwd=str(self._folder / "notebook"),
            )
        return self.connection_info

    def _variables(self) -> dict[str, str]:
        """The environment: what Python and the system need, and nothing else of the caller's."""
        from .confinement import environment

        needed = {name: os.environ[name] for name in _NEEDED if name in os.environ}
        libraries = [path for path in (site.getusersitepackages(),) if path in sys.path]
        home, temporary = str(self._folder / "notebook"), str(self._folder / "tmp")
        return {
            **environment(self.hash_seed),
            **needed,
            **dict.fromkeys(("HOME", "USERPROFILE"), home),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
            "PYTHONPATH": os.pathsep.join([str(self.course), *libraries]),
        }

    async def cleanup(self, restart: bool = False) -> None:
        await self.kill()
        await self.wait()
        await super().cleanup(restart=restart)

    def memory(self) -> int:
        """Bytes that the kernel and its children use now."""
        import psutil

        with contextlib.suppress(psutil.Error):
            kernel = psutil.Process(self.pid)
            family = [kernel, *kernel.children(recursive=True)]
            if sys.platform == "linux":
                return memory_of((process.pid for process in family), self.job.limits.memory)
            return sum(process.memory_info().rss for process in family)
        return 0


def _folders_with_answers() -> list[str]:
    """Where Python would find solutions and references that a kernel must not: the project's own folders."""
    if not (ROOT / "pyproject.toml").is_file():
        return []  # of what is installed the staged course covers every package
    return [str(ROOT), str(ROOT / "notebooks"), str(ROOT / "solutions")]
