"""CSV files that a spreadsheet opens as data: no cell can start a formula, no cell breaks its line."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

# What a spreadsheet takes for the beginning of a formula, in full width too.
_FORMULA = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
# In countries whose spreadsheets split at semicolons, a cell could begin behind one.
_SPLIT = re.compile(r";(?=[\s\u200b-\u200f\u2060\ufeff]*[" + re.escape("".join(_FORMULA)) + "])")


def safe_cell(value: Any) -> str:
    """The text of a cell. A number stays a number; a text that could start a formula gets a quote in front."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f"{round(value, 4):g}" if isinstance(value, float) else str(value)
    # Control characters (also line ends) and halves of characters, which no file can hold, become spaces.
    text = "".join(
        " " if unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") else character
        for character in str(value)
    )
    text = _SPLIT.sub(",", text)
    return f"'{text}" if _seen(text).startswith(_FORMULA) else text


def _seen(text: str) -> str:
    """The text from its first character that is neither a space nor invisible."""
    start = 0
    while start < len(text) and unicodedata.category(text[start]) in ("Zs", "Cf"):
        start += 1
    return text[start:]


def write_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """A heading and the rows; a column that a row lacks stays empty."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([safe_cell(row.get(column)) for column in columns] for row in rows)
