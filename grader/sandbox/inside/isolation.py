"""How a child of the warm parent locks itself in before it runs the first line of a submission.

It starts with nothing but what bubblewrap left: an ordinary user's rights in a read-only file system without a
network. Of that it gives up the rest, so that nothing it does outlives it or touches another notebook.
"""

import ctypes
import os
import platform
import resource
import signal
import struct
from collections.abc import Callable
from pathlib import Path

_libc = ctypes.CDLL(None, use_errno=True)

# From <sched.h>, <sys/mount.h>, <sys/prctl.h> and <linux/capability.h>.
_NEWNS, _NEWUTS, _NEWIPC, _NEWUSER, _NEWPID, _NEWNET = (
    *(0x20000, 0x4000000, 0x8000000),
    *(0x10000000, 0x20000000, 0x40000000),
)
_NOSUID, _NODEV, _NOEXEC, _REC, _PRIVATE = 2, 4, 8, 0x4000, 1 << 18
_CAPBSET_DROP, _CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL = 24, 47, 4
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _SECCOMP_MODE_FILTER = 38, 22, 2
_CAPABILITY_VERSION_3 = 0x20080522

_PRIVATE_FOLDERS = ("/tmp", "/notebook", "/dev/shm")
_MOST_FILES = 20_000  # in each private folder
_NAMESPACES = _NEWUSER | _NEWNS | _NEWPID | _NEWIPC | _NEWNET | _NEWUTS
_CHILD_SETTID, _CHILD_CLEARTID = 0x1000000, 0x200000
_GET_TID_ADDRESS = 40
# The number of clone(), from <asm/unistd.h>, and which of its last two arguments is where the thread finds its number.
_CLONE = {"x86_64": (56, 0), "aarch64": (220, 1)}
_KINDS = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup", "time")
_OPEN_FILES = 256


def enter_namespaces() -> None:
    """New namespaces for users, files, processes, System V objects, the network and the host's name.

    The process keeps its user id. Only its children are in the new namespace of processes.
    """
    user, group = os.getuid(), os.getgid()
    _call(_libc.unshare, _NAMESPACES)
    _map_own_id(user, group)


def fork_into_namespaces() -> int | None:
    """os.fork() to a child that is in new namespaces from its first moment, as the first of its processes.

    The same as a fork, enter_namespaces() and a second fork, in half the time. None, and nothing done, where this
    system does not say what is needed for it.
    """
    address = ctypes.c_void_p()
    number, position = _CLONE.get(platform.machine(), (0, 0))
    if not number or _libc.prctl(_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) != 0:
        return None
    user, group = os.getuid(), os.getgid()
    flags = (
        _NAMESPACES | _CHILD_SETTID | _CHILD_CLEARTID | signal.SIGCHLD
    )  # as the C library's fork() has them
    last = [ctypes.c_void_p(0), ctypes.c_void_p(0)]
    last[position] = address
    python = ctypes.PyDLL(None, use_errno=True)  # keeps Python's lock, as os.fork() does
    python.syscall.restype = ctypes.c_long
    python.PyOS_BeforeFork()
    child = python.syscall(
        ctypes.c_long(number), ctypes.c_ulong(flags), ctypes.c_void_p(0), ctypes.c_void_p(0), *last
    )
    if child == 0:
        python.PyOS_AfterFork_Child()
        _map_own_id(user, group)
        return 0
    problem = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if child < 0:
        raise OSError(problem, f"clone: {os.strerror(problem)}")
    return child


def _map_own_id(user: int, group: int) -> None:
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def lock_in(limits: dict[str, int], seccomp: bytes, keep: int) -> None:
    """In the first process of the new namespaces: private folders, limits, and then no way back.

    ``limits`` has "disk", "memory", "processes", "file_size" and "seconds"; ``seccomp`` is a BPF program;
    ``keep`` is the one file descriptor besides the standard ones that stays open.
    """
    os.setsid()  # a signal to its group would reach the warm parent otherwise
    _private_folders(limits["disk"])
    for kind in _KINDS:
        file = f"/proc/sys/user/max_{kind}_namespaces"
        if os.path.exists(file):
            _write(file, "0")
    _write("/proc/self/oom_score_adj", "1000")  # where the computer runs out of memory, this goes first
    _close_all_but(keep)
    _catch_what_bypasses_python()
    os.chdir("/notebook")
    os.umask(0o022)
    _set_limits(limits)
    _drop_capabilities()
    _call(_libc.prctl, _SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _filter_system_calls(seccomp)


def _private_folders(size: int) -> None:
    _mount("none", "/", "", _REC | _PRIVATE)
    _mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)
    for folder in _PRIVATE_FOLDERS:
        _mount("tmpfs", folder, "tmpfs", _NOSUID | _NODEV, f"size={size},nr_inodes={_MOST_FILES},mode=0700")
    _mount("devpts", "/dev/pts", "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")


def _set_limits(limits: dict[str, int]) -> None:
    """Limits of each process, besides that on memory which the grader holds over all together."""
    mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    for kind, most in (
        (resource.RLIMIT_AS, mapped + limits["memory"]),
        (resource.RLIMIT_NPROC, limits["processes"]),
        (resource.RLIMIT_FSIZE, limits["file_size"]),
        (resource.RLIMIT_CPU, limits["seconds"]),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
        (resource.RLIMIT_CORE, 1),  # 0 would still start the system's crash handler; 1 byte does not
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
    ):
        resource.setrlimit(kind, (most, most))


def _drop_capabilities() -> None:
    capability = 0
    while _libc.prctl(_CAPBSET_DROP, capability, 0, 0, 0) == 0:  # until past the last one
        capability += 1
    _call(_libc.prctl, _CAP_AMBIENT, _CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    _call(_libc.capset, struct.pack("II", _CAPABILITY_VERSION_3, 0), bytes(24))


def _filter_system_calls(program: bytes) -> None:
    buffer = ctypes.create_string_buffer(program, len(program))
    instructions = len(program) // 8
    description = struct.pack("HxxxxxxQ", instructions, ctypes.addressof(buffer))
    _call(_libc.prctl, _SET_SECCOMP, _SECCOMP_MODE_FILTER, description, 0, 0)


def _close_all_but(keep: int) -> None:
    os.closerange(3, keep)
    os.closerange(keep + 1, 1 << 16)


def _catch_what_bypasses_python() -> None:
    """What C code and other programs write on stdout and stderr goes to files in memory, read after a cell."""
    for descriptor in (1, 2):
        file = os.memfd_create("output")
        os.dup2(file, descriptor)
        os.close(file)


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    _call(
        _libc.mount,
        source.encode(),
        target.encode(),
        kind.encode(),
        ctypes.c_ulong(flags),
        options.encode(),
    )


def _write(path: str, text: str) -> None:
    Path(path).write_text(text, encoding="ascii")


def _call(function: Callable[..., int], *arguments: object) -> None:
    if function(*arguments) < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{function.__name__}: {os.strerror(number)}")
