"""A folder for one sandbox, which is gone when nobody needs it, even where its grader was killed."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows: what a killed grader leaves behind stays
    fcntl = None

_PREFIX = "grading-"
_LOCK = "in-use"


class Scratch:
    """A new folder that others may read. Making one removes those whose makers are no more."""

    def __init__(self) -> None:
        remove_left_behind()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self.path.chmod(0o755)
        self._lock: int | None = None
        if fcntl is not None:
            self._take_lock()

    def _take_lock(self) -> None:
        # Locked under another name first, so that nobody takes it for one left behind.
        early = self.path / f"{_LOCK}.new"
        self._lock = os.open(early, os.O_CREAT | os.O_WRONLY, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        early.rename(self.path / _LOCK)

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        lock, self._lock = self._lock, None
        if lock is not None:
            os.close(lock)


def remove_left_behind() -> None:
    """Remove the folders of this user that no living process has locked."""
    if fcntl is None:
        return
    for lock in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError):  # in use, gone already, or another user's
            _remove_if_free(lock)


def _remove_if_free(lock: Path) -> None:
    descriptor = os.open(lock, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        if os.fstat(descriptor).st_uid != os.geteuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(lock.parent, ignore_errors=True)
    finally:
        os.close(descriptor)
