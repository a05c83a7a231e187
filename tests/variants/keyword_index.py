"""Correct solutions of the exercise keyword_index in different styles. Each of them must get full points.

They were written from the statement in unit 04 alone, without a look at the solution or the checks.
Documents with the same count come in different orders: the statement leaves that open.
"""

import heapq
import itertools
from collections import Counter, defaultdict, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from hybrid_search import tokenize


class Plain:
    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = set(tokenize(query))
        results = []
        for document in self.documents:
            count = len(words & set(tokenize(document["content"])))
            if count > 0:
                results.append((document, count))
        results.sort(key=lambda pair: pair[1], reverse=True)
        return results[:k]


class Beginner:
    """Parallel lists and a selection by hand."""

    def __init__(self):
        self.docs = []
        self.words = []

    def add_document(self, document):
        self.docs.append(document)
        self.words.append(tokenize(document["content"]))

    def search(self, query, k=1):
        query_words = []
        for word in tokenize(query):
            if word not in query_words:
                query_words.append(word)
        counts = []
        for i in range(len(self.docs)):
            count = 0
            for word in query_words:
                if word in self.words[i]:
                    count = count + 1
            counts.append(count)
        results = []
        while len(results) < k:
            best = -1
            for i in range(len(counts)):
                if counts[i] > 0 and (best == -1 or counts[i] > counts[best]):
                    best = i
            if best == -1:
                break
            results.append((self.docs[best], counts[best]))
            counts[best] = 0
        return results


class Functional:
    def __init__(self):
        self._documents = ()

    def add_document(self, document):
        self._documents += (document,)

    def search(self, query, k=1):
        wanted = frozenset(tokenize(query))
        counted = ((d, len(wanted.intersection(tokenize(d["content"])))) for d in self._documents)
        return sorted(filter(itemgetter(1), counted), key=lambda pair: -pair[1])[:k]


class InvertedIndex:
    """A posting list for each word, and a Counter of positions."""

    def __init__(self):
        self.documents = []
        self.postings = defaultdict(set)

    def add_document(self, document):
        for word in tokenize(document["content"]):
            self.postings[word].add(len(self.documents))
        self.documents.append(document)

    def search(self, query, k=1):
        counts = Counter()
        for word in set(tokenize(query)):
            counts.update(self.postings.get(word, ()))
        return [(self.documents[position], count) for position, count in counts.most_common(k)]


class WithHeapq:
    def __init__(self):
        self.entries = []

    def add_document(self, document):
        self.entries.append((document, set(tokenize(document["content"]))))

    def search(self, query, k=1):
        words = set(tokenize(query))
        scored = [(document, len(words & known)) for document, known in self.entries if words & known]
        return heapq.nlargest(k, scored, key=lambda pair: pair[1])


class WithHeap:
    """A heap that never holds more than k; of equal counts the later document stays."""

    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        heap = []
        for number, document in enumerate(self.documents):
            count = sum(w in set(tokenize(document["content"])) for w in set(tokenize(query)))
            if count:
                heapq.heappush(heap, (count, number))
                if len(heap) > k:
                    heapq.heappop(heap)
        return [(self.documents[number], count) for count, number in sorted(heap, reverse=True)]


class WithNumpy:
    """Counts are numpy integers."""

    def __init__(self):
        self.documents = []
        self.words = []

    def add_document(self, document):
        self.documents.append(document)
        self.words.append(np.unique(np.array(list(tokenize(document["content"])), dtype=str)))

    def search(self, query, k=1):
        wanted = np.unique(np.array(list(tokenize(query)), dtype=str))
        counts = np.array([np.isin(wanted, words).sum() for words in self.words], dtype=int)
        order = np.argsort(counts)[::-1]
        return [(self.documents[i], counts[i]) for i in order[counts[order] > 0][:k]]


class WithNumpyFloats:
    """A matrix of zeros and ones, so the counts are numpy floats."""

    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = sorted(set(tokenize(query)))
        matrix = np.zeros((len(self.documents), len(words)))
        for row, document in enumerate(self.documents):
            content = set(tokenize(document["content"]))
            for column, word in enumerate(words):
                matrix[row, column] = word in content
        counts = matrix.sum(axis=1)
        order = np.argsort(-counts, kind="stable")[:k]
        return [(self.documents[row], counts[row]) for row in order if counts[row] > 0]


class WithPandas:
    def __init__(self):
        self.documents = []
        self.rows = []

    def add_document(self, document):
        self.rows += [(len(self.documents), word) for word in tokenize(document["content"])]
        self.documents.append(document)

    def search(self, query, k=1):
        frame = pd.DataFrame(self.rows, columns=["position", "word"]).drop_duplicates()
        hits = frame[frame["word"].isin(list(tokenize(query)))]
        counts = hits["position"].value_counts().head(k)
        return [(self.documents[position], count) for position, count in counts.items()]


@dataclass
class Dataclass:
    documents: list = field(default_factory=list)

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = set(tokenize(query))
        hits = [Entry(document, words) for document in self.documents]
        hits = sorted((hit for hit in hits if hit.count >= 1), key=lambda hit: hit.count, reverse=True)
        return [(hit.document, hit.count) for hit in hits][:k]


@dataclass
class Entry:
    document: dict
    query_words: set

    @property
    def count(self):
        return len(self.query_words & set(tokenize(self.document["content"])))


class Generator:
    """search is a generator that goes through the counts from the highest down."""

    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = set(tokenize(query))
        shelves = [[] for _ in range(len(words) + 1)]
        for document in self.documents:
            shelves[len(words & set(tokenize(document["content"])))].append(document)
        given = 0
        for count in range(len(words), 0, -1):
            for document in shelves[count]:
                if given >= k:
                    return
                yield document, count
                given += 1


class TupleOfPairs:
    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = dict.fromkeys(tokenize(query))
        counts = [len(words.keys() & set(tokenize(d["content"]))) for d in self.documents]
        pairs = sorted(zip(self.documents, counts, strict=True), key=itemgetter(1))[::-1]
        return tuple(itertools.islice(itertools.takewhile(itemgetter(1), pairs), k))


class KeyedOnTheId:
    """Tells documents apart by their "id", which every document of the course has (unit 00)."""

    def __init__(self):
        self.by_id = {}
        self.words = {}

    def add_document(self, document):
        self.by_id[document["id"]] = document
        self.words[document["id"]] = set(tokenize(document["content"]))

    def search(self, query, k=1):
        counts = {i: len(words.intersection(tokenize(query))) for i, words in self.words.items()}
        ids = sorted((i for i in counts if counts[i]), key=counts.get, reverse=True)
        return [(self.by_id[i], counts[i]) for i in ids[:k]]


class HelperMethods:
    def __init__(self):
        self._documents = []

    @property
    def documents(self):
        return self._documents

    @staticmethod
    def _words(text):
        return set(tokenize(text))

    def _count(self, words, document):
        return len(words - (words - self._words(document["content"])))

    def _ranked(self, pairs):
        return sorted(pairs, key=lambda pair: pair[1], reverse=True)

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = self._words(query)
        pairs = [(document, self._count(words, document)) for document in self.documents]
        return self._ranked(pair for pair in pairs if pair[1] != 0)[:k]


class ListsForPairs:
    def __init__(self):
        self.docs = []

    def add_document(self, document):
        self.docs.append(document)

    def search(self, query, k=1):
        results = []
        for doc in self.docs:
            shared = [w for w in set(tokenize(query)) if w in tokenize(doc["content"])]
            if shared:
                results.append([doc, len(shared)])
        return sorted(results, key=lambda r: r[1], reverse=True)[:k]


class HintedAndDefensive:
    def __init__(self) -> None:
        self._entries: list[tuple[dict[str, Any], frozenset[str]]] = []

    def add_document(self, document: dict[str, Any]) -> None:
        if not isinstance(document.get("content"), str):
            raise TypeError('a document needs a str as its "content"')
        self._entries.append((document, frozenset(tokenize(document["content"]))))

    def search(self, query: str, k: int = 1) -> list[tuple[dict[str, Any], int]]:
        if not isinstance(query, str):
            raise TypeError("query must be a str")
        words: frozenset[str] = frozenset(tokenize(query))
        if k <= 0 or not words or not self._entries:
            return []
        found: list[tuple[dict[str, Any], int]] = []
        for document, content in self._entries:
            count: int = len(words & content)
            if count:
                found.append((document, count))
        found.sort(key=itemgetter(1), reverse=True)
        return found[: min(k, len(found))]


class Recursion:
    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        words = set(tokenize(query))
        pairs = [(d, len(words & set(tokenize(d["content"])))) for d in self.documents]
        return self._quicksort([pair for pair in pairs if pair[1] > 0])[:k]

    def _quicksort(self, pairs):
        if not pairs:
            return []
        pivot = pairs[0][1]
        higher = [pair for pair in pairs if pair[1] > pivot]
        equal = [pair for pair in pairs if pair[1] == pivot]
        lower = [pair for pair in pairs if pair[1] < pivot]
        return self._quicksort(higher) + equal + self._quicksort(lower)


class AList(list):
    """The index is a list of its documents, so an empty one is false."""

    def add_document(self, document):
        self.append(document)

    def search(self, query, k=1):
        words = set(tokenize(query))
        counts = {i: len(words & set(tokenize(d["content"]))) for i, d in enumerate(self)}
        best = sorted(counts, key=lambda i: (-counts[i], i))
        return [(self[i], counts[i]) for i in best if counts[i]][:k]


Hit = namedtuple("Hit", "document count")


class NamedTuples:
    """Newer documents first where counts are equal; search returns an iterator."""

    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.insert(0, document)

    def search(self, query, k=1) -> Iterator[Hit]:
        words = set(tokenize(query))
        hits = (Hit(d, len(words & set(tokenize(d["content"])))) for d in self.documents)
        ranked = sorted((hit for hit in hits if hit.count), key=lambda hit: hit.count, reverse=True)
        return iter(ranked[:k])


VARIANTS = {
    "plain": (Plain,),
    "beginner with parallel lists": (Beginner,),
    "functional": (Functional,),
    "inverted index and Counter.most_common": (InvertedIndex,),
    "heapq.nlargest": (WithHeapq,),
    "heap of k": (WithHeap,),
    "numpy": (WithNumpy,),
    "numpy, counts are floats": (WithNumpyFloats,),
    "pandas": (WithPandas,),
    "dataclass": (Dataclass,),
    "search is a generator": (Generator,),
    "search returns a tuple": (TupleOfPairs,),
    'keyed on document["id"]': (KeyedOnTheId,),
    "helper methods": (HelperMethods,),
    "lists for pairs": (ListsForPairs,),
    "type-hinted and defensive": (HintedAndDefensive,),
    "recursion": (Recursion,),
    "a list itself": (AList,),
    "named tuples, newer first, an iterator": (NamedTuples,),
}
