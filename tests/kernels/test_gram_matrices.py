"""Centring, normalising, and whether a matrix is psd."""

import numpy as np
import pytest
from sklearn.preprocessing import KernelCenterer

from bisector.kernels import (
    Centred,
    Gaussian,
    Linear,
    Normalised,
    Polynomial,
    centre,
    is_psd,
    normalise,
)


@pytest.fixture
def X(rng):
    return rng.normal(size=(12, 3)) + 1.0


@pytest.fixture
def Z(rng):
    return rng.normal(size=(5, 3)) + 1.0


# psd


def test_the_most_negative_eigenvalue(rng):
    vectors, _ = np.linalg.qr(rng.normal(size=(5, 5)))
    K = vectors @ np.diag([3.0, 2.0, 1.0, 0.5, -0.25]) @ vectors.T
    verdict = is_psd((K + K.T) / 2)
    assert not verdict
    assert not verdict.psd
    assert verdict.smallest == pytest.approx(-0.25, rel=1e-12)
    assert is_psd((K + K.T) / 2, tolerance=0.3)


def test_rounding_is_forgiven(rng):
    Z = rng.normal(size=(40, 2)) + 100.0
    for K in (Z @ Z.T, (Z @ Z.T).astype(np.float32)):  # rank 2: 38 eigenvalues are zero up to rounding
        verdict = is_psd(K)
        assert verdict
        assert abs(verdict.smallest) <= verdict.tolerance
    K = Z @ Z.T - 1e-6 * np.eye(40)
    assert not is_psd(K)


def test_small_matrices():
    assert is_psd(np.zeros((0, 0)))
    assert is_psd(np.zeros((3, 3)))
    assert is_psd([[0.0]])
    assert not is_psd([[-1e-300]])


def test_what_is_no_gram_matrix():
    with pytest.raises(ValueError, match=r"K must be symmetric, but K\[0, 1\] is 2 and K\[1, 0\] is 3"):
        is_psd([[1, 2], [3, 1]])
    with pytest.raises(ValueError, match=r"K must be square, but has the shape \(1, 2\)"):
        is_psd([[1, 2]])
    with pytest.raises(ValueError, match="K holds nan in row 1, column 0"):
        is_psd([[1, 2], [np.nan, 1]])
    with pytest.raises(ValueError, match="K must be a matrix of numbers"):
        is_psd([["a"]])
    with pytest.raises(ValueError, match="tolerance must be a number at least 0"):
        is_psd([[1.0]], tolerance=-1)


# Centring


def test_centring_is_that_of_scikit_learn(X, Z):
    kernel = Polynomial(2, bias=1.0)
    K, L = kernel.gram(X), kernel.gram(Z, X)
    peer = KernelCenterer().fit(K)
    np.testing.assert_allclose(centre(K), peer.transform(K), rtol=1e-12, atol=1e-12 * K.max())
    np.testing.assert_allclose(centre(L, training=K), peer.transform(L), rtol=1e-12, atol=1e-12 * K.max())


def test_centring_moves_the_mean_to_the_origin(X, Z):
    mean = X.mean(axis=0)
    np.testing.assert_allclose(centre(Linear().gram(X)), (X - mean) @ (X - mean).T, atol=1e-13)
    expected = (Z - mean) @ (X - mean).T
    np.testing.assert_allclose(centre(Linear().gram(Z, X), training=Linear().gram(X)), expected, atol=1e-13)
    centred = centre(Gaussian().gram(X))
    np.testing.assert_allclose(centred.sum(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose(centre(centred), centred, atol=1e-14)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3), Gaussian(2.0)], ids=repr)
def test_the_centred_kernel_gives_the_centred_matrix(X, Z, kernel):
    centred = Centred(kernel).learned(X)
    K, L = kernel.gram(X), kernel.gram(Z, X)
    tolerance = 1e-13 * np.abs(K).max()
    np.testing.assert_allclose(centred.gram(X), centre(K), atol=tolerance)
    np.testing.assert_allclose(centred.gram(Z, X), centre(L, training=K), atol=tolerance)
    np.testing.assert_allclose(Centred(kernel).gram(X), centre(K), atol=tolerance)
    assert centred.psd


def test_the_centre_is_learned_once(X, Z):
    centred = Centred(Gaussian("median")).learned(X)
    assert centred.kernel == Gaussian("median").learned(X)
    assert centred.learned(Z) is centred
    assert centred.reference.flags.writeable is False
    assert Centred(Linear(), X) == Centred(Linear(), X.copy())
    assert Centred(Linear(), X) != Centred(Linear(), Z)


def test_a_centre_that_is_not_known_yet():
    with pytest.raises(ValueError, match="does not know its origin yet: use learned"):
        Centred(Linear())([1.0], [2.0])
    with pytest.raises(ValueError, match="no rows whose mean"):
        Centred(Linear(), np.empty((0, 2))).gram([[1.0, 2.0]])
    with pytest.raises(ValueError, match="X has 1 columns"):
        Centred(Linear(), [[1.0, 2.0]]).gram([[1.0]])


def test_centring_what_does_not_fit():
    with pytest.raises(ValueError, match="K has 2 columns, but training has 3 rows"):
        centre(np.ones((4, 2)), training=np.eye(3))
    with pytest.raises(ValueError, match="K must be square"):
        centre(np.ones((4, 2)))
    with pytest.raises(ValueError, match="no training rows"):
        centre(np.ones((0, 0)))


def test_single_precision_stays(X):
    K = Linear().gram(X.astype(np.float32))
    assert centre(K).dtype == normalise(K).dtype == np.float32


# Normalising


def test_cosines(X, Z):
    lengths = np.linalg.norm(X, axis=1)
    expected = X @ X.T / np.outer(lengths, lengths)
    np.testing.assert_allclose(normalise(X @ X.T), expected, rtol=1e-13)
    np.testing.assert_allclose(Normalised(Linear()).gram(X), expected, rtol=1e-13)
    kernel = Polynomial(2, bias=1.0)
    np.testing.assert_allclose(
        normalise(kernel.gram(Z, X), lengths=(kernel.diag(Z), kernel.diag(X))),
        Normalised(kernel).gram(Z, X),
        rtol=1e-13,
    )


def test_a_row_has_cosine_one_with_itself(X):
    assert (np.diag(normalise(Polynomial(3).gram(X))) == 1).all()
    assert (Normalised(Polynomial(3)).diag(X) == 1).all()
    assert [Normalised(Polynomial(3))(x, x) for x in X] == [1.0] * len(X)


def test_a_row_without_direction():
    X = np.array([[0.0, 0.0], [1.0, 0.0]])
    np.testing.assert_array_equal(Normalised(Linear()).gram(X), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(normalise(X @ X.T), [[0, 0], [0, 1]])
    np.testing.assert_array_equal(Normalised(Linear()).diag(X), [0, 1])


def test_lengths_whose_product_is_no_number():
    X = np.array([[1e150, 0.0], [1e150, 1e150], [1e-150, 0.0], [1e-160, 1e-160]])
    root = np.sqrt(0.5)
    expected = [[1, root, 1, root], [root, 1, root, 1], [1, root, 1, root], [root, 1, root, 1]]
    # 1e-320, the square of the last row, has three digits left.
    np.testing.assert_allclose(Normalised(Linear()).gram(X), expected, rtol=1e-3)
    np.testing.assert_allclose(Normalised(Linear()).gram(X[:3]), np.array(expected)[:3, :3], rtol=1e-15)


def test_lengths_that_are_none():
    with pytest.raises(ValueError, match=r"k\(x, x\) of row 1 is -1.0"):
        normalise([[1.0, 0.0], [0.0, -1.0]])
    with pytest.raises(ValueError, match="one number for each of the 2 rows and 3 columns"):
        normalise(np.ones((2, 3)), lengths=(np.ones(3), np.ones(2)))
