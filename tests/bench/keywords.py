"""BM25Index and FastBM25Index against rank-bm25 and bm25s used bare: milliseconds a query, indexing, memory.

The words of documents and queries are drawn by Zipf's law, as words of a language fall. Bare means the library's own
search for the ten best from tokens; bm25s with its own settings, float32 among them, where FastBM25Index has float64,
so as to score as BM25Index does. Indexing is what the first search adds, or what the library takes; memory is what
stays of it, beside the documents and their tokens. Growth is measured with shorter documents, so that a million fit.
"""

import argparse
import statistics
from collections.abc import Callable, Iterator
from itertools import cycle

import numpy as np

from hybrid_search import BM25Index, FastBM25Index

from .results import Bound, Cell, Result, Table
from .timing import held_memory, in_turn, medians, ratio, timed

K = 10
VOCABULARY = 50_000
WORDS_OF_A_QUERY = 4
COLUMNS = ("documents", "search", "ms a query, median", "indexing, s", "memory, MB")
Search = Callable[[str], object]
# From so many documents on, ten times as many may take ten times as long. With fewer, the dicts of rank-bm25 are
# still in the processor's cache, and the table of bm25s takes less time than the call.
GROWS_FROM = {BM25Index: 100_000, FastBM25Index: 10_000}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--documents", type=int, default=100_000, help="documents compared on (100000)")
    parser.add_argument("--words", type=int, default=100, help="words of each (100)")
    parser.add_argument(
        "--growth", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000], metavar="DOCUMENTS"
    )
    parser.add_argument("--growth-words", type=int, default=20, help="words of a document there (20)")
    parser.add_argument("--seconds", type=float, default=6, help="how long searches are compared (6)")


def run(options: argparse.Namespace) -> Iterator[Result]:
    if min(options.documents, options.words, options.growth_words, *options.growth) < 1:
        raise ValueError("documents and words must be at least 1")
    yield from compare(options.documents, options.words, options.seconds)
    yield from growth(options.growth, options.growth_words, min(1, options.seconds))


def compare(count: int, words: int, seconds: float) -> Iterator[Result]:
    """The four searches on the same documents and queries, in turn."""
    texts, queries = made_up(count, words)
    made = {"BM25Index": ours(BM25Index), "rank-bm25, bare": bare_rank_bm25}
    made |= {"FastBM25Index": ours(FastBM25Index), "bm25s, bare": bare_bm25s}
    searches: dict[str, Search] = {}
    rows: dict[str, list[Cell]] = {}
    for name, make in made.items():
        searches[name], *rows[name] = make(texts, queries[0])
    same_order = {name: cycle(queries) for name in searches}
    ways = {name: lambda name=name: searches[name](next(same_order[name])) for name in searches}
    times = in_turn(ways, seconds)
    found = [[score for _, score in searches[name](queries[1])] for name in ("BM25Index", "FastBM25Index")]
    if not np.allclose(*found, rtol=0, atol=1e-6):
        raise ValueError("FastBM25Index scores otherwise than BM25Index")
    yield Table(
        f"Searches by words, {words} words a document, k = {K}",
        COLUMNS,
        [(count, name, 1000 * taken, *rows[name]) for name, taken in medians(times).items()],
    )
    yield Bound(
        "rank-bm25, bare / FastBM25Index", ratio(times, "rank-bm25, bare", "FastBM25Index"), "at least", 50
    )
    yield Bound("BM25Index / FastBM25Index", ratio(times, "BM25Index", "FastBM25Index"), "at least", 50)
    yield Bound("FastBM25Index / bm25s, bare", ratio(times, "FastBM25Index", "bm25s, bare"), "at most", 1.3)
    yield Bound("BM25Index / rank-bm25, bare", ratio(times, "BM25Index", "rank-bm25, bare"), "at most", 1.3)


def growth(counts: list[int], words: int, seconds: float) -> Iterator[Result]:
    """Both indexes on more and more documents."""
    rows: dict[type[BM25Index], list[tuple]] = {index: [] for index in GROWS_FROM}
    for count in counts:
        texts, queries = made_up(count, words)
        for index in rows:
            rows[index].append(_grown(index, texts, queries, seconds))
    yield Table(
        f"Growth, {words} words a document", COLUMNS, [row for grown in rows.values() for row in grown]
    )
    for index, grown in rows.items():
        for fewer, more in zip(grown, grown[1:], strict=False):
            if fewer[0] >= GROWS_FROM[index]:
                yield from _not_faster_than_linear(fewer, more)


def _grown(index: type[BM25Index], texts: list[str], queries: list[str], seconds: float) -> tuple:
    """A row of the table. Indexing is the median of three; a million documents are indexed once."""
    search, indexing, memory = ours(index)(texts, queries[0])
    if len(texts) < 1_000_000:  # in memory that the first one left: so it is the first whose memory counts
        again = [ours(index)(texts, queries[0])[1] for _ in range(2)]
        indexing = statistics.median([indexing, *again])
    asked = cycle(queries)
    times = in_turn({"search": lambda: search(next(asked))}, seconds)
    return len(texts), index.__name__, 1000 * medians(times)["search"], indexing, memory


def _not_faster_than_linear(fewer: tuple, more: tuple) -> Iterator[Bound]:
    linear = more[0] / fewer[0]
    for column in (2, 3):
        what = f"{COLUMNS[column].partition(',')[0]} at {more[0]:,} / at {fewer[0]:,} documents"
        yield Bound(f"{more[1]}, {what}", more[column] / fewer[column], "at most", 1.3 * linear)


def ours(index_class: type[BM25Index]) -> Callable[[list[str], str], tuple[Search, float, float]]:
    def make(texts: list[str], query: str) -> tuple[Search, float, float]:
        index = index_class(str.split)
        index.add_documents([{"id": number, "content": text} for number, text in enumerate(texts)])
        before = held_memory()
        indexing = timed(lambda: index.search(query, K))
        return lambda query: index.search(query, K), indexing, (held_memory() - before) / 1e6

    return make


def bare_rank_bm25(texts: list[str], query: str) -> tuple[Search, float, float]:
    from rank_bm25 import BM25Okapi

    tokens = [text.split() for text in texts]
    before, made = held_memory(), []
    indexing = timed(lambda: made.append(BM25Okapi(tokens)))
    memory = (held_memory() - before) / 1e6

    def search(query: str) -> list[int]:
        scores = made[0].get_scores(query.split())
        best = np.argpartition(scores, -K)[-K:] if len(scores) > K else np.arange(len(scores))
        return best[np.argsort(-scores[best])].tolist()

    return search, indexing, memory


def bare_bm25s(texts: list[str], query: str) -> tuple[Search, float, float]:
    import bm25s

    tokens = [text.split() for text in texts]
    before, model = held_memory(), bm25s.BM25()
    indexing = timed(lambda: model.index(tokens, show_progress=False))
    memory = (held_memory() - before) / 1e6
    k = min(K, len(texts))
    return lambda query: model.retrieve([query.split()], k=k, show_progress=False), indexing, memory


def made_up(count: int, words: int) -> tuple[list[str], list[str]]:
    """Texts, and 100 queries of words that are drawn likewise."""
    random = np.random.default_rng(0)
    shares = np.cumsum(1 / np.arange(1, VOCABULARY + 1))
    shares /= shares[-1]
    vocabulary = np.array([f"w{number}" for number in range(VOCABULARY)], dtype=object)

    def draw(texts: int, length: int) -> list[str]:
        drawn = np.searchsorted(shares, random.random((texts, length)))
        return [" ".join(vocabulary[row]) for row in drawn]

    return draw(count, words), draw(100, WORDS_OF_A_QUERY)
