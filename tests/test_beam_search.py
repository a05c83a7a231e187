"""Beam search on trees drawn by hand: fixed, at the knee, and sensitive."""

import pytest
from conftest import need
from drawn_trees import DrawnIndex
from test_branch_search import check_found, random_index

from hybrid_search import beam_search

try:
    from hypothesis import given, settings
    from hypothesis import strategies as st
except ImportError:
    given = None


def found(*drawings, scores, **options):
    index = DrawnIndex(*drawings, scores=scores)
    return index.names(beam_search(index, "query", **options))


#            R .5
#       .----' | '----.
#    A .6    B .58   C .4
#    /  \     / \     / \
#  a1   a2  b1  b2  c1  c2
#  .7  .65  .2  .1  .9  .1
DRAWING = ("R", ("A", "a1", "a2"), ("B", "b1", "b2"), ("C", "c1", "c2"))
SCORES = {"R": 0.5, "A": 0.6, "B": 0.58, "C": 0.4}
SCORES |= {"a1": 0.7, "a2": 0.65, "b1": 0.2, "b2": 0.1, "c1": 0.9, "c2": 0.1}


def test_a_fixed_beam_keeps_the_first_so_many_of_each_round():
    # Round 1: A .6, B .58, R .5, C .4. A removes R; B and C stay, since R, removed, removes nobody. First two: A, B.
    # Round 2: a1 .7, a2 .65, A .6, B .58, b1, b2. a1 removes A; B removes b1 and b2. First two: a1, a2.
    # Round 3: the same again.
    assert found(DRAWING, scores=SCORES, width=2) == ["a1", "a2"]
    # Three: A, B, C go on. Round 2: c1 .9, a1, a2, A, B, C, ...: c1 removes C, a1 removes A. First three: c1, a1, a2.
    assert found(DRAWING, scores=SCORES, width=3) == ["c1", "a1", "a2"]
    # Four: B has room, too, and stays, being better than its pages.
    assert found(DRAWING, scores=SCORES, width=4) == ["c1", "a1", "a2", "B"]
    # One: A, then a1.
    assert found(DRAWING, scores=SCORES, width=1) == ["a1"]


def test_siblings_are_not_lost_when_one_child_wins():
    # Round 1: a .9, R .5, b .4, c .3. a removes R; R would have removed b and c, but it is gone.
    assert found(("R", "a", "b", "c"), scores={"R": 0.5, "a": 0.9, "b": 0.4, "c": 0.3}) == ["a", "b", "c"]


def test_a_parent_before_its_children_removes_them():
    # Round 1: R .9, a .5, b .4: R removes both. Nothing has changed: the end.
    index = DrawnIndex(("R", "a", "b"), scores={"R": 0.9, "a": 0.5, "b": 0.4})
    found = beam_search(index, "query")
    assert index.names(found) == ["R"]
    assert found.trace.steps[-1].removed == {1: 3, 2: 3}
    assert len(found.trace.steps) == 2


def test_the_cut_comes_before_parents_and_children_remove_each_other():
    # Round 1: B .9, R .5, A .3, below a straight line: R is the knee, and A goes. Then B removes R.
    # Round 2: B .9, b2 .8, b1 .7, a straight line: all stay, and B removes its pages.
    # Had B removed R first, two would be left, which have no knee: A would stay, and its a2 be found.
    scores = {"R": 0.5, "A": 0.3, "a1": 0.2, "a2": 1, "B": 0.9, "b1": 0.7, "b2": 0.8}
    assert found(("R", ("A", "a1", "a2"), ("B", "b1", "b2")), scores=scores, cut="knee") == ["B"]


#  Two documents, P over p1 to p4 and Q over q1 and q2.
KNEES = ("P", "p1", "p2", "p3", "p4"), ("Q", "q1", "q2")


def test_the_beam_is_cut_at_the_knee():
    # Round 1: p1 1, p2 .95, P .2, Q .18, q1 .16, p3 .15, q2 .14, p4 .13. Scaled to a square, the third is farthest
    # below the chord: p1, p2, P stay, and p1 removes P. Round 2: two pages, no knee: the end.
    scores = {"p1": 1, "p2": 0.95, "P": 0.2, "Q": 0.18, "q1": 0.16, "p3": 0.15, "q2": 0.14, "p4": 0.13}
    assert found(*KNEES, scores=scores, cut="knee") == ["p1", "p2"]


def test_a_flat_curve_is_not_cut():
    # Round 1: all equal, so all are kept, in the order in which the index gives them: P, Q, then the children.
    # P and Q are first and remove their children; nothing has changed.
    scores = dict.fromkeys(["P", "p1", "p2", "p3", "p4", "Q", "q1", "q2"], 0.5)
    assert found(*KNEES, scores=scores, cut="knee") == ["P", "Q"]
    assert found(*KNEES, scores=scores, cut="sensitive") == ["P", "Q"]


def test_the_cut_is_at_the_farthest_point_not_at_the_first_that_leaves_the_chord():
    # Pages alone: 1, .7, .3, .2, 0 with distances 0, .05, .2, .05, 0: three are kept. Then 1, .7, .3: .07 away from
    # a straight line, so the second is a knee, and 1, .7 are kept. Two have no knee.
    scores = {"a": 1, "b": 0.7, "c": 0.3, "d": 0.2, "e": 0}
    index = DrawnIndex(*scores, scores=scores)
    result = beam_search(index, "query", cut="knee")
    assert [len(step.kept) for step in result.trace.steps] == [5, 3, 2, 2]
    assert index.names(result) == ["a", "b"]


def test_a_knee_is_looked_for_again_in_every_round_so_that_pages_are_cut_down_to_a_straight_line():
    # What the fixed beam leaves alone: five pages of five documents, none better than the next by more than by less.
    scores = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2, "e": 0.1}
    assert found(*scores, scores=scores, cut="knee") == ["a", "b", "c", "d", "e"]
    assert found(*scores, scores={**scores, "a": 0.51}, cut="knee") == ["a", "b"]


def test_the_sensitive_cut_keeps_what_is_nearly_as_far_from_the_chord():
    # 1, .4, .35, .2, .1, 0 has the distances 0, .4, .25, .2, .1, 0. The knee is the second; at .6 the third counts.
    scores = {"a": 1, "b": 0.4, "c": 0.35, "d": 0.2, "e": 0.1, "f": 0}
    index = DrawnIndex(*scores, scores=scores)
    assert len(beam_search(index, "query", cut="knee").trace.steps[1].kept) == 2
    assert (
        len(beam_search(index, "query", cut="sensitive").trace.steps[1].kept) == 2
    )  # .25 is below .85 of .4
    assert len(beam_search(index, "query", cut="sensitive", sensitivity=0.6).trace.steps[1].kept) == 3


def test_a_parent_behind_the_knee_goes_and_its_children_stay():
    # Round 1: p 1, q .98, s .96, b .94, R .3: b is farthest above the chord, and what comes behind it, R, goes.
    scores = {"p": 1, "q": 0.98, "s": 0.96, "b": 0.94, "R": 0.3}
    step = beam_search(DrawnIndex(("R", "p", "q", "s", "b"), scores=scores), "query", cut="knee").trace.steps[
        1
    ]
    assert step.kept == (1, 2, 3, 4) and step.removed == {5: "knee"}


def test_the_search_starts_with_the_best_roots():
    scores = {"a": 5, "b": 4, "c": 3, "d": 2}
    assert found(*scores, scores=scores, width=9, max_roots=2) == ["a", "b"]
    assert found(*scores, scores=scores, width=9) == ["a", "b", "c", "d"]


def test_twenty_roots_are_the_most_unless_told():
    scores = {f"page {number}": -number for number in range(30)}
    assert len(found(*scores, scores=scores, width=50)) == 20


def test_nothing_to_search_is_an_empty_list():
    found = beam_search(DrawnIndex(scores={}), "query", cut="knee")
    assert found == [] and found.trace.comparisons == 0


def test_the_trace_says_what_removed_a_node():
    index = DrawnIndex(DRAWING, scores=SCORES)
    found = beam_search(index, "query", width=2)
    # Ids: a1 1, a2 2, A 3, b1 4, b2 5, B 6, c1 7, c2 8, C 9, R 10.
    assert [(step.round, step.kept, step.removed) for step in found.trace.steps] == [
        (0, (10,), {}),
        (1, (3, 6), {10: 3, 9: "width"}),
        (2, (1, 2), {3: 1, 4: 6, 5: 6, 6: "width"}),
        (3, (1, 2), {}),
    ]
    assert found.trace.comparisons == 1 + 4 + 6 + 2
    assert [chunk["path"] for chunk in found] == [[10, 3, 1], [10, 3, 2]]
    assert "removed by the width" in str(found.trace)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cut": "elbow"}, "cut must be one of fixed, knee, sensitive: got 'elbow'"),
        ({"width": 0}, "width must be at least 1"),
        ({"max_roots": 0}, "max_roots must be at least 1"),
        ({"sensitivity": 0}, "sensitivity must be above 0"),
        ({"sensitivity": 1.5}, "sensitivity must be above 0 and at most 1"),
        ({"query": " "}, "the query is empty"),
    ],
)
def test_settings_that_mean_nothing_are_refused_before_anything_is_searched(options, message):
    index = DrawnIndex(DRAWING, scores=SCORES)
    with pytest.raises(ValueError, match=message):
        beam_search(index, **{"query": "query", **options})
    assert index.asked == []


if given:

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(st.integers(0, 60), max_size=5) | st.lists(st.integers(0, 300), max_size=1),
        st.integers(2, 8),
        st.integers(0, 2**32),
        st.sampled_from(["fixed", "knee", "sensitive"]),
        st.integers(1, 9),
        st.integers(1, 6),
    )
    def test_any_search_ends_and_finds_no_node_inside_another(documents, width, seed, cut, beam, max_roots):
        index = random_index(documents, width, seed)
        options = {"cut": cut, "width": beam, "max_roots": max_roots}
        found = beam_search(index, "query", **options)
        check_found(index, found)
        assert bool(found) == any(documents)
        assert len(found) <= beam or cut != "fixed"
        again = beam_search(random_index(documents, width, seed), "query", **options)
        assert again == found and str(again.trace) == str(found.trace)

else:

    def test_any_search_ends_and_finds_no_node_inside_another():
        need(given, "hypothesis")
