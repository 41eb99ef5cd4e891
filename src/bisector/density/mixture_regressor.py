"""Regression from a density: fit rows and targets together, then ask what y is given x (LFD Problem 6.28)."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.density.boxes import check_dense
from bisector.density.gaussian_mixture import GaussianMixture
from bisector.density.mixture_reasons import explain_means_of_components
from bisector.density.quiet_mixture import quietly_fitted
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.targets import Numbers, check_numbers
from bisector.engine.validation import blank, check_count, check_finite, check_weights, store
from bisector.solvers.mixture import Mixture
from bisector.solvers.mixture_shapes import SHAPES

Floats = NDArray[np.float64]


class GaussianMixtureRegressor(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """The mean of y given x, and its variance, from a Gaussian mixture of rows and targets together.

    Each bump with mean (α, β) and inverse covariance [[A, b], [bᵀ, c]] says that y is β − bᵀ(x − α)/c, a plane
    through its mean; the bumps are averaged by the share that each has in x. One bump is linear regression.

    Parameters
    ----------
    n_components : int, default=3
    covariance_type : {"full", "tied"}, default="full"
    reg_covar : float, default=1e-3
        The least variance, as a share of the variances of the columns.
    tol : float, default=1e-3
    max_iter : int, default=100
    n_init : int, default=1
    random_state : int, RandomState or None, default=0
    n_jobs : int, optional

    Attributes
    ----------
    mixture_ : GaussianMixture
        Of rows and targets, in the units of the data.
    n_iter_ : int
    converged_ : bool

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import GaussianMixtureRegressor
    >>> x = np.linspace(-1, 1, 50)[:, None]
    >>> model = GaussianMixtureRegressor(3).fit(x, np.abs(x[:, 0]))
    >>> model.predict([[-0.8], [0.8]]).round(1)
    array([0.8, 0.8])
    """

    _instead_of_gathering = "fit a sample of the rows"

    def __init__(
        self,
        n_components: int = 3,
        *,
        covariance_type: Literal["full", "tied"] = "full",
        reg_covar: float = 1e-3,
        tol: float = 1e-3,
        max_iter: int = 100,
        n_init: int = 1,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs

    mixture_: GaussianMixture
    _targets: Numbers

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the mixture to rows and targets.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : array-like of shape (n_rows,) or (n_rows, n_targets)
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        self
        """
        stand_in = blank(self)
        check_count("n_components", self.n_components)
        check_finite("reg_covar", self.reg_covar, above=0)
        rows = check_dense(stand_in, X, reset=True, at_least=2)
        targets = check_numbers(self, y, len(rows))
        weights = check_weights(sample_weight, len(rows))
        joint = np.concatenate([rows.astype(np.float64), targets.values], axis=1)
        if weights is not None:
            joint, weights = joint[weights > 0], weights[weights > 0]
        model = quietly_fitted(self, joint, weights, min(self.n_components, len(joint)))
        return store(
            self,
            stand_in,
            mixture_=model,
            n_iter_=model.n_iter_,
            converged_=model.converged_,
            _targets=targets._replace(values=np.empty((0, targets.values.shape[1]))),
        )

    @by_rows
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of y for every row of X, and on request its standard deviation.

        Far from all bumps the nearest one decides alone: there is no 0/0.
        """
        shares, means, rests = self._components(X)
        mean = np.einsum("ij,ijt->it", shares, means)
        answer = self._targets.shaped(mean)
        if not return_std:
            return answer
        square = np.einsum("ij,ijt->it", shares, means**2 + rests)
        return answer, self._targets.shaped(np.sqrt(np.maximum(square - mean**2, 0.0)))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: how probable each bump is, times the mean it has for y there.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            With an account for each target, which adds up to the prediction.
        """
        shares, means, _ = self._components(X)
        return explain_means_of_components(shares, means, single=self._targets.single)

    def _components(self, X: Any) -> tuple[Floats, Floats, Floats]:
        """Return how probable each component is at each row, the mean it has for y there, and the variance."""
        check_is_fitted(self)
        rows = check_dense(self, X, reset=False).astype(np.float64, copy=False)
        d, full = self.n_features_in_, self.mixture_
        covariances = SHAPES[self.covariance_type].matrices(full.covariances_, *full.means_.shape)
        of_x = Mixture(
            full.weights_, full.means_[:, :d], np.ascontiguousarray(covariances[:, :d, :d]), SHAPES["full"]
        )
        parts = of_x.log_parts(rows)
        shares = np.exp(parts - parts.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        means, rests = [], []
        for centre, matrix in zip(full.means_, covariances, strict=True):
            slopes = np.linalg.solve(matrix[:d, :d], matrix[:d, d:])
            means.append(centre[d:] + (rows - centre[:d]) @ slopes)
            rests.append(np.diag(matrix[d:, d:] - matrix[d:, :d] @ slopes))
        return shares, np.stack(means, axis=1), np.stack(rests)
