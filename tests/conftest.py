"""What the tests share: where the project is, and how a test says what it needs."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def need(present: object, what: str) -> None:
    """Skip the test where ``what`` is missing; under CI, where everything is installed, fail instead."""
    if present:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must not skip this test")
    pytest.skip(f"needs {what}")


# These start servers, signal them, or run shell scripts the POSIX way; the course itself runs on Windows too.
posix_only = pytest.mark.skipif(os.name != "posix", reason="drives processes as POSIX systems do")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT
