"""TotalLeastSquares by hand, by its certificate, by symmetry, against known cases, and where it has no answer."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, assume, event, given, settings, strategies as st
from tests.properties.strategies import plain_problems, problems, weights

from bisector import TotalLeastSquares
from bisector.linear.linear_regression import LinearRegression

quickly = settings(
    max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
thoroughly = settings(quickly, max_examples=150)


@pytest.fixture
def cloud(rng):
    """Points near a plane in five dimensions, noise everywhere, far from the origin."""
    X = rng.normal(size=(60, 3)) * [1, 2, 3]
    Y = X @ rng.normal(size=(3, 2))
    return (
        X + 0.2 * rng.normal(size=X.shape) + [5, -30, 0],
        Y + 0.2 * rng.normal(size=Y.shape) + 7,
        rng.uniform(0.2, 2, size=60),
    )


# By hand


def test_four_points_around_the_diagonal():
    """(0,0), (1,2), (2,1), (3,3): by symmetry y = x, two points on it and two √½ away."""
    model = TotalLeastSquares().fit([[0.0], [1.0], [2.0], [3.0]], [0.0, 2.0, 1.0, 3.0])
    assert model.coef_ == pytest.approx([1.0])
    assert model.intercept_ == pytest.approx(0.0, abs=1e-14)
    np.testing.assert_allclose(model.distances_, np.sqrt([0, 0.5, 0.5, 0]), atol=1e-14)
    np.testing.assert_allclose(model.normal_, np.array([-1, 1]) / np.sqrt(2))
    np.testing.assert_allclose(model.singular_values_, [3, 1])
    assert model.singular_gap_ == pytest.approx(2 / 3)
    assert model.unique_
    assert model.exists_


def test_through_the_origin():
    """(2,1) and (1,2): by symmetry y = x."""
    model = TotalLeastSquares(fit_intercept=False).fit([[2.0], [1.0]], [1.0, 2.0])
    assert model.coef_ == pytest.approx([1.0])
    assert model.intercept_ == 0
    np.testing.assert_allclose(model.singular_values_, [3, 1])


def test_points_on_a_plane_are_found_exactly():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    model = TotalLeastSquares().fit(X, X @ [2.0, -3.0] + 5)
    np.testing.assert_allclose(model.coef_, [2, -3], rtol=1e-13)
    assert model.intercept_ == pytest.approx(5, rel=1e-13)
    np.testing.assert_allclose(model.distances_, 0, atol=1e-13)


def test_deming_regression_in_closed_form(rng):
    """With δ the ratio of the variances of errors in y and x, the slope solves a quadratic equation."""
    x, y = rng.normal(size=30), rng.normal(size=30)
    y += x
    (sxx, sxy), (_, syy) = np.cov(x, y)
    ratio = 2.5
    slope = (syy - ratio * sxx + np.sqrt((syy - ratio * sxx) ** 2 + 4 * ratio * sxy**2)) / (2 * sxy)
    for noise in ([1.0, np.sqrt(ratio)], 1 / np.sqrt(ratio)):
        model = TotalLeastSquares(noise=noise).fit(x[:, None], y)
        assert model.coef_ == pytest.approx([slope], rel=1e-12)


# Symmetry


def test_exchanging_x_and_y_gives_the_same_line(rng):
    x = rng.normal(size=50) + 100
    y = 3 * x + rng.normal(size=50)
    line, swapped = TotalLeastSquares().fit(x[:, None], y), TotalLeastSquares().fit(y[:, None], x)
    assert line.coef_[0] == pytest.approx(1 / swapped.coef_[0], rel=1e-12)
    assert line.intercept_ == pytest.approx(-swapped.intercept_ / swapped.coef_[0], rel=1e-9)
    np.testing.assert_allclose(line.distances_, swapped.distances_, rtol=1e-9, atol=1e-12)


def test_any_column_can_be_the_target(cloud):
    X, Y, weight = cloud
    table = np.column_stack([X, Y[:, 0]])
    first = TotalLeastSquares().fit(X, Y[:, 0], sample_weight=weight)
    for j in range(4):
        others = [k for k in range(4) if k != j]
        model = TotalLeastSquares().fit(table[:, others], table[:, j], sample_weight=weight)
        normal = np.empty(4)
        normal[[*others, j]] = model.normal_
        np.testing.assert_allclose(normal * np.sign(normal[3]), first.normal_, rtol=1e-10, atol=1e-12)


def test_turning_the_space_turns_the_plane(cloud, rng):
    X, Y, _ = cloud
    table = np.column_stack([X, Y[:, 0]])
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    turned = table @ turn
    before, after = (TotalLeastSquares().fit(one[:, :3], one[:, 3]) for one in (table, turned))
    np.testing.assert_allclose(np.abs(before.normal_ @ turn @ after.normal_), 1, rtol=1e-12)
    np.testing.assert_allclose(before.singular_values_, after.singular_values_, rtol=1e-12)


# Certificate


@pytest.mark.parametrize("targets", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_squared_distances_sum_to_the_smallest_singular_values(cloud, targets, weighted, intercept):
    """No plane has less (Eckart and Young)."""
    X, Y, weight = cloud
    y = Y[:, 0] if targets == 1 else Y
    weight = weight if weighted else None
    noise = [0.5, 1.0, 2.0, 0.7, 1.5][: 3 + targets]
    model = TotalLeastSquares(fit_intercept=intercept, noise=noise).fit(X, y, sample_weight=weight)
    total = np.sum(model.distances_**2 * (1 if weight is None else weight))
    assert total == pytest.approx(np.square(model.singular_values_[-targets:]).sum(), rel=1e-9)
    np.testing.assert_array_equal(model.distances(X, y), model.distances_)
    table = np.column_stack([X, Y[:, :targets]]) / noise
    if intercept:
        table = table - np.average(table, axis=0, weights=weight)
    table *= 1 if weight is None else np.sqrt(weight)[:, None]
    np.testing.assert_allclose(
        model.singular_values_, np.linalg.svd(table, compute_uv=False), rtol=1e-10, atol=1e-12
    )


def test_distances_are_those_to_the_nearest_point_of_the_plane(cloud):
    X, Y, _ = cloud
    model = TotalLeastSquares().fit(X, Y[:, 0])
    points = np.column_stack([X, Y[:, 0]])
    offsets = (points @ model.normal_ - model.normal_[-1] * model.intercept_)[:, None] * model.normal_
    nearest = points - offsets
    np.testing.assert_allclose(model.predict(nearest[:, :3]), nearest[:, 3], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(offsets, axis=1), model.distances_, rtol=1e-8, atol=1e-10)


# Columns without noise


def test_without_noise_in_x_it_is_least_squares(cloud):
    X, Y, weight = cloud
    model = TotalLeastSquares(noise=0.0).fit(X, Y, sample_weight=weight)
    plain = LinearRegression().fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, plain.intercept_, rtol=1e-9)
    assert len(model.singular_values_) == 2


@pytest.mark.parametrize("targets", [1, 2])
def test_an_exact_column_is_the_limit_of_one_with_little_noise(cloud, targets):
    X, Y, weight = cloud
    y = Y[:, 0] if targets == 1 else Y
    exact, nearly = (
        TotalLeastSquares(noise=np.append([small, 1.0, 1.0], np.ones(targets))).fit(
            X, y, sample_weight=weight
        )
        for small in (0.0, 1e-6)
    )
    np.testing.assert_allclose(exact.coef_, nearly.coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(exact.intercept_, nearly.intercept_, rtol=1e-8)


def test_the_intercept_is_an_exact_column_of_ones(cloud):
    X, Y, _ = cloud
    free = TotalLeastSquares().fit(X, Y)
    ones = np.column_stack([np.ones(60), X])
    given = TotalLeastSquares(fit_intercept=False, noise=[0, 1, 1, 1, 1, 1]).fit(ones, Y)
    np.testing.assert_allclose(given.coef_[:, 1:], free.coef_, rtol=1e-9)
    np.testing.assert_allclose(given.coef_[:, 0], free.intercept_, rtol=1e-8)


def test_exact_columns_that_depend_on_each_other_share(cloud):
    X, Y, _ = cloud
    alone = TotalLeastSquares(noise=[0, 1, 1, 1]).fit(X, Y[:, 0])
    twice = TotalLeastSquares(noise=[0, 1, 1, 0, 1]).fit(np.column_stack([X, X[:, 0]]), Y[:, 0])
    np.testing.assert_allclose(twice.coef_[[0, 3]], alone.coef_[0] / 2, rtol=1e-9)
    np.testing.assert_allclose(twice.coef_[1:3], alone.coef_[1:], rtol=1e-9)


# Where there is no answer, or more than one


def test_a_square_has_no_best_line():
    with pytest.warns(UserWarning, match="many planes equally near"):
        model = TotalLeastSquares().fit([[1.0], [1.0], [-1.0], [-1.0]], [1.0, -1.0, 1.0, -1.0])
    assert not model.unique_
    assert model.exists_
    assert model.coef_ == pytest.approx([0.0], abs=1e-14)  # the shortest
    assert model.singular_gap_ == 0


def test_a_vertical_line_has_no_slope():
    with pytest.warns(UserWarning, match="parallel to y"):
        model = TotalLeastSquares().fit([[1.0], [1.0], [-1.0], [-1.0]], [2.0, -2.0, 2.0, -2.0])
    assert not model.exists_
    np.testing.assert_allclose(np.abs(model.normal_), [1, 0], atol=1e-15)
    assert model.coef_ == pytest.approx([0.0], abs=1e-14)


def test_a_steep_line_is_no_vertical_one():
    x = np.array([0.0, 1e-9, 2e-9, 3e-9])
    model = TotalLeastSquares().fit(x[:, None], x * 1e9)
    assert model.exists_
    assert model.coef_ == pytest.approx([1e9])


def test_equal_columns_share_their_coefficient(cloud):
    """x₁ − x₂ = 0 is the best plane, and says nothing of y; without that direction there is an answer."""
    X, Y, _ = cloud
    with pytest.warns(UserWarning, match="features may depend on each other"):
        model = TotalLeastSquares().fit(np.column_stack([X, X[:, 0]]), Y[:, 0])
    assert model.coef_[0] == pytest.approx(model.coef_[3], rel=1e-9)
    # Two equal columns with noise of their own are one column of √2 times the length.
    joined = TotalLeastSquares().fit(X * [np.sqrt(2), 1, 1], Y[:, 0])
    np.testing.assert_allclose(model.coef_[1:3], joined.coef_[1:], rtol=1e-9)


def test_fewer_rows_than_columns_have_many_planes(rng):
    with pytest.warns(UserWarning, match="many planes"):
        model = TotalLeastSquares().fit(rng.normal(size=(3, 5)), rng.normal(size=3))
    np.testing.assert_allclose(model.distances_, 0, atol=1e-12)
    assert not model.unique_


@pytest.mark.parametrize("n_rows", [1, 10])
def test_constant_columns_get_nothing(rng, n_rows):
    X = np.column_stack([np.full(n_rows, 7.1), np.arange(n_rows)])
    model = TotalLeastSquares().fit(X, 2.0 * np.arange(n_rows) + 1)
    assert model.coef_[0] == 0
    assert model.predict([[7.1, 0.0]])[0] == pytest.approx(1.0)
    constant = TotalLeastSquares().fit(X, np.full(n_rows, 3.0))
    np.testing.assert_allclose(constant.predict(X), 3.0)


# Data as it comes


@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_array])
def test_forms_and_threads(rng, form):
    X = rng.normal(size=(5000, 4)) + [1e6, 0, 0, 0]
    y = X @ [1.0, 2.0, 3.0, 4.0] + rng.normal(size=5000)
    expected = TotalLeastSquares().fit(X, y).coef_
    one, three = (TotalLeastSquares(n_jobs=n_jobs).fit(form(X), y) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.coef_, three.coef_)
    np.testing.assert_allclose(one.coef_, expected, rtol=1e-8)


def test_far_from_zero_no_digit_is_lost(rng):
    X = np.round(rng.normal(size=(40, 2)) * 2**10) / 2**10
    y = np.round((X @ [1.0, 2.0] + 0.1 * rng.normal(size=40)) * 2**10) / 2**10
    home, away = TotalLeastSquares().fit(X, y), TotalLeastSquares().fit(X + 2.0**30, y - 2.0**31)
    np.testing.assert_allclose(away.coef_, home.coef_, rtol=1e-12)


def test_float32(cloud):
    X, Y, _ = cloud
    X = X.astype(np.float32)
    narrow, wide = TotalLeastSquares().fit(X, Y), TotalLeastSquares().fit(X.astype(np.float64), Y)
    assert narrow.coef_.dtype == narrow.predict(X).dtype == np.float32
    np.testing.assert_allclose(narrow.coef_, wide.coef_, rtol=2e-7)


def test_a_parquet_file(tmp_path, cloud):
    pandas, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    X, Y, _ = cloud
    frame = pandas.DataFrame(np.column_stack([X, Y]), columns=list("abcyz"))
    frame.to_parquet(tmp_path / "rows.parquet")
    model = TotalLeastSquares().fit(tmp_path / "rows.parquet", ["y", "z"])
    np.testing.assert_allclose(model.coef_, TotalLeastSquares().fit(X, Y).coef_, rtol=1e-12)
    assert model.distances_.shape == (60,)


def test_a_model_from_a_file(cloud):
    X, Y, _ = cloud
    model = TotalLeastSquares().fit(X, Y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.distances(X, Y), model.distances_)
    with pytest.raises(AttributeError, match=r"call distances\(X, y\)"):
        back.distances_  # noqa: B018


@quickly
@given(plain_problems(spare_rows=4), st.data(), st.booleans())
def test_integer_weights_are_repeated_rows(problem, data, intercept):
    X, y, _ = problem
    weight = data.draw(weights(len(y), whole_numbers=True))
    assume(np.count_nonzero(weight) > X.shape[1] + 3)
    counts = weight.astype(int)
    weighted = TotalLeastSquares(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    repeated = TotalLeastSquares(fit_intercept=intercept).fit(X.repeat(counts, axis=0), y.repeat(counts))
    assume(weighted.singular_gap_ > 0.05 and abs(weighted.normal_[-1]) > 0.05)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(weighted.singular_values_, repeated.singular_values_, rtol=1e-9, atol=1e-12)


@thoroughly
@given(problems(), st.sampled_from([{}, {"fit_intercept": False}, {"noise": 0.0}, {"noise": 3.0}]))
def test_every_fit_is_finite_or_a_clear_error(problem, parameters):
    model = TotalLeastSquares(**parameters)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The plane nearest|There are many planes")
            model.fit(problem.X, problem.y, sample_weight=problem.sample_weight)
    except ValueError as error:
        event(f"refused: {error}")
        if vars(model).keys() != model.get_params().keys() or not str(error).endswith("."):
            raise
        return
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.intercept_).all()
    assert np.isfinite(model.predict(problem.X)).all()
    if hasattr(model, "normal_"):
        assert np.linalg.norm(model.normal_) == pytest.approx(1)


# Bad input


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ([1.0, 1.0], r"noise has the shape \(2,\), but X and y have 3 \+ 1 columns"),
        ([1.0, 1.0, -1.0, 1.0], "not negative"),
        ([1.0, 1.0, np.nan, 1.0], "must be finite"),
        ([1.0, 1.0, 1.0, 0.0], "noise of y must be above 0"),
        ("low", "noise must hold numbers"),
    ],
)
def test_noise(cloud, noise, said):
    X, Y, _ = cloud
    model = TotalLeastSquares(noise=noise)
    with pytest.raises(ValueError, match=said) as error:
        model.fit(X, Y[:, 0])
    assert str(error.value).endswith(".")
    assert vars(model) == model.get_params()


def test_other_faults(cloud):
    X, Y, _ = cloud
    with pytest.raises(ValueError, match="X contains inf in row 3, column 1"):
        TotalLeastSquares().fit(np.where(np.arange(180).reshape(60, 3) == 10, np.inf, X), Y)
    with pytest.raises(ValueError, match=r"should have \(60, 2\)"):
        TotalLeastSquares().fit(X, Y).distances(X, Y[:, 0])
    with pytest.raises(ValueError, match="fit_intercept must be True or False"):
        TotalLeastSquares(fit_intercept="no").fit(X, Y)
