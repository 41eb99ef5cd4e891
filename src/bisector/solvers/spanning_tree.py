"""The minimum spanning tree: the shortest set of edges that joins all rows.

Among all trees on the rows, the one with the least sum of reduced distances; that of the distances themselves is
then least too, since a minimum spanning tree depends on the order of edges only. Cutting its longest edges gives
the clusters of single linkage.

Three ways lead to it:

- **Borůvka** in a k-d tree, for rows with few coordinates. Each round joins every component with the nearest row
  outside it. Boxes that belong wholly to the component are passed over, and a row whose lower bound exceeds a way
  out that its component has already is not asked. No n² work: 200,000 rows of three coordinates take less than
  twice as long as a search for the nearest neighbour of each. Rows that are there more than once would spoil that,
  since each has all others of its kind around it at no distance: they are joined with the first of them, which
  alone enters the tree.
- **Prim** for rows of numbers with more coordinates: n²/2 distances, computed several at a time.
- **Prim** in a matrix, or asking for one row of distances after the other, for everything else.

Certificate: the lengths of any two minimum spanning trees agree in sorted order, so that tests compare them with
those of Kruskal's algorithm on all pairs. Each edge is the shortest between the two parts that are left when it is
cut. Of edges of equal length the ones with smaller row numbers are taken; the same for any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.precomputed import PrecomputedRows
from bisector.distances.reductions import all_distances, cut
from bisector.engine.memory import budget
from bisector.engine.threads import parallel
from bisector.solvers.equal_rows import first_equals, seem_to_repeat

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Up to so many coordinates boxes separate rows well enough; and from so many rows on.
_MOST_COORDINATES, _FEWEST_ROWS = 15, 1000

# With more coordinates than this, distances come from a matrix product where there is room for all of them.
_LONG_ROWS = 64

# Rows of a leaf, 64 at most; how many leaves a thread takes at once, at least, and into how many parts all are cut.
_LEAF, _LEAVES_AT_ONCE, _BLOCKS = 64, 8, 48

# Nearest rows that a search notes: with more, fewer rows search twice, but the first search takes longer.
_MATES = 4


class SpanningTree(NamedTuple):
    """The edges of a minimum spanning tree, the shortest first.

    Attributes
    ----------
    ends : ndarray of int of shape (n_rows - 1, 2)
        Row numbers.
    lengths : ndarray of shape (n_rows - 1,)
        Distances.
    """

    ends: Integers
    lengths: Floats


def minimum_spanning_tree(distance: Distance, rows: Rows, *, n_jobs: int | None = None) -> SpanningTree:
    """Find a minimum spanning tree of rows.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it; at least one.
    n_jobs : int, optional

    Returns
    -------
    SpanningTree

    Examples
    --------
    >>> from bisector.distances import Levenshtein
    >>> from bisector.solvers.spanning_tree import minimum_spanning_tree
    >>> rows = Levenshtein().prepare(["cat", "house", "cats", "mouse"])
    >>> tree = minimum_spanning_tree(Levenshtein(), rows)
    >>> tree.lengths
    array([1., 1., 4.])
    >>> tree.ends.tolist()
    [[0, 2], [1, 3], [1, 2]]
    """
    n = len(rows)
    ends, lengths = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    finished = n < 2 or _find_edges(distance, rows, ends, lengths, n_jobs)
    ends, lengths = sorted_edges(ends, lengths)
    return SpanningTree(ends, lengths if finished else distance.between(rows, rows).finish(lengths))


def sorted_edges(ends: Integers, lengths: Floats) -> tuple[Integers, Floats]:
    """Return edges, the shortest first, and of equally long ones those with smaller row numbers."""
    from bisector.engine.loops import given
    from bisector.solvers.sort_edges_loops import sort_edges

    in_order, ascending = np.empty_like(ends), np.empty_like(lengths)
    if sort_edges(given(ends), given(lengths), in_order, ascending):
        order = np.lexsort((in_order[:, 1], in_order[:, 0], ascending))
        in_order, ascending = in_order[order], ascending[order]
    return in_order, ascending


def _find_edges(distance: Distance, rows: Rows, ends: Integers, lengths: Floats, n_jobs: int | None) -> bool:
    """List the edges; return whether their lengths are distances already, not reduced ones."""
    from bisector.engine.loops import given
    from bisector.solvers import prim_loops

    n = len(rows)
    if isinstance(rows, PrecomputedRows):
        prim_loops.grow_tree_in_matrix(given(rows.distances), ends, lengths)
        return True
    if isinstance(distance, CoordinateDistance) and not distance.may_miss:
        assert isinstance(rows, NumericRows)
        n_features = rows.values.shape[1]
        if not rows.sparse and n_features <= _LONG_ROWS:
            values, formula = given(rows.values, np.float64), distance.lower(n_features)
            if n_features <= _MOST_COORDINATES and n >= _FEWEST_ROWS:
                grow_among_different(formula, values, ends, lengths, n_jobs)
            else:
                prim_loops.grow_tree(formula, values, ends, lengths)
            return False
    if 8 * n * n <= budget() // 2:
        matrix = all_distances(distance, rows, n_jobs=n_jobs)
        prim_loops.grow_tree_in_matrix(given(matrix), ends, lengths)
        return True
    _grow_row_by_row(distance, rows, ends, lengths)
    return False


def grow_among_different(
    formula: Any, rows: Floats, ends: Integers, lengths: Floats, n_jobs: int | None = None
) -> None:
    """List the edges that `grow_in_boxes` finds; if rows repeat, in a tree of the different ones.

    An edge of length 0 joins every row with the first equal one: of all edges between equal rows these come first,
    and of those between two sets of equal rows the one between the first of each. That holds unless rows that
    differ are at distance 0 too, as where a weight is 0; then all enter the tree.
    """
    if not seem_to_repeat(rows):
        return grow_in_boxes(formula, rows, ends, lengths, n_jobs)
    firsts = first_equals(rows)
    is_first = firsts == np.arange(len(rows))
    different, repeated = np.flatnonzero(is_first), np.flatnonzero(~is_first)
    n_edges = len(different) - 1
    if n_edges:
        grow_in_boxes(formula, rows[different], ends[:n_edges], lengths[:n_edges], n_jobs)
        if not lengths[:n_edges].all():
            return grow_in_boxes(formula, rows, ends, lengths, n_jobs)
        ends[:n_edges] = different[ends[:n_edges]]
    ends[n_edges:, 0], ends[n_edges:, 1], lengths[n_edges:] = firsts[repeated], repeated, 0.0
    return None


def grow_in_boxes(
    formula: Any, rows: Floats, ends: Integers, lengths: Floats, n_jobs: int | None = None
) -> None:
    """List the edges of a minimum spanning tree by Borůvka's algorithm in a k-d tree, with reduced lengths."""
    from bisector.engine.loops import given
    from bisector.search.kd_build import arrange
    from bisector.solvers import boruvka_loops as steps

    n = len(rows)
    tree = arrange(rows, _LEAF)
    n_leaves = len(tree.sizes)
    lanes = np.arange(_LEAF)
    owners = (np.cumsum(tree.sizes) - tree.sizes)[:, None] + lanes
    numbers = given(np.where(lanes < tree.sizes[:, None], tree.leaves[:, -1], 0.0).astype(np.int64).ravel())
    owners_below = np.empty(tree.children.shape, dtype=np.int64)
    ways = steps.unknown_ways(owners.size, _MATES)
    searched, everywhere = np.empty(n_leaves, dtype=bool), given(np.ones(n_leaves, dtype=bool))
    blocks = cut(n_leaves, max(_LEAVES_AT_ONCE, n_leaves // _BLOCKS))
    names, n_edges = np.arange(n), 0
    while n_edges < n - 1:
        steps.rename_owners(tree, given(names), owners, owners_below)
        known = numbers, given(owners)
        shortest, chosen = np.full(n - n_edges, np.inf), np.full(n - n_edges, -1)
        steps.choose_edges(tree, *known, ways, everywhere, chosen, shortest)
        outside = *known, given(owners_below), given(shortest)

        def look_outside(
            leaves: range, outside: tuple[Integers, Integers, Integers, Floats] = outside
        ) -> None:
            steps.find_ways_out(formula, tree, *outside, leaves.start, leaves.stop, ways, searched)

        parallel(look_outside, blocks, n_jobs=n_jobs)
        steps.choose_edges(tree, *known, ways, given(searched), chosen, shortest)
        names = np.empty(len(chosen), dtype=np.int64)
        n_edges = steps.join_components(*known, ways, given(chosen), names, n_edges, ends, lengths)


def _grow_row_by_row(distance: Distance, rows: Rows, ends: Integers, lengths: Floats) -> None:
    """List the edges, asking for the distances of one row at a time: n numbers of memory for any distance."""
    from bisector.engine.loops import given
    from bisector.solvers.prim_loops import join_nearest

    n = len(rows)
    pairs = distance.between(rows, rows)
    inside, best, nearest = np.zeros(n, dtype=bool), np.full(n, np.inf), np.zeros(n, dtype=np.int64)
    values, newest = np.empty((1, n)), 0
    for step in range(n - 1):
        inside[newest] = True
        pairs.fill(range(newest, newest + 1), range(n), values)
        newest = join_nearest(given(values[0]), newest, inside, best, nearest)
        ends[step], lengths[step] = (nearest[newest], newest), best[newest]
