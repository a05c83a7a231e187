"""Write files whole or not at all, and put aside what would fill the memory."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that whoever reads it sees the old content or the new one, and never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_bytes(content)
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


class PutAside:
    """Bytes that are needed again later, on disk in ``folder``. They go when this, or the process, ends."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - it has no name and closes itself

    def put(self, content: bytes) -> slice:
        """Where it lies. Raises OSError where there is no room."""
        start = self._file.seek(0, os.SEEK_END)
        self._file.write(content)
        self._file.flush()
        return slice(start, start + len(content))

    def get(self, place: slice) -> bytes:
        if hasattr(os, "pread"):  # of several processes, each reads where it will
            return os.pread(self._file.fileno(), place.stop - place.start, place.start)
        self._file.seek(place.start)
        return self._file.read(place.stop - place.start)
