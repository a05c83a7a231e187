"""Reranking: milliseconds a pair, and the whole pipeline by stage for several pools.

The retriever searches the language reference of the running Python by vectors and BM25; questions are its judged
queries, embedded anew. A pool is what both indexes give together; a text that stands in it twice is scored once. The
reranker is the one of lab.reranker(), the offline model unless another is named; a service is sent the texts.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterator

import lab
from hybrid_search import BM25Index, Retriever, VectorIndex
from hybrid_search.rrf import rrf_scores

from .results import Result, Table

POOLS = (5, 10, 20, 50)
STAGES = ("embed", "vector search", "BM25 search", "fuse", "rerank")
LENGTHS = (32, 128, 256, 512)  # tokens of a pair, about


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--queries", type=int, default=20, help="questions measured (20)")
    parser.add_argument("--pools", type=int, nargs="+", default=POOLS, help="sizes of the pool (5 10 20 50)")
    parser.add_argument("--reranker", default="local", help="local, voyage or cohere (local)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min(options.queries, *options.pools) < 1:
        raise ValueError("queries and pools must be at least 1")
    rerank, embedder = lab.reranker(options.reranker), lab.embedder("local")
    yield pairs(rerank)
    retriever = Retriever(VectorIndex(embedder), BM25Index(lab.python_tokens), weights=(0.5, 0.5))
    retriever.add_documents(lab.python_reference())
    judged = lab.judged_queries("python")
    step = max(1, len(judged) // options.queries)
    # With a space more a question has no stored vector, and means the same.
    questions = [query.text + " " for query in judged[::step]][: options.queries]
    yield pipeline(retriever, embedder, rerank, questions, options.pools)


def pairs(rerank: Callable) -> Table:
    """Milliseconds a pair, by its length."""
    rows = []
    for length in LENGTHS:
        text = "word " * (length - 8)
        rerank("which word is it?", [text])
        taken = [_timed(lambda text=text: rerank("which word is it?", [text]))[0] for _ in range(7)]
        rows.append((length, 1000 * statistics.median(taken)))
    return Table(f"A pair, with {rerank.name}", ("tokens of a pair, about", "ms a pair, median"), rows)


def pipeline(retriever, embedder, rerank: Callable, questions: list[str], pools: list[int]) -> Table:
    """The median milliseconds of each stage, and the median and 95th percentile of the whole."""
    rows = []
    for pool in pools:
        measured = [by_stage(retriever, embedder, rerank, question, pool) for question in questions]
        whole = sorted(sum(times.values()) for times, _ in measured)
        stages = [statistics.median(times[stage] for times, _ in measured) for stage in STAGES]
        texts = statistics.mean(count for _, count in measured)
        last = whole[math.ceil(0.95 * len(whole)) - 1]
        numbers = [1000 * number for number in (*stages, statistics.median(whole), last)]
        rows.append((pool, f"{texts:.1f}", *(f"{number:.1f}" for number in numbers)))
    title = f"{len(retriever.indexes[0])} documents, {len(questions)} questions; milliseconds, median"
    return Table(title, ("pool", "texts scored", *STAGES, "whole", "whole, 95th"), rows)


def by_stage(retriever, embedder, rerank: Callable, question: str, pool: int) -> tuple[dict[str, float], int]:
    """The seconds of each stage of one question, done one after the other, and how many texts were scored."""
    vector_index, bm25_index = retriever.indexes
    share, times = math.ceil(pool / 2), {}
    times["embed"], vector = _timed(lambda: embedder.embed_query(question))
    times["vector search"], near = _timed(lambda: vector_index.search(vector, k=share))
    times["BM25 search"], matching = _timed(lambda: bm25_index.search(question, k=share))
    documents = {document["id"]: document for document, _ in [*near, *matching]}
    rankings = [[document["id"] for document, _ in found] for found in (near, matching)]
    times["fuse"], fused = _timed(lambda: list(rrf_scores(rankings, 60, retriever.weights))[:pool])
    texts = list(dict.fromkeys(documents[key]["content"] for key in fused))
    times["rerank"], _ = _timed(lambda: rerank(question, texts))
    return times, len(texts)


def _timed(action: Callable) -> tuple[float, object]:
    started = time.perf_counter()
    result = action()
    return time.perf_counter() - started, result
