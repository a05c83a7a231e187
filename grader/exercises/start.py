"""Unit 00: find a term by plain search."""

from ..compare import Value
from ..exercise import Criterion, Exercise, Probe
from ..language import N_
from ..stubs import documents_of, listed

_LETTERS = [
    ["Letter 1", "Pump 7 leaks again. Please send a mechanic."],
    ["Letter 2", "Thank you for the new pump."],
    ["Letter 3", "Our order TX-99402 has not arrived."],
    ["Letter 4", "Where is my order? I mean tx-99402, and the pump with it."],
]


def _answer(find_term, documents, term):
    return find_term(term, list(documents_of(documents).values()))


def _probe(term: str) -> Probe:
    label = f'find_term("{term}", four letters)\n{listed(_LETTERS)}'
    return Probe({"documents": _LETTERS, "term": term}, label)


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
        ),
        Criterion(N_("upper and lower case are the same"), 0.5, (_probe("TX-99402"), _probe("PUMP"))),
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
