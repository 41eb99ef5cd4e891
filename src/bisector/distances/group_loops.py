"""Compiled sums by group: what becomes of distances, or of rows, when each row belongs to a group."""

from typing import Any

import numpy as np

from bisector.distances.tile_loops import stand_columnwise
from bisector.engine.loops import given, loop


@loop
def add_to_groups(tile: Any, n_rows: int, first: int, codes: Any, weights: Any, sums: Any) -> None:
    """Add each row of a tile, times its weight, to the sums of its group, column by column."""
    n_columns = sums.shape[1]
    for i in range(n_rows):
        weight, line = weights[first + i], sums[codes[first + i]]
        for b in range(n_columns):
            line[b] += weight * tile[i, b]


@loop(fast=True)
def add_both_ways(
    tile: Any, n_rows: int, n_columns: int, row_from: int, column_from: int, codes: Any, weights: Any, sums: Any
) -> None:  # fmt: skip
    """Add a tile to the sums of its columns over the groups of its rows, and the other way round.

    Both are of the same rows, which stand in the order of their groups: so the columns of a group are a run, whose
    sum stays in a register. `sums` has a line for each group, and in it a place for each row.
    """
    start = 0
    while start < n_columns:
        group, stop = codes[column_from + start], start + 1
        while stop < n_columns and codes[column_from + stop] == group:
            stop += 1
        # Slices, since indices that might count from the end keep a loop from being vectorised.
        column_weights = weights[column_from + start : column_from + stop]
        row_sums = sums[group]
        for i in range(n_rows):
            weight, terms = weights[row_from + i], tile[i, start:stop]
            line = sums[codes[row_from + i], column_from + start : column_from + stop]
            total = 0.0
            for b in range(len(terms)):
                total += column_weights[b] * terms[b]
                line[b] += weight * terms[b]
            row_sums[row_from + i] += total
        start = stop


@loop
def add_differences(values: Any, codes: Any, weights: Any, origins: Any, sums: Any) -> None:
    """Add rows, each less the origin of its group and times its weight, to the sums of the groups."""
    n, n_features = values.shape
    for i in range(n):
        group, weight = codes[i], weights[i]
        if weight != 0.0:
            for j in range(n_features):
                sums[group, j] += weight * (values[i, j] - origins[group, j])


@loop
def add_squares(
    values: Any, codes: Any, weights: Any, means: Any, rests: Any, scales: Any, sums: Any
) -> None:
    """Add the squared distances of rows to the means of their groups, times their weights, to the groups' sums.

    A mean is the sum of two numbers, `means` and `rests`, since far from zero one has too few digits.
    """
    n, n_features = values.shape
    for i in range(n):
        group, weight = codes[i], weights[i]
        if weight != 0.0:
            total = 0.0
            for j in range(n_features):
                difference = (values[i, j] - means[group, j]) - rests[group, j]
                total += scales[j] * (difference * difference)
            sums[group] += weight * total


@loop
def square_to_means(
    values: Any, means: Any, rests: Any, scales: Any, factors: Any, spreads: Any, sums: Any
) -> None:
    """Set `sums` to factor · (‖x − mean‖² + spread), for every group and every row x."""
    n, n_features = values.shape
    columns = np.empty((n_features, n))
    stand_columnwise(values, 0, columns)
    totals = np.empty(n)
    for group in range(len(means)):
        totals[:] = 0.0
        for j in range(n_features):
            mean, rest, scale = means[group, j], rests[group, j], scales[j]
            for b in range(n):
                difference = (columns[j, b] - mean) - rest
                totals[b] += scale * (difference * difference)
        factor, spread, line = factors[group], spreads[group], sums[group]
        for b in range(n):
            line[b] = factor * (totals[b] + spread)


def warm() -> None:
    """Compile the loops of this module."""
    one, row = given(np.ones(1)), given(np.ones((1, 1)))
    code, sums = given(np.zeros(1, np.int64)), np.zeros((1, 1))
    add_to_groups(np.ones((1, 1)), 1, 0, code, one, sums)
    add_both_ways(np.ones((1, 1)), 1, 1, 0, 0, code, one, sums)
    for dtype in (np.float32, np.float64):
        values = given(np.ones((1, 1), dtype))
        add_differences(values, code, one, row, sums)
        add_squares(values, code, one, row, row, one, np.zeros(1))
        square_to_means(values, row, row, one, one, one, sums)
