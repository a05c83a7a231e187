"""Unit 09: where a curve of scores bends, and so how many results to keep.

Source: Satopaa, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a Haystack", 2011. That looks for the knee of
a curve on one side of its chord; here either side counts, since a curve of scores may fall late as well as early.
"""

import math
from collections.abc import Sequence

# Of a curve scaled to a square of side 1. Nearer to the chord than this is on it, and no farther is as far.
ROUNDING = 1e-9


def knee(scores: Sequence[float], sensitivity: float | None = None) -> int:
    """How many of the scores to keep: those up to the knee of their curve, the knee included.

    ``scores`` come best first. Both axes are scaled to [0, 1]; the knee is the point farthest from the chord between
    the first and the last one, on either side, the first of those that are equally far. With a ``sensitivity`` between
    0 and 1 the last point counts whose distance is at least that share of the largest one, which keeps more.

    Fewer than three scores, equal scores, and a straight line have no knee: all are kept. A knee says that the curve
    bends there, and not that what comes before it is relevant.

    Raises ValueError for scores that are not in descending order or not finite, and for a sensitivity that is not
    above 0 and at most 1.
    """
    scores = _checked(scores)
    if sensitivity is not None and not 0 < sensitivity <= 1:
        raise ValueError(f"sensitivity must be above 0 and at most 1: got {sensitivity!r}")
    distances = chord_distances(scores)
    largest = max(distances, default=0.0)
    if largest <= ROUNDING:
        return len(scores)
    if sensitivity is None:
        return 1 + next(i for i, distance in enumerate(distances) if distance >= largest - ROUNDING)
    return 1 + max(i for i, distance in enumerate(distances) if distance >= sensitivity * largest - ROUNDING)


def chord_distances(scores: Sequence[float]) -> list[float]:
    """How far each point is from the chord between the first and the last one, after scaling both axes to [0, 1].

    0 is on the chord. All are 0 where there are fewer than three scores, or all are equal.
    """
    if len(scores) < 3 or scores[0] == scores[-1]:
        return [0.0] * len(scores)
    highest, lowest, last = scores[0], scores[-1], len(scores) - 1
    # The chord goes from (0, 1) to (1, 0), so it is where x + y = 1.
    return [
        abs(i / last + (score - lowest) / (highest - lowest) - 1) / math.sqrt(2)
        for i, score in enumerate(scores)
    ]


def _checked(scores: Sequence[float]) -> list[float]:
    scores = [float(score) for score in scores]
    if not all(map(math.isfinite, scores)):
        raise ValueError(f"scores must be finite numbers: got {scores}")
    for position, (score, following) in enumerate(zip(scores, scores[1:], strict=False), start=1):
        if following > score:
            raise ValueError(
                f"scores must come best first: number {position + 1} ({following:g}) is above number {position} "
                f"({score:g})"
            )
    return scores
