"""LinearRegression without negative coefficients, one feature at a time, on sparse data, and within a budget."""

import numpy as np
import pytest
import scipy.sparse
from scipy.optimize import lsq_linear, nnls

import bisector
from bisector import LinearRegression

# positive=True


def test_without_negative_coefficients_by_hand():
    """Of y = x0 − x1 with uncorrelated features, the positive half is left."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    model = LinearRegression(positive=True).fit(X, X[:, 0] - X[:, 1] + 7)
    np.testing.assert_allclose(model.coef_, [1, 0], atol=1e-15)
    assert model.intercept_ == pytest.approx(7)
    assert model.solver_ == "nnls"


@pytest.mark.parametrize("intercept", [True, False])
def test_positive_satisfies_karush_kuhn_tucker(table, intercept):
    X, y = table
    model = LinearRegression(positive=True, fit_intercept=intercept).fit(X, y)
    pull = X.T @ (y - model.predict(X))
    if intercept:
        pull = (X - X.mean(axis=0)).T @ (y - model.predict(X))
    scale = np.linalg.norm(X, axis=0) * np.linalg.norm(y)
    held = model.coef_ == 0
    assert held.any()
    assert (model.coef_ >= 0).all()
    np.testing.assert_allclose(pull[~held] / scale[~held], 0, atol=1e-12)
    assert (pull[held] <= 1e-12 * scale[held]).all()


@pytest.mark.parametrize("intercept", [True, False])
def test_positive_is_the_solution_of_scipy(table, intercept):
    X, y = table
    A = X - X.mean(axis=0) if intercept else X
    b = y - y.mean() if intercept else y
    model = LinearRegression(positive=True, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, nnls(A, b)[0], rtol=1e-8, atol=1e-10)
    bounded = lsq_linear(A, b, bounds=(0, np.inf), tol=1e-12)
    assert np.square(y - model.predict(X)).sum() <= 2 * bounded.cost * (1 + 1e-9)


def test_positive_with_weights_and_targets(table, rng):
    X, y = table
    weight = rng.uniform(0.5, 2, size=50)
    Y = np.column_stack([y, -y])
    model = LinearRegression(positive=True, fit_intercept=False).fit(X, Y, sample_weight=weight)
    root = np.sqrt(weight)
    for k in range(2):
        expected = nnls(root[:, None] * X, root * Y[:, k])[0]
        np.testing.assert_allclose(model.coef_[k], expected, rtol=1e-8, atol=1e-10)


def test_positive_is_ordinary_where_no_bound_is_met(rng):
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, 2.0] + 0.1 * rng.normal(size=40)
    ordinary, positive = LinearRegression().fit(X, y), LinearRegression(positive=True).fit(X, y)
    np.testing.assert_array_equal(positive.coef_, ordinary.coef_)
    np.testing.assert_array_equal(positive.standard_errors_, ordinary.standard_errors_)


# decomposed=True


def univariate(X, y, weight=None, **parameters):
    """The regressions on each feature alone."""
    return [LinearRegression(**parameters).fit(X[:, [j]], y, sample_weight=weight) for j in range(X.shape[1])]


def test_decomposed_is_one_regression_a_feature(table, weight):
    X, y = table
    model = LinearRegression(decomposed=True).fit(X, y, sample_weight=weight)
    alone = univariate(X, y, weight)
    np.testing.assert_allclose(model.coef_, [one.coef_[0] for one in alone], rtol=1e-9)
    for what in ("standard_errors_", "t_values_", "p_values_"):
        np.testing.assert_allclose(
            getattr(model, what)[1:], [getattr(one, what)[1] for one in alone], rtol=1e-7
        )
        assert np.isnan(getattr(model, what)[0])
    intervals = [one.confidence_intervals(0.8)[1] for one in alone]
    np.testing.assert_allclose(model.confidence_intervals(0.8)[1:], intervals, rtol=1e-8)


def test_decomposed_passes_through_the_means(table, weight):
    X, y = table
    model = LinearRegression(decomposed=True).fit(X, y, sample_weight=weight)
    middle = np.average(X, axis=0, weights=weight)
    assert model.predict(middle[None])[0] == pytest.approx(np.average(y, weights=weight), rel=1e-12)


def test_decomposed_without_intercept(table):
    X, y = table
    model = LinearRegression(decomposed=True, fit_intercept=False).fit(X, y)
    alone = univariate(X, y, fit_intercept=False)
    np.testing.assert_allclose(model.coef_, [one.coef_[0] for one in alone], rtol=1e-9)
    np.testing.assert_allclose(model.standard_errors_, [one.standard_errors_[0] for one in alone], rtol=1e-9)


def test_decomposed_needs_no_more_rows_than_one_feature_does(rng):
    X, y = rng.normal(size=(6, 20)), rng.normal(size=6)
    model = LinearRegression(decomposed=True).fit(X, y)
    alone = univariate(X, y)
    np.testing.assert_allclose(model.p_values_[1:], [one.p_values_[1] for one in alone], rtol=1e-7)
    intervals = [one.confidence_intervals()[1] for one in alone]
    np.testing.assert_allclose(model.confidence_intervals()[1:], intervals, rtol=1e-8)


def test_decomposed_leverage_is_how_a_target_pulls_its_own_prediction(table):
    X, y = table
    model = LinearRegression(decomposed=True).fit(X, y)
    pulled = LinearRegression(decomposed=True).fit(X, y + np.eye(50)[3])
    assert model.leverage_[3] == pytest.approx((pulled.predict(X) - model.predict(X))[3], rel=1e-8)


def test_decomposed_predictions_have_no_intervals(table):
    X, y = table
    with pytest.raises(ValueError, match="fit without decomposed=True"):
        LinearRegression(decomposed=True).fit(X, y).predict_interval(X)


# Sparse data, and too many features


@pytest.fixture
def sparse(rng):
    X = scipy.sparse.random_array((600, 80), density=0.05, rng=rng, format="csr")
    return X, X @ rng.normal(size=80) + 2 + 0.1 * rng.normal(size=600)


@pytest.mark.parametrize("intercept", [True, False])
def test_sparse_is_dense(sparse, intercept):
    X, y = sparse
    ours = LinearRegression(fit_intercept=intercept).fit(X, y)
    dense = LinearRegression(fit_intercept=intercept).fit(X.toarray(), y)
    np.testing.assert_allclose(ours.coef_, dense.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.standard_errors_, dense.standard_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.leverage_, dense.leverage_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), dense.predict(X.toarray()), rtol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_wide_sparse_data_beyond_the_budget_are_solved_without_products_of_features(sparse, intercept, rng):
    X, y = sparse
    weight = rng.uniform(0.5, 2, size=600)
    direct = LinearRegression(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    with bisector.config(memory="100 kB"):
        frugal = LinearRegression(fit_intercept=intercept, tol=1e-12).fit(X, y, sample_weight=weight)
    assert (direct.solver_, frugal.solver_) == ("cholesky", "lsmr")
    np.testing.assert_allclose(frugal.coef_, direct.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(frugal.intercept_, direct.intercept_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(frugal.predict(X), direct.predict(X), rtol=1e-7)
    with pytest.raises(ValueError, match="memory budget"):
        frugal.confidence_intervals()


def test_dense_data_beyond_the_budget_are_refused_with_sizes(rng):
    X, y = rng.normal(size=(1200, 1000)), rng.normal(size=1200)
    with bisector.config(memory="5 MB"):
        with pytest.raises(
            MemoryError, match=r"1,000 features needs .* MiB .* budget is 4\.77 MiB"
        ) as refused:
            LinearRegression().fit(X, y)
        with pytest.raises(MemoryError, match=r"budget is 4\.77 MiB"):
            LinearRegression().fit(X[:900], y[:900])
    assert "raise the budget with bisector.config(memory=...)" in str(refused.value)
