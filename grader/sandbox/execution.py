"""What goes into the sandbox and what comes out of it, whichever engine runs it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .limits import Limits

# Why a cell has no proper end: its time was up; its notebook used too much memory; its process died; it
# flooded the channel; or an earlier cell ended the process and this one never ran.
Stopped = Literal["", "time", "memory", "died", "flood", "not run"]


@dataclass(frozen=True)
class Job:
    """A notebook to run: plain data, so that it can be sent to another machine.

    ``questions`` are what check() asks in this run: for each exercise the inputs of its probes, without an
    answer. ``files`` lie in the working folder by their names. ``hash_seed`` orders sets and ``random_seed``
    starts random and numpy.random, so that a run can be repeated.
    """

    unit: str
    cells: tuple[str, ...]
    questions: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    hash_seed: int = 0
    random_seed: int = 0


@dataclass(frozen=True)
class CellResult:
    """What one cell gave: outputs of the notebook format 4, rebuilt from what the sandbox sent."""

    outputs: list[dict[str, Any]]
    execution_count: int | None = None
    stopped: Stopped = ""


@dataclass(frozen=True)
class Execution:
    """What a run gave: one result a cell, in order. ``engine`` is "fork", "kernel" or "none" (no sandbox)."""

    cells: tuple[CellResult, ...]
    engine: str
    seconds: float = 0.0

    @property
    def stopped(self) -> Stopped:
        """Why the first cell that had no proper end had none."""
        return next((cell.stopped for cell in self.cells if cell.stopped), "")


class EngineFault(RuntimeError):
    """The grader could not run a notebook, and it is not the notebook's fault; the message says why."""


class NoSandbox(EngineFault):
    """This machine has no sandbox; the message says what is missing and how to get it."""
