"""Distances in feature space."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone

from bisector.distances import Cosine, Euclidean, Manhattan
from bisector.distances.reductions import counts_within, nearest, nearest_one
from bisector.kernels import (
    Centred,
    Custom,
    Gaussian,
    Intersection,
    KernelDistance,
    Laplacian,
    Linear,
    Normalised,
    Polynomial,
    Power,
    Product,
    Scaled,
    Spectrum,
    Sum,
)


def test_it_is_the_distance_of_features(kernel, rows):
    gram = kernel.gram(rows)
    squares = np.add.outer(np.diag(gram), np.diag(gram)) - 2 * gram
    # The difference on this side is wrong by some units in the last place of its terms.
    tolerance = 1e-13 * np.abs(gram).max(initial=1)
    distances = KernelDistance(kernel).pairwise(rows)
    np.testing.assert_allclose(distances**2, np.maximum(squares, 0), atol=tolerance)
    one = KernelDistance(kernel)(rows[0], rows[3])
    assert one**2 == pytest.approx(distances[0, 3] ** 2, abs=tolerance)


def test_the_axioms_it_claims(kernel, rows):
    distance = KernelDistance(kernel)
    assert distance.law == "pseudo-metric"
    D = distance.pairwise(rows)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0.0)
    slack = 1e-7 * D.max(initial=1)  # the root of what rounding does to a square near zero
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + slack).all()


def test_equal_rows_are_at_distance_zero(kernel, rows):
    distance = KernelDistance(kernel)
    D = distance.pairwise(rows)
    for i, x in enumerate(rows):
        for j, y in enumerate(rows):
            if np.array_equal(x, y):
                assert D[i, j] == 0.0
                assert distance(x, y) == 0.0


def test_what_is_filled_does_not_depend_on_the_tile(kernel, rows):
    distance = KernelDistance(kernel)
    prepared = distance.prepare(rows)
    n = len(prepared)
    pairs = distance.between(prepared, prepared)
    whole, pieces = np.empty((n, n)), np.empty((n, n))
    pairs.fill(range(n), range(n), whole)
    for i in range(n):
        pairs.fill(range(i, i + 1), range(n), pieces, i)
    np.testing.assert_array_equal(whole, pieces)
    assert (whole >= 0).all()


def test_the_linear_kernel_gives_euclidean_distance(rng):
    for X in (rng.normal(size=(30, 2)), 1e6 + rng.normal(size=(30, 20)) * 1e-3):
        np.testing.assert_array_equal(
            KernelDistance(Linear()).pairwise(X), np.sqrt(Euclidean(squared=True).pairwise(X))
        )
        np.testing.assert_allclose(KernelDistance(Linear()).pairwise(X), Euclidean().pairwise(X), rtol=1e-12)
        np.testing.assert_allclose(
            KernelDistance(4 * Linear()).pairwise(X), 2 * Euclidean().pairwise(X), rtol=1e-12
        )
        np.testing.assert_allclose(
            KernelDistance(Linear() + Linear()).pairwise(X),
            math.sqrt(2) * Euclidean().pairwise(X),
            rtol=1e-12,
        )
        centred = KernelDistance(Centred(Linear()))
        np.testing.assert_allclose(centred.pairwise(X), Euclidean().pairwise(X), rtol=1e-12)


def test_small_distances_of_radial_kernels_are_not_lost():
    """exp(−1e-20) is 1 in float64, yet the distance is 1e-10."""
    x, y = [0.0], [1e-10]
    assert KernelDistance(Gaussian())(x, y) == pytest.approx(1e-10, rel=1e-12)
    assert KernelDistance(Laplacian())(x, y) == pytest.approx(math.sqrt(2e-10), rel=1e-10)
    assert KernelDistance(Gaussian()).pairwise([x, y])[0, 1] == pytest.approx(1e-10, rel=1e-12)


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(2, bias=1.0),
        Polynomial(5, bias=0.5, scale=2.0),
        Linear() ** 3,
        Polynomial(2) * Linear(),
        (Linear() + Polynomial(2)) * (2 * Linear()),
        Linear() * Linear() + Linear(),
    ],
    ids=repr,
)
def test_small_distances_far_from_the_origin_are_not_lost(rng, kernel):
    """Against exact fractions: the terms of the difference agree in ten digits of their squares and more."""
    X = np.round(rng.normal(size=(4, 2)) * 2**10) * 2.0**-20 + 1e3
    X = np.vstack([X, -X[:1], [[0.0, 1e-3]]])
    D = KernelDistance(kernel).pairwise(X)
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            pairs = [
                exact(kernel, *(list(map(Fraction, row)) for row in pair))
                for pair in ((x, x), (x, y), (y, y))
            ]
            square = pairs[0] - 2 * pairs[1] + pairs[2]
            # u − v is known to eps · u, and is about the root of E: 1e-16 · 1e3 / 1e-3, times the degree.
            assert D[i, j] == pytest.approx(math.sqrt(square), rel=1e-9)
            assert KernelDistance(kernel)(x, y) == KernelDistance(kernel)(y, x)


def exact(kernel, x, y):
    """The value of a kernel in fractions."""
    if isinstance(kernel, Sum):
        return exact(kernel.left, x, y) + exact(kernel.right, x, y)
    if isinstance(kernel, Product):
        return exact(kernel.left, x, y) * exact(kernel.right, x, y)
    if isinstance(kernel, Power):
        return exact(kernel.kernel, x, y) ** kernel.exponent
    if isinstance(kernel, Scaled):
        return Fraction(kernel.scale) * exact(kernel.kernel, x, y)
    dot = sum(a * b for a, b in zip(x, y, strict=True))
    if isinstance(kernel, Polynomial):
        return (Fraction(kernel.scale) * dot + Fraction(kernel.bias)) ** kernel.degree
    return dot


def test_normalised_linear_is_the_chord(rng):
    X = rng.normal(size=(20, 3))
    np.testing.assert_allclose(
        KernelDistance(Normalised(Linear())).pairwise(X) ** 2, 2 * Cosine().pairwise(X), atol=1e-14
    )


def test_strings_and_sets():
    assert KernelDistance(Spectrum(1))("aab", "b") == 2.0
    assert KernelDistance(Intersection())({1, 2, 3}, {3, 4}) == math.sqrt(3)  # the symmetric difference
    words = ["aab", "b", "b", ""]
    D = KernelDistance(Spectrum(1)).pairwise(words)
    np.testing.assert_allclose(D[0], [0, 2, 2, math.sqrt(5)])
    assert D[1, 2] == 0.0


def test_sparse_and_single_precision(rng):
    X = rng.normal(size=(10, 4)).astype(np.float32)
    for kernel in (Linear(), Polynomial(2), Gaussian()):
        D = KernelDistance(kernel).pairwise(X)
        assert D.dtype == np.float32
        expected = KernelDistance(kernel).pairwise(X.astype(np.float64))
        np.testing.assert_allclose(D, expected, rtol=1e-6)
        sparse = KernelDistance(kernel).pairwise(scipy.sparse.csr_matrix(X.astype(np.float64)))
        # Polynomial: the root of what rounding does to a difference of squares.
        np.testing.assert_allclose(sparse, expected, atol=1e-6)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2, bias=1.0), Gaussian(), Spectrum(2)], ids=repr)
def test_models_can_ask_it_for_the_nearest(rng, kernel):
    rows = ["banana", "ananas", "band", "na"] if kernel == Spectrum(2) else rng.normal(size=(40, 3))
    distance = KernelDistance(kernel)
    prepared = distance.prepare(rows)
    D = distance.pairwise(rows)
    k = min(3, len(rows))
    found, numbers = nearest(distance, prepared, prepared, k)
    np.testing.assert_allclose(found, np.sort(D, axis=1)[:, :k], rtol=1e-9, atol=1e-12)
    assert (numbers[:, 0] == np.arange(len(rows))).all()
    _, first = nearest_one(distance, prepared, prepared)
    np.testing.assert_array_equal(first, numbers[:, 0])
    radius = float(distance(rows[0], rows[1]))
    counts = counts_within(distance, prepared, prepared, radius)
    assert counts[0] >= 2  # the row itself, and the one exactly so far away


def test_it_is_a_value():
    distance = KernelDistance(Gaussian(2.0))
    assert distance == pickle.loads(pickle.dumps(distance)) == KernelDistance(Gaussian(2))
    assert repr(distance) == "KernelDistance(kernel=Gaussian(bandwidth=2.0))"
    assert clone(distance) is distance
    assert distance.set_params(kernel__bandwidth=3.0) == KernelDistance(Gaussian(3.0))
    assert KernelDistance("linear") == KernelDistance(Linear())


def test_what_is_open_is_learned(rng):
    X = rng.normal(size=(10, 2))
    assert KernelDistance(Gaussian("median")).learned(X) == KernelDistance(Gaussian("median").learned(X))
    np.testing.assert_array_equal(
        KernelDistance(Gaussian("median")).pairwise(X),
        KernelDistance(Gaussian("median").learned(X)).pairwise(X),
    )


def test_kernels_without_a_feature_space_have_no_law():
    """Where the square is negative there is no root to take: zero, and never NaN."""
    kernel = Custom(lambda X, Y: -(X @ Y.T))
    distance = KernelDistance(kernel)
    assert distance.law == "none"
    np.testing.assert_array_equal(distance.pairwise(np.array([[0.0], [1.0]])), np.zeros((2, 2)))
    assert KernelDistance(Gaussian(metric=Manhattan())).law == "none"


def test_what_is_no_kernel():
    with pytest.raises(TypeError, match=r"kernel is Euclidean\(\), which is no kernel"):
        KernelDistance(Euclidean())
    with pytest.raises(ValueError, match=r"There is no kernel named 'gausian'\. Did you mean 'gaussian'"):
        KernelDistance("gausian")
