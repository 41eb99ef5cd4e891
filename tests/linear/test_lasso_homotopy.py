"""The exact path of the lasso and its knots."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from tests.linear.certificates import objective, violation

from bisector import ElasticNet, Lasso, lasso_knots

CUBE = np.array([[a, b, c, a * b * c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], dtype=float)


def lattice(seed):
    """Few small whole numbers: ties, equal columns, columns of zeros, more columns than rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, size=(rng.integers(1, 15), rng.integers(1, 20))).astype(float)
    return X, rng.integers(-2, 3, size=len(X)).astype(float)


def wide(rng):
    X = rng.normal(size=(30, 100))
    return X, X[:, :4].sum(axis=1) + rng.normal(size=30)


# By hand


def test_uncorrelated_columns_enter_one_after_the_other():
    path = lasso_knots(CUBE, CUBE @ [4.0, 2.0, 0.0, -1.0] + 5)
    np.testing.assert_allclose(path.alphas, [4, 2, 1, 0], atol=1e-14)
    expected = [[0, 0, 0, 0], [2, 0, 0, 0], [3, 1, 0, 0], [4, 2, 0, -1]]
    np.testing.assert_allclose(path.coefs, expected, atol=1e-14)
    np.testing.assert_allclose(path.intercepts, 5)
    assert [active.tolist() for active in path.active] == [[0], [0, 1], [0, 1, 3], [0, 1, 3]]
    np.testing.assert_allclose(path.coef_at(1.5), [2.5, 0.5, 0, 0], atol=1e-14)
    assert not path.coef_at(100.0).any()


def test_features_that_arrive_together_enter_together():
    path = lasso_knots(CUBE, CUBE @ [2.0, 1.0, -1.0, 0.0])
    np.testing.assert_allclose(path.alphas, [2, 1, 0], atol=1e-14)
    assert [active.tolist() for active in path.active] == [[0], [0, 1, 2], [0, 1, 2]]


def test_a_coefficient_that_leaves_and_comes_back_with_another_sign():
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(40, 3))
    X = np.column_stack([Z[:, 0], Z[:, 1], Z[:, 0] + Z[:, 1] + 0.3 * Z[:, 2]])
    y = X @ [1.0, 1.0, -0.6]
    path = lasso_knots(X, y)
    third = path.coefs[:, 2]
    assert third.max() > 0 > third.min()
    for alpha in np.geomspace(path.alphas[0], 1e-3, 20):
        assert violation(X, y, path.coef_at(alpha), alpha) < 1e-9


# Certificate


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("layout", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_optimality_at_knots_and_between(rng, layout, positive):
    X, y = wide(rng)
    weight = rng.integers(0, 3, size=30).astype(float)
    path = lasso_knots(layout(X), y, positive=positive, sample_weight=weight)
    between = (path.alphas[1:] + path.alphas[:-1]) / 2
    for alpha in [*path.alphas[:-1], *between]:
        assert violation(X, y, path.coef_at(alpha), alpha, weight=weight, positive=positive) < 1e-9
    assert path.alphas[-1] == 0
    assert (np.diff(path.alphas) < 0).all()
    assert path.gaps.max() < 1e-12 * np.mean(y**2)


@pytest.mark.parametrize("seed", range(60))
def test_ties_and_dependent_columns(seed):
    X, y = lattice(seed)
    positive = seed % 2 == 0
    path = lasso_knots(X, y, positive=positive)
    assert path.gaps.max() < 1e-10
    for alpha in np.geomspace(max(path.alphas[0], 1e-3), 1e-3, 7):
        assert violation(X, y, path.coef_at(alpha), alpha, positive=positive) < 1e-7


# Oracle


def test_knots_as_of_scikit_learns_lars(rng):
    X, y = wide(rng)
    theirs, _, coefs = sklearn.linear_model.lars_path(X - X.mean(axis=0), y - y.mean(), method="lasso")
    ours = lasso_knots(X, y)
    np.testing.assert_allclose(ours.alphas, theirs, atol=1e-12)
    np.testing.assert_allclose(ours.coefs, coefs.T, atol=1e-10)


def test_coordinate_descent_finds_the_same(rng):
    X, y = wide(rng)
    path = lasso_knots(X, y)
    for alpha in np.geomspace(path.alphas[0], 1e-3 * path.alphas[0], 15):
        model = Lasso(alpha=alpha, tol=1e-13).fit(X, y)
        np.testing.assert_allclose(path.coef_at(alpha), model.coef_, atol=1e-8)
        assert path.intercept_at(alpha) == pytest.approx(model.intercept_, abs=1e-8)


@pytest.mark.parametrize("positive", [False, True])
def test_the_elastic_net_is_a_point_of_a_path_with_ridge(rng, positive):
    X, y = wide(rng)
    path = lasso_knots(X, y, ridge=0.3, positive=positive)
    assert path.gaps.max() < 1e-10
    model = ElasticNet(alpha=0.4, l1_ratio=0.25, tol=1e-13, positive=positive).fit(X, y)
    np.testing.assert_allclose(path.coef_at(0.1), model.coef_, atol=1e-9)


def test_equal_columns_give_an_equal_objective(rng):
    X, y = wide(rng)
    twice = np.column_stack([X[:, :5], X[:, :5], -X[:, 2], X[:, 0] + X[:, 1], np.ones(30)])
    path = lasso_knots(twice, y)
    for alpha in (0.5, 0.1, 0.01):
        ours = objective(twice, y, path.coef_at(alpha), path.intercept_at(alpha), alpha)
        model = Lasso(alpha=alpha, tol=1e-13).fit(twice, y)
        assert ours == pytest.approx(objective(twice, y, model.coef_, model.intercept_, alpha), rel=1e-12)


def test_the_end_is_least_squares(table):
    X, y = table
    path = lasso_knots(X, y)
    np.testing.assert_allclose(
        path.coefs[-1], sklearn.linear_model.LinearRegression().fit(X, y).coef_, rtol=1e-8
    )


# Edges


def test_ending_early(rng):
    X, y = wide(rng)
    path = lasso_knots(X, y, max_knots=4)
    assert path.n_knots == 4
    with pytest.raises(ValueError, match="The path ends at alpha"):
        path.coef_at(0.0)
    above = lasso_knots(X, y, alpha_min=0.2)
    assert above.alphas[-1] == 0.2
    np.testing.assert_allclose(above.coefs[-1], Lasso(alpha=0.2, tol=1e-13).fit(X, y).coef_, atol=1e-8)


@pytest.mark.parametrize("n", [1, 5])
def test_nothing_to_explain(rng, n):
    path = lasso_knots(rng.normal(size=(n, 3)), np.full(n, 2.0))
    assert path.alphas.tolist() == [0.0]
    assert not path.coefs.any()
    assert path.intercept_at(1.0) == 2


def test_constant_columns_never_enter(rng):
    X = np.column_stack([np.ones(20), rng.normal(size=20)])
    path = lasso_knots(X, X[:, 1])
    assert [active.tolist() for active in path.active] == [[1], [1]]


@pytest.mark.parametrize("factor", [1e-160, 1e160])
def test_targets_whose_squares_are_no_numbers(rng, factor):
    X, y = wide(rng)
    plain, scaled = lasso_knots(X, y), lasso_knots(X, y * factor)
    many = np.count_nonzero(plain.alphas > 1e-9)
    np.testing.assert_allclose(scaled.alphas[:many] / factor, plain.alphas[:many], rtol=1e-9)
    np.testing.assert_allclose(scaled.coefs[:many] / factor, plain.coefs[:many], atol=1e-9)


def test_threads_change_no_bit(rng):
    X, y = wide(rng)
    one, two = (lasso_knots(X, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.coefs, two.coefs)


@pytest.mark.parametrize("how", [{"ridge": -1}, {"alpha_min": -1}, {"max_knots": 0}])
def test_bad_parameters(table, how):
    with pytest.raises(ValueError, match=f"{next(iter(how))} must be"):
        lasso_knots(*table, **how)
