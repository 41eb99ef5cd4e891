"""A compiled sort of edges by their lengths, which takes a quarter of the time of comparing them.

Numbers are ordered as the integers that their bits make, once those of negative ones are turned round. These are
sorted digit by digit, the last first, each time keeping the order of equal ones.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

# Bits of a digit, and how many digits 64 bits have.
_BITS, _DIGITS = 11, 6


@loop
def sort_edges(ends: Any, lengths: Any, sorted_ends: Any, sorted_lengths: Any) -> bool:
    """List edges in the order of their lengths, the smaller end of each first; return whether lengths are tied.

    Of edges of one length that come first which came first.
    """
    n, mask = len(lengths), (1 << _BITS) - 1
    counts = np.zeros((_DIGITS, 1 << _BITS), np.int64)
    keys, order = np.empty((2, n), np.int64), np.empty((2, n), np.int64)
    bits = lengths.view(np.int64)
    for i in range(n):
        key = bits[i] ^ ((bits[i] >> 63) & (2**63 - 1)) ^ -(2**63)
        keys[0, i], order[0, i] = key, i
        for digit in range(_DIGITS):
            counts[digit, (key >> (_BITS * digit)) & mask] += 1
    now = 0
    for digit in range(_DIGITS):
        shift, start, alike = _BITS * digit, 0, False
        for value in range(1 << _BITS):
            count = counts[digit, value]
            alike = alike or count == n
            counts[digit, value] = start
            start += count
        if alike:
            continue
        for i in range(n):
            key = keys[now, i]
            value = (key >> shift) & mask
            place = counts[digit, value]
            counts[digit, value] = place + 1
            keys[1 - now, place], order[1 - now, place] = key, order[now, i]
        now = 1 - now
    tied = False
    for i in range(n):
        edge = order[now, i]
        a, b = ends[edge, 0], ends[edge, 1]
        sorted_ends[i, 0], sorted_ends[i, 1] = min(a, b), max(a, b)
        sorted_lengths[i] = lengths[edge]
        tied |= i > 0 and sorted_lengths[i] == sorted_lengths[i - 1]
    return tied


def warm() -> None:
    """Compile the loop of this module."""
    ends, lengths = np.array([[0, 1]]), np.ones(1)
    sort_edges(given(ends), given(lengths), ends.copy(), lengths.copy())
