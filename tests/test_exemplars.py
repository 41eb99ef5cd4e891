"""Exemplars: what holds for all of them."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from tests.exemplars.tables import weighted_tables

from bisector.distances import Chebyshev, Euclidean, Manhattan
from bisector.exemplars import (
    certified_geometric_median,
    coordinate_median,
    farthest_first,
    geometric_median,
    mean,
    medoid,
    scatter,
    scatter_decomposition,
    scatter_matrix,
)

CENTROIDS = [mean, coordinate_median, geometric_median]
OF_NUMBERS = [*CENTROIDS, scatter, scatter_matrix]


def test_all_exemplars_can_differ():
    """As in Flach's Figure 8.5: an outlier pulls on the mean, and on the medoid of the squares."""
    X = np.array(
        [[0, 0], [1, 3], [2, 1], [3, 3], [1, 1], [4, 2], [2, 4], [3, 0], [4, 4], [14, -6]], dtype=float
    )
    centroids = {tuple(centroid(X).round(6)) for centroid in CENTROIDS}
    assert len(centroids) == 3
    assert centroids.isdisjoint(map(tuple, X))
    outlier = X[-1]
    from_outlier = [np.linalg.norm(point - outlier) for point in (mean(X), geometric_median(X))]
    assert from_outlier[0] < from_outlier[1]
    assert medoid(X) == 2
    assert medoid(X, squared=True) == 5


# Weights are repeats, whatever holds the rows


@given(weighted_tables())
def test_weights_are_repeats(problem):
    X, weights = problem
    repeated = np.repeat(X, weights.astype(int), axis=0)
    np.testing.assert_array_equal(coordinate_median(X, weights), coordinate_median(repeated))
    size = np.abs(repeated - repeated[0]).max() + 1e-300
    for function in (mean, geometric_median):
        # The point of a total of relative error 1e-12 is unsure by more where the total is flat.
        np.testing.assert_allclose(function(X, weights), function(repeated), rtol=1e-12, atol=2e-6 * size)
    assert scatter(X, weights) == pytest.approx(scatter(repeated), rel=1e-12, abs=1e-20 * size**2)
    numbers = np.repeat(np.arange(len(X)), weights.astype(int))
    for metric in (Euclidean(), Manhattan(), Chebyshev(), Euclidean(squared=True)):
        assert medoid(X, metric, sample_weight=weights) == numbers[medoid(repeated, metric)]


@pytest.mark.parametrize("function", OF_NUMBERS)
def test_rows_of_any_kind(function):
    X = np.round(np.random.default_rng(0).normal(size=(30, 3)), 3)
    X[X < 0] = 0
    expected = function(X)
    frame = pd.DataFrame(X, columns=list("abc"))
    for same in (
        X.tolist(),
        np.asfortranarray(X),
        scipy.sparse.csr_array(X),
        scipy.sparse.coo_matrix(X),
        frame,
    ):
        np.testing.assert_allclose(function(same), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(
        function(X.astype(np.float32)), function(X.astype(np.float32).astype(float)), rtol=1e-13
    )
    np.testing.assert_allclose(
        function((100 * X).astype(int)), function((100 * X).astype(int) * 1.0), rtol=1e-13
    )


def test_medoid_and_farthest_first_of_sparse_rows_and_frames():
    X = np.random.default_rng(0).integers(0, 3, size=(60, 4)).astype(float)
    frame = pd.DataFrame(X, columns=list("abcd"))
    for metric in ("euclidean", "manhattan", "cosine", "hamming", "sqeuclidean"):
        for same in (scipy.sparse.csr_array(X), frame, X.astype(np.float32)):
            assert medoid(same, metric) == medoid(X, metric)
            np.testing.assert_array_equal(
                farthest_first(same, 5, metric).indices, farthest_first(X, 5, metric).indices
            )


def test_input_is_left_alone():
    X, weights = np.random.default_rng(0).normal(size=(20, 2)), np.ones(20)
    X.setflags(write=False)
    weights.setflags(write=False)
    for function in OF_NUMBERS:
        function(X, weights)
    medoid(X, sample_weight=weights)
    farthest_first(X, 3)


# Edges


@pytest.mark.parametrize("n", [1, 2, 100])
def test_equal_rows(n):
    X = np.tile([0.1, -0.7], (n, 1))
    for centroid in CENTROIDS:
        np.testing.assert_array_equal(centroid(X), X[0])
    assert medoid(X) == 0
    assert scatter(X) == 0
    assert not scatter_matrix(X).any()
    assert farthest_first(X, 3).indices.tolist() == [0]
    assert certified_geometric_median(X).gap == 0


def test_results_print_and_pickle():
    X, labels = np.array([[0.0], [1.0], [5.0]]), ["<b>", "<b>", "c"]
    parts = scatter_decomposition(X, labels)
    assert "within <b>" in repr(parts)
    assert "within &lt;b&gt;" in parts._repr_html_()
    assert pickle.loads(pickle.dumps(parts)).total == parts.total
    assert (
        repr(farthest_first(X, 2))
        == "2 of 3 rows cover all within 1; no choice of as many does so within less than 0.5."
    )
    assert scatter_decomposition([[1.0], [1.0]], [0, 1]).table().rows[0][-1] == ""


# Bad input


@pytest.mark.parametrize("function", [*OF_NUMBERS, medoid, lambda X: farthest_first(X, 1)])
@pytest.mark.parametrize(
    ("X", "match"),
    [
        ([[0.0, 1.0], [np.nan, 0.0]], "NaN in row 1, column 0"),
        ([[0.0, 1.0], [2.0, np.inf]], "inf in row 1, column 1"),
        (np.empty((0, 2)), "X has no rows"),
        (np.arange(3.0), "rows and columns"),
        ([["a", "b"]], "compares numbers"),
    ],
)
def test_rows_that_are_refused(function, X, match):
    with pytest.raises(ValueError, match=match):
        function(X)


@pytest.mark.parametrize("function", [*OF_NUMBERS, lambda X, w: medoid(X, sample_weight=w)])
@pytest.mark.parametrize(
    ("weights", "match"),
    [([1, 1], "expected \\(3,\\)"), ([1, -1, 1], "negative in row 1"), ([0, 0, 0], "zero for every row")],
)
def test_weights_that_are_refused(function, weights, match):
    with pytest.raises(ValueError, match=match):
        function(np.eye(3), weights)


def test_parameters_that_are_refused():
    X = np.eye(3)
    with pytest.raises(ValueError, match="tol must be a number above 0"):
        geometric_median(X, tol=0)
    with pytest.raises(ValueError, match="squared must be True or False"):
        medoid(X, squared=1)
    with pytest.raises(ValueError, match="m must be a whole number of rows"):
        farthest_first(X, 0)
    with pytest.raises(ValueError, match="start must be a row number from 0 to 2"):
        farthest_first(X, 2, start=3)
    with pytest.raises(ValueError, match="one label for each of the 3 rows"):
        scatter_decomposition(X, [0, 1])
    with pytest.raises(ValueError, match="no distance named 'euclid'"):
        medoid(X, "euclid")
