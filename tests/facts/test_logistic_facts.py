"""Logistic regression: what the books say of it, and figures that other programs print."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from bisector import LogisticRegression

# Hours of study and whether an exam was passed, of twenty students: a data set that many introductions use.
HOURS = [0.5, 0.75, 1, 1.25, 1.5, 1.75, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5, 4, 4.25, 4.5, 4.75, 5, 5.5]
PASSED = [0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1, 1]

# Temperature (°F) and distress of an O-ring, of 23 shuttle flights before the Challenger (Dalal et al., 1989).
TEMPERATURE = [
    66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58,
]  # fmt: skip
DISTRESS = [0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1]


def likeliest(x, y):
    return LogisticRegression(C=np.inf).fit(np.reshape(x, (len(y), -1)), y)


# Published


def test_hours_of_study():
    model = likeliest(HOURS, PASSED)
    np.testing.assert_allclose([model.intercept_[0], model.coef_[0, 0]], [-4.0777, 1.5046], atol=5e-5)
    np.testing.assert_allclose(model.standard_errors_, [1.7610, 0.6287], atol=5e-5)
    np.testing.assert_allclose(model.z_values_, [-2.316, 2.393], atol=5e-4)
    np.testing.assert_allclose(model.p_values_, [0.0206, 0.0167], atol=5e-5)


def test_the_challengers_o_rings_as_r_prints_them():
    model = likeliest(TEMPERATURE, DISTRESS)
    np.testing.assert_allclose([model.intercept_[0], model.coef_[0, 0]], [15.0429, -0.2322], atol=5e-5)
    np.testing.assert_allclose(model.standard_errors_, [7.3786, 0.1082], atol=5e-5)
    np.testing.assert_allclose(model.p_values_, [0.0415, 0.0320], atol=5e-5)
    assert model.null_deviance_ == pytest.approx(28.267, abs=5e-4)
    assert model.deviance_ == pytest.approx(20.315, abs=5e-4)
    assert model.aic_ == pytest.approx(24.315, abs=5e-4)


def test_two_irises_as_r_prints_them():
    X, y = load_iris(return_X_y=True)
    model = likeliest(X[50:], y[50:])
    found = [model.intercept_[0], *model.coef_[0]]
    np.testing.assert_allclose(found, [-42.638, -2.465, -6.681, 9.429, 18.286], atol=5e-4)
    np.testing.assert_allclose(model.standard_errors_, [25.708, 2.394, 4.480, 4.737, 9.743], atol=5e-4)
    assert model.deviance_ == pytest.approx(11.899, abs=5e-4)


# What the optimum means


def test_mean_probability_is_the_share_of_positives():
    model = likeliest(HOURS, PASSED)
    assert model.predict_proba(np.reshape(HOURS, (-1, 1)))[:, 1].mean() == pytest.approx(0.5, abs=1e-9)


def test_features_weighted_by_probability_sum_to_those_of_the_positives():
    model = likeliest(TEMPERATURE, DISTRESS)
    x = np.array(TEMPERATURE, float)
    assert model.predict_proba(x[:, None])[:, 1] @ x == pytest.approx(x @ DISTRESS, rel=1e-9)


def test_the_error_of_a_row_is_log_of_one_plus_e_to_the_minus_y_times_score():
    """The cross-entropy error of Learning From Data, with labels ±1, is minus the log-likelihood."""
    model = likeliest(HOURS, PASSED)
    scores = model.decision_function(np.reshape(HOURS, (-1, 1)))
    signs = 2 * np.array(PASSED) - 1
    assert np.log1p(np.exp(-signs * scores)).sum() == pytest.approx(model.deviance_ / 2, rel=1e-12)


def test_one_feature_of_two_values_gives_the_log_odds_of_the_table():
    """Counts (a, b; c, d): the slope is log(ad/bc), and its variance 1/a + 1/b + 1/c + 1/d."""
    counts = {(0, 0): 12, (0, 1): 5, (1, 0): 4, (1, 1): 9}
    x, y = np.array(list(counts)).T
    model = LogisticRegression(C=np.inf).fit(x[:, None], y, sample_weight=list(counts.values()))
    assert model.coef_[0, 0] == pytest.approx(np.log(12 * 9 / (5 * 4)), rel=1e-9)
    assert model.intercept_[0] == pytest.approx(np.log(5 / 12), rel=1e-9)
    assert model.standard_errors_[1] == pytest.approx(np.sqrt(1 / 12 + 1 / 5 + 1 / 4 + 1 / 9), rel=1e-9)


def test_normal_classes_of_equal_spread_have_logistic_posteriors():
    """Section 7.4: slope (μ⊕ − μ⊖)/σ², boundary halfway between the means; maximum likelihood comes close."""
    quantiles = np.sqrt(2) * 1.5 * erfinv_grid(4000)
    x = np.concatenate([quantiles - 1, quantiles + 2])
    model = likeliest(x, np.repeat([0, 1], 4000))
    assert model.coef_[0, 0] == pytest.approx(3 / 1.5**2, rel=5e-3)  # the grid has no tails beyond 3.7 σ
    assert model.threshold_ / model.weights_[0] == pytest.approx(0.5, rel=1e-6)


def erfinv_grid(n):
    from scipy.special import erfinv

    return erfinv(2 * (np.arange(n) + 0.5) / n - 1)
