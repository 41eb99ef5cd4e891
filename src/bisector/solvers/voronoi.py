"""Condensing that leaves every decision as it is (LFD, Problem 6.11).

The cell of a point in the Voronoi diagram holds what is nearer to it than to any other point. A point can be
removed if all cells beside its own have its class. For, walk from any x straight to the nearest point s that is
left: if the class changed on the way from one cell to the next, both points of these cells would have been
left, and one of them, of the class of x, would be at least as near there as s, which nothing left is.

Points whose cells have a face in common are joined by the Delaunay triangulation. Where more than d + 1
points lie on a sphere, triangulations differ in edges for which the cells only touch: a point that is kept for
such an edge changes no decision either.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bisector.engine.memory import require

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Beyond, a thousand points spread evenly make hundreds of millions of simplices.
MOST_DIMENSIONS = 8
# What is held for a simplex, and for each of its edges.
_BYTES_A_SIMPLEX, _BYTES_AN_EDGE = 400, 48


def condense_by_cells_beside(points: Floats, codes: Integers) -> Integers:
    """Return the numbers of the points with a cell of another class beside their own, in ascending order.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_dimensions)
    codes : ndarray of int of shape (n_points,)
        The class of each. Of points at one place the first alone counts, as in the nearest-neighbour rule.

    Returns
    -------
    ndarray of int
        If all points have one class, the first of them.
    """
    places, first = np.unique(points + 0.0, axis=0, return_index=True)  # adding turns −0 into 0
    # In the order of the points: what is kept does not depend on how places are sorted.
    order = np.argsort(first)
    places, numbers = places[order], first[order]
    of_place = codes[numbers]
    if (of_place == of_place[0]).all():
        return numbers[:1]
    left, right = neighbouring_cells(places)
    differ = of_place[left] != of_place[right]
    kept = np.zeros(len(places), dtype=bool)
    kept[left[differ]] = kept[right[differ]] = True
    return np.sort(numbers[kept])


def neighbouring_cells(points: Floats) -> tuple[Integers, Integers]:
    """Return the pairs of distinct points whose Voronoi cells have a face in common.

    Where rounding leaves no certainty, a pair may be among them whose cells only touch.
    """
    flat = _within_their_span(points)
    n, n_dimensions = flat.shape
    if n <= n_dimensions + 1:
        left, right = np.triu_indices(n, 1)
        return left, right
    if n_dimensions == 1:
        order = np.argsort(flat[:, 0], kind="stable")
        return order[:-1], order[1:]
    return _edges_of_triangulation(flat)


def _within_their_span(points: Floats) -> Floats:
    """Return the points in as many coordinates as they span dimensions, distances unchanged."""
    centred = points - points.mean(axis=0)
    scale = np.abs(centred).max(initial=0.0)
    centred = centred / scale if scale > 0 else centred
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    rank = int((sizes > max(centred.shape) * np.finfo(np.float64).eps * sizes[0]).sum()) if len(sizes) else 0
    return centred if rank == centred.shape[1] else centred @ axes[:rank].T


def _edges_of_triangulation(points: Floats) -> tuple[Integers, Integers]:
    from scipy.spatial import Delaunay

    n, n_dimensions = points.shape
    if n_dimensions > MOST_DIMENSIONS:
        raise ValueError(
            f"The Voronoi diagram of rows that span {n_dimensions} dimensions is out of reach: it can be had "
            f"for up to {MOST_DIMENSIONS}. Reduce the features, or use CondensedNearestNeighbor, which keeps "
            "the answers to the training rows only."
        )
    n_simplices = n * simplices_a_point(n_dimensions)
    n_edges = (n_dimensions + 1) * n_dimensions // 2
    require(
        int(n_simplices * (_BYTES_A_SIMPLEX + n_edges * _BYTES_AN_EDGE)),
        doing=f"Condensing {n:,} rows by their Voronoi diagram in {n_dimensions} dimensions",
        holding=f"about {n_simplices:,.0f} simplices",
        instead="take fewer rows or features, or use CondensedNearestNeighbor",
    )
    found = Delaunay(points)
    corners = found.simplices.astype(np.int64)
    if len(found.coplanar):
        # Points that rounding left out lie within a simplex: they may be beside each of its corners.
        outside, simplex, nearest = found.coplanar.astype(np.int64).T
        inner = np.column_stack([corners[simplex], nearest])
        extra = np.column_stack([np.repeat(outside, inner.shape[1]), inner.ravel()])
    else:
        extra = np.empty((0, 2), dtype=np.int64)
    a, b = np.triu_indices(n_dimensions + 1, 1)
    edges = np.concatenate([*(corners[:, [i, j]] for i, j in zip(a, b, strict=True)), extra])
    edges.sort(axis=1)
    keys = np.unique(edges[:, 0] * n + edges[:, 1])
    return keys // n, keys % n


def simplices_a_point(n_dimensions: int) -> float:
    """Return how many Delaunay simplices there are for each of many points spread evenly, on average.

    Examples
    --------
    >>> [round(simplices_a_point(d), 1) for d in (2, 3, 4, 8)]
    [2.0, 6.8, 31.8, 90424.6]
    """
    d = n_dimensions
    log_corners = (
        (d + 1) * math.log(2)
        + (d - 1) / 2 * math.log(math.pi)
        - 2 * math.log(d)
        + math.lgamma((d * d + 1) / 2)
        - math.lgamma(d * d / 2)
        + d * (math.lgamma((d + 2) / 2) - math.lgamma((d + 1) / 2))
    )
    return math.exp(log_corners) / (d + 1)
