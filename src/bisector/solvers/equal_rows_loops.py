"""A compiled search for equal rows, by a table where each stands at or after the place that its numbers give."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

# Bits of a sum over a row, and factors below 2³¹ that mix them: no product overflows.
_BITS = 31
_MIX_LOW, _MIX_HIGH = 1_540_483_477, 2_024_399_911


@loop
def mix_row(bits: Any, i: int) -> int:
    """Return a number below 2³¹ that is the same for rows of the same bits, and hardly ever for others."""
    mask, mixed = (1 << _BITS) - 1, 0
    for j in range(bits.shape[1]):
        low, high = bits[i, j] & 0xFFFFFFFF, (bits[i, j] >> 32) & 0xFFFFFFFF
        low = (mixed ^ low) * _MIX_LOW
        high = (((low ^ (low >> _BITS)) & mask) ^ high) * _MIX_HIGH
        mixed = (high ^ (high >> _BITS)) & mask
    return mixed


@loop
def rows_agree(bits: Any, i: int, k: int) -> bool:
    """Tell whether two rows have the same bits."""
    j, n_features = 0, bits.shape[1]
    while j < n_features and bits[i, j] == bits[k, j]:
        j += 1
    return j == n_features


@loop
def find_first_equals(rows: Any, table: Any, firsts: Any) -> None:
    """Find for every row the first equal one; `table` is full of −1, twice as long, and a power of two."""
    n, last = len(rows), len(table) - 1
    numbers = np.empty(rows.shape)
    bits = numbers.view(np.int64)
    for i in range(n):
        for j in range(rows.shape[1]):
            numbers[i, j] = rows[i, j] + 0.0  # which turns −0 into 0
        place = mix_row(bits, i) & last
        while table[place] >= 0 and not rows_agree(bits, table[place], i):
            place = (place + 1) & last
        if table[place] < 0:
            table[place] = i
        firsts[i] = table[place]


def warm() -> None:
    """Compile the loops of this module."""
    find_first_equals(given(np.zeros((2, 1))), np.full(4, -1), np.empty(2, np.int64))
