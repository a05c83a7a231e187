"""Correct solutions of the exercise pgvector_index in different styles. Each of them must get full points."""

from contextlib import closing

import numpy as np
import psycopg
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb


class Base:
    """The constructor that the notebook gives."""

    def __init__(self, connection, embedder, table="documents", dimensions=384):
        self.connection, self.embedder, self.table = connection, embedder, table
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {table} "
            f"(id bigint PRIMARY KEY, content text NOT NULL, embedding vector({dimensions}) NOT NULL)"
        )


class Plain(Base):
    def add_document(self, document):
        vector = self.embedder.embed_documents([document["content"]])[0]
        self.connection.execute(
            f"INSERT INTO {self.table} (id, content, embedding) VALUES (%s, %s, %s) "
            "ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content, embedding = EXCLUDED.embedding",
            (document["id"], document["content"], vector),
        )

    def search(self, query, k=1):
        rows = self.connection.execute(
            f"SELECT id, content, embedding <=> %s AS distance FROM {self.table} ORDER BY distance, id LIMIT %s",
            (self.embedder.embed_query(query), k),
        ).fetchall()
        return [({"id": row[0], "content": row[1]}, row[2]) for row in rows]


class Cursor(Base):
    """A cursor by hand, rows one by one, vectors as text."""

    def text(self, vector):
        return "[" + ",".join(str(float(number)) for number in vector) + "]"

    def add_document(self, document):
        vector = self.text(self.embedder.embed_documents([document["content"]])[0])
        cursor = self.connection.cursor()
        cursor.execute(f"DELETE FROM {self.table} WHERE id = %s", [document["id"]])
        cursor.execute(
            f"INSERT INTO {self.table} VALUES (%s, %s, %s)", [document["id"], document["content"], vector]
        )
        cursor.close()

    def search(self, query, k=1):
        vector = self.text(self.embedder.embed_query(query))
        cursor = self.connection.cursor()
        cursor.execute(
            f"SELECT id, content, embedding <=> %s::vector FROM {self.table} "
            "ORDER BY embedding <=> %s::vector, id LIMIT %s",
            [vector, vector, k],
        )
        results = []
        while row := cursor.fetchone():
            results.append([{"id": row[0], "content": row[1]}, row[2]])
        return results


class NamedParameters(Base):
    def add_document(self, document):
        row = {**document, "embedding": np.array(self.embedder.embed_documents([document["content"]])[0])}
        with self.connection.transaction():
            updated = self.connection.execute(
                f"UPDATE {self.table} SET content = %(content)s, embedding = %(embedding)s WHERE id = %(id)s",
                row,
            )
            if updated.rowcount == 0:
                self.connection.execute(
                    f"INSERT INTO {self.table} (embedding, content, id) "
                    "VALUES (%(embedding)s, %(content)s, %(id)s)",
                    row,
                )

    def search(self, query, k=1):
        with self.connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(
                f"SELECT *, embedding <=> %(query)s AS distance FROM {self.table} "
                "ORDER BY distance ASC, id ASC FETCH FIRST %(k)s ROWS ONLY",
                {"query": self.embedder.embed_query(query), "k": k},
            )
            return [({"id": row["id"], "content": row["content"]}, row["distance"]) for row in cursor]


class Composed(Base):
    """The table's name as an identifier; MERGE; the table with the query in a WITH."""

    def add_document(self, document):
        merge = sql.SQL(
            "MERGE INTO {} AS old USING (VALUES (%s::bigint, %s::text, %s::vector)) AS new (id, content, embedding) "
            "ON old.id = new.id "
            "WHEN MATCHED THEN UPDATE SET content = new.content, embedding = new.embedding "
            "WHEN NOT MATCHED THEN INSERT VALUES (new.id, new.content, new.embedding)"
        ).format(sql.Identifier(self.table))
        vector = self.embedder.embed_documents([document["content"]])[0]
        self.connection.execute(merge, [document["id"], document["content"], vector])

    def search(self, query, k=1):
        ask = sql.SQL(
            "WITH asked AS (SELECT %s::vector AS vector) "
            "SELECT id, content, embedding <=> vector FROM {}, asked ORDER BY 3, 1 LIMIT %s"
        ).format(sql.Identifier(self.table))
        found = self.connection.execute(ask, [self.embedder.embed_query(query), k])
        return [({"id": number, "content": content}, distance) for number, content, distance in found]


class LengthOne(Base):
    """Stores vectors of length 1, so that half of the squared straight distance is the cosine distance."""

    def unit(self, vector):
        return np.asarray(vector) / np.linalg.norm(vector)

    def add_document(self, document):
        vector = self.unit(self.embedder.embed_documents([document["content"]])[0])
        self.connection.execute(
            f"INSERT INTO {self.table} VALUES (%s, %s, %s) "
            "ON CONFLICT (id) DO UPDATE SET (content, embedding) = (EXCLUDED.content, EXCLUDED.embedding)",
            (document["id"], document["content"], vector),
        )

    def search(self, query, k=1):
        rows = self.connection.execute(
            f"SELECT id, content, (embedding <#> %s) + 1 FROM {self.table} ORDER BY 3, id LIMIT %s",
            (self.unit(self.embedder.embed_query(query)), k),
        )
        return [({"id": number, "content": content}, distance) for number, content, distance in rows]


class SortedInPython(Base):
    """Fetches everything: wasteful, and right."""

    def add_document(self, document):
        vectors = self.embedder.embed_documents([document["content"]])
        with closing(self.connection.cursor()) as cursor:
            cursor.executemany(
                f"INSERT INTO {self.table} VALUES (%s, %s, %s) ON CONFLICT (id) "
                "DO UPDATE SET content = EXCLUDED.content, embedding = EXCLUDED.embedding",
                [(document["id"], document["content"], vector) for vector in vectors],
            )

    def search(self, query, k=1):
        rows = self.connection.execute(
            f"SELECT embedding <=> %s, id, content FROM {self.table}", [self.embedder.embed_query(query)]
        ).fetchall()
        return [
            ({"id": number, "content": content}, distance) for distance, number, content in sorted(rows)[:k]
        ]


class Found:
    def __init__(self, number, content, similarity):
        self.document, self.similarity = {"id": number, "content": content}, similarity


class SimilarityTurned(Base):
    """Asks for the similarity, most similar first, and turns it into the distance."""

    def add_document(self, document):
        register_vector(self.connection)
        vector = np.array(self.embedder.embed_documents([document["content"]])[0], dtype=np.float32)
        try:
            with self.connection.transaction():
                self.connection.execute(
                    f"INSERT INTO {self.table} VALUES (%s, %s, %s)",
                    (document["id"], document["content"], vector),
                )
        except psycopg.errors.UniqueViolation:
            self.connection.execute(
                f"UPDATE {self.table} SET (content, embedding) = (%s, %s) WHERE id = %s",
                (document["content"], vector, document["id"]),
            )

    def search(self, query, k=1):
        with self.connection.cursor(row_factory=class_row(Found)) as cursor:
            cursor.execute(
                f"SELECT id AS number, content, 1 - (embedding <=> %s) AS similarity FROM {self.table} "
                "ORDER BY similarity DESC, id LIMIT %s",
                (self.embedder.embed_query(query), k),
            )
            return [(found.document, 1 - found.similarity) for found in cursor.fetchmany(k)]


class Subquery(Base):
    def add_document(self, document):
        columns = {
            "id": document["id"],
            "content": document["content"],
            "embedding": self.embedder.embed_documents([document["content"]])[0].tolist(),
        }
        names, marks = ", ".join(columns), ", ".join(["%s", "%s", "%s::vector"])
        changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in columns if name != "id")
        self.connection.execute(
            f"INSERT INTO {self.table} ({names}) VALUES ({marks}) ON CONFLICT (id) DO UPDATE SET {changes}",
            list(columns.values()),
        )

    def search(self, query, k=1):
        rows = self.connection.execute(
            f"""
            SELECT json_build_object('id', id, 'content', content), distance
            FROM (
                SELECT id, content, cosine_distance(embedding, %s::vector) AS distance,
                       row_number() OVER (ORDER BY cosine_distance(embedding, %s::vector), id) AS place
                FROM {self.table}
            ) AS placed
            WHERE place <= %s
            ORDER BY place
            """,
            [self.embedder.embed_query(query).tolist()] * 2 + [k],
        )
        return list(rows)


class Streamed(Base):
    """The document as JSON, taken apart by Postgres; the results read one by one until there are enough."""

    def add_document(self, document):
        (vector,) = self.embedder.embed_documents([document["content"]])
        self.connection.execute(
            f"INSERT INTO {self.table} SELECT given.id, given.content, %s "
            "FROM jsonb_to_record(%s) AS given (id bigint, content text) "
            "ON CONFLICT (id) DO UPDATE SET (content, embedding) = (EXCLUDED.content, EXCLUDED.embedding)",
            (vector, Jsonb({"id": document["id"], "content": document["content"]})),
        )

    def search(self, query, k=1):
        nearest = (
            f"SELECT embedding <=> asked.vector, {self.table}.* FROM {self.table} "
            "CROSS JOIN (SELECT %s::vector AS vector) AS asked ORDER BY 1, 2"
        )
        results = []
        with self.connection.cursor() as cursor:
            for distance, number, content, _ in cursor.stream(nearest, [self.embedder.embed_query(query)]):
                if len(results) < k:
                    results.append(({"id": number, "content": content}, distance))
        return results


VARIANTS = {
    "plain": (Plain,),
    "cursor, delete and insert, vectors as text": (Cursor,),
    "named parameters, update or insert": (NamedParameters,),
    "identifiers, MERGE, WITH": (Composed,),
    "vectors of length 1 and the inner product": (LengthOne,),
    "sorted in Python": (SortedInPython,),
    "similarity turned round, an error caught": (SimilarityTurned,),
    "subquery, row numbers, JSON": (Subquery,),
    "a stream, the document as JSON": (Streamed,),
}
