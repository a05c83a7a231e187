"""Unit 02: tokens, the weight of a term, and the BM25 index."""

import json
from random import Random

from ..compare import Ranking, Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..stubs import documents_of, listed
from .drawing import WORDS, identifier, letters, numbered, shuffled, words

_UNIT = "02_bm25"


def _tokenize_answer(tokenize, text):
    return tokenize(text)


def _texts(*texts: str) -> tuple[Probe, ...]:
    return tuple(Probe({"text": text}, f'tokenize("{text}")') for text in texts)


_FRENCH = ["équipement", "élément", "évier", "éventail", "échelle", "étagère", "écran", "étoile"]
_ACCENTED = ["façade", "fenêtre", "réseau", "pièce", "modèle", "contrôle", "câble", "boîte"]
_ENDINGS = [".", ",", "!", "?", ";", ":"]


def _draw_words(random: Random) -> tuple[Probe, ...]:
    one, two, three, other, noun, thing = words(random, 6)
    french, also_french = random.sample(_FRENCH, 2)
    mark, end = random.sample(_ENDINGS, 2)
    return _texts(
        f"{one.capitalize()}{mark} ({two}) {three.upper()}{end}",
        f"L\u2019{french} de l'{also_french.capitalize()}{mark} {other}'s {random.choice(_ACCENTED).upper()}",
        f"The {noun}'s {random.randrange(2, 100)} {thing}s",
    )


def _draw_identifiers(random: Random) -> tuple[Probe, ...]:
    incident = f"INC-20{random.randrange(10, 25)}-Q{random.randrange(1, 5)}-{random.randrange(1, 1000):03}"
    one, two, error, also_error, name, part, also_part, file = words(random, 8)
    code = f"ERR_{error.upper()}_{also_error.upper()}_0x{random.randrange(2**28, 2**31):08X}"
    release = ".".join(str(random.randrange(1, 20)) for _ in range(3))
    return _texts(
        f"Was the {one} of {incident} found? See {identifier(random)}.",
        f"{code}, fixed in release {release}",
        f"{name}_{part}-{also_part} in {two}_{file}.py",
    )


def _draw_parts(random: Random) -> tuple[Probe, ...]:
    one, two, three, first, last, noun, site = words(random, 7)
    return _texts(
        f"{one}-{two} {three}",
        f"a {first}-of-the-{last} {noun}",
        f"see {site}.{random.choice(['org', 'com', 'net'])}",
    )


_STOP_WORDS = ["the", "and", "of", "with", "to", "in", "for", "is", "it", "that", "by", "from", "was", "were"]
_QUESTIONS = ["What happened with the {}?", "Where was the {} of the {}?", "Who is with the {} and the {}?"]


def _draw_stop_words(random: Random) -> tuple[Probe, ...]:
    one, two, again, other = words(random, 4)
    return _texts(
        random.choice(_QUESTIONS).format(one, two),
        f"{again} {other} {again}",
        " ".join(random.sample(_STOP_WORDS, random.choice([4, 5]))),
    )


_PARTS_APPENDED = N_(
    "Did you append the list of parts? append puts it in as one item. Add its items one by one: use extend, or +=."
)

TOKENIZE = Exercise(
    id="tokenize",
    unit=_UNIT,
    title=N_("From text to tokens"),
    objects=("tokenize",),
    answer=_tokenize_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("words: case, accents, punctuation and apostrophes"),
            0.5,
            _texts(
                "Pump, (valve); SEAL!",
                "L\u2019équipement de l'École: pump's FAÇADE",
                "The attacker's 3 servers",
            ),
            _draw_words,
        ),
        Criterion(
            N_("identifiers stay whole"),
            0.5,
            _texts(
                "Was INC-2023-Q4-011 closed? See TX-99402.",
                "ERR_MEM_ALLOC_FAIL_0x8007000E, fixed in release 4.2.7",
                "heap_size-limit in file_name.py",
            ),
            _draw_identifiers,
        ),
        Criterion(
            N_("other words are split at hyphens and dots"),
            0.5,
            _texts(
                "multi-factor authentication",
                "a state-of-the-art seal",
                "see example.org",
            ),
            _draw_parts,
        ),
        Criterion(
            N_("stop words are dropped; order and repetitions are kept"),
            0.5,
            _texts(
                "What happened with the pump?",
                "pump valve pump",
                "the and of",
            ),
            _draw_stop_words,
        ),
    ),
    hints=(
        N_(
            "Do it in four steps, one line each: fold the text, find the runs, split the runs that are no "
            "identifiers, drop the stop words. Print what you have after each step."
        ),
        N_(
            'RUN.findall(text) gives the runs. any(character.isdigit() or character == "_" for character in '
            'run) says whether a run is an identifier. re.split(r"[-.]", run) splits the others.'
        ),
        N_(
            "Make an empty list. For each run of the folded text: if it is an identifier, append it; if not, "
            "add all its parts. At the end return the tokens that are not in stop_words()."
        ),
        N_("The finished function is tokenize in solutions/hybrid_search/bm25.py."),
    ),
    misconceptions={
        "split_at_spaces": N_(
            'Splitting at spaces leaves the punctuation on: "Pump," is not "pump". Use RUN.findall.'
        ),
        "identifiers_split": N_(
            "You split identifiers too. A run with a digit or an underscore, such as INC-2023-Q4-011, stays "
            "one token."
        ),
        "underscore_forgotten": N_(
            "You look for digits only. A run with an underscore is an identifier too, such as "
            "heap_size-limit."
        ),
        "parts_added": N_(
            "You give an identifier and its parts as well. Give the whole identifier alone: its parts would "
            "match other things."
        ),
        "never_split": N_(
            "You keep every run whole. A run without a digit or an underscore is split: multi-factor gives "
            "multi and factor."
        ),
        "dots_kept": N_(
            "You split at hyphens only. Split ordinary words at dots too: example.org gives two."
        ),
        "letters_only": N_(
            "Your pattern knows letters only, so digits and underscores get lost, and identifiers with them."
        ),
        "case_kept": N_("You keep capitals: Pump and pump stay two different tokens. Fold the text first."),
        "accents_kept": N_("You keep the accents: École and ecole stay two different tokens. Use fold."),
        "accented_letters_lost": N_(
            "Letters with an accent disappear: École becomes cole. Remove the accent, not the letter. Use fold."
        ),
        "apostrophes_kept": N_(
            "An apostrophe is part of your tokens: l'ecole. It ends a run, just as a space does."
        ),
        "stop_words_kept": N_("Stop words are still there. Drop every token that is in stop_words()."),
        "stop_words_before_folding": N_(
            'You look for stop words before you fold the text, so "What" with a capital is not found among '
            "them. Drop them at the end."
        ),
        "stop_words_before_splitting": N_(
            "You drop stop words before you split at hyphens, so the parts of state-of-the-art are not looked "
            "at. Drop them at the end."
        ),
        "repetitions_dropped": N_(
            "A word that stands twice in the text gives two tokens. BM25 counts them, so keep both."
        ),
        "set_returned": N_(
            "You return a set: it has no order, and holds each token once. Collect the tokens in a list."
        ),
        "list_of_a_set": N_(
            "You made a set on the way: it has no order, and holds each token once. Collect the tokens in a list."
        ),
        "parts_appended": _PARTS_APPENDED,
        "parts_filtered_and_appended": _PARTS_APPENDED,
        "sorted": N_("Your tokens are in the order of the alphabet. Keep the order of the text."),
        "short_words_dropped": N_(
            "You drop short tokens. A short token can matter, such as the 3 in 3 servers."
        ),
        "text_returned": N_("You return one text. Return a list of tokens."),
    },
)

# Ten small documents as tokens, as tokenize would give them.
_TEN = [
    ["pump", "seal", "leak", "pump"],
    ["pump", "valve"],
    ["valve", "seal", "motor"],
    ["pump", "motor", "pump", "pump"],
    ["invoice"],
    ["pump", "pumps"],
    ["motor", "holiday"],
    ["pump", "seal"],
    ["pump", "leakage"],
    ["seal"],
]
_TWO = [["pump", "leak"], ["pump", "pump", "tx-99402"]]


def _idf_answer(idf, term, documents):
    return idf(term, documents)


def _idf_probe(term: str, documents: list, what: str) -> Probe:
    label = f'idf("{term}", documents): {what}\ndocuments = {json.dumps(documents)}'
    return Probe({"term": term, "documents": documents}, label)


def _draw_documents(
    random: Random, term: str, containing: int, count: int, times: int = 1
) -> list[list[str]]:
    """``count`` documents as tokens; the first ``containing`` hold the term, and the very first as often as
    ``times`` says."""
    others = [word for word in WORDS if word != term]
    documents = [random.sample(others, random.choice([1, 2, 3])) for _ in range(count)]
    for document in documents[:containing]:
        document.append(term)
    documents[0] += [term] * (times - 1)
    return [shuffled(random, document) for document in documents]


def _draw_frequencies(random: Random) -> tuple[Probe, ...]:
    term, frequent, inside = words(random, 3)
    count = random.choice([7, 8, 9, 10])
    few, many = random.choice([2, 3]), random.choice([count - 2, count - 1])
    repeated = _draw_documents(random, frequent, many, count, times=random.choice([3, 4]))
    longer = _draw_documents(random, inside, 1, count)
    longer[-1].append(f"{inside}s")
    return (
        _idf_probe(
            term,
            shuffled(random, _draw_documents(random, term, few, count)),
            f"{few} of {count} documents contain it",
        ),
        _idf_probe(
            frequent,
            shuffled(random, repeated),
            f"{many} of {count} documents contain it, one of them more than once",
        ),
        _idf_probe(
            inside,
            shuffled(random, longer),
            f"1 of {count} documents contains it; another contains {inside}s",
        ),
    )


def _draw_extremes(random: Random) -> tuple[Probe, ...]:
    rare, common, unknown = words(random, 3)
    some, few, many = random.randrange(3, 9), random.randrange(3, 7), random.randrange(5, 10)
    everywhere = _draw_documents(random, common, few, few, times=2)
    return (
        _idf_probe(
            rare,
            shuffled(random, _draw_documents(random, rare, 1, some)),
            f"1 of {some} documents contains it",
        ),
        _idf_probe(common, shuffled(random, everywhere), f"all {few} documents contain it"),
        _idf_probe(
            unknown,
            [random.sample([word for word in WORDS if word != unknown], 3) for _ in range(many)],
            f"none of {many} documents contains it",
        ),
    )


IDF = Exercise(
    id="idf",
    unit=_UNIT,
    title=N_("The weight of a term"),
    objects=("idf",),
    answer=_idf_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("counts the documents that contain the term"),
            1,
            (
                _idf_probe("motor", _TEN, "3 of 10 documents contain it"),
                _idf_probe("pump", _TEN, "6 of 10 documents contain it, two of them more than once"),
                _idf_probe("leak", _TEN, "1 of 10 documents contains it; another contains leakage"),
            ),
            _draw_frequencies,
        ),
        Criterion(
            N_("rare, common and unknown terms"),
            1,
            (
                _idf_probe("tx-99402", _TWO, "1 of 2 documents contains it"),
                _idf_probe("pump", _TWO, "both documents contain it"),
                _idf_probe("zebra", _TEN, "none of 10 documents contains it"),
            ),
            _draw_extremes,
        ),
    ),
    hints=(
        N_(
            "You need two numbers before the formula: how many documents there are, and how many of them "
            "contain the term. A document that contains it five times counts once."
        ),
        N_(
            'A document is a list of tokens. `"pump" in ["pump", "seal"]` is True. math.log is the natural '
            "logarithm, ln."
        ),
        N_(
            "N is the length of documents. Start n at 0; for each document, if the term is in it, add 1. "
            "Return math.log(1 + (N - n + 0.5) / (n + 0.5)), with these brackets."
        ),
        N_("The finished function is idf in solutions/hybrid_search/bm25.py."),
    ),
    misconceptions={
        "occurrences_counted": N_(
            "You count how often the term occurs. Count the documents that contain it: each counts once."
        ),
        "log10": N_("You use the logarithm to base 10. The formula's ln is math.log."),
        "log2": N_("You use the logarithm to base 2. The formula's ln is math.log."),
        "no_logarithm": N_("You return the fraction without its logarithm. Put math.log(...) around it."),
        "not_smoothed": N_(
            "You return ln(N / n). The formula adds 0.5 twice, so that an unknown term gives no division by zero."
        ),
        "one_forgotten": N_(
            "The 1 + inside the logarithm is missing. Without it a term in more than half of the documents "
            "gets a negative weight."
        ),
        "one_outside": N_("The 1 stands outside your logarithm. It belongs inside: ln(1 + ...)."),
        "document_frequency": N_(
            "You return how many documents contain the term. A frequent term should weigh less, not more: "
            "put n into the formula."
        ),
        "upside_down": N_(
            "Your fraction is upside down: frequent terms weigh most. Divide N - n + 0.5 by n + 0.5."
        ),
        "precedence": N_(
            "Brackets are missing: without them Python divides 0.5 by n and adds the rest. Write "
            "(N - n + 0.5) / (n + 0.5)."
        ),
        "numerator_brackets": N_(
            "Brackets are missing: without them Python divides only the first 0.5. Write "
            "(N - n + 0.5) / (n + 0.5)."
        ),
        "denominator_brackets": N_(
            "Brackets are missing: without them Python divides by n alone, and adds 0.5 afterwards. Write "
            "(N - n + 0.5) / (n + 0.5)."
        ),
        "n_not_subtracted": N_(
            "Your numerator is N + 0.5. It is N - n + 0.5: the documents without the term."
        ),
        "n_plus_one": N_(
            "You return ln(N / (n + 1)), another formula for the same idea. Here it is "
            "ln(1 + (N - n + 0.5) / (n + 0.5))."
        ),
        "scikit_learn": N_(
            "You return ln((1 + N) / (1 + n)) + 1, the formula of scikit-learn. Here it is "
            "ln(1 + (N - n + 0.5) / (n + 0.5))."
        ),
        "tokens_counted": N_(
            "Your N is the number of tokens. It is the number of documents: len(documents)."
        ),
        "letters_compared": N_(
            'You look for the term inside the tokens as letters: "leak" is inside "leakage". Compare whole '
            "tokens."
        ),
        "unknown_is_zero": N_(
            "You give 0 for a term that no document contains. The formula needs no exception: it gives its "
            "highest weight."
        ),
    },
)

_TOKENIZERS = {
    "str.split": str.split,
    "lower_split": lambda text: text.lower().split(),
    "split_commas": lambda text: text.split(","),
}

_NOTES = [
    ["Note 1", "pump leak seal pump"],
    ["Note 2", "pump valve"],
    ["Note 3", "the seal of the pump was cut too short and the pump began to leak"],
    ["Note 4", "TX-99402 replaces TX-99401"],
    ["Note 5", "canteen closed"],
    ["Note 6", "pump motor"],
]
_HALF = [["Note 1", "year pump"], ["Note 2", "year valve"], ["Note 3", "seal"], ["Note 4", "motor"]]
_ALL = [["Note 1", "year pump pump"], ["Note 2", "year valve"], ["Note 3", "year year"]]
_LETTERS = [["Note 1", "x y"], ["Note 2", "x z z"], ["Note 3", "y y z"], ["Note 4", "pump"]]
_CAPITALS = [
    ["Note 1", "Pump leak"],
    ["Note 2", "valve pump seal"],
    ["Note 3", "PUMP pump"],
    ["Note 4", "Seal"],
]
_COMMAS = [["Note 1", "hall 2,pump"], ["Note 2", "hall 3,pump"], ["Note 3", "hall 2,valve"]]
_LATER = [["Note 7", "seal seal"], ["Note 8", "zebra"]]


def _index_answer(index_class, documents, query, tokenizer="str.split", later=(), k=None, **settings):
    index = index_class(tokenize=_TOKENIZERS[tokenizer], **settings)
    stored = documents_of([*documents, *later])
    for label, _ in documents:
        index.add_document(stored[label])
    results = _search(index, query, k)
    for label, _ in later:
        index.add_document(stored[label])
    return _search(index, query, k) if later else results


def _search(index, query, k):
    return index.search(query) if k is None else index.search(query, k=k)


def _index_probe(documents: list, query: str, k: int | None = None, later: list | None = None, **settings):
    given = {"documents": documents, "query": query, **settings}
    made = [f"tokenize={settings.get('tokenizer', 'str.split')}"]
    made += [f"{name}={settings[name]}" for name in ("k1", "b") if name in settings]
    call = f'search("{query}")'
    if k is not None:
        given["k"], call = k, f'search("{query}", k={k})'
    if later:
        given["later"] = later
        call += f" before and after {' and '.join(label for label, _ in later)} came in"
    notes = listed([*documents, *(later or [])]) or "no notes"
    return Probe(given, f"BM25Index({', '.join(made)}); {call}\n{notes}")


def _draw_notes(random: Random, nouns: list[str], count: int = 6) -> list[list[str]]:
    """Notes of some of the nouns, many of them more than once, and each in one note at least.

    The first is a sentence with stop words, which str.split keeps.
    """
    texts = [[random.choice(nouns) for _ in range(random.choice([1, 2, 4, 6]))] for _ in range(count - 1)]
    for noun in nouns:
        random.choice(texts).append(noun)
    sentence = "the {} of the {} was too short for the {}".format(*random.sample(nouns, 3))
    return numbered("Note", [sentence, *(" ".join(shuffled(random, text)) for text in texts)])


def _draw_scores(random: Random) -> tuple[Probe, ...]:
    nouns, (code, other) = words(random, 5), (identifier(random), identifier(random))
    x, y, z = letters(random, 3)
    notes = _draw_notes(random, nouns)
    codes = [f"{code} replaces {other}", *(text for _, text in notes[:3])]
    alphabet = [f"{x} {y}", f"{x} {z} {z}", f"{y} {y} {z}", *words(random, 1)]
    return (
        _index_probe(notes, " ".join(nouns[:3]), k=3),
        _index_probe(notes, f"{nouns[0]} {nouns[3]} {nouns[0]}", k=3),
        _index_probe(notes, f"{nouns[3]} {nouns[4]}", k=2),
        _index_probe(numbered("Note", shuffled(random, codes)), code),
        _index_probe(numbered("Note", shuffled(random, alphabet)), f"{x} {y}", k=4),
    )


def _draw_weights(random: Random) -> tuple[Probe, ...]:
    half, everywhere, *other = words(random, 6)
    a, b, c, d = other
    filler = " ".join([c] * random.choice([1, 2, 3]))
    in_half = [f"{half} {a}", f"{half} {half} {b}", filler, f"{d} {a}"]
    in_all = [f"{everywhere} {a} {a}", f"{everywhere} {b}", " ".join([everywhere] * random.choice([2, 3]))]
    return (
        _index_probe(numbered("Note", shuffled(random, in_half)), half, k=4),
        _index_probe(numbered("Note", shuffled(random, in_all)), f"{everywhere} {a}", k=3),
    )


def _draw_matches(random: Random) -> tuple[Probe, ...]:
    """The empty index is filled afterwards, so that not every answer but the first is an empty list."""
    once, absent, *nouns = words(random, 6)
    first, second, third, *_ = nouns
    notes = _draw_notes(random, nouns)
    texts_later = [f"{third} {second}", " ".join([second] + [first] * random.choice([1, 2, 3]))]
    later = numbered("Note", shuffled(random, texts_later))
    texts = [text for _, text in notes] + [f"{once} {nouns[0]}"]
    return (
        _index_probe(numbered("Note", shuffled(random, texts)), once, k=random.choice([5, 6, 7])),
        _index_probe(notes, absent, k=random.choice([5, 6, 7])),
        _index_probe([], first, k=random.choice([2, 3, 4]), later=later),
    )


def _draw_settings(random: Random) -> tuple[Probe, ...]:
    nouns = words(random, 5)
    a, b, c, d, new = nouns
    capitals = [f"{a.capitalize()} {b}", f"{c} {a} {d}", f"{a.upper()} {a}", d.capitalize()]
    hall, other_hall = random.sample(range(2, 100), 2)
    halls = [f"hall {hall},{a}", f"hall {other_hall},{a}", f"hall {hall},{b}"]
    halls += [f"hall {other_hall},{other}" for other in random.sample([b, c, d], random.choice([0, 1, 2]))]
    notes = _draw_notes(random, nouns[:4])
    later = [["Note 7", f"{a} {random.choice([a, b])}"], ["Note 8", new]]
    k1, other_b = random.choice([0.4, 0.6, 0.8, 1.0, 1.2, 2.0]), random.choice([0.1, 0.2, 0.3, 0.5, 0.9])
    return (
        _index_probe(
            numbered("Note", shuffled(random, capitals)),
            f"{a.capitalize()} {d.upper()}",
            k=4,
            tokenizer="lower_split",
        ),
        _index_probe(
            numbered("Note", shuffled(random, halls)), f"hall {hall},{a}", k=3, tokenizer="split_commas"
        ),
        _index_probe(notes, f"{a} {b}", k=6, k1=k1, b=other_b),
        _index_probe(notes, f"{a} {new}", k=8, later=later),
    )


BM25_INDEX = Exercise(
    id="bm25_index",
    unit=_UNIT,
    title=N_("The BM25 index"),
    objects=("BM25Index",),
    answer=_index_answer,
    compare=Ranking(),
    criteria=(
        Criterion(
            N_("order, scores and number of results"),
            1.5,
            (
                _index_probe(_NOTES, "pump leak seal", k=3),
                _index_probe(_NOTES, "pump leak pump", k=3),
                _index_probe(_NOTES, "valve pump", k=2),
                _index_probe(_NOTES, "TX-99402"),
                _index_probe(_LETTERS, "x y", k=4),
            ),
            _draw_scores,
        ),
        Criterion(
            N_("the IDF is yours, not rank-bm25's"),
            1,
            (
                _index_probe(_HALF, "year", k=4),
                _index_probe(_ALL, "year pump", k=3),
            ),
            _draw_weights,
        ),
        Criterion(
            N_("only documents that share a term; the empty index"),
            0.5,
            (
                _index_probe(_NOTES, "canteen", k=6),
                _index_probe(_NOTES, "zebra", k=6),
                _index_probe([], "pump", k=3),
            ),
            _draw_matches,
        ),
        Criterion(
            N_("tokenize, k1 and b are used; documents may be added after a search"),
            1,
            (
                _index_probe(_CAPITALS, "Pump SEAL", k=4, tokenizer="lower_split"),
                _index_probe(_COMMAS, "hall 2,pump", k=3, tokenizer="split_commas"),
                _index_probe(_NOTES, "pump leak", k=6, k1=0.5, b=0.2),
                _index_probe(_NOTES, "seal zebra", k=8, later=_LATER),
            ),
            _draw_settings,
        ),
    ),
    hints=(
        N_(
            "rank-bm25 does the sums: BM25Okapi(list of token lists) and get_scores(list of query tokens). "
            "Your class keeps documents and tokens, corrects the IDF, and turns scores into a ranking."
        ),
        N_(
            "model.idf is a dictionary: term to weight. Put your own weights into it after you make the "
            "model. get_scores gives one score a document, in the order in which the model got them. Is the "
            "query a list of tokens when you pass it on?"
        ),
        N_(
            "add_document: keep the document, and its tokens in a second list. search: no documents, return "
            "[]. Make the model from all tokens with k1 and b. For each term in model.idf, set model.idf[term] "
            "= idf(term, tokens). Get the scores of tokenize(query). Keep the pairs (document, score) with a "
            "score above 0, sort them by score, highest first, return the first k."
        ),
        N_(
            "The finished class is BM25Index in solutions/hybrid_search/bm25.py. Read it, close it, write your own."
        ),
    ),
    misconceptions={
        "okapi_idf": N_(
            "You use rank-bm25's own IDF: 0 for a term in half of the documents. Put your weights into "
            "model.idf."
        ),
        "idf_of_documents": N_(
            "idf wants lists of tokens, and the documents are dicts: give it self.tokens."
        ),
        "query_terms_once": N_(
            "A term that stands twice in the query counts twice. Give get_scores the tokens as they are, not a set."
        ),
        "zero_scores_returned": N_(
            "Documents that share no term with the query are in your results, with the score 0. Leave them out."
        ),
        "top_n_padding": N_(
            "get_top_n returns documents without scores, and fills up with documents that do not match. Use "
            "get_scores."
        ),
        "documents_only": N_("You return documents without their scores. Return pairs (document, score)."),
        "positions_returned": N_("You return the position of a document. Return the document itself."),
        "pairs_wrong_way_round": N_("Your pairs are (score, document). They should be (document, score)."),
        "query_as_string": N_(
            "You pass the query as one text. Python reads a text letter by letter, so no word matches. Pass "
            "self.tokenize(query)."
        ),
        "documents_as_strings": N_(
            "You give rank-bm25 the texts themselves, and it reads them letter by letter. Give it a list of "
            "tokens for each document."
        ),
        "query_split_at_spaces": N_(
            "The query is split at spaces. Use self.tokenize for the query too: both sides need the same tokens."
        ),
        "tokenizer_ignored": N_(
            "You call the function tokenize of exercise 1. Use the one that the constructor was given: "
            "self.tokenize."
        ),
        "tokenizer_ignored_for_query": N_(
            "You call the function tokenize of exercise 1 for the query. Use self.tokenize for the query too."
        ),
        "everything_split_at_spaces": N_(
            "You split at spaces, whatever tokenizer was given. Use self.tokenize for documents and queries."
        ),
        "never_rebuilt": N_(
            "A document added after the first search is not found. The model does not see it: make a new "
            "model when documents were added."
        ),
        "lowest_first": N_("Your list begins with the lowest score. The highest BM25 score is the best."),
        "not_sorted": N_(
            "Your results come in the order in which they were added. Sort them, highest score first."
        ),
        "k_ignored": N_("You return every match. Return the first k."),
        "settings_ignored": N_(
            "k1 and b have no effect. Pass them on: BM25Okapi(tokens, k1=self.k1, b=self.b)."
        ),
        "k1_ignored": N_("k1 has no effect. Pass it on: BM25Okapi(tokens, k1=self.k1, b=self.b)."),
        "b_ignored": N_("b has no effect. Pass it on: BM25Okapi(tokens, k1=self.k1, b=self.b)."),
        "k1_and_b_swapped": N_("k1 and b have changed places. Pass them by name: k1=self.k1, b=self.b."),
        "all_terms_needed": N_(
            "You keep only documents that contain every term of the query. One is enough."
        ),
        "scores_scaled": N_("You divide by the best score. Return the scores as they are."),
        "idf_of_first_search": N_(
            "After documents are added, the weights are still the old ones. Compute model.idf anew with the model."
        ),
    },
)

EXERCISES = (TOKENIZE, IDF, BM25_INDEX)
