"""Texts as sparse vectors, whose product is BM25: an index for each term, and the weight of the term."""

import hashlib
from collections import Counter
from collections.abc import Sequence

K1, B = 1.5, 0.75
# Tokens of a node, about. A constant, so that a vector depends on its text alone and an addition changes no other.
AVERAGE_LENGTH = 50


def term_index(term: str) -> int:
    """The index of a term in sparse vectors, a whole number below 2 ** 32: always and everywhere the same.

    It is a hash. Of 10,000 different terms two share an index with a probability of about 1 %: these count as one term.
    """
    digest = hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "big")


def term_weights(tokens: Sequence[str], average_length: float = AVERAGE_LENGTH) -> dict[int, float]:
    """The weight of each term of a text by BM25, but for its IDF, under the term's index; in the order of the indexes.

    Of a term that occurs f times it is f (k1 + 1) / (f + k1 (1 - b + b length / average_length)), k1 = 1.5, b = 0.75.
    Qdrant multiplies it by the IDF, and the products of all terms of a query are the text's score: higher is better.
    """
    held_back = K1 * (1 - B + B * len(tokens) / average_length)
    counts = term_counts(tokens)
    return {index: count * (K1 + 1) / (count + held_back) for index, count in counts.items()}


def term_counts(tokens: Sequence[str]) -> dict[int, float]:
    """How often each term occurs, under the term's index, in the order of the indexes: a query's weights."""
    return {index: float(count) for index, count in sorted(Counter(map(term_index, tokens)).items())}
