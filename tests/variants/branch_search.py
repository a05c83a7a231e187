"""Correct solutions of the exercise branch_search in different styles. Each of them must get full points.

They follow the statement in unit 08. The order in which nodes are tested differs: it leaves that open.
"""

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

_PLACE = ("id", "file_name", "first_page", "last_page")


def plain(index, query, roots=3):
    waiting = [(node, [node["id"]]) for node, _ in index.search_roots(query, roots)]
    final, paths = [], {}
    while waiting:
        node, path = waiting.pop()
        ranked = index.rank(query, [node, *index.children(node)])
        own = next(score for other, score in ranked if other["id"] == node["id"])
        winners = [child for child, score in ranked if score > own]
        for child in winners:
            waiting.append((child, [*path, child["id"]]))
        if not winners:
            final.append(node)
            paths[node["id"]] = path
    return [
        {
            "id": node["id"],
            "file_name": node["file_name"],
            "first_page": node["first_page"],
            "last_page": node["last_page"],
            "text": index.text(node),
            "score": score,
            "path": paths[node["id"]],
        }
        for node, score in index.rank(query, final)
    ]


def beginner(index, query, roots=3):
    """Lists side by side, and loops by hand."""
    results = []
    found = index.search_roots(query, roots)
    if len(found) == 0:
        return results
    to_do = []
    to_do_paths = []
    for pair in found:
        to_do.append(pair[0])
        to_do_paths.append([pair[0]["id"]])
    final = []
    final_paths = []
    while len(to_do) > 0:
        node = to_do[0]
        path = to_do_paths[0]
        del to_do[0]
        del to_do_paths[0]
        children = index.children(node)
        if len(children) == 0:
            final.append(node)
            final_paths.append(path)
            continue
        group = [node]
        for child in children:
            group.append(child)
        ranked = index.rank(query, group)
        own_score = None
        for pair in ranked:
            if pair[0]["id"] == node["id"]:
                own_score = pair[1]
        someone_won = False
        for pair in ranked:
            if pair[1] > own_score:
                someone_won = True
                to_do.append(pair[0])
                new_path = list(path)
                new_path.append(pair[0]["id"])
                to_do_paths.append(new_path)
        if not someone_won:
            final.append(node)
            final_paths.append(path)
    for node, score in index.rank(query, final):
        for i in range(len(final)):
            if final[i]["id"] == node["id"]:
                path = final_paths[i]
        chunk = {}
        for key in ["id", "file_name", "first_page", "last_page"]:
            chunk[key] = node[key]
        chunk["text"] = index.text(node)
        chunk["score"] = score
        chunk["path"] = path
        results.append(chunk)
    return results


def recursive(index, query, roots=3):
    """Depth first."""

    def finals(node, above):
        path = [*above, node["id"]]
        ranked = index.rank(query, [node, *index.children(node)])
        scores = {one["id"]: score for one, score in ranked}
        winners = [one for one, _ in ranked if scores[one["id"]] > scores[node["id"]]]
        if not winners:
            return {node["id"]: (node, path)}
        found = {}
        for child in winners:
            found |= finals(child, path)
        return found

    found = {}
    for root, _ in index.search_roots(query, roots):
        found |= finals(root, [])
    return [
        {
            **{key: node[key] for key in _PLACE},
            "text": index.text(node),
            "score": score,
            "path": found[node["id"]][1],
        }
        for node, score in index.rank(query, [node for node, _ in found.values()])
    ]


def level_by_level(index, query, roots=3):
    """All nodes of one round at once; the path is found at the end, over the parents."""
    met = {}
    round_ = [node for node, _ in index.search_roots(query, roots)]
    final = []
    while round_:
        met.update((node["id"], node) for node in round_)
        following = []
        for node in round_:
            children = index.children(node)
            if children:
                ranked = index.rank(query, [node] + children)
                place = [one["id"] for one, _ in ranked].index(node["id"])
                better = [one for one, score in ranked[:place] if score > ranked[place][1]]
                following.extend(better)
                if better:
                    continue
            final.append(node)
        round_ = following

    def path(node):
        above = met.get(node["parent_id"])
        return (path(above) if above else []) + [node["id"]]

    return [_chunk(index, node, score, path(node)) for node, score in index.rank(query, final)]


def _chunk(index, node, score, path):
    return {
        "id": node["id"],
        "file_name": node["file_name"],
        "first_page": node["first_page"],
        "last_page": node["last_page"],
        "text": index.text(node),
        "score": score,
        "path": path,
    }


@dataclass
class Way:
    node: dict
    path: list = field(default_factory=list)

    def further(self, child):
        return Way(child, self.path + [child["id"]])


@dataclass
class Searcher:
    index: Any
    query: str

    def next_ways(self, way):
        ranked = self.index.rank(self.query, (way.node, *self.index.children(way.node)))
        own = [score for node, score in ranked if node["id"] == way.node["id"]][0]
        return [way.further(node) for node, score in ranked if score - own > 0]

    def ways(self, roots):
        open_ways = deque(Way(node, [node["id"]]) for node, _ in self.index.search_roots(self.query, roots))
        while open_ways:
            way = open_ways.popleft()
            following = self.next_ways(way)
            open_ways.extend(following)
            if not following:
                yield way


def with_class(index, query, roots=3):
    ways = {way.node["id"]: way for way in Searcher(index, query).ways(roots)}
    ranked = index.rank(query, [way.node for way in ways.values()])
    return [_chunk(index, node, score, ways[node["id"]].path) for node, score in ranked]


def generator(index, query, roots=3):
    """A generator of chunks; paths are tuples."""
    stack = [((root["id"],), root) for root, _ in reversed(index.search_roots(query, k=roots))]
    done = []
    while stack:
        path, node = stack.pop()
        children = index.children(node)
        scores = {}
        if children:
            scores = {one["id"]: score for one, score in index.rank(query, [*children, node])}
        winners = [child for child in children if scores[child["id"]] > scores[node["id"]]]
        stack += [((*path, child["id"]), child) for child in winners]
        if not winners:
            done.append((path, node))
    of_id = {path[-1]: path for path, _ in done}
    for node, score in index.rank(query, [node for _, node in done]):
        yield _chunk(index, node, score, of_id[node["id"]])


def with_numpy(index, query, roots=3):
    """Scores are numpy floats."""
    waiting = [node for node, _ in index.search_roots(query, roots)]
    paths = {node["id"]: [node["id"]] for node in waiting}
    final = []
    while waiting:
        node = waiting.pop(0)
        ranked = index.rank(query, [node, *index.children(node)])
        ids = np.array([one["id"] for one, _ in ranked])
        scores = np.array([score for _, score in ranked])
        above = np.flatnonzero(scores > scores[ids == node["id"]])
        for place in above:
            child = ranked[place][0]
            paths[child["id"]] = paths[node["id"]] + [child["id"]]
            waiting.append(child)
        if above.size == 0:
            final.append(node)
    ranked = index.rank(query, final)
    return [_chunk(index, node, np.float64(score), np.array(paths[node["id"]])) for node, score in ranked]


def with_pandas(index, query, roots=3):
    waiting = [(node, [node["id"]]) for node, _ in index.search_roots(query, roots)]
    final = []
    while waiting:
        node, path = waiting.pop(0)
        frame = pd.DataFrame(index.rank(query, [node, *index.children(node)]), columns=["node", "score"])
        frame["id"] = [one["id"] for one in frame["node"]]
        own = frame.loc[frame["id"] == node["id"], "score"].iloc[0]
        winners = frame[frame["score"] > own]
        if winners.empty:
            final.append((node, path))
        for child in winners["node"]:
            waiting.append((child, path + [child["id"]]))
    paths = {node["id"]: path for node, path in final}
    chunks = []
    for node, score in index.rank(query, [node for node, _ in final]):
        chunks.append(_chunk(index, node, score, paths[node["id"]]))
    return chunks


def with_heap(index, query, roots=3):
    """The most promising node is tested first: that changes nothing in the end."""
    heap = [(-score, root["id"], root, [root["id"]]) for root, score in index.search_roots(query, roots)]
    heapq.heapify(heap)
    final = {}
    while heap:
        _, _, node, path = heapq.heappop(heap)
        ranked = index.rank(query, index.children(node) + [node])
        own = {one["id"]: score for one, score in ranked}[node["id"]]
        went_on = 0
        for one, score in ranked:
            if score > own:
                heapq.heappush(heap, (-score, one["id"], one, path + [one["id"]]))
                went_on += 1
        if not went_on:
            final[node["id"]] = {"node": node, "path": path}
    order = index.rank(query, [one["node"] for one in final.values()]) if final else []
    return tuple(_chunk(index, node, score, final[node["id"]]["path"]) for node, score in order)


VARIANTS = {
    "plain": (plain,),
    "beginner": (beginner,),
    "recursive": (recursive,),
    "level by level": (level_by_level,),
    "a class": (with_class,),
    "generator": (generator,),
    "numpy": (with_numpy,),
    "pandas": (with_pandas,),
    "heap": (with_heap,),
}
