"""Unit 08: a search that goes down the trees, wherever a child fits the query better than its parent."""

from .documents import check_count, check_query
from .trace import Found, Trace, as_chunks


def branch_search(index, query: str, roots: int = 3) -> Found:
    """Go down from the best ``roots`` trees while children beat their parent; the nodes where none does are found.

    A node is ranked together with its children, in one fused ranking. The children whose score is above the node's
    own, strictly, go on, each by itself; where there are none the node is final. So a root is tested like any other
    node, and several children of a node may go on. A last ranking puts the final nodes in order.

    ``index`` is a TreeIndex, or anything with its search_roots, rank, children and text. The result is a list of
    chunks, best first, none inside another: dicts with "id", "file_name", "first_page", "last_page", "text", "score"
    and "path", the ids from the root. Its ``trace`` records every ranking. Nothing found is an empty list.

    Raises ValueError for roots below 1 or an empty query.
    """
    check_query(query)
    best = index.search_roots(query, check_count(roots, "roots"))
    trace = Trace(query)
    waiting = [node for node, _ in best]
    trace.add(0, best, waiting)
    final, round = [], 0
    while waiting:
        round += 1
        going_on = []
        for node in waiting:
            children = index.children(node)
            if not children:
                final.append(node)
                continue
            ranked = index.rank(query, [node, *children])
            winners = _winners(node, ranked)
            trace.add(round, ranked, winners or [node], _losers(node, ranked, winners))
            going_on += winners
            final += [] if winners else [node]
        waiting = going_on
    ranked = index.rank(query, final) if final else []
    trace.add(trace.steps[-1].round + 1, ranked, [node for node, _ in ranked])
    return as_chunks(index, ranked, trace)


def _winners(node: dict, ranked: list[tuple[dict, float]]) -> list[dict]:
    own = next(score for other, score in ranked if other["id"] == node["id"])
    return [child for child, score in ranked if score > own]


def _losers(node: dict, ranked: list[tuple[dict, float]], winners: list[dict]) -> dict[int, int]:
    """By whom each node that does not go on was beaten: the parent by its best child, a child by its parent."""
    removed = {other["id"]: node["id"] for other, _ in ranked if other not in winners and other != node}
    return {**removed, node["id"]: winners[0]["id"]} if winners else removed
