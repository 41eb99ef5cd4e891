"""KMedoids: the estimator, on rows of every kind."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import bisector
from bisector import Euclidean, Gower, Jaccard, KMedoids, Levenshtein

METHODS = ["fasterpam", "pam", "alternate", "clara"]
STARTS = ["build", "k-medoids++", "random", "farthest-first"]


@pytest.fixture(scope="module")
def blobs():
    """Three heaps of 30 rows, so far apart that every method finds them."""
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [8.0, 8.0], [8.0, -8.0]], 30, axis=0)
    return places + rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)


# By hand


def test_five_points_on_a_line():
    model = KMedoids(2).fit([[0.0], [1.0], [2.0], [10.0], [11.0]])
    assert model.medoid_indices_.tolist() == [1, 3]
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert (model.inertia_, model.swap_change_, model.converged_) == (3.0, 0.0, True)
    np.testing.assert_array_equal(model.transform([[4.0]]), [[3.0, 6.0]])
    assert model.predict([[5.5], [5.6]]).tolist() == [0, 1]  # the first of equally near ones
    assert model.score([[4.0], [10.0]]) == -3.0


def test_an_outlier_does_not_pull_a_medoid_away():
    X = [[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [30.0]]
    assert sorted(KMedoids(2).fit(X).cluster_centers_.ravel()) == [1.0, 11.0]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("init", [*STARTS, [5, 40, 80]])
def test_every_method_from_every_start(blobs, method, init):
    X, groups = blobs
    model = KMedoids(3, method=method, init=init, random_state=1).fit(X)
    assert adjusted_rand_score(model.labels_, groups) == 1.0
    np.testing.assert_array_equal(model.labels_[model.medoid_indices_], np.arange(3))
    np.testing.assert_array_equal(model.cluster_centers_, X[model.medoid_indices_])
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.inertia_, model.transform(X).min(axis=1).sum(), rtol=1e-13)


# Certificate and oracle


def test_no_swap_lowers_the_loss(blobs):
    X, _ = blobs
    model = KMedoids(5, init="random", random_state=3).fit(X)
    D = Euclidean().pairwise(X)
    for place in range(5):
        for row in range(len(X)):
            medoids = model.medoid_indices_.copy()
            medoids[place] = row
            assert D[:, medoids].min(axis=1).sum() >= model.inertia_ * (1 - 1e-12)


def test_the_package_kmedoids_ends_where_we_end():
    kmedoids = pytest.importorskip("kmedoids")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    D, start = Euclidean().pairwise(X), rng.choice(400, 12, replace=False)
    theirs = kmedoids.fasterpam(D, start.astype(np.uint64), n_cpu=1)
    ours = KMedoids(12, init=start).fit(X)
    np.testing.assert_allclose(ours.inertia_, theirs.loss, rtol=1e-12)
    assert set(ours.medoid_indices_) == set(theirs.medoids.astype(int))
    assert ours.n_swaps_ == theirs.n_swap


# Published


def test_iris_falls_into_its_species():
    X, species = load_iris(return_X_y=True)
    model = KMedoids(3).fit(X)
    # Kaufman and Rousseeuw's pam, as the R package cluster computes it: rows 8, 79 and 113, counted from one.
    assert sorted(model.medoid_indices_) == [7, 78, 112]
    assert adjusted_rand_score(model.labels_, species) > 0.7


# Rows of every kind


def test_words():
    words = np.array(["house", "mouse", "horse", "table", "cable", "fable"], dtype=object)
    model = KMedoids(2, metric=Levenshtein()).fit(words)
    assert model.cluster_centers_.tolist() == ["house", "table"]
    assert not hasattr(model, "n_features_in_")
    assert model.fit_predict(list(words)).tolist() == [0, 0, 0, 1, 1, 1]


def test_sets_and_mixed_tables():
    sets = [{1, 2}, {1, 2, 3}, {7, 8}, {7, 8, 9}]
    assert KMedoids(2, metric=Jaccard()).fit(sets).labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    table = pd.DataFrame({"kind": ["a", "a", "b", "b"], "size": [1.0, 1.5, 9.0, 9.5]})
    model = KMedoids(2, metric=Gower()).fit(table)
    assert model.labels_.tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert list(model.cluster_centers_.columns) == ["kind", "size"]


def test_a_users_function(blobs):
    X, groups = blobs
    model = KMedoids(3, metric=lambda x, y: abs(x[0] - y[0]) + abs(x[1] - y[1])).fit(X)
    assert model.inertia_ == pytest.approx(KMedoids(3, metric="manhattan").fit(X).inertia_, rel=1e-13)
    assert adjusted_rand_score(model.labels_, groups) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_precomputed_distances(blobs, dtype):
    X, _ = blobs
    new = X[::7] + 0.3
    D = Euclidean().pairwise(X).astype(dtype)
    plain, given = KMedoids(3).fit(X), KMedoids(3, metric="precomputed").fit(D)
    np.testing.assert_array_equal(given.medoid_indices_, plain.medoid_indices_)
    np.testing.assert_array_equal(given.labels_, plain.labels_)
    assert given.cluster_centers_ is None
    across = Euclidean().pairwise(new, X).astype(dtype)
    np.testing.assert_array_equal(given.predict(across), plain.predict(new))
    np.testing.assert_allclose(given.transform(across), plain.transform(new), rtol=1e-6)


def test_sparse_rows_are_compared_as_dense_ones(blobs):
    from scipy.sparse import csr_array

    X, _ = blobs
    dense, sparse = KMedoids(3).fit(X), KMedoids(3).fit(csr_array(X))
    np.testing.assert_array_equal(sparse.medoid_indices_, dense.medoid_indices_)
    np.testing.assert_array_equal(sparse.cluster_centers_.toarray(), dense.cluster_centers_)


# Weights, threads, memory, chance


@pytest.mark.parametrize("method", ["fasterpam", "pam", "alternate"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_weights_count_as_repeated_rows(blobs, method, metric):
    X, _ = blobs
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    again = np.repeat(X, weights, axis=0)
    data, repeated = X, again
    if metric == "precomputed":
        data, repeated = Euclidean().pairwise(X), Euclidean().pairwise(again)
    a = KMedoids(6, method=method, metric=metric).fit(data, sample_weight=weights)
    b = KMedoids(6, method=method, metric=metric).fit(repeated)
    np.testing.assert_array_equal(X[a.medoid_indices_], again[b.medoid_indices_])
    np.testing.assert_array_equal(np.repeat(a.labels_, weights), b.labels_)
    assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-13)
    assert (weights[a.medoid_indices_] > 0).all()


def test_the_number_of_threads_changes_nothing(blobs):
    X, _ = blobs
    one, three = (
        KMedoids(7, init="random", n_init=3, random_state=0, n_jobs=n_jobs).fit(X) for n_jobs in (1, 3)
    )
    np.testing.assert_array_equal(one.medoid_indices_, three.medoid_indices_)
    assert one.inertia_ == three.inertia_


def test_without_room_for_all_distances_the_answer_is_the_same():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    held = KMedoids(6).fit(X)
    with bisector.config(memory="8 MB"):
        made = KMedoids(6).fit(X)
    np.testing.assert_array_equal(made.medoid_indices_, held.medoid_indices_)
    assert made.inertia_ == held.inertia_


def test_more_starts_are_no_worse(blobs):
    X, _ = blobs
    once, often = (KMedoids(9, init="random", n_init=n, random_state=5).fit(X) for n in (1, 10))
    assert often.inertia_ <= once.inertia_


def test_clara_on_many_rows_comes_close():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) + 9 * rng.integers(0, 3, (3000, 2))
    sampled = KMedoids(9, method="clara", random_state=0).fit(X)
    assert sampled.medoid_indices_.max() < 3000
    np.testing.assert_array_equal(sampled.cluster_centers_, X[sampled.medoid_indices_])
    # Samples of 116 rows place nine medoids; a tenth is far more than they miss on this data.
    assert sampled.inertia_ < 1.1 * KMedoids(9).fit(X).inertia_


def test_the_number_of_clusters_by_silhouette(blobs):
    X, _ = blobs
    model = KMedoids("auto").fit(X)
    assert model.n_clusters_ == 3
    assert model.k_range_.tolist() == list(range(2, 11))
    assert model.k_range_[np.argmax(model.silhouettes_)] == 3
    two = np.sort(model.transform(X), axis=1)[:, :2]
    expected = np.mean(1 - two[:, 0] / two[:, 1])
    assert model.medoid_silhouette_ == pytest.approx(expected, rel=1e-12) == model.silhouettes_[1]
    assert KMedoids("auto", k_range=[2, 4]).fit(X).n_clusters_ in (2, 4)


# Edges


def test_as_many_clusters_as_rows():
    model = KMedoids(4).fit([[0.0], [1.0], [5.0], [9.0]])
    assert model.inertia_ == 0.0
    assert sorted(model.medoid_indices_) == [0, 1, 2, 3]


def test_one_row_and_one_cluster():
    assert KMedoids(1).fit([[3.0, 4.0]]).medoid_indices_.tolist() == [0]
    assert np.isnan(KMedoids(1).fit([[0.0], [1.0], [5.0]]).medoid_silhouette_)


@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_leave_clusters_empty_and_say_so(method):
    with pytest.warns(ConvergenceWarning, match="Only 1 of 3 clusters"):
        model = KMedoids(3, method=method).fit(np.ones((6, 2)))
    assert model.inertia_ == 0.0
    assert len(set(model.medoid_indices_)) == 3


def test_ending_early_is_told(blobs):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        model = KMedoids(3, init=[0, 1, 2], max_iter=1).fit(blobs[0])
    assert not model.converged_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 91}, "n_clusters=91 clusters cannot be made of n_samples=90"),
        ({"n_clusters": 0}, "n_clusters must be a whole number at least 1"),
        ({"n_clusters": "some"}, "must be one of 'auto'"),
        ({"method": "swap"}, "method must be one of"),
        ({"init": "first"}, "init must be one of"),
        ({"n_clusters": 2, "init": [1, 1]}, "different row numbers"),
        ({"n_clusters": 2, "init": [1, 90]}, "different row numbers"),
        ({"n_clusters": 2, "init": [1, 2, 3]}, "one row number for each of 2"),
        ({"n_clusters": 2, "init": [[0.0, 1.0]]}, "one row number for each"),
        ({"n_clusters": "auto", "k_range": []}, "k_range is empty"),
        ({"n_clusters": "auto", "k_range": [1]}, "k_range must be a whole number at least 2"),
        ({"n_init": 0}, "n_init must be"),
        ({"metric": "nowhere"}, "nowhere"),
    ],
)
def test_bad_parameters_are_named(blobs, params, message):
    with pytest.raises(ValueError, match=message):
        KMedoids(**params).fit(blobs[0])


def test_bad_rows_are_named(blobs):
    X = blobs[0].copy()
    X[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        KMedoids(2).fit(X)
    with pytest.raises(ValueError, match="square"):
        KMedoids(2, metric="precomputed").fit(np.ones((3, 4)))
    with pytest.raises(ValueError, match="must not be negative"):
        KMedoids(2, metric="precomputed").fit(np.array([[0.0, -1.0], [-1.0, 0.0]]))
    with pytest.raises(ValueError, match="three rows or more"):
        KMedoids("auto").fit(blobs[0][:2])
    with pytest.raises(ValueError, match=r"no rows|minimum of 1"):
        KMedoids(1, metric=Levenshtein()).fit([])
