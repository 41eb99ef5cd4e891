"""Compiled steps that divide rows into balls.

All of them work on many balls at once. A ball is a range of places in the tree's order; what is known of a row
(its nearest centre so far, say) stands at its place. Rows are compared in tiles, short ranges within a ball that
stand coordinate by coordinate, so that the processor works on several rows at once. Only `assign_rows` knows the
distance.
"""

from typing import Any

import numpy as np

from bisector.distances.tile_loops import weigh_columns
from bisector.engine.loops import loop
from bisector.search.ball_tree_loops import measure_block


@loop
def lay_out_rows(rows: Any, order: Any, starts: Any, stops: Any, blocks: Any) -> None:
    """Copy the rows of each range of an order, coordinate by coordinate, to its start times their length."""
    n_features = rows.shape[1]
    for block in range(len(starts)):
        start, n = starts[block], stops[block] - starts[block]
        for first in range(0, n, 8):  # so many fill a line of the cache
            for j in range(n_features):
                place = start * n_features + j * n
                for i in range(first, min(first + 8, n)):
                    blocks[place + i] = rows[order[start + i], j]


@loop
def assign_rows(
    formula: Any, columns: Any, starts: Any, stops: Any, owner: Any, centres: Any, wanted: Any, first_part: int,
    nearest: Any, parts: Any,
) -> None:  # fmt: skip
    """Let the rows of tiles that are nearer to a new centre than to those before belong to its part.

    Tile t lies in ball ``owner[t]``. Its new centres are ``centres[owner[t]]``, of parts numbered from `first_part`
    on; only those that are wanted count.
    """
    n_features = centres.shape[2]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    totals, centre = np.empty(0), np.empty(n_features)
    for t in range(len(starts)):
        start, n, ball = starts[t], stops[t] - starts[t], owner[t]
        if len(totals) < n:
            totals = np.empty(n)
        for c in range(centres.shape[1]):
            if not wanted[ball, c]:
                continue
            for j in range(n_features):
                centre[j] = centres[ball, c, j]
            measure_block(bare, weights, centre, columns, start, start + n, totals)
            for b in range(n):
                if totals[b] < nearest[start + b]:
                    nearest[start + b] = totals[b]
                    parts[start + b] = first_part + c


@loop
def find_farthest(nearest: Any, starts: Any, stops: Any, farthest: Any) -> None:
    """Find the place in each ball whose row is farthest from its centre; the first of equals."""
    for ball in range(len(starts)):
        found = starts[ball]
        for place in range(starts[ball], stops[ball]):
            if nearest[place] > nearest[found]:
                found = place
        farthest[ball] = found


@loop
def find_middle(nearest: Any, starts: Any, stops: Any, middle: Any) -> None:
    """Find the place in each ball whose row is nearest to its centre; the first of equals."""
    for ball in range(len(starts)):
        found = starts[ball]
        for place in range(starts[ball], stops[ball]):
            if nearest[place] < nearest[found]:
                found = place
        middle[ball] = found


@loop
def add_up(nearest: Any, starts: Any, stops: Any, sums: Any) -> None:
    """Add up what the rows of each ball are from their centres."""
    for ball in range(len(starts)):
        total = 0.0
        for place in range(starts[ball], stops[ball]):
            total += nearest[place]
        sums[ball] = total


@loop
def average_parts(
    rows: Any, order: Any, starts: Any, stops: Any, parts: Any, counts: Any, means: Any
) -> None:
    """Set the mean of every part of every ball, and how many rows it has; both are zeros so far."""
    n_features = rows.shape[1]
    for ball in range(len(starts)):
        for place in range(starts[ball], stops[ball]):
            part, row = parts[place], order[place]
            counts[ball, part] += 1
            for j in range(n_features):
                means[ball, part, j] += rows[row, j]
        for part in range(means.shape[1]):
            for j in range(n_features):
                means[ball, part, j] /= max(counts[ball, part], 1)


@loop
def regroup(order: Any, starts: Any, stops: Any, parts: Any, sizes: Any) -> None:
    """Let the rows of each part stand together, in the order they had; count them in `sizes`, zeros so far."""
    n_parts = sizes.shape[1]
    places = np.empty(n_parts, np.int64)
    for ball in range(len(starts)):
        start, stop = starts[ball], stops[ball]
        for place in range(start, stop):
            sizes[ball, parts[place]] += 1
        places[0] = start
        for part in range(1, n_parts):
            places[part] = places[part - 1] + sizes[ball, part - 1]
        before = order[start:stop].copy()
        for i in range(stop - start):
            part = parts[start + i]
            order[places[part]] = before[i]
            places[part] += 1


@loop
def divide_at_medians(
    rows: Any, weights: Any, order: Any, starts: Any, stops: Any, wanted: Any, sizes: Any
) -> None:
    """Divide balls into parts of similar size: always the largest, at the median of its widest coordinate."""
    for ball in range(len(starts)):
        size = sizes[ball]
        size[0] = stops[ball] - starts[ball]
        for n_now in range(1, wanted[ball]):
            part = 0
            for other in range(n_now):
                if size[other] > size[part]:
                    part = other
            start = starts[ball]
            for other in range(part):
                start += size[other]
            half = size[part] // 2
            widest = widest_coordinate(rows, weights, order, start, start + size[part])
            part_at(rows, widest, order, start, start + size[part], start + half)
            for later in range(n_now, part + 1, -1):
                size[later] = size[later - 1]
            size[part + 1] = size[part] - half
            size[part] = half


@loop
def widest_coordinate(rows: Any, weights: Any, order: Any, start: int, stop: int) -> int:
    """Return the coordinate in which rows are widest, each times its weight."""
    widest, width = 0, -1.0
    for j in range(rows.shape[1]):
        low = high = rows[order[start], j]
        for place in range(start + 1, stop):
            value = rows[order[place], j]
            low, high = min(low, value), max(high, value)
        if weights[j] * (high - low) > width:
            widest, width = j, weights[j] * (high - low)
    return widest


@loop
def part_at(rows: Any, coordinate: int, order: Any, start: int, stop: int, middle: int) -> None:
    """Reorder rows so that none before the middle exceeds one from there on, in one coordinate (quickselect)."""
    low, high = start, stop - 1
    while low < high:
        # The median of three, so that ordered rows are no worst case.
        first, last = rows[order[low], coordinate], rows[order[high], coordinate]
        pivot = rows[order[(low + high) // 2], coordinate]
        pivot = max(min(first, last), min(max(first, last), pivot))
        up, down = low, high
        while up <= down:
            while rows[order[up], coordinate] < pivot:
                up += 1
            while rows[order[down], coordinate] > pivot:
                down -= 1
            if up <= down:
                order[up], order[down] = order[down], order[up]
                up += 1
                down -= 1
        if middle <= down:
            high = down
        elif middle >= up:
            low = up
        else:
            return


def warm() -> None:
    """Compile the loops of this module for the formulas of Euclidean and Manhattan distance."""
    from bisector.search.ball_tree import BallTree

    for metric in ("euclidean", "manhattan"):
        for split in ("farthest-first", "median"):
            BallTree(np.arange(3.0)[:, None], metric, split=split, leaf_size=1)
