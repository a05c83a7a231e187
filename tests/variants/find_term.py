"""Correct solutions of the exercise find_term in different styles. Each of them must get full points.

They were written from the statement in unit 00 alone, without a look at the solution or the checks.
"""

import itertools
import operator
import re
from collections.abc import Iterator, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np
import pandas as pd


def beginner(term, documents):
    result = []
    term_lower = term.lower()
    for document in documents:
        text = document["content"]
        text_lower = text.lower()
        if term_lower in text_lower:
            result.append(document)
    return result


def comprehension(term, documents):
    return [d for d in documents if term.lower() in d["content"].lower()]


def filter_and_casefold(term, documents):
    needle = term.casefold()
    return list(filter(lambda document: needle in document["content"].casefold(), documents))


def regular_expression(term, documents):
    pattern = re.compile(re.escape(term), re.IGNORECASE)
    return [document for document in documents if pattern.search(document["content"])]


def counting_with_indexes(term, documents):
    found = []
    i = 0
    while i < len(documents):
        if documents[i]["content"].upper().find(term.upper()) != -1:
            found = found + [documents[i]]
        i += 1
    return found


def parallel_lists(term, documents):
    texts = []
    for document in documents:
        texts.append(document["content"].lower())
    positions = []
    for i in range(len(texts)):
        if texts[i].count(term.lower()) > 0:
            positions.append(i)
    answer = []
    for position in positions:
        answer.append(documents[position])
    return answer


def letter_by_letter(term, documents):
    """Slides a window over the text."""
    wanted = term.lower()
    matches = []
    for document in documents:
        text = document["content"].lower()
        for start in range(len(text) - len(wanted) + 1):
            if text[start : start + len(wanted)] == wanted:
                matches.append(document)
                break
    return matches


def numpy_mask(term, documents):
    texts = np.array([document["content"] for document in documents], dtype=str)
    hits = np.char.find(np.char.lower(texts), term.lower()) >= 0
    return [documents[i] for i in np.flatnonzero(hits)]


def pandas_contains(term, documents):
    contents = pd.Series([document["content"] for document in documents], dtype=object)
    mask = contents.str.lower().str.contains(term.lower(), regex=False)
    return list(itertools.compress(documents, mask))


def generator_inside(term, documents):
    def matches() -> Iterator[dict]:
        needle = term.lower()
        for document in documents:
            if needle in document["content"].lower():
                yield document

    return [*matches()]


def itertools_and_operator(term, documents):
    contents = map(str.lower, map(operator.itemgetter("content"), documents))
    selectors = map(partial(_contains, term.lower()), contents)
    return list(itertools.compress(documents, selectors))


def _contains(needle, text):
    return operator.contains(text, needle)


def reduced(term, documents):
    def step(found, document):
        return [*found, document] if term.lower() in document["content"].lower() else found

    return reduce(step, documents, [])


def recursion(term, documents):
    """Halves the list, so that a long one does not exhaust the stack."""
    if len(documents) == 0:
        return []
    if len(documents) == 1:
        return documents[:] if term.lower() in documents[0]["content"].lower() else []
    middle = len(documents) // 2
    return recursion(term, documents[:middle]) + recursion(term, documents[middle:])


def hinted_and_defensive(term: str, documents: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    if not isinstance(term, str):
        raise TypeError(f"term must be a str, not {type(term).__name__}")
    needle: str = term.casefold()
    found: list[dict[str, Any]] = []
    for document in documents:
        content = document.get("content")
        if not isinstance(content, str):
            continue
        if needle in content.casefold():
            found.append(document)
    return found


def deleting_from_a_copy(term, documents):
    left = documents.copy()
    for i in range(len(left) - 1, -1, -1):
        if term.lower() not in left[i]["content"].lower():
            del left[i]
    return left


def with_try(term, documents):
    out = []
    for doc in documents:
        try:
            doc["content"].lower().index(term.lower())
        except ValueError:
            pass
        else:
            out.append(doc)
    return out


class Finder:
    """An object that is called like a function."""

    def __call__(self, term, documents):
        self.needle = term.lower()
        return [document for document in documents if self._matches(document)]

    def _matches(self, document):
        return self.needle in document["content"].lower()


VARIANTS = {
    "beginner": (beginner,),
    "comprehension": (comprehension,),
    "filter and casefold": (filter_and_casefold,),
    "regular expression": (regular_expression,),
    "while and find": (counting_with_indexes,),
    "parallel lists": (parallel_lists,),
    "letter by letter": (letter_by_letter,),
    "numpy": (numpy_mask,),
    "pandas": (pandas_contains,),
    "generator inside": (generator_inside,),
    "itertools and operator": (itertools_and_operator,),
    "reduce": (reduced,),
    "recursion": (recursion,),
    "type-hinted and defensive": (hinted_and_defensive,),
    "deleting from a copy": (deleting_from_a_copy,),
    "try and index": (with_try,),
    "callable object": (Finder(),),
    "lambda": (lambda term, documents: [d for d in documents if term.lower() in d["content"].lower()],),
}
