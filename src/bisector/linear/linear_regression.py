"""Least-squares regression, with what it can say about its own coefficients."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.blocks import Block
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.show import Sheet
from bisector.engine.validation import (
    check_choice,
    check_flag,
    check_number,
    check_rows,
    check_training,
    store,
)
from bisector.linear.planes import HasPlanes, narrowed
from bisector.linear.smoother_reasons import training_rows, with_row_accounts
from bisector.measures.inference import Inference, UnivariateInference
from bisector.solvers.least_squares import decomposed_least_squares, least_squares, nonnegative
from bisector.solvers.tikhonov import Tikhonov

Floats = NDArray[np.floating[Any]]


class LinearRegression(MultiOutputMixin, RegressorMixin, HasPlanes):
    """Ordinary least squares: the plane a + b·x with the smallest sum of squared residuals.

    A drop-in for scikit-learn's estimator that reads data once, in blocks, from memory or from disk; is
    accurate on badly scaled and nearly dependent columns; and tells how far its coefficients can be trusted.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the plane may miss the origin.
    copy_X : bool, default=True
        Without effect: X is never changed.
    tol : float, default=1e-6
        Precision of the iterative method, used only for sparse X with so many features that the products of
        every two of them exceed the memory budget.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.
    positive : bool, default=False
        Whether coefficients must not be negative.
    decomposed : bool, default=False
        Fit every feature alone, as if features were uncorrelated (Flach, Equation 7.2): d univariate
        regressions instead of one multivariate. Standard errors and tests are then those of the univariate
        fits; the intercept has none.

    Attributes
    ----------
    coef_ : array of shape (n_features,) or (n_targets, n_features)
        Coefficients; of several best solutions (dependent features) the one of least length.
    intercept_ : float or array of shape (n_targets,)
    rank_ : int
        Number of independent features, constant ones not counted when there is an intercept.
    condition_number_ : float
        Of the features in units of their own spread: 1 if they are uncorrelated (or, with decomposed=True,
        taken to be), infinite if dependent.
    residual_variance_ : float or array of shape (n_targets,)
        Sum of squared residuals over the degrees of freedom, n minus the number of coefficients.
    standard_errors_, t_values_, p_values_ : array of shape (n_coefficients,) or (n_targets, n_coefficients)
        For every coefficient, the intercept first if there is one; NaN where the data determine none.
    r2_, adjusted_r2_ : float or array of shape (n_targets,)
        Share of the variation in y explained on the training data.
    leverage_ : array of shape (n_samples,)
        How much each training target pulls its own prediction. Computed when asked for: the model refers to
        the training data (without copying it) until it is pickled.
    singular_ : array
        Singular values of X, centred if there is an intercept, as scikit-learn gives them.
    solver_ : str
        "cholesky", "qr" (with refinement in twice the working precision), "nnls" (when positive=True had to hold
        a coefficient at zero) or "lsmr".
    gap_ : float
        Estimate of the relative error of the coefficients as the solution of the least-squares problem.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight w counts as w equal rows, in the standard errors too. Weights that only compare the
    precision of rows should therefore sum to the number of rows.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.1.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import LinearRegression
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 2.0], [2.0, 3.0]])
    >>> model = LinearRegression().fit(X, X @ [1.0, 2.0] + 3.0)
    >>> model.coef_.round(6), round(model.intercept_, 6)
    (array([1., 2.]), 3.0)
    >>> model.predict([[3.0, 5.0]]).round(6)
    array([16.])
    """

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
        decomposed: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive
        self.decomposed = decomposed

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the least-squares coefficients.

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
        check_number("tol", self.tol, at_least=0)
        positive, decomposed = (
            check_flag("positive", self.positive),
            check_flag("decomposed", self.decomposed),
        )
        if positive and decomposed:
            raise ValueError("positive=True and decomposed=True cannot be combined: set one of them.")
        rows, stand_in = check_training(self, X, y, sample_weight, multi_output=True)
        if decomposed:
            found = decomposed_least_squares(rows, intercept=intercept, n_jobs=self.n_jobs)
        else:
            found = least_squares(rows, intercept=intercept, tol=self.tol, n_jobs=self.n_jobs)
            if positive and (found.coef < 0).any():
                found = nonnegative(rows, found, n_jobs=self.n_jobs)
        single = rows.single_target
        coef, offset = narrowed(rows.dtype, found.coef.T, found.intercept)
        return store(
            self,
            stand_in,
            coef_=coef[0] if single else coef,
            intercept_=float(offset[0]) if single else offset,
            solver_=found.method,
            gap_=found.gap,
            _found=found,
            _judged_as=UnivariateInference if decomposed else Inference,
            _has_intercept=intercept,
            _rows=rows,
        )

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return a + b·x for each row.

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
        if rows is None or self.solver_ == "nnls" or self._judged_as is UnivariateInference:
            return explained  # no fixed weighing of the targets, or one of each feature alone
        plain = Tikhonov.plain(self.n_features_in_)
        return with_row_accounts(explained, self, X, rows, np.zeros(1), plain, intercept=self._has_intercept)

    # How sure: everything below follows from what `fit` stored and is computed when asked for.

    @property
    def rank_(self) -> int:
        return self._inference.columns.rank

    @property
    def condition_number_(self) -> float:
        return self._inference.columns.condition_number

    @property
    def singular_(self) -> Floats:
        found = self._inference.columns.raw_singular_values
        values = np.zeros(max(len(found), min(self._found.n_rows, self.n_features_in_)))
        values[: len(found)] = found
        return values

    @property
    def residual_variance_(self) -> Any:
        return self._per_target(self._inference.residual_variance)

    @property
    def standard_errors_(self) -> Floats:
        return self._per_target(self._inference.standard_errors)

    @property
    def t_values_(self) -> Floats:
        return self._per_target(self._inference.t_values)

    @property
    def p_values_(self) -> Floats:
        return self._per_target(self._inference.p_values)

    @property
    def r2_(self) -> Any:
        return self._per_target(self._inference.r2)

    @property
    def adjusted_r2_(self) -> Any:
        return self._per_target(self._inference.adjusted_r2)

    @property
    def leverage_(self) -> Floats:
        inference = self._inference
        if "_rows" not in vars(self):
            raise AttributeError(
                "leverage_ needs the training data, which a model that was pickled or copied no longer has: "
                "call leverage(X)."
            )
        return self._at_rows(block_leverage, self._rows.in_dense_blocks(), inference)

    @by_rows
    def leverage(self, X: Any) -> Floats:
        """Return how far out each row lies, as the fit sees it: the leverage it would have as a training row.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._at_rows(block_leverage, check_rows(self, X).in_dense_blocks(), self._inference)

    def confidence_intervals(self, level: float = 0.95) -> Floats:
        """Return intervals that hold the true coefficients with probability `level`, each by itself.

        Parameters
        ----------
        level : float, default=0.95

        Returns
        -------
        array of shape (n_coefficients, 2) or (n_targets, n_coefficients, 2)
            Lower and upper end for every coefficient, the intercept first if there is one.
        """
        level = check_number("level", level, above=0, below=1)
        return self._per_target(self._inference.confidence_intervals(level))

    @by_rows
    def predict_interval(self, X: Any, level: float = 0.95, kind: Literal["mean", "new"] = "new") -> Floats:
        """Return intervals around the predictions.

        Parameters
        ----------
        X : as for `predict`
        level : float, default=0.95
        kind : {"mean", "new"}, default="new"
            Whether the interval is to hold the mean of y at x (the plane itself) or a single new y.

        Returns
        -------
        array of shape (n_samples, 2) or (n_samples, 2, n_targets)
            Lower and upper end; infinite where the training data say nothing about a row's direction.
        """
        level = check_number("level", level, above=0, below=1)
        new = check_choice("kind", kind, ("mean", "new")) == "new"
        rows, inference = check_rows(self, X).in_dense_blocks(), self._inference
        inference.require_errors()
        ends = self._at_rows(block_interval, rows, inference, level, new)
        return ends[..., 0] if self._single_target else ends

    def summary(self, feature_names: Sequence[str] | None = None) -> Sheet:
        """Describe the fit as R's ``summary(lm)`` does, and say in plain words what not to trust.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            What to call the features; by default as the columns of X were called, or x0, x1, ….

        Returns
        -------
        Sheet
            Prints as text; shows as HTML in a notebook.
        """
        from .regression_summary import summarize

        inference = self._inference
        if feature_names is None:
            numbered = [f"x{j}" for j in range(self.n_features_in_)]
            feature_names = getattr(self, "feature_names_in_", numbered)
        names = [str(name) for name in feature_names]
        if len(names) != self.n_features_in_:
            raise ValueError(f"{len(names)} feature_names were given for {self.n_features_in_} features.")
        return summarize(inference, names, getattr(self, "_rows", None), n_jobs=self.n_jobs)

    @property
    def _inference(self) -> Inference:
        check_is_fitted(self)
        return self._judged_as(self._found, intercept=self._has_intercept)

    @property
    def _single_target(self) -> bool:
        return self.coef_.ndim == 1

    def _per_target(self, values: NDArray[np.float64]) -> Any:
        """Drop the axis of targets where y had none."""
        if not self._single_target:
            return values
        return values[0] if values.ndim > 1 else float(values[0])

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_rows", None)  # a model file holds what was learned, not the data
        return state


def block_leverage(block: Block, inference: Inference) -> NDArray[np.float64]:
    """Make the leverages of one block's rows; a weighted row pulls with its weight."""
    with np.errstate(over="ignore", invalid="ignore"):
        leverage = inference.leverage(_dense(block))
    return leverage if block.sample_weight is None else leverage * block.sample_weight


def block_interval(block: Block, inference: Inference, level: float, new: bool) -> NDArray[np.float64]:
    """Make lower and upper ends, (rows, 2, targets), for one block's rows."""
    X, fit = _dense(block), inference.fit
    with np.errstate(over="ignore", invalid="ignore"):
        middle, half = X @ fit.coef + fit.intercept, inference.half_widths(X, level, new=new)
        return np.stack([middle - half, middle + half], axis=1)


def _dense(block: Block) -> NDArray[np.float64]:
    X = block.dense
    return X.astype(np.float64, copy=False)
