import pickle

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform

from bisector import AgglomerativeClustering, Dendrogram
from bisector.solvers.linkages import LINKAGES

X = np.random.default_rng(0).standard_normal((40, 3))


def tree_of(linkage, rows=X):
    return AgglomerativeClustering(1, linkage=linkage).fit(rows).dendrogram_


def same_clusters(a, b):
    return len(np.unique(np.stack([a, b], axis=1), axis=0)) == len(np.unique(a)) == len(np.unique(b))


def test_by_hand():
    tree = tree_of("complete", [[0.0], [1.0], [5.0], [7.0]])
    np.testing.assert_array_equal(tree.merges, [[0, 1], [2, 3], [4, 5]])
    np.testing.assert_array_equal(tree.levels, [1, 2, 7])
    np.testing.assert_array_equal(tree.cut(3), [0, 0, 1, 2])
    np.testing.assert_array_equal(tree.cut(height=2), [0, 0, 1, 1])
    np.testing.assert_array_equal(tree.cophenetic_distances(), [1, 7, 7, 7, 7, 2])
    places, levels = tree.coordinates()
    np.testing.assert_array_equal(places[2], [0.5, 0.5, 2.5, 2.5])
    np.testing.assert_array_equal(levels[2], [1, 7, 7, 2])
    assert tree.to_newick(["a", "b c", "d's", "e"]) == "((a:1,'b c':1):6,('d''s':2,e:2):5);"
    assert repr(tree) == "<Dendrogram of 4 rows, up to level 7>"


@pytest.mark.parametrize("linkage", LINKAGES)
def test_as_scipy(linkage):
    tree, Z = tree_of(linkage), hierarchy.linkage(X, linkage)
    np.testing.assert_allclose(tree.linkage_matrix(), Z, rtol=1e-9)
    np.testing.assert_allclose(tree.cophenetic_distances(), hierarchy.cophenet(Z), rtol=1e-9)
    assert tree.cophenetic_correlation(pdist(X)) == pytest.approx(hierarchy.cophenet(Z, pdist(X))[0])
    assert tree.cophenetic_correlation(squareform(pdist(X))) == pytest.approx(
        hierarchy.cophenet(Z, pdist(X))[0]
    )
    for height in np.quantile(Z[:, 2], [0.2, 0.5, 0.9]) + 1e-6:
        theirs = hierarchy.fcluster(Z, height, "distance")
        assert same_clusters(tree.cut(height=height), theirs)
    assert bool(tree.monotone) == hierarchy.is_monotonic(Z)
    optimal = hierarchy.leaves_list(hierarchy.optimal_leaf_ordering(Z, pdist(X)))
    np.testing.assert_array_equal(tree.leaf_order(pdist(X)), optimal)


@pytest.mark.parametrize("k", [1, 2, 7, 40])
def test_cut_gives_so_many_clusters_numbered_by_first_rows(k):
    labels = tree_of("average").cut(k)
    _, first = np.unique(labels, return_index=True)
    assert len(first) == k
    assert (np.diff(first) > 0).all()


def test_lines_of_a_drawing_do_not_cross():
    tree = tree_of("average")
    order = tree.leaf_order()
    places = np.argsort(order)
    for merge in range(len(tree.merges)):
        joined = np.arange(len(tree.merges)) <= merge
        members = np.flatnonzero(tree.cut(len(X) - joined.sum()) == tree.cut(len(X) - joined.sum())[0])
        spread = np.sort(places[members])
        assert spread[-1] - spread[0] == len(members) - 1


def test_from_scipy_and_back():
    Z = hierarchy.linkage(X, "ward")
    np.testing.assert_array_equal(Dendrogram.from_linkage_matrix(Z).linkage_matrix(), Z)


@pytest.mark.parametrize("Z", [[[0, 1, 1.0]], [[0, 3, 1.0, 2]], [[0, 1, 1.0, 2], [0, 2, 2.0, 3]]])
def test_what_is_no_linkage_matrix_is_refused(Z):
    with pytest.raises(ValueError, match="linkage matrix"):
        Dendrogram.from_linkage_matrix(Z)


def test_a_chain_of_100_000_leaves():
    n = 100_000
    merges = np.stack([np.arange(1, n), np.r_[0, np.arange(n, 2 * n - 2)]], axis=1)
    tree = Dendrogram(np.sort(merges, axis=1), np.arange(1.0, n), np.arange(2, n + 1))
    assert tree.monotone
    assert tree.cut(2).sum() == 1
    assert len(np.unique(tree.leaf_order())) == n
    assert tree.to_newick().count("(") == n - 1
    places, _ = tree.coordinates()
    assert places.shape == (n - 1, 4)
    with pytest.raises(ValueError, match="too large for text"):
        tree.to_text()


def test_frozen_and_pickled():
    tree = tree_of("single")
    with pytest.raises(ValueError, match="read-only"):
        tree.levels[0] = 3
    with pytest.raises(AttributeError):
        tree.levels = None
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(tree)).levels, tree.levels)


def test_one_row():
    tree = tree_of("ward", [[1.0]])
    assert tree.n_leaves == 1
    assert tree.to_newick() == "0;"
    assert tree.to_text() == "row 0"
    np.testing.assert_array_equal(tree.cut(1), [0])
    np.testing.assert_array_equal(tree.cut(height=0), [0])


def test_bad_questions():
    tree = tree_of("ward")
    with pytest.raises(ValueError, match="either a number of clusters"):
        tree.cut()
    with pytest.raises(ValueError, match="at most 40"):
        tree.cut(41)
    with pytest.raises(ValueError, match="all 40 rows"):
        tree.cophenetic_correlation(np.zeros(3))
    with pytest.raises(ValueError, match="each of the 40 rows once"):
        tree.coordinates(np.zeros(40, dtype=int))
