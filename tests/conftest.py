"""What the tests share: where the project is, and how a test says what it needs."""

import os
import subprocess
from pathlib import Path

import pytest
from spread import (  # noqa: F401, pytest looks for its hooks here
    pytest_cmdline_main,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_runtest_protocol,
)

ROOT = Path(__file__).resolve().parents[1]


def need(present: object, what: str) -> None:
    """Skip the test where ``what`` is missing; under CI, where everything is installed, fail instead."""
    if present:
        return
    if os.environ.get("CI"):
        pytest.fail(f"{what} is missing, and CI must not skip this test")
    pytest.skip(f"needs {what}")


def released(unit: str) -> str:
    """The learner notebook of a unit as it is handed out, where somebody has worked in the one here."""
    from grader.notebooks import worked_in

    path = ROOT / "notebooks" / unit / f"{unit}.ipynb"
    if not worked_in(path):
        return path.read_text(encoding="utf-8")
    shown = subprocess.run(
        ["git", "show", f"HEAD:{path.relative_to(ROOT).as_posix()}"], cwd=ROOT, capture_output=True
    )
    if shown.returncode:
        pytest.skip(f"somebody has worked in {path.name}, and git has no other")
    return shown.stdout.decode("utf-8")


# These start servers, signal them, or run shell scripts the POSIX way; the course itself runs on Windows too.
posix_only = pytest.mark.skipif(os.name != "posix", reason="drives processes as POSIX systems do")


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session", autouse=True)
def _no_server_of_the_users(tmp_path_factory):
    """Whatever a test runs, a notebook too, lab.postgres() goes to a server of the tests, in this folder."""
    from lab.postgres_keeper import KEEPER
    from lab.postgres_server import FOLDER_VARIABLE, leave

    folder = tmp_path_factory.mktemp("postgres")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(FOLDER_VARIABLE, str(folder))
        environment.delenv("DATABASE_URL", raising=False)
        yield folder
    leave(folder)
    if (folder / KEEPER).exists():
        from running_postgres import wait_until_stopped

        wait_until_stopped(folder)


@pytest.fixture(scope="session")
def postgres_folder(_no_server_of_the_users):
    """The folder of one embedded Postgres server for all tests, which runs meanwhile."""
    from lab.postgres_server import join

    join(_no_server_of_the_users)
    return _no_server_of_the_users
