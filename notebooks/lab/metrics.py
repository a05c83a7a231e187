"""How good a ranking is, given the documents known to be relevant.

A ranking is a list of document ids, best first, each at most once; it may be empty. The relevant documents of a
query are a set of ids, or a mapping id -> gain (above 0) where some are worth more than others; only nDCG reads
the gains. Every metric lies between 0 and 1, and higher is better.

A query without a relevant document has no value: the metrics of one query refuse it, and means over queries
leave it out and count it.

Source: Manning, Raghavan and Schütze, "Introduction to Information Retrieval", 2008, chapter 8. The values are
those of trec_eval.
"""

import math
import operator
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from lab.language import _

Ranking = Sequence[Hashable]
Relevant = Collection[Hashable] | Mapping[Hashable, float]


def recall_at(ranking: Ranking, relevant: Relevant, k: int) -> float:
    """The share of the relevant documents that are among the first k.

    Cannot reach 1 where k is smaller than the number of relevant documents.

    Raises ValueError for k < 1, a ranking that holds a document twice, or no relevant document.
    """
    ranking, gains, k = _ids(ranking), _gains(relevant), check_count(k)
    return sum(document in gains for document in ranking[:k]) / len(gains)


def precision_at(ranking: Ranking, relevant: Relevant, k: int) -> float:
    """The share of the first k places that hold a relevant document; an empty place holds none.

    Raises ValueError as recall_at does.
    """
    ranking, gains, k = _ids(ranking), _gains(relevant), check_count(k)
    return sum(document in gains for document in ranking[:k]) / k


def reciprocal_rank(ranking: Ranking, relevant: Relevant) -> float:
    """1 / the rank of the first relevant document, ranks from 1; 0 where the ranking holds none.

    Raises ValueError for a ranking that holds a document twice, or no relevant document.
    """
    ranking, gains = _ids(ranking), _gains(relevant)
    return next((1 / rank for rank, document in enumerate(ranking, start=1) if document in gains), 0.0)


def average_precision(ranking: Ranking, relevant: Relevant) -> float:
    """The mean, over the relevant documents, of the precision at each one's rank; 0 for one not found.

    Raises ValueError as reciprocal_rank does.
    """
    ranking, gains = _ids(ranking), _gains(relevant)
    ranks = [rank for rank, document in enumerate(ranking, start=1) if document in gains]
    return math.fsum(found / rank for found, rank in enumerate(ranks, start=1)) / len(gains)


def ndcg_at(ranking: Ranking, relevant: Relevant, k: int) -> float:
    """Normalised discounted cumulated gain of the first k.

    A relevant document adds gain / log2(rank + 1), its gain being 1 unless ``relevant`` maps it to another. The
    sum is divided by that of the best possible ranking.

    Raises ValueError as recall_at does, and for a gain that is not a finite number above 0. Source: Järvelin
    and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", 2002.
    """
    ranking, gains, k = _ids(ranking), _gains(relevant), check_count(k)
    found = [gains.get(document, 0) for document in ranking[:k]]
    best = sorted(gains.values(), reverse=True)[:k]
    return _discounted(found) / _discounted(best)


def _discounted(gains: Iterable[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


class Mean(NamedTuple):
    """A mean over queries, the number of queries in it, and of those left out as nothing is relevant."""

    value: float
    queries: int
    left_out: int


def mrr(rankings: Iterable[Ranking], relevants: Iterable[Relevant]) -> float:
    """Mean reciprocal rank: reciprocal_rank, averaged over the queries that have a relevant document.

    ``rankings`` and ``relevants`` hold one entry a query, in the same order. Raises ValueError as
    mean_over_queries does.
    """
    return mean_over_queries(reciprocal_rank, rankings, relevants).value


def mean_over_queries(
    metric: Callable, rankings: Iterable[Ranking], relevants: Iterable[Relevant], k: int | None = None
) -> Mean:
    """The mean of a metric over queries, and how many were left out.

    ``metric`` is one of this module, such as ndcg_at, with its k where it takes one. Raises ValueError as
    by_query does, and where no query has a relevant document.
    """
    values = by_query(metric, rankings, relevants, k)
    used = [value for value in values if value is not None]
    if not used:
        raise ValueError(_("No query has a relevant document, so there is nothing to average."))
    return Mean(math.fsum(used) / len(used), len(used), values.count(None))


def by_query(
    metric: Callable, rankings: Iterable[Ranking], relevants: Iterable[Relevant], k: int | None = None
) -> list[float | None]:
    """A metric's value for each query, in order; None for a query without a relevant document.

    Raises ValueError where ``rankings`` and ``relevants`` differ in length, or the metric refuses a ranking.
    """
    rankings, relevants = list(rankings), list(relevants)
    if len(rankings) != len(relevants):
        raise ValueError(
            _(
                "Give one ranking and one set of relevant documents for each query: got {rankings} rankings "
                "and {relevants} sets."
            ).format(rankings=len(rankings), relevants=len(relevants))
        )
    depth = () if k is None else (k,)
    return [
        metric(ranking, relevant, *depth) if relevant else None
        for ranking, relevant in zip(rankings, relevants, strict=True)
    ]


def bootstrap_interval(
    values: Sequence[float], confidence: float = 0.95, samples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """An interval (low, high) for the mean of a metric, had other queries of the same sort been asked.

    ``values`` holds one number a query. Queries are drawn with replacement ``samples`` times; the interval
    holds the middle share ``confidence`` of the means. The same arguments give the same interval.

    Raises ValueError without a value, for a NaN or infinite one, for a confidence outside 0 to 1 and for
    samples < 1. Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13
    (percentile interval).
    """
    import numpy as np

    values = np.array(values, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError(_("An interval needs a list of finite numbers, one a query: at least one."))
    if not 0 < confidence < 1:
        raise ValueError(
            _("confidence must lie between 0 and 1, such as 0.95: got {value!r}").format(value=confidence)
        )
    drawn = np.random.default_rng(seed).integers(
        0, len(values), size=(check_count(samples, "samples"), len(values))
    )
    tail = (1 - confidence) / 2
    low, high = np.quantile(values[drawn].mean(axis=1), [tail, 1 - tail])
    return float(low), float(high)


def paired_bootstrap(
    a: Sequence[float], b: Sequence[float], confidence: float = 0.95, samples: int = 2000, seed: int = 0
) -> tuple[float, float]:
    """An interval (low, high) for mean(a) - mean(b), where a and b are two searches' values on the same queries.

    Above 0, a is better; an interval that holds 0 leaves open which is. Narrower than the two searches'
    own intervals suggest, since a query that is hard for one is often hard for the other.

    Raises ValueError as bootstrap_interval does, and where a and b differ in length.
    """
    a, b = list(a), list(b)
    if len(a) != len(b):
        raise ValueError(
            _("Give two values for each query, one a search: got {a} and {b}.").format(a=len(a), b=len(b))
        )
    return bootstrap_interval([x - y for x, y in zip(a, b, strict=True)], confidence, samples, seed)


def _ids(ranking: Ranking) -> list[Hashable]:
    if isinstance(ranking, str):
        raise TypeError(
            _("A ranking is a list of ids, best first: got the text {text!r}.").format(text=ranking)
        )
    ranking = list(ranking)
    try:
        distinct = set(ranking)
    except TypeError:
        raise TypeError(
            _(
                "A ranking is a list of ids, best first: got {first}. lab.judged_ids makes one of the pairs that "
                "a search gives."
            ).format(first=str(ranking[0])[:60])
        ) from None
    if len(distinct) < len(ranking):
        twice = next(document for document in ranking if ranking.count(document) > 1)
        raise ValueError(
            _("A ranking holds each document once: {document!r} is in it twice.").format(document=twice)
        )
    return ranking


def _gains(relevant: Relevant) -> dict[Hashable, float]:
    if isinstance(relevant, str):
        raise TypeError(
            _("The relevant documents are a set of ids: got the text {text!r}.").format(text=relevant)
        )
    gains = dict(relevant) if isinstance(relevant, Mapping) else dict.fromkeys(relevant, 1)
    if not gains:
        raise ValueError(
            _("No document is relevant, so there is nothing to measure: leave this query out, and count it.")
        )
    for document, gain in gains.items():
        if not (math.isfinite(gain) and gain > 0):
            raise ValueError(
                _("A gain must be a number above 0: got {gain!r} for {document!r}.").format(
                    gain=gain, document=document
                )
            )
    return gains


def check_count(value: int, name: str = "k") -> int:
    """A whole number of at least 1: TypeError or ValueError otherwise."""
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(
            _("{name} must be a whole number: got {value!r}").format(name=name, value=value)
        ) from None
    if count < 1:
        raise ValueError(_("{name} must be at least 1: got {value!r}").format(name=name, value=value))
    return count
