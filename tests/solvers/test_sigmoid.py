"""Sigmoids: the closed form, the likelihood, and the limit where the likelihood has no maximum."""

from math import inf, log

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import expit

from bisector.engine.scored_rows import check_scored_rows
from bisector.solvers.sigmoid import Sigmoid, class_distances, likelihood_sigmoid


@st.composite
def scored(draw, separated=True):
    """Scores of two classes that overlap a little, much or not at all, in some unit, far from zero or near."""
    n = draw(st.integers(4, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = (np.arange(n) % draw(st.integers(2, 4)) == 0).astype(int)
    apart = draw(st.sampled_from([0.0, 1.0, -2.0] + [8.0] * separated))
    scores = rng.normal(size=n) + apart * y
    if not separated:
        scores[:4] = [-1.0, 1.0, 1.0, -1.0]
        y[:4] = [0, 1, 0, 1]
    unit, shift = draw(st.sampled_from([1.0, 1e-8, 1e8])), draw(st.sampled_from([0.0, 100.0]))
    return unit * (scores + shift), y, rng.integers(1, 4, size=n).astype(float)


def objective(rows, targets, sigmoid):
    z = sigmoid.at(rows.scores)
    weight = np.ones(len(z)) if rows.weight is None else rows.weight
    return float(weight @ (np.logaddexp(0, z) - targets * z))


def smoothed(rows):
    positives, negatives = rows.class_weights
    return np.where(rows.positive, (positives + 1) / (positives + 2), 1 / (negatives + 2))


# By hand


def test_means_and_variance():
    found = class_distances(check_scored_rows([0.0, 2.0, 3.0, 5.0], [0, 0, 1, 1]))
    assert (found.negative_mean, found.positive_mean) == pytest.approx((1.0, 4.0))
    expected = (1.0, 3.0, 2.5, 1.0)
    assert (found.variance, found.slope, found.middle, found.class_ratio) == pytest.approx(expected)


def test_a_symmetric_likelihood_is_centred():
    """Two rows at −1 and 1 with targets 1/3 and 2/3: the log-odds there are ∓log 2."""
    fit = likelihood_sigmoid(check_scored_rows([-1.0, 1.0], [0, 1]))
    assert fit.sigmoid.slope == pytest.approx(log(2), rel=1e-10)
    assert fit.sigmoid.centre == 0
    assert fit.sigmoid.log_odds == pytest.approx(0, abs=1e-12)


# Certificate


@given(scored(), st.booleans())
def test_moments_match_at_the_optimum(problem, weighted):
    """Σ w (p − t) and Σ w (p − t) d are zero."""
    scores, y, weight = problem
    rows = check_scored_rows(scores, y, weight if weighted else None)
    fit = likelihood_sigmoid(rows)
    weights = weight if weighted else np.ones(len(y))
    residual = weights * (expit(fit.sigmoid.at(rows.scores)) - smoothed(rows))
    spread = np.ptp(scores)
    assert fit.converged
    # To the root of the smallest gap that is asked for, 1e-22 a row.
    assert abs(residual.sum()) < 1e-9
    assert abs(residual @ ((scores - scores.mean()) / spread)) < 1e-9
    assert 0 <= fit.gap < 1e-18


@given(scored())
def test_the_gap_is_a_bound(problem):
    """No sigmoid nearby is better than the objective minus the gap."""
    rows = check_scored_rows(*problem)
    fit, targets = likelihood_sigmoid(rows), smoothed(rows)
    assert fit.objective == pytest.approx(objective(rows, targets, fit.sigmoid), rel=1e-12)
    for turn in (0.999, 1.001):
        for lift in (-1e-3, 0.0, 1e-3):
            other = Sigmoid(turn * fit.sigmoid.slope, fit.sigmoid.centre, fit.sigmoid.log_odds + lift)
            assert objective(rows, targets, other) >= fit.objective - fit.gap - 1e-12 * abs(fit.objective)


# Oracle


@given(scored(separated=False))
def test_without_smoothing_it_is_logistic_regression(problem):
    from scipy.optimize import minimize

    scores, y, weight = problem
    rows = check_scored_rows(scores, y, weight)
    fit = likelihood_sigmoid(rows, smoothing=False)
    units = (scores - scores.mean()) / scores.std()

    def loss(parameters):
        z = parameters[0] * units + parameters[1]
        gap = weight * (expit(z) - y)
        return weight @ (np.logaddexp(0, z) - y * z), np.array([gap @ units, gap.sum()])

    best = minimize(loss, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9})
    assert fit.objective <= best.fun + 1e-9
    np.testing.assert_allclose(expit(fit.sigmoid.at(scores)), expit(best.x[0] * units + best.x[1]), atol=1e-5)


# Where the likelihood has no maximum


@pytest.mark.parametrize(("sign", "y"), [(1, [0, 0, 1, 1]), (-1, [1, 1, 0, 0])])
def test_separated_classes_get_a_step_between_them(sign, y):
    fit = likelihood_sigmoid(check_scored_rows([0.0, 1.0, 3.0, 4.0], y), smoothing=False)
    assert fit.sigmoid == Sigmoid(sign * inf, 2.0, 0.0)
    assert fit.objective == 0
    np.testing.assert_array_equal(expit(fit.sigmoid.at(np.array([1.9, 2.0, 2.1])))[::sign], [0.0, 0.5, 1.0])


def test_classes_that_meet_at_one_score_share_it():
    rows = check_scored_rows([0.0, 1.0, 1.0, 1.0, 2.0], [0, 0, 1, 1, 1])
    fit = likelihood_sigmoid(rows, smoothing=False)
    assert fit.sigmoid == Sigmoid(inf, 1.0, log(2))
    assert fit.objective == pytest.approx(3 * log(3) - 2 * log(2))
    steep = Sigmoid(200.0, 1.0, log(2))
    assert objective(rows, rows.positive.astype(float), steep) == pytest.approx(fit.objective)


def test_equal_scores_tell_nothing():
    rows = check_scored_rows(np.full(4, 3.3), [0, 1, 1, 1])
    assert class_distances(rows).slope == 0
    assert class_distances(rows).variance == 0
    fit = likelihood_sigmoid(rows, smoothing=False)
    assert fit.sigmoid.slope == 0
    assert expit(fit.sigmoid.log_odds) == pytest.approx(0.75)


def test_classes_without_variance_have_an_infinite_slope():
    found = class_distances(check_scored_rows([0.1, 0.1, 0.1, 0.7, 0.7], [0, 0, 0, 1, 1]))
    assert found.variance == 0
    assert found.slope == inf


# Numbers at the edge of what floats can hold


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1e170, 1e300])
def test_units_only_change_the_slope(unit):
    scores, y = np.array([-1.0, 0.5, 0.0, 2.0, 1.0]), [0, 0, 1, 1, 1]
    plain, scaled = check_scored_rows(scores, y), check_scored_rows(unit * scores, y)
    assert class_distances(scaled).slope * unit == pytest.approx(class_distances(plain).slope)
    a, b = likelihood_sigmoid(plain).sigmoid, likelihood_sigmoid(scaled).sigmoid
    np.testing.assert_allclose(b.at(unit * scores), a.at(scores), rtol=1e-9)


def test_one_outlier_does_not_stop_newton():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=101), np.arange(101) % 2
    scores[-1] = 1e6
    fit = likelihood_sigmoid(check_scored_rows(scores, y), smoothing=False)
    assert fit.converged
    assert fit.gap < 1e-12


def test_threads_change_nothing():
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=40_000), rng.integers(0, 2, size=40_000)
    rows = check_scored_rows(scores + y, y)
    assert likelihood_sigmoid(rows, n_jobs=1) == likelihood_sigmoid(rows, n_jobs=2)
