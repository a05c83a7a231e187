"""check() and hint(): what a learner calls."""

import re
import sys
from difflib import get_close_matches

from . import asked, feedback
from .answers import attempt
from .exercise import Exercise, Probe
from .exercises import EXERCISES
from .judge import Report, judge
from .language import translate as _
from .paths import ROOT
from .references import StaleReference, load

_seen: dict[str, int] = {}  # exercise -> how many hints were shown in this notebook


class Points(float):
    """A number of points. Its text is the bare number, which nbgrader reads as partial credit."""

    def __repr__(self) -> str:
        return feedback.number(self)

    __str__ = __repr__


def check(exercise: str, *objects: object) -> Points:
    """Try your objects on the exercise's probes, show what is right and what is not, and give the points.

    ``exercise`` is the exercise's name, ``objects`` what you wrote for it: the class or function itself.
    The report is displayed in a notebook and printed in a terminal. Nothing is raised for a wrong answer.
    Where a class is graded, the answers are handed in instead, and judged outside.
    """
    found = _find(exercise)
    if found is None:
        _show(_unknown(exercise))
        return Points(0)
    if (questions := asked.questions()) is not None:
        probes = [Probe(given, "") for given in questions.get(found.id, ())]
        asked.hand_in(attempt(found, objects, probes))
        return Points(0)
    try:
        report = evaluate(found, objects)
    except StaleReference as problem:
        _show(str(problem))
        return Points(0)
    except KeyboardInterrupt:
        _show(_("You stopped the check of {exercise}.").format(exercise=found.id))
        return Points(0)
    seen = _seen.get(found.id, 0)
    _show(feedback.as_text(report, seen), feedback.as_html(report, seen))
    return Points(report.points)


def evaluate(exercise: Exercise, objects: tuple) -> Report:
    """The report on a learner's objects, without showing it."""
    return judge(exercise, attempt(exercise, objects, exercise.probes), load(exercise))


def hint(exercise: str) -> None:
    """Show the next hint: a nudge, where to look, pseudocode, and where the solution is."""
    found = _find(exercise)
    if not found:
        _show(_unknown(exercise))
        return
    step = min(_seen.get(found.id, 0) + 1, len(found.hints))
    _seen[found.id] = step
    _show(
        _("Hint {step} of {steps}: {text}").format(
            step=step, steps=len(found.hints), text=_where_it_is(_(found.hints[step - 1]))
        )
    )


def _where_it_is(text: str) -> str:
    """A wheel has the finished code beside this package; a handout has only that of earlier units."""
    named = re.search(r"solutions/hybrid_search/\w+\.py", text)
    if named is None or (ROOT / named[0]).is_file():
        return text
    path = ROOT / named[0].removeprefix("solutions/")
    if path.is_file():
        return text.replace(named[0], str(path))
    return _(
        "The finished code comes with the next handout. If you cannot go on without it, ask your teacher."
    )


def _find(exercise: object) -> Exercise | None:
    return EXERCISES.get(exercise) if isinstance(exercise, str) else None


def _unknown(exercise: object) -> str:
    near = get_close_matches(str(exercise), EXERCISES, n=1)
    return _("There is no exercise {name!r}. {advice}").format(
        name=exercise,
        advice=_("Did you mean {near!r}?").format(near=near[0])
        if near
        else _("The exercises are: {names}.").format(names=", ".join(EXERCISES)),
    )


def _show(text: str, html: str = "") -> None:
    ipython = sys.modules.get("IPython")
    shell = ipython and ipython.get_ipython()
    if shell is None or type(shell).__name__ == "TerminalInteractiveShell":
        print(text)
        return
    from html import escape

    data = {"text/plain": text, "text/html": html or f'<p style="white-space:pre-wrap">{escape(text)}</p>'}
    shell.display_pub.publish(data)
