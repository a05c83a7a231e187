"""Unit 06: documents and their vectors in Postgres with pgvector, and a file brought into it and into BM25."""

import json
import math
import os
import re
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .bm25 import BM25Index
from .chunks import chunk_by_characters
from .documents import DocumentList, check_count, check_query, name_of
from .embeddings import Embedder, _direction, _distances

if TYPE_CHECKING:
    from psycopg import Connection, Cursor

MOST_DIMENSIONS, MOST_DIMENSIONS_HNSW = 16_000, 2_000  # of pgvector's type, and of its index
LONGEST_QUERY = 10_000  # characters
LARGEST_FILE = 20_000_000  # bytes
_LONGEST_ID = 500  # bytes; an entry of the index of ids must fit into a third of a page
_NAME = re.compile(r"[a-z_][a-z0-9_]{0,49}")
_COLUMNS = {"id": "jsonb", "content": "text", "metadata": "jsonb"}
_SPARE = 10  # rows fetched beyond k, among which the order may have to be corrected


class PgVectorIndex:
    """Nearest neighbours by cosine distance, over documents kept in a table of Postgres.

    The search is exact: Postgres compares the query with every vector. With an HNSW index it follows a graph to the
    likely nearest ones instead (``create_hnsw``), which is faster and may miss some; ``recall`` says how many.

    A row is a document: its "id" (a text or a whole number), its "content", all its other keys as metadata, and its
    vector, of length 1. A document comes back equal to what was added. One without an id is given one, in the dict
    itself, so that other indexes know it by the same. Unlike in a VectorIndex, a document takes the place of the one
    that has its id.

    ``connection`` is psycopg's. Each call is one transaction: it happens whole or not at all. ``embedder`` is needed
    only to add documents by their text and to search with text. ``dimensions`` need be given only to make the table
    at once; else it is made with the first document. Raises ValueError for a name that is no plain one, or a table
    that holds something else or vectors of other dimensions.
    """

    def __init__(
        self,
        connection: "Connection",
        embedder: Embedder | None = None,
        table: str = "documents",
        dimensions: int | None = None,
        ef_search: int = 100,
    ) -> None:
        self.connection, self.embedder = connection, embedder
        self.table, self.ef_search = _checked_name(table), check_count(ef_search, "ef_search")
        self.hnsw = False  # whether searches use the HNSW index
        _register_vectors(connection)
        with self._transaction() as cursor:
            self._stored_dimension(cursor)
            if dimensions is not None:
                self._make_table(cursor, check_count(dimensions, "dimensions"), "you ask for")

    def __len__(self) -> int:
        with self._transaction() as cursor:
            if self._stored_dimension(cursor) is None:
                return 0
            return cursor.execute(self._sql("SELECT count(*) FROM {table}")).fetchone()[0]

    @property
    def dimension(self) -> int | None:
        """The dimension of the vectors, or None while there is no table."""
        with self._transaction() as cursor:
            return self._stored_dimension(cursor)

    @property
    def documents(self) -> list[dict]:
        """All documents, in the order of their ids: whole numbers, then texts."""
        with self._transaction() as cursor:
            if self._stored_dimension(cursor) is None:
                return []
            rows = cursor.execute(self._sql("SELECT id, content, metadata FROM {table}")).fetchall()
        return [_document(*row) for row in sorted(rows, key=lambda row: _order(row[0]))]

    # ---- adding and deleting

    def add_vector(self, vector: Sequence[float], document: dict) -> None:
        """Add a document under a vector, in the place of the one that has its id.

        Raises ValueError, naming the document, for a zero vector, a NaN or infinite number, a dimension other than
        the table's, and for what Postgres cannot keep, such as a NUL character.
        """
        self.add_vectors([vector], [document])

    def add_document(self, document: dict) -> None:
        """Embed a document's "content" and add it, in the place of the one that has its id."""
        self.add_documents([document])

    def add_documents(self, documents: Iterable[dict]) -> None:
        """Embed and add many documents in one call. If one is refused, none is added."""
        documents = DocumentList().new(documents)
        for document in documents:
            _check_kept(document)
        if documents:
            texts = [document["content"] for document in documents]
            self.add_vectors(self._embedder().embed_documents(texts), documents)

    def add_vectors(self, vectors: Sequence[Sequence[float]], documents: Sequence[dict]) -> None:
        """Add many documents under their vectors, by one binary COPY. If one is refused, none is added.

        Two documents with one id in a call are a ValueError.
        """
        from psycopg.types.json import Jsonb

        documents = list(documents)
        if len(vectors) != len(documents):
            raise ValueError(f"there are {len(vectors)} vectors for {len(documents)} documents")
        if len(DocumentList().new(documents)) != len(documents):
            raise ValueError("a document is given twice in one call")
        if not documents:
            return
        rows, dimension = [], self.dimension
        for vector, document in zip(vectors, documents, strict=True):
            _check_kept(document)
            direction = _direction(vector, f"the vector of {name_of(document)}")
            dimension = dimension or direction.size
            self._check_dimension(direction.size, f"the vector of {name_of(document)} has", dimension)
            rows.append(
                (_id(document), document["content"], _metadata(document), direction.astype(np.float32))
            )
        with self._transaction() as cursor:
            self._make_table(cursor, dimension, "the vectors have")
            # Lets others read, and other writers wait: two that find an id missing would both insert it.
            cursor.execute(self._sql("LOCK TABLE {table} IN SHARE ROW EXCLUSIVE MODE"))
            self._delete(cursor, [row[0] for row in rows])
            columns = "COPY {table} (id, content, metadata, embedding) FROM STDIN (FORMAT BINARY)"
            with cursor.copy(self._sql(columns)) as copy:
                copy.set_types([*_COLUMNS.values(), "vector"])
                for key, content, metadata, vector in rows:
                    copy.write_row((Jsonb(key), content, Jsonb(metadata), vector))
        for document, row in zip(documents, rows, strict=True):
            document["id"] = row[0]

    def delete_document(self, document_id: str | int) -> bool:
        """Delete the document that has this id. Was there one?"""
        return bool(self.delete_documents([document_id]))

    def delete_documents(self, document_ids: Iterable[str | int]) -> int:
        """Delete the documents that have these ids. How many were there?"""
        if isinstance(document_ids, str):
            raise TypeError("delete_documents takes a list of ids; for one id call delete_document")
        document_ids = list(document_ids)
        with self._transaction() as cursor:
            return 0 if self._stored_dimension(cursor) is None else self._delete(cursor, document_ids)

    def _delete(self, cursor: "Cursor", document_ids: list) -> int:
        from psycopg.types.json import Jsonb

        ids = [Jsonb(_checked_id(document_id)) for document_id in document_ids]
        return cursor.execute(self._sql("DELETE FROM {table} WHERE id = ANY(%s::jsonb[])"), [ids]).rowcount

    # ---- searching

    def search(
        self, query_or_vector: str | Sequence[float], k: int = 1, exact: bool | None = None
    ) -> list[tuple[dict, float]]:
        """The k nearest documents as pairs (document, cosine distance), nearest first.

        The distance falls as things get closer: 0 is the same direction, 2 the opposite one. Equal distances come
        in the order of the ids: whole numbers, then texts. k larger than the table gives the whole table. ``exact``
        says whether to do without the HNSW index; by default ``hnsw`` does.

        Raises ValueError for k < 1, a query that is empty or longer than 10,000 characters, or a query vector of
        another dimension.
        """
        k, direction = check_count(k, "k"), self._query_direction(query_or_vector)
        approximate = self.hnsw if exact is None else not exact
        # Postgres sums in float32, which may swap documents that are about as near. It chooses whom to compare; the
        # comparison itself is VectorIndex's, in float64. The margin is the most that float32 can be wrong.
        margin, limit = direction.size * 4 * np.finfo(np.float32).epsneg, k + _SPARE
        with self._transaction() as cursor:
            dimension = self._stored_dimension(cursor)
            if dimension is None:
                return []
            self._check_dimension(direction.size, "the query vector has", dimension)
            if approximate:
                self._use_hnsw(cursor)
            rows = self._fetched(cursor, direction, limit, approximate)
            while len(rows) == limit and rows[-1][-1] <= rows[k - 1][-1] + margin:
                limit *= 4
                rows = self._fetched(cursor, direction, limit, approximate)
        if not rows:
            return []
        vectors = np.stack([np.frombuffer(row[3], dtype=">f4", offset=4) for row in rows])
        found = zip(_distances(vectors, direction).tolist(), rows, strict=True)
        nearest = sorted(found, key=lambda pair: (pair[0], _order(pair[1][0])))
        return [(_document(*row[:3]), distance) for distance, row in nearest[:k]]

    def create_hnsw(self, m: int = 16, ef_construction: int = 64) -> None:
        """Make the HNSW index of the table, anew where there is one, and use it in searches from now on.

        m is the number of links of a vector in the graph, ef_construction how many candidates are weighed when it
        is put in, ``ef_search`` how many in a search: more of each find more, and take longer. Exact searches stay
        possible: ``search(…, exact=True)``, or ``hnsw = False``. Source: Malkov and Yashunin, 2018.
        """
        m, ef_construction = check_count(m, "m"), check_count(ef_construction, "ef_construction")
        dimension = self.dimension
        if dimension is None:
            raise ValueError(f"there is no table {self.table} yet: add documents first")
        if dimension > MOST_DIMENSIONS_HNSW:
            raise ValueError(
                f"an HNSW index takes at most {MOST_DIMENSIONS_HNSW} dimensions, the table has {dimension}"
            )
        if not (2 <= m <= 100 and 2 * m <= ef_construction <= 1000):
            raise ValueError(
                "m must be from 2 to 100, and ef_construction from 2 * m to 1000: "
                f"got {m} and {ef_construction}"
            )
        make = (
            "CREATE INDEX {index} ON {table} USING hnsw (embedding vector_cosine_ops) "
            f"WITH (m = {m}, ef_construction = {ef_construction})"
        )
        with self._transaction() as cursor:
            cursor.execute(self._sql("DROP INDEX IF EXISTS {index}"))
            cursor.execute(self._sql(make))
        self.hnsw = True

    def recall(self, queries: Sequence[str | Sequence[float]], k: int = 10) -> float:
        """The share of the k exact nearest that searches with the HNSW index find: 1 is all. A mean over queries."""
        shares = []
        for query in queries:
            direction = self._query_direction(query)
            exact, found = (
                {document["id"] for document, _ in self.search(direction, k, exact)}
                for exact in (True, False)
            )
            if exact:
                shares.append(len(exact & found) / len(exact))
        if not shares:
            raise ValueError("recall needs at least one query and one document")
        return math.fsum(shares) / len(shares)

    def _fetched(self, cursor: "Cursor", direction: np.ndarray, limit: int, approximate: bool) -> list[tuple]:
        # An index is used for the plain operator alone, so that + 0 makes a search exact.
        order = "embedding <=> %(query)s" if approximate else "(embedding <=> %(query)s) + 0"
        statement = (
            "SELECT id, content, metadata, vector_send(embedding), distance FROM "
            f"(SELECT *, {order} AS distance FROM {{table}} ORDER BY {order} LIMIT %(limit)s) AS nearest "
            "ORDER BY distance"
        )
        values = {"query": direction.astype(np.float32), "limit": limit}
        return cursor.execute(self._sql(statement), values).fetchall()

    def _use_hnsw(self, cursor: "Cursor") -> None:
        """For this transaction. A strict scan goes on where ef_search candidates are not enough."""
        settings = {
            "hnsw.ef_search": str(self.ef_search),
            "hnsw.iterative_scan": "strict_order",
            "enable_seqscan": "off",
        }
        for name, value in settings.items():
            cursor.execute("SELECT set_config(%s, %s, true)", [name, value])

    def _query_direction(self, query: str | Sequence[float]) -> np.ndarray:
        if isinstance(query, str):
            check_query(query)
            if len(query) > LONGEST_QUERY:
                raise ValueError(
                    f"the query has {len(query)} characters, and at most {LONGEST_QUERY} are taken: "
                    "search with a question, or with a part of the text"
                )
            query = self._embedder().embed_query(query)
        return _direction(query, "the query vector")

    def _embedder(self) -> Embedder:
        if self.embedder is None:
            raise ValueError(
                "this index has no embedder, so it takes vectors only: make it with PgVectorIndex(connection, "
                "embedder), or use add_vector and search with a vector"
            )
        return self.embedder

    # ---- the table

    def _make_table(self, cursor: "Cursor", dimension: int, whose: str) -> None:
        """Make the table if there is none. ``whose`` begins the sentence where there is one of other dimensions."""
        if dimension > MOST_DIMENSIONS:
            raise ValueError(f"pgvector takes at most {MOST_DIMENSIONS} dimensions: got {dimension}")
        stored = self._stored_dimension(cursor)
        if stored is None:
            # Two that make one table at the same time would get an error from Postgres's own lists.
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [f"CREATE TABLE {self.table}"])
            columns = ", ".join(f"{name} {kind} NOT NULL" for name, kind in _COLUMNS.items())
            make = f"({columns}, embedding vector({dimension}) NOT NULL, PRIMARY KEY (id))"
            cursor.execute(self._sql(f"CREATE TABLE IF NOT EXISTS {{table}} {make}"))
            stored = self._stored_dimension(cursor)
        self._check_dimension(dimension, whose, stored)

    def _stored_dimension(self, cursor: "Cursor") -> int | None:
        """That of the table's vectors, or None where there is no table."""
        columns = dict(
            cursor.execute(
                "SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute "
                "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
                [self.table],
            ).fetchall()
        )
        if not columns:
            return None
        dimension = re.fullmatch(r"(?:\w+\.)?vector\((\d+)\)", columns.get("embedding", ""))
        if not dimension or not columns.items() >= _COLUMNS.items():
            raise ValueError(
                f"the table {self.table} holds something else than documents and vectors: choose another name"
            )
        return int(dimension[1])

    def _check_dimension(self, size: int, whose: str, dimension: int) -> None:
        if size != dimension:
            raise ValueError(
                f"{whose} {size} dimensions, the table {self.table} has {dimension}: embed with the model that the "
                "table was filled with, or choose another table"
            )

    def _sql(self, statement: str):
        from psycopg import sql

        return sql.SQL(statement).format(
            table=sql.Identifier(self.table), index=sql.Identifier(f"{self.table}_hnsw")
        )

    @contextmanager
    def _transaction(self) -> "Iterator[Cursor]":
        from psycopg.rows import tuple_row

        with self.connection.transaction(), self.connection.cursor(row_factory=tuple_row) as cursor:
            yield cursor


def _register_vectors(connection: "Connection") -> None:
    """Let the connection send vectors. Puts pgvector into the database if need be."""
    import psycopg
    from pgvector.psycopg import register_vector
    from psycopg.types import TypeInfo

    if TypeInfo.fetch(connection, "vector") is None:
        try:
            with connection.transaction():
                connection.execute("SELECT pg_advisory_xact_lock(hashtext('CREATE EXTENSION vector'))")
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.Error as error:
            raise ValueError(
                "this database has no pgvector, and it cannot be added now: have its administrator install it "
                f"and run CREATE EXTENSION vector ({type(error).__name__})"
            ) from error
    register_vector(connection)


def _checked_name(table: str) -> str:
    if not isinstance(table, str):
        raise TypeError(f"the name of a table must be text (str): got {type(table).__name__}")
    if not _NAME.fullmatch(table):
        raise ValueError(
            "the name of a table must be lower-case letters, digits and underscores, at most 50, "
            f"and no digit first: got {table!r}"
        )
    return table


# ---- documents as rows


def _document(document_id: str | int, content: str, metadata: dict) -> dict:
    return {"id": document_id, "content": content, **metadata}


def _metadata(document: dict) -> dict:
    return {key: value for key, value in document.items() if key not in ("id", "content")}


def _id(document: dict) -> str | int:
    return uuid.uuid4().hex if document.get("id") is None else document["id"]


def _order(document_id: str | int) -> tuple:
    """Sorts ids. Postgres would sort texts by the rules of the database's language."""
    return isinstance(document_id, str), document_id


def _checked_id(document_id: object) -> str | int:
    if isinstance(document_id, bool) or not isinstance(document_id, str | int):
        raise ValueError(
            f"an id must be a text or a whole number here: got {document_id!r} ({type(document_id).__name__})"
        )
    return document_id


def _check_kept(document: dict) -> None:
    """Refuse, by name, a document that Postgres could not give back as it is."""
    whose, values = name_of(document), [_checked_id(_id(document)), document["content"], _metadata(document)]
    if len(str(values[0]).encode("utf-8", "replace")) > _LONGEST_ID:
        raise ValueError(f"an id may have at most {_LONGEST_ID} bytes: {whose[:80]}… has more")
    try:
        kept = json.loads(json.dumps(values, allow_nan=False)) == values
    except (TypeError, ValueError, RecursionError):
        kept = False
    if not kept:
        raise ValueError(
            f"{whose} holds something that JSON does not give back as it was: use text, numbers, lists, and dicts "
            "with texts for keys"
        )
    for text in _texts(values):
        if "\0" in text:
            raise ValueError(f"{whose} holds a NUL character, which Postgres cannot keep: remove it")
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueError(f"{whose} holds half of a surrogate pair, which is no character: remove it")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in (*value, *value.values()) if isinstance(value, dict) else value:
            yield from _texts(part)


# ---- a file


def ingest(
    path: str | os.PathLike,
    vector_index: PgVectorIndex,
    bm25_index: BM25Index | None = None,
    *,
    snapshot: str | os.PathLike | None = None,
    chunk: Callable[[str], Sequence[str]] = chunk_by_characters,
    batch_size: int = 16,
    progress: Callable[[list, str], Iterable] | None = None,
) -> list[dict]:
    """Bring a text file into the table, and into BM25: its chunks, which are given back as documents.

    The chunks of an earlier version of the file, by its name, are gone afterwards. All that is embedded first, in
    batches; then one transaction writes. ``bm25_index`` is made to hold what the table holds, and ``snapshot``, a
    path, is where its snapshot is saved. A failure leaves the table, the index and the snapshot as they were. Only
    where the process is killed between the commit and the renaming of the snapshot is that left stale, which
    load_snapshot says; ingesting again puts it right.

    ``progress(batches, label)`` gives the batches one by one and may show how far they are, as lab's does.

    Raises ValueError for a file that is empty, larger than 20 MB, or no text in UTF-8; OSError where it cannot be
    read.
    """
    from psycopg.pq import TransactionStatus

    path, connection = Path(path).expanduser(), vector_index.connection
    if connection.info.transaction_status != TransactionStatus.IDLE:
        raise ValueError("the connection is in the middle of a transaction: commit it or roll it back first")
    documents = _chunks_of(path, chunk)
    vectors = []
    batches = [
        documents[i : i + batch_size] for i in range(0, len(documents), check_count(batch_size, "batch_size"))
    ]
    for batch in progress(batches, "Embedding chunks") if progress else batches:
        vectors += list(vector_index._embedder().embed_documents([document["content"] for document in batch]))
    with _alone(vector_index):
        unfinished = fresh = None
        try:
            with vector_index._transaction() as cursor:
                _delete_chunks(cursor, vector_index, path.name)
                vector_index.add_vectors(vectors, documents)
                if bm25_index is not None or snapshot is not None:
                    fresh = _bm25_like(bm25_index, vector_index.documents)
                if snapshot is not None:
                    unfinished = _save_beside(fresh, Path(snapshot).expanduser())
            if unfinished:
                os.replace(unfinished, Path(snapshot).expanduser())
        finally:
            if unfinished:
                unfinished.unlink(missing_ok=True)
    if bm25_index is not None:
        vars(bm25_index).update(vars(fresh))  # in place, since a Retriever may hold it
    return documents


def _chunks_of(path: Path, chunk: Callable[[str], Sequence[str]]) -> list[dict]:
    with open(path, "rb") as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise ValueError(
            f"{path.name} is larger than {LARGEST_FILE // 1_000_000} MB: cut it up, and ingest the parts"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{path.name} is no text in UTF-8: save it as text, in UTF-8") from None
    if "\0" in text:
        raise ValueError(f"{path.name} holds a NUL character, so it is no text: save it as text, in UTF-8")
    texts = [piece for piece in chunk(text) if piece.strip()]
    if not texts:
        raise ValueError(f"{path.name} is empty: there is nothing to search in it")
    # The digits make the order of the ids that of the chunks.
    return [
        {"id": f"{path.name}#{number:06}", "content": piece, "source": path.name, "chunk": number}
        for number, piece in enumerate(texts, start=1)
    ]


def _delete_chunks(cursor: "Cursor", vector_index: PgVectorIndex, source: str) -> None:
    if vector_index._stored_dimension(cursor) is not None:
        statement = "DELETE FROM {table} WHERE metadata ->> 'source' = %s AND metadata ? 'chunk'"
        cursor.execute(vector_index._sql(statement), [source])


def _bm25_like(bm25_index: BM25Index | None, documents: list[dict]) -> BM25Index:
    settings = {} if bm25_index is None else vars(bm25_index)
    fresh = BM25Index(**{name: settings[name] for name in ("tokenize", "k1", "b") if name in settings})
    fresh.add_documents(documents)
    return fresh


def _save_beside(index: BM25Index, path: Path) -> Path:
    from .snapshots import save_snapshot

    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    save_snapshot(index, unfinished)
    return unfinished


@contextmanager
def _alone(vector_index: PgVectorIndex) -> Iterator[None]:
    """One ingest into a table at a time, or the last snapshot might be that of the first. A death ends the wait."""
    import psycopg

    name = f"ingest {vector_index.table}"
    with vector_index._transaction() as cursor:
        cursor.execute("SELECT pg_advisory_lock(hashtext(%s))", [name])
    try:
        yield
    finally:
        with suppress(psycopg.Error), vector_index._transaction() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(hashtext(%s))", [name])
