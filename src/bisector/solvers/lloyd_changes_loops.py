"""Compiled steps of passes that touch only the rows whose cluster changes, and those products cannot decide.

Labels are found as in `bisector.solvers.lloyd_loops`, from rows narrowed once and kept, if there is room for them.
The sums of the clusters are changed by the rows that move between them. So that nothing is lost by that, however
often rows come and go, numbers are rounded to a **grid** before they are added, one so coarse that no sum of them
is ever rounded; and what is left of them to a second, finer grid. Such sums are exact, in whatever order they are
made. What is lost beforehand is half a step of the finer grid, and rows so short that this matters are counted.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.group_products import GROUP, MOST_AT_ONCE, multiply_group
from bisector.engine.loops import given, loop
from bisector.solvers.lloyd_loops import (
    FARTHEST,
    LloydFrame,
    decide,
    most_low,
    narrow_centres,
    place_rows,
    rows_of_a_chunk,
    scan_tile,
)


class LloydGrids(NamedTuple):
    """Numbers that round what is added to them and taken away again to a grid.

    Attributes
    ----------
    coarse : ndarray of shape (n_features,)
    finer : float
        What they are multiplied by for the finer grid.
    shortest : float
        The square of the length, as seen from the origin and times the weight, of the shortest rows that keep
        their digits.
    """

    coarse: Any
    finer: float
    shortest: float


@loop
def add_exactly(x: Any, weight: float, sign: float, origin: Any, grids: Any, coarse: Any, fine: Any) -> None:
    """Add a row to the sums of a cluster, or take it away from them."""
    for j in range(len(x)):
        value = weight * (x[j] - origin[j])
        rounding = grids.coarse[j]
        rounded = (value + rounding) - rounding
        rounding *= grids.finer
        rest = ((value - rounded) + rounding) - rounding
        coarse[j] += sign * rounded
        fine[j] += sign * rest


@loop
def stand_side_by_side(rows: Any, m: int, group: Any) -> None:
    """Write m rows as columns of a group; what is left of it becomes zero."""
    for j in range(rows.shape[1]):
        for r in range(GROUP):
            group[j, r] = rows[r, j] if r < m else 0.0


@loop
def multiply_all(group: Any, across: Any, products: Any) -> None:
    """Multiply the rows of a group by all centres, as many at once as there are registers for."""
    k = across.shape[1]
    for first in range(0, k, MOST_AT_ONCE):
        multiply_group(group, across, first, min(MOST_AT_ONCE, k - first), products)


@loop
def assign_by_changes(
    X: Any, weights: Any, centres: Any, frame: Any, grids: Any, groups: Any, known: bool, squares: Any,
    labels: Any, sums: Any, of: Any,
) -> tuple[int, int]:  # fmt: skip
    """Label the rows of a block by their nearest centres, and say how that changes the sums of the clusters.

    Parameters
    ----------
    X : (n, d) rows
    weights : (n,), or empty where all are one
    centres : (k, d), float64
    frame, grids : LloydFrame, LloydGrids
    groups : (⌈n/16⌉, d, 16), of the frame's kind; or (0, d, 16) if narrowed rows are not kept
    known : bool
        Whether groups and squares are known already, and not to be written.
    squares : (n,)
        Of the rows' lengths as seen from the origin, in units of the frame's scale.
    labels : (n,), changed; -1 if a row is in no cluster yet
    sums : (2, k, d), changed
        By how much sums change, on the coarse grid and on the fine one.
    of : (2, k), changed
        The weight of each cluster, and how many rows that are new to it are too short for the grids.

    Returns
    -------
    changed, undecided : int
        How many labels changed, of rows that weigh anything; and how many rows products could not decide.
    """
    n, d = X.shape
    k, kind, kept = len(centres), frame.kind, len(groups) > 0
    size = GROUP if kept else rows_of_a_chunk(k, d)
    narrow, norms = np.empty((k, d), kind.dtype), np.empty(k, kind.dtype)
    narrow_centres(centres, frame, narrow, norms)
    across = np.zeros((d, k + k % 2), kind.dtype)
    across[:, :k] = narrow.T
    room, products = np.empty((size, d), kind.dtype), np.empty((k + k % 2) * size, kind.dtype)
    best, second, owners = np.empty(size, kind.dtype), np.empty(size, kind.dtype), np.empty(size, np.int32)
    no_lows, shortest = np.empty(0, kind.dtype), grids.shortest * frame.scale * frame.scale
    changed, undecided = 0, 0
    for first in range(0, n, size):
        last = min(first + size, n)
        m = last - first
        if not known:
            numbers = np.arange(m)
            place_rows(X[first:last], numbers, m, frame, False, numbers, room, squares[first:last])
        width = size if kept else m
        tile = products[: (k + k % 2) * width].reshape(k + k % 2, width)
        if kept:
            group = groups[first // GROUP]
            if not known:
                stand_side_by_side(room, m, group)
            multiply_all(group, across, tile)
        else:
            np.dot(narrow, room[:m].T, tile[:k])
        best[:] = np.inf
        second[:] = np.inf
        owners[:] = 0
        scan_tile(tile, norms, best, second, owners)
        for number in range(m):
            i, owner = first + number, owners[number]
            most = most_low(np.float64(best[number]), norms[owner], squares[i], d, frame.share)
            if not (second[number] > most and squares[i] <= FARTHEST):
                undecided += 1
                lows = tile[:, number].copy() if squares[i] <= FARTHEST else no_lows
                owner = np.int32(decide(X[i], centres, lows, norms, most))
            weight = weights[i] if len(weights) else 1.0
            before = labels[i]
            labels[i] = owner
            if weight > 0.0:
                of[0, owner] += weight
                if owner != before:
                    changed += 1
                    add_exactly(X[i], weight, 1.0, frame.origin, grids, sums[0, owner], sums[1, owner])
                    if before < 0:
                        of[1, owner] += 0.0 < weight * weight * squares[i] < shortest
                    else:
                        add_exactly(X[i], weight, -1.0, frame.origin, grids, sums[0, before], sums[1, before])
    return changed, undecided


def warm() -> None:
    """Compile the loops of this module."""
    d, none = 9, given(np.empty(0))
    frame = LloydFrame(given(np.zeros(d)), 1.0, 1e-6, given(np.empty(0, np.float32)))
    grids, groups = LloydGrids(given(np.ones(d)), 1.0, 0.0), np.empty((1, d, GROUP), np.float32)
    state = np.zeros(1), np.zeros(1, np.int32), np.zeros((2, 2, d)), np.zeros((2, 2))
    assign_by_changes(
        given(np.ones((1, d))), none, given(np.ones((2, d))), frame, grids, groups, False, *state
    )
