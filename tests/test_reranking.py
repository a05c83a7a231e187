"""RerankingRetriever: the pool, its order, what a failing service does, timings; and the latency budget."""

import threading
import time

import pytest

from hybrid_search import BM25Index, Retriever
from hybrid_search.reranking import RerankingRetriever, latency_budget


class Given:
    """An index that finds what it was told."""

    def __init__(self, *documents):
        self.documents = documents
        self.asked = []

    def add_document(self, document):
        raise NotImplementedError

    def search(self, query, k):
        self.asked.append(k)
        return [(document, 1 / rank) for rank, document in enumerate(self.documents[:k], start=1)]


class Rerank:
    """Scores texts as it was told, keeping what it was asked."""

    def __init__(self, scores):
        self.scores = scores
        self.asked = []

    def __call__(self, query, texts):
        self.asked.append((query, list(texts)))
        return [self.scores[text] for text in texts]


def documents(labels):
    return {label: {"id": label, "content": f"text {label}"} for label in labels}


def scores(order):
    return {f"text {label}": 10.0 - place for place, label in enumerate(order)}


def over(*lists, **settings):
    named = documents("".join(lists))
    return Retriever(*(Given(*(named[label] for label in labels)) for labels in lists), **settings)


def labels(results):
    return "".join(document["id"] for document, _ in results)


def test_the_best_k_of_the_pool_come_with_the_rerankers_scores():
    results = RerankingRetriever(over("abc", "bde"), Rerank(scores("ecdab"))).search("q")
    assert labels(results) == "ecd"
    assert [score for _, score in results] == [10.0, 9.0, 8.0]
    assert isinstance(results, list) and results.reranked and results.reason == ""


def test_each_index_is_asked_for_its_part_of_the_pool():
    retriever = over("abcdefghijklm", "nopqrstuvwxyz", weights=(0.5, 0.5))
    rerank = Rerank(scores("mzlykabcdefghijnopqrstuvwx"))
    RerankingRetriever(retriever, rerank).search("q")
    assert [index.asked for index in retriever.indexes] == [[10], [10]]
    ((_, texts),) = rerank.asked
    assert sorted(texts) == sorted(f"text {label}" for label in "abcdefghijnopqrstuvw")


@pytest.mark.parametrize(("pool", "asked"), [(1, 1), (4, 2), (5, 3), (6, 3)])
def test_a_pool_that_cannot_be_shared_out_is_still_not_exceeded(pool, asked):
    retriever = over("abcd", "efgh")
    rerank = Rerank(scores("abcdefgh"))
    results = RerankingRetriever(retriever, rerank, pool=pool).search("q", k=20)
    assert [index.asked for index in retriever.indexes] == [[asked], [asked]]
    assert len(results) == len(rerank.asked[0][1]) == pool


def test_three_indexes_share_the_pool():
    retriever = over("abc", "def", "ghi")
    RerankingRetriever(retriever, Rerank(scores("abcdefghi")), pool=6).search("q")
    assert [index.asked for index in retriever.indexes] == [[2], [2], [2]]


def test_a_document_that_two_indexes_find_is_scored_once():
    rerank = Rerank(scores("abcd"))
    results = RerankingRetriever(over("abc", "cad"), rerank).search("q", k=10)
    assert rerank.asked == [("q", [f"text {label}" for label in "acbd"])]  # in fused order
    assert labels(results) == "abcd"


def test_a_text_that_two_documents_have_is_scored_once_and_both_stay():
    one, two, other = ({"id": label, "content": text} for label, text in ("ax", "bx", "cy"))
    rerank = Rerank({"x": 1.0, "y": 2.0})
    results = RerankingRetriever(Retriever(Given(one, two, other)), rerank).search("q")
    assert rerank.asked == [("q", ["x", "y"])]
    assert labels(results) == "cab"


def test_equal_scores_keep_the_fused_order():
    rerank = Rerank(dict.fromkeys((f"text {label}" for label in "abcde"), 0.5))
    fused = over("abc", "bde")
    assert labels(RerankingRetriever(fused, rerank).search("q", k=5)) == labels(fused.search("q", k=5))


def test_documents_without_an_id_keep_their_identity():
    first, second = {"content": "text a"}, {"content": "text b"}
    results = RerankingRetriever(Retriever(Given(first, second)), Rerank(scores("ba"))).search("q")
    assert results[0][0] is second and results[1][0] is first


def test_without_candidates_the_service_is_not_asked():
    """Q1"""
    rerank = Rerank({})
    results = RerankingRetriever(over("", ""), rerank).search("q")
    assert results == [] and rerank.asked == []
    assert not results.reranked and "nothing" in results.reason
    assert results.timings["rerank"] == 0


def test_a_k_above_the_pool_gives_all_of_it():
    """Q2"""
    results = RerankingRetriever(over("abc", "bd"), Rerank(scores("dcab")), pool=4).search("q", k=100)
    assert labels(results) == "dab"  # c is third in its list


def test_scores_belong_to_the_texts_they_were_given_for():
    """Q3: the services' own order is put back by the clients; here nothing may mix it up again."""
    wanted = scores("hgfedcba")
    results = RerankingRetriever(over("abcd", "efgh"), Rerank(wanted)).search("q", k=8)
    assert [(document["content"], score) for document, score in results] == list(wanted.items())


@pytest.mark.parametrize(
    ("rerank", "reason"),
    [
        (lambda query, texts: 1 / 0, "division by zero"),
        (lambda query, texts: [1.0], "1 scores for 5 texts"),
        (lambda query, texts: [1.0] * 6, "6 scores for 5 texts"),
        (lambda query, texts: [float("nan")] * 5, "no finite number"),
        (lambda query, texts: ["high"] * 5, "could not convert"),
        (lambda query, texts: None, "not iterable"),
        (lambda query, texts: next(iter(())), "StopIteration"),
    ],
)
@pytest.mark.parametrize("deadline", [None, 5])
def test_where_the_reranker_fails_the_fused_order_is_returned_and_marked(rerank, reason, deadline):
    fused = over("abc", "bde")
    results = RerankingRetriever(fused, rerank, deadline=deadline).search("q", k=2)
    assert results == fused.search("q", k=2)
    assert not results.reranked and reason in results.reason


def test_a_reranker_that_is_late_is_left_behind():
    end = threading.Event()
    retriever = RerankingRetriever(over("abc", "bde"), lambda query, texts: end.wait(20), deadline=0.05)
    started = time.perf_counter()
    results = retriever.search("q")
    assert time.perf_counter() - started < 5
    end.set()
    assert labels(results) == "bad" and not results.reranked
    assert results.reason == "the reranker took longer than 0.05 seconds"
    assert results.timings["rerank"] >= 0.05


def test_one_failure_does_not_spoil_the_next_search():
    answers = iter([RuntimeError("busy"), None])
    right = Rerank(scores("edcba"))

    def rerank(query, texts):
        if error := next(answers):
            raise error
        return right(query, texts)

    retriever = RerankingRetriever(over("abc", "bde"), rerank)
    assert [retriever.search("q").reranked for _ in range(2)] == [False, True]


def test_the_seconds_of_each_stage_are_kept():
    def slow(query, texts):
        time.sleep(0.02)
        return [0.0] * len(texts)

    retriever = RerankingRetriever(over("abc", "bde"), slow)
    results = retriever.search("q")
    assert type(retriever.timings) is dict and retriever.timings == results.timings
    assert set(results.timings) == {"search", "rerank"}
    assert results.timings["rerank"] >= 0.02 > results.timings["search"] >= 0
    retriever.search("q", k=1)
    assert retriever.timings != results.timings  # of the last search; results keep their own


def test_an_index_can_stand_in_for_a_retriever():
    index = BM25Index()
    index.add_documents(
        [{"id": "a", "content": "a pump and a leak"}, {"id": "b", "content": "a pump and another pump"}]
    )
    rerank = Rerank({"a pump and a leak": 1.0, "a pump and another pump": 0.0})
    assert labels(RerankingRetriever(index, rerank).search("pump")) == "ab"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: RerankingRetriever(None, Rerank({})), TypeError, "a method search"),
        (lambda: RerankingRetriever(Retriever, Rerank({})), TypeError, "a method search"),
        (lambda: RerankingRetriever(over("a"), None), TypeError, "a function rerank"),
        (lambda: RerankingRetriever(over("a"), Rerank({}), pool=0), ValueError, "pool must be at least 1"),
        (lambda: RerankingRetriever(over("a"), Rerank({}), deadline=0), ValueError, "above 0"),
        (lambda: RerankingRetriever(over("a"), Rerank({}), deadline=float("nan")), ValueError, "above 0"),
        (lambda: RerankingRetriever(over("a"), Rerank({})).search("q", k=0), ValueError, "k must be"),
        (lambda: RerankingRetriever(over("a"), Rerank({})).search(" "), ValueError, "the query is empty"),
    ],
)
def test_what_cannot_work_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


# ---- the latency budget


def runs(search, each, candidates=10):
    pairs = zip(search, each, strict=True)
    return [{"search": s, "rerank": e * candidates, "candidates": candidates} for s, e in pairs]


def test_the_budget_is_filled_and_not_exceeded():
    measured = runs([0.1] * 5, [0.04] * 5)
    assert latency_budget(measured, 100 + 40 * 7 + 39) == 7
    assert latency_budget(measured, 100 + 40 * 8 + 1) == 8


def test_nineteen_of_twenty_queries_count():
    slow_last = runs([0.1] * 19 + [5.0], [0.04] * 19 + [2.0])
    assert latency_budget(slow_last, 100 + 40 * 7 + 20) == 7
    two_slow = runs([0.1] * 18 + [5.0] * 2, [0.04] * 20)
    assert latency_budget(two_slow, 100 + 40 * 7 + 20) == 0


@pytest.mark.parametrize("count", range(1, 200))
def test_the_rank_is_never_moved_by_rounding(count):
    """At least 95 of 100 runs are no slower, and without the last of them fewer than 95 would be."""
    measured = [{"search": 0.0, "rerank": 1.0 * place, "candidates": 1} for place in range(1, count + 1)]
    (slowest_allowed,) = [rank for rank in range(1, count + 1) if 100 * rank >= 95 * count > 100 * (rank - 1)]
    assert latency_budget(measured, 1000 * slowest_allowed) == 1
    assert latency_budget(measured, 1000 * slowest_allowed - 1) == 0


@pytest.mark.parametrize("budget", [0, -5, 99])
def test_nothing_fits_where_the_search_alone_is_too_slow(budget):
    assert latency_budget(runs([0.1], [0.04]), budget) == 0


@pytest.mark.parametrize(
    ("measured", "message"),
    [
        ([], "at least one"),
        ([{"search": 0.1, "rerank": 0.1, "candidates": 0}], "candidates of at least 1"),
        ([{"search": -0.1, "rerank": 0.1, "candidates": 3}], "no time below 0"),
        ([{"search": 0.1, "rerank": 0.0, "candidates": 3}], "measure it first"),
    ],
)
def test_runs_that_measure_nothing_are_refused(measured, message):
    with pytest.raises(ValueError, match=message):
        latency_budget(measured, 500)
