"""One query's fusion, document by document: the rows that the picture and the widget both draw."""

from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from lab.evaluation import judged_ids
from lab.metrics import check_count

_ABSENT = (None, 0.0)


class FusedRow(NamedTuple):
    """A document in a fused ranking.

    ``ranks`` and ``contributions`` have one entry an index: the document's rank there (from 1), None where it is
    not among the candidates, and what that adds to the score, 0.0 for nothing. ``score`` is the RRF score, higher
    is better; ``rank`` the fused rank, from 1. ``move`` says how many places the document has gained since the
    previous setting, below 0 where it lost, None where it was not there; 0 for all without a previous setting.
    """

    label: str
    document: dict
    ranks: tuple[int | None, ...]
    contributions: tuple[float, ...]
    score: float
    rank: int
    move: int | None
    relevant: bool


def fused_rows(
    rankings: Sequence[Sequence[dict]],
    k_rrf: float = 60,
    candidates: int = 20,
    weights: Sequence[float] | None = None,
    relevant: Collection[Hashable] = (),
    previous: Sequence[FusedRow] | None = None,
) -> list[FusedRow]:
    """The fused ranking of one query, best first: every document, with its ranks and what each one adds.

    ``rankings`` has a list of documents an index, best first, as Rankings.of gives them; the first ``candidates``
    of each take part. The order and the scores are those of hybrid_search.Retriever.search with the same settings.
    ``relevant`` holds the judged ids of the right documents, ``previous`` the rows before a setting changed.

    Raises ValueError for a setting that RRF refuses, and for a document without an id where ``relevant`` is given.
    """
    from hybrid_search.documents import identity
    from hybrid_search.rrf import check_weights, rrf_scores

    candidates = check_count(candidates, "candidates")
    weights = check_weights(weights, len(rankings))
    documents, keys = {}, []
    for ranking, weight in zip(rankings, weights, strict=True):
        found = [(identity(document), document) for document in ranking[:candidates]]
        keys.append(list(dict.fromkeys(key for key, _document in found)))
        if weight:
            for key, document in found:
                documents.setdefault(key, document)
    scores = rrf_scores(keys, k_rrf, weights)
    # For each index: a document's rank in it, and what that adds.
    parts = [
        {key: (rank, weight / (k_rrf + rank)) for rank, key in enumerate(ranking, start=1)}
        for ranking, weight in zip(keys, weights, strict=True)
    ]
    before = None if previous is None else {identity(row.document): row.rank for row in previous}
    rows = []
    for rank, (key, score) in enumerate(scores.items(), start=1):
        document = documents[key]
        ranks, contributions = zip(*[of.get(key, _ABSENT) for of in parts], strict=True)
        rows.append(
            FusedRow(
                label_of(document),
                document,
                ranks,
                contributions,
                score,
                rank,
                _move(before, key, rank),
                _answers(document, relevant),
            )
        )
    return rows


def _move(before: dict[Hashable, int] | None, key: Hashable, rank: int) -> int | None:
    if before is None:
        return 0
    return before[key] - rank if key in before else None


def label_of(document: dict) -> str:
    """What a row calls a document: its title, its id, the beginning of its text.

    A part of a topic goes by its id, since several parts may stand under one title.
    """
    for key in ("id", "title", "content") if document.get("topic") else ("title", "id", "content"):
        text = " ".join(str(document.get(key, ""))[:200].split())
        if text:
            return text if len(text) <= 60 else text[:59].rstrip() + "\u2026"
    return "?"


def _answers(document: dict, relevant: Collection[Hashable]) -> bool:
    return bool(relevant) and judged_ids([(document, None)])[0] in relevant
