"""How much memory a sandbox uses: all its processes together, and its private folders, which lie in memory."""

import contextlib
import ctypes
import os
import platform
import signal
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PRIVATE_FOLDERS = ("tmp", "notebook", "dev/shm")
_SELDOM, _OFTEN = 0.2, 0.01  # seconds between two looks
_FASTEST = 5e9  # bytes a second that processes can fill, about
_HOLD_SECONDS = 0.5  # to wait for all processes to stand still
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
    quick = _in_folders(process) + _all_resident(process, namespace)
    if quick <= limit:
        return quick
    # The exact count takes time, in which many processes could fill a great deal.
    with _held_still(namespace) as inside:
        used = _in_folders(process)
        for entry in inside:
            if used > limit > 0:
                break
            used += _own(entry)
    return used


def memory_of(processes: Iterable[int], limit: int = 0) -> int:
    """As memory_in_use, of processes that are in no sandbox."""
    entries = list(map(str, processes))
    quick = sum(map(_resident, entries))
    return quick if quick <= limit else sum(map(_own, entries))


def next_look(used: int, limit: int) -> float:
    """Seconds until it is time to look again, so that little more than the limit can be filled meanwhile."""
    return min(_SELDOM, max(_OFTEN, (limit - used) / _FASTEST))


@contextlib.contextmanager
def _held_still(namespace: str) -> Iterator[list[str]]:
    """Stop the processes in a namespace, and let them go on at the end. Gives their entries in /proc."""
    held: dict[str, int] = {}
    end = time.monotonic() + _HOLD_SECONDS
    try:
        while time.monotonic() < end:
            # Looked at before the others are searched: one that is about to stop may still start another.
            standing = all(map(_stands, held))
            new = [entry for entry in _inside(namespace) if entry not in held]
            if standing and not new:
                break
            for entry in new:
                _stop(entry, namespace, held)
        yield list(held)
    finally:
        for descriptor in held.values():
            with contextlib.suppress(OSError):
                signal.pidfd_send_signal(descriptor, signal.SIGCONT)
            os.close(descriptor)


def _stop(entry: str, namespace: str, held: dict[str, int]) -> None:
    """Stop a process, and note its descriptor. A number may by now be that of a process elsewhere."""
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(int(entry))
        if not _is_in(entry, namespace):
            os.close(descriptor)
            return
        held[entry] = descriptor
        signal.pidfd_send_signal(descriptor, signal.SIGSTOP)


def _stands(entry: str) -> bool:
    """Has the process stopped, or ended?"""
    try:
        return _status(entry)[0] in "TtZX"
    except OSError:
        return True


def _inside(namespace: str) -> list[str]:
    return [entry for entry in os.listdir("/proc") if _is_in(entry, namespace)]


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


def _all_resident(process: int, namespace: str) -> int:
    """What is in memory for all processes in the namespace, each with what others share.

    The sandbox's own /proc lists them, and no others: with many processes on the computer that is a tenth of the time.
    """
    own = f"/proc/{process}/root/proc"
    try:
        if os.readlink(f"{own}/1/ns/pid") == namespace:
            return sum(_resident(entry, own) for entry in os.listdir(own) if entry.isdecimal())
    except OSError:  # not there yet, gone, or not to be seen
        pass
    return sum(map(_resident, _inside(namespace)))


def _resident(process: str, proc: str = "/proc") -> int:
    """All that is in memory for a process, also what others share."""
    try:
        return int(Path(proc, process, "statm").read_text(encoding="ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _proportional(process: str) -> int:
    try:
        text = Path("/proc", process, "smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    _, found, rest = text.partition("\nPss:")
    return int(rest.split()[0]) * 1024 if found else 0


def _own(process: str) -> int:
    return 0 if _is_parents(process) else _proportional(process)


def _is_parents(process: str) -> bool:
    """Is its memory the parent's very own, as between vfork() and the start of another program?

    Then it counts with the parent. Where the system does not say, it counts twice for that moment.
    """
    if _KCMP is None:
        return False
    try:
        parent = int(_status(process)[1])
        return ctypes.CDLL(None).syscall(_KCMP, int(process), parent, _SAME_MEMORY, 0, 0) == 0
    except (OSError, IndexError):
        return False


def _status(process: str) -> list[str]:
    """What the system says of a process behind its name: its state, its parent, and more."""
    text = Path("/proc", process, "stat").read_text(encoding="utf-8", errors="replace")
    return text.rpartition(")")[2].split()
