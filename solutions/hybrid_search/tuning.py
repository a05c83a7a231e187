"""Unit 05: how good a search is, and the settings that were chosen by measuring."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol

from .documents import check_count


class JudgedQuery(Protocol):
    """A question, and the documents known to answer it: by their "topic" where they have one, else by "id"."""

    text: str
    relevant: frozenset


def evaluate(
    search: Callable[[str, int], Iterable[tuple[dict, float]]], judged: Sequence[JudgedQuery], k: int = 10
) -> dict[str, float]:
    """The mean reciprocal rank ("MRR") and the mean recall ("recall") of a search's first k results.

    ``search(text, k)`` gives pairs (document, value), best first. Both numbers lie between 0 and 1, higher is
    better. Several pieces of one topic count as one document, at the rank of the best. A query without a
    relevant document is left out.

    Raises ValueError for k < 1, and where no query has a relevant document.
    """
    k = check_count(k, "k")
    reciprocal_ranks, recalls = [], []
    for query in judged:
        if not query.relevant:
            continue
        ranking = _judged_ids(search(query.text, k))[:k]
        ranks = [rank for rank, found in enumerate(ranking, start=1) if found in query.relevant]
        reciprocal_ranks.append(1 / ranks[0] if ranks else 0.0)
        recalls.append(len(ranks) / len(query.relevant))
    if not recalls:
        raise ValueError("there is nothing to measure: no query has a relevant document")
    return {
        "MRR": math.fsum(reciprocal_ranks) / len(reciprocal_ranks),
        "recall": math.fsum(recalls) / len(recalls),
    }


def _judged_ids(results: Iterable[tuple[dict, float]]) -> list[Hashable]:
    known_by = (document.get("topic") or document["id"] for document, _value in results)
    return list(dict.fromkeys(known_by))


# By hand, for five documents. First query: A and B are relevant, the search gives C, A, B, D, E. Second query: D is
# relevant, the search gives E, B, A, D, C. Third query: nothing is relevant, so it is left out.
metrics = {
    "recall@3": 2 / 2,
    "precision@3": 2 / 3,
    "reciprocal rank": 1 / 2,
    "MRR": (1 / 2 + 1 / 4) / 2,
    "nDCG@3": (1 / math.log2(3) + 1 / math.log2(4)) / (1 / math.log2(2) + 1 / math.log2(3)),
}

# The best of the sweep over the queries at even positions (counted from 0).
settings = {"k_rrf": 7, "candidates": 40}
