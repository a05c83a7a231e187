"""What a search through trees does, step by step, seen from outside: which nodes it ranks, and which go on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lab.language import _

Ranked = list[tuple[dict, float]]

# What has become of a node, and how a table says it.
WAITING, FINAL, PASSED, LOST = "waiting", "final", "passed", "lost"
_SAID = {
    WAITING: _("goes on"),
    FINAL: _("is final"),
    PASSED: _("gives way to its children"),
    LOST: _("does not go on"),
}


@dataclass(frozen=True)
class WalkStep:
    """One ranking that the search asked for, best first, and what became of each node by its id."""

    ranked: Ranked
    states: Mapping[int, str]
    title: str

    def said(self, node: dict) -> str:
        """What became of a node, in words."""
        return _SAID[self.states[node["id"]]]


@dataclass
class _Call:
    """What was asked of the index: the name of the method, the ids of the nodes given, and the ranking it gave."""

    name: str
    given: list[int]
    ranked: Ranked = field(default_factory=list)


class _Watched:
    """An index that notes what it is asked, and answers as the one behind it."""

    def __init__(self, index: Any) -> None:
        self._index = index
        self.calls: list[_Call] = []

    def __getattr__(self, name: str):
        return getattr(self._index, name)

    def search_roots(self, query, k):
        found = list(self._index.search_roots(query, k))
        self.calls.append(_Call("search_roots", [], found))
        return found

    def rank(self, query, nodes):
        nodes = list(nodes)
        ranked = list(self._index.rank(query, nodes))
        self.calls.append(_Call("rank", [node["id"] for node in nodes], ranked))
        return ranked

    def children(self, node):
        self.calls.append(_Call("children", [node["id"]]))
        return self._index.children(node)


class Walk:
    """A search that has been watched: its ``query``, its ``results``, its ``steps``.

    The first step is the search for the roots; then comes a step for each ranking of two nodes or more, and the last
    is the ranking of the results. ``compared`` is the number of nodes that were ranked, each as often as it was.
    """

    def __init__(self, index: Any, query: str, results: list, calls: list[_Call]) -> None:
        self.index, self.query, self.results = index, query, results
        self.compared = sum(len(call.ranked) for call in calls)
        self.steps = _steps(calls, [_id_of(one) for one in results])

    def __repr__(self) -> str:
        return _("{query}: {steps} steps, {nodes} nodes ranked, {results} results").format(
            query=repr(self.query), steps=len(self.steps), nodes=self.compared, results=len(self.results)
        )


def watch_search(search: Callable, index: Any, query: str, **settings) -> Walk:
    """Run ``search(index, query, **settings)`` and note every ranking that it asks for.

    ``search`` is a branch_search or a beam_search, ``index`` what it searches: a TreeIndex, or anything with its
    search_roots, rank, children and text. What the search raises comes through.
    """
    watched = _Watched(index)
    results = list(search(watched, query, **settings))
    return Walk(index, query, results, watched.calls)


def _id_of(result: object) -> object:
    return result.get("id") if isinstance(result, Mapping) else None


def _steps(calls: list[_Call], found: list) -> list[WalkStep]:
    rankings = [place for place, call in enumerate(calls) if call.name == "rank"]
    last = rankings[-1] if rankings and set(calls[rankings[-1]].given) == set(found) else None
    steps = []
    for place, call in enumerate(calls):
        if call.name == "search_roots":
            title = _("the search for the roots")
        elif place == last:
            title = _("all that is final, in one ranking")
        elif call.name == "rank" and len(call.ranked) > 1:
            title = _title(call)
        else:
            continue
        steps.append(WalkStep(call.ranked, _states(calls, place, last, found), title))
    return steps


def _title(call: _Call) -> str:
    nodes = [node for node, _score in call.ranked]
    parents = [node for node in nodes if any(other["parent_id"] == node["id"] for other in nodes)]
    if len(parents) != 1:
        return _("{count} nodes in one ranking").format(count=len(nodes))
    return _("node {id} ({pages}) against its children").format(
        id=parents[0]["id"], pages=in_words(parents[0])
    )


def _states(calls: list[_Call], place: int, last: int | None, found: list) -> dict[int, str]:
    """What became of each node of a ranking, by what the search did later."""
    ranked = [node for node, _score in calls[place].ranked]
    if place == last:
        return {node["id"]: FINAL for node in ranked}
    later = {
        one
        for at, call in enumerate(calls[place + 1 :], start=place + 1)
        if at != last and (call.name == "children" or len(call.given) > 1)
        for one in call.given
    }
    kept = {node["id"] for node in ranked if node["id"] in later or node["id"] in found}
    states = {}
    for node in ranked:
        if node["id"] not in kept:
            gives_way = any(other["parent_id"] == node["id"] and other["id"] in kept for other in ranked)
            states[node["id"]] = PASSED if gives_way else LOST
        else:
            done = node["id"] in found and (not node["child_ids"] or node["id"] not in later)
            states[node["id"]] = FINAL if done else WAITING
    return states


def in_words(node: dict) -> str:
    """The pages of a node: "page 7", or "pages 7-9"."""
    first, last = node["first_page"], node["last_page"]
    return _("page {first}").format(first=first) if first == last else f"{_('pages')} {first}-{last}"
