"""Clusters of numbers with the least scatter of all: k-means in one dimension, solved.

On a line, clusters of least scatter are intervals, so that the best k clusters of the first m values are the best
k − 1 of the first i and the interval after them, for some i: a dynamic programme (Bellman, 1973; Wang and Song,
2011). The best i never moves back as m grows, and a division by halves finds all of them in O(n log n) for each
cluster. Equal values are one, of their weight together. Scatters come from running sums about the mean, so
the result is the least up to the rounding of these, about 1e−15 of the scatter of all values.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# With more bytes for the starts of all intervals, or more steps, the programme is left to heuristics.
LARGEST_TABLE, MOST_STEPS = 2**31, 2e10


@dataclass(frozen=True, eq=False)
class NumberClusters:
    """The best clusters of numbers.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters,)
        Ascending; at most as many as there are different values.
    boundaries : ndarray of shape (n_clusters + 1,)
        The places of the clusters in the sorted different values.
    scatter : float
        The least there is, up to rounding.
    """

    centres: Floats
    boundaries: NDArray[np.int64]
    scatter: float


def is_feasible(n: int, k: int) -> bool:
    """Whether the programme for n values and k clusters stays within memory and time that are worth it."""
    return 4 * n * k <= LARGEST_TABLE and n * math.log2(n + 2) * k <= MOST_STEPS


def best_intervals(values: Floats, k: int, weights: Floats | None = None) -> NumberClusters:
    """Find the k clusters of numbers that have the least scatter.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Finite, at least one.
    k : int
    weights : ndarray of shape (n,), optional
        Not all zero.

    Returns
    -------
    NumberClusters

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.one_dimensional_clusters import best_intervals
    >>> found = best_intervals(np.array([8.0, 44.0, 50.0, 58.0, 84.0]), 2)
    >>> found.centres, found.scatter
    (array([ 8., 59.]), 932.0)
    """
    from bisector.engine.loops import given
    from bisector.solvers.one_dimensional_clusters_loops import add_cluster

    if weights is not None:
        values, weights = values[weights > 0], weights[weights > 0]
    places, inverse = np.unique(values, return_inverse=True)
    sizes = np.bincount(inverse, weights).astype(np.float64)
    n, k = len(places), min(k, len(places))
    shifted = places - np.average(places, weights=sizes)
    weight, total, squares = (
        given(np.concatenate([[0.0], np.cumsum(sizes * shifted**power)])) for power in range(3)
    )
    starts = np.zeros((k, n + 1), dtype=np.int32)
    before = np.full(n + 1, np.inf)
    before[0] = 0.0
    stack = np.empty((64, 4), dtype=np.int64)
    for cluster in range(k):
        after = np.full(n + 1, np.inf)
        add_cluster(weight, total, squares, given(before), after, starts[cluster], stack, cluster + 1)
        before = after
    boundaries = np.empty(k + 1, dtype=np.int64)
    boundaries[k] = n
    for cluster in range(k - 1, -1, -1):
        boundaries[cluster] = starts[cluster, boundaries[cluster + 1]]
    sums = np.add.reduceat(sizes * shifted, boundaries[:-1]) / np.add.reduceat(sizes, boundaries[:-1])
    centres = np.average(places, weights=sizes) + sums
    owners = np.repeat(np.arange(k), np.diff(boundaries))
    offsets = shifted - sums[owners]
    return NumberClusters(centres, boundaries, float(sizes @ (offsets * offsets)))
