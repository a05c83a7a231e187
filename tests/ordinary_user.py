"""Run something as a user without privileges, where the tests run as root."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from conftest import ROOT

_USER = "54321"


@contextmanager
def copied_project() -> Iterator[Path]:
    """A copy of the project that belongs to the ordinary user, as a fresh clone of theirs would."""
    folder = Path(tempfile.mkdtemp(prefix="ordinary-user-"))
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)
        for path in (folder, *folder.rglob("*")):
            os.chown(path, int(_USER), int(_USER))
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def as_ordinary_user(
    argv: Sequence[str], project: Path, timeout: float = 300, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command in the copied project, whose packages it imports; sys.executable works there."""
    packages = (project, project / "notebooks", project / "solutions")
    return subprocess.run(
        [*_readable_python(), *_DROP, *argv],
        cwd=project,
        env={
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
            "HOME": str(project),
            "LANG": "C.UTF-8",
            "TMPDIR": str(project),
            "PYTHONPATH": ":".join(map(str, packages)),
            "PYTHONDONTWRITEBYTECODE": "1",
            **variables,
        },
        capture_output=True,
        text=True,
        timeout=timeout,
    )


_DROP = [
    *("setpriv", "--reuid", _USER, "--regid", _USER, "--clear-groups"),
    *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all", "--"),
]


def _readable_python() -> list[str]:
    """Shows the interpreter where it lies in a folder of root's that nobody else may enter."""
    line = ["bwrap", "--die-with-parent", "--dev-bind", "/", "/"]
    paths = dict.fromkeys((sys.base_prefix, sys.prefix))
    closed = dict.fromkeys(parent for path in paths if (parent := _closed(path)))
    for folder in closed:
        line += ["--perms", "0755", "--tmpfs", folder]
    for path in paths:
        if not (inside := _closed(path)):
            continue
        for parent in reversed(PurePosixPath(path).parents):
            if parent != PurePosixPath(inside) and parent.is_relative_to(inside):
                line += ["--perms", "0755", "--dir", str(parent)]
        line += ["--ro-bind", path, path]
    return [*line, "--"]


def _closed(path: str) -> str:
    """The topmost folder on the way to ``path`` that others may not enter, if there is one."""
    for parent in reversed(PurePosixPath(path).parents):
        if not os.stat(parent).st_mode & 0o001:
            return str(parent)
    return ""
