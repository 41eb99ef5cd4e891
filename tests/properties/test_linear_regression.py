"""What must hold of least squares whatever the data."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings, strategies as st
from tests.properties.strategies import (
    FORMS,
    TROUBLES,
    as_dense,
    awkward_tables,
    plain_problems,
    plain_tables,
    problems,
    targets,
    weights,
)

from bisector import LinearRegression
from bisector.engine.moments import moments
from bisector.engine.sources import source
from bisector.solvers.least_squares import least_squares

# No deadline: the first fit that needs a compiled loop waits for it.
quickly = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
thoroughly = settings(quickly, max_examples=300)

# Plain problems have condition numbers below 1000, which squared cost six of sixteen digits.
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def fit(problem, **parameters):
    """Fit a problem whose columns are far enough from dependence for all its numbers to be comparable."""
    X, y, weight = problem
    if weight is not None:
        assume(np.count_nonzero(weight) > X.shape[1] + 1)
        rows = X[weight > 0]
    else:
        rows = X
    centred = rows - rows.mean(axis=0)
    assume(np.linalg.cond(centred / np.linalg.norm(centred, axis=0)) < 300)
    return LinearRegression(**parameters).fit(X, y, sample_weight=weight)


# Invariances


@quickly
@given(plain_problems(), st.integers(0, 4), st.floats(-1e3, 1e3))
def test_translating_a_feature_changes_only_the_intercept(problem, column, distance):
    X, y, _ = problem
    before = fit(problem)
    j = column % X.shape[1]
    moved = X.copy()
    moved[:, j] += distance
    after = LinearRegression().fit(moved, y)
    np.testing.assert_allclose(after.coef_, before.coef_, **CLOSE)
    np.testing.assert_allclose(after.standard_errors_[1:], before.standard_errors_[1:], **CLOSE)
    assert after.intercept_ == pytest.approx(
        before.intercept_ - distance * before.coef_[j], rel=1e-6, abs=1e-6
    )
    assert after.r2_ == pytest.approx(before.r2_, abs=1e-9)


@quickly
@given(plain_problems(), st.integers(0, 4), st.sampled_from([-3.0, 1e-9, 1e12, 1e-160, 1e160]))
def test_scaling_a_feature_scales_its_coefficient(problem, column, factor):
    X, y, _ = problem
    before = fit(problem)
    j = column % X.shape[1]
    scaled, expected = X.copy(), before.coef_.copy()
    scaled[:, j] *= factor
    expected[j] /= factor
    after = LinearRegression().fit(scaled, y)
    np.testing.assert_allclose(after.coef_, expected, rtol=1e-8, atol=1e-9 / np.maximum(1, np.abs(factor)))
    np.testing.assert_allclose(np.abs(after.t_values_), np.abs(before.t_values_), rtol=1e-6, atol=1e-6)
    assert after.condition_number_ == pytest.approx(before.condition_number_, rel=1e-9)
    assert after.r2_ == pytest.approx(before.r2_, abs=1e-9)


@quickly
@given(plain_problems(weighted=True), st.sampled_from([-7.0, 1e-200, 1e200]))
def test_scaling_the_target_scales_everything_but_the_tests(problem, factor):
    X, y, weight = problem
    before, after = fit(problem), LinearRegression().fit(X, y * factor, sample_weight=weight)
    np.testing.assert_allclose(after.coef_ / factor, before.coef_, **CLOSE)
    np.testing.assert_allclose(after.intercept_ / factor, before.intercept_, **CLOSE)
    np.testing.assert_allclose(after.standard_errors_ / abs(factor), before.standard_errors_, **CLOSE)
    np.testing.assert_allclose(after.p_values_, before.p_values_, rtol=1e-6, atol=1e-9)
    assert after.r2_ == pytest.approx(before.r2_, abs=1e-9)


@quickly
@given(plain_problems(weighted=True), st.randoms(use_true_random=False))
def test_the_order_of_rows_and_columns_does_not_matter(problem, random):
    X, y, weight = problem
    before = fit(problem)
    rows, columns = list(range(len(X))), list(range(X.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    after = LinearRegression().fit(X[rows][:, columns], y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(after.coef_, before.coef_[columns], **CLOSE)
    np.testing.assert_allclose(after.intercept_, before.intercept_, **CLOSE)
    np.testing.assert_allclose(after.leverage_, before.leverage_[rows], **CLOSE)


@quickly
@given(plain_problems(), st.data(), st.booleans())
def test_integer_weights_are_repeated_rows(problem, data, intercept):
    X, y, _ = problem
    weight = data.draw(weights(len(y), whole_numbers=True))
    weighted = fit(problem._replace(sample_weight=weight), fit_intercept=intercept)
    counts = weight.astype(int)
    repeated = LinearRegression(fit_intercept=intercept).fit(X.repeat(counts, axis=0), y.repeat(counts))
    for what in ("coef_", "intercept_", "standard_errors_", "residual_variance_", "r2_", "adjusted_r2_"):
        np.testing.assert_allclose(getattr(weighted, what), getattr(repeated, what), **CLOSE, err_msg=what)
    np.testing.assert_allclose(weighted.p_values_, repeated.p_values_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(weighted.leverage_.sum(), repeated.leverage_.sum(), **CLOSE)
    np.testing.assert_allclose(weighted.predict_interval(X), repeated.predict_interval(X), **CLOSE)


@quickly
@given(plain_problems(weighted=True), st.booleans())
def test_zero_weight_is_absence(problem, intercept):
    X, y, weight = problem
    weight = np.where(np.arange(len(y)) % 3 == 0, 0.0, weight)
    wild = np.where(weight[:, None] == 0, 1e6 * X, X)
    present = weight > 0
    with_zeros = fit(problem._replace(X=wild, sample_weight=weight), fit_intercept=intercept)
    without = LinearRegression(fit_intercept=intercept).fit(
        X[present], y[present], sample_weight=weight[present]
    )
    for what in ("coef_", "intercept_", "standard_errors_", "residual_variance_", "r2_"):
        np.testing.assert_allclose(getattr(with_zeros, what), getattr(without, what), **CLOSE, err_msg=what)


@quickly
@given(plain_problems(weighted=True))
def test_residuals_balance_and_the_plane_passes_through_the_means(problem):
    X, y, weight = problem
    model = fit(problem)
    residuals = y - model.predict(X)
    assert weight @ residuals == pytest.approx(0, abs=1e-9 * weight.sum() * np.abs(y).max())
    centre = np.average(X, axis=0, weights=weight)
    assert model.predict(centre[None])[0] == pytest.approx(np.average(y, weights=weight), rel=1e-9, abs=1e-9)


@quickly
@given(plain_problems(), st.integers(0, 4), st.sampled_from([1.0, -1.0, 1e-5, 1e5]))
def test_a_repeated_column_changes_no_prediction(problem, column, factor):
    X, y, _ = problem
    before = fit(problem)
    more = np.column_stack([X, factor * X[:, column % X.shape[1]]])
    after = LinearRegression().fit(more, y)
    assert after.rank_ == X.shape[1]
    np.testing.assert_allclose(after.predict(more), before.predict(X), **CLOSE)
    np.testing.assert_allclose(after.predict_interval(more), before.predict_interval(X), **CLOSE)
    np.testing.assert_allclose(after.leverage_, before.leverage_, **CLOSE)


@quickly
@given(plain_problems())
def test_leverages_sum_to_the_number_of_coefficients(problem):
    model = fit(problem)
    assert model.leverage_.sum() == pytest.approx(problem.X.shape[1] + 1, rel=1e-9)
    assert (model.leverage_ > 0).all()
    assert (model.leverage_ < 1 + 1e-9).all()


@quickly
@given(st.data())
def test_every_form_of_the_same_values_gives_the_same_model(data):
    table = data.draw(awkward_tables(troubles=TROUBLES))
    y = data.draw(targets(table))
    model = LinearRegression().fit(table, y)
    expected = model.predict(table)
    # BLAS sums differently for other strides, and what is far from zero cancels in predictions.
    terms = np.abs(table) @ np.abs(model.coef_.T) + np.abs(model.intercept_)
    room = 1e-9 * np.abs(y).max() + 1e-14 * terms
    for name, form in FORMS.items():
        predicted = LinearRegression().fit(form(table), y).predict(form(table))
        assert (np.abs(predicted - expected) <= room).all(), name


# The same bits, and the same statistics


@quickly
@given(problems(forms=("C order", "csr array")), st.integers(1, 9), st.booleans())
def test_the_number_of_threads_changes_no_bit(problem, block_rows, intercept):
    X, y, weight = problem
    found = [
        least_squares(source(X, y, weight, block_rows=block_rows), intercept=intercept, n_jobs=n_jobs)
        for n_jobs in (1, 2, 3)
    ]
    for other in found[1:]:
        for what in ("coef", "intercept", "mean", "residual_norm", "total_norm"):
            np.testing.assert_array_equal(getattr(other, what), getattr(found[0], what), err_msg=what)
        assert other.columns is None or (other.columns.factor == found[0].columns.factor).all()


@quickly
@given(awkward_tables(troubles=TROUBLES), st.data(), st.integers(1, 9))
def test_the_size_of_blocks_changes_the_moments_by_rounding_only(table, data, block_rows):
    y = data.draw(targets(table))
    weight = data.draw(st.none() | weights(len(table)))
    one, several = (
        moments(source(table, y, weight, block_rows=size)).about_mean() for size in (len(table), block_rows)
    )
    lengths = np.sqrt(np.diagonal(one[0]))
    far = np.abs(table).max(axis=0) * np.sqrt(len(table)) * 1e-12  # the rounding of the values themselves
    room = 1e-12 * lengths + far
    assert (np.abs(several[0] - one[0]) <= np.outer(lengths + room, room) * 2 + np.outer(room, lengths)).all()
    np.testing.assert_allclose(several[2], one[2], rtol=1e-12, atol=1e-12 * np.square(y).sum())


@quickly
@given(plain_problems(weighted=True, max_rows=60), st.integers(1, 9), st.booleans())
def test_the_size_of_blocks_does_not_change_the_fit(problem, block_rows, intercept):
    fit(problem)
    X, y, weight = problem
    one, several = (
        least_squares(source(X, y, weight, block_rows=size), intercept=intercept)
        for size in (len(y), block_rows)
    )
    np.testing.assert_allclose(several.coef, one.coef, **CLOSE)
    np.testing.assert_allclose(several.intercept, one.intercept, **CLOSE)
    np.testing.assert_allclose(several.residual_norm, one.residual_norm, rtol=1e-9)
    np.testing.assert_allclose(several.total_norm, one.total_norm, rtol=1e-12)


# Optimality


def exactly(values):
    """More digits than float64 has, where the machine offers them."""
    return np.asarray(values).astype(np.longdouble)


@thoroughly
@given(problems(), st.booleans())
def test_residuals_are_at_right_angles_to_every_column(problem, intercept):
    """The gradient vanishes up to what rounding the coefficients to the dtype of X can cause."""
    model = LinearRegression(fit_intercept=intercept).fit(
        problem.X, problem.y, sample_weight=problem.sample_weight
    )
    X, y = exactly(as_dense(problem.X)), exactly(problem.y).reshape(len(problem.y), -1)
    weight = np.ones(len(y)) if problem.sample_weight is None else problem.sample_weight
    root = exactly(np.sqrt(weight))[:, None]
    A = root * np.column_stack([np.ones(len(X)), X] if intercept else [X])
    b = np.column_stack([np.atleast_1d(model.intercept_), np.atleast_2d(model.coef_)][not intercept :]).T
    terms = np.abs(A) @ np.abs(exactly(b)) + np.abs(root * y)
    gradient = np.abs(A.T @ (root * y - A @ exactly(b)))
    # Normal equations are solved in float64 with condition numbers up to 1000.
    rounding = 1e-12 if model.coef_.dtype == np.float64 else 1e-6
    limit = (
        rounding * np.linalg.norm(A.astype(np.longdouble), axis=0)[:, None] * np.sqrt((terms**2).sum(axis=0))
    )
    assert (gradient <= limit).all()


@quickly
@given(plain_tables(max_rows=12, max_features=12), st.data(), st.booleans())
def test_of_many_solutions_the_shortest(table, data, intercept):
    """On well-scaled dependent columns: the same as with the pseudo-inverse."""
    dependent = np.column_stack([table, table[:, :1], table.sum(axis=1)])
    y = np.random.default_rng(data.draw(st.integers(0, 99))).normal(size=len(table))
    A = dependent - dependent.mean(axis=0) if intercept else dependent
    values = np.linalg.svd(A, compute_uv=False)
    assume(not ((values > 1e-9 * values[0]) & (values < 1e-2 * values[0])).any())
    assume(values[0] > 1e-3)
    expected = np.linalg.pinv(A, rcond=1e-6) @ (y - y.mean() if intercept else y)
    model = LinearRegression(fit_intercept=intercept).fit(dependent, y)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8, atol=1e-10)
    assert model.rank_ == np.count_nonzero(values > 1e-6 * values[0])
    assert model.condition_number_ == np.inf


@quickly
@given(problems(dtypes=(np.float64,)))
def test_without_negative_coefficients_the_gradient_pushes_outward_only(problem):
    """Karush, Kuhn and Tucker: at the bound the gradient does not point inside; elsewhere it is zero."""
    model = LinearRegression(positive=True).fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    assert (model.coef_ >= 0).all()
    X, y = exactly(as_dense(problem.X)), exactly(problem.y).reshape(len(problem.y), -1)
    weight = np.ones(len(y)) if problem.sample_weight is None else problem.sample_weight
    root = exactly(np.sqrt(weight))[:, None]
    X = X - np.average(X, axis=0, weights=weight)
    b = exactly(np.atleast_2d(model.coef_).T)
    offset = exactly(problem.y).reshape(len(y), -1)
    offset = offset - np.average(offset - X @ b, axis=0, weights=weight)
    left = root * (offset - X @ b)
    size = np.linalg.norm((root * X).astype(np.longdouble), axis=0)[:, None]
    terms = np.sqrt(((np.abs(root * X) @ b + np.abs(root * y)) ** 2).sum(axis=0))
    pull = (root * X).T @ left
    # Columns far from zero are known only up to their own rounding after centring.
    far = np.abs(as_dense(problem.X)).max(axis=0)[:, None] * 1e-14 * np.sqrt(len(y) * weight.max())
    limit = 1e-10 * (size + far) * terms + far * terms
    assert (pull <= limit).all()
    assert (np.abs(pull) * (b > 0) <= limit).all()


# Nothing awkward comes back broken


@thoroughly
@given(problems(), st.sampled_from([{}, {"fit_intercept": False}, {"positive": True}, {"decomposed": True}]))
def test_every_fit_is_finite_or_a_clear_error(problem, parameters):
    model = LinearRegression(**parameters)
    try:
        model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    except ValueError as error:
        event(f"refused: {error}")
        if vars(model).keys() != model.get_params().keys() or not str(error).endswith("."):
            raise
        return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.predict(problem.X)).all()
    assert np.isfinite(model.leverage_).all()
    assert (np.isnan(model.standard_errors_) | (model.standard_errors_ >= 0)).all()
    assert not np.isinf(model.standard_errors_).any()
    assert (np.isnan(model.p_values_) | ((model.p_values_ >= 0) & (model.p_values_ <= 1))).all()
    assert 0 <= model.rank_ <= model.n_features_in_
    assert model.condition_number_ >= 1 - 1e-12
    assert "nan" not in str(model.summary()).lower().replace("nan-", "")
