"""What must hold of the lasso and the elastic net whatever the data."""

import warnings

import numpy as np
import scipy.sparse
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from tests.linear.certificates import duality_gap, violation
from tests.properties.strategies import as_dense, plain_problems, problems, weights

from bisector import ElasticNet, Lasso, lasso_knots
from bisector.engine.sources import source
from bisector.solvers.penalised_path import Columns, Moments, penalised_path

# No deadline: the first fit that needs a compiled loop waits for it.
quickly = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
thoroughly = settings(quickly, max_examples=250)

PENALTIES = st.sampled_from([0.01, 0.1, 1.0])
MIXES = st.sampled_from([1.0, 0.5, 0.1])


@thoroughly
@given(problems(), PENALTIES, MIXES, st.booleans())
def test_any_table_is_fitted_to_the_tolerance_without_warnings(problem, alpha, mix, intercept):
    X, y, weight = problem
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            model = ElasticNet(alpha=alpha, l1_ratio=mix, fit_intercept=intercept).fit(
                X, y, sample_weight=weight
            )
        except ValueError as error:
            assert "too large for float32" in str(error)  # noqa: PT017
            return
    assert np.isfinite(model.coef_).all()
    targets = y[:, None] if y.ndim == 1 else y
    if intercept:
        targets = targets - np.average(targets, axis=0, weights=weight)
    spread = np.average(targets**2, axis=0, weights=weight)
    assert (np.atleast_1d(model.dual_gap_) <= 1.01e-4 * spread).all()


@thoroughly
@given(problems(dtypes=(np.float64,)), PENALTIES)
def test_the_gap_is_that_of_the_data(problem, alpha):
    X, y, weight = problem
    table = as_dense(X)
    assume(y.ndim == 1 and np.abs(table).max() < 1e60)
    # Gaps of the test's own are no better than products of uncentred columns allow.
    assume(np.abs(table.mean(axis=0)).max(initial=0.0) <= 1e4 * (1 + table.std(axis=0).min(initial=np.inf)))
    model = Lasso(alpha=alpha).fit(X, y, sample_weight=weight)
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    assert duality_gap(table, y, model.coef_, alpha, weight=weight) <= 1.1e-4 * spread + 1e-9 * alpha


@thoroughly
@given(problems(), PENALTIES, MIXES, st.booleans())
def test_moments_and_columns_tell_the_same(problem, alpha, mix, positive):
    """Two ways to the minimum: neither's objective can be above the other's by more than its gap."""
    X, y, weight = problem
    rows = source(X if scipy.sparse.issparse(X) else np.asarray(X), y.astype(float), weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [
            next(
                penalised_path(kind(rows, intercept=True, n_jobs=1), [alpha], l1_ratio=mix, positive=positive)
            )
            for kind in (Moments, Columns)
        ]
    assert all(solved.converged for solved in found)
    y = y if y.ndim == 1 else y[:, 0]
    spread = np.average((y - np.average(y, weights=weight)) ** 2, weights=weight)
    # Columns that cancel each other leave a sum of their squares' rounding.
    sizes = np.abs(as_dense(X).astype(float)).max(axis=0)
    cancelled = max((sizes * np.abs(solved.coef)).sum() for solved in found) ** 2
    slack = 1e-7 * spread + 1e-14 * cancelled
    assert found[0].objective <= found[1].objective + found[0].gap + slack
    assert found[1].objective <= found[0].objective + found[1].gap + slack


@quickly
@given(plain_problems(), st.data(), PENALTIES, MIXES)
def test_integer_weights_are_repeated_rows(problem, data, alpha, mix):
    X, y, _ = problem
    weight = data.draw(weights(len(y), whole_numbers=True))
    counts = weight.astype(int)
    how = {"alpha": alpha, "l1_ratio": mix, "tol": 1e-12}
    weighted = ElasticNet(**how).fit(X, y, sample_weight=weight)
    repeated = ElasticNet(**how).fit(X.repeat(counts, axis=0), y.repeat(counts))
    # Few rows may leave columns all but dependent: a gap of 1e-12 then allows for more than its root.
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-4 * (1 + np.abs(y).max()))
    assert violation(X, y, weighted.coef_, alpha, mix, weight) < 1e-4


@quickly
@given(plain_problems(weighted=True), PENALTIES, MIXES)
def test_sparse_is_dense(problem, alpha, mix):
    X, y, weight = problem
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    how = {"alpha": alpha, "l1_ratio": mix, "tol": 1e-12}
    dense, sparse = (
        ElasticNet(**how).fit(held, y, sample_weight=weight) for held in (X, scipy.sparse.csc_array(X))
    )
    np.testing.assert_allclose(sparse.predict(X), dense.predict(X), atol=1e-5 * (1 + np.abs(y).max()))


@quickly
@given(plain_problems(), PENALTIES)
def test_single_precision_is_double_rounded(problem, alpha):
    X, y, _ = problem
    narrow = X.astype(np.float32)
    fits = [Lasso(alpha=alpha, tol=1e-10).fit(held, y) for held in (narrow, narrow.astype(float))]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-6, atol=1e-7)


@thoroughly
@given(problems(), st.booleans())
def test_any_path_is_followed_or_said_not_to_be(problem, positive):
    X, y, weight = problem
    assume(y.ndim == 1)
    try:
        path = lasso_knots(X, y, positive=positive, sample_weight=weight, max_knots=300)
    except (ValueError, FloatingPointError) as error:
        assert "penalty" in str(error)  # noqa: PT017
        return
    assert np.isfinite(path.coefs).all()
    assert path.n_knots < 300
    assert (np.diff(path.alphas) <= 0).all()
