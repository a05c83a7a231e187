"""What an entry of the catalogue says: the submission, what must come of it, and the proof that it can do harm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unit_notebooks import UNIT

from grader.exam import Exam

FULL = {"retriever": 8.0, "keyword_index": 2.0}
NOTHING = {"retriever": 0.0, "keyword_index": 0.0}
HONEST = "honest"  # what the same cells earn in a plain process, judged outside of it


@dataclass(frozen=True)
class Link:
    """A symbolic link in a submission's folder."""

    target: str


# The files of a submission's folder, by their paths in it. In texts and targets, what stands between @ signs
# is filled in with the places of the world in which the submission is tried (world.py).
Files = dict[str, bytes | Link]


@dataclass(frozen=True)
class Outcome:
    """What a plain run, without any defence, gave: the outputs of each cell that ended, and how the run ended."""

    cells: list[dict[str, Any]]
    ended: str  # "done", "died", "time" or "broken"
    points: Mapping[str, float | None]  # as stock nbgrader reads them; None where it finds no graded cell
    harm: tuple[str, ...]  # what world.py saw

    @property
    def printed(self) -> str:
        return "".join(
            output.get("text", "") or "\n".join(map(str, output.get("data", {}).values()))
            for cell in self.cells
            for output in cell["outputs"]
        )


@dataclass(frozen=True)
class Stock:
    """The harm is in the score: run with the real check() and the references in one process, score as printed.

    With ``grading`` check() hands in answers, but nobody replaces what the kernel printed; with ``stops`` the
    first error ends the run.
    """

    points: Mapping[str, float | None]
    grading: bool = False
    stops: bool = False


@dataclass(frozen=True)
class Harm:
    """The harm is outside the notebook: without a sandbox the world is not as it was, or a secret came out.

    ``kinds`` are "home", "project", "gradebook", "neighbour", "start-up", "tcp", "udp", "unix", "process",
    "victim" and "leak".
    """

    kinds: tuple[str, ...]
    grading: bool = True


@dataclass(frozen=True)
class Ends:
    """Without a sandbox and a clock the run does not end properly.

    It "died", runs for longer ("time"), or what it sent is no list of results ("broken").
    """

    how: str
    seconds: float = 1.6


@dataclass(frozen=True)
class Raised:
    """The limit is what stops it: in the same sandbox with this limit raised, the points are these."""

    limits: Mapping[str, float]
    points: Mapping[str, float]


@dataclass(frozen=True)
class Control:
    """The one thing wrong is what loses the points: without it, in the same sandbox, the points are these."""

    make: Callable[[], Files]
    points: Mapping[str, float]


@dataclass(frozen=True)
class Trusting:
    """A judge that takes the first, or the last, answers it finds anywhere gives these points."""

    points: Mapping[str, float]
    anywhere: str = "last"


@dataclass(frozen=True)
class Off:
    """With one function replaced by one that passes its argument on, stock points are these; None: any others."""

    function: str  # "module:name"
    points: Mapping[str, float | None]


@dataclass(frozen=True)
class Floods:
    """Without a limit the cells' outputs hold at least so many bytes, or outputs."""

    size: int = 0
    outputs: int = 0


@dataclass(frozen=True)
class Seeds:
    """Another order of hashes, or other random numbers, give other points."""


@dataclass(frozen=True)
class Nbgrader:
    """nbgrader itself, as it comes, does this with the submission: "fails" (it leaves no score), or the score."""

    gives: str | float


@dataclass(frozen=True)
class Follows:
    """A grader that opens what the path leads to gives these points to what is not the learner's."""

    points: Mapping[str, float | None]


@dataclass(frozen=True)
class Guess:
    """A grader that takes the first notebook it finds gives these points; with the last one, others."""

    first: Mapping[str, float | None]
    last: Mapping[str, float | None]


@dataclass(frozen=True)
class Invalid:
    """As a notebook of the very format that was released it is not valid."""


@dataclass(frozen=True)
class NoKernel:
    """There is no kernel of the name that its metadata gives, or there is no name."""


Proof = (
    Invalid
    | NoKernel
    | Stock
    | Harm
    | Ends
    | Raised
    | Control
    | Trusting
    | Off
    | Floods
    | Seeds
    | Nbgrader
    | Follows
    | Guess
)


# By exercise; or HONEST; or what to ask of the exam.
Points = Mapping[str, float] | Callable[[Exam], Mapping[str, float]] | str


@dataclass(frozen=True)
class Submission:
    """One submission of the catalogue.

    ``points`` are exact. ``says`` are pieces of what the learner reads: the feedback in the graded notebook,
    the reason, the notes of the exercises and of the intake. ``proof`` shows that the submission does harm
    where its one defence is off, so that the test cannot pass for another reason.
    """

    id: str  # the kind's number in front: "S17-os-exit"
    make: Callable[[], Files]
    proof: Proof
    says: tuple[str, ...]
    points: Points = field(default_factory=lambda: FULL)
    state: str = "graded"
    unit: str = UNIT
    limits: Mapping[str, float] = field(default_factory=dict)
    unsaid: tuple[str, ...] = ()  # what must not stand in the graded notebook
    times: int = 1  # how often it is run; the last run counts
    on_kernel: Mapping[str, Any] = field(default_factory=dict)  # what is otherwise on the engine "kernel"

    def on(self, engine: str) -> "Submission":
        """The submission with what is expected of it on an engine."""
        return replace(self, **self.on_kernel) if engine == "kernel" else self

    @property
    def kind(self) -> int:
        return int(self.id.split("-")[0][1:])


def write(files: Files, folder: Path, fill: Callable[[str], str]) -> None:
    """Put a submission's files into a folder, with the places of a world filled in."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(whole := files.get("."), Link):
        folder.symlink_to(fill(whole.target))
        return
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            path.symlink_to(fill(content.target))
        elif b"@" in content:
            # One character a byte, so that what is no UTF-8 stays as it is.
            path.write_bytes(fill(content.decode("latin-1")).encode("latin-1"))
        else:
            path.write_bytes(content)
