"""Unit 06: cut any text into chunks of a given length that overlap."""

import unicodedata

from .documents import check_count


def chunk_by_characters(text: str, size: int = 1000, overlap: int = 100) -> list[str]:
    """Cut a text into consecutive chunks of at most ``size`` characters.

    Each chunk begins with the last ``overlap`` characters of the one before, so that a sentence on a border stands
    whole in one of the two. Nothing is lost: the first chunk, and of each other one what comes behind the overlap,
    make up the text. No chunk holds only what the one before has; a text of at most ``size`` characters is one chunk,
    an empty one none. Characters are Python's, that is code points.

    No chunk begins or ends between the halves of a surrogate pair or in front of a combining character (category M:
    accents, vowel signs, variation selectors). A chunk ends at the last place, at most ``size`` characters behind its
    start, where both its end and the start of the next one, exactly ``overlap`` characters before it, are not such
    a place. So it may be shorter, and the overlap stays exact. Only where there is no such place the overlap gives
    way: the chunk ends as late as it may, and the next starts at the nearest good place before the last ``overlap``
    characters, or behind it where a chunk from there would get no further. A single character with more marks than
    fit into ``size`` is cut at ``size``, as if it had none.

    Raises ValueError for a size below 1, or an overlap that is negative or not smaller than size; TypeError for
    anything but a str and whole numbers.
    """
    if not isinstance(text, str):
        raise TypeError(f"the text must be a str: got {type(text).__name__}")
    size, overlap = check_count(size, "size"), _check_overlap(overlap, size)
    chunks, start, end = [], 0, 0
    while len(text) - start > size:
        chunk_start = start
        end, start = _cut(text, start, end, size, overlap)
        chunks.append(text[chunk_start:end])
    return [*chunks, text[start:]] if text else []


def _check_overlap(overlap: int, size: int) -> int:
    overlap = check_count(overlap, "overlap", least=0)
    if overlap >= size:
        raise ValueError(
            f"overlap must be smaller than size, or the chunks never come to an end: got {overlap} and {size}"
        )
    return overlap


def _cut(text: str, start: int, reached: int, size: int, overlap: int) -> tuple[int, int]:
    """Where the chunk from ``start`` ends, behind what the one before ``reached``, and where the next one starts."""
    last = start + size
    for end in range(last, max(start + overlap, reached), -1):
        if _good(text, end) and _goes_on(text, end, end - overlap, size):
            return end, end - overlap
    for end in range(last, max(start, reached), -1):
        wanted = end - overlap
        for place in (*range(wanted, start, -1), *range(max(wanted, start) + 1, end + 1)):
            if _good(text, end) and _goes_on(text, end, place, size):
                return end, place
    return last, last - overlap


def _goes_on(text: str, end: int, following: int, size: int) -> bool:
    """May a chunk start at ``following`` and get behind ``end``?"""
    furthest = following + size
    return _good(text, following) and (
        furthest >= len(text) or any(_good(text, place) for place in range(end + 1, furthest + 1))
    )


def _good(text: str, place: int) -> bool:
    """May a chunk begin or end here?"""
    behind = text[place]
    if "\udc00" <= behind <= "\udfff":
        return not "\ud800" <= text[place - 1] <= "\udbff"
    return not unicodedata.category(behind).startswith("M")
