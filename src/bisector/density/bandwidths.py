"""How wide bumps are: by a rule or as given, in one direction or in all, in units of the data or absolutely."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.moments import moments
from bisector.engine.sources import Source
from bisector.engine.validation import check_choice, check_finite

Floats = NDArray[np.float64]

RULES = ("scott", "silverman", "consistent")
SCALES = ("common", "features", "covariance")


@dataclass(frozen=True)
class Widths:
    """The shape of a bump: a ball, an ellipsoid along the axes, or any ellipsoid.

    Attributes
    ----------
    told : float or ndarray
        As the user reads it: one width, one a feature, or the matrix H of which the bump's covariance is a
        multiple.
    along : ndarray of shape (n_features,)
        Widths along the axes; of any ellipsoid, the roots of the diagonal of H.
    lower : ndarray of shape (n_features, n_features) or None
        The Cholesky factor of H, unless its axes are the features'.
    """

    told: Any
    along: Floats
    lower: Floats | None = None

    @property
    def log_volume(self) -> float:
        """By how much, as a logarithm, the bump is larger than one of radius 1."""
        sides = self.along if self.lower is None else np.diag(self.lower)
        return float(np.log(sides).sum())

    def units(self, steps: Floats) -> Floats:
        """Measure steps in units of the bump: its rim is at the distance 1 in every direction."""
        if self.lower is None:
            return steps / self.along
        from scipy.linalg import solve_triangular

        return np.ascontiguousarray(solve_triangular(self.lower, steps.T, lower=True).T)

    def steps(self, units: Floats) -> Floats:
        """Turn units of the bump into steps of the data: the inverse of `units`."""
        return units * self.along if self.lower is None else units @ self.lower.T


def rule_width(rule: str, n: float, d: int) -> float:
    """Return the width that a rule gives n rows of d features whose variance is one.

    Examples
    --------
    >>> from bisector.density.bandwidths import rule_width
    >>> rule_width("scott", 32, 1)
    0.5
    >>> rule_width("consistent", 16, 2)
    0.5
    """
    if rule == "scott":
        return float(n ** (-1 / (d + 4)))
    if rule == "silverman":
        return float((n * (d + 2) / 4) ** (-1 / (d + 4)))
    return float(n ** (-1 / (2 * d)))


class Spread(NamedTuple):
    """How many rows there are, by weight, of how many features, and how they are spread, if that is asked for.

    Attributes
    ----------
    size : float
    n_features : int
    variances : function without arguments
        Sums of squares about the mean, divided by `size`.
    covariance : function without arguments
        The matrix of these, divided by ``size - 1``.
    """

    size: float
    n_features: int
    variances: Callable[[], Floats]
    covariance: Callable[[], Floats]


def spread_of(X: Floats, weights: Floats | None) -> Spread:
    """Return the spread of rows in memory."""
    count = float(len(X) if weights is None else weights.sum())

    def variances() -> Floats:
        average = np.average(X, axis=0, weights=weights)
        return np.asarray(np.average((X - average) ** 2, axis=0, weights=weights))

    def covariance() -> Floats:
        centred = X - np.average(X, axis=0, weights=weights)
        return (centred.T if weights is None else centred.T * weights) @ centred / (count - 1)

    return Spread(count, X.shape[1], variances, covariance)


def spread_of_source(rows: Source, count: float) -> Spread:
    """Return the spread of rows that are elsewhere, which takes a pass over them."""

    def scatter() -> Floats:
        found = moments(rows)
        unit = found.of_x.scale
        return found.about_mean()[0] / unit[:, None] / unit

    return Spread(
        count,
        rows.n_features,
        lambda: np.maximum(scatter().diagonal(), 0.0) / count,
        lambda: scatter() / (count - 1),
    )


def find_widths(bandwidth: Any, scale: str | None, spread: Spread) -> Widths:
    """Turn the parameters `bandwidth` and `scale` of an estimator into widths."""
    d = spread.n_features
    if scale is not None:
        check_choice("scale", scale, SCALES)
    if isinstance(bandwidth, str):
        check_choice("bandwidth", bandwidth, RULES)
        number = rule_width(bandwidth, spread.size, d)
    elif np.ndim(bandwidth) == 0:
        number = check_finite("bandwidth", bandwidth, above=0)
    else:
        if scale is not None:
            raise ValueError("bandwidth already gives a width for each feature: leave scale=None.")
        return _given_widths(bandwidth, d)
    if scale is None:
        return Widths(number, np.full(d, number))
    if scale == "common":
        size = math.sqrt(float(spread.variances().mean()))
        _refuse_flat(np.array([size]), "all rows are equal")
        return Widths(number * size, np.full(d, number * size))
    if scale == "features":
        variances = spread.variances()
        flat = np.flatnonzero(variances == 0)
        _refuse_flat(variances, f"feature {flat[0] if flat.size else 0} is the same in all rows")
        along = number * np.sqrt(variances)
        return Widths(along, along)
    if spread.size < 2:
        raise ValueError(f"scale='covariance' needs two rows or more, but there are {spread.size:g}.")
    return _matrix_widths(number**2 * spread.covariance(), "the features depend on each other linearly")


def _given_widths(bandwidth: Any, d: int) -> Widths:
    found = np.array(bandwidth, dtype=np.float64)
    if found.shape == (d,):
        bad = np.flatnonzero(~(np.isfinite(found) & (found > 0)))
        if bad.size:
            raise ValueError(f"bandwidth[{bad[0]}] must be a number above 0, not {found[bad[0]]:g}.")
        return Widths(found, found)
    if found.shape == (d, d):
        if not np.allclose(found, found.T, rtol=1e-10):
            raise ValueError("bandwidth must be a symmetric matrix: the covariance of a Gaussian bump.")
        return _matrix_widths(found, "bandwidth is not positive definite")
    raise ValueError(
        f"bandwidth must be a number, the name of a rule, {d} widths or a {d} × {d} covariance matrix, but has the "
        f"shape {found.shape}."
    )


def _matrix_widths(matrix: Floats, trouble: str) -> Widths:
    try:
        lower: Floats = np.linalg.cholesky(matrix).astype(np.float64)
    except np.linalg.LinAlgError:
        _refuse_flat(np.zeros(1), trouble)
        raise
    _refuse_flat(np.diag(lower) ** 2 - 1e-14 * np.diag(matrix), trouble)
    return Widths(matrix, np.sqrt(np.diag(matrix)), lower)


def _refuse_flat(variances: Floats, trouble: str) -> None:
    if not (variances > 0).all():
        raise ValueError(f"Bumps would have no width, since {trouble}: give bandwidth as a number above 0.")
