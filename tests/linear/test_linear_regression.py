"""LinearRegression by hand, by its certificate, against plain formulas and published figures, at the edges."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes

from bisector import LinearRegression

# By hand


def test_three_points_on_no_line():
    """(0,0), (1,2), (2,1): slope 1/2 through (1,1); residuals −1/2, 1, −1/2 with one degree of freedom left."""
    model = LinearRegression().fit([[0], [1], [2]], [0, 2, 1])
    assert model.coef_ == pytest.approx([0.5])
    assert model.intercept_ == pytest.approx(0.5)
    assert model.residual_variance_ == pytest.approx(1.5)
    np.testing.assert_allclose(model.standard_errors_, np.sqrt([1.5 * 5 / 6, 1.5 / 2]))
    np.testing.assert_allclose(model.leverage_, [5 / 6, 1 / 3, 5 / 6])
    assert model.r2_ == pytest.approx(0.25)
    assert model.adjusted_r2_ == pytest.approx(-0.5)
    assert model.rank_ == 1
    assert model.condition_number_ == pytest.approx(1)


def test_through_the_origin():
    """y = bx: b = Σxy/Σx² = 8/5, and R² compares with zero instead of the mean."""
    model = LinearRegression(fit_intercept=False).fit([[1], [2]], [2, 3])
    assert model.coef_ == pytest.approx([1.6])
    assert model.intercept_ == 0
    assert model.residual_variance_ == pytest.approx(0.2)
    assert model.standard_errors_ == pytest.approx([0.2])
    assert model.r2_ == pytest.approx(1 - 0.2 / 13)


def test_a_weight_of_two_is_a_point_twice():
    """(0,0) once and (1,1), (1,3) of weights 3 and 1: the mean at x = 1 is 3/2."""
    model = LinearRegression().fit([[0], [1], [1]], [0, 1, 3], sample_weight=[1, 3, 1])
    assert model.coef_ == pytest.approx([1.5])
    assert model.intercept_ == pytest.approx(0, abs=1e-15)
    assert model.residual_variance_ == pytest.approx(3 / 3)  # 3·(1/2)² + (3/2)² over 5 − 2


def test_of_two_equal_columns_each_gets_half():
    model = LinearRegression().fit([[0, 0], [1, 1], [2, 2]], [1, 3, 5])
    np.testing.assert_allclose(model.coef_, [1, 1])
    assert model.intercept_ == pytest.approx(1)
    assert model.rank_ == 1
    assert model.condition_number_ == np.inf


# Certificate


def test_residuals_are_at_right_angles_to_the_columns(table):
    X, y = table
    residuals = y - LinearRegression().fit(X, y).predict(X)
    columns = np.column_stack([np.ones(50), X])
    cosines = residuals @ columns / np.linalg.norm(columns, axis=0) / np.linalg.norm(residuals)
    np.testing.assert_allclose(cosines, 0, atol=1e-12)


def test_no_small_step_lowers_the_sum_of_squares(table, rng):
    X, y = table
    model = LinearRegression().fit(X, y)
    least = np.square(y - model.predict(X)).sum()
    for step in 1e-4 * rng.normal(size=(20, 4)):
        assert np.square(y - model.predict(X) - (X - X.mean(axis=0)) @ step).sum() > least


# Oracle: the formulas as they stand in books


class Formulas:
    """Everything from (AᵀWA)⁻¹, A = [1 X]; for data tame enough to invert it."""

    def __init__(self, X, y, weight=None, intercept=True):
        self.A = np.column_stack([np.ones(len(X)), X]) if intercept else X
        w = np.ones(len(X)) if weight is None else weight
        self.inverse = np.linalg.inv(self.A.T @ (w[:, None] * self.A))
        self.coef = self.inverse @ self.A.T @ (w * y)
        residuals = y - self.A @ self.coef
        self.left = w.sum() - self.A.shape[1]
        self.variance = w @ residuals**2 / self.left
        self.errors = np.sqrt(self.variance * np.diag(self.inverse))
        self.t = self.coef / self.errors
        self.p = 2 * stats.t.sf(np.abs(self.t), self.left)
        self.leverage = w * np.einsum("ij,jk,ik->i", self.A, self.inverse, self.A)
        centre = np.average(y, weights=w) if intercept else 0.0
        self.r2 = 1 - w @ residuals**2 / (w @ (y - centre) ** 2)

    def interval(self, level, rows=None, new=False):
        quantile = stats.t.ppf((1 + level) / 2, self.left)
        if rows is None:
            middle, errors = self.coef, self.errors
        else:
            middle = rows @ self.coef
            errors = np.sqrt(self.variance * (np.einsum("ij,jk,ik->i", rows, self.inverse, rows) + new))
        return np.column_stack([middle - quantile * errors, middle + quantile * errors])


@pytest.mark.parametrize("intercept", [True, False])
def test_inference_follows_the_formulas(table, weight, intercept):
    X, y = table
    model = LinearRegression(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    book = Formulas(X, y, weight, intercept)
    coef = np.r_[model.intercept_, model.coef_] if intercept else model.coef_
    np.testing.assert_allclose(coef, book.coef, rtol=1e-8)
    np.testing.assert_allclose(model.residual_variance_, book.variance, rtol=1e-9)
    np.testing.assert_allclose(model.standard_errors_, book.errors, rtol=1e-9)
    np.testing.assert_allclose(model.t_values_, book.t, rtol=1e-8)
    np.testing.assert_allclose(model.p_values_, book.p, rtol=1e-6)
    np.testing.assert_allclose(model.leverage_, book.leverage, rtol=1e-9)
    np.testing.assert_allclose(model.r2_, book.r2, rtol=1e-9)
    np.testing.assert_allclose(model.confidence_intervals(), book.interval(0.95), rtol=1e-8)
    np.testing.assert_allclose(model.confidence_intervals(0.5), book.interval(0.5), rtol=1e-8)


@pytest.mark.parametrize("kind", ["mean", "new"])
def test_prediction_intervals_follow_the_formulas(table, weight, kind, rng):
    X, y = table
    model = LinearRegression().fit(X, y, sample_weight=weight)
    new = X[:5] + rng.normal(size=(5, 4))
    expected = Formulas(X, y, weight).interval(0.9, np.column_stack([np.ones(5), new]), new=kind == "new")
    np.testing.assert_allclose(model.predict_interval(new, level=0.9, kind=kind), expected, rtol=1e-8)
    np.testing.assert_allclose(expected.mean(axis=1), model.predict(new), rtol=1e-9)


def test_ninety_percent_of_intervals_hold_the_truth(rng):
    """300 samples from a known line: 270 intervals of each kind hold it, give or take three deviations."""
    X, truth = rng.normal(size=(12, 2)), np.array([1.0, 2.0, -1.0])
    at = np.array([[0.5, -2.0]])
    held = np.zeros((3,))
    for _ in range(300):
        model = LinearRegression(n_jobs=1).fit(X, truth[0] + X @ truth[1:] + rng.normal(size=12))
        mean = truth[0] + at[0] @ truth[1:]
        low, high = model.confidence_intervals(0.9)[1]
        held[0] += low <= truth[1] <= high
        low, high = model.predict_interval(at, 0.9, kind="mean")[0]
        held[1] += low <= mean <= high
        low, high = model.predict_interval(at, 0.9, kind="new")[0]
        held[2] += low <= mean + rng.normal() <= high
    assert (np.abs(held - 270) < 3 * np.sqrt(300 * 0.9 * 0.1)).all()


def test_leverage_is_how_a_target_pulls_its_own_prediction(table):
    X, y = table
    model = LinearRegression().fit(X, y)
    pulled = y + np.eye(50)[3]
    moved = LinearRegression().fit(X, pulled).predict(X)[3] - model.predict(X)[3]
    assert model.leverage_[3] == pytest.approx(moved, rel=1e-8)
    np.testing.assert_allclose(model.leverage(X), model.leverage_, rtol=1e-12)


def test_several_targets_are_several_fits(table, rng):
    X, y = table
    Y = np.column_stack([y, rng.normal(size=50), np.full(50, 2.5)])
    together = LinearRegression().fit(X, Y)
    assert together.coef_.shape == (3, 4)
    assert together.intercept_.shape == (3,)
    assert together.predict_interval(X).shape == (50, 2, 3)
    for k in range(3):
        alone = LinearRegression().fit(X, Y[:, k])
        for what in ("coef_", "intercept_", "standard_errors_", "residual_variance_", "r2_"):
            np.testing.assert_allclose(
                getattr(together, what)[k], getattr(alone, what), rtol=1e-9, atol=1e-12
            )
        np.testing.assert_allclose(together.predict(X)[:, k], alone.predict(X), rtol=1e-9)
        np.testing.assert_allclose(
            together.predict_interval(X)[:, :, k], alone.predict_interval(X), rtol=1e-8, atol=1e-12
        )


# Published

# Speed of cars and the distance they took to stop, recorded in the 1920s (R's `cars`).
SPEED = [4, 4, 7, 7, 8, 9, 10, 10, 10, 11, 11, 12, 12, 12, 12, 13, 13, 13, 13, 14, 14, 14, 14, 15, 15, 15, 16, 16,
         17, 17, 17, 18, 18, 18, 18, 19, 19, 19, 20, 20, 20, 20, 20, 22, 23, 24, 24, 24, 24, 25]  # fmt: skip
DISTANCE = [2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80, 20, 26, 54,
            32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54, 70, 92, 93, 120,
            85]  # fmt: skip


def test_cars_as_r_reports_them():
    model = LinearRegression().fit(np.array(SPEED)[:, None], DISTANCE)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [-17.5791, 3.9324], atol=5e-5)
    np.testing.assert_allclose(model.standard_errors_, [6.7584, 0.4155], atol=5e-5)
    np.testing.assert_allclose(model.t_values_, [-2.601, 9.464], atol=5e-4)
    np.testing.assert_allclose(model.p_values_, [0.0123, 1.49e-12], rtol=5e-3)
    assert np.sqrt(model.residual_variance_) == pytest.approx(15.38, abs=5e-3)
    assert (model.r2_, model.adjusted_r2_) == pytest.approx((0.6511, 0.6438), abs=5e-5)


# Employment and six economic series, 1947 to 1962 (Longley 1967); the figures are those certified by NIST.
LONGLEY = np.array(
    [
        [60323, 83.0, 234289, 2356, 1590, 107608, 1947],
        [61122, 88.5, 259426, 2325, 1456, 108632, 1948],
        [60171, 88.2, 258054, 3682, 1616, 109773, 1949],
        [61187, 89.5, 284599, 3351, 1650, 110929, 1950],
        [63221, 96.2, 328975, 2099, 3099, 112075, 1951],
        [63639, 98.1, 346999, 1932, 3594, 113270, 1952],
        [64989, 99.0, 365385, 1870, 3547, 115094, 1953],
        [63761, 100.0, 363112, 3578, 3350, 116219, 1954],
        [66019, 101.2, 397469, 2904, 3048, 117388, 1955],
        [67857, 104.6, 419180, 2822, 2857, 118734, 1956],
        [68169, 108.4, 442769, 2936, 2798, 120445, 1957],
        [66513, 110.8, 444546, 4681, 2637, 121950, 1958],
        [68655, 112.6, 482704, 3813, 2552, 123366, 1959],
        [69564, 114.2, 502601, 3931, 2514, 125368, 1960],
        [69331, 115.7, 518173, 4806, 2572, 127852, 1961],
        [70551, 116.9, 554894, 4007, 2827, 130081, 1962],
    ]
)
LONGLEY_COEF = [-3482258.63459582, 15.0618722713733, -0.0358191792925910, -2.02022980381683,
                -1.03322686717359, -0.0511041056535807, 1829.15146461355]  # fmt: skip
LONGLEY_ERRORS = [890420.383607373, 84.9149257747669, 0.0334910077722432, 0.488399681651699,
                  0.214274163161675, 0.226073200069370, 455.478499142212]  # fmt: skip


@pytest.mark.parametrize("with_ones", [False, True])
def test_longley_as_certified(with_ones):
    X, y = LONGLEY[:, 1:], LONGLEY[:, 0]
    if with_ones:
        X = np.column_stack([np.ones(16), X])
    model = LinearRegression(fit_intercept=not with_ones).fit(X, y)
    coef = model.coef_ if with_ones else np.r_[model.intercept_, model.coef_]
    # Centred, the condition number is about 100, whose square may cost four digits; with ones it is refined.
    np.testing.assert_allclose(coef, LONGLEY_COEF, rtol=1e-14 if with_ones else 1e-11)
    np.testing.assert_allclose(model.standard_errors_, LONGLEY_ERRORS, rtol=1e-11)
    assert np.sqrt(model.residual_variance_) == pytest.approx(304.854073561965, rel=1e-11)
    if not with_ones:
        assert model.r2_ == pytest.approx(0.995479004577296, rel=1e-12)


def test_diabetes_as_published():
    """Efron, Hastie, Johnstone and Tibshirani (2004), and any program's summary of these data since."""
    data = load_diabetes()
    model = LinearRegression().fit(data.data, data.target)
    assert model.r2_ == pytest.approx(0.5177, abs=5e-5)
    assert model.adjusted_r2_ == pytest.approx(0.5066, abs=5e-5)
    assert np.sqrt(model.residual_variance_) == pytest.approx(54.15, abs=5e-3)
    assert "54.15 on 431 degrees of freedom" in str(model.summary())
    np.testing.assert_allclose(
        np.r_[model.intercept_, model.coef_],
        [152.133, -10.01, -239.82, 519.84, 324.39, -792.18, 476.74, 101.04, 177.06, 751.27, 67.63],
        atol=0.01,
    )
    np.testing.assert_allclose(
        model.standard_errors_,
        [2.576, 59.749, 61.222, 66.533, 65.422, 416.68, 339.03, 212.53, 161.48, 171.90, 65.984],
        rtol=1e-4,
    )


# Edges


def test_one_row():
    model = LinearRegression().fit([[3.0, 4.0]], [5.0])
    np.testing.assert_array_equal(model.coef_, [0, 0])
    assert model.intercept_ == 5
    assert model.rank_ == 0
    assert np.isnan(model.standard_errors_).all()


def test_one_row_through_the_origin():
    """The shortest b with 3b₀ + 4b₁ = 5."""
    model = LinearRegression(fit_intercept=False).fit([[3.0, 4.0]], [5.0])
    np.testing.assert_allclose(model.coef_, [0.6, 0.8], rtol=1e-14)


def test_all_features_constant():
    model = LinearRegression().fit(np.full((5, 2), 0.1), [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(model.coef_, [0, 0])
    assert model.intercept_ == pytest.approx(3)
    assert model.r2_ == pytest.approx(0)
    assert model.singular_.tolist() == [0, 0]
    np.testing.assert_allclose(model.standard_errors_, [np.sqrt(2.5 / 5), np.nan, np.nan])


def test_constant_target():
    model = LinearRegression().fit([[1], [2], [4]], [0.1, 0.1, 0.1])
    assert model.coef_.tolist() == [0]
    assert model.intercept_ == 0.1
    assert model.r2_ == 1


def test_as_many_rows_as_coefficients_leave_no_errors(rng):
    X, y = rng.normal(size=(4, 3)), rng.normal(size=4)
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
    for what in ("standard_errors_", "t_values_", "p_values_", "residual_variance_", "adjusted_r2_"):
        assert np.isnan(getattr(model, what)).all(), what
    assert model.r2_ == pytest.approx(1)


def test_more_features_than_rows_interpolate_with_the_shortest_coefficients(rng):
    X, y = rng.normal(size=(8, 30)) * 10 ** rng.uniform(0, 6, size=30), rng.normal(size=8)
    model = LinearRegression().fit(X, y)
    expected = np.linalg.pinv(X - X.mean(axis=0), rcond=1e-12) @ (y - y.mean())
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-7, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
    assert model.rank_ == 7


@pytest.mark.parametrize("unit", [1e-160, 1e-30, 1e-10, 1e-5, 1.0, 1e5, 1e10, 1e30, 1e160])
def test_dependent_columns_in_other_units_than_the_rest(unit, rng):
    """Rounding in long columns must not spill into short ones, nor the reverse."""
    Z, y = rng.normal(size=(9, 2)), rng.normal(size=9)
    apart = LinearRegression().fit(Z, y)
    model = LinearRegression().fit(np.column_stack([unit * Z[:, 0], Z[:, 1], unit * Z[:, 0]]), y)
    expected = apart.coef_[[0, 1, 0]] / [2 * unit, 1, 2 * unit]
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8)
    np.testing.assert_allclose(model.standard_errors_[2], apart.standard_errors_[2], rtol=1e-9)
    assert np.isnan(model.standard_errors_[[1, 3]]).all()
    assert model.rank_ == 2


def test_dependent_columns_that_are_centred_leave_the_intercept_its_error(rng):
    """The means are rounding of zero: they point nowhere, least of all where nothing is known."""
    Z = rng.normal(size=(30, 2))
    X = np.column_stack([Z, Z.sum(axis=1)])
    X -= X.mean(axis=0)
    model = LinearRegression().fit(X, rng.normal(size=30))
    assert model.rank_ == 2
    assert model.standard_errors_[0] == pytest.approx(np.sqrt(model.residual_variance_ / 30), rel=1e-12)
    assert np.isfinite(model.predict_interval(X.mean(axis=0, keepdims=True))).all()


def test_intervals_are_infinite_only_where_nothing_is_known(rng):
    x = rng.normal(size=20)
    model = LinearRegression().fit(np.column_stack([x, 2 * x]), x + rng.normal(size=20))
    along, across = model.predict_interval([[1.0, 2.0], [1.0, 3.0]])
    assert np.isfinite(along).all()
    np.testing.assert_array_equal(across, [-np.inf, np.inf])


def test_extreme_units(rng):
    Z, e = rng.normal(size=(20, 2)), rng.normal(size=20)
    expected = LinearRegression().fit(Z, Z.sum(axis=1) + e)
    model = LinearRegression().fit(Z * [1e-200, 1e200], 1e50 * (Z.sum(axis=1) + e))
    np.testing.assert_allclose(model.coef_ / [1e200, 1e-200], 1e50 * expected.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.t_values_, expected.t_values_, rtol=1e-9)
    np.testing.assert_allclose(model.leverage_, expected.leverage_, rtol=1e-9)


def test_singular_values_are_those_of_the_centred_matrix(table):
    X, y = table
    X = np.column_stack([X, np.ones(50), X[:, 0]])
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(LinearRegression().fit(X, y).singular_, values, rtol=1e-9, atol=1e-9)


def test_a_fit_remembers_how_it_was_made_when_parameters_change_afterwards(table):
    X, y = table
    model = LinearRegression().fit(X, y)
    before = model.standard_errors_
    model.set_params(fit_intercept=False, decomposed=True)
    np.testing.assert_array_equal(model.standard_errors_, before)


def test_a_pickled_model_keeps_its_inference_but_not_the_data(table):
    X, y = table
    model = LinearRegression().fit(X, y)
    back = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(back.standard_errors_, model.standard_errors_)
    np.testing.assert_array_equal(back.leverage(X), model.leverage_)
    with pytest.raises(AttributeError, match=r"call leverage\(X\)"):
        _ = back.leverage_


def test_x_is_not_changed_without_a_copy(table):
    X, y = table
    before = X.copy()
    LinearRegression(copy_X=False).fit(X, y)
    np.testing.assert_array_equal(X, before)
