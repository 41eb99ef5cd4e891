"""Ridge regression: least squares that holds its coefficients small."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sources import Source
from bisector.engine.validation import (
    check_choice,
    check_count,
    check_flag,
    check_number,
    check_rows,
    check_training,
    store,
)
from bisector.linear.planes import HasPlanes, narrowed
from bisector.linear.smoother_reasons import training_rows, with_row_accounts
from bisector.solvers.equivalent_kernel import equivalent_kernel
from bisector.solvers.ridge import Method, RidgeSolution, ridge
from bisector.solvers.tikhonov import Tikhonov

Floats = NDArray[np.floating[Any]]

# What scikit-learn's names of solvers mean here.
METHODS: dict[str, Method] = {
    "auto": "auto",
    "svd": "svd",
    "cholesky": "cholesky",
    "lsqr": "iterative",
    "sparse_cg": "iterative",
    "sag": "iterative",
    "saga": "iterative",
    "lbfgs": "auto",
}


class Ridge(MultiOutputMixin, RegressorMixin, HasPlanes):
    """Ridge regression: the plane a + w·x with the smallest Σ(y − a − w·x)² + α‖w‖² (Flach, Equation 7.4).

    A drop-in for scikit-learn's estimator whose solution is exact to rounding for any data and any α (with α = 0 it
    is the least-squares solution), which can penalise features differently or through a matrix, and which tells
    how training targets make its predictions.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1.0
        How much coefficients cost: not negative; one for all targets, or one for each.
    fit_intercept : bool, default=True
        Whether the plane may miss the origin. The intercept costs nothing.
    copy_X : bool, default=True
        Without effect: X is never changed.
    max_iter : int, default=None
        Largest number of steps of the iterative method; by default ten times the number of features.
    tol : float, default=1e-4
        Precision of the iterative method: it ends when the objective is proven to lie above its minimum by at most
        tol² of Σ(y − ȳ)².
    solver : {"auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}, default="auto"
        "auto" factorises, unless X is sparse and so wide that iterating is faster. "cholesky" always factorises;
        "svd" does so without the products of features, which "auto" and "cholesky" avoid where they would lose
        digits. "lsqr", "sparse_cg", "sag" and "saga" all iterate by conjugate gradients. "lbfgs" goes only with
        positive=True.
    positive : bool, default=False
        Whether coefficients must not be negative.
    random_state : int, default=None
        Without effect: nothing is random.
    penalty : array of shape (n_features,) or (m, n_features), default=None
        What each feature's coefficient costs in units of alpha, α Σ pⱼwⱼ², 0 for free; or a matrix Γ, for the
        penalty α‖Γw‖² (Tikhonov). By default each costs 1.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
    intercept_ : float or array of shape (n_targets,)
    degrees_of_freedom_ : float or array of shape (n_targets,)
        Effective number of parameters: the trace of the matrix that takes the training targets to the fitted
        values, the intercept counted. NaN after iterating, which does not make it, and with positive=True if a
        coefficient was held at zero.
    n_iter_ : None or array of shape (n_targets,)
        Steps of the iterative method.
    solver_ : str
        "cholesky", "qr" (with refinement in twice the working precision), "svd", "nnls" (when positive=True had to
        hold a coefficient at zero), "cg" (conjugate gradients), or with alpha=0 that of LinearRegression.
    gap_ : float
        Estimate of the relative error of the coefficients as the solution of the problem; after iterating, a bound
        on how far the objective is above its minimum, as a share of Σ(y − ȳ)².
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight w counts as w equal rows. A penalty depends on the units of the features: to have them alike,
    divide each by its spread.

    References
    ----------
    Hoerl and Kennard (1970); Flach, *Machine Learning* (2012), section 7.1; *Learning From Data*, Problem 6.6.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import Ridge
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> model = Ridge(alpha=2.0).fit(X, [1.0, 3.0, 5.0])
    >>> model.coef_, model.intercept_, model.degrees_of_freedom_
    (array([1.]), 3.0, 1.5)
    >>> model.equivalent_kernel([[1.0]]).round(3)
    array([[0.083, 0.333, 0.583]])
    """

    def __init__(
        self,
        alpha: float | ArrayLike = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: Literal["auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"] = "auto",
        positive: bool = False,
        random_state: Any = None,
        penalty: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.penalty = penalty
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,) or (n_samples, n_targets), or the name(s) of columns of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        intercept = check_flag("fit_intercept", self.fit_intercept)
        check_flag("copy_X", self.copy_X)
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = None if self.max_iter is None else check_count("max_iter", self.max_iter)
        positive = check_flag("positive", self.positive)
        method = _method(self.solver, positive)
        rows, stand_in = check_training(self, X, y, sample_weight, multi_output=True)
        alpha = check_alpha(self.alpha, rows)
        penalty = check_penalty(self.penalty, rows.n_features)
        found = ridge(
            rows,
            alpha,
            penalty,
            intercept=intercept,
            method=method,
            positive=positive,
            tol=tol,
            max_iter=max_iter,
            n_jobs=self.n_jobs,
        )
        freedom = found.degrees_of_freedom
        return store(
            self,
            stand_in,
            **plane_of(found, rows),
            degrees_of_freedom_=float(freedom[0]) if rows.single_target else freedom,
            n_iter_=found.iterations,
            solver_=found.method,
            gap_=found.gap,
            _fitted_as=(alpha, penalty, intercept),
            _rows=rows,
        )

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return a + w·x for each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._plane_values(X)

    def explain_rows(self, X: Any, training: Any = None) -> list[Explanation]:
        """Say why each row is predicted as it is: what each feature adds, and what each training row.

        Parameters
        ----------
        X : as for `predict`
        training : (X, y) or (X, y, sample_weight), default=None
            The rows of the fit, for an account of what each target adds to the prediction; not needed while the
            model refers to them and they are at most 20,000.

        Returns
        -------
        list of Explanation
            With an account by features for each target, and where rows are known one by training rows.
        """
        explained = super().explain_rows(X)
        rows = training_rows(self, training)
        if rows is None or self.solver_ == "nnls":
            return explained
        alpha, penalty = check_alpha(self.alpha, rows), check_penalty(self.penalty, self.n_features_in_)
        return with_row_accounts(explained, self, X, rows, alpha, penalty, intercept=self.fit_intercept)

    def equivalent_kernel(self, X: Any) -> Floats:
        """Return the weights on the training targets that make the predictions at X (LFD, Problem 6.6).

        A prediction is the sum of the training targets times these weights: ``equivalent_kernel(X) @ y`` equals
        ``predict(X)``. Rows of X that are similar to a training row, as the penalised fit sees it, give it much
        weight. The model refers to the training data for this, without copying them, until it is pickled.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        array of shape (n_samples, n_training_samples), or (n_samples, n_training_samples, n_targets) if alpha \
differs between targets
        """
        check_is_fitted(self)
        if "_rows" not in vars(self):
            raise AttributeError(
                "equivalent_kernel needs the training data, which a model that was pickled or copied no longer "
                "has: fit it again."
            )
        if self.solver_ == "nnls":
            raise ValueError(
                "With coefficients held at zero by positive=True, predictions are no fixed weighing of the "
                "targets: fit with positive=False."
            )
        alpha, penalty, intercept = self._fitted_as
        strengths, place = np.unique(alpha, return_inverse=True)
        new = check_rows(self, X)
        kernels = [
            equivalent_kernel(
                self._rows, new, float(one), penalty, intercept=intercept, n_jobs=self.n_jobs
            ).astype(new.dtype, copy=False)
            for one in strengths
        ]
        return kernels[0] if len(kernels) == 1 else np.stack([kernels[k] for k in place], axis=-1)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_rows", "_fitted_as"):  # a model file holds what was learned, not the data
            state.pop(name, None)
        return state


def check_alpha(alpha: Any, rows: Source) -> NDArray[np.float64]:
    """Return one penalty for all targets, or one for each; none may be negative."""
    if np.ndim(alpha) == 0:
        strengths = np.array([check_number("alpha", alpha, at_least=0)])
    else:
        strengths = np.array([check_number("alpha", one, at_least=0) for one in np.ravel(alpha)])
    if not np.isfinite(strengths).all():
        raise ValueError(f"alpha must be finite, not {alpha!r}.")
    if len(strengths) > 1:
        n_targets = rows.n_targets
        if len(strengths) != n_targets:
            raise ValueError(
                f"alpha holds {len(strengths)} numbers, but y has {n_targets} target(s): give one for each, or one "
                "for all."
            )
    return strengths


def check_penalty(penalty: Any, n_features: int) -> Tikhonov:
    """Return the penalty that weights of features, or a matrix, stand for."""
    if penalty is None:
        return Tikhonov.plain(n_features)
    try:
        values = np.array(penalty, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("penalty must hold numbers: a weight for each feature, or a matrix.") from None
    if values.ndim not in (1, 2) or values.shape[-1] != n_features or not values.size:
        raise ValueError(
            f"penalty has the shape {values.shape}, but X has {n_features} features: give one weight for each, or "
            "a matrix with one column for each."
        )
    if not np.isfinite(values).all():
        raise ValueError("penalty must be finite.")
    if values.ndim == 2:
        return Tikhonov.of_matrix(values)
    if (values < 0).any():
        feature = int(np.argmax(values < 0))
        raise ValueError(
            f"penalty is negative for feature {feature} ({values[feature]:g}): weights must be zero or positive."
        )
    return Tikhonov(values)


def _method(solver: Any, positive: bool) -> Method:
    name = check_choice("solver", solver, tuple(METHODS))
    if positive and name not in ("auto", "lbfgs"):
        raise ValueError(f"positive=True goes with solver='auto' or 'lbfgs', not {name!r}.")
    if name == "lbfgs" and not positive:
        raise ValueError("solver='lbfgs' goes with positive=True only: use 'auto'.")
    return METHODS[name]


def plane_of(found: RidgeSolution, rows: Source) -> dict[str, Any]:
    """Return the plane in the form and precision of the data."""
    coef, offset = narrowed(rows.dtype, found.coef.T, found.intercept)
    single = rows.single_target
    return {"coef_": coef[0] if single else coef, "intercept_": float(offset[0]) if single else offset}
