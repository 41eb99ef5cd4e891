"""Parzen windows whose width is chosen by how well each row is predicted from all others."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bisector.density.bandwidths import find_widths, rule_width, spread_of
from bisector.density.boxes import check_dense
from bisector.density.kernel_density import KernelDensity
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.validation import blank, check_count, check_weights, store
from bisector.engine.values import HoldsValues
from bisector.kernels.bumps import resolve_bump
from bisector.solvers.parzen_widths import score_widths

Floats = NDArray[np.float64]

# Default widths grow by 2^(1/4), and their squares by √2: two exponentials a pair serve them all.
_GROWTH = 2**0.25


class KernelDensityCV(HoldsValues, BaseEstimator):
    """KernelDensity with the width of the highest leave-one-out likelihood.

    Every width is scored in one pass over the pairs of rows. With Gaussian bumps on a geometric grid, such as the
    default one, most widths cost one product for each pair.

    Where rows are repeated, the likelihood grows without end as the width shrinks: the smallest is then chosen, and
    says so by being the first of `bandwidths_`.

    Parameters
    ----------
    bandwidths : int or array-like, default=30
        Widths to try, in units of `scale`; or how many, around the rule of Scott.
    kernel : str or Bump, default="gaussian"
    scale : {"common", "features", "covariance"} or None, default="common"
        What widths are multiplied by, as in KernelDensity.
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    bandwidths_ : ndarray
        What was tried, in ascending order.
    scores_ : ndarray
        The mean log density of each row from all others, for every width.
    best_score_ : float
    best_bandwidth_ : float
        Among `bandwidths_`.
    bandwidth_ : float or ndarray
        The same in units of the data.
    best_estimator_ : KernelDensity

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import KernelDensityCV
    >>> rows = np.random.default_rng(0).normal(size=(200, 1))
    >>> model = KernelDensityCV().fit(rows)
    >>> len(model.scores_), bool(0.01 < model.bandwidth_ < 1)
    (30, True)
    """

    _instead_of_gathering = "choose the width on a sample of the rows, and fit KernelDensity with it"

    def __init__(
        self,
        *,
        bandwidths: int | ArrayLike = 30,
        kernel: Any = "gaussian",
        scale: Literal["common", "features", "covariance"] | None = "common",
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidths = bandwidths
        self.kernel = kernel
        self.scale = scale
        self.n_jobs = n_jobs

    best_estimator_: KernelDensity

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Score every width, and fit with the best.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            A weight counts as so many equal rows.

        Returns
        -------
        self
        """
        stand_in = blank(self)
        bump = resolve_bump(self.kernel)
        rows = check_dense(stand_in, X, reset=True, at_least=2).astype(np.float64, copy=False)
        weights = check_weights(sample_weight, len(rows))
        if weights is not None:
            rows, weights = rows[weights > 0], weights[weights > 0]
        total = float(len(rows) if weights is None else weights.sum())
        if total <= 1:
            raise ValueError(
                "KernelDensityCV predicts each row from others: give rows of more weight than one."
            )
        widths = self._widths(total, rows.shape[1])
        shape = find_widths(1.0, self.scale, spread_of(rows, weights))
        found = score_widths(bump, shape.units(rows - rows[0]), widths, weights, n_jobs=self.n_jobs)
        scores = found.scores - shape.log_volume
        best = int(np.argmax(scores))
        if scores[best] == -np.inf:
            raise ValueError(
                "With every width some row is beyond the bumps of all others: try larger bandwidths."
            )
        model = KernelDensity(
            bandwidth=float(widths[best]), kernel=self.kernel, scale=self.scale, n_jobs=self.n_jobs
        )
        model.fit(X, sample_weight=sample_weight)
        return store(
            self,
            stand_in,
            bandwidths_=widths,
            scores_=scores,
            best_score_=float(scores[best]),
            best_bandwidth_=float(widths[best]),
            bandwidth_=model.bandwidth_,
            best_estimator_=model,
        )

    @by_rows
    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at every row of X."""
        check_is_fitted(self)
        check_dense(self, X, reset=False)
        return self.best_estimator_.score_samples(X)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why the density is as high as it is at each row, as KernelDensity does."""
        check_is_fitted(self)
        check_dense(self, X, reset=False)
        return self.best_estimator_.explain_rows(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the logarithm of the likelihood of all rows of X together."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw rows from the density."""
        check_is_fitted(self)
        return self.best_estimator_.sample(n_samples, random_state)

    def integrate(self, box: ArrayLike) -> float:
        """Return the probability of a box, as KernelDensity does."""
        check_is_fitted(self)
        return self.best_estimator_.integrate(box)

    def _widths(self, n: float, d: int) -> Floats:
        if np.ndim(self.bandwidths) == 0:
            count = check_count("bandwidths", self.bandwidths)
            middle = rule_width("scott", n, d)
            return np.asarray(middle * _GROWTH ** (np.arange(count) - count // 2), dtype=np.float64)
        widths = np.unique(np.asarray(self.bandwidths, dtype=np.float64))
        bad = widths[~(np.isfinite(widths) & (widths > 0))]
        if bad.size or not widths.size:
            raise ValueError(
                f"bandwidths must hold numbers above 0, not {bad[0] if bad.size else 'nothing'}."
            )
        return widths
