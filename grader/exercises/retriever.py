"""Unit 04: the Retriever, and an index of the learner's own that joins it."""

from random import Random

from ..compare import Ranking
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..stubs import StubIndex, documents_of, listed, make_documents
from .drawing import identifier, letters, numbered, sections, shuffled, words

# What the stub indexes find: (document, value), best first. A distance falls, a BM25 score rises.
_VECTOR = [["Section 2", 0.31], ["Section 7", 0.42], ["Section 6", 0.55]]
_BM25 = [["Section 6", 7.4], ["Section 2", 6.1], ["Section 7", 2.2]]
_INCIDENT_VECTOR = [["Section 10", 0.38], ["Section 3", 0.44], ["Section 5", 0.47], ["Section 2", 0.52]]
_INCIDENT_BM25 = [["Section 10", 4.1], ["Section 2", 2.9], ["Section 5", 1.7]]


def _letters(word: str, rising: bool = False) -> list[list]:
    """A ranking of one-letter documents with values that get worse: distances, or scores where ``rising``."""
    return [[letter, round(9 - i if rising else 0.1 * (i + 1), 1)] for i, letter in enumerate(word)]


def _answer(retriever_class, indexes, query="pump leak", contents=None, add=(), **settings):
    labels = dict.fromkeys([label for results in indexes for label, _ in results] + list(add))
    documents = make_documents(labels, contents)
    stubs = [StubIndex([(documents[label], value) for label, value in results]) for results in indexes]
    retriever = retriever_class(*stubs)
    if add:
        for label in add:
            retriever.add_document(documents[label])
        return [stub.added for stub in stubs]
    return retriever.search(query, **settings)


def _probe(indexes: list, contents: dict | None = None, add: tuple = (), **settings) -> Probe:
    """The label names what the indexes found, and the call."""
    found = " and ".join(", ".join(label for label, _ in results) or "nothing" for results in indexes)
    given = {"indexes": indexes, **settings}
    if contents:
        given["contents"] = contents
    if add:
        return Probe({**given, "add": list(add)}, f"{len(indexes)} indexes, add_document({add[0]})")
    if not indexes:
        return Probe(given, "Retriever() without an index")
    call = ", ".join(['"pump leak"', *(f"{name}={value}" for name, value in settings.items())])
    return Probe(given, f"indexes find {found}; search({call})")


_TEXTS = ["The {} leaks.", "A new {} came.", "Check the {}."]


def _draw_list(random: Random, labels: list[str], rising: bool = False) -> list[list]:
    """A ranking of these documents with values that get worse: distances, or scores where ``rising``."""
    values = sorted(random.sample(range(10, 100), len(labels)), reverse=rising)
    return [
        [label, value / 10 if rising else value / 100] for label, value in zip(labels, values, strict=True)
    ]


def _draw_two(random: Random, found: list[str], also_found: list[str]) -> list[list]:
    """What a vector index and a BM25 index found."""
    return [_draw_list(random, found), _draw_list(random, also_found, rising=True)]


def _draw_one_index(random: Random) -> tuple[Probe, ...]:
    count = random.choice([3, 4, 5])
    return (
        _probe([_draw_list(random, sections(random, count))]),
        _probe([_draw_list(random, sections(random, count))], k=2),
        _probe([_draw_list(random, sections(random, count), rising=True)], k=random.randrange(6, 20)),
    )


def _draw_two_indexes(random: Random) -> tuple[Probe, ...]:
    """In the first pair of lists the best of one is the last of the other; in the third and the fourth, k cuts."""
    first, second, *rest = sections(random, 4)
    a, b, c, d, e = sections(random, 5)
    one, two, three = letters(random, 3)
    v, w, x, y = letters(random, 4)
    same = random.choice(_TEXTS).format(*words(random, 1))
    return (
        _probe(_draw_two(random, [first, second, *rest], [second, *shuffled(random, rest), first]), k=3),
        _probe(_draw_two(random, [a, b, c, d], [*shuffled(random, [a, d]), e]), k=3),
        _probe(_draw_two(random, [one, two], [three, two]), k=1),
        _probe(_draw_two(random, [v, w, x], [y, x, v]), contents={v: same, y: same}, k=4),
    )


def _draw_constants(random: Random) -> tuple[Probe, ...]:
    first, second, *rest = sections(random, 4)
    *some, both = letters(random, 7)
    opposed = [*some[:3], both], [*some[3:], both]
    small, large = random.choice([1, 2, 3, 5]), random.choice([20, 30, 40, 50, 70, 80, 90])
    return (
        _probe(_draw_two(random, [first, second, *rest], [second, *rest, first]), k=3, k_rrf=small),
        _probe(_draw_two(random, *opposed), k=3, k_rrf=1),
        _probe(_draw_two(random, *opposed), k=3, k_rrf=large),
    )


def _draw_candidates(random: Random) -> tuple[Probe, ...]:
    count = random.choice([4, 5])
    *some, both = letters(random, 2 * count - 1)
    lists = _draw_two(random, [*some[: count - 1], both], [*some[count - 1 :], both])
    apart = letters(random, 8)
    return (
        _probe(lists, k=10, candidates=count - 1),
        _probe(lists, k=10, candidates=count),
        _probe(_draw_two(random, apart[:4], apart[4:]), k=10, candidates=random.choice([2, 3])),
    )


def _draw_missing(random: Random) -> tuple[Probe, ...]:
    a, b, c, d, both = letters(random, 5)
    lists = [_draw_list(random, letters(random, random.choice([3, 4]))), []]
    return (
        _probe(_draw_two(random, [a, b, both], [c, d, both]), k=random.choice([5, 6])),
        _probe(shuffled(random, lists), k=random.choice([5, 6])),
    )


def _draw_any_number(random: Random) -> tuple[Probe, ...]:
    """Without an index there is one question only, which is public; four indexes stand in for it here."""
    a, b, c, d = sections(random, 4)
    three = [*_draw_two(random, [a, d, b], [a, b, c]), _draw_list(random, [c, a], rising=True)]
    some = letters(random, 4)
    four = [_draw_list(random, random.sample(some, 3)) for _ in range(4)]
    new, *old = sections(random, random.choice([3, 4, 5]))
    return (
        _probe(three, k=4),
        _probe(four, k=random.choice([4, 5])),
        _probe([_draw_list(random, [label]) for label in old], add=(new,)),
    )


_CRITERIA = (
    Criterion(
        N_("one index: order and number of results"),
        2,
        (
            _probe([_VECTOR]),
            _probe([_VECTOR], k=2),
            _probe([_BM25], k=10),
        ),
        _draw_one_index,
    ),
    Criterion(
        N_("two indexes: order and scores"),
        2,
        (
            _probe([_VECTOR, _BM25], k=3),
            _probe([_INCIDENT_VECTOR, _INCIDENT_BM25], k=3),
            _probe([_letters("ab"), _letters("cb", rising=True)], k=1),
            _probe(
                [_letters("apq"), _letters("bqa", rising=True)],
                contents={"a": "The same text.", "b": "The same text."},
                k=4,
            ),
        ),
        _draw_two_indexes,
    ),
    Criterion(
        N_("k_rrf changes the scores"),
        1,
        (
            _probe([_VECTOR, _BM25], k=3, k_rrf=1),
            _probe([_letters("axyb"), _letters("zwvb", rising=True)], k=3, k_rrf=1),
            _probe([_letters("axyb"), _letters("zwvb", rising=True)], k=3, k_rrf=60),
        ),
        _draw_constants,
    ),
    Criterion(
        N_("candidates limits what each index is asked for"),
        1,
        (
            _probe([_letters("abcx"), _letters("defx", rising=True)], k=10, candidates=3),
            _probe([_letters("abcx"), _letters("defx", rising=True)], k=10, candidates=4),
            _probe([_letters("abcd"), _letters("efgh", rising=True)], k=10, candidates=2),
        ),
        _draw_candidates,
    ),
    Criterion(
        N_("a document that one index does not find"),
        1,
        (
            _probe([_letters("xay"), _letters("bcy", rising=True)], k=5),
            _probe([_letters("abc"), []], k=5),
        ),
        _draw_missing,
    ),
    Criterion(
        N_("any number of indexes: three, none, and add_document"),
        1,
        (
            _probe([_letters("adb"), _letters("abc", rising=True), _letters("ca", rising=True)], k=4),
            _probe([]),
            _probe([_letters("a"), _letters("b", rising=True)], add=("n",)),
        ),
        _draw_any_number,
    ),
)

RETRIEVER = Exercise(
    id="retriever",
    unit="04_retriever",
    title=N_("The Retriever"),
    objects=("Retriever",),
    answer=_answer,
    compare=Ranking(),
    criteria=_CRITERIA,
    hints=(
        N_(
            "The values that the indexes return cannot be added: one is a distance, the other a score. "
            "What do the two lists have in common?"
        ),
        N_(
            "Look at your table of unit 03. Each list adds 1 / (k_rrf + rank) to a document's score. You need "
            "a place to collect the sums, one for each document, and a way to tell documents apart that does "
            "not look at their text: id(document) works, because both indexes hold the same object."
        ),
        N_(
            "For each index: ask for its best `candidates`. Count the ranks from 1. Add 1 / (k_rrf + rank) to "
            "the document's sum, and keep the document itself. After the last index: make a list of pairs "
            "(document, sum), sort it with the highest sum first, and return the first k."
        ),
        N_(
            "The finished class is in solutions/hybrid_search/retriever.py. Read it, close it, write your own."
        ),
    ),
    misconceptions={
        "ranks_from_zero": N_(
            "Your ranks start at 0. The formula counts from 1: the first document of a list adds 1 / (k_rrf + 1)."
        ),
        "raw_values_added": N_(
            "You add the values that the indexes return. A distance falls and a score rises as things fit "
            "better, so their sum means nothing. Use the ranks alone."
        ),
        "sorted_by_value": N_(
            "You sort each index's results by value, highest first. They come best first already, and for a "
            "vector index the best distance is the lowest one. Keep the order that the index gives."
        ),
        "k_instead_of_k_rrf": N_(
            "You add k to the rank. k is how many results are returned; the constant of the formula is k_rrf."
        ),
        "set_not_added": N_(
            "Each list overwrites what the list before it gave. Add to the document's sum: scores[key] = "
            "scores.get(key, 0) + ..."
        ),
        "k_rrf_ignored": N_("The score does not change with k_rrf. Use the argument, not a fixed 60."),
        "candidates_ignored": N_(
            "Each index is asked for the same number of results whatever candidates says. Pass candidates to "
            "index.search."
        ),
        "k_instead_of_candidates": N_(
            "You ask each index for k results. A document that is second in both lists would be lost for "
            "k = 1. Ask for `candidates`, fuse, and cut to k at the end."
        ),
        "cut_after_fusing": N_(
            "You fuse everything and cut to candidates afterwards. candidates limits what each index is asked "
            "for, before the fusion."
        ),
        "missing_counted_as_last": N_(
            "A document that an index does not find gets a rank behind the last one. It should get nothing "
            "from that index."
        ),
        "last_index_only": N_(
            "Only the last index counts. Do you start a new dictionary, or set the score, for each index?"
        ),
        "merged_by_text": N_(
            "Two documents with the same text became one. Tell documents apart by the object, id(document), "
            "not by their content."
        ),
        "best_instead_of_sum": N_(
            "You keep a document's best score. RRF adds what every list gives: two good ranks beat one."
        ),
        "average_instead_of_sum": N_(
            "You average over the lists that found the document. RRF takes the sum, so that being found twice "
            "counts."
        ),
        "precedence": N_(
            "1 / k_rrf + rank divides first and then adds the rank. Write 1 / (k_rrf + rank) with brackets."
        ),
        "whole_list_returned": N_("You return every document. Return the first k."),
        "pairs_wrong_way_round": N_("Your pairs are (score, document). They should be (document, score)."),
        "worst_first": N_("Your list begins with the lowest score. The highest RRF score is the best."),
        "documents_only": N_("You return documents without their scores. Return pairs (document, score)."),
        "ranks_count_on": N_(
            "The ranks of the second index go on where the first one stopped. Each list starts again at 1."
        ),
        "not_sorted": N_(
            "Your results come in the order in which they were found. Sort them by score, highest first."
        ),
        "found_by_all_only": N_(
            "You keep only documents that every index found. A document in one list counts too."
        ),
    },
)

_NOTES = [
    ["Note 1", "The pump in hall 2 was leaking."],
    ["Note 2", "Pump leak: the seal of the pump was cut too short."],
    ["Note 3", "Ticket TX-99402 is about the leak of another pump."],
    ["Note 4", "The canteen is closed on Monday."],
]


def _keyword_answer(index_class, documents, query, k):
    index = index_class()
    for document in documents_of(documents).values():
        index.add_document(document)
    return index.search(query, k)


def _keyword_probe(query: str, k: int, notes: list = _NOTES) -> Probe:
    return Probe(
        {"documents": notes, "query": query, "k": k},
        f'search("{query}", k={k}) in four notes\n{listed(notes)}',
    )


# In each group: a note with a longer word, with a word twice, with an identifier, with none of that.
_FIRST_NOTES = ["The {0} in hall {3} has two {1}s.", "Room {3}: one {0}, and {1}s for everybody."]
_SECOND_NOTES = [
    "New {0}, old {1}: the {2} of the {0} was cut too short.",
    "The {0} fell on the {1}. A {2} keeps the {0} in its place.",
]
_THIRD_NOTES = ["Ticket {3} is about the {1} of another {0}.", "Another {0} came with order {3}, and a {1}."]
_FOURTH_NOTES = ["The {0} is closed on Monday.", "Nobody needs a {0} before noon."]


def _draw_notes(random: Random, nouns: list[str], code: str) -> list[list[str]]:
    """Four notes; a search for the first three nouns finds three of them, the first of these least well."""
    a, b, c, only = nouns
    first = random.choice(_FIRST_NOTES).format(a, b, c, random.randrange(2, 100))
    rest = [
        random.choice(_SECOND_NOTES).format(a, b, c),
        random.choice(_THIRD_NOTES).format(a, b, c, code),
        random.choice(_FOURTH_NOTES).format(only),
    ]
    return numbered("Note", [first, *shuffled(random, rest)])


def _draw_shared_words(random: Random) -> tuple[Probe, ...]:
    a, b, c, only = nouns = words(random, 4)
    code = identifier(random)
    notes = _draw_notes(random, nouns, code)
    return (
        _keyword_probe(f"{a} {b} {c}", 4, notes),
        _keyword_probe(f"What about {code}?", 4, notes),
        _keyword_probe(f"{a.capitalize()} {b}: which {a}, which {b}, which {c}?", 4, notes),
    )


def _draw_few_results(random: Random) -> tuple[Probe, ...]:
    absent, *nouns = words(random, 5)
    notes = _draw_notes(random, nouns, identifier(random))
    return (
        _keyword_probe(f"{nouns[0]} {nouns[1]}", 1, notes),
        _keyword_probe(nouns[3], 4, notes),
        _keyword_probe(absent, 4, notes),
    )


KEYWORD_INDEX = Exercise(
    id="keyword_index",
    unit="04_retriever",
    title=N_("A keyword index of your own"),
    objects=("KeywordIndex",),
    answer=_keyword_answer,
    compare=Ranking(),
    criteria=(
        Criterion(
            N_("counts the query's words that a document contains"),
            1,
            (
                _keyword_probe("pump leak seal", 4),
                _keyword_probe("What about TX-99402?", 4),
                _keyword_probe("Pump leak: which pump, which leak, which seal?", 4),
            ),
            _draw_shared_words,
        ),
        Criterion(
            N_("k results at most, none without a shared word"),
            1,
            (
                _keyword_probe("pump leak", 1),
                _keyword_probe("canteen", 4),
                _keyword_probe("zebra", 4),
            ),
            _draw_few_results,
        ),
    ),
    hints=(
        N_("Which words do the query and the document share? Python's sets answer that in one operation."),
        N_("tokenize(text) of unit 02 gives the words of both. set(a) & set(b) keeps what is in both."),
        N_(
            "In add_document, keep the document. In search: for each document, count the shared words; keep "
            "the pairs (document, count) with a count above 0; sort them, highest count first; return the "
            "first k."
        ),
        N_("The finished class is KeywordIndex in solutions/hybrid_search/retriever.py."),
    ),
    misconceptions={
        "repetitions_counted": N_(
            "A word that stands twice in a document counts twice. Count the different words they share."
        ),
        "query_repetitions_counted": N_(
            "A word that stands twice in the query counts twice. Count the different words they share."
        ),
        "not_sorted": N_(
            "Your results come in the order in which the documents were added. Sort them by count, highest first."
        ),
        "split_at_spaces": N_(
            'Splitting at spaces leaves the punctuation on: "TX-99402?" is not "TX-99402". Use tokenize.'
        ),
        "zero_matches_returned": N_("Documents that share no word with the query are in your results."),
        "letters_compared": N_(
            "You look for the query's words inside the text as letters: "
            '"leak" is inside "leaking". Compare whole tokens.'
        ),
        "all_words_needed": N_("You keep only documents that contain every word of the query."),
        "fewest_first": N_("The document with the fewest shared words comes first. Sort the other way."),
        "k_ignored": N_("You return every match. Return the first k."),
    },
)

EXERCISES = (RETRIEVER, KEYWORD_INDEX)
