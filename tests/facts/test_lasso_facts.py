"""Flach, section 7.1: what the penalties of ridge, lasso and elastic net do."""

import numpy as np

from bisector import ElasticNet, Lasso


def test_the_lasso_is_sparse_and_ridge_is_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 20))
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=50)
    lasso, ridge = Lasso(alpha=0.2).fit(X, y), ElasticNet(alpha=0.2, l1_ratio=0, tol=1e-10).fit(X, y)
    assert np.count_nonzero(lasso.coef_) < 10
    assert np.count_nonzero(ridge.coef_) == 20


def test_ridge_regression_has_the_closed_form():
    """(XᵀX + λI)⁻¹Xᵀy, with λ = n·alpha: the elastic net without the lasso's part."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 4)), rng.normal(size=30)
    model = ElasticNet(alpha=0.1, l1_ratio=0, fit_intercept=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.solve(X.T @ X + 3.0 * np.eye(4), X.T @ y), rtol=1e-9)


def test_the_elastic_net_is_a_mix_of_the_two():
    """Between the two ends, its objective at the solution is at most that of either end's solution."""
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(30, 6)), rng.normal(size=30)

    def cost(w):
        r = y - X @ w
        return r @ r / 60 + 0.1 * (0.5 * np.abs(w).sum() + 0.25 * w @ w)

    mixes = [
        ElasticNet(alpha=0.1, l1_ratio=mix, fit_intercept=False, tol=1e-12).fit(X, y) for mix in (0, 0.5, 1)
    ]
    costs = [cost(model.coef_) for model in mixes]
    assert costs[1] <= min(costs)
