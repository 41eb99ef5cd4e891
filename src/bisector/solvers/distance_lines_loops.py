"""Compiled steps of distance lines: is a matrix its own mirror image?"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

# Squares of so many rows and columns are compared at a time: both come in whole cache lines, few enough to stay.
_SQUARE = 16


@loop
def strip_is_mirrored(matrix: Any, first: int, stop: int) -> bool:
    """Tell whether rows of a square matrix equal its columns, from the diagonal on."""
    n = len(matrix)
    for top in range(first, stop, _SQUARE):
        bottom = min(top + _SQUARE, stop)
        for left in range(top, n, _SQUARE):
            square = matrix[top:bottom, left : min(left + _SQUARE, n)]
            differ = 0
            for j in range(square.shape[1]):
                line = matrix[left + j, top:bottom]
                for i in range(len(line)):
                    differ += line[i] != square[i, j]
            if differ:
                return False
    return True


def warm() -> None:
    """Compile the loops of this module."""
    for dtype in (np.float32, np.float64):
        strip_is_mirrored(given(np.ones((1, 1), dtype)), 0, 1)
