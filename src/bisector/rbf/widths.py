"""How wide bumps are: a number, a rule, the way to a neighbour, or the best of many."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import cut, nearest
from bisector.engine.validation import check_choice, check_count, check_finite
from bisector.exemplars.covering import cover

Floats = NDArray[np.float64]

RULES = ("rule", "neighbor", "cv")
# Widths that are tried around that of the rule, each 2^(1/4) times the one before: from a 13th of it to 13 times.
_TRIED, _STEP = 31, 2**0.25


@dataclass(frozen=True)
class Choice:
    """Widths to choose from.

    Attributes
    ----------
    widths : ndarray of shape (n_widths, 1) or (1, n_rows)
        Ascending; one for all rows, or one for each.
    open : bool
        Whether the best has yet to be found.
    """

    widths: Floats
    open: bool


def find_widths(
    width: Any,
    grid: ArrayLike | None,
    n_neighbors: Any,
    distance: Distance,
    rows: Rows,
    weights: Floats,
    n_jobs: int | None,
) -> Choice:
    """Turn the parameters of an estimator into widths."""
    if isinstance(width, str):
        check_choice("width", width, RULES)
        if width == "neighbor":
            return Choice(_ways_to_neighbor(n_neighbors, distance, rows, n_jobs)[None, :], False)
        if width == "cv" and grid is not None:
            return Choice(_checked_grid(grid)[:, None], True)
        middle = width_by_rule(rows, weights)
        if width == "rule":
            return Choice(np.array([[middle]]), False)
        steps = np.arange(_TRIED) - _TRIED // 2
        return Choice(middle * _STEP ** steps.astype(np.float64)[:, None], True)
    return Choice(np.array([[check_finite("width", width, above=0)]]), False)


def width_by_rule(rows: Rows, weights: Floats) -> float:
    """Return N^(−1/(2d)) in units of the data: times the root mean square of the features' standard deviations.

    Rows count by their weights. For distances that move rows first (Mahalanobis, cosine), these are the moved rows.
    """
    values: Any = getattr(rows, "values", None)
    if getattr(values, "ndim", 0) != 2:
        raise ValueError(
            "The rule for the width needs rows of numbers: give width as a number, width='neighbor', or width='cv' "
            "with a grid of widths."
        )
    share, d = weights / weights.sum(), values.shape[1]
    if hasattr(values, "tocsr"):
        squares = np.asarray(values.multiply(values).T @ share).ravel()
        spread = np.maximum(squares - np.asarray(values.T @ share).ravel() ** 2, 0.0)
    else:
        spread = share @ (values - share @ values) ** 2
    return float(weights.sum() ** (-1 / (2 * d)) * (math.sqrt(float(np.nanmean(spread))) or 1.0))


def _checked_grid(grid: ArrayLike) -> Floats:
    widths = np.unique(np.asarray(grid, dtype=np.float64).ravel())
    if not widths.size:
        raise ValueError("widths is empty: give the widths to choose from, or None.")
    for number in widths.tolist():
        check_finite("widths", number, above=0)
    return widths


def _ways_to_neighbor(k: Any, distance: Distance, rows: Rows, n_jobs: int | None) -> Floats:
    """Return the distance of every row to its k-th neighbour; where that is zero, the least that is not."""
    count = check_count("n_neighbors", k)
    if count >= len(rows):
        raise ValueError(
            f"n_neighbors is {count}, but each of {len(rows)} rows has only {len(rows) - 1} others: ask for fewer."
        )
    # The row itself, or one equal to it, is the first.
    ways = nearest(distance, rows, rows, count + 1, n_jobs=n_jobs)[0][:, -1]
    positive = ways[(ways > 0) & np.isfinite(ways)]
    if not positive.size:
        raise ValueError("All rows are equal, which leaves their bumps no width: give width as a number.")
    return np.where((ways > 0) & np.isfinite(ways), ways, positive.min())


# Up to so many rows the diameter is the largest of all distances.
_FEW_ROWS = 4096


def diameter(distance: Distance, rows: Rows, *, n_jobs: int | None = None) -> float:
    """Return the largest distance between two rows; of many rows, nearly.

    Of more than 4,096 rows it is the longest step of a walk that goes to the farthest row until steps no longer
    grow: at least the diameter over √3 in Euclidean space, or half of it under another metric, and mostly the
    diameter.

    Examples
    --------
    >>> from bisector.distances import Euclidean
    >>> from bisector.rbf.widths import diameter
    >>> diameter(Euclidean(), Euclidean().prepare([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]]))
    5.0
    """
    if len(rows) <= _FEW_ROWS:
        pairs = distance.between(rows, rows)
        tile = np.empty((min(256, len(rows)), len(rows)))
        largest = 0.0
        for part in cut(len(rows), 256):
            pairs.fill(part, range(len(rows)), tile)
            largest = max(largest, float(tile[: len(part)].max()))
        return float(pairs.finish(np.array([largest]))[0])
    at, longest = 0, -1.0
    while True:
        found = cover(distance, rows, 1, at, n_jobs=n_jobs)
        if not found.radius > longest:
            return longest
        at, longest = int(found.distances.argmax()), found.radius


def network_widths(
    width: Any, distance: Distance, rows: Rows, centres: Rows, *, n_jobs: int | None = None
) -> Floats:
    """Return the width of all bumps of a network, or one for each.

    "auto" is R/k^(1/d), R the diameter of the rows: k balls of that radius have together the volume of one around
    all rows. "own" is the distance of each centre to the nearest other one.
    """
    if not isinstance(width, str):
        return np.array([check_finite("width", width, above=0)])
    check_choice("width", width, ("auto", "own"))
    if width == "own" and len(centres) > 1:
        ways = nearest(distance, centres, centres, 2, n_jobs=n_jobs)[0][:, 1]
        if not (ways > 0).all():
            raise ValueError(
                "Two centres are equal, which leaves their bumps no width: give width as a number."
            )
        return ways
    values: Any = getattr(rows, "values", None)
    if getattr(values, "ndim", 0) != 2:
        raise ValueError("width='auto' needs rows of numbers: give width as a number, or width='own'.")
    R = diameter(distance, rows, n_jobs=n_jobs)
    return np.array([(R or 1.0) / len(centres) ** (1 / values.shape[1])])
