"""Comparing answers: ties, cuts, shapes, tolerance, and what is written down of an answer."""

import numpy as np
import pytest

from grader.answers import answer, plain
from grader.compare import Ranking, Value
from grader.exercise import Criterion, Exercise, Probe
from grader.judge import judge

RANKING = Ranking()


def pairs(text: str) -> list:
    """ "a3 b2" as an answer: documents with their values."""
    return [[{"document": item[0]}, float(item[1:])] for item in text.split()]


def expected(text: str, k: int) -> dict:
    return {"ranking": pairs(text), "k": k}


@pytest.mark.parametrize("given", ["a3 b2 c2", "a3 c2 b2"])
def test_any_order_among_equal_scores_is_right(given):
    assert RANKING.right(expected("a3 b2 c2 d1", 3), pairs(given))


@pytest.mark.parametrize("given", ["a3 b2", "a3 c2"])
def test_any_choice_among_equals_at_the_cut_is_right(given):
    assert RANKING.right(expected("a3 b2 c2 d1", 2), pairs(given))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("b2 a3", "order"),
        ("a3 d1", "a worse document at the cut"),
        ("a3", "too few"),
        ("a3 b2 c2", "too many"),
        ("a3 a3", "a document twice"),
        ("a3 z2", "a document nobody found"),
        ("a3 b2.001", "a score that is off"),
    ],
)
def test_a_ranking_is_wrong_for(given, why):
    assert not RANKING.right(expected("a3 b2 c2 d1", 2), pairs(given)), why


def test_scores_are_the_same_within_the_tolerance():
    assert RANKING.right(expected("a3 b2", 2), [[{"document": "a"}, 3 + 5e-10], [{"document": "b"}, 2]])
    assert not RANKING.right(expected("a3 b2", 2), [[{"document": "a"}, 3 + 5e-9], [{"document": "b"}, 2]])


@pytest.mark.parametrize("given", [None, 3, "ab", {"a": 1}, [["a", 3]], [[{"document": "a"}]], [3, 2]])
def test_what_is_no_ranking_is_wrong_and_shown(given):
    assert not RANKING.right(expected("a3 b2", 2), given)
    assert RANKING.rows(expected("a3 b2", 2), given)


def test_a_misconception_is_recognised_in_another_order_of_equals():
    assert RANKING.alike(pairs("a3 b2 c2 d1"), pairs("a3 c2 b2 d1"))
    assert not RANKING.alike(pairs("a3 b2 c2 d1"), pairs("b3 a2 c2 d1"))
    assert not RANKING.alike(pairs("a3 b2"), pairs("a3 b2 c1"))


def test_a_run_of_equals_may_be_cut_anywhere_but_a_single_last_document_must_agree():
    assert RANKING.alike(pairs("a3 b2 c2"), pairs("a3 b2 d2"))
    assert not RANKING.alike(pairs("a3 b2"), pairs("a3 c2"))


def test_true_is_not_one_and_nan_is_never_right():
    assert not Value().right(1, True)
    assert not Value().right(1.0, plain(float("nan")))
    assert not Value().right(plain(float("nan")), 1.0)


def test_the_first_difference_is_marked_even_far_down():
    want, got = list(range(50)), list(range(50))
    got[40] = -1
    rows = Value().rows(want, got)
    assert [row.position for row in rows if row.mark] == [41]
    assert len(rows) <= 6


def test_long_texts_are_shown_where_they_differ():
    row = Value().rows("a" * 500 + "left", "a" * 500 + "right")[0]
    assert "left" in row.expected and "right" in row.yours
    assert len(row.expected) < 80


@pytest.mark.parametrize(
    "shape",
    [
        lambda ranking: ranking,
        tuple,
        iter,
        lambda ranking: [list(pair) for pair in ranking],
        lambda ranking: [(document, np.float64(value)) for document, value in ranking],
        lambda ranking: (pair for pair in ranking),
    ],
    ids=["list", "tuple", "iterator", "lists", "numpy", "generator"],
)
def test_the_type_of_a_series_or_number_does_not_matter(shape):
    document = {"id": "a", "content": "text"}
    assert plain(shape([(document, 0.5)])) == [[{"document": "a"}, 0.5]]


def test_numpy_values_become_plain():
    assert plain(np.arange(3)) == [0, 1, 2]
    assert plain(np.int64(3)) == 3 and type(plain(np.int64(3))) is int
    assert plain(np.array(2.5)) == 2.5
    assert plain(np.bool_(True)) is True


def test_an_endless_or_deep_answer_is_cut():
    def forever():
        while True:
            yield 1

    deep = []
    deep.append(deep)
    assert len(plain(forever())) <= 1000
    assert "nested" in str(plain(deep))
    assert "object" in str(plain(object()))


def exercise(function_answer, *inputs) -> Exercise:
    probes = tuple(Probe(given, f"probe {i}") for i, given in enumerate(inputs))
    return Exercise(
        "x", "99_x", "X", ("f",), function_answer, Value(), (Criterion("works", 2, probes),), (), {}
    )


def test_each_probe_gets_inputs_of_its_own():
    given = {"items": [3, 1, 2]}
    tried = exercise(lambda f, items: f(items), given, given)

    def spoils(items):
        items.sort()
        items.append(9)
        return items

    assert [answer(tried, (spoils,), probe.input) for probe in tried.probes] == [[1, 2, 3, 9]] * 2
    assert given == {"items": [3, 1, 2]}


def test_an_error_is_an_answer_with_its_kinds_and_message():
    tried = exercise(lambda f, n: f(n), {"n": 0})
    got = answer(tried, (lambda n: 1 / n,), {"n": 0})
    assert got["error"][0] == "ZeroDivisionError" and "Exception" in got["error"]
    assert "division" in got["message"]


def test_a_criterion_earns_points_in_proportion():
    tried = exercise(lambda f, n: f(n), {"n": 1}, {"n": 2}, {"n": 3}, {"n": 4})
    report = judge(tried, [1, 2, 3, 0], {"expected": [1, 2, 3, 4], "misconceptions": {}})
    assert report.points == 1.5
    assert report.verdicts[0].state == "partly"
    assert report.verdicts[0].difference.question == "probe 3"


def test_an_expected_error_is_right_for_its_subclasses_only():
    comparison = Value()
    wanted = {"error": ["ValueError", "Exception"]}
    assert comparison.right(wanted, {"error": ["UnicodeError", "ValueError", "Exception"]})
    assert not comparison.right(wanted, {"error": ["TypeError", "Exception"]})
    assert not comparison.right(wanted, 3)
    assert not comparison.right(3, wanted)


def test_numbers_that_look_the_same_are_shown_with_the_digits_that_differ():
    (row,) = Value().rows(1.14513230430300, 1.145132)
    assert row.expected != row.yours and row.mark == "rounded?"
    rows = RANKING.rows(expected("a0.016393442623 b0.016129", 2), pairs("a0.0164 b0.016129"))
    assert rows[0].mark == "rounded?" and "0.016393442623" in rows[0].expected
