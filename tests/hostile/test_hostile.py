"""Every submission of the catalogue on the way that a class run takes: exact points, state, message, no harm.

CI runs all of them on the fork engine, and a dozen on the kernel engine and as an ordinary user.
COURSE_TESTS=long runs everything everywhere. HOSTILE_ENGINES and HOSTILE_ONLY (names with commas) choose a part.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from conftest import need
from ordinary_user import as_ordinary_user, copied_project

from grader.sandbox.confinement import why_not

from .catalogue import KINDS, SUBMISSIONS
from .class_run import ClassRun, Result, end_of_runs, exam, surroundings
from .entry import HONEST, Proof, Submission
from .proofs import Prover, Provers
from .world import World, fingerprints, project_folders

LONG = os.environ.get("COURSE_TESTS") == "long"
# One of each sort: a dozen to run as an ordinary user, and on the slower engine.
DOZEN = (
    "S3-cut-short",
    "S7-check-deleted",
    "S13-link-to-the-solution",
    "S15-ignores-interrupts",
    "S16-memory",
    "S17-os-exit",
    "S18-lines-in-search",
    "S22-daemon",
    "S27-check-replaced",
    "S29-other-processes",
    "S30-references",
    "S31-double-fork",
    "S32-tcp",
    "S32-abstract-unix-socket",
    "S33-twice",
    "S35-keyword-index",
)

# After how many submissions a neighbour runs again in the same sandbox; all of them run again in the end.
EVERY = {"fork": 1 if LONG else 2, "kernel": 20}


def _chosen(engine: str) -> list[Submission]:
    engines = os.environ.get("HOSTILE_ENGINES", "fork,kernel").split(",")
    if engine not in engines:
        return []
    if names := os.environ.get("HOSTILE_ONLY"):
        return [submission for submission in SUBMISSIONS if submission.id in names.split(",")]
    return [submission for submission in SUBMISSIONS if LONG or engine == "fork" or submission.id in DOZEN]


RUNS = [(engine, submission) for engine in ("fork", "kernel") for submission in _chosen(engine)]
ENGINES = list(dict.fromkeys(engine for engine, _ in RUNS))
PROVED = {submission.id: submission for _, submission in RUNS}


class Runs:
    """The class runs of this session, each made when it is first asked for."""

    def __init__(self, folder: Path, session: pytest.Session) -> None:
        self.folder, self.session = folder, session
        self.results: dict[str, dict[str, Result]] = {}
        self.harm: dict[str, dict[str, str]] = {}
        self.changed: dict[str, list[str]] = {}

    def of(self, engine: str) -> dict[str, Result]:
        if engine not in self.results:
            self._run(engine)
        return self.results[engine]

    def _run(self, engine: str) -> None:
        world = World(self.folder / engine / "world")
        submissions = _selected(self.session, engine) or _chosen(engine)
        try:
            before = fingerprints(*project_folders())
            with surroundings(world):
                run = ClassRun(world, self.folder / engine / "submitted", engine)
                self.results[engine] = run.run(submissions, EVERY[engine])
                end_of_runs(submissions)
            self.harm[engine] = world.harm()
            now = fingerprints(*project_folders())
            self.changed[engine] = sorted(
                path for path in before.keys() | now.keys() if before.get(path) != now.get(path)
            )
        finally:
            world.close()


def _selected(session: pytest.Session, engine: str | None) -> list[Submission]:
    """The submissions of the tests that are to be run; without an engine, of the proofs."""
    calls = [item.callspec.params for item in session.items if hasattr(item, "callspec")]
    chosen = [call.get("submission") for call in calls if call.get("engine") == engine]
    return [submission for submission in chosen if isinstance(submission, Submission)]


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that is nobody else's; pytest's own lies deeper than a socket's path may be long."""
    need(not (problem := why_not()), f"a sandbox ({problem})")
    made = Path(tempfile.mkdtemp(prefix="hostile-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture(scope="module")
def runs(folder: Path, request: pytest.FixtureRequest) -> Runs:
    return Runs(folder, request.session)


@pytest.fixture(scope="module")
def provers(folder: Path) -> Iterator[Provers]:
    made = Provers(folder / "proofs", execute=LONG)
    yield made
    made.close()


@pytest.fixture(scope="module")
def prover(provers: Provers) -> Prover:
    """One of them, for what is asked once."""
    return provers.first


def by_id(given: Submission | str) -> str:
    return given.id if isinstance(given, Submission) else given


def wanted(submission: Submission, prover: Prover) -> Mapping[str, float]:
    if submission.points == HONEST:
        return prover.honest_points(submission)
    return submission.points(exam(submission.unit)) if callable(submission.points) else submission.points


def test_every_kind_has_submissions_and_every_submission_a_proof():
    assert {submission.kind for submission in SUBMISSIONS} == set(KINDS)
    assert len(SUBMISSIONS) == len({submission.id for submission in SUBMISSIONS}) >= 90
    assert all(isinstance(submission.proof, Proof) for submission in SUBMISSIONS)
    assert set(DOZEN) <= {submission.id for submission in SUBMISSIONS}


@pytest.mark.parametrize("submission", PROVED.values(), ids=by_id)
def test_without_its_defence_it_does_harm(
    submission: Submission, provers: Provers, request: pytest.FixtureRequest
):
    if submission.id not in provers.problems:
        provers.prove(_selected(request.session, None))
    if problem := provers.problems[submission.id]:
        raise problem


# What nbgrader itself makes of some of them, running their cells: the points, or None where it leaves no score.
STOCK = {
    "S7-check-deleted": 2,
    "S17-os-exit": None,
    "S19-logs": 2,
    "S27-check-replaced": 10,
    "S28-transformer": 10,
}


@pytest.mark.skipif(not LONG, reason="COURSE_TESTS=long runs nbgrader with its kernels")
@pytest.mark.parametrize("name", [name for name in STOCK if name in PROVED])
def test_nbgrader_itself_gets_it_wrong(name: str, prover: Prover):
    given = prover.stock.gives(PROVED[name])
    assert given == (STOCK[name] or "fails")
    assert given != sum(PROVED[name].points.values())


@pytest.mark.parametrize(("engine", "submission"), RUNS, ids=by_id)
def test_it_earns_what_it_should_and_is_told_why(
    engine: str, submission: Submission, runs: Runs, prover: Prover
):
    result = runs.of(engine)[submission.id]
    assert not result.fault
    submission = submission.on(engine)
    assert result.points == pytest.approx(wanted(submission, prover), abs=0.005), result.read
    assert result.grade.state == submission.state, result.read
    assert not [piece for piece in submission.says if piece not in result.read], result.read
    assert not [piece for piece in submission.unsaid if piece in result.kept]
    assert not result.left, f"processes left behind: {result.left}"


@pytest.mark.parametrize("engine", ENGINES)
def test_the_neighbours_grades_and_outputs_stay_the_same(engine: str, runs: Runs):
    assert not {name: seen for name, result in runs.of(engine).items() if (seen := result.neighbours)}


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_outside_the_run_changed_and_nobody_was_called(engine: str, runs: Runs):
    runs.of(engine)
    assert runs.harm[engine] == {}
    assert runs.changed[engine] == []


@pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="is an ordinary user already")
def test_an_ordinary_user_grades_the_same():
    need(not (problem := why_not()), f"a sandbox ({problem})")
    variables = {} if LONG else {"HOSTILE_ONLY": ",".join(DOZEN), "HOSTILE_ENGINES": "fork"}
    for name in ("CI", "COURSE_TESTS"):
        if name in os.environ:
            variables[name] = os.environ[name]
    with copied_project() as project:
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "tests/hostile"]
        done = as_ordinary_user(command, project, timeout=7200 if LONG else 900, **variables)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "needs a sandbox" not in done.stdout
