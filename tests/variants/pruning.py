"""Readings that must get full points in the exercise pruning, in several forms."""

from fractions import Fraction

import numpy as np

_KEYS = ("agree", "best case", "worst case", "irrelevant pruned", "relevant pruned")


def _readings(*values):
    return (dict(zip(_KEYS, values, strict=True)),)


VARIANTS = {
    "worked out": _readings((100 - 39) / 100, (100 - 39) / 90, (100 - 39 - 10) / 90, 0.807, 0.268),
    "two digits": _readings(0.61, 0.68, 0.57, 0.81, 0.27),
    "cut off instead of rounded": _readings(0.61, 0.677, 0.566, 0.8, 0.26),
    "fractions": _readings(
        Fraction(61, 100), Fraction(61, 90), Fraction(17, 30), Fraction(4, 5), Fraction(1, 4)
    ),
    "numpy numbers": _readings(*np.array([0.61, 61 / 90, 51 / 90, 0.807, 0.268])),
    "what is not kept": _readings(1 - 39 / 100, 1 - 29 / 90, 1 - 39 / 90, 1 - 0.193, 1 - 0.732),
    "another version of Python": _readings(0.61, 0.678, 0.567, 0.79, 0.3),
    "another computer": _readings(0.61, 0.678, 0.567, 0.83, 0.24),
    "in another order": (dict(reversed(_readings(0.61, 0.678, 0.567, 0.81, 0.27)[0].items())),),
}
