"""The weights of bumps: how high each is, so that their sum fits the targets (LFD 6.3.2 and Problem 6.20).

With Z the heights of the bumps at the rows and G those at each other's centres, the weights minimise

    Σᵢ vᵢ (yᵢ − w₀ − zᵢ·w)² + α·‖w‖²      penalty "weights"
    Σᵢ vᵢ (yᵢ − w₀ − zᵢ·w)² + α·wᵀGw      penalty "curvature"

The second is ridge regression on the features Z G^(−½). With a bump on every row and no w₀ it is w = (G + αI)⁻¹y:
the fit that Tikhonov's penalty of the derivatives, whose Green's function the bump is, asks for. With α = 0 such a
network interpolates, w = Z⁻¹y.

α = "gcv" takes the strength of the least generalised cross-validation error (Σvr²/n) / (1 − degrees of freedom/n)²,
n the total weight; all strengths share one decomposition.
"""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.memory import require
from bisector.engine.row_sums import total_weight
from bisector.engine.sources import Source
from bisector.solvers.bump_features import Bumps, features_of
from bisector.solvers.column_geometry import EPS
from bisector.solvers.kernel_ridge import kernel_spectrum
from bisector.solvers.ridge import prepare, ridge
from bisector.solvers.ridge_path import LARGEST_RATIO, spectrum_of
from bisector.solvers.tikhonov import Tikhonov

Floats = NDArray[np.float64]

# Strengths that are tried: shares of the total weight (heights are at most one), or of the largest eigenvalue of G.
SHARES = np.geomspace(1e-12, 1e1, 40)
# Directions of G with a smaller share of the largest are rounding.
_SEEN = 1e-13
# An interpolation whose largest residual is a larger share of the largest target is none.
MISSED = 1e-6


@dataclass(frozen=True)
class BumpWeights:
    """The weights, and how they were found.

    Attributes
    ----------
    coef : ndarray of shape (k, n_targets)
        w.
    intercept : ndarray of shape (n_targets,)
        w₀; zero without.
    alpha : float
    alphas, errors : ndarray, or None
        The strengths tried and their generalised cross-validation errors.
    degrees_of_freedom : float
    gap : float
        The certificate of the solver: an estimate of the relative error of the coefficients; of bumps on all rows
        with the curvature penalty, by what share of the targets' squares the objective may lie above its minimum;
        and without penalty, the largest residual as a share of the largest target.
    converged : bool
        Whether an iterative solver came to its own end.
    """

    coef: Floats
    intercept: Floats
    alpha: float
    alphas: Floats | None
    errors: Floats | None
    degrees_of_freedom: float
    gap: float
    converged: bool = True


def ridge_weights(
    features: Source, alpha: float | None, *, intercept: bool, n_jobs: int | None = None
) -> BumpWeights:
    """Fit weights by ridge regression; without alpha, with that of the least generalised cross-validation error.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.bump_weights import ridge_weights
    >>> rows = source(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0]))
    >>> found = ridge_weights(rows, 2.0, intercept=True)
    >>> found.coef.ravel(), found.intercept
    (array([1.]), array([3.]))
    """
    if alpha == 0:
        found = ridge(features, np.zeros(1), intercept=intercept, n_jobs=n_jobs)
        freedom = float(found.degrees_of_freedom[0])
        return BumpWeights(found.coef, found.intercept, 0.0, None, None, freedom, found.gap)
    weight = total_weight(features)
    tried = SHARES * weight if alpha is None else np.array([alpha])
    design = prepare(features, Tikhonov.plain(features.n_features), intercept=intercept, n_jobs=n_jobs)
    spectrum = spectrum_of(design, float(tried[0]), n_jobs=n_jobs)
    alphas = errors = None
    if alpha is None:
        alphas, errors = tried, spectrum.leave_one_out(tried, keep=False, n_jobs=n_jobs).gcv.sum(axis=0)
        tried = tried[[least_error(errors)]]
    coef, offset = spectrum.coefficients(tried)
    freedom = float(spectrum.degrees_of_freedom(tried)[0])
    strengths = spectrum.squares + spectrum.strengths(tried)
    ratio = float(strengths.max(initial=0.0) / strengths.min(initial=np.inf))
    # Up to that ratio products of features are decomposed, which square the condition; beyond it, the rows.
    gap = EPS * (ratio if ratio <= LARGEST_RATIO else float(np.sqrt(ratio)))
    return BumpWeights(coef[0], offset[0], float(tried[0]), alphas, errors, freedom, gap)


def least_error(errors: Floats) -> int:
    """Return the place of the least error; of equals the last, which is the smoothest."""
    if not np.isfinite(errors).any():
        raise ValueError("No strength of the penalty leaves an error to compare: give alpha as a number.")
    return int(np.flatnonzero(errors == np.nanmin(errors))[-1])


def curvature_mix(bumps: Bumps) -> Floats:
    """Return M such that ‖v‖² is wᵀGw for w = Mv; directions without height are left out."""
    values, vectors = np.linalg.eigh(_between_centres(bumps))
    _check_definite(values)
    seen = values > _SEEN * values[-1]
    return vectors[:, seen] / np.sqrt(values[seen])


def _between_centres(bumps: Bumps) -> Floats:
    if not bumps.alike:
        raise ValueError(
            "penalty='curvature' needs bumps of one shape and a symmetric metric: give width as a number or 'auto'."
        )
    k = len(bumps)
    require(
        8 * 4 * k * k,
        doing=f"placing {k:,} bumps",
        holding="the heights of all at the centres of all",
        instead="ask for fewer centres",
    )
    G = bumps.heights(bumps.centres, range(k))
    return (G + G.T) / 2


def _check_definite(values: Floats) -> None:
    if values[0] < -1e-10 * max(values[-1], 1e-300):
        raise ValueError(
            "penalty='curvature' needs a bump that is a Green's function, whose heights make a positive definite "
            f"matrix, but this one has the eigenvalue {values[0]:.2g}: use bump='gaussian' or 'exponential' and a "
            "metric that they suit, as the Euclidean one."
        )


def green_weights(
    bumps: Bumps, targets: Floats, weights: Floats, within: Floats, alpha: float | None
) -> BumpWeights:
    """Return w = (G + αI)⁻¹y for bumps on all rows, which differ from each other.

    Parameters
    ----------
    bumps : Bumps
    targets : ndarray of shape (k, n_targets)
        The mean target at each centre.
    weights : ndarray of shape (k,)
        How many rows are there, by weight.
    within : ndarray of shape (n_targets,)
        Σv(y − mean)² of rows that are equal: what no function fits.
    alpha : float, optional
        Above zero.
    """
    root = np.sqrt(weights)
    K = _between_centres(bumps) * root * root[:, None]
    scaled = targets * root[:, None]
    nothing = np.zeros(targets.shape[1])
    spectrum = kernel_spectrum(np.ascontiguousarray(K))
    _check_definite(spectrum.values)
    alphas = errors = None
    if alpha is None:
        alphas = SHARES * float(spectrum.values[-1])
        shrink = 1 / (spectrum.values[:, None] + alphas)
        along = spectrum.vectors.T @ scaled
        left = [np.square(along[:, [t]] * shrink * alphas).sum(axis=0) for t in range(along.shape[1])]
        freedom = (spectrum.values[:, None] * shrink).sum(axis=0)
        room = np.maximum(1 - freedom / weights.sum(), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = (np.sum(left, axis=0) + within.sum()) / weights.sum() / np.square(room)
        alpha = float(alphas[least_error(errors)])
    found = spectrum.solution(scaled, alpha)
    taken = float((spectrum.values / (spectrum.values + alpha)).sum())
    return BumpWeights(found.dual * root[:, None], nothing, alpha, alphas, errors, taken, found.gap)


def interpolating_weights(bumps: Bumps, targets: Floats) -> BumpWeights:
    """Return w = Z⁻¹y for bumps on all rows, which differ from each other; least squares where Z has no inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.kernels import TriangularBump
    >>> from bisector.solvers.bump_features import Bumps
    >>> from bisector.solvers.bump_weights import interpolating_weights
    >>> rows = Euclidean().prepare([[0.0], [1.0]])
    >>> two = Bumps(TriangularBump(), Euclidean(), rows, np.array([2.0]))
    >>> interpolating_weights(two, np.array([[3.0], [3.0]])).coef.round(6).ravel()
    array([2., 2.])
    """
    from scipy.linalg import LinAlgError, LinAlgWarning, lstsq, solve

    k = len(bumps)
    require(8 * 3 * k * k, doing=f"interpolating {k:,} rows", instead="ask for fewer centres")
    Z = bumps.heights(bumps.centres, range(k))
    largest = float(np.abs(targets).max(initial=0.0)) or 1.0
    coef: Any = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        try:
            coef = solve(Z, targets, check_finite=False)
        except LinAlgError:
            coef = None
    missed = np.inf if coef is None else float(np.abs(Z @ coef - targets).max()) / largest
    if not missed <= MISSED:
        shortest = lstsq(Z, targets, check_finite=False)[0]
        left = float(np.abs(Z @ shortest - targets).max()) / largest
        if not missed <= left:
            coef, missed = shortest, left
    return BumpWeights(coef, np.zeros(targets.shape[1]), 0.0, None, None, float(k), missed)


def fit_weights(
    bumps: Bumps,
    rows: Any,
    targets: Floats,
    weights: Floats,
    labels: NDArray[np.int64] | None,
    alpha: float | None,
    penalty: str,
    *,
    n_jobs: int | None = None,
) -> BumpWeights:
    """Fit a network to numbers.

    Parameters
    ----------
    bumps : Bumps
    rows : Rows, or Source of a Dask collection
    targets : ndarray, or column of the collection, of shape (n_rows, n_targets)
    weights : ndarray of shape (n_rows,), or column, or None
    labels : ndarray of int of shape (n_rows,), optional
        Where the bumps stand on all rows that differ: on which of them each row is. There is no w₀ then.
    alpha : float, optional
        By default that of the least generalised cross-validation error.
    penalty : {"weights", "curvature"}
    """
    if labels is not None and (penalty == "curvature" or alpha == 0):
        total = np.bincount(labels, weights, minlength=len(bumps)).astype(np.float64)
        sums = np.stack([np.bincount(labels, weights * y, minlength=len(bumps)) for y in targets.T], axis=1)
        means = sums / total[:, None]
        if alpha == 0:
            return interpolating_weights(bumps, means)
        within = weights @ np.square(targets - means[labels])
        return green_weights(bumps, means, total, within, alpha)
    mix = curvature_mix(bumps) if penalty == "curvature" else None
    features = features_of(bumps, rows, targets, weights, mix)
    found = ridge_weights(features, alpha, intercept=labels is None, n_jobs=n_jobs)
    return found if mix is None else replace(found, coef=mix @ found.coef)
