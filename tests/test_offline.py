"""After the install nothing needs a network: the course in a network namespace that has no way out.

The solved units run like that in test_notebooks.py.
"""

import textwrap
from pathlib import Path

import pytest
from browser import copy_course
from conftest import ROOT, need, posix_only
from cut_off import run_python, without_network

pytestmark = posix_only


@pytest.fixture(scope="module", autouse=True)
def _namespace() -> None:
    need(without_network(), "unshare or bwrap, to make a network namespace")


@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Path:
    return copy_course(tmp_path_factory.mktemp("offline"))


def test_there_is_no_network_here(course, tmp_path):
    reach = """
        import socket
        try:
            socket.create_connection(("192.0.2.1", 80), timeout=2)
        except OSError as error:
            print(error.strerror)
    """
    assert run_python(course, tmp_path, "-c", textwrap.dedent(reach)).stdout == "Network is unreachable\n"


def test_the_packages_and_the_local_model_need_no_network(course, tmp_path):
    use = """
        import grader, hybrid_search, lab
        vector = lab.embedder("local").embed_query("a sentence that no file holds")
        print(lab.__file__, len(vector))
    """
    done = run_python(course, tmp_path, "-c", textwrap.dedent(use))
    assert done.stdout.split("\n")[-2] == f"{course}/notebooks/lab/__init__.py 384"


def test_nothing_has_drifted_and_the_check_needs_no_network(course, tmp_path):
    need((ROOT / "grader" / "__main__.py").is_file(), "python -m grader")
    checked = run_python(course, tmp_path, "-m", "grader", "build", "--check")
    assert (checked.stdout, checked.stderr) == ("", "")
