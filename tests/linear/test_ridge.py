"""Ridge by hand, by its optimality conditions, against plain formulas, and at the edges."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, event, given, settings, strategies as st
from tests.properties.strategies import as_dense, plain_problems, problems, weights

import bisector
from bisector import Ridge
from bisector.engine.sources import source
from bisector.linear.linear_regression import LinearRegression
from bisector.solvers.ridge import ridge

quickly = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
thoroughly = settings(quickly, max_examples=150)


@pytest.fixture(params=[(50, 4), (50, 40), (8, 20), (20, 20)], ids=["tall", "square-ish", "wide", "square"])
def problem(request, rng):
    """Features off the origin and in different units, two targets, and weights."""
    n, d = request.param
    X = rng.normal(size=(n, d)) * rng.uniform(0.5, 3, size=d) + 3 * rng.normal(size=d)
    Y = X[:, :2] @ [[1.0, -1.0], [2.0, 0.5]] + rng.normal(size=(n, 2))
    return X, Y, rng.uniform(0.1, 2, size=n)


def solved_directly(X, Y, alpha, weight=None, penalty=None, intercept=True):
    """(XᵀVX + αΓᵀΓ)w = XᵀVY on centred data."""
    weight = np.ones(len(X)) if weight is None else weight
    mean, mean_y = (
        (np.average(X, axis=0, weights=weight), np.average(Y, axis=0, weights=weight))
        if intercept
        else (np.zeros(X.shape[1]), np.zeros(Y.shape[1:]))
    )
    A, B = X - mean, Y - mean_y
    penalty = np.eye(X.shape[1]) if penalty is None else penalty
    coef = np.linalg.solve(A.T @ (weight[:, None] * A) + alpha * penalty, A.T @ (weight * B.T).T)
    return coef.T, mean_y - mean @ coef


# By hand


def test_the_slope_is_the_covariance_over_the_variance_and_alpha():
    """Σxy = 4 and Σx² = 2 about the means: w = 4/(2 + 2); half of the slope's parameter is left."""
    model = Ridge(alpha=2.0).fit([[-1.0], [0.0], [1.0]], [1.0, 3.0, 5.0])
    assert model.coef_ == pytest.approx([1.0])
    assert model.intercept_ == pytest.approx(3.0)
    assert model.degrees_of_freedom_ == pytest.approx(1.5)


def test_through_the_origin():
    model = Ridge(alpha=5.0, fit_intercept=False).fit([[1.0], [2.0]], [2.0, 4.0])
    assert model.coef_ == pytest.approx([1.0])
    assert model.intercept_ == 0
    assert model.degrees_of_freedom_ == pytest.approx(0.5)


def test_of_two_equal_columns_each_gets_half():
    x = np.array([-1.0, 0.0, 1.0])
    alone, twice = Ridge(2.0).fit(x[:, None], [1, 3, 5]), Ridge(4.0).fit(np.column_stack([x, x]), [1, 3, 5])
    np.testing.assert_allclose(twice.coef_, alone.coef_[0] / 2)


def test_a_weight_on_one_feature_is_a_change_of_its_unit():
    """pw² is the plain penalty of the feature divided by √p."""
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 0.0]])
    weighed = Ridge(0.5, penalty=[1.0, 4.0]).fit(X, [1, 0, 2, -1])
    scaled = Ridge(0.5).fit(X / [1, 2], [1, 0, 2, -1])
    np.testing.assert_allclose(weighed.coef_, scaled.coef_ / [1, 2], rtol=1e-13)


def test_a_free_feature_costs_nothing():
    """What is uncorrelated and free gets its least-squares coefficient."""
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    model = Ridge(4.0, penalty=[1.0, 0.0]).fit(X, X @ [2.0, 3.0])
    np.testing.assert_allclose(model.coef_, [1.0, 3.0], rtol=1e-14)


def test_differences_between_neighbours_can_be_penalised():
    """Γ takes differences: with a huge α all coefficients are equal, and their sum fits as one feature would."""
    rng = np.random.default_rng(0)
    X, differences = rng.normal(size=(30, 4)), np.diff(np.eye(4), axis=0)
    y = X.sum(axis=1) + 0.1 * rng.normal(size=30)
    model = Ridge(1e8, penalty=differences).fit(X, y)
    together = LinearRegression().fit(X.sum(axis=1)[:, None], y)
    np.testing.assert_allclose(model.coef_, together.coef_[0], rtol=1e-6)
    assert model.degrees_of_freedom_ == pytest.approx(2.0, abs=1e-5)


# The solution


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
@pytest.mark.parametrize("solver", ["auto", "svd", "cholesky"])
def test_normal_equations(problem, intercept, weighted, form, solver):
    X, Y, weight = problem
    weight = weight if weighted else None
    model = Ridge(0.7, fit_intercept=intercept, solver=solver).fit(form(X), Y, sample_weight=weight)
    coef, offset = solved_directly(X, Y, 0.7, weight, intercept=intercept)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, offset, rtol=1e-10, atol=1e-10)
    assert model.gap_ < 1e-8


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", ["lsqr", "sparse_cg", "sag", "saga"])
def test_iterating_comes_as_near_as_asked(problem, form, intercept, solver):
    X, Y, weight = problem
    model = Ridge(0.7, fit_intercept=intercept, solver=solver, tol=1e-9)
    model.fit(form(X), Y, sample_weight=weight)
    coef, offset = solved_directly(X, Y, 0.7, weight, intercept=intercept)
    assert model.solver_ == "cg"
    assert model.gap_ <= 1e-18
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(model.intercept_, offset, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
def test_the_duality_gap_bounds_how_far_the_objective_is_from_its_minimum(problem, tol):
    X, Y, weight = problem
    rows = source(X, Y, weight)
    near, best = ridge(rows, np.array([0.3]), method="iterative", tol=tol), ridge(rows, np.array([0.3]))
    total = weight @ np.square(Y - np.average(Y, axis=0, weights=weight))
    above = near.objective - best.objective
    assert (above >= -1e-12 * total).all()
    assert (above <= near.gap * total + 1e-12 * total).all()
    assert near.gap <= tol**2
    assert near.converged


def test_iterations_end_when_told_to(problem):
    X, Y, _ = problem
    model = Ridge(1e-3, solver="sparse_cg", tol=1e-12, max_iter=2).fit(X, Y)
    assert (model.n_iter_ <= 2).all()
    assert model.gap_ > 1e-24


def test_the_objective_is_what_it_says(problem):
    X, Y, weight = problem
    found = ridge(source(X, Y, weight), np.array([0.3]))
    left = Y - X @ found.coef - found.intercept
    said = weight @ np.square(left) + 0.3 * np.square(found.coef).sum(axis=0)
    np.testing.assert_allclose(found.objective, said, rtol=1e-9)


def test_each_target_has_its_own_alpha(problem):
    X, Y, weight = problem
    both = Ridge([0.1, 10.0]).fit(X, Y, sample_weight=weight)
    for t, alpha in enumerate([0.1, 10.0]):
        alone = Ridge(alpha).fit(X, Y[:, t], sample_weight=weight)
        # Coefficients near zero are as exact as the largest are, not relative to themselves.
        np.testing.assert_allclose(both.coef_[t], alone.coef_, rtol=1e-12, atol=1e-14)
        assert both.intercept_[t] == pytest.approx(alone.intercept_, rel=1e-12)
        assert both.degrees_of_freedom_[t] == pytest.approx(alone.degrees_of_freedom_, rel=1e-12)
    iterated = Ridge([0.1, 10.0], solver="sparse_cg", tol=1e-9).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(iterated.coef_, both.coef_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("kind", ["weights", "some free", "matrix", "singular matrix"])
def test_other_penalties(problem, rng, kind):
    X, Y, weight = problem
    d = X.shape[1]
    given = {
        "weights": rng.uniform(0.1, 5, size=d),
        "some free": np.where(np.arange(d) < 2, 0.0, 2.0),
        "matrix": np.eye(d) + 0.3 * rng.normal(size=(d, d)),
        "singular matrix": np.vstack([np.diff(np.eye(d), axis=0), np.ones((1, d)) / d]),
    }[kind]
    G = np.diag(given) if given.ndim == 1 else given.T @ given
    model = Ridge(0.7, penalty=given).fit(X, Y, sample_weight=weight)
    coef, offset = solved_directly(X, Y, 0.7, weight, G)
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.intercept_, offset, rtol=1e-8, atol=1e-8)
    A = X - np.average(X, axis=0, weights=weight)
    S = A.T @ (weight[:, None] * A)
    trace = np.trace(np.linalg.solve(S + 0.7 * G, S)) + 1
    np.testing.assert_allclose(model.degrees_of_freedom_, trace, rtol=1e-8)
    iterated = Ridge(0.7, penalty=given, solver="sparse_cg", tol=1e-10).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(iterated.coef_, coef, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
def test_without_penalty_it_is_least_squares(problem, intercept):
    X, Y, weight = problem
    model = Ridge(0.0, fit_intercept=intercept).fit(X, Y, sample_weight=weight)
    plain = LinearRegression(fit_intercept=intercept).fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.intercept_, plain.intercept_)
    np.testing.assert_allclose(model.degrees_of_freedom_, plain.rank_ + intercept)


def test_as_the_penalty_vanishes_the_solution_becomes_the_shortest_of_least_squares():
    """Equal columns: the limit shares their coefficient, and no digit is lost on the way."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3))
    X = np.column_stack([X, X[:, 0]])
    y = rng.normal(size=30)
    limit = LinearRegression().fit(X, y)
    for alpha in (1e-10, 1e-14, 1e-20, 1e-100):
        model = Ridge(alpha).fit(X, y)
        np.testing.assert_allclose(model.coef_, limit.coef_, rtol=1e-9)


def solved_in_fractions(X, y, alpha):
    """The coefficients without any rounding."""
    rows, targets = [[Fraction(x) for x in row] for row in X.tolist()], [Fraction(t) for t in y.tolist()]
    n, d = X.shape
    mean, mean_y = [sum(column) / n for column in zip(*rows, strict=True)], sum(targets) / n
    rows = [[x - m for x, m in zip(row, mean, strict=True)] for row in rows]
    system = [
        [sum(row[i] * row[j] for row in rows) + (Fraction(alpha) if i == j else 0) for j in range(d)]
        + [sum(row[i] * (t - mean_y) for row, t in zip(rows, targets, strict=True))]
        for i in range(d)
    ]
    for i in range(d):
        system[i] = [value / system[i][i] for value in system[i]]
        for k in range(d):
            if k != i:
                system[k] = [a - system[k][i] * b for a, b in zip(system[k], system[i], strict=True)]
    return np.array([float(line[-1]) for line in system])


@pytest.mark.parametrize("n_rows", [60, 3])
@pytest.mark.parametrize("alpha", [1e-10, 1e-5])
def test_nearly_dependent_columns_keep_their_digits(n_rows, alpha):
    """Columns that differ by 1e-6: normal equations would keep four digits of the difference."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(n_rows, 1)) + 1e-6 * rng.normal(size=(n_rows, 4))
    y = rng.normal(size=n_rows)
    np.testing.assert_allclose(Ridge(alpha).fit(X, y).coef_, solved_in_fractions(X, y, alpha), rtol=1e-9)
    if n_rows > 4:
        model = Ridge(alpha).fit(X, y)
        assert model.solver_ == "qr"
        np.testing.assert_allclose(model.coef_, solved_in_fractions(X, y, alpha), rtol=1e-14)


@pytest.mark.parametrize("shape", [(6, 8), (20, 3)])
@pytest.mark.parametrize("unit", [1e5, 1e12, 1e30, 1e-30])
def test_one_column_in_other_units(rng, shape, unit):
    """It takes part of y, however small the penalty on it is; the others share the rest as ridge has it."""
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    X[:, 0] *= unit
    np.testing.assert_allclose(Ridge(0.5).fit(X, y).coef_, solved_in_fractions(X, y, 0.5), rtol=1e-10)


# Coefficients that must not be negative


@pytest.mark.parametrize("intercept", [True, False])
def test_positive_satisfies_karush_kuhn_tucker(problem, intercept):
    X, Y, weight = problem
    model = Ridge(0.5, positive=True, fit_intercept=intercept).fit(X, Y, sample_weight=weight)
    left = (Y - model.predict(X)) * weight[:, None]
    pull = X.T @ left - 0.5 * model.coef_.T
    if intercept:
        np.testing.assert_allclose(left.sum(axis=0), 0, atol=1e-9)
    size = np.abs(X).T @ np.abs(left) + 1
    assert (model.coef_ >= 0).all()
    assert (pull <= 1e-9 * size).all()
    assert (np.abs(pull) * (model.coef_.T > 0) <= 1e-9 * size).all()
    assert (model.coef_ == 0).any()
    assert model.solver_ == "nnls"
    assert np.isnan(model.degrees_of_freedom_).all()


def test_positive_changes_nothing_where_nothing_is_negative():
    X = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    held, free = (Ridge(positive=positive).fit(X, X @ [2.0, 3.0]) for positive in (True, False))
    np.testing.assert_array_equal(held.coef_, free.coef_)


# The equivalent kernel


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_the_equivalent_kernel_makes_the_predictions(problem, rng, intercept, alpha, form):
    X, Y, weight = problem
    weight[::3] = 0.0
    new = rng.normal(size=(5, X.shape[1]))
    model = Ridge(alpha, fit_intercept=intercept).fit(form(X), Y, sample_weight=weight)
    kernel = model.equivalent_kernel(form(new))
    assert kernel.shape == (5, len(X))
    np.testing.assert_allclose(kernel @ Y, model.predict(new), rtol=1e-8, atol=1e-8)
    assert not kernel[:, ::3].any()
    if intercept:
        np.testing.assert_allclose(kernel.sum(axis=1), 1, rtol=1e-9)
    np.testing.assert_allclose(
        np.trace(model.equivalent_kernel(form(X))), model.degrees_of_freedom_[0], rtol=1e-9
    )


def test_the_equivalent_kernel_is_the_books(rng):
    """LFD, Problem 6.6: K(x, xₙ) = xᵀ(ZᵀZ + λΓᵀΓ)⁻¹xₙ."""
    Z, x, gamma = rng.normal(size=(20, 3)), rng.normal(size=(2, 3)), rng.normal(size=(3, 3))
    model = Ridge(0.3, fit_intercept=False, penalty=gamma).fit(Z, rng.normal(size=20))
    book = x @ np.linalg.solve(Z.T @ Z + 0.3 * gamma.T @ gamma, Z.T)
    np.testing.assert_allclose(model.equivalent_kernel(x), book, rtol=1e-10, atol=1e-13)


def test_with_an_alpha_for_each_target_there_is_a_kernel_for_each(problem):
    X, Y, _ = problem
    model = Ridge([0.1, 5.0]).fit(X, Y)
    kernel = model.equivalent_kernel(X[:3])
    assert kernel.shape == (3, len(X), 2)
    np.testing.assert_allclose(np.einsum("mnt,nt->mt", kernel, Y), model.predict(X[:3]), rtol=1e-9)


def test_a_model_from_a_file_has_no_training_data(problem):
    X, Y, _ = problem
    back = pickle.loads(pickle.dumps(Ridge().fit(X, Y)))
    with pytest.raises(AttributeError, match="fit it again"):
        back.equivalent_kernel(X)
    with pytest.raises(ValueError, match="positive=False"):
        Ridge(positive=True).fit(X, -np.abs(Y) * X[:, :1]).equivalent_kernel(X)


# Data as it comes


def test_threads_change_no_bit(rng):
    X, y = rng.normal(size=(5000, 30)), rng.normal(size=5000)
    for solver in ("auto", "svd", "sparse_cg"):
        one, three = (Ridge(solver=solver, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 3))
        np.testing.assert_array_equal(one.coef_, three.coef_)
        assert one.intercept_ == three.intercept_


def test_float32_is_solved_in_float64(problem):
    X, Y, weight = problem
    narrow = X.astype(np.float32)
    for solver in ("auto", "svd", "sparse_cg"):
        model = Ridge(solver=solver, tol=1e-9).fit(narrow, Y, sample_weight=weight)
        wide = Ridge(solver=solver, tol=1e-9).fit(narrow.astype(np.float64), Y, sample_weight=weight)
        assert model.coef_.dtype == model.predict(narrow).dtype == np.float32
        np.testing.assert_allclose(model.coef_, wide.coef_, rtol=2e-7, atol=1e-9)


def test_a_parquet_file(tmp_path, rng):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(rng.normal(size=(50, 4)), columns=list("abcy"))
    frame.to_parquet(tmp_path / "rows.parquet")
    model = Ridge([0.5]).fit(tmp_path / "rows.parquet", "y")
    np.testing.assert_allclose(
        model.coef_, Ridge(0.5).fit(frame[["a", "b", "c"]], frame["y"]).coef_, rtol=1e-12
    )


@pytest.mark.parametrize("shape", [(1, 3), (2, 1), (1, 1)])
def test_next_to_no_rows(shape):
    X = np.arange(1.0, 1 + np.prod(shape)).reshape(shape)
    y = np.arange(1.0, 1 + shape[0])
    model = Ridge().fit(X, y)
    coef, offset = solved_directly(X, y, 1.0)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-15)
    assert model.intercept_ == pytest.approx(offset)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("n_rows", [3, 30])
def test_constant_columns_get_nothing(rng, form, n_rows):
    X = rng.normal(size=(n_rows, 5))
    X[:, 1], X[:, 3] = 0.1 + 1e9, 0.0
    model = Ridge(1e-3).fit(form(X), rng.normal(size=n_rows))
    assert model.coef_[1] == model.coef_[3] == 0


@quickly
@given(plain_problems(spare_rows=None), st.data(), st.booleans())
def test_integer_weights_are_repeated_rows(problem, data, intercept):
    X, y, _ = problem
    weight = data.draw(weights(len(y), whole_numbers=True))
    counts = weight.astype(int)
    weighted = Ridge(0.5, fit_intercept=intercept).fit(X, y, sample_weight=weight)
    repeated = Ridge(0.5, fit_intercept=intercept).fit(X.repeat(counts, axis=0), y.repeat(counts))
    for what in ("coef_", "intercept_", "degrees_of_freedom_"):
        np.testing.assert_allclose(
            getattr(weighted, what), getattr(repeated, what), rtol=1e-9, atol=1e-10, err_msg=what
        )


@thoroughly
@given(
    problems(),
    st.sampled_from([1e-8, 1.0, 1e6]),
    st.sampled_from([{}, {"fit_intercept": False}, {"solver": "svd"}]),
)
def test_optimality_on_awkward_data(problem, alpha, parameters):
    """The gradient, evaluated in extended precision, vanishes beside what rounding the coefficients makes of it."""
    model = Ridge(alpha, **parameters)
    try:
        model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    except ValueError as error:
        event(f"refused: {error}")
        if not str(error).endswith("."):
            raise
        return
    X = as_dense(problem.X).astype(np.longdouble)
    Y = problem.y.reshape(len(problem.y), -1).astype(np.longdouble)
    v = np.ones(len(Y)) if problem.sample_weight is None else problem.sample_weight
    coef = np.atleast_2d(model.coef_).T.astype(np.longdouble)
    if parameters.get("fit_intercept", True):
        seen = v > 0
        X = X - X[seen][0]  # differences first: the mean of equal values is then exactly theirs
        X, Y = (
            X - np.average(X, axis=0, weights=v),
            Y - Y[seen][0] - np.average(Y - Y[seen][0], axis=0, weights=v),
        )
    root = np.sqrt(v.astype(np.longdouble))[:, None]
    X, Y = X * root, Y * root
    gradient = X.T @ (Y - X @ coef) - alpha * coef
    lengths = np.sqrt(np.square(X).sum(axis=0) + alpha)[:, None]
    terms = np.sqrt(np.square(Y).sum(axis=0)) + (lengths * np.abs(coef)).sum(axis=0)
    # Columns far from zero have means that are themselves rounded.
    far = np.abs(as_dense(problem.X)).max(axis=0)[:, None] * np.sqrt(v.sum()) * 1e-15
    far_y = np.abs(problem.y).max() * np.sqrt(v.sum()) * 1e-15
    precision = 1e-6 if model.coef_.dtype == np.float32 else 1e-12  # of the coefficients themselves
    allowed = precision * lengths * terms + 10 * (far * terms + lengths * far_y + far * far_y)
    assert (np.abs(gradient) <= allowed).all()


# Bad input

X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 0.0], [6.0, 3.0]])
Y = np.array([1.0, 0.0, 2.0, -1.0, 3.0])


@pytest.mark.parametrize(
    ("parameters", "kind", "said"),
    [
        ({"alpha": -1.0}, ValueError, "alpha must be a number at least 0, not -1.0"),
        ({"alpha": np.inf}, ValueError, "alpha must be finite"),
        ({"alpha": "much"}, TypeError, "alpha must be a number at least 0"),
        ({"alpha": [1.0, 2.0]}, ValueError, r"alpha holds 2 numbers, but y has 1 target\(s\)"),
        ({"penalty": [1.0]}, ValueError, "one weight for each"),
        ({"penalty": [1.0, -1.0]}, ValueError, "negative for feature 1"),
        ({"penalty": np.ones((2, 3))}, ValueError, "a matrix with one column for each"),
        ({"penalty": [1.0, np.nan]}, ValueError, "penalty must be finite"),
        ({"penalty": "l1"}, ValueError, "penalty must hold numbers"),
        ({"solver": "fast"}, ValueError, "solver must be one of"),
        ({"solver": "lbfgs"}, ValueError, "positive=True only"),
        ({"solver": "svd", "positive": True}, ValueError, "goes with solver='auto' or 'lbfgs'"),
        ({"tol": -1}, ValueError, "tol must be a number at least 0"),
        ({"max_iter": 0}, ValueError, "max_iter must be a whole number at least 1"),
        ({"positive": 1}, ValueError, "positive must be True or False"),
    ],
)
def test_parameters(parameters, kind, said):
    model = Ridge(**parameters)
    with pytest.raises(kind, match=said) as error:
        model.fit(X, Y)
    assert str(error.value).endswith(".")
    assert vars(model) == model.get_params()


@pytest.mark.parametrize("n_rows", [1, 5])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("solver", ["auto", "svd", "sparse_cg"])
def test_what_is_not_finite_is_named(n_rows, form, solver):
    spoiled = X[:n_rows].copy()
    spoiled[-1, 1] = np.nan
    with pytest.raises(ValueError, match=f"X contains NaN in row {n_rows - 1}, column 1"):
        Ridge(solver=solver).fit(form(spoiled), Y[:n_rows])


def test_too_many_features_for_memory():
    wide = np.zeros((5000, 4000))
    with bisector.config(memory="100 MB"), pytest.raises(MemoryError, match="sparse_cg"):
        Ridge().fit(wide, np.zeros(5000))


def test_sparse_and_wide_is_iterated():
    rng = np.random.default_rng(3)
    wide = scipy.sparse.random_array((8000, 20_000), density=0.001, rng=rng, format="csr")
    y = wide @ rng.normal(size=20_000) + rng.normal(size=8000)
    model = Ridge(1.0, tol=1e-6).fit(wide, y)
    assert model.solver_ == "cg"
    left = y - model.predict(wide)
    np.testing.assert_allclose(wide.T @ left - model.coef_, 0, atol=1e-5 * np.linalg.norm(y - y.mean()))
