"""KExemplars: the exemplar belongs to the distance, and the objective never rises."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from bisector import Cosine, Euclidean, KExemplars, Levenshtein, coordinate_median, geometric_median, medoid

METRICS = ["manhattan", "euclidean", "sqeuclidean", "chebyshev"]


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.default_rng(0)
    places = np.repeat([[0.0, 0.0], [8.0, 8.0], [8.0, -8.0]], 30, axis=0)
    return places + rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)


@pytest.mark.parametrize(
    ("metric", "exemplar", "middle"),
    [
        ("manhattan", "coordinate-median", coordinate_median),
        ("minkowski", "geometric-median", geometric_median),
        ("euclidean", "geometric-median", geometric_median),
        ("sqeuclidean", "mean", lambda X: X.mean(axis=0)),
        ("chebyshev", "medoid", lambda X: X[medoid(X, "chebyshev")]),
    ],
)
def test_the_exemplar_belongs_to_the_distance(blobs, metric, exemplar, middle):
    X, groups = blobs
    model = KExemplars(3, metric=metric, random_state=0).fit(X)
    assert model.exemplar_ == exemplar
    assert adjusted_rand_score(model.labels_, groups) == 1.0
    for label in range(3):
        # A geometric median is known to a share of 1e-12 of its total distance, and so to about 1e-6 in place.
        np.testing.assert_allclose(
            model.cluster_centers_[label], middle(X[model.labels_ == label]), atol=1e-5
        )


def test_weighted_or_incomplete_distances_take_medoids():
    assert Euclidean([1.0, 2.0]).exemplar == "medoid"
    assert Euclidean(skip_missing=True).exemplar == "medoid"
    assert Cosine().exemplar == "medoid"
    assert Euclidean([1.0, 2.0], squared=True).exemplar == "mean"


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(*[st.integers(-9, 9)] * 2), min_size=5, max_size=25),
    st.sampled_from(METRICS),
    st.sampled_from(["matching", "mean", "coordinate-median", "geometric-median", "medoid"]),
    st.integers(0, 99),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_objective_never_rises(points, metric, exemplar, seed):
    X = np.array(points, dtype=float)
    weights = np.random.default_rng(seed).integers(1, 4, len(X)).astype(float)
    model = KExemplars(4, metric=metric, exemplar=exemplar, init="random", n_init=1, random_state=seed)
    model.fit(X, sample_weight=weights)
    assert (np.diff(model.history_) <= 0).all()
    assert model.inertia_ == model.history_[-1]
    assert model.converged_
    np.testing.assert_allclose(
        model.inertia_, weights @ model.transform(X).min(axis=1), rtol=1e-12, atol=1e-12
    )


def test_squared_euclidean_distance_is_k_means():
    X = np.random.default_rng(0).normal(size=(200, 3))
    start = X[:5]
    ours = KExemplars(5, metric="sqeuclidean", init=start).fit(X)
    theirs = KMeans(5, init=start, n_init=1, tol=0).fit(X)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-10)
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X + 0.1), theirs.predict(X + 0.1))


def test_empty_clusters_take_the_farthest_rows():
    X = np.array([[0.0], [0.0], [0.0], [5.0], [9.0]])
    model = KExemplars(3, metric="manhattan", init=[0, 1, 2]).fit(X)
    assert model.inertia_ == 0.0
    assert sorted(model.cluster_centers_.ravel()) == [0.0, 5.0, 9.0]


def test_words_have_medoids():
    words = ["house", "mouse", "horse", "table", "cable", "fable"]
    model = KExemplars(2, metric=Levenshtein(), random_state=0).fit(words)
    assert sorted(model.cluster_centers_) == ["house", "table"]
    assert sorted(model.exemplar_indices_) == [0, 3]
    assert model.predict(["louse"]) == model.labels_[0]


def test_precomputed_distances_and_sparse_rows(blobs):
    from scipy.sparse import csr_array

    X, groups = blobs
    D = Euclidean().pairwise(X)
    model = KExemplars(3, metric="precomputed", random_state=0).fit(D)
    assert model.exemplar_ == "medoid"
    assert model.cluster_centers_ is None
    assert adjusted_rand_score(model.labels_, groups) == 1.0
    dense, sparse = (
        KExemplars(3, metric="manhattan", init=[0, 40, 80]).fit(rows) for rows in (X, csr_array(X))
    )
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_array_equal(sparse.cluster_centers_, dense.cluster_centers_)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_count_as_repeated_rows(blobs, metric):
    X, _ = blobs
    weights = np.random.default_rng(1).integers(0, 4, len(X))
    rows = np.flatnonzero(weights)[[0, 20, 50]]
    again = np.repeat(X, weights, axis=0)
    a = KExemplars(3, metric=metric, init=rows).fit(X, sample_weight=weights)
    firsts = [int(weights[:row].sum()) for row in rows]
    b = KExemplars(3, metric=metric, init=firsts).fit(again)
    np.testing.assert_array_equal(np.repeat(a.labels_, weights), b.labels_)
    np.testing.assert_allclose(a.cluster_centers_, b.cluster_centers_, atol=1e-5)


def test_threads_and_seeds(blobs):
    X, _ = blobs
    one, three = (KExemplars(5, random_state=0, n_jobs=n_jobs).fit(X) for n_jobs in (1, 3))
    np.testing.assert_array_equal(one.cluster_centers_, three.cluster_centers_)
    assert one.inertia_ == three.inertia_


def test_float32_stays(blobs):
    model = KExemplars(3, metric="manhattan", random_state=0).fit(blobs[0].astype(np.float32))
    assert model.cluster_centers_.dtype == np.float32


def test_equal_rows_are_told():
    with pytest.warns(ConvergenceWarning, match="Only 1 of 2"):
        assert KExemplars(2).fit(np.ones((4, 2))).inertia_ == 0.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": 91}, "n_clusters=91"),
        ({"exemplar": "mode"}, "exemplar must be one of"),
        ({"init": "build"}, "init must be one of"),
        ({"n_clusters": 2, "init": np.ones((3, 2))}, "init must be one of"),
        ({"n_clusters": 2, "init": [0, 0]}, "different row numbers"),
    ],
)
def test_bad_parameters_are_named(blobs, params, message):
    with pytest.raises(ValueError, match=message):
        KExemplars(**params).fit(blobs[0])


def test_points_need_a_space():
    for metric, rows in [(Levenshtein(), ["a", "b"]), ("precomputed", np.zeros((3, 3)))]:
        with pytest.raises(ValueError, match='take exemplar="medoid"'):
            KExemplars(1, metric=metric, exemplar="mean").fit(rows)
