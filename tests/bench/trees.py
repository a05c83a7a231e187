"""Trees of summaries in Qdrant: seconds to build, nodes compared and milliseconds a search, by number of pages.

The pages are made up, each about one of many subjects; a query is about the subject of a page. Vectors need no model:
a text's is the sum of a fixed random vector for each of its words. A document has all pages, so that its tree is as
deep as they allow. "Compared" are the nodes that a search ranks, each as often as it is ranked. Qdrant's local mode
looks at every point of the collection for any question, so that its time grows with the pages, whatever is compared;
a server (QDRANT_URL) has indexes for that.
"""

import argparse
import hashlib
import random
import statistics
import time
import uuid
from collections.abc import Iterator
from functools import cache

import numpy as np

import lab
from hybrid_search import TreeIndex, beam_search, branch_search, build_tree

from .results import Cell, Table

WORDS_OF_A_SUBJECT, WORDS_OF_A_PAGE = 6, 40


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--pages", type=int, nargs="+", default=[10, 100, 1000], help="pages of a document (10 100 1000)"
    )
    parser.add_argument("--width", type=int, default=3, help="children of a node (3)")
    parser.add_argument("--queries", type=int, default=20, help="queries measured (20)")


def run(options: argparse.Namespace) -> Iterator[Table]:
    if min([*options.pages, options.queries]) < 1:
        raise ValueError("pages and queries must be at least 1")
    client = lab.qdrant()
    rows = []
    for pages in options.pages:
        collection = f"bench_{uuid.uuid4().hex[:12]}"
        try:
            rows += measure(TreeIndex(client, collection, Words()), pages, options.width, options.queries)
        finally:
            client.delete_collection(collection)
    yield Table(f"Trees of width {options.width}, {options.queries} queries", COLUMNS, rows)


COLUMNS = ("pages", "nodes", "depth", "build, s", "add, s", "search", "compared, mean", "most", "ms, median")
SEARCHES = {
    "branch": branch_search,
    "beam, fixed": beam_search,
    "beam, knee": lambda index, query: beam_search(index, query, cut="knee"),
    "beam, sensitive": lambda index, query: beam_search(index, query, cut="sensitive"),
    "flat": lambda index, query: index.search(query, 3),
}


def measure(index: TreeIndex, count: int, width: int, queries: int) -> Iterator[tuple[Cell, ...]]:
    """Build, add and search one document: its rows."""
    pages, subjects = made_up(count)
    started = time.perf_counter()
    nodes = build_tree(pages, summarise, width, "made up")
    built = time.perf_counter()
    index.add_tree(nodes, pages)
    added = time.perf_counter()
    start = (count, len(nodes), nodes[-1]["level"], built - started, added - built)
    chosen = random.Random(1).choices(subjects, k=queries)
    for name, search in SEARCHES.items():
        compared, times = [], []
        for subject in chosen:
            started = time.perf_counter()
            found = search(index, " ".join(subject[:3]))
            times.append(1000 * (time.perf_counter() - started))
            compared.append(found.trace.comparisons if hasattr(found, "trace") else count)
        yield (*start, name, round(statistics.fmean(compared)), max(compared), statistics.median(times))
        start = (None,) * len(start)


def made_up(count: int) -> tuple[list[str], list[list[str]]]:
    """Pages, and the words of each one's subject. Pages that follow each other share some, as those of a chapter do."""
    shuffled = random.Random(0)
    pages, subjects, chapter = [], [], []
    for number in range(count):
        if number % 9 == 0:
            chapter = [f"chapter{number}word{i}" for i in range(WORDS_OF_A_SUBJECT)]
        subject = [f"page{number}word{i}" for i in range(3)] + shuffled.sample(chapter, 3)
        common = [f"word{shuffled.randrange(500)}" for _ in range(WORDS_OF_A_PAGE)]
        pages.append(" ".join(subject + common))
        subjects.append(subject)
    return pages, subjects


def summarise(text: str) -> dict:
    """A part of each line's beginning: of a page its subject, of summaries some of each."""
    lines = text.splitlines()
    words = [word for line in lines for word in line.split()[: max(2, 12 // len(lines))]]
    return {"summary": " ".join(words), "keywords": words[:3]}


class Words:
    """An embedder without a model: a text is the sum of its words' vectors."""

    def embed_documents(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        return np.sum([word_vector(word) for word in text.split()], axis=0)


@cache
def word_vector(word: str) -> np.ndarray:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "big")
    return np.random.default_rng(seed).standard_normal(384)
