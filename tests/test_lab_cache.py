"""Vectors kept on disk: what is embedded again, and what a bad cache file does."""

import multiprocessing
import sqlite3
import tempfile
from pathlib import Path

import numpy as np
import pytest

from lab.vector_cache import STEP, CachedEmbedder, VectorCache


class Counting:
    """An embedder that notes what it is asked."""

    name = cache_key = "counting"

    def __init__(self):
        self.asked = []

    def embed_documents(self, texts):
        self.asked += texts
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(len(texts), 3)

    def embed_query(self, text):
        self.asked.append(text)
        return self._vector(text) + np.float32(0.5)

    def _vector(self, text):
        return np.array([len(text), ord(text[0]), 1 / 3], dtype=np.float32)


def cached(folder, queries=True):
    """A new process's embedder over the cache in a folder."""
    return CachedEmbedder(Counting(), VectorCache(folder), queries=queries)


def test_texts_are_embedded_once_and_come_back_bit_for_bit(tmp_path):
    first = cached(tmp_path).embed_documents(["a", "bb", "a"])
    again = cached(tmp_path)
    assert np.array_equal(again.embed_documents(["bb", "a", "a"]), first[[1, 0, 2]])
    assert again.embed_documents(["a"]).dtype == np.float32
    assert again._embedder.asked == []


def test_only_missing_texts_are_embedded_each_once(tmp_path):
    cached(tmp_path).embed_documents(["a"])
    embedder = cached(tmp_path)
    assert embedder.embed_documents(["c", "a", "b", "c"])[:, 1].tolist() == [99, 97, 98, 99]
    assert embedder._embedder.asked == ["c", "b"]


def test_queries_and_documents_of_one_text_are_kept_apart(tmp_path):
    cached(tmp_path).embed_documents(["a"])
    vector = cached(tmp_path).embed_query("a")
    assert vector.shape == (3,) and vector[0] == 1.5
    again = cached(tmp_path)
    assert np.array_equal(again.embed_query("a"), vector) and again._embedder.asked == []


def test_queries_pass_by_the_cache_where_the_model_is_fast(tmp_path):
    embedder = cached(tmp_path, queries=False)
    assert embedder.embed_query("a")[0] == 1.5
    assert list(tmp_path.iterdir()) == []


def test_vectors_of_another_model_are_not_used(tmp_path):
    cached(tmp_path).embed_documents(["a"])
    other = cached(tmp_path)
    other._embedder.cache_key = "another"
    other.embed_documents(["a"])
    assert other._embedder.asked == ["a"]


def test_no_texts_give_an_empty_array(tmp_path):
    assert cached(tmp_path).embed_documents([]).shape == (0, 3)


def test_an_interrupted_run_keeps_what_it_has(tmp_path):
    embedder = cached(tmp_path)
    embed = embedder._embedder.embed_documents

    def interrupted(texts):
        if embedder._embedder.asked:
            raise KeyboardInterrupt
        return embed(texts)

    embedder._embedder.embed_documents = interrupted
    texts = [f"text {number}" for number in range(STEP + 10)]
    with pytest.raises(KeyboardInterrupt):
        embedder.embed_documents(texts)
    again = cached(tmp_path)
    again.embed_documents(texts)
    assert again._embedder.asked == texts[STEP:]


def test_more_texts_than_one_statement_takes(tmp_path):
    texts = [f"text {number}" for number in range(1201)]
    vectors = cached(tmp_path).embed_documents(texts)
    again = cached(tmp_path)
    assert np.array_equal(again.embed_documents(texts), vectors) and again._embedder.asked == []


@pytest.mark.parametrize("junk", [b"this is no database" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_moved_aside_and_a_new_one_begins(tmp_path, capsys, junk):
    file = VectorCache(tmp_path).file
    file.write_bytes(junk)
    assert cached(tmp_path).embed_documents(["a"]).shape == (1, 3)
    output = capsys.readouterr()
    assert output.out.count("\n") == 1 and "broken" in output.out and not output.err
    assert file.with_name(file.name + ".broken").read_bytes() == junk
    again = cached(tmp_path)
    again.embed_documents(["a"])
    assert again._embedder.asked == []


def test_a_file_cut_short_costs_only_its_vectors(tmp_path):
    texts = [f"text {number}" for number in range(500)]
    vectors = cached(tmp_path).embed_documents(texts)
    file = VectorCache(tmp_path).file
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert np.array_equal(cached(tmp_path).embed_documents(texts), vectors)
    assert np.array_equal(cached(tmp_path).embed_documents(texts), vectors)


def test_a_vector_that_has_changed_on_disk_is_embedded_again(tmp_path):
    cached(tmp_path).embed_documents(["a", "b"])
    connection = sqlite3.connect(VectorCache(tmp_path).file)
    with connection:
        connection.execute("UPDATE vectors SET vector = zeroblob(12)")
    connection.close()
    again = cached(tmp_path)
    assert again.embed_documents(["a"]).tolist() == [[1, 97, np.float32(1 / 3)]]
    assert again._embedder.asked == ["a"]


@pytest.mark.parametrize("obstacle", ["a file in place of the folder", "a folder in place of the file"])
def test_a_cache_that_cannot_be_used_is_left_out_with_one_line(tmp_path, capsys, obstacle):
    folder = tmp_path / "cache"
    if obstacle.startswith("a file"):
        folder.write_text("in the way")
    else:
        VectorCache(folder).file.mkdir(parents=True)
    embedder = cached(folder)
    assert embedder.embed_documents(["a"]).shape == (1, 3)
    assert embedder.embed_documents(["a"]).shape == (1, 3)
    output = capsys.readouterr()
    assert output.out.count("\n") == 1 and "will not be kept" in output.out and not output.err


def test_a_cache_held_by_another_program_is_left_out(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lab.vector_cache._BUSY_SECONDS", 0.05)
    cached(tmp_path).embed_documents(["a"])
    other = sqlite3.connect(VectorCache(tmp_path).file)
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert cached(tmp_path).embed_documents(["b"]).shape == (1, 3)
    finally:
        other.close()
    assert "locked" in capsys.readouterr().out
    again = cached(tmp_path)
    again.embed_documents(["a"])
    assert again._embedder.asked == []


def _embed_some(folder, start):
    embedder = cached(folder)
    for number in range(start, start + 40):
        embedder.embed_documents([f"text {number}", "shared"])


def test_two_notebooks_fill_one_cache_at_once(tmp_path, capfd):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_embed_some, args=(tmp_path, start)) for start in (0, 20)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(30)
    assert [process.exitcode for process in processes] == [0, 0]
    assert capfd.readouterr() == ("", "")
    again = cached(tmp_path)
    again.embed_documents([f"text {number}" for number in range(60)])
    assert again._embedder.asked == []


def test_texts_themselves_are_not_written_to_disk(tmp_path):
    cached(tmp_path).embed_documents(["a private sentence"])
    assert b"private" not in VectorCache(tmp_path).file.read_bytes()


def test_the_cache_folder_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_SEARCH_CACHE", str(tmp_path / "mine"))
    assert VectorCache().file.parent == tmp_path / "mine"
    monkeypatch.delenv("HYBRID_SEARCH_CACHE")
    assert VectorCache().file.parent.name == "hybrid-search-course"


def test_a_user_without_a_home_gets_no_folder_named_tilde(monkeypatch):
    monkeypatch.delenv("HYBRID_SEARCH_CACHE", raising=False)
    monkeypatch.setattr(
        "platformdirs.user_cache_path", lambda *_, **__: Path("~/.cache/hybrid-search-course")
    )
    assert VectorCache().file.parent == Path(tempfile.gettempdir()) / "hybrid-search-course"
