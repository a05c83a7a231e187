"""Scores made beforehand with the offline reranker: those of the judged queries of Python's language reference.

To rerank 50 candidates of each of these queries takes minutes. ``python -m lab.stored_scores`` makes the scores. With
the version of Python whose reference is stored it begins the file anew; with each of the newer ones it adds the pairs
that are not in it.
"""

import hashlib
import sys
from collections.abc import Iterable
from functools import cache

import numpy as np

from lab.corpora import judged_queries
from lab.cross_encoder import MODEL, NAME
from lab.language import _
from lab.paths import ASSETS
from lab.progress import progress
from lab.python_corpus import python_reference, python_tokens
from lab.rerank_texts import checked_question
from lab.stored_vectors import NEWER_PYTHONS, PYTHON, say_left
from lab.vector_cache import VectorCache

FILE = ASSETS / "python_rerank_scores.npz"
# How many candidates of each index are scored beforehand.
CANDIDATES = 25
# What a kept score depends on, apart from its pair.
_SPACE = f"{NAME} {MODEL[2][:12]} score"


class StoredReranker:
    """``rerank(query, texts)``: the offline reranker's scores, those computed beforehand where there are any.

    Other pairs are scored on this computer, which raises ModelError where that cannot be done, and kept for the next
    run. ``stored`` and ``computed`` count the pairs that were looked up and those that had to be scored.
    """

    def __init__(self):
        self.name, self._scores = _load()
        self.stored = self.computed = 0
        self._cache = VectorCache()
        self._fresh: dict[int, float] = {}

    def __call__(self, query: str, texts: Iterable[str]) -> list[float]:
        query, texts = checked_question(query, texts)
        keys = {text: _key(query, text) for text in texts}
        missing = [text for text, key in keys.items() if key not in self._scores and key not in self._fresh]
        scored = self._score(query, missing) if missing else 0
        self.stored += len(texts) - scored
        self.computed += scored
        return [self._scores.get(keys[text], self._fresh.get(keys[text])) for text in texts]

    def _score(self, query: str, texts: list[str]) -> int:
        """Have the scores of these texts at hand; how many had to be computed."""
        pairs = {f"{query}\0{text}": text for text in texts}
        kept = self._cache.read(_SPACE, pairs)
        if new := [pair for pair in pairs if pair not in kept]:
            from lab.rerankers import reranker

            scores = reranker("local")(query, [pairs[pair] for pair in new])
            fresh = {
                pair: np.array([score], dtype=np.float32) for pair, score in zip(new, scores, strict=True)
            }
            self._cache.write(_SPACE, fresh)
            kept |= fresh
        self._fresh |= {_key(query, pairs[pair]): float(score[0]) for pair, score in kept.items()}
        return len(new)


@cache
def _load() -> tuple[str, dict[int, float]]:
    """The model's name, and the scores by the hash of query and text."""
    with np.load(FILE, allow_pickle=False) as stored:
        scores = dict(zip(stored["pair"].tolist(), stored["score"].tolist(), strict=True))
        return str(stored["model"]), scores


def _key(query: str, text: str) -> int:
    pair = f"{query}\0{text}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.sha256(pair).digest()[:8], "big")


def pairs() -> list[tuple[str, str]]:
    """Each judged query with the text of each document that is among the first ones of an index."""
    from hybrid_search import BM25Index, VectorIndex
    from lab.embedders import embedder

    documents = python_reference()
    indexes = [VectorIndex(embedder("local")), BM25Index(python_tokens)]
    for index in indexes:
        index.add_documents(documents)
    return [
        (query.text, text)
        for query in judged_queries("python")
        for text in dict.fromkeys(
            document["content"] for index in indexes for document, _ in index.search(query.text, k=CANDIDATES)
        )
    ]


def main() -> None:
    from lab.cross_encoder import CrossEncoder

    version = sys.version_info[:2]
    if version not in (PYTHON, *NEWER_PYTHONS):
        say_left(FILE, PYTHON, *NEWER_PYTHONS)
        return
    model, scores = CrossEncoder(), {} if version == PYTHON else dict(_load()[1])
    wanted = {_key(*pair): pair for pair in pairs()}
    new = [(key, pair) for key, pair in wanted.items() if key not in scores]
    for key, (query, text) in progress(new, _("Reranking")):
        (scores[key],) = model(query, [text])
    keys, values = np.array(list(scores), dtype=np.uint64), np.array(list(scores.values()), dtype=np.float32)
    np.savez_compressed(FILE, model=model.name, pair=keys, score=values)
    print(f"{FILE}: {len(scores)} scores, {len(new)} of them new")


if __name__ == "__main__":
    main()
