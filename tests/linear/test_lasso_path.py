"""Coefficients on a grid of penalties."""

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from tests.linear.certificates import duality_gap

from bisector import ElasticNet, Lasso, enet_path, lasso_path


@pytest.fixture(params=["tall", "wide"])
def problem(request, rng, table):
    if request.param == "tall":
        return table
    X = rng.normal(size=(40, 300))
    return X, X[:, :5].sum(axis=1) + rng.normal(size=40)


def test_by_hand():
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    alphas, coefs, gaps = lasso_path(X, X @ [4.0, 1.0], alphas=[0.5, 4.0, 2.0])
    np.testing.assert_array_equal(alphas, [4.0, 2.0, 0.5])
    np.testing.assert_allclose(coefs, [[0.0, 2.0, 3.5], [0.0, 0.0, 0.5]], atol=1e-14)
    np.testing.assert_allclose(gaps, 0, atol=1e-14)


@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("positive", [False, True])
def test_as_scikit_learn(problem, l1_ratio, positive):
    X, y = problem
    how = {"l1_ratio": l1_ratio, "positive": positive, "eps": 1e-2, "tol": 1e-12, "max_iter": 100_000}
    theirs = sklearn.linear_model.enet_path(X, y, alphas=12, return_n_iter=True, **how)
    ours = enet_path(X, y, alphas=12, return_n_iter=True, **how)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-12)
    np.testing.assert_allclose(ours[1], theirs[1], atol=1e-6 * np.abs(theirs[1]).max())
    assert [np.shape(part) for part in ours] == [np.shape(part) for part in theirs]


@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csc_array])
def test_every_point_is_certified_and_the_estimators(problem, layout, rng):
    X, y = problem
    weight = rng.integers(1, 4, size=len(y)).astype(float)
    alphas, coefs, gaps = lasso_path(
        layout(X), y, alphas=20, fit_intercept=True, sample_weight=weight, tol=1e-9
    )
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    for alpha, coef, gap in zip(alphas, coefs.T, gaps, strict=True):
        assert duality_gap(X, y, coef, alpha, weight=weight) == pytest.approx(gap, abs=1e-13 * spread)
        assert gap <= 1e-9 * spread
    alone = Lasso(alpha=alphas[10], tol=1e-9).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(coefs[:, 10], alone.coef_, atol=1e-6 * np.abs(alone.coef_).max())


def test_a_start_changes_the_way_only(problem, rng):
    X, y = problem
    plain = lasso_path(X, y, alphas=[0.1], tol=1e-12)[1]
    begun = lasso_path(X, y, alphas=[0.1], tol=1e-12, coef_init=rng.normal(size=X.shape[1]))[1]
    np.testing.assert_allclose(begun, plain, atol=1e-6 * np.abs(plain).max())
    with pytest.raises(ValueError, match="coef_init has the shape"):
        lasso_path(X, y, coef_init=[1.0])


def test_float32_and_threads(problem):
    X, y = problem
    narrow = lasso_path(X.astype(np.float32), y, alphas=5)[1]
    assert narrow.dtype == np.float32
    fits = [lasso_path(X, y, alphas=5, n_jobs=n_jobs)[1] for n_jobs in (1, 2)]
    np.testing.assert_array_equal(*fits)


def test_number_of_penalties(table):
    X, y = table
    assert len(lasso_path(X, y)[0]) == 100
    assert len(lasso_path(X, y, alphas=None)[0]) == 100
    assert len(lasso_path(X, y, n_alphas=7)[0]) == 7
    alphas = lasso_path(X, y, alphas=7, eps=0.1)[0]
    np.testing.assert_allclose(alphas[-1] / alphas[0], 0.1)
    assert not lasso_path(X, y, alphas=7)[1][:, 0].any()


def test_a_target_of_zeros(rng):
    alphas, coefs, _ = lasso_path(rng.normal(size=(10, 3)), np.zeros(10), alphas=3)
    assert len(alphas) == 3
    assert not coefs.any()


def test_estimators_offer_their_path(table):
    X, y = table
    np.testing.assert_array_equal(ElasticNet.path(X, y, alphas=3)[1], enet_path(X, y, alphas=3)[1])


@pytest.mark.parametrize(
    ("how", "kind", "error"),
    [
        ({"alphas": [1.0, -1.0]}, ValueError, r"alphas\[1\] is -1.0"),
        ({"alphas": []}, TypeError, "alphas must be"),
        ({"alphas": 0}, ValueError, "alphas must be a whole number"),
        ({"eps": 0.0}, ValueError, "eps must be"),
        ({"l1_ratio": 0.0}, ValueError, "give the penalties as alphas"),
        ({"l1_ratio": 2.0}, ValueError, "l1_ratio must be"),
        ({"tolerance": 1}, TypeError, "no parameter 'tolerance'"),
    ],
)
def test_bad_input(table, how, kind, error):
    with pytest.raises(kind, match=error):
        enet_path(*table, **({"alphas": 3} | how))


def test_several_targets_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match="1d array"):
        lasso_path(X, np.column_stack([y, y]))
