"""Settings that must get full points in the exercise tuning, in several forms."""

from fractions import Fraction

import numpy as np

VARIANTS = {
    "the best of the sweep": ({"k_rrf": 7, "candidates": 40},),
    "off the ridge, and no worse": ({"k_rrf": 10, "candidates": 30},),
    "the usual values": ({"k_rrf": 60, "candidates": 20},),
    "numpy numbers": ({"k_rrf": np.int64(15), "candidates": np.int64(20)},),
    "floats that are whole": ({"k_rrf": 10.0, "candidates": 20.0},),
    "a k_rrf between two steps": ({"k_rrf": 12.5, "candidates": 45},),
    "a fraction": ({"k_rrf": Fraction(21, 2), "candidates": 40},),
    "a setting of the sweep": (dict(zip(("k_rrf", "candidates"), (20, 20), strict=True)),),
    "a k_rrf beyond the last step": ({"k_rrf": 1000, "candidates": 10},),
}
