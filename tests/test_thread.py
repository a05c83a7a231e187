"""The course's thread: one query, on the real report, the default embedder and BM25.

Vector search alone puts the financial section second, because it speaks of Q4 2023 and of an incident. BM25
knows the three sections that name the incident, and the fusion of both ranks them first.
"""

import numpy as np
import pytest

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex
from lab.minilm import MiniLM

QUERY = "what happened with INC-2023-Q4-011?"


@pytest.fixture(scope="module")
def retriever():
    retriever = Retriever(VectorIndex(MiniLM()), BM25Index())
    retriever.add_documents(lab.sections())
    return retriever


def numbers(results):
    return [document["id"] for document, _ in results]


def test_vector_search_alone_ranks_cybersecurity_then_finance(retriever):
    results = retriever.indexes[0].search(QUERY, k=4)
    assert numbers(results) == [10, 3, 2, 5]
    gaps = np.diff([distance for _, distance in results])
    assert (gaps > 0.04).all(), gaps


def test_bm25_finds_the_three_sections_that_name_the_incident_and_no_other(retriever):
    results = retriever.indexes[1].search(QUERY, k=10)
    assert numbers(results) == [10, 2, 5]
    gaps = -np.diff([score for _, score in results])
    # These scores are the same on every machine, so a smaller gap than between distances will do.
    assert (gaps > 0.1).all(), gaps


@pytest.mark.parametrize("k_rrf", [1, 60])
def test_the_hybrid_ranks_the_three_sections_first(retriever, k_rrf):
    assert numbers(retriever.search(QUERY, k=3, k_rrf=k_rrf, candidates=20)) == [10, 2, 5]


def test_the_financial_section_is_a_decoy_without_the_incidents_name():
    content = lab.sections()[2]["content"]
    assert "INC-2023-Q4-011" not in content
    assert "Q4 2023" in content and "incident charge" in content


@pytest.mark.parametrize(
    ("language", "floors"), [("en", (0.935, 0.92, 0.99)), ("fr", (0.92, 0.5, 0.92))], ids=["en", "fr"]
)
def test_the_judged_queries_are_answered_as_well_as_the_units_say(retriever, language, floors):
    searches = [*(index.search for index in retriever.indexes), retriever.search]
    for search, floor in zip(searches, floors, strict=True):
        ranks = [
            next((1 / rank for rank, number in enumerate(found, start=1) if number in query.relevant), 0)
            for query in lab.judged_queries("report", language)
            for found in [numbers(search(query.text, k=10))]
        ]
        assert np.mean(ranks) >= floor
