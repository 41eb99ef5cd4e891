import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist

from bisector.distances import Chebyshev, Compiled, Cosine, Euclidean, Levenshtein, Manhattan, Precomputed
from bisector.solvers import spanning_tree
from bisector.solvers.spanning_tree import minimum_spanning_tree


def tree_of(X, metric=None, **options):
    distance = metric or Euclidean()
    return minimum_spanning_tree(distance, distance.prepare(X), **options)


def kruskal(D):
    """The sorted lengths of a minimum spanning tree, from all pairs."""
    n = len(D)
    groups, lengths = np.arange(n), []
    upper = np.triu_indices(n, 1)
    for e in np.argsort(D[upper], kind="stable"):
        a, b = groups[upper[0][e]], groups[upper[1][e]]
        if a != b:
            groups[groups == a] = b
            lengths.append(D[upper][e])
    return np.array(lengths)


def first_tree(D):
    """The ends of the minimum spanning tree that is first in the order of lengths, then of row numbers."""
    a, b = np.triu_indices(len(D), 1)
    groups, ends = np.arange(len(D)), []
    for e in np.lexsort((b, a, D[a, b])):
        if groups[a[e]] != groups[b[e]]:
            groups[groups == groups[a[e]]] = groups[b[e]]
            ends.append((a[e], b[e]))
    return np.array(ends)


def assert_spans(tree, D):
    n = len(D)
    assert tree.ends.shape == (n - 1, 2)
    graph = np.zeros((n, n))
    graph[tree.ends[:, 0], tree.ends[:, 1]] = 1
    assert connected_components(graph)[0] == 1
    np.testing.assert_allclose(tree.lengths, D[tree.ends[:, 0], tree.ends[:, 1]], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(tree.lengths, kruskal(D), rtol=1e-9, atol=1e-12)


def test_by_hand():
    tree = tree_of(np.array([[0.0], [10.0], [1.0], [3.0]]))
    np.testing.assert_array_equal(tree.ends, [[0, 2], [2, 3], [1, 3]])
    np.testing.assert_array_equal(tree.lengths, [1, 2, 7])


@pytest.mark.parametrize("d", [1, 2, 3, 8])
@pytest.mark.parametrize("n", [2, 3, 33, 300])
def test_boxes_find_what_kruskal_finds(n, d, monkeypatch):
    monkeypatch.setattr(spanning_tree, "_FEWEST_ROWS", 2)
    X = np.random.default_rng(n + d).standard_normal((n, d))
    assert_spans(tree_of(X), cdist(X, X))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=120))
def test_boxes_on_rows_with_ties(points):
    X = np.array(points, dtype=float)
    rows, ends, lengths = np.ascontiguousarray(X), np.empty((len(X) - 1, 2), np.int64), np.empty(len(X) - 1)
    spanning_tree.grow_in_boxes(Euclidean().lower(2), rows, ends, lengths)
    order = np.argsort(lengths, kind="stable")
    assert_spans(spanning_tree.SpanningTree(ends[order], np.sqrt(lengths[order])), cdist(X, X))


@pytest.mark.parametrize(
    ("n", "d", "most"), [(300, 1, 500), (400, 2, 20), (400, 3, 5), (700, 2, 9), (200, 5, 1)]
)
def test_of_equally_long_edges_boxes_take_those_of_smaller_rows(n, d, most, monkeypatch):
    monkeypatch.setattr(spanning_tree, "_FEWEST_ROWS", 2)
    X = np.random.default_rng(n + d).integers(0, most, size=(n, d), endpoint=True).astype(float)
    np.testing.assert_array_equal(tree_of(X).ends, first_tree(cdist(X, X, "sqeuclidean")))


@pytest.mark.parametrize("metric", [Euclidean(), Manhattan(), Chebyshev()])
@pytest.mark.parametrize(("n", "d", "most"), [(1500, 1, 30), (2000, 2, 12), (1200, 3, 1), (1500, 2, 0)])
def test_rows_that_repeat_have_the_tree_of_all(n, d, most, metric):
    X = np.random.default_rng(n).integers(0, most, size=(n, d), endpoint=True).astype(float)
    rows, formula = np.ascontiguousarray(X), metric.lower(d)
    ends, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    spanning_tree.grow_in_boxes(formula, rows, ends, lengths)
    wanted, ascending = spanning_tree.sorted_edges(ends, lengths)
    spanning_tree.grow_among_different(formula, rows, ends, lengths)
    found = spanning_tree.sorted_edges(ends, lengths)
    np.testing.assert_array_equal(found[0], wanted)
    np.testing.assert_array_equal(found[1], ascending)


def test_equal_rows_are_joined_with_the_first_of_them():
    X = np.random.default_rng(0).integers(0, 2, size=(1000, 2)).astype(float)
    tree = tree_of(X)
    firsts = [np.flatnonzero((row == X).all(axis=1))[0] for row in X]
    together = tree.lengths == 0
    assert together.sum() == 996
    np.testing.assert_array_equal(tree.ends[together, 0], np.array(firsts)[tree.ends[together, 1]])
    assert set(tree.ends[~together].ravel()) <= set(firsts)


def test_few_rows_enter_the_tree_when_all_repeat(monkeypatch):
    entered = []
    grow = spanning_tree.grow_in_boxes

    def counted(formula, rows, *others):
        entered.append(len(rows))
        grow(formula, rows, *others)

    monkeypatch.setattr(spanning_tree, "grow_in_boxes", counted)
    tree_of(np.random.default_rng(0).integers(0, 10, (20_000, 2)).astype(float))
    tree_of(np.random.default_rng(0).random((20_000, 2)))
    assert entered == [100, 20_000]


@pytest.mark.parametrize(
    ("metric", "scale"), [(Euclidean(weights=[1.0, 0.0]), [1.0, 1.0]), (Euclidean(), [1.0, 1e-200])]
)
def test_rows_that_differ_at_distance_zero(metric, scale):
    # The second column does not count, or its squares vanish.
    X = np.random.default_rng(6).integers(0, 6, size=(1200, 2)) * np.array(scale)
    tree, D = tree_of(X, metric), np.abs(X[:, :1] - X[:, 0])
    np.testing.assert_array_equal(tree.ends, first_tree(D))


def test_boxes_where_clusters_lie_far_apart(monkeypatch):
    # Leaves then belong to one component as a whole long before it finds a way out.
    monkeypatch.setattr(spanning_tree, "_FEWEST_ROWS", 2)
    rng = np.random.default_rng(4)
    X = np.concatenate([rng.normal(centre, 1e-3, size=(150, 2)) for centre in (0, 1, 5, 30)])
    assert_spans(tree_of(X), cdist(X, X))


def test_boxes_where_distances_overflow(monkeypatch):
    monkeypatch.setattr(spanning_tree, "_FEWEST_ROWS", 2)
    X = np.random.default_rng(5).standard_normal((200, 2)) * 1e200
    tree = tree_of(X)
    graph = np.zeros((200, 200))
    graph[tree.ends[:, 0], tree.ends[:, 1]] = 1
    assert connected_components(graph)[0] == 1
    assert tree.ends.shape == (199, 2)
    assert np.isinf(tree.lengths).all()


@pytest.mark.parametrize("metric", [Euclidean(), Manhattan(), Chebyshev(), Cosine()])
def test_boxes_and_prim_agree(metric, monkeypatch):
    X = np.random.default_rng(0).random((1200, 3))
    boxes = tree_of(X, metric)
    monkeypatch.setattr(spanning_tree, "_MOST_COORDINATES", 0)
    np.testing.assert_array_equal(tree_of(X, metric).ends, boxes.ends)


def test_any_number_of_threads_gives_the_same_tree():
    X = np.random.default_rng(1).integers(0, 12, size=(3000, 3)).astype(float)
    one, two = tree_of(X, n_jobs=1), tree_of(X, n_jobs=2)
    np.testing.assert_array_equal(one.ends, two.ends)


@pytest.mark.parametrize("n", [1, 2, 3000])
def test_edges_are_sorted_by_length_then_rows(n):
    rng = np.random.default_rng(n)
    lengths = rng.choice([-2.0, -0.0, 0.0, 1e-310, 0.5, 3.0, 1e300, np.inf], size=n)
    lengths[::3] = rng.standard_normal(len(lengths[::3]))
    ends = rng.integers(0, 50, size=(n, 2))
    low, high = ends.min(axis=1), ends.max(axis=1)
    order = np.lexsort((high, low, lengths))
    sorted_ends, ascending = spanning_tree.sorted_edges(ends, lengths)
    np.testing.assert_array_equal(ascending, lengths[order])
    np.testing.assert_array_equal(sorted_ends, np.column_stack([low, high])[order])


@pytest.mark.parametrize("room", [True, False])
def test_functions_and_strings(room, monkeypatch):
    if not room:
        monkeypatch.setattr(spanning_tree, "budget", lambda: 0)
    X = np.random.default_rng(2).random((40, 2))
    assert_spans(tree_of(X, Compiled(lambda x, y: np.abs(x - y).sum())), cdist(X, X, "cityblock"))
    words = ["cat", "house", "cats", "mouse", "hat"]
    np.testing.assert_array_equal(tree_of(words, Levenshtein()).lengths, [1, 1, 1, 4])


def test_matrix_and_long_rows():
    X = np.random.default_rng(3).random((50, 100))
    assert_spans(tree_of(X), cdist(X, X))
    assert_spans(tree_of(cdist(X, X), Precomputed()), cdist(X, X))


def test_one_row_and_equal_rows():
    assert tree_of(np.zeros((1, 3))).ends.shape == (0, 2)
    np.testing.assert_array_equal(tree_of(np.ones((1500, 3))).lengths, 0)
