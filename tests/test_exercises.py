"""Every exercise: right solutions get full points, wrong ones fail and are named, probes tell them apart."""

import importlib

import pytest

import hybrid_search
from grader import references
from grader.checks import evaluate
from grader.exercises import EXERCISES
from grader.make_references import implementations, make, twins

ALL = list(EXERCISES.values())
MISCONCEPTIONS = [(exercise.id, name) for exercise in ALL for name in exercise.misconceptions]
UNITS = {
    "00_start": 1,
    "01_embeddings": 8,
    "02_bm25": 8,
    "03_rrf_table": 4,
    "04_retriever": 10,
    "05_tuning": 6,
    "06_postgres": 8,
    "07_reranking": 6,
    "08_tree": 6,
    "09_knee": 8,
}


def variants(exercise_id: str) -> dict[str, tuple]:
    return importlib.import_module(f"variants.{exercise_id}").VARIANTS


VARIANTS = [(exercise.id, name) for exercise in ALL for name in variants(exercise.id)]


def test_each_unit_has_its_points():
    points = {}
    for exercise in ALL:
        points[exercise.unit] = points.get(exercise.unit, 0) + exercise.points
    assert points == UNITS


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)
def test_the_finished_solution_gets_full_points(exercise):
    finished = tuple(getattr(hybrid_search, name) for name in exercise.objects)
    report = evaluate(exercise, finished)
    assert report.points == exercise.points
    assert {verdict.state for verdict in report.verdicts} == {"ok"}


@pytest.mark.parametrize(("exercise_id", "name"), VARIANTS)
def test_a_right_solution_in_another_style_gets_full_points(exercise_id, name):
    report = evaluate(EXERCISES[exercise_id], variants(exercise_id)[name])
    assert report.points == report.max_points, [v for v in report.verdicts if v.state != "ok"]


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)
def test_there_are_enough_right_solutions_and_misconceptions(exercise):
    assert len(variants(exercise.id)) >= 6
    assert len(exercise.misconceptions) >= (14 if exercise.id == "retriever" else 5)


@pytest.mark.parametrize(("exercise_id", "name"), MISCONCEPTIONS)
def test_a_misconception_fails_and_is_named(exercise_id, name):
    exercise = EXERCISES[exercise_id]
    report = evaluate(exercise, implementations(exercise)[name])
    assert report.points < exercise.points
    named = [verdict.misconception for verdict in report.verdicts if verdict.state != "ok"]
    assert set(named) == {name}


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)
def test_no_two_misconceptions_answer_the_same(exercise):
    assert twins(exercise, references.load(exercise)["misconceptions"]) == []


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)
def test_the_stored_reference_is_what_the_build_makes(exercise):
    from grader.compare import same

    assert same(make(exercise), references.load(exercise), 1e-9)


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)
def test_there_are_four_hints_and_the_last_says_where_the_solution_is(exercise, root):
    assert len(exercise.hints) == 4
    place = next(word for word in exercise.hints[-1].split() if word.startswith("solutions/")).rstrip(".,")
    assert (root / place).is_file()
    assert all("solutions/" not in text for text in exercise.hints[:-1])


@pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)
def test_probes_hold_no_model_and_are_plain_json(exercise):
    import json

    for probe in exercise.probes:
        assert json.loads(json.dumps(probe.input)) == probe.input
        assert probe.label.strip()


def test_two_mistakes_at_once_still_get_the_sentence_of_the_one_shown():
    from misconceptions.retriever import RanksFromZero

    class RanksFromZeroAndNoRefusal(RanksFromZero):
        def __init__(self, *indexes):
            self.indexes = list(indexes)

    report = evaluate(EXERCISES["retriever"], (RanksFromZeroAndNoRefusal,))
    named = {verdict.misconception for verdict in report.verdicts if verdict.state != "ok"}
    assert named == {"ranks_from_zero"}


def test_an_unknown_mistake_is_not_given_a_name():
    class Odd:
        def __init__(self, *indexes):
            self.indexes = indexes

        def search(self, query, k=1, k_rrf=60, candidates=20):
            return [(document, 7.5) for document, _ in self.indexes[0].search(query, candidates)][:k]

    report = evaluate(EXERCISES["retriever"], (Odd,))
    assert report.points < report.max_points
    assert {verdict.misconception for verdict in report.verdicts} == {None}
