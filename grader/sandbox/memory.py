"""How much memory a sandbox uses: all its processes together."""

import os
from pathlib import Path


def memory_in_use(process: int) -> int:
    """Bytes that the processes in the same namespace of processes as ``process`` use.

    What several share counts in proportion, so a sum over sandboxes counts nothing twice. 0 where the process
    is gone.
    """
    try:
        namespace = os.readlink(f"/proc/{process}/ns/pid")
    except OSError:
        return 0
    return sum(_proportional(entry) for entry in os.listdir("/proc") if _is_in(entry, namespace))


def _is_in(entry: str, namespace: str) -> bool:
    if not entry.isdecimal():
        return False
    try:
        return os.readlink(f"/proc/{entry}/ns/pid") == namespace
    except OSError:  # gone, or another user's
        return False


def _proportional(process: str) -> int:
    try:
        text = Path("/proc", process, "smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    _, found, rest = text.partition("\nPss:")
    return int(rest.split()[0]) * 1024 if found else 0
