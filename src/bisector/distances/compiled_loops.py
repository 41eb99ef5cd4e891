"""The compiled tile of a user's own function.

Like every loop that meets a type from outside this package, it is compiled for each function anew, in memory only.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import loop
from bisector.engine.user_functions import value_of_pair


@loop
def fill_rows_tile(
    function: Any, outer: Any, outer_from: int, inner: Any, inner_from: int, flipped: bool,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> int:  # fmt: skip
    """Write a function of outer and inner rows into a rectangle of `out`; count the values that are no distance."""
    values = np.empty(n_columns)
    n_bad = 0
    for i in range(n_rows):
        if flipped:
            for b in range(n_columns):
                values[b] = value_of_pair(function, inner, inner_from + b, outer, outer_from + i)
        else:
            for b in range(n_columns):
                values[b] = value_of_pair(function, outer, outer_from + i, inner, inner_from + b)
        for b in range(n_columns):
            n_bad += 0 if values[b] >= 0.0 else 1  # NaN is not
            out[row + i, column + b] = values[b]
    return n_bad


def warm() -> None:
    """Do nothing: what meets a user's function is never kept, so there is nothing to compile beforehand."""
