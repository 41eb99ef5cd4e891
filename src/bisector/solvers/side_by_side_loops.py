"""Compiled products of a few rows with many, whose coordinates stand side by side.

Where rows have few coordinates, BLAS copies what it multiplies for longer than it multiplies.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop(fast=True)
def multiply_four(rows: Any, left: Any, first: int, columns: Any, right: Any, out: Any) -> None:
    """Write x·y − l − r for four rows x from `first` on (the last one again, if there are fewer) and points y.

    Coordinate c of all points is ``columns[c]``; the number of coordinates is a multiple of four.
    """
    last = len(rows) - 1
    i, j, k, l = min(first, last), min(first + 1, last), min(first + 2, last), min(first + 3, last)
    at_i, at_j, at_k, at_l = out[0], out[1], out[2], out[3]
    for b in range(len(right)):
        at_i[b], at_j[b] = -left[i] - right[b], -left[j] - right[b]
        at_k[b], at_l[b] = -left[k] - right[b], -left[l] - right[b]
    # Sixteen factors and four sums at a time: as many as the registers hold.
    for c in range(0, len(columns), 4):
        s, t, u, v = columns[c], columns[c + 1], columns[c + 2], columns[c + 3]
        i0, i1, i2, i3 = rows[i, c], rows[i, c + 1], rows[i, c + 2], rows[i, c + 3]
        j0, j1, j2, j3 = rows[j, c], rows[j, c + 1], rows[j, c + 2], rows[j, c + 3]
        k0, k1, k2, k3 = rows[k, c], rows[k, c + 1], rows[k, c + 2], rows[k, c + 3]
        l0, l1, l2, l3 = rows[l, c], rows[l, c + 1], rows[l, c + 2], rows[l, c + 3]
        for b in range(len(right)):
            at_i[b] += i0 * s[b] + i1 * t[b] + i2 * u[b] + i3 * v[b]
            at_j[b] += j0 * s[b] + j1 * t[b] + j2 * u[b] + j3 * v[b]
            at_k[b] += k0 * s[b] + k1 * t[b] + k2 * u[b] + k3 * v[b]
            at_l[b] += l0 * s[b] + l1 * t[b] + l2 * u[b] + l3 * v[b]


def warm() -> None:
    """Compile the loop of this module."""
    one, rows = given(np.ones(1, np.float32)), given(np.ones((1, 4), np.float32))
    multiply_four(rows, one, 0, given(np.ones((4, 1), np.float32)), one, np.empty((4, 1), np.float32))
