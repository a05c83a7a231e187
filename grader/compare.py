"""Is an answer right? One class for each way of comparing, and the table of the first difference."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .display import around_difference, error_of, show, show_item
from .language import N_

_EVERYTHING = 10_000
_MOST_ROWS = 6


@dataclass(frozen=True)
class Row:
    position: int
    expected: str
    yours: str
    mark: str = ""  # what the first difference is about


class Comparison(ABC):
    """How the answers of an exercise are compared. Numbers are the same within ``tolerance``."""

    def __init__(self, tolerance: float = 1e-9) -> None:
        self.tolerance = tolerance

    def expected(self, answer: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> Any:
        """What the reference keeps for a probe; ``answer`` runs the finished objects on an input."""
        return answer(given)

    def right(self, expected: Any, given: Any) -> bool:
        if error_of(expected):
            return error_of(expected) in (error_of(given, every=True) or ())
        return not error_of(given) and self._right(expected, given)

    def alike(self, one: Any, other: Any) -> bool:
        """Do two answers, right or wrong, show the same behaviour?"""
        if error_of(one) or error_of(other):
            return error_of(one) == error_of(other)
        return same(one, other, self.tolerance)

    @abstractmethod
    def _right(self, expected: Any, given: Any) -> bool: ...

    @abstractmethod
    def rows(self, expected: Any, given: Any) -> list[Row]:
        """The beginning of both answers side by side, the first difference marked."""


class Value(Comparison):
    """Plain values: numbers, texts, lists and dicts of them."""

    def _right(self, expected: Any, given: Any) -> bool:
        return same(expected, given, self.tolerance)

    def rows(self, expected: Any, given: Any) -> list[Row]:
        rows = self._rows(expected, given, digits=4)
        if not any(row.mark and row.expected == row.yours for row in rows):
            return rows
        # What looks the same at four digits differs further behind.
        return [
            replace(row, mark=N_("rounded?")) if row.mark and row.expected != row.yours else row
            for row in self._rows(expected, given, digits=12)
        ]

    def _rows(self, expected: Any, given: Any, digits: int) -> list[Row]:
        if isinstance(expected, list) and isinstance(given, list):
            first = self._first(expected, given)
            mark = "extra" if first >= len(expected) else "missing" if first >= len(given) else "value"
            return _window(expected, given, first, mark, digits)
        return [Row(1, *around_difference(show(expected, digits), show(given, digits)), mark="value")]

    def _first(self, expected: list, given: list) -> int:
        both = enumerate(zip(expected, given, strict=False))
        differing = (i for i, (a, b) in both if not same(a, b, self.tolerance))
        return next(differing, min(len(expected), len(given)))


class Ranking(Value):
    """Rankings of pairs (document, value), compared with ties in mind.

    Any order among equal values is right, and so is any choice among equals where the ranking is cut. The
    reference therefore keeps the whole ranking and where it is cut. An answer that is no ranking is compared
    as a plain value.
    """

    def expected(self, answer: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> Any:
        cut = answer(given)
        if not pairs(cut):
            return cut
        return {"ranking": answer({**given, "k": _EVERYTHING}), "k": len(cut)}

    def _right(self, expected: Any, given: Any) -> bool:
        if not _is_cut_ranking(expected):
            return super()._right(expected, given)
        ranking, k = expected["ranking"], expected["k"]
        return self._first_difference(ranking, k, given) is None

    def alike(self, one: Any, other: Any) -> bool:
        if super().alike(one, other):
            return True
        if not (pairs(one) and pairs(other)) or len(one) != len(other):
            return False
        return all(
            same(a[1], b[1], self.tolerance) for a, b in zip(one, other, strict=True)
        ) and self._groups(one) == self._groups(other)

    def _groups(self, ranking: list) -> list[set[str]]:
        """The documents of each run of equal values; the last run may be cut anywhere, so it is left out."""
        groups: list[set[str]] = []
        last = None
        for document, value in ranking:
            if last is None or not same(value, last, self.tolerance):
                groups.append(set())
            groups[-1].add(show(document))
            last = value
        return groups[:-1] if len(groups) > 1 and len(groups[-1]) > 1 else groups

    def _first_difference(self, ranking: list, k: int, given: Any) -> tuple[int, str] | None:
        if not isinstance(given, list):
            return 0, "value"
        values = {show(document): value for document, value in ranking}
        seen = set()
        for i in range(max(k, len(given))):
            if i >= k:
                return i, "extra"
            if i >= len(given):
                return i, "missing"
            if not pairs(given[i : i + 1]):
                return i, "not a pair"
            name, value = show(given[i][0]), given[i][1]
            if name in seen or name not in values or not same(values[name], ranking[i][1], self.tolerance):
                return i, "document"
            if not same(value, ranking[i][1], self.tolerance):
                return i, "score"
            seen.add(name)
        return None

    def _rows(self, expected: Any, given: Any, digits: int) -> list[Row]:
        if not _is_cut_ranking(expected):
            return super()._rows(expected, given, digits)
        ranking, k = expected["ranking"], expected["k"]
        first, mark = self._first_difference(ranking, k, given) or (0, "")
        if not isinstance(given, list):
            return [Row(1, show(ranking[:k], digits), show(given, digits), mark)]
        return _window(ranking[:k], given, first, mark, digits)


class Table(Value):
    """Tables: lists of rows, dicts with a "score" and a "rank" each. Any order among equal scores is right."""

    def alike(self, one: Any, other: Any) -> bool:
        return super().alike(self._settled(one), self._settled(other))

    def _right(self, expected: Any, given: Any) -> bool:
        return super()._right(self._settled(expected), self._settled(given))

    def _rows(self, expected: Any, given: Any, digits: int) -> list[Row]:
        expected, given = self._settled(expected), self._settled(given)
        rows = super()._rows(_named_rows(expected), _named_rows(given), digits)
        return [
            replace(row, mark=self._column(expected[row.position - 1], given[row.position - 1]))
            if row.mark == "value" and _is_table(given)
            else row
            for row in rows
        ]

    def _settled(self, table: Any) -> Any:
        """The table with each run of equal scores in one order; the ranks stay where they are."""
        if not _is_table(table):
            return table
        runs: list[list[dict]] = []
        for row in table:
            if not (runs and same(runs[-1][0]["score"], row["score"], self.tolerance)):
                runs.append([])
            runs[-1].append(row)
        ordered = [row for run in runs for row in sorted(run, key=lambda row: show(row["document"]))]
        return [{**row, "rank": placed["rank"]} for row, placed in zip(ordered, table, strict=True)]

    def _column(self, expected: dict, given: dict) -> str:
        """The first column in which two rows differ."""
        columns = [*expected, *given]
        return next(
            key
            for key in columns
            if key not in expected or key not in given or not same(expected[key], given[key], self.tolerance)
        )


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, dict) and {"document", "rank"} <= row.keys() and _is_number(row.get("score"))
        for row in value
    )


def _named_rows(table: Any) -> Any:
    """The rows as pairs (document, the other columns), which are shown shorter."""
    if not _is_table(table):
        return table
    return [
        [{"document": row["document"]}, {key: value for key, value in row.items() if key != "document"}]
        for row in table
    ]


def _window(expected: list, given: list, first: int, mark: str, digits: int) -> list[Row]:
    """A few rows of both answers up to the first difference and one beyond it."""
    start = max(0, first - _MOST_ROWS + 2)
    stop = min(max(len(expected), len(given)), max(first + 2, start + _MOST_ROWS - 1))
    return [
        Row(i + 1, show_item(expected, i, digits), show_item(given, i, digits), mark if i == first else "")
        for i in range(start, stop)
    ]


def _is_cut_ranking(expected: Any) -> bool:
    return isinstance(expected, dict) and expected.keys() == {"ranking", "k"}


def same(a: Any, b: Any, tolerance: float) -> bool:
    """Two JSON values, numbers within the tolerance."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= tolerance
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y, tolerance) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key], tolerance) for key in a)
    return type(a) is type(b) and a == b


def pairs(ranking: Any) -> bool:
    """Is this a list of pairs (document, number)?"""
    return isinstance(ranking, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict) and _is_number(pair[1])
        for pair in ranking
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
