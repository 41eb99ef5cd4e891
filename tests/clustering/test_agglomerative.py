import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import cluster
from sklearn.metrics import adjusted_rand_score

from bisector import AgglomerativeClustering, Gaussian, KernelDistance, datasets
from bisector.solvers.linkages import LINKAGES

X = np.random.default_rng(0).standard_normal((60, 4))


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
@pytest.mark.parametrize("k", [1, 2, 5, 60])
def test_clusters_of_scikit_learn(linkage, k):
    ours = AgglomerativeClustering(k, linkage=linkage).fit(X)
    theirs = cluster.AgglomerativeClustering(k, linkage=linkage).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert (ours.n_clusters_, ours.n_leaves_, ours.n_connected_components_) == (k, 60, 1)


@pytest.mark.parametrize("linkage", ["ward", "complete", "average", "single"])
def test_threshold_of_scikit_learn(linkage):
    options = {"linkage": linkage, "distance_threshold": 2.0}
    ours = AgglomerativeClustering(None, **options).fit(X)
    theirs = cluster.AgglomerativeClustering(None, **options).fit(X)
    assert ours.n_clusters_ == theirs.n_clusters_
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    np.testing.assert_allclose(ours.distances_, np.sort(theirs.distances_), rtol=1e-9)


@pytest.mark.parametrize("metric", ["manhattan", "cosine"])
def test_metrics_of_scikit_learn(metric):
    ours = AgglomerativeClustering(4, linkage="average", metric=metric).fit(X)
    theirs = cluster.AgglomerativeClustering(4, linkage="average", metric=metric).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1


def test_iris_by_ward():
    rows, species = datasets.iris()
    labels = AgglomerativeClustering(3).fit_predict(rows)
    assert adjusted_rand_score(labels, species) == pytest.approx(0.7312, abs=1e-4)  # as scikit-learn's


# New rows


def expected_linkage(query, members, linkage):
    apart = np.linalg.norm(members - query, axis=1)
    if linkage in ("single", "complete", "average"):
        return {"single": np.min, "complete": np.max, "average": np.mean}[linkage](apart)
    gap = np.linalg.norm(members.mean(axis=0) - query)
    return gap * np.sqrt(len(members) / (len(members) + 1)) if linkage == "ward" else gap


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "centroid", "ward"])
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_new_rows_go_where_their_linkage_is_least(linkage, metric):
    queries = np.random.default_rng(1).standard_normal((30, 4))
    model = AgglomerativeClustering(5, linkage=linkage, metric=metric)
    model.fit(X if metric == "euclidean" else cdist(X, X))
    found = model.predict(queries if metric == "euclidean" else cdist(queries, X))
    for query, label in zip(queries, found, strict=True):
        linkages = [expected_linkage(query, X[model.labels_ == c], linkage) for c in range(5)]
        assert label == np.argmin(linkages)


@pytest.mark.parametrize("linkage", ["weighted", "median"])
def test_new_rows_by_halves(linkage):
    # {0, 1} and 4 make a cluster in which 4 counts as much as 0 and 1 together: its middle is 2.25, its mean 5/3.
    rows = np.array([[0.0], [1.0], [4.0], [20.0]])
    model = AgglomerativeClustering(2, linkage=linkage).fit(rows)
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1])
    np.testing.assert_array_equal(model.predict([[11.0], [11.2]]), [0, 1])


def test_words_sets_and_kernels():
    words = ["cat", "hat", "house", "mouse"]
    model = AgglomerativeClustering(2, metric="levenshtein", linkage="complete").fit(words)
    np.testing.assert_array_equal(model.labels_, [0, 0, 1, 1])
    np.testing.assert_array_equal(model.predict(["bat", "blouse"]), [0, 1])
    baskets = [{"a", "b"}, {"a", "b", "c"}, {"x"}, {"x", "y"}]
    by_sets = AgglomerativeClustering(2, metric="jaccard", linkage="average").fit(baskets)
    np.testing.assert_array_equal(by_sets.labels_, [0, 0, 1, 1])
    in_feature_space = AgglomerativeClustering(2, metric=KernelDistance(Gaussian(1.0))).fit(
        [[0.0], [0.1], [3.0], [3.1]]
    )
    np.testing.assert_array_equal(in_feature_space.labels_, [0, 0, 1, 1])


# Edges


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_two_and_equal_rows(linkage):
    assert AgglomerativeClustering(1, linkage=linkage).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    assert AgglomerativeClustering(2, linkage=linkage).fit([[1.0], [2.0]]).labels_.tolist() == [0, 1]
    equal = AgglomerativeClustering(3, linkage=linkage).fit(np.ones((10, 2)))
    assert len(np.unique(equal.labels_)) == 3
    np.testing.assert_array_equal(equal.dendrogram_.levels, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 61}, "more clusters than samples"),
        ({"n_clusters": 0}, "at least 1"),
        ({"n_clusters": None}, "Exactly one of n_clusters and distance_threshold"),
        ({"distance_threshold": 1.0}, "Exactly one of n_clusters and distance_threshold"),
        ({"linkage": "simple"}, "linkage must be one of"),
        ({"metric": "manhattan"}, "Euclidean space only"),
        ({"dtype": "int8"}, "dtype must be one of"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        AgglomerativeClustering(**options).fit(X)


def test_nan_and_no_matrix():
    with pytest.raises(ValueError, match="NaN"):
        AgglomerativeClustering().fit([[np.nan], [1.0]])
    with pytest.raises(ValueError, match="square"):
        AgglomerativeClustering(metric="precomputed").fit(np.ones((3, 2)))
