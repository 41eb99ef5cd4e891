"""Compiled selection from tiles: the k smallest of a row, those up to a bound, how many these are.

A tile has one row a query and one column a reference, in groups of columns: (queries, groups, `GROUP`). The
processor compares a whole group with a bound at once, and only a group that holds something is looked
through. Columns without a reference, or whose reference is to be skipped, hold NaN, which no comparison
finds.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.search.comparing import GROUP
from bisector.search.heap_loops import EMPTY, is_nearer, replace_worst, sort_heap


@loop
def keep_smallest(tile: Any, first: int, best: Any, numbers: Any) -> None:
    """Let every row's heap keep its smallest values; the columns' numbers count from `first`.

    Columns come in ascending order, so that a value which only equals the worst of a full heap is too late.
    """
    n_queries, n_groups, size = tile.shape
    for q in range(n_queries):
        worst = best[q, 0]
        for g in range(n_groups):
            found = numbers[q, 0] == EMPTY
            for j in range(size):
                found |= tile[q, g, j] < worst
            if found:
                for j in range(size):
                    value, number = tile[q, g, j], first + g * size + j
                    if value <= worst and is_nearer(value, number, worst, numbers[q, 0]):
                        replace_worst(best[q], numbers[q], value, number)
                        worst = best[q, 0]


@loop
def keep_smallest_listed(counts: Any, values: Any, listed: Any, best: Any, numbers: Any) -> None:
    """Do the same with values and their numbers that are listed one query after the other."""
    first = 0
    for q in range(len(counts)):
        for c in range(first, first + counts[q]):
            if is_nearer(values[c], listed[c], best[q, 0], numbers[q, 0]):
                replace_worst(best[q], numbers[q], values[c], listed[c])
        first += counts[q]


@loop
def sort_heaps(best: Any, numbers: Any) -> None:
    """Bring the heap of every row into ascending order."""
    for q in range(len(best)):
        sort_heap(best[q], numbers[q])


@loop
def count_up_to(tile: Any, bounds: Any, counts: Any) -> None:
    """Add to every row's count how many of its values are at most its bound."""
    n_queries, n_groups, size = tile.shape
    for q in range(n_queries):
        bound = bounds[q]
        for g in range(n_groups):
            here = 0
            for j in range(size):
                here += tile[q, g, j] <= bound
            counts[q] += here


@loop
def list_between(tile: Any, above: Any, bounds: Any, first: int, values: Any, numbers: Any) -> None:
    """List the values above one bound of their row and at most another, row by row, with their columns' numbers."""
    n_queries, n_groups, size = tile.shape
    place = 0
    for q in range(n_queries):
        lower, upper = above[q], bounds[q]
        for g in range(n_groups):
            found = False
            for j in range(size):
                found |= (tile[q, g, j] > lower) & (tile[q, g, j] <= upper)
            if found:
                for j in range(size):
                    if tile[q, g, j] > lower and tile[q, g, j] <= upper:
                        values[place] = tile[q, g, j]
                        numbers[place] = first + g * size + j
                        place += 1


@loop
def append_lists(
    counts: Any, values: Any, numbers: Any, ends: Any, all_values: Any, all_numbers: Any
) -> None:
    """Append lists of all queries, one after the other, to where the list of each query ends so far."""
    c = 0
    for q in range(len(counts)):
        for place in range(ends[q], ends[q] + counts[q]):
            all_values[place] = values[c]
            all_numbers[place] = numbers[c]
            c += 1
        ends[q] += counts[q]


def warm() -> None:
    """Compile the loops of this module."""
    tile, heap, numbers = given(np.ones((1, 1, GROUP))), np.ones((1, 1)), np.zeros((1, 1), np.int64)
    keep_smallest(tile, 0, heap, numbers)
    count = np.zeros(1, np.int64)
    keep_smallest_listed(given(count), given(np.ones(1)), given(count), heap, numbers)
    sort_heaps(heap, numbers)
    for dtype in (np.float32, np.float64):
        tile, bound = given(np.ones((1, 1, GROUP), dtype)), given(np.zeros(1, dtype))
        count_up_to(tile, bound, count)
        list_between(tile, bound, bound, 0, np.ones(1, dtype), count)
    append_lists(given(count), given(np.ones(1)), given(count), count, np.ones(1), count)
