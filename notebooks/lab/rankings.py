"""What each index finds for a query: searched once, at full depth, so that a new setting only has to fuse."""

from collections.abc import Iterable, Sequence
from itertools import count, islice

from lab.errors import PlainError
from lab.evaluation import SearchError
from lab.language import _

# How the course calls its indexes; any other goes by the name of its class.
_NAMES = {"VectorIndex": "vector", "BM25Index": "BM25"}
# Asked of an index where no index tells its length.
_DEPTH = 10_000


class IndexSearchError(PlainError, SearchError):
    """An index cannot be searched; the message names it and the query."""


class Rankings:
    """The full rankings of some indexes. A query is searched once, then remembered.

    ``indexes`` have the method search(query, k), which gives pairs (document, value), best first. ``names`` are
    what tables and pictures call them, one each. ``weights`` are the weights that their retriever fuses with, or
    None. The indexes should not change meanwhile: make new Rankings after adding a document.

    Raises ValueError without an index, for names that are not one each, and for weights that RRF refuses.
    """

    def __init__(
        self,
        indexes: Iterable,
        names: Sequence[str] | None = None,
        weights: Sequence[float] | None = None,
    ) -> None:
        from hybrid_search.rrf import check_weights

        self.indexes = list(indexes)
        if not self.indexes:
            raise ValueError(_("There is no index to search: give at least one, such as [vector_index]."))
        for index in self.indexes:
            if isinstance(index, type) or not callable(getattr(index, "search", None)):
                raise ValueError(
                    _("An index needs the method search(query, k), and {index} has none.").format(
                        index=str(index)[:60]
                    )
                )
        self.names = _unique_names(self.indexes) if names is None else [str(name) for name in names]
        if len(self.names) != len(self.indexes) or len(set(self.names)) != len(self.names):
            raise ValueError(
                _("Give each index a name of its own: got the names {names} for {count} indexes.").format(
                    names=self.names, count=len(self.indexes)
                )
            )
        self.weights = check_weights(weights, len(self.indexes))
        self._found: dict[str, list[list[dict]]] = {}

    @classmethod
    def from_retriever(cls, retriever: object, indexes: Iterable | None = None) -> "Rankings":
        """The rankings of a retriever's indexes, with its weights. Rankings given are given back as they are.

        ``indexes`` is needed where the retriever has no list ``.indexes``. Raises ValueError as Rankings does.
        """
        if isinstance(retriever, Rankings):
            return retriever
        if indexes is None:
            indexes = getattr(retriever, "indexes", None)
        if not isinstance(indexes, Iterable):
            raise ValueError(
                _(
                    "{retriever} has no list .indexes, so its rankings cannot be seen one by one: give them "
                    "too, as indexes=[vector_index, bm25_index]."
                ).format(retriever=_name_of(retriever))
            )
        return cls(indexes, weights=getattr(retriever, "weights", None))

    @property
    def size(self) -> int:
        """The number of documents: what the largest index says, else the longest ranking so far."""
        longest = [len(ranking) for rankings in self._found.values() for ranking in rankings]
        return max([0, *longest, *self._lengths()])

    def of(self, query: str) -> list[list[dict]]:
        """For each index the documents it finds, best first, as many as it has.

        Raises ValueError for an empty query, and SearchError, which names the index and the query, where an
        index fails; nothing is remembered then. NotImplementedError, of an exercise not yet done, is let through.
        """
        if not isinstance(query, str) or not query.strip():
            raise ValueError(_("The query is empty: write a few words to search for."))
        if query not in self._found:
            depth = max([1, *self._lengths()]) if self._lengths() else _DEPTH
            self._found[query] = [
                _documents(index, name, query, depth)
                for index, name in zip(self.indexes, self.names, strict=True)
            ]
        return self._found[query]

    def _lengths(self) -> list[int]:
        return [len(index) for index in self.indexes if hasattr(index, "__len__")]


def _documents(index: object, name: str, query: str, depth: int) -> list[dict]:
    try:
        pairs = list(islice(index.search(query, depth), depth))
    except NotImplementedError:
        raise
    except Exception as error:
        raise IndexSearchError(
            _(
                "The index {name} failed on the query {query!r} with {kind}: {error}. Search it alone, with "
                "search({query!r}, 1), and repair it; then run this cell again."
            ).format(name=name, query=query, kind=type(error).__name__, error=error)
        ) from error
    for pair in pairs:
        if not (isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[0], dict)):
            raise IndexSearchError(
                _(
                    "The index {name} must give pairs (document, value), where a document is a dict. For the "
                    "query {query!r} it gave {pair}."
                ).format(name=name, query=query, pair=str(pair)[:80])
            )
    return [document for document, _value in pairs]


def _unique_names(indexes: Sequence) -> list[str]:
    """Such as "vector", "BM25", "BM25 2": the second of a name gets a number."""
    names: list[str] = []
    for index in indexes:
        name = _name_of(index)
        numbered = (f"{name} {number}" for number in count(2))
        names.append(name if name not in names else next(new for new in numbered if new not in names))
    return names


def _name_of(thing: object) -> str:
    return _NAMES.get(type(thing).__name__, type(thing).__name__)
