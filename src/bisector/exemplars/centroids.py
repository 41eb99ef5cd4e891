"""Centroids: the points of the space that are nearest to all rows."""

import warnings
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from bisector.engine.memory import require
from bisector.engine.validation import check_number
from bisector.exemplars.averages import mean_of
from bisector.exemplars.rows import Floats, numbers
from bisector.exemplars.total_distance import GeometricMedian, geometric_median_of, weighted_medians


def mean(X: Any, sample_weight: ArrayLike | None = None) -> Floats:
    """Return the arithmetic mean: the point with the least total squared Euclidean distance to the rows.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.

    Returns
    -------
    ndarray of shape (n_features,)
        In float64, whatever the dtype of X.

    Examples
    --------
    >>> from bisector.exemplars import mean
    >>> mean([[5, 0], [3, 5], [1, 7]])
    array([3., 4.])
    """
    rows, weights = numbers(X, sample_weight)
    return mean_of(rows, weights)


def coordinate_median(X: Any, sample_weight: ArrayLike | None = None) -> Floats:
    """Return the median of each column: the point with the least total Manhattan distance to the rows.

    Where half of the weight lies on either side, any value between the two middle ones is as good; it is the middle
    between them, as with NumPy.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.

    Returns
    -------
    ndarray of shape (n_features,)
        In float64.

    Examples
    --------
    >>> from bisector.exemplars import coordinate_median
    >>> coordinate_median([[5, 0], [3, 5], [1, 7]])
    array([3., 5.])
    >>> coordinate_median([[1], [2], [10]], sample_weight=[1, 1, 2])
    array([6.])
    """
    rows, weights = numbers(X, sample_weight)
    return weighted_medians(rows.values, weights)


def geometric_median(X: Any, sample_weight: ArrayLike | None = None, *, tol: float = 1e-12) -> Floats:
    """Return the point with the least total Euclidean distance to the rows.

    It is less moved by outliers than the mean. It may be one of the rows. When all rows are on a line, it is
    the median on that line, and the middle between the two middle rows where everything between them is as good.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.
    tol : float, default=1e-12
        By what share the total distance may exceed the least possible one; this is proven, see
        `certified_geometric_median`.

    Returns
    -------
    ndarray of shape (n_features,)
        In float64.

    Examples
    --------
    The angles at the rows of a triangle decide: where one has 120° or more, the row itself is the answer.

    >>> from bisector.exemplars import geometric_median
    >>> geometric_median([[0, 0], [4, 1], [-4, 1]])
    array([0., 0.])
    >>> geometric_median([[0, 0], [0, 2], [2, 0], [2, 2]])
    array([1., 1.])
    """
    found = certified_geometric_median(X, sample_weight, tol=tol)
    if not found.converged:
        warnings.warn(
            f"The total distance of this geometric median may exceed the least one by a share of "
            f"{found.gap / found.total:.1e}, more than tol={tol:g}: rounding allows no better here.",
            RuntimeWarning,
            stacklevel=2,
        )
    return found.point


def certified_geometric_median(
    X: Any, sample_weight: ArrayLike | None = None, *, tol: float = 1e-12
) -> GeometricMedian:
    """Return the geometric median with its total distance, and the proof that none is lower by more than a gap.

    Parameters
    ----------
    X, sample_weight, tol
        As for `geometric_median`.

    Returns
    -------
    GeometricMedian
        `point`, `total`, `gap`, `iterations`, `converged`.

    Examples
    --------
    >>> from bisector.exemplars import certified_geometric_median
    >>> found = certified_geometric_median([[0, 0], [0, 2], [2, 0], [2, 2], [1, 1], [9, 9]])
    >>> found.point, found.converged
    (array([1., 1.]), True)
    >>> found.gap <= 1e-12 * found.total
    True
    """
    tol = check_number("tol", tol, above=0)
    rows, weights = numbers(X, sample_weight)
    n, d = len(rows), rows.n_features
    require(
        3 * 8 * n * d,
        doing=f"The geometric median of {n:,} × {d:,} numbers",
        holding="the differences of all rows from a point",
        instead="use a sample of the rows",
    )
    return geometric_median_of(rows.dense(range(n)), weights, tol)


# By the names under which distances and estimators know them.
CENTROIDS: dict[str, Callable[..., Floats]] = {
    "mean": mean,
    "coordinate-median": coordinate_median,
    "geometric-median": geometric_median,
}
