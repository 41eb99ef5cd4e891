"""Reliability curves and their losses."""

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from bisector.measures.calibration import reliability_curve

STRATEGIES = ("uniform", "quantile", "hull")


@st.composite
def predicted(draw):
    n = draw(st.integers(2, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    p = rng.random(n) ** draw(st.sampled_from([1, 3]))
    p = np.round(p, draw(st.sampled_from([1, 16])))
    y = (rng.random(n) < p).astype(int)
    y[:2] = [0, 1]
    weight = rng.integers(0, 4, size=n).astype(float)
    weight[:2] = 1.0
    return y, p, weight


# By hand


def test_two_bins():
    y, p = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.3, 0.8, 0.9]
    curve = reliability_curve(y, p, n_bins=2)
    np.testing.assert_allclose(curve.prob_true, [0.25, 1.0])
    np.testing.assert_allclose(curve.prob_pred, [0.2, 0.85])
    np.testing.assert_array_equal(curve.lowest, [0.1, 0.8])
    np.testing.assert_array_equal(curve.highest, [0.3, 0.9])
    np.testing.assert_array_equal(curve.weights, [4, 2])
    assert curve.expected_calibration_error == pytest.approx((4 * 0.05 + 2 * 0.15) / 6)
    assert curve.calibration_loss == pytest.approx((4 * 0.05**2 + 2 * 0.15**2) / 6)
    assert curve.refinement_loss == pytest.approx(4 * 0.25 * 0.75 / 6)
    assert "share of positives" in str(curve.table())


def test_the_hull_makes_its_own_bins():
    curve = reliability_curve([0, 1, 0, 1], [0.2, 0.4, 0.6, 0.8], strategy="hull")
    np.testing.assert_array_equal(curve.prob_true, [0, 0.5, 1])
    np.testing.assert_array_equal(curve.prob_pred, [0.2, 0.5, 0.8])


# Oracles


@given(predicted(), st.sampled_from(["uniform", "quantile"]), st.integers(1, 12))
def test_bins_equal_those_of_scikit_learn(problem, strategy, bins):
    y, p, _ = problem
    # An edge that falls on a row is there only up to rounding, theirs on either side of it.
    assume(strategy == "uniform" or all((len(y) - 1) * k % bins for k in range(1, bins)))
    theirs = calibration_curve(y, p, n_bins=bins, strategy=strategy)
    for mine, other in zip(reliability_curve(y, p, n_bins=bins, strategy=strategy), theirs, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-14)


@given(predicted(), st.sampled_from(STRATEGIES))
def test_whole_weights_are_repeated_rows(problem, strategy):
    y, p, weight = problem
    repeats = weight.astype(int)
    weighted = reliability_curve(y, p, strategy=strategy, sample_weight=weight)
    repeated = reliability_curve(np.repeat(y, repeats), np.repeat(p, repeats), strategy=strategy)
    for name in ("prob_true", "prob_pred", "lowest", "highest", "weights", "squared_error"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), atol=1e-14)


@given(predicted())
def test_the_squared_error_is_the_brier_score(problem):
    y, p, weight = problem
    expected = brier_score_loss(y, p, sample_weight=weight)
    assert reliability_curve(y, p, sample_weight=weight).squared_error == pytest.approx(expected)


@given(predicted())
def test_one_probability_a_bin_divides_the_squared_error(problem):
    """It is calibration loss plus refinement loss (Flach 2.3)."""
    y, p, _ = problem
    curve = reliability_curve(y, np.floor(9 * p) / 10 + 0.05, n_bins=10)
    assert curve.squared_error == pytest.approx(curve.calibration_loss + curve.refinement_loss, abs=1e-14)


@given(predicted())
def test_shares_of_the_hull_ascend_and_no_bins_refine_better(problem):
    y, p, _ = problem
    hull = reliability_curve(y, p, strategy="hull")
    assert (np.diff(hull.prob_true) > 0).all()
    assert hull.refinement_loss <= reliability_curve(y, np.full(len(p), 0.5)).refinement_loss + 1e-15


# Labels and bad input


def test_labels_of_any_kind():
    p = [0.2, 0.4, 0.6, 0.8]
    named = reliability_curve(["no", "yes", "no", "yes"], p)
    np.testing.assert_array_equal(named.prob_true, reliability_curve([0, 1, 0, 1], p).prob_true)
    other = reliability_curve(["no", "yes", "no", "yes"], p, pos_label="no")
    np.testing.assert_array_equal(other.prob_true, 1 - named.prob_true)


@pytest.mark.parametrize(
    ("p", "others", "error", "message"),
    [
        ([0.1, 1.2], {}, ValueError, "from 0 to 1, but has 1.2"),
        ([-0.1, 0.2], {}, ValueError, "from 0 to 1, but has -0.1"),
        ([0.1, np.nan], {}, ValueError, "y_prob contains NaN"),
        ([0.1, 0.2], {"strategy": "equal"}, ValueError, "strategy must be one of"),
        ([0.1, 0.2], {"n_bins": 0}, ValueError, "n_bins must be"),
        ([0.1, 0.2], {"n_bins": 2.5}, TypeError, "n_bins must be"),
        ([0.1, 0.2, 0.3], {}, ValueError, "inconsistent"),
    ],
)
def test_bad_input_is_named(p, others, error, message):
    with pytest.raises(error, match=message):
        reliability_curve([0, 1], p, **others)
