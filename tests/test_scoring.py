"""The trusted side of grading: one well-formed answer counts, whatever else a submission's code put out."""

import json
import math

import pytest

import hybrid_search
from grader.answers import attempt
from grader.asked import ANSWERS
from grader.exam import Exam
from grader.grades import METADATA, SubmissionGrade
from grader.notebooks import released
from grader.sandbox.execution import CellResult, Execution
from grader.scoring import kept, score, score_unrun

UNIT = "04_retriever"
EXAM = Exam(UNIT, seed=7)


def handed_in(exercise: str, objects: tuple | None = None) -> dict:
    """What check() hands in for the finished objects, or for others."""
    asked = EXAM.exercises[exercise]
    objects = objects or tuple(getattr(hybrid_search, name) for name in asked.objects)
    return json.loads(json.dumps(attempt(asked, objects, asked.probes)))


@pytest.fixture(scope="module")
def answers():
    return {name: handed_in(name) for name in EXAM.exercises}


def bundle(answer) -> dict:
    return {"output_type": "display_data", "data": {ANSWERS: answer, "text/plain": "answers"}, "metadata": {}}


def printed(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def error(name: str, value: str) -> dict:
    return {"output_type": "error", "ename": name, "evalue": value, "traceback": [f"{name}: {value}"]}


def graded(outputs: dict[str, list[dict]], stopped: dict[str, str] | None = None, **settings):
    """The grade and the notebook, where cells put these things out; a cell's name is its grade_id."""
    notebook, results = released(UNIT), []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            results.append(CellResult(outputs.get(grade_id, []), 1, (stopped or {}).get(grade_id, "")))
    return score(notebook, Execution(tuple(results), "fork"), EXAM, **settings), notebook


def cell(notebook, grade_id: str):
    return next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def points(grade: SubmissionGrade) -> dict[str, float]:
    return {exercise.exercise: exercise.points for exercise in grade.exercises}


def note(grade: SubmissionGrade, exercise: str) -> str:
    return next(each.note for each in grade.exercises if each.exercise == exercise)


def right(answers) -> dict[str, list[dict]]:
    return {f"check_{name}": [bundle(answer)] for name, answer in answers.items()}


def test_right_answers_get_all_points_and_nbgrader_reads_them(answers):
    from nbgrader.utils import determine_grade

    grade, notebook = graded(right(answers))
    assert points(grade) == {"retriever": 8, "keyword_index": 2}
    assert grade.points == grade.max_points == 10
    assert [each.note for each in grade.exercises] == ["", ""]
    assert determine_grade(cell(notebook, "check_retriever")) == (8, 8)


def test_a_named_mistake_is_in_the_feedback_and_in_the_grade(answers):
    from misconceptions.retriever import IMPLEMENTATIONS

    wrong = handed_in("retriever", IMPLEMENTATIONS["retriever"]["ranks_from_zero"])
    grade, notebook = graded(right(answers) | {"check_retriever": [bundle(wrong)]})
    assert grade.exercises[0].misconceptions == ("ranks_from_zero",)
    assert 0 < grade.exercises[0].points < 8
    shown = cell(notebook, "check_retriever").outputs[0].data["text/plain"]
    assert "Your ranks start at 0." in shown
    assert "hint(" not in shown


def test_the_grade_is_kept_in_the_notebook(answers):
    grade, notebook = graded(right(answers), notes=("two cells had one name",))
    assert kept(notebook) == grade
    assert json.loads(json.dumps(notebook.metadata[METADATA])) == json.loads(json.dumps(grade.as_json()))
    assert (grade.seed, grade.engine, grade.notes) == (7, "fork", ("two cells had one name",))


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ([], "a list"),
        ("8", "text"),
        (8, "a number"),
        (None, "nothing"),
        ({}, "an empty dict"),
        ({"points": 8}, "a score"),
    ],
)
def test_what_is_no_attempt_gets_nothing(answers, value, what):
    grade, _ = graded(right(answers) | {"check_retriever": [bundle(value)]})
    assert points(grade) == {"retriever": 0, "keyword_index": 2}, what
    assert note(grade, "retriever") == "what came is not an answer of check()"


def changed(answer: dict, **changes) -> dict:
    return {**answer, **changes}


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: changed(answer, probes="0123456789abcdef"),
        lambda answer: changed(answer, exercise="keyword_index"),
        lambda answer: changed(answer, problem=3),
        lambda answer: changed(answer, answers={"0": {"value": []}}),
        lambda answer: changed(answer, points=8),
        lambda answer: changed(answer, answers=[{"value": math.nan}] * len(answer["answers"])),
        lambda answer: changed(answer, answers=[{"value": math.inf}] * len(answer["answers"])),
        lambda answer: changed(answer, answers=[{"value": 10**400}] * len(answer["answers"])),
        lambda answer: changed(answer, answers=[{"value": deep(50)}] * len(answer["answers"])),
        lambda answer: changed(answer, answers=[{"value": [0] * 300_000}]),
        lambda answer: changed(answer, answers=[{"value": "x" * 1_000_000}]),
    ],
)
def test_a_forged_attempt_gets_nothing(answers, change):
    grade, _ = graded(right(answers) | {"check_retriever": [bundle(change(answers["retriever"]))]})
    assert points(grade) == {"retriever": 0, "keyword_index": 2}
    assert note(grade, "retriever") == "what came is not an answer of check()"


def deep(levels: int) -> list:
    return [deep(levels - 1)] if levels else []


def test_answers_of_another_shape_are_wrong_answers(answers):
    forged = changed(answers["retriever"], answers=["8"] * len(answers["retriever"]["answers"]))
    grade, _ = graded(right(answers) | {"check_retriever": [bundle(forged)]})
    assert points(grade)["retriever"] == 0
    assert grade.exercises[0].note == ""


def test_two_answers_get_nothing_and_are_counted(answers):
    twice = [bundle(answers["retriever"])] * 2
    grade, notebook = graded(right(answers) | {"check_retriever": twice})
    assert points(grade) == {"retriever": 0, "keyword_index": 2}
    assert note(grade, "retriever") == "2 answers came where check() gives one"
    assert "2 answers came" in cell(notebook, "check_retriever").outputs[0].data["text/plain"]


def test_an_answer_in_another_cell_counts_for_nothing(answers):
    grade, _ = graded({"retriever": [bundle(answers["retriever"])]})
    assert points(grade) == {"retriever": 0, "keyword_index": 0}
    assert note(grade, "retriever") == "no answer came from check()"


def test_printed_and_displayed_points_count_for_nothing():
    forged = {
        "output_type": "execute_result",
        "data": {"text/plain": "8"},
        "metadata": {},
        "execution_count": 1,
    }
    grade, notebook = graded({"check_retriever": [printed("8 of 8 points\n"), forged]})
    assert points(grade) == {"retriever": 0, "keyword_index": 0}
    assert [o.data["text/plain"] for o in cell(notebook, "check_retriever").outputs[-1:]] == ["0"]


def test_stderr_costs_nothing_and_long_prints_are_cut(answers):
    from nbgrader.utils import determine_grade

    noise = [printed("careful!\n", "stderr"), printed("x" * 50_000), bundle(answers["retriever"])]
    grade, notebook = graded(right(answers) | {"check_retriever": noise})
    assert points(grade)["retriever"] == 8
    outputs = cell(notebook, "check_retriever").outputs
    assert determine_grade(cell(notebook, "check_retriever")) == (8, 8)
    assert len(outputs[0].text) < 2_100 and "cut here" in outputs[0].text


@pytest.mark.parametrize(
    ("where", "stopped", "said"),
    [
        ("retriever", "time", "a cell may run for 20 seconds"),
        ("check_retriever", "time", "a cell may run for 20 seconds"),
        ("check_retriever", "memory", "500 MB of memory"),
        ("check_retriever", "died", "the process that ran the notebook ended here"),
        ("check_retriever", "flood", "more than a notebook can hold"),
        ("check_retriever", "not run", "an earlier cell ended the notebook"),
    ],
)
def test_an_exercise_that_was_stopped_gets_nothing_whatever_came(answers, where, stopped, said):
    grade, notebook = graded(right(answers), {where: stopped})
    assert points(grade) == {"retriever": 0, "keyword_index": 2}
    assert said in note(grade, "retriever")
    shown = cell(notebook, "check_retriever").outputs[0].data["text/plain"]
    assert said.lower() in shown.lower()


def test_an_untouched_exercise_is_not_attempted(answers):
    untouched = handed_in("retriever", (type("Retriever", (), {"__init__": _unfinished}),))
    grade, notebook = graded(right(answers) | {"check_retriever": [bundle(untouched)]})
    assert note(grade, "retriever") == "not attempted"
    assert not grade.exercises[0].attempted
    grade, notebook = graded({"check_retriever": [error("NotImplementedError", "")]})
    assert note(grade, "retriever") == "not attempted"
    assert not grade.exercises[0].attempted


def _unfinished(self, *indexes):
    raise NotImplementedError


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (
            error("ModuleNotFoundError", "No module named 'torch'"),
            "ModuleNotFoundError: No module named 'torch'",
        ),
        (error("StdinNotImplementedError", "raw_input was called"), "input() cannot be answered here"),
        (error("SyntaxError", "invalid syntax (1234.py, line 3)\nmore"), "SyntaxError: invalid syntax"),
    ],
)
def test_the_error_of_the_solution_cell_is_the_reason(raised, said):
    outputs = {
        "retriever": [raised],
        "check_retriever": [error("NameError", "name 'Retriever' is not defined")],
    }
    grade, _ = graded(outputs)
    assert note(grade, "retriever").startswith(said)


def test_a_learner_is_told_that_answers_differ(answers):
    grade, notebook = graded(right(answers), unstable={"retriever"})
    assert points(grade)["retriever"] == 8
    assert "may differ from run to run" in note(grade, "retriever")
    assert "may differ from run to run" in cell(notebook, "check_retriever").outputs[0].data["text/plain"]


def test_no_script_of_a_learner_reaches_the_page(answers):
    script = "<script>alert(1)</script>"
    hostile = [
        {"output_type": "display_data", "data": {"text/html": script}, "metadata": {}},
        {"output_type": "display_data", "data": {"application/javascript": "alert(1)"}, "metadata": {}},
        error(script, script),
    ]
    _, notebook = graded({"retriever": hostile, "check_retriever": [error("NameError", script)]})
    for each in notebook.cells:
        for output in each.get("outputs", []):
            assert "application/javascript" not in output.get("data", {})
            assert script not in str(output.get("data", {}).get("text/html", ""))


@pytest.mark.parametrize("state", ["missing", "unreadable", "refused"])
def test_what_could_not_run_gets_zero_and_says_why(state):
    notebook = released(UNIT)
    grade = score_unrun(notebook, EXAM, state, "the file is cut short", ["one more file was ignored"])
    assert (grade.state, grade.points, grade.reason) == (state, 0, "the file is cut short")
    assert {each.note for each in grade.exercises} == {"the file is cut short"}
    for exercise in EXAM.exercises:
        outputs = cell(notebook, f"check_{exercise}").outputs
        assert "The file is cut short." in outputs[0].data["text/plain"]
        assert outputs[-1].data["text/plain"] == "0"
    assert kept(notebook) == grade


def test_a_notebook_that_keeps_no_grade_has_none():
    notebook = released(UNIT)
    assert kept(notebook) is None
    notebook.metadata[METADATA] = {"unit": UNIT}
    assert kept(notebook) is None
