"""A class run: submissions a second, and the most memory that the grader and all its children use at once.

The class is made of right submissions of unit 04, each a little different, and hostile or broken ones from the suite
(tests/hostile), a tenth of all. ``python -m grader grade`` grades it as anybody would, with its own number of jobs.
Memory is what the system counts for each process in proportion where pages are shared (PSS), and what lies in the
folders in memory (tmpfs) and the anonymous files that only they hold. Linux only.
"""

import argparse
import contextlib
import csv
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .results import Result, Table

SEED = 20_231_004
_LOOK_EVERY = 0.15  # seconds
_TESTS = str(Path(__file__).resolve().parents[1])

# What a tenth of the class hands in, over and over; neighbours in this list run at the same time. Each is an entry of
# the suite by its name, with the limits that every submission has.
HOSTILE = (
    "S16-memory",
    "S16-memory-in-search",
    "children",
    "children of children",
    "S16-memory-at-once",
    "S16-full-shared-memory",
    "S16-forks",
    "S16-threads",
    "S16-processes",
    "S16-full-disk",
    "S15-ignores-interrupts",
    "S15-loop-in-search",
    "S18-many-lines",
    "S18-ten-thousand-outputs",
    "S18-one-line-in-search",
    "every cell floods",
    "S17-os-exit",
    "S3-cut-short",
    "S2-empty-folder",
    "S11-two-renamed",
)

# Each process may map as much as the notebook may use, and all together may not.
_OWN = {
    "children": """
        import os, time
        for number in range(40):
            if os.fork() == 0:
                held = [bytearray(b"x") * 10_000_000 for step in range(20)]
                time.sleep(60)
                os._exit(0)
        time.sleep(60)
        """,
    "children of children": """
        import os, time
        held = []
        while True:
            os.fork()
            held.append(bytearray(b"x") * 10_000_000)
        """,
}
_FLOOD = "for number in range(500):\n    print('x' * 999)"

Points = Mapping[str, float]  # by exercise
Files = dict[str, bytes]


@dataclass(frozen=True)
class Measured:
    """What a class run took. ``peak`` is bytes; ``wrong`` says whose points are not what they should be."""

    learners: int
    hostile: int
    seconds: float
    peak: int
    looks: int
    wrong: Sequence[str]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--learners", type=int, default=200, help="submissions in the class (200)")
    parser.add_argument("--jobs", type=int, help="how many run at once (what the grader chooses)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if options.learners < 1:
        raise ValueError("a class has at least one learner: --learners 1")
    if not sys.platform.startswith("linux"):
        raise OSError("class runs are graded, and measured, on Linux alone")
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(Path(folder), options.learners, jobs=options.jobs)
    yield Table(
        f"a class of unit 04, hostile or broken: {measured.hostile} of {measured.learners}",
        ("submissions", "seconds", "submissions/s", "peak memory, MB", "wrong verdicts"),
        [
            (
                measured.learners,
                measured.seconds,
                measured.learners / measured.seconds,
                measured.peak / 1e6,
                len(measured.wrong),
            )
        ],
    )
    yield from measured.wrong


def measure(
    folder: Path, learners: int, hostile: Sequence[str] | None = None, jobs: int | None = None
) -> Measured:
    """Grade a class in an empty folder. ``hostile`` are names in HOSTILE; by default a tenth of the class."""
    if hostile is None:
        hostile = [HOSTILE[number % len(HOSTILE)] for number in range(learners // 10)]
    expected = write_class(folder / "in", learners, hostile)
    command = [sys.executable, "-m", "grader", "grade", "04_retriever", "--seed", str(SEED)]
    command += ["--submissions", str(folder / "in"), "--out", str(folder / "out")]
    command += [] if jobs is None else ["--jobs", str(jobs)]
    began = time.monotonic()
    with open(folder / "said", "w+", encoding="utf-8") as said:
        with (
            subprocess.Popen(
                command, cwd=Path(_TESTS).parent, stdin=subprocess.DEVNULL, stdout=said, stderr=said
            ) as grader,
            Watch(grader.pid) as watch,
        ):
            status = grader.wait()
        seconds = time.monotonic() - began
        said.seek(0)
        wrong = [] if status == 0 else [f"the grader ended with {status}: {said.read()[-2000:]}"]
    if not wrong:
        wrong = list(_differences(expected, folder / "out"))
    return Measured(learners, len(hostile), seconds, watch.peak, watch.looks, wrong)


def write_class(folder: Path, learners: int, hostile: Sequence[str]) -> dict[str, Points]:
    """Write the submissions, the hostile ones first; the right points of each learner."""
    if _TESTS not in sys.path:
        sys.path.append(_TESTS)
    from hostile.entry import write

    expected: dict[str, Points] = {}
    for number in range(learners):
        learner = f"learner-{number:03d}"
        files, expected[learner] = _hostile(hostile[number]) if number < len(hostile) else _right(number)
        write(
            {path: _as_own(content, learner) for path, content in files.items()},
            folder / learner / "04_retriever",
            lambda text: text.replace("@MANY@", str(10**9)),
        )
    return expected


def _as_own(content: bytes, learner: str) -> bytes:
    """The notebook with a line of the learner's own: of two that are equal only one would run."""
    return content.replace(b"class Retriever", f"# {learner}\\nclass Retriever".encode(), 1)


def _right(number: int) -> tuple[Files, Points]:
    from hostile.entry import FULL
    from hostile.notebooks import handed_in

    if number % 10 == 7:  # the second exercise is not done
        files = handed_in(keyword_index="class KeywordIndex:\n    pass")
        return files, {"retriever": 8, "keyword_index": 0}
    return handed_in(), FULL


def _hostile(name: str) -> tuple[Files, Points]:
    from hostile.catalogue import SUBMISSIONS
    from hostile.catalogue.sources import FIRST_ONLY, second
    from hostile.entry import FULL
    from hostile.notebooks import handed_in

    if name in _OWN:
        return second(_OWN[name])(), FIRST_ONLY
    if name == "every cell floods":
        return handed_in(change=_flood), FULL
    (entry,) = (entry for entry in SUBMISSIONS if entry.id == name)
    return entry.make(), entry.points


def _flood(notebook: Any) -> None:
    """A cell below each that prints as much as is kept of one."""
    import nbformat

    notebook.cells = [one for cell in notebook.cells for one in (cell, nbformat.v4.new_code_cell(_FLOOD))]


def _differences(expected: Mapping[str, Points], out: Path) -> Iterator[str]:
    """Whose points are not as they should be, in grades.csv."""
    found: dict[str, dict[str, str]] = {learner: {} for learner in expected}
    with open(out / "grades.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["learner"], {})[row["exercise"]] = row["points"]
    for learner, points in found.items():
        right = expected.get(learner, {})
        if {name: float(text or "nan") for name, text in points.items()} != right:
            yield f"{learner}: {points} and not {dict(right)}"


class Watch(threading.Thread):
    """Looks at a process and all its descendants several times a second, from entering to leaving.

    ``peak`` is the most memory in use at once, in bytes, and ``looks`` how often it looked.
    """

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._ended = threading.Event()
        self.peak = self.looks = 0

    def __enter__(self) -> "Watch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        while not self._ended.wait(_LOOK_EVERY):
            self.peak = max(self.peak, memory_of_all(self._process))
            self.looks += 1


def memory_of_all(process: int) -> int:
    """Bytes in use by a process, its descendants, and what only they hold in memory as files."""
    import psutil

    used, files = 0, {}
    try:
        first = psutil.Process(process)
        family = [first, *first.children(recursive=True)]
        seen = set(_folders_in_memory(os.getpid()))
    except psutil.Error:
        return 0
    for one in family:
        with contextlib.suppress(psutil.Error, OSError):
            used += one.memory_full_info().pss
            files |= _folders_in_memory(one.pid) | _files_in_memory(one.pid)
    return used + sum(size for name, size in files.items() if name not in seen)


def _folders_in_memory(process: int) -> dict[str, int]:
    """The bytes in each tmpfs that a process sees, by the file system's number."""
    found = {}
    for line in Path(f"/proc/{process}/mountinfo").read_text(encoding="utf-8").splitlines():
        _, _, number, _, point, *_, kind, _, _ = line.split()
        if kind == "tmpfs" and number not in found:
            with contextlib.suppress(OSError):
                room = os.statvfs(f"/proc/{process}/root{point}")
                found[number] = (room.f_blocks - room.f_bfree) * room.f_frsize
    return found


def _files_in_memory(process: int) -> dict[str, int]:
    """The bytes in each file without a name in memory (memfd_create) that a process holds open."""
    found = {}
    for entry in Path(f"/proc/{process}/fd").iterdir():
        with contextlib.suppress(OSError):
            if os.readlink(entry).startswith("/memfd:"):
                status = entry.stat()
                found[f"file {status.st_dev} {status.st_ino}"] = status.st_blocks * 512
    return found
