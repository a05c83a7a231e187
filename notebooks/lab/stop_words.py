"""Words that say nothing about a text's subject."""

import unicodedata
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path


@cache
def stop_words() -> frozenset[str]:
    """English and French stop words, folded: NFC, casefold, no accents. Source: bm25s."""
    lists = word_lists()
    return frozenset(_folded(word) for word in (*lists["STOPWORDS_EN_PLUS"], *lists["STOPWORDS_FRENCH"]))


def word_lists() -> dict[str, tuple[str, ...]]:
    """The stop words of bm25s as they stand there, by the name of each list, such as "STOPWORDS_FRENCH"."""
    # The file with the lists alone: the package around it brings numpy and scipy, which take a quarter of a second.
    return run_path(str(Path(find_spec("bm25s").origin).with_name("stopwords.py")))


def _folded(word: str) -> str:
    letters = unicodedata.normalize("NFD", unicodedata.normalize("NFC", word).casefold())
    return unicodedata.normalize(
        "NFC", "".join(letter for letter in letters if not unicodedata.combining(letter))
    )
