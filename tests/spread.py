"""The whole suite runs in two processes where pytest-xdist is there: much of it waits for servers and kernels.

A file's tests stay together and in order, for what they set up once. Anything else than the whole suite runs in
one process, unless pytest is told otherwise: -n 2 spreads a few files, and -n 0 spreads nothing.
"""

import os
from collections.abc import Generator
from contextlib import ExitStack
from pathlib import Path

import fasteners
import pytest

TESTS = Path(__file__).resolve().parent
PROCESSES = 2  # not more: sandboxes, kernels and browsers start several of their own


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    asked = getattr(config.option, "numprocesses", 0)  # None: nothing is said of it
    if asked == 0 or _is_worker(config) or config.option.usepdb or config.option.collectonly:
        return
    if asked is None and _whole_suite(config) and (os.cpu_count() or 1) > 1:
        config.option.numprocesses = asked = PROCESSES
    if asked and config.option.dist in ("no", "load"):
        config.option.dist, config.option.loadscopereorder = "loadfile", False


def pytest_configure(config: pytest.Config) -> None:
    """Let a worker have no width and height of a terminal, as pytest has none where it writes to a file."""
    if _is_worker(config):
        os.environ.pop("COLUMNS", None)
        os.environ.pop("LINES", None)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _whole_suite(config: pytest.Config) -> bool:
    return [Path(argument).resolve() for argument in config.args] == [TESTS]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put tests that run alone first, where the other process has nothing long to finish before it waits."""
    if _is_worker(config):
        files = {item.path for item in items if _alone(item)}
        items.sort(key=lambda item: (item.path not in files, item.path in files and not _alone(item)))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """While a test marked ``alone`` runs, with all that it sets up, the other process runs no test."""
    if not _is_worker(item.config):
        return (yield)
    with ExitStack() as held:
        folder = Path(item.config.option.basetemp).parent  # what the processes share
        both = fasteners.InterProcessReaderWriterLock(folder / "running")
        # Whoever waits to be alone keeps the door shut: else the others would go in one after another.
        with fasteners.InterProcessLock(folder / "door"):
            held.enter_context(both.write_lock() if _alone(item) else both.read_lock())
        return (yield)


def _alone(item: pytest.Item) -> bool:
    return item.get_closest_marker("alone") is not None
