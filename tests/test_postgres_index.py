"""PgVectorIndex and ingest on a real server: the same answers as VectorIndex, whole or not at all, and refusals."""

import os
import signal
import subprocess
import sys
import time
import uuid

import numpy as np
import psycopg
import pytest
from conftest import posix_only
from running_postgres import Notebook, wait_for

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex
from hybrid_search.postgres import LARGEST_FILE, PgVectorIndex, _alone, ingest
from hybrid_search.snapshots import StaleSnapshot, load_snapshot

pytestmark = posix_only


class Letters:
    """26 dimensions without a model: how often a text has each letter."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return [0.01 + text.lower().count(chr(97 + i)) for i in range(26)]


@pytest.fixture(scope="module")
def connection(postgres_folder):
    with lab.postgres() as connection:
        yield connection


@pytest.fixture
def table(connection):
    """The name of a table that is not there, and gone after the test."""
    name = f"t_{uuid.uuid4().hex[:12]}"
    yield name
    connection.execute(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture
def index(connection, table):
    return PgVectorIndex(connection, Letters(), table)


def ids(results):
    return [document["id"] for document, _ in results]


# ---- the same as VectorIndex


@pytest.fixture(scope="module")
def both(connection):
    """10,000 vectors in a table and in a VectorIndex, 500 queries, and the exact answers."""
    random = np.random.default_rng(7)
    vectors = random.standard_normal((10_000, 48)).astype(np.float32)
    vectors[5000:5050] = vectors[4950:5000]  # ties
    documents = [{"id": number, "content": f"document {number}"} for number in range(len(vectors))]
    stored, memory = PgVectorIndex(connection, table="ten_thousand"), VectorIndex()
    shuffled = random.permutation(len(vectors))
    stored.add_vectors(vectors[shuffled], [documents[i] for i in shuffled])
    for vector, document in zip(vectors, documents, strict=True):
        memory.add_vector(vector, document)
    queries = random.standard_normal((500, 48))
    queries[:50] = vectors[4950:5000] + 0.01 * queries[:50]
    yield stored, queries, memory.search_many(queries, 11)
    connection.execute("DROP TABLE ten_thousand")


def test_500_queries_over_10000_vectors_give_what_vector_index_gives(both):
    stored, queries, expected = both
    assert [stored.search(query, 11) for query in queries] == expected


def test_documents_that_are_nearly_as_near_come_in_the_exact_order(index):
    """Postgres sums in float32, where hundreds of these are equally near or in another order."""
    random = np.random.default_rng(3)
    base, query = random.standard_normal(26), random.standard_normal(26)
    vectors = base + 3e-7 * random.standard_normal((400, 26))
    documents = [{"id": number, "content": "text"} for number in range(400)]
    memory = VectorIndex()
    index.add_vectors(vectors, documents)
    for vector, document in zip(vectors, documents, strict=True):
        memory.add_vector(vector, document)
    for k in (1, 5, 20):
        assert index.search(query, k) == memory.search(query, k)


def test_hnsw_finds_nearly_the_same_and_exact_search_stays_exact(both):
    stored, queries, expected = both
    queries, expected = queries[30:70], expected[30:70]
    stored.ef_search = 20
    stored.create_hnsw()
    recall = stored.recall(queries, 10)
    found = [stored.search(query, 11) for query in queries]
    for query, results in zip(queries, found, strict=True):
        assert results[:5] == stored.search(query, 5)
        assert [distance for _, distance in results] == sorted(distance for _, distance in results)
    assert found != expected
    assert [stored.search(query, 11, exact=True) for query in queries] == expected
    stored.ef_search = 400
    assert 0.5 < recall < stored.recall(queries, 10) <= 1
    stored.hnsw = False
    assert [stored.search(query, 11) for query in queries[:10]] == expected[:10]


def test_hnsw_gives_more_than_ef_search_when_asked(both):
    stored, queries, _ = both
    stored.hnsw, stored.ef_search = True, 10
    assert len(stored.search(queries[0], 300)) == 300
    stored.hnsw = False


class Explaining:
    """A cursor that gives the plan of a statement in the place of its rows."""

    def __init__(self, cursor):
        self.cursor = cursor

    def execute(self, statement, values):
        return self.cursor.execute(psycopg.sql.SQL("EXPLAIN {}").format(statement), values)


def test_an_exact_search_reads_the_table_and_hnsw_its_index(both):
    stored, queries, _ = both
    plans = {}
    for approximate in (False, True):
        with stored._transaction() as cursor:
            if approximate:
                stored._use_hnsw(cursor)
            rows = stored._fetched(Explaining(cursor), queries[0], 20, approximate)
            plans[approximate] = " ".join(row[0] for row in rows)
    assert "Seq Scan" in plans[False] and "hnsw" not in plans[False]
    assert "Index Scan using ten_thousand_hnsw" in plans[True]


def test_equal_distances_come_by_id_numbers_first(index):
    for key in ("b", 10, "a", 2):
        index.add_vector([1] * 26, {"id": key, "content": "the same"})
    assert ids(index.search([1] * 26, 9)) == [2, 10, "a", "b"]
    for k in (1, 2, 3):
        assert ids(index.search([1] * 26, k)) == [2, 10, "a", "b"][:k]


def test_it_joins_a_retriever(index):
    retriever = Retriever(index, BM25Index())
    retriever.add_documents([{"content": "pumps leak"}, {"content": "quiet zebras"}])
    found = retriever.search("zebras", k=2)
    assert [document["content"] for document, _ in found] == ["quiet zebras", "pumps leak"]
    assert found[0][1] == pytest.approx(2 / 61)  # one document to both, though Postgres gives back a copy


# ---- documents


def test_documents_come_back_equal(index):
    documents = [
        {"id": 1, "content": "naïve 東京 🙂", "title": 'a "quote"; -- \\u0000', "score": 0.1, "big": 10**30},
        {"id": "1", "content": "x\n\ty", "nested": {"list": [1, None, True, {"a": -1e-9}]}, "empty": {}},
    ]
    index.add_documents(documents)
    assert index.documents == documents
    found = [document for document, _ in index.search("x y", 2)]
    assert found in (documents, documents[::-1])


def test_a_document_without_an_id_is_given_one_and_texts_that_are_equal_stay_two(index):
    one, two, three = {"content": "same"}, {"content": "same"}, {"content": "same", "id": None}
    index.add_documents([one, two, three])
    assert len({one["id"], two["id"], three["id"]}) == len(index) == 3
    assert sorted(index.documents, key=str) == sorted([one, two, three], key=str)


def test_a_document_takes_the_place_of_the_one_with_its_id(index):
    index.add_documents([{"id": 1, "content": "aaa", "old": True}, {"id": 2, "content": "bbb"}])
    index.add_document({"id": 1, "content": "zzz"})
    assert index.documents == [{"id": 1, "content": "zzz"}, {"id": 2, "content": "bbb"}]
    assert ids(index.search("z", 1)) == [1]


def test_documents_are_deleted_by_id(index):
    assert index.delete_document(1) is False
    index.add_documents([{"id": key, "content": "text"} for key in (1, 2, "2")])
    assert index.delete_document(2) is True
    assert index.delete_documents([1, 7]) == 1
    assert [document["id"] for document in index.documents] == ["2"]
    with pytest.raises(TypeError, match="for one id call delete_document"):
        index.delete_documents("2")


def test_an_empty_index_finds_nothing_and_k_may_exceed_it(index):
    assert (index.search("text", 3), len(index), index.dimension, index.documents) == ([], 0, None, [])
    index.add_document({"content": "text"})
    assert (len(index.search("text", 3)), len(index), index.dimension) == (1, 1, 26)


def test_another_connection_sees_what_was_added(index, table):
    index.add_document({"id": 1, "content": "text"})
    with lab.postgres() as other:
        again = PgVectorIndex(other, Letters(), table)
        assert ids(again.search("text")) == [1]


@pytest.mark.parametrize("factory", ["dict_row", "namedtuple_row"])
def test_a_connection_with_rows_of_another_kind_or_without_autocommit_will_do(
    table, factory, postgres_folder
):
    from psycopg import rows

    with lab.postgres() as other:
        other.autocommit, other.row_factory = False, getattr(rows, factory)
        index = PgVectorIndex(other, Letters(), table)
        index.add_document({"id": 1, "content": "text"})
        assert ids(index.search("text")) == [1]
        assert other.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


# ---- refusals, and the table as before


BAD = [
    ([0] * 3, {"id": 7, "content": "x"}, "vector of the document with id 7 is a zero vector"),
    ([1, float("nan"), 1], {"id": 7, "content": "x"}, "vector of the document with id 7 holds NaN"),
    ([1, float("inf"), 1], {"id": 7, "content": "x"}, "vector of the document with id 7 holds NaN or an inf"),
    ([1, 2], {"id": 7, "content": "x"}, "the document with id 7 has 2 dimensions, the table .* has 3"),
    ([1, 2, 3], {"id": 7, "content": "x\0y"}, "the document with id 7 holds a NUL character"),
    (
        [1, 2, 3],
        {"id": 7, "content": "x", "deep": [{"a\0": 1}]},
        "the document with id 7 holds a NUL character",
    ),
    ([1, 2, 3], {"id": "7\0", "content": "x"}, "holds a NUL character"),
    ([1, 2, 3], {"id": 7, "content": "x\ud800"}, "the document with id 7 holds half of a surrogate pair"),
    (
        [1, 2, 3],
        {"id": 7, "content": "x", "pair": (1, 2)},
        "id 7 holds something that JSON does not give back",
    ),
    ([1, 2, 3], {"id": 7, "content": "x", "odd": float("nan")}, "id 7 holds something that JSON does not"),
    (
        [1, 2, 3],
        {"id": 7, "content": "x", "odd": {1: 2}},
        "id 7 holds something that JSON does not give back",
    ),
    ([1, 2, 3], {"id": 1.5, "content": "x"}, r"an id must be a text or a whole number here: got 1\.5"),
    ([1, 2, 3], {"id": False, "content": "x"}, "an id must be a text or a whole number here: got False"),
    ([1, 2, 3], {"id": "x" * 501, "content": "x"}, "an id may have at most 500 bytes"),
    ([1, 2, 3], {"id": 7, "content": " "}, "the document with id 7 is empty"),
    ([1, 2, 3], {"id": 7}, 'the document with id 7 has no "content"'),
]


@pytest.mark.parametrize(("vector", "document", "message"), BAD)
def test_what_cannot_be_kept_is_refused_by_name_and_nothing_changes(index, vector, document, message):
    index.add_vector([1, 2, 3], {"id": 1, "content": "there"})
    with pytest.raises(ValueError, match=message):
        index.add_vectors([[3, 2, 1], vector], [{"id": 1, "content": "new"}, document])
    assert index.documents == [{"id": 1, "content": "there"}]


def test_two_documents_with_one_id_in_a_call_are_refused(index):
    with pytest.raises(ValueError, match="another document with id 1 is already"):
        index.add_documents([{"id": 1, "content": "a"}, {"id": 1, "content": "b"}])
    with pytest.raises(ValueError, match="1 vectors for 2 documents"):
        index.add_vectors([[1]], [{"content": "a"}, {"content": "b"}])
    assert index.dimension is None


@pytest.mark.parametrize(
    "name", ['a"b', "a'b", "a;b", "a.b", "a b", "", "1a", "A", "x" * 51, "é", "a\n", "a\0"]
)
def test_a_table_name_that_is_no_plain_one_is_refused(connection, name):
    with pytest.raises(ValueError, match="the name of a table must be"):
        PgVectorIndex(connection, table=name)


@pytest.mark.parametrize("name", ["select", "order", "user"])
def test_a_word_of_sql_will_do_as_a_name(connection, name):
    index = PgVectorIndex(connection, Letters(), name)
    index.add_document({"id": 1, "content": "text"})
    index.create_hnsw()
    assert ids(index.search("text")) == [1]
    connection.execute(f'DROP TABLE "{name}"')


def test_sql_in_a_document_an_id_or_a_query_is_text(index, connection, table):
    evil = f"'; DROP TABLE {table}; -- %s {{table}}"
    index.add_document({"id": evil, "content": evil, evil: evil})
    assert index.search(evil)[0][0] == {"id": evil, "content": evil, evil: evil}
    assert index.delete_document(evil)


def test_other_dimensions_than_the_table_s_are_refused(index, connection, table):
    index.add_vector([1, 2, 3], {"id": 1, "content": "text"})
    with pytest.raises(
        ValueError, match=f"you ask for 4 dimensions, the table {table} has 3: embed with the"
    ):
        PgVectorIndex(connection, table=table, dimensions=4)
    with pytest.raises(ValueError, match=f"the query vector has 2 dimensions, the table {table} has 3"):
        index.search([1, 2])
    with pytest.raises(ValueError, match="has 26 dimensions, the table"):
        index.add_document({"id": 2, "content": "text"})
    assert index.documents == [{"id": 1, "content": "text"}] and index.dimension == 3
    with pytest.raises(ValueError, match="at most 16000 dimensions"):
        PgVectorIndex(connection, table=f"{table}_wide", dimensions=16_001)


def test_a_table_of_something_else_is_left_alone(connection, table):
    connection.execute(f"CREATE TABLE {table} (id int, embedding vector(3))")
    with pytest.raises(ValueError, match=f"the table {table} holds something else"):
        PgVectorIndex(connection, table=table)


def test_queries_that_are_empty_too_long_or_without_an_embedder_are_refused(index, connection, table):
    index.add_document({"id": 1, "content": "text"})
    with pytest.raises(ValueError, match="the query has 100000 characters, and at most 10000"):
        index.search("x" * 100_000)
    with pytest.raises(ValueError, match="the query is empty"):
        index.search(" ")
    with pytest.raises(ValueError, match="k must be at least 1"):
        index.search("text", 0)
    assert ids(index.search("te\0xt")) == [1]  # only what is kept must be without a NUL
    with pytest.raises(ValueError, match="no embedder, so it takes vectors only"):
        PgVectorIndex(connection, table=table).search("text")


def test_hnsw_that_cannot_be_made_is_refused(index, connection, table):
    with pytest.raises(ValueError, match="add documents first"):
        index.create_hnsw()
    index.add_document({"id": 1, "content": "text"})
    with pytest.raises(ValueError, match="m must be from 2 to 100"):
        index.create_hnsw(m=1)
    with pytest.raises(ValueError, match=r"ef_construction from 2 \* m"):
        index.create_hnsw(m=50)
    index.create_hnsw()
    index.create_hnsw(m=4)
    with pytest.raises(ValueError, match="at least one query"):
        index.recall([])
    wide = PgVectorIndex(connection, table=f"{table}_wide", dimensions=2001)
    with pytest.raises(ValueError, match="at most 2000 dimensions, the table has 2001"):
        wide.create_hnsw()
    connection.execute(f"DROP TABLE {table}_wide")


# ---- several at once


WRITER = """
import sys; sys.path.insert(0, "tests")
import lab
from test_postgres_index import Letters, PgVectorIndex
connection = lab.postgres()
"""


def test_two_writers_that_begin_at_once_both_finish(postgres_folder, index, table):
    """Of the table, too, each must think that it makes it."""
    write = (
        f"index = PgVectorIndex(connection, Letters(), {table!r}); "
        "[index.add_documents([{'id': n, 'content': 'text %d' % n, 'by': NAME} for n in range(s, s + 50)]) "
        "for s in range(0, 500, 25)]"
    )
    lines = [line for line in WRITER.split("\n") if line]
    with Notebook(*lines, "NAME = 'one'") as one, Notebook(*lines, "NAME = 'other'") as other:
        one.begin(write)
        other.begin(write)
        for writer in (one, other):
            assert writer.process.stdout.readline() == "done\n"
    assert len(index) == 525
    assert {document["by"] for document in index.documents} <= {"one", "other"}


# ---- a file


TEXT = "".join(
    f"Section {number}: pumps, valves and {number * 7919 % 10007} other things.\n" for number in range(400)
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "manual.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_file_is_chunked_embedded_and_written_to_both_indexes(index, file, tmp_path):
    bm25, snapshot, seen = BM25Index(), tmp_path / "bm25.json", []

    def progress(batches, label):
        assert label == "Embedding chunks"
        for batch in batches:
            seen.append(len(batch))
            yield batch

    documents = ingest(file, index, bm25, snapshot=snapshot, batch_size=10, progress=progress)
    assert sum(seen) == len(documents) == len(index) == len(bm25) > 20 and max(seen) == 10
    assert index.documents == documents == bm25.documents  # so the order of the ids is that of the text
    assert documents[0]["content"] == TEXT[: len(documents[0]["content"])]
    assert {"id": "manual.md#000001", "source": "manual.md", "chunk": 1}.items() <= documents[0].items()
    assert ids(bm25.search("7919")) == ids(load_snapshot(snapshot, documents=index.documents).search("7919"))
    assert ids(index.search(documents[3]["content"])) == [documents[3]["id"]]


def test_a_file_ingested_again_leaves_nothing_of_its_former_self(index, file, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("zebras", encoding="utf-8")
    bm25 = BM25Index(tokenize=str.split, k1=1.2, b=0.5)
    ingest(other, index, bm25)
    ingest(file, index, bm25)
    file.write_text("one short chunk", encoding="utf-8")
    ingest(file, index, bm25)
    assert [document["content"] for document in index.documents] == ["one short chunk", "zebras"]
    assert bm25.documents == index.documents
    assert (bm25.tokenize, bm25.k1, bm25.b) == (str.split, 1.2, 0.5)


def test_ten_thousand_chunks_are_ingested_searched_upserted_and_deleted(index, tmp_path):
    path = tmp_path / "large.txt"
    path.write_text("".join(f"{number:09} is the numeral\n" for number in range(40_000)), encoding="utf-8")
    documents = ingest(path, index, chunk=lambda text: [text[i : i + 100] for i in range(0, len(text), 100)])
    assert len(index) == len(documents) == 10_000
    assert index.search(documents[77]["content"], 3)[0][1] == pytest.approx(0, abs=1e-6)
    changed = [{**document, "content": "zzz " + document["content"]} for document in documents[:5000]]
    index.add_documents(changed)
    assert len(index) == 10_000 and index.search("zzz")[0][0]["chunk"] <= 5000
    assert index.delete_documents(document["id"] for document in changed) == 5000 == len(index)


class Failing(Letters):
    def __init__(self, after):
        self.after = after

    def embed_documents(self, texts):
        self.after -= 1
        if self.after < 0:
            raise ConnectionError("the service is down")
        return super().embed_documents(texts)


def failing_tokenizer(text):
    if "pumps" in text:
        raise RuntimeError("no tokens")
    return text.split()


def test_a_failure_in_the_middle_leaves_neither_index_changed(connection, table, file, tmp_path):
    index, bm25, snapshot = PgVectorIndex(connection, Letters(), table), BM25Index(), tmp_path / "bm25.json"
    first = tmp_path / "first.txt"
    first.write_text("quiet zebras", encoding="utf-8")

    def state():
        return index.documents, bm25.documents, snapshot.read_bytes() if snapshot.exists() else None

    def fails(error, *indexes, **more):
        before = state()
        with pytest.raises(error):
            ingest(file, *indexes, **{"snapshot": snapshot, **more})
        assert state() == before
        assert bm25.search("zebras", 5) == [] or ids(bm25.search("zebras", 5)) == ["first.txt#000001"]

    for _ in range(2):  # into nothing, and into something
        fails(ConnectionError, PgVectorIndex(connection, Failing(1), table), bm25)
        broken = BM25Index(failing_tokenizer)
        fails(RuntimeError, index, broken)  # after the vectors were written
        assert broken.documents == []
        fails(OSError, index, bm25, snapshot=tmp_path / "missing" / "bm25.json")
        ingest(first, index, bm25, snapshot=snapshot)
    assert not list(tmp_path.glob(".*"))


def test_a_connection_lost_before_the_commit_changes_nothing(index, table, file, connection):
    index.add_document({"id": 1, "content": "there"})
    with lab.postgres() as doomed:
        process = doomed.info.backend_pid

        class Cutting(BM25Index):
            def __init__(self, *arguments, **more):
                super().__init__(
                    lambda text: (connection.execute("SELECT pg_terminate_backend(%s)", [process]), [])[1]
                )

        bm25 = Cutting()
        with pytest.raises(psycopg.OperationalError):
            ingest(file, PgVectorIndex(doomed, Letters(), table), bm25)
    assert index.documents == [{"id": 1, "content": "there"}] and bm25.documents == []


KILLED = """
import os, signal, sys
sys.path.insert(0, "tests")
import lab, hybrid_search.postgres as postgres
from hybrid_search import BM25Index
from test_postgres_index import Letters

def dies(*arguments, **more):
    os.kill(os.getpid(), signal.SIGKILL)

where, path, table, snapshot = sys.argv[1:]
if where == "embedding":
    Letters.embed_documents = dies
elif where == "before the commit":
    postgres._save_beside = dies
else:
    replace = os.replace
    os.replace = lambda one, other: dies() if str(other) == snapshot else replace(one, other)
postgres.ingest(path, postgres.PgVectorIndex(lab.postgres(), Letters(), table), snapshot=snapshot)
"""


@pytest.mark.parametrize("where", ["embedding", "before the commit", "after the commit"])
def test_a_killed_ingest_leaves_all_consistent_and_the_next_one_finishes(index, table, file, tmp_path, where):
    snapshot, first = tmp_path / "bm25.json", tmp_path / "first.txt"
    first.write_text("quiet zebras", encoding="utf-8")
    ingest(first, index, snapshot=snapshot)
    command = [sys.executable, "-c", KILLED, where, str(file), table, str(snapshot)]
    assert subprocess.run(command, capture_output=True).returncode == -signal.SIGKILL
    if where == "after the commit":
        with pytest.raises(StaleSnapshot):
            load_snapshot(snapshot, documents=index.documents)
    else:
        assert [document["content"] for document in index.documents] == ["quiet zebras"]
        assert len(load_snapshot(snapshot, documents=index.documents)) == 1
    documents = ingest(file, index, snapshot=snapshot)
    assert len(index) == len(documents) + 1
    assert len(load_snapshot(snapshot, documents=index.documents)) == len(index)


def test_an_ingest_waits_for_another_one_into_the_table(index, table, file, connection):
    """Or the snapshot of the first might be renamed last."""
    lines = [line for line in WRITER.split("\n") if line]
    lines += [
        "from hybrid_search.postgres import ingest",
        f"index = PgVectorIndex(connection, Letters(), {table!r})",
    ]
    with Notebook(*lines) as other:
        with _alone(index):
            other.begin(f"_ = ingest({str(file)!r}, index)")
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'advisory'"
            wait_for(lambda: connection.execute(waiting).fetchone() == (1,))
            assert len(index) == 0
        assert other.process.stdout.readline() == "done\n"
    assert len(index) > 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "bad.txt is empty"),
        (b"\xef\xbb\xbf \n\t\n", "bad.txt is empty"),
        (b"caf\xe9", "bad.txt is no text in UTF-8"),
        (b"a\0b", "bad.txt holds a NUL character"),
        (None, "bad.txt is larger than 20 MB: cut it up"),
    ],
)
def test_a_file_that_is_no_text_to_search_is_refused(index, tmp_path, content, message):
    path = tmp_path / "bad.txt"
    path.write_bytes(content or b"")
    if content is None:
        os.truncate(path, 200_000_000)  # takes no place on the disk
    index.add_document({"id": 1, "content": "there"})
    started = time.monotonic()
    with pytest.raises(ValueError, match=message):
        ingest(path, index)
    assert time.monotonic() - started < 2
    assert index.documents == [{"id": 1, "content": "there"}]


def test_a_missing_file_or_an_open_transaction_is_an_error(index, connection, file, tmp_path):
    with pytest.raises(FileNotFoundError):
        ingest(tmp_path / "missing.txt", index)
    with connection.transaction(), pytest.raises(ValueError, match="in the middle of a transaction"):
        ingest(file, index)
    assert index.dimension is None and LARGEST_FILE == 20_000_000
