"""Elliptical and Mahalanobis distances: given and learned matrices, singular ones, and the words of refusals."""

import math

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from bisector.distances import Elliptical, Euclidean, Mahalanobis

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3)) @ np.array([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.5, -0.3, 0.2]]) + 5.0
CORNER = np.array([[2.0, 1.0], [1.0, 3.0]])


# By hand


def test_by_hand():
    assert Elliptical([[4, 0], [0, 9]])([0, 0], [1, 2]) == math.sqrt(4 + 36)
    assert Elliptical([[4, 0], [0, 9]], squared=True)([0, 0], [1, 2]) == pytest.approx(40, rel=1e-15)
    assert Elliptical(CORNER)([0, 0], [1, 1]) == pytest.approx(math.sqrt(7), rel=1e-15)
    assert Mahalanobis([[4, 0], [0, 9]])([0, 0], [2, 3]) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert Mahalanobis([[4.0]])([1], [5]) == 2.0


def test_the_identity_is_euclidean():
    for distance in (Elliptical(np.eye(3)), Mahalanobis(np.eye(3))):
        assert_allclose(distance.pairwise(X), Euclidean().pairwise(X), rtol=1e-13)
    assert_allclose(
        Elliptical(np.eye(3), squared=True).pairwise(X), Euclidean(squared=True).pairwise(X), rtol=1e-13
    )


# Learned and given


def test_the_covariance_is_learned_from_the_rows_over_n():
    learned = Mahalanobis().learned(X)
    assert_allclose(learned.cov, np.cov(X.T, bias=True), rtol=1e-12)
    assert learned == Mahalanobis(learned.cov)
    assert Mahalanobis(squared=True).learned(X).squared
    given = Mahalanobis(np.eye(3))
    assert given.learned(X) is given
    assert_array_equal(Mahalanobis().learned(pd.DataFrame(X, columns=list("abc"))).cov, learned.cov)


def test_pairwise_learns_from_its_first_rows():
    Y = X[:4] + 1.0
    inverse = np.linalg.inv(np.cov(X.T, bias=True))
    expected = cdist(X, Y, "mahalanobis", VI=inverse)
    assert_allclose(Mahalanobis().pairwise(X, Y), expected, rtol=1e-11)
    assert_allclose(Mahalanobis().pairwise(X), cdist(X, X, "mahalanobis", VI=inverse), rtol=1e-11)
    assert_allclose(Mahalanobis(squared=True).pairwise(X, Y), expected**2, rtol=1e-11)


def test_whitened_rows_are_euclidean():
    """What is left after learning has unit covariance: the mean of squared distances is 2d."""
    squares = Mahalanobis(squared=True).pairwise(X)
    assert squares.mean() == pytest.approx(2 * 3, rel=1e-12)


def test_what_is_not_learned_yet_says_so():
    with pytest.raises(
        ValueError, match=r"Mahalanobis\(\) does not know its covariance yet: give it one, or use learned"
    ):
        Mahalanobis()([1, 2], [3, 4])
    with pytest.raises(ValueError, match="does not know its covariance yet"):
        Mahalanobis().prepare(X)
    with pytest.raises(ValueError, match="X has no rows to learn a covariance from"):
        Mahalanobis().pairwise(X[:0])


def test_features_of_very_different_units():
    """A feature in units of 1e10 counts as much as one in units of 1: its matrix entry of 1e-20 is no rounding."""
    unit = np.array([1e10, 1e-5, 1.0])
    M = np.diag(unit**-2.0)
    assert Elliptical(M).law == "metric"
    assert_allclose(Elliptical(M).pairwise(X * unit), Euclidean().pairwise(X), rtol=1e-12)
    assert_allclose(Mahalanobis().pairwise(X * unit), Mahalanobis().pairwise(X), rtol=1e-9)
    dense = np.linalg.inv(np.cov(X.T)) / np.outer(unit, unit)
    assert_allclose(
        Elliptical((dense + dense.T) / 2).pairwise(X * unit), Mahalanobis(np.cov(X.T)).pairwise(X), rtol=1e-9
    )


# Singular matrices


def test_a_singular_matrix_makes_a_pseudo_metric():
    distance = Elliptical([[1, 1], [1, 1]])
    assert distance.law == "pseudo-metric"
    assert distance([0, 0], [1, -1]) == pytest.approx(0, abs=1e-15)
    assert distance([0, 0], [1, 1]) == pytest.approx(2, rel=1e-15)
    assert_array_equal(Elliptical([[1, 0], [0, 0]]).pairwise([[0, 5], [0, 9], [3, 1]])[0], [0, 0, 3])


def test_the_pseudo_inverse_of_a_singular_covariance():
    """The remedy that the refusal of such a covariance names."""
    Z = np.column_stack([X[:, 0], X[:, 1], X[:, 0] - X[:, 1]])
    distance = Elliptical(np.linalg.pinv(np.cov(Z.T, bias=True), hermitian=True))
    assert distance.law == "pseudo-metric"
    assert_allclose(distance.pairwise(Z), Mahalanobis().pairwise(X[:, :2]), rtol=1e-9)


def test_a_singular_covariance_names_the_directions():
    Z = np.column_stack([X[:, 0], X[:, 1], X[:, 0] - 2 * X[:, 1]])
    with pytest.raises(
        ValueError, match=r"The covariance is singular: .*·feature \d .*does not vary\. Leave features"
    ):
        Mahalanobis().pairwise(Z)
    with pytest.raises(ValueError, match="singular") as refusal:
        Mahalanobis().learned(pd.DataFrame(Z, columns=["age", "height", "both"]))
    said = str(refusal.value)
    # age − 2 height − both = 0, up to a factor: -1·height is the largest part.
    assert "1·height" in said
    assert "0.5·age" in said
    assert "0.5·both" in said
    signs = {word: said.split(f"·{word}")[0].split()[-1][0] for word in ("age", "height", "both")}
    assert signs["height"] == signs["both"] != signs["age"]
    with pytest.raises(ValueError, match=r"Elliptical\(np\.linalg\.pinv\(cov\)\)"):
        Mahalanobis(np.ones((2, 2)))


def test_several_directions_and_constant_features():
    Z = np.column_stack([X, X + 1e-20])
    with pytest.raises(ValueError, match=r"; .*; .* do not vary"):
        Mahalanobis().pairwise(Z)
    with pytest.raises(ValueError, match=r"do not vary \(and more such directions\)"):
        Mahalanobis().pairwise(X.repeat(3, axis=1))
    with pytest.raises(
        ValueError, match=r"The covariance is singular: feature 1 does not vary\. Leave constant features"
    ):
        Mahalanobis().pairwise(X * [1, 0, 1])
    with pytest.raises(ValueError, match="feature 0, feature 1, feature 2 do not vary"):
        Mahalanobis().pairwise(X[:1])


def test_fewer_rows_than_features():
    with pytest.raises(ValueError, match="The covariance is singular"):
        Mahalanobis().pairwise(X[:3])


# Refusals


@pytest.mark.parametrize(
    ("M", "said"),
    [
        ([[1, 2], [2, 1]], "M must have no negative eigenvalue, but its smallest is -1: "),
        ([[-3.0]], "its smallest is -3: "),
        ([[1e-18, 5e-6], [5e-6, 1e6]], "with the diagonal scaled to 1 its smallest is -4: "),
        ([[1, 2], [3, 1]], r"M must be symmetric, but M\[0, 1\] is 2 and M\[1, 0\] is 3"),
        ([[1, 2, 3], [4, 5, 6]], r"M must be a square matrix, but has the shape \(2, 3\)"),
        ([1, 2], r"M must be a square matrix, but has the shape \(2,\)"),
        ([], "M must be a square matrix"),
        ([[1, math.nan], [math.nan, 1]], "M holds nan in row 0, column 1"),
        ([[math.inf]], "M holds inf in row 0, column 0"),
        ([[0, 0], [0, 0]], "M is zero: no two rows would be apart"),
        ([["a"]], "M must be a matrix of numbers"),
    ],
)
def test_matrices_that_make_no_distance_are_refused(M, said):
    with pytest.raises(ValueError, match=said):
        Elliptical(M)
    if "zero" not in said:
        with pytest.raises(ValueError, match=said.replace("M", "cov")):
            Mahalanobis(M)


def test_rounding_is_forgiven():
    """Rows of a computed matrix differ in their last digits, and zero eigenvalues come out slightly negative."""
    A = RNG.normal(size=(6, 3))
    M = A @ A.T
    M[0, 1] *= 1 + 1e-15
    distance = Elliptical(M)
    assert distance.law == "pseudo-metric"
    assert_array_equal(distance.M, distance.M.T)


def test_rows_of_another_width():
    for distance in (Elliptical(np.eye(3)), Mahalanobis(np.eye(3))):
        with pytest.raises(
            ValueError, match="matrix of this distance is 3 × 3, but the rows have 2 features"
        ):
            distance.pairwise(X[:, :2])


# Truths about themselves


def test_laws_and_invariances():
    assert Elliptical(CORNER).law == "metric"
    assert Elliptical(CORNER, squared=True).law == "none"
    assert Mahalanobis().law == "metric"
    assert Mahalanobis(squared=True).law == "none"
    assert Elliptical(2 * np.eye(3)).rotation_invariant
    assert not Elliptical(CORNER).rotation_invariant
    assert not Elliptical(CORNER).scale_invariant
    # Learned anew it follows any change of units or axes; a covariance that was given does not.
    assert Mahalanobis().scale_invariant
    assert Mahalanobis().rotation_invariant
    assert not Mahalanobis(CORNER).scale_invariant
    assert not Mahalanobis(CORNER).rotation_invariant
