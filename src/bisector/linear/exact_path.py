"""The lasso's coefficients for every penalty at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.threads import one_blas_thread
from bisector.engine.validation import check_count, check_finite, check_flag, check_training

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class LassoKnots:
    """Coefficients as piecewise linear functions of the penalty, known by their knots.

    Attributes
    ----------
    alphas : array of shape (n_knots,)
        Penalties at which the path bends, falling; above the first all coefficients are zero.
    coefs : array of shape (n_knots, n_features)
    intercepts : array of shape (n_knots,)
    active : list of n_knots arrays of int
        The features whose coefficients move below each knot; at the last one, those that are not zero.
    gaps : array of shape (n_knots,)
        The duality gap at each knot, as of `Lasso`: zero up to rounding.
    """

    alphas: Floats
    coefs: Floats
    intercepts: Floats
    active: list[Integers]
    gaps: Floats

    @property
    def n_knots(self) -> int:
        return len(self.alphas)

    def coef_at(self, alpha: float) -> Floats:
        """Return the coefficients for a penalty.

        Parameters
        ----------
        alpha : float
            At least the last of the knots.

        Returns
        -------
        array of shape (n_features,)
        """
        return self._between(alpha, self.coefs)

    def intercept_at(self, alpha: float) -> float:
        """Return the intercept for a penalty.

        Parameters
        ----------
        alpha : float
            At least the last of the knots.

        Returns
        -------
        float
        """
        return float(self._between(alpha, self.intercepts))

    def _between(self, alpha: float, values: Floats) -> Any:
        alpha = check_finite("alpha", alpha, at_least=0)
        if alpha < self.alphas[-1]:
            raise ValueError(
                f"The path ends at alpha = {self.alphas[-1]:g}, above {alpha:g}: call lasso_knots with alpha_min "
                f"at most {alpha:g} and without max_knots."
            )
        below = int(np.searchsorted(-self.alphas, -alpha))
        if below == 0:
            return values[0].copy()
        high, low = self.alphas[below - 1], self.alphas[below]
        share = (high - alpha) / (high - low)
        return (1 - share) * values[below - 1] + share * values[below]


def lasso_knots(
    X: Any,
    y: Any,
    *,
    ridge: float = 0.0,
    alpha_min: float = 0.0,
    max_knots: int | None = None,
    fit_intercept: bool = True,
    positive: bool = False,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> LassoKnots:
    """Return the lasso's coefficients for every penalty, exactly: where the path bends, it has a knot.

    Follows the minimum of 1/(2n)·‖y − Xw − b‖² + α‖w‖₁ + ½·ridge·‖w‖² from the smallest α for which all
    coefficients are zero down to `alpha_min`; between two knots they are linear in α. For grids of penalties on
    large data `lasso_path` is faster.

    Parameters
    ----------
    X : array, sparse matrix, pandas or polars frame, of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    ridge : float, default=0.0
        A ridge penalty that stays the same along the path. ``ElasticNet(alpha=a, l1_ratio=p)`` is the point
        α = a·p of the path with ridge = a·(1 − p).
    alpha_min : float, default=0.0
        Where to end; the path goes down to least squares by default.
    max_knots : int, default=None
        The number of knots after which to end, if `alpha_min` is not reached before.
    fit_intercept : bool, default=True
    positive : bool, default=False
        Whether coefficients must not be negative.
    sample_weight : array of shape (n_samples,), default=None
    n_jobs : int, default=None
        Number of threads.

    Returns
    -------
    LassoKnots

    Notes
    -----
    Ties and equal columns need no care: features that arrive together enter as far as they lower the objective,
    and a column that depends on those in use stays out while it does.

    References
    ----------
    Osborne, Presnell and Turlach, *A new approach to variable selection in least squares problems* (2000). Efron,
    Hastie, Johnstone and Tibshirani, *Least angle regression* (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import lasso_knots
    >>> X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> path = lasso_knots(X, X @ [4.0, 1.0])
    >>> path.alphas
    array([4., 1., 0.])
    >>> path.coefs
    array([[0., 0.],
           [3., 0.],
           [4., 1.]])
    >>> path.coef_at(2.5)
    array([1.5, 0. ])
    """
    from bisector.linear.elastic_net import ElasticNet
    from bisector.solvers.penalised_path import Columns

    ridge = check_finite("ridge", ridge, at_least=0)
    alpha_min = check_finite("alpha_min", alpha_min, at_least=0)
    most = None if max_knots is None else check_count("max_knots", max_knots)
    intercept, positive = check_flag("fit_intercept", fit_intercept), check_flag("positive", positive)
    rows, _ = check_training(ElasticNet(), X, y, sample_weight)
    data = Columns(rows, intercept=intercept, n_jobs=n_jobs)
    with one_blas_thread:
        found = data.knots(ridge=ridge, alpha_min=alpha_min, positive=positive, most=most)
    coefs = np.zeros((len(found), data.n_features))
    for line, knot in zip(coefs, found, strict=True):
        line[knot.features] = knot.v
    return LassoKnots(
        np.array([knot.penalty for knot in found]),
        coefs,
        data.mean_y[0] - coefs @ data.mean,
        [knot.active for knot in found],
        np.array([knot.gap for knot in found]),
    )
