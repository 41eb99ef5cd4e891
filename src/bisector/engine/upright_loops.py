"""Compiled copying of columns into rows.

Columns come in pieces, as files have them: the rows from ``cuts[p]`` to ``cuts[p + 1]`` stand in memory from
``addresses[p]`` on, of each column its numbers beside each other, aligned or not.
"""

from typing import Any

import numpy as np

from .intrinsics import prefetch_at
from .loops import given, loop
from .turned_squares import REGISTER_BYTES, number_at, turn_moved_square, turn_square

# So many rows get a square's width of columns at a time: long enough to read the columns as memory likes it, short
# enough for the rows to stay in the cache until all their columns are there.
_ROWS = 1024
# What memory hands over at once.
_LINE_BYTES = 64


@loop
def copy_rows(addresses: Any, cuts: Any, first: int, count: int, X: Any, targets: Any, row: int) -> None:
    """Write rows from `first` on into two tables from `row` on: the last columns are those of the targets."""
    d = X.shape[1]
    for p in range(len(addresses)):
        begin, end = max(first, cuts[p]), min(first + count, cuts[p + 1])
        if begin < end:
            before, length, below = begin - cuts[p], end - begin, row + begin - first
            stand_upright(addresses[p, :d], before, length, X, below)
            stand_upright(addresses[p, d:], before, length, targets, below)


@loop
def stand_upright(addresses: Any, first: int, count: int, table: Any, row: int) -> None:
    """Write the numbers from `first` on of columns down the columns of the table, from `row` on.

    The columns are of the table's type and begin at addresses in memory.
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


@loop
def stand_upright_moved(
    addresses: Any, first: int, count: int, move: tuple[Any, Any, Any], like: Any, table: Any
) -> None:
    """Write the numbers from `first` on of columns down those of a table of float64, from its first row on.

    They are of the type of the array `like`, and moved: shift, scale and weights as in `turn_moved_square`.
    """
    n_columns, size = len(addresses), like.itemsize
    side = REGISTER_BYTES // size
    if count < side or n_columns < side:
        shift, scale, weights = move
        for j in range(n_columns):
            for i in range(count):
                number = number_at(addresses[j] + size * (first + i), like)
                table[i, j] = (number - shift[j]) * scale[j] * weights[i]
        return
    for left in range(0, n_columns, side):
        j = min(left, n_columns - side)
        for above in range(0, count, side):
            i = min(above, count - side)
            turn_moved_square(addresses, j, first + i, move, like, table, i)


@loop
def fetch_bytes(address: int, n_bytes: int) -> None:
    """Have memory fetched into the cache; what is not in memory is left alone."""
    for line in range(address, address + n_bytes, _LINE_BYTES):
        prefetch_at(line)


@loop
def fetch_columns(addresses: Any, first: int, count: int, like: Any) -> None:
    """Have numbers of columns, from `first` on, fetched into the cache; what is not in memory is left alone."""
    for address in addresses:
        fetch_bytes(address + like.itemsize * first, like.itemsize * count)


def warm() -> None:
    """Compile the loops of this module that are called from Python."""
    for dtype in (np.float32, np.float64):
        copy_rows(
            given(np.zeros((1, 1), np.int64)),
            given(np.zeros(2, np.int64)),
            0,
            0,
            np.zeros((1, 1), dtype),
            np.zeros((1, 0), dtype),
            0,
        )
