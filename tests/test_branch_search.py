"""Branch search on trees drawn by hand: which nodes it finds, and what its trace says."""

import random

import pytest
from conftest import need
from drawn_trees import DrawnIndex, FusedIndex

from hybrid_search import branch_search, build_tree

try:
    from hypothesis import given, settings
    from hypothesis import strategies as st
except ImportError:
    given = None

#                    R .5
#         .---------' | '---------.
#       A .6        B .4        C .55
#      /    \      /    \      /     \
#  a1 .7 a2 .3  b1 .9 b2 .1  c1 .55 c2 .1
DRAWING = ("R", ("A", "a1", "a2"), ("B", "b1", "b2"), ("C", "c1", "c2"))
SCORES = {"R": 0.5, "A": 0.6, "B": 0.4, "C": 0.55}
SCORES |= {"a1": 0.7, "a2": 0.3, "b1": 0.9, "b2": 0.1, "c1": 0.55, "c2": 0.1}


def found(*drawings, scores, **options):
    index = DrawnIndex(*drawings, scores=scores)
    return index.names(branch_search(index, "query", **options))


def test_children_that_beat_their_parent_go_on_and_where_none_does_the_node_is_found():
    # R against A, B, C: A and C are above .5, B is not. A against a1, a2: a1 goes on, and is a page: found.
    # C against c1, c2: c1 has .55 like C and does not beat it, so C is found.
    # The best page of all, b1, is not seen: B lost to the root, and the search came by no more.
    assert found(DRAWING, scores=SCORES) == ["a1", "C"]


def test_the_root_is_tested_like_any_other_node():
    # The root is above all its children: the whole document is found. To begin below it would find a1, b1 and C.
    assert found(DRAWING, scores={**SCORES, "R": 0.65}) == ["R"]


def test_a_tie_stays_with_the_parent():
    # All three children equal the root. Were a tie the child's, the search would go on and find pages.
    assert found(DRAWING, scores={**SCORES, "A": 0.5, "B": 0.5, "C": 0.5}) == ["R"]


def test_every_child_that_beats_its_parent_goes_on_not_the_best_alone():
    # With B at .58 all three are above R. Below B, b1 is; C stays. The best child alone, A, would give a1.
    assert found(DRAWING, scores={**SCORES, "B": 0.58}) == ["b1", "a1", "C"]


def test_a_child_that_loses_to_its_parent_is_not_searched_below():
    # b1 has the best score of all nodes, and B the worst of its siblings.
    assert "b1" not in found(DRAWING, scores=SCORES)


def test_what_is_found_comes_best_first_whatever_the_level():
    assert found(DRAWING, scores={**SCORES, "C": 0.8}) == ["C", "a1"]


def test_the_best_roots_are_searched_and_no_others():
    # Four documents; the best three by their roots are P, R, S. T holds the best page, below the fourth root.
    drawings = ("P", "p1", "p2"), ("R", "r1", "r2"), ("S", "s1", "s2"), ("T", "t1", "t2")
    scores = {"P": 0.6, "R": 0.5, "S": 0.4, "T": 0.3, "p1": 0.7, "p2": 0.65, "r1": 0.2, "r2": 0.1}
    scores |= {"s1": 0.1, "s2": 0.45, "t1": 0.9, "t2": 0.1}
    assert found(*drawings, scores=scores) == ["p1", "p2", "R", "s2"]
    assert found(*drawings, scores=scores, roots=1) == ["p1", "p2"]
    assert found(*drawings, scores=scores, roots=9) == ["t1", "p1", "p2", "R", "s2"]


def test_a_document_of_one_page_is_found_without_a_comparison():
    index = DrawnIndex("only", scores={"only": 0.5})
    (chunk,) = branch_search(index, "query")
    assert chunk["text"] == "the text of only" and chunk["path"] == [1]


def test_a_page_beside_parents_is_compared_like_them():
    # Seven pages at width 3: the leftover page g is a child of the root.
    assert found(("R", ("A", "a", "b"), "g"), scores={"R": 1, "A": 0.5, "a": 2, "b": 2, "g": 1.5}) == ["g"]


def test_nothing_to_search_is_an_empty_list():
    found = branch_search(DrawnIndex(scores={}), "query")
    assert found == [] and found.trace.comparisons == 0


def test_a_chunk_says_where_it_is_from_and_how_the_search_came_to_it():
    found = branch_search(DrawnIndex(DRAWING, scores=SCORES), "query")
    # Ids: a1 1, a2 2, A 3, b1 4, b2 5, B 6, c1 7, c2 8, C 9, R 10.
    assert found == [
        {
            "id": 1,
            "file_name": "drawn.txt",
            "first_page": 1,
            "last_page": 1,
            "text": "the text of a1",
            "score": 0.7,
            "path": [10, 3, 1],
        },
        {
            "id": 9,
            "file_name": "drawn.txt",
            "first_page": 5,
            "last_page": 6,
            "text": "the text of C",
            "score": 0.55,
            "path": [10, 9],
        },
    ]


def test_the_trace_records_who_beat_whom_by_what_score():
    index = DrawnIndex(DRAWING, scores=SCORES)
    trace = branch_search(index, "query").trace
    told = [
        (
            step.round,
            [(node["summary"], score) for node, score in step.ranked],
            [index.by_id[node]["summary"] for node in step.kept],
            {index.by_id[node]["summary"]: index.by_id[by]["summary"] for node, by in step.removed.items()},
        )
        for step in trace.steps
    ]
    assert told == [
        (0, [("R", 0.5)], ["R"], {}),
        (1, [("A", 0.6), ("C", 0.55), ("R", 0.5), ("B", 0.4)], ["A", "C"], {"R": "A", "B": "R"}),
        (2, [("a1", 0.7), ("A", 0.6), ("a2", 0.3)], ["a1"], {"A": "a1", "a2": "A"}),
        (2, [("C", 0.55), ("c1", 0.55), ("c2", 0.1)], ["C"], {"c1": "C", "c2": "C"}),
        (3, [("a1", 0.7), ("C", 0.55)], ["a1", "C"], {}),
    ]
    assert trace.query == "query" and trace.comparisons == 1 + 4 + 3 + 3 + 2
    assert set(trace.nodes) == {1, 2, 3, 6, 7, 8, 9, 10}  # b1 and b2 were never looked at


def test_the_trace_can_be_read_and_made_a_table():
    trace = branch_search(DrawnIndex(DRAWING, scores=SCORES), "query").trace
    assert "    1  0.700000  node 1, drawn.txt page 1: kept" in str(trace).splitlines()
    assert str(trace).splitlines()[:5] == [
        "query: query",
        "round 0",
        "    1  0.500000  node 10, drawn.txt pages 1-6: kept",
        "round 1",
        "    1  0.600000  node 3, drawn.txt pages 1-2: kept",
    ]
    assert trace.rows()[4] == {
        "round": 1,
        "rank": 4,
        "node": 6,
        "file_name": "drawn.txt",
        "pages": "3-4",
        "score": 0.4,
        "outcome": "removed by node 10",
    }


@pytest.mark.parametrize(("query", "roots"), [("", 3), (" ", 3), ("query", 0), ("query", -1)])
def test_an_empty_query_and_a_number_of_roots_below_1_are_refused(query, roots):
    index = DrawnIndex(DRAWING, scores=SCORES)
    with pytest.raises(ValueError):
        branch_search(index, query, roots)
    assert index.asked == []


def test_a_node_that_no_ranking_finds_does_not_beat_its_parent():
    # Nothing is found of the children: 0 against 0.
    nodes = build_tree(["a", "b"], lambda text: {"summary": text, "keywords": []})
    index = FusedIndex(nodes, [3], [])
    assert [chunk["id"] for chunk in branch_search(index, "query")] == [3]


def summary_is_text(text):
    return {"summary": text or "nothing", "keywords": []}


def forest(documents, width):
    nodes = []
    for number, pages in enumerate(documents):
        nodes += build_tree(
            ["page"] * pages, summary_is_text, width, f"{number}.txt", first_id=len(nodes) + 1
        )
    return nodes


def ancestors(index, node_id):
    parent = index.by_id[node_id]["parent_id"]
    return [] if parent == -1 else [parent, *ancestors(index, parent)]


def check_found(index, found):
    """None twice, none inside another, each with its path, best first; whatever was ranked has a fate."""
    ids = [chunk["id"] for chunk in found]
    assert len(set(ids)) == len(ids)
    for chunk in found:
        above = ancestors(index, chunk["id"])
        assert not set(above) & set(ids)
        assert chunk["path"] == [*above[::-1], chunk["id"]]
    scores = [chunk["score"] for chunk in found]
    assert scores == sorted(scores, reverse=True)
    for step in found.trace.steps:
        fates = [*step.kept, *step.removed]
        assert sorted(fates) == sorted(node["id"] for node, _ in step.ranked)


def random_index(documents, width, seed):
    nodes = forest(documents, width)
    shuffled, found = random.Random(seed), [node["id"] for node in nodes]
    dense = shuffled.sample(found, len(found))
    sparse = shuffled.sample(found, shuffled.randint(0, len(found)))
    return FusedIndex(nodes, dense, sparse)


if given:

    @settings(max_examples=150, deadline=None)
    @given(
        st.lists(st.integers(0, 60), max_size=5) | st.lists(st.integers(0, 300), max_size=1),
        st.integers(2, 8),
        st.integers(0, 2**32),
        st.integers(1, 6),
    )
    def test_any_search_ends_and_finds_no_node_inside_another(documents, width, seed, roots):
        index = random_index(documents, width, seed)
        found = branch_search(index, "query", roots)
        check_found(index, found)
        assert bool(found) == any(documents)
        again = branch_search(random_index(documents, width, seed), "query", roots)
        assert again == found and str(again.trace) == str(found.trace)

else:

    def test_any_search_ends_and_finds_no_node_inside_another():
        need(given, "hypothesis")
