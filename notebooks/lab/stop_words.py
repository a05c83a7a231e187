"""Words that say nothing about a text's subject."""

import unicodedata
from functools import cache


@cache
def stop_words() -> frozenset[str]:
    """English and French stop words, folded: NFC, casefold, no accents. Source: bm25s."""
    from bm25s.stopwords import STOPWORDS_EN_PLUS, STOPWORDS_FRENCH

    return frozenset(_folded(word) for word in (*STOPWORDS_EN_PLUS, *STOPWORDS_FRENCH))


def _folded(word: str) -> str:
    letters = unicodedata.normalize("NFD", unicodedata.normalize("NFC", word).casefold())
    return unicodedata.normalize(
        "NFC", "".join(letter for letter in letters if not unicodedata.combining(letter))
    )
