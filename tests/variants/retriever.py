"""Correct solutions of the exercise retriever in different styles. Each of them must get full points.

They were written from the statement in unit 04 alone, without a look at the solution or the checks.
Documents with the same score come in different orders: the statement leaves that open.
"""

import heapq
import itertools
import math
from bisect import insort
from collections import Counter, defaultdict, namedtuple
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import attrgetter, itemgetter
from typing import Any, Protocol

import numpy as np
import pandas as pd


class Plain:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("a Retriever needs at least one index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        scores = {}
        documents = {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0) + 1 / (k_rrf + rank)
        best = sorted(scores, key=scores.get, reverse=True)[:k]
        return [(documents[key], scores[key]) for key in best]


class Beginner:
    """Parallel lists, while loops and a selection by hand."""

    def __init__(self, *indexes):
        if len(indexes) == 0:
            raise ValueError("no index given")
        self.indexes = []
        for index in indexes:
            self.indexes.append(index)

    def add_document(self, document):
        for i in range(len(self.indexes)):
            self.indexes[i].add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        docs = []
        scores = []
        for index in self.indexes:
            rank = 1
            for pair in index.search(query, k=candidates):
                document = pair[0]
                position = -1
                for i in range(len(docs)):
                    if docs[i] is document:
                        position = i
                if position == -1:
                    docs.append(document)
                    scores.append(1 / (k_rrf + rank))
                else:
                    scores[position] = scores[position] + 1 / (k_rrf + rank)
                rank = rank + 1
        results = []
        while len(results) < k and len(docs) > 0:
            best = 0
            for i in range(len(docs)):
                if scores[i] > scores[best]:
                    best = i
            results.append((docs.pop(best), scores.pop(best)))
        return results


class Functional:
    def __init__(self, *indexes):
        if not any(True for _ in indexes):
            raise ValueError("Retriever() needs an index")
        self.indexes = tuple(indexes)

    def add_document(self, document):
        [index.add_document(document) for index in self.indexes]

    def search(self, query, k=1, k_rrf=60, candidates=20):
        rankings = [[document for document, _ in index.search(query, candidates)] for index in self.indexes]
        ranks = [{id(d): rank for rank, d in enumerate(ranking, 1)} for ranking in rankings]
        found = {id(d): d for d in itertools.chain.from_iterable(rankings)}
        score = {key: sum(1 / (k_rrf + r[key]) for r in ranks if key in r) for key in found}
        return [(found[key], score[key]) for key in sorted(found, key=lambda key: -score[key])][:k]


class WithDefaultdict:
    """Sorts upwards and turns the list round, so that equal scores come in the other order."""

    def __init__(self, *indexes):
        if indexes == ():
            raise ValueError
        self.indexes = list(indexes)

    def add_document(self, document):
        [index.add_document(document) for index in self.indexes]

    def search(self, query, k=1, k_rrf=60, candidates=20):
        score_of = defaultdict(float)
        by_key = {}
        for index in self.indexes:
            rank = 0
            for document, _value in index.search(query, candidates):
                rank += 1  # noqa: SIM113
                score_of[id(document)] += 1 / (k_rrf + rank)
                by_key.setdefault(id(document), document)
        pairs = [(by_key[key], score) for key, score in score_of.items()]
        pairs.sort(key=lambda pair: pair[1])
        pairs.reverse()
        return pairs[:k]


class WithCounter:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("Give me an index.")
        self.indexes = [*indexes]

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        points, lookup = Counter(), {}
        for hits in (index.search(query, k=candidates) for index in self.indexes):
            for position, hit in enumerate(hits):
                lookup[id(hit[0])] = hit[0]
                points[id(hit[0])] += 1 / (k_rrf + position + 1)
        return [(lookup[key], score) for key, score in points.most_common(k)]


class WithHeapq:
    """A heap of (-score, running number, document): the number keeps dicts from being compared."""

    def __init__(self, *indexes):
        if len(indexes) < 1:
            raise ValueError("at least one index, please")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        entries = {}
        for index in self.indexes:
            for rank, (document, _) in zip(itertools.count(1), index.search(query, candidates), strict=False):
                entry = entries.setdefault(id(document), [0.0, -len(entries), document])
                entry[0] -= 1 / (k_rrf + rank)
        heap = list(entries.values())
        heapq.heapify(heap)
        results = []
        for _ in range(min(k, len(heap))):
            negative, _number, document = heapq.heappop(heap)
            results.append((document, -negative))
        return results


class WithNlargest:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no indexes")
        self.indexes = indexes

    def add_document(self, document):
        for ix in self.indexes:
            ix.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        table = {}
        for ix in self.indexes:
            for rank, (doc, _) in enumerate(ix.search(query, candidates), start=1):
                _, so_far = table.get(id(doc), (doc, 0.0))
                table[id(doc)] = (doc, so_far + (k_rrf + rank) ** -1)
        return heapq.nlargest(k, table.values(), key=itemgetter(1))


class WithNumpy:
    """Scores are numpy floats."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        found, keys, ranks = [], [], []
        for index in self.indexes:
            documents = [document for document, _ in index.search(query, candidates)]
            found.extend(documents)
            keys.extend(id(document) for document in documents)
            ranks.extend(range(1, len(documents) + 1))
        if not found:
            return []
        _, first, group = np.unique(np.array(keys), return_index=True, return_inverse=True)
        scores = np.bincount(group, weights=1 / (k_rrf + np.array(ranks, dtype=float)))
        order = np.argsort(-scores)[:k]
        return [(found[first[i]], scores[i]) for i in order]


class WithNumpyMatrix:
    """One row a list, one column a document, and infinity where a list lacks the document."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        lists = [list(index.search(query, candidates)) for index in self.indexes]
        columns, documents = {}, []
        for document, _ in itertools.chain(*lists):
            if id(document) not in columns:
                columns[id(document)] = len(documents)
                documents.append(document)
        ranks = np.full((len(lists), len(documents)), np.inf)
        for row, pairs in enumerate(lists):
            for i, (document, _) in enumerate(pairs):
                ranks[row, columns[id(document)]] = i + 1
        scores = (1.0 / (k_rrf + ranks)).sum(axis=0)
        return [(documents[i], float(scores[i])) for i in np.argsort(scores)[::-1][:k]]


class WithPandas:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        rows = [
            {"key": id(document), "points": 1 / (k_rrf + rank), "document": document}
            for index in self.indexes
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1)
        ]
        frame = pd.DataFrame(rows, columns=["key", "points", "document"])
        fused = frame.groupby("key").agg(score=("points", "sum"), document=("document", "first"))
        fused = fused.sort_values("score", ascending=False).head(k)
        return list(zip(fused["document"], fused["score"], strict=True))


@dataclass
class Candidate:
    document: dict
    points: list = field(default_factory=list)

    @property
    def score(self):
        return math.fsum(self.points)


class WithDataclass:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("A Retriever without an index finds nothing.")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        pool: dict[int, Candidate] = {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, k=candidates), start=1):
                pool.setdefault(id(document), Candidate(document)).points.append(1 / (k_rrf + rank))
        ranking = sorted(pool.values(), key=attrgetter("score"), reverse=True)
        return [(candidate.document, candidate.score) for candidate in ranking[:k]]


class Generator:
    """search is a generator."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def _votes(self, query, k_rrf, candidates):
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), 1):
                yield document, 1 / (k_rrf + rank)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        totals = {}
        for document, vote in self._votes(query, k_rrf, candidates):
            totals.setdefault(id(document), [document, 0.0])[1] += vote
        for document, total in sorted(totals.values(), key=lambda item: item[1], reverse=True)[:k]:
            yield document, total


class TupleOfPairs:
    """search returns a tuple, and sorts by identity before it groups."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        votes = [
            (id(document), 1 / (k_rrf + rank), document)
            for index in self.indexes
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1)
        ]
        votes.sort(key=itemgetter(0))
        fused = []
        for _, group in itertools.groupby(votes, key=itemgetter(0)):
            group = list(group)
            fused.append((group[0][2], sum(vote for _, vote, _ in group)))
        fused.sort(key=itemgetter(1), reverse=True)
        return tuple(itertools.islice(fused, k))


class ZipObject:
    """search returns what zip gives."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        documents, scores = {}, {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0.0) + 1 / (k_rrf + rank)
        order = sorted(scores, key=scores.__getitem__, reverse=True)[:k]
        return zip(map(documents.get, order), map(scores.get, order), strict=True)


class KeyedOnTheId:
    """Tells documents apart by their "id", which every document of the course has (unit 00)."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        scores = defaultdict(float)
        documents = {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                scores[document["id"]] += 1 / (k_rrf + rank)
                documents[document["id"]] = document
        ids = sorted(scores, key=scores.get, reverse=True)
        return [(documents[i], scores[i]) for i in ids[:k]]


class HelperMethods:
    def __init__(self, *indexes):
        self._require(indexes)
        self.indexes = indexes

    @staticmethod
    def _require(indexes):
        if not indexes:
            raise ValueError("no index")

    @staticmethod
    def _points(rank, k_rrf):
        return 1 / (k_rrf + rank)

    def _ranking(self, index, query, candidates):
        return [document for document, _ in index.search(query, candidates)]

    def _rankings(self, query, candidates):
        return [self._ranking(index, query, candidates) for index in self.indexes]

    def _fuse(self, rankings, k_rrf):
        fused = {}
        for ranking in rankings:
            for position, document in enumerate(ranking):
                _, score = fused.get(id(document), (document, 0))
                fused[id(document)] = (document, score + self._points(position + 1, k_rrf))
        return list(fused.values())

    def _best(self, pairs, k):
        return sorted(pairs, key=lambda pair: pair[1], reverse=True)[:k]

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        return self._best(self._fuse(self._rankings(query, candidates), k_rrf), k)


class ListsForPairs:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        fused = []
        for index in self.indexes:
            results = list(index.search(query, candidates))
            for i in range(len(results)):
                for pair in fused:
                    if pair[0] is results[i][0]:
                        pair[1] += 1 / (k_rrf + i + 1)
                        break
                else:
                    fused.append([results[i][0], 1 / (k_rrf + i + 1)])
        return sorted(fused, key=lambda pair: pair[1], reverse=True)[0:k]


class Index(Protocol):
    def add_document(self, document: dict[str, Any]) -> None: ...

    def search(self, query: str, k: int) -> Any: ...


class HintedAndDefensive:
    def __init__(self, *indexes: Index) -> None:
        if len(indexes) == 0:
            raise ValueError("expected at least one index, got none")
        self.indexes: tuple[Index, ...] = indexes

    def add_document(self, document: dict[str, Any]) -> None:
        for index in self.indexes:
            index.add_document(document)

    def search(
        self, query: str, k: int = 1, k_rrf: int = 60, candidates: int = 20
    ) -> list[tuple[dict[str, Any], float]]:
        if not isinstance(query, str):
            raise TypeError("query must be a str")
        if k <= 0 or candidates <= 0:
            return []
        documents: dict[int, dict[str, Any]] = {}
        scores: dict[int, float] = {}
        for index in self.indexes:
            results = index.search(query, candidates)
            for rank, result in enumerate(itertools.islice(results or (), candidates), start=1):
                document: dict[str, Any] = result[0]
                key: int = id(document)
                if key not in documents:
                    documents[key] = document
                    scores[key] = 0.0
                scores[key] += 1.0 / float(k_rrf + rank)
        ordered: list[int] = sorted(documents, key=lambda key: (-scores[key], key))
        return [(documents[key], scores[key]) for key in ordered[: min(k, len(ordered))]]


class Recursion:
    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        self._add(document, self.indexes)

    def _add(self, document, indexes):
        if indexes:
            first, *rest = indexes
            first.add_document(document)
            self._add(document, rest)

    def _fuse(self, rankings, k_rrf):
        if not rankings:
            return {}
        first, *rest = rankings
        fused = self._fuse(rest, k_rrf)
        for rank, (document, _) in enumerate(first, start=1):
            score = fused[id(document)][1] if id(document) in fused else 0
            fused[id(document)] = (document, score + 1 / (k_rrf + rank))
        return fused

    def _merge_sort(self, pairs):
        if len(pairs) < 2:
            return pairs
        middle = len(pairs) // 2
        left, right = self._merge_sort(pairs[:middle]), self._merge_sort(pairs[middle:])
        merged = []
        while left and right:
            merged.append(left.pop(0) if left[0][1] > right[0][1] else right.pop(0))
        return merged + left + right

    def search(self, query, k=1, k_rrf=60, candidates=20):
        rankings = [index.search(query, candidates) for index in self.indexes]
        return self._merge_sort(list(self._fuse(rankings, k_rrf).values()))[:k]


class ByIdentity:
    """Makes a key of a document: two keys are equal if they hold the same object."""

    __slots__ = ("document",)

    def __init__(self, document):
        self.document = document

    def __eq__(self, other):
        return self.document is other.document

    def __hash__(self):
        return id(self.document)


class WrappedKeys:
    """Adds up one Counter a list."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        counters = (
            Counter(
                {
                    ByIdentity(pair[0]): 1 / (k_rrf + n)
                    for n, pair in enumerate(index.search(query, candidates), 1)
                }
            )
            for index in self.indexes
        )
        total = reduce(lambda a, b: a + b, counters)
        return [(key.document, score) for key, score in total.most_common(k)]


Hit = namedtuple("Hit", ["document", "score"])


class NamedTuples:
    """Inserts each hit at its place."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        hits = {}
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                old = hits.get(id(document), Hit(document, 0.0))
                hits[id(document)] = old._replace(score=old.score + 1 / (k_rrf + rank))
        ranking = []
        for hit in hits.values():
            insort(ranking, hit, key=lambda h: -h.score)
        return ranking[:k]


class ExactFractions:
    """Adds exactly and makes floats at the end."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        documents, totals = {}, defaultdict(Fraction)
        for index in self.indexes:
            for rank, (document, _) in enumerate(index.search(query, candidates), start=1):
                documents[id(document)] = document
                totals[id(document)] += 1 / (Fraction(k_rrf) + rank)
        best = sorted(totals.items(), key=itemgetter(1), reverse=True)[:k]
        return [(documents[key], float(total)) for key, total in best]


class Threads:
    """Asks all indexes at the same time."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        with ThreadPoolExecutor() as pool:
            rankings = list(pool.map(lambda index: index.search(query, candidates), self.indexes))
        scores, documents = {}, {}
        for ranking in rankings:
            for rank, (document, _) in enumerate(ranking, start=1):
                documents[id(document)] = document
                scores[id(document)] = scores.get(id(document), 0) + 1 / (k_rrf + rank)
        return sorted(((documents[i], scores[i]) for i in scores), key=lambda p: p[1], reverse=True)[:k]


class BestOneByOne:
    """Takes the best away again and again, the last of equal ones first."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = indexes

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20):
        docs, scores = {}, {}
        for index in self.indexes:
            for rank, (doc, _) in enumerate(index.search(query, candidates)):
                docs[id(doc)] = doc
                scores[id(doc)] = scores.get(id(doc), 0) + 1 / (k_rrf + 1 + rank)
        out = []
        while scores and len(out) < k:
            best = max(reversed(scores), key=scores.get)
            out.append((docs[best], scores.pop(best)))
        return out


class LazyIterator:
    """search returns an iterator over the sorted pairs; the loops are one expression."""

    def __init__(self, *indexes):
        if not indexes:
            raise ValueError("no index")
        self.indexes = list(indexes)

    def add_document(self, document):
        for index in self.indexes:
            index.add_document(document)

    def search(self, query, k=1, k_rrf=60, candidates=20) -> Iterator[tuple[dict, float]]:
        rankings = [list(index.search(query, candidates)) for index in self.indexes]
        seen = {id(d): d for ranking in rankings for d, _ in ranking}.values()
        scored = (
            (
                document,
                sum(
                    1 / (k_rrf + rank)
                    for ranking in rankings
                    for rank, (other, _) in enumerate(ranking, start=1)
                    if other is document
                ),
            )
            for document in seen
        )
        return itertools.islice(iter(sorted(scored, key=itemgetter(1), reverse=True)), k)


VARIANTS = {
    "plain, keyed on id(document)": (Plain,),
    "beginner with parallel lists": (Beginner,),
    "functional": (Functional,),
    "defaultdict, sorted upwards and reversed": (WithDefaultdict,),
    "Counter.most_common": (WithCounter,),
    "heap with a running number": (WithHeapq,),
    "heapq.nlargest": (WithNlargest,),
    "numpy, scores are numpy floats": (WithNumpy,),
    "numpy matrix of ranks": (WithNumpyMatrix,),
    "pandas": (WithPandas,),
    "dataclass and fsum": (WithDataclass,),
    "search is a generator": (Generator,),
    "search returns a tuple": (TupleOfPairs,),
    "search returns a zip": (ZipObject,),
    'keyed on document["id"]': (KeyedOnTheId,),
    "helper methods": (HelperMethods,),
    "lists for pairs": (ListsForPairs,),
    "type-hinted and defensive": (HintedAndDefensive,),
    "recursion": (Recursion,),
    "wrapped keys and a sum of Counters": (WrappedKeys,),
    "named tuples and insort": (NamedTuples,),
    "exact fractions": (ExactFractions,),
    "threads": (Threads,),
    "best one by one": (BestOneByOne,),
    "search returns an iterator": (LazyIterator,),
}
