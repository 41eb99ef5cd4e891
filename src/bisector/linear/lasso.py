"""The lasso: least squares with a penalty that sets coefficients to zero."""

from typing import Any, Literal

from numpy.typing import ArrayLike

from bisector.linear.elastic_net import ElasticNet


class Lasso(ElasticNet):
    """Least squares with a penalty on the absolute values of the coefficients, which sets many of them to zero.

    Minimises 1/(2n)·‖y − Xw − b‖² + α‖w‖₁, with α = `alpha`.

    A drop-in for scikit-learn's estimator that ends with a proof (`dual_gap_`) instead of a warning, reads X where
    it is, and looks at few of its columns more than once or twice.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; 0 gives least squares.
    fit_intercept, precompute, copy_X, max_iter, tol, warm_start, positive, random_state, selection, n_jobs, \
checkpoint
        As for `ElasticNet`.

    Attributes
    ----------
    coef_, sparse_coef_, intercept_, dual_gap_, n_iter_, n_features_in_, feature_names_in_
        As of `ElasticNet`.

    See Also
    --------
    LassoCV, lasso_path, lasso_knots

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import Lasso
    >>> X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> model = Lasso(alpha=0.5).fit(X, X @ [4.0, 0.2] + 3.0)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([3.5, 0. ]), 3.0)
    """

    l1_ratio = 1.0

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool | ArrayLike = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: Literal["cyclic", "random"] = "cyclic",
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint
