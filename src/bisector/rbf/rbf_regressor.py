"""Regression by bumps on all rows (LFD 6.3, Equation 6.1)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation, account_of
from bisector.engine.lazy_rows import by_rows
from bisector.engine.show import number
from bisector.engine.targets import Numbers, check_numbers
from bisector.engine.validation import store
from bisector.rbf.bumps_on_rows import BumpsOnRows, best_width


class RBFRegressor(RegressorMixin, MultiOutputMixin, BumpsOnRows):
    """The average of all targets, weighted by bumps: near rows count much, far ones little.

    g(x) = Σ αᵢ(x)·yᵢ / Σ αᵢ(x) with αᵢ(x) = φ(d(x, xᵢ) / r). A narrow bump follows the nearest rows, and for
    r → 0 the nearest alone; a wide one smooths, and in the limit answers the mean. With a window as bump, all
    rows within r count alike: the r-nearest rule.

    Parameters
    ----------
    width : float, "rule", "neighbor" or "cv", default="rule"
        r. "rule" takes N^(−1/(2d)) for N rows of d features, in units of their spread (the root mean square of the
        standard deviations), a width at which the average converges as N grows. "neighbor" gives each row a width
        of its own, the distance to its `n_neighbors`-th neighbour. "cv" takes the width that predicts every row
        best from all others; all widths are tried in one pass.
    bump : str or Bump, default="gaussian"
        φ: "gaussian", "window", "epanechnikov", "exponential", "triangular", "cosine".
    metric : str, Distance or callable, default="euclidean"
    widths : array-like, default=None
        Those that "cv" tries; by default 31 around that of the rule, from a 13th of it to 13 times.
    n_neighbors : int, default=5
        For width="neighbor".
    outside : {"nearest", "nan"}, default="nearest"
        What a query gets that no bump reaches (a warning says so): the target of the nearest row, or NaN.
    n_jobs : int, default=None

    Attributes
    ----------
    width_ : float, or array of shape (n_rows,) for width="neighbor"
    widths_, errors_ : array of shape (n_widths,)
        For width="cv": the widths tried, and the mean squared error of each, every row left out in turn; a row that
        no bump but its own reaches is not predicted, and a width that leaves such rows has the error NaN.
    X_fit_ : rows
        Those with a weight, as the metric compares them.
    bump_ : Bump
    metric_ : Distance
        With what it learned from the rows.

    Notes
    -----
    A weight of 3 does what three equal rows would do; the ways to neighbours do not count weights.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import RBFRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 4.0, 9.0]
    >>> RBFRegressor(width=0.5).fit(X, y).predict([[1.5], [2.5]]).round(2)
    array([2.54, 6.45])
    >>> RBFRegressor(width=1e-6).fit(X, y).predict([[1.4], [100.0]])  # the nearest decides
    array([1., 9.])
    """

    _instead_of_gathering = "use RBFNetworkRegressor, or fit a sample of the rows"

    _targets: Numbers

    def __init__(
        self,
        width: Any = "rule",
        *,
        bump: Any = "gaussian",
        metric: Any = "euclidean",
        widths: ArrayLike | None = None,
        n_neighbors: int = 5,
        outside: str = "nearest",
        n_jobs: int | None = None,
    ) -> None:
        self.width = width
        self.bump = bump
        self.metric = metric
        self.widths = widths
        self.n_neighbors = n_neighbors
        self.outside = outside
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Keep the rows and their targets, and find the width.

        Parameters
        ----------
        X : rows
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        stand_in, learned, choice = self._keep(X, sample_weight)
        n_rows = learned.pop("_n_given")
        targets = check_numbers(self, y, n_rows)
        targets = targets._replace(values=targets.values[learned["_kept"]])
        widths = choice.widths
        if choice.open:
            left_out = self._left_out(learned, targets.values, widths)
            errors = np.average(
                ((left_out - targets.values) ** 2).mean(axis=2), axis=1, weights=learned["_weights"]
            )
            learned |= {"widths_": widths[:, 0], "errors_": errors}
            widths = widths[[best_width(errors)]]
        width = float(widths[0, 0]) if widths.shape[1] == 1 else widths[0]
        return store(self, stand_in, **learned, width_=width, _targets=targets)

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the weighted average of the targets at every row of X."""
        check_is_fitted(self)
        return self._targets.shaped(self._averages(X, self._targets.values))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: what each training row adds, its share times its target.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            With an account for each target, which adds up to the prediction.
        """
        check_is_fitted(self)
        explained, single = [], self._targets.single
        for found in self._influence(X):
            accounts = []
            for t, target in enumerate(self._targets.values[found.places].T):
                accounts.append(
                    account_of(
                        "prediction" if single else f"prediction of target {t}",
                        found.shares * target,
                        rows=found.rows,
                        columns={"distance": found.distances, "target": target, "weight": found.shares},
                    )
                )
            if not len(found.rows):
                explained.append(Explanation(float("nan"), "No prediction: no bump reaches it."))
                continue
            totals = [account.total for account in accounts]
            said = f"Predicted {', '.join(map(number, totals))}: {found.in_words()}."
            explained.append(Explanation(totals[0] if single else totals, said, accounts))
        return explained
