import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster
from sklearn.base import clone
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from bisector import AgglomerativeClustering, Gaussian, KernelDistance
from bisector.clustering.connectivity import check_connectivity

X = np.random.default_rng(0).standard_normal((90, 3))
GRAPH = kneighbors_graph(X, 8)
OF_SKLEARN = ("ward", "complete", "average", "single")


# As scikit-learn


@pytest.mark.parametrize("linkage", OF_SKLEARN)
@pytest.mark.parametrize("k", [1, 2, 7, 90])
def test_labels_of_scikit_learn(linkage, k):
    options = {"linkage": linkage, "connectivity": GRAPH}
    ours = AgglomerativeClustering(k, **options).fit(X)
    theirs = cluster.AgglomerativeClustering(k, **options).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    assert (ours.n_clusters_, ours.n_leaves_, ours.n_connected_components_) == (k, 90, 1)
    assert not hasattr(ours, "distances_")


@pytest.mark.parametrize("linkage", OF_SKLEARN)
def test_threshold_of_scikit_learn(linkage):
    options = {"linkage": linkage, "connectivity": GRAPH, "distance_threshold": 1.5}
    ours = AgglomerativeClustering(None, **options).fit(X)
    theirs = cluster.AgglomerativeClustering(None, **options).fit(X)
    assert ours.n_clusters_ == theirs.n_clusters_ > 1
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1
    np.testing.assert_array_equal(ours.children_, np.sort(theirs.children_, axis=1))
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-10)


@pytest.mark.parametrize("linkage", OF_SKLEARN)
def test_components_are_joined_with_a_warning(linkage):
    rows = np.concatenate([X, X + 20, X[:4] - 30])
    graph = sparse.block_diag([GRAPH, GRAPH, np.ones((4, 4))], format="csr")
    options = {"linkage": linkage, "connectivity": graph, "compute_distances": True}
    with pytest.warns(
        UserWarning, match="the number of connected components of the connectivity matrix is 3 > 1"
    ):
        ours = AgglomerativeClustering(3, **options).fit(rows)
    with pytest.warns(UserWarning, match="3 > 1"):
        theirs = cluster.AgglomerativeClustering(3, **options).fit(rows)
    assert ours.n_connected_components_ == theirs.n_connected_components_ == 3
    np.testing.assert_array_equal(ours.labels_, np.repeat([0, 1, 2], [90, 90, 4]))
    np.testing.assert_allclose(ours.distances_, theirs.distances_, rtol=1e-10)


def test_an_image_falls_into_its_parts():
    image = np.zeros((20, 20)) + np.random.default_rng(1).normal(0, 0.05, (20, 20))
    image[3:9, 4:12] += 1.0
    image[12:18, 8:17] += 1.0  # as bright, but not beside the other
    labels = AgglomerativeClustering(3, connectivity=grid_to_graph(20, 20)).fit_predict(image.reshape(-1, 1))
    parts = np.zeros((20, 20), dtype=int)
    parts[3:9, 4:12], parts[12:18, 8:17] = 1, 2
    np.testing.assert_array_equal(labels, parts.ravel())


# What is a graph


@pytest.mark.parametrize("kind", ["coo", "csr", "csc", "lil", "dok"])
def test_any_form_of_one_graph_is_the_same(kind):
    graphs = [GRAPH.asformat(kind), GRAPH.toarray(), GRAPH.toarray().tolist(), GRAPH.toarray() != 0, GRAPH.T]
    graphs += [GRAPH + GRAPH.T, -GRAPH, GRAPH + sparse.eye_array(90), lambda rows: kneighbors_graph(rows, 8)]
    wanted = AgglomerativeClustering(5, connectivity=GRAPH).fit(X)
    for graph in graphs:
        found = AgglomerativeClustering(5, connectivity=graph).fit(X)
        np.testing.assert_array_equal(found.children_, wanted.children_)
        np.testing.assert_array_equal(found.labels_, wanted.labels_)


def test_edges():
    graph = np.array([[5.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.2, 0.0]])  # 1 and −1 are one edge
    np.testing.assert_array_equal(check_connectivity(graph, None, 3), [[0, 1], [1, 2]])
    stored = sparse.coo_array(([0.0, 2.0, 1.0, 1.0], ([0, 2, 1, 1], [1, 0, 2, 2])), shape=(3, 3))
    np.testing.assert_array_equal(check_connectivity(stored, None, 3), [[0, 2], [1, 2]])
    assert check_connectivity(np.eye(3), None, 3).shape == (0, 2)


def test_the_graph_is_left_as_it_is():
    entries = sparse.coo_array(([1.0, 1.0, 1.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3)).tocsr(copy=True)
    noncanonical = sparse.csr_array((np.ones(3), [1, 1, 2], [0, 2, 3, 3]), shape=(3, 3))
    for graph in (entries, noncanonical, np.eye(3, k=1)):
        before = graph.copy()
        AgglomerativeClustering(1, connectivity=graph).fit([[0.0], [1.0], [3.0]])
        assert (graph != before).sum() == 0
        assert getattr(graph, "nnz", 0) == getattr(before, "nnz", 0)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 3)), r"one row and one column for each of the 90 rows of X, but has the shape \(3, 3\)"),
        (sparse.eye_array(89, 90), r"has the shape \(89, 90\)"),
        (np.ones(90), r"has the shape \(90,\)"),
        (np.full((90, 90), np.nan), "connectivity holds nan"),
        (sparse.csr_array(np.diag([np.inf] * 90)), "connectivity holds inf"),
        (np.full((90, 90), "a"), "connectivity must hold numbers or Booleans"),
        (np.full((90, 90), None), "connectivity must hold numbers|connectivity holds nan"),
        (np.full((90, 90), 1j), "connectivity must hold numbers or Booleans"),
        ([[1, 0], [1]], "rows have different lengths"),
        ("knn", r"has the shape \(\)"),
        (lambda rows: rows, r"has the shape \(90, 3\)"),
    ],
)
def test_what_is_no_graph_is_refused(graph, message):
    model = AgglomerativeClustering(connectivity=graph)
    with pytest.raises(ValueError, match=message):
        model.fit(X)
    assert not hasattr(model, "labels_")


def test_a_graph_without_edges_and_one_row():
    with pytest.warns(UserWarning, match="is 90 > 1"):
        model = AgglomerativeClustering(4, connectivity=np.zeros((90, 90))).fit(X)
    assert model.n_connected_components_ == 90
    np.testing.assert_array_equal(model.labels_, AgglomerativeClustering(4).fit(X).labels_)
    assert AgglomerativeClustering(1, connectivity=[[0]]).fit([[1.0]]).n_connected_components_ == 1


# What follows from the tree


def test_the_verdict_on_levels():
    chain = np.eye(3, k=1)
    falls = AgglomerativeClustering(1, connectivity=chain).fit([[0.0], [3.0], [0.0]]).dendrogram_
    assert falls.monotone == (False, 1, 0)
    assert (falls.heights == 3).all()
    for linkage in ("complete", "average", "weighted", "single"):
        assert AgglomerativeClustering(1, connectivity=GRAPH, linkage=linkage).fit(X).dendrogram_.monotone


@pytest.mark.parametrize("linkage", ["ward", "centroid"])
def test_new_rows_go_to_the_nearest_middle(linkage):
    model = AgglomerativeClustering(6, connectivity=GRAPH, linkage=linkage).fit(X)
    queries = np.random.default_rng(2).standard_normal((40, 3))
    means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(6)])
    sizes = np.bincount(model.labels_)
    linkages = ((queries[:, None] - means[None]) ** 2).sum(axis=2)
    if linkage == "ward":
        linkages *= sizes / (sizes + 1)
    np.testing.assert_array_equal(model.predict(queries), linkages.argmin(axis=1))


def test_reasons_clones_and_pickles():
    model = AgglomerativeClustering(4, connectivity=GRAPH, linkage="average").fit(X)
    assert [said.answer for said in model.explain_rows()] == model.labels_.tolist()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(clone(model).fit(X).labels_, model.labels_)


@pytest.mark.parametrize("linkage", ["complete", "average", "weighted", "single"])
def test_words_and_known_distances(linkage):
    words = ["cat", "cats", "hat", "house", "houses", "mouse"]
    near = np.eye(6, k=1) + np.eye(6, k=2)
    by_words = AgglomerativeClustering(2, metric="levenshtein", linkage=linkage, connectivity=near).fit(words)
    np.testing.assert_array_equal(by_words.labels_, [0, 0, 0, 1, 1, 1])
    np.testing.assert_array_equal(by_words.predict(["bat", "blouse"]), [0, 1])
    D = by_words.metric_.pairwise(words)
    known = AgglomerativeClustering(2, metric="precomputed", linkage=linkage, connectivity=near).fit(D)
    np.testing.assert_array_equal(known.children_, by_words.children_)
    D[np.triu(near, 1) + np.triu(near, 1).T == 0] = 99.0  # only edges are read
    other = AgglomerativeClustering(2, metric="precomputed", linkage=linkage, connectivity=near).fit(D)
    np.testing.assert_array_equal(other.dendrogram_.levels, known.dendrogram_.levels)


@pytest.mark.parametrize("metric", ["precomputed", KernelDistance(Gaussian(1.0))])
def test_ward_without_coordinates_is_refused(metric):
    rows = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    with pytest.raises(ValueError, match='take linkage="average", "weighted", "complete" or "single"'):
        AgglomerativeClustering(metric=metric, connectivity=np.eye(6, k=1)).fit(rows)


def test_a_fit_along_a_graph_warns_of_nothing_else():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AgglomerativeClustering(3, connectivity=GRAPH).fit(X)
