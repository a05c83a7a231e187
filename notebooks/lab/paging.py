"""Documents as pages: a list of texts, in order, the first of which is page 1."""

import re

# About a screenful: three or four paragraphs.
PAGE_CHARACTERS = 1200

# Where a page may end, the best place first: between paragraphs, lines, sentences, words.
_BREAKS = tuple(re.compile(pattern) for pattern in (r"\n[^\S\n]*\n", r"\n", r"(?<=[.!?…])\s", r"\s"))


def pages_from_text(text: str, characters: int = PAGE_CHARACTERS) -> list[str]:
    """The pages of a text: cut at its form feeds; where it has none, after ``characters`` at most.

    A cut by length falls between two paragraphs where it can, else between lines, sentences, words, and inside a
    word only where a page has nothing else. No page is blank, except those that form feeds leave blank, which keep
    the number of the others right. A text without a character gives no page.
    """
    if not text.strip():
        return []
    if "\f" in text:
        pages = [page.strip("\n") for page in text.split("\f")]
        # A form feed at the very end closes the last page and begins none.
        return pages[:-1] if not pages[-1].strip() else pages
    return _cut(text, characters)


def _cut(text: str, characters: int) -> list[str]:
    pages, start = [], 0
    while start < len(text):
        end = start + characters
        if end < len(text):
            end = _last_break(text, start, end)
        if page := text[start:end].strip("\n").rstrip():
            pages.append(page)
        start = end
    return pages


def _last_break(text: str, start: int, end: int) -> int:
    """Where to end a page that begins at ``start`` and must end at ``end``: not before its middle, if it can be."""
    middle = (start + end) // 2
    for pattern in _BREAKS:
        places = [place.end() for place in pattern.finditer(text, middle, end)]
        if places:
            return places[-1]
    return end
