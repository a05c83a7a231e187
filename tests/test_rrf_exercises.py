"""The exercises of unit 03: tables in any style, with any order among equal scores."""

import pytest

from grader.checks import evaluate
from grader.compare import Table
from grader.exercises import EXERCISES

SCORE, TABLE = EXERCISES["rrf_score"], EXERCISES["rrf_table"]


def by_loops(rankings, k_rrf=60):
    documents = []
    for ranking in rankings.values():
        for document in ranking:
            if document not in documents:
                documents.append(document)
    rows = []
    for document in documents:
        row = {"document": document, "score": 0}
        for name, ranking in rankings.items():
            row[name] = None
            if document in ranking:
                row[name] = ranking.index(document) + 1
                row["score"] += 1 / (k_rrf + row[name])
        rows.append(row)
    rows.sort(key=lambda row: row["score"], reverse=True)
    for i, row in enumerate(rows):
        row["rank"] = i + 1
    return rows


def equal_scores_turned_round(rankings, k_rrf=60):
    rows = sorted(by_loops(rankings, k_rrf), key=lambda row: (row["score"], row["rank"]))[::-1]
    return [{**row, "rank": rank} for rank, row in enumerate(rows, start=1)]


def by_numpy(rankings, k_rrf=60):
    import numpy as np

    documents = sorted({document for ranking in rankings.values() for document in ranking})
    ranks = {
        name: [ranking.index(d) + 1 if d in ranking else None for d in documents]
        for name, ranking in rankings.items()
    }
    scores = sum(
        np.array([0.0 if rank is None else 1 / (k_rrf + rank) for rank in column])
        for column in ranks.values()
    )
    order = np.argsort(-scores)
    return tuple(
        {
            "document": documents[i],
            **{name: ranks[name][i] for name in rankings},
            "score": scores[i],
            "rank": n,
        }
        for n, i in enumerate(order, start=1)
    )


@pytest.mark.parametrize("table", [by_loops, equal_scores_turned_round, by_numpy])
def test_right_tables_in_several_styles_get_full_points(table):
    assert evaluate(TABLE, (table,)).points == 3


@pytest.mark.parametrize(
    "score", [lambda rank, k_rrf=60: 1 / (rank + k_rrf), lambda rank, k_rrf=60: (k_rrf + rank) ** -1]
)
def test_right_scores_get_full_points(score):
    assert evaluate(SCORE, (score,)).points == 1


def row(document, score, rank, **ranks):
    return {"document": document, "score": score, "rank": rank, **ranks}


FIRST = [row("a", 0.5, 1, vector=1), row("b", 0.5, 2, vector=1), row("c", 0.25, 3, vector=3)]


def test_equal_scores_may_come_in_any_order():
    turned = [row("b", 0.5, 1, vector=1), row("a", 0.5, 2, vector=1), row("c", 0.25, 3, vector=3)]
    assert Table().right(FIRST, turned)
    assert Table().alike(FIRST, turned)


@pytest.mark.parametrize(
    "wrong",
    [
        FIRST[:2],
        [*FIRST[:2], row("c", 0.25, 4, vector=3)],
        [*FIRST[:2], row("c", 0.25, 3, vector=None)],
        [FIRST[2], *FIRST[:2]],
        [row("b", 0.5, 2, vector=1), row("a", 0.5, 1, vector=1), FIRST[2]],
        [{"document": "a"}],
        None,
        {},
    ],
)
def test_what_differs_otherwise_is_wrong_and_can_be_shown(wrong):
    assert not Table().right(FIRST, wrong)
    assert not Table().alike(FIRST, wrong)
    assert any(row.mark for row in Table().rows(FIRST, wrong))


def test_the_first_difference_names_its_column():
    wrong = [*FIRST[:2], row("c", 0.25, 3, vector=None)]
    assert [row.mark for row in Table().rows(FIRST, wrong) if row.mark] == ["vector"]
