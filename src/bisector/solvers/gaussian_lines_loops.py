"""Compiled step of the Gaussian kernel in single precision: from dot products to kernel values, in one go."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

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
def raise_gaussians(products: Any, left: Any, right: Any, lines: Any, slots: Any, column: int) -> None:
    """Write exp(p − l − r) for every product p, with l and r of its row and column, into the slots of its row."""
    n_rows, n_columns = products.shape
    for i in range(n_rows):
        own, found = left[i], products[i]
        line = lines[slots[i], column : column + n_columns]
        for b in range(n_columns):
            x = found[b] - own - right[b]
            x = x if x < _ZERO else _ZERO
            x = x if x > _LOWEST else _LOWEST
            rounded = x * _LOG2_E + _ROUNDING
            n = rounded - _ROUNDING
            r = x - n * _LN2
            r = r - n * _LN2_REST
            q = (((_C4 * r + _C3) * r + _C2) * r + _C1) * r + _C0
            power = np.int32(np.float32(rounded).view(np.int32) << _SHIFT).view(np.float32)
            line[b] = (r * r * q + r + _ONE) * power


def warm() -> None:
    """Compile the loop of this module."""
    one, slots = given(np.ones(1, np.float32)), given(np.zeros(1, np.int64))
    raise_gaussians(given(np.ones((1, 1), np.float32)), one, one, np.empty((1, 1), np.float32), slots, 0)
