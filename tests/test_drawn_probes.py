"""The probes that a grading run draws: as many as the public ones, other in each run, fair to every right solution."""

import hashlib
import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest
from kept_connections import kept_connections

import hybrid_search
from grader.answers import attempt, run_probe
from grader.checks import evaluate
from grader.exam import Exam
from grader.exercises import EXERCISES
from grader.exercises.drawing import WORDS
from grader.exercises.postgres import _StubBM25Index
from grader.make_references import implementations
from grader.stubs import StubEmbedder, StubIndex, StubSearch
from grader.units import UNITS
from lab import stop_words

# A number worked out by hand, and settings that were chosen, leave nothing to draw.
DRAWN = [exercise for name, exercise in EXERCISES.items() if name not in ("metrics", "tuning", "pruning")]
CRITERIA = [(exercise.id, place) for exercise in DRAWN for place in range(len(exercise.criteria))]


@pytest.fixture(scope="module", autouse=True)
def _connections(postgres_folder):
    """All draws of all solutions are run; test_exercises.py has a new connection for each probe."""
    with kept_connections():
        yield


@cache
def exam(unit: str, seed: int) -> Exam:
    return Exam(unit, seed)


def graded(exercise_id: str, objects: tuple, seed: int):
    """The report of a grading run, the answers having gone through JSON."""
    of_run = exam(EXERCISES[exercise_id].unit, seed)
    asked = of_run.exercises[exercise_id]
    return of_run.report(exercise_id, json.loads(json.dumps(attempt(asked, objects, asked.probes))))


def drawn(exercise_id: str, place: int, seed: int) -> tuple:
    criterion = exam(EXERCISES[exercise_id].unit, seed).exercises[exercise_id].criteria[place]
    return criterion.probes[len(EXERCISES[exercise_id].criteria[place].probes) :]


def inputs(probes) -> list[str]:
    return [json.dumps(probe.input, sort_keys=True) for probe in probes]


def finished(exercise_id: str) -> tuple:
    return tuple(getattr(hybrid_search, name) for name in EXERCISES[exercise_id].objects)


def variants() -> list:
    return [
        (exercise.id, name, number)
        for exercise in DRAWN
        for number, name in enumerate(importlib.import_module(f"variants.{exercise.id}").VARIANTS)
    ]


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda exercise: exercise.id)
def test_a_run_asks_as_many_drawn_probes_as_public_ones(exercise):
    asked = exam(exercise.unit, 1).exercises[exercise.id]
    times = 2 if exercise in DRAWN else 1
    assert [len(c.probes) for c in asked.criteria] == [times * len(c.probes) for c in exercise.criteria]


@pytest.mark.parametrize(("exercise_id", "name", "number"), variants())
def test_a_right_solution_gets_full_points_whatever_is_drawn(exercise_id, name, number):
    objects = importlib.import_module(f"variants.{exercise_id}").VARIANTS[name]
    for seed in range(number % 6, 30, 6):
        report = graded(exercise_id, objects, seed)
        assert report.points == report.max_points, (seed, [v for v in report.verdicts if v.state != "ok"])


@pytest.mark.parametrize(
    ("exercise_id", "name"), [(exercise.id, name) for exercise in DRAWN for name in exercise.misconceptions]
)
def test_a_mistake_loses_on_drawn_probes_too_and_is_still_named(exercise_id, name):
    exercise = EXERCISES[exercise_id]
    objects = implementations(exercise)[name]
    public = evaluate(exercise, objects).verdicts
    report = graded(exercise_id, objects, 3)
    assert report.points < report.max_points
    seeds = range(20)
    for place, (before, after) in enumerate(zip(public, report.verdicts, strict=True)):
        if before.state == "ok":
            continue
        assert after.misconception == name
        failing = sum(fails(exercise, objects, place, seed) for seed in seeds)
        assert failing >= 0.8 * len(seeds), (before.title, failing)


def fails(exercise, objects, place, seed) -> bool:
    """Is one of the probes drawn for this criterion answered wrongly?"""
    return any(
        not exercise.compare.right(right, run_probe(exercise, objects, probe.input))
        for right, probe in zip(
            expected(exercise.id, place, seed), drawn(exercise.id, place, seed), strict=True
        )
    )


@cache
def expected(exercise_id: str, place: int, seed: int) -> list:
    exercise, objects = EXERCISES[exercise_id], finished(exercise_id)
    return [
        exercise.compare.expected(lambda given: run_probe(exercise, objects, given), probe.input)
        for probe in drawn(exercise_id, place, seed)
    ]


def told(value: object) -> str:
    """What a solution can see of an argument. All connections, and all folders, are as good as one."""
    if type(value).__name__ == "Connection":
        return "a connection"
    if isinstance(value, Path):
        return value.name
    if isinstance(value, StubIndex | StubSearch | StubEmbedder | _StubBM25Index):
        return repr(vars(value))
    return repr(value)


def memorised(exercise_id: str) -> tuple:
    """Objects that answer as the finished ones, but only what the public probes ask: all that they have learnt."""
    exercise = EXERCISES[exercise_id]
    known, learning = set(), [True]

    def is_known(history: list) -> bool:
        if learning:
            known.add(tuple(history))
        return tuple(history) in known

    def call(history, name, function, args, kwargs):
        history.append((name, *map(told, args), *(f"{key}={told(item)}" for key, item in kwargs.items())))
        return function(*args, **kwargs) if is_known(history) else None

    def as_function(original):
        return lambda *args, **kwargs: call([], original.__name__, original, args, kwargs)

    def as_class(original):
        class AsClass:
            def __init__(self, *args, **kwargs):
                self._history = []
                self._original = call(self._history, "made", original, args, kwargs)

            def __getattr__(self, name):
                return lambda *args, **kwargs: call(
                    self._history, name, getattr(self._original, name, None), args, kwargs
                )

        return AsClass

    objects = tuple(
        (as_class if isinstance(original, type) else as_function)(original)
        for original in finished(exercise_id)
    )
    evaluate(exercise, objects)
    learning.clear()
    assert evaluate(exercise, objects).points == exercise.points
    return objects


@pytest.mark.parametrize("exercise_id", [exercise.id for exercise in DRAWN])
def test_memorised_answers_earn_half_of_each_criterion_at_most(exercise_id):
    objects = memorised(exercise_id)
    for seed in range(10):
        for verdict in graded(exercise_id, objects, seed).verdicts:
            assert verdict.points <= verdict.max_points / 2 + 1e-9, (seed, verdict)


@pytest.mark.parametrize(("exercise_id", "place"), CRITERIA)
def test_drawn_probes_are_plain_json_with_a_label_and_differ_from_all_others(exercise_id, place):
    public = set(inputs(EXERCISES[exercise_id].probes))
    for seed in range(200):
        probes = drawn(exercise_id, place, seed)
        assert all(json.loads(json.dumps(probe.input)) == probe.input for probe in probes)
        assert all(probe.label.strip() for probe in probes)
        assert len(set(inputs(probes))) == len(probes)
        assert not public & set(inputs(probes)), seed


@pytest.mark.parametrize(("exercise_id", "place"), CRITERIA)
def test_hardly_two_runs_draw_the_same(exercise_id, place):
    """200 runs give 190 sets at least, and more than half of all single probes are drawn but once."""
    sets = [inputs(drawn(exercise_id, place, seed)) for seed in range(200)]
    assert len({tuple(probes) for probes in sets}) >= 190
    times = Counter(probe for probes in sets for probe in probes)
    assert sum(count for count in times.values() if count == 1) > len(sets) * len(sets[0]) / 2


@pytest.mark.parametrize(("exercise_id", "place"), CRITERIA)
def test_answers_that_never_change_earn_little_on_drawn_probes(exercise_id, place):
    """Such as an empty list each time, or the number that is right most often."""
    answers = [list(map(json.dumps, expected(exercise_id, place, seed))) for seed in range(60)]
    shares = [max(Counter(column).values()) / len(column) for column in zip(*answers, strict=True)]
    assert sum(shares) / len(shares) < 0.65, shares


def digest() -> str:
    asked = [Exam(unit, seed).questions for unit in UNITS for seed in range(3)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


@pytest.mark.parametrize("hash_seed", ["0", "1", "2024"])
def test_a_seed_gives_the_same_probes_in_every_process(hash_seed, root):
    code = "from test_drawn_probes import digest; print(digest())"
    paths = [root, root / "tests", root / "notebooks", root / "solutions"]
    environment = {
        **os.environ,
        "PYTHONHASHSEED": hash_seed,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env=environment, capture_output=True, text=True
    )
    assert run.stdout.strip() == digest(), run.stderr


def test_another_seed_gives_other_probes():
    for unit in {exercise.unit for exercise in DRAWN}:
        assert exam(unit, 1).questions != exam(unit, 2).questions


def test_random_gives_the_same_on_every_python():
    random = Random("7 retriever 2")
    assert random.sample(range(100), 4) == [84, 12, 60, 1]
    assert [random.choice("abcdef") for _ in range(4)] == ["a", "a", "b", "d"]
    assert [random.randrange(5, 50) for _ in range(4)] == [30, 15, 7, 33]


def test_a_word_is_no_stop_word_and_stands_inside_no_other():
    assert not set(WORDS) & stop_words()
    assert all(word.isascii() and word.isalpha() and word.islower() for word in WORDS)
    assert not [(word, other) for word in WORDS for other in WORDS if word != other and word in other]
