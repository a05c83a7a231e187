"""Where the relevant documents of a query end up, for many settings of the fusion at once.

The same ranks as hybrid_search.rrf_scores gives for each setting by itself, ties included, but by arithmetic on
whole arrays. Only the ranks of the relevant documents are worked out: nothing is sorted by score.
"""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from lab.evaluation import judged_ids

_NOWHERE = 1 << 40  # stands for the rank of a document that an index did not find


def fused_ranks(
    rankings: Sequence[Sequence[dict]],
    relevant: Sequence[Hashable],
    k_rrfs: Sequence[float],
    candidates: Sequence[int],
    weights: Sequence[float],
) -> np.ndarray:
    """The fused rank of each relevant document at each setting: shape (k_rrfs, candidates, relevant).

    ``rankings`` has a list of documents an index, best first. ``relevant`` holds judged ids: a document's topic or
    id. Ranks count from 1 over distinct judged ids, so that the parts of a topic count as one, at the rank of the
    best part; 0 where it is not found.
    """
    active = [(ranking, weight) for ranking, weight in zip(rankings, weights, strict=True) if weight]
    weights = np.array([weight for _ranking, weight in active], dtype=np.float64)[:, None, None]
    places, ranks, groups, known = _arrays([ranking for ranking, _weight in active])
    divisors = np.array(k_rrfs, dtype=np.float64)[:, None]
    wanted = [known.get(document, -1) for document in relevant]
    result = np.zeros((len(k_rrfs), len(candidates), len(relevant)), dtype=np.int64)
    for column, depth in enumerate(candidates):
        present = places <= depth
        order = _tie_order(present, ranks)
        here, rank = present[:, order], ranks[:, order]
        scores = _exact_sums(np.where(here[:, None], weights / (divisors + rank[:, None]), 0.0))
        result[:, column] = _ranks_of(wanted, scores, groups[order])
    return result


def _arrays(
    rankings: Sequence[Sequence[dict]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[Hashable, int]]:
    """Of every document, a column each: its place in each ranking, its rank there, and the number of its group.

    A place counts what the index gave, a rank only distinct documents. Documents with one judged id are a group;
    the last value gives each judged id its number.
    """
    from hybrid_search.documents import identity

    columns: dict[Hashable, int] = {}
    known: dict[Hashable, int] = {}
    groups, found = [], []
    for ranking in rankings:
        first_place = {}
        for place, document in enumerate(ranking, start=1):
            key = identity(document)
            if key not in columns:
                columns[key] = len(columns)
                groups.append(known.setdefault(judged_ids([(document, None)])[0], len(known)))
            first_place.setdefault(columns[key], place)
        found.append(first_place)
    places = np.full((len(rankings), len(columns)), _NOWHERE)
    ranks = np.full_like(places, _NOWHERE)
    for row, first_place in enumerate(found):
        at = list(first_place)
        places[row, at] = list(first_place.values())
        ranks[row, at] = range(1, len(at) + 1)
    return places, ranks, np.array(groups, dtype=np.int64), known


def _tie_order(present: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """The columns of the documents that take part, in the order of documents with one score.

    That is by the better best rank, then by the ranking that has the document first, then by the rank in it.
    """
    taking_part = np.flatnonzero(present.any(axis=0))
    present, ranks = present[:, taking_part], ranks[:, taking_part]
    best = np.where(present, ranks, _NOWHERE).min(axis=0, initial=_NOWHERE)
    first = present.argmax(axis=0)
    return taking_part[np.lexsort((ranks[first, np.arange(len(first))], first, best))]


def _ranks_of(wanted: Sequence[int], scores: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The rank of each wanted group for each row of scores, whose columns stand in tie order; 0 if absent."""
    result = np.zeros((len(scores), len(wanted)), dtype=np.int64)
    rows, columns = np.arange(len(scores)), np.arange(len(groups))
    by_group = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[by_group], prepend=-1))
    for position, group in enumerate(wanted):
        members = np.flatnonzero(groups == group)
        if not len(members):
            continue
        best = members[scores[:, members].argmax(axis=1)]  # argmax takes the first of equals
        score = scores[rows, best][:, None]
        before = (scores > score) | ((scores == score) & (columns < best[:, None]))
        if len(starts) < len(groups):  # several documents to a group: count groups
            before = np.logical_or.reduceat(before[:, by_group], starts, axis=1)
        result[:, position] = 1 + before.sum(axis=1)
    return result


def _exact_sums(parts: np.ndarray) -> np.ndarray:
    """The sum over the first axis, rounded once, as math.fsum gives it: equal sums must come out equal.

    Each addition's rounding error is worked out exactly (Knuth's two-sum) and added at the end.
    """
    total = parts[0]
    if len(parts) < 3:  # one addition rounds once
        return total + parts[1] if len(parts) == 2 else total
    error = np.zeros_like(total)
    inexact = np.zeros(total.shape, dtype=bool)
    for part in parts[1:]:
        total, lost = _two_sum(total, part)
        error, lost = _two_sum(error, lost)
        inexact |= lost != 0
    sums = total + error
    for at in zip(*np.nonzero(inexact), strict=True):
        sums[at] = math.fsum(parts[(slice(None), *at)])
    return sums


def _two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a + b, and what rounding took from it. Source: Knuth, TAOCP 2, section 4.2.2."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)
