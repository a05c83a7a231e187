"""The sandbox's tests once more, run by a user without privileges where the others are run by root."""

import os
import sys

import pytest
from conftest import need
from ordinary_user import as_ordinary_user, copied_project

from grader.sandbox import confinement

TESTS = ("test_sandbox.py", "test_confinement.py")


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="runs as another user, as POSIX systems can")
def test_the_sandbox_holds_for_an_ordinary_user():
    need(not confinement.why_not(), "a sandbox")
    if os.geteuid() != 0:
        pytest.skip("the tests are run by an ordinary user already")
    with copied_project() as project:
        tests = [f"tests/{name}" for name in TESTS]
        line = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests]
        done = as_ordinary_user(line, project, CI="true")
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
