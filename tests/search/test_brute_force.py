"""BruteForce: the same rows as a stable sort of the formula's distances, for any distance and any data."""

import contextlib
import pickle
from unittest import mock

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_array_equal
from tests.properties.strategies import EXTREMES, TROUBLES, awkward_tables

import bisector
from bisector.distances import (
    Bishop,
    Chebyshev,
    Compiled,
    Cosine,
    Euclidean,
    Gower,
    Haversine,
    Jaccard,
    Levenshtein,
    Mahalanobis,
    Manhattan,
    Minkowski,
    Pawn,
    Precomputed,
)
from bisector.search import brute_force
from bisector.search.brute_force import BruteForce


def sums(term, X, Q):
    """Terms of every query and row, added in the order of the coordinates: the bits of the formula."""
    X, Q = np.asarray(X, dtype=np.float64), np.asarray(Q, dtype=np.float64)
    total = np.zeros((len(Q), len(X)))
    with np.errstate(over="ignore"):
        for j in range(X.shape[1]):
            total += term(Q[:, j, None] - X[None, :, j])
    return total


REDUCED = {
    Euclidean(): np.square,
    Euclidean(squared=True): np.square,
    Manhattan(): np.abs,
    Minkowski(0.5): lambda difference: np.sqrt(np.abs(difference)),
}


def filled(distance, X, Q):
    """Reduced distances, tile by tile, where no short formula is at hand."""
    rows = distance.prepare(X)
    pairs = distance.between(distance.prepare(Q, like=rows), rows)
    reduced = np.empty(pairs.shape)
    pairs.fill(range(pairs.shape[0]), range(pairs.shape[1]), reduced)
    return reduced


def nearest(reduced, k):
    return np.argsort(reduced, axis=1, kind="stable")[:, :k]


def finish(distance, X, values):
    rows = distance.prepare(X)
    return distance.between(rows, rows).finish(values)


@contextlib.contextmanager
def always_screened():
    """Screen small data too, which otherwise is left to the formula because that is faster."""
    with mock.patch.multiple(brute_force, _QUERIES_TO_SCREEN=0, _PAIRS_TO_SCREEN=0, LARGEST_SHARE=1.0):
        yield


def check(index, distance, X, Q, reduced, ks, n_jobs=None):
    """All that an index answers, against reduced distances."""
    finished = finish(distance, X, reduced)
    for k in ks:
        distances, numbers = index.query(Q, k, n_jobs=n_jobs)
        expected = nearest(reduced, k)
        assert_array_equal(numbers, expected)
        assert_array_equal(distances, np.take_along_axis(finished, expected, axis=1))
    for share in (0.0, 0.02, 0.3, 1.0):
        radius = np.sort(finished, axis=1)[:, int(share * (len(X) - 1))]
        inside = finished <= radius[:, None]
        assert_array_equal(index.query_radius(Q, radius, count_only=True, n_jobs=n_jobs), inside.sum(axis=1))
        found = index.query_radius(Q, radius, n_jobs=n_jobs)
        owners, numbers = np.nonzero(inside)
        assert_array_equal(np.repeat(np.arange(len(reduced)), np.diff(found.indptr)), owners)
        assert_array_equal(found.indices, numbers)
        assert_array_equal(found.data, finished[inside])


# By hand


def test_five_points_on_a_line():
    index = BruteForce([[0.0], [1.0], [3.0], [3.0], [10.0]])
    distances, numbers = index.query([[2.0], [9.0]], k=3)
    assert_array_equal(numbers, [[1, 2, 3], [4, 2, 3]])  # three rows are at distance 1 from the first query
    assert_array_equal(distances, [[1, 1, 1], [1, 6, 6]])
    assert_array_equal(index.query([[2.0]], k=1, return_distance=False), [[1]])
    found = index.query_radius([[2.0], [6.5]], [1.0, 3.5])
    assert_array_equal(found.toarray(), [[0, 1, 1, 1, 0], [0, 0, 3.5, 3.5, 3.5]])
    assert_array_equal(index.query_radius([[2.0], [6.5]], 1.0, count_only=True), [3, 0])


def test_the_radius_is_included_and_zero_is_stored():
    index = BruteForce([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    found = index.query_radius([[3.0, 4.0]], 5.0, sort=True)
    assert_array_equal(found.indices, [1, 2, 0])
    assert_array_equal(found.data, [0.0, 0.0, 5.0])


def test_stats_count_every_row():
    index = BruteForce(np.arange(10.0).reshape(5, 2))
    index.query(np.zeros((3, 2)), 2)
    assert (index.stats.queries, index.stats.distances, index.stats.share) == (3, 15, 1.0)
    index.remove([0, 1])
    index.query_radius(np.zeros((2, 2)), 1.0)
    index.query_radius(np.zeros((2, 2)), 1.0, count_only=True)
    assert (index.stats.queries, index.stats.distances, index.stats.share) == (7, 27, 1.0)


# Against a stable sort


@pytest.mark.parametrize("distance", REDUCED, ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_stable_sort_of_the_formula(distance, dtype):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(700, 17)).astype(dtype), rng.normal(size=(400, 17)).astype(dtype)
    X[100:200] = X[:100]
    Q[:50] = X[:50]
    reduced = sums(REDUCED[distance], X, Q)
    check(BruteForce(X, distance), distance, X, Q, reduced, ks=(1, 5, 80, 700))


def lattice(rng, n, d):
    return rng.integers(3, size=(n, d)).astype(float)


def duplicates(rng, n, d):
    return np.repeat(rng.normal(size=(2, d)), n, axis=0)[rng.permutation(2 * n)[:n]]


def clusters(rng, n, d):
    return rng.integers(2, size=(n, 1)) + 1e-6 * rng.normal(size=(n, d))


def far_off(rng, n, d):
    return 1e6 + rng.normal(size=(n, d))


def one_far_out(rng, n, d):
    return rng.normal(size=(n, d)) * np.where(np.arange(n) == 7, 1e25, 1.0)[:, None]


@pytest.mark.parametrize("make", [lattice, duplicates, clusters, far_off, one_far_out])
def test_data_that_products_cannot_tell_apart(make):
    """More than a thousand rows may be equally near, or nearer to each other than single precision can tell."""
    rng = np.random.default_rng(0)
    X, Q = make(rng, 2500, 12), make(rng, 150, 12)
    reduced = sums(np.square, X, Q)
    check(BruteForce(X), Euclidean(), X, Q, reduced, ks=(1, 10, 300))


tables = awkward_tables(min_rows=2, max_rows=40, max_features=6, troubles=TROUBLES + EXTREMES)


@settings(max_examples=80)
@given(tables, st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([np.float32, np.float64]))
def test_awkward_tables(table, seed, screened, dtype):
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        X = table.astype(dtype)
    X[~np.isfinite(X)] = 1.0
    Q = X[rng.permutation(len(X))[:5]]
    with np.errstate(over="ignore"):
        Q = np.concatenate([Q, Q[::-1] * dtype(0.5), X[:1] + X[-1:]])
    Q[~np.isfinite(Q)] = 2.0
    reduced = sums(np.square, X, Q)
    with always_screened() if screened else contextlib.nullcontext():
        index = BruteForce(X, "sqeuclidean")
        for k in {1, 2, len(X)}:
            assert_array_equal(index.query(Q, k)[1], nearest(reduced, k))
        bounds = np.sort(reduced, axis=1)[:, len(X) // 2]
        inside = reduced <= bounds[:, None]
        assert_array_equal(index.query_radius(Q, bounds, count_only=True), inside.sum(axis=1))
        assert_array_equal(index.query_radius(Q, bounds).indices, np.nonzero(inside)[1])


@settings(max_examples=80)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(2, 30), st.integers(1, 4))
def test_rows_that_are_gone_are_skipped(seed, screened, n, d):
    """Ties on a small lattice; k may exceed the rows that are left."""
    rng = np.random.default_rng(seed)
    X, Q = rng.integers(3, size=(n, d)).astype(float), rng.integers(3, size=(6, d)).astype(float)
    alive = rng.random(n) < 0.5
    reduced = np.where(alive, sums(np.square, X, Q), np.inf)
    k = int(rng.integers(1, n + 1))
    expected = np.where(np.arange(k) < alive.sum(), nearest(reduced, k), -1)
    with always_screened() if screened else contextlib.nullcontext():
        structure = BruteForce(X)._arrange(Euclidean().prepare(X))
        queries = Euclidean().prepare(Q)
        found = structure.nearest(queries, k, alive, 1)
        assert_array_equal(found.numbers, expected)
        assert_array_equal(found.reduced, np.sort(reduced, axis=1)[:, :k])
        assert found.computed == 6 * alive.sum()
        bounds = rng.integers(0, 6, size=6).astype(float)
        inside = reduced <= bounds[:, None]
        assert_array_equal(structure.count(queries, bounds, alive, 1)[0], inside.sum(axis=1))
        within = structure.within(queries, bounds, alive, 1)
        assert_array_equal(within.starts, [0, *np.cumsum(inside.sum(axis=1))])
        assert_array_equal(within.numbers, np.nonzero(inside)[1])
        assert_array_equal(within.reduced, reduced[inside])


# Any distance


def spherical(rng, n):
    return np.column_stack([rng.uniform(-1.5, 1.5, n), rng.uniform(-3, 3, n)])


@pytest.mark.parametrize(
    "distance",
    [
        Cosine(),
        Cosine(angle=True),
        Chebyshev(),
        Mahalanobis(np.diag([1.0, 2.0, 3.0]) + 0.5),
        Euclidean([1.0, 0.0, 5.0]),
        Minkowski(1.5, [1.0, 2.0, 3.0]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("screened", [True, False])
def test_distances_of_vectors(distance, screened):
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(300, 3)), rng.normal(size=(40, 3))
    X[7], Q[3], X[50:80] = 0.0, 0.0, X[:30]
    with always_screened() if screened else contextlib.nullcontext():
        check(BruteForce(X, distance), distance, X, Q, filled(distance, X, Q), ks=(1, 9, 300))


def test_points_on_a_globe():
    rng = np.random.default_rng(0)
    X, Q = spherical(rng, 800), spherical(rng, 400)
    check(BruteForce(X, "haversine"), Haversine(), X, Q, filled(Haversine(), X, Q), ks=(1, 9))


def test_strings():
    words = ["bisect", "bisector", "sector", "vector", "bitten", "kitten", "sector", ""]
    index = BruteForce(words, Levenshtein())
    distances, numbers = index.query(["sektor", "mitten"], k=3)
    assert_array_equal(numbers, [[2, 6, 3], [4, 5, 0]])
    assert_array_equal(distances, [[1, 1, 2], [1, 1, 5]])
    assert_array_equal(index.query_radius(["sector"], 2, count_only=True), [4])
    assert_array_equal(index.query_radius(["sector"], 2).indices, [1, 2, 3, 6])


def test_sets():
    index = BruteForce([{1, 2}, {1, 2, 3}, {9}, set()], Jaccard())
    distances, numbers = index.query([{1, 2, 3, 4}], k=2)
    assert_array_equal(numbers, [[1, 0]])
    assert_array_equal(distances, [[0.25, 0.5]])


def test_mixed_tables():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"age": [20.0, 30.0, 60.0, 30.0], "pet": ["cat", "dog", "cat", "dog"]})
    distance = Gower().learned(frame)
    check(BruteForce(frame, Gower()), distance, frame, frame, filled(distance, frame, frame), ks=(1, 4))


def test_a_users_function():
    def canberra(x, y):
        total = 0.0
        for j in range(len(x)):
            total += abs(x[j] - y[j]) / (abs(x[j]) + abs(y[j]) + 1.0)
        return total

    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(150, 4)), rng.normal(size=(30, 4))
    distance = Compiled(canberra)
    check(BruteForce(X, canberra), distance, X, Q, filled(distance, X, Q), ks=(1, 7, 150))


def test_precomputed():
    X = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    queries = X[[1, 3]] + 0.25
    index = BruteForce(X, Precomputed())
    assert_array_equal(index.query(queries, 3)[1], nearest(queries, 3))


def test_a_distance_that_is_not_symmetric_goes_from_the_query_to_the_row():
    """A pawn moves forward only: from b2 it reaches b4, never the other way round."""
    distances, numbers = BruteForce(["b2", "b5"], Pawn()).query(["b4"], k=2)
    assert_array_equal(numbers, [[1, 0]])
    assert_array_equal(distances, [[1.0, np.inf]])


def test_rows_out_of_reach_are_neighbours_too_the_farthest():
    squares = ["c1", "c2", "c3", "c4", "h6"]
    distances, numbers = BruteForce(squares, Bishop()).query(["c1"], k=5)
    assert_array_equal(numbers, [[0, 4, 2, 1, 3]])
    assert_array_equal(distances, [[0, 1, 2, np.inf, np.inf]])


def test_missing_values():
    X = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 3.0]])
    distances, numbers = BruteForce(X, "nan_euclidean").query([[1.0, np.nan], [0.0, 2.0]], k=3)
    assert_array_equal(numbers, [[0, 2, 1], [1, 0, 2]])
    assert_array_equal(distances[0], [0.0, np.sqrt(8), np.inf])


@pytest.mark.parametrize("queries_sparse", [True, False])
@pytest.mark.parametrize("rows_sparse", [True, False])
def test_sparse_rows_give_what_dense_rows_give(queries_sparse, rows_sparse):
    rng = np.random.default_rng(0)
    X, Q = sp.random_array((600, 30), density=0.2, rng=rng), sp.random_array((500, 30), density=0.2, rng=rng)
    dense, queries = X.toarray(), Q.toarray()
    reduced = sums(np.square, dense, queries)
    index = BruteForce(X if rows_sparse else dense)
    check(index, Euclidean(), dense, Q if queries_sparse else queries, reduced, ks=(1, 6))


# Neither threads nor tiles matter


@pytest.mark.parametrize("n", [1, 63, 64, 65, 513, 9000])
@pytest.mark.parametrize("m", [1, 65])
@pytest.mark.parametrize("screened", [True, False])
def test_any_size_any_threads(n, m, screened):
    rng = np.random.default_rng(0)
    X, Q = rng.integers(4, size=(n, 4)).astype(float), rng.integers(4, size=(m, 4)).astype(float)
    reduced = sums(np.square, X, Q)
    with always_screened() if screened else contextlib.nullcontext():
        for n_jobs in (1, 2, 5):
            check(BruteForce(X), Euclidean(), X, Q, reduced, ks=(1, min(n, 20)), n_jobs=n_jobs)


def test_a_single_query_sees_what_many_see():
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(30_000, 12)), rng.normal(size=(20, 12))
    together = BruteForce(X).query(Q, 7)
    index = BruteForce(X)
    for q in range(20):  # the first ones by the formula, the others screened
        alone = index.query(Q[q : q + 1], 7)
        assert_array_equal(alone[0][0], together[0][q])
        assert_array_equal(alone[1][0], together[1][q])


# Rows come and go


def test_added_and_removed_rows():
    rng = np.random.default_rng(0)
    X, Q = rng.integers(3, size=(900, 5)).astype(float), rng.integers(3, size=(300, 5)).astype(float)
    index = BruteForce(X[:500])
    assert_array_equal(index.add(X[500:900]), np.arange(500, 900))
    gone = rng.permutation(900)[:600]
    index.remove(gone)
    left = np.setdiff1d(np.arange(900), gone)
    reduced = sums(np.square, X[left], Q)
    for k in (1, 8, 300):
        assert_array_equal(index.query(Q, k)[1], left[nearest(reduced, k)])
    assert_array_equal(index.query_radius(Q, 1.0, count_only=True), (reduced <= 1).sum(axis=1))
    assert_array_equal(index.query_radius(Q, 1.0).indices, left[np.nonzero(reduced <= 1)[1]])


# Edges and bad input


def test_no_queries():
    index = BruteForce(np.ones((3, 2)))
    distances, numbers = index.query(np.ones((0, 2)), 2)
    assert distances.shape == numbers.shape == (0, 2)
    assert index.query_radius(np.ones((0, 2)), 1.0).shape == (0, 3)
    assert index.query_radius(np.ones((0, 2)), 1.0, count_only=True).shape == (0,)


def test_numbers_at_the_end_of_their_range():
    X = np.array([[-3e38, 1.0], [3e38, 2.0], [0.0, 0.0]], dtype=np.float32)
    wide = np.array([[-1.7e308, 1.0], [1.7e308, 2.0], [0.0, 0.0]])
    with always_screened(), np.errstate(over="ignore"):  # which compiled loops do not notice
        assert_array_equal(BruteForce(X).query(X, 3)[1], nearest(sums(np.square, X, X), 3))
        assert_array_equal(BruteForce(wide).query(wide, 3)[1], nearest(sums(np.square, wide, wide), 3))


def test_a_radius_without_end_lists_all():
    X = np.arange(12.0).reshape(6, 2)
    with always_screened():
        for radius in (1e100, 1e300, np.inf):
            assert_array_equal(BruteForce(X).query_radius(X, radius, count_only=True), np.full(6, 6))
            assert BruteForce(X).query_radius(X, radius).nnz == 36


def test_it_pickles():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 12))
    index = BruteForce(X)
    found = index.query(X, 3)
    again = pickle.loads(pickle.dumps(index))
    assert_array_equal(again.query(X, 3)[1], found[1])


def test_a_list_that_memory_cannot_hold():
    X = np.zeros((1000, 2))
    with bisector.config(memory="1 MB"), pytest.raises(MemoryError, match="count_only=True"):
        BruteForce(X).query_radius(X, 1.0)
    with bisector.config(memory="1 MB"):
        assert BruteForce(X).query_radius(X, 1.0, count_only=True).sum() == 1_000_000


def test_bad_input():
    index = BruteForce(np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match="k is 4, but the index holds only 3 rows"):
        index.query([[0.0, 0.0]], 4)
    with pytest.raises(ValueError, match="NaN in row 0, column 1"):
        index.query([[0.0, np.nan]])
    with pytest.raises(ValueError, match="3 columns"):
        index.query([[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="radius must not be negative"):
        index.query_radius([[0.0, 0.0]], -1.0)
    with pytest.raises(ValueError, match="no rows"):
        BruteForce(np.ones((0, 2)))
    with pytest.raises(ValueError, match="compares numbers"):
        BruteForce(["a", "b"])
    with pytest.raises(ValueError, match="was removed before"):
        index.remove(0) or index.remove(0)
