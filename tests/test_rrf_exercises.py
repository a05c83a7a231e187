"""The table of unit 03: any order among equal scores is right, and the difference is named by its column."""

import pytest

from grader.compare import Table


def row(document, score, rank, **ranks):
    return {"document": document, "score": score, "rank": rank, **ranks}


FIRST = [row("a", 0.5, 1, vector=1), row("b", 0.5, 2, vector=1), row("c", 0.25, 3, vector=3)]


def value(table):
    return {"value": table}


def test_equal_scores_may_come_in_any_order():
    turned = [row("b", 0.5, 1, vector=1), row("a", 0.5, 2, vector=1), row("c", 0.25, 3, vector=3)]
    assert Table().right(value(FIRST), value(turned))
    assert Table().alike(value(FIRST), value(turned))


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
    assert not Table().right(value(FIRST), value(wrong))
    assert not Table().alike(value(FIRST), value(wrong))
    assert any(row.mark for row in Table().rows(value(FIRST), wrong))


def test_the_first_difference_names_its_column():
    wrong = [*FIRST[:2], row("c", 0.25, 3, vector=None)]
    assert [row.mark for row in Table().rows(value(FIRST), wrong) if row.mark] == ["vector"]


def test_columns_are_shown_in_the_order_of_the_expected_row():
    turned = [{key: entry[key] for key in reversed(entry)} for entry in FIRST[:2]]
    assert all(row.expected == row.yours for row in Table().rows(value(FIRST[:2]), turned))
