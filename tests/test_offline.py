"""After the install nothing needs a network: the course in a network namespace that has no way out."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from browser import copy_course, course_environment
from conftest import ROOT, need, posix_only

pytestmark = posix_only

UNITS = sorted(path.name for path in (ROOT / "solutions" / "notebooks").glob("[0-9][0-9]_*"))


def without_network() -> list[str]:
    """The words that start a command in a network namespace of its own, with loopback alone."""
    for start in (
        ["unshare", "--net", "--"],
        ["unshare", "--map-root-user", "--net", "--"],
        ["bwrap", "--unshare-net", "--dev-bind", "/", "/", "--"],
    ):
        if shutil.which(start[0]) and subprocess.run([*start, "true"], capture_output=True).returncode == 0:
            return start
    return []


# Loopback starts down; Jupyter's kernels talk over it.
LOOPBACK_UP = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    request = struct.pack("16sh", b"lo", 0x1 | 0x40)
    fcntl.ioctl(one, 0x8914, request)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""


@pytest.fixture(scope="module")
def start() -> list[str]:
    found = without_network()
    need(found, "unshare or bwrap, to make a network namespace")
    return [*found, sys.executable, "-c", LOOPBACK_UP]


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return copy_course(tmp_path_factory.mktemp("offline"))


def run(start, course, home, *arguments: str, seconds: int = 120) -> str:
    environment = course_environment(course, home) | {"HYBRID_SEARCH_CACHE": str(home / "cache")}
    for key in ("VOYAGE_API_KEY", "ANTHROPIC_API_KEY", "COHERE_API_KEY"):
        environment.pop(key, None)
    done = subprocess.run(
        [*start, *arguments], cwd=course, env=environment, capture_output=True, text=True, timeout=seconds
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_there_is_no_network_here(start, course, tmp_path):
    reach = """
        import socket
        try:
            socket.create_connection(("192.0.2.1", 80), timeout=2)
        except OSError as error:
            print(error.strerror)
    """
    assert run(start, course, tmp_path, "-c", textwrap.dedent(reach)) == "Network is unreachable\n"


def test_the_packages_and_the_local_model_need_no_network(start, course, tmp_path):
    use = """
        import grader, hybrid_search, lab
        vector = lab.embedder("local").embed_query("a sentence that no file holds")
        print(lab.__file__, len(vector))
    """
    printed = run(start, course, tmp_path, "-c", textwrap.dedent(use))
    assert printed.split("\n")[-2] == f"{course}/notebooks/lab/__init__.py 384"


@pytest.mark.parametrize("unit", UNITS)
def test_the_solved_units_run_without_a_network(start, course, tmp_path, unit):
    execute = f"""
        import nbformat
        from nbclient import NotebookClient
        path = "solutions/notebooks/{unit}/{unit}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=60, resources={{"metadata": {{"path": path.rpartition("/")[0]}}}}).execute()
    """
    run(start, course, tmp_path, "-c", textwrap.dedent(execute))


def test_the_drift_check_needs_no_network(start, course, tmp_path):
    need((ROOT / "grader" / "__main__.py").is_file(), "python -m grader")
    run(start, course, tmp_path, "-m", "grader", "build", "--check")
