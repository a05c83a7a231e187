"""Correct solutions of the exercise latency_budget in different styles. Each of them must get full points."""

import heapq
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


def halving(runs, budget):
    """Doubles the pool until it is too large, then halves the range."""
    slow = len(runs) - math.ceil(0.95 * len(runs)) + 1
    search = heapq.nlargest(slow, (run["search"] for run in runs))[-1]
    each = heapq.nlargest(slow, (run["rerank"] / run["candidates"] for run in runs))[-1]

    def fits(pool):
        return 1000 * (search + pool * each) <= budget

    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


class Times:
    """The times of one stage, the shortest first."""

    def __init__(self):
        self.kept = []

    def add(self, seconds):
        place = next((i for i, other in enumerate(self.kept) if other > seconds), len(self.kept))
        self.kept.insert(place, seconds)

    def promised(self):
        for rank, seconds in enumerate(self.kept, start=1):
            if rank >= 0.95 * len(self.kept):
                return seconds


def with_a_class(runs, budget):
    search, candidate = Times(), Times()
    for run in runs:
        search.add(run["search"])
        candidate.add(run["rerank"] / run["candidates"])
    left = budget / 1000 - search.promised()
    return int(left // candidate.promised()) if left > 0 else 0


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "numpy": (with_numpy,),
    "pandas": (with_pandas,),
    "fractions": (with_fractions,),
    "counting": (counting,),
    "a float that is whole": (float_that_is_whole,),
    "halving": (halving,),
    "a class, inserted in order": (with_a_class,),
}
