"""The stop words that the notebooks are given."""

import subprocess
import sys

import pytest

import lab
from hybrid_search import tokenize
from hybrid_search.bm25 import _stop_words
from lab import word_lists


def test_the_lab_gives_the_stop_words_that_the_finished_tokenizer_drops():
    assert lab.stop_words() == _stop_words()
    assert isinstance(lab.stop_words(), frozenset)


def test_stop_words_are_folded_as_tokens_are():
    assert {"with", "what", "meme", "ete"} <= lab.stop_words()
    assert "même" not in lab.stop_words()
    assert tokenize(" ".join(lab.stop_words())) == []


@pytest.mark.parametrize(
    "before", ["lab.python_reference()", "lab.python_tokens('a')", "lab.summariser('extractive')"]
)
def test_the_function_is_what_its_name_gives_whatever_was_used_before(before):
    code = f"import lab; {before}; print(len(lab.stop_words()) > 100)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr


def of_lab():
    return word_lists.word_lists()["STOPWORDS_EN_PLUS"]


READERS = [_stop_words.__wrapped__, of_lab]


@pytest.mark.parametrize("read", READERS)
def test_reading_the_lists_changes_nothing_that_all_threads_share(read, monkeypatch):
    # runpy would put the file's path into sys.argv for a moment, and two threads could leave it there.
    seen = []
    monkeypatch.setattr(sys, "argv", Watched(sys.argv, seen))
    modules = set(sys.modules)
    assert "with" in read()
    assert (seen, set(sys.modules) - modules) == ([], set())


class Watched(list):
    """A list that tells what is written into it."""

    def __init__(self, values, seen):
        super().__init__(values)
        self.seen = seen

    def __setitem__(self, place, value):
        self.seen.append(value)
        super().__setitem__(place, value)


@pytest.mark.parametrize("read", READERS)
def test_without_bm25s_the_error_names_it(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(ModuleNotFoundError, match="bm25s"):
        read()
