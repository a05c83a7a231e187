"""Correct solutions of the exercise evaluate in different styles. Each of them must get full points.

They follow the statement in unit 05: judged_ids, or its two rules written out, and a dict with two means.
"""

import statistics
from collections import defaultdict
from fractions import Fraction
from functools import reduce
from itertools import count

import numpy as np
import pandas as pd

from lab import judged_ids, mean_over_queries, recall_at, reciprocal_rank


def beginner(search, judged, k=10):
    mrr = 0
    recall = 0
    number = 0
    for query in judged:
        if len(query.relevant) == 0:
            continue
        number = number + 1
        ids = judged_ids(search(query.text, k))
        found = 0
        first = None
        for i in range(len(ids)):
            if ids[i] in query.relevant:
                found = found + 1
                if first is None:
                    first = i + 1
        if first is not None:
            mrr = mrr + 1 / first
        recall = recall + found / len(query.relevant)
    return {"MRR": mrr / number, "recall": recall / number}


def comprehension(search, judged, k=10):
    used = [query for query in judged if query.relevant]
    found = [judged_ids(search(query.text, k)) for query in used]
    pairs = list(zip(found, [query.relevant for query in used], strict=True))
    ranks = [[i for i, doc in enumerate(ids, 1) if doc in relevant] for ids, relevant in pairs]
    return {
        "MRR": sum(1 / of[0] for of in ranks if of) / len(used),
        "recall": sum(len(of) / len(relevant) for of, (_, relevant) in zip(ranks, pairs, strict=True))
        / len(used),
    }


def with_sets(search, judged, k=10):
    rows = []
    for query in filter(lambda query: query.relevant, judged):
        ids = judged_ids(search(query.text, k=k))
        hits = query.relevant & set(ids)
        best = min((ids.index(hit) + 1 for hit in hits), default=float("inf"))
        rows.append((1 / best, len(hits) / len(query.relevant)))
    mrr, recall = map(statistics.fmean, zip(*rows, strict=True))
    return {"recall": recall, "MRR": mrr}


def with_numpy(search, judged, k=10):
    """Returns numpy numbers."""
    values = []
    for query in judged:
        if not query.relevant:
            continue
        hits = np.array([found in query.relevant for found in judged_ids(search(query.text, k))], dtype=bool)
        rank = np.flatnonzero(hits)
        values.append([1 / (rank[0] + 1) if rank.size else 0, hits.sum() / len(query.relevant)])
    mrr, recall = np.mean(values, axis=0)
    return {"MRR": mrr, "recall": recall}


def with_pandas(search, judged, k=10):
    table = pd.DataFrame(
        {"query": i, "rank": rank, "hit": found in query.relevant, "relevant": len(query.relevant)}
        for i, query in enumerate(judged)
        if query.relevant
        for rank, found in enumerate([*judged_ids(search(query.text, k)), None], start=1)
    )
    groups = table.groupby("query")
    first = table[table["hit"]].groupby("query")["rank"].min()
    return {
        "MRR": (1 / first).sum() / groups.ngroups,
        "recall": (groups["hit"].sum() / groups["relevant"].first()).mean(),
    }


def with_the_labs_metrics(search, judged, k=10):
    rankings = [judged_ids(search(query.text, k)) for query in judged]
    relevants = [query.relevant for query in judged]
    return {
        "MRR": mean_over_queries(reciprocal_rank, rankings, relevants).value,
        "recall": mean_over_queries(recall_at, rankings, relevants, k).value,
    }


def without_judged_ids(search, judged, k=10):
    """The rules written out: a topic counts once, and a document without one goes by its id."""
    sums, used = defaultdict(float), 0
    for query in judged:
        if query.relevant:
            used += 1
            seen = []
            for document, _ in search(query.text, k):
                name = document["topic"] if "topic" in document else document["id"]
                if name not in seen:
                    seen.append(name)
            hits = [rank for rank, name in zip(count(1), seen, strict=False) if name in query.relevant]
            sums["MRR"] += 1 / hits[0] if hits else 0
            sums["recall"] += len(hits) / len(query.relevant)
    return {name: total / used for name, total in sums.items()}


def exact(search, judged, k=10):
    """Returns fractions, and more than was asked for."""
    mrr, recall = [], []
    for query in judged:
        if query.relevant:
            ranks = [
                rank
                for rank, found in enumerate(judged_ids(search(query.text, k)), start=1)
                if found in query.relevant
            ]
            mrr.append(Fraction(1, ranks[0]) if ranks else Fraction(0))
            recall.append(Fraction(len(ranks), len(query.relevant)))
    return {"MRR": sum(mrr) / len(mrr), "recall": sum(recall) / len(recall), "queries": len(mrr)}


def recursive(search, judged, k=10):
    def of(query):
        ids = judged_ids(search(query.text, k))
        return next((1 / r for r, found in enumerate(ids, 1) if found in query.relevant), 0), len(
            query.relevant.intersection(ids)
        ) / len(query.relevant)

    used = tuple(query for query in judged if query.relevant)
    total = reduce(lambda a, b: (a[0] + b[0], a[1] + b[1]), map(of, used), (0, 0))
    return dict(zip(("MRR", "recall"), (part / len(used) for part in total), strict=True))


class Evaluation:
    """An object that is called like a function."""

    def __call__(self, search, judged, k=10):
        return with_sets(search, list(judged), k)


VARIANTS = {
    "beginner": (beginner,),
    "comprehension": (comprehension,),
    "sets": (with_sets,),
    "numpy": (with_numpy,),
    "pandas": (with_pandas,),
    "the lab's metrics": (with_the_labs_metrics,),
    "without judged_ids": (without_judged_ids,),
    "fractions": (exact,),
    "reduce": (recursive,),
    "callable object": (Evaluation(),),
}
