"""Averages by bumps: g(x) = Σ αᵢ(x)·yᵢ / Σ αᵢ(x) with αᵢ(x) = wᵢ·φ(d(x, xᵢ) / rᵢ) (LFD 6.3, Equation 6.1).

A bump that never reaches zero is measured by the highest one that its query has met so far, so that widths may
shrink towards zero, or queries move away, without 0/0: in the limit the nearest row decides, as the formula says
(Exercise 6.11). In Euclidean space of few dimensions rows lie in boxes, of which those too far to matter are left
out (`bump_averages_boxes`). Otherwise distances are made tile by tile, raised to heights, and summed by a matrix
product; several widths share them.

A bump that ends is summed over the rows that an index finds within its reach.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Pairs, Rows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel
from bisector.kernels.bumps import Bump
from bisector.search.index import Index
from bisector.solvers.bump_averages_boxes import coordinates, sums_outwards

Floats = NDArray[np.float64]

# Rows and queries of a tile: it stays in the second-level cache while it is raised and summed.
_TILE = (256, 512)
# Neighbours within reach are looked up for so many pairs of query and row at a time.
_PAIRS_AT_ONCE, _FEWEST_AT_ONCE = 2**22, 64
# 1/r² of the narrowest bump: times a distance of zero it is still zero.
FASTEST = 1e280


@dataclass(frozen=True)
class BumpAverages:
    """What bumps average to.

    Attributes
    ----------
    values : ndarray of shape (n_widths, n_queries, n_values)
        Zero where no bump reaches a query.
    reached : ndarray of bool of shape (n_widths, n_queries)
        Whether some bump does.
    """

    values: Floats
    reached: NDArray[np.bool_]


def bump_averages(
    bump: Bump,
    distance: Distance,
    rows: Rows,
    queries: Rows,
    values: Floats,
    weights: Floats,
    widths: Floats,
    *,
    leave_out: bool = False,
    n_jobs: int | None = None,
) -> BumpAverages:
    """Average values of rows at queries, with bumps of one or several widths.

    Parameters
    ----------
    bump : Bump
        φ, which has no end.
    distance : Distance
        Under which rows and queries were prepared.
    rows, queries : Rows
    values : ndarray of shape (n_rows, n_values)
    weights : ndarray of shape (n_rows,)
        wᵢ ≥ 0.
    widths : ndarray of shape (n_widths, 1) or (n_widths, n_rows)
        rᵢ > 0: one for all rows, or one for each.
    leave_out : bool, default=False
        Whether the queries are the rows, and each is left out of its own average; of a row that weighs more than
        one, as much as one row.
    n_jobs : int, optional

    Examples
    --------
    Three rows on a line; at 0.5 the first two count alike, and the third hardly:

    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.kernels import GaussianBump
    >>> from bisector.solvers.bump_averages import bump_averages
    >>> metric = Euclidean()
    >>> rows = metric.prepare([[0.0], [1.0], [3.0]])
    >>> queries = metric.prepare([[0.5]], like=rows)
    >>> values, ones = np.array([[1.0], [2.0], [9.0]]), np.ones(3)
    >>> widths = np.array([[1e-9], [0.5], [100.0]])
    >>> bump_averages(GaussianBump(), metric, rows, queries, values, ones, widths).values.round(2).ravel()
    array([1.5, 1.5, 4. ])
    """
    stacked = np.ascontiguousarray(np.column_stack([weights, values * weights[:, None]]).T)
    rates = np.minimum(1.0 / np.square(widths), FASTEST)
    points = coordinates(distance, rows), coordinates(distance, queries)
    if points[0] is not None and points[1] is not None:
        lost = np.minimum(1.0, 1.0 / weights) if leave_out else None
        return _divided(sums_outwards(bump, points[0], points[1], stacked, rates, lost, n_jobs=n_jobs))
    from bisector.engine.loops import given
    from bisector.solvers import bump_averages_loops as loops

    squared = metric_of_squares(distance)
    pairs = (squared or distance).between(rows, queries, flipped=True)
    rates = np.broadcast_to(rates, (len(widths), len(rows)))
    found = np.zeros((len(widths), len(stacked), len(queries)))
    formula = bump.lower()

    def average(inner: range) -> None:
        sums = np.zeros((len(widths), len(stacked), len(inner)))
        least = np.full((len(widths), len(inner)), math.inf)
        tile = np.empty((min(_TILE[0], len(rows)), len(inner)))
        heights = np.empty_like(tile) if len(widths) > 1 else tile
        faded = np.empty(len(inner))
        for outer in cut(len(rows), _TILE[0]):
            _write_squares(pairs, outer, inner, tile, squared is None)
            part = slice(outer.start, outer.stop)
            own = np.arange(max(outer.start, inner.start), min(outer.stop, inner.stop) if leave_out else 0)
            heavy = own[weights[own] > 1.0]
            tile[own - outer.start, own - inner.start] = np.where(weights[own] > 1.0, 0.0, math.inf)
            for k, rate in enumerate(rates):
                loops.raise_and_fade(formula, tile, len(outer), given(rate[part]), least[k], faded, heights)
                sums[k] *= faded
                sums[k] += stacked[:, part] @ heights[: len(outer)]
                one_row = stacked[:, heavy] / weights[heavy]
                sums[k][:, heavy - inner.start] -= one_row * heights[heavy - outer.start, heavy - inner.start]
        found[:, :, inner.start : inner.stop] = sums

    parallel(average, cut(len(queries), _TILE[1]), n_jobs=n_jobs)
    return _divided(found)


def averages_within(
    bump: Bump,
    index: Index,
    queries: Rows,
    values: Floats,
    weights: Floats,
    widths: Floats,
    *,
    leave_out: bool = False,
    n_jobs: int | None = None,
) -> BumpAverages:
    """Average values of the rows of an index at queries, with bumps that end; see `bump_averages`.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.kernels import WindowBump
    >>> from bisector.search import build_index
    >>> from bisector.solvers.bump_averages import averages_within
    >>> index = build_index(["ward", "word", "world"], "levenshtein")
    >>> queries, ones = index.prepare(["ward", "moon"]), np.ones(3)
    >>> values = np.array([[1.0], [2.0], [6.0]])
    >>> found = averages_within(WindowBump(), index, queries, values, ones, np.array([[1.0], [2.0]]))
    >>> found.values[:, 0, 0], found.reached[:, 1]
    (array([1.5, 3. ]), array([False, False]))
    """
    from scipy.sparse import csr_array

    stacked = np.column_stack([weights, values * weights[:, None]])
    stays = 1.0 - np.minimum(1.0, 1.0 / weights)
    found = np.zeros((len(widths), stacked.shape[1], len(queries)))
    reach = float(widths.max()) * bump.support
    size = max(_FEWEST_AT_ONCE, _PAIRS_AT_ONCE // len(index))
    for part in cut(len(queries), size):
        numbers = np.arange(part.start, part.stop)
        graph = index.query_radius_prepared(queries.take(numbers), reach, n_jobs=n_jobs)
        places = index.positions(graph.indices)
        shape = (len(part), len(stacked))
        kept = np.ones(len(places))
        if leave_out:
            owners = np.repeat(numbers, np.diff(graph.indptr))
            kept[owners == places] = stays[places[owners == places]]
        for k, width in enumerate(widths):
            heights = bump(graph.data / (width[places] if len(width) > 1 else width)) * kept
            found[k][:, part.start : part.stop] = (
                csr_array((heights, places, graph.indptr), shape) @ stacked
            ).T
    return _divided(found)


def _divided(found: Floats) -> BumpAverages:
    """Divide sums by the first of them, the weights'."""
    mass, totals = found[:, 0], found[:, 1:]
    reached = mass > 0
    averages = totals / np.where(reached, mass, 1.0)[:, None]
    return BumpAverages(np.swapaxes(averages, 1, 2), reached)


def metric_of_squares(distance: Distance) -> Distance | None:
    """Return the distance that is the square of this one, if it has one: roots need not be taken then."""
    if distance.get_params(deep=False).get("squared") is False:
        return distance.set_params(squared=True)
    return None


def _write_squares(pairs: Pairs, outer: range, inner: range, tile: Floats, roots: bool) -> None:
    pairs.write(outer, inner, tile)
    if roots:
        np.multiply(tile, tile, out=tile)
