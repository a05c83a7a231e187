"""A class run that is killed goes on with the same command, and ends as one that nobody disturbed."""

import errno
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest
from conftest import need
from sample_class import (
    UNIT,
    Pretended,
    gradebook_rows,
    hand_in,
    ranks_from_zero,
    results,
    right,
    sandbox,
    with_line,
)

from grader import files
from grader.classroom.run import grade

LONG = os.environ.get("COURSE_TESTS") == "long"
KILLS = 20 if LONG else 3


def quiet(_line: str) -> None:
    """Where a run's lines are not of interest."""


def five(folder):
    for learner, content in {
        "amal": right(),
        "chen": {},
        "dana": ranks_from_zero(),
        "emre": None,
        "fatou": b"no notebook",
    }.items():
        hand_in(folder, learner, content)
    return folder


class Killed(BaseException):
    """Nothing in a run may catch this, as nothing catches SIGKILL."""


def stop_at(monkeypatch, number: int, error: BaseException) -> list[str]:
    """Let the ``number``-th file that is written fail; the names of those before it."""
    honest, written = files.write_whole, []

    def write(path, content):
        if len(written) == number:
            raise error
        written.append(path.name)
        honest(path, content)

    for module in ("run", "kept", "record", "tables"):
        monkeypatch.setattr(f"grader.classroom.{module}.write_whole", write)
    return written


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """What a run leaves, and how many files it writes."""
    folder = five(tmp_path_factory.mktemp("submissions"))
    with pytest.MonkeyPatch.context() as monkeypatch:
        Pretended(monkeypatch)
        written = stop_at(monkeypatch, -1, Killed())
        assert grade(UNIT, folder, tmp_path_factory.getbasetemp() / "undisturbed", seed=3, say=quiet) == 0
    return folder, results(tmp_path_factory.getbasetemp() / "undisturbed"), len(written)


@pytest.mark.parametrize("part", range(7))
def test_a_run_that_stops_before_any_file_goes_on(undisturbed, tmp_path, monkeypatch, part):
    folder, expected, files = undisturbed
    assert files > 15
    for number in range(part, files, 7):
        out = tmp_path / str(number)
        with monkeypatch.context() as patched:
            engine = Pretended(patched)
            stop_at(patched, number, Killed())
            with pytest.raises(Killed):
                grade(UNIT, folder, out, seed=3, say=quiet)
        if (out / "gradebook.db").exists():
            assert gradebook_rows(out / "gradebook.db") == expected["gradebook.db"], "half a class is in it"
        kept = len(list((out / "executed").glob("*.gz"))) if (out / "executed").exists() else 0
        with monkeypatch.context() as patched:
            tried = len(engine.asked)
            again = Pretended(patched)
            # Without --seed it goes on with its own, once there is a record of it.
            assert grade(UNIT, folder, out, seed=None if number else 3, say=quiet) == 0
            assert len(again.asked) <= max(4 - kept, 0), f"{tried} ran, {kept} were kept"
        assert results(out) == expected


@pytest.mark.parametrize("part", range(3))
def test_a_disk_that_is_full_at_any_file_leaves_the_gradebook_as_it_was(
    undisturbed, tmp_path, monkeypatch, part
):
    folder, expected, files = undisturbed
    earlier = tmp_path / "earlier"
    with monkeypatch.context() as patched:
        Pretended(patched)
        assert grade(UNIT, folder, earlier, seed=1, say=quiet) == 0
    before = (earlier / "gradebook.db").read_bytes()
    for number in range(part, files - 1, 3):  # the last is the record, when all is done
        out = shutil.copytree(earlier, tmp_path / str(number))
        with monkeypatch.context() as patched:
            Pretended(patched)
            stop_at(patched, number, OSError(errno.ENOSPC, "No space left on device", "file"))
            with pytest.raises(OSError, match="The disk is full, and the gradebook is as it was"):
                grade(UNIT, folder, out, seed=3, say=quiet)
        assert (out / "gradebook.db").read_bytes() == before
        with monkeypatch.context() as patched:
            Pretended(patched)
            assert grade(UNIT, folder, out, seed=3, say=quiet) == 0
        assert results(out) == expected


def test_what_has_changed_since_runs_anew_and_nothing_else(tmp_path, monkeypatch):
    folder, out = five(tmp_path / "submitted"), tmp_path / "out"
    engine = Pretended(monkeypatch)
    assert grade(UNIT, folder, out, seed=3, say=quiet) == 0
    ran = len(engine.asked)
    assert grade(UNIT, folder, out, seed=3, say=quiet) == 0
    assert len(engine.asked) == ran
    shutil.rmtree(folder / "chen")
    hand_in(folder, "chen", with_line("# at last"))
    assert grade(UNIT, folder, out, seed=3, say=quiet) == 0
    assert len(engine.asked) == ran + 1
    monkeypatch.setattr("grader.classroom.run.sources", lambda: "another version")
    assert grade(UNIT, folder, out, seed=3, say=quiet) == 0
    assert len(engine.asked) == ran + 1 + ran


def test_another_seed_is_another_run(tmp_path, monkeypatch):
    folder, out = five(tmp_path / "submitted"), tmp_path / "out"
    engine = Pretended(monkeypatch)
    assert grade(UNIT, folder, out, seed=3, say=quiet) == 0
    ran = len(engine.asked)
    assert grade(UNIT, folder, out, seed=4, say=quiet) == 0
    assert len(engine.asked) > ran
    assert json.loads((out / "run.json").read_text())["seed"] == 4


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"seed": "x"}', b'{"seed": 1}'])
def test_a_damaged_record_is_as_good_as_none(tmp_path, monkeypatch, damage):
    Pretended(monkeypatch)
    hand_in(tmp_path / "submitted", "amal", right())
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_bytes(damage)
    said = []
    assert grade(UNIT, tmp_path / "submitted", tmp_path / "out", say=said.append) == 0
    assert said[0].startswith("Grading 1 submission")


def test_killed_at_random_moments_it_ends_in_the_same_gradebook(tmp_path):
    need(sandbox(), "a sandbox")
    folder = five(tmp_path / "submitted")
    if not LONG:  # a mistake costs a second run, which is stopped everywhere by a test above
        shutil.rmtree(folder / "dana")
    command = [sys.executable, "-m", "grader", "grade", UNIT, "--jobs", "1"]
    command += ["--submissions", str(folder), "--seed", "3", "--out"]
    began = time.monotonic()
    subprocess.run([*command, str(tmp_path / "undisturbed")], check=True, capture_output=True)
    usual = time.monotonic() - began
    expected = results(tmp_path / "undisturbed")
    moments = random.Random(os.environ.get("COURSE_TESTS_SEED", time.time_ns()))
    for number in range(KILLS):
        out, moment = tmp_path / str(number), moments.uniform(0.2, usual)
        with subprocess.Popen(
            [*command, str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as run:
            time.sleep(moment)
            run.send_signal(signal.SIGKILL)
        subprocess.run([*command, str(out)], check=True, capture_output=True)
        assert results(out) == expected, f"killed after {moment:.3f} of {usual:.3f} s"


def test_a_file_is_whole_or_as_it_was(tmp_path, monkeypatch):
    from pathlib import Path

    path = tmp_path / "run.json"
    files.write_whole(path, b"the old content")
    honest = Path.write_bytes

    def no_room(self, content):
        honest(self, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(OSError):
        files.write_whole(path, b"the new content")
    assert path.read_bytes() == b"the old content"
    assert list(tmp_path.iterdir()) == [path]
