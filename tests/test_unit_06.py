"""Unit 06: what its text says is so. Vectors in memory stand in for Postgres, which finds the same."""

import sys

import pytest

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex, chunk_by_characters
from lab import stored_vectors
from lab.minilm import MiniLM

QUESTION = "what happened with INC-2023-Q4-011?"


@pytest.fixture(scope="module")
def chunks():
    pieces = chunk_by_characters(lab.report())
    return [{"id": number, "content": piece} for number, piece in enumerate(pieces, start=1)]


@pytest.fixture(scope="module")
def indexes(chunks):
    found = VectorIndex(MiniLM()), BM25Index()
    for index in found:
        index.add_documents(chunks)
    return found


def numbers(results):
    return [document["id"] for document, _ in results]


def test_the_review_is_nine_chunks_and_the_second_holds_most_of_section_3(chunks):
    assert len(lab.report()) == 7704
    assert [len(chunk["content"]) for chunk in chunks] == [1000] * 8 + [504]
    second = chunks[1]["content"]
    assert second.startswith("ability. In Q4 2023 the incident INC-2023-Q4-011")
    section_3 = lab.sections()[2]["content"]
    held = len(second) - second.index("Section 3")
    assert held > len(section_3) / 2 and "incident charge" in section_3


def test_the_chunk_that_speaks_of_two_things_is_second_unless_words_count_as_much(indexes, chunks):
    assert numbers(indexes[0].search(QUESTION, k=4)) == [9, 2, 8, 1]
    orders = {
        weights: numbers(Retriever(*indexes, weights=weights).search(QUESTION, k=5))
        for weights in [(0.5, 0.5), None, (0.9, 0.1)]
    }
    assert orders[0.5, 0.5] == orders[None] and orders[None][:3] == [9, 8, 2]
    assert orders[0.9, 0.1][:3] == [9, 2, 8]
    together = chunks[7]["content"] + chunks[8]["content"][100:]
    assert lab.sections()[9]["content"].partition("\n\n")[2].strip() in together


@pytest.mark.skipif(
    sys.version_info[:2] != stored_vectors.PYTHON, reason="the text speaks of the reference of Python 3.11"
)
def test_half_and_half_is_best_over_all_and_loses_on_conceptual_questions():
    indexes = VectorIndex(lab.embedder("local")), BM25Index(lab.python_tokens)
    for index in indexes:
        index.add_documents(lab.python_reference())
    searches = {
        "vectors": indexes[0].search,
        "words": indexes[1].search,
        "half": Retriever(*indexes, weights=[0.5, 0.5]).search,
        "more": Retriever(*indexes, weights=[0.8, 0.2]).search,
    }
    table = lab.compare(searches, lab.judged_queries("python"), by_kind=True)
    mrr, recall = table["MRR"].unstack().round(3), table["recall@10"].unstack().round(3)
    assert mrr.loc["all", "half"] == 0.759 == mrr.loc["all"].max()
    assert (recall.loc["conceptual", "half"], recall.loc["conceptual", "vectors"]) == (0.714, 0.833)
    assert recall.loc["conceptual", "half"] < recall.loc["conceptual", "more"] < 0.833
    for values in (mrr, recall):
        assert values.loc["identifier", "more"] < values.loc["identifier", "half"]


def test_the_quiz_counts_the_chunks_rightly():
    assert [len(chunk_by_characters("x" * length)) for length in (2800, 2801)] == [3, 4]
    assert len(chunk_by_characters("x" * 2801)[-1]) == 101
