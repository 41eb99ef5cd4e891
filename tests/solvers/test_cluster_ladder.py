"""Clusters in every number: by hand, stationary, against all partitions, and where the way down is needed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bisector import KMeans
from bisector.engine.loops import given
from bisector.solvers.cluster_ladder import cluster_ladder, is_ladder
from bisector.solvers.cluster_ladder_loops import (
    add_centre,
    climb,
    follow_centres,
    join_two,
    move_to_means,
    new_ladder_state,
)


def ladder(X, numbers, seed=0, **options):
    return cluster_ladder(np.asarray(X, float), numbers, np.random.RandomState(seed), **options)


def scatter(X, labels):
    parts = (X[labels == label] for label in np.unique(labels))
    return sum(((part - part.mean(axis=0)) ** 2).sum() for part in parts)


def heaps(n, d, k, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 1, (k, d))[np.arange(n) % k] + 0.02 * rng.standard_normal((n, d))


def test_by_hand():
    """Two pairs and one row far away, five places on a line."""
    X = np.array([[0.0, 0], [0, 1], [9, 0], [9, 1], [30, 0]])
    found = ladder(X, [1, 2, 3, 4, 5])
    assert_allclose([one.scatter for one in found], [scatter(X, np.zeros(5)), 82, 1, 0.5, 0], atol=1e-12)
    assert [one.n_clusters for one in found] == [1, 2, 3, 4, 5]
    first, second = found[1].labels[:4], found[1].labels[4]
    assert (first == first[0]).all()
    assert second != first[0]


@pytest.mark.parametrize("d", [2, 4, 5, 8, 9])
def test_what_is_found_is_stationary(d):
    """Without a tolerance, every row is nearest to the mean of its cluster. There are more rows than in a chunk."""
    X = np.random.default_rng(d).normal(size=(601, d)) + 7
    for k, found in zip(range(1, 8), ladder(X, range(1, 8)), strict=True):
        assert found.scatter == pytest.approx(scatter(X, found.labels), rel=1e-12)
        assert found.labels.dtype == np.int32
        means = np.array([X[found.labels == c].mean(axis=0) for c in range(k)])
        squares = ((X[:, None, :] - means) ** 2).sum(axis=2)
        assert_allclose(squares.min(axis=1), squares[np.arange(601), found.labels], rtol=1e-12)


def test_nearly_always_the_least_of_all_partitions():
    """Of six rows in two and three clusters, against all ways to divide them: Lloyd's algorithm can be stuck."""
    rng, above = np.random.default_rng(0), []
    for _ in range(20):
        X = rng.normal(size=(6, 2))
        for k, found in zip([2, 3], ladder(X, [2, 3]), strict=True):
            codes = np.array(np.unravel_index(np.arange(k**6), (k,) * 6)).T
            least = min(scatter(X, labels) for labels in codes if len(np.unique(labels)) == k)
            above.append(found.scatter / least - 1)
    assert min(above) > -1e-12
    assert np.mean(np.array(above) < 1e-12) >= 0.9


def test_clusters_that_are_there_are_found():
    for seed in range(5):
        X = heaps(900, 2, 15, seed)
        known = scatter(X, np.arange(900) % 15)
        assert ladder(X, range(1, 21), seed, tol=1e-4)[14].scatter <= 1.001 * known


def test_not_above_a_fit_for_each():
    """Neither on rows without clusters: on average no higher than refined fits, which take far longer."""
    ours, fits = [], []
    for seed in range(4):
        X = np.random.default_rng(seed).random((400, 3))
        ours.append([np.log(one.scatter) for one in ladder(X, range(2, 9), seed, tol=1e-4)])
        fits.append([np.log(KMeans(k, random_state=seed).fit(X).inertia_) for k in range(2, 9)])
    assert np.mean(ours) <= np.mean(fits)


def test_the_way_down_mends_what_the_way_up_cannot():
    """From three clusters with the widest divided, no added centre leads to four in the corners but by luck."""
    corners = np.array([[0.0, 0], [0, 10], [10, 0], [10, 10]])
    X = np.repeat(corners, 30, axis=0) + np.random.default_rng(0).normal(size=(120, 2))
    columns = np.zeros((4, 120))
    columns[:2] = (X - X.mean(axis=0)).T
    shares = np.full((5, 1), 0.5)  # one candidate each, the same
    up_and_down, up = np.zeros(5), np.zeros(4)
    for inertias in (up_and_down, up):
        rungs = len(inertias)
        state, points = new_ladder_state(120, rungs, 4), np.zeros((rungs, rungs, 4))
        climb(given(columns), 0.0, 100, 0.0, given(shares[:rungs]), state, points, inertias)
    assert up_and_down[3] <= up[3]
    assert up_and_down[3] == pytest.approx(scatter(X, np.arange(120) // 30), rel=1e-9)


def test_far_from_zero_and_with_a_column_that_tells_nothing():
    X = heaps(300, 3, 4, 0)
    near, far = (ladder(np.column_stack([X + shift, np.full(300, 5.0)]), [2, 4])[1] for shift in (0, 1e6))
    assert_array_equal(near.labels, far.labels)
    assert far.scatter == pytest.approx(near.scatter, rel=1e-6)  # digits that 1e6 leaves of rows within 1


def test_fewer_rows_than_clusters_have_values():
    X = np.repeat([[0.0, 0.1], [1, 0], [0, 1]], 5, axis=0)
    found = ladder(X, [2, 3, 4, 6])
    assert [one.n_clusters for one in found] == [2, 3, 3, 3]
    assert found[3].scatter < 1e-25
    same = ladder(np.full((7, 2), 0.3), [1, 2, 3])
    assert [one.n_clusters for one in same] == [1, 1, 1]
    assert max(one.scatter for one in same) < 1e-25


def test_one_row():
    (found,) = ladder([[3.0, 4.0]], [1])
    assert (found.scatter, found.labels.tolist()) == (0.0, [0])


def test_seeds_decide():
    X = np.random.default_rng(0).random((300, 2))
    one, again, other = (ladder(X, range(1, 9), seed)[7] for seed in (0, 0, 5))
    assert_array_equal(one.labels, again.labels)
    assert one.scatter != other.scatter


def test_when_it_pays():
    assert is_ladder(range(1, 11), 4)
    assert is_ladder([2, 4, 3, 8, 7], 4)  # more than every second one
    assert not is_ladder([50], 4)
    assert not is_ladder([1, 2, 3], 1)
    assert not is_ladder([1, 2, 3], 784)
    assert not is_ladder(range(1, 200), 4)


def of(points):
    columns = np.zeros((4, len(points)))
    columns[: np.shape(points)[1]] = np.transpose(points)
    return given(columns), new_ladder_state(len(points), 3, 4)


def test_a_centre_without_rows_goes_to_the_farthest_row():
    columns, state = of([[0.0, 0], [1, 0], [2, 0], [9, 0]])
    centres = np.array([[1.0, 0, 0, 0], [50, 0, 0, 0], [60, 0, 0, 0]])
    assert follow_centres(columns, centres, state) == 4
    assert_array_equal(state.sizes, [4, 0, 0])
    moves = move_to_means(columns, centres, state)
    assert_array_equal(centres[:, 0], [3, 9, 0])  # of equally far ones the first
    assert moves == 2.0**2 + 41**2 + 60**2


def test_the_two_that_are_joined():
    """The scatter rises by 1·3/4·2² = 3 for the first two, and by 3·1/4·1.9² for the last two, which are nearer."""
    centres, sizes, joined = np.zeros((3, 4)), np.array([1.0, 3, 1]), np.zeros((2, 4))
    centres[:, 0] = [0, 2, 3.9]
    join_two(centres, sizes, 0, joined)
    assert_allclose(joined[:, 0], [0, (3 * 2 + 3.9) / 4])
    join_two(centres, sizes, 1, joined)
    assert_allclose(joined[:, 0], [1.5, 3.9])
    join_two(centres, np.array([1.0, 3, 3]), 0, joined)  # 3·3/6·1.9² for the last two
    assert_allclose(joined[:, 0], [1.5, 3.9])
    join_two(centres, np.array([0.0, 3, 0]), 0, joined)  # what has no rows costs nothing
    assert_allclose(joined[:, 0], [2, 3.9])


def test_the_candidate_that_helps_most():
    """Marks at shares of the squared distances 0, 1, 100, 121: the second and the last row."""
    columns, state = of([[0.0, 0], [1, 0], [10, 0], [11, 0]])
    follow_centres(columns, np.zeros((1, 4)), state)
    centre = np.zeros(4)
    add_centre(columns, given(np.array([0.0, 0.99])), state, centre)
    assert centre[0] == 11
    add_centre(columns, given(np.array([0.3, 0.99])), state, centre)
    assert centre[0] == 10
