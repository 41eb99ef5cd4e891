"""Newton steps on the free variables of a quadratic problem with bounds and one balance.

Pairs of variables (`bisector.solvers.smo`) crawl where the Gram matrix is badly conditioned. There it pays to
move all variables that are off their bounds at once, to where the objective is least while the others stand
still: one factorisation. What would leave its bounds stops there, and the rest goes on.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Floats = NDArray[np.float64]

# What is added to the diagonal, as a part of it, so that equal rows have a factorisation.
_RIDGE = 1e-11
# How many times variables that reached a bound are left behind before the step ends.
_MOST_STOPS = 50


class FreeStep(NamedTuple):
    """Where the free variables go.

    Attributes
    ----------
    change : ndarray
        What is added to each variable; it sums to zero.
    psd : bool
        Whether the matrix could be factorised; if not, nothing changes.
    """

    change: Floats
    psd: bool


def step_free_variables(
    gram: NDArray[Any], gradient: Floats, beta: Floats, lower: Floats, upper: Floats
) -> FreeStep:
    """Lower ½δᵀKδ + gᵀδ over changes δ that sum to zero and keep β + δ within its bounds.

    Parameters
    ----------
    gram : ndarray of shape (m, m)
        K, among the variables that may move.
    gradient, beta, lower, upper : ndarray of shape (m,)
        All of β strictly between the bounds, which may be infinite.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.free_variables import step_free_variables
    >>> off, on = np.full(2, -1.0), np.full(2, 3.0)
    >>> step_free_variables(np.eye(2), np.array([0.0, 2.0]), np.zeros(2), off, on).change.round(6)
    array([ 1., -1.])
    """
    K = gram.astype(np.float64)
    diagonal = K.diagonal()
    ridge = _RIDGE * np.maximum(diagonal, _RIDGE * diagonal.mean()) + np.finfo(np.float64).tiny
    constant = float(np.median(np.abs(diagonal)))
    change = np.zeros(len(beta))
    moving = np.arange(len(beta))
    g = gradient.astype(np.float64)
    for _ in range(_MOST_STOPS):
        if len(moving) < 2:
            break
        # A constant more in all places changes nothing, since δ sums to zero, but keeps the factor away from the
        # direction in which all variables move alike.
        among = (K if len(moving) == len(K) else K[np.ix_(moving, moving)]) + constant
        among.flat[:: len(among) + 1] += ridge[moving]
        factor, failed = lapack.dpotrf(among, lower=1, overwrite_a=1, clean=0)
        if failed:
            return FreeStep(change, False)
        right = np.ones((len(moving), 2))
        right[:, 0] = g[moving]
        towards, ones = lapack.dpotrs(factor, right, lower=1)[0].T
        direction = ones * (towards.sum() / ones.sum()) - towards
        direction -= direction.mean()
        if not np.isfinite(direction).all():
            break
        place = beta[moving] + change[moving]
        bound = np.where(direction > 0, upper[moving], lower[moving])
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction != 0, (bound - place) / direction, np.inf)
        share = min(1.0, float(room.min()))
        reached = room <= share
        change[moving] += share * direction
        g = g + K[:, moving] @ (share * direction)
        change[moving[reached]] = bound[reached] - beta[moving[reached]]
        if share == 1.0:
            break
        moving = moving[~reached]
    return FreeStep(change, True)
