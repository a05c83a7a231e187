"""The pictures of unit 09: the curve with its chord and knee, and what a cut keeps and drops."""

import re

import pytest

import lab


def nodes(count):
    return [
        ({"file_name": "manual.txt", "first_page": page, "last_page": page + page % 2}, 1 / page)
        for page in range(1, count + 1)
    ]


def test_the_knee_is_starred_with_its_distance_and_those_around_it():
    picture = lab.plot_knee([2 / (60 + rank) for rank in range(1, 101)], 39)
    assert [row[0] for row in picture.rows] == ["1", "36", "37", "38", "\u2605 39", "40", "41", "42", "100"]
    assert picture.rows[4][1:] == ("0.0202", "0.384", "0.380", "0.167")
    assert picture.alt.endswith("The knee is score number 39: 39 are kept and 61 dropped.")
    assert "knee" not in lab.plot_knee([3, 2, 1]).title


def test_a_short_curve_is_shown_whole():
    picture = lab.plot_knee([1, 0.98, 0.96, 0.94, 0.3], 4)
    assert [row[0] for row in picture.rows] == ["1", "2", "3", "\u2605 4", "5"]


def test_what_is_kept_and_what_is_relevant_is_told_in_words():
    picture = lab.plot_kept(nodes(8), 3, {"manual.txt:4", "manual.txt:8"})
    # A node of an odd page covers the next one, too.
    assert [(row[0], row[2], row[4]) for row in picture.rows] == [
        ("3", "3-4", "kept"),
        ("4", "4", "dropped"),
        ("7", "7-8", "dropped"),
        ("8", "8", "dropped"),
    ]
    assert picture.title == "3 of 8 nodes are kept; of the 4 relevant ones, 1"
    assert picture.alt.endswith("4 nodes are relevant: 1 of them are kept, 3 dropped.")


def test_kept_and_dropped_differ_by_sign_as_well_as_by_colour():
    from matplotlib.colors import to_hex

    (axes,) = lab.plot_kept(nodes(8), 3, {"manual.txt:2"}).draw("black").axes
    drawn = {line.get_label(): line for line in axes.lines}
    looks = {
        name: (to_hex(drawn[name].get_color()), drawn[name].get_marker()) for name in ("kept", "dropped")
    }
    assert len({colour for colour, _ in looks.values()}) == len({sign for _, sign in looks.values()}) == 2
    assert drawn["relevant"].get_marker() == "*"
    assert list(drawn["kept"].get_xdata()) == [1, 2, 3]
    assert list(drawn["dropped"].get_xdata()) == [4, 5, 6, 7, 8]


def test_nothing_kept_and_everything_kept_can_be_drawn():
    for kept in (0, 8):
        assert re.match(f"{kept} of 8", lab.plot_kept(nodes(8), kept).title)
        assert "<svg" in lab.plot_kept(nodes(8), kept)._repr_html_()


@pytest.mark.parametrize("scores", [[], [1], [0.5, 0.5], [1, 2], [1, float("nan"), 0]])
def test_what_is_no_falling_curve_is_refused(scores):
    with pytest.raises(ValueError, match="at least two scores"):
        lab.plot_knee(scores)


@pytest.mark.parametrize("kept", [0, 4])
def test_a_knee_outside_the_curve_is_refused(kept):
    with pytest.raises(ValueError, match="between 1 and 3"):
        lab.plot_knee([3, 2, 1], kept)


@pytest.mark.parametrize(("ranked", "kept"), [([], 0), (nodes(2), 3), (nodes(2), -1)])
def test_a_cut_outside_the_ranking_is_refused(ranked, kept):
    with pytest.raises(ValueError, match="how many"):
        lab.plot_kept(ranked, kept)
