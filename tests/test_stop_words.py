"""The stop words that the notebooks are given."""

import lab
from hybrid_search import tokenize
from hybrid_search.bm25 import _stop_words


def test_the_lab_gives_the_stop_words_that_the_finished_tokenizer_drops():
    assert lab.stop_words() == _stop_words()
    assert isinstance(lab.stop_words(), frozenset)


def test_stop_words_are_folded_as_tokens_are():
    assert {"with", "what", "meme", "ete"} <= lab.stop_words()
    assert "même" not in lab.stop_words()
    assert tokenize(" ".join(lab.stop_words())) == []
