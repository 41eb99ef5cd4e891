"""Averages by bumps that never end, in Euclidean space of few dimensions: rows and queries in boxes.

A block of queries meets the rows from the nearest box outwards, and stops when all that is left weighs less than
rounding beside what each query has met. Squares, heights and sums of a block are made in one compiled loop; heights
are relative to the highest that the query has met so far.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.matrix_products import FEWEST_COORDINATES
from bisector.distances.numeric_rows import NumericRows
from bisector.engine.threads import parallel
from bisector.kernels.bumps import Bump
from bisector.solvers.parzen import BLOCK_ROWS, LEAF_ROWS, UNSEEN, arranged

Floats = NDArray[np.float64]


def coordinates(distance: Distance, rows: Rows) -> Floats | None:
    """Return rows as points whose Euclidean distances are the distances, if there are such in few dimensions."""
    if not isinstance(distance, CoordinateDistance) or not isinstance(rows, NumericRows):
        return None
    d = rows.values.shape[1]
    formula = distance.lower(d)
    if not formula.sums_squares or formula.finish(4.0) != 2.0 or distance.may_miss:
        return None
    if rows.sparse or rows.before is not None or d >= FEWEST_COORDINATES:
        return None
    scale = np.sqrt([formula.weight(j) for j in range(d)])
    return np.ascontiguousarray(rows.values.astype(np.float64) * scale)


def sums_outwards(
    bump: Bump,
    rows: Floats,
    queries: Floats,
    stacked: Floats,
    rates: Floats,
    left_out: Floats | None,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Return Σ stacked·φ for every rate and query, each relative to its highest bump: (n_rates, n_sums, n_queries).

    Parameters
    ----------
    bump : Bump
        That has no end.
    rows, queries : ndarray of shape (n, d)
    stacked : ndarray of shape (n_sums, n_rows)
        The weights first, which are positive.
    rates : ndarray of shape (n_rates, 1) or (n_rates, n_rows)
        What squared distances are multiplied by.
    left_out : ndarray of shape (n_rows,), optional
        Where the queries are the rows: which share of a row does not count for itself.

    Examples
    --------
    Two bumps, the farther of which is e⁻⁴ of the nearer:

    >>> import numpy as np
    >>> from bisector.kernels import GaussianBump
    >>> from bisector.solvers.bump_averages_boxes import sums_outwards
    >>> rows, at = np.array([[0.0], [3.0]]), np.array([[0.5]])
    >>> found = sums_outwards(GaussianBump(), rows, at, np.array([[1.0, 1.0]]), np.array([[4.0 / 3]]), None)
    >>> round(float(np.log(found[0, 0, 0] - 1)), 6)
    -4.0
    """
    from bisector.engine.loops import given
    from bisector.search.kd_build import arrange
    from bisector.solvers.bump_averages_loops import average_outwards

    boxes = arranged(rows)
    held = np.arange(LEAF_ROWS) < boxes.sizes[:, None]
    numbers = np.where(held, boxes.leaves[:, -1], 0).astype(np.int64)
    parts = given(np.ascontiguousarray(np.where(held, stacked[:, numbers], 0.0).transpose(1, 0, 2)))
    shared = rates.shape[1] == 1
    factors = [given(np.ones(held.shape) if shared else one[numbers]) for one in rates]
    scales = [float(one[0]) if shared else 1.0 for one in rates]
    lost = given(np.zeros(held.shape) if left_out is None else left_out[numbers])
    blocks = arrange(queries, BLOCK_ROWS)
    found = np.empty((len(rates), len(stacked), len(queries)))
    formula: Any = bump.lower()

    def average(number: int) -> None:
        size = int(blocks.sizes[number])
        block = given(blocks.leaves[number, :, :size])
        which = blocks.leaves[number, -1, :size].astype(np.int64)
        for k, (scale, factor) in enumerate(zip(scales, factors, strict=True)):
            sums = np.zeros((len(stacked), size))
            average_outwards(
                formula, block, boxes.leaves, boxes.sizes, parts, scale, factor, boxes.lows, boxes.highs,
                lost, left_out is not None, UNSEEN, sums,
            )  # fmt: skip
            found[k][:, which] = sums

    parallel(average, range(len(blocks.sizes)), n_jobs=n_jobs)
    return found
