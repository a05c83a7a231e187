"""The stop words that the notebooks are given."""

import subprocess
import sys

import pytest

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


@pytest.mark.parametrize(
    "before", ["lab.python_reference()", "lab.python_tokens('a')", "lab.summariser('extractive')"]
)
def test_the_function_is_what_its_name_gives_whatever_was_used_before(before):
    code = f"import lab; {before}; print(len(lab.stop_words()) > 100)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == ["True"], done.stderr
