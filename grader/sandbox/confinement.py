"""How bubblewrap is called: what of this computer a sandbox sees, as whom it runs, and whether it can run here.

A sandbox sees the system's programs and libraries, the Python interpreter and its packages, and the folders
it is given, all read-only. It has namespaces of its own for files, processes, the network and the rest, a
cleared environment, and private folders for working and temporary files. Where the course is installed among
those packages, its own packages are hidden: a sandbox sees of the course what it is given.

As root the sandbox runs under a user id of its own. An outer bubblewrap shows the files, since that id could
not read a folder of root's, and drops to it; from there on the path is that of an ordinary user.
"""

import itertools
import os
import shutil
import site
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from ..paths import ROOT
from . import seccomp
from .execution import NoSandbox

# Places inside a sandbox.
COURSE = "/course"  # the staged course
WORKING_FOLDER = "/notebook"  # the home, too
_ENVIRONMENT = "/venv"  # the virtual environment, where Python runs in one

_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/libx32", "/bin", "/sbin")
_SETTINGS = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/ssl/certs", "/etc/alternatives")
# Where a class may keep its work, and people their sources, below what is shown.
_OTHERS = ("/usr/local/share/nbgrader", "/usr/src", "/usr/local/src")
_OUR_PACKAGES = ("lab", "grader", "hybrid_search", "misconceptions")
_PRIVATE = ("/tmp", WORKING_FOLDER, "/dev/shm")
# The user inside, whoever it is outside. Postgres, for one, must find its user's name in /etc/passwd.
_USER = ("1000", str(Path(__file__).with_name("passwd")))


@dataclass(frozen=True)
class Mount:
    """A file or folder of this computer, and where it lies inside."""

    source: str
    destination: str
    writable: bool = False


def python() -> str:
    """The interpreter's path inside a sandbox."""
    return f"{_ENVIRONMENT}/bin/python" if _in_virtual_environment() else os.path.realpath(sys.executable)


def environment(hash_seed: int = 0) -> dict[str, str]:
    """All variables of a sandbox: none of the caller's gets in."""
    return {
        "HOME": WORKING_FOLDER,
        "PATH": f"{os.path.dirname(python())}:/usr/bin:/bin",
        "TMPDIR": "/tmp",
        "LANG": "C.UTF-8",
        "USER": "learner",
        "PYTHONPATH": ":".join((COURSE, *_user_libraries())),
        "PYTHONSAFEPATH": "1",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": str(hash_seed),
        # Under one sandbox a CPU, threads of numerical libraries only get in each other's way.
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "TOKENIZERS_PARALLELISM": "false",
        "ORT_DISABLE_TELEMETRY": "1",
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",  # as a notebook has it
        "NBGRADER_EXECUTION": "autograde",
    }


def command(
    argv: Sequence[str],
    *,
    mounts: Sequence[Mount] = (),
    variables: Mapping[str, str] | None = None,
    disk: int = 50_000_000,
    user: int | None = None,
    seccomp_fd: int | None = None,
) -> list[str]:
    """The command line that runs ``argv``, a command line of paths inside, in a sandbox.

    ``mounts`` are shown besides the system and Python. ``variables`` is the whole environment, by default
    environment(). ``disk`` is the size in bytes of each private folder. ``user`` is the user id where the
    caller is root (see free_user_id()), and of no use otherwise. ``seccomp_fd`` is a file descriptor, passed
    on by the caller, from which bubblewrap reads a filter of system calls (seccomp.program()); without it
    the sandbox can make further namespaces.

    The sandbox ends with the thread that started it. Its working folder is empty and the current one.
    """
    seen = (*_visible(), *mounts)
    if os.geteuid() != 0:
        return _inner(argv, seen, _hidden(seen), variables, disk, seccomp_fd)
    again = [Mount(mount.destination, mount.destination, mount.writable) for mount in seen]
    inner = _inner(argv, again, (), variables, disk, seccomp_fd)
    return _outer(inner, seen, free_user_id() if user is None else user)


def _inner(
    argv: Sequence[str],
    mounts: Sequence[Mount],
    hidden: Iterable[str],
    variables: Mapping[str, str] | None,
    disk: int,
    seccomp_fd: int | None,
) -> list[str]:
    """The sandbox itself, started by somebody without privileges."""
    line = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--hostname", "notebook"]
    line += ["--unshare-user", "--uid", _USER[0], "--gid", _USER[0], "--clearenv"]
    for name, value in (environment() if variables is None else variables).items():
        line += ["--setenv", name, value]
    line += ["--proc", "/proc", "--dev", "/dev"]
    for folder in _PRIVATE:
        line += ["--perms", "0700", "--size", str(disk), "--tmpfs", folder]
    line += [*_shown(mounts), *_masked(hidden)]
    # Both are in memory and belong to the sandbox's user: a file there would outlive a notebook.
    line += ["--remount-ro", "/dev", "--remount-ro", "/"]
    if seccomp_fd is not None:
        line += ["--seccomp", str(seccomp_fd)]
    return [*line, "--chdir", WORKING_FOLDER, "--", *argv]


def _outer(inner: Sequence[str], mounts: Sequence[Mount], user: int) -> list[str]:
    """Run by root: shows the files, then drops to ``user`` without any privilege."""
    line = ["bwrap", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--die-with-parent", "--clearenv"]
    line += ["--setenv", "PATH", "/usr/bin:/bin:/usr/sbin:/sbin"]
    line += ["--bind", "/proc", "/proc", "--dev-bind", "/dev", "/dev", "--tmpfs", "/tmp"]
    line += [*_shown(mounts), *_masked(_hidden(mounts))]
    for capability in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
        line += ["--cap-add", capability]
    drop = ["setpriv", "--reuid", str(user), "--regid", str(user), "--clear-groups"]
    drop += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    return [*line, "--", *drop, "--", *inner]


def _shown(mounts: Iterable[Mount]) -> list[str]:
    """Options that show the mounts. bubblewrap would make missing parents that only their owner can enter."""
    options: list[str] = []
    there = {"/", "/proc", "/dev", *_PRIVATE}
    for mount in mounts:
        for parent in reversed(PurePosixPath(mount.destination).parents):
            if str(parent) not in there:
                options += ["--perms", "0755", "--dir", str(parent)]
                there.add(str(parent))
        if mount.destination in _SYSTEM and os.path.islink(mount.source):
            options += ["--symlink", os.readlink(mount.source), mount.destination]
        else:
            options += ["--bind" if mount.writable else "--ro-bind", mount.source, mount.destination]
        there.add(mount.destination)
    return options


def _masked(folders: Iterable[str]) -> list[str]:
    """Options that lay an empty folder, which nobody can write to, over each of these."""
    options: list[str] = []
    for folder in folders:
        options += ["--perms", "0555", "--size", "4096", "--tmpfs", folder, "--remount-ro", folder]
    return options


@cache
def _visible() -> tuple[Mount, ...]:
    """The system, the interpreter and its packages."""
    mounts = [Mount(path, path) for path in (*_SYSTEM, *_SETTINGS) if os.path.exists(path)]
    mounts.append(Mount(_USER[1], "/etc/passwd"))
    base = os.path.dirname(os.path.dirname(os.path.realpath(sys.executable)))
    for path in dict.fromkeys((sys.base_prefix, os.path.realpath(sys.base_prefix), base)):
        if not _below(path, (mount.source for mount in mounts)):
            mounts.append(Mount(path, path))
    if _in_virtual_environment():
        mounts.append(Mount(sys.prefix, _ENVIRONMENT))
    for path in _user_libraries():
        mounts.append(Mount(path, path))
    return tuple(mounts)


def _hidden(mounts: Sequence[Mount]) -> list[str]:
    """What the system and the packages would show besides: the course itself, and other people's work."""
    libraries = {entry for entry in (*sys.path, *site.getsitepackages(), *_user_libraries()) if entry}
    packages = [os.path.join(folder, name) for folder in libraries for name in _OUR_PACKAGES]
    project = [str(ROOT)] if (ROOT / "pyproject.toml").is_file() else []
    ours = [mount for mount in mounts if mount in _visible()]
    found = {
        _moved(os.path.realpath(path), mount)
        for path in (*packages, *project, *_OTHERS)
        if os.path.isdir(path)
        for mount in ours
        if _below(os.path.realpath(path), [os.path.realpath(mount.source)])
    }
    return sorted(found)


def _moved(path: str, mount: Mount) -> str:
    """Where a path below a mount's source lies inside."""
    return os.path.normpath(
        os.path.join(mount.destination, os.path.relpath(path, os.path.realpath(mount.source)))
    )


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(PurePosixPath(path).is_relative_to(folder) for folder in folders)


def _in_virtual_environment() -> bool:
    return sys.prefix != sys.base_prefix


def _user_libraries() -> tuple[str, ...]:
    """Packages that the user has installed for themselves alone, where Python sees them."""
    folder = site.getusersitepackages()
    return (folder,) if folder in sys.path and os.path.isdir(folder) else ()


_count = itertools.count()


def free_user_id() -> int:
    """A user id for one sandbox, which no other sandbox of this computer has at the same time.

    Limits on processes count by user id. Made from this process's id and a counter; where only a few ids
    are mapped, as in some containers, it repeats sooner.
    """
    mapped = Path("/proc/self/uid_map").read_text(encoding="ascii").split()
    wide = len(mapped) == 3 and int(mapped[2]) > 0x7FFFFFFF
    number = os.getpid() * 256 + next(_count) % 256
    return 0x40000000 + number % 0x30000000 if wide else 20_000 + number % 40_000


_trying = threading.Lock()


@cache
def why_not() -> str:
    """Why no sandbox can run here, and what to do about it, in one sentence; "" where one can. Tried once."""
    return _missing() or _try_once()


def _missing() -> str:
    """What a sandbox needs and this machine has not, as far as one can see without trying."""
    if sys.platform != "linux":
        return (
            "The sandbox needs Linux, for bubblewrap and its namespaces: grade on Linux, or in a virtual machine "
            "or WSL 2 with Linux."
        )
    if not shutil.which("bwrap"):
        return "The program bubblewrap is missing: install it with `sudo apt install bubblewrap`."
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        return "The program setpriv is missing: install it with `sudo apt install util-linux`."
    try:
        seccomp.program()
    except seccomp.NoSeccomp as missing:
        return str(missing)
    if _below(os.path.realpath(sys.base_prefix), ["/tmp"]):
        return f"Python lies in {sys.base_prefix}, and a sandbox has a /tmp of its own: install Python elsewhere."
    return ""


def need_sandbox() -> None:
    """Raise NoSandbox with the sentence of why_not() where no sandbox can run."""
    with _trying:  # of two threads one tries, and the other has the answer then
        reason = why_not()
    if reason:
        raise NoSandbox(reason)


def need_parts() -> None:
    """Raise NoSandbox where something is missing without which none can be tried."""
    if reason := _missing():
        raise NoSandbox(reason)


# In a sandbox, makes namespaces as the warm parent's children do: user, mount, pid, ipc, net and uts.
_TRIAL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
failed = libc.unshare(0x10000000 | 0x20000 | 0x20000000 | 0x8000000 | 0x40000000 | 0x4000000)
print("unshare", ctypes.get_errno() if failed else 0)
"""


def _try_once() -> str:
    """Run the trial in a sandbox, and say in a sentence what went wrong, if anything."""
    try:
        trial = subprocess.run(
            command([python(), "-c", _TRIAL]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            cwd="/",
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        return f"bubblewrap did not run: {problem}."
    if trial.stdout.strip() == "unshare 0":
        return ""
    return _forbidden() or (
        "bubblewrap cannot make a sandbox here; in a container, start it with `--security-opt "
        f"seccomp=unconfined`. It said: {' '.join((trial.stderr or trial.stdout).split())[:300]}"
    )


def _forbidden() -> str:
    """The setting of the kernel that forbids user namespaces, if there is one."""
    for name, forbids, allowing in (
        ("kernel.unprivileged_userns_clone", "0", "1"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
        ("user.max_user_namespaces", "0", "15000"),
    ):
        file = Path("/proc/sys", *name.split("."))
        if file.is_file() and file.read_text(encoding="ascii").strip() == forbids:
            return (
                f"User namespaces are forbidden by {name} = {forbids}: allow them with "
                f"`sudo sysctl {name}={allowing}`."
            )
    return ""
