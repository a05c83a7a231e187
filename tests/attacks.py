"""Attacks on the sandbox: what each shows where it is stopped, and where just its defence is taken out."""

import os
import socket
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from conftest import ROOT
from sandboxes import LIMITS, Weakened

from grader import revealed
from grader.sandbox import fork_engine, seccomp
from grader.sandbox.confinement import Mount


@dataclass(frozen=True)
class Attack:
    """Code, what it shows where it is stopped, and how to take its defence out so that it succeeds."""

    name: str
    code: str
    stopped: str
    weaken: Callable[[Weakened], None]
    succeeds: str


_C = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n"


def _host_network(weakened: Weakened) -> None:
    others = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts")
    changes = [(("--unshare-all",), others)]
    if os.geteuid() == 0:
        changes.append((("--unshare-net",), ()))
    weakened.bubblewrap(*changes)
    weakened.inside("isolation.py", (" | _NEWNET | _NEWUTS\n", " | _NEWUTS\n"))


def _see(folder: Path) -> Callable[[Weakened], None]:
    def weaken(weakened: Weakened) -> None:
        whole = fork_engine.command

        def more(argv, *, mounts, **options) -> list[str]:
            return whole(argv, mounts=[*mounts, Mount(str(folder), "/project")], **options)

        weakened.anything(fork_engine, "command", more)

    return weaken


def _everything_revealed(weakened: Weakened) -> None:
    weakened.anything(fork_engine, "stage", lambda unit, folder: revealed.stage(revealed.END, folder))


def _callers_environment(weakened: Weakened) -> None:
    weakened.bubblewrap((("--clearenv",), ()))


def _writable_course(weakened: Weakened) -> None:
    whole = fork_engine.command

    def writable(argv, *, mounts, **options) -> list[str]:
        course, *others = mounts
        os.chmod(course.source, 0o777)
        return whole(argv, mounts=[Mount(course.source, course.destination, True), *others], **options)

    weakened.anything(fork_engine, "command", writable)


def _all_calls_allowed(weakened: Weakened) -> None:
    import pyseccomp

    with tempfile.TemporaryFile() as file:
        pyseccomp.SyscallFilter(pyseccomp.ALLOW).export_bpf(file)
        file.seek(0)
        program = file.read()
    weakened.anything(seccomp, "program", lambda: program)


def _namespaces_allowed(weakened: Weakened) -> None:
    _all_calls_allowed(weakened)
    weakened.inside("isolation.py", ('_write(file, "0")', "pass"))


def _without(line: str) -> Callable[[Weakened], None]:
    return lambda weakened: weakened.inside("isolation.py", (line, ""))


def _without_limit(kind: str) -> Callable[[Weakened], None]:
    code = (fork_engine._INSIDE / "isolation.py").read_text(encoding="utf-8")
    line = next(line for line in code.splitlines() if f"RLIMIT_{kind}," in line)
    return lambda weakened: weakened.inside("isolation.py", (line, ""))


def _no_watch(weakened: Weakened) -> None:
    weakened.anything(fork_engine, "memory_in_use", lambda process, limit: 0)


ATTACKS = [
    Attack(
        "a connection to a server on this computer's loopback",
        "import socket\nsocket.create_connection(('127.0.0.1', PORT), 2)\n'connected'",
        "OSError: [Errno 101] Network is unreachable",
        _host_network,
        "'connected'",
    ),
    Attack(
        "a file of the project",
        "import os\n"
        f"[path for path in ({str(ROOT / 'pyproject.toml')!r}, '/project/pyproject.toml') if os.path.exists(path)]",
        "[]",
        _see(ROOT),
        "['/project/pyproject.toml']",
    ),
    Attack(
        "the solution of the unit",
        "from hybrid_search import Retriever\n'imported'",
        "ImportError",
        _everything_revealed,
        "'imported'",
    ),
    Attack(
        "a key in the grader's environment",
        "import os\nos.environ.get('VOYAGE_API_KEY', 'no key')",
        "'no key'",
        _callers_environment,
        "'a secret'",
    ),
    Attack(
        "a change of the course",
        "open('/course/sitecustomize.py', 'w').write('import os')",
        "OSError: [Errno 30] Read-only file system",
        _writable_course,
        "9",
    ),
    Attack(
        "processes without bound",
        "import os, time\n"
        "try:\n"
        "    for made in range(150):\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(60)\n"
        "            os._exit(0)\n"
        "    print('150 processes')\n"
        "except BlockingIOError:\n"
        "    print('refused after', made)",
        f"refused after {LIMITS.processes - 1}",
        _without_limit("NPROC"),
        "150 processes",
    ),
    Attack(
        "memory in one process",
        "import mmap\nmemory = mmap.mmap(-1, 400_000_000)\n'got it'",
        "OSError: [Errno 12] Cannot allocate memory",
        _without_limit("AS"),
        "'got it'",
    ),
    Attack(
        "memory in many processes",
        "import os\n"
        "for process in range(5):\n"
        "    if os.fork() == 0:\n"
        "        memory = b'x' * 150_000_000\n"
        "        import time; time.sleep(60)\n"
        "import time; time.sleep(2)\n"
        "'got it'",
        "Stopped: stopped: the notebook used more than 300 MB of memory",
        _no_watch,
        "'got it'",
    ),
    Attack(
        "a disk full of files",
        "for number in range(5):\n"
        "    for folder in ('/tmp', '/dev/shm', '/notebook'):\n"
        "        open(f'{folder}/{number}', 'wb').write(b'x' * 15_000_000)\n"
        "'written'",
        "OSError: [Errno 28] No space left on device",
        lambda weakened: weakened.inside("isolation.py", ('f"size={size},', 'f"size={9 * size},')),
        "'written'",
    ),
    Attack(
        "a large file",
        "open('large', 'wb').write(b'x' * 30_000_000)\n'written'",
        "OSError: [Errno 27] File too large",
        _without_limit("FSIZE"),
        "'written'",
    ),
    Attack(
        "a new user namespace",
        _C + "libc.unshare(0x10000000)",
        "-1",
        _namespaces_allowed,
        "0",
    ),
    Attack(
        "tracing",
        _C + "libc.ptrace(0, 0, 0, 0)",
        "-1",
        _all_calls_allowed,
        "0",
    ),
    Attack(
        "memory that belongs to no process",
        _C + "libc.shmget(0, 1_000_000, 0o1600) >= 0",
        "False",
        _all_calls_allowed,
        "True",
    ),
    Attack(
        "a capability",
        "open('/proc/self/status').read().split('CapEff:')[1].split()[0] == '0' * 16",
        "True",
        _without("    _drop_capabilities()\n"),
        "False",
    ),
]
NAMES = [attack.name for attack in ATTACKS]


# Steps of attacks that take two notebooks or more.
LEAVE = """
import os
for folder in ('/', '/dev', '/tmp', '/notebook', '/dev/shm', '/course', '/root', '/etc', '/usr'):
    try:
        open(f'{folder}/left-behind', 'w').write('x')
    except OSError:
        pass
"""
FIND = """
import os
[folder for folder in ('/', '/dev', '/tmp', '/notebook', '/dev/shm') if os.path.exists(f'{folder}/left-behind')]
"""
DETACH = """
import subprocess, sys
waits = [sys.executable, '-c', 'import time; time.sleep(300)', MARK]
subprocess.Popen(waits, start_new_session=True).pid > 0
"""
SIGNAL = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for process in (0, -1, os.getppid(), 2, 3, 4, 5):
    try:
        os.kill(process, signal.SIGTERM)
    except OSError:
        pass
"""


def addressed(code: str, listener: socket.socket) -> str:
    """The code, with the port of a server that listens on this computer."""
    return code.replace("PORT", str(listener.getsockname()[1]))


def alive(mark: str) -> bool:
    """Is there a process on this computer with the mark among its arguments?"""
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if mark.encode() in Path("/proc", process, "cmdline").read_bytes().split(b"\0"):
                return True
        except OSError:
            continue
    return False
