"""Condensing on arrays, against the textbook's words written out in plain Python."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.cluster.hierarchy import linkage
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from bisector.distances import Bishop, Euclidean, Hamming, Levenshtein, Manhattan, Pawn, Precomputed
from bisector.search.brute_force import BruteForce
from bisector.solvers.condense import certify, condense_by_cells, condense_one_by_one
from bisector.solvers.influence import condense_by_influence
from bisector.solvers.merge_prototypes import merge_closest
from bisector.solvers.voronoi import condense_by_cells_beside, neighbouring_cells, simplices_a_point

# Whole coordinates: squared distances are exact, so that ties are ties here and there.
SETTINGS = {"n": st.integers(1, 40), "d": st.integers(1, 3), "seed": st.integers(0, 2**32 - 1)}


def lattice(n, d, seed, n_classes=2, width=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(-width, width + 1, size=(n, d)).astype(float)
    return X, np.unique(rng.integers(n_classes, size=n), return_inverse=True)[1]


def squares(X, Y=None):
    return cdist(X, X if Y is None else Y, "sqeuclidean")


def k_nearest(gaps, rows, k):
    """The k nearest of some rows; among equals the smaller number."""
    return sorted(rows, key=lambda j: (gaps[j], j))[:k]


def vote(codes):
    return int(np.argmax(np.bincount(codes)))


def textbook_one_by_one(D, y, k, order):
    """LFD 6.2.3, looking at rows round and round."""
    n = len(y)
    S = list(order[:k])
    whole = [vote(y[k_nearest(D[x], range(n), k)]) for x in range(n)]
    place = agreed = 0
    while agreed < n:
        x = order[place % n]
        agreed += 1
        while vote(y[k_nearest(D[x], S, k)]) != whole[x]:
            others = [j for j in range(n) if j not in S]
            alike = [j for j in others if y[j] == whole[x]]
            S.append(k_nearest(D[x], alike or others, 1)[0])
            agreed = 1
        place += 1
    return sorted(S)


@given(k=st.integers(1, 5), n_classes=st.integers(1, 4), shuffled=st.booleans(), **SETTINGS)
def test_one_by_one_does_what_the_textbook_says(n, d, seed, k, n_classes, shuffled):
    X, y = lattice(n, d, seed, n_classes)
    k = min(k, n)
    rng = (lambda: np.random.default_rng(seed)) if shuffled else (lambda: None)
    order = rng().permutation(n) if shuffled else np.arange(n)
    found = condense_one_by_one(BruteForce(X), y, int(y.max()) + 1, k, rng=rng())
    assert found.consistent
    assert found.kept.tolist() == textbook_one_by_one(squares(X), y, k, order)


@pytest.mark.parametrize("shuffled", [False, True])
def test_one_by_one_over_many_blocks(shuffled):
    """More rows than are looked at together: the order is still that of the textbook."""
    X, y = lattice(600, 3, 5, 3, width=6)
    rng = (lambda: np.random.default_rng(1)) if shuffled else (lambda: None)
    order = rng().permutation(600) if shuffled else np.arange(600)
    found = condense_one_by_one(BruteForce(X), y, 3, 3, rng=rng())
    assert found.consistent
    assert found.kept.tolist() == textbook_one_by_one(squares(X), y, 3, order)


def textbook_by_cells(D, y, start):
    """FCNN: every cell's nearest row of another class enters; of rows at one place the first decides."""
    n = len(y)
    lead = [k_nearest(D[x], range(n), 1)[0] for x in range(n)]
    S, new = set(), {lead[x] for x in start}
    while new:
        S |= new
        cells = {}
        for x in range(n):
            owner = k_nearest(D[x], S, 1)[0]
            if y[owner] != y[lead[x]]:
                cells.setdefault(owner, []).append(x)
        new = {lead[k_nearest(D[owner], rows, 1)[0]] for owner, rows in cells.items()}
    return sorted(S)


def nearest_to_means(X, y):
    return [
        np.flatnonzero(y == c)[np.argmin(squares(X[y == c].mean(axis=0)[None], X[y == c]))]
        for c in np.unique(y)
    ]


@given(n_classes=st.integers(1, 4), **SETTINGS)
def test_by_cells_keeps_what_its_definition_keeps(n, d, seed, n_classes):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.unique(rng.integers(n_classes, size=n), return_inverse=True)[1]
    distance = Euclidean()
    found = condense_by_cells(distance, distance.prepare(X), y)
    assert found.consistent
    assert found.kept.tolist() == textbook_by_cells(squares(X), y, nearest_to_means(X, y))


@given(n_classes=st.integers(1, 4), **SETTINGS)
def test_by_cells_is_consistent_with_ties_and_contradictions(n, d, seed, n_classes):
    X, y = lattice(n, d, seed, n_classes, width=1)
    distance = Euclidean()
    found = condense_by_cells(distance, distance.prepare(X), y)
    D = squares(X)
    whole = [y[k_nearest(D[x], range(n), 1)[0]] for x in range(n)]
    assert found.wanted.tolist() == whole
    assert [y[k_nearest(D[x], found.kept, 1)[0]] for x in range(n)] == whole
    assert found.consistent
    # No two kept rows are at one place: the later would never be the nearest.
    assert len(np.unique(X[found.kept], axis=0)) == len(found.kept)


@pytest.mark.parametrize("metric", [Euclidean(), Euclidean(squared=True), Manhattan(), Precomputed()])
def test_by_cells_does_not_depend_on_the_order_of_rows(metric):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = (X.sum(axis=1) + 0.3 * rng.normal(size=300) > 0).astype(int)
    shuffled = rng.permutation(300)
    rows, others = X, X[shuffled]
    if metric == Precomputed():
        rows, others = cdist(X, X), cdist(others, others)
    kept = condense_by_cells(metric, metric.prepare(rows), y).kept
    again = condense_by_cells(metric, metric.prepare(others), y[shuffled]).kept
    assert kept.tolist() == sorted(shuffled[again])


@pytest.mark.parametrize("k", [1, 3])
def test_threads_change_nothing(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 2)).round(2)
    y = ((X**2).sum(axis=1) + 0.02 * rng.normal(size=20_000) > 1).astype(int)
    index = BruteForce(X)
    if k == 1:
        one, two = (condense_by_cells(index.distance, index.rows, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    else:
        index, y = BruteForce(X[:4000]), y[:4000]
        one, two = (condense_one_by_one(index, y, 2, k, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.consistent
    np.testing.assert_array_equal(one.kept, two.kept)


def test_distances_that_are_not_zero_from_a_row_to_itself():
    """Row 0 is nearer to row 1 than row 1 is itself: it answers for row 1, among all rows and among the kept."""
    D = np.array([[0.0, 1.0, 5.0], [0.5, 2.0, 5.0], [5.0, 5.0, 0.0]])
    distance = Precomputed()
    found = condense_by_cells(distance, distance.prepare(D), np.array([0, 1, 1]))
    assert found.wanted.tolist() == [0, 0, 1]
    assert found.consistent
    assert found.kept.tolist() == [0, 2]


def test_all_rows_of_a_class_may_be_kept_and_still_be_outvoted():
    """With three classes LFD's Exercise 6.7a fails: the votes against a class may gather on one other."""
    X = np.array([[0.0], [1.0], [3.0], [-2.0], [4.0], [5.0]])
    y = np.array([0, 1, 1, 2, 1, 1])
    found = condense_one_by_one(BruteForce(X), y, 3, 3)
    assert found.consistent
    # Row 0 has one vote of each class among all rows, but two against it among the first three.
    assert found.kept.tolist() == [0, 1, 2, 3]


def textbook_influence(D, y):
    """LFD, Problem 6.12, with its sets."""
    n = len(y)
    enemy = [min((D[m, j] for j in range(n) if y[j] != y[m]), default=np.inf) for m in range(n)]
    sets = {i: {m for m in range(n) if m != i and y[m] == y[i] and D[m, i] < enemy[m]} for i in range(n)}
    while any(sets.values()):
        largest = max(sets, key=lambda i: (len(sets[i]), -i))
        removed = sets[largest]
        gone = removed | {largest}
        sets = {i: members - gone for i, members in sets.items() if i not in removed}
    return sorted(sets)


@given(n_classes=st.integers(1, 3), **SETTINGS)
def test_influence_does_what_the_textbook_says(n, d, seed, n_classes):
    X, y = lattice(n, d, seed, n_classes)
    index = BruteForce(X)
    kept = condense_by_influence(index.distance, index.rows, y)
    assert kept.tolist() == textbook_influence(squares(X), y)
    assert certify(index, y, kept).consistent


def test_influence_when_a_row_stands_for_its_whole_class():
    """All rows of the class leave the sets at once, and not in the order of their numbers."""
    X = np.array([7.0, 4.0, 14.0, 17.0, 5.0, 7.0, 1.0, 19.0])[:, None]
    y = np.array([0, 0, 0, 0, 0, 0, 0, 1])
    index = BruteForce(X)
    kept = condense_by_influence(index.distance, index.rows, y)
    assert kept.tolist() == textbook_influence(squares(X), y) == [3, 7]


def test_influence_of_many_rows():
    X, y = lattice(700, 2, 0, 3, width=60)
    index = BruteForce(X)
    one, two = (condense_by_influence(index.distance, index.rows, y, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.tolist() == textbook_influence(squares(X), y)
    np.testing.assert_array_equal(one, two)


WORDS = ["cat", "cart", "carts", "hat", "hats", "house", "houses", "mouse", "moose", "goose", "cat"]


@pytest.mark.parametrize("metric", [Levenshtein(), Hamming()])
def test_any_distance(metric):
    items = WORDS if metric == Levenshtein() else np.random.default_rng(0).integers(3, size=(60, 5))
    y = np.arange(len(items)) % 3 // 2
    index = BruteForce(items, metric)
    for found in (
        condense_by_cells(metric, index.rows, y),
        condense_one_by_one(index, y, 2, 3),
        certify(index, y, condense_by_influence(metric, index.rows, y)),
    ):
        assert found.consistent
        assert len(found.kept) < len(items)


@pytest.mark.parametrize("metric", [Bishop(), Pawn()])
def test_rows_that_do_not_reach_each_other(metric):
    """A Bishop never leaves its colour, and a Pawn never comes back: many distances are infinite."""
    rng = np.random.default_rng(0)
    squares_of_board, y = rng.integers(8, size=(40, 2)), rng.integers(2, size=40)
    index = BruteForce(squares_of_board, metric)
    D = metric.pairwise(squares_of_board)
    whole = [y[k_nearest(D[x], range(40), 1)[0]] for x in range(40)]
    for found in (condense_by_cells(metric, index.rows, y), condense_one_by_one(index, y, 2, 1)):
        assert found.wanted.tolist() == whole
        assert [y[k_nearest(D[x], found.kept, 1)[0]] for x in range(40)] == whole


# Merging


def textbook_merging(X, y, m):
    points = {i: X[i] for i in range(len(X))}
    while len(points) > m:
        pairs = [(i, j) for i, j in combinations(sorted(points), 2) if y[i] == y[j]]
        i, j = min(pairs, key=lambda pair: (((points[pair[0]] - points[pair[1]]) ** 2).sum(), pair))
        points[i] = (points[i] + points.pop(j)) / 2
    return points


@given(n_classes=st.integers(1, 3), share=st.floats(0, 1), **SETTINGS)
def test_merging_does_what_the_textbook_says(n, d, seed, n_classes, share):
    # Halves of whole numbers stay exact for the fifty mergers that fit into a double.
    X, y = lattice(n, d, seed, n_classes)
    m = max(int(y.max()) + 1, int(share * n))
    merged, points = merge_closest(X, y, m), textbook_merging(X, y, m)
    assert merged.slots.tolist() == sorted(points)
    np.testing.assert_array_equal(merged.prototypes(X), [points[i] for i in sorted(points)])
    prototypes, labels = merged.prototypes(X), y[merged.slots]
    np.testing.assert_array_equal(merged.answers, labels[squares(X, prototypes).argmin(axis=1)])
    # Every prototype lies among its members.
    for position, prototype in enumerate(prototypes):
        own = X[merged.members() == position]
        assert (own.min(axis=0) <= prototype).all()
        assert (prototype <= own.max(axis=0)).all()
        assert set(y[merged.members() == position]) == {labels[position]}


def test_merging_one_class_is_median_linkage():
    X = np.random.default_rng(0).normal(size=(80, 3))
    merged = merge_closest(X, np.zeros(80, dtype=int), 1)
    points, gaps = X.copy(), []
    for i, j in merged.mergers:
        gaps.append(np.linalg.norm(points[i] - points[j]))
        points[i] = (points[i] + points[j]) / 2
    # SciPy updates distances by a recurrence, which rounds; the closest pairs here are 1e-3 apart or more.
    np.testing.assert_allclose(gaps, linkage(X, "median")[:, 2], rtol=1e-8)


@given(n_classes=st.integers(1, 3), **SETTINGS)
def test_merging_as_long_as_answers_stay(n, d, seed, n_classes):
    X, y = lattice(n, d, seed, n_classes)
    merged = merge_closest(X, y)
    D = squares(X)
    wanted = [y[k_nearest(D[x], range(n), 1)[0]] for x in range(n)]
    assert merged.wanted.tolist() == wanted
    assert merged.consistent
    nearest = squares(X, merged.prototypes(X)).argmin(axis=1)
    np.testing.assert_array_equal(y[merged.slots][nearest], wanted)


def test_merging_goes_beyond_a_pair_that_must_stay():
    """The two outer rows of class 0 are closest, but their middle would answer for the row of class 1 there."""
    X = np.array([[0.0], [1.0], [2.0], [10.0], [13.0]])
    merged = merge_closest(X, np.array([0, 1, 0, 1, 1]))
    assert merged.consistent
    assert merged.mergers.tolist() == [[3, 4]]


# Voronoi cells


def cells_with_a_face(X):
    """Pairs of cells with a common face: some x is equally far from both, and by a margin farther from others."""
    pairs = set()
    squared = (X**2).sum(axis=1)
    for i, j in combinations(range(len(X)), 2):
        others = [k for k in range(len(X)) if k not in (i, j)]
        # ‖x − a‖² − ‖x − i‖² = ‖a‖² − ‖i‖² − 2x·(a − i): linear in x.
        farther = np.column_stack([2 * (X[others] - X[i]), np.ones(len(others))])
        found = linprog(
            np.r_[np.zeros(X.shape[1]), -1.0],
            A_ub=farther, b_ub=squared[others] - squared[i],
            A_eq=np.r_[2 * (X[j] - X[i]), 0.0][None], b_eq=[squared[j] - squared[i]],
            bounds=[(None, None)] * X.shape[1] + [(0, 1)],
        )  # fmt: skip
        if found.status == 0 and -found.fun > 1e-9:
            pairs.add((i, j))
    return pairs


@pytest.mark.parametrize(("n", "d"), [(2, 3), (4, 3), (9, 1), (12, 2), (10, 3), (9, 4)])
def test_cells_beside_each_other_by_linear_programmes(n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    found = {tuple(sorted(pair)) for pair in zip(*map(np.ndarray.tolist, neighbouring_cells(X)), strict=True)}
    assert found == cells_with_a_face(X)


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_no_decision_changes_anywhere(d):
    rng = np.random.default_rng(d)
    X, queries = rng.normal(size=(150, d)), 3 * rng.normal(size=(4000, d))
    y = rng.integers(3, size=150) * (X[:, 0] > 0)
    kept = condense_by_cells_beside(X, y)
    before, after = y[squares(queries, X).argmin(axis=1)], y[kept][squares(queries, X[kept]).argmin(axis=1)]
    np.testing.assert_array_equal(before, after)
    assert len(kept) < len(X)


def test_no_decision_changes_on_a_grid_where_triangulations_differ():
    X = np.stack(np.meshgrid(range(12), range(12)), axis=-1).reshape(-1, 2).astype(float)
    y = (X[:, 0] + X[:, 1] > 10).astype(int)
    kept = condense_by_cells_beside(X, y)
    queries = np.random.default_rng(0).uniform(-2, 14, size=(5000, 2))
    before, after = y[squares(queries, X).argmin(axis=1)], y[kept][squares(queries, X[kept]).argmin(axis=1)]
    np.testing.assert_array_equal(before, after)
    assert len(kept) < 50


@pytest.mark.parametrize("d", [2, 3, 9])
def test_rows_on_a_line_in_space(d):
    """Far from the origin, too: no more than one dimension is spanned."""
    along = np.array([3.0, 0.0, 1.0, 2.0, 7.0, 5.0])
    X = 1e6 + along[:, None] * np.arange(1, d + 1)
    assert condense_by_cells_beside(X, np.array([0, 0, 0, 0, 1, 1])).tolist() == [0, 5]


def test_rows_at_one_place_count_once_and_the_first_decides():
    X = np.array([[0.0, 0.0], [-0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    assert condense_by_cells_beside(X, np.array([0, 1, 1, 0, 1])).tolist() == [0, 2]
    assert condense_by_cells_beside(X[:2], np.array([0, 1])).tolist() == [0]
    assert condense_by_cells_beside(X, np.zeros(5, dtype=int)).tolist() == [0]


def test_simplices_a_point_are_those_of_random_points():
    """In the plane there are 2n − 2 − h triangles, h of n points being on the hull."""
    assert simplices_a_point(2) == pytest.approx(2, rel=1e-12)
    # The typical Voronoi cell of evenly spread points in space has 96π²/35 corners (Meijering, 1953).
    assert simplices_a_point(3) == pytest.approx(96 * np.pi**2 / 35 / 4, rel=1e-12)
