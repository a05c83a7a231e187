"""Unit 01: cut a text into sections, measure the distance of two vectors, search by vector."""

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from .documents import DocumentList, check_count, check_query, name_of

_FENCE_OPENS = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_FENCE_CLOSES = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*$")
_HEADING = re.compile(r"##[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_TITLE = re.compile(r"#[ \t]+\S.*$")
# Wider than the rounding of a float32 product, so that no row that may belong to the best k is left out.
_MARGIN = 1e-5
_ROWS_AT_ONCE = 65_536


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


def _direction(vector: object, whose: str) -> np.ndarray:
    """The vector as float64 of length 1, or a ValueError that says whose vector is wrong and why."""
    try:
        # A copy in float64 first: in int8 or float16 the products below would overflow.
        array = np.array(vector, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{whose} is not a list of numbers") from None
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"{whose} must have one dimension and at least one number: got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{whose} holds NaN or an infinite number")
    largest = np.abs(array).max()
    if largest == 0:
        raise ValueError(f"{whose} is a zero vector: it has no direction to compare")
    array /= largest  # keeps the squares of tiny and huge numbers within range
    return array / np.linalg.norm(array)


def _distances(rows: np.ndarray, direction: np.ndarray) -> np.ndarray:
    """1 - cosine in float64. A float32 row is not quite of length 1, so its own length is divided out."""
    rows = rows.astype(np.float64)
    return 1.0 - (rows * direction).sum(axis=1) / np.sqrt((rows * rows).sum(axis=1))


class VectorIndex:
    """Exact nearest neighbours by cosine distance, over vectors held in one float32 matrix.

    Vectors are normalised once, when they are added, so that a search is one matrix-vector product.
    ``embedder`` is needed only to add documents by their text and to search with text.
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = embedder
        self._documents = DocumentList()
        self._rows = np.empty((0, 0), dtype=np.float32)  # grows by doubling; the first len(self) rows count

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
        if self._documents.new([document]):
            self._append([self._checked(vector, document)], [document])

    def add_document(self, document: dict) -> None:
        """Embed a document's "content" and add it. The same document object given again is ignored."""
        self.add_documents([document])

    def add_documents(self, documents: Iterable[dict]) -> None:
        """Embed and add many documents in one call. If one is refused, none is added."""
        new = self._documents.new(documents)
        if not new:
            return
        vectors = self._embedder().embed_documents([document["content"] for document in new])
        if len(vectors) != len(new):
            raise ValueError(f"the embedder gave {len(vectors)} vectors for {len(new)} documents")
        rows, dimension = [], self.dimension
        for vector, document in zip(vectors, new, strict=True):
            rows.append(self._checked(vector, document, dimension))
            dimension = rows[0].size
        self._append(rows, new)

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
        rows = self._rows[: len(self)]
        similarities = rows @ np.asarray(directions, dtype=np.float32).T
        return [
            self._nearest(similarities[:, i], direction, min(k, len(self)))
            for i, direction in enumerate(directions)
        ]

    def _nearest(self, similarities: np.ndarray, direction: np.ndarray, k: int) -> list[tuple[dict, float]]:
        """The exact best k. The float32 product only chooses who is compared: equal rows may differ there
        in the last bit, by their place in the matrix. The comparison itself is in float64, row by row."""
        worst = np.partition(similarities, len(similarities) - k)[len(similarities) - k]
        chosen = np.flatnonzero(similarities >= worst - _MARGIN)
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

    def _checked(self, vector: Sequence[float], document: dict, dimension: int | None = None) -> np.ndarray:
        row = _direction(vector, f"the vector of {name_of(document)}")
        dimension = dimension or self.dimension
        if dimension not in (None, row.size):
            raise ValueError(
                f"the vector of {name_of(document)} has {row.size} dimensions, the index has {dimension}"
            )
        return row.astype(np.float32)

    def _append(self, rows: list[np.ndarray], documents: list[dict]) -> None:
        filled, needed = len(self), len(self) + len(rows)
        if needed > len(self._rows):
            grown = np.empty((max(needed, 2 * len(self._rows)), rows[0].size), dtype=np.float32)
            if filled:
                grown[:filled] = self._rows[:filled]
            self._rows = grown
        self._rows[filled:needed] = rows
        self._documents.extend(documents)
