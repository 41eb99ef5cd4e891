"""Facts about distances between rows of numbers (Flach, 8.1; LFD 6.2)."""

import math
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bisector.distances import (
    Chebyshev,
    Cosine,
    Elliptical,
    Euclidean,
    Hamming,
    Mahalanobis,
    Manhattan,
    Minkowski,
)
from bisector.distances.reductions import nearest

ORDERS = [0.5, 0.8, 1, 1.5, 2, 3, 4, 8, math.inf]
R = np.array([[1, 1], [-1, 1]]) / math.sqrt(2)  # clockwise by 45°
S = np.diag([0.5, 1.0])
M = np.array([[5 / 8, -3 / 8], [-3 / 8, 5 / 8]])


# Definition 8.1, Figures 8.3 and 8.4


def test_the_three_minkowski_distances_that_have_names():
    x, y = [1.0, -2.0, 3.0], [4.0, 2.0, 3.0]
    assert Minkowski(1)(x, y) == Manhattan()(x, y) == 7.0
    assert Minkowski(2)(x, y) == Euclidean()(x, y) == 5.0
    assert Minkowski(math.inf)(x, y) == Chebyshev()(x, y) == 4.0


def test_on_the_axes_all_orders_agree_and_elsewhere_the_reach_grows_with_p():
    for p in ORDERS:
        assert Minkowski(p)([0, 0], [0, -2.5]) == pytest.approx(2.5, rel=1e-14)
    diagonal = [Minkowski(p)([0, 0], [1, 1]) for p in ORDERS]
    assert_allclose(diagonal, [2 ** (1 / p) for p in ORDERS], rtol=1e-14)
    assert diagonal == sorted(diagonal, reverse=True)


def test_the_largest_difference_is_the_limit():
    x, y = [0.0, 1.0, 2.0], [4.5, -4.0, 6.0]
    errors = [Minkowski(p)(x, y) - 5.0 for p in (2, 4, 8, 16, 32, 64)]
    assert all(later < earlier for earlier, later in pairwise(errors))
    assert 0 < errors[-1] < 1e-3
    assert Minkowski(math.inf)(x, y) == 5.0


def test_orders_below_one_break_the_triangle_inequality():
    """Figure 8.4: from O to C it is shorter by way of A."""
    origin, A, C = [0.0, 0.0], [0.0, 1.0], [1.0, 1.0]
    for p in ORDERS:
        direct, detour = Minkowski(p)(origin, C), Minkowski(p)(origin, A) + Minkowski(p)(A, C)
        assert detour == pytest.approx(2.0, rel=1e-14)
        assert (direct > detour + 0.1) == (p < 1)
        assert Minkowski(p).law == ("none" if p < 1 else "metric")


def test_only_order_two_is_rotation_invariant_and_none_is_scale_invariant():
    x = np.array([3.0, 1.0])
    for p in ORDERS:
        distance = Minkowski(p)
        turned = math.isclose(distance([0, 0], R @ x), distance([0, 0], x), rel_tol=1e-12)
        assert turned == distance.rotation_invariant == (p == 2)
        assert distance.translation_invariant
        assert distance(x + 7, [7, 7]) == pytest.approx(distance(x, [0, 0]), rel=1e-14)
        assert not distance.scale_invariant
        assert distance([0, 0], [3, 10]) != pytest.approx(distance([0, 0], x), rel=1e-3)


# L0


def test_hamming_counts_what_differs_and_not_what_is_equal():
    x, y = [1, 2, 3, 4, 5], [1, 0, 3, 0, 0]
    assert Hamming(normalised=False)(x, y) == 3.0
    assert Hamming()(x, y) == 3 / 5  # the share, as SciPy and scikit-learn have it


def test_euclidean_distance_of_booleans_is_the_root_of_the_count():
    X = np.random.default_rng(0).random((12, 9)) < 0.5
    assert_allclose(Euclidean().pairwise(X) ** 2, Hamming(normalised=False).pairwise(X), rtol=1e-14)
    assert_array_equal(Manhattan().pairwise(X), Hamming(normalised=False).pairwise(X))


# Example 8.1


def test_example_8_1_is_a_rotation_and_a_scaling():
    assert_allclose(R.T @ S @ S @ R, M, rtol=1e-15)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))
    assert_allclose(Elliptical(M).pairwise(X), Euclidean().pairwise(X @ (S @ R).T), rtol=1e-13)


def test_example_8_1_ellipse():
    """Points at distance 1/2 from the origin: (5/8)x² + (5/8)y² − (3/4)xy = 1/4 (the source prints 1/2)."""
    turn = np.linspace(0, 2 * math.pi, 13)
    circle = 0.5 * np.column_stack([np.cos(turn), np.sin(turn)])
    x, y = np.linalg.solve(S @ R, circle.T)
    assert_allclose(5 / 8 * x**2 + 5 / 8 * y**2 - 3 / 4 * x * y, 0.25, rtol=1e-13)
    distances = Elliptical(M).pairwise(np.column_stack([x, y]), [[0.0, 0.0]])[:, 0]
    assert_allclose(distances, 0.5, rtol=1e-13)
    # The ellipse rises: it reaches twice as far along x = y as across.
    assert Elliptical(M)([0, 0], [1, 1]) == pytest.approx(math.sqrt(0.5), rel=1e-14)
    assert Elliptical(M)([0, 0], [1, -1]) == pytest.approx(math.sqrt(2), rel=1e-14)


# Equation 8.1


def test_mahalanobis_with_the_identity_is_euclidean():
    X = np.random.default_rng(0).normal(size=(9, 4))
    assert_allclose(Mahalanobis(np.eye(4)).pairwise(X), Euclidean().pairwise(X), rtol=1e-13)


def test_mahalanobis_of_data_decorrelates_and_normalises():
    X = np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0], [2.0, 2.0]])
    learned = Mahalanobis().learned(X)
    assert_allclose(learned.cov, np.cov(X.T, bias=True), rtol=1e-14)
    values, vectors = np.linalg.eigh(learned.cov)
    whitened = X @ vectors / np.sqrt(values)
    assert_allclose(Mahalanobis().pairwise(X), Euclidean().pairwise(whitened), rtol=1e-12)


def test_neighbours_under_a_quadratic_form_are_euclidean_after_its_root():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(3, 3))
    Q = A @ A.T + np.eye(3)
    X, queries = rng.normal(size=(40, 3)), rng.normal(size=(15, 3))
    values, vectors = np.linalg.eigh(Q)
    root = vectors * np.sqrt(values) @ vectors.T

    def neighbours(distance, rows, wanted):
        known = distance.prepare(rows)
        return nearest(distance, distance.prepare(wanted, like=known), known, 7)

    form = Elliptical((Q + Q.T) / 2, squared=True)
    found, numbers = neighbours(form, X, queries)
    lengths, expected = neighbours(Euclidean(), X @ root, queries @ root)
    assert_array_equal(numbers, expected)
    assert_allclose(found, lengths**2, rtol=1e-12)


# What is a metric and what is not


def test_one_minus_cosine_is_no_metric_but_the_angle_is():
    """Turning by 45° twice costs less than turning by 90° at once."""
    east, north_east, north = [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]
    assert Cosine()(east, north) > Cosine()(east, north_east) + Cosine()(north_east, north) + 0.4
    angle = Cosine(angle=True)
    assert angle(east, north) == pytest.approx(angle(east, north_east) + angle(north_east, north), rel=1e-14)
    assert (Cosine().law, angle.law) == ("none", "pseudo-metric")
    assert angle(east, [5.0, 0.0]) == 0.0


def test_a_singular_matrix_gives_a_pseudo_metric():
    distance = Elliptical([[1.0, -1.0], [-1.0, 1.0]])
    assert distance.law == "pseudo-metric"
    assert distance([0, 0], [3, 3]) == pytest.approx(0, abs=1e-15)
    assert distance([0, 0], [1, 0]) == pytest.approx(1, rel=1e-15)


def test_squares_are_no_metric():
    assert Euclidean(squared=True).law == "none"
    assert Euclidean(squared=True)([0], [2]) > 2 * Euclidean(squared=True)([0], [1])
