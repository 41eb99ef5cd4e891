"""Distances between rows of numbers: by hand, against SciPy and scikit-learn, and on every kind of input."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import nan_euclidean_distances
from tests.distances.vector_distances import EVERY, rows_for

import bisector
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
    coordinate_distance as core,
)

W = np.array([0.5, 2.0, 0.0, 1.0, 3.0])
COVARIANCE = np.diag([1.0, 2.0, 3.0, 4.0, 5.0]) + 0.5
# What SciPy calls the same distance, on five columns.
IN_SCIPY = [
    (Euclidean(), {"metric": "euclidean"}),
    (Euclidean(squared=True), {"metric": "sqeuclidean"}),
    (Euclidean(W), {"metric": "euclidean", "w": W}),
    (Manhattan(), {"metric": "cityblock"}),
    (Manhattan(W), {"metric": "cityblock", "w": W}),
    (Chebyshev(), {"metric": "chebyshev"}),
    (Minkowski(0.5), {"metric": "minkowski", "p": 0.5}),
    (Minkowski(1), {"metric": "minkowski", "p": 1}),
    (Minkowski(1.5), {"metric": "minkowski", "p": 1.5}),
    (Minkowski(1.5, W), {"metric": "minkowski", "p": 1.5, "w": W}),
    (Minkowski(2), {"metric": "minkowski", "p": 2}),
    (Minkowski(2.7), {"metric": "minkowski", "p": 2.7}),
    (Minkowski(3), {"metric": "minkowski", "p": 3}),
    (Minkowski(4), {"metric": "minkowski", "p": 4}),
    (Minkowski(math.inf), {"metric": "minkowski", "p": math.inf}),
    (Mahalanobis(COVARIANCE), {"metric": "mahalanobis", "VI": np.linalg.inv(COVARIANCE)}),
    (Elliptical(COVARIANCE), {"metric": "mahalanobis", "VI": COVARIANCE}),
]
# Formulas that no matrix product computes when there are so few columns, and that transform no row.
DIRECT = [
    Euclidean(),
    Euclidean(W),
    Manhattan(),
    Chebyshev(W),
    Minkowski(0.5),
    Minkowski(1.5),
    Minkowski(2.7),
    Minkowski(3),
    Minkowski(4),
    Hamming(),
    Hamming(False, W),
]
each_direct = pytest.mark.parametrize("distance", DIRECT, ids=repr)


def table(n=12, d=5, seed=0):
    """Numbers with ties and zeros, so that sparse rows are worth it and Hamming meets equal values."""
    rng = np.random.default_rng(seed)
    return np.where(rng.random((n, d)) < 0.4, 0.0, rng.normal(size=(n, d)).round(1))


# By hand


def test_by_hand():
    x, y = [0, 0], [3, -4]
    assert Euclidean()(x, y) == 5.0
    assert Euclidean(squared=True)(x, y) == 25.0
    assert Manhattan()(x, y) == 7.0
    assert Chebyshev()(x, y) == 4.0
    assert Minkowski(1)(x, y) == 7.0
    assert Minkowski(0.5)(x, y) == pytest.approx((3**0.5 + 2) ** 2, rel=1e-15)
    assert Minkowski(3)([0], [2]) == 2.0
    assert Hamming()([1, 2, 3, 4], [1, 0, 3, 0]) == 0.5
    assert Hamming(normalised=False)([1, 2, 3, 4], [1, 0, 3, 0]) == 2.0


def test_weights_by_hand():
    x, y, w = [0, 0, 5], [3, -4, 9], [4.0, 1.0, 0.0]
    assert Euclidean(w)(x, y) == math.sqrt(4 * 9 + 16)
    assert Manhattan(w)(x, y) == 16.0
    assert Chebyshev(w)(x, y) == 12.0
    assert Minkowski(math.inf, w)(x, y) == 12.0
    assert Hamming(weights=w)([1, 2, 3], [1, 0, 0]) == 1 / 5
    assert Hamming(False, w)([1, 2, 3], [0, 0, 3]) == 5.0


def test_rows_that_differ_everywhere_have_share_one():
    """Not 0.9999999999999999, as 49 times 1/49 is."""
    assert Hamming()(np.zeros(49), np.ones(49)) == 1.0
    weights = np.random.default_rng(0).random(49)
    assert Hamming(weights=weights)(np.zeros(49), np.ones(49)) == 1.0


# Oracles


@pytest.mark.parametrize(("distance", "scipys"), IN_SCIPY, ids=lambda case: repr(case)[:40])
def test_equals_scipy(distance, scipys):
    X, Y = table(12), table(7, seed=1)
    assert_allclose(distance.pairwise(X, Y), cdist(X, Y, **scipys), rtol=1e-12)


@pytest.mark.parametrize("weights", [None, W])
def test_hamming_equals_scipy(weights):
    X, Y = table(12).round(), table(7, seed=1).round()
    assert_allclose(Hamming(weights=weights).pairwise(X, Y), cdist(X, Y, "hamming", w=weights), rtol=1e-12)


def test_cosine_equals_scipy_where_that_keeps_its_digits():
    X, Y = np.random.default_rng(0).normal(size=(2, 12, 5))
    # 1 − cos is computed there as a difference of numbers of size one, so its error is absolute.
    assert_allclose(Cosine().pairwise(X, Y), cdist(X, Y, "cosine"), rtol=0, atol=1e-14)


def test_weights_multiply_differences_in_chebyshev_where_scipys_select_features():
    x, y = np.array([[0.0, 0.0, 0.0]]), np.array([[1.0, 2.0, 3.0]])
    weights = np.array([5.0, 1.0, 0.0])
    assert Chebyshev(weights).pairwise(x, y)[0, 0] == 5.0
    assert cdist(x, y, "chebyshev", w=weights)[0, 0] == 2.0


def test_many_columns_equal_scipy():
    """Enough columns for matrix products, and not a multiple of the unrolled eight."""
    X, Y = np.random.default_rng(0).normal(size=(2, 30, 37))
    for distance, name in (
        (Euclidean(), "euclidean"),
        (Manhattan(), "cityblock"),
        (Chebyshev(), "chebyshev"),
    ):
        assert_allclose(distance.pairwise(X, Y), cdist(X, Y, name), rtol=1e-12)
    weights = np.arange(37.0)
    assert_allclose(Euclidean(weights).pairwise(X, Y), cdist(X, Y, "euclidean", w=weights), rtol=1e-12)


# One pair and many, in every form


@each_direct
def test_one_pair_has_the_bits_of_the_matrix(distance):
    X, Y = table(9), table(6, seed=1)
    found = distance.pairwise(X, Y)
    assert_array_equal(found, [[distance(x, y) for y in Y] for x in X])


@pytest.mark.parametrize("distance", EVERY, ids=repr)
def test_one_pair_agrees_with_the_matrix_for_every_distance(distance):
    rng = np.random.default_rng(0)
    X = rows_for(distance, 6, rng)
    distance = distance.learned(X)
    found = distance.pairwise(X)
    alone = [[distance(x, y) for y in X] for x in X]
    assert_allclose(found, alone, rtol=1e-12, atol=1e-15)
    assert type(alone[0][1]) is float


@pytest.mark.parametrize("distance", EVERY, ids=repr)
def test_rows_among_themselves(distance):
    """Without Y the matrix is that of X with X, and exactly symmetric with zeros."""
    X = rows_for(distance, 9, np.random.default_rng(0))
    found = distance.pairwise(X)
    assert_array_equal(found, found.T)
    assert_array_equal(np.diag(found), 0.0)
    assert_allclose(found, distance.pairwise(X, X), rtol=1e-12, atol=1e-15)


FORMS = {
    "Fortran order": np.asfortranarray,
    "read-only": lambda t: np.frombuffer(t.tobytes()).reshape(t.shape),
    "every other column": lambda t: np.repeat(t, 2, axis=1)[:, ::2],
    "backwards": lambda t: np.ascontiguousarray(t[::-1])[::-1],
    "big-endian": lambda t: t.astype(">f8"),
    "long double": lambda t: t.astype(np.longdouble),
    "objects": lambda t: t.astype(object),
    "lists": lambda t: t.tolist(),
    "matrix of masks": np.ma.masked_array,
    "pandas": lambda t: pd.DataFrame(t, columns=list("abcde")),
    "pandas nullable": lambda t: pd.DataFrame(t, columns=list("abcde")).astype("Float64"),
    "polars": lambda t: pl.DataFrame(t, schema=list("abcde")),
    "Arrow": lambda t: pa.table(list(t.T), names=list("abcde")),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_dense_rows_change_nothing(form):
    X, Y = table(8), table(5, seed=1)
    for distance in (Manhattan(), Euclidean()):
        expected = distance.pairwise(X, Y)
        for other in (distance.pairwise(FORMS[form](X), Y), distance.pairwise(X, FORMS[form](Y))):
            assert other.dtype == np.float64
            assert_array_equal(other, expected)
    assert distance(FORMS["pandas"](X[:1]), Y[0]) == distance(X[0], Y[0])


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16])
def test_integers_and_booleans_become_float64(dtype):
    X = (table(8) > 0).astype(dtype)
    found = Manhattan().pairwise(X)
    assert found.dtype == np.float64
    assert_array_equal(found, cdist(X.astype(float), X.astype(float), "cityblock"))


@pytest.mark.parametrize("distance", EVERY, ids=repr)
def test_float32_rows_give_float32_distances_of_the_float64_computation(distance):
    X = rows_for(distance, 7, np.random.default_rng(0)).astype(np.float32)
    distance = distance.learned(X)
    found = distance.pairwise(X)
    assert found.dtype == np.float32
    # Only the result is rounded to float32: half of its spacing, 6e-8.
    assert_allclose(found, distance.pairwise(X.astype(np.float64)), rtol=1e-7)
    assert distance.pairwise(X, X.astype(np.float64)).dtype == np.float64
    assert distance.pairwise(X, X).dtype == np.float32


# Sparse rows


def messy_csr(t, make=sp.csr_array):
    """CSR with explicit zeros, entries in descending order, and every value stored in two parts."""
    row, column = np.nonzero(t)
    zero = np.argwhere(t == 0)[0]
    row, column = np.append(row, zero[0]), np.append(column, zero[1])
    half = t[row, column] / 2
    order = np.lexsort((-np.tile(column, 2), np.tile(row, 2)))
    starts = np.searchsorted(np.tile(row, 2)[order], np.arange(len(t) + 1))
    return make((np.tile(half, 2)[order], np.tile(column, 2)[order], starts), shape=t.shape)


SPARSE = {
    "csr_array": sp.csr_array,
    "csr_matrix": sp.csr_matrix,
    "csc_array": sp.csc_array,
    "coo_array": sp.coo_array,
    "messy csr_array": messy_csr,
    "messy csr_matrix": lambda t: messy_csr(t, sp.csr_matrix),
}


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("columns", ["few", "many"])
def test_sparse_rows_have_the_bits_of_dense_ones(kind, columns, monkeypatch):
    if columns == "many":  # then along the entries, instead of as dense tiles
        monkeypatch.setattr(core, "_DENSE_COLUMNS", 0)
    X, Y = table(8), table(5, seed=1)
    X[3] = 0.0
    for distance in (Manhattan(), Euclidean(), Chebyshev(W), Hamming(False)):
        expected = distance.pairwise(X, Y)
        assert_array_equal(distance.pairwise(SPARSE[kind](X), SPARSE[kind](Y)), expected)
        assert_array_equal(distance.pairwise(SPARSE[kind](X)), distance.pairwise(X))
        assert_array_equal(distance.pairwise(SPARSE[kind](X), Y), expected)
        assert_array_equal(distance.pairwise(X, SPARSE[kind](Y)), expected)
        assert distance(SPARSE[kind](X[:1]), Y[0]) == distance(X[0], Y[0])


def test_sparse_input_is_left_as_it_was():
    X = messy_csr(table(8))
    before = X.copy()
    Manhattan().pairwise(X)
    assert_array_equal(X.indices, before.indices)
    assert_array_equal(X.data, before.data)


def test_more_columns_than_a_dense_tile_takes():
    rng = np.random.default_rng(0)
    X = sp.random_array((6, 6000), density=0.002, format="csr", rng=rng)
    Y = sp.random_array((4, 6000), density=0.002, format="csr", rng=rng)
    for distance in (Manhattan(), Euclidean()):
        assert_allclose(
            distance.pairwise(X, Y), distance.pairwise(X.toarray(), Y.toarray()), rtol=1e-12, atol=1e-15
        )
        assert_allclose(distance.pairwise(X), distance.pairwise(X.toarray()), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("distance", EVERY, ids=repr)
def test_sparse_rows_for_every_distance(distance):
    X = rows_for(distance, 8, np.random.default_rng(0))
    X[np.abs(X) < 0.3] = 0.0
    Y = X[:3] + 0.0
    distance = distance.learned(X)
    for one, other in [(sp.csr_array(X), sp.csr_array(Y)), (sp.csr_array(X), Y), (X, sp.csr_array(Y))]:
        assert_allclose(distance.pairwise(one, other), distance.pairwise(X, Y), rtol=1e-12, atol=1e-15)


def test_sparse_float32_and_integers():
    X = table(8).round()
    assert Manhattan().pairwise(sp.csr_array(X.astype(np.float32))).dtype == np.float32
    assert_array_equal(Manhattan().pairwise(sp.csr_array(X.astype(np.int8))), Manhattan().pairwise(X))
    assert_array_equal(Hamming().pairwise(sp.csr_array(X > 0)), Hamming().pairwise(X > 0))


# Where the result goes, and what must not change it


def test_out_is_filled_and_returned(tmp_path):
    X, Y = table(8), table(5, seed=1)
    expected = Manhattan().pairwise(X, Y)
    out = np.empty((8, 5))
    assert Manhattan().pairwise(X, Y, out=out) is out
    assert_array_equal(out, expected)
    single = np.empty((8, 5), dtype=np.float32)
    assert_array_equal(Manhattan().pairwise(X, Y, out=single), expected.astype(np.float32))
    mapped = np.memmap(tmp_path / "out", dtype=np.float64, mode="w+", shape=(8, 8))
    assert Euclidean().pairwise(X, out=mapped) is mapped
    assert_array_equal(mapped, Euclidean().pairwise(X))


def test_out_of_the_wrong_kind_is_refused():
    X = table(4)
    sentence = (
        r"out must be an aligned, writable, C-contiguous array of float32 or float64 with the shape \(4, 4\)"
    )
    for wrong, said in [
        (np.empty((4, 5)), r"float64 with the shape \(4, 5\)"),
        (np.empty((4, 4), dtype=int), "int64"),
        (np.empty((4, 4), dtype=">f8"), ">f8"),
        (np.empty((4, 4), order="F"), "not C-contiguous"),
        (np.empty((4, 8))[:, ::2], "not C-contiguous"),
    ]:
        with pytest.raises(ValueError, match=f"{sentence}.*{said}"):
            Manhattan().pairwise(X, out=wrong)
    fixed = np.empty((4, 4))
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match=f"{sentence}, but it is not writable"):
        Manhattan().pairwise(X, out=fixed)
    with pytest.raises(TypeError, match=f"{sentence}, not a list"):
        Manhattan().pairwise(X, out=[[0.0] * 4] * 4)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 64), (1000, 1000)])
def test_tiles_change_no_bit(shape, monkeypatch):
    X, Y = table(9), table(7, seed=1)
    expected = [(distance.pairwise(X, Y), distance.pairwise(X)) for distance in DIRECT]
    height, width = shape
    monkeypatch.setattr(core, "_MOST_OUTER", height)
    monkeypatch.setattr(core, "_FEWEST_INNER", 1)
    monkeypatch.setattr(core, "_MOST_INNER", width)
    for distance, (apart, among) in zip(DIRECT, expected, strict=True):
        assert_array_equal(distance.pairwise(X, Y), apart)
        assert_array_equal(distance.pairwise(X), among)


def test_threads_change_no_bit():
    X = np.random.default_rng(0).normal(size=(70, 20))
    for distance in (Euclidean(), Manhattan()):
        expected = distance.pairwise(X, n_jobs=1)
        for n_jobs in (2, 5, None):
            assert_array_equal(distance.pairwise(X, n_jobs=n_jobs), expected)


def test_what_does_not_fit_into_memory_is_refused_before_it_is_made():
    X = np.zeros((1000, 2))
    sentence = "Comparing 1,000 with 1,000 rows needs 7.63 MiB for 1,000 × 1,000 distances"
    with bisector.config(memory="1 MB"), pytest.raises(MemoryError, match=re.escape(sentence)):
        Manhattan().pairwise(X)
    with bisector.config(memory="1 MB"):
        assert Manhattan().pairwise(X[:10]).shape == (10, 10)


# Edges


@pytest.mark.parametrize("distance", EVERY, ids=repr)
def test_no_rows_and_one_row(distance):
    X = rows_for(distance, 8, np.random.default_rng(0))
    distance = distance.learned(X)
    none = X[:0]
    assert distance.pairwise(none).shape == (0, 0)
    assert distance.pairwise(X, none).shape == (8, 0)
    assert distance.pairwise(none, X).shape == (0, 8)
    assert_array_equal(distance.pairwise(X[:1]), [[0.0]])


def test_one_column():
    X = table(6, 1)
    expected = np.abs(X - X.T)
    for distance in (Euclidean(), Manhattan(), Chebyshev()):
        assert_array_equal(distance.pairwise(X), expected)
    assert_allclose(Minkowski(2.7).pairwise(X), expected, rtol=1e-12)


def test_fewer_rows_than_columns():
    X = np.random.default_rng(0).normal(size=(3, 40))
    assert_allclose(Euclidean().pairwise(X), cdist(X, X), rtol=1e-12)


@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
def test_scale_carries_over(size):
    """Squares of numbers up to 1e150 fit into float64; dividing the unit out leaves rounding only."""
    X = np.random.default_rng(0).normal(size=(6, 20))
    for distance in (Euclidean(), Euclidean(np.arange(20.0)), Manhattan(), Chebyshev(), Minkowski(1.5)):
        for columns in (slice(None), slice(12)):
            weights = None if distance.weights is None else distance.weights[columns]
            one = distance.set_params(weights=weights)
            expected = one.pairwise(X[:, columns])
            assert_allclose(one.pairwise(X[:, columns] * size) / size, expected, rtol=1e-12)
    assert_allclose(Cosine().pairwise(X * size), Cosine().pairwise(X), rtol=1e-12, atol=1e-15)
    assert_allclose(Mahalanobis().pairwise(X[:, :3] * size), Mahalanobis().pairwise(X[:, :3]), rtol=1e-9)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")  # of NumPy, where loops run as Python
@pytest.mark.parametrize("n_features", [3, 20])
def test_overflow_is_infinite_and_never_zero(n_features):
    """Squares of 1e200 are no float64 numbers: the distance overflows as its formula does."""
    X = np.vstack([np.full(n_features, 1e200), np.full(n_features, 1.1e200), np.full(n_features, -1e200)])
    for distance in (Euclidean(), Euclidean(squared=True), Minkowski(3), Minkowski(2.7)):
        found = distance.pairwise(X)
        assert_array_equal(found, np.where(np.eye(3) == 1, 0.0, math.inf))
        assert distance(X[0], X[1]) == math.inf
    assert_allclose(Manhattan().pairwise(X), cdist(X, X, "cityblock"), rtol=1e-14)
    largest = Euclidean().pairwise(np.array([[3e38], [-3e38]], dtype=np.float32))
    assert largest[0, 1] == math.inf  # no float32 number either


def test_cosine_and_chebyshev_do_not_overflow():
    X = np.array([[1e300, 1e300], [1e300, -1e300], [1e-300, 1e-300], [5e-324, 0.0]])
    expected = [0.0, 1.0, 0.0, 1 - math.sqrt(0.5)]
    assert_allclose(Cosine().pairwise(X)[0], expected, rtol=1e-12, atol=1e-15)
    assert Chebyshev()(X[0], X[1]) == 2e300


# Missing values


def skip_missing_oracle(x, y, weights, terms, whole):
    """Terms of the coordinates that both rows have, scaled up from the weight present to all weight."""
    both = ~(np.isnan(x) | np.isnan(y))
    if not (weights * both).sum() > 0:
        return math.inf
    total = sum(w * terms(a, b) for a, b, w in zip(x[both], y[both], weights[both], strict=True))
    return total * weights.sum() / weights[both].sum() / whole


def holes(t, seed=5):
    t = t.copy()
    t[np.random.default_rng(seed).random(t.shape) < 0.3] = np.nan
    return t


def test_skip_missing_equals_nan_euclidean_where_rows_share_coordinates():
    X, Y = holes(table(9)), holes(table(6, seed=1), 6)
    found, expected = Euclidean(skip_missing=True).pairwise(X, Y), nan_euclidean_distances(X, Y)
    assert_array_equal(np.isinf(found), np.isnan(expected))
    shared = np.isfinite(found)
    # Theirs subtracts squares of size up to ten, so that an error of 1e-15 in the square may show as its root.
    assert_allclose(found[shared], expected[shared], rtol=1e-12, atol=1e-7)


def test_rows_with_nothing_in_common_are_infinitely_far():
    """Where scikit-learn says NaN: an infinite distance sorts last and is within no radius."""
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [1.0, 2.0]])
    for distance in (Euclidean(), Manhattan(), Chebyshev(), Minkowski(3), Hamming()):
        distance = distance.set_params(skip_missing=True)
        found = distance.pairwise(X)
        assert_array_equal(
            np.isinf(found), [[False, True, False], [True, False, False], [False, False, False]]
        )
        assert distance(X[0], X[1]) == math.inf


@pytest.mark.parametrize("weights", [None, W], ids=["plain", "weighted"])
@pytest.mark.parametrize(
    ("distance", "term", "finish"),
    [
        (Euclidean(skip_missing=True), lambda a, b: (a - b) ** 2, math.sqrt),
        (Euclidean(squared=True, skip_missing=True), lambda a, b: (a - b) ** 2, float),
        (Manhattan(skip_missing=True), lambda a, b: abs(a - b), float),
        (Minkowski(3, skip_missing=True), lambda a, b: abs(a - b) ** 3, lambda v: v ** (1 / 3)),
        (Hamming(False, skip_missing=True), lambda a, b: float(a != b), float),
    ],
    ids=lambda case: repr(case) if isinstance(case, bisector.distances.Distance) else "",
)
def test_skip_missing_against_its_definition(distance, term, finish, weights):
    X, Y = holes(table(7)), holes(table(5, seed=1), 6)
    distance = distance.set_params(weights=weights)
    w = np.ones(5) if weights is None else weights
    expected = [[finish(skip_missing_oracle(x, y, w, term, 1.0)) for y in Y] for x in X]
    assert_allclose(distance.pairwise(X, Y), expected, rtol=1e-12)
    assert_array_equal(distance.pairwise(X, Y), [[distance(x, y) for y in Y] for x in X])
    assert_array_equal(distance.pairwise(sp.csr_array(X), sp.csr_array(Y)), distance.pairwise(X, Y))


def test_skip_missing_in_chebyshev_and_shares():
    assert Chebyshev(skip_missing=True)([1, np.nan, 9], [3, 5, np.nan]) == 2.0
    assert Chebyshev([1, 5, 5], skip_missing=True)([1, 2, 9], [3, 4, np.nan]) == 10.0
    assert Hamming(skip_missing=True)([1, np.nan, 3, 4], [1, 2, 0, np.nan]) == 0.5


def test_skip_missing_without_missing_values_changes_no_bit():
    X = table(8)
    for distance in (Euclidean(), Manhattan(), Chebyshev(W), Minkowski(3), Hamming(weights=W)):
        assert_array_equal(distance.set_params(skip_missing=True).pairwise(X), distance.pairwise(X))


def test_missing_values_in_frames_masks_and_wide_sparse_rows(monkeypatch):
    X = holes(table(6))
    distance = Manhattan(skip_missing=True)
    expected = distance.pairwise(X)
    masked = np.ma.masked_array(np.where(np.isnan(X), 99.0, X), np.isnan(X))
    frame = pd.DataFrame(X, columns=list("abcde"))
    for form in (frame, frame.astype("Float64"), pl.from_pandas(frame), masked, X.astype(object)):
        assert_array_equal(distance.pairwise(form), expected)
    monkeypatch.setattr(core, "_DENSE_COLUMNS", 0)
    assert_array_equal(distance.pairwise(sp.csr_array(X)), expected)


# Bad input


@pytest.mark.parametrize("p", [0, -1, -math.inf, math.nan, 0.0])
def test_orders_that_make_no_distance_are_refused(p):
    with pytest.raises(ValueError, match="p must be a number above 0, not"):
        Minkowski(p)


@pytest.mark.parametrize("p", ["2", None, True, [2]])
def test_orders_that_are_no_numbers_are_refused(p):
    with pytest.raises(TypeError, match="p must be a number above 0, not"):
        Minkowski(p)


@pytest.mark.parametrize("cls", [Euclidean, Manhattan, Chebyshev, Minkowski, Hamming])
def test_bad_weights_are_refused(cls):
    for weights, said in [
        ([1, -1], "finite and not negative, but that of feature 1 is -1"),
        ([1, math.nan], "that of feature 1 is nan"),
        ([math.inf, 1], "that of feature 0 is inf"),
        ([0, 0], "weights are all zero"),
        ([[1, 2]], r"shape \(1, 2\)"),
        ([], "one number for each feature"),
        (5.0, r"shape \(\)"),
        (["a", "b"], "one number for each feature"),
    ]:
        with pytest.raises(ValueError, match=said):
            cls(weights=weights)
    with pytest.raises(ValueError, match="There are 3 weights, but the rows have 5 features"):
        cls(weights=[1, 2, 3]).pairwise(table(4))
    with pytest.raises(ValueError, match="There are 3 weights, but the rows have 2 features"):
        cls(weights=[1, 2, 3])([1, 2], [3, 4])


@pytest.mark.parametrize(
    ("cls", "flag"),
    [
        (Euclidean, "squared"),
        (Euclidean, "skip_missing"),
        (Hamming, "normalised"),
        (Cosine, "angle"),
        (Haversine, "degrees"),
        (Mahalanobis, "squared"),
    ],
)
def test_flags_are_flags(cls, flag):
    with pytest.raises(ValueError, match=f"{flag} must be True or False, not 'yes'"):
        cls(**{flag: "yes"})
    assert cls(**{flag: np.True_}).get_params()[flag] is True


def test_rows_that_cannot_be_compared_are_refused():
    X = table(4)
    with pytest.raises(ValueError, match="x has 2 coordinates, but y has 3"):
        Euclidean()([1, 2], [1, 2, 3])
    with pytest.raises(ValueError, match="X has 5 columns, but the rows it is compared with have 4"):
        Euclidean().pairwise(X, X[:, :4])
    with pytest.raises(ValueError, match="n_jobs=0 has no meaning"):
        Euclidean().pairwise(np.zeros((600, 2)), n_jobs=0)
