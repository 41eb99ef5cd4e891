import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import bisector
from bisector.distances import Cosine, Euclidean, Gower, Manhattan, Precomputed
from bisector.solvers import row_graph
from bisector.solvers.row_graph import Components, edge_lengths, find_components, join_components

X = np.random.default_rng(0).random((50, 4))
ENDS = np.argwhere(np.triu(np.random.default_rng(1).random((50, 50)) < 0.2, 1))


def nearest_pairs(D, labels):
    """The nearest rows of any two components, of equals those with smaller numbers."""
    found = set()
    for c in range(labels.max() + 1):
        for d in range(c):
            between = [(D[min(i, j), max(i, j)], min(i, j), max(i, j))
                       for i in np.flatnonzero(labels == c) for j in np.flatnonzero(labels == d)]  # fmt: skip
            found.add(min(between)[1:])
    return found


@pytest.mark.parametrize(("metric", "name"), [(Euclidean(), "euclidean"), (Manhattan(), "cityblock")])
def test_lengths(metric, name):
    wanted = cdist(X, X, name)[tuple(ENDS.T)]
    for values in (X, csr_array(X), X.astype(np.float32)):
        rtol = 1e-6 if values.dtype == np.float32 else 1e-14  # of the rows themselves
        np.testing.assert_allclose(edge_lengths(metric, metric.prepare(values), ENDS), wanted, rtol=rtol)


def test_reduced_lengths_finish_at_the_lengths():
    for metric in (Euclidean(), Cosine(), Manhattan()):
        rows = metric.prepare(X)
        reduced = edge_lengths(metric, rows, ENDS, reduced=True)
        finished = metric.between(rows, rows).finish(reduced)
        np.testing.assert_array_equal(finished, edge_lengths(metric, rows, ENDS))
        np.testing.assert_allclose(finished, metric.pairwise(X)[tuple(ENDS.T)], rtol=1e-9)


def test_lengths_of_mixed_and_missing_values(monkeypatch):
    monkeypatch.setattr(row_graph, "_ROWS_AT_ONCE", 3)
    gaps = X.copy()
    gaps[::7, 1] = np.nan
    for metric in (Gower(), Euclidean(skip_missing=True)):
        distances = metric.learned(gaps)
        wanted = distances.pairwise(gaps)[tuple(ENDS.T)]
        np.testing.assert_allclose(edge_lengths(distances, distances.prepare(gaps), ENDS), wanted, rtol=1e-12)


def test_the_half_above_the_diagonal_counts():
    D = np.random.default_rng(2).random((6, 6))
    rows = Precomputed().prepare(D)
    np.testing.assert_array_equal(
        edge_lengths(Precomputed(), rows, np.array([[0, 1], [2, 5]])), [D[0, 1], D[2, 5]]
    )
    labels = np.array([0, 1, 2, 1, 0, 1])
    joining = join_components(Precomputed(), rows, Components(3, labels))
    assert {tuple(pair) for pair in joining.tolist()} == nearest_pairs(D, labels)


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(2, 6), st.booleans(), st.integers(0, 10**6))
def test_any_two_components_are_joined_by_their_nearest_rows(n, count, ties, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (n, 2)).astype(float) if ties else rng.random((n, 2))
    _, labels = np.unique(rng.integers(0, count, n), return_inverse=True)
    joining = join_components(
        Euclidean(), Euclidean().prepare(rows), Components(int(labels.max()) + 1, labels)
    )
    D = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    assert {tuple(pair) for pair in joining.tolist()} == nearest_pairs(D, labels)
    assert len(joining) == labels.max() * (labels.max() + 1) // 2


def test_tiles_and_threads_do_not_matter(monkeypatch):
    rows, labels = Euclidean().prepare(np.round(X, 1)), np.arange(50) % 7
    whole = join_components(Euclidean(), rows, Components(7, labels), n_jobs=1)
    monkeypatch.setattr(row_graph, "_TILE", (4, 5))
    np.testing.assert_array_equal(join_components(Euclidean(), rows, Components(7, labels), n_jobs=2), whole)


def test_components():
    found = find_components(np.array([[0, 3], [1, 4], [3, 5]]), 6)
    assert found.number == 3
    np.testing.assert_array_equal(found.labels, [0, 1, 2, 0, 1, 0])
    assert find_components(np.empty((0, 2), dtype=np.int64), 4).number == 4


def test_too_many_components_are_refused_before_they_are_compared():
    rows = Euclidean().prepare(np.zeros((3000, 1)))
    with (
        bisector.config(memory="64 MiB"),
        pytest.raises(
            MemoryError, match=r"Joining the 3,000 components of a graph needs .* a graph with more edges"
        ),
    ):
        join_components(Euclidean(), rows, Components(3000, np.arange(3000)))
