"""Reciprocal rank fusion. Letters are documents; the left end of a string is rank 1."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest

from hybrid_search import rrf_score, rrf_scores, rrf_table

VECTOR, BM25 = [2, 7, 6], [6, 2, 7]  # section numbers


def scores_within(expected: dict, digits: float = 5e-7):
    return pytest.approx(expected, abs=digits, rel=0)


def slow_rrf(rankings, k_rrf, weights):
    """The definition word by word, summed without rounding: a list of (key, score), in fused order."""
    seen = []
    for ranking, weight in zip(rankings, weights, strict=True):
        for key in ranking:
            if weight > 0 and key not in seen:
                seen.append(key)
    rows = []
    for place, key in enumerate(seen):
        score, ranks = Fraction(0), []
        for ranking, weight in zip(rankings, weights, strict=True):
            distinct = []
            for other in ranking:
                if other not in distinct:
                    distinct.append(other)
            if weight > 0 and key in distinct:
                ranks.append(distinct.index(key) + 1)
                score += Fraction(weight / (k_rrf + ranks[-1]))
        rows.append((-float(score), min(ranks), place, key))
    return [(key, -score) for score, _, _, key in sorted(rows)]


# One ranking


@pytest.mark.parametrize("rank, k_rrf, score", [(1, 60, 1 / 61), (2, 60, 1 / 62), (1, 1, 0.5), (1, 0, 1.0)])
def test_one_ranking_adds_one_over_k_rrf_plus_rank(rank, k_rrf, score):
    assert rrf_score(rank, k_rrf) == score


def test_k_rrf_is_60_unless_told():
    assert rrf_score(1) == 1 / 61
    assert rrf_scores(["a"]) == {"a": 1 / 61}


@pytest.mark.parametrize("rank", [0, -1, float("nan")])
def test_a_rank_below_1_is_refused(rank):
    with pytest.raises(ValueError, match="ranks count from 1"):
        rrf_score(rank)


# Scores


def test_two_rankings_at_k_rrf_1():
    assert rrf_scores([VECTOR, BM25], k_rrf=1) == scores_within({2: 0.833333, 6: 0.75, 7: 0.583333})


def test_two_rankings_at_k_rrf_60():
    scores = rrf_scores([VECTOR, BM25], k_rrf=60)
    assert scores == scores_within({2: 0.032522, 6: 0.032266, 7: 0.032002})
    assert list(scores) == [2, 6, 7]


def test_weights_multiply_and_can_change_the_order():
    scores = rrf_scores([VECTOR, BM25], k_rrf=60, weights=[3, 1])
    assert scores == scores_within({2: 0.065309, 7: 0.064260, 6: 0.064012})
    assert list(scores) == [2, 7, 6]


def test_a_ranking_counts_a_document_once_and_the_next_one_moves_up():
    scores = rrf_scores(["aab", "bc"])
    assert list(scores)[0] == "b"
    assert scores == scores_within({"a": 0.016393, "b": 0.032522, "c": 0.016129})


def test_first_in_three_rankings_adds_three_times():
    assert rrf_scores(["a", "a", "a"]) == scores_within({"a": 0.049180})


def test_a_document_absent_from_a_ranking_gets_nothing_from_it():
    scores = rrf_scores(["XaY", "bcY"])
    assert list(scores)[0] == "Y"
    assert scores["Y"] == pytest.approx(0.031746, abs=5e-7)
    assert scores["X"] == 1 / 61


def test_small_k_rrf_favours_the_first_and_large_k_rrf_the_agreed():
    rankings = ["axyb", "zwvb"]
    at_1, at_2, at_60 = (rrf_scores(rankings, k_rrf) for k_rrf in (1, 2, 60))
    assert (at_1["a"], at_1["z"], at_1["b"]) == (0.5, 0.5, pytest.approx(0.4))
    assert list(at_1)[:2] == ["a", "z"]
    assert at_2["a"] == at_2["z"] == at_2["b"] == 1 / 3
    assert list(at_60)[0] == "b" and at_60["b"] == pytest.approx(0.03125)
    assert at_60["a"] < at_60["b"]


def test_two_rankings_at_k_rrf_60_never_exceed_2_over_61():
    most = 2 / 61
    assert most == pytest.approx(0.032787, abs=5e-7)
    for first, second in itertools.product(itertools.permutations("abcd"), repeat=2):
        assert max(rrf_scores([first, second]).values()) <= most
    assert rrf_scores(["ab", "ab"])["a"] == most


def test_padding_a_ranking_with_documents_it_did_not_find_raises_them():
    dense = "BACD"
    assert rrf_scores([dense, "A"])["B"] == scores_within(0.016393)
    assert rrf_scores([dense, "ADCB"])["B"] == scores_within(0.032018)


def test_a_ranking_of_weight_0_contributes_nothing():
    assert rrf_scores(["ab", "zb"], weights=[1, 0]) == {"a": 1 / 61, "b": 1 / 62}


def test_a_ranking_of_weight_0_lends_no_rank_to_a_tie():
    # a and b both score 1/3. If the last list counted, b's best rank would be 1.
    assert list(rrf_scores(["xya", "uvb", "b"], k_rrf=0, weights=[1, 1, 0])) == ["x", "u", "y", "v", "a", "b"]


def test_the_raw_sum_is_returned_with_weights_above_one():
    assert rrf_scores(["a", "a"], k_rrf=0, weights=[10, 20]) == {"a": 30.0}


def test_k_rrf_may_be_a_fraction():
    assert rrf_scores(["a"], k_rrf=0.5) == {"a": 1 / 1.5}


@pytest.mark.parametrize("kind", [int, Fraction, np.float64, np.float32, np.int64, np.int8])
def test_scores_are_plain_floats_whatever_number_k_rrf_is(kind):
    many = range(100)
    found = rrf_scores([many, [1, 2]], kind(60))
    assert list(found.items()) == list(rrf_scores([many, [1, 2]]).items())
    assert {type(score) for score in found.values()} == {float}


# Order


def test_higher_scores_come_first():
    assert list(rrf_scores(["abc", "ca"])) == ["a", "c", "b"]


def test_equal_scores_are_ordered_by_the_better_best_rank():
    # At k_rrf = 2: b has 1/6 + 1/6, a has 1/3. b is seen first, a has the better best rank.
    scores = rrf_scores(["xyzb", "uvwb", "a"], k_rrf=2)
    assert scores["a"] == scores["b"] == 1 / 3
    order = list(scores)
    assert order.index("b") > order.index("a") > order.index("x")
    assert order[:4] == ["x", "u", "a", "b"]


def test_equal_scores_and_best_ranks_are_ordered_by_first_seen():
    assert list(rrf_scores(["ab", "ba"])) == ["a", "b"]
    assert list(rrf_scores(["ba", "ab"])) == ["b", "a"]
    assert list(rrf_scores(["a", "b", "c"])) == ["a", "b", "c"]
    assert list(rrf_scores(["c", "b", "a"])) == ["c", "b", "a"]


def test_mirrored_rankings_give_equal_scores():
    scores = rrf_scores(["ab", "ba"])
    assert scores["a"] == scores["b"] == scores_within(0.032522)


@pytest.mark.parametrize("k_rrf", [0, 1, 7, 60, 1000])
def test_the_same_ranks_in_another_order_give_exactly_equal_scores(k_rrf):
    # Each key has the ranks 1, 2, 3 and 4, in another order: a plain running sum differs in the last bit.
    scores = rrf_scores(["abcd", "bcda", "cdab", "dabc"], k_rrf)
    assert len(set(scores.values())) == 1
    assert list(scores) == ["a", "b", "c", "d"]


def test_no_ranking_and_empty_rankings_fuse_to_nothing():
    assert rrf_scores([]) == {}
    assert rrf_scores([[], []]) == {}
    assert rrf_scores([[], "ab"]) == rrf_scores(["ab", []]) == {"a": 1 / 61, "b": 1 / 62}


def test_rankings_may_be_generators_of_any_hashable_key():
    rankings = ((key for key in ranking) for ranking in ([("p", 1), None], [None]))
    assert list(rrf_scores(rankings)) == [None, ("p", 1)]


def test_rankings_given_are_left_as_they_were():
    rankings, weights = [["a", "a", "b"], ["b"]], [2, 1]
    rrf_scores(rankings, weights=weights)
    assert (rankings, weights) == ([["a", "a", "b"], ["b"]], [2, 1])


@pytest.mark.parametrize("seed", range(20))
def test_random_rankings_agree_with_the_definition(seed):
    draw = random.Random(seed)
    for _ in range(25):
        rankings = [draw.choices("abcdefgh", k=draw.randint(0, 9)) for _ in range(draw.randint(1, 4))]
        weights = [draw.choice([0, 0.25, 0.5, 1, 3]) for _ in rankings]
        weights[0] = weights[0] or 1
        k_rrf = draw.choice([0, 0.5, 1, 2, 60, 10_000])
        fused = list(rrf_scores(rankings, k_rrf, weights).items())
        assert fused == slow_rrf(rankings, k_rrf, weights)


# Refusals


@pytest.mark.parametrize("k_rrf", [-1, -1e-9, float("nan"), float("inf"), "60", None, [60], 10**400])
def test_a_k_rrf_that_is_no_number_of_at_least_0_is_refused(k_rrf):
    for call in (
        lambda: rrf_score(1, k_rrf),
        lambda: rrf_scores(["a"], k_rrf),
        lambda: rrf_table({"one": "a"}, k_rrf),
    ):
        with pytest.raises(ValueError, match="k_rrf must be a number of at least 0") as refusal:
            call()
        assert repr(k_rrf)[:20] in str(refusal.value)


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, -1], "weights must be numbers of at least 0: got .*-1"),
        ([1, float("nan")], "weights must be numbers of at least 0: got .*nan"),
        ([1, float("inf")], "weights must be numbers of at least 0: got .*inf"),
        ([0, 0], "at least one weight must be above 0"),
        ([1], "one weight for each ranking: got 1 weights for 2 rankings"),
        ([1, 1, 1], "one weight for each ranking: got 3 weights for 2 rankings"),
        ([], "one weight for each ranking: got 0 weights"),
        ([1, "x"], "weights must be numbers, one for each ranking: got .*x"),
        ([1, None], "weights must be numbers, one for each ranking: got .*None"),
        (0.5, "weights must be numbers, one for each ranking: got 0.5"),
    ],
)
def test_weights_that_make_no_sense_are_refused(weights, message):
    with pytest.raises(ValueError, match=message):
        rrf_scores(["ab", "bc"], weights=weights)


# The table


def test_the_table_shows_ranks_score_and_fused_rank():
    table = rrf_table({"vector": VECTOR, "bm25": BM25}, k_rrf=1)
    assert [list(row) for row in table] == [["document", "vector", "bm25", "score", "rank"]] * 3
    assert [(row["document"], row["vector"], row["bm25"], row["rank"]) for row in table] == [
        (2, 1, 2, 1),
        (6, 3, 1, 2),
        (7, 2, 3, 3),
    ]
    assert [row["score"] for row in table] == pytest.approx([0.833333, 0.75, 0.583333], abs=5e-7)


def test_the_table_at_60_is_the_same_order_with_smaller_steps():
    table = rrf_table({"vector": VECTOR, "bm25": BM25})
    assert [row["document"] for row in table] == [2, 6, 7]
    assert [row["score"] for row in table] == pytest.approx([0.032522, 0.032266, 0.032002], abs=5e-7)


def test_the_table_says_none_where_a_ranking_lacks_the_document():
    table = {row["document"]: row for row in rrf_table({"one": "XaY", "two": "bcY"})}
    assert (table["X"]["one"], table["X"]["two"]) == (1, None)
    assert (table["b"]["one"], table["b"]["two"]) == (None, 1)
    assert (table["Y"]["one"], table["Y"]["two"], table["Y"]["rank"]) == (3, 3, 1)


def test_the_table_counts_ranks_over_distinct_documents():
    table = {row["document"]: row for row in rrf_table({"one": "aab", "two": "bc"})}
    assert (table["a"]["one"], table["b"]["one"]) == (1, 2)


def test_the_table_of_no_ranking_is_empty():
    assert rrf_table({}) == []


@pytest.mark.parametrize("seed", range(10))
def test_the_table_agrees_with_the_scores(seed):
    draw = random.Random(seed)
    rankings = {name: draw.sample("abcdefgh", draw.randint(0, 8)) for name in ("one", "two", "three")}
    table = rrf_table(rankings, k_rrf=seed)
    assert [(row["document"], row["score"]) for row in table] == list(
        rrf_scores(rankings.values(), seed).items()
    )
    assert [row["rank"] for row in table] == list(range(1, len(table) + 1))


@pytest.mark.parametrize("name", ["document", "score", "rank"])
def test_a_ranking_named_like_a_column_of_the_table_is_refused(name):
    with pytest.raises(ValueError, match=f"a ranking cannot be named '{name}'"):
        rrf_table({name: "ab"})


@pytest.mark.parametrize(
    ("rankings", "sentence"),
    [
        ({"vector": ["a"], "BM25": ["b"]}, "without names"),
        ([[{"content": "a"}]], "hashable keys"),
        ([3], "hashable keys"),
    ],
)
def test_what_is_no_list_of_rankings_is_refused_in_words(rankings, sentence):
    with pytest.raises(TypeError, match=sentence):
        rrf_scores(rankings)
