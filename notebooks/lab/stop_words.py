"""Words that say nothing about a text's subject."""

import unicodedata
from functools import cache

from lab.word_lists import word_lists


@cache
def stop_words() -> frozenset[str]:
    """English and French stop words, folded: NFC, casefold, no accents. Source: bm25s."""
    lists = word_lists()
    return frozenset(_folded(word) for word in (*lists["STOPWORDS_EN_PLUS"], *lists["STOPWORDS_FRENCH"]))


def _folded(word: str) -> str:
    letters = unicodedata.normalize("NFD", unicodedata.normalize("NFC", word).casefold())
    return unicodedata.normalize(
        "NFC", "".join(letter for letter in letters if not unicodedata.combining(letter))
    )
