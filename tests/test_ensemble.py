"""Weighted fusion: the cases of the course, and LangChain's EnsembleRetriever on the same lists."""

import random
from itertools import groupby

import pytest
from conftest import need

from hybrid_search import Retriever, rrf_scores

try:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError:
    EnsembleRetriever = None


class Fixed:
    """An index that finds these documents, whatever the query."""

    def __init__(self, documents):
        self.documents = documents

    def add_document(self, document):
        raise NotImplementedError

    def search(self, query, k=1):
        return [(document, 0.0) for document in self.documents[:k]]


def fused(rankings, weights, k=100, **settings) -> list[tuple[int, float]]:
    """The ids and scores of a Retriever over these lists of ids."""
    documents = {i: {"id": i, "content": f"text {i}"} for ranking in rankings for i in ranking}
    indexes = [Fixed([documents[i] for i in ranking]) for ranking in rankings]
    found = Retriever(*indexes, weights=weights).search("query", k=k, candidates=100, **settings)
    return [(document["id"], score) for document, score in found]


def test_weights_3_and_1_change_the_order():
    assert [i for i, _ in fused([[2, 7, 6], [6, 2, 7]], [1, 1])] == [2, 6, 7]
    assert fused([[2, 7, 6], [6, 2, 7]], [3, 1]) == [
        (2, pytest.approx(0.065309, abs=5e-7)),
        (7, pytest.approx(0.064260, abs=5e-7)),
        (6, pytest.approx(0.064012, abs=5e-7)),
    ]


def test_what_only_an_index_of_weight_0_finds_is_absent():
    assert fused([[1, 2], [9, 2]], [1, 0]) == [(1, 1 / 61), (2, 1 / 62)]


def test_half_and_half_is_the_plain_fusion_at_half_the_score():
    lists = [[2, 7, 6, 1], [6, 2, 5]]
    halves, plain = fused(lists, [0.5, 0.5]), fused(lists, None)
    assert [i for i, _ in halves] == [i for i, _ in plain]
    assert [2 * score for _, score in halves] == pytest.approx([score for _, score in plain])


def ensemble(rankings, weights, k_rrf=60, by_id=True, texts=None) -> list[int]:
    """The ids in the order of LangChain's EnsembleRetriever over the same lists."""
    need(EnsembleRetriever, "langchain-classic")

    class FixedRetriever(BaseRetriever):
        found: list[Document]

        def _get_relevant_documents(self, query, *, run_manager):
            return self.found

    def found(ranking):
        return [Document(page_content=(texts or {}).get(i, f"text {i}"), metadata={"id": i}) for i in ranking]

    retriever = EnsembleRetriever(
        retrievers=[FixedRetriever(found=found(ranking)) for ranking in rankings],
        weights=weights,
        c=k_rrf,
        id_key="id" if by_id else None,
    )
    return [document.metadata["id"] for document in retriever.invoke("query")]


def in_groups(ids, scores) -> list[set[int]]:
    """The documents of each score, since equal scores may come in any order."""
    return [set(group) for _, group in groupby(ids, key=lambda i: round(scores[i], 12))]


@pytest.mark.parametrize("seed", range(200))
def test_the_order_is_that_of_langchains_ensemble_on_the_same_lists(seed):
    draw = random.Random(seed)
    rankings = [draw.sample(range(30), draw.randint(0, 20)) for _ in range(draw.choice([1, 2, 2, 3]))]
    weights = [draw.choice([0.1, 0.3, 0.5, 0.7, 1, 3]) for _ in rankings]
    k_rrf = draw.choice([1, 10, 60])
    scores = rrf_scores(rankings, k_rrf, weights)
    ours = [i for i, _ in fused(rankings, weights, k_rrf=k_rrf)]
    theirs = ensemble(rankings, weights, k_rrf)
    assert in_groups(ours, scores) == in_groups(theirs, scores)


def test_where_langchain_keeps_what_has_no_weight_at_the_end_a_retriever_leaves_it_out():
    assert ensemble([[1, 2], [9, 2]], [1, 0]) == [1, 2, 9]
    assert [i for i, _ in fused([[1, 2], [9, 2]], [1, 0])] == [1, 2]


def test_langchain_merges_equal_texts_unless_told_an_id_and_a_retriever_never_does():
    same = {1: "The same text.", 2: "The same text."}
    assert ensemble([[1, 3], [2, 3]], [0.5, 0.5], by_id=False, texts=same) == [1, 3]
    assert {i for i, _ in fused([[1, 3], [2, 3]], [0.5, 0.5])} == {1, 2, 3}
