"""Clusters that come with their descriptions."""

import numpy as np
import pytest
import scipy.sparse

from bisector import ClusteringTree, Manhattan


def blobs(n=90, seed=0):
    rng = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0], [6.0, 0.0], [6.0, 6.0]])
    member = np.arange(n) % 3
    return centres[member] + rng.normal(size=(n, 2)), member


@pytest.mark.parametrize(
    "metric", ["sqeuclidean", "euclidean", Manhattan(), lambda x, y: np.abs(x - y).max()]
)
def test_finds_what_is_apart(metric):
    X, member = blobs()
    tree = ClusteringTree(metric, max_leaf_nodes=3).fit(X)
    assert tree.n_clusters_ == 3
    assert all(len(set(tree.labels_[member == k])) == 1 for k in range(3))
    np.testing.assert_array_equal(tree.predict(X), tree.labels_)
    np.testing.assert_array_equal(tree.predict(tree.exemplars_), [0, 1, 2])
    assert len(tree.rules()) == 3


def test_squared_distances_need_no_pairs_and_agree_with_them():
    X, _ = blobs(60)
    by_scatter = ClusteringTree("sqeuclidean", max_leaf_nodes=6).fit(X)
    by_pairs = ClusteringTree(lambda x, y: ((x - y) ** 2).sum(), max_leaf_nodes=6).fit(X)
    assert by_scatter.sampled_ is None
    np.testing.assert_array_equal(by_scatter.labels_, by_pairs.labels_)
    np.testing.assert_allclose(by_scatter.tree_.impurity, by_pairs.tree_.impurity, atol=1e-9)
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    assert by_scatter.tree_.impurity[0] == pytest.approx(D.mean())


def test_pairs_are_sampled_and_the_sample_is_told():
    X, member = blobs(3000)
    tree = ClusteringTree("manhattan", max_leaf_nodes=3, n_sampled=120).fit(X)
    assert len(tree.sampled_) == len(set(tree.sampled_)) == 120
    again = ClusteringTree("manhattan", max_leaf_nodes=3, n_sampled=120).fit(X)
    np.testing.assert_array_equal(tree.labels_, again.labels_)
    agree = max(np.mean(tree.labels_ == np.array(p)[member]) for p in ([0, 1, 2], [0, 2, 1]))
    assert agree > 0.95  # the blobs overlap in a per cent of their rows


def test_whole_weights_are_repeated_rows():
    X, _ = blobs(40)
    weight = np.random.default_rng(0).integers(0, 4, size=40)
    rows = np.repeat(np.arange(40), weight)
    for metric in ("sqeuclidean", "manhattan"):
        a = ClusteringTree(metric, max_leaf_nodes=4).fit(X, sample_weight=weight)
        b = ClusteringTree(metric, max_leaf_nodes=4).fit(X[rows])
        np.testing.assert_allclose(a.tree_.threshold, b.tree_.threshold)
        np.testing.assert_array_equal(a.predict(X), b.predict(X))


def test_sparse_rows():
    X, _ = blobs(50)
    dense, sparse = (ClusteringTree(max_leaf_nodes=3).fit(rows) for rows in (X, scipy.sparse.csr_array(X)))
    np.testing.assert_array_equal(dense.labels_, sparse.labels_)


def test_edges():
    assert ClusteringTree().fit([[1.0], [1.0]]).n_clusters_ == 1
    assert ClusteringTree("manhattan").fit([[1.0], [1.0]]).n_clusters_ == 1
    assert ClusteringTree(max_leaf_nodes=None).fit(np.arange(5.0)[:, None]).n_clusters_ == 5
    with pytest.raises(ValueError, match="NaN"):
        ClusteringTree().fit([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="features"):
        ClusteringTree("precomputed").fit(np.zeros((3, 3)))
    with pytest.raises(ValueError, match="n_sampled"):
        ClusteringTree(n_sampled=1).fit([[1.0], [2.0]])


def test_score_is_the_mean_dissimilarity_to_the_exemplars():
    X, _ = blobs(60)
    for metric in ("sqeuclidean", "manhattan"):
        tree = ClusteringTree(metric, max_leaf_nodes=3).fit(X)
        gaps = X - tree.exemplars_[tree.labels_]
        apart = (gaps**2).sum(axis=1) if metric == "sqeuclidean" else np.abs(gaps).sum(axis=1)
        assert tree.score(X) == pytest.approx(-apart.mean())
    with pytest.raises(ValueError, match="NaN"):
        tree.predict([[np.nan, 1.0]])
