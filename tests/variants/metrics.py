"""Right answers of the exercise metrics in other forms. Each of them must get full points.

Only the form differs: the numbers were worked out by hand, as the statement in unit 05 asks.
"""

import math
from collections import OrderedDict
from fractions import Fraction
from types import MappingProxyType

import numpy as np

_DISCOUNTS = 1 / np.log2(np.arange(1, 6) + 1)
_HITS = np.array([0, 1, 1, 0, 0])

whole = {
    "recall@3": 1,
    "precision@3": 2 / 3,
    "reciprocal rank": 1 / 2,
    "MRR": 3 / 8,
    "nDCG@3": (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3)),
}
two_digits = {
    "recall@3": 1.0,
    "precision@3": 0.67,
    "reciprocal rank": 0.5,
    "MRR": 0.38,
    "nDCG@3": 0.69,
}
two_digits_cut = {**two_digits, "MRR": 0.37}
three_digits = {name: round(value, 3) for name, value in whole.items()}
fractions = {
    "recall@3": Fraction(2, 2),
    "precision@3": Fraction(2, 3),
    "reciprocal rank": Fraction(1, 2),
    "MRR": (Fraction(1, 2) + Fraction(1, 4)) / 2,
    "nDCG@3": 0.693426,
}
with_numpy = {
    "recall@3": _HITS[:3].sum() / _HITS.sum(),
    "precision@3": _HITS[:3].mean(),
    "reciprocal rank": 1 / (np.argmax(_HITS) + 1),
    "MRR": np.mean([1 / 2, 1 / 4]),
    "nDCG@3": (_HITS * _DISCOUNTS)[:3].sum() / _DISCOUNTS[:2].sum(),
}
float32 = {name: np.float32(value) for name, value in whole.items()}
arrays = {name: np.array(value) for name, value in whole.items()}
natural_logarithm = {
    **whole,
    "nDCG@3": (1 / math.log(3) + 1 / math.log(4)) / (1 / math.log(2) + 1 / math.log(3)),
}

VARIANTS = {
    "as computed": (whole,),
    "rounded to two digits": (two_digits,),
    "rounded down where it is a tie": (two_digits_cut,),
    "rounded to three digits": (three_digits,),
    "fractions": (fractions,),
    "numpy": (with_numpy,),
    "float32": (float32,),
    "arrays of no dimension": (arrays,),
    "natural logarithm": (natural_logarithm,),
    "another order": (dict(reversed(whole.items())),),
    "OrderedDict": (OrderedDict(whole),),
    "read-only mapping": (MappingProxyType(whole),),
}
