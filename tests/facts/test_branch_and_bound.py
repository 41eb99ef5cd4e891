"""Branch and bound: what Learning From Data asks in Exercise 6.8 and Problem 6.16."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bisector import datasets
from bisector.search.ball_tree import BallTree
from bisector.search.brute_force import BruteForce

N = 10_000


def uniform(seed=0):
    """Rows and queries spread evenly over the unit square."""
    X = datasets.uniform_square(2 * N, seed=seed).X
    return X[:N], X[N:]


def mixture(deviation, seed=0):
    """Rows and queries from ten normal bumps."""
    X = datasets.random_mixture(2 * N, deviation=deviation, seed=seed).X
    return X[:N], X[N:]


def cost(X, Q, **shape):
    """The distances that a query takes on average, after its answers were compared with those of brute force."""
    index = BallTree(X, **shape)
    found = index.query(Q)
    for mine, every in zip(found, BruteForce(X).query(Q), strict=True):
        assert_array_equal(mine, every)
    return index.stats.distances / len(Q)


# Exercise 6.8


@pytest.mark.parametrize("k", [3, 7, 10])
def test_when_the_bound_always_holds_it_takes_two_distances_a_level(k):
    """Balanced clusters of clusters, each far from its sister: 2 log₂ N distances, of which two are to rows."""
    bits = (np.arange(2**k)[:, None] >> np.arange(k)) & 1
    X = (bits @ 4.0 ** np.arange(k))[:, None]
    index = BallTree(X, split="median", branches=2, leaf_size=2)
    _, numbers = index.query(X[::3] + 0.1)
    assert_array_equal(numbers[:, 0], np.arange(2**k)[::3])
    assert index.stats.distances == 2 * k * len(numbers)


@pytest.mark.parametrize("k", [1, 5])
def test_for_k_neighbours_the_bound_is_the_distance_of_the_kth(k):
    X, Q = mixture(0.1)
    distances, _ = BallTree(X).query(Q[:500], k)
    every = np.sqrt(np.square(Q[:500, None] - X).sum(axis=2))
    # The formula itself: squares of two coordinates, added and rooted.
    assert_array_equal(distances, np.sort(every, axis=1)[:, :k])


# Problem 6.16


@pytest.mark.parametrize("seed", range(3))
def test_one_partition_into_ten(seed):
    """Clusters help only if they are tight.

    With a deviation of 0.1 the bumps cover each other; their balls are as large as their farthest rows, and a
    query lies in several of them. Evenly spread rows are divided into smaller balls. With 0.02, the bumps are the
    balls.
    """
    partition = {"branches": 10, "depth": 1}
    data = mixture(0.02, seed), uniform(seed), mixture(0.1, seed)
    tight, even, wide = (cost(*rows, **partition) / N for rows in data)
    # About 12, 16 and 33 of a hundred distances, as the bumps happen to lie.
    assert tight < 0.14 < even < 0.18 < wide < 0.5


def test_partitions_within_partitions_leave_little():
    """Dividing again and again, every kind of data takes less than two distances of a hundred."""
    for rows in (uniform(), mixture(0.1), mixture(0.02)):
        assert cost(*rows) < 0.02 * N


def test_parts_of_equal_size_are_no_better():
    """Balance costs tightness: where the bumps are tight, medians cut through them."""
    X, Q = mixture(0.02)
    assert cost(X, Q) < cost(X, Q, split="median")


def test_a_partition_pays_after_a_few_queries():
    """Part (d): choosing and refining ten centres takes 2·10·N distances; each query then saves most of N."""
    saved = N - cost(*uniform(), branches=10, depth=1)
    assert 2 * 10 * N / saved < 30
