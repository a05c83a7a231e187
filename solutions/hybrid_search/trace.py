"""What a search through trees did, step by step, so that it can be replayed and drawn."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .nodes import ROOT

Ranked = Sequence[tuple[dict, float]]


@dataclass(frozen=True)
class Step:
    """One fused ranking, and what came of it.

    ``ranked`` are pairs (node, score), best first. ``kept`` are the ids of the nodes that go on or are final;
    ``removed`` says of each other one's id what removed it: the id of a node, "knee" or "width".
    """

    round: int
    ranked: tuple[tuple[dict, float], ...]
    kept: tuple[int, ...]
    removed: Mapping[int, int | str]


class Trace:
    """The record of one search. ``steps`` are its comparisons in order; round 0 is the search for the roots."""

    def __init__(self, query: str) -> None:
        self.query = query
        self.steps: list[Step] = []

    def add(
        self, round: int, ranked: Ranked, kept: Iterable[dict], removed: Mapping[int, int | str] | None = None
    ) -> None:
        """Note a ranking, the nodes that were kept of it, and by what each other one was removed."""
        ids = tuple(node["id"] for node in kept)
        self.steps.append(Step(round, tuple(ranked), ids, dict(removed or {})))

    @property
    def nodes(self) -> dict[int, dict]:
        """Every node that was looked at, by its id, in the order in which they were met."""
        return {node["id"]: node for step in self.steps for node, _ in step.ranked}

    @property
    def comparisons(self) -> int:
        """How many nodes were ranked, each as often as it was."""
        return sum(len(step.ranked) for step in self.steps)

    def path(self, node: dict) -> list[int]:
        """The ids from the root down to a node that the search came to."""
        known, path = self.nodes, [node["id"]]
        while node["parent_id"] != ROOT:
            node = known[node["parent_id"]]
            path.append(node["id"])
        return path[::-1]

    def rows(self) -> list[dict[str, Any]]:
        """The record as a table: a row for each node of each ranking, with its rank, its score and its fate."""
        return [
            {
                "round": step.round,
                "rank": rank,
                "node": node["id"],
                "file_name": node["file_name"],
                "pages": pages_of(node),
                "score": score,
                "outcome": _outcome(step, node),
            }
            for step in self.steps
            for rank, (node, score) in enumerate(step.ranked, start=1)
        ]

    def __str__(self) -> str:
        lines = [f"query: {self.query}"]
        for row in self.rows():
            if row["rank"] == 1:
                lines.append(f"round {row['round']}")
            where = f"{row['file_name']} page{'s' if '-' in row['pages'] else ''} {row['pages']}"
            lines.append(
                f"  {row['rank']:>3}  {row['score']:.6f}  node {row['node']}, {where}: {row['outcome']}"
            )
        return "\n".join(lines)


class Found(list):
    """The chunks that a search found, best first, with its ``trace``."""

    def __init__(self, chunks: Iterable[dict], trace: Trace) -> None:
        super().__init__(chunks)
        self.trace = trace


def as_chunks(index, ranked: Ranked, trace: Trace) -> Found:
    """The nodes of a final ranking as chunks, in its order: what is blank is left out.

    A chunk is a dict with "id", "file_name", "first_page", "last_page", "text", "score" and "path", the ids from the
    root to the node.
    """
    chunks = (
        {
            **{name: node[name] for name in ("id", "file_name", "first_page", "last_page")},
            "text": index.text(node),
            "score": score,
            "path": trace.path(node),
        }
        for node, score in ranked
    )
    return Found((chunk for chunk in chunks if chunk["text"].strip()), trace)


def pages_of(node: dict) -> str:
    """The pages of a node in words: "7", or "7-9"."""
    first, last = node["first_page"], node["last_page"]
    return str(first) if first == last else f"{first}-{last}"


def _outcome(step: Step, node: dict) -> str:
    if node["id"] in step.kept:
        return "kept"
    by = step.removed.get(node["id"], "")
    return f"removed by node {by}" if isinstance(by, int) else f"removed by the {by}" if by else "left"
