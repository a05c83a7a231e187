"""Correct solutions of the exercise latency_budget in different styles. Each of them must get full points."""

import math
from fractions import Fraction
from itertools import count

import numpy as np
import pandas as pd


def plain(runs, budget):
    def percentile(numbers):
        return sorted(numbers)[math.ceil(0.95 * len(numbers)) - 1]

    search = percentile([run["search"] for run in runs])
    each = percentile([run["rerank"] / run["candidates"] for run in runs])
    return max(0, math.floor((budget / 1000 - search) / each))


def beginner(runs, budget):
    searches = []
    each = []
    for run in runs:
        searches.append(run["search"] * 1000)
        each.append(run["rerank"] * 1000 / run["candidates"])
    searches.sort()
    each.sort()
    place = math.ceil(len(runs) * 0.95)
    left = budget - searches[place - 1]
    number = 0
    while left >= each[place - 1]:
        left = left - each[place - 1]
        number = number + 1
    return number


def with_numpy(runs, budget):
    search = np.percentile([run["search"] for run in runs], 95, method="inverted_cdf")
    each = np.percentile([run["rerank"] / run["candidates"] for run in runs], 95, method="inverted_cdf")
    return np.maximum(0, np.floor((budget / 1000 - search) / each)).astype(int)


def with_pandas(runs, budget):
    frame = pd.DataFrame(runs)
    frame["each"] = frame["rerank"] / frame["candidates"]
    ranked = frame[["search", "each"]].rank(method="first")
    worst = frame[["search", "each"]][ranked >= math.ceil(0.95 * len(frame))].min()
    if worst["search"] * 1000 > budget:
        return 0
    return int((budget / 1000 - worst["search"]) / worst["each"])


def with_fractions(runs, budget):
    rank = -(-len(runs) * 19 // 20)
    search = sorted(Fraction(run["search"]) for run in runs)[rank - 1]
    each = sorted(Fraction(run["rerank"]) / run["candidates"] for run in runs)[rank - 1]
    return max(0, (Fraction(budget) / 1000 - search) // each)


def counting(runs, budget):
    """Tries pool after pool."""
    seconds = budget / 1000

    def percentile(numbers):
        allowed = len(numbers) - math.ceil(0.95 * len(numbers))
        return sorted(numbers, reverse=True)[allowed]

    search = percentile([run["search"] for run in runs])
    each = percentile([run["rerank"] / run["candidates"] for run in runs])
    return next(pool for pool in count() if search + (pool + 1) * each > seconds)


def float_that_is_whole(runs, budget):
    return float(plain(runs, budget))


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "numpy": (with_numpy,),
    "pandas": (with_pandas,),
    "fractions": (with_fractions,),
    "counting": (counting,),
    "a float that is whole": (float_that_is_whole,),
}
