"""Sigmoids: the log-odds of the positive class as a line over the scores.

    log p/(1 − p) = γ (d − c) + b,

with γ the slope and b the log-odds at the score c. Found in closed form from the means and the variance of the
classes (Flach, Equation 7.13), or by maximum likelihood:

    minimise  f(γ, b) = Σ w_i [log(1 + exp z_i) − t_i z_i],   z_i = γ (d_i − c) + b,

where the targets t are 1 and 0, or a little less extreme (Platt, 1999): (P + 1)/(P + 2) for positives and
1/(N + 2) for negatives, of which there are P and N. Newton's method with a line search.

The certificate: for any q in [0, 1] with Σ w (q − t) = 0 and Σ w (q − t) d = 0, f is nowhere below Σ w H(q), with
H the entropy. Let s be the change in log-odds that Newton's next step would make at each row. If no |s| exceeds
one, q = p + p (1 − p) s is such a q, and the gap, Σ w KL(q ‖ p), is at most the decrement Σ w p (1 − p) s².
"""

from dataclasses import dataclass
from math import copysign, inf, isfinite, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.scored_rows import ScoredRows
from bisector.engine.threads import parallel

Floats = NDArray[np.float64]

# Rows that one thread takes at a time: what is made of them stays in its cache.
_BLOCK_ROWS = 2**14
# The decrement a row at which Newton's method ends; it squares what is left with every step.
_SMALL = 1e-22
# Where log-odds change by no more than this, every step of Newton's method is much shorter than the one before.
_NEAR = 0.1
_MOST_STEPS = 100


class Sigmoid(NamedTuple):
    """A line of log-odds: `slope` times the distance from the score `centre`, plus `log_odds` there.

    The slope may be infinite: then all below the centre are of one class and all above of the other.
    """

    slope: float
    centre: float
    log_odds: float

    def at(self, scores: Floats) -> Floats:
        """Return the log-odds at scores."""
        if self.slope == 0:
            return np.full(len(scores), self.log_odds)
        with np.errstate(over="ignore", invalid="ignore"):
            away = scores - self.centre
            return np.where(away == 0, self.log_odds, self.slope * away + self.log_odds)


class ClassDistances(NamedTuple):
    """What the closed form needs to know of the scores.

    Attributes
    ----------
    negative_mean, positive_mean : float
    variance : float
        Within the classes: the mean squared difference of a row from its own class's mean, σ².
    slope : float
        The difference of the means over the variance, γ; infinite if only the variance is zero.
    class_ratio : float
        The weight of the positives over that of the negatives.
    """

    negative_mean: float
    positive_mean: float
    variance: float
    slope: float
    class_ratio: float

    @property
    def middle(self) -> float:
        """Halfway between the means, d0."""
        return 0.5 * self.negative_mean + 0.5 * self.positive_mean


@dataclass(frozen=True)
class SigmoidFit:
    """A sigmoid of the largest likelihood, with its proof.

    Attributes
    ----------
    sigmoid : Sigmoid
    objective : float
        The negative log-likelihood.
    gap : float
        A bound on how far the objective is above the smallest one; infinite if there is no proof.
    iterations : int
    converged : bool
    """

    sigmoid: Sigmoid
    objective: float
    gap: float
    iterations: int
    converged: bool


def class_distances(rows: ScoredRows, *, n_jobs: int | None = None) -> ClassDistances:
    """Measure the means of the two classes and the variance within them."""
    centre, half = _middle_and_half_range(rows.scores)
    positives, negatives = rows.class_weights
    if half == 0:
        return ClassDistances(centre, centre, 0.0, 0.0, positives / negatives)
    # In units of half their range, so that no square is too large or too small for a float; and from one row of
    # each class, so that a class of equal scores has no variance, whatever its mean would be rounded to.
    ends = (rows.scores[[np.argmin(rows.positive), np.argmax(rows.positive)]] - centre) / half
    moments = _Moments((rows.scores - centre) / half, rows.positive, rows.weight, ends, n_jobs)
    shifts = moments.sums(np.zeros(2), 1) / [negatives, positives]
    variance = float(moments.sums(shifts, 2).sum()) / (positives + negatives)
    low, high = (ends + shifts).tolist()
    if variance > 0 or low == high:
        slope = (high - low) / variance / half if variance > 0 else 0.0
    else:
        slope = copysign(inf, high - low)
    return ClassDistances(
        centre + half * low, centre + half * high, variance * half * half, slope, positives / negatives
    )


class _Moments(NamedTuple):
    """Rows whose deviations from given origins, one for each class, are to be summed."""

    units: Floats
    positive: NDArray[np.bool_]
    weight: Floats | None
    origins: Floats
    n_jobs: int | None

    def sums(self, shifts: Floats, power: int) -> Floats:
        """Sum the deviations, less a shift, to a power, in the negative and in the positive class."""

        def block_sums(rows: slice) -> Floats:
            of_row = self.positive[rows].astype(np.int64)
            deviations = self.units[rows] - self.origins[of_row] - shifts[of_row]
            terms = deviations if power == 1 else deviations * deviations
            if self.weight is not None:
                terms = terms * self.weight[rows]
            return np.bincount(of_row, terms, minlength=2).astype(np.float64, copy=False)

        total: Floats = np.sum(parallel(block_sums, _blocks(len(self.units)), n_jobs=self.n_jobs), axis=0)
        return total


def _blocks(n_rows: int) -> list[slice]:
    return [slice(first, first + _BLOCK_ROWS) for first in range(0, n_rows, _BLOCK_ROWS)]


def likelihood_sigmoid(rows: ScoredRows, *, smoothing: bool = True, n_jobs: int | None = None) -> SigmoidFit:
    """Find the sigmoid of the largest likelihood.

    Without smoothing, scores that separate the classes have no best finite slope. The limit is returned instead: an
    infinite slope in the middle of what lies between the classes, or at the one score at which they meet.

    Parameters
    ----------
    rows : ScoredRows
    smoothing : bool, default=True
        Whether targets are less extreme than 0 and 1.
    n_jobs : int, optional

    Returns
    -------
    SigmoidFit
    """
    centre, half = _middle_and_half_range(rows.scores)
    positives, negatives = rows.class_weights
    if not smoothing and half > 0 and (limit := _separating(rows)) is not None:
        return limit
    low, high = (1 / (negatives + 2), (positives + 1) / (positives + 2)) if smoothing else (0.0, 1.0)
    targets = np.where(rows.positive, high, low)
    expected = (positives * high + negatives * low) / (positives + negatives)
    start = np.array([0.0, log(expected) - log(1 - expected)])
    if half == 0:
        objective = _Likelihood(np.zeros(len(targets)), targets, rows.weight, n_jobs).at(start).value
        return SigmoidFit(Sigmoid(0.0, centre, float(start[1])), objective, 0.0, 0, True)
    likelihood = _Likelihood((rows.scores - centre) / half, targets, rows.weight, n_jobs)
    point, decrement, steps, converged = _minimise(likelihood, start, positives + negatives)
    sigmoid = Sigmoid(float(point.parameters[0]) / half, centre, float(point.parameters[1]))
    return SigmoidFit(sigmoid, point.value, decrement, steps, converged)


def _middle_and_half_range(scores: Floats) -> tuple[float, float]:
    low, high = float(scores.min()), float(scores.max())
    return 0.5 * low + 0.5 * high, 0.5 * high - 0.5 * low


def _separating(rows: ScoredRows) -> SigmoidFit | None:
    """Return the limit of steeper and steeper sigmoids, if the likelihood has no largest value."""
    above, below, sign = rows.scores[rows.positive], rows.scores[~rows.positive], 1.0
    if below.min() >= above.max():
        above, below, sign = below, above, -1.0
    lowest, highest = float(above.min()), float(below.max())
    if lowest < highest:
        return None
    if lowest > highest:
        return SigmoidFit(Sigmoid(sign * inf, 0.5 * lowest + 0.5 * highest, 0.0), 0.0, 0.0, 0, True)
    meeting = rows.scores == lowest
    weight = np.ones(len(meeting)) if rows.weight is None else rows.weight
    positives, negatives = weight[meeting & rows.positive].sum(), weight[meeting & ~rows.positive].sum()
    total = positives + negatives
    left = -float(positives * log(positives / total) + negatives * log(negatives / total))
    return SigmoidFit(Sigmoid(sign * inf, lowest, log(positives / negatives)), left, 0.0, 0, True)


class _Point(NamedTuple):
    """The objective at given parameters (slope, log-odds), with its first and second derivatives."""

    parameters: Floats
    value: float
    gradient: Floats
    hessian: Floats


class _Likelihood:
    """The negative log-likelihood of rows between −1 and 1, summed over blocks in a fixed order."""

    def __init__(self, units: Floats, targets: Floats, weight: Floats | None, n_jobs: int | None) -> None:
        self._units, self._targets, self._weight, self._n_jobs = units, targets, weight, n_jobs
        self._blocks = _blocks(len(units))

    def at(self, parameters: Floats) -> _Point:
        parts = parallel(lambda rows: self._sums(rows, parameters), self._blocks, n_jobs=self._n_jobs)
        value, by_slope, by_odds, slope2, mixed, odds2 = np.sum(parts, axis=0)
        hessian = np.array([[slope2, mixed], [mixed, odds2]])
        return _Point(parameters, float(value), np.array([by_slope, by_odds]), hessian)

    def _sums(self, rows: slice, parameters: Floats) -> Floats:
        units, targets = self._units[rows], self._targets[rows]
        z = parameters[0] * units + parameters[1]
        small = np.exp(-np.abs(z))
        share = 1 / (1 + small)
        probability = np.where(z >= 0, share, small * share)
        losses = np.log1p(small) + np.maximum(z, 0) - targets * z
        residual, curvature = probability - targets, small * share * share
        if self._weight is not None:
            weight = self._weight[rows]
            losses, residual, curvature = losses * weight, residual * weight, curvature * weight
        bent = curvature * units
        return np.array(
            [losses.sum(), residual @ units, residual.sum(), bent @ units, bent.sum(), curvature.sum()]
        )


def _minimise(likelihood: _Likelihood, start: Floats, total: float) -> tuple[_Point, float, int, bool]:
    """Return the point at which Newton's method ends, the proven gap there, the steps, and whether it is small."""
    point, before = likelihood.at(start), inf
    for steps in range(_MOST_STEPS):
        step = _newton_step(point)
        largest = abs(step).sum()  # change in log-odds, since all rows lie between −1 and 1
        decrement = float(-(point.gradient @ step))
        proven = decrement if largest <= 1 else inf
        # What does not fall any more near the end is rounding.
        if proven <= _SMALL * total or (largest <= _NEAR and decrement >= before):
            return point, proven, steps, True
        before = decrement
        if largest <= _NEAR:
            point = likelihood.at(point.parameters + step)
        elif (lower := _search(likelihood, point, step, decrement)) is not None:
            point = lower
        else:  # rounding hides what is left to gain
            return point, proven, steps, isfinite(proven)
    return point, proven, _MOST_STEPS, False


def _newton_step(point: _Point) -> Floats:
    """Solve for Newton's step, after dividing by the sizes of the curvatures, which may differ by far."""
    sizes = np.sqrt(np.maximum(np.diag(point.hessian), np.finfo(np.float64).tiny))
    scaled = point.hessian / np.outer(sizes, sizes)
    step: Floats = -np.linalg.lstsq(scaled, point.gradient / sizes, rcond=1e-14)[0] / sizes
    return step


def _search(likelihood: _Likelihood, point: _Point, step: Floats, decrement: float) -> _Point | None:
    """Halve the step until the objective falls by a fair share of what the slope promises."""
    length = 1.0
    while length > 1e-10:
        trial = likelihood.at(point.parameters + length * step)
        if trial.value < point.value - 1e-4 * length * decrement:
            return trial
        length /= 2
    return None
