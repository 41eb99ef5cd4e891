"""Where the total distance to given rows is least, among all points of the space.

For Manhattan distance every coordinate is a problem of its own, and its weighted median solves it. For Euclidean
distance the point is the **geometric median**, for which there is no formula:

    minimise F(y) = Σ wᵢ‖xᵢ − y‖  over all points y.

*Method.* F is convex but has a kink at every row, where Newton's method and Weiszfeld's fail. So Newton steps
are made on the smooth function Σ wᵢ√(‖xᵢ − y‖² + μ²) while μ shrinks, and the row nearest to the current point is
tried as the answer whenever it is a new one.

*Certificate.* For vectors vᵢ no longer than 1 with Σ wᵢvᵢ = 0, F(z) ≥ Σ wᵢ vᵢ·(xᵢ − z) = Σ wᵢ vᵢ·xᵢ at every
point z: a bound on what any point can reach. The vectors (xᵢ − y)/√(‖xᵢ − y‖² + μ²) are of that kind but for
their mean, which is small near the minimum; moved by it, and shortened until none is longer than 1, they give
the `gap` between F(y) and the bound. At a row of weight w the vector of the row itself is free, which is the
condition that the pull of the others be at most w.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.threads import one_blas_thread

Floats = NDArray[np.float64]

_MOST_STEPS = 100
# Smoothing at the start, as a share of the mean distance, and the factor by which it shrinks.
_FIRST_SMOOTHING, _SHRINKING = 0.1, 0.01
# Up to so many features the matrix of Newton's step is factorised; beyond, conjugate gradients need only products.
_FACTORISED = 256
# A block of columns is turned and sorted at a time, of about so many numbers.
_SORTED_AT_ONCE = 2**21


@dataclass(frozen=True)
class GeometricMedian:
    """The point with the least total Euclidean distance to given rows, and the proof of it.

    Attributes
    ----------
    point : ndarray of shape (n_features,)
    total : float
        The weighted sum of its distances to the rows.
    gap : float
        No point has a total below ``total - gap``, but for rounding.
    iterations : int
        How many Newton steps were made.
    converged : bool
        Whether `gap` is at most the tolerance asked for, times `total`.
    """

    point: Floats
    total: float
    gap: float
    iterations: int
    converged: bool


def weighted_medians(values: Any, weights: Floats | None) -> Floats:
    """Return the median of each column of an array or CSR matrix.

    An integer weight counts as so many equal rows. Where half of the weight is on either side of a gap, the median
    is the gap's middle; which weights make exactly a half is decided without rounding.
    """
    n, d = values.shape
    columns = values.tocsc() if hasattr(values, "tocsr") else values
    medians = np.empty(d)
    width = max(1, _SORTED_AT_ONCE // n)
    for first in range(0, d, width):
        block = columns[:, first : first + width]
        block = (block.toarray() if hasattr(block, "tocsr") else block).astype(np.float64)
        if weights is None:
            medians[first : first + width] = _medians(block)
        else:
            medians[first : first + width] = [_weighted_median(column, weights) for column in block.T]
    return medians


def _medians(block: Floats) -> Floats:
    middle = (len(block) - 1) // 2, len(block) // 2
    low, high = np.partition(block, middle, axis=0)[list(middle)]
    return 0.5 * low + 0.5 * high


def _weighted_median(column: Floats, weights: Floats) -> float:
    order = np.argsort(column, kind="stable")
    column, weights = column[order], weights[order]
    sums = np.cumsum(weights)
    # Rounded sums may err by so much: between these places the exact comparison decides.
    doubt = 4 * len(weights) * np.finfo(np.float64).eps * sums[-1]
    start, stop = map(int, np.searchsorted(sums, [0.5 * sums[-1] - doubt, 0.5 * sums[-1] + doubt]))
    low = _first_beyond_half(weights, start, stop, -1)
    high = _first_beyond_half(weights, low, stop, 0)
    return float(0.5 * column[low] + 0.5 * column[high])


def _first_beyond_half(weights: Floats, start: int, stop: int, balance: int) -> int:
    """Return the first place up to which the weights outweigh the rest; with ``balance=-1``, or are as heavy."""
    stop = min(stop, len(weights) - 1)
    while start < stop:
        place = (start + stop) // 2
        # The sum is rounded once, at its end, so its sign is exact.
        difference = math.fsum([*weights[: place + 1].tolist(), *(-weights[place + 1 :]).tolist()])
        if np.sign(difference) > balance:
            stop = place
        else:
            start = place + 1
    return start


@dataclass(frozen=True)
class View:
    """The rows as seen from a point, with what follows for the total distance there.

    Attributes
    ----------
    point : ndarray of shape (n_features,)
    differences, lengths : ndarray
        From the point to each row.
    smoothed : ndarray
        √(length² + μ²).
    per_length : ndarray
        The weight of each row over its smoothed length; 0 for a row at the point itself.
    pull : ndarray of shape (n_features,)
        Σ wᵢvᵢ, where vᵢ is the difference over the smoothed length: the direction of steepest descent.
    total, smooth_total : float
        Σ of the weighted lengths, as they are and smoothed.
    shortfall : float
        The part of `gap` that is due to smoothing.
    gap : float
        How much lower the total could be at another point, at most.
    """

    point: Floats
    differences: Floats
    lengths: Floats
    smoothed: Floats
    per_length: Floats
    pull: Floats
    total: float
    smooth_total: float
    shortfall: float
    gap: float


class TotalDistance:
    """F(y) = Σ wᵢ‖xᵢ − y‖ for weights that sum to one."""

    def __init__(self, values: Floats, weights: Floats) -> None:
        self.values, self.weights = values, weights

    def seen_from(self, point: Floats, smoothing: float = 0.0) -> View:
        """Look at the rows from a point."""
        weights = self.weights
        differences = self.values - point
        squares = np.einsum("ij,ij->i", differences, differences)
        lengths = np.sqrt(squares)
        smoothed = np.sqrt(squares + smoothing * smoothing) if smoothing else lengths
        here = smoothed == 0.0
        per_length = np.divide(weights, smoothed, out=np.zeros(len(weights)), where=~here)
        pull = per_length @ differences
        total = float(weights @ lengths)
        # r − r²/ρ without cancellation
        shortfall = float(per_length @ (lengths * smoothing * (smoothing / (smoothed + lengths + here))))
        # Rows at the point pull back as strongly as they must, and can.
        strength = float(np.linalg.norm(pull))
        held = float(weights[here].sum())
        mean = pull * (max(0.0, 1.0 - held / strength) if strength else 0.0)
        excess = float(np.linalg.norm(mean))
        unfeasible = excess * (total - shortfall) + float(mean @ (weights @ differences))
        gap = max(0.0, shortfall + unfeasible / (1.0 + excess))
        smooth_total = float(weights @ smoothed)
        return View(
            point, differences, lengths, smoothed, per_length, pull, total, smooth_total, shortfall, gap
        )

    def least(self, start: Floats, tol: float) -> tuple[View, int]:
        """Descend until the gap is at most `tol` of the total; return the last view and the number of steps."""
        view = self.seen_from(start)
        best = view
        smoothing = _FIRST_SMOOTHING * view.total
        tried: set[int] = set()
        steps = 0
        while best.gap > tol * best.total and steps < _MOST_STEPS:
            if not steps:
                view = self.seen_from(start, smoothing)
            nearest = int(np.argmin(view.lengths))
            if nearest not in tried:
                tried.add(nearest)
                at_row = self.seen_from(self.values[nearest])
                best = min(best, at_row, key=lambda seen: seen.gap)
                if best.gap <= tol * best.total:
                    break
            if view.gap - view.shortfall <= view.shortfall:
                smoothing *= _SHRINKING
                view = self.seen_from(view.point, smoothing)
            lower = self._step(view, smoothing)
            steps += 1
            if lower is None:  # no step gets lower than rounding allows
                smoothing *= _SHRINKING
                lower = self.seen_from(view.point, smoothing)
            view = lower
            best = min(best, view, key=lambda seen: seen.gap)
        return best, steps

    def _step(self, view: View, smoothing: float) -> View | None:
        """Make a Newton step, shortened until it lowers the smoothed total, or else its slope."""
        direction = _newton_direction(view)
        descent = float(direction @ view.pull)
        if not descent > 0:
            direction = view.pull / view.per_length.sum()
            descent = float(direction @ view.pull)
        slope = np.linalg.norm(view.pull)
        length = 1.0
        while length > 1e-9:
            new = self.seen_from(view.point + length * direction, smoothing)
            if new.smooth_total <= view.smooth_total - 1e-4 * length * descent:
                return new
            # Close to the minimum the total no longer shows progress, but the slope does.
            if new.smooth_total <= view.smooth_total * (1 + 1e-14) and np.linalg.norm(new.pull) < 0.9 * slope:
                return new
            length *= 0.5 if length > 1e-3 else 0.1
        return None


def _newton_direction(view: View) -> Floats:
    """Solve (Σ w/ρ (I − vvᵀ)) p = Σ wv."""
    stiffness = float(view.per_length.sum())
    d = len(view.pull)
    bends = (
        view.differences
        * (np.sqrt(view.per_length) / np.where(view.smoothed > 0, view.smoothed, 1.0))[:, None]
    )
    if d > _FACTORISED:
        return _conjugate_gradients(bends, stiffness, view.pull)
    matrix = stiffness * np.eye(d) - bends.T @ bends
    matrix[np.diag_indices(d)] += 1e-15 * stiffness  # rows on a line leave nothing along it but rounding
    return np.asarray(np.linalg.solve(matrix, view.pull), dtype=np.float64)


def _conjugate_gradients(bends: Floats, stiffness: float, pull: Floats) -> Floats:
    """Solve (stiffness·I − bendsᵀbends) p = pull to three digits: enough for a direction."""
    found = np.zeros(len(pull))
    residual, direction = pull.copy(), pull.copy()
    square = float(residual @ residual)
    target = 1e-6 * square
    for _ in range(len(pull)):
        image = stiffness * direction - bends.T @ (bends @ direction)
        along = float(direction @ image)
        if not along > 0 or square <= target:
            break
        found += square / along * direction
        residual -= square / along * image
        previous, square = square, float(residual @ residual)
        direction = residual + square / previous * direction
    return found


def geometric_median_of(values: Any, weights: Floats | None, tol: float) -> GeometricMedian:
    """Find the point with the least total Euclidean distance to rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
        Finite, at least one row.
    weights : ndarray of shape (n_rows,) or None
        Positive.
    tol : float
        The largest gap, as a share of the total.
    """
    # Measured from the median of each column: rows far from zero lose nothing, and when all rows are on a line,
    # this is the answer already.
    origin = weighted_medians(values, weights)
    sizes = np.ones(len(values)) if weights is None else weights
    weight = float(sizes.sum())
    centred = values.astype(np.float64) - origin
    # In units in which no square overflows.
    exponent = int(np.frexp(np.abs(centred).max())[1])
    total = TotalDistance(np.ldexp(centred, -exponent), sizes / weight)
    # The products are thin: more threads would wait for each other, and change bits.
    with one_blas_thread:
        view, steps = total.least(np.zeros(len(origin)), tol)
    return GeometricMedian(
        point=origin + np.ldexp(view.point, exponent),
        total=float(np.ldexp(view.total, exponent)) * weight,
        gap=float(np.ldexp(view.gap, exponent)) * weight,
        iterations=steps,
        converged=bool(view.gap <= tol * view.total),
    )
