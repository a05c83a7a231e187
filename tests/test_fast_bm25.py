"""FastBM25Index: what BM25Index answers, on bm25s."""

import random

import numpy as np
import pytest

from hybrid_search import BM25Index, FastBM25Index, Retriever, load_snapshot, save_snapshot
from hybrid_search.bm25 import _best


def corpus(seed: int) -> tuple[list[dict], list[str]]:
    """Documents over few words, so that ties, repeats and terms in every document happen, and queries."""
    drawn = random.Random(seed)
    words = [f"w{n}" for n in range(drawn.choice((3, 30, 300)))]
    documents = [
        {"id": n, "content": " ".join(drawn.choices(words, k=drawn.randint(1, 40)))}
        for n in range(drawn.randint(1, 80))
    ]
    queries = [" ".join(drawn.choices([*words, "unknown"], k=drawn.randint(1, 6))) for _ in range(10)]
    return documents, queries


@pytest.mark.parametrize("seed", range(20))
def test_scores_and_order_are_those_of_bm25_index(seed):
    drawn = random.Random(seed)
    k1, b = drawn.choice((0.4, 1.5, 3.0)), drawn.choice((0.0, 0.75, 1.0))
    slow, fast = BM25Index(str.split, k1, b), FastBM25Index(str.split, k1, b)
    documents, queries = corpus(seed)
    slow.add_documents(documents)
    fast.add_documents(documents)
    for query in queries:
        for k in (1, 3, len(documents) + 1):
            expected, found = slow.search(query, k), fast.search(query, k)
            assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-6)
            # Whoever is alone with a score must stand where BM25Index puts it.
            rounded = [round(score, 9) for _, score in expected]
            for place, (document, _) in enumerate(expected):
                if rounded.count(rounded[place]) == 1 and place + 1 < len(expected):
                    assert found[place][0] is document


def test_equal_scores_keep_the_order_of_addition_at_every_cut():
    index = FastBM25Index(str.split)
    documents = [{"id": n, "content": "pump" if n % 2 else "pump pump"} for n in range(9)]
    index.add_documents(documents)
    expected = [*documents[0::2], *documents[1::2]]
    for k in range(1, 11):
        assert [document["id"] for document, _ in index.search("pump", k)] == [d["id"] for d in expected[:k]]


@pytest.mark.parametrize("values", [3, 40, 10_000])
@pytest.mark.parametrize("k", [1, 2, 7, 8, 9, 100, 2_000, 2_001])
def test_the_best_of_many_scores_are_those_of_a_plain_sort(values, k):
    drawn = np.random.default_rng(values)
    scores = drawn.integers(-1, values, size=2_000) / 7  # zero and less is no match
    expected = [n for n in sorted(range(2_000), key=lambda n: -scores[n]) if scores[n] > 0]
    assert _best(scores, k) == expected[:k]
    assert _best(np.zeros(2_000), k) == []


def test_what_shares_no_term_is_not_returned_and_an_empty_index_gives_nothing():
    index = FastBM25Index(str.split)
    assert index.search("pump") == []
    index.add_document({"content": "."})
    index.add_document({"content": "valve"})
    assert index.search("pump pump", 5) == []
    assert [document["content"] for document, _ in index.search("valve pump", 5)] == ["valve"]
    nothing = FastBM25Index(lambda text: [])
    nothing.add_document({"content": "valve"})
    assert nothing.search("valve") == []


def test_a_term_given_twice_counts_twice_and_an_empty_document_costs_nothing():
    for kind in (BM25Index, FastBM25Index):
        index = kind(lambda text: text.split() if text != "-" else [], b=1.0)
        index.add_documents([{"content": "-"}, {"content": "pump valve"}, {"content": "valve"}])
        ((_, once),), ((_, twice),) = index.search("pump", 1), index.search("pump pump", 1)
        assert twice == pytest.approx(2 * once)


def test_the_table_is_made_at_the_first_search_after_an_addition(monkeypatch):
    made = []
    original = FastBM25Index._make_model
    monkeypatch.setattr(FastBM25Index, "_make_model", lambda self: made.append(1) or original(self))
    index = FastBM25Index(str.split)
    for n in range(5):
        index.add_document({"content": f"pump w{n}"})
    assert made == []
    index.search("pump")
    index.search("w1")
    assert made == [1]
    index.add_document({"content": "late"})
    assert index.search("late")[0][0]["content"] == "late" and made == [1, 1]


def test_it_joins_a_retriever_and_refuses_what_bm25_index_refuses():
    index = FastBM25Index()
    retriever = Retriever(index)
    retriever.add_document({"id": 1, "content": "INC-2023-Q4-011 closed"})
    assert retriever.search("what happened with INC-2023-Q4-011?")[0][0]["id"] == 1
    for wrong in ({"k1": 0}, {"b": 2}):
        with pytest.raises(ValueError):
            FastBM25Index(**wrong)
    with pytest.raises(ValueError, match="empty"):
        index.search(" ")
    with pytest.raises(ValueError, match="id 1"):
        index.add_document({"id": 1, "content": "another"})


def test_its_snapshot_loads_as_the_same_index(tmp_path):
    index = FastBM25Index()
    index.add_documents([{"id": 1, "content": "pump leak"}, {"id": 2, "content": "valve"}])
    save_snapshot(index, tmp_path / "snapshot")
    loaded = load_snapshot(tmp_path / "snapshot", documents=index.documents)
    assert loaded.search("pump", 2)[0][1] == pytest.approx(index.search("pump", 2)[0][1])
