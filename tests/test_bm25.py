"""The keyword index. Documents are written as their tokens, parted by spaces."""

import math
import random
import unicodedata

import pytest

from hybrid_search import BM25Index, bm25, chunk_by_section, idf, tokenize

INCIDENT = "what happened with INC-2023-Q4-011?"


def index_of(*texts, **settings):
    index = BM25Index(**{"tokenize": str.split, **settings})
    index.add_documents([{"id": number, "content": text} for number, text in enumerate(texts)])
    return index


def search(index, query, k=99):
    """A dict id -> score, best first."""
    return {document["id"]: score for document, score in index.search(query, k=k)}


def slow_bm25(documents, query, k1, b):
    """Robertson's formula word by word: one score for each list of tokens."""
    average = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in query:
            containing = len([other for other in documents if term in other])
            weight = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
            times = document.count(term)
            score += weight * times * (k1 + 1) / (times + k1 * (1 - b + b * len(document) / average))
        scores.append(score)
    return scores


# The weight of a term


@pytest.mark.parametrize("n, documents, value", [(1, 2, math.log(2)), (3, 3, 0.133531), (0, 3, math.log(8))])
def test_the_idf_is_the_logarithm_with_1_inside(n, documents, value):
    texts = [["a", "b"]] * n + [["b"]] * (documents - n)
    assert idf("a", texts) == pytest.approx(value, abs=5e-7)


def test_the_idf_counts_documents_not_occurrences():
    assert idf("a", [["a", "a", "b"], ["b"]]) == idf("a", [["a", "b"], ["b"]]) == pytest.approx(math.log(2))


def test_the_idf_is_never_negative_and_falls_as_a_term_spreads():
    values = [idf("a", [["a"]] * n + [["b"]] * (20 - n)) for n in range(21)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


# Scores


def test_one_rare_term_finds_one_document():
    assert search(index_of("chat noir", "chien blanc"), "chat") == {0: pytest.approx(0.693147, abs=5e-7)}


def test_a_term_in_every_document_still_scores_above_zero():
    assert list(search(index_of("a b", "a b", "a b"), "a").values()) == pytest.approx(
        [0.133531] * 3, abs=5e-7
    )


@pytest.mark.parametrize("seed", range(20))
def test_scores_agree_with_the_formula(seed):
    draw = random.Random(seed)
    documents = [draw.choices("abcdefghij", k=draw.randint(1, 12)) for _ in range(draw.randint(1, 25))]
    k1, b = draw.choice([(1.5, 0.75), (0.5, 0), (1.2, 1), (3, 0.3)])
    index = index_of(*map(" ".join, documents), k1=k1, b=b)
    for _ in range(10):
        query = draw.choices("abcdefghijz", k=draw.randint(1, 5))
        expected = slow_bm25(documents, query, k1, b)
        found = search(index, " ".join(query))
        assert found == pytest.approx({number: score for number, score in enumerate(expected) if score > 0})
        values = list(found.values())
        assert values == sorted(values, reverse=True)


def test_k1_is_15_tenths_and_b_three_quarters_unless_told():
    texts = "a a b", "a", "b c d e"
    assert search(index_of(*texts), "a b") == search(index_of(*texts, k1=1.5, b=0.75), "a b")
    expected = slow_bm25([text.split() for text in texts], ["a", "b"], 1.5, 0.75)
    assert search(index_of(*texts), "a b") == pytest.approx(dict(enumerate(expected)))


def test_a_term_asked_twice_counts_twice():
    index = index_of("a b", "b c")
    assert search(index, "a a")[0] == pytest.approx(2 * search(index, "a")[0])


def test_equal_scores_keep_the_order_of_addition():
    index = index_of("x", "a b", "b a", "x", "a b")
    assert list(search(index, "a")) == [1, 2, 4]
    assert [list(search(index, "a", k)) for k in (1, 2)] == [[1], [1, 2]]


@pytest.mark.parametrize("size", range(1, 70, 4))
def test_equal_documents_are_exact_ties_at_every_place(size):
    index = index_of(*["a b c a"] * size, "x y", "z")
    scores = search(index, "c a b")
    assert list(scores) == list(range(size))
    assert len(set(scores.values())) == 1


# What is found


def test_no_document_without_a_term_of_the_query_is_returned():
    assert list(search(index_of("a b", "c d", "b c"), "a")) == [0]


@pytest.mark.parametrize("query", ["zzz", "zzz yyy", "the"])
def test_a_query_without_a_known_term_gives_nothing(query):
    assert index_of("pump leak", "valve", tokenize=tokenize).search(query, k=5) == []


@pytest.mark.parametrize("query", ["...", "the and of", "?"])
def test_a_query_without_any_term_gives_nothing(query):
    assert index_of("pump leak", "the valve", tokenize=tokenize).search(query, k=5) == []


def test_an_unknown_term_beside_a_known_one_changes_nothing():
    index = index_of("a b", "b c")
    assert search(index, "a zzz") == search(index, "a")


def test_an_index_without_documents_gives_nothing():
    assert BM25Index().search("pump", k=5) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("texts", [["the"], ["the", "and of", "..."]])
def test_documents_without_a_token_are_kept_and_never_found(texts):
    index = index_of(*texts, tokenize=tokenize)
    assert (len(index), index.search("pump", k=5), index.search("the", k=5)) == (len(texts), [], [])
    index.add_document({"id": "p", "content": "pump"})
    assert list(search(index, "pump")) == ["p"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("b", [0, 0.75, 1])
def test_a_document_without_a_token_beside_others_disturbs_no_score(b):
    index = index_of("the", "pump leak", "pump", tokenize=tokenize, b=b)
    expected = slow_bm25([["x"], ["pump", "leak"], ["pump"]], ["pump"], 1.5, 0) if b == 0 else None
    found = search(index, "pump leak")
    assert set(found) == {1, 2} and all(score > 0 for score in found.values())
    if expected:
        assert search(index, "pump") == pytest.approx({1: expected[1], 2: expected[2]})


def test_k_larger_than_the_index_gives_what_matches():
    assert len(index_of("a", "a b", "c a").search("a", k=5)) == 3
    assert len(index_of("a", "a b", "c").search("a", k=5)) == 2


def test_an_identifier_finds_its_own_document_alone():
    index = index_of("see TX-99401", "see TX-99402", "see TX and 99402", tokenize=tokenize)
    assert list(search(index, "What is TX-99402?")) == [1]


def test_punctuation_accents_and_elisions_do_not_hide_a_word():
    assert list(search(index_of("uses qwen", "other", tokenize=tokenize), "Qwen.")) == [0]
    assert list(search(index_of("une école", "autre", tokenize=tokenize), "l'école")) == [0]
    index = index_of("notre équipement", "autre", "equipement neuf ici", tokenize=tokenize)
    forms = [
        unicodedata.normalize("NFC", "équipement"),
        unicodedata.normalize("NFD", "équipement"),
        "equipement",
    ]
    assert len(set(forms)) == 3
    first, *others = [index.search(form, k=5) for form in forms]
    assert len(first) == 2
    assert others == [first, first]


# Adding and searching in turn


def test_a_search_sees_every_addition_with_the_idf_of_a_fresh_index():
    texts = ["a b", "b c c", "a a d", "e"]
    index = BM25Index(str.split)
    for size, text in enumerate(texts, start=1):
        index.add_document({"id": size - 1, "content": text})
        assert search(index, "a c e") == search(index_of(*texts[:size]), "a c e")


def test_the_model_is_made_at_the_first_search_after_an_addition_only(monkeypatch):
    made = []
    real = bm25._model_class()
    monkeypatch.setattr(
        bm25, "_model_class", lambda: lambda *given, **named: made.append(1) or real(*given, **named)
    )
    index = BM25Index(str.split)
    for text in ("a b", "b c", "a"):
        index.add_document({"content": text})
    assert len(made) == 0
    index.search("a"), index.search("b")
    assert len(made) == 1
    known = {"content": "d"}
    index.add_document(known)
    assert len(made) == 1
    index.search("a")
    assert len(made) == 2
    index.add_document(known)
    index.search("a")
    assert len(made) == 2


def test_a_document_is_tokenized_once():
    calls = []
    index = BM25Index(lambda text: calls.append(text) or text.split())
    index.add_documents([{"content": "a b"}, {"content": "b"}])
    index.search("a"), index.search("b")
    assert calls == ["a b", "b", "a", "b"]


def test_documents_are_not_counted_twice():
    index, document = BM25Index(str.split), {"id": "d", "content": "a"}
    index.add_document(document)
    once = index.search("a", k=5)
    index.add_document(document)
    assert (len(index), index.search("a", k=5)) == (1, once)
    with pytest.raises(ValueError, match="another document with id 'd'"):
        index.add_document({"id": "d", "content": "a"})
    assert (len(index), index.search("a", k=5)) == (1, once)


# The report


@pytest.fixture(scope="module")
def sections(root):
    text = (root / "assets" / "report.md").read_text(encoding="utf-8")
    return [{"id": number, "content": chunk} for number, chunk in enumerate(chunk_by_section(text), start=1)]


def test_the_incident_is_found_in_sections_10_2_and_5_and_nowhere_else(sections):
    index = BM25Index()
    index.add_documents(sections)
    assert [document["id"] for document, _ in index.search(INCIDENT, k=10)] == [10, 2, 5]


def test_with_stop_words_kept_the_word_with_outranks_the_incident(sections, monkeypatch):
    monkeypatch.setattr(bm25, "_stop_words", frozenset)
    index = BM25Index()
    index.add_documents(sections)
    found = [document for document, _ in index.search(INCIDENT, k=10)]
    assert [document["id"] for document in found[:2]] == [10, 1]
    assert "INC-2023-Q4-011" not in found[1]["content"]


# Refusals


def test_a_tokenizer_that_gives_one_str_is_refused():
    index = BM25Index(str.lower)
    with pytest.raises(TypeError, match="tokenize must give a list of tokens: it gave one str"):
        index.add_document({"content": "pump"})
    assert len(index) == 0


def test_a_tokenizer_that_breaks_on_one_document_adds_none():
    def fragile(text):
        return [1 / len(word.strip("!")) for word in text.split()]

    index = BM25Index(fragile)
    with pytest.raises(ZeroDivisionError):
        index.add_documents([{"content": "pump"}, {"content": "!!"}])
    assert len(index) == 0


def test_a_tokenizer_may_give_a_generator_or_a_tuple():
    for kind in (tuple, iter):
        index = index_of("a b", "b", tokenize=lambda text, kind=kind: kind(text.split()))
        assert list(search(index, "a")) == [0]


@pytest.mark.parametrize("k1", [0, -1, float("nan"), float("inf")])
def test_a_k1_that_is_not_above_0_is_refused(k1):
    with pytest.raises(ValueError, match=f"k1 must be .*got {k1!r}"):
        BM25Index(k1=k1)


@pytest.mark.parametrize("b", [-0.1, 1.1, float("nan")])
def test_a_b_outside_0_to_1_is_refused(b):
    with pytest.raises(ValueError, match=f"b must be between 0 and 1: got {b!r}"):
        BM25Index(b=b)


@pytest.mark.parametrize("query", [None, 5, ["pump"]])
def test_a_query_that_is_no_text_is_refused(query):
    with pytest.raises(TypeError, match=r"a query must be text \(str\): got"):
        index_of("pump").search(query)
