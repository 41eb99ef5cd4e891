"""The elastic net: least squares with a penalty on the absolute values and on the squares of coefficients."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.metadata_routing import UNUSED

from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sources import Source
from bisector.engine.threads import one_blas_thread
from bisector.engine.validation import (
    check_choice,
    check_count,
    check_finite,
    check_flag,
    check_number,
    check_training,
    store,
)
from bisector.linear.coefficient_paths import check_precompute, enet_path, open_gaps, warn_of_gaps
from bisector.linear.planes import HasPlanes, narrowed
from bisector.solvers.lasso_problem import Penalised
from bisector.solvers.penalised_path import penalised_data, penalised_path, unpenalised

Floats = NDArray[np.floating[Any]]


class ElasticNet(MultiOutputMixin, RegressorMixin, HasPlanes):
    """Least squares with a mix of the lasso's and ridge's penalties.

    Minimises 1/(2n)·‖y − Xw − b‖² + α·ρ‖w‖₁ + ½α(1 − ρ)‖w‖², with α = `alpha` and ρ = `l1_ratio`. The first
    penalty sets coefficients to zero; the second lets correlated features share theirs.

    A drop-in for scikit-learn's estimator that ends with a proof (`dual_gap_`) instead of a warning, reads X where
    it is, and looks at few of its columns more than once or twice.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of both penalties; 0 gives least squares.
    l1_ratio : float, default=0.5
        Share of the lasso's penalty: 1 is the lasso, 0 is ridge regression.
    fit_intercept : bool, default=True
        Whether the plane may miss the origin.
    precompute : bool or array of shape (n_features, n_features), default=False
        Without effect: products of features are made where they pay.
    max_iter : int, default=1000
        The most sweeps over the working set.
    copy_X : bool, default=True
        Without effect: X is never changed.
    tol : float, default=1e-4
        A fit ends when the duality gap is at most tol·‖y‖²/n (y centred, if there is an intercept).
    warm_start : bool, default=False
        Whether to begin with the coefficients of the last fit. It saves time only.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : default=None
        Without effect.
    selection : {"cyclic", "random"}, default="cyclic"
        Without effect: coordinates take turns.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds the products of every two features, which
        are all that the fit reads from the rows of narrow or tall data (none with alpha=0), and the coefficients
        of every target that is done.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    sparse_coef_ : sparse matrix of shape (1, n_features) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    dual_gap_ : float or array of shape (n_targets,)
        Bound on how far the objective is above its minimum; with alpha=0, an estimate.
    n_iter_ : int or list of int
        Sweeps over the working set.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    See Also
    --------
    Lasso, ElasticNetCV, enet_path

    Notes
    -----
    Each target of several is fitted by itself. A sample weight w counts as w equal rows. Of equal columns, the
    penalty of the lasso cannot tell which should have the coefficient: another solution may be as good.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.1. Massias, Gramfort and Salmon, *Celer* (2018). Bertrand and
    Massias, *Anderson acceleration of coordinate descent* (2021).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import ElasticNet
    >>> X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> model = ElasticNet(alpha=1.0, l1_ratio=0.5).fit(X, X @ [4.0, 0.2] + 3.0)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([2.333333, 0.      ]), 3.0)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: bool | ArrayLike = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: Literal["cyclic", "random"] = "cyclic",
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    path = staticmethod(enet_path)
    __metadata_request__fit = {"check_input": UNUSED}  # noqa: RUF012, read by scikit-learn

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, check_input: bool = True) -> Self:
        """Find the coefficients, and prove how good they are.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or the name(s) of columns of X
        sample_weight : array of shape (n_samples,), default=None
        check_input : bool, default=True
            Without effect: input is always checked.

        Returns
        -------
        self
        """
        alpha = check_finite("alpha", self.alpha, at_least=0)
        l1_ratio = check_l1_ratio(self.l1_ratio)
        warm = check_flag("warm_start", self.warm_start)
        check_common(self)
        rows, stand_in = check_training(self, X, y, sample_weight, multi_output=True)
        start = getattr(self, "coef_", None) if warm else None
        with checkpoint_of(self.checkpoint, self, rows) as kept:
            found = solve_each_target(self, rows, alpha, l1_ratio, kept, start)
        return store(self, stand_in, **learned(found, rows))

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return w·x + b for each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._plane_values(X)

    @property
    def sparse_coef_(self) -> Any:
        from scipy.sparse import csr_matrix

        return csr_matrix(self.coef_)


# Shared with the estimators that choose alpha


def check_l1_ratio(l1_ratio: Any) -> float:
    """Check a share of the lasso's penalty."""
    if check_number("l1_ratio", l1_ratio, at_least=0) > 1:
        raise ValueError(f"l1_ratio must be a number from 0 to 1, not {l1_ratio!r}.")
    return float(l1_ratio)


def check_common(estimator: Any) -> None:
    """Check the parameters that all estimators of this family have."""
    for name in ("fit_intercept", "copy_X", "positive"):
        check_flag(name, getattr(estimator, name))
    check_precompute(estimator.precompute)
    check_count("max_iter", estimator.max_iter)
    check_number("tol", estimator.tol, at_least=0)
    check_choice("selection", estimator.selection, ("cyclic", "random"))


def solve_each_target(
    estimator: Any,
    rows: Source,
    alpha: float,
    l1_ratio: float,
    kept: Checkpoint,
    start: Floats | None = None,
) -> list[Penalised]:
    """Fit every target by itself."""
    intercept, positive, n_jobs = estimator.fit_intercept, estimator.positive, estimator.n_jobs
    if alpha == 0:
        return unpenalised(rows, intercept=intercept, positive=positive, n_jobs=n_jobs)
    with one_blas_thread:  # once: to enter and leave at every step costs more than a small fit
        data = penalised_data(rows, intercept=intercept, n_jobs=n_jobs, kept=kept)
        begin: list[Any] = [None] * data.n_targets
        if start is not None and start.size == data.n_targets * data.n_features:
            begin = list(start.reshape(data.n_targets, -1).astype(np.float64))
        found = []
        for target in range(data.n_targets):
            known = kept.recall(f"target {target}")
            if known is not None:
                found.append(Penalised.from_notes(known))
                continue
            found += penalised_path(
                data, [alpha], target=target, l1_ratio=l1_ratio, positive=positive, tol=estimator.tol,
                max_iter=estimator.max_iter, start=begin[target],
            )  # fmt: skip
            kept.note(f"target {target}", **found[-1]._asdict())
    warn_of_gaps(type(estimator).__name__, open_gaps(found), estimator.max_iter, estimator.tol)
    return found


def learned(found: list[Penalised], rows: Source) -> dict[str, Any]:
    """Return solutions as the attributes of an estimator."""
    coef, offset = narrowed(
        rows.dtype,
        np.array([solved.coef for solved in found]),
        np.array([solved.intercept for solved in found]),
    )
    one = len(found) == 1
    gaps, sweeps = np.array([solved.gap for solved in found]), [solved.iterations for solved in found]
    return {
        "coef_": coef[0] if one else coef,
        "intercept_": float(offset[0]) if rows.single_target else offset,
        "dual_gap_": float(gaps[0]) if one else gaps,
        "n_iter_": sweeps[0] if one else sweeps,
    }
