"""Comparing answers: ties, cuts, shapes, tolerance, and what is written down of an answer."""

import itertools
import sys
import warnings

import numpy as np
import pytest

from grader.answers import attempt, plain, run_probe
from grader.compare import Ranking, Value
from grader.exercise import Criterion, Exercise, Probe, fingerprint
from grader.judge import judge
from grader.outcome import checked

RANKING = Ranking()


def ranking(text: str) -> list:
    """ "a3 b2" as documents with their values."""
    return [[{"document": item[0]}, float(item[1:])] for item in text.split()]


def pairs(text: str) -> dict:
    return {"value": ranking(text)}


def expected(text: str, k: int) -> dict:
    return {"value": {"ranking": ranking(text), "k": k}}


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
    for off, right in ((5e-10, True), (5e-9, False)):
        answer = {"value": [[{"document": "a"}, 3 + off], [{"document": "b"}, 2]]}
        assert RANKING.right(expected("a3 b2", 2), answer) is right


@pytest.mark.parametrize("given", [None, 3, "ab", {"a": 1}, [["a", 3]], [[{"document": "a"}]], [3, 2]])
def test_what_is_no_ranking_is_wrong_and_shown(given):
    assert not RANKING.right(expected("a3 b2", 2), {"value": given})
    assert RANKING.rows(expected("a3 b2", 2), given)


@pytest.mark.parametrize("first", ["a", 140_408_253_935_808, None])
def test_a_pair_without_a_document_is_marked_as_such(first):
    (row, *_) = RANKING.rows(expected("a3 b2", 2), [[first, 3.0], [first, 2.0]])
    assert row.mark == "no document"


def test_a_misconception_is_recognised_in_another_order_of_equals():
    assert RANKING.alike(pairs("a3 b2 c2 d1"), pairs("a3 c2 b2 d1"))
    assert not RANKING.alike(pairs("a3 b2 c2 d1"), pairs("b3 a2 c2 d1"))
    assert not RANKING.alike(pairs("a3 b2"), pairs("a3 b2 c1"))


def test_a_run_of_equals_may_be_cut_anywhere_but_a_single_last_document_must_agree():
    assert RANKING.alike(pairs("a3 b2 c2"), pairs("a3 b2 d2"))
    assert not RANKING.alike(pairs("a3 b2"), pairs("a3 c2"))


def test_true_is_not_one_and_nan_is_never_right():
    nan = plain(float("nan"))
    for one, other in ((1, True), (1.0, nan), (nan, 1.0)):
        assert not Value().right({"value": one}, {"value": other})


def test_the_first_difference_is_marked_even_far_down():
    want, got = list(range(50)), list(range(50))
    got[40] = -1
    rows = Value().rows({"value": want}, got)
    assert [row.position for row in rows if row.mark] == [41]
    assert len(rows) <= 6


def test_of_several_parts_the_first_that_differs_is_shown():
    (row,) = Value().rows(
        {"value": {"kept": [1] * 50, "changed": "refused"}}, {"kept": [1] * 50, "changed": []}
    )
    assert (row.expected, row.yours) == ("changed 'refused'", "changed []")
    (row,) = Value().rows({"value": {"a": 1, "b": 2}}, {"a": 1})
    assert (row.expected, row.yours) == ("a 1, b 2", "a 1")


def test_long_texts_are_shown_where_they_differ():
    row = Value().rows({"value": "a" * 500 + "left"}, "a" * 500 + "right")[0]
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
    assert len(plain(forever())) <= 3000
    assert str(plain(itertools.repeat(itertools.repeat(1)))).count("1") <= 3000
    assert len(str(plain(np.broadcast_to(1, (1000, 1000, 1000))))) < 20_000
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

    assert attempt(tried, (spoils,), tried.probes)["answers"] == [{"value": [1, 2, 3, 9]}] * 2
    assert given == {"items": [3, 1, 2]}


def test_an_error_is_an_answer_with_its_kinds_and_message():
    tried = exercise(lambda f, n: f(n), {"n": 0})
    got = run_probe(tried, (lambda n: 1 / n,), {"n": 0})
    assert got["error"][0] == "ZeroDivisionError" and "Exception" in got["error"]
    assert "division" in got["message"]
    assert checked(got) == got


def leaves(n):
    raise SystemExit(n)


class Mute(Exception):
    def __str__(self):
        raise ValueError("no words")


def mute(n):
    raise Mute


def own_kind(n):
    class Stop(BaseException):
        pass

    raise Stop


def odd_letter(n):
    raise ValueError("\ud800")


@pytest.mark.parametrize(
    ("function", "name"),
    [(leaves, "SystemExit"), (mute, "Mute"), (own_kind, "Stop"), (odd_letter, "ValueError")],
)
def test_no_exception_of_a_learner_gets_through(function, name):
    outcome = run_probe(exercise(lambda f, n: f(n), {"n": 0}), (function,), {"n": 0})
    assert outcome["error"][0] == name
    assert str(outcome).encode("utf-8")
    assert str(plain({"\ud800": "\ud800"})).encode("utf-8")


def test_warnings_and_stderr_are_no_failure(capsys):
    def loud(n):
        warnings.warn("careful", stacklevel=2)
        print("careful", file=sys.stderr)
        return n

    assert run_probe(exercise(lambda f, n: f(n), {"n": 1}), (loud,), {"n": 1}) == {"value": 1}
    assert capsys.readouterr().err == ""


def test_a_set_is_no_answer_because_it_has_no_order():
    assert plain({"a"}) == plain(frozenset("a")) == {"unreadable": "a set, which has no order"}


def reference(*values) -> dict:
    return {"expected": [{"value": value} for value in values], "misconceptions": {}}


def tried_with(tried: Exercise, *values) -> dict:
    answers = [{"value": value} for value in values]
    return {"exercise": "x", "probes": fingerprint(tried.probes), "problem": "", "answers": answers}


ODD = [
    None,
    3,
    [],
    "answers",
    {},
    {"answers": 3},
    {"answers": [{"value": 1}]},
    {"answers": [1, 2]},
    {"answers": [{"error": [1]}, {"error": []}]},
    {"answers": [{"value": 1, "score": 2}, {"points": 9}]},
    {"answers": [{"value": {"error": ["ValueError"]}}, {"error": "ValueError"}]},
    {"answers": [{"error": ["ValueError"], "message": 3, "where": []}] * 2},
]


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("expects", ["values", "an error"])
def test_an_attempt_of_any_shape_is_judged_and_never_worth_more_than_it_shows(odd, expects):
    tried = exercise(lambda f, n: f(n), {"n": 1}, {"n": 2})
    if isinstance(odd, dict):
        odd = {"probes": fingerprint(tried.probes), **odd}
    wanted = (
        reference(7, 8)
        if expects == "values"
        else {"expected": [{"error": ["ValueError"]}] * 2, "misconceptions": {}}
    )
    report = judge(tried, odd, wanted)
    honest = expects == "an error" and odd == ODD[-1] | {"probes": fingerprint(tried.probes)}
    assert report.points == (2 if honest else 0)
    assert {verdict.state for verdict in report.verdicts} == ({"ok"} if honest else {"wrong"})


def test_answers_to_other_probes_count_for_nothing():
    tried = exercise(lambda f, n: f(n), {"n": 1})
    other = exercise(lambda f, n: f(n), {"n": 2})
    assert judge(tried, tried_with(other, 1), reference(1)).points == 0
    assert judge(tried, tried_with(tried, 1), reference(1)).points == 2


def test_a_value_that_looks_like_an_error_is_not_one():
    tried = exercise(lambda f, n: f(n), {"n": 1})
    imitation = run_probe(tried, (lambda n: {"error": ["ValueError"]},), {"n": 1})
    assert not Value().right({"error": ["ValueError"]}, imitation)


def test_a_criterion_earns_points_in_proportion():
    tried = exercise(lambda f, n: f(n), {"n": 1}, {"n": 2}, {"n": 3}, {"n": 4})
    report = judge(tried, tried_with(tried, 1, 2, 3, 0), reference(1, 2, 3, 4))
    assert report.points == 1.5
    assert report.verdicts[0].state == "partly"
    assert report.verdicts[0].difference.question == "probe 3"


def test_an_expected_error_is_right_for_its_subclasses_only():
    comparison = Value()
    wanted = {"error": ["ValueError", "Exception"]}
    assert comparison.right(wanted, {"error": ["UnicodeError", "ValueError", "Exception"]})
    assert not comparison.right(wanted, {"error": ["TypeError", "Exception"]})
    assert not comparison.right(wanted, {"value": 3})
    assert not comparison.right({"value": 3}, wanted)


def test_numbers_that_look_the_same_are_shown_with_the_digits_that_differ():
    (row,) = Value().rows({"value": 1.14513230430300}, 1.145132)
    assert row.expected != row.yours and row.mark == "rounded?"
    rows = RANKING.rows(expected("a0.016393442623 b0.016129", 2), ranking("a0.0164 b0.016129"))
    assert rows[0].mark == "rounded?" and "0.016393442623" in rows[0].expected
