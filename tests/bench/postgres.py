"""Exact and HNSW search in Postgres against VectorIndex: milliseconds a query, and recall@10.

The server is the one of lab.postgres(), the table is made for the benchmark and dropped. Vectors come in groups
around centres, as those of texts do, and queries near them: of vectors without any order no graph finds much. Every
index answers the same queries one by one, in turn, so that a busy moment of the computer meets all of them. Recall is
the share of the exact ten nearest that are found.
"""

import argparse
import statistics
import time
import uuid
from collections.abc import Iterator

import numpy as np

import lab
from hybrid_search import VectorIndex
from hybrid_search.postgres import PgVectorIndex

from .results import Result, Table
from .timing import timed

K = 10
EF_SEARCH = (20, 100, 400)
# Words as long as a chunk's text, so that rows are as wide as in use.
CONTENT = "word " * 180


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=10_000, help="documents in the table (10000)")
    parser.add_argument("--dimensions", type=int, default=384, help="dimensions of a vector (384)")
    parser.add_argument("--queries", type=int, default=200, help="queries measured (200)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min(options.documents, options.dimensions, options.queries) < 1:
        raise ValueError("documents, dimensions and queries must be at least 1")
    vectors, queries = made_up(options.documents, options.dimensions, options.queries)
    documents = [{"id": number, "content": CONTENT} for number in range(len(vectors))]
    with lab.postgres() as connection:
        table = f"bench_{uuid.uuid4().hex[:12]}"
        try:
            yield from measure(PgVectorIndex(connection, table=table), vectors, documents, queries)
        finally:
            connection.execute(f"DROP TABLE IF EXISTS {table}")


def made_up(documents: int, dimensions: int, queries: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors around 100 centres, and queries around the same: shapes (documents, d) and (queries, d)."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((100, dimensions))
    around = random.integers(len(centres), size=documents + queries)
    points = centres[around] + random.standard_normal((documents + queries, dimensions))
    return points[:documents].astype(np.float32), points[documents:].astype(np.float32)


def measure(
    stored: PgVectorIndex, vectors: np.ndarray, documents: list[dict], queries: np.ndarray
) -> Iterator[Result]:
    """Fill both indexes, search them in turn."""
    memory = VectorIndex()
    for vector, document in zip(vectors, documents, strict=True):
        memory.add_vector(vector, document)
    loading = timed(lambda: stored.add_vectors(vectors, documents))
    building = timed(stored.create_hnsw)
    yield f"{len(documents)} documents of {vectors.shape[1]} dimensions, {len(queries)} queries, k = {K}"
    yield f"Loaded by COPY in {loading:.1f} s, HNSW index made in {building:.1f} s"

    def approximate(ef_search):
        def search(query):
            stored.ef_search = ef_search
            return stored.search(query, K, exact=False)

        return search

    searches = {
        "VectorIndex": lambda query: memory.search(query, K),
        "Postgres, exact": lambda query: stored.search(query, K, exact=True),
        **{f"Postgres, HNSW, ef_search = {ef}": approximate(ef) for ef in EF_SEARCH},
    }
    times: dict[str, list[float]] = {name: [] for name in searches}
    found: dict[str, list[set]] = {name: [] for name in searches}
    for query in queries:
        for name, search in searches.items():
            started = time.perf_counter()
            results = search(query)
            times[name].append(1000 * (time.perf_counter() - started))
            found[name].append({document["id"] for document, _ in results})
    rows = []
    for name in searches:
        ordered = sorted(times[name])
        shares = [
            len(these & those) / len(those)
            for these, those in zip(found[name], found["VectorIndex"], strict=True)
        ]
        last = ordered[int(0.95 * (len(ordered) - 1))]
        rows.append((name, statistics.median(ordered), last, f"{statistics.fmean(shares):.3f}"))
    yield Table("Searches", ("search", "median ms", "95th ms", "recall@10"), rows)
