"""The Retriever over stub indexes. Letters are documents; the left end of a string is rank 1."""

import random

import pytest

from hybrid_search import KeywordIndex, Retriever, rrf_scores

DOCUMENTS = {letter: {"id": letter, "content": f"text {letter}"} for letter in "abcdefghwxyzXYABCD"}


class Stub:
    """An index that ranks as it is told, whatever the query, and remembers what it was asked."""

    def __init__(self, ranking, documents=DOCUMENTS):
        self.ranking, self.documents, self.asked, self.added = ranking, documents, [], []

    def add_document(self, document):
        self.added.append(document)

    def search(self, query, k):
        self.asked.append((query, k))
        return [(self.documents[key], 0.0) for key in self.ranking[:k]]


class Deaf(Stub):
    """An index that gives everything it has, however little was asked for."""

    def search(self, query, k):
        return super().search(query, len(self.ranking))


class Lazy(Stub):
    """An index whose results are made one by one, and never end."""

    def search(self, query, k):
        yield from super().search(query, k)
        while True:
            yield DOCUMENTS["z"], 0.0


class Fixed:
    """An index whose search gives one fixed value."""

    def __init__(self, value):
        self.value = value

    def add_document(self, document):
        pass

    def search(self, query, k):
        return self.value


def search(*rankings, weights=None, **settings):
    """The fused documents as one string of letters."""
    found = Retriever(*map(Stub, rankings), weights=weights).search("query", **settings)
    return "".join(document["id"] for document, _ in found)


def scores(*rankings, weights=None, **settings):
    settings = {"k": 20} | settings
    found = Retriever(*map(Stub, rankings), weights=weights).search("query", **settings)
    return {document["id"]: score for document, score in found}


# Scores and order


def test_results_are_pairs_of_document_and_rrf_score():
    assert Retriever(Stub("ab")).search("query", k=2) == [
        (DOCUMENTS["a"], 1 / 61),
        (DOCUMENTS["b"], 1 / 62),
    ]


def test_the_document_given_back_is_the_object_that_was_found():
    (document, _), *_ = Retriever(Stub("ab"), Stub("ba")).search("query")
    assert document is DOCUMENTS["a"]


def test_one_result_k_rrf_60_and_20_candidates_unless_told():
    index = Stub("abc")
    assert Retriever(index).search("query") == [(DOCUMENTS["a"], 1 / 61)]
    assert index.asked == [("query", 20)]


def test_the_query_reaches_every_index_as_it_was_typed():
    indexes = Stub("a"), Stub("b"), Stub("c")
    Retriever(*indexes).search(" Pump leak? ", candidates=7)
    assert [index.asked for index in indexes] == [[(" Pump leak? ", 7)]] * 3


@pytest.mark.parametrize(
    "k_rrf, expected",
    [(1, [0.833333, 0.75, 0.583333]), (60, [0.032522, 0.032266, 0.032002])],
)
def test_two_indexes_are_fused_by_rank(k_rrf, expected):
    fused = scores("acb", "bac", k_rrf=k_rrf)  # sections 2, 7, 6 and 6, 2, 7
    assert list(fused) == ["a", "b", "c"]
    assert list(fused.values()) == pytest.approx(expected, abs=5e-7)


def test_weights_change_the_order():
    fused = scores("acb", "bac", weights=[3, 1])
    assert list(fused) == ["a", "c", "b"]
    assert list(fused.values()) == pytest.approx([0.065309, 0.064260, 0.064012], abs=5e-7)


def test_the_values_of_an_index_do_not_matter():
    far, near = (
        [(DOCUMENTS["a"], 0.1), (DOCUMENTS["b"], 900.0)],
        [(DOCUMENTS["a"], None), (DOCUMENTS["b"], -1)],
    )
    assert Retriever(Fixed(far)).search("query", k=2) == Retriever(Fixed(near)).search("query", k=2)


def test_an_index_that_repeats_a_document_counts_it_once():
    fused = scores("aab", "bc")
    assert list(fused) == ["b", "a", "c"]
    assert list(fused.values()) == pytest.approx([0.032522, 0.016393, 0.016129], abs=5e-7)


def test_first_in_three_indexes_adds_three_times():
    assert scores("a", "a", "a") == pytest.approx({"a": 0.049180}, abs=5e-7)


def test_a_document_missing_from_an_index_gets_nothing_from_it():
    fused = scores("XaY", "bcY")
    assert list(fused)[0] == "Y"
    assert fused["Y"] == pytest.approx(0.031746, abs=5e-7)


def test_k_rrf_decides_between_the_first_and_the_agreed():
    assert set(search("axyb", "zwcb", k=2, k_rrf=1)) == {"a", "z"}
    assert search("axyb", "zwcb", k=1, k_rrf=60) == "b"
    at_2 = scores("axyb", "zwcb", k_rrf=2)
    assert at_2["a"] == at_2["z"] == at_2["b"] == 1 / 3


def test_mirrored_indexes_give_the_same_order_on_every_run():
    runs = [Retriever(Stub("ab"), Stub("ba")).search("query", k=2) for _ in range(5)]
    assert [document["id"] for document, _ in runs[0]] == ["a", "b"]
    assert all(run == runs[0] for run in runs)
    assert runs[0][0][1] == runs[0][1][1] == pytest.approx(0.032522, abs=5e-7)


def test_equal_scores_are_ordered_by_the_better_best_rank_then_by_first_seen():
    assert search("xyzb", "dcwb", "a", k=4, k_rrf=2) == "xdab"
    assert search("ba", "ab", k=2) == "ba"
    assert search("a", "b", "c", k=3) == "abc"
    assert search("c", "b", "a", k=3) == "cba"


def test_two_indexes_at_k_rrf_60_never_exceed_2_over_61():
    assert scores("abc", "abc")["a"] == 2 / 61
    assert max(scores("abcd", "dabc").values()) <= 2 / 61


def test_an_index_padded_with_what_it_did_not_find_raises_those_documents():
    assert scores("BACD", "A")["B"] == pytest.approx(0.016393, abs=5e-7)
    assert scores("BACD", "ADCB")["B"] == pytest.approx(0.032018, abs=5e-7)


# How many


def test_k_results_and_no_more():
    assert [search("abcde", k=k) for k in (1, 2, 3)] == ["a", "ab", "abc"]


def test_fewer_results_where_fewer_were_found():
    assert search("ab", "bc", k=9) == "bac"
    assert search("", "", k=9) == ""


def test_each_index_is_asked_for_its_candidates_alone():
    three, four = (scores("abcx", "defx", candidates=candidates) for candidates in (3, 4))
    assert list(three.items())[0] == ("a", pytest.approx(0.016393, abs=5e-7))
    assert "x" not in three
    assert list(four.items())[0] == ("x", pytest.approx(0.03125, abs=5e-7))


@pytest.mark.parametrize("kind", [Deaf, Lazy])
def test_an_index_that_gives_more_than_asked_is_cut_at_candidates(kind):
    retriever = Retriever(kind("abcx"), kind("defx"))
    assert [document["id"] for document, _ in retriever.search("query", k=20, candidates=3)] == list("adbecf")


def test_an_index_may_give_a_generator_or_pairs_as_lists():
    generator = ((DOCUMENTS[letter], 0.5) for letter in "ab")
    assert [document["id"] for document, _ in Retriever(Fixed(generator)).search("query", k=5)] == ["a", "b"]
    lists = [[DOCUMENTS["a"], 0.5], [DOCUMENTS["b"], 0.7]]
    assert [document["id"] for document, _ in Retriever(Fixed(lists)).search("query", k=5)] == ["a", "b"]


def test_k_may_exceed_candidates():
    first, second = ([{"id": f"{side}{n}", "content": "text"} for n in range(30)] for side in "ab")
    retriever = Retriever(Stub(range(30), first), Stub(range(30), second))
    assert len(retriever.search("query", k=50, candidates=10)) == 20
    assert len(retriever.search("query", k=20, candidates=10)) == 20
    assert len(retriever.search("query", k=15, candidates=10)) == 15


@pytest.mark.parametrize("seed", range(20))
def test_the_first_k_are_the_first_of_k_plus_1(seed):
    draw = random.Random(seed)
    rankings = [draw.sample("abcdefgh", draw.randint(1, 8)) for _ in range(3)]
    k_rrf = draw.choice([0, 1, 2, 60])
    whole = search(*rankings, k=9, k_rrf=k_rrf)
    assert [search(*rankings, k=k, k_rrf=k_rrf) for k in range(1, 9)] == [whole[:k] for k in range(1, 9)]


@pytest.mark.parametrize("seed", range(20))
def test_random_indexes_are_fused_as_rrf_scores_fuses_their_candidates(seed):
    draw = random.Random(seed)
    rankings = [draw.choices("abcdefgh", k=draw.randint(0, 9)) for _ in range(draw.randint(1, 4))]
    weights = [draw.choice([0, 0.5, 1, 3]) for _ in rankings]
    weights[-1] = weights[-1] or 2
    k, candidates, k_rrf = draw.randint(1, 9), draw.randint(1, 9), draw.choice([0, 1, 2, 60])
    expected = rrf_scores([ranking[:candidates] for ranking in rankings], k_rrf, weights)
    fused = scores(*rankings, weights=weights, k=k, candidates=candidates, k_rrf=k_rrf)
    assert list(fused.items()) == list(expected.items())[:k]


# Weights


def test_an_index_of_weight_0_contributes_nothing():
    assert scores("ab", "zb", weights=[1, 0]) == {"a": 1 / 61, "b": 1 / 62}


def test_an_index_of_weight_0_is_not_even_asked():
    asked, silent = Stub("a"), Stub("z")
    Retriever(silent, asked, weights=[0, 2]).search("query")
    assert (len(asked.asked), silent.asked) == (1, [])


def test_indexes_and_weights_are_public_and_may_change_between_searches():
    first, second = Stub("ab"), Stub("ba")
    retriever = Retriever(first, second)
    assert list(retriever.indexes) == [first, second]
    assert list(retriever.weights) == [1, 1]
    retriever.weights = [1, 3]
    assert retriever.search("query")[0][0]["id"] == "b"
    retriever.indexes.append(Stub("c"))
    retriever.weights = [1, 1, 9]
    assert retriever.search("query")[0][0]["id"] == "c"


def test_changing_the_weights_that_were_given_does_not_change_the_retriever():
    weights = [1, 0]
    retriever = Retriever(Stub("ab"), Stub("zb"), weights=weights)
    weights[1] = 9
    assert retriever.search("query")[0][0]["id"] == "a"


# What makes two documents the same


def test_documents_with_the_same_text_and_different_ids_stay_two():
    twins = [{"id": 1, "content": "same"}, {"id": 2, "content": "same"}]
    found = Retriever(Stub([0, 1], twins), Stub([1, 0], twins)).search("query", k=5)
    assert [document["id"] for document, _ in found] == [1, 2]


def test_documents_with_the_same_text_and_no_id_stay_two():
    twins = [{"content": "same"}, {"content": "same"}]
    found = Retriever(Stub([0, 1], twins), Stub([1, 0], twins)).search("query", k=5)
    assert [document for document, _ in found] == twins
    assert found[0][0] is twins[0] and found[1][0] is twins[1]


def test_one_object_without_an_id_found_by_two_indexes_is_one_document():
    documents = [{"content": "one"}, {"content": "two"}]
    found = Retriever(Stub([0, 1], documents), Stub([0], documents)).search("query", k=5)
    assert [(document["content"], score) for document, score in found] == [("one", 2 / 61), ("two", 1 / 62)]


def test_copies_with_the_same_id_are_one_document_whatever_their_text():
    here, there = {"id": 7, "content": "here"}, {"id": 7, "content": "there"}
    found = Retriever(Fixed([(here, 1.0)]), Fixed([(there, 1.0)])).search("query", k=5)
    assert found == [(here, 2 / 61)]
    assert found[0][0] is here


def test_of_several_objects_with_one_id_the_one_found_first_is_given_back():
    first, *others = [{"id": "a", "content": f"text {number}"} for number in range(4)]
    one = [(first, 0), (DOCUMENTS["b"], 0), (others[0], 0), (others[1], 0)]
    found = Retriever(Fixed(one), Fixed([(others[2], 0)])).search("query", k=9)
    assert [document["id"] for document, _ in found] == ["a", "b"]
    assert found[0][0] is first


def test_an_id_that_is_zero_or_empty_is_still_an_id():
    zero, empty = {"id": 0, "content": "x"}, {"id": "", "content": "x"}
    copies = [({"id": "", "content": "x"}, 1.0), ({"id": 0, "content": "x"}, 1.0)]
    found = Retriever(Fixed([(zero, 1.0), (empty, 1.0)]), Fixed(copies)).search("query", k=5)
    assert [document["id"] for document, _ in found] == [0, ""]


def test_an_id_that_looks_like_the_mark_of_another_object_stays_apart():
    plain = {"content": "x"}
    tricky = {"id": id(plain), "content": "x"}
    assert len(Retriever(Fixed([(plain, 1.0), (tricky, 1.0)])).search("query", k=5)) == 2


class Temporary:
    """An index that makes each document anew while it searches and keeps none."""

    def __init__(self, *contents):
        self.contents = contents

    def add_document(self, document):
        pass

    def search(self, query, k):
        for content in self.contents[:k]:
            yield {"content": content}, 0.0


def test_temporary_documents_of_equal_content_stay_as_many_as_they_were():
    found = Retriever(Temporary("same", "same", "same")).search("query", k=9)
    assert [document for document, _ in found] == [{"content": "same"}] * 3
    assert [score for _, score in found] == [1 / 61, 1 / 62, 1 / 63]


def test_temporary_documents_of_several_indexes_are_not_mixed_up():
    names = [[f"{side}{number}" for number in range(8)] for side in "abcd"]
    found = Retriever(*(Temporary(*side) for side in names)).search("query", k=99)
    assert sorted(document["content"] for document, _ in found) == sorted(sum(names, []))
    assert {score for _, score in found} == {1 / (60 + rank) for rank in range(1, 9)}


# Adding


def test_a_document_is_added_to_every_index():
    first, second = Stub(""), Stub("")
    Retriever(first, second).add_document(DOCUMENTS["a"])
    assert first.added == second.added == [DOCUMENTS["a"]]
    assert first.added[0] is DOCUMENTS["a"]


def test_many_documents_go_through_add_documents_where_an_index_has_it():
    class Batch(Stub):
        def add_documents(self, documents):
            self.added.append(list(documents))

    batch, single = Batch(""), Stub("")
    Retriever(batch, single).add_documents(DOCUMENTS[letter] for letter in "ab")
    assert batch.added == [[DOCUMENTS["a"], DOCUMENTS["b"]]]
    assert single.added == [DOCUMENTS["a"], DOCUMENTS["b"]]


@pytest.mark.parametrize(
    "bad, error, message",
    [
        ("text", TypeError, "a document is a dict .* got str"),
        ({"id": "s9"}, ValueError, "the document with id 's9' has no \"content\""),
        ({"id": "s9", "content": " "}, ValueError, "the document with id 's9' is empty"),
        ({"id": "s9", "content": 5}, TypeError, "the document with id 's9' must be text: got int"),
        ({"id": ["s9"], "content": "x"}, ValueError, "must be hashable.*s9"),
        ({"id": "a", "content": "another"}, ValueError, "another document with id 'a'"),
    ],
)
def test_a_batch_with_one_bad_document_reaches_no_index(bad, error, message):
    first, second = Stub(""), Stub("")
    with pytest.raises(error, match=message):
        Retriever(first, second).add_documents([DOCUMENTS["a"], bad])
    assert first.added == second.added == []


def test_a_document_that_one_index_refused_can_be_added_again():
    from hybrid_search import BM25Index

    class Moody(Stub):
        broken = True

        def add_document(self, document):
            if self.broken:
                raise RuntimeError("service unavailable")
            super().add_document(document)

    words, moody = BM25Index(), Moody("")
    retriever = Retriever(words, moody)
    with pytest.raises(RuntimeError, match="service unavailable"):
        retriever.add_document(DOCUMENTS["a"])
    moody.broken = False
    retriever.add_document(DOCUMENTS["a"])
    assert (len(words), moody.added) == (1, [DOCUMENTS["a"]])


# Refusals


def test_a_retriever_without_an_index_is_refused():
    with pytest.raises(ValueError, match="at least one index"):
        Retriever()


@pytest.mark.parametrize("index", ["words", [Stub("a"), Stub("b")], None, Stub])
def test_an_index_that_cannot_search_is_refused(index):
    with pytest.raises(TypeError, match="an index needs the methods add_document.* and search"):
        Retriever(index)


@pytest.mark.parametrize("name", ["k", "candidates"])
@pytest.mark.parametrize(
    "value, error", [(0, ValueError), (-3, ValueError), (2.5, TypeError), ("3", TypeError)]
)
def test_counts_below_1_or_not_whole_are_refused(name, value, error):
    index = Stub("ab")
    with pytest.raises(error, match=f"^{name} must be .*got {value!r}"):
        Retriever(index).search("query", **{name: value})
    assert index.asked == []


@pytest.mark.parametrize("k_rrf", [-1, float("nan"), float("inf"), None, "60"])
def test_a_k_rrf_that_is_no_number_of_at_least_0_is_refused(k_rrf):
    index = Stub("ab")
    with pytest.raises(ValueError, match=f"k_rrf must be a number of at least 0: got {k_rrf!r}"):
        Retriever(index).search("query", k_rrf=k_rrf)
    assert index.asked == []


def test_k_rrf_0_is_allowed():
    assert scores("ab", k_rrf=0) == {"a": 1.0, "b": 0.5}


@pytest.mark.parametrize(
    "weights, message",
    [
        ([1, -1], "at least 0: got .*-1"),
        ([1, float("nan")], "at least 0: got .*nan"),
        ([1, float("inf")], "at least 0: got .*inf"),
        ([0, 0], "at least one weight must be above 0"),
        ([1], "got 1 weights for 2"),
        ([1, 1, 1], "got 3 weights for 2"),
        ([1, "x"], "weights must be numbers.*x"),
    ],
)
def test_weights_that_make_no_sense_are_refused_at_once_and_when_set_later(weights, message):
    with pytest.raises(ValueError, match=message):
        Retriever(Stub("a"), Stub("b"), weights=weights)
    retriever = Retriever(Stub("a"), Stub("b"))
    retriever.weights = weights
    with pytest.raises(ValueError, match=message):
        retriever.search("query")


@pytest.mark.parametrize(
    "query, error", [("", ValueError), (" \n\t", ValueError), (None, TypeError), (7, TypeError)]
)
def test_an_empty_query_or_one_that_is_no_text_is_refused(query, error):
    index = Stub("ab")
    with pytest.raises(error, match="query"):
        Retriever(index).search(query)
    assert index.asked == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        5,
        [DOCUMENTS["a"]],
        [(0.5, DOCUMENTS["a"])],
        [(DOCUMENTS["a"],)],
        [(DOCUMENTS["a"], 0.5, 1)],
        ["ab"],
        ["a", "b"],
    ],
)
def test_an_index_that_gives_no_pairs_is_named(value):
    with pytest.raises(TypeError, match=r"search of Fixed must give pairs \(document, value\): got"):
        Retriever(Fixed(value)).search("query")


def test_an_error_inside_an_index_comes_through_unchanged():
    class Broken(Stub):
        def search(self, query, k):
            raise TypeError("the index is at fault")

    with pytest.raises(TypeError, match="the index is at fault"):
        Retriever(Stub("a"), Broken("")).search("query")


# With the real indexes


def test_vectors_and_words_together():
    from hybrid_search import BM25Index, VectorIndex

    texts = ["pump failure", "valve leak TX-99402", "pump leak"]
    documents = [{"id": number, "content": text} for number, text in enumerate(texts)]

    class Letters:
        def embed_documents(self, texts):
            return [self.embed_query(text) for text in texts]

        def embed_query(self, text):
            return [1 + text.count(letter) for letter in "aelpmuv"]

    retriever = Retriever(VectorIndex(Letters()), BM25Index())
    retriever.add_documents(documents)
    found = retriever.search("TX-99402", k=3)
    assert [document["id"] for document, _ in found][0] == 1
    # A third index joins and the class stays as it is.
    retriever = Retriever(VectorIndex(Letters()), BM25Index(), KeywordIndex())
    retriever.add_documents(documents)
    best, score = retriever.search("TX-99402", k=9)[0]
    assert (best["id"], score > 2 / 61) == (1, True)


# A keyword index, the smallest that can join


def keyword_index(*texts):
    index = KeywordIndex()
    for number, text in enumerate(texts):
        index.add_document({"id": number, "content": text})
    return index


def test_a_keyword_index_counts_the_different_words_it_shares_with_the_query():
    index = keyword_index("pump", "pump pump pump valve", "the rotor", "valve seal pump")
    found = index.search("Pump pump, valve and seal", k=9)
    assert [(document["id"], count) for document, count in found] == [(3, 3), (1, 2), (0, 1)]
    assert [document["id"] for document, _ in index.search("pump valve", k=1)] == [1]


def test_a_keyword_index_keeps_identifiers_whole_and_equal_counts_in_order():
    index = keyword_index("see TX-99401", "see TX-99402", "TX-99402 again")
    assert [document["id"] for document, _ in index.search("TX-99402?", k=9)] == [1, 2]
    assert index.search("zzz", k=9) == index.search("the", k=9) == KeywordIndex().search("pump", k=9) == []


def test_a_keyword_index_refuses_what_the_other_indexes_refuse():
    index, document = KeywordIndex(), {"id": "a", "content": "pump"}
    index.add_document(document)
    index.add_document(document)
    assert index.search("pump", k=9) == [(document, 1)]
    with pytest.raises(ValueError, match="another document with id 'a'"):
        index.add_document({"id": "a", "content": "pump"})
    with pytest.raises(ValueError, match="the document with id 'b' is empty"):
        index.add_document({"id": "b", "content": ""})
    with pytest.raises(ValueError, match="the query is empty"):
        index.search(" ")
    with pytest.raises(ValueError, match="k must be at least 1: got 0"):
        index.search("pump", k=0)
    assert index.search("pump", k=9) == [(document, 1)]


class Plain:
    """The least an index needs: it keeps whatever it is given."""

    def __init__(self):
        self.documents = []

    def add_document(self, document):
        self.documents.append(document)

    def search(self, query, k=1):
        return [(document, 1.0) for document in self.documents[:k]]


def test_an_index_that_checks_nothing_still_gets_each_document_once():
    index, document = Plain(), {"id": 1, "content": "pump"}
    retriever = Retriever(index)
    retriever.add_document(document)
    retriever.add_documents([document])
    assert index.documents == [document]
    with pytest.raises(ValueError, match="another document with id 1 is already in the index"):
        retriever.add_document({"id": 1, "content": "valve"})
    assert index.documents == [document]


def test_an_index_may_join_later_and_weighs_as_much_as_the_others():
    first, second = Plain(), Plain()
    retriever = Retriever(first)
    retriever.add_document({"id": 1, "content": "pump"})
    second.add_document({"id": 2, "content": "valve"})
    retriever.indexes.append(second)
    assert [score for _, score in retriever.search("pump", k=5)] == [1 / 61, 1 / 61]


def test_weights_given_as_one_text_are_refused():
    with pytest.raises(ValueError, match="weight"):
        Retriever(Plain(), Plain(), weights="12")
