"""Start-up: imports and the first check against importing numpy, and ``python -m lab`` against ``jupyter lab``.

Imports run in fresh interpreters, checks in fresh kernels that have loaded what is checked, as a learner's own cells
have. JupyterLab counts as started when its page is served. Each round has one of each in turn; ratios are medians
over the rounds.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from .results import Bound, Result, Table
from .timing import in_turn, medians, ratio

PACKAGES = ("hybrid_search", "lab", "grader")
# The exercises, and what the unit's cells before them have loaded.
CHECKED = {
    "find_term": "",
    "chunk_by_section": "",
    "vector_index": "",
    "tokenize": "from lab import stop_words\nstop_words()",
    "bm25_index": "import rank_bm25",
    "rrf_table": "",
    "retriever": "",
    "evaluate": "",
}
ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_START = 60
TOKEN = "a-token-for-a-benchmark"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (5)")
    parser.add_argument(
        "--checks", nargs="+", default=list(CHECKED), metavar="EXERCISE", help="checks measured"
    )
    parser.add_argument("--no-lab", action="store_true", help="leave JupyterLab out")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if options.rounds < 1:
        raise ValueError("at least one round: --rounds 1")
    yield from imports(4 * options.rounds)
    yield from first_checks(options.checks, options.rounds)
    if not options.no_lab:
        yield from jupyterlab(options.rounds)


def imports(rounds: int) -> Iterator[Result]:
    times: dict[str, list[float]] = {name: [] for name in ("numpy", *PACKAGES)}
    for _ in range(rounds):
        for name, taken in times.items():
            line = (
                f"import time; start = time.perf_counter(); import {name}; print(time.perf_counter() - start)"
            )
            taken.append(float(subprocess.check_output([sys.executable, "-c", line], cwd=ROOT)))
    yield _table("Import in a fresh interpreter", times, "numpy")
    for name in PACKAGES:
        yield Bound(f"import {name} / import numpy", ratio(times, name, "numpy"), "at most", 1.5)


def first_checks(exercises: Sequence[str], rounds: int) -> Iterator[Result]:
    from grader.exercises import EXERCISES

    times: dict[str, list[float]] = {name: [] for name in ("import numpy", *exercises)}
    for _ in range(rounds):
        times["import numpy"].append(seconds_in_a_kernel("", "import numpy"))
        for name in exercises:
            finished = ", ".join(EXERCISES[name].objects)
            before = f"from hybrid_search import {finished}\n{CHECKED.get(name, '')}"
            checking = f"from grader import check\npoints = check({name!r}, {finished})"
            times[name].append(seconds_in_a_kernel(before, checking))
    yield _table("First check in a fresh kernel, with the import of check", times, "import numpy")
    slowest = max(ratio(times, name, "import numpy") for name in exercises)
    yield Bound("first check / import numpy, the slowest exercise", slowest, "at most", 2)


def seconds_in_a_kernel(before: str, source: str) -> float:
    """The seconds a cell takes in a fresh kernel after another cell."""
    from jupyter_client.manager import run_kernel

    said: list[str] = []

    def keep(message: Mapping) -> None:
        if message["msg_type"] == "error":
            raise ValueError(f"{message['content']['ename']}: {message['content']['evalue']}")
        said.append(message["content"].get("text", ""))

    timed = f"import time\n_start = time.perf_counter()\n{source}\n_taken = time.perf_counter() - _start"
    with run_kernel(kernel_name="python3", cwd=str(ROOT), stderr=subprocess.DEVNULL) as client:
        for cell in (before, timed, "print(_taken)"):
            client.execute_interactive(cell, timeout=60, output_hook=keep)
    return float("".join(said).split()[-1])


def jupyterlab(rounds: int) -> Iterator[Result]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        times = in_turn(
            {
                "jupyter lab": lambda: start(
                    home, "jupyter", "lab", "--allow-root", f"--notebook-dir={home}"
                ),
                "python -m lab": lambda: start(home, "lab"),
            },
            seconds=0,
            rounds=rounds,
        )
    yield _table("From the command to JupyterLab's page", times, "jupyter lab")
    yield Bound(
        "python -m lab / jupyter lab, to the page",
        ratio(times, "python -m lab", "jupyter lab"),
        "at most",
        1.3,
    )


def start(home: Path, *command: str) -> None:
    """Start a JupyterLab, wait for its page, and stop it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "XDG_"))}
    process = subprocess.Popen(
        [sys.executable, "-m", *command, "--no-browser", f"--port={port}"],
        env=kept | {"HOME": str(home), "JUPYTER_TOKEN": TOKEN},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        end = time.monotonic() + SECONDS_TO_START
        while not _answers(f"http://127.0.0.1:{port}/lab?token={TOKEN}"):
            if process.poll() is not None or time.monotonic() > end:
                raise OSError(f"{' '.join(command)} did not start")
            time.sleep(0.02)
    finally:
        # Nobody is at work in it, and stopping in an orderly way is not what is measured.
        process.kill()
        process.wait()


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as page:
            return page.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _table(title: str, times: Mapping[str, list[float]], base: str) -> Table:
    rows = [
        (name, 1000 * seconds, None if name == base else ratio(times, name, base))
        for name, seconds in medians(times).items()
    ]
    return Table(title, ("what", "ms, median", f"times {base}"), rows)
