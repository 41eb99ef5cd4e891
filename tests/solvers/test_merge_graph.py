"""Merging along a graph: what a dictionary of neighbours gives, and what scikit-learn gives."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from sklearn import cluster
from sklearn.feature_extraction.image import grid_to_graph
from sklearn.neighbors import kneighbors_graph

from bisector.clustering.connectivity import check_connectivity
from bisector.distances import Compiled, Euclidean, Levenshtein, Manhattan, Precomputed
from bisector.solvers import merge_graph
from bisector.solvers.linkages import FORMULAS, LINKAGES
from bisector.solvers.merge import merge_clusters
from bisector.solvers.merge_graph import merge_along_graph
from bisector.solvers.row_graph import find_components

OF_SKLEARN = ("ward", "complete", "average", "single")
RISING = ("single", "complete", "average", "weighted")


def merged(X, linkage, graph, metric=None, **options):
    distance = metric or Euclidean()
    rows = distance.prepare(X)
    ends = check_connectivity(graph, X, len(rows))
    return merge_along_graph(distance, rows, linkage, ends, find_components(ends, len(rows)), **options)


def of_sklearn(X, linkage, graph, metric="euclidean"):
    model = cluster.AgglomerativeClustering(
        1, linkage=linkage, connectivity=graph, metric=metric, compute_distances=True
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the number of connected components")
        return model.fit(X)


def assert_as_in_sklearn(X, linkage, graph, metric=None, name="euclidean"):
    found, theirs = merged(X, linkage, graph, metric), of_sklearn(X, linkage, graph, name)
    np.testing.assert_array_equal(found.children, np.sort(theirs.children_, axis=1))
    # Means are moved here and summed there: each merge may add a rounding.
    np.testing.assert_allclose(found.levels, theirs.distances_, rtol=1e-10)


def random_graph(rng, n, share):
    """Some edges in one direction only, some with a negative entry, some from a row to itself."""
    return np.where(rng.random((n, n)) < share, rng.choice([-1.0, 0.5, 2.0], size=(n, n)), 0.0)


def connected(graph, rng):
    """The graph with a path through all rows."""
    order = rng.permutation(len(graph))
    graph[order[:-1], order[1:]] = 1.0
    return graph


def by_dictionaries(X, linkage, graph):
    """Merge the closest neighbours, again and again, from linkages in a dictionary."""
    n = len(X)
    linked = {(int(a), int(b)): np.linalg.norm(X[a] - X[b]) for a, b in check_connectivity(graph, X, n)}
    sizes, middles = dict.fromkeys(range(n), 1), dict(enumerate(X))
    squared = linkage in ("ward", "centroid", "median")
    children, levels = [], []
    for new in range(n, 2 * n - 1):
        a, b = min(linked, key=linked.get)
        children.append((a, b))
        levels.append(linked.pop((a, b)))
        n_a, n_b = sizes.pop(a), sizes.pop(b)
        share = 0.5 if linkage == "median" else n_b / (n_a + n_b)
        sizes[new], middles[new] = n_a + n_b, (1 - share) * middles[a] + share * middles[b]
        for k in list(sizes):
            known = [(linked.pop((min(k, p), max(k, p)), None), size) for p, size in ((a, n_a), (b, n_b))]
            known = [(value, size) for value, size in known if value is not None]
            if not known:
                continue
            if squared:
                weight = 2 * sizes[k] * sizes[new] / (sizes[k] + sizes[new]) if linkage == "ward" else 1.0
                linked[k, new] = np.sqrt(weight) * np.linalg.norm(middles[k] - middles[new])
            else:
                values, weights = zip(*known, strict=True)
                linked[k, new] = {
                    "single": min(values),
                    "complete": max(values),
                    "average": np.average(values, weights=weights),
                    "weighted": np.mean(values),
                }[linkage]
    return np.array(children), np.array(levels)


def check_by_dictionaries(X, linkage, graph):
    children, levels = by_dictionaries(X, linkage, graph)
    found = merged(X, linkage, graph)
    np.testing.assert_array_equal(found.children, children)
    np.testing.assert_allclose(found.levels, levels, rtol=1e-9)


# By hand


@pytest.mark.parametrize(
    ("linkage", "level"),
    [
        ("single", 2),
        ("complete", 2),
        ("average", 2),
        ("weighted", 2),
        ("centroid", 2.5),
        ("median", 2.5),
        ("ward", np.sqrt(4 / 3) * 2.5),
    ],
)
def test_a_chain_of_three_rows(linkage, level):
    # 0 and 1 are merged; of the cluster only 1 has an edge to 3, and so what is known of distances is 2.
    found = merged(np.array([[0.0], [1.0], [3.0]]), linkage, [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_array_equal(found.children, [[0, 1], [2, 3]])
    np.testing.assert_allclose(found.levels, [1, level], rtol=1e-15)
    np.testing.assert_array_equal(found.sizes, [2, 3])


def test_ward_along_a_chain_may_turn_down():
    # The rows at the ends are equal, but meet only when both are merged with the row between them.
    found = merged(np.array([[0.0], [3.0], [0.0]]), "ward", [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(found.levels, [3, np.sqrt(4 / 3) * 1.5])
    assert found.levels[1] < found.levels[0]


# Oracles


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.sampled_from(LINKAGES), st.floats(0, 0.6), st.integers(0, 10**6))
def test_dictionaries_give_the_same(n, linkage, share, seed):
    rng = np.random.default_rng(seed)
    X, graph = rng.random((n, 2)), connected(random_graph(rng, n, share), rng)
    check_by_dictionaries(X, linkage, graph)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 60), st.sampled_from(OF_SKLEARN), st.floats(0, 0.5), st.integers(0, 10**6))
def test_random_graphs_as_in_scikit_learn(n, linkage, share, seed):
    rng = np.random.default_rng(seed)
    graph = np.abs(random_graph(rng, n, share))  # opposite signs would cancel there
    assert_as_in_sklearn(rng.random((n, 3)), linkage, graph)


@settings(max_examples=30, deadline=None)
@given(st.integers(20, 300), st.sampled_from(OF_SKLEARN), st.integers(1, 12), st.integers(0, 10**6))
def test_graphs_of_neighbours_as_in_scikit_learn(n, linkage, k, seed):
    X = np.random.default_rng(seed).standard_normal((n, 2))
    assert_as_in_sklearn(X, linkage, kneighbors_graph(X, k))


@pytest.mark.parametrize("linkage", OF_SKLEARN)
@pytest.mark.parametrize("shape", [(30, 40), (8, 9, 10), (1, 50)])
def test_images_as_in_scikit_learn(linkage, shape):
    pixels = np.random.default_rng(0).random(shape).reshape(-1, 1)
    assert_as_in_sklearn(pixels, linkage, grid_to_graph(*shape))


def test_ties_of_ward_as_in_scikit_learn():
    # Every merge is at level 0: what decides is which clusters came about first.
    assert_as_in_sklearn(np.zeros((120, 1)), "ward", grid_to_graph(10, 12))


@pytest.mark.parametrize("linkage", ["complete", "average", "single"])
def test_other_distances_as_in_scikit_learn(linkage):
    rng = np.random.default_rng(1)
    X, graph = rng.random((80, 3)), connected(np.abs(random_graph(rng, 80, 0.05)), rng)
    assert_as_in_sklearn(X, linkage, graph, Manhattan(), "manhattan")
    assert_as_in_sklearn(X, linkage, graph, Compiled(lambda x, y: np.abs(x - y).sum()), "manhattan")
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    assert_as_in_sklearn(D, linkage, graph, Precomputed(), "precomputed")


# What must hold


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_complete_graph_and_one_without_edges_are_as_good_as_none(linkage):
    X = np.random.default_rng(2).random((40, 2))
    rows = Euclidean().prepare(X)
    for graph in (np.ones((40, 40)), np.zeros((40, 40))):
        for a, b in zip(merged(X, linkage, graph), merge_clusters(Euclidean(), rows, linkage), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_all_edges_but_one(linkage):
    # Too many for lists to stay short, and not a complete graph: the two farthest rows have no edge.
    X = np.random.default_rng(3).random((60, 2))
    apart = np.linalg.norm(X[:, None] - X[None], axis=2)
    graph = np.ones((60, 60))
    graph[apart == apart.max()] = 0.0
    check_by_dictionaries(X, linkage, graph)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_star(linkage):
    # Every merger takes in the row in the middle, whose list is the longer one at first.
    X = np.random.default_rng(4).random((50, 2))
    graph = np.zeros((50, 50))
    graph[7] = 1.0
    check_by_dictionaries(X, linkage, graph)


@pytest.mark.parametrize("linkage", RISING)
def test_levels_rise_also_with_ties(linkage):
    X = np.random.default_rng(5).integers(0, 4, size=(300, 2)).astype(float)
    assert (np.diff(merged(X, linkage, kneighbors_graph(X, 4)).levels) >= 0).all()


@pytest.mark.parametrize("linkage", LINKAGES)
def test_several_calls_of_the_loop_and_threads_give_the_same_bits(linkage, monkeypatch):
    X = np.random.default_rng(6).random((500, 3))
    graph = kneighbors_graph(X, 3)
    one = merged(X, linkage, graph, n_jobs=1)
    monkeypatch.setattr(merge_graph, "_AT_ONCE", 7)
    for a, b in zip(one, merged(X, linkage, graph, n_jobs=2), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_sparse_rows_and_weighted_features(linkage):
    X = np.random.default_rng(7).random((60, 5)) * (np.random.default_rng(8).random((60, 5)) < 0.5)
    X[:, 0] = np.arange(60) ** 1.1  # so that no rows are equal
    graph = kneighbors_graph(X, 6)
    dense, sparse = merged(X, linkage, graph), merged(csr_array(X), linkage, graph)
    np.testing.assert_array_equal(dense.children, sparse.children)
    np.testing.assert_array_equal(dense.levels, sparse.levels)
    weights = np.array([1.0, 4.0, 0.5, 2.0, 0.0])
    weighted = merged(X, linkage, graph, Euclidean(weights=weights))
    stretched = merged(X * np.sqrt(weights), linkage, graph)
    np.testing.assert_array_equal(weighted.children, stretched.children)
    np.testing.assert_allclose(weighted.levels, stretched.levels, rtol=1e-12)


def test_strings():
    chain = np.eye(4, k=1)
    found = merged(["cat", "house", "cats", "mouse"], "average", chain, Levenshtein())
    # cat—house 5, house—cats 4, cats—mouse 4: of equals the edge of smaller rows; then 4 of cats, 5 of cat.
    np.testing.assert_array_equal(found.children, [[1, 2], [3, 4], [0, 5]])
    np.testing.assert_array_equal(found.levels, [4, 4, 5])


@pytest.mark.parametrize("linkage", ["ward", "centroid", "median"])
def test_middles_need_coordinates(linkage):
    D = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    with pytest.raises(ValueError, match=r"compares the middles of clusters, but Precomputed\(\)"):
        merged(D, linkage, np.eye(5, k=1), Precomputed())


def test_nan_of_a_function_names_the_rows():
    X = np.arange(6.0)[:, None]
    strange = Compiled(lambda x, y: np.nan if x[0] + y[0] == 7 else abs(x[0] - y[0]))
    with pytest.raises(ValueError, match="returned NaN for row 3 of X and row 4 of X"):
        merged(X, "average", np.eye(6, k=1), strange)
    apart = np.zeros((6, 6))
    apart[0, 1] = apart[2, 3] = apart[4, 5] = 1.0  # components that meet in 2 and 5, in 3 and 4
    with pytest.raises(ValueError, match="returned NaN for row 2 of X and row 5 of X"):
        merged(X, "average", apart, strange)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_and_two_rows(linkage):
    assert merged(np.zeros((1, 2)), linkage, [[1]]).children.shape == (0, 2)
    np.testing.assert_array_equal(merged(np.array([[0.0], [2.0]]), linkage, np.eye(2)).levels, [2])


def test_loops_as_plain_python_give_the_same_bits(printed_both_ways):
    code = f"""
import numpy as np
from bisector.distances import Euclidean
from bisector.solvers.merge_graph import merge_along_graph
from bisector.solvers.row_graph import find_components
X = np.random.default_rng(0).random((40, 2))
ends = np.array([(i, j) for i in range(40) for j in range(i + 1, 40) if (i * j) % 5 == 1 or j == i + 1])
rows = Euclidean().prepare(X)
for linkage in {(*FORMULAS, "single")!r}:
    found = merge_along_graph(Euclidean(), rows, linkage, ends, find_components(ends, 40))
    print(linkage, found.children.tolist(), [level.hex() for level in found.levels.tolist()])
"""
    said = printed_both_ways(code)
    assert said[0] == said[1]
    assert len(said[0].splitlines()) == 7
