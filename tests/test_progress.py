"""How far a class run is: a bar with the time left in a terminal, a line every so often elsewhere."""

import io

from grader.classroom import progress
from grader.classroom.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_a_bar_with_the_time_left():
    stream = Terminal()
    with Progress("Submissions", 4, stream) as bar:
        for _ in range(3):
            bar.advance()
        bar._bar.refresh()
    assert "Submissions: 3 of 4" in stream.getvalue() and "left" in stream.getvalue()


def test_elsewhere_quick_work_leaves_no_line():
    stream = io.StringIO()
    with Progress("Submissions", 4, stream) as bar:
        bar.advance(4)
    assert stream.getvalue() == ""


def test_elsewhere_a_line_comes_every_so_often(monkeypatch):
    now = 0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    stream = io.StringIO()
    with Progress("Submissions", 40, stream) as bar:
        for now in (10, 20, 30, 120):  # noqa: B007 - the clock reads it
            bar.advance()
    said = stream.getvalue().splitlines()
    assert said[0].startswith("Submissions: 2 of 40, about ") and said[0].endswith(" left")
    assert said[-1] == "Submissions: 4 of 40, about 18 min left"
    assert len(said) == 2
