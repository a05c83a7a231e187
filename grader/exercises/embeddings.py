"""Unit 01: cut a text into sections, measure the distance of two vectors, search by vector."""

from random import Random

from ..compare import Ranking, Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..stubs import StubEmbedder, make_documents
from .drawing import numbered, shuffled, words

# Learners compute in float64, the finished index keeps float32.
_TOLERANCE = 1e-6


def _chunk_answer(chunk_by_section, text):
    chunks = chunk_by_section(text)
    if not isinstance(chunks, list | tuple):
        return chunks
    # White space at the ends of a chunk makes no difference to a search.
    return [chunk.strip() if isinstance(chunk, str) else chunk for chunk in chunks]


def _chunk_probe(text: str) -> Probe:
    return Probe({"text": text}, f"chunk_by_section({text!r})")


_SENTENCES = ["The {} is new.", "Bring a {}.", "Check the {} twice.", "Every {} counts.", "No {} is left."]


def _sentence(random: Random) -> str:
    return random.choice(_SENTENCES).format(*words(random, 1))


def _headings(random: Random, count: int) -> list[str]:
    return [word.capitalize() for word in words(random, count)]


def _draw_sections(random: Random) -> tuple[Probe, ...]:
    title, *headings = _headings(random, random.choice([4, 5]))
    apart = [f"## {heading}\n\n{_sentence(random)}" for heading in headings]
    close = [f"## {heading}\n{_sentence(random)}" for heading in _headings(random, random.choice([2, 3]))]
    other_title, first, last = _headings(random, 3)
    one, two, three, four = (_sentence(random) for _ in range(4))
    long = f"# {other_title}\n\n## {first}\n\n{one}\n{two}\n\n{three}\n\n## {last}\n\n{four}"
    return (
        _chunk_probe("\n\n".join([f"# {title}", *apart])),
        _chunk_probe("\n".join(close)),
        _chunk_probe(long),
    )


def _draw_marks(random: Random) -> tuple[Probe, ...]:
    title, first, below, last, second, third = _headings(random, 6)
    one, two, three = (_sentence(random) for _ in range(3))
    word, number = words(random, 1)[0], random.randrange(1, 100)
    return (
        _chunk_probe(f"# {title}\n\n## {first}\n\n{one}\n\n### {below}\n\n{two}\n\n## {last}\n\n{three}"),
        _chunk_probe(
            f"# {title}\n\n## {second}\n\nWrite ## before {word}.\n\n## {third}\n\nSee #{number} for more."
        ),
    )


def _draw_edges(random: Random) -> tuple[Probe, ...]:
    title, heading, other_title, empty, last = _headings(random, 5)
    one, two, three = (_sentence(random) for _ in range(3))
    return (
        _chunk_probe(f"# {title}\n\n{one}\n\n## {heading}\n\n{two}"),
        _chunk_probe(f"{_sentence(random)} {_sentence(random)}"),
        _chunk_probe(f"# {other_title}\n\n## {empty}\n\n## {last}\n\n{three}"),
    )


CHUNK_BY_SECTION = Exercise(
    id="chunk_by_section",
    unit="01_embeddings",
    title=N_("Cut a text into sections"),
    objects=("chunk_by_section",),
    answer=_chunk_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("one chunk a section: the heading, a blank line, the body"),
            1,
            (
                _chunk_probe(
                    "# Zoo\n\n## Cats\n\nThey purr.\n\n## Dogs\n\nThey bark.\n\n## Owls\n\nThey hoot."
                ),
                _chunk_probe("## Rain\nIt is wet.\n## Snow\nIt is cold."),
                _chunk_probe(
                    "# Tea\n\n## Green\n\nSteep it.\nTwo minutes.\n\nDrink.\n\n## Black\n\nBoil it."
                ),
            ),
            _draw_sections,
        ),
        Criterion(
            N_('only a line that begins with "## " starts a section'),
            0.5,
            (
                _chunk_probe("# Git\n\n## Start\n\nInstall it.\n\n### Windows\n\nRun it.\n\n## End\n\nDone."),
                _chunk_probe("# Marks\n\n## Rule\n\nWrite ## at the start.\n\n## Hash\n\nUse #1 or #2."),
            ),
            _draw_marks,
        ),
        Criterion(
            N_("text before the first heading, and a section without a body"),
            0.5,
            (
                _chunk_probe("# Menu\n\nOpen at noon.\n\n## Soup\n\nHot."),
                _chunk_probe("No heading here."),
                _chunk_probe("# Plan\n\n## Today\n\n## Tomorrow\n\nRest."),
            ),
            _draw_edges,
        ),
    ),
    hints=(
        N_("How does a line begin that starts a section?"),
        N_(
            'A section begins where a line begins with "## ". Either go through text.split("\\n") line by line, '
            'or put a line break in front of the text and split it at "\\n## ".'
        ),
        N_(
            'Split "\\n" + text at "\\n## ". The first part is the text before the first heading: keep it, unless '
            'it is empty or a single line that begins with "# ". Split each other part at its first line '
            "break: the heading, and the rest. Strip both. Join them with a blank line, or keep the heading "
            "alone where the rest is empty."
        ),
        N_(
            "The finished function is chunk_by_section in solutions/hybrid_search/embeddings.py. It also knows "
            "about code blocks, which yours need not."
        ),
    ),
    misconceptions={
        "heading_dropped": N_(
            "Your chunks have no headings. A heading says what its section is about: keep it as the first line."
        ),
        "marks_kept": N_('Your headings still begin with "## ". Keep the words, leave out the marks.'),
        "headings_only": N_(
            "Your chunks are the headings alone. The body of the section belongs to its chunk."
        ),
        "split_anywhere": N_(
            'You split wherever "## " stands, so also inside a line and inside "### ". '
            "Only the start of a line counts."
        ),
        "every_level": N_(
            'You cut at headings of every level. A line that begins with "### " belongs to the section it is in.'
        ),
        "start_lost": N_("The text before the first heading is lost. It is a chunk of its own."),
        "title_kept": N_("The title of the text alone is no chunk: it says nothing that could be found."),
        "title_cut_off": N_(
            "The text before the first heading has lost its title. Where there is more than the title, keep all."
        ),
        "last_lost": N_(
            "The last section is missing. A loop that stores a section when the next heading comes never stores "
            "the last one: store it after the loop."
        ),
        "empty_section_lost": N_(
            "A section without a body is missing. It is a chunk too: its heading alone."
        ),
        "spacing_as_found": N_(
            "Where the text has no blank line below a heading, your chunk has none. Put the blank line there "
            'yourself: heading + "\\n\\n" + body.'
        ),
        "two_blank_lines": N_(
            "There are two blank lines below your heading: the text has one already. Strip the body before you "
            "join."
        ),
        "two_blank_lines_and_title_kept": N_(
            "Two things: the title of the text alone is no chunk; and there are two blank lines below your "
            "headings, because the text has one already. Strip the body before you join."
        ),
        "marks_and_title_kept": N_(
            'Two things: the title of the text alone is no chunk, and your headings still begin with "## ".'
        ),
        "no_blank_line": N_(
            'Between heading and body there is one line break. Put a blank line there: "\\n\\n".'
        ),
        "blank_lines_lost": N_(
            "The blank lines inside a body are gone, and with them its paragraphs. Keep the body as it is."
        ),
        "lines_joined": N_(
            "The lines of a body have become one line. Keep its line breaks: join lines with a line break."
        ),
        "first_paragraph_only": N_("Only the first paragraph of a body is in your chunk. Keep all of it."),
        "every_paragraph": N_(
            "You cut at every blank line, so each paragraph became a chunk. Cut only at headings."
        ),
        "pairs_returned": N_(
            "You return pairs (heading, body). A chunk is one text: the heading, a blank line, the body."
        ),
        "last_first": N_("Your chunks begin with the last section. Keep the order of the text."),
    },
)


def _distance_answer(cosine_distance, a, b):
    import numpy as np

    return cosine_distance(np.array(a, dtype=float), np.array(b, dtype=float))


def _distance_probe(a: list, b: list) -> Probe:
    return Probe({"a": a, "b": b}, f"cosine_distance(np.array({a}), np.array({b}))")


# Of length 1, whatever the order and the signs of their numbers, and written with few digits.
_OF_LENGTH_1 = {
    2: [[0.28, 0.96], [0.352, 0.936], [0.5376, 0.8432]],
    4: [[0.1, 0.1, 0.7, 0.7], [0.1, 0.3, 0.3, 0.9], [0.1, 0.5, 0.5, 0.7], [0.2, 0.4, 0.4, 0.8]],
}


def _of_length_1(random: Random, size: int) -> list[float]:
    numbers = shuffled(random, random.choice(_OF_LENGTH_1[size]))
    return [random.choice([-1, 1]) * number for number in numbers]


def _vector(random: Random, size: int, signs: tuple = (-1, 1)) -> list[float]:
    """Whole numbers without a zero, so that it has a direction."""
    return [float(random.choice(signs) * random.randrange(1, 10)) for _ in range(size)]


def _draw_angles(random: Random) -> tuple[Probe, ...]:
    same, turned, opposite = (_of_length_1(random, random.choice([2, 4])) for _ in range(3))
    pairs = zip(turned[0::2], turned[1::2], strict=True)
    return (
        _distance_probe(same, same),
        _distance_probe(turned, [number for x, y in pairs for number in (-y, x)]),
        _distance_probe(opposite, [-number for number in opposite]),
        _distance_probe(_of_length_1(random, 4), _of_length_1(random, 4)),
    )


def _draw_lengths(random: Random) -> tuple[Probe, ...]:
    times, vector = random.randrange(2, 6), _vector(random, random.choice([2, 3]))
    return (
        _distance_probe(_vector(random, 3), _vector(random, 3)),
        _distance_probe(vector, [times * number for number in vector]),
        _distance_probe(_vector(random, 2, signs=(1,)), _vector(random, 2, signs=(-1,))),
        _distance_probe(_vector(random, 4), _vector(random, 4)),
    )


COSINE_DISTANCE = Exercise(
    id="cosine_distance",
    unit="01_embeddings",
    title=N_("The distance of two vectors"),
    objects=("cosine_distance",),
    answer=_distance_answer,
    compare=Value(_TOLERANCE),
    criteria=(
        Criterion(
            N_("0 for the same direction, 1 at a right angle, 2 for the opposite one"),
            1,
            (
                _distance_probe([1.0, 0.0], [1.0, 0.0]),
                _distance_probe([1.0, 0.0], [0.0, 1.0]),
                _distance_probe([0.6, 0.8], [-0.6, -0.8]),
                _distance_probe([0.6, 0.8], [0.8, 0.6]),
            ),
            _draw_angles,
        ),
        Criterion(
            N_("the direction counts, the length does not"),
            1,
            (
                _distance_probe([3.0, 4.0], [4.0, 3.0]),
                _distance_probe([2.0, 0.0], [7.0, 0.0]),
                _distance_probe([1.0, 0.0], [-5.0, 12.0]),
                _distance_probe([1.0, 2.0, 2.0], [4.0, 0.0, 3.0]),
            ),
            _draw_lengths,
        ),
    ),
    hints=(
        N_("The cosine needs three numbers: the dot product of a and b, and the length of each."),
        N_("numpy has all three: a @ b is the dot product, np.linalg.norm(a) is the length of a."),
        N_(
            "cosine = (dot product of a and b) / ((length of a) * (length of b)). Mind the brackets. "
            "Return 1 - cosine."
        ),
        N_(
            "The finished function is cosine_distance in solutions/hybrid_search/embeddings.py. It also refuses "
            "vectors that have no direction, which yours need not."
        ),
    ),
    misconceptions={
        "similarity": N_(
            "You return the cosine. It is 1 for the same direction; a distance is 0 there. Return 1 - cosine."
        ),
        "sign": N_("You return cosine - 1. Turn it round: 1 - cosine."),
        "dot_product": N_(
            "You return the dot product. It grows with the lengths. Divide by both, then take 1 - it."
        ),
        "not_normalised": N_(
            "You return 1 - dot product. That is right for vectors of length 1 only: divide the dot product by "
            "the two lengths first."
        ),
        "one_normalised": N_("You divide by the length of one vector. Divide by both lengths."),
        "euclidean": N_(
            "You measure the straight line between the two points. It grows with the lengths. The cosine looks "
            "at the angle alone."
        ),
        "absolute": N_(
            "You drop the sign of the cosine. A negative cosine means more than a right angle, and a distance "
            "above 1."
        ),
        "angle": N_("You return the angle itself. Its cosine is what is needed, without arccos: 1 - cosine."),
        "angle_in_degrees": N_("You return the angle in degrees. Leave out arccos and return 1 - cosine."),
        "squared_lengths": N_(
            "You divide by the squared lengths: a @ a is the length times itself. Use np.linalg.norm(a)."
        ),
        "precedence": N_("x / p * q divides by p and then multiplies by q. Write x / (p * q) with brackets."),
        "lengths_added": N_("You divide by the sum of the two lengths. Divide by their product."),
        "number_of_values": N_(
            "len(a) is how many numbers a has, not how long the arrow is. Use np.linalg.norm(a)."
        ),
        "halved": N_("You halve the distance, so that it ends at 1. Here it ends at 2: return 1 - cosine."),
        "not_summed": N_(
            "a * b multiplies number by number and gives a vector. The dot product adds these up: a @ b."
        ),
    },
)

_CORNERS = [["a", [1.0, 0.0]], ["b", [10.0, 1.0]], ["c", [0.0, 1.0]]]
_AROUND = [["west", [-3.0, 0.0]], ["north", [0.0, 2.0]], ["north-east", [4.0, 4.0]], ["south", [0.0, -1.0]]]
# The middle one is near the query by length, not by direction.
_LENGTHS = [["long", [60.0, 80.0]], ["near", [0.5, 0.1]], ["short", [0.03, 0.01]]]
_TWINS = [["twin 1", [3.0, 4.0]], ["twin 2", [3.0, 4.0]], ["other", [5.0, 0.0]]]

_PUMPS = [["Note 1", "The pump leaks."], ["Note 2", "The pump works."], ["Note 3", "Lunch is at noon."]]
_QUERY = "Is water coming out?"
_AS_DOCUMENTS = {
    "The pump leaks.": [0.8, 0.6],
    "The pump works.": [0.28, 0.96],
    "Lunch is at noon.": [-0.6, 0.8],
    _QUERY: [-0.8, 0.6],
}
_AS_QUERIES = {
    "The pump leaks.": [-0.96, 0.28],
    "The pump works.": [0.96, 0.28],
    "Lunch is at noon.": [0.6, -0.8],
    _QUERY: [1.0, 0.0],
}


class _Embedder(StubEmbedder):
    """Raises another error for each kind of wrong input, so that the feedback can tell them apart."""

    def embed_documents(self, texts):
        for text in [] if isinstance(texts, str) else texts:
            _must_know(text, self.document_vectors)
        return super().embed_documents(texts)

    def embed_query(self, text):
        if hasattr(text, "shape"):
            raise TypeError("embed_query needs a text, and got a vector")
        _must_know(text, self.query_vectors)
        return super().embed_query(text)


def _must_know(text: object, vectors: dict[str, list[float]]) -> None:
    if not isinstance(text, str) or text not in vectors:
        raise LookupError(f"the embedder got neither a document's content nor the query, but {text!r}")


# A learner's index measures with the learner's own cosine_distance, which may be wrong in these ways.
_WRONG_DISTANCES = (
    "similarity",
    "sign",
    "raw_dot_product",
    "absolute",
    "angle",
    "angle_in_degrees",
    "squared_lengths",
    "precedence",
    "lengths_added",
    "number_of_values",
    "halved",
    "not_summed",
)


def _index_answer(index_class, entries, query, k=None, embedded=None):
    """``entries`` are pairs of a label and a vector to add, or a text for the embedder.

    ``embedded`` maps each text to its vector as a document and its vector as a query.
    """
    import numpy as np

    as_documents, as_queries = _AS_DOCUMENTS, _AS_QUERIES
    if embedded:
        as_documents = {text: vectors[0] for text, vectors in embedded.items()}
        as_queries = {text: vectors[1] for text, vectors in embedded.items()}

    texts = {label: given for label, given in entries if isinstance(given, str)}
    documents = make_documents([label for label, _ in entries], texts)
    needs_embedder = texts or isinstance(query, str)
    index = index_class(_Embedder(as_documents, as_queries)) if needs_embedder else index_class()
    for label, given in entries:
        if isinstance(given, str):
            index.add_document(documents[label])
        else:
            index.add_vector(np.array(given), documents[label])
    asked = query if isinstance(query, str) else np.array(query)
    return index.search(asked) if k is None else index.search(asked, k=k)


def _index_probe(
    entries: list, query: list | str, k: int | None = None, embedded: dict | None = None
) -> Probe:
    """The label names what is in the index, and the call."""
    shown = ", ".join(f"{label} {_arrow(given)}" for label, given in entries) or "nothing"
    asked = f'"{query}"' if isinstance(query, str) else _arrow(query)
    given = {"entries": entries, "query": query}
    if embedded:
        given["embedded"] = embedded
    if k is None:
        return Probe(given, f"index of {shown}; search({asked})")
    return Probe({**given, "k": k}, f"index of {shown}; search({asked}, k={k})")


def _arrow(given: list | str) -> str:
    return (
        f'"{given}"' if isinstance(given, str) else "(" + ", ".join(f"{number:g}" for number in given) + ")"
    )


def _entries(random: Random, count: int, size: int = 2) -> list[list]:
    return [[label, _vector(random, size)] for label in words(random, count)]


def _axis(random: Random) -> list[float]:
    return shuffled(random, [random.choice([-1.0, 1.0]), 0.0])


def _entries_around(random: Random, count: int, axis: list[float], near: bool) -> list[list]:
    """Entries, two of them at the same distance, left and right of an axis, or of its opposite if not ``near``."""
    entries = _entries(random, count)
    along, across = random.randrange(6, 10), random.randrange(1, 4)
    for entry, side in zip(entries, (across, -across), strict=False):
        entry[1] = [number * along if near else -number * along for number in axis]
        entry[1][axis.index(0)] = float(side)
    return shuffled(random, entries)


def _draw_nearest(random: Random) -> tuple[Probe, ...]:
    few, some, solid, twins = (_entries(random, n, size) for n, size in ((3, 2), (4, 2), (4, 3), (3, 2)))
    twins[1][1] = twins[0][1]
    return (
        _index_probe(few, _vector(random, 2), 3),
        _index_probe(some, _vector(random, 2), 4),
        _index_probe(solid, _vector(random, 3), 4),
        _index_probe(shuffled(random, twins), _vector(random, 2), 3),
    )


def _draw_counts(random: Random) -> tuple[Probe, ...]:
    count, axis = random.choice([3, 4]), _axis(random)
    return (
        _index_probe(_entries(random, 4), _of_length_1(random, 2)),
        _index_probe(_entries_around(random, 5, axis, near=False), axis, random.choice([2, 3])),
        _index_probe(_entries(random, count), _of_length_1(random, 2), count + random.randrange(2, 10)),
        _index_probe([], _vector(random, 2), random.randrange(1, 10)),
    )


_TEXTS = ["The {} is broken.", "The {} works well.", "We have a new {}.", "Somebody took the {}."]
_QUESTIONS = ["Where is the {}?", "Is there a {}?", "Who needs a {}?", "What does a {} cost?"]


def _draw_texts(random: Random) -> tuple[Probe, ...]:
    about, *nouns, label = words(random, 5)
    query = random.choice(_QUESTIONS).format(about)
    texts = [text.format(noun) for text, noun in zip(random.sample(_TEXTS, 3), nouns, strict=True)]
    notes = numbered("Note", texts)
    directions = [
        [x * sign, y * other_sign]
        for x, y in [*_OF_LENGTH_1[2], *([y, x] for x, y in _OF_LENGTH_1[2])]
        for sign in (1, -1)
        for other_sign in (1, -1)
    ]
    vectors, axis = random.sample(directions, 7), _axis(random)
    embedded = {query: [vectors.pop(), axis], **{text: [vectors.pop(), vectors.pop()] for text in texts}}
    return (
        _index_probe(notes, query, 3, embedded),
        _index_probe(notes, _of_length_1(random, 2), 3, embedded),
        _index_probe(_entries_around(random, 5, axis, near=True), query, 4, embedded),
        _index_probe([notes[0], [label, _vector(random, 2)], notes[2]], _of_length_1(random, 2), 3, embedded),
    )


_TAKE_THE_FIRST = N_(
    "embed_documents gives one vector for each text, so for one text a list with one vector. Take its first: "
    "embed_documents([text])[0]."
)
_VECTOR_EMBEDDED = N_(
    "You embed the query even where it is a vector already. Embed it only if isinstance(query_or_vector, str)."
)

VECTOR_INDEX = Exercise(
    id="vector_index",
    unit="01_embeddings",
    title=N_("The vector index"),
    objects=("VectorIndex",),
    answer=_index_answer,
    compare=Ranking(_TOLERANCE),
    criteria=(
        Criterion(
            N_("add_vector, then search with a vector: nearest first, with distances"),
            2,
            (
                _index_probe(_CORNERS, [1.0, 0.0], 3),
                _index_probe(_AROUND, [2.0, 1.0], 4),
                _index_probe(_LENGTHS, [2.0, 0.5], 3),
                _index_probe(_TWINS, [0.0, 2.0], 3),
            ),
            _draw_nearest,
        ),
        Criterion(
            N_("k results at most: one by default, all there are, none in an empty index"),
            1,
            (
                _index_probe(_AROUND, [0.0, 1.0]),
                _index_probe(_AROUND, [1.0, 0.0], 2),
                _index_probe(_CORNERS, [0.0, 1.0], 10),
                _index_probe([], [1.0, 0.0], 3),
            ),
            _draw_counts,
        ),
        Criterion(
            N_("add_document and a query as text, both through the embedder"),
            1,
            (
                _index_probe(_PUMPS, _QUERY, 3),
                _index_probe(_PUMPS, [0.0, 1.0], 3),
                _index_probe(_AROUND, _QUERY, 3),
                _index_probe([_PUMPS[0], ["a vector", [0.0, -3.0]], _PUMPS[2]], [0.0, -1.0], 3),
            ),
            _draw_texts,
        ),
    ),
    hints=(
        N_("What must the index remember of each document, so that it can measure a distance later?"),
        N_(
            "Keep a list of pairs (vector, document) in the object, made in __init__. add_document only has to "
            "find the vector and can leave the rest to add_vector. isinstance(x, str) says whether x is text."
        ),
        N_(
            "add_document: embed a list that holds the document's text alone, take the one vector that comes "
            "back, and let add_vector keep it. search: a query that is text is embedded first. Then make a pair "
            "(document, distance) for each entry, sort the pairs by their distance with key=..., and return "
            "the first k."
        ),
        N_(
            "The finished class is VectorIndex in solutions/hybrid_search/embeddings.py. It does more than yours "
            "must: it refuses vectors without a direction, and it is fast with many documents."
        ),
    ),
    misconceptions={
        "similarity_returned": N_(
            "The order is right, but the numbers are cosines: they fall from the best result on. Return "
            "distances, 1 - cosine."
        ),
        "farthest_first": N_(
            "Your list begins with the farthest document. The smallest distance comes first."
        ),
        "dot_product": N_(
            "You use the dot product without the lengths, so a long vector wins. Divide by both lengths: use "
            "cosine_distance."
        ),
        "dot_product_returned": N_(
            "You return dot products, the highest first. Long vectors win that way. Use cosine_distance."
        ),
        "euclidean": N_(
            "You measure the straight line between the points. Use cosine_distance, which looks at directions."
        ),
        "query_normalised_only": N_(
            "You bring the query to length 1, but not the vectors in the index. Both need it: cosine_distance "
            "does both."
        ),
        "documents_normalised_only": N_(
            "You bring the vectors in the index to length 1, but not the query. Both need it: cosine_distance "
            "does both."
        ),
        "documents_only": N_("You return documents without distances. Return pairs (document, distance)."),
        "pairs_reversed": N_("Your pairs are (distance, document). They should be (document, distance)."),
        "vectors_returned": N_("Your pairs hold the vector. They should be (document, distance)."),
        "k_ignored": N_("You return every document. Return the first k."),
        "one_result": N_("You return one document whatever k says. Return the first k."),
        "pair_without_list": N_(
            "For k = 1 you return a bare pair. Return a list always, here with one pair in it."
        ),
        "first_pair_returned": N_(
            "You return the first pair alone. Return a list of pairs, also where there is one pair in it: [:k], "
            "without [0]."
        ),
        "not_sorted": N_(
            "Your results come in the order in which they were added. Sort them by distance, smallest first."
        ),
        "distances_moved": N_(
            "The distances are sorted, but the documents are not: each distance stands beside the wrong "
            "document. Make the pairs first, then sort the pairs."
        ),
        "pairs_compared": N_(
            "Sorting pairs compares the documents where two distances are equal, and dicts cannot be compared. "
            "Sort by the distance alone: key=lambda pair: pair[1]."
        ),
        "distance_as_key": N_(
            "Two documents at the same distance became one. Do not use distances as keys of a dict: keep a list "
            "of pairs."
        ),
        "vector_as_key": N_(
            "Two documents with the same vector became one. Do not use vectors as keys of a dict: keep a list "
            "of pairs."
        ),
        "last_document_only": N_(
            "Only the document added last is there. Append to a list; do not set it anew for each document."
        ),
        "document_not_kept": N_(
            "A document given to add_document is not found. Keep it under its vector: add_vector does that."
        ),
        "query_embedded_as_document": N_(
            "You embed the query with embed_documents. Some models treat questions and documents differently: "
            "use embed_query for the query."
        ),
        "document_embedded_as_query": N_(
            "You embed documents with embed_query. Some models treat questions and documents differently: use "
            "embed_documents for documents."
        ),
        "vector_in_a_list": _TAKE_THE_FIRST,
        "vector_in_a_list_as_distance": _TAKE_THE_FIRST,
        "text_not_in_a_list": N_(
            "embed_documents takes a list of texts. For one text write embed_documents([text])[0]."
        ),
        "document_not_its_text": N_(
            "The embedder must get the document's text, neither the whole document nor its name: "
            'document["content"].'
        ),
        "vector_embedded": _VECTOR_EMBEDDED,
        "vector_embedded_where_possible": _VECTOR_EMBEDDED,
        "number_of_query_vector": N_(
            "embed_query gives one vector, not a list of vectors. Take it as it is, without [0]."
        ),
        **{
            f"distance_{name}": N_(
                "Your distances are not 1 - cosine. Is your cosine_distance right? Finish that exercise first."
            )
            for name in _WRONG_DISTANCES
        },
    },
)

EXERCISES = (CHUNK_BY_SECTION, COSINE_DISTANCE, VECTOR_INDEX)
