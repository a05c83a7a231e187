"""Correct solutions of the exercise idf in different styles. Each of them must get full points.

They were written from the statement in unit 02 alone, without a look at the solution or the checks.
"""

import itertools
import math
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce

import numpy as np
import pandas as pd


def plain(term, documents):
    n = sum(term in document for document in documents)
    return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))


def beginner(term, documents):
    N = 0
    n = 0
    for document in documents:
        N = N + 1
        for token in document:
            if token == term:
                n = n + 1
                break
    top = N - n + 0.5
    bottom = n + 0.5
    fraction = top / bottom
    return math.log(1 + fraction)


def with_log1p(term, documents):
    n = len([document for document in documents if term in document])
    return math.log1p((len(documents) - n + 0.5) / (n + 0.5))


def one_fraction(term, documents):
    """1 + (N - n + 0.5) / (n + 0.5) is (N + 1) / (n + 0.5), and a logarithm of a fraction a difference."""
    n = sum(1 for document in documents if document.count(term) > 0)
    return math.log(len(documents) + 1) - math.log(n + 0.5)


def with_sets(term, documents):
    sets = list(map(set, documents))
    n = sum({term} <= tokens for tokens in sets)
    return math.log((len(sets) - n + 0.5) / (n + 0.5) + 1, math.e)


def with_counter(term, documents):
    frequencies = Counter(itertools.chain.from_iterable(set(document) for document in documents))
    n = frequencies[term]
    return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))


def with_numpy(term, documents):
    """Returns a numpy float."""
    contains = np.array([term in document for document in documents], dtype=bool)
    n = np.count_nonzero(contains)
    return np.log(1 + (contains.size - n + 0.5) / (n + 0.5))


def with_numpy_log1p(term, documents):
    n = np.sum([np.any([token == term for token in document]) for document in documents], dtype=float)
    return float(np.log1p((len(documents) - n + 0.5) / (n + 0.5)))


def with_pandas(term, documents):
    table = pd.DataFrame(
        [(number, token) for number, document in enumerate(documents) for token in document],
        columns=["number", "token"],
    )
    n = table.loc[table["token"] == term, "number"].nunique()
    return np.log((len(documents) - n + 0.5) / (n + 0.5) + 1)


def functional(term, documents):
    n, total = reduce(lambda sums, document: (sums[0] + (term in document), sums[1] + 1), documents, (0, 0))
    return math.log(1 + (total - n + 0.5) / (n + 0.5))


def with_and_without(term, documents):
    """Counts both sides, as the statement explains the fraction."""
    with_it = list(filter(lambda document: term in document, documents))
    without_it = list(filter(lambda document: term not in document, documents))
    return math.log(1 + (len(without_it) + 0.5) / (len(with_it) + 0.5))


def _occurrences(term, documents):
    for document in documents:
        try:
            document.index(term)
        except ValueError:
            continue
        yield document


def with_generator(term, documents):
    n = len(tuple(_occurrences(term, documents)))
    return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))


def with_fractions(term, documents):
    half = Fraction(1, 2)
    n = sum(any(token == term for token in document) for document in documents)
    return math.log(1 + (len(documents) - n + half) / (n + half))


def with_decimals(term, documents):
    n = Decimal(sum(term in document for document in documents))
    half = Decimal("0.5")
    return float((1 + (len(documents) - n + half) / (n + half)).ln())


@dataclass
class Collection:
    documents: list

    @property
    def size(self):
        return len(self.documents)

    def frequency(self, term):
        return [term in document for document in self.documents].count(True)

    def weight(self, term):
        n = self.frequency(term)
        return math.log(1.0 + (self.size - n + 0.5) / (n + 0.5))


def with_class(term, documents):
    return Collection(documents).weight(term)


def base_two(term, documents):
    """The natural logarithm from the one to the base 2."""
    n = sum(term in document for document in documents)
    return math.log2(1 + (len(documents) - n + 0.5) / (n + 0.5)) * math.log(2)


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "math.log1p": (with_log1p,),
    "a difference of logarithms": (one_fraction,),
    "sets": (with_sets,),
    "Counter": (with_counter,),
    "numpy, returns a numpy float": (with_numpy,),
    "numpy log1p": (with_numpy_log1p,),
    "pandas": (with_pandas,),
    "reduce": (functional,),
    "documents with and without": (with_and_without,),
    "generator with list.index": (with_generator,),
    "Fraction": (with_fractions,),
    "Decimal": (with_decimals,),
    "dataclass": (with_class,),
    "logarithm to the base 2": (base_two,),
}
