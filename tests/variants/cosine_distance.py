"""Correct solutions of the exercise cosine_distance in different styles. Each of them must get full points.

They were written from the statement in unit 01 alone, without a look at the solution or the checks.
"""

import functools
import math
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd


def plain(a, b):
    return 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


def beginner(a, b):
    dot = 0
    sum_a = 0
    sum_b = 0
    for i in range(len(a)):
        dot = dot + a[i] * b[i]
        sum_a = sum_a + a[i] ** 2
        sum_b = sum_b + b[i] ** 2
    length_a = sum_a**0.5
    length_b = sum_b**0.5
    cosine = dot / (length_a * length_b)
    return 1 - cosine


def python_floats(a, b):
    dot = math.fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))
    return 1.0 - dot / (math.hypot(*a) * math.hypot(*b))


def normalized_first(a, b):
    a_unit = a / np.linalg.norm(a)
    b_unit = b / np.linalg.norm(b)
    return float(1 - np.dot(a_unit, b_unit))


def one_root(a, b):
    return 1 - np.dot(a, b) / np.sqrt(np.dot(a, a) * np.dot(b, b))


def divided_twice(a, b):
    return (1 - np.inner(a, b) / np.linalg.norm(a) / np.linalg.norm(b)).item()


def half_the_squared_chord(a, b):
    """Between two arrows of length 1, the squared straight distance is twice the cosine distance."""
    chord = a / np.linalg.norm(a) - b / np.linalg.norm(b)
    return (chord**2).sum() / 2


def with_einsum(a, b):
    dot, aa, bb = (np.einsum("i,i->", x, y) for x, y in ((a, b), (a, a), (b, b)))
    return 1 - dot / (aa**0.5 * bb**0.5)


def from_the_matrix_of_products(a, b):
    vectors = np.vstack([a, b])
    (aa, ab), (_, bb) = vectors @ vectors.T
    return 1 - ab / (math.sqrt(aa) * math.sqrt(bb))


def functional(a, b):
    def dot(x, y):
        return functools.reduce(operator.add, map(operator.mul, x.tolist(), y.tolist()), 0.0)

    return 1 - dot(a, b) / math.sqrt(dot(a, a)) / math.sqrt(dot(b, b))


def with_pandas(a, b):
    table = pd.DataFrame({"a": a, "b": b})
    lengths = (table**2).sum() ** 0.5
    return 1 - (table["a"] * table["b"]).sum() / lengths.prod()


def clipped(a, b):
    """Keeps the rounding error from giving a value below 0 or above 2."""
    cosine = np.vdot(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))
    return 1 - np.clip(cosine, -1, 1)


def zero_dimensional_array(a, b):
    """What numpy calls an array of shape ()."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    return np.array(1 - (a * b).sum() / np.sqrt((a * a).sum()) / np.sqrt((b * b).sum()))


def with_columns(a, b):
    column = b.reshape(-1, 1)
    product = a.reshape(1, -1) @ column
    return 1 - product[0, 0] / (np.linalg.norm(a) * np.linalg.norm(column))


def decimals(a, b):
    a = [Decimal(float(x)) for x in a]
    b = [Decimal(float(x)) for x in b]
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    lengths = [sum(x * x for x in v).sqrt() for v in (a, b)]
    return float(1 - dot / (lengths[0] * lengths[1]))


def fractions_and_one_root(a, b):
    a, b = ([Fraction(float(x)) for x in v] for v in (a, b))
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    square = dot**2 / (sum(x * x for x in a) * sum(y * y for y in b))
    return 1 - math.copysign(math.sqrt(square), dot)


def in_float32(a, b):
    """The embedding models give float32, and it keeps distances to about 1e-7."""
    a, b = a.astype(np.float32), b.astype(np.float32)
    return np.float32(1) - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


class Arrow:
    def __init__(self, values):
        self.values = values

    def __abs__(self):
        return math.sqrt(self * self)

    def __mul__(self, other):
        return sum(x * y for x, y in zip(self.values, other.values, strict=True))

    def cosine(self, other):
        return self * other / (abs(self) * abs(other))


def with_class(a, b):
    return 1 - Arrow(a).cosine(Arrow(b))


by_lambda = lambda a, b: 1 - (a @ b) / (np.linalg.norm(a, 2) * np.linalg.norm(b, 2))  # noqa: E731


VARIANTS = {
    "plain": (plain,),
    "beginner with a loop": (beginner,),
    "fsum and hypot": (python_floats,),
    "normalized first": (normalized_first,),
    "one root": (one_root,),
    "divided twice, item()": (divided_twice,),
    "half the squared chord": (half_the_squared_chord,),
    "einsum": (with_einsum,),
    "matrix of products": (from_the_matrix_of_products,),
    "reduce and map": (functional,),
    "pandas": (with_pandas,),
    "clipped": (clipped,),
    "an array of shape ()": (zero_dimensional_array,),
    "row times column": (with_columns,),
    "Decimal": (decimals,),
    "Fraction": (fractions_and_one_root,),
    "float32": (in_float32,),
    "class with operators": (with_class,),
    "lambda": (by_lambda,),
}
