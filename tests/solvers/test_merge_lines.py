"""Merging whose first rounds make linkages from the rows, where a matrix would be large."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.cluster.hierarchy import linkage as of_scipy

import bisector
from bisector.distances import Chebyshev, Euclidean, Manhattan, Minkowski
from bisector.solvers import merge
from bisector.solvers.linkages import FORMULAS
from bisector.solvers.merge_lines import ClusterLines, cluster_lines, merge_first_rounds
from bisector.solvers.merge_matrix import Clusters

FOLDED = [name for name, formula in FORMULAS.items() if hasattr(formula, "fold")]
METRICS = {
    "euclidean": Euclidean(),
    "cityblock": Manhattan(),
    "chebyshev": Chebyshev(),
    "minkowski": Minkowski(1.5),
}


@pytest.fixture(autouse=True)
def _every_matrix_is_large(monkeypatch):
    monkeypatch.setattr(merge, "_LARGE", 0)


def merged(X, linkage, metric=None, **options):
    distance = metric or Euclidean()
    return merge.merge_clusters(distance, distance.prepare(X), linkage, **options)


def linkage_of(X, cluster_of, linkage):
    """Linkages between all clusters from their definition."""
    apart = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    members = [np.flatnonzero(cluster_of == c) for c in range(cluster_of.max() + 1)]
    reduce = {"complete": np.max, "average": np.mean}[linkage]
    return np.array([[reduce(apart[np.ix_(a, b)]) for b in members] for a in members])


def test_linkages_made_from_rows_have_lines():
    assert FOLDED == ["complete", "average", "weighted"]


@pytest.mark.parametrize("linkage", FOLDED)
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n", [65, 200, 700])
def test_linkage_matrix_of_scipy(linkage, metric, n):
    X = np.random.default_rng(n).standard_normal((n, 3))
    options = {"p": 1.5} if metric == "minkowski" else {}
    from scipy.spatial.distance import pdist

    found, theirs = merged(X, linkage, METRICS[metric]), of_scipy(pdist(X, metric, **options), linkage)
    np.testing.assert_array_equal(found.children, theirs[:, :2])
    np.testing.assert_array_equal(found.sizes, theirs[:, 3])
    np.testing.assert_allclose(found.levels, theirs[:, 2], rtol=1e-9)


@settings(max_examples=30, deadline=None)
@given(st.integers(66, 160), st.sampled_from(FOLDED), st.integers(0, 10**6))
def test_with_and_without_a_matrix_on_drawn_rows(n, linkage, seed):
    X = np.random.default_rng(seed).random((n, 2))
    by_lines = merged(X, linkage)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(merge, "_LARGE", 2**60)
        by_matrix = merged(X, linkage)
    np.testing.assert_array_equal(by_lines.children, by_matrix.children)
    np.testing.assert_allclose(by_lines.levels, by_matrix.levels, rtol=1e-12)


@pytest.mark.parametrize("linkage", ["complete", "average"])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_a_written_matrix_holds_the_linkages(linkage, rounds):
    X = np.random.default_rng(rounds).standard_normal((300, 4))
    lines = ClusterLines(FORMULAS[linkage], Euclidean().lower(4), X, 2)
    clusters = Clusters(len(X))
    asked = clusters.alive
    for _ in range(rounds):
        lines.find_nearest(asked, clusters)
        asked = lines.carry_out(clusters.plan(), clusters)
    matrix = lines.written(np.dtype(np.float64))
    assert len(matrix) == lines.n < 300
    np.testing.assert_array_equal(matrix, matrix.T)
    expected = linkage_of(X, lines.cluster_of, linkage)
    np.fill_diagonal(expected, np.nan)
    np.testing.assert_allclose(matrix, expected, rtol=1e-12)


@pytest.mark.parametrize("linkage", FOLDED)
def test_ties_and_duplicates_have_the_levels_of_scipy(linkage):
    # Complete linkage of a lattice has several dendrograms; of distinct columns repeated there is one.
    X = np.repeat(np.cumsum(np.arange(1.0, 41))[:, None], 3, axis=0)
    np.testing.assert_allclose(merged(X, linkage).levels, of_scipy(X, linkage)[:, 2], rtol=1e-9)


@pytest.mark.parametrize("linkage", FOLDED)
def test_any_number_of_threads_gives_the_same_bits(linkage):
    X = np.random.default_rng(1).random((900, 4))
    one, two = merged(X, linkage, n_jobs=1), merged(X, linkage, n_jobs=2)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("linkage", FOLDED)
def test_float32_matrix(linkage):
    X = np.random.default_rng(4).random((300, 3))
    # Every level is rounded a few dozen times to 24 bits.
    np.testing.assert_allclose(
        merged(X, linkage, dtype="float32").levels, merged(X, linkage).levels, rtol=1e-5
    )


def test_what_a_matrix_of_rows_has_no_room_for_is_merged_nevertheless():
    X = np.random.default_rng(5).standard_normal((1000, 2))
    with bisector.config(memory="1 MiB"):  # 8 MB of distances
        found = merged(X, "complete")
    np.testing.assert_allclose(found.levels, of_scipy(X, "complete")[:, 2], rtol=1e-9)


def test_the_first_rounds_end_where_rounds_do_not_pay():
    X = np.cumsum(1.03 ** np.arange(200))[:, None]  # nobody's nearest but the first two's
    lines, clusters = ClusterLines(FORMULAS["complete"], Euclidean().lower(1), X, 1), Clusters(200)
    merge_first_rounds(lines, clusters, room=100)
    assert lines.n == 200
    np.testing.assert_allclose(merged(X, "complete").levels, of_scipy(X, "complete")[:, 2], rtol=1e-9)


def test_long_rows_and_other_distances_have_no_lines():
    rng = np.random.default_rng(6)
    rows = Euclidean().prepare(rng.random((5, 33)))
    assert cluster_lines(FORMULAS["complete"], Euclidean(), rows, 1) is None
    assert cluster_lines(FORMULAS["ward"], Euclidean(), Euclidean().prepare(rng.random((5, 3))), 1) is None
