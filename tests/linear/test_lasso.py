"""The lasso: by hand, by its certificate, against scikit-learn, and at the edges."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.linear_model
from sklearn.exceptions import ConvergenceWarning
from tests.linear.certificates import duality_gap, violation

from bisector import Lasso, LassoCV, lasso_path
from bisector.engine.loops import all_loops

HADAMARD = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])


def wide(rng, n=60, d=500, noise=0.5):
    """More columns than products are made of at once, few of which matter, far from zero."""
    X = rng.normal(size=(n, d)) + rng.normal(size=d)
    return X, X[:, :6] @ [3.0, -2.0, 1.0, 1.0, -1.0, 0.5] + 7 + noise * rng.normal(size=n)


@pytest.fixture(params=["tall", "wide"])
def problem(request, rng, table):
    return table if request.param == "tall" else wide(rng)


# By hand


@pytest.mark.parametrize("alpha", [0.1, 0.5, 1.0, 3.0, 5.0])
def test_uncorrelated_columns_are_soft_thresholded(alpha):
    model = Lasso(alpha=alpha).fit(HADAMARD, HADAMARD @ [4.0, -1.0] + 3)
    expected = np.sign([4.0, -1.0]) * np.maximum(np.array([4.0, 1.0]) - alpha, 0)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-14)
    assert model.intercept_ == pytest.approx(3)


def test_one_feature():
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    # Slope 2 less alpha over the variance 2/3.
    assert Lasso(alpha=0.1).fit(x, y).coef_[0] == pytest.approx(2 - 0.1 * 1.5)


def test_at_the_largest_penalty_all_coefficients_are_zero(problem):
    X, y = problem
    largest = np.abs((X - X.mean(axis=0)).T @ (y - y.mean())).max() / len(y)
    above, below = (Lasso(alpha=share * largest, tol=1e-10).fit(X, y) for share in (1.001, 0.99))
    assert not above.coef_.any()
    assert above.intercept_ == pytest.approx(y.mean())
    assert 1 <= np.count_nonzero(below.coef_) <= 3


# Certificate


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 0.1, 1.0])
def test_optimality(problem, alpha, intercept, positive, rng):
    X, y = problem
    weight = rng.integers(0, 4, size=len(y)).astype(float)
    for weights in (None, weight):
        model = Lasso(alpha=alpha, fit_intercept=intercept, positive=positive, tol=1e-10)
        model.fit(X, y, sample_weight=weights)
        how = {"weight": weights, "intercept": intercept, "positive": positive}
        assert violation(X, y, model.coef_, alpha, **how) < 1e-8
        assert not positive or (model.coef_ >= 0).all()
        gap = duality_gap(X, y, model.coef_, alpha, **how)
        assert abs(gap - model.dual_gap_) <= 1e-12 * np.mean(y**2)


def test_the_gap_reported_is_below_the_tolerance(problem):
    X, y = problem
    for tol in (1e-2, 1e-4, 1e-7):
        model = Lasso(alpha=0.05, tol=tol).fit(X, y)
        assert 0 <= model.dual_gap_ <= tol * np.var(y)
        assert duality_gap(X, y, model.coef_, 0.05) <= tol * np.var(y) * (1 + 1e-9)


# Oracle


@pytest.mark.parametrize("alpha", [0.03, 0.3])
@pytest.mark.parametrize("positive", [False, True])
def test_as_scikit_learn(problem, alpha, positive, rng):
    X, y = problem
    weight = rng.uniform(0.1, 3, size=len(y))
    how = {"alpha": alpha, "positive": positive, "tol": 1e-13}
    theirs = sklearn.linear_model.Lasso(max_iter=100_000, **how).fit(X, y, sample_weight=weight)
    ours = Lasso(**how).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6 * np.abs(theirs.coef_).max())
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6 * np.abs(y).max())


@pytest.mark.parametrize("layout", [np.asfortranarray, scipy.sparse.csr_array, scipy.sparse.csc_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_how_data_are_held_does_not_matter(problem, layout, dtype, rng):
    X, y = problem
    X[np.abs(X) < 0.5] = 0.0
    X = X.astype(dtype)
    weight = rng.integers(0, 3, size=len(y))
    plain = Lasso(alpha=0.1, tol=1e-12).fit(X.astype(float), y, sample_weight=weight)
    held = Lasso(alpha=0.1, tol=1e-12).fit(layout(X), y, sample_weight=weight)
    assert held.coef_.dtype == dtype
    # Solved alike in float64; float32 coefficients are then rounded.
    tolerance = {"rtol": 1e-6, "atol": 1e-9} if dtype == np.float64 else {"rtol": 2e-6, "atol": 1e-6}
    np.testing.assert_allclose(held.coef_, plain.coef_, **tolerance)


def test_several_targets_are_fitted_one_by_one(problem, rng):
    X, y = problem
    Y = np.column_stack([y, rng.normal(size=len(y)), -2 * y])
    together = Lasso(alpha=0.1).fit(X, Y)
    for target in range(3):
        alone = Lasso(alpha=0.1).fit(X, Y[:, target])
        np.testing.assert_array_equal(together.coef_[target], alone.coef_)
        assert together.intercept_[target] == alone.intercept_
        assert together.dual_gap_[target] == alone.dual_gap_
        assert together.n_iter_[target] == alone.n_iter_
    np.testing.assert_allclose(together.predict(X)[:, 0], Lasso(alpha=0.1).fit(X, y).predict(X), rtol=1e-12)
    single = Lasso(alpha=0.1).fit(X, y[:, None])
    theirs = sklearn.linear_model.Lasso(alpha=0.1).fit(X, y[:, None])
    for name in ("coef_", "intercept_", "dual_gap_"):
        assert np.shape(getattr(single, name)) == np.shape(getattr(theirs, name))


def test_sparse_coefficients(problem):
    X, y = problem
    model = Lasso(alpha=0.3).fit(X, y)
    assert model.sparse_coef_.nnz == np.count_nonzero(model.coef_)
    np.testing.assert_array_equal(model.sparse_coef_.toarray()[0], model.coef_)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_sparse_columns_of_many_rows(rng, positive, intercept):
    """Too many rows to write out the columns in use, too few to gather moments."""
    X = scipy.sparse.random_array(
        (1500, 700), density=0.02, rng=rng, data_sampler=rng.standard_normal, format="csr"
    )
    X.data += 1.0
    y = X[:, :20].sum(axis=1) + 0.3 * rng.normal(size=1500) + 2
    weight = rng.integers(0, 3, size=1500).astype(float)
    table = X.toarray()
    for alpha in (0.02, 0.0005):
        model = Lasso(alpha=alpha, positive=positive, fit_intercept=intercept, tol=1e-10)
        model.fit(X, y, sample_weight=weight)
        how = {"weight": weight, "intercept": intercept, "positive": positive}
        assert duality_gap(table, y, model.coef_, alpha, **how) <= 1.001e-10 * np.average(
            y**2, weights=weight
        )
        assert violation(table, y, model.coef_, alpha, **how) < 1e-4


# What must not change the answer


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, scipy.sparse.csr_array])
def test_threads_change_no_bit(rng, layout):
    X, y = wide(rng, n=150, d=3000)
    fits = [Lasso(alpha=0.05, n_jobs=n_jobs).fit(layout(X), y) for n_jobs in (1, 2, 3)]
    for fit in fits[1:]:
        np.testing.assert_array_equal(fit.coef_, fits[0].coef_)


@pytest.mark.parametrize(
    "how", [{"selection": "random", "random_state": 0}, {"precompute": True}, {"copy_X": False}]
)
def test_parameters_without_effect(problem, how):
    X, y = problem
    before = X.copy()
    np.testing.assert_array_equal(Lasso(alpha=0.1, **how).fit(X, y).coef_, Lasso(alpha=0.1).fit(X, y).coef_)
    np.testing.assert_array_equal(X, before)


def test_warm_start_begins_where_the_last_fit_ended(rng):
    X, y = wide(rng)
    model = Lasso(alpha=0.05, warm_start=True, tol=1e-9).fit(X, y)
    first, cold = model.n_iter_, model.coef_
    model.fit(X, y)
    assert model.n_iter_ < first
    np.testing.assert_allclose(model.coef_, cold, atol=1e-10)
    sparse = Lasso(alpha=0.05, warm_start=True, tol=1e-9).fit(scipy.sparse.csr_array(X), y)
    first = sparse.n_iter_
    assert sparse.fit(scipy.sparse.csr_array(X), y).n_iter_ < first
    model.fit(X[:, :10], y)  # coefficients of other features are no start
    assert model.coef_.shape == (10,)


# Edges


def test_no_warnings_on_awkward_data(rng):
    X = rng.normal(size=(40, 400))
    X[:, 1], X[:, 2], X[:, 3] = X[:, 0], -X[:, 0], 5.0
    X[:, 4] = X[:, 0] + 1e-7 * rng.normal(size=40)
    X[:, 5] *= 1e12
    X[:, 6] += 1e8
    y = X[:, 0] + X[:, 7] + 0.1 * rng.normal(size=40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for alpha in (1e-4, 0.1):
            model = Lasso(alpha=alpha, tol=1e-8).fit(X, y)
            assert model.dual_gap_ <= 1e-8 * np.var(y)
            assert model.coef_[3] == 0


def test_no_penalty_is_least_squares(table):
    X, y = table
    model = Lasso(alpha=0).fit(X, y)
    np.testing.assert_allclose(
        model.coef_, sklearn.linear_model.LinearRegression().fit(X, y).coef_, rtol=1e-9
    )
    assert 0 <= model.dual_gap_ < 1e-12
    assert (Lasso(alpha=0, positive=True).fit(X, y).coef_ >= 0).all()


@pytest.mark.parametrize("n", [1, 2])
def test_few_rows(n, rng):
    X = rng.normal(size=(n, 400))
    model = Lasso(alpha=0.1).fit(X, np.arange(n) + 1.0)
    assert np.isfinite(model.coef_).all()
    if n == 1:
        assert not model.coef_.any()
        assert model.intercept_ == 1


@pytest.mark.parametrize("d", [3, 400])
def test_constant_target(rng, d):
    model = Lasso(alpha=0.1).fit(rng.normal(size=(20, d)), np.full(20, 3.7))
    assert not model.coef_.any()
    assert (model.intercept_, model.dual_gap_) == (3.7, 0)
    assert model.n_iter_ >= 1


@pytest.mark.parametrize("factor", [1e-160, 1e160])
@pytest.mark.parametrize("d", [3, 400])
def test_targets_whose_squares_are_no_numbers(rng, d, factor):
    X = rng.normal(size=(20, d))
    y = X[:, 0] + 0.1 * rng.normal(size=20)
    plain, scaled = Lasso(alpha=0.1).fit(X, y), Lasso(alpha=0.1 * factor).fit(X, y * factor)
    np.testing.assert_allclose(scaled.coef_ / factor, plain.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("factor", [1e-160, 1e160])
@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_array])
def test_columns_whose_squares_are_no_numbers(rng, layout, factor):
    X = rng.normal(size=(20, 400))
    y = X[:, 0] + 0.1 * rng.normal(size=20)
    scaled = X.copy()
    scaled[:, 5] *= factor
    model = Lasso(alpha=0.1, tol=1e-10).fit(layout(scaled), y)
    if factor < 1:
        without = Lasso(alpha=0.1, tol=1e-10).fit(np.delete(X, 5, axis=1), y)
        assert model.coef_[5] == 0
        np.testing.assert_allclose(np.delete(model.coef_, 5), without.coef_, atol=1e-8)
    else:  # such a feature costs nothing, so that its coefficient is not shrunk
        residual = y - scaled @ model.coef_ - model.intercept_
        assert abs((X[:, 5] - X[:, 5].mean()) @ residual) < 1e-9


def test_a_stop_before_the_end_is_told(rng):
    X, y = wide(rng)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        Lasso(alpha=1e-3, max_iter=1, tol=1e-12).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="A path stopped .* raise max_iter"):
        lasso_path(X, y, alphas=[1e-3], max_iter=1, tol=1e-12)
    with pytest.warns(ConvergenceWarning) as told:
        LassoCV(alphas=[1.0, 1e-3], max_iter=1, tol=1e-12).fit(X, y)
    assert any("LassoCV on a fold stopped" in str(warning.message) for warning in told)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"alpha": -1}, "alpha must be a number at least 0"),
        ({"alpha": float("inf")}, "alpha must be finite"),
        ({"tol": -1}, "tol must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"selection": "best"}, "selection must be one of"),
        ({"precompute": "yes"}, "precompute must be"),
    ],
)
def test_bad_parameters(wrong, error, table):
    with pytest.raises(ValueError, match=error):
        Lasso(**wrong).fit(*table)


@pytest.mark.parametrize("d", [3, 400])
@pytest.mark.parametrize("layout", [np.asarray, scipy.sparse.csr_array])
def test_missing_values_are_named(rng, d, layout):
    X = rng.normal(size=(30, d))
    X[4, 2] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in row 4, column 2"):
        Lasso().fit(layout(X), np.arange(30.0))
    X[4, 2] = 0
    with pytest.raises(ValueError, match="y contains NaN in row 1"):
        Lasso().fit(layout(X), np.where(np.arange(30) == 1, np.nan, 1.0))


def test_frames_and_files(rng, tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    for d in (5, 300):
        X, y = wide(rng, n=40, d=d) if d > 6 else (rng.normal(size=(40, d)), rng.normal(size=40))
        names = [f"x{j}" for j in range(d)]
        plain = Lasso(alpha=0.1).fit(X, y)
        frame = pandas.DataFrame(X, columns=names)
        frame["target"] = y
        frame.to_parquet(tmp_path / "rows.parquet")
        for table in (frame, polars.from_pandas(frame), tmp_path / "rows.parquet"):
            model = Lasso(alpha=0.1).fit(table, "target")
            np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-12)
            assert model.feature_names_in_.tolist() == names


def test_a_model_comes_back_from_a_file(table):
    model = Lasso().fit(*table)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).coef_, model.coef_)


def test_loops_are_compiled_once_for_each_dtype():
    mine = [loop for loop in all_loops() if "coordinate_descent" in loop.__module__]
    assert mine
    assert all(len(getattr(loop, "signatures", [])) <= 2 for loop in mine)
