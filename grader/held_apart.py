"""Settings of a fusion, judged on queries that were held apart when they were chosen.

What each setting is worth on them is measured when the build runs, from stored vectors; a check looks it up.
"""

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from .compare import Comparison, Row
from .display import clip, show
from .language import N_
from .language import translate as _
from .outcome import Outcome
from .references import FOLDER

_REFERENCE = FOLDER / "tuning.json"


class Settings(Comparison):
    """Are the settings {"k_rrf": ..., "candidates": ...} good enough on the queries held apart?

    Their MRR may be ``within`` (of the probe's input) below the best. The reference holds the MRR at each step of
    lab.sweep; a number between two steps counts as the nearest one.
    """

    def expected(self, run: Callable[[Mapping[str, Any]], Outcome], given: Mapping[str, Any]) -> Outcome:
        table = measured()
        best = max(map(max, table["MRR"]))
        return {"value": {"at least": round(best - given["within"], 6), **table}}

    def _right(self, expected: Any, yours: Any) -> bool:
        return not refused(yours) and _nearest(expected, yours)[2] >= expected["at least"] - self.tolerance

    def _alike(self, one: Any, other: Any) -> bool:
        return sort_of_settings(one) == sort_of_settings(other)

    def _rows(self, expected: Any, yours: Any, digits: int) -> list[Row]:
        wrong = refused(yours)
        if wrong:
            valid = {
                "k_rrf": _("k_rrf: a number of at least 0"),
                "candidates": _("candidates: a whole number, 1 or more"),
            }.get(wrong, wrong)
            return [Row(None, valid, clip(show(yours)), N_("value"))]
        k_rrf, candidates, mrr = _nearest(expected, yours)
        wanted = _("MRR {mrr:.3f} or more").format(mrr=expected["at least"])
        found = _("MRR {mrr:.3f} (k_rrf {k_rrf:g}, candidates {candidates})").format(
            mrr=mrr, k_rrf=k_rrf, candidates=candidates
        )
        return [Row(None, wanted, found, N_("value"))]


def refused(settings: Any) -> str:
    """The setting that no fusion takes, or an empty text."""
    if not isinstance(settings, dict):
        return N_("settings")
    k_rrf, candidates = settings.get("k_rrf"), settings.get("candidates")
    if not _is_number(k_rrf) or k_rrf < 0:
        return "k_rrf"
    if not _is_number(candidates) or candidates < 1 or candidates != int(candidates):
        return "candidates"
    return ""


def sort_of_settings(settings: Any) -> Any:
    """Settings of one sort go wrong for the same reason.

    The limits are those of the table's steps: 8 candidates are looked up as 7, and a k_rrf of 6 as 5.
    """
    wrong = refused(settings)
    if wrong:
        return wrong
    if settings["candidates"] <= 8:
        return "few candidates"
    if settings["k_rrf"] <= 6:
        return "first places"
    return "many candidates" if settings["candidates"] > 45 else str(settings)


def _nearest(table: dict, settings: dict) -> tuple[float, int, float]:
    """The step of the table next to the settings, and the MRR there."""
    row, column = (
        min(range(len(table[name])), key=lambda i: abs(table[name][i] - settings[name]))
        for name in ("k_rrf", "candidates")
    )
    return table["k_rrf"][row], table["candidates"][column], table["MRR"][row][column]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@cache
def measured() -> dict[str, list]:
    """The MRR of each setting on the queries held apart: "MRR" has a row a "k_rrf", a column a "candidates".

    Needs the language reference whose vectors are stored. Where Python has another, what was measured before stays.
    """
    from hybrid_search import BM25Index, Retriever, VectorIndex
    from lab import judged_queries, python_reference, python_tokens, sweep
    from lab.stored_vectors import StoredEmbedder, known

    documents = python_reference()
    texts = {document["content"] for document in documents}
    if len(known(texts)) < len(texts):
        return _measured_before()
    retriever = Retriever(VectorIndex(StoredEmbedder()), BM25Index(python_tokens))
    retriever.add_documents(documents)
    # The unit chooses on the queries at the other positions.
    table = sweep(retriever, judged_queries("python")[1::2]).table
    return {
        "k_rrf": table.index.tolist(),
        "candidates": table.columns.tolist(),
        "MRR": [[round(value, 6) for value in row] for row in table.to_numpy().tolist()],
    }


def _measured_before() -> dict[str, list]:
    value = json.loads(_REFERENCE.read_text(encoding="utf-8"))["expected"][0]["value"]
    return {name: value[name] for name in ("k_rrf", "candidates", "MRR")}
