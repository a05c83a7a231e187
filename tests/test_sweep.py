"""The sweep over k_rrf and candidates: the slow loop's values exactly, in a small part of its time."""

import math
import random
import time
from itertools import product

import numpy as np
import pytest

import lab
from hybrid_search import Retriever
from lab.corpora import Query
from lab.fused_ranks import _exact_sums
from lab.metrics import mean_over_queries
from lab.rankings import Rankings
from lab.sweeps import K_RRFS, candidate_depths, sweep

K_RRF_STEPS, DEPTHS = (0, 1, 7, 60), (1, 2, 3, 5, 9, 40)


class Stub:
    """An index that ranks as it is told, query by query, and counts its searches."""

    def __init__(self, rankings):
        self.rankings, self.searches = rankings, 0

    def __len__(self):
        return max(map(len, self.rankings.values()), default=0)

    def search(self, query, k):
        self.searches += 1
        return [(document, 0.0) for document in self.rankings[query][:k]]


def documents_of(count, topics=False):
    return [
        {"id": number, "content": "text"} | ({"topic": f"topic {number % 11}"} if topics else {})
        for number in range(count)
    ]


def random_case(seed, indexes, documents, queries=4, repeats=False):
    """Some indexes and judged queries; the rankings overlap and are of any length, also empty."""
    rng = random.Random(seed)
    judged, rankings = [], [{} for _index in range(indexes)]
    for number in range(queries):
        text = f"query {number}"
        answers = {document.get("topic", document["id"]) for document in rng.sample(documents, 3)}
        kind = ("conceptual", "identifier", "mixed")[number % 3]
        judged.append(Query(text, text, kind, frozenset(answers), "en"))
        for of in rankings:
            of[text] = rng.sample(documents, rng.choice([0, 1, 5, len(documents)]))
            if repeats and of[text]:
                of[text] += rng.choices(of[text], k=4)
                rng.shuffle(of[text])
    return [Stub(of) for of in rankings], judged


def slow_table(indexes, judged, weights, metric, k_rrfs, depths):
    """A search of Retriever for each query and setting, measured by lab.metrics."""
    measure, k = {
        "MRR": (lab.reciprocal_rank, None),
        "nDCG@10": (lab.ndcg_at, 10),
        "recall@10": (lab.recall_at, 10),
        "precision@3": (lab.precision_at, 3),
    }[metric]
    retriever = Retriever(*indexes, weights=weights)

    def mean(k_rrf, candidates):
        found = [
            lab.judged_ids(retriever.search(query.text, 1000, k_rrf=k_rrf, candidates=candidates))
            for query in judged
        ]
        return mean_over_queries(measure, found, [query.relevant for query in judged], k).value

    return [[mean(k_rrf, candidates) for candidates in depths] for k_rrf in k_rrfs]


@pytest.mark.parametrize("metric", ["MRR", "nDCG@10", "recall@10", "precision@3"])
@pytest.mark.parametrize(
    "weights",
    [
        None,
        [1],
        [0.3, 0.7],
        [0, 2],
        [1, 1, 1],
        [1, 0, 3],
        [0.1, 0.2, 0.3],
        [1e-30, 1, 1e-13],
        [1, 2, 3, 0.7],
    ],
    ids=str,
)
@pytest.mark.parametrize("topics", [False, True], ids=["documents", "topics"])
def test_the_sweep_equals_the_slow_loop_to_the_last_bit(weights, metric, topics):
    for seed in range(3):
        indexes, judged = random_case(seed, len(weights or "ab"), documents_of(30, topics))
        expected = slow_table(indexes, judged, weights, metric, K_RRF_STEPS, DEPTHS)
        made = sweep(Retriever(*indexes, weights=weights), judged, K_RRF_STEPS, DEPTHS, metric=metric)
        assert made.table.to_numpy().tolist() == expected


def test_every_tie_is_broken_as_the_retriever_breaks_it():
    """Two or three documents: nearly all scores are equal, and each document is the answer once."""
    documents = documents_of(3)
    orders = [[], [0, 1, 2], [2, 1, 0], [1, 2], [0]]
    for rankings in product(orders, repeat=3):
        indexes = [Stub({"q": [documents[i] for i in ranking]}) for ranking in rankings]
        judged = [Query(str(i), "q", "mixed", frozenset([i]), "en") for i in range(3)]
        for i in range(3):  # one by one, for a mean over all three says little about order
            expected = slow_table(indexes, judged[i : i + 1], None, "MRR", (0, 60), (1, 2, 3))
            made = sweep(Retriever(*indexes), judged[i : i + 1], (0, 60), (1, 2, 3))
            assert made.table.to_numpy().tolist() == expected, rankings


def test_a_tie_goes_to_the_better_rank_in_the_first_ranking_that_has_both_among_its_candidates():
    """The first index has document 6 before document 5, but neither among its first four."""
    documents = documents_of(8)
    rankings = [[0, 1, 2, 3, 6, 5], [0, 5, 1, 6], [5], [6]]
    indexes = [Stub({"q": [documents[i] for i in ranking]}) for ranking in rankings]
    judged = [Query("q", "q", "mixed", frozenset([5]), "en")]
    weights = [1, 1, 1, 1.25]
    found = Retriever(*indexes, weights=weights).search("q", 3, k_rrf=0, candidates=4)
    assert [(document["id"], score) for document, score in found] == [(0, 2.0), (5, 1.5), (6, 1.5)]
    made = sweep(Retriever(*indexes), judged, [0], [4], weights=weights)
    assert made.table.loc[0, 4] == 1 / 2


def test_a_document_that_an_index_gives_twice_counts_once_at_its_better_rank():
    for seed in range(10):
        indexes, judged = random_case(seed, 2, documents_of(8), repeats=True)
        expected = slow_table(indexes, judged, None, "MRR", K_RRF_STEPS, DEPTHS)
        assert sweep(Retriever(*indexes), judged, K_RRF_STEPS, DEPTHS).table.to_numpy().tolist() == expected


def test_sums_are_rounded_once_as_fsum_rounds_them():
    rng = random.Random(0)
    parts = np.array(
        [[rng.choice([1, 1e-17, 3e-9]) / rng.randint(1, 99) for _ in range(500)] for _ in range(5)]
    )
    parts[:, 0] = [1, 2**-53, 1e-40, 0, 0]  # just above the middle of two floats: only exact sums round up
    expected = [math.fsum(column) for column in parts.T]
    assert _exact_sums(parts[:, None])[0].tolist() == expected
    assert parts.sum(axis=0).tolist() != expected  # so that the case tells the two apart


def python_sized_case():
    documents = documents_of(600, topics=True)
    indexes, judged = random_case(1, 2, documents, queries=0)
    rng = random.Random(1)
    for number in range(100):
        text = f"query {number}"
        judged.append(Query(text, text, "mixed", frozenset([f"topic {number % 11}"]), "en"))
        for index in indexes:
            index.rankings[text] = rng.sample(documents, 600)
    return indexes, judged


def test_400_settings_of_100_queries_over_600_documents_take_less_than_3_seconds():
    indexes, judged = python_sized_case()
    rankings = Rankings(indexes)
    for query in judged:
        rankings.of(query.text)
    start = time.process_time()
    made = sweep(rankings, judged, candidates=range(30, 601, 30))
    assert time.process_time() - start < 3
    assert made.table.shape == (20, 20)


def test_each_index_is_searched_once_a_query_and_once_for_all_sweeps_of_the_same_rankings():
    indexes, judged = random_case(0, 2, documents_of(20))
    rankings = Rankings(indexes)
    first = sweep(rankings, judged)
    sweep(rankings, judged, metric="recall@10")
    first.by("nDCG@10")
    assert [index.searches for index in indexes] == [len(judged)] * 2


def test_another_metric_of_a_sweep_equals_a_sweep_by_that_metric():
    indexes, judged = random_case(2, 2, documents_of(20))
    made = sweep(Retriever(*indexes), judged, current=(60, 20))
    other = sweep(Retriever(*indexes), judged, metric="nDCG@10")
    assert made.by("nDCG@10").table.equals(other.table)
    assert made.by("nDCG@10").current == (60, 20)


def test_the_weights_are_the_retrievers_unless_given():
    indexes, judged = random_case(0, 2, documents_of(20))
    made = sweep(Retriever(*indexes, weights=[0, 1]), judged)
    assert made.table.equals(sweep(Retriever(*indexes), judged, weights=[0, 1]).table)
    assert not made.table.equals(sweep(Retriever(*indexes), judged).table)


def test_unless_given_k_rrf_runs_from_0_to_200_and_candidates_from_1_to_the_corpus():
    indexes, judged = random_case(0, 2, documents_of(30))
    table = sweep(Retriever(*indexes), judged).table
    assert table.index.tolist() == list(K_RRFS)
    assert (len(K_RRFS), K_RRFS[0], K_RRFS[-1]) == (20, 0, 200) and 60 in K_RRFS
    assert table.columns.tolist() == [1, 2, 3, 5, 7, 10, 15, 20, 30]
    assert (table.index.name, table.columns.name) == ("k_rrf", "candidates")


@pytest.mark.parametrize("size", [1, 2, 10, 20, 21, 589, 701, 100_000])
def test_there_are_at_most_20_numbers_of_candidates_and_the_corpus_is_the_last(size):
    depths = candidate_depths(size)
    assert len(depths) <= 20 and depths[0] == 1 and depths[-1] == size
    assert sorted(set(depths)) == list(depths)
    assert size < 20 or 20 in depths


def test_the_kinds_stand_apart_and_together_make_the_whole():
    indexes, judged = random_case(3, 2, documents_of(20), queries=9)
    made = sweep(Retriever(*indexes), judged)
    assert made.queries == {"conceptual": 3, "identifier": 3, "mixed": 3}
    assert np.allclose(sum(made.by_kind.values()) / 3, made.table)
    alone = sweep(Retriever(*indexes), judged, kind="mixed")
    assert alone.table.equals(made.by_kind["mixed"])
    assert list(alone.by_kind) == ["mixed"]


def test_queries_without_a_relevant_document_are_left_out_and_counted():
    indexes, judged = random_case(3, 2, documents_of(20))
    unanswerable = Query("none", "not even searched", "mixed", frozenset(), "en")
    made = sweep(Retriever(*indexes), [*judged, unanswerable])
    assert made.left_out == 1 and sum(made.queries.values()) == len(judged)
    assert made.table.equals(sweep(Retriever(*indexes), judged).table)


def test_a_query_that_no_index_answers_counts_as_0():
    _indexes, judged = random_case(0, 2, documents_of(20))
    empty = Stub({query.text: [] for query in judged})
    assert (sweep(Retriever(empty, empty), judged, candidates=[5]).table == 0).all(axis=None)


def test_the_best_setting_is_the_first_of_equals_by_candidates_then_by_k_rrf():
    documents = documents_of(3)
    index = Stub({"q": [documents[1], documents[0]]})
    judged = [Query("q", "q", "mixed", frozenset([0]), "en")]
    best = sweep(Retriever(index), judged, (5, 1), (3, 2, 1)).best()
    assert best == (1, 2, 0.5)
    assert [type(part) for part in best] == [int, int, float]


def test_the_best_setting_of_a_kind_is_of_that_kind():
    indexes, judged = random_case(3, 2, documents_of(20), queries=9)
    made = sweep(Retriever(*indexes), judged)
    assert made.best("mixed").value == made.by_kind["mixed"].to_numpy().max()
    with pytest.raises(ValueError, match="no queries of the kind 'odd': choose one of 'conceptual'"):
        made.best("odd")


def test_progress_is_shown_for_the_searches_and_for_the_fusion():
    indexes, judged = random_case(0, 2, documents_of(20))
    labels = []

    def recorded(queries, label):
        for query in queries:
            labels.append(label)
            yield query

    sweep(Retriever(*indexes), judged, progress=recorded)
    assert labels == ["Searching"] * len(judged) + ["Fusing"] * len(judged)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"judged": []}, "the list of judged queries is empty"),
        ({"judged": [Query("q", "q", "mixed", frozenset(), "en")]}, "no judged query names a document"),
        ({"kind": "odd"}, "no queries of the kind 'odd': choose one of 'conceptual', 'identifier', 'mixed'"),
        ({"metric": "accuracy"}, "no metric named 'accuracy': choose \"MRR\""),
        ({"metric": "nDCG@0"}, "no metric named 'nDCG@0'"),
        ({"metric": "MRR@x"}, "no metric named"),
        ({"k_rrfs": [-1]}, "k_rrf must be a number of at least 0"),
        ({"k_rrfs": []}, "at least one value for k_rrfs"),
        ({"candidates": [0]}, "candidates must be at least 1"),
        ({"candidates": []}, "at least one value for candidates"),
        ({"weights": [1]}, "one weight for each ranking: got 1 weights for 2"),
        ({"weights": [0, 0]}, "at least one weight must be above 0"),
        ({"weights": [1, -1]}, "at least 0"),
        ({"weights": "no"}, "weights must be numbers"),
        ({"indexes": []}, "no index to search"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_a_sentence(change, sentence):
    indexes, judged = random_case(0, 2, documents_of(20))
    with pytest.raises(ValueError, match=sentence):
        sweep(**{"retriever": Retriever(*indexes), "judged": judged} | change)


def test_texts_instead_of_judged_queries_are_refused():
    with pytest.raises(TypeError, match="lab.judged_queries"):
        sweep(Retriever(Stub({"q": []})), ["q"])


def test_the_lab_gives_the_function_whichever_module_was_loaded_first():
    assert lab.sweep is sweep
