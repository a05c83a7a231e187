"""Trees drawn by hand, and indexes that rank their nodes without a model or a database."""

from hybrid_search.nodes import ROOT
from hybrid_search.rrf import rrf_scores

# A page is its name; any other node is a tuple of its name and its children.
Drawing = str | tuple


def drawn(drawing: Drawing, first_page: int = 1) -> list[dict]:
    """The nodes of a tree, children before their parents. Ids are left to DrawnIndex; the summary is the name."""
    if isinstance(drawing, str):
        return [_node(drawing, first_page, first_page, 0, [])]
    name, *children = drawing
    nodes, tops = [], []
    for child in children:
        below = drawn(child, tops[-1]["last_page"] + 1 if tops else first_page)
        nodes += below
        tops.append(below[-1])
    level = 1 + max(top["level"] for top in tops)
    return [*nodes, _node(name, tops[0]["first_page"], tops[-1]["last_page"], level, tops)]


def _node(name: str, first_page: int, last_page: int, level: int, children: list[dict]) -> dict:
    return {
        "id": 0,
        "file_name": "drawn.txt",
        "first_page": first_page,
        "last_page": last_page,
        "level": level,
        "parent_id": ROOT,
        "child_ids": children,
        "summary": name,
        "keywords": [],
    }


class Index:
    """Nodes in memory; how they are ranked a subclass says."""

    def __init__(self, nodes: list[dict]) -> None:
        self.by_id = {node["id"]: node for node in nodes}
        self.asked: list[list[int]] = []  # the ids of every ranking

    def search_roots(self, query: str, k: int) -> list[tuple[dict, float]]:
        return self.rank(query, [node for node in self.by_id.values() if node["parent_id"] == ROOT])[:k]

    def rank(self, query: str, nodes: list[dict]) -> list[tuple[dict, float]]:
        self.asked.append([node["id"] for node in nodes])
        return self.ranked(nodes)

    def children(self, node: dict) -> list[dict]:
        return [self.by_id[child] for child in node["child_ids"]]

    def text(self, node: dict) -> str:
        return f"the text of {node['summary']}"


class DrawnIndex(Index):
    """Ranks by one score a node, whatever it is ranked with. Equal scores keep the order in which they were given."""

    def __init__(self, *drawings: Drawing, scores: dict[str, float]) -> None:
        nodes = [node for drawing in drawings for node in drawn(drawing)]
        for number, node in enumerate(nodes, start=1):
            node["id"] = number
        for node in nodes:
            for child in node["child_ids"]:
                child["parent_id"] = node["id"]
            node["child_ids"] = [child["id"] for child in node["child_ids"]]
        super().__init__(nodes)
        self.scores = scores

    def ranked(self, nodes):
        pairs = [(node, self.scores[node["summary"]]) for node in nodes]
        return sorted(pairs, key=lambda pair: -pair[1])

    def names(self, found: list[dict]) -> list[str]:
        return [self.by_id[chunk["id"]]["summary"] for chunk in found]


class FusedIndex(Index):
    """Fuses two orders of all nodes, as TreeIndex does; a node that is in neither gets 0."""

    def __init__(self, nodes: list[dict], *orders: list[int]) -> None:
        super().__init__(nodes)
        self.orders = orders

    def ranked(self, nodes):
        wanted = {node["id"]: node for node in nodes}
        scores = rrf_scores([[node for node in order if node in wanted] for order in self.orders])
        found = [(wanted[node], score) for node, score in scores.items()]
        return found + [(node, 0.0) for node in nodes if node["id"] not in scores]
