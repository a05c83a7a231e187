"""What lies in a folder of submissions, seen without following a link and read without a race."""

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..language import translate as _

MOST_ENTRIES = 10_000  # of one folder
MOST_FILE = 10_000_000  # bytes of a notebook
_NOT_FOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
# A pipe without a writer must not hold the grader up, nor a terminal become its own.
_NOT_WAITED_FOR = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_BY_FOLDER = os.open in os.supports_dir_fd and bool(_NOT_FOLLOWED)
_OF_OTHER_PROGRAMS = {"__MACOSX", "__pycache__", "thumbs.db", "desktop.ini", "lost+found"}

# "special" is a pipe, a socket or a device; "outside" an entry of a zip whose path climbs out of it.
Kind = Literal["file", "folder", "link", "special", "outside"]


class CannotRead(ValueError):
    """A file or folder is not what it should be, or not to be read; the message is a clause that says why."""


@dataclass(frozen=True)
class Entry:
    """A file or folder that was handed in. ``path`` lies below ``root``, the folder that was given to us.

    Of a zip, ``inside`` holds what a folder holds, and ``problem`` says why a file was not unpacked.
    """

    name: str
    kind: Kind
    path: Path
    root: Path
    problem: str = ""
    inside: tuple["Entry", ...] | None = None


def visible(entries: Sequence[Entry]) -> list[Entry]:
    """Without hidden files and the traces of other programs: nobody means to hand those in."""
    return [entry for entry in entries if not hidden(entry.name)]


def hidden(name: str) -> bool:
    return name.startswith(".") or name in _OF_OTHER_PROGRAMS or name.lower() in _OF_OTHER_PROGRAMS


def entries_in(folder: Entry) -> list[Entry]:
    """What lies in a folder, by name. Raises CannotRead."""
    if folder.inside is not None:
        return list(folder.inside)
    found = []
    try:
        descriptor = _open(folder.root, folder.path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            with os.scandir(folder.path if descriptor is None else descriptor) as listing:
                for item in listing:
                    if len(found) == MOST_ENTRIES:
                        raise CannotRead(
                            _("{name} holds more than {most} files").format(
                                name=shown(folder.name), most=MOST_ENTRIES
                            )
                        )
                    kind = _kind(item.stat(follow_symlinks=False).st_mode)
                    found.append(Entry(item.name, kind, folder.path / item.name, folder.root))
        finally:
            if descriptor is not None:
                os.close(descriptor)
    except OSError as error:
        raise _cannot(folder.name, error) from error
    return sorted(found, key=lambda entry: entry.name)


def read(root: Path, path: Path, most: int) -> bytes:
    """The bytes of a regular file below ``root``; no part of its path below ``root`` is a link.

    Raises CannotRead for a link, a pipe, a device or a file of more than ``most`` bytes.
    """
    try:
        # Some devices act when they are opened, so the first look is without opening.
        _must_be_small_file(path.name, os.lstat(path), most)
        descriptor = _open(root, path, os.O_RDONLY | _NOT_WAITED_FOR, windows=True)
        with open(descriptor, "rb", closefd=True) as file:
            _must_be_small_file(path.name, os.fstat(file.fileno()), most)
            data = file.read(most + 1)
    except OSError as error:
        raise _cannot(path.name, error) from error
    if len(data) > most:
        raise CannotRead(too_large(path.name, most))
    return data


def shown(name: str, most: int = 80) -> str:
    """A file's name for people: no control characters, not too long."""
    text = name.encode("utf-8", "backslashreplace").decode()
    text = "".join(character if character.isprintable() else "?" for character in text)
    return text if len(text) <= most else text[: most // 2] + "..." + text[-most // 2 :]


def told(entry: Entry) -> str:
    """Why an entry is refused, or nothing where it is a plain file or folder."""
    sentences = {
        "link": _("{name} is a link, and links are not followed"),
        "special": _("{name} is no ordinary file"),
        "outside": _("the path {name} leads out of the submission"),
    }
    if entry.kind in sentences:
        return sentences[entry.kind].format(name=shown(entry.name))
    return entry.problem


def too_large(name: str, most: int) -> str:
    return _("{name} is larger than {megabytes:g} MB").format(name=shown(name), megabytes=most / 1e6)


def _open(root: Path, path: Path, flags: int, windows: bool = False) -> int | None:
    """A descriptor for a path below ``root``, opened one folder after the other without following links."""
    if not _BY_FOLDER:
        return os.open(path, flags) if windows else None
    parts = path.relative_to(root).parts
    here = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    if not parts:
        return here
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | _NOT_FOLLOWED, dir_fd=here)
            os.close(here)
            here = inner
        return os.open(parts[-1], flags | _NOT_FOLLOWED, dir_fd=here)
    finally:
        os.close(here)


def _kind(mode: int) -> Kind:
    if stat.S_ISLNK(mode):
        return "link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "file" if stat.S_ISREG(mode) else "special"


def _must_be_small_file(name: str, status: os.stat_result, most: int) -> None:
    kind = _kind(status.st_mode)
    if kind == "folder":
        raise CannotRead(_("{name} is a folder and not a file").format(name=shown(name)))
    if problem := told(Entry(name, kind, Path(), Path())):
        raise CannotRead(problem)
    if status.st_size > most:
        raise CannotRead(too_large(name, most))


def _cannot(name: str, error: OSError) -> Exception:
    """What the learner's file is to blame for; where the machine is, the error itself."""
    sentences = {
        errno.ENOENT: _("{name} is not there any more"),
        errno.ENOTDIR: _("{name} is no folder, or a link"),
        errno.ELOOP: _("{name} is a link, and links are not followed"),
        errno.ENXIO: _("{name} is no ordinary file"),
        errno.EACCES: _("{name} may not be read by the grader"),
        errno.EPERM: _("{name} may not be read by the grader"),
        errno.ENAMETOOLONG: _("the name {name} is too long"),
    }
    if error.errno not in sentences:
        return error
    return CannotRead(sentences[error.errno].format(name=shown(name)))
