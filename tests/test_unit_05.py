"""Unit 05: the stored vectors of the Python reference, the exercises that take numbers, the queries held apart."""

import sys

import numpy as np
import pytest

import lab
from lab import embedders, minilm, stored_vectors
from lab.minilm import MiniLM
from lab.vector_cache import CachedEmbedder, VectorCache

OF_STORED_PYTHON = sys.version_info[:2] == stored_vectors.PYTHON


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """No key, nothing embedded so far, no embedder made so far."""
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    monkeypatch.setenv("HYBRID_SEARCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(embedders, "_made", {})
    return tmp_path / "cache"


@pytest.fixture
def embedded(monkeypatch):
    """The texts that the model had to embed."""
    asked, embed = [], MiniLM._embed
    monkeypatch.setattr(MiniLM, "_embed", lambda self, text: (asked.append(text), embed(self, text))[1])
    return asked


class Counting:
    """An embedder that notes what it is asked; a vector says where it came from."""

    name = cache_key = "counting"

    def __init__(self):
        self.asked = []

    def embed_documents(self, texts):
        self.asked.append(list(texts))
        return np.array([[len(text), 1] for text in texts], dtype=np.float32)

    def embed_query(self, text):
        return self.embed_documents([text])[0]


def stored_for(*texts):
    vectors = {text: np.array([0, 9], dtype=np.float32) for text in texts}
    return lambda asked: {text: vectors[text] for text in asked if text in vectors}


# ---- stored vectors


def test_the_first_run_of_the_unit_embeds_no_piece_of_this_pythons_reference(empty_cache, embedded):
    texts = stored_vectors.python_texts()
    vectors = lab.embedder("local").embed_documents(texts)
    assert vectors.shape == (len(texts), minilm.DIMENSION) and vectors.dtype == np.float32
    # Another bugfix release may have changed a few lines; another version has changed more.
    assert len(embedded) <= (0.05 if OF_STORED_PYTHON else 0.6) * len(texts)
    assert (empty_cache / "vectors-1.sqlite3").exists() == bool(embedded)


def test_every_judged_query_has_a_stored_vector(empty_cache, embedded):
    for query in lab.judged_queries("python"):
        lab.embedder("local").embed_query(query.text)
    assert embedded == []


def test_stored_vectors_of_the_reference_are_those_of_the_live_model():
    """float32, so bit for bit on the machine that made them, and up to 1e-7 apart elsewhere."""
    stored = stored_vectors.known(stored_vectors.python_texts())
    sample = list(stored)[::40] + [query.text for query in lab.judged_queries("python")[::20]]
    live = MiniLM().embed_documents(sample)
    assert len(sample) > 10
    assert np.allclose([stored[text] for text in sample], live, atol=1e-4)
    assert {vector.dtype for vector in stored.values()} == {np.dtype(np.float32)}


def test_the_stored_vectors_are_smaller_than_a_megabyte():
    assert stored_vectors.PYTHON_FILE.stat().st_size < 1_000_000


def test_stored_goes_before_cached_and_cached_before_the_model(tmp_path):
    CachedEmbedder(Counting(), VectorCache(tmp_path), queries=False).embed_documents(["a", "bb"])
    embedder = CachedEmbedder(
        Counting(), VectorCache(tmp_path), queries=False, stored=stored_for("a", "question")
    )
    assert embedder.embed_documents(["ccc", "a", "bb", "a"]).tolist() == [[3, 1], [0, 9], [2, 1], [0, 9]]
    assert embedder._embedder.asked == [["ccc"]]
    assert embedder.embed_query("question").tolist() == [0, 9]
    assert embedder.embed_query("other").tolist() == [5, 1]


def test_a_stored_vector_cannot_be_changed_through_a_query(tmp_path):
    stored = stored_for("a")
    embedder = CachedEmbedder(Counting(), VectorCache(tmp_path), queries=False, stored=stored)
    embedder.embed_query("a")[0] = 7
    assert embedder.embed_query("a").tolist() == [0, 9]


def test_what_is_embedded_is_kept_after_every_few_texts_and_shown_with_a_bar(tmp_path, monkeypatch):
    shown = []

    def watched(items, label):
        for done, item in enumerate(items):
            shown.append((label, done))
            yield item

    monkeypatch.setattr("lab.vector_cache.progress", watched)
    embedder = CachedEmbedder(Counting(), VectorCache(tmp_path), queries=False, step=2)
    embedder.embed_documents(["a", "bb", "ccc", "dddd", "eeeee"])
    assert embedder._embedder.asked == [["a", "bb"], ["ccc", "dddd"], ["eeeee"]]
    assert shown == [("Embedding texts", done) for done in range(5)]
