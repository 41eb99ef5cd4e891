"""Compiled steps of clustering numbers: the least scatter of the first values, cluster after cluster."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def scatter_between(weights: Any, sums: Any, squares: Any, first: int, last: int) -> float:
    """Return the scatter of values first … last − 1, given running sums."""
    weight = weights[last] - weights[first]
    total = sums[last] - sums[first]
    return max(0.0, squares[last] - squares[first] - total * total / weight)


@loop
def add_cluster(
    weights: Any, sums: Any, squares: Any, before: Any, after: Any, starts: Any, stack: Any, fewest: int
) -> None:  # fmt: skip
    """From the least scatters of the first values in one cluster fewer, find those with one more.

    ``before[m]`` is the least scatter of the first m values; `after` and `starts` receive the same for one cluster
    more, and where the last cluster starts. The start never moves back when m grows, so the middle m divides
    the starts for those below and above it.
    """
    n = len(before) - 1
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = fewest, n, fewest - 1, n - 1
    height = 1
    while height:
        height -= 1
        low, high, from_start, to_start = stack[height]
        middle = (low + high) // 2
        best, at = np.inf, from_start
        for start in range(from_start, min(to_start, middle - 1) + 1):
            value = before[start] + scatter_between(weights, sums, squares, start, middle)
            if value < best:
                best, at = value, start
        after[middle], starts[middle] = best, at
        if low < middle:
            stack[height, 0], stack[height, 1] = low, middle - 1
            stack[height, 2], stack[height, 3] = from_start, at
            height += 1
        if middle < high:
            stack[height, 0], stack[height, 1] = middle + 1, high
            stack[height, 2], stack[height, 3] = at, to_start
            height += 1


def warm() -> None:
    """Compile the loops of this module."""
    sums, stack = given(np.arange(3.0)), np.zeros((64, 4), np.int64)
    add_cluster(sums, sums, sums, given(np.zeros(3)), np.zeros(3), np.zeros(3, np.int32), stack, 2)
