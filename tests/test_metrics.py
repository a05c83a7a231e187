"""Metrics of a ranking: the numbers worked out by hand, the limits, the refusals, and a reference library."""

import importlib.util
import math
import random

import pytest
from conftest import need

import lab

# Relevant a and b; a run x, a, b: the first relevant document is second.
RUN, RELEVANT = ["x", "a", "b"], {"a", "b"}


def test_the_metrics_of_a_small_example_are_those_worked_out_by_hand():
    assert lab.recall_at(RUN, RELEVANT, 2) == 0.5
    assert lab.recall_at(RUN, RELEVANT, 3) == 1
    assert lab.precision_at(RUN, RELEVANT, 2) == 0.5
    assert lab.precision_at(RUN, RELEVANT, 3) == pytest.approx(2 / 3)
    assert lab.reciprocal_rank(RUN, RELEVANT) == 0.5
    assert lab.average_precision(RUN, RELEVANT) == pytest.approx(0.583333, abs=1e-6)
    assert lab.ndcg_at(RUN, RELEVANT, 3) == pytest.approx(0.693426, abs=1e-6)
    assert lab.mrr([RUN], [RELEVANT]) == 0.5


def test_ndcg_takes_graded_gains():
    gains = {"a": 3, "b": 1}
    found = 3 / math.log2(3) + 1 / math.log2(4)
    best = 3 / math.log2(2) + 1 / math.log2(3)
    assert lab.ndcg_at(RUN, gains, 3) == pytest.approx(found / best)
    assert lab.ndcg_at(["a", "b"], gains, 1) == lab.ndcg_at(["a", "b"], gains, 2) == 1
    assert lab.ndcg_at(["b", "a"], gains, 2) < 1


def test_the_other_metrics_read_gains_as_a_set():
    gains = {"a": 3, "b": 0.5}
    assert lab.recall_at(RUN, gains, 2) == lab.recall_at(RUN, RELEVANT, 2)
    assert lab.precision_at(RUN, gains, 2) == lab.precision_at(RUN, RELEVANT, 2)
    assert lab.reciprocal_rank(RUN, gains) == lab.reciprocal_rank(RUN, RELEVANT)
    assert lab.average_precision(RUN, gains) == lab.average_precision(RUN, RELEVANT)


def test_a_perfect_ranking_has_1_and_a_useless_one_0():
    for metric in (lab.ndcg_at, lab.recall_at, lab.precision_at):
        assert metric(["a", "b", "x"], RELEVANT, 2) == 1
        assert metric(["x", "y"], RELEVANT, 2) == 0
    for metric in (lab.reciprocal_rank, lab.average_precision):
        assert metric(["a", "b", "x"], RELEVANT) == 1
        assert metric(["x", "y"], RELEVANT) == 0


def test_an_empty_ranking_has_found_nothing():
    assert lab.ndcg_at([], RELEVANT, 3) == lab.recall_at([], RELEVANT, 3) == 0
    assert lab.precision_at([], RELEVANT, 3) == 0
    assert lab.reciprocal_rank([], RELEVANT) == lab.average_precision([], RELEVANT) == 0


def test_k_cuts_the_ranking_and_may_exceed_it():
    assert lab.recall_at(["x", "a"], {"a"}, 1) == lab.ndcg_at(["x", "a"], {"a"}, 1) == 0
    assert lab.recall_at(["a"], {"a"}, 10) == lab.ndcg_at(["a"], {"a"}, 10) == 1
    assert lab.precision_at(["a"], {"a"}, 10) == pytest.approx(0.1)
    # Three relevant documents cannot stand in two places: recall feels that, nDCG does not.
    assert lab.recall_at(["a", "b", "c"], {"a", "b", "c"}, 2) == pytest.approx(2 / 3)
    assert lab.ndcg_at(["a", "b", "c"], {"a", "b", "c"}, 2) == 1


def test_ids_may_be_anything_hashable():
    assert lab.recall_at([3, ("a", 1), "x"], frozenset({("a", 1)}), 2) == 1


def test_a_query_without_a_relevant_document_is_left_out_and_counted():
    rankings, relevants = [RUN, RUN, ["a"]], [RELEVANT, frozenset(), {"a"}]
    assert lab.by_query(lab.reciprocal_rank, rankings, relevants) == [0.5, None, 1]
    assert lab.mean_over_queries(lab.reciprocal_rank, rankings, relevants) == (0.75, 2, 1)
    assert lab.mean_over_queries(lab.recall_at, rankings, relevants, 2) == (0.75, 2, 1)
    assert lab.mrr(rankings, relevants) == 0.75


def test_a_mean_over_no_query_is_refused():
    with pytest.raises(ValueError, match="No query has a relevant document"):
        lab.mrr([RUN], [set()])
    with pytest.raises(ValueError, match="No query has a relevant document"):
        lab.mrr([], [])


def test_rankings_and_judgements_must_be_as_many():
    with pytest.raises(ValueError, match="2 rankings and 1 sets"):
        lab.mrr([RUN, RUN], [RELEVANT])


@pytest.mark.parametrize(
    "call",
    [
        lambda ranking, relevant, k: lab.recall_at(ranking, relevant, k),
        lambda ranking, relevant, k: lab.precision_at(ranking, relevant, k),
        lambda ranking, relevant, k: lab.ndcg_at(ranking, relevant, k),
    ],
    ids=["recall", "precision", "ndcg"],
)
def test_k_must_be_a_whole_number_of_at_least_1(call):
    for k in (0, -1):
        with pytest.raises(ValueError, match=f"k must be at least 1: got {k}"):
            call(RUN, RELEVANT, k)
    for k in (1.5, "3", None):
        with pytest.raises(TypeError, match="k must be a whole number"):
            call(RUN, RELEVANT, k)


@pytest.mark.parametrize(
    "call",
    [
        lambda ranking, relevant: lab.recall_at(ranking, relevant, 1),
        lambda ranking, relevant: lab.precision_at(ranking, relevant, 1),
        lambda ranking, relevant: lab.ndcg_at(ranking, relevant, 1),
        lab.reciprocal_rank,
        lab.average_precision,
    ],
    ids=["recall", "precision", "ndcg", "reciprocal rank", "average precision"],
)
def test_what_cannot_be_measured_is_refused(call):
    with pytest.raises(ValueError, match="'a' is in it twice"):
        call(["x", "a", "b", "a"], RELEVANT)
    with pytest.raises(ValueError, match="No document is relevant"):
        call(RUN, set())
    with pytest.raises(TypeError, match="judged_ids"):
        call([({"id": 1, "content": "a"}, 0.5)], RELEVANT)
    with pytest.raises(TypeError, match="got the text 'xab'"):
        call("xab", RELEVANT)
    with pytest.raises(TypeError, match="got the text '10'"):
        call(["1"], "10")
    for gain in (0, -1, math.nan, math.inf):
        with pytest.raises(ValueError, match="A gain must be a number above 0.*'b'"):
            call(RUN, {"a": 1, "b": gain})


def test_an_interval_is_the_same_at_every_call_and_holds_the_mean():
    values = [0.1, 0.5, 0.5, 0.9, 1.0, 0.3]
    low, high = lab.bootstrap_interval(values)
    assert (low, high) == lab.bootstrap_interval(values)
    assert (low, high) != lab.bootstrap_interval(values, seed=1)
    assert min(values) < low < sum(values) / len(values) < high < max(values)


def test_an_interval_of_equal_values_has_no_width():
    assert lab.bootstrap_interval([0.5, 0.5, 0.5]) == (0.5, 0.5)
    assert lab.bootstrap_interval([1]) == (1, 1)


def test_an_interval_is_wider_for_more_confidence_and_fewer_queries():
    values = [i / 10 for i in range(11)]

    def width(*arguments):
        low, high = lab.bootstrap_interval(*arguments)
        return high - low

    assert width(values, 0.5) < width(values, 0.95) < width(values, 0.99)
    assert width(values * 10) < width(values) / 2


def test_an_interval_comes_near_the_normal_one_for_many_values():
    draw = random.Random(1)
    values = [draw.random() for _ in range(400)]
    mean = sum(values) / len(values)
    error = math.sqrt(sum((value - mean) ** 2 for value in values)) / len(values)
    low, high = lab.bootstrap_interval(values, samples=5000)
    assert low == pytest.approx(mean - 1.96 * error, abs=error / 5)
    assert high == pytest.approx(mean + 1.96 * error, abs=error / 5)


def test_a_paired_interval_knows_that_a_hard_query_is_hard_for_both():
    a = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    b = [value - 0.05 for value in a]
    assert lab.paired_bootstrap(a, b) == pytest.approx((0.05, 0.05))
    assert lab.paired_bootstrap(b, a) == pytest.approx((-0.05, -0.05))
    low, high = lab.bootstrap_interval(a)
    assert high - low > 0.1


def test_a_paired_interval_is_one_of_the_differences():
    a, b = [0.1, 0.9, 0.4], [0.3, 0.2, 0.4]
    assert lab.paired_bootstrap(a, b) == lab.bootstrap_interval([0.1 - 0.3, 0.9 - 0.2, 0.0])


def test_intervals_that_make_no_sense_are_refused():
    for values in ([], [0.5, math.nan], [math.inf], [[0.5]]):
        with pytest.raises(ValueError, match="list of finite numbers"):
            lab.bootstrap_interval(values)
    for confidence in (0, 1, 95):
        with pytest.raises(ValueError, match="confidence must lie between 0 and 1"):
            lab.bootstrap_interval([0.5], confidence)
    with pytest.raises(ValueError, match="samples must be at least 1"):
        lab.bootstrap_interval([0.5], samples=0)
    with pytest.raises(ValueError, match="got 2 and 1"):
        lab.paired_bootstrap([1, 2], [1])


def _random_queries(graded: bool):
    """300 rankings of up to 40 documents, and what is relevant: 1 to 12 documents, some not found."""
    draw = random.Random(17)
    documents = [f"d{i}" for i in range(60)]
    for _ in range(300):
        ranking = draw.sample(documents, draw.randint(1, 40))
        relevant = draw.sample(documents, draw.randint(1, 12))
        yield ranking, {document: draw.randint(1, 4) if graded else 1 for document in relevant}


@pytest.mark.parametrize("graded", [False, True], ids=["binary", "graded"])
def test_values_equal_those_of_the_reference_library(graded):
    need(importlib.util.find_spec("ir_measures"), 'the extra "metrics" (ir-measures)')
    import ir_measures
    from ir_measures import AP, RR, P, R, nDCG

    queries = {f"q{i}": query for i, query in enumerate(_random_queries(graded))}
    ours = {AP: lambda *query: lab.average_precision(*query), RR: lambda *query: lab.reciprocal_rank(*query)}
    for k in (1, 3, 10, 50):
        ours[P @ k] = lambda *query, k=k: lab.precision_at(*query, k)
        ours[R @ k] = lambda *query, k=k: lab.recall_at(*query, k)
        ours[nDCG @ k] = lambda *query, k=k: lab.ndcg_at(*query, k)
    run = {
        name: {document: 1 / rank for rank, document in enumerate(ranking, start=1)}
        for name, (ranking, _relevant) in queries.items()
    }
    judged = {name: relevant for name, (_ranking, relevant) in queries.items()}
    theirs = list(ir_measures.iter_calc(list(ours), judged, run))
    assert len(theirs) == len(ours) * len(queries)
    for value in theirs:
        assert ours[value.measure](*queries[value.query_id]) == pytest.approx(value.value, abs=1e-9), value
