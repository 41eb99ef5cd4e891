"""The door: rows and weights, checked once."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.engine.validation import check_weights

Floats = NDArray[np.float64]


def prepared(X: Any, metric: Any, *, squared: bool = False) -> tuple[Distance, Rows]:
    """Return the distance that a parameter means, and the rows as it compares them."""
    from bisector.distances.names import resolve

    distance = resolve(metric).learned(X)
    if squared and getattr(distance, "squared", None) is False:
        distance = distance.set_params(squared=True)
    rows = distance.prepare(X)
    if not len(rows):
        raise ValueError("X has no rows.")
    return distance, rows


def numbers(
    X: Any, sample_weight: ArrayLike | None, *, keep_all: bool = False
) -> tuple[NumericRows, Floats | None]:
    """Check rows of numbers and their weights; rows without weight are left out unless all are to be kept."""
    rows = numeric_rows(X, None, "X")
    if not len(rows):
        raise ValueError("X has no rows.")
    weights = check_weights(sample_weight, len(rows))
    if weights is None or keep_all or weights.all():
        return rows, weights
    counted = np.flatnonzero(weights)
    return rows.take(counted), weights[counted]
