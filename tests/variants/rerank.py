"""Correct solutions of the exercise rerank in different styles. Each of them must get full points.

They follow the statement in unit 07. Documents with the same score come in different orders: it leaves that open.
"""

import heapq
import math
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd


class Plain:
    def __init__(self, retriever, rerank, pool=20):
        self.retriever = retriever
        self.rerank = rerank
        self.pool = pool

    def search(self, query, k=3):
        each = math.ceil(self.pool / len(self.retriever.indexes))
        found = self.retriever.search(query, k=self.pool, candidates=each)
        if not found:
            return []
        documents = [document for document, _ in found]
        try:
            scores = self.rerank(query, [document["content"] for document in documents])
        except Exception:
            return found[:k]
        pairs = list(zip(documents, scores, strict=True))
        pairs.sort(key=lambda pair: pair[1], reverse=True)
        return pairs[:k]


class Beginner:
    """Loops and a selection by hand; the reranked pool in another order."""

    def __init__(self, retriever, rerank, pool=20):
        self.r = retriever
        self.score_texts = rerank
        self.size = pool

    def search(self, query, k=3):
        number = 0
        for _index in self.r.indexes:
            number = number + 1
        found = self.r.search(query, self.size, 60, int((self.size + number - 1) / number))
        if len(found) == 0:
            return []
        texts = []
        for pair in found:
            texts.append(pair[0]["content"])
        try:
            scores = self.score_texts(query, texts)
        except RuntimeError:
            return found[0:k]
        left = list(range(len(found)))
        results = []
        while len(results) < k and len(left) > 0:
            best = left[0]
            for i in left:
                if scores[i] > scores[best]:
                    best = i
            left.remove(best)
            results.append((found[best][0], scores[best]))
        return results


class WithNumpy:
    """Scores are numpy floats; equal ones come in the other order."""

    def __init__(self, retriever, rerank, pool=20):
        self.retriever, self.rerank, self.pool = retriever, rerank, pool

    def search(self, query, k=3):
        found = self.retriever.search(
            query, k=self.pool, candidates=math.ceil(self.pool / len(self.retriever.indexes))
        )
        if not found:
            return []
        try:
            scores = np.array(self.rerank(query, [document["content"] for document, _ in found]))
        except Exception:
            return found[:k]
        return [(found[i][0], scores[i]) for i in np.argsort(scores)[::-1][:k]]


class WithHeapq:
    def __init__(self, retriever, rerank, pool=20):
        self.retriever, self.rerank, self.pool = retriever, rerank, pool

    def search(self, query, k=3):
        pool = self.retriever.search(
            query, self.pool, candidates=math.ceil(self.pool / len(self.retriever.indexes))
        )
        try:
            texts = [document["content"] for document, _ in pool]
            scores = self.rerank(query, texts) if texts else []
        except Exception:
            return pool[:k]
        documents = (document for document, _ in pool)
        return heapq.nlargest(k, zip(documents, scores, strict=True), key=itemgetter(1))


class Generator:
    """search is a generator."""

    def __init__(self, retriever, rerank, pool=20):
        self.retriever, self.rerank, self.pool = retriever, rerank, pool

    def search(self, query, k=3):
        each, rest = divmod(self.pool, len(self.retriever.indexes))
        found = self.retriever.search(query, k=self.pool, candidates=each + bool(rest))
        if found:
            try:
                scores = self.rerank(query, [document["content"] for document, _ in found])
            except Exception:
                yield from found[:k]
            else:
                order = sorted(range(len(found)), key=lambda i: -scores[i])
                yield from ((found[i][0], scores[i]) for i in order[:k])


class WithPandas:
    def __init__(self, retriever, rerank, pool=20):
        self.retriever, self.rerank, self.pool = retriever, rerank, pool

    def search(self, query, k=3):
        found = self.retriever.search(
            query, k=self.pool, candidates=math.ceil(self.pool / len(self.retriever.indexes))
        )
        if not found:
            return []
        frame = pd.DataFrame({"document": [document for document, _ in found]})
        try:
            frame["score"] = self.rerank(query, [document["content"] for document in frame["document"]])
        except Exception:
            return found[:k]
        best = frame.sort_values("score", ascending=False, kind="stable").head(k)
        return list(best.itertuples(index=False, name=None))


@dataclass
class Candidate:
    document: dict
    score: float


@dataclass
class WithDataclasses:
    retriever: Any
    rerank: Any
    pool: int = 20

    def search(self, query, k=3):
        found = self.retriever.search(
            query=query, k=self.pool, candidates=math.ceil(self.pool / len(self.retriever.indexes))
        )
        if len(found) < 1:
            return []
        try:
            candidates = self._scored(query, [document for document, _ in found])
        except Exception:
            return tuple(found[:k])
        candidates.sort(key=lambda candidate: candidate.score)
        return tuple((candidate.document, candidate.score) for candidate in candidates[::-1][:k])

    def _scored(self, query, documents):
        scores = self.rerank(query, [document["content"] for document in documents])
        return [Candidate(*pair) for pair in zip(documents, scores, strict=True)]


class ByHand:
    """Fuses the lists of the indexes by itself, sends the texts in another order, and maps back by the object."""

    def __init__(self, retriever, rerank, pool=20):
        self.retriever, self.rerank, self.pool = retriever, rerank, pool

    def search(self, query, k=3):
        fused, documents = {}, {}
        for index in self.retriever.indexes:
            ranked = index.search(query, math.ceil(self.pool / len(self.retriever.indexes)))
            for rank, (document, _) in enumerate(ranked, start=1):
                documents[id(document)] = document
                fused[id(document)] = fused.get(id(document), 0) + 1 / (60 + rank)
        if not documents:
            return []
        try:
            keys = sorted(documents, key=lambda key: documents[key]["content"])
            scores = dict(
                zip(keys, self.rerank(query, [documents[key]["content"] for key in keys]), strict=True)
            )
        except Exception:
            scores = fused
        best = sorted(scores, key=scores.get, reverse=True)[:k]
        return [(documents[key], scores[key]) for key in best]


class Positions:
    """Ranks the places in the pool, and looks the documents up at the end."""

    def __init__(self, retriever, rerank, pool=20):
        self._found = lambda query: retriever.search(
            query, k=pool, candidates=math.ceil(pool / len(retriever.indexes))
        )
        self._ask = rerank

    def search(self, query, k=3):
        pool = self._found(query)
        ranked = []
        if pool:
            try:
                places = enumerate(self._ask(query, [pair[0]["content"] for pair in pool]))
                ranked = sorted(places, key=itemgetter(1), reverse=True)
            except Exception as error:
                print("not reranked:", error)
        if not ranked:
            return list(islice(pool, k))
        return [(pool[place][0], score) for place, score in islice(ranked, k)]


VARIANTS = {
    "plain": (Plain,),
    "beginner": (Beginner,),
    "numpy": (WithNumpy,),
    "heapq": (WithHeapq,),
    "generator": (Generator,),
    "pandas": (WithPandas,),
    "dataclasses": (WithDataclasses,),
    "by hand": (ByHand,),
    "places, looked up at the end": (Positions,),
}
