"""The compiled tile of mixed rows from which values are left out."""

from typing import Any

import numpy as np

from bisector.distances.tile_loops import fill_tile, stand_columnwise
from bisector.engine.loops import given, loop


@loop
def fill_shared_tile(
    weights: Any, asymmetric: Any, outer: Any, outer_from: int, inner: Any, inner_from: int,
    out: Any, row: int, column: int, n_rows: int, n_columns: int,
) -> None:  # fmt: skip
    """Write the mean differences of outer and inner rows, over the columns that count, into a rectangle of `out`.

    A column counts if both rows have a value there, an asymmetric one if besides one of the values is not 0. Rows
    that have nothing but zeros in common are at distance 0, those that have nothing in common infinitely far apart.
    """
    n_features = inner.shape[1]
    columns = np.empty((n_features, n_columns))
    stand_columnwise(inner, inner_from, columns)
    totals = np.empty(n_columns)
    counted = np.empty(n_columns)
    absent = np.empty(n_columns)
    for i in range(n_rows):
        totals[:] = 0.0
        counted[:] = 0.0
        absent[:] = 0.0
        for j in range(n_features):
            x, weight = outer[outer_from + i, j], weights[j]
            if asymmetric[j] and x == 0.0:
                for b in range(n_columns):
                    y = columns[j, b]
                    added = weight if y > 0.0 else 0.0
                    totals[b] += added
                    counted[b] += added
                    absent[b] += 1.0 if y == 0.0 else 0.0
            else:
                for b in range(n_columns):
                    gap = abs(x - columns[j, b])
                    share = gap if gap < 1.0 else 1.0
                    totals[b] += weight * share if gap == gap else 0.0  # NaN where a value is missing
                    counted[b] += weight if gap == gap else 0.0
        for b in range(n_columns):
            if counted[b] > 0.0:
                out[row + i, column + b] = totals[b] / counted[b]
            else:
                out[row + i, column + b] = 0.0 if absent[b] > 0.0 else np.inf


def warm() -> None:
    """Compile the loops that mixed rows run in."""
    from bisector.distances.mixed_rows import ClippedTerms
    from bisector.distances.terms import WeightedTerms

    one, values = given(np.ones(1)), given(np.ones((1, 1)))
    place = (np.empty((1, 1)), 0, 0, 1, 1)
    fill_shared_tile(one, given(np.zeros(1, np.bool_)), values, 0, values, 0, *place)
    fill_tile(WeightedTerms(ClippedTerms(1.0), one), values, 0, values, 0, True, *place)
