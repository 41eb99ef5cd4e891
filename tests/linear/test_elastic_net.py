"""The elastic net: between the lasso and ridge regression."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from tests.linear.certificates import objective, violation

from bisector import ElasticNet, Lasso


def wide(rng, n=40, d=400):
    X = rng.normal(size=(n, d)) + 2
    return X, X[:, :5].sum(axis=1) + rng.normal(size=n)


@pytest.fixture(params=["tall", "wide"])
def problem(request, rng, table):
    return table if request.param == "tall" else wide(rng)


@pytest.mark.parametrize(("alpha", "l1_ratio"), [(1.0, 0.5), (0.5, 0.2), (2.0, 0.9)])
def test_by_hand_uncorrelated_columns_are_thresholded_and_shrunk(alpha, l1_ratio):
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    model = ElasticNet(alpha=alpha, l1_ratio=l1_ratio).fit(X, X @ [4.0, -1.0] + 3)
    kept = np.maximum(np.array([4.0, 1.0]) - alpha * l1_ratio, 0) / (1 + alpha * (1 - l1_ratio))
    np.testing.assert_allclose(model.coef_, kept * [1, -1], atol=1e-14)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("l1_ratio", [0.01, 0.5, 0.95])
@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_array])
def test_optimality(problem, l1_ratio, positive, layout, rng):
    X, y = problem
    weight = rng.integers(0, 3, size=len(y)).astype(float)
    for alpha in (0.03, 1.0):
        model = ElasticNet(alpha=alpha, l1_ratio=l1_ratio, positive=positive, tol=1e-12)
        model.fit(layout(X), y, sample_weight=weight)
        assert violation(X, y, model.coef_, alpha, l1_ratio, weight, positive=positive) < 1e-5
        assert (
            0
            <= model.dual_gap_
            <= 1e-12 * np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
        )


@pytest.mark.parametrize("l1_ratio", [0.1, 0.7])
def test_as_scikit_learn(problem, l1_ratio):
    X, y = problem
    how = {"alpha": 0.2, "l1_ratio": l1_ratio, "tol": 1e-13}
    theirs = sklearn.linear_model.ElasticNet(max_iter=100_000, **how).fit(X, y)
    ours = ElasticNet(**how).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6 * np.abs(theirs.coef_).max())


def test_only_the_lassos_penalty_is_the_lasso(problem):
    X, y = problem
    np.testing.assert_array_equal(
        ElasticNet(alpha=0.1, l1_ratio=1).fit(X, y).coef_, Lasso(alpha=0.1).fit(X, y).coef_
    )


@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_only_ridges_penalty_is_ridge_regression(problem, layout):
    X, y = problem
    model = ElasticNet(alpha=0.3, l1_ratio=0, tol=1e-12).fit(layout(X), y)
    ridge = sklearn.linear_model.Ridge(alpha=0.3 * len(y), tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=2e-6 * np.abs(ridge.coef_).max())
    assert model.dual_gap_ <= 1e-12 * np.var(y)


@pytest.mark.parametrize("positive", [False, True])
def test_more_features_in_use_than_products_are_made_of(rng, positive):
    """Beyond twice as many columns as rows, and beyond 2,000, the columns themselves are used."""
    X = rng.normal(size=(30, 3000))
    y = X[:, :50].sum(axis=1)
    model = ElasticNet(alpha=1.0, l1_ratio=0.001, tol=1e-10, positive=positive).fit(X, y)
    assert np.count_nonzero(model.coef_) > (1000 if positive else 2000)
    assert violation(X, y, model.coef_, 1.0, 0.001, positive=positive) < 1e-4
    assert model.dual_gap_ <= 1e-10 * np.var(y)


def test_nearly_no_penalty_on_many_more_features_than_rows(rng):
    """Where sweeps alone take tens of thousands of turns."""
    X = rng.normal(size=(30, 1000))
    y = X[:, :50].sum(axis=1)
    model = ElasticNet(alpha=0.01, l1_ratio=0.01).fit(X, y)
    assert model.dual_gap_ <= 1e-4 * np.var(y)
    assert model.n_iter_ < 1000


def test_equal_columns_share_their_coefficient(rng):
    X = rng.normal(size=(30, 2))
    X[:, 1] = X[:, 0]
    coef = ElasticNet(alpha=0.1, tol=1e-12).fit(X, X[:, 0] + rng.normal(size=30)).coef_
    assert coef[0] == pytest.approx(coef[1], rel=1e-6)


def test_no_other_coefficients_are_better(problem, rng):
    X, y = problem
    model = ElasticNet(alpha=0.1, l1_ratio=0.4, tol=1e-10).fit(X, y)
    best = objective(X, y, model.coef_, model.intercept_, 0.1, 0.4)
    for size in (1e-3, 0.1, 1.0):
        moved = model.coef_ + size * rng.normal(size=X.shape[1]) * (rng.random(X.shape[1]) < 0.5)
        offset = (y - X @ moved).mean()
        assert objective(X, y, moved, offset, 0.1, 0.4) >= best


@pytest.mark.parametrize("l1_ratio", [-0.1, 1.5])
def test_bad_mix(table, l1_ratio):
    with pytest.raises(ValueError, match="l1_ratio must be a number"):
        ElasticNet(l1_ratio=l1_ratio).fit(*table)
