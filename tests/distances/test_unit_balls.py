"""Unit balls: the points of the plane at one distance from a point."""

import numpy as np
import pytest

from bisector.distances import (
    Chebyshev,
    Cosine,
    Elliptical,
    Euclidean,
    Hamming,
    Haversine,
    Mahalanobis,
    Manhattan,
    Minkowski,
)
from bisector.distances.boards import King
from bisector.distances.unit_balls import unit_ball

NORMS = [
    Euclidean(),
    Manhattan(),
    Chebyshev(),
    Minkowski(0.8),
    Minkowski(8),
    Euclidean(weights=[1, 4]),
    Elliptical([[5 / 8, -3 / 8], [-3 / 8, 5 / 8]]),
    Mahalanobis([[2, 1], [1, 3]]),
]


def logarithmic(x, y):
    return np.log1p(abs(x[0] - y[0]) + abs(x[1] - y[1]))


CURVED = [Euclidean(squared=True), Haversine(), logarithmic]


def test_corners():
    root = np.sqrt(0.5)
    np.testing.assert_allclose(unit_ball(Euclidean(), 8)[:3], [[1, 0], [root, root], [0, 1]], rtol=1e-15)
    np.testing.assert_allclose(unit_ball(Manhattan(), 8)[:3], [[1, 0], [0.5, 0.5], [0, 1]], rtol=1e-15)
    np.testing.assert_allclose(unit_ball(Chebyshev(), 8)[:3], [[1, 0], [1, 1], [0, 1]], rtol=1e-15)


@pytest.mark.parametrize("distance", [*NORMS, *CURVED], ids=lambda d: getattr(d, "__name__", None) or repr(d))
@pytest.mark.parametrize(("radius", "center"), [(1.0, (0.0, 0.0)), (0.3, (0.2, -0.4))])
def test_all_points_are_at_the_distance(distance, radius, center):
    from bisector.distances.names import resolve

    ball = unit_ball(distance, n_points=90, radius=radius, center=center)
    assert ball.shape == (91, 2)
    np.testing.assert_array_equal(ball[0], ball[-1])
    # The globe's arcs, near which the sine is flat, are exact to 1e-9 only; the others to rounding.
    np.testing.assert_allclose(resolve(distance).pairwise([center], ball)[0], radius, rtol=1e-9)


def test_points_lie_in_the_directions_asked_for():
    ball = unit_ball(Minkowski(3), n_points=12) - 0.0
    angles = np.degrees(np.arctan2(ball[:-1, 1], ball[:-1, 0])) % 360
    np.testing.assert_allclose(angles, np.arange(0, 360, 30), atol=1e-12)


def test_the_ball_of_a_norm_is_symmetric():
    for distance in NORMS:
        ball = unit_ball(distance, n_points=36)[:-1]
        np.testing.assert_allclose(ball[18:], -ball[:18], rtol=1e-13, atol=1e-15)


def test_names_and_functions():
    np.testing.assert_array_equal(unit_ball("manhattan", 4), unit_ball(Manhattan(), 4))
    np.testing.assert_allclose(
        unit_ball(lambda x, y: abs(x[0] - y[0]) + abs(x[1] - y[1]), 4), unit_ball(Manhattan(), 4), rtol=1e-15
    )


@pytest.mark.parametrize(
    ("distance", "match"),
    [
        (Hamming(), "is at once at least 1"),
        (Hamming(normalised=False), "is at once at least 1"),
        (Cosine(), "is at once at least 1"),
        (Elliptical([[1, 0], [0, 0]]), r"in the direction \(0, 1\) the distance stays below 1"),
        (lambda x, y: min(0.5, abs(x[0] - y[0]) + abs(x[1] - y[1])), "stays below 1"),
        (lambda x, y: np.floor(3 * max(abs(x[0] - y[0]), abs(x[1] - y[1]))) * 0.7, "jumps over 1"),
        (Mahalanobis(), "does not know its covariance"),
        (King(), "whole numbers"),
        (Elliptical(np.eye(3)), "3 × 3"),
    ],
)
def test_distances_without_a_ball(distance, match):
    with pytest.raises(ValueError, match=match):
        unit_ball(distance)


def test_parameters_that_are_refused():
    with pytest.raises(ValueError, match="radius must be a number above 0"):
        unit_ball(Euclidean(), radius=0)
    with pytest.raises(ValueError, match="n_points must be a whole number"):
        unit_ball(Euclidean(), n_points=2)
    with pytest.raises(ValueError, match="center must be a point of the plane"):
        unit_ball(Euclidean(), center=(0, 0, 0))
    with pytest.raises(ValueError, match="center must be a point of the plane"):
        unit_ball(Euclidean(), center=(np.nan, 0))
