"""Unit 01: cut a text into sections, measure the distance of two vectors, search by vector."""

import math
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np

from .documents import DocumentList, check_count, check_query, name_of

_FENCE_OPENS = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_CLOSES = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")
_HEADING = re.compile(r"##[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_TITLE = re.compile(r"#[ \t]+\S.*$")
# Wider than the rounding of a float32 product, so that no row that may belong to the best k is left out.
_MARGIN = 1e-5
# Rows in float64 that fit in a processor's cache.
_ROWS_AT_ONCE = 1_024
# Of a product of many rows with many queries: larger ones take memory, smaller ones leave BLAS's threads waiting.
_ROWS_OF_A_PRODUCT, _QUERIES_AT_ONCE = 65_536, 32
# A group's best row stands for it when a search looks for the best.
_ROWS_OF_A_GROUP = 64
# So many numbers are in no cache: how fast they can be read decides how fast a search is.
_MANY_NUMBERS = 2**24


class Embedder(Protocol):
    """Anything that turns texts into vectors, with LangChain's two methods."""

    def embed_documents(self, texts: list[str]) -> Sequence[Sequence[float]]: ...

    def embed_query(self, text: str) -> Sequence[float]: ...


def chunk_by_section(text: str) -> list[str]:
    """Cut a Markdown text at its second-level headings (``## ``).

    Each chunk is the heading without its marks, a blank line, and the body. Text before the first heading
    is a chunk of its own if it is more than the document's title. Chunks come in the order of the text and
    lose nothing but heading marks, the blank lines around a body, and the "\\r" of Windows line ends. A
    ``## `` inside a fenced code block is code, not a heading.

    Raises TypeError for anything but a str. A text without content gives no chunk.
    """
    if not isinstance(text, str):
        raise TypeError(f"the text must be a str: got {type(text).__name__}")
    heading, body, chunks, fence = None, [], [], ""

    def close() -> None:
        content = _without_blank_edges(body)
        if heading is None and _TITLE.fullmatch(content):
            return
        if heading or content:
            chunks.append("\n\n".join(part for part in (heading, content) if part))

    for line in text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"):
        if fence:
            end = _FENCE_CLOSES.match(line)
            if end and end[1].startswith(fence):
                fence = ""
        elif start := _FENCE_OPENS.match(line):
            fence = start[1]
        elif match := _HEADING.match(line):
            close()
            heading, body = match[1], []
            continue
        body.append(line)
    close()
    return chunks


def _without_blank_edges(lines: list[str]) -> str:
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    return "\n".join(lines[start:end])


def cosine_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """1 minus the cosine of the angle between two vectors: 0 the same direction, 2 the opposite one.

    Smaller is closer. Raises ValueError for a zero vector, a NaN or infinite number, or vectors of two
    dimensions.
    """
    a, b = _direction(a, "the first vector"), _direction(b, "the second vector")
    if a.shape != b.shape:
        raise ValueError(f"the vectors must have the same dimension: got {a.size} and {b.size}")
    return float(1.0 - a @ b)


def _direction(vector: object, whose: str | dict) -> np.ndarray:
    """The vector as float64 of length 1, or a ValueError that says whose vector is wrong (a document's, or
    as the str says) and why."""
    try:
        # A copy in float64 first: in int8 or float16 the products below would overflow.
        array = np.array(vector, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{_named(whose)} is not a list of numbers") from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{_named(whose)} must have one dimension and at least one number: got shape {array.shape}"
        )
    square = np.vdot(array, array)  # unlike @, without a warning where it overflows
    if not _is_ordinary(square):
        if not np.isfinite(array).all():
            raise ValueError(f"{_named(whose)} holds NaN or an infinite number")
        largest = np.abs(array).max()
        if largest == 0:
            raise ValueError(f"{_named(whose)} is a zero vector: it has no direction to compare")
        array /= largest  # brings the squares of tiny and huge numbers within range
        square = np.vdot(array, array)
    array /= math.sqrt(square)
    return array


def _is_ordinary(square: np.ndarray | float) -> np.ndarray | bool:
    """Whether a vector whose length has this square is finite, not zero, and so large that what was lost in squaring
    its numbers does not count."""
    return (square > 1e-200) & (square < 1e200)


def _named(whose: str | dict) -> str:
    return whose if isinstance(whose, str) else f"the vector of {name_of(whose)}"


def _as_rows(vectors: Iterable[Sequence[float]]) -> Sequence[Sequence[float]]:
    """The vectors as they came where they can be cut, such as an array or what is read from a file; or as a list."""
    try:
        _ = vectors[:0]
    except (TypeError, KeyError):  # a dict looks for slice(0) among its keys
        return list(vectors)
    return vectors


def _directions(vectors: Sequence, documents: list[dict], dimension: int | None) -> Sequence[np.ndarray]:
    """What ``_direction`` gives for each document's vector, to the last bit, all of one dimension: shape (n, d).

    Only if all are ordinary can they be done at once; one by one, the one to refuse is found and named.
    """
    try:
        # Row by row in memory, whatever the order given: sums differ in the last bit by the order of their parts.
        rows = np.array(vectors, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        rows = np.empty(0)
    if rows.ndim == 2 and rows.size and dimension in (None, rows.shape[1]):
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.vecdot(rows, rows)
        if _is_ordinary(squares).all():
            rows /= np.sqrt(squares)[:, None]
            return rows
    rows = []
    for vector, document in zip(vectors, documents, strict=True):
        rows.append(_direction(vector, document))
        dimension = dimension or rows[0].size
        _check_dimension(rows[-1], document, dimension)
    return rows


def _check_dimension(row: np.ndarray, document: dict, dimension: int | None) -> None:
    if dimension not in (None, row.size):
        raise ValueError(
            f"the vector of {name_of(document)} has {row.size} dimensions, the index has {dimension}"
        )


def _distances(rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """1 - cosine in float64. A float32 row is not quite of length 1, so its own length is divided out."""
    rows = rows.astype(np.float64)
    return 1.0 - (rows * direction).sum(axis=1) / np.sqrt((rows * rows).sum(axis=1))


class VectorIndex:
    """Exact nearest neighbours by cosine distance, over vectors held in one float32 matrix.

    Vectors are normalised once, when they are added, so that a search is one matrix-vector product, about as
    fast as memory can be read.
    ``embedder`` is needed only to add documents by their text and to search with text.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder
        self._documents = DocumentList()
        self._rows = np.empty((0, 0), dtype=np.float32)  # grows by doubling; the first len(self) rows count
        self._product: Callable | None = None  # chosen at the first search of one query over many numbers

    def __len__(self) -> int:
        return len(self._documents)

    @property
    def dimension(self) -> int | None:
        """The dimension of the vectors, or None while the index is empty."""
        return self._rows.shape[1] if len(self) else None

    def add_vector(self, vector: Sequence[float], document: dict) -> None:
        """Add a document under a vector. The same document object given again is ignored.

        Raises ValueError, naming the document, for a zero vector, a NaN or infinite number, a dimension
        other than the index's, or an id that another document has.
        """
        if self._documents.lacks(document):
            row = _direction(vector, document)
            place = len(self._documents)
            if place == len(self._rows) or row.size != self._rows.shape[1]:
                _check_dimension(row, document, self.dimension)
                self._make_room(1, row.size)
            self._rows[place] = row
            self._documents.append(document)

    def add_vectors(self, vectors: Iterable[Sequence[float]], documents: Iterable[dict]) -> None:
        """``add_vector`` for many at once: the first vector, or row, is the first document's, and so on.

        If one is refused, none is added. Documents that are already there are ignored, with their vectors.
        Raises as ``add_vector`` does, and ValueError where there is not one vector for each document.
        """
        vectors, documents = _as_rows(vectors), list(documents)
        if len(vectors) != len(documents):
            raise ValueError(f"there are {len(vectors)} vectors for {len(documents)} documents")
        new = self._documents.new(documents)
        if len(new) < len(documents):
            vector_of: dict[int, Sequence[float]] = {}
            for vector, document in zip(vectors, documents, strict=True):
                vector_of.setdefault(id(document), vector)
            vectors = [vector_of[id(document)] for document in new]
        self._append(vectors, new)

    def add_document(self, document: dict) -> None:
        """Embed a document's "content" and add it. The same document object given again is ignored."""
        self.add_documents([document])

    def add_documents(self, documents: Iterable[dict]) -> None:
        """Embed and add many documents in one call. If one is refused, none is added."""
        new = self._documents.new(documents)
        if not new:
            return
        vectors = _as_rows(self._embedder().embed_documents([document["content"] for document in new]))
        if len(vectors) != len(new):
            raise ValueError(f"the embedder gave {len(vectors)} vectors for {len(new)} documents")
        self._append(vectors, new)

    def search(self, query_or_vector: str | Sequence[float], k: int = 1) -> list[tuple[dict, float]]:
        """The k nearest documents as pairs (document, cosine distance), nearest first.

        The distance falls as things get closer: 0 is the same direction, 2 the opposite one. Equal
        distances keep the order in which the documents were added. k larger than the index gives the whole
        index. Raises ValueError for k < 1, an empty query, or a query vector of another dimension.
        """
        return self.search_many([query_or_vector], k)[0]

    def search_many(
        self, queries: Sequence[str | Sequence[float]], k: int = 1
    ) -> list[list[tuple[dict, float]]]:
        """``search`` for several queries at once: one list of results a query."""
        k = check_count(k, "k")
        if isinstance(queries, str):
            raise TypeError("search_many takes a list of queries; for one query call search")
        directions = [self._query_direction(query) for query in queries]
        if not len(self) or not directions:
            return [[] for _ in directions]
        found = []
        for start in range(0, len(directions), _QUERIES_AT_ONCE):
            some = directions[start : start + _QUERIES_AT_ONCE]
            for similarities, direction in zip(self._similarities(some), some, strict=True):
                found.append(self._nearest(similarities, direction, k))
        return found

    def _similarities(self, directions: list[np.ndarray]) -> np.ndarray:
        """The cosines of all rows with each direction, in float32: shape (directions, rows)."""
        count = len(self)  # before the rows are asked for: another thread may add some
        rows, directions = self._rows[:count], np.asarray(directions, dtype=np.float32)
        if len(directions) == 1:
            if self._product is None and rows.size >= _MANY_NUMBERS:
                self._product = _faster_product(rows, directions[0])
            return (self._product or np.vecdot)(rows, directions[0])[None]
        similarities = np.empty((len(directions), len(rows)), dtype=np.float32)
        for start in range(0, len(rows), _ROWS_OF_A_PRODUCT):
            some = slice(start, start + _ROWS_OF_A_PRODUCT)
            similarities[:, some] = (rows[some] @ directions.T).T
        return similarities

    def _nearest(self, similarities: np.ndarray, direction: np.ndarray, k: int) -> list[tuple[dict, float]]:
        """The exact best k. The float32 product only chooses who is compared: equal rows may differ there
        in the last bit, by their place in the matrix. The comparison itself is in float64, row by row."""
        chosen = _candidates(similarities, min(k, len(similarities)))
        parts = np.array_split(chosen, -(-len(chosen) // _ROWS_AT_ONCE))
        distances = np.concatenate([_distances(self._rows[part], direction) for part in parts])
        best = np.argsort(distances, kind="stable")[:k]
        return [(self._documents[int(chosen[i])], float(distances[i])) for i in best]

    def _query_direction(self, query: str | Sequence[float]) -> np.ndarray:
        if isinstance(query, str):
            check_query(query)
            query = self._embedder().embed_query(query)
        direction = _direction(query, "the query vector")
        if self.dimension not in (None, direction.size):
            raise ValueError(
                f"the query vector has {direction.size} dimensions, the index has {self.dimension}: "
                "embed queries and documents with the same model"
            )
        return direction

    def _embedder(self) -> Embedder:
        if self.embedder is None:
            raise ValueError(
                "this index has no embedder, so it takes vectors only: make it with VectorIndex(embedder), "
                "or use add_vector and search with a vector"
            )
        return self.embedder

    def _append(self, vectors: Sequence[Sequence[float]], documents: list[dict]) -> None:
        """Check and append, some vectors at a time. What is written does not count before the end, so that a
        refusal leaves the index as it was."""
        filled, dimension = len(self), self.dimension
        for start in range(0, len(documents), _ROWS_AT_ONCE):
            some = slice(start, start + _ROWS_AT_ONCE)
            directions = _directions(vectors[some], documents[some], dimension)
            if start == 0:
                dimension = len(directions[0])
                self._make_room(len(documents), dimension)
            self._rows[filled + start : filled + start + len(directions)] = directions
        self._documents.extend(documents)

    def _make_room(self, count: int, dimension: int) -> None:
        """Grow for ``count`` further rows."""
        filled, needed = len(self), len(self) + count
        if needed > len(self._rows) or dimension != self._rows.shape[1]:
            grown = np.empty((max(needed, 2 * filled), dimension), dtype=np.float32)
            if filled:
                grown[:filled] = self._rows[:filled]
            self._rows = grown


def _faster_product(rows: np.ndarray, direction: np.ndarray) -> Callable:
    """What multiplies faster on this machine: BLAS with its threads, or row after row in one, which gets more out
    of memory than one of BLAS's threads does. BLAS's must gain something, as they wait where others work, too."""
    rows = rows[: _MANY_NUMBERS // len(direction)]
    fastest = dict.fromkeys((np.vecdot, np.matmul), math.inf)
    for product in 3 * list(fastest):
        started = time.perf_counter()
        product(rows, direction)
        fastest[product] = min(fastest[product], time.perf_counter() - started)
    return np.matmul if 1.1 * fastest[np.matmul] < fastest[np.vecdot] else np.vecdot


def _candidates(similarities: np.ndarray, k: int) -> np.ndarray:
    """The places of all that may belong to the best k, in their order.

    Each group's best is one similarity, so that at least k are no worse than the k-th best of these: only
    what is no worse, either, needs to be looked at. To find the best of all groups is much faster than to
    partition all similarities.
    """
    groups = len(similarities) // _ROWS_OF_A_GROUP
    near = np.arange(len(similarities))
    if groups >= k:
        best = similarities[: groups * _ROWS_OF_A_GROUP].reshape(_ROWS_OF_A_GROUP, groups).max(axis=0)
        near = np.flatnonzero(similarities >= _kth_largest(best, k) - _MARGIN)
    near_similarities = similarities[near]
    return near[near_similarities >= _kth_largest(near_similarities, k) - _MARGIN]


def _kth_largest(values: np.ndarray, k: int) -> float:
    return np.partition(values, len(values) - k)[len(values) - k]
