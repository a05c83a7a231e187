"""Correct solutions of the exercise rrf_table in different styles. Each of them must get full points.

They were written from the statement in unit 03 alone, without a look at the solution or the checks.
Rows with the same score come in different orders: the statement leaves that open.
"""

import heapq
import itertools
import math
from bisect import insort
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import itemgetter

import numpy as np
import pandas as pd


def rrf_score(rank, k_rrf=60):
    return 1 / (k_rrf + rank)


def plain(rankings, k_rrf=60):
    rows = {}
    for name, ranking in rankings.items():
        for rank, document in enumerate(ranking, start=1):
            if document not in rows:
                rows[document] = {"document": document, **dict.fromkeys(rankings), "score": 0}
            rows[document][name] = rank
            rows[document]["score"] += rrf_score(rank, k_rrf)
    table = sorted(rows.values(), key=lambda row: row["score"], reverse=True)
    for rank, row in enumerate(table, start=1):
        row["rank"] = rank
    return table


def beginner(rankings, k_rrf=60):
    """Lists and loops only: compares documents, so that they may be dicts too."""
    documents = []
    for name in rankings:
        for document in rankings[name]:
            if document not in documents:
                documents.append(document)
    rows = []
    for document in documents:
        row = {}
        row["document"] = document
        score = 0
        for name in rankings:
            row[name] = None
            for i in range(len(rankings[name])):
                if rankings[name][i] == document:
                    row[name] = i + 1
                    score = score + 1 / (k_rrf + i + 1)
        row["score"] = score
        rows.append(row)
    # the highest score first: exchange neighbours until nothing changes
    changed = True
    while changed:
        changed = False
        for i in range(len(rows) - 1):
            if rows[i]["score"] < rows[i + 1]["score"]:
                rows[i], rows[i + 1] = rows[i + 1], rows[i]
                changed = True
    for i in range(len(rows)):
        rows[i]["rank"] = i + 1
    return rows


def with_index(rankings, k_rrf=60):
    def row(document):
        ranks = {n: r.index(document) + 1 if document in r else None for n, r in rankings.items()}
        score = sum(rrf_score(rank, k_rrf) for rank in ranks.values() if rank is not None)
        return {"document": document} | ranks | {"score": score}

    seen = list(dict.fromkeys(itertools.chain(*rankings.values())))
    rows = sorted(map(row, seen), key=itemgetter("score"), reverse=True)
    return [{**row, "rank": rank} for rank, row in enumerate(rows, 1)]


def with_defaultdict(rankings, k_rrf=60):
    ranks = defaultdict(dict)
    for name, ranking in rankings.items():
        for position, document in enumerate(ranking):
            ranks[document][name] = position + 1
    rows = []
    for document, found in ranks.items():
        row = {"document": document, "score": sum(1 / (k_rrf + rank) for rank in found.values())}
        row.update((name, found.get(name)) for name in rankings)
        rows.append(row)
    rows.sort(key=lambda row: row["score"])
    rows.reverse()
    for row, rank in zip(rows, itertools.count(1), strict=False):
        row["rank"] = rank
    return rows


def with_counter(rankings, k_rrf=60):
    scores = Counter()
    place = {}
    for name, ranking in rankings.items():
        place[name] = dict(zip(ranking, range(1, len(ranking) + 1), strict=True))
        for document, rank in place[name].items():
            scores[document] += rrf_score(rank, k_rrf)
    return [
        {
            "rank": number,
            "score": score,
            "document": document,
            **{name: ranks.get(document) for name, ranks in place.items()},
        }
        for number, (document, score) in enumerate(scores.most_common(), start=1)
    ]


def with_heap(rankings, k_rrf=60):
    documents = set().union(*rankings.values())
    heap = []
    for number, document in enumerate(documents):
        row = {"document": document}
        score = 0.0
        for name, ranking in rankings.items():
            try:
                row[name] = list(ranking).index(document) + 1
                score += rrf_score(row[name], k_rrf)
            except ValueError:
                row[name] = None
        row["score"] = score
        heapq.heappush(heap, (-score, number, row))
    table = []
    while heap:
        *_, row = heapq.heappop(heap)
        row["rank"] = len(table) + 1
        table.append(row)
    return table


def with_numpy(rankings, k_rrf=60):
    """A matrix of ranks, infinity where a list lacks the document. Scores and ranks are numpy numbers."""
    documents = list({document: None for ranking in rankings.values() for document in ranking})
    column = {document: i for i, document in enumerate(documents)}
    ranks = np.full((len(rankings), len(documents)), np.inf)
    for row, ranking in zip(ranks, rankings.values(), strict=True):
        row[[column[document] for document in ranking]] = np.arange(1, len(ranking) + 1)
    scores = (1 / (k_rrf + ranks)).sum(axis=0)
    table = []
    for place, i in enumerate(np.argsort(-scores), start=1):
        found = {
            name: np.int64(rank) if np.isfinite(rank) else None
            for name, rank in zip(rankings, ranks[:, i], strict=True)
        }
        table.append({"document": documents[i], **found, "score": scores[i], "rank": place})
    return table


def with_pandas(rankings, k_rrf=60):
    places = [
        (name, document, rank)
        for name, ranking in rankings.items()
        for rank, document in enumerate(ranking, start=1)
    ]
    if not places:
        return []
    frame = pd.DataFrame(places, columns=["list", "document", "rank"])
    frame["points"] = 1 / (k_rrf + frame["rank"])
    scores = frame.groupby("document")["points"].sum().sort_values(ascending=False)
    rows = []
    for number, (document, score) in enumerate(scores.items(), start=1):
        found = frame[frame["document"] == document]
        ranks = dict(zip(found["list"], found["rank"].tolist(), strict=True))
        row = {"document": document, "score": score, "rank": number}
        for name in rankings:
            row[name] = ranks.get(name)
        rows.append(row)
    return rows


def pandas_records(rankings, k_rrf=60):
    """One column for each list, and to_dict at the end."""
    documents = list(dict.fromkeys(itertools.chain.from_iterable(rankings.values())))
    if not documents:
        return []
    columns = [pd.Series(range(1, len(r) + 1), index=list(r), dtype=float) for r in rankings.values()]
    ranks = pd.DataFrame({i: column.reindex(documents) for i, column in enumerate(columns)})
    table = ranks.astype("Int64").astype(object).where(ranks.notna(), None)
    table.columns = pd.Index(list(rankings), tupleize_cols=False)
    table["document"] = documents
    table["score"] = (1 / (ranks + k_rrf)).sum(axis=1)
    table = table.sort_values("score", ascending=False)
    table["rank"] = range(1, len(table) + 1)
    return table.to_dict("records")


@dataclass
class Candidate:
    document: str
    ranks: dict = field(default_factory=dict)

    def score(self, k_rrf):
        return math.fsum(rrf_score(rank, k_rrf) for rank in self.ranks.values() if rank)

    def as_row(self, place, k_rrf):
        return dict(document=self.document, score=self.score(k_rrf), rank=place) | self.ranks  # noqa: C408


def with_dataclass(rankings, k_rrf=60):
    candidates = {}
    for name, ranking in rankings.items():
        for rank, document in enumerate(ranking, start=1):
            candidate = candidates.setdefault(document, Candidate(document, dict.fromkeys(rankings)))
            candidate.ranks[name] = rank
    ordered = sorted(candidates.values(), key=lambda c: c.score(k_rrf), reverse=True)
    return [candidate.as_row(place, k_rrf) for place, candidate in enumerate(ordered, start=1)]


def _votes(rankings):
    for name, ranking in rankings.items():
        rank = 0
        for document in ranking:
            rank += 1  # noqa: SIM113
            yield document, name, rank


def with_generator(rankings, k_rrf=60):
    found = OrderedDict()
    for document, name, rank in _votes(rankings):
        row = found.setdefault(document, {"document": document, "score": 0.0})
        row[name] = rank
        row["score"] += (k_rrf + rank) ** -1
    table = []
    for row in found.values():
        for name in rankings:
            row.setdefault(name, None)
        insort(table, row, key=lambda row: -row["score"])
    for place in range(len(table)):
        table[place]["rank"] = place + 1
    return table


def functional(rankings, k_rrf=60):
    places = {name: {d: i for i, d in enumerate(ranking, 1)} for name, ranking in rankings.items()}
    documents = reduce(lambda seen, found: seen | found.keys(), places.values(), set())
    points = {d: [rrf_score(p[d], k_rrf) for p in places.values() if d in p] for d in documents}
    ordered = sorted(documents, key=lambda d: sum(points[d]), reverse=True)
    return [
        {"document": d, **{n: p.get(d) for n, p in places.items()}, "score": sum(points[d]), "rank": i}
        for i, d in enumerate(ordered, start=1)
    ]


class Table:
    def __init__(self, rankings, k_rrf):
        self.rankings, self.k_rrf = rankings, k_rrf

    def documents(self):
        documents = []
        for ranking in self.rankings.values():
            documents += [document for document in ranking if document not in documents]
        return documents

    def rank(self, name, document):
        for rank, other in enumerate(self.rankings[name], start=1):
            if other == document:
                return rank
        return None

    def row(self, document):
        row = {"document": document, "score": 0}
        for name in self.rankings:
            row[name] = self.rank(name, document)
            if row[name] is not None:
                row["score"] += rrf_score(row[name], self.k_rrf)
        return row

    def rows(self):
        rows = [self.row(document) for document in self.documents()]
        rows = sorted(rows, key=lambda row: row["score"], reverse=True)
        for i, row in enumerate(rows):
            row["rank"] = i + 1
        return rows


def with_class(rankings, k_rrf=60):
    return Table(rankings, k_rrf).rows()


def groups_of_votes(rankings, k_rrf=60):
    """Numbers the documents, sorts the votes by the number and groups them."""
    number = {}
    for ranking in rankings.values():
        for document in ranking:
            number.setdefault(document, len(number))
    votes = sorted(
        (number[d], i, rank + 1) for i, r in enumerate(rankings.values()) for rank, d in enumerate(r)
    )
    names, documents = list(rankings), list(number)
    rows = []
    for key, group in itertools.groupby(votes, key=itemgetter(0)):
        row = dict.fromkeys(names) | {"document": documents[key], "score": 0.0}
        for _, i, rank in group:
            row[names[i]] = rank
            row["score"] += rrf_score(rank, k_rrf)
        rows.append(row)
    rows.sort(key=itemgetter("score"), reverse=True)
    return [row | {"rank": i} for i, row in enumerate(rows, start=1)]


def best_one_by_one(rankings, k_rrf=60):
    """Scores are exact fractions until the end."""
    rows = {}
    for name, ranking in rankings.items():
        for i, document in enumerate(ranking):
            row = rows.setdefault(document, {"document": document, "score": Fraction(0)})
            row[name] = i + 1
            row["score"] += 1 / (Fraction(k_rrf) + i + 1)
    table = []
    while rows:
        best = max(rows, key=lambda document: rows[document]["score"])
        row = rows.pop(best)
        table.append(
            {
                **{name: row.get(name) for name in rankings},
                "document": best,
                "score": float(row["score"]),
                "rank": len(table) + 1,
            }
        )
    return table


VARIANTS = {
    "plain": (plain,),
    "beginner with exchanged neighbours": (beginner,),
    "list.index": (with_index,),
    "defaultdict, sorted upwards and reversed": (with_defaultdict,),
    "Counter.most_common": (with_counter,),
    "heap": (with_heap,),
    "numpy matrix, numpy numbers": (with_numpy,),
    "pandas groupby": (with_pandas,),
    "pandas to_dict": (pandas_records,),
    "dataclass and fsum": (with_dataclass,),
    "generator, OrderedDict and insort": (with_generator,),
    "functional": (functional,),
    "class with helper methods": (with_class,),
    "groupby": (groups_of_votes,),
    "best one by one, exact fractions": (best_one_by_one,),
}
