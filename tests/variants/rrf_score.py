"""Correct solutions of the exercise rrf_score in different styles. Each of them must get full points.

They were written from the statement in unit 03 alone, without a look at the solution or the checks.
"""

import functools
import math
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np


def plain(rank, k_rrf=60):
    return 1 / (k_rrf + rank)


def beginner(rank, k_rrf=60):
    total = k_rrf + rank
    points = 1 / total
    return points


def with_power(rank, k_rrf=60):
    return (rank + k_rrf) ** -1


def with_operators(rank, k_rrf=60):
    return operator.truediv(1, sum((k_rrf, rank)))


def with_numpy(rank, k_rrf=60):
    """Returns a numpy float."""
    return np.reciprocal(np.float64(k_rrf) + rank)


def with_numpy_array(rank, k_rrf=60):
    return np.divide(1.0, np.add(k_rrf, rank)).item()


def with_fraction(rank, k_rrf=60):
    return float(Fraction(1) / (Fraction(k_rrf) + rank))


def exact(rank, k_rrf=60):
    """Returns a Fraction."""
    return 1 / (Fraction(k_rrf) + rank)


def with_decimal(rank, k_rrf=60):
    return float(Decimal(1) / (Decimal(k_rrf) + Decimal(rank)))


def with_math(rank, k_rrf=60):
    return math.pow(math.fsum([k_rrf, rank]), -1)


def with_exp(rank, k_rrf=60):
    return math.exp(-math.log(k_rrf + rank))


def hinted(rank: int, k_rrf: float = 60) -> float:
    if rank < 1:
        raise ValueError(f"ranks count from 1, not {rank}")
    return 1.0 / float(k_rrf + rank)


by_lambda = lambda rank, k_rrf=60: 1 / (rank + k_rrf)  # noqa: E731


@functools.lru_cache(maxsize=None)  # noqa: UP033
def cached(rank, k_rrf=60):
    return 1 / (k_rrf + rank)


class Points:
    def __init__(self, numerator):
        self.numerator = numerator

    def __call__(self, rank, k_rrf=60):
        return self.numerator / (k_rrf + rank)


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "power": (with_power,),
    "operator and sum": (with_operators,),
    "numpy float": (with_numpy,),
    "numpy divide": (with_numpy_array,),
    "Fraction": (with_fraction,),
    "returns a Fraction": (exact,),
    "Decimal": (with_decimal,),
    "math.pow and fsum": (with_math,),
    "exp and log": (with_exp,),
    "type-hinted and defensive": (hinted,),
    "lambda": (by_lambda,),
    "lru_cache": (cached,),
    "a callable object": (Points(1),),
}
