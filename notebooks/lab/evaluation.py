"""Searches measured on judged queries, side by side.

A search is a function (query text, k) -> pairs (document, value), best first, such as the method ``search`` of an
index. Only the order of the pairs counts.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lab.corpora import Query
from lab.errors import PlainError
from lab.language import _
from lab.metrics import (
    Relevant,
    bootstrap_interval,
    by_query,
    check_count,
    ndcg_at,
    recall_at,
    reciprocal_rank,
)
from lab.progress import progress

if TYPE_CHECKING:
    from pandas import DataFrame

Search = Callable[[str, int], Iterable[tuple[dict, float]]]

# More documents than any corpus of the course has, so that a relevant one is found at any rank.
DEPTH = 1000


class SearchError(RuntimeError):
    """A search failed on a query. The message names both; the cause is the search's own error."""


class _PlainSearchError(PlainError, SearchError):
    """The same where the cause is one plain sentence already, such as a service that refuses the key."""


def compare(
    searches: Mapping[str, Search],
    judged: Sequence[Query],
    k: int = 10,
    by_kind: bool = False,
    depth: int = DEPTH,
) -> "DataFrame":
    """Recall, MRR and nDCG of several searches on the same judged queries.

    ``searches`` maps names to searches; ``judged`` is a list such as ``judged_queries`` gives, where ``relevant``
    may also map ids to gains, for nDCG. The table has a row a search. Its columns: "queries" (how many are in
    the means), "left out" (how many have no relevant document), "recall@10", "MRR" and "nDCG@10" (with the k
    that was asked for), and the ends of their 95 % bootstrap intervals, such as "MRR low" and "MRR high". All
    metrics lie between 0 and 1, higher is better. With ``by_kind`` a row is (kind, search), for each kind of
    query and then for "all".

    Each search is asked once a query, for ``depth`` documents: the first relevant one may come at any rank, and
    several parts of one topic count as one.

    Raises ValueError where there is nothing to measure, and SearchError where a search fails.
    """
    from pandas import DataFrame, Index, MultiIndex

    k, depth = check_count(k), check_count(depth, "depth")
    judged = list(judged)
    rankings = rankings_of(searches, judged, max(k, depth))
    groups = {"all": range(len(judged))}
    if by_kind:
        kinds = dict.fromkeys(query.kind for query in judged)
        groups = {kind: [i for i in groups["all"] if judged[i].kind == kind] for kind in kinds} | groups
    rows = {
        (kind, name): _row([of[i] for i in chosen], [judged[i].relevant for i in chosen], k)
        for kind, chosen in groups.items()
        for name, of in rankings.items()
    }
    names = [name for _kind, name in rows]
    index = MultiIndex.from_tuples(rows, names=["kind", "search"]) if by_kind else Index(names, name="search")
    return DataFrame(list(rows.values()), index=index)


def _row(rankings: list[list[Hashable]], relevants: list[Relevant], k: int) -> dict:
    metrics = {f"recall@{k}": (recall_at, k), "MRR": (reciprocal_rank, None), f"nDCG@{k}": (ndcg_at, k)}
    counts, means, intervals = {}, {}, {}
    for name, (metric, depth) in metrics.items():
        values = by_query(metric, rankings, relevants, depth)
        used = [value for value in values if value is not None]
        counts = {"queries": len(used), "left out": values.count(None)}
        means[name] = math.fsum(used) / len(used) if used else math.nan
        low, high = bootstrap_interval(used) if used else (math.nan, math.nan)
        intervals |= {f"{name} low": low, f"{name} high": high}
    return counts | means | intervals


def losses(
    searches: Mapping[str, Search],
    judged: Sequence[Query],
    of: str,
    against: str,
    k: int = 10,
    depth: int = DEPTH,
) -> "DataFrame":
    """The queries on which the search named ``of`` does worse than the one named ``against``, worst first.

    Worse means a lower reciprocal rank within the first k: whoever reads k results sees no difference beyond.
    Columns: "query" (its text), "kind", and for each of the two the rank of its first relevant document, such as
    "rank in BM25": from 1, lower is better, missing where it is not among the first ``depth``. The index holds
    the ids of the queries.

    Raises ValueError for a name that is not in ``searches``, and otherwise as ``compare`` does.
    """
    from pandas import DataFrame, Index, array

    k, depth = check_count(k), check_count(depth, "depth")
    for name in (of, against):
        if name not in searches:
            raise ValueError(
                _("There is no search named {name!r}: choose one of {known}.").format(
                    name=name, known=", ".join(map(repr, searches))
                )
            )
    judged = list(judged)
    rankings = rankings_of({name: searches[name] for name in (of, against)}, judged, max(k, depth))
    lost = []
    for i, query in enumerate(judged):
        found = [rankings[name][i] for name in (of, against)]
        if query.relevant:
            reached, wanted = (reciprocal_rank(ranking[:k], query.relevant) for ranking in found)
            if reached < wanted:
                ranks = [_first_rank(ranking, query.relevant) for ranking in found]
                lost.append((wanted - reached, query, *ranks))
    lost.sort(key=lambda row: -row[0])
    columns = {
        "query": [query.text for _loss, query, *_ranks in lost],
        "kind": [query.kind for _loss, query, *_ranks in lost],
        f"rank in {of}": array([ranks[0] for _loss, _query, *ranks in lost], dtype="Int64"),
        f"rank in {against}": array([ranks[1] for _loss, _query, *ranks in lost], dtype="Int64"),
    }
    return DataFrame(columns, index=Index([query.id for _loss, query, *_ranks in lost], name="id"))


def _first_rank(ranking: list[Hashable], relevant: Relevant) -> int | None:
    return next((rank for rank, document in enumerate(ranking, start=1) if document in relevant), None)


def rankings_of(
    searches: Mapping[str, Search], judged: Sequence[Query], depth: int = DEPTH
) -> dict[str, list[list[Hashable]]]:
    """What each search finds: its name, and for each query in order the ids as ``judged_ids`` gives them.

    Raises ValueError without a search, a query, or a query with a relevant document; SearchError where a search
    raises, or gives anything but pairs (document, value).
    """
    if not isinstance(searches, Mapping) or not searches:
        raise ValueError(
            _('Give the searches as a mapping from name to function, such as {"BM25": index.search}.')
        )
    for name, search in searches.items():
        if not callable(search):
            raise TypeError(
                _("The search {name!r} is no function: got {search!r}.").format(name=name, search=search)
            )
    if not all(hasattr(query, "text") and hasattr(query, "relevant") for query in judged):
        raise TypeError(_('The judged queries are a list such as lab.judged_queries("report") gives.'))
    if not any(query.relevant for query in judged):
        raise ValueError(
            _("There is nothing to measure: no judged query names a document that is relevant to it.")
            if judged
            else _("There is nothing to measure: the list of judged queries is empty.")
        )
    pairs = [(name, query) for name in searches for query in judged]
    found = {name: [] for name in searches}
    for name, query in progress(pairs, _("Searching")):
        found[name].append(_found(name, searches[name], query, depth))
    return found


def _found(name: str, search: Search, query: Query, depth: int) -> list[Hashable]:
    try:
        return judged_ids(search(query.text, depth))
    except NotImplementedError:  # an unfinished exercise, which notebooks show in their own way
        raise
    except Exception as error:
        kind = _PlainSearchError if isinstance(error, PlainError) else SearchError
        raise kind(
            _("The search {name!r} failed on the query {query!r}: {error}").format(
                name=name, query=query.text, error=str(error) or type(error).__name__
            )
        ) from error


def judged_ids(results: Iterable[tuple[dict, float]]) -> list[Hashable]:
    """The ids by which judgements know the documents of pairs (document, value): each once, in order.

    A document is known by its "topic" where it has one, else by its "id". So the parts of one topic count as
    one, at the rank of the best part.

    Raises TypeError for anything but such pairs, ValueError for a document that has neither.
    """
    if not isinstance(results, Iterable):
        raise TypeError(
            _("A search must give pairs (document, value), best first: got {results!r}.").format(
                results=results
            )
        )
    return list(dict.fromkeys(map(_judged_id, results)))


def _judged_id(pair: object) -> Hashable:
    if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], dict)):
        raise TypeError(
            _("A search must give pairs (document, value), best first: got {pair}.").format(
                pair=repr(pair)[:60]
            )
        )
    return judged_id(pair[0])


def judged_id(document: dict) -> Hashable:
    """The id by which judgements know a document: its "topic", else its "id". ValueError where it has neither."""
    for key in ("topic", "id"):
        known_as = document.get(key)
        if known_as is not None:
            return known_as
    raise ValueError(
        _('A document needs an "id" to be judged: {document} has none.').format(document=repr(document)[:60])
    )
