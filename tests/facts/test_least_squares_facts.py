"""Section 7.1: what the book says of least squares, each statement on data small enough to follow."""

import numpy as np
import pytest

from bisector import LinearRegression

# Heights and weights of five people, made up; means 170 and 70.
HEIGHT = np.array([150.0, 160.0, 170.0, 180.0, 190.0])
WEIGHT = np.array([52.0, 60.0, 75.0, 76.0, 87.0])


def line(x, y):
    return LinearRegression().fit(np.reshape(x, (-1, 1)), y)


def covariance(x, y):
    return np.mean((x - x.mean()) * (y - y.mean()))


# Univariate regression


def test_slope_is_covariance_over_variance_and_intercept_follows():
    model = line(HEIGHT, WEIGHT)
    slope = covariance(HEIGHT, WEIGHT) / covariance(HEIGHT, HEIGHT)
    assert slope == pytest.approx(0.86)  # (20·18 + 10·10 + 10·6 + 20·17) / 1000
    assert model.coef_[0] == pytest.approx(slope, rel=1e-13)
    assert model.intercept_ == pytest.approx(70 - 0.86 * 170, rel=1e-13)


def test_the_line_passes_through_the_means():
    assert line(HEIGHT, WEIGHT).predict([[170.0]])[0] == pytest.approx(70, rel=1e-14)


def test_residuals_sum_to_zero():
    residuals = WEIGHT - line(HEIGHT, WEIGHT).predict(HEIGHT[:, None])
    assert residuals.sum() == pytest.approx(0, abs=1e-12)
    assert np.abs(residuals).max() > 1


def test_one_outlier_moves_the_line():
    """Least squares is sensitive to outliers: one point moved up by 50 at the right end."""
    moved = WEIGHT + [0, 0, 0, 0, 50]
    assert line(HEIGHT, moved).coef_[0] == pytest.approx(0.86 + 20 * 50 / 1000, rel=1e-13)


def test_translating_x_changes_only_the_intercept():
    before, after = line(HEIGHT, WEIGHT), line(HEIGHT - 100, WEIGHT)
    assert after.coef_[0] == pytest.approx(before.coef_[0], rel=1e-13)
    assert after.intercept_ == pytest.approx(before.intercept_ + 100 * 0.86, rel=1e-13)
    # With zero-mean x the intercept is the mean of y, whatever the slope.
    assert line(HEIGHT - 170, WEIGHT).intercept_ == pytest.approx(70, rel=1e-14)


def test_covariance_with_x_over_its_variance_is_the_slope_for_x_as_it_was():
    variance = covariance(HEIGHT, HEIGHT)
    divided = HEIGHT / variance
    assert covariance(divided, WEIGHT) == pytest.approx(line(HEIGHT, WEIGHT).coef_[0], rel=1e-13)
    # Fitting again on the divided x gives another number: the slope times the variance.
    assert line(divided, WEIGHT).coef_[0] == pytest.approx(0.86 * variance, rel=1e-12)


# Multivariate regression


def test_normal_equations():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 0.0], [6.0, 3.0]])
    y = np.array([1.0, 0.0, 2.0, -1.0, 3.0])
    homogeneous = np.column_stack([np.ones(5), X])
    expected = np.linalg.inv(homogeneous.T @ homogeneous) @ homogeneous.T @ y
    model = LinearRegression().fit(X, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-12)
    with_ones = LinearRegression(fit_intercept=False).fit(homogeneous, y)
    np.testing.assert_allclose(with_ones.coef_, expected, rtol=1e-12)


def test_uncorrelated_features_fall_apart_into_univariate_problems():
    """Equation 7.2."""
    X = np.array([[-1.0, -2.0], [-1.0, 2.0], [1.0, -2.0], [1.0, 2.0]]) + [10.0, 20.0]
    y = np.array([1.0, 5.0, 2.0, 9.0])
    together, apart = LinearRegression().fit(X, y), LinearRegression(decomposed=True).fit(X, y)
    alone = [line(X[:, j], y).coef_[0] for j in range(2)]
    np.testing.assert_allclose(together.coef_, alone, rtol=1e-13)
    np.testing.assert_allclose(apart.coef_, alone, rtol=1e-13)
    assert apart.intercept_ == pytest.approx(together.intercept_, rel=1e-13)


def test_with_strong_negative_correlation_the_decomposed_model_is_nearly_constant():
    """y = x1 + x2, where x2 is almost −x1: each alone says nothing about their sum."""
    x1 = np.linspace(-1, 1, 41)
    X = np.column_stack([x1, -x1 + 0.05 * np.cos(20 * x1)])
    y = X.sum(axis=1)
    np.testing.assert_allclose(LinearRegression().fit(X, y).coef_, [1, 1], rtol=1e-9)
    apart = LinearRegression(decomposed=True).fit(X, y)
    assert np.abs(apart.coef_).max() < 0.01
    assert np.ptp(apart.predict(X)) < 0.01
    assert apart.r2_ < 0.1


# Regression on labels +1 and −1: the least-squares classifier

POSITIVE = np.array([[3.0, 4.0], [4.0, 2.0], [5.0, 5.0]])
NEGATIVE = np.array([[0.0, 1.0], [1.0, -1.0], [-1.0, 0.0], [0.0, 0.0], [1.0, 2.0]])
POINTS = np.vstack([POSITIVE, NEGATIVE])
LABELS = np.array([1.0] * 3 + [-1.0] * 5)


def test_weights_from_the_class_means():
    """w = (XᵀX)⁻¹(Pos·μ⊕ − Neg·μ⊖), in homogeneous coordinates."""
    homogeneous = np.column_stack([np.ones(8), POINTS])
    positive, negative = homogeneous[:3].mean(axis=0), homogeneous[3:].mean(axis=0)
    expected = np.linalg.solve(homogeneous.T @ homogeneous, 3 * positive - 5 * negative)
    model = LinearRegression().fit(POINTS, LABELS)
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-12)


def test_univariate_slope_and_boundary():
    """b = 2·pos·neg·(μ⊕ − μ⊖)/σ_xx with the classes' shares; boundary x0 = x̄ − (pos − neg)/b."""
    x = POINTS[:, 0]
    pos, neg = 3 / 8, 5 / 8
    b = 2 * pos * neg * (x[:3].mean() - x[3:].mean()) / covariance(x, x)
    model = line(x, LABELS)
    assert model.coef_[0] == pytest.approx(b, rel=1e-13)
    boundary = x.mean() - (pos - neg) / b
    assert model.predict([[boundary]])[0] == pytest.approx(0, abs=1e-13)


def whitened(points):
    """Translate and turn the points so that their scatter is n times the identity."""
    centred = points - points.mean(axis=0)
    return centred @ np.linalg.inv(np.linalg.cholesky(centred.T @ centred / len(points))).T


def test_with_unit_scatter_the_weights_point_from_mean_to_mean_for_any_class_sizes():
    points = whitened(POINTS)
    between = points[:3].mean(axis=0) - points[3:].mean(axis=0)
    weights = LinearRegression().fit(points, LABELS).coef_
    assert weights @ between == pytest.approx(np.linalg.norm(weights) * np.linalg.norm(between), rel=1e-12)


def test_with_equal_classes_the_boundary_is_the_perpendicular_bisector_of_the_means():
    points = whitened(np.vstack([POSITIVE, NEGATIVE[:3]]))
    labels = np.array([1.0] * 3 + [-1.0] * 3)
    positive, negative = points[:3].mean(axis=0), points[3:].mean(axis=0)
    model = LinearRegression().fit(points, labels)
    along = np.array([-(positive - negative)[1], (positive - negative)[0]])
    on_it = (positive + negative) / 2 + np.outer([-3.0, 0.0, 2.0], along)
    np.testing.assert_allclose(model.predict(on_it), 0, atol=1e-13)


def test_with_unequal_classes_the_threshold_is_a_choice_of_its_own():
    """The least-squares intercept no longer puts the boundary half way between the means."""
    points = whitened(POINTS)
    middle = (points[:3].mean(axis=0) + points[3:].mean(axis=0)) / 2
    assert abs(LinearRegression().fit(points, LABELS).predict(middle[None])[0]) > 0.01
