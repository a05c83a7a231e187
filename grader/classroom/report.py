"""``python -m grader report UNIT``: a page and a table about what a class got wrong."""

import io
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

from ..feedback import number
from ..files import write_whole
from ..language import translate as _
from ..paths import ROOT
from ..units import unit_named
from . import charts, summary
from .places import Places
from .results import ClassResults, Result, read_results
from .safe_csv import write_rows
from .similar import LEAST_PARTS, Comparison, SameCode, compare_cells, solution_cells

# What the columns mean is said at the end of the page (report_page.html.j2).
COLUMNS = (
    "kind",
    "learner",
    "exercise",
    "criterion",
    "points",
    "max_points",
    "misconception",
    "note",
    "state",
    "unit",
    "seed",
    "engine",
)
UNNAMED = "unnamed"  # a mistake that has no name
_MOST_LINES, _MOST_TEXTS = 80, 6  # of the code of learners with the same code


def report(
    unit_name: str, out: Path | None = None, root: Path = ROOT, say: Callable[[str], None] = print
) -> int:
    """Write report.html and report.csv on the graded notebooks of a unit, and say where they are.

    The notebooks are those of ``python -m grader grade UNIT --out DIR`` in ``out``, or nbgrader's below
    ``root``. Raises UnknownUnit, NoResults, and OSError where the files cannot be written.
    """
    unit = unit_named(unit_name)
    places = Places.below(out, unit.name) if out else Places.of_course(root, unit.name)
    command = f"python -m grader grade {unit.name}" + (f" --out {out}" if out else "")
    class_results = read_results(places, unit, command)
    page, table = places.results / "report.html", places.results / "report.csv"
    _write(page, _page(class_results, _same_code(class_results)))
    _write(table, _table(class_results))
    say(f"{unit.name}: {_counted(len(class_results.results), 'learner')}. See {page} and {table}.")
    for learner, reason in class_results.damaged.items():
        say(f"Left out: {_shown(learner)}: {reason}.")
    return 0


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode("utf-8", "replace"))
    except OSError as error:
        raise OSError(f"Cannot write {path}: {error.strerror or error}.") from error


# The table


def _table(class_results: ClassResults) -> str:
    text = io.StringIO(newline="")
    write_rows(text, COLUMNS, rows(class_results))
    return text.getvalue()


def rows(class_results: ClassResults) -> Iterator[dict[str, Any]]:
    """The report as long rows. Each ``kind`` of row is complete: add up the points of one kind alone."""
    for result in class_results.results:
        yield from _rows(result)
    for learner, reason in class_results.damaged.items():
        yield {
            "kind": "submission",
            "learner": learner,
            "note": reason,
            "state": "damaged",
            "unit": class_results.unit.name,
        }


def _rows(result: Result) -> Iterator[dict[str, Any]]:
    grade = result.grade
    has_grade = grade.state != "fault"
    common = {
        "learner": result.learner,
        "state": grade.state,
        "unit": grade.unit,
        "seed": grade.seed,
        "engine": grade.engine,
    }
    yield {
        **common,
        "kind": "submission",
        "points": grade.points if has_grade else None,
        "max_points": grade.max_points,
        "note": "; ".join(filter(None, (grade.reason, *grade.notes))),
    }
    if not has_grade:
        return
    for exercise in grade.exercises:
        scored = {"points": exercise.points, "max_points": exercise.max_points}
        yield {
            **common,
            "kind": "exercise",
            "exercise": exercise.exercise,
            **scored,
            "note": exercise.note,
        }
        for criterion in exercise.criteria:
            yield {
                **common,
                "kind": "criterion",
                "exercise": exercise.exercise,
                "criterion": criterion.title,
                "points": criterion.points,
                "max_points": criterion.max_points,
            }
    for mistake in summary.mistakes(unit_named(grade.unit).exercises, [result]):
        yield {
            **common,
            "kind": "mistake",
            "exercise": mistake.exercise,
            "misconception": mistake.name or UNNAMED,
            "note": mistake.sentence,
        }


# The page


def _page(class_results: ClassResults, comparisons: Mapping[str, Comparison]) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"counted": _counted, "shown": _shown, "number": number, "percent": charts.percent}
    environment.globals["_"] = _
    return environment.get_template("report_page.html.j2").render(_content(class_results, comparisons))


def _content(class_results: ClassResults, comparisons: Mapping[str, Comparison]) -> dict[str, Any]:
    """What the page's template is filled with."""
    exercises = class_results.unit.exercises
    graded = summary.graded(class_results)
    scores = [result.grade.points for result in graded]
    max_points = sum(exercise.points for exercise in exercises)
    criteria = summary.criteria(exercises, graded)
    mistakes = summary.mistakes(exercises, graded)
    events = summary.events(exercises, graded)
    silent = Counter({exercise.id: 0 for exercise in exercises})
    for event in events:
        silent[event.exercise] += len(event.learners)
    weakest = sorted(
        (criterion for criterion in criteria if criterion.share is not None and criterion.share < 1 - 1e-9),
        key=lambda criterion: criterion.share,
    )
    return {
        "unit": class_results.unit.name,
        "max_points": max_points,
        "warnings": list(_warnings(class_results)),
        "states": Counter(result.grade.state for result in class_results.results),
        "results": class_results.results,
        "graded": graded,
        "scores": scores,
        "mean": fmean(scores) if scores else None,
        "median": median(scores) if scores else None,
        "histogram": charts.histogram(summary.score_counts(scores, max_points)),
        "exercises": exercises,
        "weakest": weakest[:3],
        "criteria": criteria,
        "criterion_bars": charts.criterion_bars(criteria),
        "low": charts.LOW,
        "is_low": charts.is_low,
        "mistakes": [mistake for mistake in mistakes if mistake.name],
        "unnamed": [mistake for mistake in mistakes if not mistake.name],
        "events": events,
        "silent": [(exercise, learners) for exercise, learners in silent.most_common(3) if learners],
        "remarks": list(_remarks(class_results)),
        "comparisons": comparisons,
        "groups": [_group(group, class_results) for each in comparisons.values() for group in each.groups],
        "least_parts": LEAST_PARTS,
        "seeds": sorted({result.grade.seed for result in class_results.results}),
        "engines": sorted({result.grade.engine for result in graded} - {""}),
        "columns": COLUMNS,
        "unnamed_name": UNNAMED,
        "unstable_name": summary.UNSTABLE,
    }


def _warnings(class_results: ClassResults) -> Iterator[str]:
    """What limits the trust in this report, one sentence or two each."""
    results = class_results.results
    if unguarded := sum(result.grade.engine == "none" for result in results):
        yield (
            f"Graded without a sandbox: {_counted(unguarded, 'submission')} ran with --no-sandbox. That code "
            "could read and change whatever its user can on this machine, solutions included. Trust these "
            "scores as far as you trust who handed in."
        )
    if faults := sum(result.grade.state == "fault" for result in results):
        yield (
            f"{_counted(faults, 'submission')} could not be graded, and the grader is at fault. This is no "
            "zero: run the same command again."
        )
    if class_results.damaged:
        yield (
            f"{_counted(len(class_results.damaged), 'graded notebook')} cannot be read and "
            f"{'is' if len(class_results.damaged) == 1 else 'are'} left out of all numbers: see below."
        )
    if len(seeds := {result.grade.seed for result in results}) > 1:
        yield (
            f"These submissions were graded in {len(seeds)} runs with different seeds, so they answered "
            "different drawn questions. To compare scores closely, grade them all with one seed."
        )


def _remarks(class_results: ClassResults) -> Iterator[tuple[str, str, Sequence[str]]]:
    """Learner, state and what happened, for each whose submission gives rise to a remark; no grade first."""
    for learner, reason in class_results.damaged.items():
        yield learner, "cannot be read", [reason]
    ordered = sorted(class_results.results, key=lambda result: result.grade.state == "graded")
    for result in ordered:
        grade = result.grade
        happened = [grade.reason] if grade.reason else []
        if grade.state == "graded":
            happened += [f"{each.exercise}: {each.note}" for each in grade.exercises if each.note]
        happened += grade.notes
        if happened or grade.state != "graded":
            yield result.learner, grade.state, happened


def _same_code(class_results: ClassResults) -> dict[str, Comparison]:
    """For each exercise, which submissions that ran hold the same code."""
    import nbformat

    from ..notebooks import released

    unit = class_results.unit.name
    stubs = solution_cells(released(unit))
    published = solution_cells(nbformat.read(ROOT / "solutions" / "notebooks" / unit / f"{unit}.ipynb", 4))
    graded = summary.graded(class_results)
    return {
        exercise.id: compare_cells(
            exercise,
            {result.learner: result.cells[exercise.id] for result in graded if exercise.id in result.cells},
            stubs[exercise.id],
            published[exercise.id],
        )
        for exercise in class_results.unit.exercises
    }


@dataclass(frozen=True)
class _Group:
    exercise: str
    learners: list[tuple[str, float]]  # with the points that each earned
    texts: list[tuple[list[str], str]]  # who wrote exactly this, and this


def _group(group: SameCode, class_results: ClassResults) -> _Group:
    points = {
        (result.learner, exercise.exercise): exercise.points
        for result in class_results.results
        for exercise in result.grade.exercises
    }
    texts: dict[str, list[str]] = {}
    for learner, source in zip(group.learners, group.sources, strict=True):
        texts.setdefault(source, []).append(learner)
    return _Group(
        group.exercise,
        [(learner, points[learner, group.exercise]) for learner in group.learners],
        [(learners, _cut(source)) for source, learners in list(texts.items())[:_MOST_TEXTS]],
    )


def _cut(source: str) -> str:
    lines = [line[:200] for line in source.splitlines()]
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_MOST_LINES], "... cut here ..."]
    return _visible("\n".join(lines))


def _counted(count: int, thing: str) -> str:
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def _shown(name: str) -> str:
    """A learner's name or a remark, as it can stand on a page."""
    name = _visible(" ".join(name.split()))
    return name if len(name) <= 300 else name[:299] + "\u2026"


def _visible(text: str) -> str:
    """Without the characters that no page can hold, and those that turn the direction of what follows."""
    return "".join(
        "\ufffd"
        if (unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t")
        or character in _TURNING
        else character
        for character in text
    )


_TURNING = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
