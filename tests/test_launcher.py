"""``python -m lab``: which folder and unit it opens, and how the server behaves in a terminal."""

import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from browser import course_environment, running_lab
from conftest import ROOT, posix_only

from lab import launcher
from lab.__main__ import main

pytestmark = posix_only

EMPTY_NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def write_unit(root: Path, name: str) -> Path:
    path = root / "notebooks" / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(EMPTY_NOTEBOOK), encoding="utf-8")
    return path


@pytest.fixture
def project(tmp_path):
    """A project with two units and the real launcher."""
    root = tmp_path / "project"
    shutil.copytree(ROOT / "notebooks" / "lab", root / "notebooks" / "lab")
    for unit in ("04_retriever", "00_start"):
        write_unit(root, unit)
    return root


def status(url: str) -> int:
    try:
        return urllib.request.urlopen(url, timeout=10).status
    except urllib.error.HTTPError as error:
        return error.code


def test_units_come_in_order_and_other_folders_are_none(project):
    (project / "notebooks" / "07_notes").mkdir()
    assert list(launcher.units(project)) == ["00_start", "04_retriever"]


def test_the_first_unit_opens_unless_another_is_named(project):
    assert launcher.find_unit(project, None).name == "00_start.ipynb"
    assert launcher.find_unit(project, "04_retriever").name == "04_retriever.ipynb"


def test_a_wrong_unit_lists_the_units(project):
    with pytest.raises(
        launcher.LaunchError, match=r"no unit 4\. The units are:\n  00_start\n  04_retriever$"
    ):
        launcher.find_unit(project, "4")


def test_a_folder_without_units_is_named(tmp_path):
    with pytest.raises(launcher.LaunchError, match="There is no unit in .*notebooks"):
        launcher.find_unit(tmp_path, None)


def test_a_checkout_is_opened_where_it_lies(tmp_path):
    assert launcher.course_root(tmp_path) == ROOT
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """The launcher as in a wheel, with one unit inside the package."""
    package = tmp_path / "site-packages" / "lab"
    bundled = write_unit(package, "00_start").parents[1]
    monkeypatch.setattr(launcher, "HERE", package)
    monkeypatch.setattr(launcher, "BUNDLED", bundled)
    return bundled


def test_a_wheel_copies_its_notebooks_into_the_current_folder(wheel, tmp_path):
    root = launcher.course_root(tmp_path)
    assert root == tmp_path / "hybrid-search-course"
    assert list(launcher.units(root)) == ["00_start"]


def test_a_wheel_never_overwrites_the_learners_work(wheel, tmp_path):
    mine = launcher.units(launcher.course_root(tmp_path))["00_start"]
    mine.write_text("my work", encoding="utf-8")
    write_unit(wheel.parent, "01_embeddings")
    root = launcher.course_root(tmp_path)
    assert mine.read_text(encoding="utf-8") == "my work"
    assert list(launcher.units(root)) == ["00_start", "01_embeddings"]


def test_a_wheel_started_inside_the_copy_makes_no_second_one(wheel, tmp_path):
    root = launcher.course_root(tmp_path)
    assert launcher.course_root(root) == root


def test_a_folder_that_cannot_be_written_is_named(wheel, tmp_path):
    (tmp_path / "hybrid-search-course").write_text("in the way")
    with pytest.raises(launcher.LaunchError, match="Cannot copy the notebooks to .*hybrid-search-course"):
        launcher.course_root(tmp_path)


def test_the_instructors_view_needs_the_project(wheel, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(launcher.LaunchError, match="project's own folder"):
        launcher.launch(instructor=True)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_a_wrong_port_is_refused(port, capsys):
    with pytest.raises(SystemExit):
        main(["--port", port])
    assert "1 to 65535" in capsys.readouterr().err


def test_a_terminal_browser_does_not_count_as_a_browser(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert not launcher.has_browser()


def test_it_prints_the_address_serves_this_machine_alone_and_stops_on_one_ctrl_c(project, tmp_path):
    home = tmp_path / "home"
    with running_lab(project, home) as lab:
        assert lab.url.startswith("http://127.0.0.1:")
        assert "/lab/tree/notebooks/00_start/00_start.ipynb?token=" in lab.url
        assert status(lab.url) == 200
        assert status(f"{lab.base}/api/contents") == 403
        port = int(lab.base.rpartition(":")[2])
        if sys.platform == "linux":  # elsewhere this address is not there at all
            with socket.socket() as other:
                assert other.connect_ex(("127.0.0.2", port)) != 0
        assert lab.interrupt() == 0
    assert lab.printed[-1] == "JupyterLab has stopped.\n"
    assert not [line for line in lab.printed if "Traceback" in line or "[E " in line]


def test_the_users_own_jupyter_settings_are_neither_used_nor_changed(project, tmp_path):
    home = tmp_path / "home"
    settings = home / ".jupyter" / "jupyter_server_config.json"
    settings.parent.mkdir(parents=True)
    settings.write_text('{"ServerApp": {"base_url": "/mine"}}', encoding="utf-8")
    with running_lab(project, home) as lab:
        assert status(lab.url) == 200
    assert list(settings.parent.iterdir()) == [settings]


def test_it_stops_on_one_ctrl_c_in_a_terminal_without_asking(project, tmp_path):
    pty = pytest.importorskip("pty", reason="needs a terminal of POSIX")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "--unit", "04_retriever"],
        cwd=project,
        env=course_environment(project, tmp_path / "home"),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    printed = b""
    try:
        deadline = time.monotonic() + 60
        while b"Ctrl-C" not in printed:
            assert select.select([ours], [], [], max(0, deadline - time.monotonic()))[0], printed
            printed += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
    assert b"Open this address in your browser" in printed
    assert b"notebooks/04_retriever/04_retriever.ipynb" in printed


def test_a_taken_port_is_left_to_its_owner(project, tmp_path):
    with socket.socket() as owner:
        owner.bind(("127.0.0.1", 0))
        owner.listen()
        port = owner.getsockname()[1]
        with (
            pytest.raises(RuntimeError, match=f"Port {port} is in use"),
            running_lab(project, tmp_path / "home", "--port", str(port)),
        ):
            pass


def test_a_port_taken_since_it_was_looked_at_is_passed_over(monkeypatch):
    monkeypatch.setattr(launcher, "is_taken", lambda port: False)
    with launcher.listen(None) as one, launcher.listen(None) as two:
        ports = [held.getsockname()[1] for held in (one, two)]
        assert ports[0] < ports[1]
        with pytest.raises(launcher.LaunchError, match=f"Port {ports[0]} is in use"):
            launcher.listen(ports[0])


def test_the_start_leaves_out_grammars_that_take_a_second(tmp_path):
    code = (
        "import sys; from lab.launcher import lab_app; lab_app()\n"
        "print([name for name in sys.modules if 'rfc3987_syntax' in name], 'jsonschema' in sys.modules)\n"
        "import rfc3987_syntax"  # for whoever needs it
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[] True\n", "")


def test_a_port_is_held_from_the_moment_it_is_found():
    with launcher.listen(None) as held:
        assert launcher.is_taken(held.getsockname()[1])


def test_without_a_free_port_it_says_so(monkeypatch):
    monkeypatch.setattr(launcher, "is_taken", lambda port: True)
    with pytest.raises(launcher.LaunchError, match="from 8888 to 8937 are all in use"):
        launcher.listen(None)


def test_a_port_that_may_not_be_used_is_refused_with_the_reason(monkeypatch):
    def forbid(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", forbid)
    with pytest.raises(launcher.LaunchError, match="Port 80 cannot be used: Permission denied"):
        launcher.listen(80)


def read_until(process: subprocess.Popen, word: str) -> str:
    """What the process prints, up to the line with ``word``."""
    printed = ""
    for line in process.stdout:
        printed += line
        if word in line:
            return printed
    raise AssertionError(f"it ended before it printed {word!r}:\n{printed}")


@contextmanager
def started(project: Path, home: Path, **environment: str) -> Iterator[subprocess.Popen]:
    """``python -m lab --no-browser``, whose output is read line by line; stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "lab", "--no-browser"],
        cwd=project,
        env=course_environment(project, home) | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def test_courses_started_at_once_all_answer_as_soon_as_they_print_their_address(project, tmp_path):
    with ExitStack() as running:
        courses = [running.enter_context(started(project, tmp_path / "home")) for _ in range(3)]
        ports = set()
        for course in courses:
            port = int(re.search(r"127\.0\.0\.1:(\d+)/", read_until(course, "/lab/tree/"))[1])
            socket.create_connection(("127.0.0.1", port), timeout=10).close()
            ports.add(port)
    assert len(ports) == 3


def test_a_folder_can_be_written_where_its_nearest_existing_parent_can(tmp_path):
    (tmp_path / "file").write_text("")
    assert launcher.can_write(tmp_path)
    assert launcher.can_write(tmp_path / "not" / "there" / "yet")
    assert not launcher.can_write(tmp_path / "file")
    assert not launcher.can_write(tmp_path / "file" / "below")


def test_a_folder_that_the_system_protects_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert not launcher.can_write(tmp_path)


@pytest.fixture
def blocked_home(tmp_path):
    """A home in which the folders that Jupyter, IPython and Matplotlib write to cannot be made."""
    home = tmp_path / "home"
    home.mkdir()
    for name in (".local", ".ipython", ".config", ".jupyter", "Library"):
        (home / name).write_text("in the way", encoding="utf-8")
    return home


def at_home(monkeypatch, home: Path) -> None:
    """Make ``home`` the home, and what the launcher sets in the environment undone after the test."""
    for name in ("JUPYTER_PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", *launcher.user_folders()):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("HOME", str(home))


def start_kernel(base: str, token: str) -> str:
    """Ask the server for a notebook's kernel; its name."""
    request = urllib.request.Request(
        f"{base}/api/kernels", b"{}", {"Authorization": f"token {token}", "Content-Type": "application/json"}
    )
    return json.load(urllib.request.urlopen(request, timeout=30))["name"]


def test_a_home_that_cannot_be_written_is_left_alone(project, blocked_home, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = sorted(blocked_home.iterdir())
    with started(project, blocked_home, TMPDIR=str(temporary)) as course:
        url = re.search(r"http://\S+", read_until(course, "/lab/tree/"))[0]
        assert status(url) == 200
        assert start_kernel(re.match(r"http://[^/]+", url)[0], url.partition("token=")[2]) == "python3"
        [folder] = temporary.glob("hybrid-search-course-*")
        assert list((folder / "JUPYTER_RUNTIME_DIR").glob("kernel-*.json"))
    assert not folder.exists()
    assert sorted(path for path in blocked_home.iterdir() if path.name != "test-settings") == before


def test_without_a_home_to_write_to_the_kernels_are_found_as_before(blocked_home, monkeypatch):
    from jupyter_core.paths import jupyter_path

    at_home(monkeypatch, blocked_home)
    before = jupyter_path("kernels")
    launcher.use_writable_folders()
    after = jupyter_path("kernels")
    assert after[: len(before)] == before
    assert launcher.can_write(Path(os.environ["IPYTHONDIR"]))
    assert launcher.can_write(Path(os.environ["MPLCONFIGDIR"]))


def test_folders_that_can_be_written_stay_the_users_own(tmp_path, monkeypatch):
    at_home(monkeypatch, tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "mine"))
    launcher.use_writable_folders()
    assert os.environ["IPYTHONDIR"] == str(tmp_path / "mine")
    assert not os.environ["JUPYTER_DATA_DIR"] and not os.environ["MPLCONFIGDIR"]


def test_without_any_folder_to_write_to_it_says_so(blocked_home, monkeypatch):
    def no_folder(**_):
        raise FileNotFoundError("No usable temporary directory found")

    at_home(monkeypatch, blocked_home)
    monkeypatch.setattr(launcher.tempfile, "mkdtemp", no_folder)
    with pytest.raises(launcher.LaunchError, match="cannot write to .*Set TMPDIR"):
        launcher.use_writable_folders()


def test_a_project_that_cannot_be_written_has_no_instructors_view(project, tmp_path, monkeypatch):
    at_home(monkeypatch, tmp_path)
    (project / "grader").mkdir()
    (project / "grader" / "exchange").write_text("in the way", encoding="utf-8")
    with pytest.raises(launcher.LaunchError, match="cannot be written.*Copy the project"):
        launcher.use_course_settings(project, instructor=True)


def test_inherited_settings_cannot_move_the_page_to_another_address(project, tmp_path):
    inherited = tmp_path / "inherited"
    inherited.mkdir()
    moved = {"base_url": "/mine", "port": 1, "sock": str(tmp_path / "sock")}
    moved |= {"certfile": "/nonexistent", "keyfile": "/nonexistent"}
    settings = json.dumps({"ServerApp": moved})
    (inherited / "jupyter_server_config.json").write_text(settings, encoding="utf-8")
    with started(
        project, tmp_path / "home", JUPYTER_CONFIG_PATH=str(inherited), JUPYTERLAB_DIR="/nonexistent"
    ) as course:
        assert status(re.search(r"http://\S+", read_until(course, "/lab/tree/"))[0]) == 200


def test_ctrl_c_during_the_start_ends_it_with_one_line(project, tmp_path):
    with started(project, tmp_path / "home") as course:
        read_until(course, "Starting JupyterLab")
        course.send_signal(signal.SIGINT)
        assert course.stdout.read() == "Stopped before JupyterLab was ready.\n"
        assert course.wait(timeout=30) == 130
