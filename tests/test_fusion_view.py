"""One query's fusion: searched once, row by row as the Retriever fuses it, in a table and in a picture."""

import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

import pytest

import lab
from hybrid_search import BM25Index, KeywordIndex, Retriever, VectorIndex
from lab.corpora import Query
from lab.errors import PlainError
from lab.fusion_view import fused_rows, rrf_view
from lab.rankings import Rankings
from lab.sweeps import sweep

DOCUMENTS = {letter: {"id": letter, "content": f"text {letter}"} for letter in "abcdefgh"}


class Stub:
    """An index that ranks as it is told, and remembers what it was asked."""

    def __init__(self, ranking=""):
        self.ranking, self.asked = ranking, []

    def add_document(self, document):
        pass

    def search(self, query, k):
        self.asked.append((query, k))
        return [(DOCUMENTS[letter], 0.0) for letter in self.ranking[:k]]


class Sized(Stub):
    def __len__(self):
        return len(self.ranking)


class Broken(Stub):
    def search(self, query, k):
        super().search(query, k)
        raise ZeroDivisionError("float division by zero")


def rankings(*letters):
    return [[DOCUMENTS[letter] for letter in ranking] for ranking in letters]


def rows_of(*letters, **settings):
    return fused_rows(rankings(*letters), **settings)


# Rankings


def test_a_query_is_searched_once_in_each_index():
    indexes = [Sized("abc"), Sized("cb")]
    of = Rankings(indexes)
    assert of.of("q") == of.of("q") == rankings("abc", "cb")
    assert [index.asked for index in indexes] == [[("q", 3)], [("q", 3)]]


def test_an_index_is_asked_for_all_it_can_have_found():
    index = Stub("abcdefgh")
    assert Rankings([index]).of("q") == rankings("abcdefgh")
    assert index.asked[0][1] >= 1000


def test_an_empty_index_is_asked_for_at_least_one_document():
    index = Sized("")
    assert Rankings([index]).of("q") == [[]]
    assert index.asked == [("q", 1)]


def test_an_index_that_gives_more_than_asked_or_never_ends_is_cut():
    class Endless(Sized):
        def search(self, query, k):
            while True:
                yield DOCUMENTS["a"], 0.0

    assert Rankings([Endless("abc")]).of("q") == rankings("aaa")


def test_indexes_go_by_the_courses_names_and_the_second_of_a_kind_is_numbered():
    indexes = [VectorIndex(), BM25Index(), Stub(), BM25Index(), KeywordIndex()]
    assert Rankings(indexes).names == ["vector", "BM25", "Stub", "BM25 2", "KeywordIndex"]
    assert Rankings(indexes[:2], names=["x", "y"]).names == ["x", "y"]


def test_a_number_never_makes_two_names_the_same():
    class Stub2(Stub):
        pass

    Stub2.__name__ = "Stub 2"
    names = Rankings([Stub2(), Stub(), Stub()]).names
    assert len(set(names)) == 3


def test_the_size_is_what_an_index_says_and_else_the_longest_ranking_so_far():
    assert Rankings([Sized("abc"), Stub("abcdef")]).size == 3
    of = Rankings([Stub("ab"), Stub("abc")])
    assert of.size == 0
    of.of("q")
    assert of.size == 3


def test_a_retriever_gives_its_indexes_and_its_weights():
    indexes = [Stub("ab"), Stub("b")]
    of = Rankings.from_retriever(Retriever(*indexes, weights=[1, 3]))
    assert (of.indexes, of.weights) == (indexes, [1, 3])
    assert Rankings.from_retriever(of) is of


def test_a_retriever_without_indexes_asks_for_them():
    class Mine:
        weights = None

    with pytest.raises(ValueError, match=r"Mine has no list \.indexes.*indexes=\[vector_index, bm25_index\]"):
        Rankings.from_retriever(Mine())
    assert Rankings.from_retriever(Mine(), [Stub("ab")]).of("q") == rankings("ab")


def test_an_index_that_raises_is_named_with_the_query_and_nothing_is_remembered():
    good, broken = Stub("ab"), Broken()
    of = Rankings([good, broken])
    for _attempt in range(2):
        with pytest.raises(lab.SearchError) as caught:
            of.of("pump leak")
        message = str(caught.value)
        assert "index Broken failed on the query 'pump leak' with ZeroDivisionError" in message
        assert isinstance(caught.value, PlainError)  # one sentence in a notebook, no traceback
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(good.asked) == 2  # searched anew, for the first try left nothing behind


def test_an_index_that_is_not_written_yet_says_so_itself():
    class Unfinished(Stub):
        def search(self, query, k):
            raise NotImplementedError

    with pytest.raises(NotImplementedError):
        Rankings([Unfinished()]).of("q")


@pytest.mark.parametrize("given", [["abc"], [DOCUMENTS["a"]], [("a", 1.0)], [("a", 1, 2)]], ids=repr)
def test_results_that_are_no_pairs_of_document_and_value_are_refused(given):
    class Odd(Stub):
        def search(self, query, k):
            return given

    with pytest.raises(lab.SearchError, match="index Odd must give pairs"):
        Rankings([Odd()]).of("q")


@pytest.mark.parametrize("given", [None, 3])
def test_results_that_are_no_list_are_refused(given):
    class Odd(Stub):
        def search(self, query, k):
            return given

    with pytest.raises(lab.SearchError, match="index Odd .* query 'q'"):
        Rankings([Odd()]).of("q")


@pytest.mark.parametrize("query", ["", "  ", None, 3])
def test_an_empty_query_is_refused_before_anything_is_searched(query):
    index = Stub("a")
    with pytest.raises(ValueError, match="query is empty"):
        Rankings([index]).of(query)
    assert not index.asked


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"indexes": []}, "no index to search"),
        ({"indexes": [Stub]}, r"needs the method search\(query, k\)"),
        ({"indexes": ["BM25"]}, r"needs the method search\(query, k\)"),
        ({"names": ["one"]}, "a name of its own"),
        ({"names": ["one", "one"]}, "a name of its own"),
        ({"weights": [1]}, "one weight for each ranking"),
    ],
)
def test_indexes_names_and_weights_that_cannot_be_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        Rankings(**{"indexes": [Stub(), Stub()]} | settings)


# Rows


def test_the_rows_are_what_the_retriever_finds():
    rng = random.Random(0)
    for _case in range(200):
        letters = [
            "".join(rng.choices("abcdefgh", k=rng.randint(0, 9))) for _index in range(rng.randint(1, 4))
        ]
        settings = {"k_rrf": rng.choice([0, 1, 60]), "candidates": rng.randint(1, 9)}
        weights = [rng.choice([0, 0.5, 1, 2]) for _index in letters]
        weights[0] += 0.5
        found = Retriever(*map(Stub, letters), weights=weights).search("q", 99, **settings)
        rows = rows_of(*letters, weights=weights, **settings)
        assert [(row.document, row.score) for row in rows] == found
        assert [row.rank for row in rows] == list(range(1, len(rows) + 1))


def test_a_row_has_its_rank_in_each_index_and_what_that_adds():
    first, second, third = rows_of("ab", "cb", k_rrf=2, weights=[1, 2])
    assert (first.label, first.ranks, first.contributions) == ("b", (2, 2), (1 / 4, 2 / 4))
    assert (second.label, second.ranks, second.contributions) == ("c", (None, 1), (0.0, 2 / 3))
    assert (third.label, third.ranks, third.contributions) == ("a", (1, None), (1 / 3, 0.0))
    assert [row.score for row in (first, second, third)] == [3 / 4, 2 / 3, 1 / 3]


def test_a_document_deeper_than_the_candidates_has_no_rank():
    rows = rows_of("abc", "cba", candidates=2)
    assert {row.label: row.ranks for row in rows} == {"a": (1, None), "b": (2, 2), "c": (None, 1)}


def test_an_index_with_weight_0_shows_its_rank_and_adds_nothing():
    (row,) = rows_of("a", "ba", weights=[1, 0])
    assert (row.label, row.ranks, row.contributions) == ("a", (1, 2), (1 / 61, 0.0))


def test_a_row_tells_how_many_places_it_has_moved():
    before = rows_of("abc", "abc")
    after = rows_of("cad", "cad", previous=before)
    assert [(row.label, row.move) for row in after] == [("c", 2), ("a", -1), ("d", None)]
    assert [row.move for row in before] == [0, 0, 0]


def test_relevant_documents_are_known_by_their_topic_and_else_by_their_id():
    parts = [
        {"id": f"with#{n}", "topic": "with", "title": "The with statement", "content": "x"} for n in (1, 2)
    ]
    rows = fused_rows([[*parts, DOCUMENTS["a"], DOCUMENTS["b"]]], relevant={"with", "a"})
    assert [row.relevant for row in rows] == [True, True, True, False]
    assert [row.label for row in rows] == ["with#1", "with#2", "a", "b"]


def test_documents_with_one_text_and_no_id_stay_two():
    rows = fused_rows([[{"content": "x"}, {"content": "x"}]])
    assert [row.ranks for row in rows] == [(1,), (2,)]


def test_a_row_holds_the_document_as_the_first_index_that_counts_gave_it():
    twin = dict(DOCUMENTS["a"])
    (row,) = fused_rows([[twin], [DOCUMENTS["a"]]], weights=[0, 1])
    assert row.document is DOCUMENTS["a"]


def test_nothing_found_gives_no_row():
    assert rows_of("", "") == []


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"k_rrf": -1}, "k_rrf must be a number of at least 0"),
        ({"candidates": 0}, "candidates must be at least 1"),
        ({"weights": [1]}, "one weight for each ranking"),
        ({"weights": [0, 0]}, "at least one weight must be above 0"),
    ],
)
def test_settings_that_rrf_refuses_are_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        rows_of("ab", "b", **settings)


def test_the_rows_of_600_documents_in_two_indexes_take_a_few_milliseconds():
    documents = [{"id": number, "topic": f"topic {number}", "content": "x"} for number in range(600)]
    both = [documents, documents[::-1]]
    rows = fused_rows(both, candidates=600, relevant={"topic 3"})
    times = []
    for _attempt in range(20):
        start = time.process_time()
        fused_rows(both, candidates=600, relevant={"topic 3"}, previous=rows)
        times.append(time.process_time() - start)
    assert sorted(times)[10] < 0.015


# The view


def test_the_view_is_the_retrievers_first_k():
    retriever = Retriever(Stub("abcd"), Stub("db"), weights=[1, 2])
    view = rrf_view(retriever, "q", k_rrf=1, candidates=3, k=2)
    found = retriever.search("q", 2, k_rrf=1, candidates=3)
    assert [(row.document, row.score) for row in view.rows] == found
    assert view.found == 4


def test_the_table_holds_the_rows_with_missing_ranks_as_missing():
    table = rrf_view(Retriever(Stub("ab"), Stub("b")), "q", relevant={"a"}).table
    assert table.index.tolist() == [1, 2] and table.index.name == "rank"
    assert table.columns.tolist() == [
        "document",
        "rank in Stub",
        "from Stub",
        "rank in Stub 2",
        "from Stub 2",
        "score",
        "relevant",
    ]
    assert table.loc[1, "document"] == "b" and table.loc[2, "relevant"]
    assert table["rank in Stub 2"].dtype == "Int64"
    assert table["rank in Stub 2"].isna().tolist() == [False, True]
    assert table["score"].tolist() == [1 / 62 + 1 / 61, 1 / 61]


def test_a_judged_query_brings_its_relevant_documents():
    query = Query("1", "q", "mixed", frozenset("b"), "en")
    view = rrf_view(Retriever(Stub("ab")), query)
    assert (view.query, [row.relevant for row in view.rows]) == ("q", [False, True])


def test_the_picture_has_the_rows_a_star_on_relevant_ones_and_says_it_in_words():
    picture = rrf_view(Retriever(Stub("abc"), Stub("b")), "pump leak", relevant={"a"}).figure
    assert picture.rows[0] == ("1", "b", "2", "1", "0.0161", "0.0164", "0.0325")
    assert picture.rows[1] == ("2", "\u2605 a", "1", "-", "0.0164", "-", "0.0164")
    assert picture.title == '"pump leak", k_rrf = 60, candidates = 20, weights 1 : 1 (\u2605 relevant)'
    assert "b comes first with 0.0325 (rank 2 in Stub, rank 1 in Stub 2)." in picture.alt
    assert picture.alt.endswith("Relevant: a at rank 2.")


def test_a_query_that_no_index_answers_gives_an_empty_view_with_a_sentence():
    view = rrf_view(Retriever(Stub(""), Stub("")), "qwxz")
    assert view.rows == [] and len(view.table) == 0
    assert view.table.columns.tolist()[0] == "document"
    assert repr(view).startswith("No index finds a document for the query 'qwxz'.")
    assert "No index finds a document" in view._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize(
    "settings, sentence",
    [({"k": 0}, "k must be at least 1"), ({"weights": [1]}, "one weight"), ({"query": ""}, "query is empty")],
)
def test_a_view_that_cannot_be_made_is_refused_in_a_sentence(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        rrf_view(**{"retriever": Retriever(Stub("ab"), Stub("b")), "query": "q"} | settings)


# The pictures


class Scripted(Sized):
    """Another ranking for each query, the same every time."""

    def search(self, query, k):
        rng = random.Random(query + self.ranking)
        return [(DOCUMENTS[letter], 0.0) for letter in rng.sample("abcdefgh", 8)][:k]


KINDS = ("conceptual", "identifier", "mixed")
JUDGED = [Query(str(n), f"query {n}", KINDS[n % 3], frozenset("ab"), "en") for n in range(6)]
VIEWS = {
    "bars": lambda: rrf_view(Retriever(Stub("abcdef"), Stub("fah")), "q", relevant={"a", "h"}),
    "bars of many indexes": lambda: rrf_view(Retriever(*[Stub("ab")] * 8), "q"),
    "no document": lambda: rrf_view(Retriever(Stub("")), "what?"),
    "heat map": lambda: sweep(Retriever(Scripted("abcdefgh"), Scripted("x")), JUDGED, current=(60, 20)),
    "heat map of one kind": lambda: sweep(Retriever(Scripted("abcdefgh")), JUDGED, kind="mixed"),
    "heat map of one setting": lambda: sweep(Retriever(Stub("ab")), JUDGED, [60], [2], current=(1, 1)),
}


@pytest.fixture(scope="module", params=VIEWS)
def view(request):
    return VIEWS[request.param]()


@pytest.fixture(scope="module")
def bundle(view):
    return view._repr_mimebundle_()


def svg_of(bundle) -> str:
    return re.search(r"<svg.*</svg>", bundle["text/html"], re.DOTALL)[0]


def test_a_view_is_shown_as_its_picture_and_in_plain_text_as_its_numbers(view, bundle):
    assert bundle == view.figure._repr_mimebundle_()
    assert bundle["text/plain"] == repr(view) and "<" not in repr(view)
    assert all(f">{cell}</td>" in bundle["text/html"] for row in view.figure.rows for cell in row)


def test_a_picture_says_in_words_what_is_seen(view, bundle):
    svg = xml.fromstring(svg_of(bundle))
    assert svg.get("role") == "img" and svg.get("aria-label") == view.figure.alt
    assert view.figure.alt.endswith(".")


def test_text_and_lines_take_the_colour_of_the_page(view, bundle):
    """White and nearly black are the marks of a heat map, which has colours of its own."""
    used = {colour.lower() for colour in re.findall(r"(?:stroke|fill)[:=]\s*\"?([#\w]+)", svg_of(bundle))}
    marks = {"#111111", "#ffffff"} if hasattr(view, "by_kind") else set()
    fills = {"#0072b2", "#e69f00", "#56b4e9", "#f0e442", "#cc79a7", "#999999"}
    assert "currentcolor" in used and used - {"url"} <= {"currentcolor", "none"} | fills | marks


def test_a_heat_map_marks_the_best_and_the_current_setting_and_tells_each_kind_apart():
    made = VIEWS["heat map"]()
    picture = made.figure
    assert picture.columns == ("setting", "k_rrf", "candidates", "all queries", *made.by_kind)
    best = made.best()
    first, *others, current = picture.rows
    assert first[:4] == ("\u2605 best", f"{best.k_rrf}", f"{best.candidates}", f"{best.value:.4f}")
    assert [row[0] for row in others] == [f"best for {kind}" for kind in made.by_kind]
    # The default 20 candidates are the 8 that there are.
    assert current[:4] == ("current", "60", "8", f"{made.table.loc[60, 8]:.4f}")
    assert f"The best is at k_rrf = {best.k_rrf} with {best.candidates} candidates." in picture.alt


def test_a_heat_map_of_one_kind_goes_by_its_name():
    assert VIEWS["heat map of one kind"]().figure.columns == ("setting", "k_rrf", "candidates", "mixed")


def test_a_current_setting_between_the_steps_has_no_value_of_its_own():
    assert VIEWS["heat map of one setting"]().figure.rows[-1] == ("current", "1", "1", "-", "-", "-", "-")


@pytest.mark.parametrize("current, sentence", [((-1, 5), "k_rrf must be"), ((60, 0), "candidates must be")])
def test_a_current_setting_that_cannot_be_is_refused(current, sentence):
    with pytest.raises(ValueError, match=sentence):
        sweep(Retriever(Stub("ab")), JUDGED, current=current)


def test_importing_the_modules_loads_neither_matplotlib_nor_pandas_nor_the_solutions():
    code = (
        "import sys, lab\n"
        "lab.rrf_view, lab.sweep\n"
        "heavy = {'matplotlib', 'pandas', 'numpy', 'hybrid_search'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "assert callable(lab.sweep)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
