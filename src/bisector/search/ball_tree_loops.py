"""Compiled search in a tree of balls.

By the triangle inequality no row of a ball is nearer to a query than the query's distance to the centre less the
radius. Distances are compared as *lengths*: a function of the reduced distance that keeps that inequality (see
`bisector.search.ball_tree`). Lengths are rounded, so bounds give way by a slack; a ball is passed over only when
all its rows are too far for certain, and whatever remains is decided by the reduced distance.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.tile_loops import gather_row, weigh_columns
from bisector.engine.loops import compile_methods, loop
from bisector.search.heap_loops import EMPTY, is_nearer, replace_worst, sort_heap

compile_methods(length=lambda self, value: None)


class Balls(NamedTuple):
    """A tree of balls, breadth first: ball 0 holds all rows.

    Attributes
    ----------
    children : ndarray of shape (balls + 1,)
        Ball b is divided into the balls from ``children[b]`` to ``children[b + 1]``; a leaf is not divided.
    starts, stops : ndarray of shape (balls,)
        Which rows of the tree's own order lie in a ball.
    centres : ndarray
        For each ball that is divided, the centres of its parts, coordinate by coordinate; they begin at the
        number of its first part times the number of coordinates.
    radii : ndarray of shape (balls,)
        The slack of the lengths to the centre is in them.
    columns : ndarray
        For each leaf, its rows, coordinate by coordinate; they begin at its start times the number of
        coordinates.
    order : ndarray of shape (rows,)
        The numbers of the rows in the tree's order.
    shrunk, absolute : float
        The slack: a length is certainly above ``shrunk`` times the computed one less ``absolute``.
    most_parts, largest_leaf, depth : int
        How much room a search needs.
    """

    children: NDArray[np.int64]
    starts: NDArray[np.int64]
    stops: NDArray[np.int64]
    centres: NDArray[np.float64]
    radii: NDArray[np.float64]
    columns: NDArray[np.float64]
    order: NDArray[np.int64]
    shrunk: float
    absolute: float
    most_parts: int
    largest_leaf: int
    depth: int


@loop
def measure_all(yardstick: Any, reduced: Any, lengths: Any) -> None:
    """Turn reduced distances into lengths."""
    for i in range(len(reduced)):
        lengths[i] = yardstick.length(reduced[i])


@loop
def measure_block(
    formula: Any, weights: Any, row: Any, blocks: Any, start: int, stop: int, totals: Any
) -> None:
    """Set `totals` to the reduced distances from a row to others that stand coordinate by coordinate in a block."""
    n_features = len(row)
    block = blocks[start * n_features : stop * n_features].reshape((n_features, stop - start))
    gather_row(formula, weights, row, block, totals)


@loop
def enter(formula: Any, balls: Any, queries: Any, leaves: Any) -> int:
    """Find, for each query, the leaf it falls into when it always goes to the nearest centre."""
    n_features = queries.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    children, centres = balls.children, balls.centres
    totals = np.empty(balls.most_parts)
    row = np.empty(n_features)
    computed = 0
    for q in range(len(queries)):
        for j in range(n_features):
            row[j] = queries[q, j]
        ball = 0
        while children[ball] < children[ball + 1]:
            first, stop = children[ball], children[ball + 1]
            measure_block(bare, weights, row, centres, first, stop, totals)
            computed += stop - first
            ball = first
            for part in range(first + 1, stop):
                ball = part if totals[part - first] < totals[ball - first] else ball
        leaves[q] = ball
    return computed


@loop
def find_nearest(
    formula: Any, yardstick: Any, balls: Any, alive: Any, queries: Any, best: Any, numbers: Any
) -> int:
    """Find, for each query, the nearest rows, as many as `best` has places; return how many distances it took."""
    n_features = queries.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    children, starts, stops = balls.children, balls.starts, balls.stops
    centres, radii, columns, order = balls.centres, balls.radii, balls.columns, balls.order
    shrunk, absolute = balls.shrunk, balls.absolute
    waiting = np.empty(balls.most_parts * (balls.depth + 1), np.int64)
    bounds = np.empty(len(waiting))
    lengths = np.empty(balls.most_parts)
    totals = np.empty(balls.largest_leaf)
    row = np.empty(n_features)
    masked = len(alive) > 0
    computed = 0
    for q in range(len(queries)):
        for j in range(n_features):
            row[j] = queries[q, j]
        values, found = best[q], numbers[q]
        for i in range(len(values)):
            values[i], found[i] = math.inf, EMPTY
        worst, limit = math.inf, math.inf
        waiting[0], bounds[0] = 0, 0.0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            if bounds[n_waiting] > limit:
                continue
            ball = waiting[n_waiting]
            first, stop = children[ball], children[ball + 1]
            if first < stop:
                measure_block(bare, weights, row, centres, first, stop, lengths)
                computed += stop - first
                # The nearest centre goes on top, and so is next.
                base = n_waiting
                for part in range(first, stop):
                    length = yardstick.length(lengths[part - first])
                    lengths[part - first] = length
                    # What overflows says nothing.
                    bound = length * shrunk - absolute - radii[part] if length < math.inf else 0.0
                    if bound > limit:
                        continue
                    place = n_waiting
                    while place > base and lengths[waiting[place - 1] - first] < length:
                        waiting[place], bounds[place] = waiting[place - 1], bounds[place - 1]
                        place -= 1
                    waiting[place], bounds[place] = part, bound
                    n_waiting += 1
                continue
            start, n_rows = starts[ball], stops[ball] - starts[ball]
            measure_block(bare, weights, row, columns, start, start + n_rows, totals)
            computed += n_rows
            n_near = 0
            for b in range(n_rows):
                n_near += 1 if totals[b] <= worst else 0
            if n_near:
                for b in range(n_rows):
                    if totals[b] <= worst:
                        number = order[start + b]
                        if is_nearer(totals[b], number, worst, found[0]) and not (
                            masked and not alive[number]
                        ):
                            replace_worst(values, found, totals[b], number)
                            worst = values[0]
                limit = yardstick.length(worst)
        sort_heap(values, found)
    return computed


@loop
def find_within(
    formula: Any, yardstick: Any, balls: Any, alive_before: Any, queries: Any, limits: Any,
    listing: bool, counts: Any,
) -> Any:  # fmt: skip
    """Count, for each query, the rows whose reduced distance is at most its limit, and list them if so asked.

    If they are only counted, a ball that lies within the limit for certain is counted as a whole. `alive_before`
    says for every place of the tree's order how many rows are alive before it.

    Returns
    -------
    reduced, numbers : ndarray
        The list, for one query after the other, in the order in which the tree has the rows.
    computed : int
        How many distances it took.
    """
    n_features = queries.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    children, starts, stops = balls.children, balls.starts, balls.stops
    centres, radii, columns, order = balls.centres, balls.radii, balls.columns, balls.order
    shrunk, absolute = balls.shrunk, balls.absolute
    waiting = np.empty(balls.most_parts * (balls.depth + 1), np.int64)
    lengths = np.empty(balls.most_parts)
    totals = np.empty(balls.largest_leaf)
    row = np.empty(n_features)
    reduced, numbers = np.empty(0), np.empty(0, np.int64)
    n_listed = 0
    computed = 0
    for q in range(len(queries)):
        for j in range(n_features):
            row[j] = queries[q, j]
        limit = yardstick.length(limits[q])
        count = 0
        waiting[0] = 0
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            ball = waiting[n_waiting]
            first, stop = children[ball], children[ball + 1]
            if first < stop:
                measure_block(bare, weights, row, centres, first, stop, lengths)
                computed += stop - first
                for part in range(first, stop):
                    length = yardstick.length(lengths[part - first])
                    if length < math.inf and length * shrunk - absolute - radii[part] > limit:
                        continue
                    if not listing and length / shrunk + absolute + radii[part] < limit * shrunk - absolute:
                        count += alive_before[stops[part]] - alive_before[starts[part]]
                        continue
                    waiting[n_waiting] = part
                    n_waiting += 1
                continue
            start, n_rows = starts[ball], stops[ball] - starts[ball]
            measure_block(bare, weights, row, columns, start, start + n_rows, totals)
            computed += n_rows
            if listing and n_listed + n_rows > len(reduced):
                reduced, numbers = grown(reduced, n_listed + n_rows), grown(numbers, n_listed + n_rows)
            for b in range(n_rows):
                if totals[b] <= limits[q] and alive_before[start + b] < alive_before[start + b + 1]:
                    count += 1
                    if listing:
                        reduced[n_listed], numbers[n_listed] = totals[b], order[start + b]
                        n_listed += 1
        counts[q] = count
    return reduced[:n_listed], numbers[:n_listed], computed


@loop
def grown(array: Any, size: int) -> Any:
    """Return a copy of an array with room for at least `size` entries, and for twice as many as it had."""
    longer = np.empty(max(size, 2 * len(array)), array.dtype)
    for i in range(len(array)):
        longer[i] = array[i]
    return longer


def warm() -> None:
    """Compile the loops of this module for the formulas of Euclidean and Manhattan distance."""
    from bisector.search.ball_tree import BallTree

    for metric in ("euclidean", "manhattan"):
        index = BallTree(np.arange(3.0)[:, None], metric, leaf_size=1)
        index.query(np.zeros((2000, 1)))
        index.query_radius([[0.0]], 1.0)
