"""Figures of Flach 8.4 that concern clustering around exemplars."""

import numpy as np
import pytest

from bisector import KExemplars, KMedoids

FIVE = np.array([[8.0], [44.0], [50.0], [58.0], [84.0]])


@pytest.mark.parametrize(("split", "scatter"), [(1, 932), (2, 1280), (3, 1370), (4, 1464)])
def test_every_contiguous_split_is_a_stationary_point_of_two_means(split, scatter):
    means = np.array([FIVE[:split].mean(axis=0), FIVE[split:].mean(axis=0)])
    model = KExemplars(2, metric="sqeuclidean", init=means).fit(FIVE)
    np.testing.assert_allclose(model.cluster_centers_, means, rtol=1e-12)
    assert model.labels_.tolist() == [0] * split + [1] * (5 - split)
    assert model.inertia_ == pytest.approx(scatter, rel=1e-12)
    assert model.n_iter_ == 1


def test_swaps_leave_where_alternation_stays():
    stuck = KMedoids(2, method="alternate", init=[3, 4]).fit(FIVE)
    assert stuck.labels_.tolist() == [0, 0, 0, 0, 1]
    assert stuck.inertia_ == 56.0
    free = KMedoids(2, method="pam", init=[3, 4]).fit(FIVE)
    assert free.labels_.tolist() in ([0, 1, 1, 1, 1], [1, 0, 0, 0, 0])
    assert free.inertia_ == 48.0


def test_a_medoid_needs_no_mean_and_an_outlier_hardly_moves_it():
    heap = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.4, 0.5]])
    far = np.vstack([heap, [[40.0, 0.0]]])
    assert KMedoids(1).fit(heap).medoid_indices_ == KMedoids(1).fit(far).medoid_indices_ == [4]
