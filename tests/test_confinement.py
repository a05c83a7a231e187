"""What a sandbox sees of this computer, and how it says that none can run."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT, need

from grader.sandbox import confinement, seccomp
from grader.sandbox.confinement import Mount


def inside(*argv: str, **options) -> str:
    done = subprocess.run(
        confinement.command(argv, **options), capture_output=True, text=True, timeout=60, cwd="/"
    )
    return done.stdout + done.stderr


@pytest.fixture
def sandbox() -> None:
    need(not confinement.why_not(), "a sandbox")


@pytest.fixture
def untried(monkeypatch):
    """Whether a sandbox can run is asked anew."""
    monkeypatch.setattr(confinement, "why_not", confinement.why_not.__wrapped__)
    return monkeypatch


def test_no_variable_of_the_caller_gets_in(sandbox, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a secret")
    names = set(inside("/usr/bin/env", "-0").split("\0"))
    assert not [name for name in names if "secret" in name or "KEY" in name]
    assert {"HOME=/notebook", "PYTHONHASHSEED=0", "NBGRADER_EXECUTION=autograde"} <= names


def test_a_folder_is_shown_where_it_is_asked_for_and_can_be_written_only_on_request(sandbox, tmp_path):
    folder = shutil.copytree(ROOT / ".ci", Path("/tmp") / f"shown-{os.getpid()}")
    try:
        folder.chmod(0o777)
        script = "touch /shown/read-only; touch /written/ok; ls /written"
        mounts = [Mount(str(folder), "/shown"), Mount(str(folder), "/written", writable=True)]
        said = inside("/bin/sh", "-c", script, mounts=mounts)
    finally:
        shutil.rmtree(folder)
    assert "Read-only file system" in said
    assert "ok\n" in said


def test_the_filter_of_system_calls_can_be_left_to_bubblewrap(sandbox):
    code = "import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))"
    assert inside(confinement.python(), "-c", code) == "0\n"
    reader, writer = os.pipe()
    with open(writer, "wb") as file:
        file.write(seccomp.program())
    line = confinement.command([confinement.python(), "-c", code], seccomp_fd=reader)
    done = subprocess.run(line, pass_fds=[reader], capture_output=True, text=True, cwd="/")
    os.close(reader)
    assert done.stdout == "-1\n"


@pytest.mark.parametrize(("hidden", "count"), [(("/usr/share",), "0"), ((), "more")])
def test_a_folder_with_other_peoples_work_is_hidden(hidden, count, sandbox, monkeypatch):
    monkeypatch.setattr(confinement, "_OTHERS", hidden)
    said = inside("/bin/sh", "-c", "ls /usr/share | wc -l").strip()
    assert (said if said == "0" else "more") == count


def test_each_sandbox_of_root_has_a_user_id_of_its_own():
    assert len({confinement.free_user_id() for _ in range(200)}) == 200
    assert all(0 < confinement.free_user_id() < 2**31 for _ in range(10))


LOOK = """
import importlib.util, sys
sys.path.remove("/course")
specs = {name: importlib.util.find_spec(name) for name in ("hybrid_search", "misconceptions", "grader")}
print([name for name, spec in specs.items() if spec and spec.origin])  # an empty folder has no origin
"""
ASK = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])
from grader.sandbox import confinement
if sys.argv[3:]:
    confinement._hidden = lambda mounts: []
line = confinement.command([confinement.python(), "-c", sys.argv[2]])
print(subprocess.run(line, capture_output=True, text=True, cwd="/").stdout)
"""


@pytest.mark.parametrize("hidden", [True, False])
def test_the_course_among_the_installed_packages_is_hidden(sandbox, hidden):
    folder = Path("/tmp") / f"environment-{os.getpid()}"
    try:
        venv.create(folder, with_pip=False)
        python = folder / "bin" / "python"
        for name in ("hybrid_search", "misconceptions", "grader"):
            package = (
                folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages" / name
            )
            package.mkdir()
            (package / "__init__.py").touch()
        argv = [str(python), "-c", ASK, str(ROOT), LOOK, *([] if hidden else ["unhidden"])]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    finally:
        shutil.rmtree(folder)
    seen = "[]" if hidden else "['hybrid_search', 'misconceptions', 'grader']"
    assert seen in done.stdout, done.stdout + done.stderr


def test_where_the_system_is_not_linux_a_sentence_says_so(untried):
    untried.setattr(confinement.sys, "platform", "darwin")
    assert "needs Linux" in confinement.why_not()


@pytest.mark.parametrize(("program", "package"), [("bwrap", "bubblewrap"), ("setpriv", "util-linux")])
def test_a_missing_program_is_named_with_how_to_get_it(program, package, untried):
    untried.setattr(confinement.os, "geteuid", lambda: 0)
    untried.setattr(confinement.shutil, "which", lambda name: None if name == program else f"/usr/bin/{name}")
    assert f"apt install {package}" in confinement.why_not()


@pytest.mark.parametrize(
    ("problem", "advice"), [(None, "pip install pyseccomp"), (RuntimeError, "apt install libseccomp2")]
)
def test_a_missing_library_is_named_with_how_to_get_it(problem, advice, untried, tmp_path):
    need(shutil.which("bwrap"), "bubblewrap")
    code = f"raise {problem.__name__}('Unable to find libseccomp')" if problem else "raise ImportError"
    (tmp_path / "pyseccomp.py").write_text(code)
    untried.syspath_prepend(tmp_path)
    untried.delitem(sys.modules, "pyseccomp", raising=False)
    untried.setattr(seccomp, "program", seccomp.program.__wrapped__)
    assert advice in confinement.why_not()


@pytest.mark.parametrize(
    ("setting", "value", "advice"),
    [
        ("kernel.unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
        (
            "kernel.apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        ("user.max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
    ],
)
def test_the_setting_that_forbids_namespaces_is_named(setting, value, advice, untried, tmp_path):
    need(shutil.which("bwrap"), "bubblewrap")
    file = tmp_path.joinpath(*setting.split("."))
    file.parent.mkdir()
    file.write_text(f"{value}\n")
    untried.setattr(
        confinement,
        "Path",
        lambda first, *rest: tmp_path.joinpath(*rest) if first == "/proc/sys" else Path(first, *rest),
    )
    failed = SimpleNamespace(stdout="", stderr="bwrap: No permissions to create new namespace")
    untried.setattr(confinement.subprocess, "run", lambda *_, **__: failed)
    assert advice in confinement.why_not()


def test_where_bubblewrap_fails_for_another_reason_what_it_said_is_passed_on(untried):
    need(shutil.which("bwrap"), "bubblewrap")
    failed = SimpleNamespace(stdout="", stderr="bwrap: Creating new namespace failed: a reason")
    untried.setattr(confinement.subprocess, "run", lambda *_, **__: failed)
    assert "seccomp=unconfined" in confinement.why_not()
    assert "a reason" in confinement.why_not()
