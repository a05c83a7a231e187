"""What a benchmark yields: tables, bounds that its figures keep or miss, and sentences."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Cell = str | int | float | None


@dataclass(frozen=True)
class Table:
    """Rows of numbers and words. None is an empty cell."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]

    def __str__(self) -> str:
        lines = [self.title, "", _row(self.columns), "|---" * len(self.columns) + "|"]
        return "\n".join([*lines, *(_row([said(cell) for cell in row]) for row in self.rows)])

    def as_data(self) -> dict:
        return {"table": self.title, "columns": list(self.columns), "rows": [list(row) for row in self.rows]}


@dataclass(frozen=True)
class Bound:
    """A figure and how high it may, or how low it must not, be."""

    what: str
    measured: float
    kind: Literal["at most", "at least"]
    limit: float
    unit: str = "times"

    @property
    def met(self) -> bool:
        return self.measured <= self.limit if self.kind == "at most" else self.measured >= self.limit

    def __str__(self) -> str:
        sign = "ok    " if self.met else "MISSED"
        return f"{sign}  {self.what}: {said(self.measured)} ({self.kind} {said(self.limit)} {self.unit})"

    def as_data(self) -> dict:
        return {
            "bound": self.what,
            "measured": self.measured,
            "kind": self.kind,
            "limit": self.limit,
            "unit": self.unit,
            "met": self.met,
        }


Result = Table | Bound | str


def as_data(results: Iterable[Result]) -> list[dict]:
    """The results for JSON, numbers unrounded."""
    return [{"text": one} if isinstance(one, str) else one.as_data() for one in results]


def said(cell: Cell) -> str:
    """A cell as people read it: three digits of a number that is no whole one."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, int) or abs(cell) >= 1000:
        return f"{cell:,.0f}"
    if cell == 0:
        return "0"
    return f"{cell:.{2 if abs(cell) >= 1 else 3}f}" if abs(cell) < 10 else f"{cell:.3g}"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def machine() -> dict[str, str | int | float]:
    """What the figures were measured on."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
        "memory, GB": round(_memory() / 1e9),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _memory() -> int:
    import psutil

    return psutil.virtual_memory().total
