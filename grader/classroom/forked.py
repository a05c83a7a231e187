"""Do the same to many things on all cores at once, in forked processes that know what this one knows."""

import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence

from .pools import usable_cores

_WORTH_A_PROCESS = 8  # things, of some hundredths of a second each
_do: Callable[[int], None]


def each_done(do: Callable[[int], None], many: Sequence[int]) -> Iterator[None]:
    """``do`` is called with each number, in any order and process; yields after each, and raises what it raises.

    What it changes in memory is lost. One process does it where forking is not safe, or not worth it.
    """
    global _do
    processes = min(usable_cores(), len(many) // _WORTH_A_PROCESS)
    if processes < 2 or sys.platform != "linux" or threading.active_count() > 1:
        for number in many:
            yield do(number)
        return
    _do = do
    with multiprocessing.get_context("fork").Pool(processes, _leave_signals_to_maker) as pool:
        yield from pool.imap_unordered(_done, many)


def _done(number: int) -> None:
    _do(number)


def _leave_signals_to_maker() -> None:
    """Ctrl-C reaches all of them: the maker ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
