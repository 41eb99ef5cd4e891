"""Compiled copying of columns into rows."""

from typing import Any

import numpy as np

from .loops import given, loop

# So many rows of so many columns are copied at a time: the lines of the cache that they are read from and written
# to stay in it as long as they are needed.
_ROWS, _COLUMNS, _STEP = 256, 16, 8


@loop
def stand_upright(columns: Any, first: int, count: int, table: Any, row: int) -> None:
    """Write the numbers from `first` on of each line of `columns` down a column of the table, from `row` on."""
    n_columns, steps = len(columns), count - count % _STEP
    for begin in range(0, steps, _ROWS):
        for left in range(0, n_columns, _COLUMNS):
            for i in range(begin, min(begin + _ROWS, steps), _STEP):
                for j in range(left, min(left + _COLUMNS, n_columns)):
                    some, r = columns[j, first + i : first + i + _STEP], row + i
                    table[r, j], table[r + 1, j] = some[0], some[1]
                    table[r + 2, j], table[r + 3, j] = some[2], some[3]
                    table[r + 4, j], table[r + 5, j] = some[4], some[5]
                    table[r + 6, j], table[r + 7, j] = some[6], some[7]
    for i in range(steps, count):
        for j in range(n_columns):
            table[row + i, j] = columns[j, first + i]


def warm() -> None:
    """Compile the loops of this module."""
    for dtype in (np.float32, np.float64):
        stand_upright(given(np.zeros((1, 1), dtype)), 0, 1, np.zeros((1, 1), dtype), 0)
