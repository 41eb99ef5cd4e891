"""Compiled steps of distance lines: is a matrix its own mirror image?"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

# Squares of so many rows and columns are compared at a time: both then come in whole cache lines, and stay.
_SQUARE = 64


@loop
def strip_is_mirrored(matrix: Any, first: int, stop: int) -> bool:
    """Tell whether rows of a square matrix equal its columns, from the diagonal on."""
    n = len(matrix)
    strip = matrix[first:stop]
    for left in range(first, n, _SQUARE):
        square = strip[:, left : min(left + _SQUARE, n)]
        differ = 0
        for j in range(square.shape[1]):
            line = matrix[left + j, first:stop]
            for i in range(len(line)):
                differ += line[i] != square[i, j]
        if differ:
            return False
    return True


def warm() -> None:
    """Compile the loops of this module."""
    for dtype in (np.float32, np.float64):
        strip_is_mirrored(given(np.ones((1, 1), dtype)), 0, 1)
