"""Where a curve of scores bends, and how many of them are kept."""

import math

import pytest
from conftest import need

from hybrid_search import knee
from hybrid_search.knees import chord_distances

try:
    from hypothesis import given
    from hypothesis import strategies as st
except ImportError:
    given = None


@pytest.mark.parametrize(
    ("scores", "kept"),
    [
        ([1, 0.95, 0.2, 0.18, 0.16, 0.15], 3),
        ([0.5, 0.5, 0.5, 0.5], 4),  # flat: nothing sets one apart
        ([1, 0.75, 0.5, 0.25, 0], 5),  # a straight line has no knee
        ([1, 0.98, 0.96, 0.94, 0.3], 4),  # the bend is above the chord
        ([0.0328, 0.0325, 0.0323, 0.0164, 0.0161, 0.0159], 3),
        ([], 0),
        ([0.7], 1),
        ([0.9, 0.1], 2),
    ],
)
def test_scores_are_kept_up_to_the_knee(scores, kept):
    assert knee(scores) == kept


@pytest.mark.parametrize(("n", "kept"), [(10, 5), (20, 10), (100, 39)])
def test_rankers_that_agree_give_a_knee_whatever_they_rank(n, kept):
    assert knee([2 / (60 + rank) for rank in range(1, n + 1)]) == kept


def test_the_knee_is_the_farthest_point_not_the_first_that_leaves_the_chord():
    # Scaled to a square: from the chord x + y = 1 the second point is 0.05 away, the third 0.2, the fourth 0.35.
    assert knee([1, 0.8, 0.7, 0.6, 0]) == 4
    assert knee([1, 0.7, 0.3, 0.2, 0]) == 3  # 0.05 above, 0.2 below, 0.05 below


def test_of_points_equally_far_the_first_is_the_knee():
    # 1/3 + 0.9 - 1 = 7/30 above the chord, 2/3 + 0.1 - 1 = 7/30 below it.
    assert knee([1, 0.9, 0.1, 0]) == 2
    assert knee([10, 9, 1, 0]) == 2
    # In float64 the second of these two is farther, by its rounding alone.
    scores = [0.1, 0.095, 0.005000000000000001, 0.0]
    _, first, second, _ = chord_distances(scores)
    assert first < second < first + 1e-12
    assert knee(scores) == 2


def test_the_sensitive_form_keeps_up_to_the_last_point_that_is_nearly_as_far():
    scores = [1, 0.4, 0.3, 0.2, 0.1, 0]
    # The distances from x + y = 1 are 0, 0.4, 0.3, 0.2, 0.1, 0.
    assert knee(scores) == 2
    assert knee(scores, sensitivity=0.85) == 2
    assert knee(scores, sensitivity=0.75) == 3
    assert knee(scores, sensitivity=0.5) == 4
    assert knee(scores, sensitivity=0.25) == 5
    assert knee([1, 0.9, 0.1, 0], sensitivity=1) == 3  # the last of equals
    assert knee([0.5] * 4, sensitivity=0.5) == 4


@pytest.mark.parametrize("sensitivity", [0, -0.1, 1.01, math.nan])
def test_a_sensitivity_that_is_no_share_is_refused(sensitivity):
    with pytest.raises(ValueError, match="sensitivity must be above 0 and at most 1"):
        knee([], sensitivity)


def test_scores_that_do_not_descend_are_refused():
    with pytest.raises(ValueError, match=r"best first: number 3 \(0.5\) is above number 2 \(0.2\)"):
        knee([0.9, 0.2, 0.5])
    with pytest.raises(ValueError, match="best first"):
        knee([0.15, 0.16, 0.18, 0.2, 0.95, 1])


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_finite_number_is_refused(score):
    with pytest.raises(ValueError, match="finite numbers"):
        knee([1, score, 0])


def test_scores_may_be_negative_and_of_any_size():
    scores = [1, 0.95, 0.2, 0.18, 0.16, 0.15]
    for scale in (2**-40, 2**40):
        assert knee([scale * (score - 4) for score in scores]) == 3


def test_any_iterable_of_numbers_will_do():
    np = pytest.importorskip("numpy")
    assert knee(np.array([1, 0.95, 0.2, 0.18, 0.16, 0.15], dtype=np.float32)) == 3
    assert knee((1, 0)) == 2


if given:

    @given(
        st.lists(st.floats(-1e6, 1e6, width=32), max_size=40).map(lambda scores: sorted(scores, reverse=True))
    )
    def test_the_knee_is_the_point_that_geometry_says_is_farthest(scores):
        kept = knee(scores)
        assert min(1, len(scores)) <= kept <= len(scores)
        if len(scores) < 3 or scores[0] == scores[-1]:
            assert kept == len(scores)
            return
        # Twice the area of the triangle that a point makes with the ends of the chord, over the chord's length.
        last, spread = len(scores) - 1, scores[0] - scores[-1]
        x = [i / last for i in range(len(scores))]
        y = [(score - scores[-1]) / spread for score in scores]
        far = [
            abs((0 - 1) * (a - 0) - (1 - 0) * (b - 1)) / math.hypot(1, 1) for a, b in zip(x, y, strict=True)
        ]
        if max(far) <= 1e-10:
            assert kept == len(scores)
        elif max(far) > 2e-9:
            assert kept < len(scores)
            assert far[kept - 1] >= max(far) - 2e-9
            assert all(distance < max(far) - 5e-10 for distance in far[: kept - 1])
            assert knee(scores, 0.85) >= kept

else:

    def test_the_knee_is_the_point_that_geometry_says_is_farthest():
        need(given, "hypothesis")
