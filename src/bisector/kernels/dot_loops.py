"""Compiled steps of kernels that are made from dot products."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def raise_tile(
    scale: float, bias: float, degree: int, out: Any, row: int, column: int, n_rows: int, n_columns: int
) -> None:
    """Replace every v in a rectangle by (scale · v + bias) to a whole power, by repeated squaring."""
    base = np.empty(n_columns)
    result = np.empty(n_columns)
    for i in range(n_rows):
        line = out[
            row + i, column : column + n_columns
        ]  # indices that could be negative would not be vectorised
        for b in range(n_columns):
            base[b] = scale * line[b] + bias
            result[b] = 1.0
        left = degree
        while left > 1:
            if left % 2 == 1:
                for b in range(n_columns):
                    result[b] *= base[b]
            for b in range(n_columns):
                base[b] *= base[b]
            left //= 2
        for b in range(n_columns):
            line[b] = result[b] * base[b]


@loop
def multiply_entries(
    outer: Any, inner: Any, outer_from: int, inner_from: int, out: Any, row: int, column: int,
    n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Write dot products of sparse rows: the outer as (values, columns, starts), the inner by columns."""
    left_values, left_columns, left_starts = outer
    right_values, right_rows, right_starts = inner
    for i in range(n_rows):
        for b in range(n_columns):
            out[row + i, column + b] = 0.0
        for a in range(left_starts[outer_from + i], left_starts[outer_from + i + 1]):
            j = left_columns[a]
            if j + 1 >= len(right_starts):
                break  # what only outer rows have stands behind what inner rows have
            x = left_values[a]
            low, high = right_starts[j], right_starts[j + 1]
            end = high
            while low < high:  # the first entry of column j in the tile
                middle = (low + high) // 2
                if right_rows[middle] < inner_from:
                    low = middle + 1
                else:
                    high = middle
            while low < end and right_rows[low] < inner_from + n_columns:
                out[row + i, column + right_rows[low] - inner_from] += x * right_values[low]
                low += 1


@loop
def square_rows(rows: Any, squares: Any) -> None:
    """Add to zeros the squares of each row, in the order of its coordinates."""
    for i in range(len(rows)):
        total = 0.0
        for j in range(rows.shape[1]):
            total += rows[i, j] * rows[i, j]
        squares[i] = total


@loop
def square_entries(values: Any, starts: Any, squares: Any) -> None:
    """Do as `square_rows` does, for sparse rows."""
    for i in range(len(squares)):
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            total += values[a] * values[a]
        squares[i] = total


def warm() -> None:
    """Compile the loops of this module."""
    from bisector.kernels.polynomial import Linear

    Linear()([1.0], [1.0])  # the tiles of distances, for dot products
    tile, row = np.ones((1, 1)), given(np.ones((1, 1)))
    one, starts = given(np.ones(1)), given(np.array([0, 1]))
    entries = one, given(np.zeros(1, np.int64)), starts
    raise_tile(1.0, 0.0, 2, tile, 0, 0, 1, 1)
    multiply_entries(entries, entries, 0, 0, tile, 0, 0, 1, 1)
    square_rows(row, np.zeros(1))
    square_entries(one, starts, np.zeros(1))
