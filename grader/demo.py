"""A class of five, graded with nbgrader before your eyes."""

import logging
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat

from .exercises import EXERCISES
from .language import translate as _
from .paths import ROOT

_UNIT = "04_retriever"


def demo(say: Callable[[str], None] = print) -> int:
    """Grade the sample class of unit 04 in a temporary folder and print the table."""
    from .nbgrader_course import course_api

    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module="nbgrader")  # about its own use of its database
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        solved = shutil.copytree(
            ROOT / "solutions" / "notebooks" / _UNIT, root / "solutions" / "notebooks" / _UNIT
        )
        api = course_api(root)
        _done(api.generate_assignment(_UNIT), "generate_assignment")
        class_list = _hand_in(root, Path(solved) / f"{_UNIT}.ipynb")
        say(f"Grading {len(class_list)} submissions of unit {_UNIT} with nbgrader ...")
        for learner in class_list:
            _done(api.autograde(_UNIT, learner), f"autograde {learner}")
        say("\n".join(_table(root, api, class_list)))
    return 0


def _hand_in(root: Path, solved: Path) -> list[str]:
    """Put the sample class's notebooks where nbgrader looks for submissions; the learners' names."""
    released = nbformat.read(root / "notebooks" / _UNIT / f"{_UNIT}.ipynb", as_version=4)
    right = {
        cell.id: cell.source for cell in nbformat.read(solved, as_version=4).cells if cell.id in EXERCISES
    }
    sample_class = dict(_sample_class(right))
    for learner, sources in sample_class.items():
        notebook = nbformat.from_dict(released)
        for cell in notebook.cells:
            cell.source = sources.get(cell.id, cell.source)
        folder = root / "grader" / "submitted" / learner / _UNIT
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{_UNIT}.ipynb")
    return list(sample_class)


def _sample_class(right: dict[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Each learner with the solution cells that were changed."""
    yield "amal", right
    yield "bruno", {"retriever": right["retriever"]}
    yield "chen", {}
    yield "dana", {**right, "retriever": _changed(right["retriever"], ", start=1", "")}
    yield "emre", {**right, "retriever": _changed(right["retriever"], "(query, candidates)", "(query, k)")}


def _changed(source: str, old: str, new: str) -> str:
    if source.count(old) != 1:
        raise RuntimeError(
            f"the demo changes {old!r} in the solution, which has it {source.count(old)} times"
        )
    return source.replace(old, new)


def _done(result: dict, step: str) -> None:
    if not result["success"]:
        raise RuntimeError(f"nbgrader could not {step}:\n{result.get('error') or result.get('log')}")


def _table(root: Path, api, learners: list[str]) -> Iterator[str]:
    exercises = [exercise for exercise in EXERCISES.values() if exercise.unit == _UNIT]
    yield (
        f"{'learner':<9}{'points':>8}"
        + "".join(f"{exercise.id:>15}" for exercise in exercises)
        + "  what happened"
    )
    for learner in learners:
        with api.gradebook as gradebook:
            submission = gradebook.find_submission(_UNIT, learner)
            grades = {grade.name: grade.auto_score for grade in submission.notebooks[0].grades}
            total, full = (
                f"{submission.score:g}/{submission.max_score:g}",
                submission.score == submission.max_score,
            )
        notebook = root / "grader" / "autograded" / learner / _UNIT / f"{_UNIT}.ipynb"
        yield (
            f"{learner:<9}{total:>8}"
            + "".join(f"{grades[f'check_{exercise.id}']:>15g}" for exercise in exercises)
            + f"  {_what_happened(notebook, full)}"
        )


def _what_happened(path: Path, full: bool) -> str:
    """The first named mistake in the feedback of a graded notebook, or how it went."""
    if full:
        return "all right"
    reports = [
        " ".join(output.data["text/plain"].split())
        for cell in nbformat.read(path, as_version=4).cells
        if cell.cell_type == "code" and cell.id.startswith("check_")
        for output in cell.outputs
        if output.output_type == "display_data"
    ]
    sentences = [
        _(sentence) for exercise in EXERCISES.values() for sentence in exercise.misconceptions.values()
    ]
    named = [sentence for report in reports for sentence in sentences if sentence in report]
    if named:
        return named[0]
    untouched = sum(_("not attempted yet") in report for report in reports)
    if untouched:
        return "not attempted" if untouched == len(reports) else "one exercise not attempted"
    return "wrong, by a mistake without a name"
