"""The medoid: the row that is nearest to all rows."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bisector.engine.validation import check_flag, check_weights
from bisector.exemplars.central_row import central_row
from bisector.exemplars.rows import prepared


def medoid(
    X: Any,
    metric: Any = "euclidean",
    *,
    squared: bool = False,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> int:
    """Return the number of the row with the least total distance to all rows.

    The answer is exact, and among equal totals the smaller number wins. Most pairs of rows need not be compared:
    for squared Euclidean distance, 1 − cos, Manhattan and Hamming distance a few passes over the rows suffice, and
    for Euclidean and Mahalanobis distance too unless there are very many dimensions; under other metrics rows are
    ruled out by the triangle inequality where that is possible, and otherwise all pairs are compared.

    Parameters
    ----------
    X : rows
        What the distance compares: a matrix, a frame, strings, sets.
    metric : str, Distance or callable, default="euclidean"
        A name, a distance, or a function of two rows.
    squared : bool, default=False
        Sum the squares of the distances; a distance that is squared already is summed as it is.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.
    n_jobs : int, optional
        On how many threads; by default all cores allowed here.

    Returns
    -------
    int
        The position of the row, from 0.

    Examples
    --------
    An outlier pulls on the sum of squares:

    >>> from bisector.exemplars import medoid
    >>> X = [[0, 0], [1, 0], [2, 0], [3, 0], [20, 0]]
    >>> medoid(X), medoid(X, squared=True)
    (2, 3)
    """
    squared = check_flag("squared", squared)
    distance, rows = prepared(X, metric, squared=squared)
    weights = check_weights(sample_weight, len(rows))
    counted = np.arange(len(rows))
    if weights is not None:
        counted = np.flatnonzero(weights)
        rows, weights = rows.take(counted), weights[counted]
    squared = squared and not getattr(
        distance, "squared", False
    )  # what leaves out its root is squared already
    return int(counted[central_row(distance, rows, weights, squared=squared, n_jobs=n_jobs)])
