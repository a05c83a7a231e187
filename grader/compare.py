"""Is an answer right? One class for each way of comparing, and the table of the first difference."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from .display import around_difference, show, show_item
from .language import N_
from .language import translate as _
from .outcome import Outcome, error_name, error_names

NO_DOCUMENT = N_("no document")
_EVERYTHING = 10_000
_MOST_ROWS = 6


@dataclass(frozen=True)
class Row:
    """One line of two answers side by side; ``position`` counts from 1, or is None where nothing is counted."""

    position: int | None
    expected: str
    yours: str
    mark: str = ""  # what the first difference is about


class Comparison(ABC):
    """How the answers of an exercise are compared. Numbers are the same within ``tolerance``."""

    heading = ""  # what the position of a row is called

    def __init__(self, tolerance: float = 1e-9) -> None:
        self.tolerance = tolerance

    def expected(self, run: Callable[[Mapping[str, Any]], Outcome], given: Mapping[str, Any]) -> Outcome:
        """What the reference keeps for a probe; ``run`` gives the finished objects' outcome for an input."""
        return run(given)

    def right(self, expected: Outcome, yours: Outcome) -> bool:
        """Is this outcome right? An expected error is right for errors that derive from it, too."""
        if error_name(expected):
            return error_name(expected) in error_names(yours)
        return not error_name(yours) and self._right(expected["value"], yours["value"])

    def alike(self, one: Outcome, other: Outcome) -> bool:
        """Do two outcomes, right or wrong, show the same behaviour?"""
        if error_name(one) or error_name(other):
            return error_name(one) == error_name(other)
        return self._alike(one["value"], other["value"])

    def rows(self, expected: Outcome, yours: Any) -> list[Row]:
        """The beginning of both answers side by side, the first difference marked."""
        rows = self._rows(expected["value"], yours, digits=4)
        if not any(row.mark and row.expected == row.yours for row in rows):
            return rows
        # What looks the same at four digits differs further behind.
        return [
            replace(row, mark=N_("rounded?")) if row.mark and row.expected != row.yours else row
            for row in self._rows(expected["value"], yours, digits=12)
        ]

    @abstractmethod
    def _right(self, expected: Any, yours: Any) -> bool: ...

    def _alike(self, one: Any, other: Any) -> bool:
        return same(one, other, self.tolerance)

    @abstractmethod
    def _rows(self, expected: Any, yours: Any, digits: int) -> list[Row]: ...


class Value(Comparison):
    """Plain values: numbers, texts, lists and dicts of them."""

    def _right(self, expected: Any, yours: Any) -> bool:
        return same(expected, yours, self.tolerance)

    def _rows(self, expected: Any, yours: Any, digits: int) -> list[Row]:
        if isinstance(expected, list) and isinstance(yours, list):
            first = self._first(expected, yours)
            mark = (
                N_("extra")
                if first >= len(expected)
                else N_("missing")
                if first >= len(yours)
                else N_("value")
            )
            return _window(expected, yours, first, mark, digits)
        both = around_difference(*(show(value, digits) for value in self._narrowed(expected, yours)))
        return [Row(None, *both, mark=N_("value"))]

    def _narrowed(self, expected: Any, yours: Any) -> tuple[Any, Any]:
        """Of two dicts of several parts, the first part that differs."""
        if isinstance(expected, dict) and isinstance(yours, dict) and len(expected) > 1:
            for key in expected:
                if key in yours and not same(expected[key], yours[key], self.tolerance):
                    return {key: expected[key]}, {key: yours[key]}
        return expected, yours

    def _first(self, expected: list, yours: list) -> int:
        both = enumerate(zip(expected, yours, strict=False))
        differing = (i for i, (a, b) in both if not same(a, b, self.tolerance))
        return next(differing, min(len(expected), len(yours)))


class Number(Value):
    """A number that the learner works out by hand: two digits are enough, and the right one is not shown."""

    def __init__(self, tolerance: float = 0.005) -> None:
        super().__init__(tolerance + 1e-9)  # 0.375 rounded to 0.38 is 0.005 away, and a last bit more

    def rows(self, expected: Outcome, yours: Any) -> list[Row]:
        lower = isinstance(yours, int | float) and yours > expected["value"]
        wanted = _("a lower number") if lower else _("a higher number")
        return [Row(None, wanted, show(yours), mark=N_("value"))]


class Ranking(Value):
    """Rankings of pairs (document, value), compared with ties in mind.

    Any order among equal values is right, and so is any choice among equals where the ranking is cut. The
    reference therefore keeps the whole ranking and where it is cut. An answer that is no ranking is compared
    as a plain value. The exercise's ``answer`` takes ``k``.
    """

    heading = N_("rank")

    def expected(self, run: Callable[[Mapping[str, Any]], Outcome], given: Mapping[str, Any]) -> Outcome:
        cut = run(given)
        if not is_ranking(cut.get("value")):
            return cut
        whole = run({**given, "k": _EVERYTHING})
        return {"value": {"ranking": whole["value"], "k": len(cut["value"])}}

    def _right(self, expected: Any, yours: Any) -> bool:
        if not _is_cut_ranking(expected):
            return super()._right(expected, yours)
        ranking, k = expected["ranking"], expected["k"]
        return self._first_difference(ranking, k, yours) is None

    def _alike(self, one: Any, other: Any) -> bool:
        if super()._alike(one, other):
            return True
        if not (is_ranking(one) and is_ranking(other)) or len(one) != len(other):
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

    def _first_difference(self, ranking: list, k: int, yours: Any) -> tuple[int, str] | None:
        if not isinstance(yours, list):
            return 0, N_("value")
        values = {show(document): value for document, value in ranking}
        seen = set()
        for i in range(max(k, len(yours))):
            if i >= k:
                return i, N_("extra")
            if i >= len(yours):
                return i, N_("missing")
            if not is_ranking(yours[i : i + 1]):
                return i, NO_DOCUMENT if _lacks_document(yours[i]) else N_("not a pair")
            name, value = show(yours[i][0]), yours[i][1]
            if name in seen or name not in values or not same(values[name], ranking[i][1], self.tolerance):
                return i, N_("document")
            if not same(value, ranking[i][1], self.tolerance):
                return i, N_("score")
            seen.add(name)
        return None

    def _rows(self, expected: Any, yours: Any, digits: int) -> list[Row]:
        if not _is_cut_ranking(expected):
            return super()._rows(expected, yours, digits)
        ranking, k = expected["ranking"], expected["k"]
        first, mark = self._first_difference(ranking, k, yours) or (0, "")
        if not isinstance(yours, list):
            return [Row(None, *around_difference(show(ranking[:k], digits), show(yours, digits)), mark)]
        return _window(ranking[:k], yours, first, mark, digits)


class Table(Value):
    """Tables: lists of rows, dicts with a "score" and a "rank" each. Any order among equal scores is right."""

    heading = N_("row")

    def _alike(self, one: Any, other: Any) -> bool:
        return super()._alike(self._settled(one), self._settled(other))

    def _right(self, expected: Any, yours: Any) -> bool:
        return super()._right(self._settled(expected), self._settled(yours))

    def _rows(self, expected: Any, yours: Any, digits: int) -> list[Row]:
        expected, yours = self._settled(expected), self._settled(yours)
        rows = super()._rows(_named_rows(expected, expected), _named_rows(yours, expected), digits)
        return [
            replace(row, mark=self._column(expected[row.position - 1], yours[row.position - 1]))
            if row.mark == "value" and _is_table(yours)
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

    def _column(self, expected: dict, yours: dict) -> str:
        """The first column in which two rows differ."""
        columns = [*expected, *yours]
        return next(
            key
            for key in columns
            if key not in expected or key not in yours or not same(expected[key], yours[key], self.tolerance)
        )


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, dict) and {"document", "rank"} <= row.keys() and _is_number(row.get("score"))
        for row in value
    )


def _named_rows(table: Any, like: list[dict]) -> Any:
    """The rows as pairs (document, the other columns), which are shown shorter; columns in the order of ``like``."""
    if not _is_table(table):
        return table
    columns = list(like[0]) if like else []
    return [
        [
            {"document": row["document"]},
            {key: row[key] for key in sorted(row, key=[*columns, *row].index) if key != "document"},
        ]
        for row in table
    ]


def _window(expected: list, yours: list, first: int, mark: str, digits: int) -> list[Row]:
    """A few rows of both answers up to the first difference and one beyond it."""
    start = max(0, first - _MOST_ROWS + 2)
    stop = min(max(len(expected), len(yours)), max(first + 2, start + _MOST_ROWS - 1))
    return [
        Row(i + 1, show_item(expected, i, digits), show_item(yours, i, digits), mark if i == first else "")
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


def is_ranking(ranking: Any) -> bool:
    """Is this a list of pairs (document, number)?"""
    return isinstance(ranking, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], dict) and _is_number(pair[1])
        for pair in ranking
    )


def _lacks_document(pair: Any) -> bool:
    """A pair with a number behind, and something else than a document in front."""
    return isinstance(pair, list) and len(pair) == 2 and not isinstance(pair[0], dict) and _is_number(pair[1])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
