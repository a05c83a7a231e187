"""Submissions whose answers change from run to run are found by running them again."""

import pytest
from sample_class import UNIT, Pretended, by_chance, notebook, right

from grader.asked import ANSWERS
from grader.classroom.second_run import unstable, with_other_seeds, worth_a_second_run
from grader.grades import ExerciseGrade, SubmissionGrade
from grader.notebooks import released
from grader.sandbox.execution import CellResult, EngineFault, Execution, Job
from grader.scoring import kept

FULL = SubmissionGrade(UNIT, "graded", (ExerciseGrade("retriever", 8, 8),))
LESS = SubmissionGrade(UNIT, "graded", (ExerciseGrade("retriever", 3, 8),))
UNTOUCHED = SubmissionGrade(UNIT, "graded", (ExerciseGrade("retriever", 0, 8, attempted=False),))


@pytest.mark.parametrize(
    "source",
    [
        "import random\nrandom.shuffle(documents)",
        "from random import choice",
        "x = numpy.random.default_rng().random()",
        "import secrets",
        "import uuid as u",
        "os.urandom(4)",
        "%matplotlib inline\nimport random",
    ],
)
def test_chance_is_looked_at_whatever_it_earned(source):
    assert worth_a_second_run([source], FULL)
    assert worth_a_second_run([source], LESS)


@pytest.mark.parametrize(
    "source",
    [
        "for document in set(found): pass",
        "for document in {1, 2}: pass",
        "[d for d in {x for x in y}]",
        "frozenset(x)",
        "hash(text) % 5",
        "sorted(found, key=id)",
        "sorted(found, key=lambda document: id(document))",
        "import time",
    ],
)
def test_the_order_of_a_set_is_looked_at_where_points_were_lost(source):
    assert worth_a_second_run([source], LESS)
    assert not worth_a_second_run([source], FULL)
    assert not worth_a_second_run([source], UNTOUCHED)


@pytest.mark.parametrize(
    "source",
    [
        "seen = [id(document) for document in found]",
        "return sorted(found)",
        "# random choice of a set",
        "x = 'random'",
        "def broken(:",
        "(" * 5_000,
        "\0",
    ],
)
def test_other_code_is_not_run_again(source):
    assert not worth_a_second_run([source], LESS)


def test_the_second_run_has_other_seeds_and_nothing_else():
    job = Job(UNIT, ("a",), {"x": []}, hash_seed=2**32 - 1, random_seed=5)
    other = with_other_seeds(job)
    assert (other.hash_seed, other.random_seed) == (0, 6)
    assert (other.unit, other.cells, other.questions) == (job.unit, job.cells, job.questions)


def execution(answers: dict[str, object], stopped: str = "") -> Execution:
    cells = []
    for cell in released(UNIT).cells:
        if cell.cell_type == "code":
            given = answers.get(cell.id)
            outputs = [{"output_type": "display_data", "data": {ANSWERS: given}, "metadata": {}}]
            cells.append(CellResult(outputs if given else [], 1, stopped))
    return Execution(tuple(cells), "fork")


def test_exercises_whose_answers_differ_are_named():
    notebook, names = released(UNIT), ["retriever", "keyword_index"]
    first = execution({"check_retriever": [1], "check_keyword_index": [2]})
    assert unstable(notebook, names, first, first) == set()
    second = execution({"check_retriever": [1], "check_keyword_index": [3]})
    assert unstable(notebook, names, first, second) == {"keyword_index"}
    assert unstable(notebook, names, first, execution({"check_retriever": [1]})) == {"keyword_index"}
    assert unstable(notebook, names, first, execution({}, stopped="time")) == set()


def test_the_finished_solution_is_not_doubted():
    assert not worth_a_second_run(right().values(), FULL)


def autograded(sources: dict[str, str]) -> SubmissionGrade:
    """What nbgrader's own autograding, with the course's steps in it, leaves in the notebook."""
    from grader import preprocessors

    made, resources = notebook(sources), {"nbgrader": {"assignment": UNIT, "student": "amal"}}
    for step in (
        preprocessors.RebuildFromRelease(),
        preprocessors.RunInSandbox(seed=3),
        preprocessors.JudgeOutside(),
    ):
        made, resources = step.preprocess(made, resources)
    return kept(made)


CHANCE = by_chance("import random; luck = random.random()")


def test_nbgraders_autograding_tells_of_chance_as_the_class_run_does(monkeypatch):
    engine = Pretended(monkeypatch)
    monkeypatch.setattr("grader.preprocessors.execute", engine.execute)
    grade = autograded(CHANCE)
    assert [job.hash_seed for job in engine.asked] == [0, 1]
    by_name = {exercise.exercise: exercise for exercise in grade.exercises}
    assert "the answers may differ from run to run" in by_name["retriever"].note
    assert by_name["retriever"].unstable and not by_name["keyword_index"].unstable
    assert (by_name["keyword_index"].points, by_name["keyword_index"].note) == (2, "")


def test_nbgraders_autograding_runs_no_other_code_twice(monkeypatch):
    engine = Pretended(monkeypatch)
    monkeypatch.setattr("grader.preprocessors.execute", engine.execute)
    assert autograded(right()).points == 10
    assert len(engine.asked) == 1


def test_in_nbgraders_autograding_the_first_run_counts_where_the_second_fails(monkeypatch):
    engine = Pretended(monkeypatch)

    def once(job, name):
        if engine.asked:
            raise EngineFault("no second run")
        return engine.execute(job, name)

    monkeypatch.setattr("grader.preprocessors.execute", once)
    grade = autograded(CHANCE)
    assert grade.state == "graded" and not any(exercise.unstable for exercise in grade.exercises)
    assert grade.points == 2
