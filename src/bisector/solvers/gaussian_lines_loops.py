"""Compiled steps of the Gaussian kernel in single precision: from dot products, or from rows, to kernel values."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.side_by_side_loops import multiply_four

# Constants of the same name as in `bisector.engine.exponential`, for 24 digits instead of 53.
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_LOWEST = np.float32(-87.0)  # e^-87 is the smallest that is still a normal number
_LOG2_E = np.float32(1.4426950408889634)
_LN2, _LN2_REST = np.float32(0.693359375), np.float32(-2.12194440e-4)
_ROUNDING = np.float32(1.5 * 2.0**23 + 127.0)
_SHIFT = np.int32(23)
# (e^r − 1 − r) / r² for |r| ≤ ln 2 / 2: interpolated at the Chebyshev nodes, wrong by 1e-8.
_C0, _C1, _C2 = np.float32(0.5), np.float32(0.16666577), np.float32(0.041666555)
_C3, _C4 = np.float32(0.008363173), np.float32(0.0013926176)


@loop
def raised(x: Any) -> Any:
    """Return e^x in single precision, for x that is at most zero but for rounding."""
    x = x if x < _ZERO else _ZERO
    x = x if x > _LOWEST else _LOWEST
    rounded = x * _LOG2_E + _ROUNDING
    n = rounded - _ROUNDING
    r = x - n * _LN2
    r = r - n * _LN2_REST
    q = (((_C4 * r + _C3) * r + _C2) * r + _C1) * r + _C0
    power = np.int32(np.float32(rounded).view(np.int32) << _SHIFT).view(np.float32)
    return (r * r * q + r + _ONE) * power


@loop
def raise_gaussians(products: Any, left: Any, right: Any, lines: Any, slots: Any, column: int) -> None:
    """Write exp(p − l − r) for every product p, with l and r of its row and column, into the slots of its row."""
    n_rows, n_columns = products.shape
    for i in range(n_rows):
        own, found = left[i], products[i]
        line = lines[slots[i], column : column + n_columns]
        for b in range(n_columns):
            line[b] = raised(found[b] - own - right[b])


@loop
def write_gaussians(
    rows: Any, left: Any, columns: Any, right: Any, scratch: Any, lines: Any, slots: Any, start: int
) -> None:
    """Write exp(x·y − l − r) for rows x, each into its slot, and points y, of which the first stands at `start`."""
    n_columns = len(right)
    for first in range(0, len(rows), 4):
        multiply_four(rows, left, first, columns, right, scratch)
        for q in range(min(4, len(rows) - first)):
            exponents, line = scratch[q], lines[slots[first + q], start : start + n_columns]
            for b in range(n_columns):
                line[b] = raised(exponents[b])


@loop
def write_pieces(
    rows: Any, left: Any, pieces: Any, first: int, last: int, right: Any, scratch: Any, lines: Any, slots: Any
) -> None:
    """Write the values of rows x with the points of the pieces from `first` to before `last`."""
    width = pieces.shape[2]
    for piece in range(first, last):
        start = piece * width
        write_gaussians(rows, left, pieces[piece], right[start : start + width], scratch, lines, slots, start)


def warm() -> None:
    """Compile the loops of this module."""
    one, slots = given(np.ones(1, np.float32)), given(np.zeros(1, np.int64))
    raise_gaussians(given(np.ones((1, 1), np.float32)), one, one, np.empty((1, 1), np.float32), slots, 0)
    rows, columns = given(np.ones((1, 4), np.float32)), given(np.ones((4, 1), np.float32))
    scratch = np.empty((4, 1), np.float32)
    pieces = given(columns[None])
    write_pieces(rows, one, pieces, 0, 1, one, scratch, np.empty((1, 1), np.float32), slots)
