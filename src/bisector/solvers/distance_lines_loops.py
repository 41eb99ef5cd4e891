"""Compiled steps of distance lines: is a matrix its own mirror image?"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def strip_is_mirrored(matrix: Any, first: int, stop: int) -> bool:
    """Tell whether rows of a square matrix equal its columns, from the diagonal on."""
    for left in range(first, len(matrix), 16):
        differ = 0
        for i in range(first, stop):
            for j in range(left, min(left + 16, len(matrix))):
                differ += matrix[i, j] != matrix[j, i]
        if differ:
            return False
    return True


def warm() -> None:
    """Compile the loops of this module."""
    for dtype in (np.float32, np.float64):
        strip_is_mirrored(given(np.ones((1, 1), dtype)), 0, 1)
