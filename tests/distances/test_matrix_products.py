"""Distances by matrix products: no digit is lost where rows are close, far from the origin, or both."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from bisector.distances import Cosine, Elliptical, Euclidean, Mahalanobis, matrix_products
from bisector.distances.matrix_products import FEWEST_COORDINATES, TOLERANCE, ProductPairs

D = 20  # more than FEWEST_COORDINATES, so that products are used


def squared(X, Y):
    """‖x − y‖² in exact arithmetic, rounded once at the end."""
    rows, others = (
        [[Fraction(v) for v in row] for row in np.asarray(Z, dtype=float).tolist()] for Z in (X, Y)
    )
    return np.array(
        [[float(sum((a - b) ** 2 for a, b in zip(x, y, strict=True))) for y in others] for x in rows]
    )


def worst(found, exact):
    """The largest relative error; zeros must be zeros."""
    assert_array_equal(found == 0, exact == 0)
    apart = exact > 0
    return np.max(np.abs(found[apart] - exact[apart]) / exact[apart], initial=0.0)


def data():
    """Sets of rows that make products cancel."""
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(14, D))
    centres = np.repeat(1e3 * rng.normal(size=(2, D)), 7, axis=0)
    outlier = normal.copy()
    outlier[0] = 1e7
    return {
        "around zero": normal,
        "offset 1e6": normal + 1e6,
        "offset 1e8": normal + 1e8,
        "tight clusters": centres + 1e-6 * normal,
        "tight clusters at 1e8": centres + 1e-5 * normal + 1e8,
        "duplicates": np.vstack([normal[:7], normal[:7]]) + 1e6,
        "neighbours": normal[0] + np.outer(np.arange(14), np.spacing(normal[0])),
        "one outlier": outlier,
        "one constant column": np.hstack([normal[:, 1:], np.full((14, 1), 1e9)]),
        "lattice": np.round(normal * 2),
        "all equal": np.full((14, D), 0.1),
    }


DATA = data()


def test_products_are_used_for_these_rows():
    for distance in (Euclidean(), Euclidean(np.ones(D)), Elliptical(np.eye(D)), Cosine()):
        rows = distance.prepare(DATA["around zero"])
        assert isinstance(distance.between(rows, rows), ProductPairs)
    narrow = Euclidean().prepare(np.zeros((3, FEWEST_COORDINATES - 1)))
    assert not isinstance(Euclidean().between(narrow, narrow), ProductPairs)
    # Distances that transform their rows use them always, for the sake of close pairs.
    narrow = Elliptical(np.eye(2)).prepare(np.zeros((3, 2)))
    assert isinstance(Elliptical(np.eye(2)).between(narrow, narrow), ProductPairs)


@pytest.mark.parametrize("name", DATA)
def test_euclidean_keeps_its_digits(name):
    X = DATA[name]
    Y = X[::-1] + np.where(np.arange(D) < 10, 0.0, 1e-3)
    for other, found, of_squares in [
        (X, Euclidean().pairwise(X), Euclidean(squared=True).pairwise(X)),
        (Y, Euclidean().pairwise(X, Y), Euclidean(squared=True).pairwise(X, Y)),
    ]:
        exact = squared(X, other)
        assert worst(of_squares, exact) <= TOLERANCE
        assert worst(found, np.sqrt(exact)) <= TOLERANCE


@pytest.mark.parametrize("name", DATA)
def test_weighted_euclidean_keeps_its_digits(name):
    weights = np.array([0.0, *np.arange(1.0, D)])
    X = DATA[name]
    differences = [
        [[Fraction(a) - Fraction(b) for a, b in zip(x, y, strict=True)] for y in X] for x in X.tolist()
    ]
    exact = np.array(
        [
            [math.sqrt(sum(Fraction(w) * g * g for w, g in zip(weights, gap, strict=True))) for gap in row]
            for row in differences
        ]
    )
    assert worst(Euclidean(weights).pairwise(X), exact) <= TOLERANCE


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_float32_rows(offset):
    """What is demanded is 1e-4; only the result is rounded, so that 1e-7 is kept."""
    X = (np.random.default_rng(0).normal(size=(14, D)) + offset).astype(np.float32)
    found = Euclidean().pairwise(X)
    assert found.dtype == np.float32
    assert worst(found, np.sqrt(squared(X, X))) <= 1e-7


@pytest.mark.parametrize("name", DATA)
def test_sparse_rows_keep_their_digits(name):
    X = np.where(np.random.default_rng(1).random((14, D)) < 0.5, 0.0, DATA[name])
    found = Euclidean().pairwise(sp.csr_array(X))
    assert worst(found, np.sqrt(squared(X, X))) <= TOLERANCE
    assert (
        worst(Euclidean().pairwise(sp.csr_array(X), sp.csr_array(X[::-1])), np.sqrt(squared(X, X[::-1])))
        <= TOLERANCE
    )


def test_many_coordinates_of_one_sign():
    """Sums of thousands of terms that never cancel: the longest chains of rounding that products make."""
    rng = np.random.default_rng(0)
    X = 1 + rng.random((4, 5000))
    found = Euclidean(squared=True).pairwise(X)
    exact = np.array([[math.fsum(((x - y) * (x - y)).tolist()) for y in X] for x in X])
    assert worst(found, exact) <= TOLERANCE


# Elliptical distances: close pairs start from the difference of the rows, not from that of their images


def elliptical_exact(X, inverse_or_m):
    """√((x − y)ᵀM(x − y)) from differences in long double: its error is 1e-19 times the cancellation in M."""
    M = np.asarray(inverse_or_m, dtype=np.longdouble)
    gaps = X.astype(np.longdouble)[:, None, :] - X.astype(np.longdouble)[None, :, :]
    return np.sqrt(np.einsum("ijk,kl,ijl->ij", gaps, M, gaps)).astype(float)


@pytest.mark.parametrize("n_features", [3, D])
@pytest.mark.parametrize("name", DATA)
def test_elliptical_keeps_its_digits(name, n_features):
    X = DATA[name][:, :n_features]
    rng = np.random.default_rng(2)
    A = rng.normal(size=(n_features, n_features))
    M = A @ A.T / n_features + np.eye(n_features)
    # M has a condition number near ten, by which the square root of it may be off.
    assert worst(Elliptical((M + M.T) / 2).pairwise(X), elliptical_exact(X, (M + M.T) / 2)) <= 1e-12
    cov = np.linalg.inv((M + M.T) / 2)
    cov = (cov + cov.T) / 2
    inverse = np.linalg.inv(cov)
    assert worst(Mahalanobis(cov).pairwise(X), elliptical_exact(X, (inverse + inverse.T) / 2)) <= 1e-11


# Cosine


def cosine_exact(X):
    """1 − cos from sums of squares of xᵢyⱼ − xⱼyᵢ (Lagrange), exactly up to the roots."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    exact = np.zeros((len(X), len(X)))
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            xx, yy = sum(a * a for a in x), sum(b * b for b in y)
            xy = sum(a * b for a, b in zip(x, y, strict=True))
            squared_sine = 1 - xy * xy / (xx * yy)
            cosine = math.sqrt(xy * xy / (xx * yy)) * (1 if xy >= 0 else -1)
            exact[i, j] = float(squared_sine) / (1 + cosine) if cosine > -0.9 else 1 - cosine
    return exact


@pytest.mark.parametrize("n_features", [3, D])
@pytest.mark.parametrize("name", [name for name in DATA if name not in ("neighbours", "all equal")])
def test_cosine_keeps_its_digits(name, n_features):
    X = DATA[name][:8, :n_features]
    exact = cosine_exact(X)
    found = Cosine().pairwise(X)
    same = exact == 0
    assert_allclose(found[same], 0.0, atol=1e-30)
    assert np.max(np.abs(found[~same] - exact[~same]) / exact[~same], initial=0.0) <= 1e-12
    angles = Cosine(angle=True).pairwise(X)[~same]
    # The angle itself has the digits of its half chord, except near a straight line, where the arc sine is steep.
    half = np.sqrt(exact[~same] / 2)
    error = np.abs(angles - 2 * np.arcsin(np.minimum(half, 1.0))) / angles
    assert np.all(error[half < 0.99] <= 1e-11)
    assert np.all(error <= 1e-6)


def test_nearly_parallel_rows():
    """Angles down to 1e-9, of which 1 − cos itself knows nothing when it is computed as a difference."""
    for angle in (1e-3, 1e-6, 1e-8, 1e-9):
        x = np.array([1.0, 2.0, 2.0])
        y = x + angle * 3 * np.array([2.0, -2.0, 1.0]) / 3
        exact = cosine_exact(np.array([x, y]))[0, 1]
        assert Cosine().pairwise([x, 7 * y])[0, 1] == pytest.approx(exact, rel=1e-9)
        assert exact == pytest.approx(angle**2 / 2, rel=1e-3)


def test_parallel_rows_and_copies():
    x = np.random.default_rng(0).normal(size=(5, D))
    found = Cosine().pairwise(np.vstack([x, 3 * x, -x]))
    assert_allclose(found[:5, 5:10][np.eye(5) == 1], 0.0, atol=1e-30)
    assert_allclose(found[:5, 10:][np.eye(5) == 1], 2.0, rtol=1e-12)
    assert_array_equal(np.diag(found), 0.0)


# What must not change the result


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_repairing_some_or_all_of_a_tile_agrees(share, monkeypatch):
    monkeypatch.setattr(matrix_products, "_MOST_AGAIN", share)
    for name in ("tight clusters", "one outlier", "duplicates"):
        for X in (DATA[name], sp.csr_array(DATA[name])):
            exact = np.sqrt(squared(DATA[name], DATA[name]))
            assert worst(Euclidean().pairwise(X), exact) <= TOLERANCE


def test_products_of_small_tiles_agree(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, D))
    expected = Euclidean().pairwise(X)

    class Small(ProductPairs):
        def __init__(self, *args):
            super().__init__(*args)
            self.tile_shape = (3, 5)

    monkeypatch.setattr(matrix_products, "ProductPairs", Small)
    assert_allclose(Euclidean().pairwise(X), expected, rtol=TOLERANCE)
    assert_allclose(Euclidean().pairwise(X, X), expected, rtol=TOLERANCE)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # of NumPy, where loops run as Python
def test_overflowing_squares_are_left_to_the_formula():
    X = np.array([[1e160] * D, [1.5e160] * D, [-1e308] * D, [1e308] * D])
    found = Euclidean().pairwise(X)
    assert_array_equal(found, np.where(np.eye(4) == 1, 0.0, math.inf))
    assert_array_equal(Euclidean().pairwise(sp.csr_array(X)), found)
    tiny = np.random.default_rng(0).normal(size=(5, D)) * 1e-170
    assert_array_equal(Euclidean().pairwise(tiny), np.zeros((5, 5)))  # no square of these is a float64 number


@pytest.mark.parametrize("distance", [Euclidean(), Cosine(), Mahalanobis()], ids=repr)
def test_all_distances_among_rows_are_symmetric_to_the_last_bit(distance):
    """A matrix product need not be: one half is computed, and mirrored."""
    X = np.random.default_rng(0).normal(size=(700, 30)) + 5.0
    distances = distance.pairwise(X)
    np.testing.assert_array_equal(distances, distances.T)
