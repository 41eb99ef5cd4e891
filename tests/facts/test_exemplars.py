"""Scatter and exemplars on the examples of Background 7.2, 8.2 and Example 8.3."""

import numpy as np
import pytest

from bisector.distances import Cosine, Elliptical, Euclidean, Manhattan, Minkowski
from bisector.distances.axioms import check_axioms
from bisector.distances.unit_balls import unit_ball
from bisector.exemplars import coordinate_median, mean, scatter, scatter_decomposition, scatter_matrix

BACKGROUND = np.array([[5, 0], [3, 5], [1, 7]])
EXAMPLE_8_3 = np.array([[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]])


def test_background_7_2():
    np.testing.assert_array_equal(mean(BACKGROUND), [3, 4])
    np.testing.assert_allclose(scatter_matrix(BACKGROUND), [[8, -14], [-14, 26]], rtol=1e-14)
    np.testing.assert_allclose(
        scatter_matrix(BACKGROUND) / 3, [[8 / 3, -14 / 3], [-14 / 3, 26 / 3]], rtol=1e-14
    )


def test_example_8_3_total():
    np.testing.assert_allclose(scatter_matrix(EXAMPLE_8_3), [[38, 25], [25, 38]], rtol=1e-14)
    assert scatter(EXAMPLE_8_3) == pytest.approx(76, rel=1e-14)


@pytest.mark.parametrize(
    ("sizes", "within", "between", "matrices"),
    [
        ((2, 3), (4.5, 34), 37.5, ([[4.5, 0], [0, 0]], [[26, 10], [10, 8]], [[7.5, 15], [15, 30]])),
        ((3, 2), (12, 4), 60, ([[6, -3], [-3, 6]], [[2, -2], [-2, 2]], [[30, 30], [30, 30]])),
    ],
)
def test_example_8_3_clusters(sizes, within, between, matrices):
    labels = np.repeat([0, 1], sizes)
    parts = scatter_decomposition(EXAMPLE_8_3, labels)
    np.testing.assert_allclose(parts.within, within, rtol=1e-14)
    assert parts.between == pytest.approx(between, rel=1e-14)
    assert parts.total == pytest.approx(76, rel=1e-14)
    np.testing.assert_array_equal(parts.sizes, sizes)
    for label, matrix in zip((0, 1), matrices, strict=False):
        np.testing.assert_allclose(scatter_matrix(EXAMPLE_8_3[labels == label]), matrix, atol=1e-14)
    # B is the scatter matrix of the rows moved to the means of their clusters.
    np.testing.assert_allclose(scatter_matrix(parts.means[labels]), matrices[2], atol=1e-13)


def test_theorem_8_1_the_mean_minimises_the_sum_of_squares():
    """Σ‖x − y‖² = Σ‖x − μ‖² + n‖y − μ‖², so no other point is as good."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    for y in rng.normal(size=(50, 3)):
        expected = scatter(X) + 20 * ((y - mean(X)) ** 2).sum()
        assert ((X - y) ** 2).sum() == pytest.approx(expected, rel=1e-13)


def test_the_manhattan_centroid_is_the_coordinate_wise_median():
    X = np.random.default_rng(1).normal(size=(21, 2))
    at_median = Manhattan().pairwise(coordinate_median(X)[None], X).sum()
    around = coordinate_median(X) + np.random.default_rng(2).normal(size=(500, 2))
    assert (Manhattan().pairwise(around, X).sum(axis=1) >= at_median).all()


def test_example_8_1():
    """xᵀMx = 1/4 is (5/8)x² + (5/8)y² − (3/4)xy = 1/4, an ellipse along the ascending diagonal."""
    R = np.array([[1, 1], [-1, 1]]) / np.sqrt(2)
    S = np.diag([1 / 2, 1])
    M = R.T @ S @ S @ R
    np.testing.assert_allclose(M, [[5 / 8, -3 / 8], [-3 / 8, 5 / 8]], rtol=1e-15)
    x, y = unit_ball(Elliptical(M), radius=1 / 2).T
    np.testing.assert_allclose(5 / 8 * x**2 + 5 / 8 * y**2 - 3 / 4 * x * y, 1 / 4, rtol=1e-14)
    np.testing.assert_allclose(Elliptical(M, squared=True).pairwise([[0, 0]], np.c_[x, y]), 1 / 4, rtol=1e-14)
    # After the map SR it is the circle of radius 1/2; the longer axis is twice the shorter one.
    np.testing.assert_allclose(np.linalg.norm(np.c_[x, y] @ (S @ R).T, axis=1), 1 / 2, rtol=1e-14)
    lengths = np.hypot(x, y)
    assert lengths.max() == pytest.approx(1, rel=1e-14)
    assert lengths.min() == pytest.approx(1 / 2, rel=1e-14)
    assert x[np.argmax(lengths)] == pytest.approx(y[np.argmax(lengths)], rel=1e-14)


def test_figure_8_3_reach_grows_with_p_and_agrees_on_the_axes():
    balls = [unit_ball(Minkowski(p), n_points=8) for p in (0.8, 1, 1.5, 2, 4, 8, np.inf)]
    for ball in balls:
        np.testing.assert_allclose(ball[::2], [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0]], rtol=1e-14)
    diagonal = [np.hypot(*ball[1]) for ball in balls]
    assert (np.diff(diagonal) > 0).all()
    assert diagonal[3] == pytest.approx(1, rel=1e-15)


def test_figure_8_4_a_detour_is_shorter_below_p_one():
    """From O to C by A: B is as far from A as C is, and on the same axis as A."""
    triangle = [[0, 0], [1, 0], [1, 1]]
    for p in (1, 1.5, 2, 4):
        assert check_axioms(Minkowski(p), triangle)
    check = check_axioms(Minkowski(0.8), triangle)
    assert check.triangle.rows == (0, 1, 2)
    assert check.law == "none"


def test_one_minus_cos_is_no_metric_but_the_angle_is():
    directions = [[1, 0], [1, 1], [0, 1]]
    assert check_axioms(Cosine(), directions).law == "none"
    assert check_axioms(Cosine(angle=True), directions).law == "metric"
    assert check_axioms(Cosine(angle=True), [*directions, [0, 2]]).law == "pseudo-metric"


def test_a_singular_matrix_gives_a_pseudo_metric():
    check = check_axioms(Elliptical([[1, 0], [0, 0]]), [[0, 0], [0, 1], [1, 0]])
    assert check.law == "pseudo-metric"
    assert check.positivity.rows == (0, 1)
    assert check_axioms(Euclidean(), [[0, 0], [0, 1], [1, 0]]).law == "metric"
