"""Lower bounds on the total distance of every row to all rows, for formulas about which more is known.

Each function takes a formula, the rows it holds for and their weights, and returns a bound for each row, its
rounding errors taken off; or None where it knows none. `BOUNDS` tells which function is for which formula.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bisector.distances import terms
from bisector.exemplars.rows import Floats
from bisector.exemplars.total_distance import TotalDistance, weighted_medians

_EPS = float(np.finfo(np.float64).eps)
# How far from the geometric median its rise is measured, in units of the distance of the best row near it.
_RADII = (1.15, 1.0, 1.35, 0.9, 1.7, 2.5)


def from_mean(formula: terms.KeptSquares, values: Any, weights: Floats) -> Floats:
    """Σⱼ wⱼ‖x − xⱼ‖² = W‖x − μ‖² + Σⱼ wⱼ‖xⱼ − μ‖²: the central row is the one nearest to the mean."""
    n, d = values.shape
    weight = float(weights.sum())
    sparse = hasattr(values, "tocsr")
    if sparse:
        squares = np.asarray(values.multiply(values).sum(axis=1), dtype=np.float64).ravel()
    else:
        values = values - (weights / weight) @ values.astype(np.float64)
        squares = np.einsum("ij,ij->i", values, values)
    mean = np.asarray(values.T @ (weights / weight)).ravel()
    offset = float(mean @ mean)
    from_mean = squares - 2 * np.asarray(values @ mean).ravel() + offset
    spread = float(weights @ np.maximum(from_mean, 0.0))
    error = (8 * n + 8 * d + 64) * _EPS * (weight * (squares + offset) + weights @ (squares + offset))
    return np.maximum(formula.scale * (weight * from_mean + spread - error), 0.0)


def from_sorted_columns(formula: terms.AbsoluteTerms, values: Any, weights: Floats) -> Floats | None:
    """Σⱼ wⱼ|t − xⱼ| of one column, for all t at once: sort, and add up from below."""
    if hasattr(values, "tocsr"):
        return None
    n = len(values)
    weight = float(weights.sum())
    totals, sizes = np.zeros(n), np.zeros(n)
    for median, column in zip(weighted_medians(values, None), values.T, strict=True):
        order = np.argsort(column, kind="stable")
        sorted_weights = weights[order]
        steps = column[order].astype(np.float64) - median
        below = np.cumsum(sorted_weights)
        way = np.cumsum(sorted_weights * steps)
        sums = steps * (2 * below - weight) + (way[-1] - 2 * way)
        totals[order] += sums
        sizes[order] += weight * np.abs(steps) + float(sorted_weights @ np.abs(steps))
    return np.maximum(totals - (8 * n + 64) * _EPS * sizes, 0.0)


def from_counts(formula: terms.DifferingTerms, values: Any, weights: Floats) -> Floats | None:
    """The weight of the rows that differ in a column is all weight but that of the rows that do not."""
    if hasattr(values, "tocsr"):
        return None
    totals = np.full(len(values), values.shape[1] * float(weights.sum()))
    for column in values.T:
        _, kinds = np.unique(column, return_inverse=True)
        totals -= np.bincount(kinds, weights)[kinds]
    error = 8 * len(values) * _EPS * values.shape[1] * float(weights.sum())
    return np.maximum(totals - error, 0.0) / formula.whole


def rise_from_median(formula: terms.SquaredTerms, values: Any, weights: Floats) -> Floats | None:
    """Bound totals of Euclidean distances by how they rise from a point y near the geometric median.

    Going ρ from y in the direction e, the distance to a row at distance r in the direction u becomes
    f = √(r² − 2ra + ρ²), where a = ρ(u·e). That is r − a + (ρ² − a²)/D with D = f + r − a. As a function of a,
    1/D is convex, so it is at least (1 + a/s)/(r + s) with s = √(r² + ρ²); and a(ρ² − a²) ≥ ρ²a/4 − ρ³/4. The
    sum over all rows of what this gives is linear and quadratic in e. Beyond ρ a convex function rises at least
    in proportion.
    """
    if hasattr(values, "tocsr"):
        return None
    n = len(values)
    origin = weighted_medians(values, None)
    total = TotalDistance(values - origin, weights / weights.sum())
    view, _ = total.least(np.zeros(len(origin)), 1e-4)
    r, at_median = view.lengths, view.total
    units = np.divide(view.differences, r[:, None], out=np.zeros_like(view.differences), where=r[:, None] > 0)
    if not r.any():
        return None
    nearest = np.argsort(r)[:8]
    reached, closest = min((total.seen_from(total.values[row]).total, float(r[row])) for row in nearest)
    closest = closest or float(
        r[r > 0].min()
    )  # the median is a row: the next ones are what is to be ruled out
    pull = total.weights @ units
    bounds = np.zeros(n)
    for rho in closest * np.array(_RADII):
        left = np.flatnonzero((bounds <= reached) & (r >= rho))
        if not len(left):
            continue
        s = np.sqrt(r * r + rho * rho)
        per_way = total.weights / (r + s)
        constant = float(per_way @ (rho * rho - rho**3 / (4 * s)))
        linear = (per_way * rho**3 / (4 * s)) @ units - rho * pull
        quadratic = rho * rho * (units.T * per_way) @ units
        directions = units[left]
        rise = constant + directions @ linear - np.einsum("ij,ij->i", directions @ quadratic, directions)
        bounds[left] = np.maximum(bounds[left], at_median + r[left] / rho * rise)
    error = (8 * n + 64) * _EPS * (at_median + r)
    return np.maximum(bounds - error, 0.0) * float(weights.sum())


BOUNDS: dict[type, Callable[[Any, Any, Floats], Floats | None]] = {
    terms.KeptSquares: from_mean,
    terms.AbsoluteTerms: from_sorted_columns,
    terms.DifferingTerms: from_counts,
    terms.SquaredTerms: rise_from_median,
}
