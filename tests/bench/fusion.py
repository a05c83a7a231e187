"""Fusion: what Retriever.search adds to the times of its indexes, and fusing alone against LangChain and ranx.

What is added is measured over VectorIndex and each index by words, on the same queries in turn. Fusing alone has two
ready rankings, a third of whose documents are in both. ``rrf_scores`` is set against the fusion of LangChain's
EnsembleRetriever, and ``Retriever.search`` over indexes that answer at once against its ``invoke`` over retrievers
that do. ranx fuses the runs of many queries in one call; making its runs is not counted.
"""

import argparse
import random
import statistics
from collections.abc import Callable, Iterator
from itertools import cycle
from typing import Any

import numpy as np

from hybrid_search import BM25Index, FastBM25Index, Retriever, VectorIndex, rrf_scores

from .keywords import made_up
from .results import Bound, Result, Table
from .timing import in_turn, medians, ratio

K, K_RRF = 10, 60
DIMENSIONS = 384
# Each way fuses so many times in a row, as ranx does in one call: a single fusion is over before the clock can tell.
QUERIES = 100
LIBRARIES = "LangChain and ranx are left out: pip install -e '.[bench]' brings them."


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=100_000, help="documents in the indexes (100000)")
    parser.add_argument("--words", type=int, default=20, help="words of each (20)")
    parser.add_argument("--candidates", type=int, default=100, help="depth of each index (100)")
    parser.add_argument(
        "--depths", type=int, nargs="+", default=[20, 100, 1_000], help="of fusing alone (20 100 1000)"
    )
    parser.add_argument("--seconds", type=float, default=6, help="how long each is measured (6)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min(options.documents, options.words, options.candidates, *options.depths) < 1:
        raise ValueError("documents, words, candidates and depths must be at least 1")
    yield from added(options.documents, options.words, options.candidates, options.seconds)
    yield from alone(options.depths, options.seconds)


# ---- what fusing adds


class DrawnVectors:
    """An embedder without a model: every text has a vector by chance, a query always the same."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(0)
        self._queries: dict[str, np.ndarray] = {}

    def embed_documents(self, texts: list[str]) -> np.ndarray:
        return self._random.standard_normal((len(texts), DIMENSIONS), dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        if text not in self._queries:
            self._queries[text] = self._random.standard_normal(DIMENSIONS, dtype=np.float32)
        return self._queries[text]


def added(count: int, words: int, candidates: int, seconds: float) -> Iterator[Result]:
    texts, queries = made_up(count, words)
    documents = [{"id": number, "content": text} for number, text in enumerate(texts)]
    vectors = VectorIndex(DrawnVectors())
    vectors.add_documents(documents)
    rows = []
    bounds = []
    for by_words in (FastBM25Index(str.split), BM25Index(str.split)):
        by_words.add_documents(documents)
        name = type(by_words).__name__
        hybrid = Retriever(vectors, by_words)
        times = in_turn(
            {
                "VectorIndex": _asking(vectors.search, queries, candidates),
                name: _asking(by_words.search, queries, candidates),
                "Retriever": _asking(
                    lambda query, k, hybrid=hybrid: hybrid.search(query, K, candidates=k), queries, candidates
                ),
            },
            seconds,
        )
        sums = [sum(both) for both in zip(times["VectorIndex"], times[name], strict=True)]
        extra = statistics.median(whole - both for whole, both in zip(times["Retriever"], sums, strict=True))
        share = extra / statistics.median(sums)
        rows.append(
            (name, *(1000 * taken for taken in medians(times).values()), 1000 * extra, f"{100 * share:.1f} %")
        )
        # 5 % of the indexes' time, or 0.2 ms where that is more.
        limit = max(0.05 * statistics.median(sums), 0.0002)
        bounds.append(Bound(f"added to VectorIndex and {name}", 1000 * extra, "at most", 1000 * limit, "ms"))
    yield Table(
        f"{count:,} documents, {candidates} candidates, k = {K}; milliseconds a query, median",
        ("index by words", "VectorIndex", "index by words alone", "Retriever", "added", "share"),
        rows,
    )
    yield from bounds


def _asking(search: Callable[[str, int], object], queries: list[str], k: int) -> Callable[[], object]:
    """Asks one query after the other; all that begin together ask the same one."""
    asked = cycle(queries)
    return lambda: search(next(asked), k)


# ---- fusing alone


class Ready:
    """An index that has its answer."""

    def __init__(self, found: list[tuple[dict, float]]) -> None:
        self.found = found

    def add_document(self, document: dict) -> None:
        raise NotImplementedError

    def search(self, query: str, k: int) -> list[tuple[dict, float]]:
        return self.found[:k]


def alone(depths: list[int], seconds: float) -> Iterator[Result]:
    theirs = _theirs()
    if theirs is None:
        yield LIBRARIES
    tables: dict[int, dict[str, float]] = {}
    bounds = []
    for depth in depths:
        rankings = two_rankings(depth)
        documents = {
            key: {"id": key, "content": f"the text of {key}"} for ranking in rankings for key in ranking
        }
        ready = [Ready([(documents[key], 1.0) for key in ranking]) for ranking in rankings]
        retriever = Retriever(*ready)
        ways = {
            "rrf_scores": lambda rankings=rankings: rrf_scores(rankings, K_RRF),
            "Retriever.search": lambda retriever=retriever, depth=depth: retriever.search(
                "a query", 2 * depth, K_RRF, candidates=depth
            ),
        }
        pairs = []
        if theirs:
            ways |= theirs(rankings)
            pairs = [("rrf_scores", "LangChain, its fusion"), ("Retriever.search", "LangChain, invoke")]
            pairs += [("rrf_scores", "ranx")]
        repeated = {name: way if name == "ranx" else _repeated(way) for name, way in ways.items()}
        times = in_turn(repeated, seconds / len(depths), rounds=10)
        times = {name: [seconds / QUERIES for seconds in taken] for name, taken in times.items()}
        tables[depth] = medians(times)
        bounds += [
            Bound(f"{ours} / {other}, depth {depth}", ratio(times, ours, other), "at most", 1)
            for ours, other in pairs
        ]
    yield Table(
        "Fusing two rankings of a depth, milliseconds a query, median",
        ("what", *(f"{depth:,}" for depth in depths)),
        [(name, *(1000 * tables[depth][name] for depth in depths)) for name in tables[depths[0]]],
    )
    yield from bounds


def _repeated(way: Callable[[], object]) -> Callable[[], None]:
    def fuse_all() -> None:
        for _ in range(QUERIES):
            way()

    return fuse_all


def two_rankings(depth: int) -> list[list[str]]:
    """Two rankings by chance, a third of whose keys are in both."""
    drawn = random.Random(0)
    keys = [f"d{number}" for number in range(max(depth, round(depth * 5 / 3)))]
    shared, rest = keys[: depth - (len(keys) - depth)], keys[depth - (len(keys) - depth) :]
    halves = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    rankings = [shared + half for half in halves]
    for ranking in rankings:
        drawn.shuffle(ranking)
    return rankings


def _theirs() -> Callable[[list[list[str]]], dict[str, Callable[[], Any]]] | None:
    """What makes the other libraries' ways of fusing two rankings, or None where they are not installed."""
    try:
        import ranx
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_core.documents import Document
        from langchain_core.retrievers import BaseRetriever
    except ImportError:
        return None

    class Answers(BaseRetriever):
        documents: list

        def _get_relevant_documents(self, query: str, *, run_manager) -> list:
            return self.documents

    def ways(rankings: list[list[str]]) -> dict[str, Callable[[], Any]]:
        keys = {key for ranking in rankings for key in ranking}
        documents = {key: Document(page_content=f"the text of {key}", id=key) for key in keys}
        lists = [[documents[key] for key in ranking] for ranking in rankings]
        ensemble = EnsembleRetriever(
            retrievers=[Answers(documents=found) for found in lists], weights=[1.0, 1.0], c=K_RRF
        )
        runs = [
            ranx.Run(
                {
                    f"q{number}": {key: 1.0 / rank for rank, key in enumerate(ranking, start=1)}
                    for number in range(QUERIES)
                },
                name=f"ranking {place}",
            )
            for place, ranking in enumerate(rankings)
        ]
        return {
            "LangChain, its fusion": lambda: ensemble.weighted_reciprocal_rank(lists),
            "LangChain, invoke": lambda: ensemble.invoke("a query"),
            "ranx": lambda: ranx.fuse(runs, method="rrf", params={"k": K_RRF}),
        }

    return ways
