"""Searches through trees measured on judged queries: what they find, what they drop, how much they compare.

A search is a function ``(index, query)`` -> nodes, chunks, or pairs (node, score), best first; a node or chunk is a
dict with "file_name", "first_page" and "last_page". A judged page is "file_name:page", counted from 1.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lab.corpora import Query
from lab.errors import PlainError
from lab.evaluation import SearchError
from lab.language import _
from lab.metrics import bootstrap_interval, check_count, paired_bootstrap
from lab.progress import progress

if TYPE_CHECKING:
    from pandas import DataFrame

TreeSearch = Callable[[object, str], Iterable]
Ranked = list[tuple[dict, float]]

# So many of each of its two rankings does a flat search fuse.
FLAT_CANDIDATES = 100


class RememberedIndex:
    """Answers as ``index``, a TreeIndex, does, from its two rankings of all nodes, which it asks for once a query.

    Neither ranking depends on which nodes are ranked: so the ranking of some nodes is that of all, without the others.
    In Qdrant's local mode, which compares a query with all nodes whenever it is asked, this saves nearly all the time.
    Texts of pages are asked for once, too.
    ``seen`` are the nodes that were ranked since ``watch``, by their ids, and ``ranked`` is how many were, each as
    often as it was.
    """

    def __init__(self, index) -> None:
        self._index = index
        self._nodes = {node["id"]: node for name in index.documents for node in index.nodes(name)}
        self._pages = [node for node in self._nodes.values() if node["level"] == 0]
        self._roots = [node for node in self._nodes.values() if node["parent_id"] == -1]
        self._last: tuple[str, list[list[int]]] | None = None
        self._texts: dict[int, str] = {}
        self.watch()

    def watch(self) -> None:
        """Forget what was ranked so far."""
        self.seen: dict[int, dict] = {}
        self.ranked = 0

    def search_roots(self, query: str, k: int) -> Ranked:
        return self._found(query, self._roots)[: check_count(k)]

    def rank(self, query: str, nodes: Sequence[dict]) -> Ranked:
        found = self._found(query, nodes)
        ids = {node["id"] for node, _score in found}
        return found + [
            (node, 0.0) for node in sorted(nodes, key=lambda node: node["id"]) if node["id"] not in ids
        ]

    def search(self, query: str, k: int = 1, candidates: int = 20) -> Ranked:
        return self._found(query, self._pages, check_count(candidates, "candidates"))[: check_count(k)]

    def children(self, node: dict) -> list[dict]:
        return [self._nodes[child] for child in node["child_ids"]]

    def text(self, node: dict) -> str:
        if node["child_ids"]:
            return "\n".join(self.text(child) for child in self.children(node))
        if node["id"] not in self._texts:
            self._texts[node["id"]] = self._index.text(node)
        return self._texts[node["id"]]

    def _found(self, query: str, nodes: Sequence[dict], depth: int | None = None) -> Ranked:
        from hybrid_search.rrf import rrf_scores

        by_id = {node["id"]: node for node in nodes}
        self.seen |= by_id
        self.ranked += len(by_id)
        rankings = [[i for i in ranking if i in by_id][:depth] for ranking in self._rankings(query)]
        return [(by_id[node_id], score) for node_id, score in rrf_scores(rankings).items()]

    def _rankings(self, query: str) -> list[list[int]]:
        if self._last is None or self._last[0] != query:
            self._last = query, self._index.rankings(query, list(self._nodes.values()))
        return self._last[1]


def measure_trees(
    searches: Mapping[str, TreeSearch], indexes: Mapping[str, object], judged: Sequence[Query]
) -> "DataFrame":
    """What each search finds and drops in each index, query by query: a row a (shape, search, query).

    ``indexes`` maps names, such as "width 3", to TreeIndexes. Columns, all shares between 0 and 1:
    "recall", the share of the relevant pages that are in the result; "pages", how many pages the result has;
    "flat recall", that of the same number of pages from a flat hybrid search; "compared", how many nodes were ranked;
    "pruned", the share of the nodes looked at of whose pages none is in the result, and the same of the
    irrelevant ones and of the relevant ones ("irrelevant pruned", "relevant pruned"; NaN where there are none of
    them). A node is relevant if one of its pages is. Queries without a relevant page are left out.

    Raises ValueError where there is nothing to measure, SearchError where a search fails.
    """
    from pandas import DataFrame, MultiIndex

    judged = [query for query in judged if query.relevant]
    if not (searches and indexes and judged):
        raise ValueError(_("There is nothing to measure: give searches, indexes, and judged queries."))
    rows = {}
    for shape, index in indexes.items():
        remembered = RememberedIndex(index)
        for query in progress(judged, _("Searching")):
            for name, search in searches.items():
                remembered.watch()
                pages = _result_pages(name, search, remembered, query)
                rows[shape, name, query.id] = _outcome(remembered, query, pages)
    ordered = sorted(rows, key=lambda row: (list(indexes).index(row[0]), list(searches).index(row[1])))
    names = MultiIndex.from_tuples(ordered, names=["shape", "search", "query"])
    return DataFrame([rows[row] for row in ordered], index=names)


def _result_pages(name: str, search: TreeSearch, index: object, query: Query) -> list[str]:
    try:
        return pages_of(search(index, query.text))
    except NotImplementedError:  # an unfinished exercise, which notebooks show in their own way
        raise
    except Exception as error:
        sentence = _("The search {name!r} failed on the query {query!r}: {error}").format(
            name=name, query=query.text, error=str(error) or type(error).__name__
        )
        raise (_PlainSearchError if isinstance(error, PlainError) else SearchError)(sentence) from error


class _PlainSearchError(PlainError, SearchError):
    """The same where the cause is one plain sentence already."""


def _outcome(index: RememberedIndex, query: Query, pages: list[str]) -> dict[str, float]:
    kept = set(pages)
    seen, compared = list(index.seen.values()), index.ranked
    relevant = [node for node in seen if is_relevant(node, query.relevant)]
    irrelevant = [node for node in seen if not is_relevant(node, query.relevant)]
    flat = pages_of(index.search(query.text, max(1, len(pages)), FLAT_CANDIDATES))[: len(pages)]
    return {
        "recall": _share(pages, query.relevant),
        "pages": len(pages),
        "flat recall": _share(flat, query.relevant),
        "compared": compared,
        "pruned": _pruned(seen, kept),
        "irrelevant pruned": _pruned(irrelevant, kept),
        "relevant pruned": _pruned(relevant, kept),
    }


def _share(pages: Iterable[str], relevant: frozenset) -> float:
    return len(relevant.intersection(pages)) / len(relevant)


def _pruned(nodes: list[dict], kept: set[str]) -> float:
    if not nodes:
        return float("nan")
    return sum(kept.isdisjoint(pages_of([node])) for node in nodes) / len(nodes)


def pages_of(found: Iterable) -> list[str]:
    """The pages of nodes, chunks, or pairs (node, score), in their order, each once: "file_name:page"."""
    nodes = (item[0] if isinstance(item, tuple | list) else item for item in found)
    pages = (
        f"{node['file_name']}:{page}"
        for node in nodes
        for page in range(node["first_page"], node["last_page"] + 1)
    )
    return list(dict.fromkeys(pages))


def is_relevant(node: dict, relevant: Iterable[str]) -> bool:
    """Is one of the node's pages among the relevant ones?"""
    return not set(relevant).isdisjoint(pages_of([node]))


def with_intervals(measured: "DataFrame", columns: Sequence[str] = ()) -> "DataFrame":
    """The means over the queries, with 95 % bootstrap intervals of those in ``columns``: "recall low", "recall high".

    ``measured`` has the queries in the last level of its index, as what measure_trees and measure_cuts give. A NaN is
    left out.
    """
    levels = list(range(measured.index.nlevels - 1))
    groups = measured.groupby(level=levels, sort=False)
    table = groups.mean()
    for column in columns:
        ends = [bootstrap_interval(group[column].dropna()) for _name, group in groups]
        place = table.columns.get_loc(column) + 1
        for offset, name in enumerate(("low", "high")):
            table.insert(place + offset, f"{column} {name}", [end[offset] for end in ends])
    return table


def paired_differences(measured: "DataFrame", one: str, other: str) -> "DataFrame":
    """The mean of column ``one`` - column ``other`` for each search, with its 95 % paired bootstrap interval.

    Columns "difference", "low" and "high". An interval that holds 0 leaves open which of the two is higher. A query
    in which one of the two is NaN is left out.
    """
    from pandas import DataFrame

    groups = measured.groupby(level=list(range(measured.index.nlevels - 1)), sort=False)
    rows = {}
    for name, group in groups:
        known = group[one].notna() & group[other].notna()
        of_one, of_other = group[one][known], group[other][known]
        low, high = paired_bootstrap(of_one, of_other)
        rows[name] = {"difference": (of_one - of_other).mean(), "low": low, "high": high}
    return DataFrame(list(rows.values()), index=groups.mean().index)


def interval_table(measured: "DataFrame", minus: str | None = None) -> "DataFrame":
    """The means over the queries with their 95 % bootstrap intervals, to be read: "0.67 (0.56 to 0.77)".

    ``measured`` has a row a (shape, search, query), as what measure_trees and search_times give, or a (cut, query).
    With ``minus``, the name of one of the searches: each other search's value minus its value on the same query, with
    the paired interval. One that holds 0 leaves open which of the two is higher. A NaN is left out.

    Raises ValueError for a ``minus`` that is not there.
    """
    from pandas import DataFrame, MultiIndex

    names = list(dict.fromkeys(measured.index.get_level_values(-2)))
    if minus is not None and minus not in names:
        known = ", ".join(map(repr, names))
        raise ValueError(_("There is no {name!r}: choose one of {known}.").format(name=minus, known=known))
    digits = {name: 0 if mean >= 10 else 2 for name, mean in measured.abs().mean().items()}
    levels = list(range(measured.index.nlevels - 1))
    groups = {
        name if isinstance(name, tuple) else (name,): group.droplevel(levels)
        for name, group in measured.groupby(level=levels, sort=False)
    }
    rows = {}
    for key, group in groups.items():
        if key[-1] == minus:
            continue
        values = group if minus is None else group - groups[(*key[:-1], minus)]
        rows[key] = {
            name: _with_interval(values[name].dropna(), digits[name], minus is not None) for name in measured
        }
    return DataFrame(list(rows.values()), index=MultiIndex.from_tuples(rows, names=measured.index.names[:-1]))


def _with_interval(values: Sequence[float], digits: int, is_difference: bool) -> str:
    low, high = bootstrap_interval(values)
    form = f"{'+' if is_difference else ''}.{digits}f"
    return _("{mean} ({low} to {high})").format(
        mean=format(sum(values) / len(values), form), low=format(low, form), high=format(high, form)
    )


def search_times(
    searches: Mapping[str, TreeSearch], indexes: Mapping[str, object], judged: Sequence[Query]
) -> "DataFrame":
    """Milliseconds, query by query, each search asking the index itself: a row a (shape, search, query).

    The one column is "ms". The time to embed the query is not in it.
    """
    from pandas import DataFrame, MultiIndex

    taken = {}
    for shape, index in indexes.items():
        for query in progress(list(judged), _("Searching")):
            index.search_roots(query.text, 1)  # embeds it
            for name, search in searches.items():
                started = time.perf_counter()
                _result_pages(name, search, index, query)
                taken[shape, name, query.id] = 1000 * (time.perf_counter() - started)
    ordered = [(shape, name, query.id) for shape in indexes for name in searches for query in judged]
    rows = MultiIndex.from_tuples(ordered, names=["shape", "search", "query"])
    return DataFrame({"ms": [taken[row] for row in ordered]}, index=rows)


def measure_cuts(
    cuts: Mapping[str, Callable[[list[float]], int]], index, judged: Sequence[Query], depth: int = 100
) -> "DataFrame":
    """What ways to cut a ranking keep and drop, query by query: a row a (cut, query).

    A cut is a function: scores, best first -> how many to keep. It is given those of the first ``depth`` pages of a
    flat hybrid search. Columns: "kept", how many it keeps; "pruned", the share that it drops, "irrelevant pruned" and
    "relevant pruned" the same of the irrelevant pages and of the relevant ones among the ``depth``. Queries without
    a relevant page among these are left out.
    """
    from pandas import DataFrame, MultiIndex

    rows = {}
    for query in progress(list(judged), _("Searching")):
        ranking = index.search(query.text, depth, depth)
        relevant = [is_relevant(page, query.relevant) for page, _score in ranking]
        if not any(relevant):
            continue
        for name, cut in cuts.items():
            kept = cut([score for _page, score in ranking])
            dropped = relevant[kept:]
            rows[name, query.id] = {
                "kept": kept,
                "pruned": len(dropped) / len(ranking),
                "irrelevant pruned": dropped.count(False) / relevant.count(False),
                "relevant pruned": sum(dropped) / sum(relevant),
            }
    if not rows:
        raise ValueError(_("There is nothing to measure: give cuts, and judged queries."))
    ordered = sorted(rows, key=lambda row: list(cuts).index(row[0]))
    index_of_rows = MultiIndex.from_tuples(ordered, names=["cut", "query"])
    return DataFrame([rows[row] for row in ordered], index=index_of_rows)
