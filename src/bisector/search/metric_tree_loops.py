"""Compiled steps of the search in a metric tree: bounds from distances to pivots, and what remains of a tile."""

import math
from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.search.heap_loops import is_nearer, replace_worst


@loop
def bound_parts(
    distances: Any, low: Any, high: Any, slack: float, absolute: float, lower: Any, upper: Any
) -> None:
    """Bound the distances from queries to the rows of parts, by what both are from pivots.

    If a row is between `low` and `high` from a pivot and the query is at distance d, the row is at least d − high,
    at least low − d, and at most d + high from the query; the most restrictive pivot counts. A share of the
    distances and an absolute amount are taken off, or added, for rounding. What is infinite says nothing: it may
    have overflowed.
    """
    n_pivots, n_parts = low.shape
    for q in range(len(distances)):
        for part in range(n_parts):
            lower[q, part], upper[q, part] = 0.0, math.inf
        for pivot in range(n_pivots):
            d = distances[q, pivot]
            if d == math.inf:
                continue
            for part in range(n_parts):
                near, far = low[pivot, part], high[pivot, part]
                rounding = slack * (d + far) + absolute
                beyond, within = d - far - rounding, near - d - rounding
                above = max(beyond, within) if far < math.inf else 0.0
                lower[q, part] = max(lower[q, part], above)
                upper[q, part] = min(upper[q, part], d + far + rounding)


@loop
def keep_nearest_listed(tile: Any, listed: Any, alive: Any, queries: Any, best: Any, numbers: Any) -> None:
    """Offer the rows of a tile's columns, by their numbers, to the heaps of its queries; only those alive."""
    n_columns = len(listed)
    for i in range(len(queries)):
        q = queries[i]
        worst = best[q, 0]
        near = 0
        for b in range(n_columns):
            near += 1 if tile[i, b] <= worst else 0
        if near:
            values, found = best[q], numbers[q]
            for b in range(n_columns):
                value, number = tile[i, b], listed[b]
                if value <= worst and is_nearer(value, number, worst, found[0]) and alive[number]:
                    replace_worst(values, found, value, number)
                    worst = values[0]


@loop
def assign_pivots(distances: Any, owner: Any) -> None:
    """Give each row (a column) to the nearest pivot; where several are equally near, they take turns."""
    n_pivots, n = distances.shape
    for i in range(n):
        nearest, n_equal = 0, 0
        for pivot in range(n_pivots):
            if distances[pivot, i] < distances[nearest, i]:
                nearest, n_equal = pivot, 0
            n_equal += 1 if distances[pivot, i] == distances[nearest, i] else 0
        turn = i % n_equal
        for pivot in range(nearest, n_pivots):
            if distances[pivot, i] == distances[nearest, i]:
                if turn == 0:
                    owner[i] = pivot
                    break
                turn -= 1


@loop
def range_parts(distances: Any, parts: Any, low: Any, high: Any) -> None:
    """Set the least and the largest distance from each pivot to the rows of each part."""
    n_pivots, n = distances.shape
    for pivot in range(n_pivots):
        for part in range(low.shape[1]):
            low[pivot, part], high[pivot, part] = math.inf, -math.inf
        for i in range(n):
            part = parts[i]
            low[pivot, part] = min(low[pivot, part], distances[pivot, i])
            high[pivot, part] = max(high[pivot, part], distances[pivot, i])


def warm() -> None:
    """Compile the loops of this module."""
    one, row, number = np.ones((1, 1)), given(np.ones((1, 1))), np.zeros((1, 1), np.int64)
    first = given(np.zeros(1, np.int64))
    bound_parts(row, row, row, 0.0, 0.0, one, one.copy())
    keep_nearest_listed(one, first, given(np.ones(1, np.bool_)), first, one.copy(), number)
    range_parts(row, first, one, one.copy())
    assign_pivots(row, np.zeros(1, np.int64))
