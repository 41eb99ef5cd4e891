import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import linkage as of_scipy
from scipy.spatial.distance import pdist, squareform

import bisector
from bisector.distances import Compiled, Euclidean, Levenshtein, Manhattan, Precomputed
from bisector.solvers.linkages import FORMULAS, LINKAGES
from bisector.solvers.merge import merge_clusters

REDUCIBLE = [name for name in LINKAGES if name == "single" or FORMULAS[name].reducible]


def merged(X, linkage, metric=None, **options):
    distance = metric or Euclidean()
    return merge_clusters(distance, distance.prepare(X), linkage, **options)


def linkage_between(X, a, b, linkage):
    """The linkage of two clusters from its definition."""
    apart = np.sqrt(((X[a][:, None] - X[b][None]) ** 2).sum(axis=2))
    if linkage in ("single", "complete", "average"):
        return {"single": np.min, "complete": np.max, "average": np.mean}[linkage](apart)
    gap = np.linalg.norm(X[a].mean(axis=0) - X[b].mean(axis=0))
    return gap * np.sqrt(2 * len(a) * len(b) / (len(a) + len(b))) if linkage == "ward" else gap


def assert_each_merge_is_the_closest(X, found, linkage):
    """Replay the merges: none is at a level above that of the closest pair there is."""
    clusters = {i: [i] for i in range(len(X))}
    for i, (a, b) in enumerate(found.children):
        numbers = sorted(clusters)
        closest = min(
            linkage_between(X, clusters[p], clusters[q], linkage) for p in numbers for q in numbers if p < q
        )
        here = linkage_between(X, clusters[a], clusters[b], linkage)
        # Both are sums of a few dozen rounded numbers.
        assert here == pytest.approx(closest, rel=1e-9, abs=1e-12)
        assert found.levels[i] == pytest.approx(here, rel=1e-9, abs=1e-7)
        clusters[len(X) + i] = clusters.pop(a) + clusters.pop(b)
        assert found.sizes[i] == len(clusters[len(X) + i])


# By hand


@pytest.mark.parametrize(
    ("linkage", "level"),
    [("single", 4), ("complete", 5), ("average", 4.5), ("centroid", 4.5), ("median", 4.5), ("weighted", 4.5)],
)
def test_a_row_and_a_pair(linkage, level):
    found = merged(np.array([[0.0], [1.0], [5.0]]), linkage)
    np.testing.assert_array_equal(found.children, [[0, 1], [2, 3]])
    np.testing.assert_allclose(found.levels, [1, level], rtol=1e-15)


# Oracles


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("n", [2, 3, 20, 65, 300])
def test_linkage_matrix_of_scipy(linkage, n):
    X = np.random.default_rng(n).standard_normal((n, 3))
    found, theirs = merged(X, linkage), of_scipy(X, linkage)
    np.testing.assert_array_equal(found.children, theirs[:, :2])
    np.testing.assert_array_equal(found.sizes, theirs[:, 3])
    np.testing.assert_allclose(found.levels, theirs[:, 2], rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 90), st.sampled_from(LINKAGES), st.integers(0, 10**6))
def test_linkage_matrix_of_scipy_on_drawn_rows(n, linkage, seed):
    X = np.random.default_rng(seed).random((n, 2))
    found, theirs = merged(X, linkage), of_scipy(X, linkage)
    np.testing.assert_array_equal(found.children, theirs[:, :2])
    np.testing.assert_allclose(found.levels, theirs[:, 2], rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=14),
    st.sampled_from(["single", "complete", "average", "ward", "centroid"]),
)
def test_ties_are_merged_greedily(points, linkage):
    X = np.array(points, dtype=float)
    assert_each_merge_is_the_closest(X, merged(X, linkage), linkage)


@pytest.mark.parametrize("linkage", ["complete", "average", "ward"])
def test_rounds_on_a_lattice_are_greedy(linkage, monkeypatch):
    # So many ties that rounds of pairs and chains of neighbours both have much to choose.
    monkeypatch.setattr("bisector.solvers.merge_matrix._FEW", 2)
    X = np.array([(i, j) for i in range(5) for j in range(5)], dtype=float)
    assert_each_merge_is_the_closest(X, merged(X, linkage), linkage)


@pytest.mark.parametrize("linkage", REDUCIBLE)
def test_gaps_that_grow_merge_one_at_a_time(linkage):
    # No two clusters but the first are nearest to each other, so that rounds do not pay and chains take over.
    X = np.cumsum(1.03 ** np.arange(200))[:, None]
    np.testing.assert_allclose(merged(X, linkage).levels, of_scipy(X, linkage)[:, 2], rtol=1e-9)


@pytest.mark.parametrize("linkage", REDUCIBLE)
def test_levels_never_fall(linkage):
    X = np.random.default_rng(0).integers(0, 4, size=(150, 3)).astype(float)
    assert (np.diff(merged(X, linkage).levels) >= 0).all()


@pytest.mark.parametrize("linkage", LINKAGES)
def test_any_number_of_threads_gives_the_same_bits(linkage):
    X = np.random.default_rng(1).random((400, 4))
    one, two = merged(X, linkage, n_jobs=1), merged(X, linkage, n_jobs=2)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


# Distances


@pytest.mark.parametrize("linkage", LINKAGES)
def test_precomputed_distances(linkage):
    X = np.random.default_rng(2).random((60, 3))
    here, there = merged(X, linkage), merged(squareform(pdist(X)), linkage, Precomputed())
    np.testing.assert_array_equal(here.children, there.children)
    np.testing.assert_allclose(here.levels, there.levels, rtol=1e-12)


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted"])
def test_manhattan_as_scipy_and_as_a_function(linkage):
    X = np.random.default_rng(3).random((70, 3))
    theirs = of_scipy(X, linkage, "cityblock")
    for metric in (Manhattan(), Compiled(lambda x, y: np.abs(x - y).sum())):
        np.testing.assert_allclose(merged(X, linkage, metric).levels, theirs[:, 2], rtol=1e-9)


def test_strings():
    found = merged(["cat", "cats", "house", "mouse"], "complete", Levenshtein())
    np.testing.assert_array_equal(found.levels, [1, 1, 5])


# Edges


@pytest.mark.parametrize("linkage", LINKAGES)
def test_one_row_and_equal_rows(linkage):
    assert merged(np.zeros((1, 2)), linkage).children.shape == (0, 2)
    found = merged(np.ones((90, 2)), linkage)
    np.testing.assert_array_equal(found.levels, 0)
    assert found.sizes[-1] == 90


@pytest.mark.parametrize("linkage", ["complete", "average", "ward"])
def test_float32_matrix(linkage):
    X = np.random.default_rng(4).random((200, 3))
    narrow, wide = merged(X, linkage, dtype="float32"), merged(X, linkage)
    # Every level is rounded a few dozen times to 24 bits.
    np.testing.assert_allclose(narrow.levels, wide.levels, rtol=1e-5)


def test_too_many_rows_are_refused_with_their_size():
    with (
        bisector.config(memory="1 MiB"),
        pytest.raises(MemoryError, match=r"1,000 × 1,000 distances.*linkage=\"single\".*float32"),
    ):
        merged(np.zeros((1000, 2)), "complete")
