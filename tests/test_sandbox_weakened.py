"""The attacks on the sandbox succeed where just the layer that stops them is taken out."""

import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from attacks import ATTACKS, DETACH, FIND, LEAVE, NAMES, SIGNAL, addressed, alive
from conftest import need
from sandboxes import Weakened, cold_runner, listening, run, text

from grader.sandbox import confinement
from grader.sandbox.execution import EngineFault


@pytest.fixture(scope="module")
def listener() -> Iterator[socket.socket]:
    with listening() as server:
        yield server


@pytest.fixture
def weakened(monkeypatch) -> Iterator[Weakened]:
    need(not confinement.why_not(), "a sandbox")
    folder = Path(tempfile.mkdtemp(prefix="weakened-"))
    yield Weakened(monkeypatch, folder)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(autouse=True)
def secret(monkeypatch) -> None:
    monkeypatch.setenv("VOYAGE_API_KEY", "a secret")


@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
def test_the_attack_succeeds_where_its_defence_is_off(attack, weakened, listener):
    attack.weaken(weakened)
    with cold_runner() as weak:
        execution = run(weak, addressed(attack.code, listener))
    assert text(execution.cells[0]).strip().startswith(attack.succeeds)


def test_files_stay_where_the_private_folders_and_the_read_only_ones_are_off(weakened):
    weakened.bubblewrap((("--remount-ro", "/dev", "--remount-ro", "/"), ()))
    weakened.inside("isolation.py", ("for folder in _PRIVATE_FOLDERS:", "for folder in ():"))
    with cold_runner() as weak:
        run(weak, LEAVE)
        assert text(run(weak, FIND).cells[0]) == "['/', '/dev', '/tmp', '/notebook', '/dev/shm']"


def test_a_process_left_behind_lives_on_without_the_namespace_of_processes(weakened):
    weakened.inside(
        "isolation.py",
        (" | _NEWPID |", " |"),
        ('_mount("proc", "/proc", "proc", _NOSUID | _NODEV | _NOEXEC)', "pass"),
    )
    with cold_runner() as weak:
        assert text(run(weak, DETACH.replace("MARK", "'left by the weak'")).cells[0]) == "True"
        assert alive("left by the weak")
    assert not alive("left by the weak")


def test_a_signal_to_its_group_ends_the_warm_parent_where_the_notebook_has_no_group_of_its_own(weakened):
    weakened.inside("isolation.py", ("os.setsid()", "pass"))
    with cold_runner() as weak:
        run(weak, SIGNAL)
        with pytest.raises(EngineFault):
            run(weak, "'next'")


def test_two_forks_make_the_same_sandbox_where_clone_cannot_be_called(weakened):
    weakened.inside("isolation.py", ('"x86_64": (56, 0), "aarch64": (220, 1)', ""))
    code = (
        "import os\nos.getpid(), os.getuid(), os.listdir('/proc/self/task'), os.path.exists('/notebook/left')"
    )
    with cold_runner() as runner:
        for _ in range(2):
            execution = run(runner, code, "open('left', 'w').close()")
            assert text(execution.cells[0]) == "(1, 1000, ['1'], False)"
