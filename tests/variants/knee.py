"""Correct solutions of the exercise knee in different styles. Each of them must get full points.

They follow the statement in unit 09. Distances may be measured along either axis: the farthest point is the same.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import count

import numpy as np
import pandas as pd


def plain(scores, sensitivity=None):
    n = len(scores)
    if n < 3 or scores[0] == scores[-1]:
        return n
    distances = []
    for i, score in enumerate(scores):
        x = i / (n - 1)
        y = (score - scores[-1]) / (scores[0] - scores[-1])
        distances.append(abs(x + y - 1))
    largest = max(distances)
    if largest <= 1e-9:
        return n
    if sensitivity is None:
        return [distance >= largest - 1e-9 for distance in distances].index(True) + 1
    return max(i for i in range(n) if distances[i] >= sensitivity * largest - 1e-9) + 1


def beginner(scores, sensitivity=None):
    """Loops, and the best so far in variables."""
    if len(scores) <= 2:
        return len(scores)
    top = scores[0]
    bottom = scores[len(scores) - 1]
    if top - bottom == 0:
        return len(scores)
    best_distance = 0
    best_place = None
    for place in range(len(scores)):
        x = place / (len(scores) - 1)
        y = (scores[place] - bottom) / (top - bottom)
        distance = x + y - 1
        if distance < 0:
            distance = -distance
        if distance > best_distance + 0.000000001:
            best_distance = distance
            best_place = place
    if best_place is None:
        return len(scores)
    if sensitivity is not None:
        for place in range(len(scores)):
            x = place / (len(scores) - 1)
            y = (scores[place] - bottom) / (top - bottom)
            if abs(x + y - 1) + 0.000000001 >= sensitivity * best_distance:
                best_place = place
    return best_place + 1


def with_numpy(scores, sensitivity=None):
    """Numpy integers come back."""
    y = np.asarray(scores, dtype=float)
    if y.size < 3 or y.min() == y.max():
        return y.size
    x = np.linspace(0, 1, y.size)
    distance = np.abs(x + (y - y.min()) / (y.max() - y.min()) - 1) / np.sqrt(2)
    if np.isclose(distance.max(), 0, atol=1e-9):
        return y.size
    if sensitivity is None:
        return np.argmax(distance.round(9)) + 1
    return np.flatnonzero(distance >= sensitivity * distance.max() - 1e-9)[-1] + 1


def perpendicular(scores, sensitivity=None):
    """The length of the perpendicular to the chord, by Heron's formula for the triangle over it."""
    n = len(scores)
    if n < 3 or max(scores) == min(scores):
        return n
    points = [(i / (n - 1), (s - scores[-1]) / (scores[0] - scores[-1])) for i, s in enumerate(scores)]
    start, end = points[0], points[-1]
    areas = [
        abs((end[0] - start[0]) * (y - start[1]) - (end[1] - start[1]) * (x - start[0])) / 2
        for x, y in points
    ]
    heights = [round(2 * area / math.dist(start, end), 9) for area in areas]
    if not any(heights):
        return n
    if sensitivity is None:
        return heights.index(max(heights)) + 1
    far = [i for i, height in enumerate(heights) if height >= sensitivity * max(heights) - 1e-9]
    return far[-1] + 1


def fractions(scores, sensitivity=None):
    """Exact numbers; those that are written with few digits are taken as written."""
    values = [Fraction(repr(float(score))) for score in scores]
    if len(values) < 3 or values[0] == values[-1]:
        return len(values)
    steps, fall = len(values) - 1, values[0] - values[-1]
    distances = [abs(Fraction(i, steps) + (value - values[-1]) / fall - 1) for i, value in enumerate(values)]
    if max(distances) < Fraction(1, 10**9):
        return len(values)
    if sensitivity is None:
        return distances.index(max(distances)) + 1
    least = Fraction(repr(float(sensitivity))) * max(distances) - Fraction(1, 10**9)
    return len(values) - next(i for i, distance in enumerate(distances[::-1]) if distance >= least)


def with_pandas(scores, sensitivity=None):
    curve = pd.DataFrame({"score": list(scores)}, dtype=float)
    if len(curve) < 3 or curve["score"].nunique() == 1:
        return len(curve)
    fall = curve["score"].iloc[0] - curve["score"].iloc[-1]
    curve["y"] = (curve["score"] - curve["score"].iloc[-1]) / fall
    curve["x"] = curve.index / (len(curve) - 1)
    curve["distance"] = (curve["x"] + curve["y"] - 1).abs()
    largest = curve["distance"].max()
    if largest <= 1e-9:
        return len(curve)
    share = 1 if sensitivity is None else sensitivity
    far = curve.index[curve["distance"] >= share * largest - 1e-9]
    return int(far.min() if sensitivity is None else far.max()) + 1


@dataclass(frozen=True)
class Point:
    kept: int
    distance: float


def with_dataclass(scores, sensitivity=None):
    points = list(_points(scores))
    farthest = max(points, key=lambda point: (round(point.distance, 9), -point.kept), default=None)
    if farthest is None or farthest.distance < 1e-9:
        return len(scores)
    if sensitivity is None:
        return farthest.kept
    reached = (point.kept for point in points if point.distance >= sensitivity * farthest.distance - 1e-9)
    return max(reached)


def _points(scores):
    if len(scores) > 2 and scores[0] > scores[-1]:
        for kept, score in zip(count(1), scores, strict=False):
            on_chord = scores[0] + (scores[-1] - scores[0]) * (kept - 1) / (len(scores) - 1)
            yield Point(kept, abs(score - on_chord) / (scores[0] - scores[-1]))


def along_the_ranks(scores, sensitivity=None):
    """The distance to the left or right of a point, instead of above or below it."""
    n = len(scores)
    try:
        across = [(scores[0] - score) / (scores[0] - scores[-1]) for score in scores]
        distances = [abs(i / (n - 1) - x) for i, x in enumerate(across)]
    except (ZeroDivisionError, IndexError):
        return n
    largest = max(distances, default=0)
    if n < 3 or largest <= 1e-9:
        return n
    kept = [i for i, d in enumerate(distances, start=1) if d + 1e-9 >= (sensitivity or 1) * largest]
    return kept[-1] if sensitivity else kept[0]


def rotated(scores, sensitivity=None):
    """Turns the curve by 45 degrees, so that the chord lies flat."""
    n = len(scores)
    if n < 3 or scores[0] == scores[n - 1]:
        return n
    curve = np.array([np.arange(n) / (n - 1), np.array(scores, dtype=float)])
    curve[1] = (curve[1] - scores[-1]) / (scores[0] - scores[-1])
    turn = np.array([[1, -1], [1, 1]]) / math.sqrt(2)
    heights = np.abs((turn @ curve)[1] - 1 / math.sqrt(2))
    order = sorted(range(n), key=lambda i: (-round(float(heights[i]), 10), i))
    largest = heights[order[0]]
    if largest <= 1e-9:
        return n
    if sensitivity is None:
        return order[0] + 1
    i = n - 1
    while heights[i] < sensitivity * largest - 1e-9:
        i -= 1
    return i + 1


def not_scaled(scores, sensitivity=None):
    """Leaves the axes as they are: seen from the chord itself, scaling does not move the farthest point."""
    n = len(scores)
    if n < 3 or scores[0] - scores[-1] <= 0:
        return n
    slope = (scores[-1] - scores[0]) / (n - 1)
    distances = [abs(score - (scores[0] + slope * i)) for i, score in enumerate(scores)]
    rounding = 1e-9 * (scores[0] - scores[-1])
    largest = max(distances)
    if largest <= rounding:
        return n
    if sensitivity is None:
        return next(i for i, d in enumerate(distances, start=1) if d >= largest - rounding)
    return max(i for i, d in enumerate(distances, start=1) if d >= sensitivity * largest - rounding)


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "numpy": (with_numpy,),
    "perpendicular": (perpendicular,),
    "fractions": (fractions,),
    "pandas": (with_pandas,),
    "dataclass": (with_dataclass,),
    "along the ranks": (along_the_ranks,),
    "rotated": (rotated,),
    "not scaled": (not_scaled,),
}
