"""A search through trees, watched and drawn: what a step says is what the search did."""

import re

import pytest

import lab
from grader.exercises.tree import _StubTree
from hybrid_search import branch_search
from lab.tree_view import WalkView
from lab.tree_walk import FINAL, LOST, PASSED, WAITING

# pump.txt: 9 over 7 (pages 1-3), 8 (4-5) and page 6; by both rankings 7 and 6 beat 9, and nothing beats 7.
PUMP = {"pump.txt": [9, [[7, [1, 2, 3]], [8, [4, 5]], 6]]}
MEANING, WORDS = [7, 6, 1, 9, 4, 2, 8, 3, 5], [7, 6, 9, 1, 4, 5]


def index():
    return _StubTree(PUMP, MEANING, WORDS)


@pytest.fixture
def walk():
    return lab.watch_search(branch_search, index(), "pump leak")


def test_each_step_is_a_ranking_with_what_became_of_its_nodes(walk):
    assert [[node["id"] for node, _score in step.ranked] for step in walk.steps] == [
        [9],
        [7, 6, 9, 8],
        [7, 1, 2, 3],
        [7, 6],
    ]
    assert [dict(step.states) for step in walk.steps] == [
        {9: WAITING},
        {7: WAITING, 6: FINAL, 9: PASSED, 8: LOST},
        {7: FINAL, 1: LOST, 2: LOST, 3: LOST},
        {7: FINAL, 6: FINAL},
    ]
    assert walk.compared == 1 + 4 + 4 + 2
    assert [chunk["id"] for chunk in walk.results] == [7, 6]


def test_a_search_that_ranks_a_page_alone_and_keeps_no_trace_is_watched_as_well(walk):
    from variants.branch_search import VARIANTS

    for name, (search,) in VARIANTS.items():
        watched = lab.watch_search(search, index(), "pump leak")
        assert [step.states for step in watched.steps] == [step.states for step in walk.steps], name
        assert [step.title for step in watched.steps] == [step.title for step in walk.steps], name


def test_a_wrong_search_is_shown_as_it_is():
    from misconceptions.tree import IMPLEMENTATIONS

    (search,) = IMPLEMENTATIONS["branch_search"]["siblings_lost"]
    walk = lab.watch_search(search, index(), "pump leak")
    assert walk.steps[1].states == {7: WAITING, 6: LOST, 9: PASSED, 8: LOST}


def test_an_unfinished_search_says_so():
    def unfinished(index, query):
        raise NotImplementedError

    with pytest.raises(NotImplementedError):
        lab.watch_search(unfinished, index(), "pump leak")


@pytest.mark.filterwarnings("error")
def test_a_search_that_finds_nothing_has_one_empty_step():
    walk = lab.watch_search(branch_search, _StubTree({}, [], []), "pump leak")
    assert walk.results == [] and walk.compared == 0
    picture = lab.plot_walk(walk)
    assert picture.rows == [] and "nothing was found" in picture.alt
    assert "<svg" in picture._repr_html_()


def test_a_step_is_drawn_with_its_ranking_as_a_table(walk):
    picture = lab.plot_walk(walk, 2)
    assert picture.title == "Step 2 of 4: node 9 (pages 1-6) against its children"
    assert [row[:4] for row in picture.rows] == [
        ("1", "7", "pump.txt", "1-3"),
        ("2", "\u2605 6", "pump.txt", "6"),
        ("3", "9", "pump.txt", "1-6"),
        ("4", "8", "pump.txt", "4-5"),
    ]
    assert [row[4] for row in picture.rows] == ["0.03279", "0.03226", "0.03175", "0.01562"]
    assert [row[5] for row in picture.rows] == [
        "goes on",
        "is final",
        "gives way to its children",
        "does not go on",
    ]
    assert "First in the ranking is node 7 (pages 1-3); final: 6; goes on: 7; gave way: 9; not taken: 8." in (
        picture.alt
    )


def test_a_state_is_told_by_shape_and_not_by_colour_alone():
    from lab.tree_view import _LOOKS

    shapes = [(marker, size) for marker, _colour, size, _name in _LOOKS.values()]
    assert len(set(shapes)) == len(shapes) - 1  # small circles are full or empty
    assert len({(marker, size, colour == "none") for marker, colour, size, _name in _LOOKS.values()}) == 5


def test_a_rank_is_read_on_a_ground_of_its_own_whatever_line_runs_below_it(walk):
    (axes,) = lab.plot_walk(walk, 2).draw("black").axes
    ranks = [text for text in axes.texts if text.get_bbox_patch() is not None]
    assert sorted(text.get_text() for text in ranks) == ["1", "2", "3", "4"]
    others = [artist.get_zorder() for artist in (*axes.lines, *axes.patches)]
    assert min(text.get_zorder() for text in ranks) > max(others)
    # Dark on orange, also on a dark page: each rank in the SVG says its colour itself.
    svg = lab.plot_walk(walk, 2)._repr_html_()
    assert len(re.findall(r'<g style="fill: #111111"', svg)) == 4


@pytest.mark.parametrize("step", [0, 5, -1])
def test_a_step_that_is_not_there_is_refused(walk, step):
    with pytest.raises(ValueError, match="from 1 to 4"):
        lab.plot_walk(walk, step)


def test_of_a_long_document_only_what_was_looked_at_is_drawn():
    from lab.tree_view import _layout

    pages = list(range(1, 28))
    parents = [[30 + i, pages[3 * i : 3 * i + 3]] for i in range(9)]
    above = [[50 + i, parents[3 * i : 3 * i + 3]] for i in range(3)]
    order = [60, 52, 50, 51, 36, *pages, *range(30, 36), 37, 38]
    long = _StubTree({"long.txt": [60, above]}, order, order)
    walk = lab.watch_search(branch_search, long, "pump leak")
    places, _names, _height = _layout(walk)
    assert set(places) == {60, 50, 51, 52}  # the root is final: its children were looked at, and nobody else
    assert all(places[number].closed for number in (50, 51, 52))
    short = lab.watch_search(branch_search, index(), "pump leak")
    assert len(_layout(short)[0]) == 9


def test_nodes_of_a_level_stand_side_by_side_and_parents_above_their_children(walk):
    from lab.tree_view import _layout

    places, _names, _height = _layout(walk)
    leaves = [places[number].x for number in (1, 2, 3, 4, 5, 6)]
    assert leaves == sorted(leaves) and len({round(x, 6) for x in leaves}) == 6
    assert places[7].x == pytest.approx(places[2].x)
    assert places[9].y < places[7].y < places[1].y


def test_the_slider_changes_the_picture(walk):
    view = WalkView(walk)
    assert view.slider.min == 1 and view.slider.max == 4
    first = view.children[-1].value
    assert "Step 1 of 4" in first
    view.slider.value = 3
    assert "Step 3 of 4" in view.children[-1].value != first
    assert view.picture.title.startswith("Step 3 of 4")


def test_without_a_kernel_the_last_step_is_there_as_a_picture_with_alt_text(walk):
    bundle = WalkView(walk)._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    (alt,) = re.findall(r'<img alt="([^"]+)"', bundle["text/html"])
    assert alt.startswith("Trees of summaries, step 4 of 4")
    assert "Run the cell for a slider" in bundle["text/html"]
    assert bundle["text/plain"].startswith("Step 1 of 4")


def test_a_query_is_text_and_no_markup():
    walk = lab.watch_search(branch_search, index(), "<b>pump</b>")
    view = WalkView(walk)
    assert "<b>" not in view.children[0].value
    assert "<b>" not in view._repr_mimebundle_()["text/html"]
