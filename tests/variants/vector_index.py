"""Correct solutions of the exercise vector_index in different styles. Each of them must get full points.

They were written from the statement in unit 01 alone, without a look at the solution or the checks.
Documents at the same distance come in different orders: the statement leaves that open.
"""

import heapq
import itertools
from bisect import insort
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from functools import singledispatchmethod
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
import pandas as pd


def cosine_distance(a, b):
    return 1 - a @ b / (np.linalg.norm(a) * np.linalg.norm(b))


class Plain:
    def __init__(self, embedder=None):
        self.embedder = embedder
        self.entries = []

    def add_vector(self, vector, document):
        self.entries.append((vector, document))

    def add_document(self, document):
        vector = self.embedder.embed_documents([document["content"]])[0]
        self.add_vector(vector, document)

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        results = [(document, cosine_distance(query_or_vector, vector)) for vector, document in self.entries]
        results.sort(key=lambda pair: pair[1])
        return results[:k]


class Beginner:
    """Parallel lists and a selection by hand."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.vectors = []
        self.documents = []

    def add_vector(self, vector, document):
        self.vectors.append(vector)
        self.documents.append(document)

    def add_document(self, document):
        texts = []
        texts.append(document["content"])
        vectors = self.embedder.embed_documents(texts)
        self.vectors.append(vectors[0])
        self.documents.append(document)

    def search(self, query_or_vector, k=1):
        if type(query_or_vector) == str:  # noqa: E721, SIM108
            vector = self.embedder.embed_query(query_or_vector)
        else:
            vector = query_or_vector
        distances = []
        for i in range(len(self.vectors)):
            distances.append(cosine_distance(self.vectors[i], vector))
        used = [False] * len(distances)
        results = []
        while len(results) < k and len(results) < len(distances):
            best = -1
            for i in range(len(distances)):
                if not used[i] and (best == -1 or distances[i] < distances[best]):
                    best = i
            used[best] = True
            results.append((self.documents[best], distances[best]))
        return results


class WithNsmallest:
    def __init__(self, embedder=None):
        self.embedder = embedder
        self._items = []

    def add_vector(self, vector, document):
        self._items += [(document, vector)]

    def add_document(self, document):
        (vector,) = self.embedder.embed_documents([document["content"]])
        self._items += [(document, vector)]

    def search(self, query_or_vector, k=1):
        if not isinstance(query_or_vector, np.ndarray):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        pairs = ((document, cosine_distance(vector, query_or_vector)) for document, vector in self._items)
        return heapq.nsmallest(k, pairs, key=itemgetter(1))


class WithHeap:
    """A heap of (distance, running number, document): the number keeps dicts from being compared."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.entries = {}
        self.number = itertools.count()

    def add_vector(self, vector, document):
        self.entries[next(self.number)] = vector, document

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        query = query_or_vector
        if isinstance(query, str):
            query = self.embedder.embed_query(query)
        heap = []
        for number, (vector, document) in self.entries.items():
            heapq.heappush(heap, (float(cosine_distance(query, vector)), -number, document))
        results = []
        while heap and len(results) < k:
            distance, _, document = heapq.heappop(heap)
            results.append((document, distance))
        return results


class MatrixAndCosineDistance:
    """Keeps the vectors in a matrix and calls cosine_distance for each row."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.matrix = None
        self.documents = []

    def add_vector(self, vector, document):
        row = np.asarray(vector)[np.newaxis]
        self.matrix = row if self.matrix is None else np.vstack([self.matrix, row])
        self.documents.append(document)

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if not self.documents:
            return []
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        distances = np.apply_along_axis(cosine_distance, 1, self.matrix, query_or_vector)
        return [(self.documents[i], distances[i]) for i in np.argsort(distances)[:k]]


class UnitMatrix:
    """Vectors of length 1 in a list, one matrix product at the search."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.units, self.documents = [], []

    def add_vector(self, vector, document):
        self.units.append(vector / np.linalg.norm(vector))
        self.documents.append(document)

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if len(self.documents) == 0:
            return []
        q = (
            self.embedder.embed_query(query_or_vector)
            if isinstance(query_or_vector, str)
            else query_or_vector
        )
        distances = 1 - np.stack(self.units) @ (q / np.linalg.norm(q))
        order = distances.argsort(kind="stable")[:k]
        return list(zip([self.documents[i] for i in order], distances[order], strict=True))


class Float32Matrix:
    """float32 is enough for distances to about 1e-6. The distances are numpy float32."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.rows, self.documents = [], []

    def add_vector(self, vector, document):
        vector = np.asarray(vector, dtype=np.float32)
        self.rows.append(vector / np.linalg.norm(vector))
        self.documents.append(document)

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if not self.rows:
            return []
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        query = np.asarray(query_or_vector, dtype=np.float32)
        query = query / np.linalg.norm(query)
        distances = np.float32(1) - np.array(self.rows) @ query
        return [(self.documents[i], distances[i]) for i in np.argsort(distances)[:k]]


class WithArgpartition:
    def __init__(self, embedder=None):
        self.embedder = embedder
        self.vectors = []
        self.documents = []

    def add_vector(self, vector, document):
        self.vectors.append(vector)
        self.documents.append(document)

    def add_document(self, document):
        [vector] = self.embedder.embed_documents([document["content"]])
        self.add_vector(vector, document)

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        distances = np.array([cosine_distance(vector, query_or_vector) for vector in self.vectors])
        chosen = np.arange(len(distances))
        if k < len(distances):
            chosen = np.argpartition(distances, k)[:k]
        chosen = sorted(chosen, key=distances.__getitem__)
        return [(self.documents[i], distances[i].item()) for i in chosen]


@dataclass
class Entry:
    vector: np.ndarray
    document: dict
    distance: float = float("inf")


@dataclass
class WithDataclasses:
    """A dataclass of dataclasses. The distance is kept in the entry."""

    embedder: Any = None
    entries: list[Entry] = field(default_factory=list)

    def add_vector(self, vector, document):
        self.entries.append(Entry(vector, document))

    def add_document(self, document):
        self.entries.append(Entry(self.embedder.embed_documents([document["content"]])[0], document))

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        for entry in self.entries:
            entry.distance = cosine_distance(entry.vector, query_or_vector)
        nearest = sorted(self.entries, key=attrgetter("distance"))
        return [(entry.document, entry.distance) for entry in nearest[:k]]


class HelpersAndGenerator:
    def __init__(self, embedder=None):
        self._embedder = embedder
        self._vectors = []
        self._documents = []

    def add_vector(self, vector, document):
        self._vectors.append(vector)
        self._documents.append(document)

    def add_document(self, document):
        self.add_vector(self._embed(document["content"]), document)

    def _embed(self, text):
        return next(iter(self._embedder.embed_documents([text])))

    def _as_vector(self, query_or_vector):
        is_text = isinstance(query_or_vector, str)
        return self._embedder.embed_query(query_or_vector) if is_text else query_or_vector

    def _measured(self, query):
        for vector, document in zip(self._vectors, self._documents, strict=True):
            yield document, cosine_distance(query, vector)

    def search(self, query_or_vector, k=1):
        ranking = sorted(self._measured(self._as_vector(query_or_vector)), key=itemgetter(1))
        return list(itertools.islice(ranking, k))


class ListsForPairs:
    """Each pair is a list of two."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.data = []

    def add_vector(self, vector, document):
        self.data.append([vector, document])

    def add_document(self, document):
        self.data.append([self.embedder.embed_documents([document["content"]])[0], document])

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        pairs = []
        for item in self.data:
            pairs.append([item[1], cosine_distance(item[0], query_or_vector)])
        pairs = sorted(pairs, key=lambda pair: -pair[1])
        pairs.reverse()
        return pairs[0:k]


class WithPandas:
    def __init__(self, embedder=None):
        self.embedder = embedder
        self.table = pd.DataFrame({"vector": [], "document": []}, dtype=object)

    def add_vector(self, vector, document):
        row = pd.DataFrame({"vector": [vector], "document": [document]}, dtype=object)
        self.table = pd.concat([self.table, row], ignore_index=True)

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if self.table.empty:
            return []
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        distances = self.table["vector"].map(lambda vector: float(cosine_distance(vector, query_or_vector)))
        best = self.table.assign(distance=distances).sort_values("distance").head(k)
        return list(zip(best["document"], best["distance"], strict=True))


class EmbeddedAtTheSearch:
    """Collects documents and embeds all new ones with one call, at the next search."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.entries = []
        self.waiting = []

    def add_vector(self, vector, document):
        self.entries.append((vector, document))

    def add_document(self, document):
        self.waiting.append(document)

    def _catch_up(self):
        if self.waiting:
            vectors = self.embedder.embed_documents([document["content"] for document in self.waiting])
            self.entries.extend(zip(vectors, self.waiting, strict=True))
            self.waiting = []

    def search(self, query_or_vector, k=1):
        self._catch_up()
        if not self.entries:
            return []
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        results = [(document, cosine_distance(query_or_vector, vector)) for vector, document in self.entries]
        return sorted(results, key=lambda pair: pair[1])[:k]


class WithInsort:
    """Keeps only the best k while it goes through the documents."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.stored = []

    def add_vector(self, vector, document):
        self.stored.append((vector, document))

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        best = []
        for vector, document in self.stored:
            insort(best, (document, cosine_distance(vector, query_or_vector)), key=itemgetter(1))
            del best[k:]
        return best


class WithSingledispatch:
    def __init__(self, embedder=None):
        self.embedder = embedder
        self.vectors = ()
        self.documents = ()

    def add_vector(self, vector, document):
        self.vectors += (vector,)
        self.documents += (document,)

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    @singledispatchmethod
    def search(self, query_or_vector, k=1):
        distances = map(lambda vector: cosine_distance(vector, query_or_vector), self.vectors)  # noqa: C417
        return sorted(zip(self.documents, distances, strict=True), key=lambda pair: pair[1])[:k]

    @search.register
    def _(self, query_or_vector: str, k=1):
        return self.search(self.embedder.embed_query(query_or_vector), k)


class GroupedByVector:
    """Documents with the same vector share an entry, and the distance is computed once."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.groups = defaultdict(list)

    def add_vector(self, vector, document):
        self.groups[tuple(vector.tolist())].append(document)

    def add_document(self, document):
        self.add_vector(np.asarray(self.embedder.embed_documents([document["content"]])[0]), document)

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        results = []
        for values, documents in self.groups.items():
            distance = cosine_distance(np.array(values), query_or_vector)
            results.extend((document, distance) for document in documents)
        return sorted(results, key=lambda pair: pair[1])[:k]


Hit = namedtuple("Hit", ["document", "distance"])


class NamedTuplesAndMatch:
    """The pairs are named tuples."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.index = []

    def add_vector(self, vector, document):
        self.index.append(Hit(document, vector))

    def add_document(self, document):
        match self.embedder.embed_documents([document["content"]]):
            case [vector]:
                self.add_vector(vector, document)
            case vectors:
                self.add_vector(vectors[0], document)

    def search(self, query_or_vector, k=1):
        match query_or_vector:
            case str() as text:
                query = self.embedder.embed_query(text)
            case query:
                pass
        hits = [Hit(entry.document, cosine_distance(entry.distance, query)) for entry in self.index]
        return sorted(hits, key=attrgetter("distance"))[:k]


class ItIsAList(list):
    """The index is itself the list of its entries."""

    def __init__(self, embedder=None):
        super().__init__()
        self.embedder = embedder

    def add_vector(self, vector, document):
        self.append({"vector": np.array(vector, dtype=float), "document": document})

    def add_document(self, document):
        content = document["content"]
        self.add_vector(self.embedder.embed_documents([content])[0], document)

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        order = sorted(self, key=lambda entry: cosine_distance(entry["vector"], query_or_vector))
        return [(entry["document"], cosine_distance(entry["vector"], query_or_vector)) for entry in order[:k]]


class Chords:
    """Ranks by the straight distance between arrows of length 1, and turns it into the cosine distance."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.documents = []
        self.units = []

    def add_vector(self, vector, document):
        self.documents.append(document)
        self.units.append(np.divide(vector, np.linalg.norm(vector)))

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if isinstance(query_or_vector, str):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        if not self.units:
            return []
        unit = query_or_vector / np.linalg.norm(query_or_vector)
        chords = np.linalg.norm(np.array(self.units) - unit, axis=1)
        return [(self.documents[i], chords[i] ** 2 / 2) for i in np.lexsort((chords,))[:k]]


class BestOneByOne:
    """Takes the nearest one out of a list, k times."""

    def __init__(self, embedder=None):
        self.embedder = embedder
        self.pairs = []

    def add_vector(self, vector, document):
        self.pairs.insert(0, (document, vector))

    def add_document(self, document):
        self.add_vector(self.embedder.embed_documents([document["content"]])[0], document)

    def search(self, query_or_vector, k=1):
        if len(self.pairs) == 0 or k == 0:
            return []
        if hasattr(query_or_vector, "lower"):
            query_or_vector = self.embedder.embed_query(query_or_vector)
        rest = [(document, cosine_distance(vector, query_or_vector)) for document, vector in self.pairs]
        results = []
        for _ in range(min(k, len(rest))):
            nearest = min(range(len(rest)), key=lambda i: rest[i][1])
            results.append(rest.pop(nearest))
        return results


VARIANTS = {
    "plain": (Plain,),
    "beginner with parallel lists": (Beginner,),
    "heapq.nsmallest": (WithNsmallest,),
    "heap with a running number": (WithHeap,),
    "matrix, cosine_distance row by row": (MatrixAndCosineDistance,),
    "vectors of length 1, matrix product": (UnitMatrix,),
    "float32 matrix": (Float32Matrix,),
    "argpartition": (WithArgpartition,),
    "dataclasses": (WithDataclasses,),
    "helper methods and a generator": (HelpersAndGenerator,),
    "lists for pairs": (ListsForPairs,),
    "pandas": (WithPandas,),
    "embeds at the search": (EmbeddedAtTheSearch,),
    "insort": (WithInsort,),
    "singledispatchmethod and tuples": (WithSingledispatch,),
    "grouped by vector": (GroupedByVector,),
    "named tuples and match": (NamedTuplesAndMatch,),
    "subclass of list": (ItIsAList,),
    "straight distances": (Chords,),
    "best one by one": (BestOneByOne,),
}
