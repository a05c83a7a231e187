"""Unit 04: one retriever over any number of indexes, fused by rank."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Protocol

from .bm25 import tokenize
from .documents import DocumentList, check_count, check_query, identities
from .rrf import check_k_rrf, check_weights, rrf_scores


class SearchIndex(Protocol):
    """What a class needs to join a Retriever."""

    def add_document(self, document: dict) -> None: ...

    def search(self, query: str, k: int) -> list[tuple[dict, float]]:
        """At most k pairs (document, value), best first. What the value means is the index's own affair."""


class Retriever:
    """Asks every index and fuses their rankings with reciprocal rank fusion.

    Only ranks are fused: a cosine distance falls and a BM25 score rises as things fit better, so the values
    themselves cannot be added. ``indexes`` and ``weights`` are public and may be changed between searches.

    Raises ValueError without an index, or for weights that are negative, NaN, all zero or too few or many.
    """

    def __init__(self, *indexes: SearchIndex, weights: Sequence[float] | None = None) -> None:
        if not indexes:
            raise ValueError("a Retriever needs at least one index: Retriever(vector_index, bm25_index)")
        for index in indexes:
            if isinstance(index, type) or not callable(getattr(index, "search", None)):
                raise TypeError(
                    f"an index needs the methods add_document(document) and search(query, k): got {index!r}"
                )
        self.indexes = list(indexes)
        self.weights = weights if weights is None else check_weights(weights, len(indexes))
        self._documents = DocumentList()

    @property
    def weights(self) -> Sequence[float]:
        """One weight for each index; 1 for each where none were given."""
        return [1.0] * len(self.indexes) if self._weights is None else self._weights

    @weights.setter
    def weights(self, weights: Sequence[float] | None) -> None:
        self._weights = weights

    def add_document(self, document: dict) -> None:
        """Add a document to every index. The same object again is ignored; another with its id is a ValueError."""
        self.add_documents([document])

    def add_documents(self, documents: Iterable[dict]) -> None:
        """Add many documents to every index, through ``add_documents`` where an index has it.

        A bad document is refused before any index has seen one. If an index itself fails, those before it keep
        the documents: adding them again is safe where an index ignores what it has, as those of this course do.
        """
        new = self._documents.new(documents)
        for index in self.indexes:
            if callable(getattr(index, "add_documents", None)):
                index.add_documents(new)
            else:
                for document in new:
                    index.add_document(document)
        self._documents.extend(new)

    def search(
        self, query: str, k: int = 1, k_rrf: float = 60, candidates: int = 20
    ) -> list[tuple[dict, float]]:
        """The best k documents of all indexes as pairs (document, RRF score), best first.

        Each index is asked for its best ``candidates``. A document's score is the sum, over the indexes that
        found it, of weight / (k_rrf + rank). Higher is better; equal scores are ordered by the better best
        rank, then by which came first. k may exceed candidates: 10 and 10 candidates can give 20 results.

        Raises ValueError for an empty query, k or candidates below 1, or a negative k_rrf.
        """
        check_query(query)
        k, candidates = check_count(k, "k"), check_count(candidates, "candidates")
        weights = check_weights(self.weights, len(self.indexes))
        check_k_rrf(k_rrf)
        # Holds on to every document until the end: those an index makes while it searches are told apart
        # by their address, which must not be used twice.
        documents: dict = {}
        rankings = []
        for index, weight in zip(self.indexes, weights, strict=True):
            found = _documents_of(index, query, candidates) if weight else []
            ranking = identities(found)
            # Of two with one id the first that was found stays.
            documents = dict(zip(reversed(ranking), reversed(found), strict=True)) | documents
            rankings.append(ranking)
        scores = rrf_scores(rankings, k_rrf, weights)
        return [(documents[key], score) for key, score in islice(scores.items(), k)]


def _documents_of(index: SearchIndex, query: str, candidates: int) -> list[dict]:
    found = index.search(query, candidates)
    documents = []
    for pair in islice(found, candidates) if isinstance(found, Iterable) else [found]:
        try:
            document, _ = pair
        except (TypeError, ValueError):
            document = None
        if not isinstance(document, dict):
            raise TypeError(
                f"search of {type(index).__name__} must give pairs (document, value): got {str(pair)[:80]}"
            )
        documents.append(document)
    return documents


class KeywordIndex:
    """The smallest index that can join a Retriever: it counts the words that query and document share."""

    def __init__(self) -> None:
        self._documents = DocumentList()
        self._words: list[set[str]] = []

    def add_document(self, document: dict) -> None:
        """Add a document. The same object again is ignored; another with its id is a ValueError."""
        new = self._documents.new([document])
        self._words += [set(tokenize(document["content"])) for document in new]
        self._documents.extend(new)

    def search(self, query: str, k: int = 1) -> list[tuple[dict, int]]:
        """At most k pairs (document, number of different query words in it), most first.

        Equal counts keep the order of addition; a document without a shared word is not returned.
        """
        check_query(query)
        k, wanted = check_count(k, "k"), set(tokenize(query))
        counts = [
            (document, len(wanted & words))
            for document, words in zip(self._documents, self._words, strict=True)
        ]
        return sorted((pair for pair in counts if pair[1]), key=lambda pair: -pair[1])[:k]
