"""BallTree: the rows that comparing with every row finds, whatever the distance, the data and the tree's shape."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import BallTree as OtherBallTree
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
from bisector.search.ball_tree import BallTree

SHAPES = [
    {"split": "farthest-first", "branches": 2, "leaf_size": 1},
    {"split": "farthest-first", "branches": 10, "leaf_size": 3},
    {"split": "median", "branches": 2, "leaf_size": 2},
    {"split": "median", "branches": 7, "leaf_size": 5},
    {"branches": 4, "depth": 1},
]


def clusters(rng, n, d, spread=0.1):
    centres = rng.uniform(size=(10, d))
    return centres[rng.integers(10, size=n)] + spread * rng.normal(size=(n, d))


# By hand


def test_three_points_on_a_line():
    index = BallTree([[0.0], [1.0], [5.0]], leaf_size=1)
    distances, numbers = index.query([[3.0]], k=3)
    assert_array_equal(numbers, [[1, 2, 0]])  # two are equally far
    assert_array_equal(distances, [[2, 2, 3]])


def test_a_far_cluster_is_passed_over():
    """Two clusters of two rows: the query compares two centres, then the rows of the nearer ball."""
    index = BallTree([[0.0], [1.0], [100.0], [101.0]], branches=2, leaf_size=2)
    assert_array_equal(index.query([[0.4]], k=1)[1], [[0]])
    assert index.stats.distances == 2 + 2
    assert index.stats.share == 1.0


def test_both_balls_are_searched_when_the_nearest_lies_beyond_the_nearer_centre():
    # The query is nearer to the left centre (2 from it, 3 from the right one), its nearest row lies right.
    index = BallTree([[0.0], [8.0], [7.0], [11.0]], branches=2, leaf_size=2, split="median")
    assert_array_equal(index.query([[6.4]], k=1)[1], [[2]])


def test_balls_within_the_radius_are_counted_as_a_whole():
    X = np.arange(1000.0)[:, None]
    index = BallTree(X, leaf_size=10)
    assert_array_equal(index.query_radius([[500.0]], 1e6, count_only=True), [1000])
    assert index.stats.distances <= 10  # the centres of the largest balls


# Against every row


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@settings(max_examples=60)
@given(data=lattices())
def test_ties_go_to_the_smaller_number(shape, data):
    X, Q = data
    index = BallTree(X, **shape)
    check_answers(index, X, Q, ks={1, min(3, len(X)), len(X)}, shares=(0.0, 0.5))


@settings(max_examples=150)
@given(
    table=awkward_tables(max_rows=40),
    shape=st.sampled_from(SHAPES),
    seed=st.integers(0, 2**32 - 1),
)
def test_awkward_tables(table, shape, seed):
    """Tiny, huge, overflowing and vanishing differences; far from zero; all equal."""
    rng = np.random.default_rng(seed)
    Q = table[rng.integers(len(table), size=3)].copy()
    Q[0] = table.mean(axis=0)
    Q[1] *= 1 + 1e-7 * rng.normal(size=table.shape[1])
    index = BallTree(table, **shape)
    check_answers(index, table, Q, ks={1, len(table)}, shares=(0.0, 0.5))


@pytest.mark.parametrize(
    "distance",
    [
        Euclidean(squared=True),
        pytest.param(Euclidean(weights=[1.0, 0.0, 5.0, 1e-3]), marks=pytest.mark.slow),
        Mahalanobis(),
        Mahalanobis(squared=True),
        Elliptical(np.diag([1.0, 2.0, 0.0, 4.0])),
        Cosine(),
        Cosine(angle=True),
        pytest.param(Manhattan(), marks=pytest.mark.slow),
        Minkowski(0.8),
        pytest.param(Hamming(), marks=pytest.mark.slow),
        pytest.param(Hamming(weights=[1.0, 2.0, 3.0, 4.0], normalised=False), marks=pytest.mark.slow),
        pytest.param(Chebyshev(), marks=pytest.mark.slow),
        pytest.param(Minkowski(0.5), marks=pytest.mark.slow),
        pytest.param(Minkowski(0.5, weights=[1.0, 2.0, 0.0, 4.0]), marks=pytest.mark.slow),
        pytest.param(Minkowski(1.5), marks=pytest.mark.slow),
        pytest.param(Minkowski(3), marks=pytest.mark.slow),
        pytest.param(Minkowski(4), marks=pytest.mark.slow),
        pytest.param(Minkowski(2.5), marks=pytest.mark.slow),
    ],
    ids=repr,
)
def test_every_distance_that_has_a_length(distance):
    """Also those that are no metrics but rank rows as a metric does."""
    rng = np.random.default_rng(5)
    for X in (clusters(rng, 400, 4), rng.integers(-2, 3, size=(300, 4)).astype(float)):
        Q = np.concatenate([X[:20], clusters(rng, 20, 4), np.zeros((1, 4))])
        for shape in SHAPES[1:3]:
            index = BallTree(X, distance, **shape)
            check_answers(index, X, Q, ks=(1, 7, len(X)))


def test_points_on_a_globe():
    rng = np.random.default_rng(7)
    X = np.column_stack([rng.uniform(-90, 90, 500), rng.uniform(-180, 180, 500)])
    X[0], X[1] = (90.0, 0.0), (90.0, 77.0)  # the same place
    index = BallTree(X, Haversine(radius=6371.0, degrees=True), leaf_size=8)
    check_answers(index, X, np.concatenate([X[:10], -X[10:20]]), ks=(1, 5, 500))
    assert index.query_radius(X[:3], 1e9, count_only=True).tolist() == [500] * 3


def test_bounds_that_rounding_makes_wrong_by_a_bit():
    """On a line all bounds are exact, and all distances are wrong by a few units in the last place."""
    rng = np.random.default_rng(11)
    direction = rng.normal(size=7)
    X = 1e3 + np.outer(rng.integers(0, 40, size=800) / 3, direction)
    Q = 1e3 + np.outer(rng.integers(-5, 50, size=60) / 6, direction)
    for shape in SHAPES:
        check_answers(BallTree(X, **shape), X, Q, ks=(1, 20, 90))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_rows_and_queries(dtype):
    rng = np.random.default_rng(2)
    X, Q = clusters(rng, 300, 5).astype(dtype), clusters(rng, 10, 5).astype(np.float32)
    check_answers(BallTree(X, leaf_size=10), X, Q, ks=(1, 9))


def test_sparse_rows():
    rng = np.random.default_rng(3)
    X = np.where(rng.random((200, 8)) < 0.3, rng.normal(size=(200, 8)), 0.0)
    index = BallTree(scipy.sparse.csr_array(X), "cosine", leaf_size=10)
    assert_array_equal(
        index.query(scipy.sparse.csr_array(X[:9]), 5)[1], BallTree(X, "cosine").query(X[:9], 5)[1]
    )


def test_rows_come_and_go():
    rng = np.random.default_rng(13)
    for seed in range(6):
        X = np.random.default_rng(seed).integers(0, 4, size=(60, 2)).astype(float)
        come_and_go(lambda rows: BallTree(rows, leaf_size=4, branches=3), X, X[:5] + 0.5, rng)


def test_another_program_finds_the_same_distances():
    rng = np.random.default_rng(17)
    X, Q = clusters(rng, 3000, 6), clusters(rng, 300, 6)
    expected = OtherBallTree(X).query(Q, 8)[0]
    # Both add up six squares, in different orders.
    assert_allclose(BallTree(X).query(Q, 8)[0], expected, rtol=1e-14)


# What must not matter


def test_threads_do_not_matter():
    rng = np.random.default_rng(19)
    X, Q = clusters(rng, 2000, 3), clusters(rng, 700, 3)
    index = BallTree(X, leaf_size=20)
    expected = index.query(Q, 6, n_jobs=1)
    for n_jobs in (2, 3):
        for found, wanted in zip(index.query(Q, 6, n_jobs=n_jobs), expected, strict=True):
            assert_array_equal(found, wanted)
    cost = index.stats.distances
    index.query(Q[::-1], 6)
    assert index.stats.distances == cost // 3 * 4  # the same queries, the same cost


def test_it_pickles():
    rng = np.random.default_rng(23)
    X = clusters(rng, 100, 2)
    index = BallTree(X, "cosine", leaf_size=5)
    again = pickle.loads(pickle.dumps(index))
    assert_array_equal(again.query(X, 3)[1], index.query(X, 3)[1])


# Edges


def test_one_row():
    index = BallTree([[3.0, 4.0]])
    assert_array_equal(index.query([[0.0, 0.0]])[0], [[5.0]])
    assert index.query_radius([[0.0, 0.0]], 4.9).nnz == 0


def test_no_queries():
    index = BallTree(np.arange(10.0)[:, None], leaf_size=2)
    distances, numbers = index.query(np.empty((0, 1)), 3)
    assert distances.shape == numbers.shape == (0, 3)
    assert index.query_radius(np.empty((0, 1)), 1.0).shape == (0, 10)
    assert index.query_radius(np.empty((0, 1)), 1.0, count_only=True).shape == (0,)


def test_equal_rows():
    X = np.ones((500, 2))
    index = BallTree(X, leaf_size=10)
    assert_array_equal(index.query([[1.0, 1.0]], 5)[1], [[0, 1, 2, 3, 4]])
    assert_array_equal(index.query_radius([[1.0, 1.0]], 0.0, count_only=True), [500])


def test_rows_far_out_at_every_scale_do_not_make_the_tree_deep():
    X = np.ldexp(1.0, np.arange(-500, 500))[:, None]
    index = BallTree(X, branches=2, leaf_size=1)
    check_answers(index, X, X[::97] * 1.1, ks=(1, 3), shares=(0.1,))


# Refusals


def test_distances_without_a_length_are_refused():
    with pytest.raises(ValueError, match="skipping what is missing: use BruteForce"):
        BallTree([[1.0]], Euclidean(skip_missing=True))
    with pytest.raises(ValueError, match=r"Levenshtein\(\) compares no coordinates: use MetricTree"):
        BallTree(["a"], Levenshtein())


def test_a_formula_that_is_no_metric_and_ranks_like_none_is_refused():
    class Odd(Manhattan):
        law = "none"

    with pytest.raises(
        ValueError, match=r"needs the triangle inequality, which Odd.* breaks: use BruteForce"
    ):
        BallTree([[1.0]], Odd())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"split": "widest"}, "split must be one of"),
        ({"branches": 1}, "branches must be a whole number at least 2"),
        ({"leaf_size": 0}, "leaf_size must be a whole number at least 1"),
        ({"depth": 0}, "depth must be a whole number at least 1"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        BallTree([[1.0]], **parameters)


def test_no_rows():
    with pytest.raises(ValueError, match="X has no rows"):
        BallTree(np.empty((0, 2)))
