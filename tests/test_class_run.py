"""python -m grader grade: a whole class from submissions to gradebook, feedback pages and tables."""

import contextlib
import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from browser import copy_course
from conftest import ROOT, need
from sample_class import (
    UNIT,
    Pretended,
    by_chance,
    digest,
    gradebook_rows,
    hand_in,
    points,
    ranks_from_zero,
    results,
    right,
    sandbox,
    small_class,
    with_line,
)

from grader.__main__ import main
from grader.classroom.run import grade
from grader.grades import SubmissionGrade
from grader.sandbox.execution import EngineFault, NoSandbox

EXPECTED = {
    "amal": 10,
    "bruno": 8,
    "chen": 0,
    "dana": 2.5,
    "emre": 0,
    "fatou": 0,
    "gustav": 0,
    "hana": 10,
}


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "grader", "grade", *map(str, arguments)]


def call(*arguments: object, **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL, **more
    )


def quiet(_line: str) -> None:
    """Where a run's lines are not of interest."""


@pytest.fixture(scope="module")
def submissions(tmp_path_factory):
    return small_class(tmp_path_factory.mktemp("submissions"))


@pytest.fixture(scope="module")
def graded(tmp_path_factory, submissions):
    """The class of eight, graded by the command."""
    need(sandbox(), "a sandbox")
    out = tmp_path_factory.mktemp("out") / "graded"
    before = digest(submissions), digest(ROOT / "grader"), digest(ROOT / "notebooks")
    done = call(UNIT, "--submissions", submissions, "--out", out, "--seed", 7)
    after = digest(submissions), digest(ROOT / "grader"), digest(ROOT / "notebooks")
    assert done.returncode == 0, done.stdout + done.stderr
    assert before == after, "something outside of --out changed"
    return done, out


def test_a_class_of_eight_gets_what_it_earned(graded):
    assert points(graded[1]) == EXPECTED


def test_the_table_says_what_happened_and_the_run_how_to_repeat_it(graded):
    done, _ = graded
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "10/10" in lines["amal"] and "all right" in lines["amal"]
    assert "keyword_index: not attempted" in lines["bruno"]
    assert lines["chen"].endswith("not attempted")
    assert "Your ranks start at 0." in lines["dana"]
    assert "missing: nothing was handed in" in lines["emre"]
    assert "unreadable: it is no notebook" in lines["fatou"]
    assert "retriever: the process that ran" in lines["gustav"]
    assert "10/10" in lines["hana"], "a print of three megabytes costs no points"
    assert "2 of 8 could not be run" in done.stdout
    assert "--seed 7" in done.stdout
    assert done.stderr == ""


def test_every_learner_has_a_page_that_runs_no_script(graded):
    for learner in EXPECTED:
        page = (graded[1] / "feedback" / learner / UNIT / f"{UNIT}.html").read_text(encoding="utf-8")
        assert f"(Score: {EXPECTED[learner]:.1f} / 10.0)" in page
        assert page.index("default-src 'none'") < page.index("<title>")
    assert "Your ranks start at 0." in (graded[1] / "feedback/dana" / UNIT / f"{UNIT}.html").read_text()
    assert "It is no notebook" in (graded[1] / "feedback/fatou" / UNIT / f"{UNIT}.html").read_text()


def test_the_record_keeps_what_a_repetition_needs(graded):
    record = json.loads((graded[1] / "run.json").read_text())
    assert (record["unit"], record["seed"], record["engine"], record["learners"]) == (UNIT, 7, "fork", 8)
    assert record["limits"]["cell_seconds"] > 0
    assert record["versions"]["nbgrader"] and record["versions"]["python"]
    assert record["started"] <= record["ended"]
    assert set(record["broken"]) == {"emre", "fatou"}


def test_the_graded_notebooks_keep_their_grades(graded):
    for learner, total in EXPECTED.items():
        notebook = nbformat.read(graded[1] / "autograded" / learner / UNIT / f"{UNIT}.ipynb", as_version=4)
        nbformat.validate(notebook)
        assert SubmissionGrade.from_json(notebook.metadata["hybrid_search"]).points == total


def test_nbgraders_own_export_has_the_same_scores(graded):
    with open(graded[1] / "nbgrader.csv", newline="", encoding="utf-8") as file:
        assert {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)} == EXPECTED


def test_the_same_seed_gives_the_same_everything_with_other_workers(graded, submissions, tmp_path):
    assert grade(UNIT, submissions, tmp_path / "again", jobs=1, seed=7, say=quiet) == 0
    assert results(tmp_path / "again") == results(graded[1])


def test_a_run_that_ended_is_not_gone_on_with(graded, submissions, tmp_path, monkeypatch):
    Pretended(monkeypatch)
    said = []
    for _ in range(2):
        assert grade(UNIT, submissions, tmp_path / "out", say=said.append) == 0
    first, second = (line for line in said if line.startswith("Grading 8 submissions"))
    assert first != second, "each run draws a seed of its own"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return copy_course(tmp_path_factory.mktemp("course"))


def test_a_time_of_handing_in_that_the_learner_wrote_is_not_believed(tmp_path, monkeypatch):
    from nbgrader.api import Gradebook

    Pretended(monkeypatch)
    place = hand_in(tmp_path / "nbgrader", "amal", right())
    (place / "timestamp.txt").write_text("2026-05-04 12:00:00.000 UTC")
    moodle = tmp_path / "in" / "Amal_101_assignsubmission_file_"
    moodle.parent.mkdir()
    place.rename(moodle)
    assert grade(UNIT, tmp_path / "in", tmp_path / "out", seed=3, say=quiet) == 0
    with Gradebook(f"sqlite:///{tmp_path / 'out' / 'gradebook.db'}") as gradebook:
        assert gradebook.find_submission(UNIT, "Amal").timestamp is None
    assert not list((tmp_path / "out").rglob("timestamp.txt"))


def test_without_out_the_results_go_where_the_formgrader_looks(course, monkeypatch):
    from grader.nbgrader_course import course_api

    Pretended(monkeypatch)
    released = digest(course / "notebooks")
    place = hand_in(course / "grader" / "submitted", "amal", right())
    (place / "timestamp.txt").write_text("2026-05-04 12:00:00.000 UTC")
    hand_in(course / "grader" / "submitted", "dana", ranks_from_zero())
    assert grade(UNIT, root=course, say=quiet) == 0
    api = course_api(course)
    by_learner = {each["student"]: each for each in api.get_submissions(UNIT)}
    amal = by_learner["amal"]
    assert (amal["score"], amal["max_score"], amal["autograded"]) == (10, 10, True)
    assert amal["timestamp"].startswith("2026-05-04T12:00:00")
    assert not amal["needs_manual_grade"]
    assert by_learner["dana"]["score"] == pytest.approx(2.5)
    assert api.get_assignment(UNIT)["num_submissions"] == 2
    assert {each["student"] for each in api.get_notebook_submissions(UNIT, UNIT)} == {"amal", "dana"}
    graded = course / "grader" / "autograded" / "amal" / UNIT
    assert (graded / "timestamp.txt").read_text().startswith("2026-05-04 12:00:00")
    assert (course / "grader" / "feedback" / "dana" / UNIT / f"{UNIT}.html").is_file()
    assert {path.name for path in (course / "grader" / "grades" / UNIT).glob("*.csv")} == {
        "grades.csv",
        "moodle.csv",
        "canvas.csv",
        "nbgrader.csv",
    }
    assert digest(course / "notebooks") == released


def test_a_zip_and_a_flat_folder_give_the_same(tmp_path, monkeypatch):
    import shutil

    Pretended(monkeypatch)
    folder = tmp_path / "submitted"
    for learner, sources in {"amal": right(), "dana": ranks_from_zero()}.items():
        hand_in(folder, learner, sources)
    flat = tmp_path / "flat"
    flat.mkdir()
    for learner in ("amal", "dana"):
        shutil.copy(folder / learner / UNIT / f"{UNIT}.ipynb", flat / f"{learner}.ipynb")
    whole = shutil.make_archive(str(tmp_path / "whole"), "zip", folder)
    found = []
    for number, path in enumerate((folder, flat, Path(whole))):
        assert grade(UNIT, path, tmp_path / str(number), seed=1, say=quiet) == 0
        found.append(gradebook_rows(tmp_path / str(number) / "gradebook.db"))
    assert found[0] == found[1] == found[2]


def test_learners_whose_answers_change_are_told(tmp_path):
    need(sandbox(), "a sandbox")
    folder = tmp_path / "submitted"
    chance = {
        "numpy": "import numpy; luck = float(numpy.random.default_rng().random())",
        "random": "import random; luck = random.random()",
        "hash": "luck = hash(query) % 1000 / 1000",
        "steady": "luck = len(set(query)) / 100",
    }
    for learner, line in chance.items():
        hand_in(folder, learner, by_chance(line))
    hand_in(folder, "amal", right())
    assert grade(UNIT, folder, tmp_path / "out", seed=1, say=quiet) == 0
    with open(tmp_path / "out" / "grades.csv", newline="", encoding="utf-8") as file:
        notes = {
            row["learner"]: row["note"] for row in csv.DictReader(file) if row["exercise"] == "retriever"
        }
    told = {learner for learner, note in notes.items() if "may differ from run to run" in note}
    assert told == {"numpy", "random", "hash"}
    page = (tmp_path / "out" / "feedback" / "hash" / UNIT / f"{UNIT}.html").read_text(encoding="utf-8")
    assert "may differ from run to run" in page


def test_a_fault_of_the_grader_is_named_and_the_same_command_mends_it(tmp_path, monkeypatch, capsys):
    folder, out = tmp_path / "submitted", tmp_path / "out"
    hand_in(folder, "amal", right())
    hand_in(folder, "bad_luck", with_line("# other"))
    engine = Pretended(monkeypatch)
    honest = engine.execute

    def unlucky(job, name="fork"):
        if any("# other" in cell for cell in job.cells):
            raise EngineFault("the parent did not start")
        return honest(job, name)

    monkeypatch.setattr("grader.sandbox.engines.execute", unlucky)
    said = []
    assert grade(UNIT, folder, out, say=said.append) == 1
    assert "The grader itself failed on bad_luck" in capsys.readouterr().err
    assert any("fault: the parent did not start" in line for line in said)
    grades = {row[:2]: row[2] for row in gradebook_rows(out / "gradebook.db")["grades"]}
    assert grades["bad_luck", "check_retriever"] is None
    assert grades["amal", "check_retriever"] == 8
    monkeypatch.setattr("grader.sandbox.engines.execute", honest)
    tried = len(engine.asked)
    assert grade(UNIT, folder, out, say=quiet) == 0
    assert len(engine.asked) == tried + 1, "only the one that failed runs again"
    assert points(out) == {"amal": 10, "bad_luck": 10}


def test_no_sandbox_is_a_sentence_and_nothing_runs(tmp_path, monkeypatch, capsys):
    hand_in(tmp_path / "submitted", "amal", right())

    def missing(job, engine):
        raise NoSandbox("bubblewrap is missing.")

    monkeypatch.setattr("grader.sandbox.engines.execute", missing)
    arguments = ["grade", UNIT, "--submissions", str(tmp_path / "submitted"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "bubblewrap is missing." in error and "--no-sandbox" in error
    assert not (tmp_path / "out" / "gradebook.db").exists()


def test_grading_without_a_sandbox_says_so_everywhere(tmp_path, monkeypatch, capsys):
    Pretended(monkeypatch)
    hand_in(tmp_path / "submitted", "amal", right())
    out = tmp_path / "out"
    arguments = ["grade", UNIT, "--submissions", str(tmp_path / "submitted"), "--out", str(out)]
    assert main([*arguments, "--no-sandbox"]) == 0
    assert "This class was graded without a sandbox." in capsys.readouterr().out
    assert json.loads((out / "run.json").read_text())["engine"] == "none"
    assert "graded without a sandbox" in (out / "grades.csv").read_text()


# Bad input: one sentence, exit code 1, the gradebook as before.


@pytest.fixture
def one(tmp_path, monkeypatch):
    """A graded class of one, its arguments, and its gradebook."""
    Pretended(monkeypatch)
    hand_in(tmp_path / "submitted", "amal", right())
    arguments = ["grade", UNIT, "--submissions", str(tmp_path / "submitted"), "--out", str(tmp_path / "out")]
    assert main(arguments) == 0
    return arguments, tmp_path / "out"


def refused(arguments, capsys) -> str:
    """Run the command that must not succeed; the sentence that it gives."""
    capsys.readouterr()
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert "Traceback" not in error and error.strip()
    assert len(error.strip().splitlines()) == 1
    return error


def test_an_unknown_unit_is_told(one, capsys):
    before = (one[1] / "gradebook.db").read_bytes()
    assert "no unit '04_retriver'" in refused(["grade", "04_retriver", *one[0][2:]], capsys)
    assert (one[1] / "gradebook.db").read_bytes() == before


@pytest.mark.parametrize("kind", ["empty", "absent", "bad zip", "bomb"])
def test_submissions_that_are_none_are_told(one, capsys, tmp_path, kind):
    import zipfile

    before = digest(one[1])
    path = tmp_path / {"bad zip": "class.zip", "bomb": "bomb.zip"}.get(kind, "nothing here")
    if kind == "empty":
        path.mkdir()
    elif kind == "bad zip":
        path.write_bytes(b"PK\x03\x04 and no more")
    elif kind == "bomb":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(f"amal/{UNIT}/{UNIT}.ipynb", b"\0" * 300_000_000)
    assert path.name in refused([*one[0][:3], str(path), *one[0][4:]], capsys)
    assert digest(one[1]) == before


def test_a_locked_gradebook_stops_before_anything_runs(one, capsys, monkeypatch):
    engine = Pretended(monkeypatch)
    monkeypatch.setattr("grader.classroom.gradebook._SECONDS_TO_WAIT", 0.1)
    with contextlib.closing(sqlite3.connect(one[1] / "gradebook.db", isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        assert "locked by another program" in refused(one[0], capsys)
    assert engine.asked == []


def test_a_gradebook_of_another_version_stops_before_anything_runs(one, capsys, monkeypatch):
    engine = Pretended(monkeypatch)
    with contextlib.closing(sqlite3.connect(one[1] / "gradebook.db")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = 'from_the_future'")
    before = (one[1] / "gradebook.db").read_bytes()
    assert "another version of nbgrader" in refused(one[0], capsys)
    assert (one[1] / "gradebook.db").read_bytes() == before
    assert engine.asked == []


def test_a_place_that_cannot_be_written_is_told(one, capsys, tmp_path):
    (tmp_path / "file").write_text("in the way")
    sentence = refused([*one[0][:5], str(tmp_path / "file" / "out")], capsys)
    assert "Cannot write to" in sentence and "file" in sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_told(one, capsys, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    assert "Permission denied" in refused([*one[0][:5], str(closed / "out")], capsys)


def test_a_second_run_into_the_same_place_is_told(one, capsys):
    import fcntl

    with open(one[1] / "run.lock", "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "Another run is grading into" in refused(one[0], capsys)


def test_a_full_disk_leaves_the_gradebook_and_the_same_command_goes_on(tmp_path):
    """A real one: a file system of three megabytes."""
    need(sandbox(), "a sandbox")
    submissions, before, disk = tmp_path / "submitted", tmp_path / "before", tmp_path / "disk"
    hand_in(submissions, "amal", None)
    assert grade(UNIT, submissions, before, engine="none", say=quiet) == 0
    disk.mkdir()
    run = (
        f"{sys.executable} -m grader grade {UNIT} --submissions {submissions} --out {disk}/out "
        "--no-sandbox --jobs 1"
    )
    script = (
        f"cp -r {before} {disk}/out\n"
        f"cat /dev/zero > {disk}/filled 2>/dev/null\n"
        f"{run} >/dev/null; echo exit $?\n"
        f"cmp {before}/gradebook.db {disk}/out/gradebook.db && echo same\n"
        f"rm {disk}/filled; {run} | grep -c missing\n"
    )
    small = ["bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--size", "3000000", "--tmpfs"]
    done = subprocess.run(
        [*small, str(disk), "sh", "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.stdout.split() == ["exit", "1", "same", "1"], done.stdout + done.stderr
    assert "The disk is full" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "arguments", [["--jobs", "0"], ["--jobs", "x"], ["--seed", "-1"], ["--engine", "magic"]]
)
def test_arguments_that_make_no_sense_are_told(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["grade", UNIT, *arguments])
    assert stopped.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def alive(marker: str) -> list[str]:
    """The command lines of processes that name the marker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            text = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if marker in text:
                found.append(text)
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_leaves_no_process_and_goes_on(tmp_path, how):
    need(sandbox(), "a sandbox")
    folder, out = tmp_path / "submitted", tmp_path / "out"
    hand_in(folder, "amal", right())
    hand_in(folder, "slow", with_line("import time; time.sleep(15)"))
    # The sandboxes lie in the folder for temporary files, so this names all of them.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(
        command(UNIT, "--submissions", folder, "--out", out),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as running:
        until = time.monotonic() + 60
        while time.monotonic() < until and not list((out / "executed").glob("*.gz")):
            time.sleep(0.05)
        running.send_signal(how)
        _, error = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Stopped." in error and "the same command goes on" in error and "Traceback" not in error
    until = time.monotonic() + 10
    while alive(str(temporary)) and time.monotonic() < until:
        time.sleep(0.1)
    assert alive(str(temporary)) == []
    assert not (out / "gradebook.db").exists()
    assert json.loads((out / "run.json").read_text())["ended"] == ""


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_stops_also_where_the_code_that_was_interrupted_loses_the_interrupt(
    how, monkeypatch, tmp_path, capsys
):
    import grader.scoring
    from grader.sandbox import outputs

    Pretended(monkeypatch)
    score = grader.scoring.score

    def interrupt(*_):
        signal.raise_signal(how)

    def losing(*arguments, **settings):
        outputs._safe_html("<b title='called back by code that is not Python'></b>")
        return score(*arguments, **settings)

    monkeypatch.setattr(grader.scoring, "score", losing)
    monkeypatch.setattr(outputs, "_safe_attribute", interrupt)
    hand_in(tmp_path / "in", "amal", right())
    hook = sys.unraisablehook
    assert grade(UNIT, tmp_path / "in", tmp_path / "out", say=lambda line: None) == 130
    assert not (tmp_path / "out" / "gradebook.db").exists()
    assert capsys.readouterr().err.strip().startswith("Stopped.")
    assert sys.unraisablehook is hook
