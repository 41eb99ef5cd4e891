"""Centroids: the mean and the medians."""

import numpy as np
import pytest
from hypothesis import given
from scipy.optimize import minimize
from tests.exemplars.tables import tables, weighted_tables

from bisector.exemplars import (
    certified_geometric_median,
    coordinate_median,
    geometric_median,
    mean,
)


def total(X, point, weights=None, p=2, power=1):
    lengths = np.linalg.norm(np.asarray(X, dtype=float) - point, ord=p, axis=1) ** power
    return lengths.sum() if weights is None else lengths @ weights


# By hand


def test_medians_on_a_line():
    X = [[1.0], [2.0], [4.0], [9.0]]
    for median in (coordinate_median, geometric_median):
        np.testing.assert_array_equal(median(X), [3.0])
        np.testing.assert_array_equal(median(X[:3]), [2.0])
        np.testing.assert_array_equal(median(X, sample_weight=[1, 1, 3, 0]), [4.0])


@pytest.mark.parametrize("share", [0.1, 1 / 3, 1e-300, 1e99])
def test_exactly_half_of_the_weight_is_seen_despite_rounding(share):
    weights = np.full(10, share)
    assert coordinate_median(np.arange(10.0)[:, None], weights) == 4.5
    assert coordinate_median(np.arange(10.0)[:, None], np.r_[weights, 0.0][:10] * 3) == 4.5
    assert coordinate_median([[0], [1], [2]], [share, share, 2 * share]) == 1.5


def test_geometric_median_of_two_rows_is_their_middle():
    np.testing.assert_array_equal(geometric_median([[0, 0], [2, 4]]), [1, 2])
    np.testing.assert_array_equal(geometric_median([[0, 0], [2, 4]], [1, 1.001]), [2, 4])


def test_geometric_median_of_a_triangle_sees_all_sides_under_120_degrees():
    point = geometric_median([[0, 0], [4, 0], [1, 3]])
    units = np.array([[0, 0], [4, 0], [1, 3]]) - point
    units /= np.linalg.norm(units, axis=1)[:, None]
    np.testing.assert_allclose(
        units @ units.T, [[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]], atol=1e-9
    )


@pytest.mark.parametrize("angle", [120, 120.000001, 150, 180])
def test_geometric_median_is_the_row_where_a_triangle_is_blunt(angle):
    turn = np.radians(angle)
    X = np.array([[0, 0], [1, 0], [3 * np.cos(turn), 3 * np.sin(turn)]])
    # At 120° the angle is rounded, so the row is the answer up to rounding only.
    np.testing.assert_allclose(geometric_median(X), [0, 0], atol=1e-12 if angle == 120 else 0)


def test_geometric_median_on_a_row_is_that_row_exactly():
    square = [[0.1, 0.1], [0.1, 0.5], [0.5, 0.1], [0.5, 0.5], [0.3, 0.3]]
    np.testing.assert_array_equal(geometric_median(square), square[4])
    np.testing.assert_array_equal(geometric_median(square, [5, 1, 1, 1, 1]), square[0])


# Certificates


@given(tables())
def test_mean_has_the_least_sum_of_squares(X):
    point = mean(X)
    rng = np.random.default_rng(0)
    size = np.abs(X - point).max() + 1e-9
    for other in [*X[:5], *(point + size * rng.normal(size=(5, X.shape[1])))]:
        # 1e-9: Σ‖x−y‖² is flat at its minimum, and rounded by about n·d·eps of itself.
        assert total(X, point, power=2) <= total(X, other, power=2) * (1 + 1e-9)


@given(tables())
def test_coordinate_median_has_the_least_manhattan_total(X):
    point = coordinate_median(X)
    rng = np.random.default_rng(0)
    for other in [*X, *(point + 0.1 * rng.normal(size=(5, X.shape[1])))]:
        assert total(X, point, p=1) <= total(X, other, p=1) * (1 + 1e-12)
    np.testing.assert_array_equal(point, np.median(X, axis=0))


@given(weighted_tables())
def test_geometric_median_is_certified(problem):
    X, weights = problem
    found = certified_geometric_median(X, weights)
    assert found.converged
    assert 0 <= found.gap <= 1e-12 * found.total
    # 1e-9: at offset 1e6 the total itself is rounded by 1e-10 of the distances.
    assert found.total == pytest.approx(total(X, found.point, weights), rel=1e-9, abs=1e-9)
    rng = np.random.default_rng(0)
    size = np.abs(X - found.point).max()
    nearby = found.point + size * 10.0 ** rng.uniform(-6, 0, (20, 1)) * rng.normal(size=(20, X.shape[1]))
    for other in [*X, *nearby]:
        assert found.total - found.gap <= total(X, other, weights) * (1 + 1e-12) + 1e-9


def test_geometric_median_meets_the_dual_bound_by_its_definition():
    """The gap recomputed from scratch: unit vectors from the point, moved and shortened until they sum to zero."""
    X = np.random.default_rng(3).normal(size=(30, 3))
    found = certified_geometric_median(X)
    v = X - found.point
    v /= np.linalg.norm(v, axis=1)[:, None]
    v -= v.mean(axis=0)
    v /= np.linalg.norm(v, axis=1).max()
    assert np.linalg.norm(v.sum(axis=0)) < 1e-13
    # Both sums are rounded by about eps, and the unit vectors by the error of the point.
    assert found.total - (v * X).sum() < 1e-10


def test_geometric_median_says_when_rounding_stops_it():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.warns(RuntimeWarning, match="may exceed the least one"):
        geometric_median(X, tol=1e-18)


@pytest.mark.parametrize(("n", "d"), [(400, 300), (50, 400)])
def test_geometric_median_in_many_dimensions(n, d):
    found = certified_geometric_median(np.random.default_rng(1).normal(size=(n, d)) * np.arange(1, d + 1))
    assert found.converged


# Oracle and edges


def test_geometric_median_agrees_with_a_general_minimiser():
    X = np.random.default_rng(5).exponential(size=(40, 3))
    peer = minimize(lambda y: total(X, y), X.mean(axis=0), method="BFGS", options={"gtol": 1e-10})
    np.testing.assert_allclose(geometric_median(X), peer.x, atol=1e-7)  # what BFGS reaches


def test_large_and_small_numbers():
    X = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 7.0]])
    for scale in (1e150, 1e-150, 1e300):
        np.testing.assert_allclose(geometric_median(X * scale) / scale, geometric_median(X), rtol=1e-12)
        np.testing.assert_allclose(mean(X * scale) / scale, mean(X), rtol=1e-15)
