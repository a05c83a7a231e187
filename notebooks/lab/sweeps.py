"""A metric at every pair of settings, k_rrf and candidates, on judged queries that are searched once."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from lab.corpora import Query
from lab.language import _
from lab.metrics import check_count, ndcg_at, precision_at, recall_at, reciprocal_rank
from lab.picture import Picture
from lab.progress import progress
from lab.rankings import Rankings

if TYPE_CHECKING:
    import numpy as np
    from pandas import DataFrame

# Small steps where the curve 1 / (k_rrf + rank) changes most.
K_RRFS = (0, 1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 100, 120, 140, 170, 200)
_DEPTHS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700)
_AT_K = {"nDCG": ndcg_at, "recall": recall_at, "precision": precision_at}


class Setting(NamedTuple):
    """A point of a sweep, and the metric's mean there."""

    k_rrf: float
    candidates: int
    value: float


@dataclass(frozen=True, repr=False, eq=False)
class Sweep:
    """The mean of a metric over judged queries at each setting, higher is better.

    ``table`` has a row a k_rrf and a column a number of candidates; ``by_kind`` such a table for each kind of
    query. ``queries`` counts the queries in the means, by kind; ``left_out`` those without a relevant document.
    ``current`` is the setting (k_rrf, candidates) that the picture marks, or None. ``judged`` are the queries in
    the means, ``values`` the metric of each of them at each setting: shape (queries, k_rrfs, candidates).
    """

    metric: str
    table: "DataFrame"
    by_kind: dict[str, "DataFrame"]
    queries: dict[str, int]
    left_out: int
    current: tuple[float, int] | None
    judged: list[Query]
    values: "np.ndarray"
    _measure: Callable

    def best(self, kind: str | None = None) -> Setting:
        """The setting with the highest mean over all queries, or over those of one kind.

        Of equals the one with the fewest candidates, then the smallest k_rrf.
        """
        if kind is not None and kind not in self.by_kind:
            raise ValueError(_unknown_kind(kind, self.by_kind))
        table = self.table if kind is None else self.by_kind[kind]
        highest = table.to_numpy().max()
        candidates = next(depth for depth in table.columns.tolist() if (table[depth] == highest).any())
        k_rrf = table.index[table[candidates] == highest].tolist()[0]
        return Setting(k_rrf, candidates, float(highest))

    def by(self, metric: str) -> "Sweep":
        """The same settings measured by another metric; nothing is searched or fused again."""
        return self._measure(metric)

    @property
    def figure(self) -> Picture:
        """The means as a heat map, for all queries and for each kind; a star marks the best setting."""
        from lab.heat_map import heat_map

        return heat_map(self)

    def __repr__(self) -> str:
        return repr(self.figure)

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return self.figure._repr_mimebundle_()


def candidate_depths(size: int) -> tuple[int, ...]:
    """At most 20 numbers of candidates from 1 to ``size``, a number of documents; close together at first."""
    if size <= 20:
        return tuple(range(1, max(1, size) + 1))
    return (*(depth for depth in _DEPTHS if depth < size), size)


def sweep(
    retriever: object,
    judged: Sequence[Query],
    k_rrfs: Iterable[float] = K_RRFS,
    candidates: Iterable[int] | None = None,
    weights: Sequence[float] | None = None,
    metric: str = "MRR",
    kind: str | None = None,
    indexes: Iterable | None = None,
    current: tuple[float, int] | None = None,
    progress: Callable = progress,
) -> Sweep:
    """The mean of a metric over judged queries, at every pair of k_rrf and candidates.

    ``retriever`` is asked for its ``.indexes`` and ``.weights``, or is Rankings, whose searches are then used;
    ``indexes`` are needed where it has none. ``candidates`` are up to 20 numbers from 1 to the number of documents
    unless given. ``metric`` is "MRR", or "nDCG", "recall" or "precision" at a rank, such as "nDCG@10": higher is
    better. ``kind`` keeps the queries of one kind; ``current`` is a setting (k_rrf, candidates) to mark in the
    picture. ``progress(queries, label)`` gives the queries back one by one and shows how far they are.

    Each index is searched once a query, for all it finds; a setting only fuses. The values are those of
    hybrid_search.Retriever.search, provided that what an index finds first does not depend on how much it is asked
    for. The parts of one topic count as one, at the rank of the best part.

    Raises ValueError for settings that cannot be, and where no query has a relevant document; SearchError where
    an index fails.
    """
    from hybrid_search.rrf import check_k_rrf, check_weights
    from lab.fused_ranks import fused_ranks

    metric_named(metric)
    rankings = Rankings.from_retriever(retriever, indexes)
    weights = rankings.weights if weights is None else check_weights(weights, len(rankings.names))
    k_rrfs = _sorted("k_rrfs", map(check_k_rrf, k_rrfs))
    if candidates is not None:
        candidates = _sorted("candidates", (check_count(depth, "candidates") for depth in candidates))
    used, left_out = _used(judged, kind)
    for query in progress(used, _("Searching")):
        rankings.of(query.text)
    candidates = candidates or candidate_depths(rankings.size)
    if current is not None:  # an index cannot give more than the corpus holds
        current = check_k_rrf(current[0]), min(check_count(current[1], "candidates"), rankings.size)
    ranks = [
        fused_ranks(rankings.of(query.text), list(query.relevant), k_rrfs, candidates, weights)
        for query in progress(used, _("Fusing"))
    ]
    return _measure(used, left_out, ranks, k_rrfs, candidates, current, metric)


def _measure(
    judged: list[Query],
    left_out: int,
    ranks: list["np.ndarray"],
    k_rrfs: list[float],
    candidates: list[int],
    current: tuple[float, int] | None,
    metric: str,
) -> Sweep:
    import numpy as np

    values = [_values(metric, query, at) for query, at in zip(judged, ranks, strict=True)]

    def table(kind: str | None) -> "DataFrame":
        from pandas import DataFrame, Index

        of_kind = [of for of, query in zip(values, judged, strict=True) if kind in (None, query.kind)]
        means = [math.fsum(at_setting) / len(of_kind) for at_setting in zip(*of_kind, strict=True)]
        rows = [means[at : at + len(candidates)] for at in range(0, len(means), len(candidates))]
        return DataFrame(
            rows, index=Index(k_rrfs, name="k_rrf"), columns=Index(candidates, name="candidates")
        )

    kinds = list(dict.fromkeys(query.kind for query in judged))
    return Sweep(
        metric=metric,
        table=table(None),
        by_kind={kind: table(kind) for kind in kinds},
        queries={kind: sum(query.kind == kind for query in judged) for kind in kinds},
        left_out=left_out,
        current=current,
        judged=judged,
        values=np.reshape(values, (len(judged), len(k_rrfs), len(candidates))),
        _measure=partial(_measure, judged, left_out, ranks, k_rrfs, candidates, current),
    )


def _values(metric: str, query: Query, ranks: "np.ndarray") -> list[float]:
    """The metric's value at each setting, from the ranks of the query's relevant documents."""
    measure, relevant, known = metric_named(metric), list(query.relevant), {}
    settings = [tuple(at) for at in ranks.reshape(-1, len(relevant)).tolist()]
    for at in set(settings):
        ranking = [object() for _rank in range(max(at))]
        for document, rank in zip(relevant, at, strict=True):
            if rank:
                ranking[rank - 1] = document
        known[at] = measure(ranking, query.relevant)
    return [known[at] for at in settings]


def metric_named(name: str) -> Callable:
    """The metric of one query, called with (ranking, relevant). Raises ValueError for an unknown name."""
    if name == "MRR":
        return reciprocal_rank
    metric, _at, k = str(name).partition("@")
    if metric not in _AT_K or not k.isdecimal() or not int(k):
        raise ValueError(
            _(
                'There is no metric named {name!r}: choose "MRR", or one at a rank such as "nDCG@10", '
                '"recall@10" or "precision@10".'
            ).format(name=name)
        )
    return partial(_AT_K[metric], k=int(k))


def _used(judged: Sequence[Query], kind: str | None) -> tuple[list[Query], int]:
    """The queries with a relevant document, and the number of the others."""
    judged = list(judged)
    if not judged:
        raise ValueError(_("There is nothing to measure: the list of judged queries is empty."))
    if not all(hasattr(query, "text") and hasattr(query, "relevant") for query in judged):
        raise TypeError(_('The judged queries are a list such as lab.judged_queries("report") gives.'))
    if kind is not None:
        kinds = list(dict.fromkeys(query.kind for query in judged))
        judged = [query for query in judged if query.kind == kind]
        if not judged:
            raise ValueError(_unknown_kind(kind, kinds))
    used = [query for query in judged if query.relevant]
    if not used:
        raise ValueError(
            _("There is nothing to measure: no judged query names a document that is relevant to it.")
        )
    return used, len(judged) - len(used)


def _unknown_kind(kind: str, kinds: Iterable[str]) -> str:
    return _("There are no queries of the kind {kind!r}: choose one of {known}.").format(
        kind=kind, known=", ".join(map(repr, kinds))
    )


def _sorted(name: str, values: Iterable[float]) -> list[float]:
    values = sorted(set(values))
    if not values:
        raise ValueError(_("Give at least one value for {name}.").format(name=name))
    return values
