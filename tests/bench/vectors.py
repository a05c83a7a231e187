"""VectorIndex against the speed of memory and against other libraries: searching, adding, and how both grow.

Vectors come in groups around centres, as those of texts do, and so do queries. All ratios are of times taken in turn,
the median over the rounds.

"Alone" is what no exact search in float32 can do without: one product of the index's own matrix with the query, by
`X @ q` or `np.einsum("ij,j->i", X, q)`, whichever is faster, without a selection, checks or documents. It is
measured with one BLAS thread and with two, each in a process of its own, since numpy reads their number when it
loads.

The other libraries hold the same vectors, answer the same queries, and give the text of what they find where they
keep texts (scikit-learn gives places). InMemoryVectorStore gets numpy arrays instead of lists, which is faster. It
and Qdrant's local mode answer several queries one by one, so that a query of a batch costs them what a single one
does. All are exact but chromadb, whose graph (HNSW, as it comes) finds most of the nearest: recall@10 is in the
table. At 1,000,000 only scikit-learn takes part: to fill the others would take many minutes.

Adding one by one is compared with filling a float32 array row by row; adding in bulk with one copy and its checks, as
anybody would write them (`one_copy`). Memory is what a process holds at most while it adds, less what it held before:
the documents, and the vectors, of which a thousand are given again and again. Their number is just past a doubling,
where an array that grows by doubling is worst.
"""

import argparse
import importlib.util
import json
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from hybrid_search import VectorIndex

from .results import Bound, Cell, Result, Table
from .timing import in_turn, medians, ratio, timed, with_blas_threads

K, BATCH = 10, 32
THREADS = (1, 2)
ALONE = "the product alone"
LARGE = 100_000  # so many vectors are in no cache
OTHERS = {
    "InMemoryVectorStore": "langchain_core",
    "Qdrant-local": "qdrant_client",
    "chromadb": "chromadb",
    "scikit-learn": "sklearn",
}


def add_options(parser: argparse.ArgumentParser) -> None:
    sizes = [1_000, 10_000, 100_000, 1_000_000]
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="vectors (1000 ... 1000000)")
    parser.add_argument("--dimensions", type=int, default=384, help="dimensions of a vector (384)")
    parser.add_argument("--added", type=int, default=100_000, help="vectors added, for the time (100000)")
    parser.add_argument("--kept", type=int, default=2**17 + 1, help="vectors added, for the memory (131073)")
    parser.add_argument("--seconds", type=float, default=1.5, help="about so long for a comparison (1.5)")
    parser.add_argument(
        "--others", nargs="*", choices=OTHERS, default=list(OTHERS), help="compared with (all)"
    )


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min([*options.sizes, options.dimensions, options.added, options.kept]) < 1:
        raise ValueError("sizes, dimensions, added and kept must be at least 1")
    yield from against_memory(options)
    yield from against_others(options)
    yield from adding(options)
    yield from memory(options)


def apart(measure: Callable, options: argparse.Namespace, threads: int = THREADS[-1], **changed):
    """What a measure gives in a process of its own."""
    settings = json.dumps(vars(options) | changed, default=str)
    return json.loads(with_blas_threads(threads, "tests.bench.vectors", measure.__name__, settings))


def made_up(count: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    """Vectors around 100 centres, and queries around the same: float32, shapes (count, d) and (BATCH, d)."""
    random = np.random.default_rng(0)
    centres = random.standard_normal((100, dimensions), dtype=np.float32)
    points = random.standard_normal((count + BATCH, dimensions), dtype=np.float32)
    for start in range(0, len(points), 10_000):
        some = points[start : start + 10_000]
        some += centres[random.integers(len(centres), size=len(some))]
    return points[:count], points[count:]


def documents_for(count: int) -> list[dict]:
    return [{"id": number, "content": f"document {number}"} for number in range(count)]


def milliseconds(times: dict[str, list[float]]) -> dict[str, float]:
    return {name: 1000 * taken for name, taken in medians(times).items()}


# ---- against the memory


def against_memory(options: argparse.Namespace) -> Iterator[Result]:
    rows: list[tuple[Cell, ...]] = []
    bounds: list[Bound] = []
    for threads in THREADS:
        found = apart(searches, options, threads)
        for at in found["sizes"]:
            rows.append((threads, at["vectors"], *at["times"].values(), at["ratio"]))
            if at["vectors"] >= LARGE:
                what = f"a query over {at['vectors']:,} with {threads} BLAS thread(s), to the product alone"
                bounds.append(Bound(what, at["ratio"], "at most", 1.25))
    columns = ("BLAS threads", "vectors", "X @ q", "einsum", "VectorIndex", "times the faster")
    yield Table(f"One query, k = {K}, {options.dimensions} dimensions, ms", columns, rows)
    yield from bounds
    columns = ("vectors", "ms a query", f"ms each of {BATCH}", "X @ Q alone", "MB", "bulk, s")
    rows = [
        (at["vectors"], at["times"]["VectorIndex"], *at["batch"].values(), at["MB"], at["bulk"])
        for at in found["sizes"]
    ]
    yield Table(f"VectorIndex as it grows, {THREADS[-1]} BLAS threads", columns, rows)
    if found["growth"]:
        fewer, more = sorted(options.sizes)[-2:]
        what = f"the time of a query per vector, {more:,} to {fewer:,}"
        yield Bound(what, found["growth"], "at most", 1.3)


def searches(options: SimpleNamespace) -> dict:
    """Searches of all sizes, and the products alone."""
    sizes = sorted(options.sizes)
    vectors, queries = made_up(sizes[-1], options.dimensions)
    documents = documents_for(len(vectors))
    found, search = [], {}
    for count in sizes:
        index, some = VectorIndex(), vectors[:count]
        bulk = timed(lambda index=index, some=some: index.add_vectors(some, documents[: len(some)]))
        search[count] = lambda index=index: index.search(queries[0], K)
        rows = index._rows  # all read the same memory: a virtual machine may have some that is far slower
        one = in_turn(
            {
                "X @ q": lambda rows=rows: rows @ queries[0],
                "einsum": lambda rows=rows: np.einsum("ij,j->i", rows, queries[0]),
                "VectorIndex": search[count],
            },
            options.seconds,
        )
        batch = in_turn(
            {
                "VectorIndex": lambda index=index: index.search_many(queries, K),
                "alone": lambda rows=rows: rows @ queries.T,
            },
            options.seconds / 2,
        )
        found.append(
            {
                "vectors": count,
                "times": milliseconds(one),
                "ratio": ratio(one, "VectorIndex", "X @ q", "einsum"),
                "batch": {name: taken / BATCH for name, taken in milliseconds(batch).items()},
                "MB": some.nbytes / 1e6,
                "bulk": bulk,
            }
        )
    if sizes[-1] <= LARGE or len(sizes) < 2:
        return {"sizes": found, "growth": None}
    fewer, more = sizes[-2:]
    times = in_turn({"fewer": search[fewer], "more": search[more]}, options.seconds)
    return {"sizes": found, "growth": ratio(times, "more", "fewer") * fewer / more}


# ---- against others


def against_others(options: argparse.Namespace) -> Iterator[Result]:
    missing = [name for name in options.others if not importlib.util.find_spec(OTHERS[name])]
    if missing:
        yield f'Not installed, and left out: {", ".join(missing)}. Install them with pip install -e ".[bench]".'
    names = [name for name in options.others if name not in missing]
    rows: list[tuple[Cell, ...]] = []
    bounds: list[Bound] = []
    for count in sorted(size for size in options.sizes if size >= 10_000) or options.sizes[-1:]:
        here = [name for name in names if count <= LARGE or name == "scikit-learn"]
        found = apart(others, options, sizes=[count], others=here)
        rows += [(count, *row) for row in found["rows"]]
        for kind, by_name in found["ratios"].items():
            graph = {name: times for name, times in by_name.items() if name == "chromadb"}
            exact = {name: times for name, times in by_name.items() if name != "chromadb"}
            for some in (exact, graph):
                if some:
                    fastest = max(some, key=some.__getitem__)
                    bounds.append(
                        Bound(f"{kind} over {count:,}, to {fastest}", some[fastest], "at most", 1.0)
                    )
    columns = ("vectors", "search", "filled, s", "ms a query", f"ms each of {BATCH}", f"recall@{K}")
    yield Table("VectorIndex and others", columns, rows)
    yield from bounds


def others(options: SimpleNamespace) -> dict:
    """Searches of one size by each, and how many times as long VectorIndex takes."""
    warnings.simplefilter("ignore")  # Qdrant's, that local mode is not for so many
    vectors, queries = made_up(options.sizes[0], options.dimensions)
    documents = documents_for(len(vectors))
    filled, searches = {}, {}
    for name in ("VectorIndex", ALONE, *options.others):
        filled[name] = timed(lambda name=name: searches.update({name: FILL[name](vectors, documents)}))
    one = in_turn(
        {name: lambda f=search: f(queries[:1]) for name, search in searches.items()}, options.seconds
    )
    at_once = {name: search for name, search in searches.items() if name not in ONE_BY_ONE}
    batch = in_turn({name: lambda f=search: f(queries) for name, search in at_once.items()}, options.seconds)
    each = {name: taken / BATCH for name, taken in milliseconds(batch).items()}
    exact = searches["VectorIndex"](queries)
    rows, ratios = [], {"a query": {}, f"each of {BATCH}": {}}
    for name, taken in milliseconds(one).items():
        if name == ALONE:
            rows.append((name, None, taken, each[name], None))
            continue
        found = zip(searches[name](queries), exact, strict=True)
        recall = statistics.fmean(len({*these} & {*those}) / len(those) for these, those in found)
        rows.append((name, filled[name], taken, each.get(name, taken), f"{recall:.3f}"))
        if name != "VectorIndex":
            for kind, times in zip(ratios, (one, batch), strict=True):
                alike = name in times
                ratios[kind][name] = (
                    ratio(times, "VectorIndex", name) if alike else each["VectorIndex"] / taken
                )
    return {"rows": rows, "ratios": ratios}


# Each fills an index, and gives a function: queries of shape (n, d) in, for each the ids of the nearest out.
Search = Callable[[np.ndarray], list[list[int]]]


def vector_index(vectors: np.ndarray, documents: list[dict]) -> Search:
    index = VectorIndex()
    index.add_vectors(vectors, documents)
    return lambda queries: [[d["id"] for d, _ in found] for found in index.search_many(queries, K)]


def product_alone(vectors: np.ndarray, documents: list[dict]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda queries: vectors @ queries.T if len(queries) > 1 else np.vecdot(vectors, queries[0])


def in_memory_vector_store(vectors: np.ndarray, documents: list[dict]) -> Search:
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    class Known(Embeddings):
        def embed_documents(self, texts):
            return list(vectors)

        def embed_query(self, text):
            raise NotImplementedError

    store = InMemoryVectorStore(Known())
    store.add_texts([document["content"] for document in documents], ids=[str(d["id"]) for d in documents])

    def search(queries):
        found = [store.similarity_search_with_score_by_vector(query, K) for query in queries]
        return [[int(document.id) for document, _ in one] for one in found]

    return search


def qdrant(vectors: np.ndarray, documents: list[dict]) -> Search:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(":memory:")
    settings = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
    client.create_collection("bench", vectors_config=settings)
    client.upload_collection("bench", vectors, documents, ids=range(len(vectors)))
    return lambda queries: [
        [point.id for point in client.query_points("bench", query, limit=K).points] for query in queries
    ]


def chromadb(vectors: np.ndarray, documents: list[dict]) -> Search:
    from chromadb import EphemeralClient, Settings

    client = EphemeralClient(Settings(anonymized_telemetry=False))
    stored = client.create_collection("bench", embedding_function=None, metadata={"hnsw:space": "cosine"})
    most = client.get_max_batch_size()
    for start in range(0, len(vectors), most):
        some = documents[start : start + most]
        stored.add(
            ids=[str(document["id"]) for document in some],
            embeddings=vectors[start : start + most],
            documents=[document["content"] for document in some],
        )

    def search(queries):
        found = stored.query(query_embeddings=queries, n_results=K)
        return [[int(key) for key in ids] for ids in found["ids"]]

    return search


def scikit_learn(vectors: np.ndarray, documents: list[dict]) -> Search:
    from sklearn.neighbors import NearestNeighbors

    neighbours = NearestNeighbors(n_neighbors=K, algorithm="brute", metric="cosine").fit(vectors)
    return lambda queries: neighbours.kneighbors(queries, return_distance=True)[1].tolist()


FILL = {
    "VectorIndex": vector_index,
    ALONE: product_alone,
    "InMemoryVectorStore": in_memory_vector_store,
    "Qdrant-local": qdrant,
    "chromadb": chromadb,
    "scikit-learn": scikit_learn,
}
ONE_BY_ONE = {"InMemoryVectorStore", "Qdrant-local"}


# ---- adding


def adding(options: argparse.Namespace) -> Iterator[Result]:
    vectors, _ = made_up(options.added, options.dimensions)
    documents = documents_for(len(vectors))
    ways = {
        "an array filled row by row": lambda: fill(vectors),
        "add_vector, one by one": lambda: add_one_by_one(vectors, documents),
        "one copy and its checks": lambda: one_copy(vectors, documents),
        "add_vectors, in bulk": lambda: VectorIndex().add_vectors(vectors, documents),
    }
    times = in_turn(ways, 2 * options.seconds, rounds=9)  # with three, a busy moment decides
    row_by_row, one_by_one, copy, bulk = ways
    rows = [
        (way, taken, 1e6 * taken / len(vectors), ratio(times, way, row_by_row))
        for way, taken in medians(times).items()
    ]
    columns = ("what", "s", "microseconds a vector", "times the filled array")
    yield Table(f"Adding {len(vectors):,} vectors", columns, rows)
    yield Bound(
        "add_vector one by one, to filling an array", ratio(times, one_by_one, row_by_row), "at most", 10.0
    )
    yield Bound("add_vectors, to one copy and its checks", ratio(times, bulk, copy), "at most", 3.0)


def fill(vectors: np.ndarray) -> None:
    rows = np.empty(vectors.shape, dtype=np.float32)
    for place, vector in enumerate(vectors):
        rows[place] = vector


def add_one_by_one(vectors: np.ndarray, documents: list[dict]) -> None:
    index = VectorIndex()
    for vector, document in zip(vectors, documents, strict=True):
        index.add_vector(vector, document)


def one_copy(vectors: np.ndarray, documents: list[dict]) -> np.ndarray:
    """Rows of length 1 in an array of their own, once all is known to be finite, not zero, and under its own id."""
    if not np.isfinite(vectors).all():
        raise ValueError("a number is not finite")
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    if not lengths.all():
        raise ValueError("a vector is zero")
    if len({document["id"] for document in documents}) < len(documents):
        raise ValueError("two documents have one id")
    return vectors / lengths[:, None]


# ---- memory


def memory(options: argparse.Namespace) -> Iterator[Result]:
    rows: list[tuple[Cell, ...]] = []
    for way in WAYS_TO_ADD:
        used, own = apart(memory_used, options, way=way)
        rows.append((way, own / 1e6, used / 1e6, used / own))
    columns = ("added", "MB of vectors", "MB at most", "times")
    yield Table(f"Memory while {options.kept:,} vectors are added", columns, rows)
    yield Bound("memory at most, to the vectors", max(row[-1] for row in rows), "at most", 2.2)


WAYS_TO_ADD = {"one by one": 1, "1,000 at a time": 1_000, "in bulk": None}


def memory_used(options: SimpleNamespace) -> tuple[int, int]:
    """The most bytes that this process came to hold while vectors were added, and those of the vectors."""
    some, _ = made_up(min(1_000, options.kept), options.dimensions)
    documents, index = documents_for(options.kept), VectorIndex()
    at_once, before = WAYS_TO_ADD[options.way] or options.kept, most_held()
    if at_once == 1:
        for number, document in enumerate(documents):
            index.add_vector(some[number % len(some)], document)
    else:
        for start in range(0, options.kept, at_once):
            batch = documents[start : start + at_once]
            index.add_vectors(Repeated(some, len(batch)), batch)
    return most_held() - before, 4 * options.kept * options.dimensions


class Repeated:
    """Vectors given again and again, so that only what the index makes of them takes memory."""

    def __init__(self, vectors: np.ndarray, count: int) -> None:
        self.vectors, self.count = vectors, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, some: slice) -> list[np.ndarray]:
        return [self.vectors[number % len(self.vectors)] for number in range(*some.indices(self.count))]


def most_held() -> int:
    """The most bytes of memory that this process has held so far."""
    if sys.platform == "linux":  # where ru_maxrss counts what the process was forked from, too
        status = Path("/proc/self/status").read_text(encoding="ascii")
        return 1024 * int(status.partition("VmHWM:")[2].split()[0])
    if sys.platform == "win32":
        import psutil

        return psutil.Process().memory_info().peak_wset
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    measure = {"searches": searches, "others": others, "memory_used": memory_used}[sys.argv[1]]
    print(json.dumps(measure(SimpleNamespace(**json.loads(sys.argv[2])))))
