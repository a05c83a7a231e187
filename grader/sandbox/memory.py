"""How much memory a sandbox uses: all its processes together, and its private folders, which lie in memory."""

import contextlib
import ctypes
import os
import platform
from pathlib import Path

PRIVATE_FOLDERS = ("tmp", "notebook", "dev/shm")
_SELDOM, _OFTEN = 0.2, 0.01  # seconds between two looks
_FASTEST = 5e9  # bytes a second that processes can fill, about
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_KCMP = {"x86_64": 312, "aarch64": 272}.get(platform.machine())  # from <asm/unistd.h>
_SAME_MEMORY = 1  # KCMP_VM, from <linux/kcmp.h>


def memory_in_use(process: int, limit: int = 0) -> int:
    """Bytes that the sandbox uses in which ``process`` is: processes in the same namespace, and private folders.

    What several processes share counts in proportion, so a sum over sandboxes counts nothing twice. Where even a
    quick count, which takes it for each one's own, stays below ``limit``, that is the answer; where the exact
    count passes it, the answer is above ``limit``. 0 where the process is gone.
    """
    try:
        namespace = os.readlink(f"/proc/{process}/ns/pid")
    except OSError:
        return 0
    inside = [entry for entry in os.listdir("/proc") if _is_in(entry, namespace)]
    folders = _in_folders(process)
    quick = folders + sum(map(_resident, inside))
    if quick <= limit:
        return quick
    used = folders
    for entry in inside:
        if used > limit > 0:
            break
        if not _is_parents(entry):
            used += _proportional(entry)
    return used


def next_look(used: int, limit: int) -> float:
    """Seconds until it is time to look again, so that little more than the limit can be filled meanwhile."""
    return min(_SELDOM, max(_OFTEN, (limit - used) / _FASTEST))


def _is_in(entry: str, namespace: str) -> bool:
    if not entry.isdecimal():
        return False
    try:
        return os.readlink(f"/proc/{entry}/ns/pid") == namespace
    except OSError:  # gone, or another user's
        return False


def _in_folders(process: int) -> int:
    """What lies in the private folders of the sandbox."""
    used = 0
    for folder in PRIVATE_FOLDERS:
        with contextlib.suppress(OSError):
            room = os.statvfs(f"/proc/{process}/root/{folder}")
            used += (room.f_blocks - room.f_bfree) * room.f_frsize
    return used


def _resident(process: str) -> int:
    """All that is in memory for a process, also what others share."""
    try:
        return int(Path("/proc", process, "statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(process: str) -> int:
    try:
        text = Path("/proc", process, "smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    _, found, rest = text.partition("\nPss:")
    return int(rest.split()[0]) * 1024 if found else 0


def _is_parents(process: str) -> bool:
    """Is its memory the parent's very own, as between vfork() and the start of another program?

    Then it counts with the parent. Where the system does not say, it counts twice for that moment.
    """
    if _KCMP is None:
        return False
    try:
        parent = (
            Path("/proc", process, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        )
        system_call = ctypes.CDLL(None).syscall
        return system_call(_KCMP, int(process), int(parent.split()[1]), _SAME_MEMORY, 0, 0) == 0
    except (OSError, IndexError):
        return False
