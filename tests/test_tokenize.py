"""From text to the terms of a keyword index."""

import random
import unicodedata

import pytest

from hybrid_search import tokenize

IDENTIFIERS = [
    "INC-2023-Q4-011",
    "TX-99402",
    "ERR_MEM",
    "ERR_MEM_ALLOC_FAIL_0x8007000E",
    "XDR-471",
    "4.2.7",
    "v1.0-rc.2",
    "10.0.0.1",
    "2023-11-04",
    "file_name.py",
    "_private",
    "Q4",
    "3D",
]


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_an_identifier_stays_one_token(identifier):
    token = identifier.casefold()
    assert tokenize(identifier) == [token]
    assert tokenize(f"Of {identifier}, ({identifier}) and “{identifier}”.") == [token] * 3


def test_an_identifier_is_not_indexed_by_its_parts():
    tokens = tokenize("Ticket INC-2023-Q4-011 is closed")
    assert not {"inc", "2023", "q4", "011"} & set(tokens)


def test_neighbouring_identifiers_are_two_tokens():
    assert tokenize("TX-99401/TX-99402") == ["tx-99401", "tx-99402"]
    assert tokenize("TX-99401--TX-99402") == ["tx-99401", "tx-99402"]


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("two-factor", ["two", "factor"]),
        ("example.org", ["example", "org"]),
        ("state-of-art", ["state", "art"]),
        ("pump.valve-seal", ["pump", "valve", "seal"]),
        ("pump—valve…seal", ["pump", "valve", "seal"]),
        ("-pump- .valve.", ["pump", "valve"]),
    ],
)
def test_a_run_without_digit_or_underscore_is_split(text, tokens):
    assert tokenize(text) == tokens


@pytest.mark.parametrize("text", ["Qwen.", "(QWEN)", "qwen,", "«qwen»", "qwen!?", "\tqwen\n"])
def test_punctuation_and_case_do_not_matter(text):
    assert tokenize(text) == ["qwen"]


def test_tokens_keep_their_order_and_their_repetitions():
    assert tokenize("pump valve pump") == ["pump", "valve", "pump"]


@pytest.mark.parametrize("word", ["équipement", "École", "façade", "naïve", "Ångström", "señor", "Übung"])
def test_both_unicode_forms_and_the_word_without_accents_give_one_token(word):
    composed, decomposed = (unicodedata.normalize(form, word) for form in ("NFC", "NFD"))
    bare = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    assert composed != decomposed != bare
    assert tokenize(composed) == tokenize(decomposed) == tokenize(bare) == [bare.casefold()]


def test_case_folding_goes_beyond_lower_case():
    assert tokenize("Straße STRASSE ﬁlter FILTER") == ["strasse", "strasse", "filter", "filter"]


@pytest.mark.parametrize("apostrophe", ["'", "’"])
@pytest.mark.parametrize(
    "text, tokens",
    [
        ("l{}école", ["ecole"]),
        ("L{}École", ["ecole"]),
        ("d{}incident", ["incident"]),
        ("qu{}équipement", ["equipement"]),
        ("lorsqu{}incident", ["incident"]),
        ("l{}INC-2023-Q4-011", ["inc-2023-q4-011"]),
        ("l{}ERR_MEM", ["err_mem"]),
        ("aujourd{}hui", ["aujourd", "hui"]),
    ],
)
def test_french_elisions_are_split_off(apostrophe, text, tokens):
    assert tokenize(text.format(apostrophe)) == tokens


def test_an_elision_split_leaves_english_contractions_to_the_stop_words():
    assert tokenize("It's the pump's fault") == ["pump", "fault"]


@pytest.mark.parametrize(
    "text", ["with the and of a", "le la les avec pour dans", "MÊME été e\u0301te\u0301 À"]
)
def test_stop_words_of_both_languages_are_dropped_whatever_their_accents(text):
    assert tokenize(text) == []


def test_an_identifier_made_of_stop_words_survives():
    assert tokenize("with_the and-2") == ["with_the", "and-2"]


@pytest.mark.parametrize("text", ["", "  ", "...", "—", "' ’", "🙂", "\n"])
def test_text_without_a_word_has_no_token(text):
    assert tokenize(text) == []


def test_other_alphabets_are_words():
    assert tokenize("Насос насос 漢字") == ["насос", "насос", "漢字"]


@pytest.mark.parametrize("seed", range(20))
def test_tokens_of_tokens_are_themselves(seed):
    draw = random.Random(seed)
    text = "".join(draw.choices("aéÉßİqu'’-._ 09ΣςœﬁñÅ\u0301\u0308 \n", k=200))
    for token in tokenize(text):
        assert tokenize(token) == [token]
        assert token == unicodedata.normalize("NFC", token).casefold()


@pytest.mark.parametrize("text", [None, b"pump", ["pump"], 5])
def test_anything_but_text_is_refused(text):
    with pytest.raises(TypeError, match=f"the text must be a str: got {type(text).__name__}"):
        tokenize(text)
