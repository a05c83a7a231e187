"""Unit 06: chunks of a given length, an index in Postgres, a snapshot that knows when it is stale.

The probes of the index are the only ones that need a service: they run on ``lab.postgres()``, each in a temporary
table on a connection of its own, so that nothing stays and no two meet. What is expected needs none.
"""

import contextlib
import io
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from ..compare import Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..outcome import Outcome
from ..stubs import StubEmbedder, documents_of, listed
from .drawing import identifier, numbered, shuffled, words

_UNIT = "06_postgres"
# pgvector keeps float32.
_TOLERANCE = 1e-6


def _chunk_answer(chunk_by_characters, text, **settings):
    return chunk_by_characters(text, **settings)


def _chunk_probe(text: str, **settings: int) -> Probe:
    shown = repr(text) if len(text) <= 60 else f"a text of {len(text)} characters"
    call = ", ".join([shown, *(f"{name}={value}" for name, value in settings.items())])
    return Probe({"text": text, **settings}, f"chunk_by_characters({call})")


def _text(random: Random, length: int) -> str:
    """Words and numbers, parted by spaces and line breaks; none of the ends is white space."""
    parts = []
    while sum(map(len, parts)) <= length:
        parts += [random.choice([*words(random, 3), str(random.randrange(10, 1000))]), random.choice("  \n")]
    text = "".join(parts)[:length]
    return text if text == text.strip() else text.strip().ljust(length, ".")


def _draw_side_by_side(random: Random) -> tuple[Probe, ...]:
    first, second = random.randrange(5, 9), random.randrange(9, 14)
    return (
        _chunk_probe(_text(random, 3 * first + random.randrange(2, first)), size=first, overlap=0),
        _chunk_probe(_text(random, 4 * second + random.randrange(2, second)), size=second, overlap=0),
    )


def _with_rest(random: Random, size: int, overlap: int) -> Probe:
    """The last chunk is shorter than the others, and longer than the overlap by two characters at least."""
    step = size - overlap
    length = size + random.randrange(2, 4) * step + random.randrange(2, step)
    return _chunk_probe(_text(random, length), size=size, overlap=overlap)


def _draw_overlaps(random: Random) -> tuple[Probe, ...]:
    return (
        _with_rest(random, random.randrange(9, 13), 3),
        _with_rest(random, random.randrange(12, 16), random.choice([4, 5])),
        _with_rest(random, random.randrange(6, 9), random.choice([1, 2])),
    )


def _draw_ends(random: Random) -> tuple[Probe, ...]:
    """A text that ends with a full chunk, so that what starts next would be the overlap alone."""
    size, overlap = random.randrange(7, 12), random.choice([2, 3])
    full = _text(random, size + random.randrange(2, 5) * (size - overlap))
    other, empty = random.randrange(20, 60), random.randrange(50, 900)
    return (
        _chunk_probe(full, size=size, overlap=overlap),
        _chunk_probe(
            _text(random, other - random.choice([0, 1, 3])), size=other, overlap=random.randrange(5)
        ),
        _chunk_probe("", size=empty, overlap=random.randrange(empty)),
        _chunk_probe(_text(random, random.randrange(1920, 2600))),
    )


CHUNK_BY_CHARACTERS = Exercise(
    id="chunk_by_characters",
    unit=_UNIT,
    title=N_("Chunks of a given length"),
    objects=("chunk_by_characters",),
    answer=_chunk_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("without an overlap: chunks of size characters, side by side"),
            0.5,
            (
                _chunk_probe("The pump in hall 2 leaks.", size=7, overlap=0),
                _chunk_probe("Ticket TX-99402\n\nCheck the seal of the pump.", size=10, overlap=0),
            ),
            _draw_side_by_side,
        ),
        Criterion(
            N_("each chunk begins with the last overlap characters of the one before"),
            1,
            (
                _chunk_probe("The pump in hall 2 leaks.", size=10, overlap=3),
                _chunk_probe("abcdefghijklmnopqrstuvwxyz0123", size=12, overlap=5),
                _chunk_probe("The seal\nof the pump\nis cut.", size=6, overlap=1),
            ),
            _draw_overlaps,
        ),
        Criterion(
            N_("the end of the text, short texts, and what size and overlap are by default"),
            0.5,
            (
                _chunk_probe(
                    "abcdefghijklmnopq", size=8, overlap=3
                ),  # what follows q would be the overlap alone
                _chunk_probe("Short.", size=20, overlap=4),
                _chunk_probe("", size=20, overlap=4),
                _chunk_probe(" ".join(map(str, range(1, 500)))),
            ),
            _draw_ends,
        ),
    ),
    hints=(
        N_("Where does the second chunk start? How far is that from the start of the first?"),
        N_(
            "text[start : start + size] is a chunk; at the end of the text Python gives what is there. The next "
            "chunk starts size - overlap further on. When is the chunk you just cut the last one?"
        ),
        N_(
            "Begin with start = 0. As long as the text has more than overlap characters behind start, or it is the "
            "first chunk: cut text[start : start + size], keep it, and add size - overlap to start. Stop as soon as "
            "start + size reached the end of the text. An empty text gives no chunk."
        ),
        N_(
            "The finished function is chunk_by_characters in solutions/hybrid_search/chunks.py . It also never cuts "
            "a letter off its accent, which yours need not."
        ),
    ),
    misconceptions={
        "overlap_dropped": N_(
            "Your chunks do not overlap: each starts where the one before ended. Start overlap characters earlier."
        ),
        "overlap_doubled": N_(
            "Your overlap is twice as long as asked. Only the start of a chunk moves back, by overlap characters."
        ),
        "overlap_added": N_(
            "Your chunks are longer than size: the overlap comes on top. It is part of the size characters."
        ),
        "last_lost": N_(
            "The end of the text is missing. The last chunk may be shorter than size, and it must be kept."
        ),
        "tail_repeated": N_(
            "Your last chunk holds nothing new: all of it is in the chunk before. Stop as soon as a chunk has "
            "reached the end of the text."
        ),
        "one_character_skipped": N_(
            "The overlap is one character too short. The next chunk starts at start + size - overlap."
        ),
        "one_character_repeated": N_(
            "The overlap is one character too long. text[a:b] ends before b, so no 1 must be subtracted."
        ),
        "overlap_from_the_start": N_(
            "A chunk begins with the first characters of the one before. Take its last ones."
        ),
        "step_is_overlap": N_("You move on by overlap characters. Move on by size - overlap."),
        "last_moved_back": N_(
            "Your last chunk starts earlier, so that it is as long as the others. Its overlap is no longer exact: "
            "let it be shorter."
        ),
        "last_filled_up": N_("You fill up the last chunk with spaces. It is shorter than the others."),
        "words_kept_whole": N_(
            "You cut at spaces only. Here a chunk has exactly size characters, wherever a word ends."
        ),
        "stripped": N_(
            "You strip your chunks. A space or a line break is a character too, and without it the overlap is not "
            "exact."
        ),
        "size_minus_overlap": N_("Your chunks have size - overlap characters. They have size of them."),
        "short_text_lost": N_("A text shorter than size gives no chunk. It is one chunk."),
        "empty_text_kept": N_("An empty text gives a chunk without a character. It gives an empty list."),
        "words_counted": N_("You count words. size and overlap are numbers of characters."),
        "defaults_swapped": N_(
            "Without size and overlap yours are others than 1000 and 100. Put them into the first line: size=1000, "
            "overlap=100."
        ),
        "starts_returned": N_("You return where the chunks start. Return the chunks."),
        "one_text": N_("You return one text. Return a list with one text for each chunk."),
    },
)

# What the embedder of the probes makes of a text: as a document, as a query.
_NOTES = [
    [31, "The pump leaks."],
    [12, "The pump works."],
    [58, "Lunch is at noon."],
    [44, "A seal was cut too short."],
    [25, "Nothing to report."],
]
_QUERY = "Is water coming out?"
_VECTORS = {
    "The pump leaks.": [[8.0, 6.0, 1.0], [-9.0, 2.0, 1.0]],
    "The pump works.": [[1.0, 3.0, 1.0], [9.0, 2.0, -4.0]],
    "Lunch is at noon.": [[-6.0, 8.0, 2.0], [6.0, -8.0, 3.0]],
    "A seal was cut too short.": [[2.0, 1.0, 2.0], [-1.0, 1.0, 5.0]],
    "Nothing to report.": [[-3.0, -1.0, 0.5], [1.0, 7.0, -2.0]],
    _QUERY: [[-8.0, 6.0, 3.0], [5.0, 1.0, 1.0]],
}
_DIMENSIONS = 3


def _index_answer(index_class, notes, vectors, query, k=None):
    """``notes`` are pairs of an id and a text, added one by one; ``vectors`` maps each text to its two vectors."""
    import lab

    embedder = StubEmbedder(
        {text: both[0] for text, both in vectors.items()}, {text: both[1] for text, both in vectors.items()}
    )
    with contextlib.redirect_stdout(io.StringIO()):  # the line that says which server it is
        connection = lab.postgres()
    with connection:
        # Tables are made in the first schema that is named, and this one goes with the connection.
        connection.execute("SET search_path TO pg_temp, public")
        index = index_class(connection, embedder, table="notes", dimensions=_DIMENSIONS)
        for number, text in notes:
            index.add_document({"id": number, "content": text})
        return _with_texts(index.search(query) if k is None else index.search(query, k=k))


def _with_texts(results: Any) -> Any:
    """The same pairs, each document known by its id and its text, so that an old text shows."""
    if not isinstance(results, list | tuple):
        return results
    return [
        [_named(item) for item in pair] if isinstance(pair, list | tuple) else _named(pair)
        for pair in results
    ]


def _named(item: Any) -> Any:
    if isinstance(item, Mapping) and {"id", "content"} <= item.keys():
        return {"id": f"{item['id']}: {item['content']}", "content": item["content"]}
    return item


class _NearestInOrder(Value):
    """Rankings in one order only, as the ids decide between equal distances.

    What is expected comes from VectorIndex, which ranks as an exact search in Postgres does, so that whoever judges
    needs no server.
    """

    heading = N_("rank")

    def expected(self, run: Callable[[Mapping[str, Any]], Outcome], given: Mapping[str, Any]) -> Outcome:
        from hybrid_search import VectorIndex

        index = VectorIndex()
        for number, text in sorted(dict(given["notes"]).items()):
            document = {"id": f"{number}: {text}", "content": text}
            index.add_vector(given["vectors"][text][0], document)
        found = index.search(given["vectors"][given["query"]][1], given.get("k", 1))
        return {"value": [[{"document": document["id"]}, distance] for document, distance in found]}


def _index_probe(notes: list, vectors: dict, query: str, k: int | None = None) -> Probe:
    """The label names the notes in the order in which they are added, and the call."""
    needed = {text: vectors[text] for text in dict.fromkeys([*(text for _, text in notes), query])}
    given = {"notes": notes, "vectors": needed, "query": query}
    call = f'search("{query}")'
    if k is not None:
        given["k"], call = k, f'search("{query}", k={k})'
    added = "\n".join(f"note {number}: {text}" for number, text in notes) or "no notes"
    return Probe(given, f"{call} after these were added:\n{added}")


def _same_place(vectors: dict, texts: list[str], vector: list[float]) -> dict:
    """The vectors, with one and the same for all of these texts as documents."""
    return vectors | {text: [vector, [float(-number) for number in vector]] for text in texts}


_TWINS = ["Ticket closed.", "Closed ticket.", "This ticket is closed."]
_WITH_TWINS = _same_place(_VECTORS, _TWINS, [3.0, 2.0, 1.0])
_QUOTES = [
    [71, "It's the pump of hall 2, isn't it?"],
    [38, "Robert'); DROP TABLE notes; --"],
    [60, '50 % of "all" seals: {0} \\ %s'],
]
_WITH_QUOTES = _VECTORS | {
    _QUOTES[0][1]: [[4.0, 3.0, 2.0], [1.0, 1.0, -1.0]],
    _QUOTES[1][1]: [[1.0, 1.0, 3.0], [2.0, -1.0, 1.0]],
    _QUOTES[2][1]: [[6.0, 2.0, 1.0], [-1.0, 4.0, 1.0]],
}
_NEWER = "The pump was mended."
_WITH_NEWER = _VECTORS | {
    _NEWER: [[6.0, 1.0, 2.0], [-2.0, 1.0, 1.0]],
    "Lunch is late.": [[-5.0, -1.0, -2.0], [1.0, 2.0, 4.0]],
}

_SENTENCES = [
    "The {} leaks.",
    "A new {} came.",
    "Check the {}.",
    "Bring a {} along.",
    "The {} is too short.",
    "No {} yet.",
]
_AWKWARD = [
    "It's the {0}'s {1}, isn't it?",
    "The {0} isn't here. 'Twas the {1}'s.",
    "{0}'); DROP TABLE notes; -- {1}",
    "100 % of each '{0}': %s \\ \"{1}\"",
]


def _vector(random: Random) -> list[float]:
    return [float(random.choice([-1, 1]) * random.randrange(1, 10)) for _ in range(_DIMENSIONS)]


def _cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


def _draw_texts(random: Random, count: int) -> list[str]:
    """Different texts."""
    some = words(random, count)
    return [random.choice(_SENTENCES).format(word) for word in some]


def _draw_vectors(random: Random, texts: list[str], query: str) -> dict[str, list[list[float]]]:
    """Vectors at clearly different distances, some beyond a right angle, and others for the texts as queries."""
    while True:
        vectors = {text: [_vector(random), _vector(random)] for text in [*texts, query]}
        asked = vectors[query][1]
        found = sorted(_cosine(vectors[text][0], asked) for text in texts)
        gaps = [after - before for before, after in zip(found, found[1:], strict=False)]
        if min(gaps, default=1) > 0.02 and found[0] < -0.1 and found[-1] > 0.2:
            return vectors


def _draw_ids(random: Random, count: int) -> list[int]:
    """Different numbers that do not rise, nor fall, from the first to the last."""
    while True:
        ids = random.sample(range(11, 100), count)
        if ids not in (sorted(ids), sorted(ids, reverse=True)):
            return ids


def _draw_notes(random: Random, count: int) -> tuple[list, dict, str]:
    *texts, query = _draw_texts(random, count + 1)
    ids = _draw_ids(random, count) if count > 2 else random.sample(range(11, 100), count)
    pairs = [[number, text] for number, text in zip(ids, texts, strict=True)]
    return pairs, _draw_vectors(random, texts, query), query


def _draw_nearest(random: Random) -> tuple[Probe, ...]:
    return (
        _index_probe(*_draw_notes(random, 5), k=5),
        _index_probe(*_draw_notes(random, 5), k=3),
        _index_probe(*_draw_notes(random, 4), k=2),
        _index_probe(*_draw_notes(random, 4)),
    )


def _draw_twins(random: Random, count: int, k: int) -> Probe:
    """Some at one place. Neither the lowest nor the highest of their ids was added first."""
    nearest = 1.0
    while nearest > 0.9:
        notes, vectors, query = _draw_notes(random, 2)
        nearest = max(_cosine(vectors[text][0], vectors[query][1]) for _, text in notes)
    texts = [f"{text} Again." for text in _draw_texts(random, count)]
    place = _vector(random)
    while _cosine(place, vectors[query][1]) < nearest + 0.02:
        place = _vector(random)
    lowest, middle, *rest = sorted(random.sample([i for i in range(11, 100) if i not in dict(notes)], count))
    ids = [middle, *shuffled(random, [lowest, *rest])]
    twins = [[number, text] for number, text in zip(ids, texts, strict=True)]
    return _index_probe([*notes[:1], *twins, *notes[1:]], _same_place(vectors, texts, place), query, k=k)


def _draw_equal(random: Random) -> tuple[Probe, ...]:
    return (_draw_twins(random, 4, k=random.choice([5, 6])), _draw_twins(random, 3, k=random.choice([1, 2])))


def _draw_replaced(random: Random) -> tuple[Probe, ...]:
    """In the first a note comes near, in the second the nearest goes away, in the third one is added three times."""

    def by_nearness(notes, vectors, query):
        return sorted(notes, key=lambda note: -_cosine(vectors[note[1]][0], vectors[query][1]))

    notes, vectors, query = _draw_notes(random, 5)
    *rest, newer = shuffled(random, notes)
    others, other_vectors, other_query = _draw_notes(random, 5)
    *nearer, farthest = by_nearness(others, other_vectors, other_query)
    third, third_vectors, third_query = _draw_notes(random, 5)
    one, two, three, *more = shuffled(random, third)
    return (
        _index_probe([*rest, [rest[1][0], newer[1]]], vectors, query, k=5),
        _index_probe(
            [*shuffled(random, nearer), [nearer[0][0], farthest[1]]], other_vectors, other_query, k=5
        ),
        _index_probe([*more, one, [one[0], two[1]], [one[0], three[1]]], third_vectors, third_query, k=6),
    )


def _draw_any_text(random: Random) -> tuple[Probe, ...]:
    first, second = random.sample(_AWKWARD, 2)
    probes = []
    for awkward in (first, second):
        notes, vectors, query = _draw_notes(random, 3)
        text = awkward.format(*words(random, 2))
        vectors[text] = vectors.pop(notes[1][1])
        notes[1] = [notes[1][0], text]
        probes.append(_index_probe(notes, vectors, query, k=3))
    *_texts, query = _draw_texts(random, 2)
    return (
        *probes,
        _index_probe(*_draw_notes(random, random.choice([3, 4])), k=random.randrange(10, 90)),
        _index_probe([], {query: [_vector(random), _vector(random)]}, query, k=random.randrange(2, 9)),
    )


PGVECTOR_INDEX = Exercise(
    id="pgvector_index",
    unit=_UNIT,
    title=N_("The vector index in Postgres"),
    objects=("PgVectorIndex",),
    answer=_index_answer,
    compare=_NearestInOrder(_TOLERANCE),
    criteria=(
        Criterion(
            N_("nearest first, with the cosine distance; k of them"),
            1.5,
            (
                _index_probe(_NOTES, _VECTORS, _QUERY, k=5),
                _index_probe(_NOTES, _VECTORS, _QUERY, k=2),
                _index_probe(_NOTES[::-1], _VECTORS, "The pump works.", k=3),
                _index_probe(_NOTES, _VECTORS, "Lunch is at noon."),
            ),
            _draw_nearest,
        ),
        Criterion(
            N_("equal distances: the lower id comes first"),
            0.5,
            (
                _index_probe(
                    [[63, _TWINS[0]], _NOTES[0], _NOTES[3], [77, _TWINS[1]], [19, _TWINS[2]]],
                    _WITH_TWINS,
                    _QUERY,
                    k=5,
                ),
                _index_probe(
                    [[57, _TWINS[2]], [15, _TWINS[0]], _NOTES[1], _NOTES[3], [92, _TWINS[1]]],
                    _WITH_TWINS,
                    _QUERY,
                    k=1,
                ),
            ),
            _draw_equal,
        ),
        Criterion(
            N_("a document whose id is there already replaces the old one"),
            1,
            (
                _index_probe([*_NOTES[:4], [58, _NEWER]], _WITH_NEWER, _QUERY, k=5),
                _index_probe([*_NOTES[:3], [31, "Lunch is late."]], _WITH_NEWER, _QUERY, k=5),
                _index_probe([*_NOTES[1:3], [12, "Lunch is late."], [12, _NEWER]], _WITH_NEWER, _QUERY, k=5),
            ),
            _draw_replaced,
        ),
        Criterion(
            N_("texts with quotes; more asked for than there is; an empty table"),
            1,
            (
                _index_probe([*_NOTES[:2], _QUOTES[0]], _WITH_QUOTES, _QUERY, k=3),
                _index_probe([_QUOTES[1], _NOTES[0], _QUOTES[2]], _WITH_QUOTES, _QUERY, k=3),
                _index_probe(_NOTES[:3], _VECTORS, _QUERY, k=50),
                _index_probe([], _VECTORS, _QUERY, k=3),
            ),
            _draw_any_text,
        ),
    ),
    hints=(
        N_(
            "Two statements of SQL are all you need: one that puts a row in, and one that asks for rows in order. "
            "The examples above the exercise have nearly both."
        ),
        N_(
            "The distance is embedding <=> the query's vector: it can stand in the list of columns, and its name in "
            "ORDER BY. For add_document look at INSERT ... ON CONFLICT (id) DO UPDATE. Every value goes in as %s, "
            "never into the text of the statement."
        ),
        N_(
            "add_document: embed the content as a document. INSERT id, content and embedding; ON CONFLICT (id) set "
            "content and embedding to EXCLUDED.content and EXCLUDED.embedding. search: embed the query as a query. "
            "SELECT id, content and the distance, ORDER BY distance, then id, LIMIT k. Make of each row a pair "
            "(document, distance); the document is a dict with id and content."
        ),
        N_(
            "The finished class is PgVectorIndex in solutions/hybrid_search/postgres.py . It does more; look at its "
            "statements, close it, write your own."
        ),
    ),
    misconceptions={
        "similarity_returned": N_(
            "You return the similarity, 1 - distance. The value of a pair is the distance: lower is closer."
        ),
        "similarity_sorted_upwards": N_(
            "You compute the similarity and sort it upwards, so the worst comes first. Use the distance itself, "
            "embedding <=> %s: lower is closer, and ORDER BY sorts upwards."
        ),
        "farthest_first": N_("DESC puts the farthest first. A distance is sorted upwards: leave out DESC."),
        "euclidean": N_(
            "<-> measures the straight line, which depends on the lengths. The cosine distance is <=>."
        ),
        "inner_product": N_(
            "<#> is the negative inner product, which depends on the lengths. The cosine distance is <=>."
        ),
        "not_sorted": N_(
            "Your rows come as the table has them. A table has no order: ask for one with ORDER BY."
        ),
        "sorted_after_the_limit": N_(
            "LIMIT without ORDER BY takes any k rows, and sorting those comes too late. ORDER BY belongs into the "
            "statement, before LIMIT."
        ),
        "no_order_among_ties": N_(
            "At equal distances your order is by chance: the database may give another tomorrow. Write ORDER BY "
            "distance, id."
        ),
        "ties_from_the_highest_id": N_(
            "At equal distances the highest id comes first. DESC counts for one column only: ORDER BY distance, id."
        ),
        "sorted_by_id": N_("Your rows are sorted by id. Sort by distance first, and then by id."),
        "limit_ignored": N_("You return every row. LIMIT %s with k gives the first k."),
        "one_row": N_("You return one row whatever k is. Use LIMIT %s with k, and fetchall()."),
        "far_ones_left_out": N_(
            "Rows at a distance of 1 and more are missing. Return k rows, however far they are."
        ),
        "second_time_an_error": N_(
            "The second document with an id stops with an error. Tell INSERT what to do then: ON CONFLICT (id) DO "
            "UPDATE SET ..."
        ),
        "old_kept": N_(
            "Of two documents with an id the old one stays. DO NOTHING drops the new one: DO UPDATE SET ..."
        ),
        "embedding_not_updated": N_(
            "The new text stands there with the vector of the old one. Set the embedding as well."
        ),
        "content_not_updated": N_(
            "The new vector stands there with the text of the old one. Set the content as well."
        ),
        "own_numbers": N_("You number the rows yourself. The id is the document's: document['id']."),
        "table_emptied": N_("Only the last document is there. add_document must not empty the table."),
        "values_in_the_text": N_(
            "You write the content into the text of the statement, and a quote in it ends the statement early. "
            "That is how data becomes a command. Write %s, and give the values beside it."
        ),
        "quotes_taken_out": N_(
            "You take the quotes out of the content, so another text is stored. With %s any text can stay as it is."
        ),
        "query_embedded_as_document": N_(
            "You embed the query with embed_documents. Use embed_query: some models embed questions in another way."
        ),
        "document_embedded_as_query": N_(
            "You embed the documents with embed_query. Use embed_documents([content])[0]."
        ),
        "rows_returned": N_(
            "You return rows (id, content, distance). Make pairs of them: (document, distance), the document a dict."
        ),
        "pairs_reversed": N_("Your pairs are (distance, document). They should be (document, distance)."),
        "documents_only": N_(
            "You return documents without their distances. Return pairs (document, distance)."
        ),
        "ids_only": N_("You return ids instead of documents. Return the dict with id and content."),
        "rounded": N_("You round the distances. Return them as they are."),
    },
)

_SPLITS = {
    "tokenize": lambda text: text.lower().split(),
    "tokenize_again": lambda text: text.lower().split(),
    "at spaces": str.split,
    "at commas": lambda text: text.split(","),
    "letters only": lambda text: "".join(c if c.isalpha() else " " for c in text.lower()).split(),
}


def _tokenizer(split: Callable[[str], list[str]], name: str) -> Callable[[str], list[str]]:
    def tokenize(text):
        return split(text)

    tokenize.__name__ = tokenize.__qualname__ = name
    return tokenize


# All but one have the same name, so that a name tells nothing.
_TOKENIZERS = {
    name: _tokenizer(split, "tokenize_again" if name == "tokenize_again" else "tokenize")
    for name, split in _SPLITS.items()
}


class _StubBM25Index:
    """What save_snapshot looks at: an index with its documents and their tokens."""

    def __init__(self, documents: list[dict], tokenize: Callable, k1: float, b: float) -> None:
        self.documents, self.tokenize, self.k1, self.b = documents, tokenize, k1, b
        self.tokens = [tokenize(document["content"]) for document in documents]


def _snapshot_answer(
    save_snapshot,
    load_snapshot,
    notes,
    query,
    tokenizer="tokenize",
    today=None,
    tokenizer_today=None,
    k1=1.5,
    b=0.75,
):
    """What a loaded snapshot finds, and what it finds, or whether it is refused, with other notes or tokens."""
    split, documents = _TOKENIZERS[tokenizer], documents_of(notes)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bm25.json")
        save_snapshot(_StubBM25Index(list(documents.values()), split, k1, b), path)
        answer = {
            "the file": _kind(path),
            "the same": _found(load_snapshot, path, split, list(documents.values()), query),
        }
        if today or tokenizer_today:
            others = documents_of(today or notes)
            split_today = _TOKENIZERS[tokenizer_today or tokenizer]
            answer["changed"] = _found(load_snapshot, path, split_today, list(others.values()), query)
        return answer


def _kind(path: Path) -> str:
    """Is the file JSON, or a line of JSON after the other?"""
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError:
        return "no JSON"
    return "JSON" if _is_json(text) or all(map(_is_json, text.splitlines() or [""])) else "no JSON"


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _found(load_snapshot: Callable, path: Path, tokenize: Callable, documents: list[dict], query: str) -> Any:
    try:
        index = load_snapshot(path, tokenize, documents)
    except Exception as error:
        if "StaleSnapshot" not in [kind.__name__ for kind in type(error).__mro__]:
            raise
        return "StaleSnapshot"
    return index.search(query, k=5) if hasattr(index, "search") else type(index).__name__


_PUMPS = [
    ["Note 1", "Pump pump leak"],
    ["Note 2", "Valve pump"],
    ["Note 3", "seal of the leak"],
    ["Note 4", "canteen closed"],
]
_COMMAS = [["Note 1", "hall 2,pump"], ["Note 2", "hall 3,pump"], ["Note 3", "hall 2,valve,hall 2"]]


def _changed(notes: list, place: int, text: str) -> list:
    return [*notes[:place], [notes[place][0], text], *notes[place + 1 :]]


def _snapshot_probe(notes: list, query: str, change: str = "", **settings) -> Probe:
    """``change`` says what is other today, in a few words."""
    given = {"notes": notes, "query": query, **settings}
    named = [f"{name}={settings[name]}" for name in ("k1", "b") if name in settings]
    split = {"at commas": "that splits at commas", "at spaces": "that splits at spaces"}.get(
        settings.get("tokenizer", ""), "that lowers and splits at spaces"
    )
    label = f"an index of {len(notes)} notes with a tokenizer {split}{''.join(f', {item}' for item in named)}"
    loaded = f", and after {change}" if change else ""
    return Probe(
        given, f'{label} is saved; then it is loaded{loaded}, and asked for "{query}"\n{listed(notes)}'
    )


_CUT_DIFFERENTLY = "the tokenizer has changed"


def _draw_pumps(random: Random, count: int = 4) -> tuple[list, list[str]]:
    """Notes in which some words stand twice, and capitals, and the words."""
    some = words(random, 5)
    texts = [
        f"{some[0].capitalize()}{f' {some[0]}' * random.randrange(1, 5)} {some[1]}",
        f"{some[2]} {some[0]}",
    ]
    texts += [f"{some[3]} of the {some[1]}", f"{some[4]} closed", f"{some[1]} {some[2]} {some[4]}"][
        : count - 2
    ]
    filler = random.sample(some[2:], random.randrange(4))
    texts = [texts[0], *shuffled(random, [*texts[1:-1], " ".join([texts[-1], *filler])])]
    return numbered("Note", texts), some


def _draw_kept(random: Random) -> tuple[Probe, ...]:
    notes, some = _draw_pumps(random)
    others, more = _draw_pumps(random, 5)
    hall, other, (a, b) = random.randrange(2, 50), random.randrange(50, 100), words(random, 2)
    halls = [
        f"hall {hall},{a}",
        f"hall {other},{a}",
        f"hall {hall},{b}" + f",hall {hall}" * random.randrange(1, 5),
    ]
    return (
        _snapshot_probe(notes, f"{some[0]} {some[1]}"),
        _snapshot_probe(
            others,
            f"{more[0]} {more[1]}",
            k1=random.choice([0.3, 0.6, 0.9, 2.0]),
            b=random.choice([0.1, 0.3, 0.5, 0.9]),
        ),
        _snapshot_probe(numbered("Note", shuffled(random, halls)), f"hall {hall},{a}", tokenizer="at commas"),
    )


def _draw_other_notes(random: Random) -> tuple[Probe, ...]:
    probes = []
    for change in ("text", "new", "missing", "label", "order"):
        notes, some = _draw_pumps(random, random.choice([4, 5]))
        place, query = random.randrange(len(notes)), f"{some[0]} {some[1]}"
        label, text = notes[place]
        new = identifier(random)
        told, today = {
            # As long as it was, so that no length tells.
            "text": (
                f"{label} has changed",
                _changed(notes, place, text[:-1] + ("x" if text[-1] != "x" else "y")),
            ),
            "new": (
                f"Note {len(notes) + 1} came in",
                [*notes, [f"Note {len(notes) + 1}", f"{some[1]} {new}"]],
            ),
            "missing": (f"{notes[-1][0]} has gone", notes[:-1]),
            "label": (f"{label} was renamed", [*notes[:place], [new, text], *notes[place + 1 :]]),
            "order": ("the notes come the other way round", notes[::-1]),
        }[change]
        probes.append(_snapshot_probe(notes, query, told, today=today))
    return tuple(probes)


def _draw_other_tokens(random: Random) -> tuple[Probe, ...]:
    """The last tokenizer does the same under another name, so that this snapshot is good."""
    probes = []
    for before, after in (
        ("tokenize", "at spaces"),
        ("at spaces", "at commas"),
        ("tokenize", "tokenize_again"),
    ):
        notes, some = _draw_pumps(random, random.choice([4, 5]))
        change = _CUT_DIFFERENTLY if after != "tokenize_again" else "the tokenizer was given another name"
        settings = {"tokenizer": before, "tokenizer_today": after}
        probes.append(_snapshot_probe(notes, f"{some[0]} {some[1]}", change, **settings))
    return tuple(probes)


SNAPSHOT = Exercise(
    id="snapshot",
    unit=_UNIT,
    title=N_("A snapshot that knows when it is stale"),
    objects=("save_snapshot", "load_snapshot"),
    answer=_snapshot_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("what is loaded searches as what was saved, and the file is JSON"),
            1,
            (
                _snapshot_probe(_PUMPS, "pump leak"),
                _snapshot_probe(_PUMPS, "leak seal pump", k1=0.5, b=0.2),
                _snapshot_probe(_COMMAS, "hall 2,pump", tokenizer="at commas"),
            ),
            _draw_kept,
        ),
        Criterion(
            N_("refused where a document has changed, is new, is missing, or stands in another place"),
            0.5,
            (
                _snapshot_probe(
                    _PUMPS, "pump leak", "Note 2 has changed", today=_changed(_PUMPS, 1, "Valve pumx")
                ),
                _snapshot_probe(
                    _PUMPS, "pump leak", "Note 5 came in", today=[*_PUMPS, ["Note 5", "leak pump"]]
                ),
                _snapshot_probe(_PUMPS, "pump leak", "Note 4 has gone", today=_PUMPS[:3]),
                _snapshot_probe(
                    _PUMPS,
                    "pump leak",
                    "Note 3 was renamed",
                    today=[*_PUMPS[:2], ["Note 9", _PUMPS[2][1]], _PUMPS[3]],
                ),
                _snapshot_probe(
                    _PUMPS, "pump leak", "the notes come the other way round", today=_PUMPS[::-1]
                ),
            ),
            _draw_other_notes,
        ),
        Criterion(
            N_("refused where the tokenizer gives other tokens, whatever its name"),
            0.5,
            (
                _snapshot_probe(_PUMPS, "pump leak", _CUT_DIFFERENTLY, tokenizer_today="at spaces"),
                _snapshot_probe(
                    _PUMPS, "pump leak", _CUT_DIFFERENTLY, tokenizer="at spaces", tokenizer_today="at commas"
                ),
                _snapshot_probe(
                    _PUMPS,
                    "pump leak",
                    "the tokenizer was given another name",
                    tokenizer_today="tokenize_again",
                ),
            ),
            _draw_other_tokens,
        ),
    ),
    hints=(
        N_(
            "What must be the same tomorrow, so that the index you saved is the one you would build then? Make a "
            "text of all of it, and keep its checksum in the file."
        ),
        N_(
            "A fingerprint of documents and tokenizer: hashlib.sha256(json.dumps([documents, list(tokenize(PROBE))])"
            ".encode()).hexdigest(). Write it into the file. When you load, make it anew from what you are given, and "
            "compare."
        ),
        N_(
            "save_snapshot: a dict with the fingerprint of index.documents and index.tokenize, index.tokens, index.k1 "
            "and index.b; json.dumps it into the file. load_snapshot: json.loads the file. If its fingerprint is not "
            "that of the documents and the tokenizer you are given, raise StaleSnapshot. Else make BM25Index(tokenize, "
            "k1, b) and add_tokens for each document with its tokens."
        ),
        N_(
            "The finished functions are in solutions/hybrid_search/snapshots.py . They also say what differs, and "
            "find a file that was cut or edited."
        ),
    ),
    misconceptions={
        "stale_loaded": N_(
            "A stale snapshot is loaded as if it were fresh. Compare the fingerprint of the file with one of the "
            "documents and the tokenizer you are given, and raise StaleSnapshot where they differ."
        ),
        "number_of_documents_only": N_(
            "You notice only how many documents there are. A changed one is as bad as a new one."
        ),
        "ids_only": N_(
            "Your fingerprint holds the ids alone. A document whose text has changed keeps its id."
        ),
        "texts_only": N_(
            "Your fingerprint holds the texts alone. A document with another id is another document."
        ),
        "lengths_only": N_(
            "You compare lengths of texts. A text can change and stay as long as it was: use a checksum of the text."
        ),
        "order_ignored": N_(
            "You take documents in another order for the same. Then tokens meet the wrong documents: leave the order "
            "as it is when you make the fingerprint."
        ),
        "documents_forgotten": N_(
            "Your fingerprint tells tokenizers apart, not documents. Put the documents into it."
        ),
        "tokenizer_forgotten": N_(
            "Another tokenizer is not noticed: the query would be cut in another way than the documents. Put "
            "tokenize(PROBE) into the fingerprint."
        ),
        "tokenizer_by_name": N_(
            "You know the tokenizer by its name. Its code can change under the same name, and the same code can get "
            "another one. Put what it gives for PROBE into the fingerprint."
        ),
        "tokens_of_the_documents_by_length": N_(
            "You compare how many tokens the tokenizer gives. Compare the tokens themselves."
        ),
        "none_returned": N_(
            "Where the snapshot is stale you return None, and the error comes later, far from its cause. Raise "
            "StaleSnapshot."
        ),
        "built_anew_in_silence": N_(
            "Where the snapshot is stale you build the index anew and say nothing. Whoever calls must know: raise "
            "StaleSnapshot."
        ),
        "another_error": N_("You raise another error than StaleSnapshot. Whoever calls waits for that one."),
        "refuses_everything": N_(
            "You refuse a fresh snapshot, too. Both fingerprints must be made in the same way, from the same things."
        ),
        "parameters_forgotten": N_(
            "The loaded index has the usual k1 and b. Save index.k1 and index.b, and give them to BM25Index."
        ),
        "pickled": N_(
            "Your file is a pickle, and loading a pickle runs what its maker wrote into it. Write JSON."
        ),
        "tokens_joined": N_(
            "You save the tokens of a document as one text. A token may hold a space: save lists of tokens."
        ),
        "each_token_once": N_(
            "You save each token of a document once. How often it stands there counts for BM25: save the list."
        ),
        "tokens_lost": N_("The loaded index is empty. Add each document with its tokens: index.add_tokens."),
        "cut_at_spaces": N_(
            "Your loaded index cuts texts at spaces, whatever tokenizer was given. Give tokenize to BM25Index."
        ),
    },
)

EXERCISES = (CHUNK_BY_CHARACTERS, PGVECTOR_INDEX, SNAPSHOT)
