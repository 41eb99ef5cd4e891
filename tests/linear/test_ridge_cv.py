"""RidgeCV against refitting without each row, against scikit-learn, and at the edges."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from hypothesis import HealthCheck, event, given, settings, strategies as st
from sklearn.metrics import make_scorer, mean_absolute_error, r2_score
from sklearn.model_selection import GroupKFold, KFold, LeaveOneOut
from tests.properties.strategies import problems

import bisector
from bisector import Ridge, RidgeCV

ALPHAS = np.geomspace(1e-3, 1e3, 7)
thoroughly = settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.fixture(params=[(25, 4), (12, 20), (12, 12)], ids=["tall", "wide", "square"])
def problem(request, rng):
    n, d = request.param
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=d) + 3 * rng.normal(size=d)
    Y = X[:, :2] @ [[1.0, -1.0], [2.0, 0.5]] + 3 * rng.normal(size=(n, 2))
    return X, Y, rng.uniform(0.1, 2, size=n)


def left_out_by_refitting(X, Y, weight, alpha, intercept):
    """Solve the normal equations anew without each row."""
    weight = np.ones(len(X)) if weight is None else weight
    errors = np.empty(Y.shape)
    for i in range(len(X)):
        A, B, v = np.delete(X, i, 0), np.delete(Y, i, 0), np.delete(weight, i)
        mean, mean_y = ((v @ A) / v.sum(), (v @ B) / v.sum()) if intercept else (0.0 * A[0], 0.0 * B[0])
        A, B = A - mean, B - mean_y
        if len(A) < A.shape[1]:
            coef = A.T @ np.linalg.solve(A @ A.T + alpha * np.diag(1 / v), B)
        else:
            coef = np.linalg.solve((A.T * v) @ A + alpha * np.eye(A.shape[1]), (A.T * v) @ B)
        errors[i] = Y[i] - mean_y - (X[i] - mean) @ coef
    return errors


# By hand


def test_two_rows_predict_each_other():
    """Without one of two rows the other is a constant: errors of 2, whatever alpha."""
    model = RidgeCV([0.5, 3.0], store_cv_results=True).fit([[0.0], [1.0]], [1.0, 3.0])
    np.testing.assert_allclose(model.cv_results_, 4.0)
    assert model.best_score_ == pytest.approx(-4.0)
    assert model.alpha_ == 0.5  # of equally good ones the first


def test_through_the_origin_with_two_rows():
    """x = y = 1 and 2: without the first w = 4/(4 + α), without the second 1/(1 + α)."""
    model = RidgeCV([1.0], fit_intercept=False, store_cv_results=True).fit([[1.0], [2.0]], [1.0, 2.0])
    np.testing.assert_allclose(model.cv_results_[:, 0], [(1 - 4 / 5) ** 2, (2 - 1) ** 2])
    assert model.degrees_of_freedom_ == pytest.approx([5 / 6])
    residuals = np.array([1.0, 2.0]) / 6
    assert model.gcv_errors_ == pytest.approx([np.mean(residuals**2) / (1 - 5 / 12) ** 2])


# Leave-one-out is exact


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("mode", ["auto", "svd", "eigen"])
def test_errors_are_those_of_refitting_without_each_row(problem, intercept, weighted, form, mode):
    X, Y, weight = problem
    weight = weight if weighted else None
    model = RidgeCV(ALPHAS, fit_intercept=intercept, gcv_mode=mode, store_cv_results=True)
    model.fit(form(X), Y, sample_weight=weight)
    for a, alpha in enumerate(ALPHAS):
        errors = left_out_by_refitting(X, Y, weight, alpha, intercept)
        weighed = np.square(errors) * (1 if weight is None else weight[:, None])
        np.testing.assert_allclose(model.cv_results_[:, :, a], weighed, rtol=1e-7, atol=1e-9)
        means = np.average(np.square(errors), axis=0, weights=weight)
        np.testing.assert_allclose(model.leave_one_out_errors_[a], means, rtol=1e-7)
    assert model.alpha_ == ALPHAS[model.leave_one_out_errors_.mean(axis=1).argmin()]
    assert model.best_score_ == pytest.approx(-model.leave_one_out_errors_.mean(axis=1).min())


@pytest.mark.parametrize("intercept", [True, False])
def test_generalised_cross_validation_uses_the_mean_leverage(problem, intercept):
    X, Y, _ = problem
    model = RidgeCV(ALPHAS, fit_intercept=intercept).fit(X, Y)
    for a, alpha in enumerate(ALPHAS):
        fitted = Ridge(alpha, fit_intercept=intercept).fit(X, Y)
        left = np.mean(np.square(Y - fitted.predict(X)), axis=0)
        freedom = fitted.degrees_of_freedom_[0]
        assert model.degrees_of_freedom_[a] == pytest.approx(freedom, rel=1e-9)
        np.testing.assert_allclose(model.gcv_errors_[a], left / (1 - freedom / len(X)) ** 2, rtol=1e-6)


def test_rows_without_weight_are_absent_and_predicted_by_the_rest(problem):
    X, Y, weight = problem
    weight[::4] = 0.0
    present = weight > 0
    some = RidgeCV(ALPHAS, store_cv_results=True).fit(X, Y, sample_weight=weight)
    rest = RidgeCV(ALPHAS, store_cv_results=True).fit(X[present], Y[present], sample_weight=weight[present])
    assert some.alpha_ == rest.alpha_
    for what in ("coef_", "leave_one_out_errors_", "gcv_errors_", "degrees_of_freedom_", "best_score_"):
        np.testing.assert_allclose(getattr(some, what), getattr(rest, what), rtol=1e-9, err_msg=what)
    np.testing.assert_allclose(some.cv_results_[present], rest.cv_results_, rtol=1e-7, atol=1e-9)
    scored = RidgeCV(ALPHAS, store_cv_results=True, scoring="r2").fit(X, Y, sample_weight=weight)
    for a in range(len(ALPHAS)):
        fitted = rest.coef_path_[a] @ X[~present].T + rest.intercept_path_[a][:, None]
        np.testing.assert_allclose(scored.cv_results_[~present, :, a], fitted.T, rtol=1e-9)


def test_tiny_penalties_on_wide_data_keep_their_digits(rng):
    """Residuals and 1 − h both vanish with alpha; their ratio does not."""
    X, y = rng.normal(size=(10, 30)), rng.normal(size=10)
    model = RidgeCV([1e-12, 1e-9]).fit(X, y)
    shortest = [
        y[i] - bisector.LinearRegression().fit(np.delete(X, i, 0), np.delete(y, i)).predict(X[[i]])[0]
        for i in range(10)
    ]
    np.testing.assert_allclose(model.leave_one_out_errors_, np.mean(np.square(shortest)), rtol=1e-8)


def test_many_rows_in_pieces(rng):
    X, y = rng.normal(size=(6000, 3)), rng.normal(size=6000)
    model = RidgeCV(ALPHAS, store_cv_results=True).fit(X, y)
    rows = [0, 1, 2999, 5999]
    for i in rows:
        others = np.arange(6000) != i
        alone = Ridge(1.0).fit(X[others], y[others])
        left = y[i] - alone.predict(X[[i]])[0]
        assert model.cv_results_[i, 3] == pytest.approx(left**2, rel=1e-9)


# The path


def test_the_path_is_that_of_single_fits(problem):
    X, Y, weight = problem
    for mode in ("svd", "eigen"):
        model = RidgeCV(ALPHAS, gcv_mode=mode).fit(X, Y, sample_weight=weight)
        for a, alpha in enumerate(ALPHAS):
            alone = Ridge(alpha).fit(X, Y, sample_weight=weight)
            np.testing.assert_allclose(model.coef_path_[a], alone.coef_, rtol=1e-7, atol=1e-9)
            np.testing.assert_allclose(model.intercept_path_[a], alone.intercept_, rtol=1e-7)
    single = RidgeCV(ALPHAS).fit(X, Y[:, 0])
    assert single.coef_path_.shape == (7, X.shape[1])
    assert single.intercept_path_.shape == (7,)


def test_the_chosen_fit_is_that_of_ridge_to_the_bit(problem):
    X, Y, weight = problem
    model = RidgeCV(ALPHAS).fit(X, Y, sample_weight=weight)
    alone = Ridge(model.alpha_).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.coef_, alone.coef_)
    np.testing.assert_array_equal(model.intercept_, alone.intercept_)


def test_a_number_of_alphas_spans_the_spectrum(problem):
    X, Y, _ = problem
    model = RidgeCV(alphas=30).fit(X, Y)
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    squares = squares[squares > 1e-10 * squares[0]]
    assert len(model.alphas_) == 30
    assert model.alphas_[[0, -1]] == pytest.approx([squares[-1] / 10, squares[0] * 10])
    assert np.ptp(np.diff(np.log(model.alphas_))) < 1e-9
    assert model.degrees_of_freedom_[0] > 0.9 * len(squares)
    assert model.degrees_of_freedom_[-1] < 1 + len(squares) / 10


def test_a_path_too_large_is_not_kept(rng):
    X, Y = rng.normal(size=(30, 20)), rng.normal(size=(30, 5000))
    with bisector.config(memory="300 MB"):
        model = RidgeCV(alphas=100).fit(X, Y)
    with pytest.raises(AttributeError, match="was not kept"):
        model.coef_path_  # noqa: B018
    assert model.coef_.shape == (5000, 20)


# Beside scikit-learn


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"scoring": "neg_mean_absolute_error"},
        {"scoring": make_scorer(mean_absolute_error, greater_is_better=False), "store_cv_results": True},
        {"alpha_per_target": True},
        {"alpha_per_target": True, "scoring": "r2"},
        {"cv": 3},
        {"cv": KFold(4, shuffle=True, random_state=0)},
        {"cv": 3, "scoring": "neg_mean_squared_error"},
        {"cv": [(np.arange(6), np.arange(6, 12)), (np.arange(3, 12), np.arange(3))]},
    ],
    ids=str,
)
def test_the_same_choice_as_scikit_learn(problem, parameters, weighted):
    X, Y, weight = problem
    # With folds, scikit-learn leaves the weights out of the scores.
    weight = weight if weighted and "cv" not in parameters and "scoring" not in parameters else None
    for y in (Y,) if "alpha_per_target" in parameters else (Y, Y[:, 0]):
        ours = RidgeCV(ALPHAS, **parameters).fit(X, y, sample_weight=weight)
        theirs = sklearn.linear_model.RidgeCV(ALPHAS, **parameters).fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-9)
        if weight is None:
            np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-7, atol=1e-9)
        if "store_cv_results" in parameters:
            np.testing.assert_allclose(ours.cv_results_, theirs.cv_results_, rtol=1e-7, atol=1e-9)


def test_folds_of_one_row_are_leave_one_out(problem):
    X, Y, _ = problem
    without, folds = (
        RidgeCV(ALPHAS, cv=cv, scoring="neg_mean_squared_error").fit(X, Y) for cv in (None, LeaveOneOut())
    )
    np.testing.assert_allclose(without.scores_, folds.scores_, rtol=1e-7)


def test_folds_by_groups_and_per_target(problem):
    X, Y, _ = problem
    groups = np.arange(len(X)) % 3
    model = RidgeCV(ALPHAS, cv=GroupKFold(3), alpha_per_target=True, store_cv_results=True)
    model.fit(X, Y, groups=groups)
    assert model.cv_results_.shape == (3, 7, 2)
    assert model.alpha_.shape == model.best_score_.shape == (2,)
    for t in range(2):
        alone = RidgeCV(ALPHAS, cv=GroupKFold(3)).fit(X, Y[:, t], groups=groups)
        assert alone.alpha_ == model.alpha_[t]
        assert alone.best_score_ == pytest.approx(model.best_score_[t], rel=1e-9)
    scored = RidgeCV(ALPHAS, cv=GroupKFold(3), alpha_per_target=True, scoring=make_scorer(r2_score))
    np.testing.assert_allclose(scored.fit(X, Y, groups=groups).scores_, model.scores_, rtol=1e-9)


def test_weights_count_in_the_scores_of_folds(problem):
    X, Y, _ = problem
    counts = np.arange(len(X)) % 3
    folds = [(np.flatnonzero(np.arange(len(X)) % 4 != f), np.arange(f, len(X), 4)) for f in range(4)]
    which = np.repeat(np.arange(len(X)), counts)
    repeated = [tuple(np.flatnonzero(np.isin(which, part)) for part in fold) for fold in folds]
    for scoring in (None, "neg_mean_absolute_error"):
        weighted = RidgeCV(ALPHAS, cv=folds, scoring=scoring).fit(X, Y, sample_weight=counts)
        again = RidgeCV(ALPHAS, cv=repeated, scoring=scoring).fit(X[which], Y[which])
        np.testing.assert_allclose(weighted.scores_, again.scores_, rtol=1e-9)
        np.testing.assert_allclose(weighted.coef_, again.coef_, rtol=1e-8, atol=1e-10)


def test_a_score_of_ones_own(problem):
    X, Y, _ = problem
    model = RidgeCV(ALPHAS, cv=3, scoring=lambda model, X, y: -np.abs(model.coef_).sum()).fit(X, Y)
    assert model.alpha_ == ALPHAS[-1]  # the shortest coefficients


# Data as it comes


@pytest.mark.parametrize("shape", [(9000, 20), (40, 200)])
def test_threads_change_no_bit(rng, shape):
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    one, three = (RidgeCV(20, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
    for what in ("coef_", "alphas_", "leave_one_out_errors_", "gcv_errors_", "coef_path_"):
        np.testing.assert_array_equal(getattr(one, what), getattr(three, what), err_msg=what)


def test_float32(problem):
    X, Y, _ = problem
    X = X.astype(np.float32)
    narrow, wide = RidgeCV(ALPHAS).fit(X, Y), RidgeCV(ALPHAS).fit(X.astype(np.float64), Y)
    assert narrow.coef_.dtype == narrow.coef_path_.dtype == narrow.predict(X).dtype == np.float32
    np.testing.assert_array_equal(narrow.leave_one_out_errors_, wide.leave_one_out_errors_)


def test_far_from_zero_and_in_odd_units(rng):
    """Columns at 1e8 and of size 1e-6: the same errors as of the data brought home."""
    Z, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    home = RidgeCV(ALPHAS).fit(Z, y)
    away = RidgeCV(ALPHAS).fit(np.round(Z * 2.0**20) / 2.0**20 + [2.0**27, 0, 0], y + 2.0**27)
    np.testing.assert_allclose(away.leave_one_out_errors_, home.leave_one_out_errors_, rtol=1e-5)
    np.testing.assert_allclose(away.coef_path_, home.coef_path_, rtol=1e-4, atol=1e-6)


def test_products_that_would_lose_digits_are_avoided(rng):
    """One column a million times the others: eigenvalues differ by 1e12, and so the rows are factorised."""
    X = rng.normal(size=(40, 4)) * [1e6, 1, 1, 1]
    y = rng.normal(size=40)
    model = RidgeCV([1e-6, 1e-3], store_cv_results=True).fit(X, y)
    for a, alpha in enumerate(model.alphas_):
        errors = left_out_by_refitting(X, y[:, None], None, alpha, True)[:, 0]
        np.testing.assert_allclose(np.sqrt(model.cv_results_[:, a]), np.abs(errors), rtol=1e-8)


def test_a_model_file(problem):
    X, Y, _ = problem
    model = RidgeCV(ALPHAS).fit(X, Y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.coef_path_, model.coef_path_)


@thoroughly
@given(problems(min_rows=2), st.sampled_from([{}, {"fit_intercept": False}, {"alphas": 5}, {"cv": 2}]))
def test_every_fit_is_finite_or_a_clear_error(problem, parameters):
    model = RidgeCV(**parameters)
    try:
        model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    except ValueError as error:
        event(f"refused: {error}")
        if vars(model).keys() != model.get_params().keys() or not str(error).endswith("."):
            raise
        return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.best_score_)
    assert (model.degrees_of_freedom_ >= -1e-9).all()
    assert np.isfinite(model.predict(problem.X)).all()


# Bad input

X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 0.0], [6.0, 3.0]])
Y = np.array([1.0, 0.0, 2.0, -1.0, 3.0])


@pytest.mark.parametrize(
    ("parameters", "kind", "said"),
    [
        ({"alphas": [1.0, 0.0]}, ValueError, "alphas must be a number above 0"),
        ({"alphas": [1.0, -1.0], "cv": 2}, ValueError, "alphas must be a number at least 0"),
        ({"alphas": []}, ValueError, "alphas is empty"),
        ({"alphas": 0}, ValueError, "alphas must be a whole number at least 1"),
        ({"alphas": [np.inf]}, ValueError, "alphas must be finite"),
        ({"alphas": "many"}, TypeError, "alphas must be a number above 0"),
        ({"gcv_mode": "fast"}, ValueError, "gcv_mode must be one of"),
        ({"scoring": "beauty"}, ValueError, "beauty"),
        ({"fit_intercept": 2}, ValueError, "fit_intercept must be True or False"),
        ({"cv": []}, ValueError, "cv holds no folds"),
        ({"cv": 9}, ValueError, "9"),
    ],
)
def test_parameters(parameters, kind, said):
    with pytest.raises(kind, match=said):
        RidgeCV(**parameters).fit(X, Y)


def test_zero_is_a_penalty_to_try_by_folds():
    model = RidgeCV([0.0, 1e9], cv=2).fit(np.arange(20.0)[:, None], 3 * np.arange(20.0))
    assert model.alpha_ == 0
    assert model.coef_ == pytest.approx([3.0])


def test_nothing_to_leave_out():
    fit = partial(RidgeCV().fit, X)
    with pytest.raises(ValueError, match="at least two"):
        fit(Y, sample_weight=[1, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="1 sample"):
        RidgeCV().fit(X[:1], Y[:1])
    with pytest.raises(TypeError, match="no argument 'colour'"):
        fit(Y, colour="red")
    with pytest.raises(ValueError, match="y contains NaN in row 2"):
        fit([1.0, 2.0, np.nan, 4.0, 5.0])
