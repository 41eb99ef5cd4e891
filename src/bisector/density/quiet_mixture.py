"""Mixtures as a part of other models: fitted in units of the columns' spread, and without warnings."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from bisector.density.gaussian_mixture import GaussianMixture

Floats = NDArray[np.float64]


def quietly_fitted(settings: Any, rows: Floats, weights: Floats | None, n_components: int) -> GaussianMixture:
    """Fit a mixture to rows whose columns may have any units; return it in these units.

    Parameters
    ----------
    settings : estimator
        With the parameters `covariance_type`, `reg_covar`, `tol`, `max_iter`, `n_init`, `random_state`, `n_jobs`;
        `reg_covar` is a share of the columns' variances.
    rows : ndarray of shape (n_rows, n_columns)
    weights : ndarray of shape (n_rows,), optional
    n_components : int
    """
    middle = np.average(rows, axis=0, weights=weights)
    spread = np.sqrt(np.average((rows - middle) ** 2, axis=0, weights=weights))
    spread[spread == 0] = 1.0
    names = ("covariance_type", "reg_covar", "tol", "max_iter", "n_init", "random_state", "n_jobs")
    made = GaussianMixture(n_components, **{name: getattr(settings, name) for name in names})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        made.fit((rows - middle) / spread, sample_weight=weights)
    scale = np.multiply.outer(spread, spread)
    model = GaussianMixture.from_parameters(
        made.weights_,
        middle + made.means_ * spread,
        made.covariances_ * scale,
        covariance_type=settings.covariance_type,
        random_state=settings.random_state,
    )
    for name in ("converged_", "n_iter_", "lower_bound_", "lower_bounds_", "collapsed_"):
        setattr(model, name, getattr(made, name))
    return model
