"""Graphs between rows: how long their edges are, and how their components are joined.

An edge is a pair of row numbers, the smaller first; its length is the distance from the first to the second. A
graph of several components is completed as scikit-learn does it: any two components are joined by their nearest
rows, of equally near ones those with smaller numbers. The largest component is compared with all others, but
never with itself, so that a few stray rows cost little.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.precomputed import PrecomputedRows
from bisector.distances.reductions import cut
from bisector.engine.memory import require
from bisector.engine.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Edges that a thread measures at a time; for distances that are not formulas, rows whose edges it measures.
_EDGES_AT_ONCE, _ROWS_AT_ONCE = 2**15, 256
# Rows of a tile of distances between components, and how many bytes two components take: a distance and a pair of
# rows, as a thread found them and as they are kept.
_TILE, _BYTES_OF_PAIR = (256, 512), 48


class Components(NamedTuple):
    """The parts of a graph between which there is no way.

    Attributes
    ----------
    number : int
        How many there are.
    labels : ndarray of int of shape (n_rows,)
        The component of each row.
    """

    number: int
    labels: Integers


def find_components(ends: Integers, n: int) -> Components:
    """Find the components of a graph on n rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.row_graph import find_components
    >>> find_components(np.array([[0, 2], [1, 3]]), 5).labels.tolist()
    [0, 1, 0, 1, 2]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(ends), dtype=bool), (ends[:, 0], ends[:, 1])), shape=(n, n))
    count, labels = connected_components(graph, directed=False)
    return Components(int(count), labels.astype(np.int64))


def edge_lengths(
    distance: Distance, rows: Rows, ends: Integers, *, reduced: bool = False, n_jobs: int | None = None
) -> Floats:
    """Measure the edges of a graph: the distances, or the reduced ones, which have the same order.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    ends : ndarray of int of shape (n_edges, 2)
        In the order of the first rows.
    reduced : bool, default=False
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Levenshtein
    >>> from bisector.solvers.row_graph import edge_lengths
    >>> rows = Levenshtein().prepare(["cat", "cats", "house"])
    >>> edge_lengths(Levenshtein(), rows, np.array([[0, 1], [1, 2]]))
    array([1., 4.])
    """
    if isinstance(rows, PrecomputedRows):
        lengths = rows.distances[ends[:, 0], ends[:, 1]].astype(np.float64)
    elif isinstance(distance, CoordinateDistance) and isinstance(rows, NumericRows) and not distance.may_miss:
        lengths = _measure_by_formula(distance, rows, ends, n_jobs)
        return lengths if reduced else distance.between(rows, rows).finish(lengths)
    else:
        lengths = _measure_by_rows(distance, rows, ends, reduced, n_jobs)
    if np.isnan(lengths).any():
        _refuse_nan(distance)
    return lengths + 0.0  # so that no zero is negative


def _measure_by_formula(
    distance: CoordinateDistance, rows: NumericRows, ends: Integers, n_jobs: int | None
) -> Floats:
    """Return reduced distances along edges, one pair of rows after the other."""
    from bisector.engine.loops import given
    from bisector.solvers import row_graph_loops as loops

    lengths, formula, known = np.empty(len(ends)), distance.lower(rows.values.shape[1]), given(ends)
    values: Any
    if rows.sparse:
        matrix, measure_edges = rows.values, loops.measure_sparse_edges
        values = (
            given(matrix.data, np.float64),
            given(matrix.indices, np.int64),
            given(matrix.indptr, np.int64),
        )
    else:
        values, measure_edges = given(rows.values, np.float64), loops.measure_edges

    def measure(part: range) -> None:
        measure_edges(formula, values, known, part.start, part.stop, lengths)

    parallel(measure, cut(len(ends), _EDGES_AT_ONCE), n_jobs=n_jobs)
    return lengths


def _measure_by_rows(
    distance: Distance, rows: Rows, ends: Integers, reduced: bool, n_jobs: int | None
) -> Floats:
    """Return distances along edges of rows that are no numbers: from each row to its neighbours."""
    lengths = np.empty(len(ends))
    firsts, starts = np.unique(ends[:, 0], return_index=True)
    stops = np.append(starts[1:], len(ends))

    def measure(part: range) -> None:
        for i in part:
            first, others = firsts[i : i + 1], ends[starts[i] : stops[i], 1]
            pairs = distance.between(rows.take(first), rows.take(others))
            fill = pairs.fill if reduced else pairs.write
            try:
                fill(range(1), range(len(others)), lengths[None, starts[i] : stops[i]])
            except (
                ValueError
            ):  # of a function, which names rows by where they stand: so that they stand as in X
                one = range(first[0], first[0] + 1)
                _fill_all(distance, rows, ((one, range(other, other + 1)) for other in others))
                raise

    parallel(measure, cut(len(firsts), _ROWS_AT_ONCE), n_jobs=n_jobs)
    return lengths


def join_components(
    distance: Distance, rows: Rows, components: Components, *, n_jobs: int | None = None
) -> Integers:
    """Find the edges that join any two components by their nearest rows.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    components : Components
    n_jobs : int, optional

    Returns
    -------
    ndarray of int of shape (n_components · (n_components - 1) / 2, 2)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.solvers.row_graph import Components, join_components
    >>> rows = Euclidean().prepare(np.array([[0.0], [1.0], [5.0], [7.0]]))
    >>> join_components(Euclidean(), rows, Components(2, np.array([0, 0, 1, 1])))
    array([[1, 2]])
    """
    from bisector.engine.loops import given
    from bisector.solvers.row_graph_loops import keep_nearest_pairs

    count = components.number
    require(
        count * count * _BYTES_OF_PAIR,
        doing=f"Joining the {count:,} components of a graph",
        holding=f"the nearest rows of {count * (count - 1) // 2:,} pairs of them",
        instead="give a graph with more edges",
    )
    # The largest component stands last: its rows are met by those before, and need not meet each other.
    rank = np.empty(count, dtype=np.int64)
    rank[np.argsort(np.bincount(components.labels), kind="stable")] = np.arange(count)
    groups = rank[components.labels]
    order = np.argsort(groups, kind="stable")
    groups, as_given, rows = groups[order], rows, rows.take(order)
    there, back = distance.between(rows, rows), distance.between(rows, rows, flipped=True)
    nearest, found = np.full((count, count), np.inf), np.full((count, count, 2), -1)
    known = given(order), given(groups)

    def compare(inner: range) -> tuple[int, Floats, Integers]:
        first, last = int(groups[inner.start]), int(groups[inner.stop - 1])
        best, pairs = np.full((last, last - first + 1), np.inf), np.full((last, last - first + 1, 2), -1)
        for outer in cut(int(np.searchsorted(groups, last)), _TILE[0]):
            tile = np.empty((len(outer), len(inner)))
            there.fill(outer, inner, tile)
            other = tile
            if not distance.symmetric:
                other = np.empty(tile.shape)
                back.fill(outer, inner, other)
            keep_nearest_pairs(given(tile), given(other), *known, outer.start, inner.start, best, pairs)
        return first, best, pairs

    try:
        compared = parallel(compare, cut(len(groups), _TILE[1]), n_jobs=n_jobs)
    except ValueError:  # as above
        _fill_all(distance, as_given, ((range(i, i + 1), range(len(groups))) for i in range(len(groups))))
        raise
    for first, best, pairs in compared:
        stop = first + best.shape[1]
        rivals, theirs = nearest[: len(best), first:stop], found[: len(best), first:stop]
        closer = (best < rivals) | ((best == rivals) & _come_before(pairs, theirs))
        rivals[closer], theirs[closer] = best[closer], pairs[closer]
    joining = found[np.triu_indices(count, 1)]
    if (joining < 0).any():
        _refuse_nan(distance)
    return joining


def _come_before(pairs: Integers, others: Integers) -> NDArray[np.bool_]:
    """Tell which pairs of rows have smaller numbers than others; no pair at all, (−1, −1), is the last."""
    low, high, other_low, other_high = pairs[..., 0], pairs[..., 1], others[..., 0], others[..., 1]
    smaller = (low < other_low) | ((low == other_low) & (high < other_high))
    return (low >= 0) & ((other_low < 0) | smaller)


def _fill_all(distance: Distance, rows: Rows, parts: Iterable[tuple[range, range]]) -> None:
    """Compare some rows with others, for the error that this raises."""
    pairs = distance.between(rows, rows)
    for outer, inner in parts:
        pairs.fill(outer, inner, np.empty((len(outer), len(inner))))


def _refuse_nan(distance: Distance) -> None:
    raise ValueError(f"{distance!r} gives NaN for some rows: clusters cannot be compared then.")
