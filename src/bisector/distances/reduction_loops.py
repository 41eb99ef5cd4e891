"""Compiled reductions of tiles: what becomes of the distances while they are in the cache.

A tile has outer rows × inner rows; every reduction runs over the outer rows, for each inner row, in the order of
the outer rows' numbers. So no result depends on how the pairs were cut into tiles.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def keep_nearest(tile: Any, n_rows: int, first: int, best: Any, numbers: Any) -> None:
    """Keep, for each column, the smallest value so far and the number of its row; the first of equals."""
    for i in range(n_rows):
        for b in range(len(best)):
            if tile[i, b] < best[b]:
                best[b] = tile[i, b]
                numbers[b] = first + i


@loop
def keep_k_nearest(tile: Any, n_rows: int, first: int, best: Any, numbers: Any) -> None:
    """Keep, for each column, the k smallest values so far in ascending order, and the numbers of their rows.

    Rows come in ascending order, so a value that only equals the largest kept is too late.
    """
    n_columns, k = best.shape
    last = best[:, k - 1].copy()
    for i in range(n_rows):
        any_smaller = 0
        for b in range(n_columns):
            any_smaller += tile[i, b] < last[b]
        if any_smaller:
            for b in range(n_columns):
                value = tile[i, b]
                if value < last[b]:
                    place = k - 1
                    while place > 0 and value < best[b, place - 1]:
                        best[b, place] = best[b, place - 1]
                        numbers[b, place] = numbers[b, place - 1]
                        place -= 1
                    best[b, place] = value
                    numbers[b, place] = first + i
                    last[b] = best[b, k - 1]


@loop
def add_weighted(tile: Any, n_rows: int, first: int, weights: Any, sums: Any) -> None:
    """Add each column of a tile, its rows times their weights, to the column's sum."""
    for i in range(n_rows):
        weight = weights[first + i]
        if weight != 0.0:  # zero times an infinite distance would be NaN
            for b in range(len(sums)):
                sums[b] += weight * tile[i, b]


@loop
def count_within(tile: Any, n_rows: int, bounds: Any, counts: Any) -> None:
    """Count, for each column, the rows whose value is at most the column's bound."""
    for i in range(n_rows):
        for b in range(len(counts)):
            counts[b] += np.int64(tile[i, b] <= bounds[b])


def warm() -> None:
    """Compile the loops of this module."""
    tile, one = np.ones((1, 1)), np.ones(1)
    keep_nearest(tile, 1, 0, np.ones(1), np.zeros(1, np.int64))
    keep_k_nearest(tile, 1, 0, np.ones((1, 1)), np.zeros((1, 1), np.int64))
    add_weighted(tile, 1, 0, given(one), np.zeros(1))
    count_within(tile, 1, given(one), np.zeros(1, np.int64))
