"""What Learning From Data says of radial basis functions (6.3, Exercises 6.11 and 6.12, Problems 6.19 to 6.21)."""

import numpy as np
import pytest

from bisector import KernelDensity, RBFNetworkRegressor, RBFRegressor, SimilarityClassifier


@pytest.fixture
def three_points():
    return np.array([[0.2], [0.5], [0.8]]), np.array([0.3, 0.9, 0.1])


def test_width_to_zero_is_the_nearest_neighbour(three_points):
    X, y = three_points
    at = np.linspace(-1, 2, 50)[:, None]
    nearest = y[np.abs(at - X.T).argmin(axis=1)]
    np.testing.assert_allclose(RBFRegressor(1e-7).fit(X, y).predict(at), nearest, rtol=1e-12)


def test_far_away_the_nonparametric_answers_the_nearest_and_the_parametric_zero(three_points):
    X, y = three_points
    np.testing.assert_allclose(RBFRegressor(0.1).fit(X, y).predict([[-50.0], [50.0]]), [0.3, 0.1])
    network = RBFNetworkRegressor(centers="all", width=0.1, alpha=0).fit(X, y)
    np.testing.assert_allclose(network.predict([[-50.0], [50.0]]), 0, atol=1e-12)


@pytest.mark.parametrize("width", [0.1, 0.3])
def test_a_bump_on_every_point_interpolates(width, three_points):
    X, y = three_points
    network = RBFNetworkRegressor(centers="all", width=width, alpha=0).fit(X, y)
    Z = np.exp(-0.5 * np.square((X - X.T) / width))
    np.testing.assert_allclose(network.coef_, np.linalg.solve(Z, y), rtol=1e-10)
    np.testing.assert_allclose(network.predict(X), y, rtol=1e-10)
    assert network.intercept_ == 0


def test_the_nonparametric_need_not_interpolate(three_points):
    X, y = three_points
    assert np.abs(RBFRegressor(0.3).fit(X, y).predict(X) - y).max() > 0.1


def test_parzen_expectation_is_the_nonparametric_fit():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 1)), rng.integers(0, 2, size=50)
    at, r = np.linspace(-2, 2, 20)[:, None], 0.3
    density = [np.exp(KernelDensity(bandwidth=r).fit(X[y == c]).score_samples(at)) for c in (0, 1)]
    share = (y == 1).mean()
    expected = share * density[1] / (share * density[1] + (1 - share) * density[0])
    np.testing.assert_allclose(RBFRegressor(r).fit(X, y.astype(float)).predict(at), expected, rtol=1e-9)


def test_greens_function_fit_is_not_ridge_on_the_bumps():
    rng = np.random.default_rng(0)
    X, y, lam = rng.uniform(size=(20, 1)), rng.normal(size=20), 0.1
    G = np.exp(-0.5 * np.square((X - X.T) / 0.2))
    curvature = RBFNetworkRegressor(centers="all", width=0.2, alpha=lam, penalty="curvature").fit(X, y)
    np.testing.assert_allclose(curvature.coef_, np.linalg.solve(G + lam * np.eye(20), y), rtol=1e-9)
    ridge = RBFNetworkRegressor(centers="all", width=0.2, alpha=lam).fit(X, y)
    np.testing.assert_allclose(ridge.coef_, np.linalg.solve(G @ G + lam * np.eye(20), G @ y), rtol=1e-7)
    assert np.abs(curvature.predict(X) - ridge.predict(X)).max() > 0.01


def test_the_gaussian_is_the_greens_function_of_its_operator():
    # Problem 6.20d: a_k = 1/(2^k k!) makes Q(f) = exp(2π²f²), whose inverse transform is the unit Gaussian.
    f = np.linspace(-4, 4, 4001)
    x = np.array([0.0, 0.5, 1.7])
    G = np.trapezoid(np.cos(2 * np.pi * np.outer(x, f)) / np.exp(2 * np.pi**2 * f**2), f, axis=1)
    np.testing.assert_allclose(G, np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi), atol=1e-12)


def test_the_rule_for_the_width():
    for n, d in ((16, 1), (81, 2)):
        X = np.random.default_rng(0).normal(size=(n, d))
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        assert RBFRegressor().fit(X, X[:, 0]).width_ == pytest.approx(n ** (-1 / (2 * d)))


def test_the_intercept_of_the_programme_is_free():
    # Problem 6.21: far from zero, w₀ is large and costs nothing; penalised, as in its part (a), it would.
    model = SimilarityClassifier(float("inf")).fit([[0.0], [1000.0], [1001.0]], [0, 0, 1])
    assert model.objective_[0] == pytest.approx(2.0)
    assert abs(model.intercept_[0]) > 100
