"""A zip of submissions: what is in it, and only the files that are wanted unpacked, within bounds.

No name in the zip becomes a path on disk: what is unpacked lies under numbers.
"""

import errno
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from ..language import translate as _
from .entries import MOST_FILE, CannotRead, Entry, Kind, hidden, shown, too_large

MOST_FILES = 20_000
MOST_BYTES = 1_000_000_000  # of all files together, unpacked
MOST_RATIO, _RATIO_FROM = 100, 50_000_000  # unpacked to packed; a small zip may be as dense as it likes
_DEEPEST = 20
_MOST_DIRECTORY = 4_000_000  # bytes of the zip's table of contents
_ENCRYPTED = 0x1
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    struct.error,
    ValueError,
    OverflowError,
    NotImplementedError,
    RuntimeError,
)


def unpack(path: Path, endings: Collection[str], scratch: Path) -> Entry:
    """The zip as a folder. Files with one of ``endings`` are unpacked into ``scratch``, an empty folder.

    Zips in the zip are not opened. Links, devices and paths that climb out of their learner's folder are
    entries of that kind and never unpacked; neither is a file of more than 10 MB. Raises CannotRead for a zip
    that is damaged, encrypted, a bomb, or names a place outside itself.
    """
    try:
        with open(path, "rb") as file, zipfile.ZipFile(_Bounded(file)) as archive:
            packed = _size(file)
            members = archive.infolist()
            _must_be_bounded(path, members, packed)
            tree = _Tree(scratch)
            for number, member in enumerate(members):
                _add(tree, archive, member, scratch / f"{number:06d}", endings)
            return tree.as_entry(path.name)
    except CannotRead:
        raise
    except _DAMAGED as error:
        raise CannotRead(
            _("{name} is damaged, or no zip that can be read here").format(name=shown(path.name))
        ) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a place before the file's start
            raise
        raise CannotRead(_("{name} is damaged").format(name=shown(path.name))) from error


class _Bounded:
    """A file of which nobody reads more than the table of contents of a zip may be long, in one piece."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read(self, size: int | None = -1) -> bytes:
        whole = size is None or size < 0
        data = self._file.read(_MOST_DIRECTORY + 1 if whole else min(size, _MOST_DIRECTORY + 1))
        if len(data) > _MOST_DIRECTORY:
            raise CannotRead(_("the zip names more than {most} files").format(most=MOST_FILES))
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _size(file: BinaryIO) -> int:
    here = file.tell()
    end = file.seek(0, 2)
    file.seek(here)
    return end


def _must_be_bounded(path: Path, members: list[zipfile.ZipInfo], packed: int) -> None:
    name = shown(path.name)
    if len(members) > MOST_FILES:
        raise CannotRead(_("{name} names more than {most} files").format(name=name, most=MOST_FILES))
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise CannotRead(
            _("{name} is encrypted: unpack it with its password, and grade the folder").format(name=name)
        )
    unpacked = sum(member.file_size for member in members)
    largest = shown(max(members, key=lambda member: member.file_size).filename) if members else ""
    if unpacked > MOST_BYTES:
        raise CannotRead(
            _(
                "{name} would unpack to {size:.1f} GB, more than {most:g} GB; the largest file is {file}"
            ).format(name=name, size=unpacked / 1e9, most=MOST_BYTES / 1e9, file=largest)
        )
    if unpacked > _RATIO_FROM and unpacked > MOST_RATIO * packed:
        raise CannotRead(
            _(
                "{name} would unpack to {ratio} times its size, as zip bombs do; the largest file is {file}"
            ).format(name=name, ratio=unpacked // max(packed, 1), file=largest)
        )
    if sum(member.compress_size for member in members) > packed:
        raise CannotRead(_("{name} is damaged: its files overlap").format(name=name))


class _Tree:
    """Folders and files, as they are found."""

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.folders: dict[str, _Tree] = {}
        self.leaves: list[Entry] = []

    def folder(self, parts: tuple[str, ...]) -> "_Tree":
        here = self
        for part in parts:
            here = here.folders.setdefault(part, _Tree(self.scratch))
        return here

    def leaf(self, name: str, kind: Kind, path: Path, problem: str = "") -> None:
        self.leaves.append(Entry(name, kind, path, self.scratch, problem))

    def as_entry(self, name: str) -> Entry:
        folders = [folder.as_entry(inner) for inner, folder in self.folders.items()]
        inside = tuple(sorted(self.leaves + folders, key=lambda entry: entry.name))
        return replace(Entry(name, "folder", self.scratch, self.scratch), inside=inside)


def _add(
    tree: _Tree, archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, endings: Collection[str]
) -> None:
    written = member.filename.replace("\\", "/")
    parts = tuple(part for part in written.split("/") if part not in ("", "."))
    if written.startswith("/") or re.match(r"[A-Za-z]:", written) or parts[:1] == ("..",):
        raise CannotRead(_("it names {name}, a place outside of the zip").format(name=shown(member.filename)))
    if not parts or any(hidden(part) for part in parts if part != ".."):
        return
    if ".." in parts:
        inside = parts[: parts.index("..")]
        tree.folder(inside[:_DEEPEST]).leaf(member.filename, "outside", target)
        return
    if len(parts) > _DEEPEST:
        problem = _("{name} lies in more than {most} folders").format(name=shown(written), most=_DEEPEST)
        tree.folder(parts[:_DEEPEST]).leaf(parts[-1], "file", target, problem)
        return
    kind = _kind(member)
    if kind == "folder":
        tree.folder(parts)
        return
    problem = ""
    if kind == "file" and PurePosixPath(parts[-1]).suffix.lower() in endings:
        problem = _unpack_one(archive, member, target)
    tree.folder(parts[:-1]).leaf(parts[-1], kind, target, problem)


def _kind(member: zipfile.ZipInfo) -> Kind:
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "link"
    if member.filename.endswith(("/", "\\")) or stat.S_ISDIR(mode):
        return "folder"
    return "special" if stat.S_IFMT(mode) and not stat.S_ISREG(mode) else "file"


def _unpack_one(archive: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path) -> str:
    """Write one file, or say why not."""
    name = PurePosixPath(member.filename.replace("\\", "/")).name
    if member.file_size > MOST_FILE:
        return too_large(name, MOST_FILE)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return _("{name} is packed in a way that is not read here").format(name=shown(name))
    with archive.open(member) as packed, open(target, "xb") as file:
        left = MOST_FILE
        while piece := packed.read(min(left + 1, 65_536)):
            left -= len(piece)
            if left < 0:
                return too_large(name, MOST_FILE)
            file.write(piece)
    return ""
