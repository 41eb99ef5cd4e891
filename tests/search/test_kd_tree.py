"""KDTree: the rows that comparing with every row finds, whatever the distance, the data and the tree's shape."""

import math
import pickle

import numba
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import cKDTree
from tests.properties.strategies import awkward_tables, lattices
from tests.search.every_row import check_answers, come_and_go

from bisector.distances import (
    Chebyshev,
    Cosine,
    Elliptical,
    Euclidean,
    Hamming,
    Haversine,
    Levenshtein,
    Mahalanobis,
    Manhattan,
    Minkowski,
)
from bisector.search import kd_build
from bisector.search.kd_tree import KDTree

LEAF_SIZES = (1, 3, 32)

# Plain Python would take minutes.
many_rows = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compilation is switched off")
EXAMPLES, ROWS = (20, 50) if numba.config.DISABLE_JIT else (400, 400)
# Of which plain Python warns.
overflowing = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")


def clusters(rng, n, d, spread=0.1):
    centres = rng.uniform(size=(10, d))
    return centres[rng.integers(10, size=n)] + spread * rng.normal(size=(n, d))


# By hand


def test_three_points_on_a_line():
    index = KDTree([[0.0], [1.0], [5.0]], leaf_size=1)
    distances, numbers = index.query([[3.0]], k=3)
    assert_array_equal(numbers, [[1, 2, 0]])  # two are equally far
    assert_array_equal(distances, [[2, 2, 3]])


def test_a_far_box_is_passed_over():
    """Two boxes of two rows: the query is compared with both boxes, then with the rows of the nearer one."""
    index = KDTree([[0.0], [100.0], [1.0], [101.0]], leaf_size=2)
    assert_array_equal(index.query([[0.4]], k=1)[1], [[0]])
    assert index.stats.distances == 2 + 2
    assert index.stats.brute_force == 4


def test_a_box_that_is_as_far_as_the_best_row_is_searched():
    """Row 0 lies beyond the other box's edge, as far as row 1 which is found first; the smaller number wins."""
    index = KDTree([[2.0], [0.0], [-1.0], [3.0]], leaf_size=2)
    assert_array_equal(index.query([[1.0]], k=1)[1], [[0]])


@many_rows
def test_boxes_within_the_radius_are_counted_as_a_whole():
    index = KDTree(np.arange(20_000.0)[:, None])
    assert_array_equal(index.query_radius([[10_000.0]], 1e6, count_only=True), [20_000])
    assert (
        index.stats.distances <= 2 * 32
    )  # the boxes below the root, for what is nearest and what is farthest
    assert_array_equal(index.query_radius([[10_000.0]], 5_000, count_only=True), [10_001])


# Against every row


@pytest.mark.parametrize("leaf_size", LEAF_SIZES)
@settings(max_examples=EXAMPLES)
@given(data=lattices())
def test_ties_go_to_the_smaller_number(leaf_size, data):
    X, Q = data
    check_answers(KDTree(X, leaf_size=leaf_size), X, Q, ks={1, min(3, len(X)), len(X)}, shares=(0.0, 0.5))


@overflowing
@settings(max_examples=EXAMPLES)
@given(
    table=awkward_tables(max_rows=60, max_features=20),
    leaf_size=st.sampled_from(LEAF_SIZES),
    seed=st.integers(0, 2**32 - 1),
)
def test_awkward_tables(table, leaf_size, seed):
    """Tiny, huge, overflowing and vanishing differences; far from zero; constant columns."""
    rng = np.random.default_rng(seed)
    Q = table[rng.integers(len(table), size=3)].copy()
    Q[0] = table.mean(axis=0)
    Q[1] *= 1 + 1e-7 * rng.normal(size=table.shape[1])
    index = KDTree(table, leaf_size=leaf_size)
    check_answers(index, table, Q, ks={1, len(table)}, shares=(0.0, 0.5))


@pytest.mark.parametrize(
    "distance",
    [
        Euclidean(squared=True),
        Euclidean(weights=[1.0, 0.0, 5.0, 1e-3]),
        Mahalanobis(),
        Elliptical(np.diag([1.0, 2.0, 0.0, 4.0])),
        Cosine(),
        Manhattan(),
        Minkowski(2.5),
        pytest.param(Cosine(angle=True), marks=pytest.mark.slow),
        pytest.param(Chebyshev(), marks=pytest.mark.slow),
        pytest.param(Mahalanobis(squared=True), marks=pytest.mark.slow),
        pytest.param(Chebyshev(weights=[1.0, 0.0, 5.0, 1e-3]), marks=pytest.mark.slow),
        pytest.param(Minkowski(0.8), marks=pytest.mark.slow),
        pytest.param(Minkowski(0.5), marks=pytest.mark.slow),
        pytest.param(Minkowski(0.5, weights=[1.0, 2.0, 0.0, 4.0]), marks=pytest.mark.slow),
        pytest.param(Minkowski(1.5), marks=pytest.mark.slow),
        pytest.param(Minkowski(3), marks=pytest.mark.slow),
        pytest.param(Minkowski(4), marks=pytest.mark.slow),
        pytest.param(Hamming(), marks=pytest.mark.slow),
        pytest.param(Hamming(weights=[1.0, 2.0, 3.0, 4.0], normalised=False), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_every_formula_whether_a_metric_or_not(distance):
    rng = np.random.default_rng(5)
    for X in (clusters(rng, ROWS, 4), rng.integers(-2, 3, size=(ROWS, 4)).astype(float)):
        Q = np.concatenate([X[:20], clusters(rng, 20, 4), np.zeros((1, 4))])
        for leaf_size in LEAF_SIZES:
            check_answers(KDTree(X, distance, leaf_size=leaf_size), X, Q, ks=(1, 7, len(X)))


def test_points_on_a_globe():
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.uniform(-90, 90, 500), rng.uniform(-180, 180, 500)])
    X[0], X[1] = (90.0, 0.0), (90.0, 77.0)  # the same place
    index = KDTree(X, Haversine(radius=6371.0, degrees=True), leaf_size=8)
    check_answers(index, X, np.concatenate([X[:10], -X[10:20]]), ks=(1, 5, 500))
    assert index.query_radius(X[:3], 1e9, count_only=True).tolist() == [500] * 3


@many_rows
def test_queries_on_the_edges_of_boxes():
    """Rows and queries on one line: bounds and distances differ by units in the last place, or not at all."""
    rng = np.random.default_rng(11)
    direction = rng.normal(size=7)
    X = 1e3 + np.outer(rng.integers(0, 40, size=800) / 3, direction)
    Q = 1e3 + np.outer(rng.integers(-5, 50, size=60) / 6, direction)
    for leaf_size in LEAF_SIZES:
        for distance in (Euclidean(), Minkowski(2.5)):
            check_answers(KDTree(X, distance, leaf_size=leaf_size), X, Q, ks=(1, 20, 90))


@overflowing
def test_rows_at_an_infinite_distance_count_as_rows():
    X = np.array([[1e200], [-1e200], [0.0], [1e200], [1e199]])
    distances, numbers = KDTree(X, leaf_size=2).query([[-1e200], [1.0]], 5)
    assert_array_equal(numbers, [[1, 0, 2, 3, 4], [2, 0, 1, 3, 4]])
    assert_array_equal(distances, [[0, *[math.inf] * 4], [1, *[math.inf] * 4]])
    assert_array_equal(KDTree(X).query_radius([[1.0]], math.inf, count_only=True), [5])


@many_rows
@pytest.mark.parametrize("n_features", [1, 2, 3, 5, 17])
def test_rows_in_many_cells(n_features):
    """So many rows that a sample divides them first, a crowd of equal ones, and queries in the order of cells."""
    rng = np.random.default_rng(n_features)
    X = np.concatenate([clusters(rng, 14_000, n_features), np.full((6_000, n_features), 0.25)])
    X = X[rng.permutation(len(X))]
    Q = np.concatenate([clusters(rng, 1_100, n_features, spread=0.2), X[:3]])
    index = KDTree(X)
    distances, numbers = index.query(Q, 4)
    some = rng.integers(len(Q), size=40)
    check_answers(index, X, Q[some], ks=(1, 200), shares=(0.0, 0.01))
    assert_array_equal(index.query(Q[some], 4)[1], numbers[some])
    assert_array_equal(index.query(Q[some], 4)[0], distances[some])
    radius = np.median(distances[:, 3])
    found = index.query_radius(Q, radius)
    assert_array_equal(np.diff(found.indptr), index.query_radius(Q, radius, count_only=True))
    assert_array_equal(found[some].toarray(), index.query_radius(Q[some], radius).toarray())
    assert found.has_sorted_indices


def test_few_rows_in_small_cells(monkeypatch):
    """The steps that millions of rows take, on few: empty and crowded cells, branches above branches."""
    for name, size in (("_CELL_ROWS", 16), ("_FEWEST_CELL_ROWS", 16), ("_SAMPLED_PER_CELL", 4)):
        monkeypatch.setattr(kd_build, name, size)
    rng = np.random.default_rng(3)
    for n in rng.integers(1, 5 * ROWS, size=EXAMPLES // 5):
        X = clusters(rng, n, int(rng.integers(1, 4)))
        X[rng.random(n) < rng.choice([0.0, 0.3, 0.9])] = X[0]
        if rng.random() < 0.5:
            X = np.round(4 * X)
        leaf_size = int(rng.choice([1, 2, 7]))
        index = KDTree(X, leaf_size=leaf_size)
        check_answers(index, X, np.concatenate([X[:3], clusters(rng, 3, X.shape[1])]), ks={1, min(4, n), n})


@many_rows
def test_equal_rows_that_no_sample_divides():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], [30_000, 1], axis=0)
    index = KDTree(X)
    assert_array_equal(index.query([[0.0, 0.0], [2.0, 2.0]], 3)[1], [[0, 1, 2], [30_000, 0, 1]])
    cost = index.stats.distances
    assert_array_equal(index.query_radius([[0.0, 0.0]], 0.0, count_only=True), [30_000])
    assert index.stats.distances - cost < 300


@many_rows
def test_rows_in_an_order_that_is_bad_for_medians_of_a_few():
    """Up and down again: the first, the middle and the last are the smallest, the largest and the smallest."""
    X = np.column_stack([20_000.0 - np.abs(np.arange(-20_000, 20_000)), np.zeros(40_000)])
    index = KDTree(X)
    check_answers(index, X, [[0.0, 0.0], [7.5, 1.0], [20_000.0, 0.0]], ks=(1, 5), shares=(0.001,))


@pytest.mark.parametrize("k", [1, 2, 511, 512, 513, 900])
def test_any_number_of_neighbours(k):
    """Few are kept in order, many in a heap."""
    rng = np.random.default_rng(k)
    X = rng.integers(0, 12, size=(1500, 2)).astype(float)
    check_answers(KDTree(X), X, X[:20] + 0.5, ks=(k,), shares=())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_rows_and_queries(dtype):
    rng = np.random.default_rng(2)
    X, Q = clusters(rng, 300, 5).astype(dtype), clusters(rng, 10, 5).astype(np.float32)
    check_answers(KDTree(X, leaf_size=10), X, Q, ks=(1, 9))


@pytest.mark.parametrize("leaf_size", LEAF_SIZES)
def test_rows_come_and_go(leaf_size):
    rng = np.random.default_rng(13)
    for seed in range(6):
        X = np.random.default_rng(seed).integers(0, 4, size=(120, 2)).astype(float)
        come_and_go(lambda rows: KDTree(rows, leaf_size=leaf_size), X, X[:5] + 0.5, rng)


def test_removed_rows_are_neither_counted_nor_found():
    X = np.arange(200.0)[:, None]
    index = KDTree(X, leaf_size=4)
    index.remove(np.arange(0, 200, 3))
    kept = np.setdiff1d(np.arange(200), np.arange(0, 200, 3))
    check_answers(index, X, [[0.0], [50.2], [300.0]], ks=(1, 70, len(kept)), kept=kept)


@many_rows
def test_another_program_finds_the_same_distances():
    rng = np.random.default_rng(17)
    X, Q = clusters(rng, 30_000, 3), clusters(rng, 2_000, 3)
    expected, rows = cKDTree(X).query(Q, 8)
    distances, numbers = KDTree(X).query(Q, 8)
    assert_allclose(distances, expected, rtol=1e-14)  # both add up three squares, in different orders
    assert_array_equal(numbers, rows)  # no two distances are as close as that


# What must not matter


@many_rows
def test_threads_do_not_matter():
    rng = np.random.default_rng(19)
    X, Q = clusters(rng, 14_000, 3), clusters(rng, 1_600, 3)
    index = KDTree(X)
    expected = index.query(Q, 6, n_jobs=1)
    within = index.query_radius(Q, 0.01, n_jobs=1)
    for n_jobs in (2, 3):
        for found, wanted in zip(index.query(Q, 6, n_jobs=n_jobs), expected, strict=True):
            assert_array_equal(found, wanted)
        again = index.query_radius(Q, 0.01, n_jobs=n_jobs)
        for part in ("indptr", "indices", "data"):
            assert_array_equal(getattr(again, part), getattr(within, part))


@many_rows
def test_the_cost_depends_on_the_queries_alone():
    rng = np.random.default_rng(19)
    X, Q = clusters(rng, 14_000, 3), clusters(rng, 1_600, 3)
    index = KDTree(X)
    index.query(Q, 6, n_jobs=1)
    cost = index.stats.distances
    index.query(Q[::-1], 6, n_jobs=2)
    assert index.stats.distances == 2 * cost
    assert index.stats.queries == 3_200
    assert index.stats.share < 0.05


def test_it_pickles():
    rng = np.random.default_rng(23)
    X = clusters(rng, 100, 2)
    index = KDTree(X, Euclidean(weights=[1.0, 3.0]), leaf_size=5)
    again = pickle.loads(pickle.dumps(index))
    assert_array_equal(again.query(X, 3)[1], index.query(X, 3)[1])
    assert not again._parts[0].structure.boxes.leaves.flags.writeable


# Edges


def test_one_row():
    index = KDTree([[3.0, 4.0]])
    assert_array_equal(index.query([[0.0, 0.0]])[0], [[5.0]])
    assert index.query_radius([[0.0, 0.0]], 4.9).nnz == 0
    assert index.query_radius([[0.0, 0.0]], 5.0).nnz == 1


def test_no_queries():
    index = KDTree(np.arange(10.0)[:, None], leaf_size=2)
    distances, numbers = index.query(np.empty((0, 1)), 3)
    assert distances.shape == numbers.shape == (0, 3)
    assert index.query_radius(np.empty((0, 1)), 1.0).shape == (0, 10)
    assert index.query_radius(np.empty((0, 1)), 1.0, count_only=True).shape == (0,)


def test_rows_far_out_at_every_scale():
    X = np.ldexp(1.0, np.arange(-500, 500))[:, None]
    check_answers(KDTree(X, leaf_size=1), X, X[::97] * 1.1, ks=(1, 3), shares=(0.1,))


def test_nothing_larger_than_the_lists_is_held():
    """What would not fit is refused before it is allocated."""
    import bisector

    index = KDTree(np.zeros((3_000, 1)))
    with (
        bisector.config(memory="1 MiB"),
        pytest.raises(MemoryError, match="300,000 rows within their radius"),
    ):
        index.query_radius(np.zeros((100, 1)), 1.0)
    with bisector.config(memory="1 MiB"):
        assert index.query_radius(np.zeros((100, 1)), 1.0, count_only=True).sum() == 300_000


# Refusals


def test_what_has_no_coordinates_is_refused():
    with pytest.raises(ValueError, match=r"Levenshtein\(\) compares none: use MetricTree"):
        KDTree(["a"], Levenshtein())


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="skips what is missing: use BruteForce"):
        KDTree([[1.0]], Euclidean(skip_missing=True))


def test_sparse_rows_are_refused():
    with pytest.raises(ValueError, match="KDTree takes dense rows: use BruteForce for sparse ones"):
        KDTree(scipy.sparse.eye(3, format="csr"))
    with pytest.raises(ValueError, match="KDTree takes dense rows"):
        KDTree(np.eye(3)).query(scipy.sparse.eye(3, format="csr"))


@pytest.mark.parametrize(
    ("leaf_size", "error"), [(0, ValueError), (5000, ValueError), (2.5, TypeError), (True, TypeError)]
)
def test_the_leaf_size_is_checked(leaf_size, error):
    with pytest.raises(error, match="leaf_size must be a whole number at least 1 and at most 4096"):
        KDTree([[1.0]], leaf_size=leaf_size)


def test_no_rows():
    with pytest.raises(ValueError, match="X has no rows"):
        KDTree(np.empty((0, 2)))


@pytest.mark.parametrize("k", [0, 4])
def test_too_many_or_no_neighbours(k):
    with pytest.raises(ValueError, match="k "):
        KDTree([[1.0], [2.0], [3.0]]).query([[1.0]], k)
