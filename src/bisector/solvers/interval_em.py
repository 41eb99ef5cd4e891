"""Expectation maximisation when values are known only up to ±ε, in one dimension (LFD Problem 6.27).

    maximise  Σᵢ wᵢ log Σₖ πₖ (F((xᵢ + ε − μₖ)/σₖ) − F((xᵢ − ε − μₖ)/σₖ)),   F the standard normal distribution.

A probability is at most one, so that this likelihood, unlike that of the values themselves, has a maximum. E:
shares γ,
and the mean and variance of a component's value within each interval. M: weights, and means and variances of these.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from bisector.solvers.em import MixtureFit
from bisector.solvers.mixture import Mixture, log_totals
from bisector.solvers.mixture_shapes import Shape

Floats = NDArray[np.float64]

# Narrower intervals than this, in standard deviations, are better described by the first terms of a series.
_NARROW = 1e-3


def interval_expectation_maximisation(
    x: Floats,
    weights: Floats,
    start: Mixture,
    half_width: float,
    *,
    floor: float = 0.0,
    tol: float = 1e-3,
    max_iter: int = 100,
    fixed: frozenset[str] = frozenset(),
) -> MixtureFit:
    """Improve a mixture until a step raises the mean log probability of the intervals by less than `tol`.

    Parameters
    ----------
    x, weights : ndarray of shape (n,)
    start : Mixture
        Of one dimension.
    half_width : float
        ε.
    floor : float
        The least variance.
    tol, max_iter, fixed : as of `expectation_maximisation`

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.interval_em import Mixture, interval_expectation_maximisation
    >>> from bisector.solvers.mixture_shapes import SHAPES
    >>> start = Mixture(np.ones(1), np.zeros((1, 1)), np.ones(1), SHAPES["spherical"])
    >>> found = interval_expectation_maximisation(np.array([1.0, 3.0]), np.ones(2), start, 0.5, tol=1e-9)
    >>> round(float(found.mixture.means[0, 0]), 6)
    2.0
    """
    shape, form = start.shape, start.covariances.shape
    pi, mu, variance = start.weights, start.means[:, 0], _variances(start, shape)
    history, converged = [-np.inf], False
    for _ in range(max_iter):
        logs, means, spreads = _within(x[:, None], half_width, mu, np.sqrt(variance))
        with np.errstate(divide="ignore"):
            parts = logs + np.log(pi)
        totals = log_totals(parts)
        history.append(float(weights @ totals / weights.sum()))
        shares = np.exp(parts - totals[:, None]) * weights[:, None]
        counts = shares.sum(axis=0)
        held = counts > 0
        safe = np.where(held, counts, 1.0)
        if "weights" not in fixed:
            pi = counts / counts.sum()
        if "means" not in fixed:
            mu = np.where(held, (shares * means).sum(axis=0) / safe, mu)
        if "covariances" not in fixed:
            scatter = (shares * (spreads + (means - mu) ** 2)).sum(axis=0)
            if shape.name == "tied":
                variance = np.full_like(variance, scatter.sum() / counts.sum())
            else:
                variance = np.where(held, scatter / safe, variance)
            variance = np.maximum(variance, max(floor, np.finfo(np.float64).tiny))
        if abs(history[-1] - history[-2]) < tol:
            converged = True
            break
    covariances = (variance[:1] if shape.name == "tied" else variance).reshape(form)
    gap = history[-1] - history[-2] if len(history) > 1 else np.inf
    return MixtureFit(Mixture(pi, mu[:, None], covariances, shape), tuple(history[1:]), converged, float(gap))


def log_interval_probabilities(x: Floats, half_width: float, mixture: Mixture) -> Floats:
    """Return the logarithm of the probability of x ± ε."""
    variance = _variances(mixture, mixture.shape)
    logs, _, _ = _within(x[:, None], half_width, mixture.means[:, 0], np.sqrt(variance))
    with np.errstate(divide="ignore"):
        return log_totals(logs + np.log(mixture.weights))


def _variances(mixture: Mixture, shape: Shape) -> Floats:
    return shape.matrices(mixture.covariances, mixture.k, 1)[:, 0, 0].astype(np.float64)


def _within(x: Floats, half_width: float, mu: Floats, sigma: Floats) -> tuple[Floats, Floats, Floats]:
    """Return log probabilities of x ± ε under each component, and the mean and variance of a value in there."""
    middle, half = (x - mu) / sigma, half_width / sigma
    # On the side where distribution functions are small: there they keep their digits.
    near, sign = -np.abs(middle), np.where(middle > 0, -1.0, 1.0)
    low, high = near - half, near + half
    above, below = log_ndtr(high), log_ndtr(low)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = above + np.log1p(-np.exp(below - above))
        log_density = -0.5 * np.stack([low, high]) ** 2 - 0.5 * np.log(2 * np.pi) - logs
        at_low, at_high = np.exp(log_density)
        mean = at_low - at_high
        square = 1 + low * at_low - high * at_high
        narrow = half < _NARROW
        series = np.log(2 * half) - 0.5 * near**2 - 0.5 * np.log(2 * np.pi) + (near**2 - 1) * half**2 / 6
    logs = np.where(narrow, series, logs)
    mean = np.where(narrow, near * (1 - half**2 / 3), mean)
    # So far out that nothing is left of the density, a value is as near to the mean as the interval allows.
    mean = np.where(np.isfinite(mean), np.clip(mean, low, high), high)
    spread = np.where(narrow, np.broadcast_to(half**2 / 3, mean.shape), square - mean**2)
    spread = np.where(np.isfinite(spread), np.clip(spread, 0.0, half**2), 0.0)
    return logs, mu + sigma * sign * mean, sigma**2 * spread
