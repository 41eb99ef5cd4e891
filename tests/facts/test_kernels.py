"""Kernels and bumps as the sources give them: Flach 7.5 and 8.6, LFD 6.3 and 6.4."""

import math

import numpy as np
import pytest

from bisector.distances import Euclidean
from bisector.kernels import (
    Gaussian,
    GaussianBump,
    KernelDistance,
    Linear,
    Normalised,
    Polynomial,
    WindowBump,
)

X = np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0]])
ROOT = math.sqrt(2)


def test_background_7_2_gram_matrix():
    np.testing.assert_array_equal(Linear().gram(X), [[25, 15, 5], [15, 34, 38], [5, 38, 50]])


def test_the_quadratic_kernel_has_three_features():
    x, z = np.array([1.5, -2.0]), np.array([0.5, 3.0])
    kernel = Polynomial(2)
    features = kernel.feature_map([x, z])
    np.testing.assert_allclose(features[0], [x[0] ** 2, x[1] ** 2, ROOT * x[0] * x[1]], rtol=1e-15)
    assert features[0] @ features[1] == pytest.approx((x @ z) ** 2, rel=1e-14)
    assert kernel(x, z) == (x @ z) ** 2


def test_the_quadratic_kernel_with_a_bias_has_six_features():
    x, z = np.array([1.5, -2.0]), np.array([0.5, 3.0])
    kernel = Polynomial(2, bias=1.0)
    features = kernel.feature_map([x, z])
    expected = [x[0] ** 2, x[1] ** 2, ROOT * x[0] * x[1], ROOT * x[0], ROOT * x[1], 1.0]
    np.testing.assert_allclose(features[0], expected, rtol=1e-15)
    assert features[0] @ features[1] == pytest.approx((x @ z + 1) ** 2, rel=1e-14)
    assert kernel(x, z) == (x @ z + 1) ** 2


def test_squares_alone_lack_the_cross_product():
    x, z = X[0] + 1, X[1]
    assert Linear()(x**2, z**2) + 2 * np.prod(x * z) == Polynomial(2)(x, z)


def test_equation_7_14():
    for sigma in (0.5, 1.0, 3.0):
        expected = math.exp(-29 / (2 * sigma**2))  # ‖(5,0) − (3,5)‖² = 29
        assert Gaussian(sigma)(X[0], X[1]) == pytest.approx(expected, rel=1e-14)


def test_the_gaussian_places_all_rows_on_a_sphere():
    np.testing.assert_array_equal(Gaussian().diag(X), 1.0)


def test_equation_8_5_with_the_linear_kernel_is_euclidean():
    np.testing.assert_allclose(KernelDistance(Linear()).pairwise(X), Euclidean().pairwise(X), rtol=1e-15)


def test_equation_8_5_with_another_kernel():
    kernel = Polynomial(2, bias=1.0)
    expected = math.sqrt(26**2 - 2 * 16**2 + 35**2)
    assert KernelDistance(kernel)(X[0], X[1]) == pytest.approx(expected, rel=1e-15)


def test_a_kernel_distance_is_zero_where_the_feature_map_is_not_injective():
    """The footnote of 8.6: x and −x have the same squares and products, so it is a pseudo-metric only."""
    distance = KernelDistance(Polynomial(2))
    assert distance(X[1], -X[1]) == 0.0
    assert distance.law == "pseudo-metric"
    assert KernelDistance(Polynomial(2, bias=1.0))(X[1], -X[1]) > 0


def test_equation_8_6():
    expected = 15 / math.sqrt(25 * 34)
    assert Normalised(Linear())(X[0], X[1]) == pytest.approx(expected, rel=1e-15)
    assert Normalised(Linear())(7 * X[0], 0.1 * X[1]) == pytest.approx(expected, rel=1e-14)


def test_bumps_of_6_3():
    np.testing.assert_allclose(GaussianBump()([0, 1, 2]), np.exp([0, -0.5, -2]), rtol=1e-15)
    np.testing.assert_array_equal(WindowBump()([0, 1, 1.0000001]), [1, 1, 0])


@pytest.mark.parametrize("d", [1, 2, 3, 7])
def test_constants_of_6_3(d):
    assert GaussianBump().constant(d) == pytest.approx((2 * math.pi) ** (-d / 2), rel=1e-14)
    assert WindowBump().constant(d) == pytest.approx(math.pi ** (-d / 2) * math.gamma(d / 2 + 1), rel=1e-14)
