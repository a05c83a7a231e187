"""Cutting a text into chunks of a given length that overlap."""

import unicodedata
from itertools import pairwise

import pytest
from conftest import need

from hybrid_search import chunk_by_characters

try:
    from hypothesis import example, given, settings
    from hypothesis import strategies as st
except ImportError:
    given = None

ACCENT, TWO_HALVES = "\u0301", "\ud83d\ude00"


def test_a_chunk_begins_with_the_end_of_the_one_before():
    assert chunk_by_characters("abcdefghij", size=4, overlap=1) == ["abcd", "defg", "ghij"]
    assert chunk_by_characters("abcdefghij", size=4, overlap=3)[:3] == ["abcd", "bcde", "cdef"]


def test_without_an_overlap_the_chunks_lie_side_by_side():
    assert chunk_by_characters("abcdefghij", size=4, overlap=0) == ["abcd", "efgh", "ij"]


def test_no_chunk_holds_only_what_the_one_before_has():
    assert chunk_by_characters("abcdefg", size=4, overlap=1) == ["abcd", "defg"]
    assert chunk_by_characters("abcdefgh", size=4, overlap=1) == ["abcd", "defg", "gh"]


def test_a_short_text_is_one_chunk_and_an_empty_one_none():
    assert chunk_by_characters("abcd", size=4, overlap=1) == ["abcd"]
    assert chunk_by_characters("a") == ["a"]
    assert chunk_by_characters("") == []


def test_by_default_a_chunk_has_1000_characters_of_which_100_overlap():
    text = "".join(chr(0x4E00 + i) for i in range(2000))
    chunks = chunk_by_characters(text)
    assert [len(chunk) for chunk in chunks] == [1000, 1000, 200]
    assert [text.index(chunk) for chunk in chunks] == [0, 900, 1800]


def test_a_line_break_is_a_character_like_any_other():
    assert chunk_by_characters("ab\r\n\x00\t cd", size=5, overlap=0) == ["ab\r\n\x00", "\t cd"]


def test_a_chunk_ends_in_front_of_a_letter_whose_accent_it_cannot_take():
    assert chunk_by_characters(f"abce{ACCENT}fgh", size=4, overlap=0) == ["abc", f"e{ACCENT}fg", "h"]


def test_a_chunk_ends_earlier_where_the_overlap_would_begin_with_an_accent():
    assert chunk_by_characters(f"abe{ACCENT}dfgh", size=5, overlap=2) == [
        f"abe{ACCENT}",
        f"e{ACCENT}dfg",
        "fgh",
    ]


def test_the_halves_of_a_surrogate_pair_stay_together():
    assert chunk_by_characters(f"abc{TWO_HALVES}d", size=4, overlap=0) == ["abc", f"{TWO_HALVES}d"]
    assert chunk_by_characters("abc\ude00\ude00d", size=4, overlap=0) == ["abc\ude00", "\ude00d"]


def test_where_no_place_is_good_for_both_the_overlap_takes_in_the_letter_of_its_first_accent():
    text = f"e{ACCENT}" * 6
    assert chunk_by_characters(text, size=6, overlap=1) == [
        f"e{ACCENT}" * 3,
        f"e{ACCENT}" * 3,
        f"e{ACCENT}" * 2,
    ]


def test_a_character_with_more_marks_than_fit_is_cut_at_size():
    chunks = chunk_by_characters("a" + ACCENT * 9, size=4, overlap=1)
    assert [len(chunk) for chunk in chunks] == [4, 4, 4]


@pytest.mark.parametrize(
    ("size", "overlap", "error", "message"),
    [
        (0, 0, ValueError, "size must be at least 1: got 0"),
        (-3, 0, ValueError, "size must be at least 1: got -3"),
        (10, -1, ValueError, "overlap must be at least 0: got -1"),
        (10, 10, ValueError, "overlap must be smaller than size"),
        (10, 11, ValueError, "overlap must be smaller than size"),
        (10.5, 1, TypeError, "size must be a whole number"),
        (10, "1", TypeError, "overlap must be a whole number"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(size, overlap, error, message):
    with pytest.raises(error, match=message):
        chunk_by_characters("a text", size, overlap)


@pytest.mark.parametrize("text", [None, b"text", ["text"], 5])
def test_anything_but_text_is_refused(text):
    with pytest.raises(TypeError, match=f"the text must be a str: got {type(text).__name__}"):
        chunk_by_characters(text)


def is_good(text: str, place: int) -> bool:
    """The rule once more, in other words."""
    if place in (0, len(text)):
        return True
    if unicodedata.category(text[place]) in ("Mn", "Mc", "Me"):
        return False
    return not (0xD800 <= ord(text[place - 1]) < 0xDC00 and 0xDC00 <= ord(text[place]) < 0xE000)


def bounds(text: str, chunks: list[str]) -> list[tuple[int, int]]:
    """Where each chunk stands, found by walking: each starts behind the start of the one before."""
    found, start = [], -1
    for chunk in chunks:
        start = text.index(chunk, start + 1)
        found.append((start, start + len(chunk)))
    return found


if given:
    # No character comes twice, so that a chunk stands in one place only: letters, accents, halves of pairs.
    KINDS = {"letter": 0x4E00, "accent": 0x0300, "first half": 0xD800, "second half": 0xDC00}
    kinds = st.sampled_from(["letter", "letter", "letter", "accent", "accent", "first half", "second half"])
    texts = st.lists(kinds, max_size=60).map(
        lambda drawn: "".join(chr(KINDS[kind] + i) for i, kind in enumerate(drawn))
    )
    sizes = st.integers(1, 20).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))

    @settings(max_examples=500, deadline=None)
    @given(st.text(max_size=80), sizes)
    @example("", (1, 0))
    def test_any_text_is_covered_by_chunks_that_are_not_too_long(text, sizes):
        size, overlap = sizes
        chunks = chunk_by_characters(text, size, overlap)
        assert all(1 <= len(chunk) <= size for chunk in chunks)
        assert bool(chunks) == bool(text)
        assert "".join(chunk[:1] for chunk in chunks[:1]) == text[:1]

    @settings(max_examples=500, deadline=None)
    @given(st.text(st.characters(exclude_categories=["M", "Cs"]), max_size=80), sizes)
    def test_in_text_without_marks_the_overlap_is_exact_and_nothing_is_lost(text, sizes):
        size, overlap = sizes
        chunks = chunk_by_characters(text, size, overlap)
        assert all(len(chunk) == size for chunk in chunks[:-1])
        for before, after in pairwise(chunks):
            assert before[len(before) - overlap :] == after[:overlap]
            assert len(after) > overlap
        assert text == "".join(chunk[overlap * bool(i) :] for i, chunk in enumerate(chunks))

    @settings(max_examples=1000, deadline=None)
    @given(texts, sizes)
    def test_no_letter_is_parted_from_its_accents_unless_they_are_more_than_size(text, sizes):
        size, overlap = sizes
        places = bounds(text, chunk_by_characters(text, size, overlap))
        assert [start for start, _ in places[:1]] == [0] * bool(text)
        assert [end for _, end in places[-1:]] == [len(text)] * bool(text)
        assert all(a < c <= b < d for (a, b), (c, d) in pairwise(places))
        good = [place for place in range(len(text) + 1) if is_good(text, place)]
        if all(after - before <= size for before, after in pairwise(good)):
            assert all(start in good and end in good for start, end in places)

    @settings(max_examples=1000, deadline=None)
    @given(texts, sizes)
    def test_the_overlap_is_exact_wherever_it_can_be_and_a_chunk_as_long_as_that_allows(text, sizes):
        size, overlap = sizes
        places = bounds(text, chunk_by_characters(text, size, overlap))
        good = {place for place in range(len(text) + 1) if is_good(text, place)}
        reached = 0
        for (start, end), (following, _) in pairwise(places):
            exact = [
                place
                for place in range(max(start + overlap, reached) + 1, start + size + 1)
                if {place, place - overlap} <= good
                and any(further in good for further in range(place + 1, place - overlap + size + 1))
            ]
            if exact:
                assert (end, following) == (exact[-1], exact[-1] - overlap)
            reached = end

else:

    def test_any_text_is_covered_by_chunks_that_are_not_too_long():
        need(given, "hypothesis")
