"""KernelRidge by hand, by its optimality conditions, against scikit-learn and refitting, and at the edges."""

import pickle

import numpy as np
import pytest
import scipy.sparse
import sklearn.kernel_ridge
from hypothesis import HealthCheck, given, settings, strategies as st
from tests.properties.strategies import plain_problems, weights

import bisector
from bisector import KernelRidge, Ridge
from bisector.kernels import Gaussian, Linear, Polynomial, Spectrum
from bisector.solvers.kernel_ridge import kernel_ridge

quickly = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(40, 3))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2]) + 0.1 * rng.normal(size=(40, 2))
    return X, Y, rng.uniform(0.1, 2, size=40)


# By hand


def test_rows_at_right_angles_are_shrunk_one_by_one():
    """K = diag(1, 4): c = y/(k + α), and predictions at the rows are k·c."""
    model = KernelRidge(alpha=1.0).fit([[1.0, 0.0], [0.0, 2.0]], [2.0, 5.0])
    np.testing.assert_allclose(model.dual_coef_, [1.0, 1.0])
    np.testing.assert_allclose(model.predict([[1.0, 0.0], [0.0, 2.0]]), [1.0, 4.0])
    assert model.kernel_ == Linear()


# The solution


@pytest.mark.parametrize("alpha", [1.0, 1e-3, [0.01, 5.0]])
@pytest.mark.parametrize("weighted", [False, True])
def test_normal_equations(problem, alpha, weighted):
    """(K + α/v)c = y."""
    X, Y, weight = problem
    model = KernelRidge(alpha, kernel="rbf", gamma=0.5).fit(X, Y, sample_weight=weight if weighted else None)
    K = np.exp(-0.5 * np.square(X[:, None] - X).sum(axis=2))
    left = K @ model.dual_coef_ - Y
    expected = -np.broadcast_to(alpha, 2) * model.dual_coef_ / (weight[:, None] if weighted else 1.0)
    np.testing.assert_allclose(left, expected, atol=1e-9)
    assert model.gap_ < 1e-20
    np.testing.assert_array_equal(model.alpha_, alpha)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_with_the_linear_kernel_it_is_ridge_through_the_origin(problem, weighted, form):
    X, Y, weight = problem
    weight = weight if weighted else None
    dual = KernelRidge(0.3).fit(form(X), Y, sample_weight=weight)
    primal = Ridge(0.3, fit_intercept=False).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(dual.predict(form(X[:5] + 1)), primal.predict(X[:5] + 1), rtol=1e-9)


def product_cubed(x, y, scale=1.0):
    return float(scale * np.dot(x, y)) ** 3


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "rbf"},
        {"kernel": "rbf", "gamma": 0.7},
        {"kernel": "poly", "degree": 2, "coef0": 0.5},
        {"kernel": "laplacian"},
        {"kernel": "cosine"},
        {"kernel": product_cubed, "kernel_params": {"scale": 0.5}},
    ],
    ids=["linear", "rbf", "rbf-gamma", "poly", "laplacian", "cosine", "function"],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_of_scikit_learn(problem, parameters, weighted):
    X, Y, weight = problem
    weight = weight if weighted else None
    ours = KernelRidge(0.1, **parameters).fit(X, Y, sample_weight=weight)
    theirs = sklearn.kernel_ridge.KernelRidge(0.1, **parameters).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(ours.predict(X + 0.1), theirs.predict(X + 0.1), rtol=1e-8, atol=1e-9)


def test_kernels_as_objects_precomputed_and_of_strings(problem):
    X, Y, _ = problem
    named = KernelRidge(0.1, kernel="rbf", gamma=0.5).fit(X, Y)
    made = KernelRidge(0.1, kernel=Gaussian()).fit(X, Y)
    np.testing.assert_allclose(made.predict(X), named.predict(X), rtol=1e-12)
    K = Gaussian().gram(X)
    before = K.copy()
    given = KernelRidge(0.1, kernel="precomputed").fit(K, Y)
    np.testing.assert_array_equal(K, before)
    new = Gaussian().gram(X[:4] + 1, X)
    np.testing.assert_allclose(given.predict(new), made.predict(X[:4] + 1), rtol=1e-10)
    words = ["banana", "bandana", "ananas", "cabana", "savanna"]
    model = KernelRidge(0.1, kernel=Spectrum(2)).fit(words, [1.0, 2.0, 3.0, 4.0, 5.0])
    K = Spectrum(2).gram(words)
    np.testing.assert_allclose(
        model.predict(words), K @ np.linalg.solve(K + 0.1 * np.eye(5), np.arange(1.0, 6.0)), rtol=1e-9
    )
    assert not hasattr(model, "n_features_in_")


def test_what_a_kernel_learns_is_kept(problem):
    X, Y, _ = problem
    model = KernelRidge(kernel=Gaussian("median")).fit(X, Y)
    assert isinstance(model.kernel_.bandwidth, float)
    assert model.kernel == Gaussian("median")


def test_without_penalty_the_rows_are_interpolated(problem):
    X, Y, _ = problem
    model = KernelRidge(0, kernel="rbf", gamma=2.0).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), Y, atol=1e-8)


def test_without_penalty_a_kernel_of_few_dimensions_gives_least_squares(problem):
    """K has rank 3: the directions in which it vanishes are left out."""
    X, Y, _ = problem
    model = KernelRidge(0).fit(X, Y)
    coef = np.linalg.lstsq(X, Y, rcond=None)[0]
    np.testing.assert_allclose(model.predict(X), X @ coef, rtol=1e-6, atol=1e-8)


def test_a_kernel_with_negative_eigenvalues_is_warned_of(problem):
    X, Y, _ = problem
    K = -np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    with pytest.warns(UserWarning, match="negative eigenvalues"):
        model = KernelRidge(0.01, kernel="precomputed").fit(K, Y)
    np.testing.assert_allclose(K @ model.dual_coef_ + 0.01 * model.dual_coef_, Y, atol=1e-9)


def test_the_solver_says_what_the_objective_is(problem):
    X, Y, _ = problem
    K = Gaussian().gram(X)
    found = kernel_ridge(K.copy(), Y, np.array([0.1, 2.0]))
    said = np.square(Y - K @ found.dual).sum(axis=0) + [0.1, 2.0] * np.einsum(
        "it,ij,jt->t", found.dual, K, found.dual
    )
    np.testing.assert_allclose(found.objective, said, rtol=1e-9)
    assert found.converged


# Leave-one-out for every alpha


@pytest.mark.parametrize("weighted", [False, True])
def test_errors_are_those_of_refitting_without_each_row(problem, weighted):
    X, Y, weight = problem
    weight = weight if weighted else None
    alphas = np.geomspace(1e-4, 10, 6)
    model = KernelRidge(kernel="rbf", gamma=0.5, alphas=alphas).fit(X, Y, sample_weight=weight)
    errors = np.empty((6, *Y.shape))
    for a, alpha in enumerate(alphas):
        for i in range(len(X)):
            others = np.arange(len(X)) != i
            left = KernelRidge(alpha, kernel="rbf", gamma=0.5)
            left.fit(X[others], Y[others], sample_weight=None if weight is None else weight[others])
            errors[a, i] = Y[i] - left.predict(X[[i]])[0]
    means = np.average(np.square(errors), axis=1, weights=weight)
    np.testing.assert_allclose(model.leave_one_out_errors_, means, rtol=1e-8)
    best = means.mean(axis=1).argmin()
    assert model.alpha_ == alphas[best]
    chosen = KernelRidge(alphas[best], kernel="rbf", gamma=0.5).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), chosen.predict(X), rtol=1e-8, atol=1e-10)


def test_degrees_of_freedom_are_a_trace(problem):
    X, Y, _ = problem
    alphas = [0.01, 1.0]
    model = KernelRidge(kernel=Gaussian(), alphas=alphas).fit(X, Y[:, 0])
    K = Gaussian().gram(X)
    traces = [np.trace(np.linalg.solve(K + alpha * np.eye(40), K)) for alpha in alphas]
    np.testing.assert_allclose(model.degrees_of_freedom_, traces, rtol=1e-9)
    assert model.leave_one_out_errors_.shape == (2,)


# Data as it comes


def test_threads_change_no_bit(rng):
    X, y = rng.normal(size=(700, 5)), rng.normal(size=700)
    for kernel in ("rbf", "linear", "poly"):
        one, three = (KernelRidge(kernel=kernel, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
        np.testing.assert_array_equal(one.dual_coef_, three.dual_coef_)
        np.testing.assert_array_equal(one.predict(X), three.predict(X))


def test_float32(problem):
    X, Y, _ = problem
    X, Y = X.astype(np.float32), Y.astype(np.float32)
    narrow = KernelRidge(0.01, kernel="rbf").fit(X, Y)
    wide = KernelRidge(0.01, kernel="rbf").fit(X.astype(np.float64), Y)
    assert narrow.predict(X).dtype == np.float32
    np.testing.assert_allclose(narrow.predict(X), wide.predict(X.astype(np.float64)), rtol=1e-6, atol=1e-6)


def test_rows_that_are_changed_later_are_remembered_as_they_were(problem):
    X, Y, _ = problem
    model = KernelRidge(kernel="rbf").fit(X, Y)
    new, before = X[:3].copy(), model.predict(X[:3])
    X[:] = 0
    np.testing.assert_array_equal(model.predict(new), before)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(new), before)


@quickly
@given(plain_problems(spare_rows=None, max_rows=20), st.data(), st.sampled_from(["rbf", "linear"]))
def test_integer_weights_are_repeated_rows(problem, data, kernel):
    X, y, _ = problem
    weight = data.draw(weights(len(y), whole_numbers=True))
    counts = weight.astype(int)
    weighted = KernelRidge(0.5, kernel=kernel, gamma=0.5).fit(X, y, sample_weight=weight)
    repeated = KernelRidge(0.5, kernel=kernel, gamma=0.5).fit(X.repeat(counts, axis=0), y.repeat(counts))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-8, atol=1e-9)


# Bad input


@pytest.mark.parametrize(
    ("parameters", "kind", "said"),
    [
        ({"alpha": -1}, ValueError, "alpha must be a number at least 0"),
        ({"alpha": [1.0, 2.0]}, ValueError, r"alpha holds 2 numbers, but y has 1 target\(s\)"),
        ({"alphas": [1.0, 0.0]}, ValueError, "alphas must be a number above 0"),
        ({"alphas": []}, ValueError, "alphas must hold finite numbers"),
        ({"kernel": "gausian"}, ValueError, "Did you mean 'gaussian'"),
        ({"kernel": Polynomial, "gamma": 1.0}, TypeError, "make one of it"),
        ({"kernel": "rbf", "gamma": -1.0}, ValueError, "gamma must be a number above 0"),
        ({"kernel": "precomputed"}, ValueError, "square matrix"),
    ],
)
def test_parameters(problem, parameters, kind, said):
    X, Y, _ = problem
    model = KernelRidge(**parameters)
    with pytest.raises(kind, match=said):
        model.fit(X, Y[:, 0])
    assert vars(model) == model.get_params()


def test_other_faults(problem):
    X, Y, _ = problem
    with pytest.raises(ValueError, match="NaN"):
        KernelRidge().fit(np.where(np.arange(40)[:, None] == 3, np.nan, X), Y)
    with pytest.raises(ValueError, match="1 sample"):
        KernelRidge(alphas=[1.0]).fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="3 features"):
        KernelRidge().fit(X, Y).predict(X[:, :2])
    with bisector.config(memory="1 MB"), pytest.raises(MemoryError, match="kernel values"):
        KernelRidge().fit(np.zeros((1000, 2)), np.zeros(1000))


def test_one_row():
    model = KernelRidge(1.0).fit([[2.0]], [5.0])
    np.testing.assert_allclose(model.predict([[2.0]]), [4.0])
