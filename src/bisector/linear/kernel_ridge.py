"""Ridge regression in the feature space of a kernel."""

import warnings
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation
from bisector.engine.frames import is_frame, split_column
from bisector.engine.lazy_rows import by_rows
from bisector.engine.memory import readable, require
from bisector.engine.row_reasons import explain_row_sums
from bisector.engine.targets import check_numbers
from bisector.engine.validation import blank, check_number, check_weights, store
from bisector.kernels import Custom, Kernel, Precomputed, resolve
from bisector.kernels.gram_matrices import checked_square
from bisector.kernels.tiles import all_products
from bisector.kernels.value_blocks import value_blocks
from bisector.solvers.feature_rows import FeatureRows, check_items, count, picked
from bisector.solvers.kernel_ridge import KernelRidgeSolution, kernel_ridge, kernel_spectrum

Floats = NDArray[np.floating[Any]]

# Kernels that scikit-learn knows by name and this library does not.
_THEIRS = ("additive_chi2", "chi2", "cosine", "sigmoid")


class KernelRidge(MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Ridge regression in the feature space of a kernel: f(x) = Σᵢ cᵢ k(xᵢ, x) with the least Σ(y − f(x))² + α‖f‖².

    A drop-in for scikit-learn's estimator that takes any kernel, also of strings and sets, and can choose α by
    exact leave-one-out errors, all of them from one eigendecomposition. There is no intercept: add 1 to the
    kernel, or centre y.

    Parameters
    ----------
    alpha : float or array of shape (n_targets,), default=1
        How much the length of f costs: not negative; one for all targets, or one for each. Not looked at if
        `alphas` are given.
    kernel : str, Kernel or callable, default="linear"
        A kernel of `bisector.kernels`, or its name; one of scikit-learn's names; "precomputed", if X holds the
        kernel's values; or a function of two rows.
    gamma, degree, coef0 : as in scikit-learn
        Parameters of kernels given by name; those that a kernel does not have are ignored.
    kernel_params : dict, default=None
        More parameters of a kernel given by name, or arguments of a function.
    alphas : array of shape (n_alphas,), default=None
        Positive penalties of which to take the one with the least mean squared error at rows left out.
    n_jobs : int, default=None
        Number of threads that compute kernel values; None means all cores allowed here, one inside a joblib worker.
        The result is the same, bit for bit, for any number.

    Attributes
    ----------
    dual_coef_ : array of shape (n_samples,) or (n_samples, n_targets)
        The c above, in float64: they cancel in predictions.
    X_fit_ : the training rows, or the kernel's values if precomputed
        Rows without weight are left out.
    kernel_ : Kernel
        The kernel, with what it learned from the rows.
    alpha_ : float or array of shape (n_targets,)
    gap_ : float
        Bound on how much of Σy² the objective lies above its minimum.
    alphas_, leave_one_out_errors_, degrees_of_freedom_ : array of shape (n_alphas,)
        If `alphas` were given: the mean squared errors at rows left out, and the effective numbers of parameters.
        Errors have the shape (n_alphas, n_targets) if y has several targets.
    n_features_in_ : int, if rows are numbers
    feature_names_in_ : array of str, if X has string column names

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import KernelRidge
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = KernelRidge(kernel="rbf", gamma=0.5, alphas=[1e-6, 1e-3, 1.0]).fit(X, y)
    >>> model.alpha_, bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 1e-3)
    (1e-06, True)
    """

    _instead_of_gathering = "use Ridge"

    def __init__(
        self,
        alpha: float | ArrayLike = 1,
        *,
        kernel: str | Kernel | Callable[..., float] = "linear",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        alphas: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.alphas = alphas
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the coefficients.

        Parameters
        ----------
        X : rows of what the kernel compares: array, sparse matrix or frame of shape (n_samples, n_features), \
strings, sets; or kernel values of shape (n_samples, n_samples)
        y : array of shape (n_samples,) or (n_samples, n_targets), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        kernel, stand_in = self._kernel(), blank(self)
        if isinstance(y, str) and is_frame(X):
            X, y = split_column(X, y)
        items = _own(check_items(stand_in, X, kernel, reset=True))
        numbers = check_numbers(self, y, count(items))
        alpha = _check_strengths("alpha", self.alpha, numbers.values.shape[1], zero=True)
        weight = check_weights(sample_weight, count(items))
        targets = numbers.values
        if weight is not None and not isinstance(kernel, Precomputed):
            counted = np.flatnonzero(weight)
            items, targets, weight = picked(items, counted), targets[counted], weight[counted]
        rows = FeatureRows.of(kernel, items)
        gram = self._gram(rows, copies=1 if self.alphas is None else 3)
        root = None if weight is None else np.sqrt(weight)
        learned: dict[str, Any] = {}
        if root is not None:
            gram *= root
            gram *= root[:, None]
            targets = targets * root[:, None]
        if self.alphas is None:
            found = kernel_ridge(gram, targets, alpha)
        else:
            total = len(targets) if weight is None else float(weight.sum())
            found, learned = self._chosen(gram, targets, total, numbers.single)
            alpha = np.array([learned["alpha_"]])
        if not found.psd:
            warnings.warn(
                f"{rows.kernel!r} has negative eigenvalues on these rows, so that no feature space belongs to it, "
                "and the solution need not be a minimum: use a kernel whose psd is True.",
                stacklevel=2,
            )
        dual = found.dual if root is None else found.dual * root[:, None]
        return store(
            self,
            stand_in,
            dual_coef_=dual[:, 0] if numbers.single else dual,
            X_fit_=items,
            kernel_=rows.kernel,
            gap_=found.gap,
            **({"alpha_": float(alpha[0]) if len(alpha) == 1 else alpha} | learned),
            _rows=rows,
            _dtype=np.dtype(np.float32 if getattr(items, "dtype", None) == np.float32 else np.float64),
        )

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return f(x) for each row.

        Parameters
        ----------
        X : as for `fit`; if the kernel is precomputed, its values with the training rows, of shape \
(n_samples, n_training_samples)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        check_is_fitted(self)
        items = check_items(self, X, self.kernel_, reset=False)
        dual = self.dual_coef_[:, None] if self.dual_coef_.ndim == 1 else self.dual_coef_
        values = self._rows.sums(items, dual, n_jobs=self.n_jobs)
        return (values[:, 0] if self.dual_coef_.ndim == 1 else values).astype(self._dtype, copy=False)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: what each training row adds, its coefficient times the kernel.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            With an account for each target, which adds up to the prediction.
        """
        check_is_fitted(self)
        items = check_items(self, X, self.kernel_, reset=False)
        dual = self.dual_coef_.reshape(len(self.dual_coef_), -1)
        found = []
        for _, values in value_blocks(self.kernel_, items, self._rows.prepared, n_jobs=self.n_jobs):
            found += explain_row_sums(values, dual, single=self.dual_coef_.ndim == 1)
        return found

    def _kernel(self) -> Kernel:
        params = dict(self.kernel_params or {})
        if isinstance(self.kernel, str) and self.kernel in _THEIRS:
            from sklearn.metrics.pairwise import pairwise_kernels

            given = {"gamma": self.gamma, "coef0": self.coef0} | params
            return Custom(partial(pairwise_kernels, metric=self.kernel, filter_params=True, **given))
        if callable(self.kernel) and not isinstance(self.kernel, Kernel | type):
            return Custom(partial(self.kernel, **params) if params else self.kernel, rowwise=True)
        return resolve(self.kernel, gamma=self.gamma, coef0=self.coef0, degree=self.degree, **params)

    def _gram(self, rows: FeatureRows, copies: int) -> NDArray[np.float64]:
        """Return the Gram matrix in float64, to be overwritten."""
        n = count(rows.items)
        require(
            8 * n * n * copies,
            doing=f"kernel ridge regression on {n:,} rows",
            holding=f"{n:,} × {n:,} kernel values ({readable(8 * n * n)} a copy)",
            instead="use fewer rows, or Ridge on kernel.feature_map(X) where the kernel has one",
        )
        if rows.prepared is None:
            return np.array(checked_square(rows.items, "X"), dtype=np.float64, order="C")
        out = np.empty((n, n))
        return all_products(rows.kernel, rows.prepared, None, out, n_jobs=self.n_jobs)

    def _chosen(
        self, gram: NDArray[np.float64], targets: NDArray[np.float64], total: float, single: bool
    ) -> tuple[KernelRidgeSolution, dict[str, Any]]:
        """Choose alpha by leave-one-out errors, and solve for it."""
        alphas = _check_strengths("alphas", self.alphas, None, zero=False)
        if len(targets) < 2:
            raise ValueError(
                f"To choose among alphas one row is left out at a time, but there is {len(targets)} sample: give "
                "more, or one alpha."
            )
        spectrum = kernel_spectrum(gram)
        left_out = spectrum.leave_one_out(targets, alphas)
        errors = left_out.squares / total
        best = int(np.argmin(errors.mean(axis=0)))
        learned = {
            "alpha_": float(alphas[best]),
            "alphas_": alphas,
            "leave_one_out_errors_": errors[0] if single else errors.T,
            "degrees_of_freedom_": left_out.degrees_of_freedom,
        }
        return spectrum.solution(targets, float(alphas[best])), learned

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags


def _own(items: Any) -> Any:
    """Copy arrays, which the user may change later while predictions still need the rows."""
    return items.copy() if isinstance(items, np.ndarray) or hasattr(items, "tocsr") else items


def _check_strengths(name: str, values: Any, n_targets: int | None, *, zero: bool) -> NDArray[np.float64]:
    """Return penalties as an array; if there are targets, one for all of them or one for each."""
    limit = {"at_least": 0.0} if zero else {"above": 0.0}
    checked = np.array(
        [check_number(name, one, **limit) for one in np.ravel(np.asarray(values, dtype=object))]
    )
    if not len(checked) or not np.isfinite(checked).all():
        raise ValueError(f"{name} must hold finite numbers, not {values!r}.")
    if n_targets is not None and len(checked) not in (1, n_targets):
        raise ValueError(
            f"{name} holds {len(checked)} numbers, but y has {n_targets} target(s): give one for each, or one "
            "for all."
        )
    return checked
