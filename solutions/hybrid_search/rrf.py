"""Unit 03: reciprocal rank fusion (RRF), which joins rankings by rank alone.

Source: Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
Learning Methods", SIGIR 2009.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence


def rrf_score(rank: int, k_rrf: float = 60) -> float:
    """What one ranking adds to a document's score: 1 / (k_rrf + rank). Ranks count from 1; higher is better.

    Raises ValueError for a rank below 1 or a negative k_rrf.
    """
    if not rank >= 1:
        raise ValueError(f"ranks count from 1: got {rank!r}")
    return 1 / (check_k_rrf(k_rrf) + rank)


def rrf_scores(
    rankings: Iterable[Iterable[Hashable]], k_rrf: float = 60, weights: Sequence[float] | None = None
) -> dict[Hashable, float]:
    """Fuse rankings: the score of each document, best first.

    ``rankings`` are lists of hashable keys, each best first. A key's score is the sum over the rankings of
    weight / (k_rrf + rank); ranks count from 1 over distinct keys; a ranking without the key, or with weight
    0, adds nothing. Equal scores are ordered by the better best rank, then by which key was seen first.

    Raises ValueError for a negative or NaN k_rrf, and for weights that are negative, NaN, infinite, all zero
    or not one for each ranking; TypeError for a mapping, and for a ranking that is no list of hashable keys.
    """
    if isinstance(rankings, Mapping):
        raise TypeError("rrf_scores takes the rankings alone, without names: give rankings.values()")
    rankings = [_distinct(ranking) for ranking in rankings]
    k_rrf = float(check_k_rrf(k_rrf))
    weights = check_weights(weights, len(rankings))
    scores: dict[Hashable, float] = {}
    best_rank: dict[Hashable, int] = {}
    shared: dict[Hashable, list[float]] = {}  # what each ranking adds to a key that stands in several
    for ranking, weight in zip(rankings, weights, strict=True):
        if weight == 0:
            continue
        for rank, key in enumerate(ranking, start=1):
            part = weight / (k_rrf + rank)
            if key not in scores:
                scores[key], best_rank[key] = part, rank
            else:
                shared.setdefault(key, [scores[key]]).append(part)
                if rank < best_rank[key]:
                    best_rank[key] = rank
    for key, parts in shared.items():
        # fsum rounds once, so that equal sums are equal whatever the order of their parts.
        scores[key] = math.fsum(parts)
    order = sorted(sorted(scores, key=best_rank.get), key=scores.get, reverse=True)
    return {key: scores[key] for key in order}


def _distinct(ranking: Iterable[Hashable]) -> list[Hashable]:
    try:
        return list(dict.fromkeys(ranking))
    except TypeError:
        raise TypeError(
            "a ranking is a list of hashable keys, such as ids: a document, which is a dict, cannot be one"
        ) from None


def rrf_table(rankings: Mapping[str, Sequence[Hashable]], k_rrf: float = 60) -> list[dict]:
    """The fusion as a table, one row a document, best first.

    ``rankings`` maps the name of each ranking to its list of documents, best first. A row is a dict:
    "document", then under each ranking's name the document's rank there (from 1) or None, then "score" (the
    RRF score, higher is better) and "rank" (the fused rank, from 1).

    Raises ValueError for a negative k_rrf, or a ranking named like a column of the table; TypeError as
    rrf_scores does.
    """
    if taken := {"document", "score", "rank"} & set(rankings):
        raise ValueError(
            f"a ranking cannot be named {sorted(taken)[0]!r}: the table has a column of that name"
        )
    ranks = {
        name: {document: rank for rank, document in enumerate(_distinct(ranking), start=1)}
        for name, ranking in rankings.items()
    }
    return [
        {
            "document": document,
            **{name: ranks[name].get(document) for name in rankings},
            "score": score,
            "rank": rank,
        }
        for rank, (document, score) in enumerate(rrf_scores(rankings.values(), k_rrf).items(), start=1)
    ]


def check_k_rrf(k_rrf: float) -> float:
    """k_rrf as it came, or a ValueError: it must be a finite number of at least 0."""
    try:
        valid = math.isfinite(k_rrf) and k_rrf >= 0
    except (TypeError, OverflowError):
        valid = False
    if not valid:
        raise ValueError(f"k_rrf must be a number of at least 0: got {k_rrf!r}")
    return k_rrf


def check_weights(weights: Sequence[float] | None, rankings: int) -> list[float]:
    """One weight for each ranking (1 where none are given), or a ValueError that says what is wrong."""
    if weights is None:
        return [1.0] * rankings
    try:
        weights = [float(weight) for weight in ([weights] if isinstance(weights, str) else weights)]
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, one for each ranking: got {weights!r}") from None
    if len(weights) != rankings:
        raise ValueError(
            f"give one weight for each ranking: got {len(weights)} weights for {rankings} rankings"
        )
    if not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise ValueError(f"weights must be numbers of at least 0: got {weights}")
    if rankings and not any(weights):
        raise ValueError("at least one weight must be above 0: with all of them 0 nothing can be found")
    return weights
