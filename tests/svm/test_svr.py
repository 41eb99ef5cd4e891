"""Regression within a tube: conditions, the peer, weights, kernels, and bad input."""

import warnings

import numpy as np
import pytest
import sklearn.svm
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from tests.properties.strategies import TROUBLES, awkward_tables, in_some_form, weights

from bisector.kernels import Gaussian, Spectrum
from bisector.svm import SVR

X, Y = load_diabetes(return_X_y=True)


def curve(n=60, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 3, size=(n, 1))
    return x, np.sin(x[:, 0]) + 0.2 * rng.normal(size=n)


def violations(model, X, y, costs):
    """How far each row is from the conditions, recomputed from the coefficients and the kernel."""
    beta = np.zeros(len(y))
    beta[model.support_] = model.dual_coef_[0]
    assert (np.abs(beta) <= costs + 1e-12).all()
    assert beta.sum() == pytest.approx(0, abs=1e-9 * (1 + np.abs(beta).sum()))
    residual = y - (model.kernel_.gram(X).astype(np.float64) @ beta + model.intercept_[0])
    beyond = np.where(np.abs(beta) < costs, np.maximum(0.0, np.abs(residual) - model.epsilon), 0.0)
    # A row that pulls lies on its edge of the tube, or beyond.
    return np.maximum(
        beyond, np.where(beta != 0, np.maximum(0.0, model.epsilon - np.sign(beta) * residual), 0.0)
    )


# By hand


def test_the_flattest_line_through_a_tube():
    model = SVR(kernel="linear", C=10, epsilon=0.5).fit([[0.0], [1.0], [2.0]], [0.0, 3.0, 6.0])
    np.testing.assert_allclose(model.coef_, [[2.5]])
    np.testing.assert_allclose(model.intercept_, [0.5])
    np.testing.assert_allclose(model.predict([[0.0], [2.0]]), [0.5, 5.5])
    assert model.objective_ == pytest.approx(2.5**2 / 2)
    np.testing.assert_allclose(model.slack_, 0, atol=1e-12)


def test_all_targets_within_the_tube_need_no_support():
    model = SVR(epsilon=1.0).fit([[0.0], [1.0], [2.0]], [0.0, 0.5, 1.5])
    assert len(model.support_) == 0
    assert model.support_vectors_.shape == (0, 1)
    np.testing.assert_allclose(model.predict([[7.0]]), [0.75])  # the middle of what the tube allows
    np.testing.assert_allclose(
        SVR(kernel="linear", epsilon=1.0).fit([[0.0], [1.0]], [0.0, 0.5]).coef_, [[0.0]]
    )


# Certificate and oracle


@pytest.mark.parametrize(
    "params", [{}, {"C": 100.0}, {"kernel": "linear", "C": 50.0}, {"epsilon": 20.0, "C": 10.0}]
)
def test_conditions_hold_and_the_peer_agrees(params):
    model = SVR(**params).fit(X, Y)
    assert violations(model, X, Y, model.C).max() <= 1e-3
    assert model.dual_gap_ <= 1e-6 * model.objective_
    peer = sklearn.svm.SVR(tol=1e-6, **params).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-3)
    assert model.alpha_.sum() == pytest.approx(np.abs(model.dual_coef_).sum())


@settings(max_examples=30)
@given(
    awkward_tables(min_rows=2, troubles=TROUBLES),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["linear", "rbf"]),
)
def test_awkward_tables_end(table, seed, kernel):
    y = np.random.default_rng(seed).normal(size=len(table))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = SVR(kernel=kernel, tol=1e-4).fit(table, y)
    assert (model.alpha_ <= 1.0 + 1e-12).all()
    if not any(issubclass(warning.category, ConvergenceWarning) for warning in caught):
        assert model.kkt_violation_ <= 1e-4
    if np.abs(table).max() < 100:
        assert violations(model, table, y, 1.0).max() <= 2e-4


def test_many_rows():
    x, y = curve(2300)
    model = SVR().fit(x, y)
    peer = sklearn.svm.SVR(tol=1e-5).fit(x, y)
    np.testing.assert_allclose(model.predict(x), peer.predict(x), atol=2e-3)
    again = SVR(n_jobs=1).fit(x, y)
    np.testing.assert_array_equal(again.dual_coef_, model.dual_coef_)


# Weights and forms


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.data())
def test_weights_count_rows(seed, data):
    x, y = curve(25, seed)
    weight = data.draw(weights(25, whole_numbers=True))
    times = weight.astype(int)
    model = SVR().fit(x, y, sample_weight=weight)
    again = SVR().fit(np.repeat(x, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(model.predict(x), again.predict(x), atol=1e-7)
    assert np.isnan(model.slack_[weight == 0]).all()


@settings(max_examples=20)
@given(st.data())
def test_forms_of_the_same_rows(data):
    x, y = curve(20)
    form = data.draw(in_some_form(x))
    for kernel in ("rbf", "linear"):
        found, expected = SVR(kernel=kernel).fit(form, y), SVR(kernel=kernel).fit(x, y)
        np.testing.assert_allclose(found.predict(form), expected.predict(x), atol=1e-8)


def test_float32_stays():
    x, y = curve()
    narrow = SVR().fit(x.astype(np.float32), y)
    assert narrow.predict(x.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(narrow.predict(x), SVR().fit(x, y).predict(x), atol=1e-5)


def test_kernels_of_all_kinds():
    x, y = curve()
    by_matrix = SVR(kernel="precomputed").fit(Gaussian().gram(x), y)
    by_kernel = SVR(kernel=Gaussian()).fit(x, y)
    by_function = SVR(kernel=lambda A, B: Gaussian().gram(A, B)).fit(x, y)
    np.testing.assert_allclose(by_matrix.predict(Gaussian().gram(x)), by_kernel.predict(x), atol=1e-9)
    np.testing.assert_allclose(by_function.predict(x), by_kernel.predict(x), atol=1e-9)
    words = ["a", "ab", "abab", "ababab"]
    model = SVR(kernel=Spectrum(n=2), C=100, epsilon=0.01).fit(words, [0, 1, 2, 3])
    assert np.all(np.diff(model.predict(words)) > 0)


def test_a_file_with_targets_in_a_column(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    x, y = curve()
    pd.DataFrame({"x": x[:, 0], "y": y}).to_parquet(tmp_path / "rows.parquet")
    model = SVR().fit(tmp_path / "rows.parquet", "y")
    np.testing.assert_allclose(
        model.predict(pd.DataFrame({"x": x[:, 0]})), SVR().fit(x, y).predict(x), atol=1e-9
    )


def test_warm_start():
    model = SVR(C=10.0, warm_start=True).fit(X, Y)
    warm = model.set_params(C=11.0).fit(X, Y)
    cold = SVR(C=11.0).fit(X, Y)
    assert warm.n_iter_ <= cold.n_iter_
    np.testing.assert_allclose(warm.predict(X), cold.predict(X), atol=1e-6)


# Bad input


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"C": 0.0}, "C must be a number above 0"),
        ({"C": float("inf")}, "C must be finite"),
        ({"epsilon": -0.1}, "epsilon must be a number at least 0"),
        ({"kernel": "gauss"}, "Did you mean"),
    ],
)
def test_parameters_are_checked(params, match):
    with pytest.raises(ValueError, match=match):
        SVR(**params).fit(X, Y)


def test_nan_is_located():
    table = X.copy()
    table[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN in row 3, column 1"):
        SVR().fit(table, Y)


def test_only_a_linear_kernel_has_weights():
    with pytest.raises(AttributeError, match="Only a linear kernel"):
        _ = SVR().fit(X, Y).coef_
    assert SVR(kernel="linear").fit(X, Y).coef_.shape == (1, 10)
