"""Flach, 8.4 and 8.5, and Learning From Data, Problem 6.24: how good is a clustering, and how many clusters?"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from bisector import (
    datasets,
    gap_statistic,
    scatter_decomposition,
    silhouette,
    silhouette_samples,
    silhouette_score,
    stationary_points,
    structure_test,
)


def test_example_8_3_scatter_within_and_between():
    X, _ = datasets.scatter_points()
    two_and_three = scatter_decomposition(X, [0, 0, 1, 1, 1])
    three_and_two = scatter_decomposition(X, [0, 0, 0, 1, 1])
    assert_allclose(two_and_three.within, [4.5, 34])
    assert two_and_three.between == pytest.approx(37.5)
    assert_allclose(three_and_two.within, [12, 4])
    assert three_and_two.between == pytest.approx(60)
    assert two_and_three.total == three_and_two.total == 76


def test_example_8_5_stationary_points():
    """Each of the four contiguous splits stays; leaving 8 alone is best."""
    found = stationary_points(datasets.five_numbers().X, k=2)
    assert_allclose(found.scatters, [932, 1280, 1370, 1464], atol=0.5)
    assert len(found) == found.n_splits == 4
    assert found.clusters[0][0].tolist() == [8]


def test_a_singleton_has_silhouette_zero():
    assert_array_equal(silhouette_samples([[0], [1], [9]], [0, 0, 1])[2], 0)


def test_figure_8_14_the_better_clustering_has_the_better_silhouette():
    """Found on rescaled features, clusters are cut across, and their silhouette shows it."""
    pair, stretched = datasets.rescaled_pair(), datasets.rescaled_pair(y_scale=5)
    good, bad = (KMeans(2, n_init=5, random_state=0).fit_predict(data.X) for data in (pair, stretched))
    left = silhouette(pair.X, good, metric="sqeuclidean")
    right = silhouette(stretched.X, bad, metric="sqeuclidean")
    assert left.score > 0.8
    assert right.score < left.score - 0.05
    assert silhouette_score(pair.X, bad, metric="sqeuclidean") < 0.2
    assert (left.averages > 0.75).all()


def test_problem_6_24_the_gap_is_largest_at_four():
    found = gap_statistic(datasets.four_gaussians(400).X, KMeans(n_init=3), range(1, 8), n_refs=10)
    assert found.k_by_max == found.k_by_one_se == 4


def test_problem_6_24e_where_clusters_run_into_each_other_the_careful_rule_says_fewer():
    X = datasets.four_gaussians(400, deviation=0.15**0.5).X
    assert gap_statistic(X, KMeans(n_init=3), range(1, 8), n_refs=10).k_by_one_se <= 2


def test_figure_8_18_even_points_have_no_structure():
    assert not structure_test(
        datasets.uniform_square(20).X, KMeans(n_init=1), range(1, 5), n_refs=39
    ).structured


def test_iris_has_two_clusters_by_silhouette():
    """The three species: two of them run into each other."""
    X, _ = datasets.iris()
    X = np.asarray(X)
    scores = [silhouette_score(X, KMeans(k, n_init=5, random_state=0).fit_predict(X)) for k in (2, 3, 4)]
    assert_allclose(scores[:2], [0.681, 0.553], atol=0.001)
    assert np.argmax(scores) == 0
