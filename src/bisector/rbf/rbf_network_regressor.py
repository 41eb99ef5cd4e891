"""Regression by a network of radial basis functions (LFD 6.3.1 and 6.3.2)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.row_reasons import explain_row_sums
from bisector.engine.sources import is_collection
from bisector.engine.targets import Numbers, check_numbers
from bisector.engine.validation import check_training, store
from bisector.rbf.bump_network import BumpNetwork, Floats, Task, dtype_of
from bisector.rbf.partitioned_network import as_table, sampled
from bisector.solvers.bump_features import Bumps
from bisector.solvers.bump_weights import BumpWeights, fit_weights


class RBFNetworkRegressor(RegressorMixin, MultiOutputMixin, BumpNetwork):
    """A few bumps, each with a height of its own, add up to the target.

    h(x) = w₀ + Σⱼ wⱼ·φ(d(x, μⱼ) / r). Where the bumps stand and how wide they are the rows alone decide; their
    heights are then a linear fit to the targets. Far from all bumps the answer is w₀.

    Parameters
    ----------
    n_centers : int, list of int, "cv" or "auto", default="auto"
        How many bumps; "auto" is 10, or as many as there are rows that differ. Of a list, or by "cv" of 2, 4, 8, …
        128, that with the least error at rows left out, in five parts.
    centers : {"kmeans", "farthest", "groups", "mixture", "all"} or array, default="kmeans"
        Where they stand: on the means of clusters; on rows that cover all others, which any metric can; on means of
        equal groups of rows, in order along the axis of their largest spread; on the means of a Gaussian mixture;
        on every row that differs from those before; or at places given as rows.
    width : float, "auto" or "own", default="auto"
        r. "auto" is R/k^(1/d), with R the largest distance between two rows (nearly, for more than 4,096). "own"
        gives each bump the distance from its centre to the nearest other one; with centers="mixture", the
        covariance matrix of its component, whatever the metric, so that bumps need not be round (Equation 6.6).
    alpha : float, "gcv" or "cv", default="gcv"
        The strength of the penalty: a number; that of the least generalised cross-validation error, from one
        decomposition; or by rows left out, in five parts, together with `n_centers`.
    penalty : {"weights", "curvature"}, default="weights"
        α·Σwⱼ², or α·wᵀGw with G the heights of the bumps at each other's centres: what the function's derivatives
        add up to, as Tikhonov's regularisation weighs them. With centers="all", w = (G + αI)⁻¹y (Problem 6.20).
    bump : str or Bump, default="gaussian"
    metric : str, Distance or callable, default="euclidean"
    random_state : int, RandomState or None, default=None
        For "kmeans", "mixture" and the parts that are left out.
    n_jobs : int, default=None
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends.

    Attributes
    ----------
    coef_ : ndarray of shape (n_centers,) or (n_outputs, n_centers)
        w.
    intercept_ : float or ndarray
        w₀: zero with centers="all", where none is needed.
    n_centers_ : int
    centers_ : ndarray of shape (n_centers, n_features), or None
        None where rows are no numbers.
    center_indices_ : ndarray of int, or None
        Which rows the centres are, if they are rows.
    width_ : float or ndarray of shape (n_centers,)
    precision_roots_ : ndarray of shape (n_centers, n_features, n_features), or None
        P with P Pᵀ the inverse covariance of each bump, where bumps have covariances.
    alpha_ : float
    alphas_, gcv_errors_ : ndarray, or None
        The strengths tried for alpha="gcv".
    degrees_of_freedom_ : float
        What the fit takes, w₀ included.
    gap_ : float
        The certificate of the linear fit: an estimate of the coefficients' relative error, or for centers="all"
        with alpha=0 the largest residual as a share of the largest target.
    cv_n_centers_, cv_alphas_, cv_errors_ : ndarray
        What was tried by cross-validation, and the mean squared errors, shape (numbers, strengths).
    metric_ : Distance
    bump_ : Bump

    Notes
    -----
    Heights are made a block of rows at a time: memory does not grow with rows times bumps, except for
    centers="all".

    Examples
    --------
    Four bumps for a wave:

    >>> import numpy as np
    >>> from bisector import RBFNetworkRegressor
    >>> x = np.linspace(0, 1, 60)
    >>> model = RBFNetworkRegressor(4, centers="groups").fit(x[:, None], np.sin(6 * x))
    >>> model.centers_.ravel().round(3)
    array([0.119, 0.373, 0.627, 0.881])
    >>> model.width_  # R/k
    0.25
    >>> bool(abs(model.predict([[0.5]])[0] - np.sin(3)) < 0.01)
    True
    """

    _targets: Numbers

    def __init__(
        self,
        n_centers: Any = "auto",
        *,
        centers: Any = "kmeans",
        width: Any = "auto",
        alpha: Any = "gcv",
        penalty: str = "weights",
        bump: Any = "gaussian",
        metric: Any = "euclidean",
        random_state: Any = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_centers = n_centers
        self.centers = centers
        self.width = width
        self.alpha = alpha
        self.penalty = penalty
        self.bump = bump
        self.metric = metric
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Place the bumps and fit their heights.

        Parameters
        ----------
        X : rows
            Of a Dask collection, bumps are placed by a sample of at most 65,536 rows; all decide their heights.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        if is_collection(X):
            stand_in, targets, learned = self._learn_partitions(X, y, sample_weight)
        else:
            stand_in, distance, rows, weights = self._start(X, sample_weight)
            targets = check_numbers(self, y, len(rows))
            counted = np.flatnonzero(weights)
            task = Task(rows.take(counted), targets.values[counted], weights[counted])
            with self._noting(distance, task) as kept:
                learned = self._learn(distance, task, counted, kept)
        self._warn(learned["_network"])
        found: BumpWeights = learned["_network"].weights
        single = targets.single
        return store(
            self,
            stand_in,
            **learned,
            coef_=(found.coef[:, 0] if single else found.coef.T).astype(dtype_of(X)),
            intercept_=float(found.intercept[0]) if single else found.intercept,
            _targets=targets._replace(values=np.empty((0, targets.values.shape[1]))),
        )

    def _learn_partitions(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Numbers, dict[str, Any]]:
        from bisector.engine.dask_checks import split_named

        if isinstance(y, str):
            X, y = split_named(X, y)
        rows, stand_in = check_training(self, X, y, sample_weight, multi_output=True)
        told = Numbers(np.empty((0, rows.n_targets)), rows.single_target, np.dtype(np.float64))
        columns = rows.y.mapped(as_table, dtype=np.float64, width=rows.n_targets)
        with checkpoint_of(self.checkpoint, self, rows) as kept:
            found = sampled(self, rows, columns, kept=kept)
            learned = self._learn(found.distance, found.sample, found.numbers, kept, found.whole)
        return stand_in, told, learned

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the sum of the bumps at every row of X."""
        check_is_fitted(self)
        return self._targets.shaped(self._signals(X))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: what each bump adds, its weight times its height there.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            With an account for each target, which adds up to the prediction.
        """
        found: list[Explanation] = []
        for heights in self._height_blocks(X):
            weights = self._network.weights
            found += explain_row_sums(
                heights, weights.coef, offsets=weights.intercept, names=self._bump_names(),
                single=self._targets.single, value="height", of="bumps",
            )  # fmt: skip
        return found

    def _solve(
        self, bumps: Bumps, task: Task, labels: Any, alpha: float | None, kept: Checkpoint
    ) -> BumpWeights:
        return fit_weights(bumps, *task[:3], labels, alpha, self.penalty, n_jobs=self.n_jobs)

    def _loss(self, signals: Floats, targets: Floats, weights: Floats) -> float:
        return float(weights @ np.square(signals - targets).mean(axis=1))
