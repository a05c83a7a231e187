"""Unit 00: find a term by plain search."""

from random import Random

from ..compare import Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..stubs import documents_of, listed
from .drawing import identifier, numbered, shuffled, words

_LETTERS = [
    ["Letter 1", "Pump 7 leaks again. Please send a mechanic."],
    ["Letter 2", "Thank you for the new pump."],
    ["Letter 3", "Our order TX-99402 has not arrived."],
    ["Letter 4", "Where is my order? I mean tx-99402, and the pump with it."],
]


def _answer(find_term, documents, term):
    return find_term(term, list(documents_of(documents).values()))


def _probe(term: str, letters: list = _LETTERS) -> Probe:
    label = f'find_term("{term}", four letters)\n{listed(letters)}'
    return Probe({"documents": letters, "term": term}, label)


_FIRST_SENTENCES = [
    "Thank you for the {}.",
    "Please send us another {}.",
    "Where is the {}?",
    "Yesterday the {} broke.",
    "Nobody could find the {}.",
    "Kindly repair the {}.",
    "Today we received the {}.",
    "Could you bring a {}?",
]
_SECOND_SENTENCES = [
    "It came with the {}.",
    "It belongs to the {}.",
    "We also need a {}.",
    "It stands beside the {}.",
    "Do not forget the {}.",
]


def _draw_letters(random: Random, about: list[tuple[str, str]]) -> list[list[str]]:
    """Four letters of two sentences; ``about`` names what each of them mentions first and last."""
    firsts, seconds = random.sample(_FIRST_SENTENCES, 4), random.sample(_SECOND_SENTENCES, 4)
    texts = [
        f"{firsts[i].format(first)} {seconds[i].format(last)}"
        for i, (first, last) in enumerate(shuffled(random, about))
    ]
    return numbered("Letter", texts)


def _draw_terms(random: Random) -> tuple[Probe, ...]:
    once, twice, absent, *other = words(random, 8)
    about = [(twice, other[0]), (other[1], twice), (other[2], once), (other[3], other[4])]
    letters = _draw_letters(random, about)
    opening = random.choice(letters)[1].split()[0].lower()
    return tuple(_probe(term, letters) for term in (once, twice, opening, absent))


def _draw_cases(random: Random) -> tuple[Probe, ...]:
    code, (noun, *other) = identifier(random), words(random, 5)
    about = [(code, other[0]), (other[1], code.lower()), (noun, other[2]), (other[3], noun)]
    letters = _draw_letters(random, about)
    return _probe(random.choice([code, code.lower()]), letters), _probe(noun.upper(), letters)


FIND_TERM = Exercise(
    id="find_term",
    unit="00_start",
    title=N_("Plain search"),
    objects=("find_term",),
    answer=_answer,
    compare=Value(),
    criteria=(
        Criterion(
            N_("the documents that contain the term, in order"),
            0.5,
            (_probe("mechanic"), _probe("order"), _probe("thank"), _probe("zebra")),
            _draw_terms,
        ),
        Criterion(
            N_("upper and lower case are the same"),
            0.5,
            (_probe("TX-99402"), _probe("PUMP")),
            _draw_cases,
        ),
    ),
    hints=(
        N_('Python can tell whether one text is inside another: "pump" in "the old pump" is True.'),
        N_(
            'The text of a document is document["content"]. Before you compare, bring the term and the text '
            "to the same case with .lower()."
        ),
        N_("For each document: if the lower-case term is in the lower-case content, keep the document."),
        N_("The finished function is in solutions/hybrid_search/start.py."),
    ),
    misconceptions={
        "dict_searched": N_(
            'You find nothing. Do you look into document["content"], or into the dict itself?'
        ),
        "case_kept": N_('"tx-99402" and "TX-99402" are the same term here. Compare lower-case texts.'),
        "text_case_kept": N_("You lower the term but not the text. Bring both to the same case."),
        "first_only": N_("You stop at the first document. Keep every document that contains the term."),
        "true_or_false": N_("You return whether the term was found. Return the documents that contain it."),
        "others_returned": N_("You return the documents that do not contain the term."),
        "ids_returned": N_("You return the ids. Return the documents themselves."),
        "whole_words_only": N_(
            'Splitting at spaces leaves punctuation on the words: "mechanic." is not "mechanic". '
            "Look inside the whole text."
        ),
        "texts_returned": N_("You return the texts. Return the documents, the whole dicts."),
        "beginning_only": N_(
            "You look only at the beginning of the text. The term may stand anywhere in it."
        ),
    },
)

EXERCISES = (FIND_TERM,)
