"""A progress bar for long work: in a notebook or a terminal, and nowhere else.

It never writes on stderr, where nbgrader takes any output for a failure, and shows nothing in the first second,
so that quick work leaves no trace.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from html import escape

from lab.language import _

_QUIET_SECONDS = 1.0
_SECONDS_BETWEEN = 0.1


def progress(items: Iterable, label: str, total: int | None = None) -> Iterator:
    """The items, one by one, with a bar that says how many are done. ``total`` is needed for an iterator.

    The bar goes away at the end, also where the work stops with an error.
    """
    if total is None and not isinstance(items, Sized):
        raise ValueError(_("Give the total: it is not known how many items there are."))
    bar = _bar(label, len(items) if total is None else total)
    due = time.monotonic() + _QUIET_SECONDS
    try:
        for done, item in enumerate(items):
            if bar and time.monotonic() >= due:
                bar.show(done)
                due = time.monotonic() + _SECONDS_BETWEEN
            yield item
    finally:
        if bar:
            bar.clear()


def _bar(label: str, total: int):
    # IPython is there already in a notebook, and not worth loading elsewhere.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if hasattr(shell, "kernel"):
        return _NotebookBar(label, total)
    return _TerminalBar(label, total) if sys.stdout.isatty() else None


def _words(label: str, done: int, total: int) -> str:
    return _("{label}: {done} of {total}").format(label=label, done=done, total=total)


class _TerminalBar:
    """One line that is written over."""

    def __init__(self, label: str, total: int):
        self._label, self._total, self._width = label, total, 0

    def show(self, done: int) -> None:
        line = _words(self._label, done, self._total)
        print(f"\r{line.ljust(self._width)}", end="", flush=True)
        self._width = len(line)

    def clear(self) -> None:
        if self._width:
            print(f"\r{' ' * self._width}\r", end="", flush=True)


class _NotebookBar:
    """An output that is updated in place. No widget: a saved notebook would keep a broken one."""

    def __init__(self, label: str, total: int):
        self._label, self._total, self._output = label, total, None

    def show(self, done: int) -> None:
        words = _words(self._label, done, self._total)
        html = f'<label>{escape(words)} <progress max="{self._total}" value="{done}"></progress></label>'
        self._display({"text/plain": words, "text/html": html})

    def clear(self) -> None:
        if self._output:
            self._display({"text/plain": ""})

    def _display(self, data: dict[str, str]) -> None:
        if self._output:
            self._output.update(data, raw=True)
        else:
            from IPython.display import display

            self._output = display(data, raw=True, display_id=True)
