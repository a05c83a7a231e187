"""The trusted side: from what a sandbox sent to points and feedback, written into the graded notebook.

Whatever a submission's code printed, displayed or returned counts for nothing. Of each graded cell one thing is
read, the answers that check() handed in, and they are judged here.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from html import escape
from typing import Any

from . import feedback
from .asked import ANSWERS
from .cells import check_id, code_cells, grade_id
from .exam import Exam
from .exercise import Exercise, fingerprint
from .grades import METADATA, CriterionGrade, ExerciseGrade, GradeState, SubmissionGrade
from .judge import Report
from .language import translate as _
from .sandbox.execution import CellResult, Execution
from .sandbox.limits import Limits

_MOST_PRINTED = 2_000  # characters of a learner's own output kept below a graded cell
_MOST_DEPTH, _MOST_ITEMS, _MOST_CHARACTERS = 12, 200_000, 20_000


def score(
    notebook: Any,
    execution: Execution,
    exam: Exam,
    notes: Iterable[str] = (),
    unstable: Collection[str] = (),
) -> SubmissionGrade:
    """Judge an executed notebook and write outputs, points and feedback into it.

    ``notebook`` is the rebuilt one, ``execution`` has a result for each of its code cells. ``unstable`` are
    the exercises whose answers differed in a second run. Raises ValueError where cells and results do not fit.
    """
    code = code_cells(notebook)
    if len(code) != len(execution.cells):
        raise ValueError(f"{len(code)} code cells, {len(execution.cells)} results")
    results = {}
    for cell, result in zip(code, execution.cells, strict=True):
        cell.outputs = _shown(result)
        cell.execution_count = result.execution_count
        if name := grade_id(cell):
            results[name] = result
    grades = []
    for exercise in exam.exercises.values():
        attempt, note = _attempt(exercise, results, exam.unit.limits)
        report = exam.report(exercise.id, attempt)
        grade = _grade(report, note or _note(report), exercise.id in unstable)
        cell = _cell(notebook, check_id(exercise.id))
        printed = _printed(results[check_id(exercise.id)])
        _write(cell, printed + _feedback(report, note, exercise.id in unstable), grade)
        grades.append(grade)
    return _keep(
        notebook,
        SubmissionGrade(
            exam.unit.name, "graded", tuple(grades), "", tuple(notes), exam.seed, execution.engine
        ),
    )


def score_unrun(
    notebook: Any, exam: Exam, state: GradeState, reason: str, notes: Iterable[str] = ()
) -> SubmissionGrade:
    """No points for a submission that could not be run: ``notebook`` is the released one, and says why."""
    grades = []
    for exercise in exam.exercises.values():
        grade = ExerciseGrade(exercise.id, 0, exercise.points, reason, attempted=False)
        _write(_cell(notebook, check_id(exercise.id)), _message(exercise, reason), grade)
        grades.append(grade)
    return _keep(
        notebook, SubmissionGrade(exam.unit.name, state, tuple(grades), reason, tuple(notes), exam.seed)
    )


def kept(notebook: Any) -> SubmissionGrade | None:
    """The grade that a graded notebook keeps, or None where it keeps none that can be read."""
    try:
        return SubmissionGrade.from_json(notebook.metadata[METADATA])
    except (KeyError, TypeError, AttributeError):
        return None


def answers_of(notebook: Any, execution: Execution) -> dict[str, Any]:
    """What each graded cell handed in, by grade_id: to compare two runs of one notebook."""
    return {
        name: _handed_in(result)
        for cell, result in zip(code_cells(notebook), execution.cells, strict=True)
        if (name := grade_id(cell))
    }


def _attempt(exercise: Exercise, results: Mapping[str, CellResult], limits: Limits) -> tuple[Any, str]:
    """The one well-formed attempt of an exercise, or None and the reason why there is none."""
    check = results[check_id(exercise.id)]
    own = [results[exercise.id], check] if exercise.id in results else [check]
    for result in own:
        if result.stopped:
            return None, _why_stopped(result, limits)
    handed_in = _handed_in(check)
    if len(handed_in) > 1:
        return None, _("{count} answers came where check() gives one").format(count=len(handed_in))
    error = next((text for result in own if (text := _error(result))), "")
    if not handed_in:
        return None, error or _("no answer came from check()")
    attempt = handed_in[0]
    if not _well_formed(attempt, exercise):
        return None, _("what came is not an answer of check()")
    return attempt, ""


def _why_stopped(result: CellResult, limits: Limits) -> str:
    sentences = {
        "time": _("stopped at the limit: a cell may run for {seconds:g} seconds").format(
            seconds=limits.cell_seconds
        ),
        "memory": _("stopped at the limit: a notebook may use {megabytes:g} MB of memory").format(
            megabytes=limits.memory / 1e6
        ),
        "died": _("the process that ran the notebook ended here: by exit(), a crash, or a limit"),
        "flood": _("stopped: it sent more than a notebook can hold"),
    }
    return sentences.get(result.stopped, _("did not run: an earlier cell ended the notebook"))


def _error(result: CellResult) -> str:
    """The error in which a cell ended, in one line."""
    error = next((output for output in result.outputs if output.get("output_type") == "error"), None)
    if error is None:
        return ""
    if error["ename"] == "StdinNotImplementedError":
        return _("input() cannot be answered here")
    if error["ename"] == "NotImplementedError":
        return _("not attempted")
    lines = str(error["evalue"]).strip().splitlines()
    return f"{error['ename']}: {lines[0]}"[:200] if lines else str(error["ename"])[:200]


def _handed_in(result: CellResult) -> list[Any]:
    return [output["data"][ANSWERS] for output in result.outputs if ANSWERS in output.get("data", {})]


def _well_formed(attempt: Any, exercise: Exercise) -> bool:
    """Is this an attempt at exactly these questions, of values that a judge can compare?"""
    if not isinstance(attempt, dict) or attempt.keys() != {"exercise", "probes", "problem", "answers"}:
        return False
    if attempt["exercise"] != exercise.id or attempt["probes"] != fingerprint(exercise.probes):
        return False
    if not isinstance(attempt["problem"], str) or not isinstance(attempt["answers"], list):
        return False
    if attempt["problem"] and attempt["answers"]:  # a wrong call of check() tries nothing
        return False
    return _bounded(attempt)


def _bounded(value: Any) -> bool:
    """Are all numbers finite and of a usual size, and everything within bounds?"""
    todo, items = [(value, 0)], 0
    while todo:
        value, depth = todo.pop()
        items += 1
        if items > _MOST_ITEMS or depth > _MOST_DEPTH:
            return False
        if isinstance(value, dict):
            todo += [(item, depth + 1) for pair in value.items() for item in pair]
        elif isinstance(value, list):
            todo += [(item, depth + 1) for item in value]
        elif isinstance(value, str):
            if len(value) > _MOST_CHARACTERS:
                return False
        elif isinstance(value, int):
            if abs(value) >= 2**63:
                return False
        elif isinstance(value, float):
            if not math.isfinite(value):
                return False
        elif value is not None:
            return False
    return True


def _note(report: Report) -> str:
    if report.problem:
        return report.problem[:200]
    return "" if report.attempted else _("not attempted")


def _grade(report: Report, note: str, unstable: bool) -> ExerciseGrade:
    return ExerciseGrade(
        report.exercise.id,
        report.points,
        report.max_points,
        "; ".join(filter(None, (note, unstable and _unstable()))),
        report.attempted and note != _("not attempted"),
        tuple(
            CriterionGrade(verdict.title, verdict.points, verdict.max_points) for verdict in report.verdicts
        ),
        tuple(report.misconceptions),
        unstable and not note,
    )


def unstable_sentence() -> str:
    """What a learner reads whose answers differ from run to run."""
    sentence = _unstable()
    return sentence[0].upper() + sentence[1:] + "."


def _unstable() -> str:
    return _("the answers may differ from run to run: the code uses chance or the order of a set")


def _feedback(report: Report, note: str, unstable: bool) -> list[dict]:
    if note:
        return _message(report.exercise, note)
    text, html = feedback.as_text(report, None), feedback.as_html(report, None)
    if unstable:
        sentence = unstable_sentence()
        text, html = f"{text}\n  {sentence}", f"{html}<p>{escape(sentence)}</p>"
    return [_display(text, html)]


def _message(exercise: Exercise, reason: str) -> list[dict]:
    """No points, and why."""
    headline = _("{exercise}: 0 of {max_points} points").format(
        exercise=exercise.id, max_points=feedback.number(exercise.points)
    )
    sentence = reason[:1].upper() + reason[1:] + ("" if reason.endswith((".", "!", "?")) else ".")
    return [
        _display(f"{headline}\n  {sentence}", f"<p><b>{escape(headline)}</b></p><p>{escape(sentence)}</p>")
    ]


def _display(text: str, html: str) -> dict:
    return {
        "output_type": "display_data",
        "data": {"text/plain": text, "text/html": html},
        "metadata": {},
    }


def _shown(result: CellResult) -> list:
    """A cell's outputs as an instructor may look at them."""
    import nbformat

    from .sandbox.outputs import safe_to_show

    return [nbformat.from_dict(output) for raw in result.outputs if (output := safe_to_show(raw))]


def _printed(result: CellResult) -> list[dict]:
    """What the learner's code printed in a graded cell; on stderr it would cost all points."""
    text = "".join(output["text"] for output in result.outputs if output.get("output_type") == "stream")
    if len(text) > _MOST_PRINTED:
        text = text[:_MOST_PRINTED] + "\n" + _("... cut here ...") + "\n"
    return [{"output_type": "stream", "name": "stdout", "text": text}] if text else []


def _write(cell: Any, outputs: list[dict], grade: ExerciseGrade) -> None:
    """The outputs of a graded cell, and the points as the value that nbgrader reads."""
    import nbformat

    cell.outputs = [nbformat.from_dict(output) for output in outputs]
    points = {
        "output_type": "execute_result",
        "data": {"text/plain": feedback.number(grade.points)},
        "metadata": {},
        "execution_count": cell.execution_count,
    }
    cell.outputs.append(nbformat.from_dict(points))


def _keep(notebook: Any, grade: SubmissionGrade) -> SubmissionGrade:
    import nbformat

    notebook.metadata[METADATA] = nbformat.from_dict(grade.as_json())
    return grade


def _cell(notebook: Any, name: str) -> Any:
    return next(cell for cell in notebook.cells if grade_id(cell) == name)
