"""Searches through trees, and cuts of a ranking, measured on judged queries."""

import json
import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import lab
from hybrid_search import TreeIndex, beam_search, branch_search, knee, tokenize
from lab.tree_evaluation import RememberedIndex, is_relevant, pages_of

PAGES = {
    "pump.txt": [
        "pump leak seal",
        "pump valve",
        "oil filter",
        "pump pressure",
        "seal ring",
        "oil leak",
        "valve",
    ],
    "crane.txt": ["crane hook", "crane leak oil", "hook chain", "chain oil pump"],
}
JUDGED = [
    SimpleNamespace(id="q1", text="pump leak", kind="mixed", relevant=frozenset({"pump.txt:1"})),
    SimpleNamespace(
        id="q2", text="oil leak", kind="mixed", relevant=frozenset({"pump.txt:6", "crane.txt:2"})
    ),
    SimpleNamespace(id="q3", text="canteen", kind="mixed", relevant=frozenset()),
]


class WordVectors:
    """Each word has a direction of its own; no model."""

    def embed_documents(self, texts):
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text):
        vector = np.full(16, 0.01)
        for word in tokenize(text):
            vector[sum(map(ord, word)) % 16] += 1
        return vector.astype(np.float32)


def summarise(text):
    return {"summary": " ".join(dict.fromkeys(text.split())), "keywords": text.split()[:2]}


def made(width=3):
    from qdrant_client import QdrantClient

    index = TreeIndex(QdrantClient(":memory:"), "trees", WordVectors())
    for file_name, pages in PAGES.items():
        index.add_document(file_name, pages, summarise, width)
    return index


@pytest.fixture(scope="module")
def index():
    return made()


def pairs(found):
    return [(node["id"], round(score, 9)) for node, score in found]


@pytest.mark.parametrize("query", ["pump leak", "oil", "hook", "a word that is nowhere"])
def test_what_is_remembered_ranks_as_the_index_itself(index, query):
    remembered = RememberedIndex(index)
    nodes = [node for name in index.documents for node in index.nodes(name)]
    for some in (nodes, nodes[:4], nodes[3:12], nodes[5:6], []):
        assert pairs(remembered.rank(query, some)) == pairs(index.rank(query, some))
    for k in (1, 2, 20):
        assert pairs(remembered.search_roots(query, k)) == pairs(index.search_roots(query, k))
        assert pairs(remembered.search(query, k)) == pairs(index.search(query, k))
        assert pairs(remembered.search(query, k, 2)) == pairs(index.search(query, k, 2))
    for node in nodes:
        assert remembered.children(node) == index.children(node)
    assert remembered.text(nodes[-1]) == index.text(nodes[-1])


def test_the_text_of_a_page_is_asked_for_once(index, monkeypatch):
    remembered, asked = RememberedIndex(index), []
    monkeypatch.setattr(index, "text", lambda node: asked.append(node["id"]) or f"text {node['id']}")
    root, page = remembered._roots[0], remembered._pages[2]
    expected = "\n".join(f"text {number}" for number in range(1, 8))
    assert [remembered.text(root), remembered.text(root)] == [expected] * 2
    assert remembered.text(page) == "text 3" and sorted(asked) == list(range(1, 8))


@pytest.mark.parametrize("cut", ["fixed", "knee", "sensitive"])
def test_a_search_finds_the_same_in_what_is_remembered(index, cut):
    remembered = RememberedIndex(index)
    for query in JUDGED:
        remembered.watch()
        found = beam_search(remembered, query.text, cut)
        assert found == beam_search(index, query.text, cut)
        # The trace does not count the search for the roots twice, and neither does this.
        assert remembered.ranked == found.trace.comparisons
        assert remembered.seen == found.trace.nodes


def test_pages_come_from_nodes_chunks_and_pairs_each_once():
    node = {"file_name": "a.txt", "first_page": 2, "last_page": 4}
    page = {"file_name": "a.txt", "first_page": 4, "last_page": 4}
    assert pages_of([node, page]) == pages_of([(node, 0.5), (page, 0.4)]) == ["a.txt:2", "a.txt:3", "a.txt:4"]
    assert is_relevant(node, {"a.txt:3"}) and not is_relevant(node, {"a.txt:1", "b.txt:3"})


def node(number, first, last=None, file_name="a.txt"):
    return {"id": number, "file_name": file_name, "first_page": first, "last_page": last or first}


class Drawn:
    """A root over six pages, and both rankings in the order of the pages."""

    documents = ["a.txt"]

    def __init__(self):
        self._nodes = [{**node(i, i), "level": 0, "parent_id": 7, "child_ids": []} for i in range(1, 7)]
        self._nodes += [{**node(7, 1, 6), "level": 1, "parent_id": -1, "child_ids": [1, 2, 3, 4, 5, 6]}]

    def nodes(self, file_name):
        return self._nodes

    def rankings(self, query, nodes):
        return [[1, 2, 3, 4, 5, 6, 7]] * 2


def test_what_is_measured_is_what_was_worked_out_by_hand():
    """Looked at: the root and six pages; kept: pages 1 and 5. Relevant: 2, 5, and so the root."""

    def search(index, query):
        (root, _), *_ = index.search_roots(query, 1)
        pages = index.children(root)
        index.rank(query, pages)
        index.rank(query, pages[:2])
        return [pages[0], pages[4]]

    judged = [SimpleNamespace(id="q", text="x", relevant=frozenset({"a.txt:2", "a.txt:5"}))]
    row = lab.measure_trees({"two": search}, {"one tree": Drawn()}, judged).loc["one tree", "two", "q"]
    assert dict(row) == pytest.approx(
        {
            "recall": 1 / 2,
            "pages": 2,
            "flat recall": 1 / 2,  # pages 1 and 2
            "compared": 9,  # the root, six pages, and two of them once more
            "pruned": 4 / 7,
            "irrelevant pruned": 3 / 4,  # 3, 4 and 6 of 1, 3, 4 and 6
            "relevant pruned": 1 / 3,  # page 2, of it, 5 and the root
        }
    )


def test_a_cut_is_measured_by_hand():
    class Index:
        def search(self, query, k, candidates):
            return [(node(i, i), 1 / i) for i in range(1, 11)][:k]

    judged = [
        SimpleNamespace(id="q", text="x", relevant=frozenset({"a.txt:1", "a.txt:9"})),
        SimpleNamespace(id="beyond", text="y", relevant=frozenset({"a.txt:11"})),
    ]
    table = lab.measure_cuts({"four": lambda scores: 4, "all": len}, Index(), judged)
    assert list(table.index) == [("four", "q"), ("all", "q")]
    assert dict(table.loc["four", "q"]) == pytest.approx(
        {"kept": 4, "pruned": 0.6, "irrelevant pruned": 5 / 8, "relevant pruned": 0.5}
    )
    assert dict(table.loc["all", "q"]) == {
        "kept": 10,
        "pruned": 0,
        "irrelevant pruned": 0,
        "relevant pruned": 0,
    }


def test_each_shape_search_and_query_has_a_row_and_what_is_unjudged_none(index):
    searches = {"branch": branch_search, "knee": lambda index, query: beam_search(index, query, "knee")}
    measured = lab.measure_trees(searches, {"width 3": index, "width 2": made(2)}, JUDGED)
    assert list(measured.index) == [
        (shape, search, query)
        for shape in ("width 3", "width 2")
        for search in searches
        for query in ("q1", "q2")
    ]
    table = lab.with_intervals(measured, ["recall"])
    assert list(table.index) == [(shape, search) for shape in ("width 3", "width 2") for search in searches]
    assert list(table.columns[:3]) == ["recall", "recall low", "recall high"]
    assert (table["recall low"] <= table["recall"]).all() and (table["recall"] <= table["recall high"]).all()
    assert (lab.paired_differences(measured, "recall", "recall") == 0).all(axis=None)
    times = lab.search_times(searches, {"width 3": index}, JUDGED[:2])
    assert list(times.index) == [("width 3", search, query) for search in searches for query in ("q1", "q2")]
    assert list(times.columns) == ["ms"] and (times["ms"] > 0).all()


def test_intervals_are_those_of_the_bootstrap():
    from pandas import DataFrame, MultiIndex

    rows = MultiIndex.from_product([["s"], ["a", "b", "c", "d"]], names=["cut", "query"])
    measured = DataFrame({"one": [0.1, 0.5, 0.9, math.nan], "other": [0.2, 0.4, 0.2, 0.7]}, index=rows)
    table = lab.with_intervals(measured, ["one"])
    assert table.loc["s", "one"] == pytest.approx(0.5)
    assert tuple(table.loc["s", ["one low", "one high"]]) == lab.bootstrap_interval([0.1, 0.5, 0.9])
    difference = lab.paired_differences(measured, "one", "other").loc["s"]
    assert difference["difference"] == pytest.approx((-0.1 + 0.1 + 0.7) / 3)
    assert (difference["low"], difference["high"]) == lab.paired_bootstrap([0.1, 0.5, 0.9], [0.2, 0.4, 0.2])


def two_searches():
    from pandas import DataFrame, MultiIndex

    rows = MultiIndex.from_product(
        [["s", "t"], ["flat", "knee"], ["a", "b", "c"]], names=["shape", "search", "query"]
    )
    recall = [0.5, 0.5, 0.8, 0.6, 0.5, 1.0, 0.5, 0.5, 0.8, 0.2, 0.2, 0.2]
    compared = [100] * 3 + [20, 40, 30] + [100] * 3 + [60] * 3
    ms = [math.nan, 1.0, 3.0, 9.0, 5.0, 6.0] * 2
    return DataFrame({"recall": recall, "compared": compared, "ms": ms}, index=rows)


def test_a_table_has_each_mean_with_its_interval():
    table = lab.interval_table(two_searches())
    assert list(table.index) == [("s", "flat"), ("s", "knee"), ("t", "flat"), ("t", "knee")]
    low, high = lab.bootstrap_interval([0.6, 0.5, 1.0])
    assert table.loc[("s", "knee"), "recall"] == f"0.70 ({low:.2f} to {high:.2f})"
    low, high = lab.bootstrap_interval([20, 40, 30])
    assert table.loc[("s", "knee"), "compared"] == f"30 ({low:.0f} to {high:.0f})"
    assert table.loc[("s", "flat"), "compared"] == "100 (100 to 100)"
    low, high = lab.bootstrap_interval([1.0, 3.0])
    assert table.loc[("s", "flat"), "ms"] == f"2.00 ({low:.2f} to {high:.2f})"


def test_a_table_of_differences_pairs_the_queries_of_a_shape():
    table = lab.interval_table(two_searches(), minus="flat")
    assert list(table.index) == [("s", "knee"), ("t", "knee")]
    low, high = lab.paired_bootstrap([0.6, 0.5, 1.0], [0.5, 0.5, 0.8])
    assert table.loc[("s", "knee"), "recall"] == f"+0.10 ({low:+.2f} to {high:+.2f})"
    assert table.loc[("t", "knee"), "compared"] == "-40 (-40 to -40)"
    low, high = lab.paired_bootstrap([5.0, 6.0], [1.0, 3.0])  # of the first query one time is not known
    assert table.loc[("s", "knee"), "ms"] == f"+3.50 ({low:+.2f} to {high:+.2f})"
    with pytest.raises(ValueError, match="There is no 'branch': choose one of 'flat', 'knee'."):
        lab.interval_table(two_searches(), minus="branch")


def test_a_search_that_fails_is_named_with_its_query(index):
    def broken(index, query):
        raise KeyError("id")

    with pytest.raises(lab.SearchError, match="'mine' failed on the query 'pump leak'"):
        lab.measure_trees({"mine": broken}, {"width 3": index}, JUDGED)


def test_an_unfinished_exercise_stays_what_it_is(index):
    def unfinished(index, query):
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        lab.measure_trees({"mine": unfinished}, {"width 3": index}, JUDGED)


@pytest.mark.parametrize(
    "given", [({}, {"a": 1}, JUDGED), ({"a": len}, {}, JUDGED), ({"a": len}, {"a": 1}, JUDGED[2:])]
)
def test_nothing_to_measure_is_refused(given):
    with pytest.raises(ValueError, match="nothing to measure"):
        lab.measure_trees(*given)


def test_no_relevant_page_to_cut_is_refused(index):
    with pytest.raises(ValueError, match="nothing to measure"):
        lab.measure_cuts({"knee": knee}, index, JUDGED[2:])


def test_importing_it_takes_no_solution_along(root):
    code = (
        "import json, sys, lab; lab.measure_trees, lab.plot_knee, lab.plot_kept;"
        "print(json.dumps([name for name in sys.modules if name.startswith('hybrid_search')]))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == []
