"""After unit 02: the same search by words, for many documents. bm25s keeps each term's scores ready in a table."""

from collections.abc import Sequence

import numpy as np

from .bm25 import BM25Index


class FastBM25Index(BM25Index):
    """BM25Index with the scores of every term worked out beforehand, on bm25s.

    The same interface and the same scores (within 1e-6), so that one may stand in for the other. A search only adds
    up the columns of its terms; making the table takes longer than rank-bm25's counts, and happens at the first
    search after an addition. Source: Lù, "BM25S: Orders of magnitude faster lexical search via eager sparse scoring",
    2024.
    """

    def _make_model(self) -> tuple:
        import bm25s

        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(term, len(numbers)) for term in tokens] for tokens in self._tokens]
        # ATIRE's term frequency with Lucene's IDF is the formula of BM25Index.
        model = bm25s.BM25(k1=self.k1, b=self.b, method="atire", idf_method="lucene", dtype="float64")
        model.index((rows, numbers), create_empty_token=False, show_progress=False)
        return model, numbers

    def _scores(self, terms: Sequence[str]) -> np.ndarray:
        model, numbers = self._model
        return model.get_scores_from_ids([numbers[term] for term in terms if term in numbers])
