"""Compiled copying of columns into rows."""

from typing import Any

import numpy as np

from .loops import given, loop
from .turned_squares import REGISTER_BYTES, number_at, turn_square

# So many rows get a square's width of columns at a time: long enough to read the columns as memory likes it, short
# enough for the rows to stay in the cache until all their columns are there.
_ROWS = 1024


@loop
def stand_upright(addresses: Any, first: int, count: int, table: Any, row: int) -> None:
    """Write the numbers from `first` on of columns down the columns of the table, from `row` on.

    The columns are of the table's type and begin at addresses in memory, aligned or not.
    """
    n_columns, size = len(addresses), table.itemsize
    side = REGISTER_BYTES // size
    if count < side or n_columns < side:
        for j in range(n_columns):
            for i in range(count):
                table[row + i, j] = number_at(addresses[j] + size * (first + i), table)
        return
    # The last squares overlap those before: what is written twice is the same.
    for begin in range(0, count, _ROWS):
        for left in range(0, n_columns, side):
            j = min(left, n_columns - side)
            for above in range(begin, min(begin + _ROWS, count), side):
                i = min(above, count - side)
                turn_square(addresses, j, first + i, table, row + i)


def warm() -> None:
    """Compile the loops of this module."""
    for dtype in (np.float32, np.float64):
        stand_upright(given(np.zeros(1, np.int64)), 0, 0, np.zeros((1, 1), dtype), 0)
