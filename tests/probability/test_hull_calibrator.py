"""Calibration along the ROC convex hull."""

import numpy as np
import pytest
from hypothesis import given
from sklearn.exceptions import NotFittedError
from sklearn.isotonic import IsotonicRegression
from tests.probability.scored import awkward_scores, normal_scores

from bisector.measures.roc import roc_convex_hull
from bisector.probability import HullCalibrator

# By hand


@pytest.fixture
def model():
    return HullCalibrator().fit([1.0, 2.0, 3.0, 4.0, 5.0], [0, 1, 0, 1, 1])


def test_three_plateaus(model):
    np.testing.assert_array_equal(model.scores_, [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(model.probabilities_, [0, 0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(model.predict([1.0, 2.0, 3.0, 4.0, 5.0]), [0, 0.5, 0.5, 1, 1])


def test_between_plateaus_a_straight_line_and_outside_the_last_value(model):
    np.testing.assert_array_equal(model.predict([-9.0, 1.5, 2.7, 3.25, 99.0]), [0, 0.25, 0.5, 0.625, 1])


def test_the_table_of_plateaus(model):
    lines = [line.split() for line in str(model.plateaus()).splitlines()[1:]]
    assert lines == [
        ["1", "1", "0", "0", "1", "0"],
        ["2", "3", "0.5", "1", "1", "0.6667"],
        ["4", "5", "1", "2", "0", "Inf"],
    ]


def test_ties_share_their_probability():
    model = HullCalibrator().fit([1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1])
    np.testing.assert_allclose(model.predict([1.0, 2.0]), [1 / 3, 1])


def test_weights_change_the_plateaus():
    model = HullCalibrator().fit([1.0, 2.0], [1, 0], [1.0, 3.0])
    np.testing.assert_array_equal(model.predict([1.0, 2.0]), [0.25, 0.25])
    np.testing.assert_array_equal(model.hull_.segment_negatives, [3])


# Both views


def test_one_plateau_for_each_segment_of_the_hull():
    scores, y = normal_scores(300)
    model, hull = HullCalibrator().fit(scores, y), roc_convex_hull(y, scores)
    for name in ("fpr", "tpr", "thresholds", "segment_probability", "segment_lowest"):
        np.testing.assert_array_equal(getattr(model.hull_, name), getattr(hull, name))
    for k, p in enumerate(hull.segment_probability):
        inside = (scores >= hull.segment_lowest[k]) & (scores <= hull.segment_highest[k])
        assert y[inside].mean() == pytest.approx(p)
        assert (model.predict(scores[inside]) == p).all()
    assert model.gap_ < 1e-20


@given(awkward_scores())
def test_equals_scikit_learns_isotonic_regression(problem):
    scores, y, weight = problem
    if np.ptp(scores) < 1e-100 or np.abs(scores).max() > 1e100:
        return  # theirs takes scores that differ by less than their own rounding for ties
    ours = HullCalibrator().fit(scores, y, weight)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(scores, y, weight)
    between = np.linspace(scores.min() - 1, scores.max() + 1, 101)
    np.testing.assert_allclose(ours.predict(scores), theirs.predict(scores), atol=1e-12)
    # Their interpolation rounds in another order.
    np.testing.assert_allclose(ours.predict(between), theirs.predict(between), atol=1e-7)


@given(awkward_scores())
def test_no_ascending_function_has_a_smaller_squared_error(problem):
    """Not the sigmoid, not a step, not the scores in their order."""
    scores, y, _ = problem
    p = HullCalibrator().fit(scores, y).predict(scores)
    error = ((p - y) ** 2).sum()
    ranks = np.unique(scores, return_inverse=True)[1]
    for other in (ranks / max(ranks.max(), 1), (scores >= np.median(scores)).astype(float), y.mean()):
        assert error <= ((other - y) ** 2).sum() + 1e-12


def test_mean_probability_is_the_share_of_positives():
    scores, y = normal_scores(200, share=0.3)
    assert HullCalibrator().fit(scores, y).predict(scores).mean() == pytest.approx(0.3)


# Edges


def test_separated_classes_have_two_plateaus():
    model = HullCalibrator().fit([1.0, 2.0, 5.0, 6.0], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.probabilities_, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict([2.0, 3.5, 5.0]), [0, 0.5, 1])


def test_reversed_scores_have_one_plateau():
    model = HullCalibrator().fit([3.0, 2.0, 1.0, 0.0], [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict([-1.0, 1.5, 9.0]), [0.5, 0.5, 0.5])


def test_constant_scores():
    model = HullCalibrator().fit([2.0, 2.0, 2.0], [0, 1, 1])
    np.testing.assert_array_equal(model.scores_, [2])
    np.testing.assert_allclose(model.predict([-1.0, 2.0, 9.0]), 2 / 3)


def test_plateaus_need_a_fit():
    with pytest.raises(NotFittedError):
        HullCalibrator().plateaus()
