"""KernelKMeans: k-means in feature space, and the printed form by mean distances."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

import bisector
from bisector import Gaussian, KernelKMeans, Laplacian, Linear, Polynomial, Spectrum
from bisector.kernels import KernelDistance

KERNELS = [Gaussian(1.0), Laplacian(1.0), Polynomial(2), Linear()]


@pytest.fixture(scope="module")
def cloud():
    return np.random.default_rng(0).normal(size=(120, 3))


# By hand


def test_the_printed_form_and_k_means_differ():
    # Cluster 0 is wide about 0, cluster 1 tight at 7: the middle of the first is nearer to 3.9, but the rows of the
    # second are nearer on average, since the distances to the wide one's rows do not cancel.
    X = np.array([[-10.0], [10.0], [7.0], [7.1], [0.0]])
    start = [0, 0, 1, 1, 0]
    centroid = KernelKMeans(2, kernel="linear", init=start).fit(X)
    assert centroid.labels_.tolist() == [0, 1, 1, 1, 0]
    wide, tight = X[[0, 1, 4], 0], X[[2, 3], 0]
    assert np.abs(wide - 3.9).mean() > np.abs(tight - 3.9).mean()
    printed = KernelKMeans(2, kernel="linear", init=start, assign="mean-distance").fit(X)
    D = np.abs(X - X.T)
    means = np.stack([D[:, printed.labels_ == k].mean(axis=1) for k in range(2)], axis=1)
    np.testing.assert_array_equal(printed.labels_, means.argmin(axis=1))


# Certificate and oracle


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rows_are_nearest_to_their_own_mean_and_the_objective_never_rises(cloud, kernel):
    model = KernelKMeans(5, kernel=kernel, init="random", n_init=1, random_state=0).fit(cloud)
    K = kernel.gram(cloud)
    shares = np.stack([(model.labels_ == k) / (model.labels_ == k).sum() for k in range(5)], axis=1)
    squares = np.diag(K)[:, None] - 2 * K @ shares + np.diag(shares.T @ K @ shares)
    np.testing.assert_array_equal(model.labels_, squares.argmin(axis=1))
    np.testing.assert_allclose(model.inertia_, squares.min(axis=1).sum(), rtol=1e-10)
    assert model.converged_
    assert (np.diff(model.history_) < 0).all()
    np.testing.assert_array_equal(model.predict(cloud), model.labels_)
    np.testing.assert_allclose(model.score(cloud), -model.inertia_, rtol=1e-10)


def test_with_the_linear_kernel_it_is_k_means(cloud):
    start = [3, 50, 77, 100]
    ours = KernelKMeans(4, kernel="linear", init=start).fit(cloud)
    theirs = KMeans(4, init=cloud[start], n_init=1, tol=0).fit(cloud)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-10)
    new = np.random.default_rng(1).normal(size=(50, 3))
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))


def test_a_feature_map_gives_the_same_clusters(cloud):
    kernel = Polynomial(2)
    mapped = KMeans(3, init=np.asarray(kernel.feature_map(cloud))[[0, 1, 2]], n_init=1, tol=0)
    mapped.fit(np.asarray(kernel.feature_map(cloud)))
    ours = KernelKMeans(3, kernel=kernel, init=[0, 1, 2]).fit(cloud)
    np.testing.assert_array_equal(ours.labels_, mapped.labels_)


def test_mean_distances_are_least_in_the_printed_form(cloud):
    kernel = Gaussian(1.0)
    model = KernelKMeans(3, kernel=kernel, assign="mean-distance", random_state=0).fit(cloud)
    D = KernelDistance(kernel).pairwise(cloud)
    means = np.stack([D[:, model.labels_ == k].mean(axis=1) for k in range(3)], axis=1)
    if model.converged_:
        np.testing.assert_array_equal(model.labels_, means.argmin(axis=1))
    np.testing.assert_array_equal(model.predict(cloud), means.argmin(axis=1))
    np.testing.assert_allclose(model.inertia_, means[np.arange(120), model.labels_].sum(), rtol=1e-10)


# Ways to the same answer


@pytest.mark.parametrize("assign", ["centroid", "mean-distance"])
def test_a_gram_matrix_gives_the_same_clusters(cloud, assign):
    kernel = Gaussian(1.0)
    rows = KernelKMeans(3, kernel=kernel, assign=assign, init=[0, 1, 2]).fit(cloud)
    given = KernelKMeans(3, kernel="precomputed", assign=assign, init=[0, 1, 2]).fit(kernel.gram(cloud))
    np.testing.assert_array_equal(given.labels_, rows.labels_)
    np.testing.assert_allclose(given.inertia_, rows.inertia_, rtol=1e-10)
    new = cloud[:20] + 0.1
    across = kernel.gram(new, cloud)
    if assign == "centroid":
        np.testing.assert_array_equal(given.predict(across), rows.predict(new))
    else:
        with pytest.raises(ValueError, match="cannot predict"):
            given.predict(across)


@pytest.mark.parametrize("assign", ["centroid", "mean-distance"])
def test_without_room_for_the_gram_matrix_the_answer_is_the_same(assign):
    X = np.random.default_rng(0).normal(size=(1200, 2))
    held = KernelKMeans(3, assign=assign, init=[0, 1, 2]).fit(X)
    with bisector.config(memory="8 MB"):
        tiles = KernelKMeans(3, assign=assign, init=[0, 1, 2]).fit(X)
    np.testing.assert_array_equal(tiles.labels_, held.labels_)
    np.testing.assert_allclose(tiles.inertia_, held.inertia_, rtol=1e-12)


@pytest.mark.parametrize("assign", ["centroid", "mean-distance"])
@pytest.mark.parametrize("precomputed", [False, True])
def test_weights_count_as_repeated_rows(cloud, assign, precomputed):
    weights = np.random.default_rng(1).integers(0, 4, len(cloud))
    start = np.random.default_rng(2).integers(0, 3, len(cloud))
    again = np.repeat(cloud, weights, axis=0)
    kernel = Gaussian(1.0)
    a, b = (
        KernelKMeans(3, kernel="precomputed" if precomputed else kernel, assign=assign, init=init)
        for init in (start, np.repeat(start, weights))
    )
    if precomputed and assign == "mean-distance":
        pytest.skip("rows without weight have no labels: their distances are not known")
    a.fit(kernel.gram(cloud) if precomputed else cloud, sample_weight=weights)
    b.fit(kernel.gram(again) if precomputed else again)
    np.testing.assert_array_equal(np.repeat(a.labels_, weights), b.labels_)
    np.testing.assert_allclose(a.inertia_, b.inertia_, rtol=1e-10)


def test_threads_change_nothing(cloud):
    one, three = (KernelKMeans(4, random_state=0, n_jobs=n_jobs).fit(cloud) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.labels_, three.labels_)
    assert one.inertia_ == three.inertia_


def test_strings():
    words = ["banana", "bananas", "ananas", "kiwi", "kiwis", "kiwifruit"]
    labels = KernelKMeans(2, kernel=Spectrum(2), init=[0, 3]).fit_predict(words)
    assert labels.tolist() == [0, 0, 0, 1, 1, 1]


# Edges


def test_one_row_one_cluster_and_as_many_as_rows(cloud):
    assert KernelKMeans(1).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    assert KernelKMeans(1, kernel="linear").fit(cloud).inertia_ == pytest.approx(
        np.var(cloud, axis=0).sum() * len(cloud), rel=1e-10
    )
    model = KernelKMeans(6, init="random", random_state=0).fit(cloud[:6])
    assert sorted(model.labels_) == list(range(6))
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)


def test_equal_rows_leave_clusters_empty_and_say_so():
    with pytest.warns(ConvergenceWarning, match="Only 1 of 2"):
        model = KernelKMeans(2, kernel="rbf", random_state=0).fit(np.ones((5, 2)))
    assert model.inertia_ == pytest.approx(0.0, abs=1e-12)
    assert model.predict([[1.0, 1.0]]) == [0]


def test_ending_early_is_told(cloud):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        assert not KernelKMeans(5, init="random", n_init=1, max_iter=1, random_state=0).fit(cloud).converged_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 121}, "n_clusters=121"),
        ({"assign": "mean"}, "assign must be one of"),
        ({"init": "build"}, "init must be one of"),
        ({"init": [0, 1]}, "init must be one of"),
        ({"n_clusters": 2, "init": [0, 200]}, "init must be one of"),
        ({"kernel": "precomputed"}, "square"),
    ],
)
def test_bad_parameters_are_named(cloud, params, message):
    with pytest.raises(ValueError, match=message):
        KernelKMeans(**params).fit(cloud)


def test_bad_rows_are_named(cloud):
    X = cloud.copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KernelKMeans(2).fit(X)
    gram = KernelKMeans(2, kernel="precomputed", random_state=0).fit(Gaussian(1.0).gram(cloud))
    with pytest.raises(ValueError, match=r"features|training rows"):
        gram.predict(np.ones((2, 5)))
