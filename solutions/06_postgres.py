# %% [markdown]
# # 06 · From memory to a database
#
# So far your indexes lived in memory. When the notebook stops they are gone, and nobody else can search them. At work
# the documents are in a **database**, often Postgres, with an extension for vectors: pgvector.
#
# You will
# - cut any text into chunks of 1000 characters that overlap by 100,
# - write a vector index whose work is done by SQL, in Postgres,
# - keep a BM25 index in a file beside it: a snapshot that **knows when it is stale**,
# - fuse both with weights of 0.5 and 0.5, and measure where that loses.
#
# The last part, "Hybrid inside the database", is **optional**. It is not in the minutes.
#
# **Minutes:** 45. **You need:** units 01 to 05. SQL is explained as far as you need it.

# %%
import lab
from grader import check, hint
from hybrid_search import BM25Index, Retriever, VectorIndex, tokenize
from lab import embedder, judged_queries, python_reference, python_tokens, report

# %% [markdown]
# ## Any text, cut into chunks
#
# Your `chunk_by_section` of unit 01 needs headings. Most texts have none, or sections of very different lengths, and
# a model reads only so much of a text. So people cut by **length**, commonly to 1000 characters.
#
# A cut can go through the middle of a sentence. So that it stands whole somewhere, each chunk begins with the last
# characters of the one before: the chunks **overlap**. With 10 characters and an overlap of 3:
#
# ```
# The pump in hall 2 leaks.
# The pump i
#        p in hall
#               ll 2 leaks
#                      aks.
# ```
#
# **Predict.** The annual review has 7704 characters. How many chunks of 1000 characters are that, with an overlap of
# 100?

# %%
my_guess = None  # replace None with a number
print("guess:", my_guess)

# %% [markdown]
# ## Exercise `chunk_by_characters` · 2 points · about 8 minutes
#
# Write `chunk_by_characters(text, size=1000, overlap=100)`. It returns a list of chunks, in the order of the text:
#
# - Each chunk has exactly `size` characters; only the last one may be shorter. Every character counts, spaces and
#   line breaks too: change none.
# - Each chunk but the first **begins with the last `overlap` characters** of the one before.
# - The last chunk reaches the end of the text. Stop there: a further chunk would hold nothing but the overlap.
# - A text of at most `size` characters is one chunk. An empty text gives an empty list.
#
# `overlap` is smaller than `size`; you need not check that.


# %% exercise="chunk_by_characters"
def chunk_by_characters(text, size=1000, overlap=100):
    """The text in chunks of `size` characters, each beginning with the end of the one before.

    size and overlap are numbers of characters. Returns a list of texts, in order.
    """
    ### BEGIN SOLUTION
    chunks = []
    start = 0
    while start < len(text):
        chunks.append(text[start : start + size])
        if start + size >= len(text):
            break
        start += size - overlap
    return chunks
    ### END SOLUTION


# %% check="chunk_by_characters"
check("chunk_by_characters", chunk_by_characters)

# %%
print("guess:", my_guess)
for number, chunk in enumerate(chunk_by_characters(report()), start=1):
    print(number, len(chunk), repr(chunk[:38]), "...", repr(chunk[-30:]))

# %% [markdown]
# The step from start to start is 900 characters. So the ninth chunk starts at 7200, and the text ends in it.
#
# Look at where the chunks begin. Number 2 starts inside a word and holds the end of section 2 **and** most of section
# 3. That is the price of cutting by length: a chunk may speak of two things. Remember number 2.
#
# ## Postgres in five minutes
#
# `lab.postgres()` gives a connection. It goes to the server that the variable DATABASE_URL names. If there is none, a
# small server of your own starts on this computer, and ends when no notebook uses it. What is in it **stays**.
#
# A **table** has columns. `execute` sends a statement of SQL. This one makes a table, in which each row has a number,
# a name and a vector of two numbers. (TEMP: it is gone when the connection closes.)

# %%
import numpy as np

connection = lab.postgres()
connection.execute("""
    CREATE TEMP TABLE IF NOT EXISTS places (
        id bigint PRIMARY KEY,
        name text NOT NULL,
        place vector(2) NOT NULL)
""")
rows = [
    (1, "east", [1.0, 0.0]),
    (2, "north-east", [2.0, 2.0]),
    (3, "west", [-3.0, 0.0]),
    (4, "north", [0.0, 1.0]),
]
for number, name, vector in rows:
    connection.execute(
        "INSERT INTO places (id, name, place) VALUES (%s, %s, %s) ON CONFLICT (id) DO NOTHING",
        (number, name, np.array(vector)),
    )
connection.execute("SELECT id, name, place FROM places").fetchall()

# %% [markdown]
# Three things to see:
#
# - `PRIMARY KEY` means: no two rows with the same `id`. `ON CONFLICT (id)` says what to do when there is one already.
#   `DO NOTHING` keeps the old row. `DO UPDATE SET name = EXCLUDED.name` would give it the new name: `EXCLUDED` is the
#   row that could not be put in. Insert-or-replace has a name of its own, **upsert**.
# - Values are **never** part of the statement. They stand beside it, and `%s` says where they belong. If you wrote a
#   text into the statement, a quote in it would end the text, and the rest would run as SQL. Data would become a
#   command.
# - A vector is a type like any other. It goes in as a numpy array.
#
# pgvector adds operators for distances. `<=>` is the cosine **distance** of unit 01, 1 - cosine: lower is closer.
# (`<->` is the straight line, `<#>` the *negative* dot product.) `ORDER BY` sorts, upwards unless you write `DESC`;
# `LIMIT` keeps the first rows.
#
# **Predict** the order in which the four places come for the query (2, 1), and which distance is above 1.

# %%
my_guess = None  # for example ["west", "east", "north", "north-east"]
print("guess:", my_guess)
connection.execute(
    "SELECT name, place <=> %s AS distance FROM places ORDER BY distance LIMIT 4", (np.array([2.0, 1.0]),)
).fetchall()

# %% [markdown]
# What if two rows have the **same** distance? Then SQL promises nothing about their order. It may be another tomorrow,
# after an update. So give a second column to sort by: `ORDER BY distance, id`. Then the answer is the same every time,
# also for the one who pages through the results.
#
# ## Exercise `pgvector_index` · 4 points · about 12 minutes
#
# Write the class `PgVectorIndex`. Its constructor is there: it makes the table if there is none yet. `embedder` has
# the two methods of unit 01: `embed_documents(list of texts)` and `embed_query(text)`. Both give numpy arrays.
#
# **`add_document(document)`** puts a document, a dict with `"id"` and `"content"`, into the table, with the vector
# of its content. If a document with this id is there already, the new one takes its place: content **and** vector.
#
# **`search(query, k=1)`** returns a list of at most `k` pairs `(document, distance)` for a text `query`, nearest
# first. The document is a dict with `"id"` and `"content"`, the distance is the cosine distance. Equal distances come
# in the order of the ids, lowest first. Let Postgres do the sorting.
#
# The table's name comes from you, not from a stranger, so `f"... FROM {self.table} ..."` is fine. Values go in with
# `%s`, whatever quotes they hold. `connection.execute(...)` is all you need; each statement is kept at once.


# %% exercise="pgvector_index"
class PgVectorIndex:
    """Documents and their vectors in a table of Postgres, searched by cosine distance."""

    def __init__(self, connection, embedder, table="documents", dimensions=384):
        self.connection, self.embedder, self.table = connection, embedder, table
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {table} "
            f"(id bigint PRIMARY KEY, content text NOT NULL, embedding vector({dimensions}) NOT NULL)"
        )

    def add_document(self, document):
        """Put in a document, a dict with "id" and "content", or replace the one with its id."""
        ### BEGIN SOLUTION
        vector = self.embedder.embed_documents([document["content"]])[0]
        insert = f"INSERT INTO {self.table} (id, content, embedding) VALUES (%s, %s, %s) "
        replace = "ON CONFLICT (id) DO UPDATE SET content = EXCLUDED.content, embedding = EXCLUDED.embedding"
        self.connection.execute(insert + replace, (document["id"], document["content"], vector))
        ### END SOLUTION

    def search(self, query, k=1):
        """At most k pairs (document, cosine distance), nearest first; lower is closer."""
        ### BEGIN SOLUTION
        rows = self.connection.execute(
            f"SELECT id, content, embedding <=> %s AS distance FROM {self.table} ORDER BY distance, id LIMIT %s",
            (self.embedder.embed_query(query), k),
        ).fetchall()
        return [({"id": number, "content": content}, distance) for number, content, distance in rows]
        ### END SOLUTION


# %% check="pgvector_index"
check("pgvector_index", PgVectorIndex)

# %% [markdown]
# ## The review in Postgres
#
# The next cell only says how the table is filled, and the one below it does it. (The table is dropped first, so that
# you can run the notebook again.)


# %%
def fill(table, documents, index_class):
    """A new table with these documents, and the index that searches it."""
    connection.execute(f"DROP TABLE IF EXISTS {table}")
    index = index_class(connection, embedder(), table=table)
    for document in documents:
        index.add_document(document)
    return index


def report_chunks(chunker):
    return [{"id": number, "content": chunk} for number, chunk in enumerate(chunker(report()), start=1)]


# %%
question = "what happened with INC-2023-Q4-011?"
pg_index = fill("course_report", report_chunks(chunk_by_characters), PgVectorIndex)
for document, distance in pg_index.search(question, k=4):
    print(document["id"], round(distance, 3), document["content"][:60].replace("\n", " "))

# %% [markdown]
# Any program that reaches this server finds the same: here is a second connection, which knows nothing of your
# `PgVectorIndex`. It only asks what is in the table.

# %%
pg_index = fill("course_report", report_chunks(chunk_by_characters), PgVectorIndex)
with lab.postgres() as another:
    print(another.execute("SELECT count(*), sum(length(content)) FROM course_report").fetchone())

# %% [markdown]
# With the default embedder, chunk 2 is second. It is the one that holds the end of section 2, which names the
# incident, **and** section 3, which talks about "Q4 2023" and an "incident charge".
#
# ## Exact, or fast: HNSW
#
# Your search is **exact**: Postgres compares the query with every row. For a few thousand rows that takes
# milliseconds; for millions, seconds. An **HNSW index** is a graph that links each vector to some near ones. A search
# walks along the links, and looks at a small part of the rows. It is fast, and it may **miss** some of the nearest.
#
# How many it finds of the exact 10 nearest is its **recall**. The number `hnsw.ef_search` says how many rows it keeps
# in mind while it walks. Let us measure both on 10,000 random vectors. **Predict** the recall for 10, 40 and 200.

# %%
my_guess = {10: None, 40: None, 200: None}
print("guess:", my_guess)

# %%
random = np.random.default_rng(6)
vectors, queries = random.normal(size=(10_000, 64)), random.normal(size=(40, 64))
connection.execute("DROP TABLE IF EXISTS many")
connection.execute("CREATE TEMP TABLE many (id bigint PRIMARY KEY, place vector(64) NOT NULL)")
# COPY is the fast way to put many rows in.
with connection.cursor().copy("COPY many (id, place) FROM STDIN (FORMAT BINARY)") as copy:
    copy.set_types(["int8", "vector"])
    for number, vector in enumerate(vectors.astype(np.float32), start=1):
        copy.write_row((number, vector))


def ten_nearest(query):
    statement = "SELECT id FROM many ORDER BY place <=> %s LIMIT 10"
    return {number for (number,) in connection.execute(statement, (query.astype(np.float32),))}


# %%
import time

import pandas as pd


def measured(name):
    start = time.perf_counter()
    found = [ten_nearest(query) for query in queries]
    milliseconds = 1000 * (time.perf_counter() - start) / len(queries)
    recall = sum(len(one & other) for one, other in zip(exact, found, strict=True)) / (10 * len(queries))
    return {"search": name, "recall": recall, "ms a query": round(milliseconds, 2)}


exact = [ten_nearest(query) for query in queries]
lines = [measured("exact")]
connection.execute("CREATE INDEX ON many USING hnsw (place vector_cosine_ops)")
for ef_search in (10, 40, 100, 200):
    connection.execute(f"SET hnsw.ef_search = {ef_search}")
    lines.append(measured(f"HNSW, ef_search = {ef_search}"))
connection.execute("SET hnsw.ef_search = 40")  # as it was
print("guess:", my_guess)
pd.DataFrame(lines)

# %% [markdown]
# Random vectors are a hard case: all of them are about equally far. On texts the recall is usually higher, but do not
# expect 1. And the other columns of your query matter: with `ORDER BY distance, id` Postgres may decide not to
# use the index at all. So measure, on your data, and begin with the exact search. It is right.
#
# The finished `PgVectorIndex` of `hybrid_search` has both: it is exact unless you call `create_hnsw()`, and its
# `recall(queries)` says what that costs.
#
# ## A snapshot beside the table
#
# BM25 lives in memory: each time you start, it cuts all texts into tokens. For ten chunks that is nothing, for a
# million it takes long. So people save the index in a file, a **snapshot**, and load it. Two things go wrong.
#
# **The first: pickle.** Python's own way to save any object is `pickle`. A pickle is not data, it is a small
# **program**. Loading runs it. Here is one that only prints a line:

# %%
import pickle


class Surprise:
    def __reduce__(self):
        return print, ("This line was printed by the file. It could have deleted your files instead.",)


file_of_a_stranger = pickle.dumps(Surprise())
pickle.loads(file_of_a_stranger)

# %% [markdown]
# Nobody called `print` there: `loads` did. So never load a pickle that you did not make yourself. JSON holds texts,
# numbers, lists and dicts. It cannot do anything.
#
# **The second: stale snapshots.** Documents change in the database, and the file does not know. The index finds what
# is no longer there, and misses what is new. No error, only wrong results. The same happens when the **tokenizer**
# changes: then the query is cut in another way than the documents, and words that are there are not found.
#
# The remedy is a **fingerprint**: a checksum of all that must be the same. It is saved with the snapshot, made again
# when you load, and compared.

# %%
import hashlib
import json

hashlib.sha256(json.dumps(["The pump leaks.", ["pump", "leaks"]]).encode()).hexdigest()

# %% [markdown]
# Change one letter above and run the cell again: everything changes.
#
# A tokenizer is a function. Its name says little, as the code behind it can change. So put into the fingerprint what
# it **does**: the tokens that it gives for a fixed text, `PROBE`, in which there is something of everything.
#
# ## Exercise `snapshot` · 2 points · about 10 minutes
#
# A `BM25Index` has what you need: `index.documents`, a list of dicts; `index.tokens`, a list of tokens for each of
# them, in the same order; `index.tokenize`, `index.k1` and `index.b`. `index.add_tokens(tokens, document)` adds a
# document whose tokens are known. `BM25Index(tokenize, k1, b)` makes an empty index.
#
# **`save_snapshot(index, path)`** writes a file as **JSON**. `path` is a `pathlib.Path`: use `path.write_text(...)`.
#
# **`load_snapshot(path, tokenize, documents)`** is given the tokenizer and the documents of **today**. It returns a
# `BM25Index` that searches as the saved one did: with its tokens, its k1 and b, `tokenize` as its tokenizer, and the
# given documents. But it raises `StaleSnapshot` if
# - the documents are not those of the snapshot: one has another content or another id, one is new or missing, or they
#   come in another order (tokens and documents would not fit together),
# - the tokenizer gives other tokens for `PROBE`. Its name does not matter.
#
# The function `fingerprint(documents, tokenize)` is a suggestion: a text that is another one if something differs.


# %% exercise="snapshot"
class StaleSnapshot(ValueError):
    """A snapshot that must not be used."""


PROBE = "The École's two-factor PUMP, hall 2,INC-2023-Q4-011: l'été, don't leak"


def fingerprint(documents, tokenize):
    """A text that differs if a document or the tokenizer differs."""
    ### BEGIN SOLUTION
    everything = json.dumps([documents, list(tokenize(PROBE))])
    return hashlib.sha256(everything.encode()).hexdigest()
    ### END SOLUTION


def save_snapshot(index, path):
    """Write a BM25Index as JSON, with its fingerprint."""
    ### BEGIN SOLUTION
    content = {"fingerprint": fingerprint(index.documents, index.tokenize)}
    content.update(tokens=index.tokens, k1=index.k1, b=index.b)
    path.write_text(json.dumps(content))
    ### END SOLUTION


def load_snapshot(path, tokenize, documents):
    """The BM25Index of a snapshot; StaleSnapshot if documents or tokenizer are not those of the snapshot."""
    ### BEGIN SOLUTION
    content = json.loads(path.read_text())
    if content["fingerprint"] != fingerprint(documents, tokenize):
        raise StaleSnapshot("the documents or the tokenizer have changed: build the index again")
    index = BM25Index(tokenize, content["k1"], content["b"])
    for tokens, document in zip(content["tokens"], documents, strict=True):
        index.add_tokens(tokens, document)
    return index
    ### END SOLUTION


# %% check="snapshot"
check("snapshot", save_snapshot, load_snapshot)

# %% [markdown]
# Try it: a snapshot of the chunks, loaded as it is, and after somebody changed a chunk in the database.

# %%
from pathlib import Path
from tempfile import TemporaryDirectory

chunks = report_chunks(chunk_by_characters)
bm25_index = BM25Index()
bm25_index.add_documents(chunks)
with TemporaryDirectory() as folder:
    path = Path(folder, "report.json")
    save_snapshot(bm25_index, path)
    print("the file begins", path.read_text()[:60])
    print(
        "loaded:",
        [document["id"] for document, _ in load_snapshot(path, tokenize, chunks).search(question, k=5)],
    )
    changed = [{**chunk, "content": chunk["content"].replace("INC-2023", "INC-2024")} for chunk in chunks]
    try:
        load_snapshot(path, tokenize, changed)
    except StaleSnapshot as refusal:
        print("refused:", refusal)

# %% [markdown]
# The finished functions do more. They say **which** document differs, they find a file that was cut short or edited,
# and they write it so that a crash leaves the old file whole.
#
# ## Both, half and half
#
# Now the pipeline is complete: vectors in Postgres, BM25 beside it, both fused. The finished `Retriever` takes
# **weights**: the score of a document is the sum of weight / (k_rrf + rank). People usually write 0.5 and 0.5.
#
# **Predict:** what do weights of 0.5 and 0.5 change, compared with no weights?

# %%
my_guess = None  # the order, the scores, both or nothing
print("guess:", my_guess)

# %%
pg_index = fill("course_report", report_chunks(chunk_by_characters), PgVectorIndex)
bm25_index = BM25Index()
bm25_index.add_documents(report_chunks(chunk_by_characters))
for weights in ([0.5, 0.5], None, [0.9, 0.1]):
    found = Retriever(pg_index, bm25_index, weights=weights).search(question, k=5)
    print(weights, [(document["id"], round(score, 4)) for document, score in found])


def names(results):
    return [f"Chunk {document['id']}" for document, _ in results]


lab.plot_fusion(
    {"Postgres": names(pg_index.search(question, k=5)), "BM25": names(bm25_index.search(question, k=5))},
    names(Retriever(pg_index, bm25_index, weights=[0.5, 0.5]).search(question, k=5)),
)

# %% [markdown]
# Equal weights halve every score, and change no order. With the default embedder, chunks 9 and 8 come first: together
# they hold section 10, the report about the incident. Chunk 2, the mixture, falls behind. With 0.9 and 0.1 the list
# follows Postgres, and the mixture is second again.
#
# The documents of the two indexes are **different objects** here: Postgres makes new dicts at every search. The
# finished Retriever knows a document by its `"id"`, so the fusion works. One that goes by `id(document)`, as yours of
# unit 04, would find no agreement at all.
#
# ## How good is it, and where does it lose?
#
# The language reference of Python and its judged queries, from unit 05, now in Postgres. The vector index searches by
# SQL, the rest is the same. A row has a number and a content, so a dict tells to which topic a number belongs.
# **Predict:** will the numbers differ from those of unit 05, where the vectors were in memory?

# %%
my_guess = None  # "the same" or "different"
pieces = [{**piece, "id": number} for number, piece in enumerate(python_reference(), start=1)]
topics = {piece["id"]: piece["topic"] for piece in pieces}


def by_topic(search):
    """The same search; its documents also have their topic, which the judgements are about."""
    return lambda query, k: [({**doc, "topic": topics[doc["id"]]}, value) for doc, value in search(query, k)]


# %%
from IPython.display import display

python_pg = fill("course_python", pieces, PgVectorIndex)
python_bm25 = BM25Index(python_tokens)
python_bm25.add_documents(pieces)
searches = {"Postgres": python_pg.search, "BM25": python_bm25.search}
for weights in ([0.5, 0.5], [0.8, 0.2]):
    searches[f"hybrid {weights}"] = Retriever(python_pg, python_bm25, weights=weights).search
searches = {name: by_topic(search) for name, search in searches.items()}
judged = judged_queries("python")
print("guess:", my_guess)
table = lab.compare(searches, judged, by_kind=True)
display(table[["queries", "MRR", "MRR low", "MRR high", "recall@10"]].round(3))
lab.losses(searches, judged, of="hybrid [0.5, 0.5]", against="Postgres")

# %% [markdown]
# With Python 3.11 and the default embedder: exact search in Postgres ranks as the index in memory does, so the numbers
# are the same as in unit 05. Half and half is the best over all questions in MRR (0.759). On **conceptual** ones it
# **loses**: its recall@10 is 0.714, that of the vectors alone 0.833. The last table shows the questions on which it is
# below the vectors within the first 10 topics. More weight for the vectors, 0.8 and 0.2, brings back some of that, and
# costs on identifiers.
#
# ## Bring in a file: all or nothing
#
# Putting a file into a search has four steps: load it, cut it, embed the chunks in batches, write. If it breaks off in
# the middle, half of the chunks are in the table, and nobody notices. A **transaction** prevents that. What stands in
# `with connection.transaction():` happens as a whole, or not at all.
#
# **Predict:** the embedder below fails at the sixth of nine chunks. How many rows has the table afterwards?

# %%
my_guess = None
print("guess:", my_guess)


class FailsAtTheSixth:
    """An embedder whose service stops answering."""

    def __init__(self):
        self.calls = 0

    def embed_documents(self, texts):
        self.calls += 1
        if self.calls == 6:
            raise ConnectionError("the embedding service does not answer")
        return embedder().embed_documents(texts)


def rows_after_a_failure(index_class, chunks):
    connection.execute("DROP TABLE IF EXISTS course_half")
    index = index_class(connection, FailsAtTheSixth(), table="course_half")
    try:
        with connection.transaction():
            for chunk in chunks:
                index.add_document(chunk)
    except ConnectionError as problem:
        print("stopped:", problem)
    return connection.execute("SELECT count(*) FROM course_half").fetchone()[0]


# %%
rows = rows_after_a_failure(PgVectorIndex, report_chunks(chunk_by_characters))
connection.execute("DROP TABLE course_half")
print(rows, "rows")

# %% [markdown]
# Five rows were in, and the transaction took them out again. Remove the line `with connection.transaction():` (and the
# indent below it), and run both cells again: five rows stay.
#
# The finished `hybrid_search.ingest(path, vector_index, bm25_index)` does it in this way: it embeds everything first,
# then writes table, BM25 index and snapshot in one transaction, and a failure leaves all three as they were.

# %% [markdown]
# ## Common mistakes
#
# - Moving on by `size` instead of `size - overlap`, or losing the last chunk.
# - Taking `<=>` for a similarity, and sorting with `DESC`: then the farthest comes first.
# - Leaving the order of equal distances to chance.
# - Updating the content, and forgetting the vector.
# - Writing values into the text of a statement.
# - Loading a snapshot without asking whether it still fits.
# - Python's `hash()` as a fingerprint: for texts it differs in each run.
#
# ## Summary
#
# - Chunks of equal length work for any text; the overlap keeps sentences whole; a chunk may speak of two things.
# - In Postgres a search is `ORDER BY embedding <=> query, id LIMIT k`. It is exact until you make an HNSW index.
# - Values never become part of a statement. A pickle from a stranger is a program.
# - A snapshot carries a fingerprint of documents and tokenizer, and a stale one is refused.
# - What belongs together is written in one transaction.

# %% [markdown]
# ## Quiz
#
# **1.** A text has 2800 characters. How many chunks of 1000 characters are that with an overlap of 100? And of 2801?
#
# <details><summary>Answer</summary>
#
# The chunks start at 0, 900 and 1800. The third one reaches to 2800: three chunks. With 2801 characters one is left,
# so a fourth starts at 2700 and has 101 characters.
#
# </details>
#
# **2.** You improve your tokenizer: it now drops "please". Your snapshot of yesterday loads without an error. Why, and
# what would you do?
#
# <details><summary>Answer</summary>
#
# The fingerprint only knows what the tokenizer does to `PROBE`, and there is no "please" in it. Put the word in, and
# more text of your own. The finished `load_snapshot` also tries the tokenizer on up to 256 of your documents. What
# shows in none of them, it cannot see either.
#
# </details>

# %% [markdown]
# ## Optional: hybrid inside the database · about 8 minutes
#
# Postgres can search by words, too: **full-text search**. `to_tsvector` makes a text into a sorted list of word stems,
# and `@@` asks whether a query matches. Why keep BM25 outside, then? Look at what happens to our identifier:

# %%
text = "what happened with INC-2023-Q4-011?"
print(connection.execute("SELECT to_tsvector('english', %s)", (text,)).fetchone()[0])
connection.execute("SELECT alias, token FROM ts_debug('english', 'INC-2023-Q4-011')").fetchall()

# %% [markdown]
# The parser takes it apart: a word `inc`, a number `-2023`, a word `q4`, a number `-011`. So a text with "Q4 2023" in
# it shares parts with the question, although it never names the incident. The setting 'simple' does not help: it is
# the same parser.
#
# The remedy is to cut the text **outside**, with `tokenize` of unit 02, and to give Postgres the finished tokens, each
# in quotes and with its place in the text: then they are taken as they are. Below, `english` is the first way and
# `tokens` the second, for the ten sections.

# %%
from lab import sections


def quoted(token):
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def placed(tokens):
    """The tokens as Postgres writes a tsvector: 'leak':7 says that leak is the seventh."""
    return " ".join(f"{quoted(token)}:{place}" for place, token in enumerate(tokens, start=1))


connection.execute("""
    CREATE TEMP TABLE IF NOT EXISTS review (
        id bigint PRIMARY KEY, title text, embedding vector(384), english tsvector, tokens tsvector)
""")
for section in sections():
    content = section["content"]
    connection.execute(
        "INSERT INTO review VALUES (%s, %s, %s, to_tsvector('english', %s), %s::tsvector) "
        "ON CONFLICT (id) DO NOTHING",
        (
            section["id"],
            section["title"],
            embedder().embed_documents([content])[0],
            content,
            placed(tokenize(content)),
        ),
    )


# %%
def any_of(tokens):
    """A query of full-text search that asks for any of these tokens; | means "or"."""
    return " | ".join(quoted(token) for token in tokens)


english_query = "replace(plainto_tsquery('english', %s)::text, '&', '|')::tsquery"
by_parts = (
    f"SELECT id, ts_rank(english, {english_query}) AS score FROM review WHERE english @@ {english_query}"
)
by_tokens = "SELECT id, ts_rank(tokens, %s::tsquery) AS score FROM review WHERE tokens @@ %s::tsquery"
for name, statement, query in (
    ("english", by_parts, text),
    ("tokens", by_tokens, any_of(tokenize(text))),
):
    found = connection.execute(statement + " ORDER BY score DESC, id", (query, query)).fetchall()
    print(f"{name:8}", [(number, round(score, 3)) for number, score in found])

# %% [markdown]
# By parts, section 3 is found; whole, it is not. (`ts_rank` counts how often a word stands in a text, but a rare word
# weighs no more than a frequent one. That is why it is no BM25.)
#
# And the fusion, in one statement: two ranked lists, joined by id. `FULL JOIN` keeps documents that only one list has;
# `coalesce` gives them 0 from the other.

# %%
fused = """
    WITH by_vector AS (
        SELECT id, row_number() OVER (ORDER BY embedding <=> %(vector)s, id) AS rank
        FROM review ORDER BY rank LIMIT 20),
    by_words AS (
        SELECT id, row_number() OVER (ORDER BY ts_rank(tokens, %(words)s::tsquery) DESC, id) AS rank
        FROM review WHERE tokens @@ %(words)s::tsquery ORDER BY rank LIMIT 20)
    SELECT id, title, by_vector.rank, by_words.rank,
           (coalesce(0.5 / (60 + by_vector.rank), 0) + coalesce(0.5 / (60 + by_words.rank), 0))::float AS score
    FROM by_vector FULL JOIN by_words USING (id) JOIN review USING (id)
    ORDER BY score DESC, id LIMIT 5
"""
values = {"vector": embedder().embed_query(text), "words": any_of(tokenize(text))}
rows = connection.execute(fused, values).fetchall()
pd.DataFrame(rows, columns=["id", "title", "rank by vector", "rank by words", "score"])

# %% [markdown]
# One statement, one round trip, and nothing beside the table that could be stale. What you give up is BM25 itself. For
# the question about the incident it is enough: sections 10, 2 and 5 are in front, as in unit 04.
#
# ## What comes after
#
# You have what people run at work: documents in a database, two searches, one fusion. The finished parts are in the
# package `hybrid_search`: `chunks.py`, `postgres.py` and `snapshots.py`; in a class they come with the next unit. There
# the best results are read once more, by a model that looks at question and text **together**.
#
# **Next:** [07 · Reranking](../07_reranking/07_reranking.ipynb).
