"""Searches compared on judged queries: the table, the losses, the progress bar, and what is refused."""

import math
import sys
from types import SimpleNamespace

import pytest

import lab
from lab.errors import ServiceError
from lab.evaluation import SearchError, rankings_of
from lab.progress import progress

DOCUMENTS = {name: {"id": name, "content": name} for name in "abcdx"}


def query(text, *relevant, kind="mixed", id=None):
    return lab.Query(id or text, text, kind, frozenset(relevant), "en")


def search_of(rankings):
    """A search that gives fixed rankings: a mapping query text -> names of documents, best first."""
    return lambda text, k: [(DOCUMENTS[name], 0.0) for name in rankings[text]][:k]


# Of two queries, "good" finds the answer of the first at rank 1 and 2 of the second; "poor" worse in both.
JUDGED = [query("one", "a", kind="identifier"), query("two", "a", "b", kind="conceptual")]
SEARCHES = {
    "good": search_of({"one": "abc", "two": "xab"}),
    "poor": search_of({"one": "xba", "two": "xcd"}),
}


def test_a_row_a_search_with_means_over_the_queries():
    table = lab.compare(SEARCHES, JUDGED, k=2)
    assert list(table.index) == ["good", "poor"] and table.index.name == "search"
    assert list(table.columns) == [
        "queries",
        "left out",
        "recall@2",
        "MRR",
        "nDCG@2",
        "recall@2 low",
        "recall@2 high",
        "MRR low",
        "MRR high",
        "nDCG@2 low",
        "nDCG@2 high",
    ]
    good, poor = table.loc["good"], table.loc["poor"]
    assert (good["queries"], good["left out"]) == (2, 0)
    assert good["recall@2"] == 0.75 and poor["recall@2"] == 0
    assert good["MRR"] == 0.75
    second = (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert good["nDCG@2"] == pytest.approx((1 + second) / 2)


def test_mrr_counts_a_document_beyond_k():
    assert lab.compare(SEARCHES, JUDGED, k=1).loc["poor", "MRR"] == pytest.approx((1 / 3) / 2)


def test_intervals_hold_the_means_and_are_those_of_the_metrics():
    table = lab.compare(SEARCHES, JUDGED, k=2)
    for name in ("recall@2", "MRR", "nDCG@2"):
        assert (table[f"{name} low"] <= table[name]).all() and (table[name] <= table[f"{name} high"]).all()
    ends = tuple(table.loc["good", ["MRR low", "MRR high"]])
    assert ends == lab.bootstrap_interval([1, 0.5])


def test_ten_results_count_unless_told():
    assert "nDCG@10" in lab.compare(SEARCHES, JUDGED).columns


def test_a_query_without_a_relevant_document_is_left_out_and_counted():
    searches = {"good": search_of({"one": "abc", "two": "xab", "three": "abc"})}
    table = lab.compare(searches, [*JUDGED, query("three")], k=2)
    assert (table.loc["good", "queries"], table.loc["good", "left out"]) == (2, 1)
    assert table.loc["good", "MRR"] == 0.75


def test_kinds_apart_and_then_all():
    judged = [*JUDGED, query("three", kind="empty")]
    searches = {name: search_of({"one": "abc", "two": "xab", "three": ""}) for name in ("first", "second")}
    table = lab.compare(searches, judged, k=2, by_kind=True)
    assert table.index.names == ["kind", "search"]
    assert list(table.index) == [
        (kind, name) for kind in ("identifier", "conceptual", "empty", "all") for name in ("first", "second")
    ]
    assert table.loc[("identifier", "first"), "MRR"] == 1
    assert table.loc[("conceptual", "first"), "MRR"] == 0.5
    assert table.loc[("all", "first"), "MRR"] == 0.75
    empty = table.loc[("empty", "first")]
    assert (empty["queries"], empty["left out"]) == (0, 1) and math.isnan(empty["MRR"])
    assert table.loc["all"].equals(lab.compare(searches, judged, k=2))


def test_gains_reach_ndcg():
    judged = [lab.Query("q", "two", "mixed", {"a": 1, "b": 3}, "en")]
    table = lab.compare({"good": SEARCHES["good"]}, judged, k=3)
    assert table.loc["good", "nDCG@3"] == lab.ndcg_at(["x", "a", "b"], {"a": 1, "b": 3}, 3)


def test_parts_of_a_topic_count_as_one_at_the_best_part():
    parts = [{"id": f"{topic}#1", "topic": topic[0], "content": "."} for topic in ("xx", "aa", "xy", "ab")]
    assert lab.judged_ids([(part, 0.1) for part in parts]) == ["x", "a"]
    assert lab.judged_ids([(DOCUMENTS["a"], 0.1), [parts[0], 0.2]]) == ["a", "x"]
    table = lab.compare({"parts": lambda text, k: [(part, 0.1) for part in parts]}, [query("q", "a")], k=2)
    assert table.loc["parts", "recall@2"] == 1 and table.loc["parts", "MRR"] == 0.5


def test_an_id_of_0_is_an_id():
    assert lab.judged_ids([({"id": 0, "content": "."}, 1.0)]) == [0]


def test_searches_are_asked_once_a_query_and_deep_enough_for_distinct_topics():
    asked = []

    def search(text, k):
        asked.append((text, k))
        # Eleven parts of one topic stand before the first part of the right one.
        topics = ["x"] * 11 + ["a"]
        return [({"id": i, "topic": topic, "content": "."}, 0.0) for i, topic in enumerate(topics)][:k]

    table = lab.compare({"deep": search}, [query("q", "a")], k=10)
    assert table.loc["deep", "recall@10"] == 1 and table.loc["deep", "MRR"] == 0.5
    assert asked == [("q", 1000)]
    lab.compare({"deep": search}, [query("q", "a")], k=10, depth=50)
    lab.compare({"deep": search}, [query("q", "a")], k=10, depth=5)
    assert [k for _text, k in asked[1:]] == [50, 10]


def test_rankings_are_given_in_the_order_of_the_queries():
    assert rankings_of(SEARCHES, JUDGED) == {
        "good": [["a", "b", "c"], ["x", "a", "b"]],
        "poor": [["x", "b", "a"], ["x", "c", "d"]],
    }


def test_losses_are_the_queries_with_a_lower_reciprocal_rank_worst_first():
    judged = [
        query("equal", "a"),
        query("small", "a"),
        query("large", "a", kind="identifier"),
        query("won", "a"),
    ]
    of = search_of({"equal": "xa", "small": "xba", "large": "bcd", "won": "a"})
    against = search_of({"equal": "ba", "small": "xa", "large": "a", "won": "xa"})
    table = lab.losses({"hybrid": of, "BM25": against}, judged, of="hybrid", against="BM25")
    assert list(table.columns) == ["query", "kind", "rank in hybrid", "rank in BM25"]
    assert table.index.name == "id" and list(table.index) == ["large", "small"]
    assert list(table["query"]) == ["large", "small"] and list(table["kind"]) == ["identifier", "mixed"]
    assert list(table["rank in BM25"]) == [1, 2]
    assert table["rank in hybrid"].isna().tolist() == [True, False]
    assert table.loc["small", "rank in hybrid"] == 3


def test_a_loss_beyond_k_is_none():
    searches = {"of": search_of({"q": "bcda"}), "against": search_of({"q": "bca"})}
    judged = [query("q", "a"), query("nothing")]
    searches = {name: lambda text, k, search=search: search("q", k) for name, search in searches.items()}
    assert len(lab.losses(searches, judged, of="of", against="against", k=2)) == 0
    table = lab.losses(searches, judged, of="of", against="against", k=3)
    assert table.loc["q", "rank in of"] == 4 and table.loc["q", "rank in against"] == 3


def test_no_losses_are_an_empty_table():
    table = lab.losses(SEARCHES, JUDGED, of="good", against="poor")
    assert len(table) == 0 and list(table.columns) == ["query", "kind", "rank in good", "rank in poor"]


def test_losses_ask_only_the_two_searches():
    def broken(text, k):
        raise AssertionError

    assert len(lab.losses({**SEARCHES, "other": broken}, JUDGED, of="poor", against="good")) == 2
    with pytest.raises(ValueError, match="no search named 'god': choose one of 'good', 'poor'"):
        lab.losses(SEARCHES, JUDGED, of="god", against="poor")


@pytest.mark.parametrize(
    ("searches", "judged", "error", "message"),
    [
        (SEARCHES, [], ValueError, "the list of judged queries is empty"),
        (SEARCHES, [query("one"), query("two")], ValueError, "no judged query names a document"),
        (SEARCHES, ["one"], TypeError, "judged_queries"),
        ({}, JUDGED, ValueError, "mapping from name to function"),
        ([SEARCHES["good"]], JUDGED, ValueError, "mapping from name to function"),
        ({"good": "search"}, JUDGED, TypeError, "'good' is no function"),
    ],
)
def test_what_cannot_be_compared_is_refused(searches, judged, error, message):
    with pytest.raises(error, match=message):
        lab.compare(searches, judged)


def test_k_and_depth_are_checked():
    for call in (lab.compare, lambda *given, **named: lab.losses(*given, "good", "poor", **named)):
        for name in ("k", "depth"):
            with pytest.raises(ValueError, match=f"{name} must be at least 1: got 0"):
                call(SEARCHES, JUDGED, **{name: 0})


def test_a_search_that_raises_is_named_with_the_query():
    with pytest.raises(SearchError, match="The search 'good' failed on the query 'three': 'three'") as caught:
        lab.compare(SEARCHES, [*JUDGED, query("three", "a")])
    assert isinstance(caught.value.__cause__, KeyError)
    assert not hasattr(caught.value, "_render_traceback_")  # the traceback leads to the learner's mistake

    def silent(text, k):
        raise RuntimeError

    with pytest.raises(SearchError, match="failed on the query 'one': RuntimeError"):
        lab.compare({"silent": silent}, JUDGED)


def test_a_service_that_fails_stays_one_plain_sentence():
    def refused(text, k):
        raise ServiceError("The key is wrong: set another.")

    with pytest.raises(SearchError, match="'far'.*The key is wrong") as caught:
        lab.compare({"far": refused}, JUDGED)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_an_unfinished_exercise_is_shown_as_such():
    def stub(text, k):
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        lab.compare({"stub": stub}, JUDGED)


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (None, "pairs .*got None"),
        ([{"id": "a", "content": "a"}], "pairs .*got {'id'"),
        (["ab"], "pairs .*got 'ab'"),
        ([("a", 0.5)], r"pairs .*got \('a', 0.5\)"),
        ([({"id": "a", "content": "a"}, 0.5, 1)], "pairs "),
        ([({"content": "some text"}, 0.5)], "needs an \"id\".*'some text'"),
        ([({"id": ["a"], "content": "a"}, 0.5)], "unhashable"),
    ],
)
def test_results_that_are_no_pairs_are_named_with_search_and_query(results, message):
    with pytest.raises(SearchError, match="'odd' failed on the query 'one': .*" + message):
        lab.compare({"odd": lambda text, k: results}, JUDGED)


class Clock:
    """A clock that goes on by a fixed time whenever it is read."""

    def __init__(self, step):
        self.now, self.step = 0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def slow(monkeypatch):
    monkeypatch.setattr("lab.progress.time", SimpleNamespace(monotonic=Clock(0.6)))


def test_progress_gives_the_items_and_is_silent_where_nobody_looks(slow, capfd):
    assert list(progress("abc", "Working")) == ["a", "b", "c"]
    assert list(progress(iter("abc"), "Working", total=3)) == ["a", "b", "c"]
    assert capfd.readouterr() == ("", "")
    with pytest.raises(ValueError, match="Give the total"):
        list(progress(iter("abc"), "Working"))


def test_progress_in_a_terminal_is_one_line_that_goes_away(slow, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert list(progress("abcd", "Working")) == list("abcd")
    out, err = capsys.readouterr()
    assert out.startswith("\rWorking: 1 of 4\r") and out.endswith("\r") and "\n" not in out
    assert err == ""


def test_progress_says_nothing_about_quick_work(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert list(progress("abcd", "Working")) == list("abcd")
    assert capsys.readouterr() == ("", "")


@pytest.fixture
def notebook(monkeypatch):
    """A notebook's shell, and a list of what is shown and updated in it."""
    import IPython

    shown = []
    output = SimpleNamespace(update=lambda data, raw: shown.append(data))

    def display(data, raw, display_id):
        shown.append(data)
        return output

    monkeypatch.setattr(IPython, "get_ipython", lambda: SimpleNamespace(kernel=None))
    monkeypatch.setattr("IPython.display.display", display)
    return shown


def test_progress_in_a_notebook_is_one_output_that_goes_away(slow, notebook, capfd):
    assert list(progress("abcd", "Reading <b>")) == list("abcd")
    assert notebook[0]["text/plain"] == "Reading <b>: 1 of 4"
    assert '<progress max="4" value="1">' in notebook[0]["text/html"]
    assert "Reading &lt;b&gt;: 1 of 4" in notebook[0]["text/html"]
    assert len(notebook) > 2 and notebook[-1] == {"text/plain": ""}
    assert capfd.readouterr() == ("", "")


def test_progress_goes_away_where_the_work_stops(slow, notebook):
    with pytest.raises(ZeroDivisionError):
        for item in progress("abcd", "Working"):
            if item == "c":
                raise ZeroDivisionError
    assert notebook and notebook[-1] == {"text/plain": ""}


def test_compare_shows_its_progress(slow, notebook):
    lab.compare(SEARCHES, JUDGED)
    assert notebook[0]["text/plain"] == "Searching: 1 of 4"


def test_importing_the_metrics_loads_nothing_heavy():
    import subprocess

    code = (
        "import sys, lab; lab.compare, lab.ndcg_at; "
        "print(sorted({'numpy', 'pandas', 'IPython', 'matplotlib'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.strip() == "[]"
