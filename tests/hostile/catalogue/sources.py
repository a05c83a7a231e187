"""Where in a notebook a piece of code stands, and the words that many entries share."""

from collections.abc import Callable
from textwrap import dedent, indent

from ..entry import Files
from ..notebooks import changed, handed_in, right

FIRST_ONLY = {"retriever": 8.0, "keyword_index": 0.0}
SECOND_ONLY = {"retriever": 0.0, "keyword_index": 2.0}
FIRST = "retriever: 8 of 8 points"
SECOND = "keyword_index: 2 of 2 points"
FIRST_LOST = "retriever: 0 of 8 points"
SECOND_LOST = "keyword_index: 0 of 2 points"

# It runs, and gives None for everything: no point of the first exercise can come from it.
EMPTY_RETRIEVER = """
class Retriever:
    def __init__(self, *indexes):
        self.indexes = indexes

    def add_document(self, document):
        pass

    def search(self, query, k=1, k_rrf=60, candidates=20):
        return None
"""

EMPTY_KEYWORD_INDEX = """
class KeywordIndex:
    def add_document(self, document):
        pass

    def search(self, query, k=1):
        return None
"""

_IN_SEARCH = {
    "retriever": "        scores, found = {}, {}\n",
    "keyword_index": "        wanted = set(tokenize(query))\n",
}


def own(source: str) -> Callable[[], Files]:
    """In a cell of the learner's own before the first exercise; everything is solved."""
    return lambda: handed_in(before={"retriever": source})


def between(source: str) -> Callable[[], Files]:
    """In a cell of the learner's own between the two exercises; everything is solved."""
    return lambda: handed_in(after={"check_retriever": source})


def second(source: str) -> Callable[[], Files]:
    """Above the second class, in the same cell; everything is solved."""
    return lambda: handed_in(keyword_index=f"{dedent(source).strip()}\n\n\n{right()['keyword_index']}")


def below_first(source: str) -> Callable[[], Files]:
    """Below the first class, in the same cell; everything is solved."""
    return lambda: handed_in(retriever=f"{right()['retriever']}\n\n\n{dedent(source).strip()}")


def in_search(source: str, exercise: str = "retriever") -> Callable[[], Files]:
    """At each search of a right solution, so while the check's own cell runs."""
    line = _IN_SEARCH[exercise]
    added = indent(dedent(source).strip(), " " * 8)
    return lambda: handed_in(**{exercise: changed(exercise, line, f"{added}\n{line}")})


def attack(source: str, before_first: bool = False) -> Callable[[], Files]:
    """Below a first class that answers nothing, or in a cell of its own before it; the second is solved."""
    if before_first:
        return lambda: handed_in(retriever=EMPTY_RETRIEVER, before={"retriever": source})
    return lambda: handed_in(retriever=f"{EMPTY_RETRIEVER}\n\n{dedent(source).strip()}")


def attack_second(source: str) -> Callable[[], Files]:
    """Below a second class that answers nothing; the first is solved."""
    return lambda: handed_in(keyword_index=f"{EMPTY_KEYWORD_INDEX}\n\n{dedent(source).strip()}")


def written(
    exercise: str, old: str, new: str, unit: str = "04_retriever", above: str = ""
) -> Callable[[], Files]:
    """A right solution with one piece of it written otherwise, below what it imports."""
    return lambda: handed_in(unit, **{exercise: f"{above}\n\n\n{changed(exercise, old, new, unit)}"})
