"""Unit 09: a search that keeps a beam of nodes, of all trees at once, and cuts it at a width or at a knee."""

from .documents import check_count, check_query
from .knees import knee
from .trace import Found, Trace, as_chunks

CUTS = ("fixed", "knee", "sensitive")


def beam_search(
    index,
    query: str,
    cut: str = "fixed",
    width: int = 3,
    sensitivity: float = 0.85,
    max_roots: int = 20,
) -> Found:
    """Keep the nodes that fit best, and round by round let their children compete with them.

    A round ranks the beam and all children of its nodes at once, in one fused ranking. "knee" and "sensitive" cut it
    at the knee of its scores (``knee``, with ``sensitivity`` for the latter). Then, from the best down, what is still
    there removes its parent and its children, and what has been removed removes nobody. "fixed" at last keeps the
    first ``width``. The search ends with the round that leaves the beam as it was. It starts with the best
    ``max_roots`` roots.

    ``index`` and the result are those of branch_search. Raises ValueError for another cut, width or max_roots below 1,
    a sensitivity that is not above 0 and at most 1, or an empty query.
    """
    check_query(query)
    if cut not in CUTS:
        raise ValueError(f"cut must be one of {', '.join(CUTS)}: got {cut!r}")
    width, max_roots = check_count(width, "width"), check_count(max_roots, "max_roots")
    knee([], sensitivity)  # refuses a wrong one before anything is searched
    trace = Trace(query)
    ranked = index.search_roots(query, max_roots)
    beam, before = [node for node, _ in ranked], []
    trace.add(0, ranked, beam)
    while _ids(beam) != _ids(before):
        before = beam
        children = [child for node in beam for child in index.children(node)]
        ranked = index.rank(query, [*beam, *children])
        keep = _cut([score for _, score in ranked], cut, sensitivity)
        removed: dict[int, int | str] = {node["id"]: "knee" for node, _ in ranked[keep:]}
        inside = [node for node, _ in ranked[:keep]]
        removed |= _suppressed(inside)
        beam = [node for node in inside if node["id"] not in removed]
        if cut == "fixed":
            removed |= {node["id"]: "width" for node in beam[width:]}
            beam = beam[:width]
        trace.add(len(trace.steps), ranked, beam, removed)
    kept = _ids(beam)
    return as_chunks(index, [(node, score) for node, score in ranked if node["id"] in kept], trace)


def _cut(scores: list[float], cut: str, sensitivity: float) -> int:
    """How many of a round's nodes are kept before parents and children remove each other."""
    if cut == "fixed":
        return len(scores)
    return knee(scores, sensitivity if cut == "sensitive" else None)


def _suppressed(nodes: list[dict]) -> dict[int, int]:
    """Which of the nodes, best first, are removed by which: a parent by a child before it, or the other way round."""
    removed: dict[int, int] = {}
    for position, node in enumerate(nodes):
        if node["id"] not in removed:
            for other in nodes[position + 1 :]:
                if other["id"] == node["parent_id"] or other["parent_id"] == node["id"]:
                    removed.setdefault(other["id"], node["id"])
    return removed


def _ids(nodes: list[dict]) -> set[int]:
    return {node["id"] for node in nodes}
