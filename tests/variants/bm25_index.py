"""Correct solutions of the exercise bm25_index in different styles. Each of them must get full points.

They were written from the statement in unit 02 alone, without a look at the solution or the checks.
fold, RUN and stop_words are the ones that the notebook gives; tokenize and idf are solved exercises.
Documents with the same score come in different orders: the statement does not speak of them.
"""

import heapq
import itertools
import math
import re
import unicodedata
from bisect import insort
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter

import numpy as np
import pandas as pd
from rank_bm25 import BM25Okapi

from lab import stop_words


def fold(text):
    """The text in lower case and without accents: "École" gives "ecole"."""
    letters = unicodedata.normalize("NFD", text.casefold())
    bare = "".join(letter for letter in letters if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare)


RUN = re.compile(r"\w+(?:[-.]\w+)*")


def tokenize(text):
    tokens = []
    for run in RUN.findall(fold(text)):
        if re.search(r"[\d_]", run):
            tokens.append(run)
        else:
            tokens.extend(re.split(r"[-.]", run))
    return [token for token in tokens if token not in stop_words()]


def idf(term, documents):
    n = sum(term in document for document in documents)
    return math.log(1 + (len(documents) - n + 0.5) / (n + 0.5))


class Plain:
    """A new model at each search."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if not any(self.tokens):
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        for term in model.idf:
            model.idf[term] = idf(term, self.tokens)
        scores = model.get_scores(self.tokenize(query))
        pairs = [
            (document, score) for document, score in zip(self.documents, scores, strict=True) if score > 0
        ]
        pairs.sort(key=lambda pair: pair[1], reverse=True)
        return pairs[:k]


class Beginner:
    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        content = document["content"]
        tokens = self.tokenize(content)
        self.tokens.append(tokens)

    def search(self, query, k=1):
        number_of_tokens = 0
        for tokens in self.tokens:
            number_of_tokens = number_of_tokens + len(tokens)
        if number_of_tokens == 0:
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        for term in list(model.idf.keys()):
            weight = idf(term, self.tokens)
            model.idf[term] = weight
        query_tokens = self.tokenize(query)
        all_scores = model.get_scores(query_tokens)
        documents = []
        scores = []
        for i in range(len(all_scores)):
            if all_scores[i] > 0:
                documents.append(self.documents[i])
                scores.append(float(all_scores[i]))
        results = []
        while len(scores) > 0 and len(results) < k:
            best = scores.index(max(scores))
            results.append((documents.pop(best), scores.pop(best)))
        return results


class Cached:
    """The model is kept until a document is added."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []
        self.model = None

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))
        self.model = None

    def search(self, query, k=1):
        if sum(map(len, self.tokens)) == 0:
            return []
        if self.model is None:
            self.model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
            self.model.idf = {term: idf(term, self.tokens) for term in self.model.idf}
        scores = self.model.get_scores(self.tokenize(query))
        found = [i for i in range(len(scores)) if scores[i] > 0]
        return [(self.documents[i], scores[i]) for i in sorted(found, key=lambda i: -scores[i])[:k]]


class RebuiltAtEachAddition:
    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []
        self.model = None

    def add_document(self, document):
        self.documents += [document]
        self.tokens += [self.tokenize(document["content"])]
        if any(self.tokens):
            self.model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
            self.model.idf.update((term, idf(term, self.tokens)) for term in self.model.idf)

    def search(self, query, k=1):
        if self.model is None:
            return []
        scores = self.model.get_scores(self.tokenize(query))
        return [(self.documents[i], scores[i]) for i in np.argsort(-scores)[:k] if scores[i] > 0]


class SmoothOkapi(BM25Okapi):
    """BM25Okapi with the weights of the course."""

    def _calc_idf(self, nd):
        for term in nd:
            self.idf[term] = idf(term, self.doc_freqs)


class WithSubclass:
    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if not any(self.tokens):
            return []
        scores = SmoothOkapi(self.tokens, k1=self.k1, b=self.b).get_scores(self.tokenize(query))
        hits = [(self.documents[i], score) for i, score in enumerate(scores) if score > 0]
        return sorted(hits, key=itemgetter(1), reverse=True)[:k]


class ByHand:
    """The formula, without the library."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def score(self, terms, tokens, average):
        total = 0
        for term in terms:
            f = tokens.count(term)
            if f > 0:
                bottom = f + self.k1 * (1 - self.b + self.b * len(tokens) / average)
                total += idf(term, self.tokens) * f * (self.k1 + 1) / bottom
        return total

    def search(self, query, k=1):
        if not self.documents:
            return []
        average = sum(len(tokens) for tokens in self.tokens) / len(self.tokens)
        terms = self.tokenize(query)
        results = []
        for document, tokens in zip(self.documents, self.tokens, strict=True):
            score = self.score(terms, tokens, average)
            if score > 0:
                results.append((document, score))
        results.sort(key=lambda pair: pair[1])
        return results[::-1][:k]


class WithNlargest:
    """Only the weights of the terms of the query are replaced."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if all(len(tokens) == 0 for tokens in self.tokens):
            return []
        terms = self.tokenize(query)
        model = BM25Okapi(self.tokens, None, self.k1, self.b)
        for term in terms:
            if term in model.idf:
                model.idf[term] = idf(term, self.tokens)
        pairs = zip(self.documents, model.get_scores(terms).tolist(), strict=True)
        return heapq.nlargest(k, (pair for pair in pairs if pair[1] > 0), key=itemgetter(1))


class WithPostings:
    """An inverted index: for each term, the documents that contain it, and how often."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.lengths = []
        self.postings = defaultdict(dict)

    def add_document(self, document):
        number = len(self.documents)
        self.documents.append(document)
        counts = Counter(self.tokenize(document["content"]))
        self.lengths.append(sum(counts.values()))
        for term, count in counts.items():
            self.postings[term][number] = count

    def weight(self, term):
        n = len(self.postings[term])
        return math.log(1 + (len(self.documents) - n + 0.5) / (n + 0.5))

    def search(self, query, k=1):
        scores = Counter()
        for term in self.tokenize(query):
            if term not in self.postings:
                continue
            average = sum(self.lengths) / len(self.lengths)
            for number, f in self.postings[term].items():
                norm = self.k1 * (1 - self.b + self.b * self.lengths[number] / average)
                scores[number] += self.weight(term) * f * (self.k1 + 1) / (f + norm)
        return [(self.documents[number], score) for number, score in scores.most_common(k)]


class WithNumpyMatrix:
    """A row for each document, a column for each term of the query."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        terms = list(self.tokenize(query))
        if not terms or not any(self.tokens):
            return []
        f = np.array([[tokens.count(term) for term in terms] for tokens in self.tokens], dtype=float)
        lengths = np.array([len(tokens) for tokens in self.tokens], dtype=float)
        norm = self.k1 * (1 - self.b + self.b * lengths / lengths.mean())
        weights = np.array([idf(term, self.tokens) for term in terms])
        parts = np.divide(f * (self.k1 + 1), f + norm[:, np.newaxis], out=np.zeros_like(f), where=f > 0)
        scores = parts @ weights
        order = np.argsort(scores)[::-1]
        return [(self.documents[i], scores[i]) for i in order[scores[order] > 0][:k]]


class WithPandas:
    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if not sum(len(tokens) for tokens in self.tokens):
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        model.idf = (
            pd.Series(list(model.idf), index=list(model.idf)).map(lambda t: idf(t, self.tokens)).to_dict()
        )
        scores = pd.Series(model.get_scores(self.tokenize(query)))
        best = scores[scores > 0].sort_values(ascending=False).head(k)
        return [(self.documents[i], score) for i, score in best.items()]


@dataclass
class Entry:
    document: dict
    tokens: list
    score: float = 0.0


class WithDataclassAndLists:
    """Entries with a score, and lists for pairs."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.entries = []

    def add_document(self, document):
        self.entries.append(Entry(document, self.tokenize(document["content"])))

    def search(self, query, k=1):
        corpus = [entry.tokens for entry in self.entries]
        if not any(corpus):
            return []
        model = BM25Okapi(corpus, k1=self.k1, b=self.b)
        for term in model.idf:
            model.idf[term] = idf(term, corpus)
        for entry, score in zip(self.entries, model.get_scores(self.tokenize(query)), strict=True):
            entry.score = score
        found = [entry for entry in self.entries if entry.score > 0]
        found.sort(key=lambda entry: entry.score, reverse=True)
        return [[entry.document, entry.score] for entry in found[:k]]


class HelpersAndGenerator:
    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def _model(self):
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        sets = [set(tokens) for tokens in self.tokens]
        model.idf = {term: idf(term, sets) for term in set().union(*sets)}
        return model

    def _found(self, query):
        if not any(self.tokens):
            return
        scores = self._model().get_scores(self.tokenize(query))
        for document, score in zip(self.documents, scores, strict=True):
            if score > 0:
                yield document, float(score)

    def search(self, query, k=1):
        return list(itertools.islice(sorted(self._found(query), key=lambda pair: -pair[1]), k))


class SharedTerms:
    """Looks for the documents that share a term first, and asks the model for their scores only."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        terms = self.tokenize(query)
        ids = [i for i, tokens in enumerate(self.tokens) if not set(terms).isdisjoint(tokens)]
        if len(ids) == 0:
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        for term in model.idf:
            model.idf[term] = idf(term, self.tokens)
        scores = model.get_batch_scores(terms, ids)
        pairs = [(self.documents[i], score) for i, score in zip(ids, scores, strict=True)]
        return sorted(pairs, key=lambda pair: pair[1], reverse=True)[:k]


class TokensAtTheSearch:
    """Keeps the documents alone, and cuts them into tokens at each search."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        tokens = [self.tokenize(document["content"]) for document in self.documents]
        if not any(tokens):
            return []
        model = BM25Okapi(tokens, k1=self.k1, b=self.b)
        model.idf |= {term: idf(term, tokens) for term in model.idf}
        scores = model.get_scores(self.tokenize(query))
        best = []
        for document, score in zip(self.documents, scores, strict=True):
            if score > 0:
                insort(best, (document, score), key=lambda pair: -pair[1])
        return best[:k]


class WithCachedProperty:
    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    @cached_property
    def model(self):
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        for term in model.idf:
            model.idf[term] = idf(term, self.tokens)
        return model

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))
        self.__dict__.pop("model", None)

    def search(self, query, k=1):
        if not any(self.tokens):
            return []
        scores = self.model.get_scores(self.tokenize(query))
        positive = np.flatnonzero(scores > 0)
        order = positive[np.argsort(scores[positive])[::-1]]
        return [(self.documents[i], scores[i]) for i in order[:k]]


class OneTermAtATime:
    """A score is a sum over the terms of the query: adds up the scores of searches for one term each."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if not any(self.tokens):
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        scores = [0.0] * len(self.documents)
        for term in self.tokenize(query):
            if term not in model.idf:
                continue
            model.idf[term] = idf(term, self.tokens)
            for i, score in enumerate(model.get_scores([term])):
                scores[i] += score
        heap = [(-score, i) for i, score in enumerate(scores) if score > 0]
        heapq.heapify(heap)
        results = []
        while heap and len(results) < k:
            score, i = heapq.heappop(heap)
            results.append((self.documents[i], -score))
        return results


Hit = namedtuple("Hit", "document score")


class WhenTheNumberChanged:
    """Makes a new model when there are more documents than at the last search. Pairs are named tuples."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []
        self.seen = 0

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if not any(self.tokens):
            return []
        if self.seen != len(self.documents):
            self.model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
            for term, _ in list(self.model.idf.items()):
                self.model.idf[term] = idf(term, self.tokens)
            self.seen = len(self.documents)
        hits = map(Hit, self.documents, self.model.get_scores(self.tokenize(query)))
        return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: hit.score, reverse=True)[:k]


class AsTheNotebookSays:
    """Looks only whether the index is empty, as the notebook says: fails where no document has a token."""

    def __init__(self, tokenize=tokenize, k1=1.5, b=0.75):
        self.tokenize, self.k1, self.b = tokenize, k1, b
        self.documents = []
        self.tokens = []

    def add_document(self, document):
        self.documents.append(document)
        self.tokens.append(self.tokenize(document["content"]))

    def search(self, query, k=1):
        if not self.documents:
            return []
        model = BM25Okapi(self.tokens, k1=self.k1, b=self.b)
        for term in model.idf:
            model.idf[term] = idf(term, self.tokens)
        scores = model.get_scores(self.tokenize(query))
        results = []
        for i in np.argsort(scores)[::-1]:
            if scores[i] != 0:
                results.append((self.documents[i], scores[i]))
        return results[:k]


VARIANTS = {
    "plain": (Plain,),
    "beginner": (Beginner,),
    "model kept until an addition": (Cached,),
    "model made at each addition": (RebuiltAtEachAddition,),
    "subclass of BM25Okapi": (WithSubclass,),
    "formula by hand": (ByHand,),
    "heapq.nlargest, weights of the query only": (WithNlargest,),
    "inverted index": (WithPostings,),
    "numpy matrix": (WithNumpyMatrix,),
    "pandas": (WithPandas,),
    "dataclass and lists for pairs": (WithDataclassAndLists,),
    "helper methods and a generator": (HelpersAndGenerator,),
    "shared terms first": (SharedTerms,),
    "tokens at the search, insort": (TokensAtTheSearch,),
    "cached_property": (WithCachedProperty,),
    "one term at a time, heap": (OneTermAtATime,),
    "new model when the number changed": (WhenTheNumberChanged,),
    "looks only whether the index is empty": (AsTheNotebookSays,),
}
