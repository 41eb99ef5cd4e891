"""Chapter 8: what the book sees in its scatters, clusters and dendrograms can be seen in these."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, fcluster, is_monotonic, linkage
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_samples, silhouette_score

from bisector import datasets


def two_means(X):
    return KMeans(2, n_init=5, random_state=0).fit(X)


def agreement(labels, y):
    """The share of rows in which two clusterings into two agree, whatever their numbers."""
    same = np.mean(labels == y)
    return max(same, 1 - same)


# The rescaled pair


def test_the_pair_differs_in_one_scale_only():
    left, right = datasets.rescaled_pair(seed=4), datasets.rescaled_pair(y_scale=5, seed=4)
    np.testing.assert_array_equal(right.X, left.X * [1, 5])
    np.testing.assert_array_equal(right.y, left.y)


@pytest.mark.parametrize("seed", range(5))
def test_rescaling_changes_the_clusters(seed):
    """Figure 8.13."""
    left, right = datasets.rescaled_pair(seed=seed), datasets.rescaled_pair(y_scale=5, seed=seed)
    assert agreement(two_means(left.X).labels_, left.y) > 0.98
    found = two_means(right.X)
    assert agreement(found.labels_, right.y) < 0.7
    means = np.array([right.X[right.y == k].mean(axis=0) for k in (0, 1)])
    intended = ((right.X - means[right.y]) ** 2).sum()
    assert found.inertia_ < intended  # it is the better clustering by its own measure


def test_silhouettes_tell_the_two_apart():
    """Figure 8.14."""
    left, right = datasets.rescaled_pair(), datasets.rescaled_pair(y_scale=5)
    good = silhouette_samples(left.X, two_means(left.X).labels_, metric="sqeuclidean").mean()
    poor = silhouette_samples(right.X, two_means(right.X).labels_, metric="sqeuclidean").mean()
    assert good > 0.8 > poor


def test_an_odd_row_goes_to_the_left():
    _, y = datasets.rescaled_pair(7)
    assert [(y == 0).sum(), (y == 1).sum()] == [4, 3]


# The grid


def test_the_grid_is_regular():
    X, y = datasets.grid()
    assert y is None
    assert X.tolist() == [[float(i), float(j)] for j in range(2) for i in range(4)]


SQUARE, LEFT, RIGHT, MIDDLE = {1, 2, 5, 6}, {0, 4}, {3, 7}, [{1, 5}, {2, 6}]


def merged_sets(levels):
    """The sets of rows in the order in which they come about."""
    sets = [{i} for i in range(len(levels) + 1)]
    for a, b, *_ in levels:
        sets.append(sets[int(a)] | sets[int(b)])
    return sets[len(levels) + 1 :]


@pytest.mark.parametrize("irregularity", [1e-6, 0.01, 0.1])
@pytest.mark.parametrize("method", ["complete", "centroid", "single", "average"])
def test_irregularities_break_ties_as_the_book_does(method, irregularity):
    """Example 8.7: every linkage merges the same clusters in the same order."""
    found = merged_sets(linkage(datasets.grid(irregularity=irregularity).X, method))
    columns = found[:4]
    assert all(column in columns for column in [LEFT, RIGHT, *MIDDLE])
    assert found[4:] == [SQUARE, SQUARE | RIGHT, SQUARE | RIGHT | LEFT]


# The triangle


@pytest.mark.parametrize("height", [1.74, 1.8, 1.99])
def test_only_centroid_linkage_is_not_monotone(height):
    """Figure 8.17."""
    X, _ = datasets.triangle(height=height)
    levels = linkage(X, "centroid")
    assert not is_monotonic(levels)
    assert levels[0, :2].tolist() == [0, 1]
    np.testing.assert_allclose(levels[:, 2], [2, height], rtol=1e-15)
    for method in ("single", "complete", "average"):
        assert is_monotonic(linkage(X, method))


def test_the_first_two_points_are_nearest_and_their_mean_is_nearer_still():
    X, _ = datasets.triangle()
    distance = squareform(pdist(X))
    assert distance[0, 1] < distance[0, 2] == distance[1, 2]
    assert np.linalg.norm(X[2] - X[:2].mean(axis=0)) < distance[0, 1]


# Evenly spread points


def test_the_square_is_covered_evenly():
    n = 40_000
    X, _ = datasets.uniform_square(n)
    counts, *_ = np.histogram2d(*X.T, bins=10, range=[[0, 1], [0, 1]])
    assert counts.sum() == n
    assert ((counts - n / 100) ** 2 / (n / 100)).sum() < 148  # χ² with 99 degrees of freedom, 99.9 %


def test_a_dendrogram_makes_clusters_where_there_are_none():
    """Figure 8.18: high levels near the top suggest three clusters, and silhouettes deny them."""
    X, _ = datasets.uniform_square()
    levels = linkage(X, "complete")
    assert levels[-2, 2] > 3 * np.median(levels[:, 2])
    assert cophenet(levels).max() == levels[-1, 2]
    spurious = silhouette_score(X, fcluster(levels, 3, "maxclust"))
    real = silhouette_score(*datasets.rescaled_pair())
    assert spurious < 0.5 < 0.6 < real
