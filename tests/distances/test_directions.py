"""Angles between rows, and distances on a globe."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_distances, haversine_distances

from bisector.distances import Cosine, Haversine

EARTH = Haversine(6371.0088, degrees=True)
QUARTER = 6371.0088 * math.pi / 2


# Cosine


def test_cosine_by_hand():
    rows = [[1, 0], [0, 2], [-3, 0], [1, 1]]
    assert_allclose(Cosine().pairwise(rows)[0], [0, 1, 2, 1 - math.sqrt(0.5)], rtol=1e-15)
    assert_allclose(Cosine(angle=True).pairwise(rows)[0], [0, math.pi / 2, math.pi, math.pi / 4], rtol=1e-15)
    assert Cosine()([1, 0], [0, 2]) == 1.0
    assert Cosine(angle=True)([1, 0], [-1, 0]) == math.pi


@pytest.mark.parametrize("n_features", [2, 5, 30])
def test_cosine_equals_peers_up_to_their_rounding(n_features):
    X, Y = np.random.default_rng(0).normal(size=(2, 15, n_features))
    found = Cosine().pairwise(X, Y)
    # They subtract a cosine from one, which leaves an absolute error.
    assert_allclose(found, cdist(X, Y, "cosine"), rtol=0, atol=2e-15)
    assert_allclose(found, cosine_distances(X, Y), rtol=0, atol=2e-15)
    assert_allclose(Cosine(angle=True).pairwise(X, Y), np.arccos(1 - cdist(X, Y, "cosine")), rtol=1e-6)


def test_lengths_do_not_matter():
    X = np.random.default_rng(0).normal(size=(6, 4))
    lengths = np.array([1e-300, 1e-5, 1.0, 3.0, 1e5, 1e300])[:, None]
    assert_allclose(Cosine().pairwise(X * lengths), Cosine().pairwise(X), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_features", [3, 20])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rows_of_zeros_are_at_a_right_angle_to_all_but_each_other(make, n_features):
    X = np.zeros((4, n_features))
    X[2, 0], X[3, :2] = 2.0, [-1.0, 1.0]
    expected = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1 + math.sqrt(0.5)], [1, 1, 1 + math.sqrt(0.5), 0]]
    assert_allclose(Cosine().pairwise(make(X)), expected, rtol=1e-15)
    angles = Cosine(angle=True).pairwise(make(X))
    assert_allclose(angles[0], [0, 0, math.pi / 2, math.pi / 2], rtol=1e-15)
    assert Cosine()(X[0], X[1]) == 0.0
    assert Cosine()(X[0], X[2]) == 1.0


def test_sparse_rows_have_the_bits_of_dense_ones():
    """Their lengths too are added up in the order of the columns."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((10, 8)) < 0.6, 0.0, rng.normal(size=(10, 8)))
    dense, sparse = Cosine().prepare(X), Cosine().prepare(sp.csr_matrix(X))
    assert_array_equal(sparse.dense(range(10)), dense.values)


def test_one_row_has_the_length_it_has_among_others():
    X = np.random.default_rng(0).normal(size=(9, 11))
    together = Cosine().prepare(X).values
    assert_array_equal(together, np.vstack([Cosine().prepare(row[None, :]).values for row in X]))
    assert_array_equal(together, Cosine().prepare(np.asfortranarray(X)).values)


# Haversine


def places(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.uniform(-1, 1, n) * math.pi / 2, rng.uniform(-1, 1, n) * math.pi])


def test_haversine_equals_scikit_learn():
    X, Y = places(20), places(15, 1)
    assert_allclose(Haversine().pairwise(X, Y), haversine_distances(X, Y), rtol=1e-12)
    assert_allclose(Haversine(3.0).pairwise(X, Y), 3 * haversine_distances(X, Y), rtol=1e-12)
    assert_allclose(
        Haversine(degrees=True).pairwise(np.degrees(X), np.degrees(Y)), Haversine().pairwise(X, Y), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("one", "other", "quarters"),
    [
        ((90, 0), (-90, 0), 2),  # from pole to pole
        ((90, 10), (90, -100), 0),  # at a pole, longitudes mean nothing
        ((0, 0), (90, 77), 1),
        ((0, 0), (0, 180), 2),  # antipodes
        ((0, 180), (0, -180), 0),  # one place, two names
        ((0, 10), (0, 370), 0),
        ((0, 179), (0, -179), 2 / 90),  # across the date line
        ((30, 40), (-30, -140), 2),
        ((0, 0), (0, 0), 0),
    ],
)
def test_places_on_earth(one, other, quarters):
    # Near antipodes the arc sine is steep: half of the digits of the chord are lost.
    tolerance = 1e-7 * QUARTER if quarters == 2 else 1e-12 * QUARTER
    assert EARTH(one, other) == pytest.approx(quarters * QUARTER, abs=tolerance)
    assert EARTH.pairwise([one], [other])[0, 0] == EARTH(one, other)


def test_near_places_are_known_to_the_width_of_an_atom():
    """Rounding on the unit sphere is 1e-16: a few times 6371 km · 1e-16, whatever the distance."""
    x = np.array([[51.5, -2.6]])
    for step in (1e-3, 1e-6, 1e-9):
        y = x + np.array([[step, 0.0]])
        exact = math.radians(y[0, 0] - x[0, 0]) * 6371.0088e3
        found = Haversine(6371.0088e3, degrees=True).pairwise(x, y)[0, 0]
        assert found == pytest.approx(exact, abs=4e-9, rel=1e-14)


def test_one_place_has_the_bits_of_the_matrix():
    X = places(9)
    assert_array_equal(Haversine().pairwise(X), [[Haversine()(x, y) for y in X] for x in X])


def test_no_distance_exceeds_half_of_the_globe():
    X = places(30)
    opposite = np.column_stack([-X[:, 0], X[:, 1] + math.pi])
    found = Haversine().pairwise(X, opposite)
    assert found.max() <= math.pi
    assert_allclose(np.diag(found), math.pi, rtol=1e-7)


# Refusals


def test_latitudes_out_of_range():
    with pytest.raises(
        ValueError,
        match=r"The latitude in row 1 is 51\.5, but latitudes lie between -1\.5708 and 1\.5708 radians: for",
    ):
        Haversine().pairwise([[0.0, 0.0], [51.5, 2.0]])
    with pytest.raises(
        ValueError,
        match=r"The latitude in row 0 is -91, .* -90 and 90 degrees\. Rows are \(latitude, longitude\)",
    ):
        EARTH.pairwise([[-91.0, 0.0]])
    assert EARTH([90.0, 0.0], [-90.0, 720.0]) == pytest.approx(2 * QUARTER, rel=1e-7)
    assert Haversine()([math.pi / 2, 0.0], [0.0, 9.0]) == pytest.approx(math.pi / 2, rel=1e-15)


def test_rows_that_are_no_places():
    with pytest.raises(
        ValueError, match=r"Haversine compares rows of \(latitude, longitude\), not of 3 columns"
    ):
        Haversine().pairwise(np.zeros((2, 3)))


@pytest.mark.parametrize("radius", [0, -1.0, math.nan, math.inf])
def test_radii_that_are_none(radius):
    with pytest.raises(ValueError, match="radius must be"):
        Haversine(radius)
    with pytest.raises(TypeError, match="radius must be a number above 0, not 'earth'"):
        Haversine("earth")
