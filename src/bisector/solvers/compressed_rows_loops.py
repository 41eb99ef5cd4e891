"""Compiled products with sparse rows in compressed form: (starts, columns, values) as of a CSR matrix.

Starts and columns come as unsigned integers: signed ones could count from the end, and asking whether they do takes
as long as the product itself.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def times_vector(starts: Any, columns: Any, values: Any, vector: Any, out: Any) -> None:
    """Write Xv."""
    for i in range(len(out)):
        total = 0.0
        for a in range(starts[i], starts[i + 1]):
            total += values[a] * vector[columns[a]]
        out[i] = total


@loop
def transposed_times_vector(starts: Any, columns: Any, values: Any, vector: Any, out: Any) -> None:
    """Add Xᵀv to `out`."""
    for i in range(len(vector)):
        factor = vector[i]
        for a in range(starts[i], starts[i + 1]):
            out[columns[a]] += factor * values[a]


@loop
def times_matrix(starts: Any, columns: Any, values: Any, matrix: Any, out: Any) -> None:
    """Add XM to `out`."""
    for i in range(len(out)):
        line = out[i]
        for a in range(starts[i], starts[i + 1]):
            value, factors = np.float64(values[a]), matrix[columns[a]]
            for k in range(len(line)):
                line[k] += value * factors[k]


@loop
def transposed_times_matrix(starts: Any, columns: Any, values: Any, matrix: Any, out: Any) -> None:
    """Add XᵀM to `out`."""
    for i in range(len(matrix)):
        factors = matrix[i]
        for a in range(starts[i], starts[i + 1]):
            value, line = np.float64(values[a]), out[columns[a]]
            for k in range(len(factors)):
                line[k] += value * factors[k]


def warm() -> None:
    """Compile the loops of this module."""
    starts = given(np.array([0, 1], np.uint64), np.uint64)
    columns = given(np.zeros(1, np.uint32), np.uint32)
    one, table = given(np.ones(1)), given(np.ones((1, 2)))
    for dtype in (np.float32, np.float64):
        values = given(np.ones(1, dtype))
        times_vector(starts, columns, values, one, np.zeros(1))
        transposed_times_vector(starts, columns, values, one, np.zeros(1))
        times_matrix(starts, columns, values, table, np.zeros((1, 2)))
        transposed_times_matrix(starts, columns, values, table, np.zeros((1, 2)))
