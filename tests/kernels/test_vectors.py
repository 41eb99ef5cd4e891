"""Linear, polynomial and radial kernels: by hand, and against scikit-learn."""

import math

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import pairwise as peers

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
from bisector.kernels import Gaussian, KernelDistance, Laplacian, Linear, Polynomial, is_psd
from bisector.kernels.radial import median_distance


@pytest.fixture
def X(rng):
    return rng.normal(size=(70, 20)) + 3.0


@pytest.fixture
def Y(rng):
    return rng.normal(size=(30, 20)) + 3.0


# By hand


def test_values_by_hand():
    x, y = [1.0, 2.0], [3.0, -1.0]
    assert Linear()(x, y) == 1.0
    assert Polynomial(3, bias=1.0, scale=2.0)(x, y) == 27.0
    assert Gaussian(2.0)(x, y) == pytest.approx(math.exp(-13 / 8), rel=1e-15)
    assert Laplacian(2.0)(x, y) == pytest.approx(math.exp(-5 / 2), rel=1e-15)
    assert Laplacian(2.0, metric=Euclidean())(x, y) == pytest.approx(math.exp(-math.sqrt(13) / 2), rel=1e-15)


def test_a_row_is_at_the_top_of_its_own_bump():
    x = [1e6 + 0.1, -1e6]
    assert Gaussian(1e-3)(x, x) == 1.0
    assert Laplacian(1e-3)(x, x) == 1.0


def test_high_degrees_by_repeated_squaring():
    for degree in range(1, 20):
        assert Polynomial(degree)([1.0, 1.0], [1.0, 2.0]) == 3.0**degree
        assert (Linear() ** degree)([1.0, 1.0], [1.0, 2.0]) == 3.0**degree


# Against scikit-learn


@pytest.mark.parametrize("other", [False, True], ids=["X", "X and Y"])
@pytest.mark.parametrize(
    ("kernel", "peer"),
    [
        (Linear(), peers.linear_kernel),
        (
            Polynomial(3, bias=1.0, scale=0.1),
            lambda X, Y: peers.polynomial_kernel(X, Y, degree=3, coef0=1, gamma=0.1),
        ),
        (Gaussian.from_gamma(0.02), lambda X, Y: peers.rbf_kernel(X, Y, gamma=0.02)),
        (Laplacian.from_gamma(0.02), lambda X, Y: peers.laplacian_kernel(X, Y, gamma=0.02)),
    ],
    ids=["linear", "polynomial", "gaussian", "laplacian"],
)
def test_it_equals_scikit_learn(X, Y, kernel, peer, other):
    second = Y if other else None
    # Both round a sum of twenty products; its size is that of the result or less.
    np.testing.assert_allclose(kernel.gram(X, second), peer(X, second), rtol=1e-12)


@pytest.mark.parametrize("rule", ["scale", "auto"])
def test_rules_mean_what_they_mean_in_scikit_learn(X, rule):
    gamma = {"scale": 1 / (20 * X.var()), "auto": 1 / 20}[rule]
    found = Gaussian(rule).learned(X)
    assert 1 / (2 * found.bandwidth**2) == pytest.approx(gamma, rel=1e-12)
    assert 1 / Laplacian(rule).learned(X).bandwidth == pytest.approx(gamma, rel=1e-12)
    assert Polynomial(scale=rule).learned(X).scale == pytest.approx(gamma, rel=1e-12)
    assert Gaussian(rule).learned(scipy.sparse.csr_matrix(X)).bandwidth == pytest.approx(
        found.bandwidth, rel=1e-12
    )


def test_scale_of_sparse_rows_counts_their_zeros():
    X = np.array([[0.0, 2.0], [0.0, 0.0], [4.0, 0.0]])
    dense, sparse = (Gaussian("scale").learned(form).bandwidth for form in (X, scipy.sparse.csr_matrix(X)))
    assert dense == pytest.approx(math.sqrt(X.var()), rel=1e-15)
    assert sparse == pytest.approx(dense, rel=1e-15)


def test_constant_rows_have_scikit_learns_gamma():
    X = np.ones((4, 2))
    assert Gaussian("scale").learned(X) == Gaussian.from_gamma(1.0)


# Many rows: tiles, of which half are copied across the diagonal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "kernel",
    [Linear(), Polynomial(3, bias=1.0), Gaussian(5.0), Laplacian(20.0), Linear() + Gaussian(5.0)],
    ids=repr,
)
def test_many_rows(rng, kernel, dtype):
    X = rng.normal(size=(700, 20)).astype(dtype)
    gram = kernel.gram(X)
    assert gram.dtype == dtype
    np.testing.assert_array_equal(gram, gram.T)
    tolerance = (1e-13 if dtype == np.float64 else 1e-6) * float(np.abs(gram).max())
    np.testing.assert_allclose(gram, kernel.gram(X, X.copy()), rtol=0, atol=tolerance)
    for i, j in rng.integers(0, 700, size=(50, 2)):
        assert gram[i, j] == pytest.approx(kernel(X[i], X[j]), abs=tolerance)


@pytest.mark.parametrize("density", [0.005, 0.3], ids=["few common entries", "many"])
def test_many_sparse_rows(rng, density):
    X = scipy.sparse.random(1200, 300, density=density, format="csr", random_state=0)
    for kernel in (Linear(), Polynomial(2, bias=1.0)):
        gram = kernel.gram(X)
        np.testing.assert_array_equal(gram, gram.T)
        expected = kernel.gram(X.toarray())
        np.testing.assert_allclose(gram, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
        np.testing.assert_array_equal(kernel.gram(X[:700], X), gram[:700])


# Bandwidths learned from rows


def test_the_median_distance_by_hand():
    X = [[0.0], [1.0], [3.0]]  # distances 1, 2, 3
    assert Gaussian("median").learned(X).bandwidth == 2.0
    assert Laplacian("median").learned(X).bandwidth == 2.0
    assert Gaussian("median", metric=Manhattan([2.0])).learned(X).bandwidth == 4.0


def test_the_median_of_what_is_not_zero_where_most_is():
    assert Gaussian("median").learned([[0.0], [0.0], [0.0], [0.0], [3.0]]).bandwidth == 3.0


def test_many_rows_are_sampled_evenly(rng):
    X = rng.normal(size=(5000, 2))
    exact = np.median(Euclidean().pairwise(X)[np.triu_indices(5000, 1)])
    assert median_distance(Euclidean(), X) == pytest.approx(exact, rel=0.05)  # a thousand rows stand for all
    assert median_distance(Euclidean(), X) == median_distance(Euclidean(), X)


def test_gram_learns_what_is_open(X, Y):
    learned = Gaussian("median").learned(X)
    np.testing.assert_array_equal(Gaussian("median").gram(X), learned.gram(X))
    np.testing.assert_array_equal(Gaussian("median").gram(X, Y), learned.gram(X, Y))
    assert Gaussian("median").bandwidth == "median"


def test_the_metric_is_learned_too(X):
    kernel = Gaussian(2.0, metric=Mahalanobis()).learned(X)
    assert kernel.metric == Mahalanobis().learned(X)
    squares = Mahalanobis(squared=True).pairwise(X)
    np.testing.assert_allclose(kernel.gram(X), np.exp(-squares / 8), rtol=1e-10)  # of squares up to fifty


# Far from the origin, and close together


@pytest.mark.parametrize("d", [2, 40])
def test_an_offset_changes_nothing(rng, d):
    """The squares of the offset are 1e12 · d: their differences would hold no digit of a small distance."""
    near = np.round(rng.normal(size=(60, d)) * 2**20) * 2.0**-30  # exact after the offset is added
    near[10:20] = near[:10]
    far = near + 1e6
    assert (far - 1e6 == near).all()
    for kernel in (Gaussian(2e-3), Laplacian(2e-3 * d), Laplacian(2e-3, metric=Euclidean())):
        # Distances are right to 1e-12 of themselves, and a bump falls by at most 0.75 of that.
        np.testing.assert_allclose(kernel.gram(far), kernel.gram(near), rtol=0, atol=2e-12)
        assert (np.diag(kernel.gram(far)) == 1).all()
        np.testing.assert_array_equal(np.diag(kernel.gram(far)[10:20, :10]), 1.0)


def test_gaussian_against_exact_arithmetic(rng):
    from fractions import Fraction

    X = 1e6 + rng.normal(size=(12, 30)) * 1e-3
    gram = Gaussian(1e-2).gram(X)
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            square = float(sum((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(x, y, strict=True)))
            assert gram[i, j] == pytest.approx(math.exp(-square / 2e-4), abs=1e-12)


def test_values_fall_to_zero_without_a_warning():
    X = np.array([[0.0], [1e3], [1e30]])
    gram = Gaussian().gram(X)
    np.testing.assert_array_equal(gram, np.eye(3))
    assert Gaussian(1e150)([0.0], [1e100]) == 1.0
    assert Gaussian(1e-150)([0.0], [1e-100]) == 0.0


# psd or not


@pytest.mark.parametrize(
    ("metric", "gaussian", "laplacian"),
    [
        (Euclidean(), True, True),
        (Euclidean(weights=[1, 2, 3]), True, True),
        (Euclidean(squared=True), False, True),
        (Euclidean(skip_missing=True), False, False),
        (Manhattan(), False, True),
        (Minkowski(2), True, True),
        (Minkowski(1.5), False, True),
        (Minkowski(3), False, False),
        (Minkowski(0.5), False, False),
        (Chebyshev(), False, False),
        (Hamming(), False, True),
        (Elliptical(np.eye(3)), True, True),
        (Mahalanobis(np.eye(3), squared=True), False, True),
        (KernelDistance(Polynomial(3, bias=1)), True, True),
        (KernelDistance(Gaussian(metric=Manhattan())), False, False),
        (Cosine(), False, False),
    ],
    ids=repr,
)
def test_what_is_claimed_of_radial_kernels(rng, metric, gaussian, laplacian):
    assert Gaussian(metric=metric).psd is gaussian
    assert Laplacian(metric=metric).psd is laplacian
    X = np.round(rng.normal(size=(40, 3)) * 2) / 2
    for bandwidth in (0.3, 1.0, 10.0):
        if gaussian:
            assert is_psd(Gaussian(bandwidth, metric=metric).gram(X))
        if laplacian:
            assert is_psd(Laplacian(bandwidth, metric=metric).gram(X))


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(2.0, metric=Manhattan()),
        Gaussian(3.0, metric=Euclidean(squared=True)),
        Laplacian(2.0, metric=Chebyshev()),
    ],
    ids=repr,
)
def test_claims_are_withheld_for_a_reason(rng, kernel):
    """There are rows for which these have a clearly negative eigenvalue."""
    X = np.stack(np.meshgrid(*[[0.0, 1.0, 2.0]] * 3), axis=-1).reshape(-1, 3)
    verdict = is_psd(kernel.gram(X))
    assert not kernel.psd
    assert not verdict
    assert verdict.smallest < -1e-3


# Moves that change nothing


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(2, bias=1.0),
        Gaussian(),
        Gaussian(metric=Mahalanobis()),
        Laplacian(),
        Laplacian(metric=Euclidean()),
        Linear() + Gaussian(),
        Linear() * Gaussian(),
        Gaussian() * Laplacian(),
        2 * Linear(),
        Linear() ** 2,
    ],
    ids=repr,
)
def test_invariances_are_what_they_say(rng, kernel):
    X = rng.normal(size=(10, 3))
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    moved = {"translation": X + [1.0, -2.0, 3.0], "rotation": X @ rotation, "scale": X * [1.0, 5.0, 1.0]}
    distances = KernelDistance(kernel).pairwise(X)
    for move, Z in moved.items():
        assert np.allclose(kernel.gram(Z), kernel.gram(X), rtol=1e-9) == (move in kernel.invariances)
        stays = np.allclose(KernelDistance(kernel).pairwise(Z), distances, rtol=1e-9, atol=1e-7)
        assert stays == (move in kernel.distance_invariances)
        assert getattr(KernelDistance(kernel), f"{move}_invariant") == stays
