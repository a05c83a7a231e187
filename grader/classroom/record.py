"""The record of a run: what it graded, with which seed, limits and versions, and when."""

import json
import platform
import secrets
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from ..files import write_whole

_PACKAGES = ("hybrid-search-course", "nbgrader", "nbformat", "nbconvert", "ipython", "numpy", "rank-bm25")


@dataclass
class Record:
    """``ended`` is empty until the run has ended. ``engine`` "none" means that nothing was confined."""

    unit: str
    seed: int
    engine: str
    submissions: str
    limits: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    sources: str = ""
    started: str = ""
    ended: str = ""
    learners: int = 0
    broken: dict[str, str] = field(
        default_factory=dict
    )  # learner: what the submission was instead of gradable
    faults: dict[str, str] = field(default_factory=dict)  # learner: what the grader could not do

    def write(self, path: Path) -> None:
        write_whole(path, (json.dumps(asdict(self), indent=2) + "\n").encode())

    @classmethod
    def read(cls, path: Path) -> "Record | None":
        """The record at ``path``; None where there is none or it is no record."""
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            record = cls(**stored)
        except (OSError, ValueError, TypeError):
            return None
        return record if isinstance(record.seed, int) and record.seed >= 0 else None


def seed_for(unit: str, asked: int | None, before: Record | None) -> tuple[int, bool]:
    """The seed of a run, and whether it goes on with one that never ended, or not for everybody."""
    unfinished = before is not None and before.unit == unit and bool(not before.ended or before.faults)
    if asked is not None:
        return asked, unfinished and before.seed == asked
    if unfinished:
        return before.seed, True
    return secrets.randbelow(10**9), False


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: _version(name) for name in _PACKAGES}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
