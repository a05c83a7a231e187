"""Correct solutions of the exercise beam_search in different styles. Each of them must get full points.

They follow the statement in unit 09, and use the knees of tests/variants/knee.py.
"""

from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from .knee import plain as knee
from .knee import with_numpy as numpy_knee


def plain(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    beam = [node for node, _ in index.search_roots(query, max_roots)]
    before = set()
    while {node["id"] for node in beam} != before:
        before = {node["id"] for node in beam}
        children = [child for node in beam for child in index.children(node)]
        ranked = index.rank(query, beam + children)
        scores = [score for _, score in ranked]
        if cut == "knee":
            ranked = ranked[: knee(scores)]
        elif cut == "sensitive":
            ranked = ranked[: knee(scores, sensitivity)]
        kept = []
        for node, _ in ranked:
            taken = {other["id"] for other in kept}
            parents = {other["parent_id"] for other in kept}
            if node["parent_id"] not in taken and node["id"] not in parents:
                kept.append(node)
        beam = kept[:width] if cut == "fixed" else kept
    return beam


def beginner(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """Flags and loops; removed nodes are marked."""
    beam = []
    for pair in index.search_roots(query, max_roots):
        beam.append(pair[0])
    changed = len(beam) > 0
    while changed:
        nodes = []
        for node in beam:
            nodes.append(node)
            for child in index.children(node):
                nodes.append(child)
        ranked = index.rank(query, nodes)
        if cut == "fixed":
            number = len(ranked)
        else:
            scores = []
            for pair in ranked:
                scores.append(pair[1])
            number = knee(scores) if cut == "knee" else knee(scores, sensitivity)
        removed = [False] * number
        for i in range(number):
            if not removed[i]:
                for j in range(i + 1, number):
                    if ranked[j][0]["parent_id"] == ranked[i][0]["id"]:
                        removed[j] = True
                    if ranked[i][0]["parent_id"] == ranked[j][0]["id"]:
                        removed[j] = True
        new = []
        for i in range(number):
            if not removed[i] and (cut != "fixed" or len(new) < width):
                new.append(ranked[i][0])
        changed = sorted(node["id"] for node in new) != sorted(node["id"] for node in beam)
        beam = new
    return beam


def recursive(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    def search(beam):
        ranked = index.rank(query, [*beam, *chain.from_iterable(map(index.children, beam))])
        following = _relatives_removed(ranked[: keep([score for _, score in ranked])])
        following = following[:width] if cut == "fixed" else following
        same = {node["id"] for node in following} == {node["id"] for node in beam}
        return following if same else search(following)

    def keep(scores):
        return {
            "fixed": len,
            "knee": knee,
            "sensitive": lambda scores: knee(scores, sensitivity),
        }[cut](scores)

    roots = [node for node, _ in index.search_roots(query, max_roots)]
    return search(roots) if roots else []


def _relatives_removed(ranked):
    kept = {}
    for node, _ in ranked:
        if node["parent_id"] not in kept and not any(child in kept for child in node["child_ids"]):
            kept[node["id"]] = node
    return list(kept.values())


def generator(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """search is a generator, and every node is kept in a dict by its id."""
    beam, before = {node["id"]: node for node, _ in index.search_roots(query, max_roots)}, {}
    while beam.keys() != before.keys():
        before = beam
        competing = dict(beam)
        for node in beam.values():
            competing.update((child["id"], child) for child in index.children(node))
        ranked = index.rank(query, list(competing.values()))
        if cut != "fixed":
            share = (sensitivity,) if cut == "sensitive" else ()
            del ranked[knee([score for _, score in ranked], *share) :]
        beam = {node["id"]: node for node in _relatives_removed(ranked)}
        if cut == "fixed":
            beam = dict(list(beam.items())[:width])
    yield from beam.values()


@dataclass
class Beam:
    index: Any
    query: str
    nodes: list = field(default_factory=list)

    @property
    def ids(self):
        return frozenset(node["id"] for node in self.nodes)

    def ranked(self):
        children = [child for node in self.nodes for child in self.index.children(node)]
        return self.index.rank(self.query, children + self.nodes)

    def narrowed(self, keep, width):
        ranked = self.ranked()
        left = [node for node, _ in ranked][: keep([score for _, score in ranked])]
        best = []
        while left and len(best) < width:
            node = left.pop(0)
            best.append(node)
            left = [other for other in left if node["id"] != other["parent_id"]]
            left = [other for other in left if other["id"] != node["parent_id"]]
        return Beam(self.index, self.query, best)


def with_dataclass(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """Takes the best out and drops its relatives from the rest, until the beam is wide enough."""
    wide = 10**6
    keep, width = {
        "fixed": (lambda scores: len(scores), width),
        "knee": (knee, wide),
        "sensitive": (lambda scores: numpy_knee(scores, sensitivity), wide),
    }[cut]
    beam = Beam(index, query, [node for node, _ in index.search_roots(query, max_roots)])
    while True:
        following = beam.narrowed(keep, width)
        if following.ids == beam.ids:
            return following.nodes
        beam = following


def with_equal_lists(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """Compares the beams as lists of dicts: a last round more, at most, and the same end."""
    beam, following = None, [pair[0] for pair in index.search_roots(query, max_roots)]
    while following != beam:
        beam = following
        ranked = index.rank(query, beam + sum((index.children(node) for node in beam), []))
        if not ranked:
            break
        nodes, scores = map(list, zip(*ranked, strict=True))
        if cut in ("knee", "sensitive"):
            nodes = nodes[: numpy_knee(scores, None if cut == "knee" else sensitivity)]
        following = []
        for node in nodes:
            if all(
                node["id"] != other["parent_id"] and other["id"] != node["parent_id"] for other in following
            ):
                following.append(node)
        if cut == "fixed":
            following = following[:width]
    return following


def without_a_loop_condition(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """Ends where no node of the new beam is new, and none of the old one is missing."""
    beam = [node for node, _score in index.search_roots(query=query, k=max_roots)]
    for _round in range(10_000):
        family = list(beam)
        for node in beam:
            family.extend(index.children(node))
        ranked = index.rank(query=query, nodes=family)
        limit = len(ranked)
        if cut != "fixed":
            limit = knee([s for _, s in ranked], sensitivity=sensitivity if cut == "sensitive" else None)
        gone, new = set(), []
        for node, _score in ranked[:limit]:
            if node["id"] in gone:
                continue
            new.append(node)
            gone.update([node["parent_id"], *node["child_ids"]])
        if cut == "fixed":
            new = new[:width]
        old_ids, new_ids = [n["id"] for n in beam], [n["id"] for n in new]
        beam = new
        if not set(old_ids) ^ set(new_ids):
            break
    return tuple(beam)


class Search:
    """Asks the index for the children of a node once only."""

    def __init__(self, index, query):
        self.index, self.query, self.known = index, query, {}

    def children(self, node):
        if node["id"] not in self.known:
            self.known[node["id"]] = self.index.children(node) if node["child_ids"] else []
        return self.known[node["id"]]

    def round(self, beam, keep):
        ranked = self.index.rank(self.query, beam + [child for node in beam for child in self.children(node)])
        nodes = [node for node, _ in ranked[: keep([score for _, score in ranked])]]
        removed = set()
        for i, node in enumerate(nodes):
            if node["id"] not in removed:
                relatives = {node["parent_id"], *node["child_ids"]}
                removed |= relatives & {other["id"] for other in nodes[i + 1 :]}
        return [node for node in nodes if node["id"] not in removed]


def with_a_class(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    search = Search(index, query)
    beam = [node for node, _ in index.search_roots(query, max_roots)]
    if cut == "fixed":
        keep, limit = len, width
    elif cut == "knee":
        keep, limit = knee, None
    else:
        keep, limit = (lambda scores: knee(scores, sensitivity)), None
    while True:
        following = search.round(beam, keep)[:limit]
        if sorted(n["id"] for n in following) == sorted(n["id"] for n in beam):
            return following
        beam = following


def with_chunks(index, query, cut="fixed", width=3, sensitivity=0.85, max_roots=20):
    """Goes beyond what is asked for: gives chunks with their texts, as the search of unit 08 does."""
    return [
        {
            **{key: node[key] for key in ("id", "file_name", "first_page", "last_page")},
            "text": index.text(node),
        }
        for node in generator(index, query, cut, width, sensitivity, max_roots)
    ]


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "recursive": (recursive,),
    "generator": (generator,),
    "dataclass": (with_dataclass,),
    "equal lists": (with_equal_lists,),
    "without a loop condition": (without_a_loop_condition,),
    "a class": (with_a_class,),
    "chunks": (with_chunks,),
}
