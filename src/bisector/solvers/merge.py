"""Agglomerative clustering: merge the two closest clusters until one is left (Flach, Algorithm 8.4).

Which two are closest is what the linkage says (`bisector.solvers.linkages`). Single linkage comes from a minimum
spanning tree (`bisector.solvers.spanning_tree`) and needs no matrix; neither do Ward, centroid and median linkage
on rows of Euclidean space, which keep the middles of clusters (`bisector.solvers.merge_points`). All others work on
the distances between all rows (`bisector.solvers.merge_matrix`).

Certificate: replayed in the order of the result, each merge joins a pair of clusters than which no pair is closer.
Where several are equally close, which of them is merged first depends on the linkage's algorithm, and is the same
for any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import write_all
from bisector.distances.terms import SquaredTerms
from bisector.engine.memory import budget, require
from bisector.solvers.linkages import FORMULAS
from bisector.solvers.merge_lines import cluster_lines, merge_first_rounds
from bisector.solvers.merge_matrix import Clusters, Merged, merge_in_matrix
from bisector.solvers.merge_points import merge_middles
from bisector.solvers.spanning_tree import minimum_spanning_tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Where rows are longer, comparing middles again and again takes longer than updating a matrix.
_LONG_ROWS = 64
# Bytes of a matrix that is handed out so slowly that rows are better compared more than once.
_LARGE = 2**28


class Hierarchy(NamedTuple):
    """Merges in the order of their levels; of linkages that may fall, in the order in which they were made.

    Attributes
    ----------
    children : ndarray of int of shape (n_rows - 1, 2)
        The two clusters that a merge joins, the smaller number first. Numbers below n_rows are rows; merge i makes
        the cluster n_rows + i.
    levels : ndarray of shape (n_rows - 1,)
        The linkage of the two.
    sizes : ndarray of int of shape (n_rows - 1,)
        How many rows they have together.
    """

    children: Integers
    levels: Floats
    sizes: Integers


def merge_clusters(
    distance: Distance, rows: Rows, linkage: str, *, dtype: Any = np.float64, n_jobs: int | None = None
) -> Hierarchy:
    """Merge rows into ever larger clusters.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it; at least one.
    linkage : str
        One of ``LINKAGES``. Ward, centroid and median linkage take the distances for Euclidean ones.
    dtype : dtype, default=float64
        Of the matrix that all linkages but "single" need; float32 takes half the memory.
    n_jobs : int, optional

    Returns
    -------
    Hierarchy

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.solvers.merge import merge_clusters
    >>> rows = Euclidean().prepare(np.array([[0.0], [1.0], [5.0]]))
    >>> merge_clusters(Euclidean(), rows, "average").levels
    array([1. , 4.5])
    """
    from bisector.engine.loops import given
    from bisector.solvers.hierarchy_loops import raise_levels

    if linkage == "single":
        tree = minimum_spanning_tree(distance, rows, n_jobs=n_jobs)
        return number(tree.ends, tree.lengths)
    formula = FORMULAS[linkage]
    points = _points(distance, rows, np.dtype(dtype)) if formula.values == "squares" else None
    if points is not None:
        pairs, levels = merge_middles(points, linkage, n_jobs=n_jobs)
    else:
        pairs, levels = _merge_by_distances(distance, rows, formula, np.dtype(dtype), n_jobs)
    if formula.reducible:
        raise_levels(given(pairs), levels)
        order = np.argsort(levels, kind="stable")  # what is merged later is not lower
        pairs, levels = pairs[order], levels[order]
    return number(pairs, np.sqrt(levels) if formula.values == "squares" else levels)


def number(pairs: Integers, levels: Floats) -> Hierarchy:
    """Number the clusters of merges, each of which is given by a row of either cluster."""
    from bisector.engine.loops import given
    from bisector.solvers.hierarchy_loops import number_merges

    children, sizes = np.empty(pairs.shape, dtype=np.int64), np.empty(len(pairs), dtype=np.int64)
    number_merges(given(pairs), children, sizes)
    return Hierarchy(children, levels, sizes)


def _points(distance: Distance, rows: Rows, dtype: np.dtype[Any]) -> Floats | None:
    """Return rows of Euclidean space as points, unless a matrix of their distances is made and updated faster."""
    long_rows = isinstance(rows, NumericRows) and rows.values.shape[1] > _LONG_ROWS
    if long_rows and len(rows) ** 2 * dtype.itemsize <= budget() // 2:
        return None
    return euclidean_points(distance, rows)


def euclidean_points(distance: Distance, rows: Rows) -> Floats | None:
    """Return rows as points whose straight lines are their distances; None if they are not such points."""
    if not (isinstance(distance, CoordinateDistance) and isinstance(rows, NumericRows)):
        return None
    n, d = rows.values.shape
    if distance.may_miss or not isinstance(distance.lower(d), SquaredTerms):
        return None
    return rows.dense(range(n)).astype(np.float64)  # a copy, which may be written to


def _merge_by_distances(
    distance: Distance, rows: Rows, formula: Any, dtype: np.dtype[Any], n_jobs: int | None
) -> Merged:
    """Merge rows by a matrix of distances; a large one is written when the first are merged, if it can be."""
    large = len(rows) ** 2 * dtype.itemsize > min(_LARGE, budget())
    lines = cluster_lines(formula, distance, rows, n_jobs) if large else None
    if lines is None:
        return merge_in_matrix(formula, _matrix(distance, rows, formula, dtype, n_jobs), n_jobs=n_jobs)
    clusters = Clusters(len(rows))
    merge_first_rounds(lines, clusters, room=budget() // dtype.itemsize)
    _require_matrix(lines.n, dtype)
    return merge_in_matrix(formula, lines.written(dtype), clusters, n_jobs=n_jobs)


def _matrix(
    distance: Distance, rows: Rows, formula: Any, dtype: np.dtype[Any], n_jobs: int | None
) -> NDArray[Any]:
    """Return the values that a linkage works on, for all pairs."""
    n = len(rows)
    _require_matrix(n, dtype)
    pairs = distance.between(rows, rows)
    matrix = np.empty((n, n), dtype=dtype)
    write_all(pairs, matrix, mirrored=True, n_jobs=n_jobs)
    if not isinstance(distance, CoordinateDistance):
        matrix += 0.0  # so that no zero is negative, which would not be ordered by its bits
        if np.isnan(matrix).any():
            raise ValueError(f"{distance!r} gives NaN for some rows: clusters cannot be compared then.")
    if formula.values == "squares":
        np.square(matrix, out=matrix)
    return matrix


def _require_matrix(n: int, dtype: np.dtype[Any]) -> None:
    smaller = "" if dtype == np.float32 else ', dtype="float32" for half of it'
    require(
        n * n * dtype.itemsize,
        doing=f"Merging {n:,} rows by this linkage",
        holding=f"{n:,} × {n:,} distances",
        instead=f'use linkage="single", or "ward" on Euclidean rows, which need no matrix{smaller}, or fewer rows',
    )
