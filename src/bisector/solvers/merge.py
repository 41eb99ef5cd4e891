"""Agglomerative clustering: merge the two closest clusters until one is left (Flach, Algorithm 8.4).

Which two are closest is what the linkage says (`bisector.solvers.linkages`). Single linkage comes from a minimum
spanning tree (`bisector.solvers.spanning_tree`) and needs no matrix; all others work on the distances between all
rows (`bisector.solvers.merge_matrix`).

Certificate: replayed in the order of the result, each merge joins a pair of clusters than which no pair is closer.
Where several are equally close, which of them is merged first depends on the linkage's algorithm, and is the same
for any number of threads.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import write_all
from bisector.engine.memory import require
from bisector.solvers.linkages import FORMULAS
from bisector.solvers.merge_matrix import merge_in_matrix
from bisector.solvers.spanning_tree import minimum_spanning_tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


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
    if linkage == "single":
        tree = minimum_spanning_tree(distance, rows, n_jobs=n_jobs)
        return number(tree.ends, tree.lengths)
    formula = FORMULAS[linkage]
    matrix, finish = _matrix(distance, rows, formula, np.dtype(dtype), n_jobs)
    pairs, levels = merge_in_matrix(formula, matrix, n_jobs=n_jobs)
    if formula.reducible:
        order = np.argsort(levels, kind="stable")  # what is merged later is not lower
        pairs, levels = pairs[order], levels[order]
    return number(pairs, finish(levels))


def number(pairs: Integers, levels: Floats) -> Hierarchy:
    """Number the clusters of merges, each of which is given by a row of either cluster."""
    from bisector.engine.loops import given
    from bisector.solvers.hierarchy_loops import number_merges

    children, sizes = np.empty(pairs.shape, dtype=np.int64), np.empty(len(pairs), dtype=np.int64)
    number_merges(given(pairs), children, sizes)
    return Hierarchy(children, levels, sizes)


def _matrix(
    distance: Distance, rows: Rows, formula: Any, dtype: np.dtype[Any], n_jobs: int | None
) -> tuple[NDArray[Any], Any]:
    """Return the values that a linkage works on, for all pairs, and what turns levels into distances."""
    n = len(rows)
    smaller = "" if dtype == np.float32 else ', dtype="float32" for half of it'
    require(
        n * n * dtype.itemsize,
        doing=f"Merging {n:,} rows by this linkage",
        holding=f"{n:,} × {n:,} distances",
        instead=f'use linkage="single", which needs no matrix{smaller}, or fewer rows',
    )
    pairs = distance.between(rows, rows)
    matrix = np.empty((n, n), dtype=dtype)
    write_all(pairs, matrix, mirrored=True, n_jobs=n_jobs)
    if not isinstance(distance, CoordinateDistance):
        matrix += 0.0  # so that no zero is negative, which would not be ordered by its bits
        if np.isnan(matrix).any():
            raise ValueError(f"{distance!r} gives NaN for some rows: clusters cannot be compared then.")
    if formula.values == "squares":
        np.square(matrix, out=matrix)
        return matrix, np.sqrt
    return matrix, np.asarray
