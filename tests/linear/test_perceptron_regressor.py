"""The perceptron as a regressor: by hand, against least squares, and what happens when steps are too long."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from tests.properties.strategies import TROUBLES, awkward_tables

from bisector import PerceptronRegressor
from bisector.linear.linear_regression import LinearRegression


def noisy(n=400, d=4, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.5
    return X, X @ rng.normal(size=d) + 2.0 + noise * rng.normal(size=n)


def plain_rule(X, y, rate, scaled, passes, squared=False):
    rows, w = np.column_stack([X, np.ones(len(X))]), np.zeros(X.shape[1] + 1)
    for _ in range(passes):
        for x, target in zip(rows, y, strict=True):
            residual = target - w @ x
            w += rate * (residual**2 if squared else residual) * x / (x @ x if scaled else 1.0)
    return w


def test_steps_by_hand():
    # (1)→2: r = 2, x·x = 2, w = (1, 1). (0)→3: r = 2, x·x = 1, w = (1, 3).
    model = PerceptronRegressor(shuffle=False, max_epochs=1).fit([[1.0], [0.0]], [2.0, 3.0])
    np.testing.assert_array_equal([model.coef_[0], model.intercept_], [1.0, 3.0])
    np.testing.assert_array_equal(model.errors_, [8.0])


@pytest.mark.parametrize("scale", ["row", None])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_the_plain_rule(scale, form):
    X, y = noisy(60)
    w = plain_rule(X, y, 0.05, scale == "row", 5)
    model = PerceptronRegressor(
        learning_rate=0.05, scale=scale, schedule="constant", shuffle=False, max_epochs=5
    ).fit(form(X), y)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_), w, rtol=1e-12)


def test_a_plane_through_all_rows_is_found():
    X, y = noisy(noise=0.0)
    model = PerceptronRegressor().fit(X, y)
    exact = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-6)
    assert model.converged_


@pytest.mark.parametrize("scale", ["row", "longest"])
def test_pulls_balance_at_least_squares(scale):
    X, y = noisy(2000)
    model = PerceptronRegressor(scale=scale, tol=1e-4).fit(X, y)
    weight = 1 / ((X**2).sum(axis=1) + 1) if scale == "row" else None
    exact = LinearRegression().fit(X, y, sample_weight=weight)
    # The last steps are 1e-4 of the first, and each moves the plane by about so much of the noise.
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=1e-3)
    assert model.intercept_ == pytest.approx(exact.intercept_, abs=1e-3)
    assert model.stopping_reason_ == "no improvement"
    assert model.gap_ < 1e-3


def test_until_a_bound_on_the_squares():
    X, y = noisy()
    model = PerceptronRegressor(until=200.0).fit(X, y)
    assert model.stopping_reason_ == "until"
    assert model.errors_[-1] <= 200.0 < model.errors_[:-1].min(initial=np.inf)


def test_steps_that_are_too_long_are_recognised():
    X, y = noisy()
    with pytest.raises(ValueError, match='use a smaller one, or scale="row"'):
        PerceptronRegressor(scale=None, schedule="constant").fit(10 * X, y)
    with pytest.raises(ValueError, match="use one below 2"):
        PerceptronRegressor(learning_rate=3.0, schedule="constant").fit(X, y)


def test_the_printed_rule_has_its_own_name():
    # w = 0: r = 1, r² = 1, so that w = (1); then r = 1, and w = (2): targets above the plane pull as they should.
    model = PerceptronRegressor(
        "squared-residual", scale=None, fit_intercept=False, max_epochs=1, shuffle=False, schedule="constant"
    ).fit([[1.0], [1.0]], [1.0, 2.0])
    assert model.coef_[0] == 2.0
    # One target below it pushes the plane away.
    with pytest.raises(ValueError, match="can only push the plane up"):
        PerceptronRegressor("squared-residual").fit([[1.0], [1.0]], [-3.0, -3.0])
    with pytest.raises(ValueError, match="takes no sample_weight"):
        PerceptronRegressor("squared-residual").fit([[1.0]], [1.0], sample_weight=[2.0])


def test_whole_weights_are_repeated_rows_in_place_and_zero_is_absent():
    X, y = noisy(50)
    weight = np.random.default_rng(1).integers(0, 4, size=50)
    again = np.repeat(np.arange(50), weight)
    for rate in (1.0, 0.3, 1.5):
        chosen = {"learning_rate": rate, "shuffle": False, "schedule": "constant", "max_epochs": 6}
        weighted = PerceptronRegressor(**chosen).fit(X, y, sample_weight=weight)
        repeated = PerceptronRegressor(**chosen).fit(X[again], y[again])
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)


def test_float32_in_float32_out_with_sums_in_float64():
    X, y = noisy()
    narrow = PerceptronRegressor().fit(X.astype(np.float32), y)
    wide = PerceptronRegressor().fit(X.astype(np.float32).astype(np.float64), y)
    assert narrow.coef_.dtype == narrow.predict(X.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=2e-7)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rule": "absolute"}, "rule must be one of"),
        ({"learning_rate": 0}, "learning_rate must be a number above 0"),
        ({"scale": "column"}, "scale must be one of"),
        ({"max_epochs": 0}, "max_epochs must be a whole number at least 1"),
        ({"until": -1}, "until must be a number at least 0"),
    ],
)
def test_bad_parameters(changed, message):
    with pytest.raises((ValueError, TypeError), match=message):
        PerceptronRegressor(**changed).fit([[0.0], [1.0]], [0.0, 1.0])


def test_values_that_cannot_be_walked_over_are_named():
    X, y = noisy(30)
    X[3, 2] = np.inf
    with pytest.raises(ValueError, match="X contains inf in row 3, column 2"):
        PerceptronRegressor().fit(X, y)


@settings(deadline=None, max_examples=40)
@given(awkward_tables(troubles=TROUBLES))
def test_awkward_tables_never_diverge_by_default(table):
    y = np.random.default_rng(0).normal(size=len(table))
    model = PerceptronRegressor(max_epochs=50).fit(table, y)
    assert np.isfinite(model.predict(table)).all()
    assert model.errors_[-1] <= 1e6 * (y @ y)
