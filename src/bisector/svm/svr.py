"""Regression within a tube, in the feature space of any kernel."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from bisector.engine.checkpoint import checkpoint_of_pairs
from bisector.engine.explanation import Explanation, feature_names
from bisector.engine.lazy_rows import by_rows
from bisector.engine.plane_reasons import explain_values
from bisector.engine.row_reasons import explain_row_sums
from bisector.engine.threads import one_blas_thread
from bisector.engine.validation import blank, check_finite, check_training, check_weights, store
from bisector.kernels import Kernel, Linear
from bisector.solvers.held_rows import held
from bisector.solvers.support_vectors import SupportVectors, regress
from bisector.svm.kernel_machine import KernelMachine
from bisector.svm.training_lines import foreign_items, is_foreign, smallest_eigenvalue

Floats = NDArray[np.float64]


class SVR(RegressorMixin, KernelMachine):
    """The flattest function of which targets lie at most ε away, but for slack, in the feature space of a kernel.

    It minimises ½‖w‖² + C Σξ subject to y − w·φ(x) − b within ±(ε + ξ). A drop-in for scikit-learn's estimator that
    takes any kernel and proves how close it came to the optimum.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        As of `SVC`, as are all parameters that are not described here.
    degree : int, default=3
    gamma : {"scale", "auto"} or float, default="scale"
    coef0 : float, default=0.0
    tol : float, default=1e-3
        By how much the optimality conditions may be violated, in units of y.
    C : float, default=1.0
        What a unit of slack costs: finite, above 0.
    epsilon : float, default=0.1
        Half the width of the tube, not negative.
    shrinking : bool, default=True
        Without effect.
    cache_size : float, default=200
        Without effect.
    verbose : bool, default=False
    max_iter : int, default=-1
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. The result is the same, bit for bit, for any number.
    warm_start : bool, default=False
        Begin with the solution of the last fit if it had as many rows.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds two multipliers and f(x) of every row, 24 bytes,
        and what `SVC` keeps of the lines of the Gram matrix.

    Attributes
    ----------
    support_ : array of int of shape (n_support,)
        The numbers of the support vectors: rows on the edge of the tube, or outside.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features), or list
    n_support_ : array of int of shape (1,)
    dual_coef_ : array of shape (1, n_support)
        α⁺ − α⁻ of the support vectors.
    intercept_ : array of shape (1,)
    coef_ : array of shape (1, n_features)
        For the linear kernel only.
    fit_status_, shape_fit_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    alpha_ : array of shape (n_samples,)
        α⁺ + α⁻ of each training row, of which one is 0.
    slack_ : array of shape (n_samples,)
        How far each training row lies outside the tube; NaN for rows without weight.
    objective_ : float
        ½‖w‖² + Σ Cξ.
    dual_gap_ : float
        The objective is at most this far above its minimum.
    kkt_violation_ : float
        The largest violation of the optimality conditions.
    kernel_ : Kernel
        The kernel with what it learned from the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import SVR
    >>> x = np.array([[0.0], [1.0], [2.0]])
    >>> model = SVR(kernel="linear", C=10.0, epsilon=0.5).fit(x, 3 * x[:, 0])
    >>> model.coef_.round(6), model.predict([[4.0]]).round(6)
    (array([[2.5]]), array([10.5]))
    """

    _targets: Floats
    _epsilon: float
    _plane: SupportVectors

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: Any = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the flattest function.

        Parameters
        ----------
        X : rows
            As for `SVC.fit`.
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        check_finite("C", self.C, above=0)
        epsilon = check_finite("epsilon", self.epsilon, at_least=0)
        kernel = self._resolved()
        items, targets, weight, stand_in = self._check_targets(X, y, sample_weight, kernel)
        training = self._training_lines(self._weighted(kernel, items, weight), items)
        members = np.arange(len(targets)) if weight is None else np.flatnonzero(weight)
        costs = self.C * (np.ones(len(targets)) if weight is None else weight)[members]
        lines = training.among(members, allowed_error=self._bearable_error(costs), sharing=1)
        former = vars(self).get("_plane") if self.warm_start else None
        start = former.beta if former is not None and len(former.beta) == len(members) else None
        with (
            checkpoint_of_pairs(
                self.checkpoint, self, training.some_values, len(targets), what="kernel values",
                targets=targets, weights=weight,
                rows=None if is_foreign(X, kernel) else items,
                start=[] if start is None else [start],
            ) as kept,
            one_blas_thread,  # once: to enter and leave at every step costs more than a small fit
        ):  # fmt: skip
            plane = regress(
                lines, targets[members], costs, epsilon, tolerance=self.tol, max_iter=self.max_iter,
                start=start, verbose=self.verbose, kept=kept,
            )  # fmt: skip
        weighing = np.flatnonzero(plane.beta)
        eigenvalue = smallest_eigenvalue(
            training.kernel, lines, weighing, plane.negative_curvature, training.precision
        )
        self._warn([plane], [eigenvalue])
        support, offset = members[weighing], plane.offset - training.moved(members, plane.beta)
        values = np.full(len(targets), np.nan)
        values[members] = plane.values
        return store(
            self,
            stand_in,
            support_=support.astype(np.int32),
            support_vectors_=training.vectors(support),
            n_support_=np.array([len(support)], dtype=np.int32),
            dual_coef_=plane.beta[weighing][None, :],
            intercept_=np.array([offset]),
            fit_status_=0 if plane.converged else 1,
            n_iter_=plane.iterations,
            shape_fit_=tuple(items.shape) if hasattr(items, "shape") else (len(items),),
            slack_=np.maximum(0.0, np.abs(targets - values) - epsilon),
            objective_=plane.objective,
            dual_gap_=plane.gap,
            kkt_violation_=plane.violation,
            kernel_=training.kernel,
            _kernel=training.kernel,
            _plane=plane,
        )

    def _check_targets(
        self, X: Any, y: Any, sample_weight: ArrayLike | None, kernel: Kernel
    ) -> tuple[Any, Floats, Any, Any]:
        """Check the training rows: items as the kernel takes them, targets, weights, and a stand-in."""
        if is_foreign(X, kernel):
            from bisector.engine.targets import check_numbers

            items = foreign_items(X)
            targets = check_numbers(self, y, len(items)).values[:, 0]
            return items, targets, check_weights(sample_weight, len(items)), blank(self)
        rows, stand_in = check_training(self, X, y, sample_weight)
        items = held(rows, "Fitting SVR")
        targets = rows.y if rows.y is not None else np.concatenate([block.y for block in rows.blocks()])
        return items, np.asarray(targets, dtype=np.float64), rows.sample_weight, stand_in

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return f(x) for each row.

        Parameters
        ----------
        X : as for `fit`; for ``kernel="precomputed"``, the kernel values of each row with all training rows

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._sums(X, self.dual_coef_.T, self.intercept_)[:, 0]

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is predicted as it is: what each support vector adds.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            The account by support vectors adds up to the prediction; with a linear kernel, so does a first one by
            features.
        """
        check_is_fitted(self)
        found: list[Explanation] = []
        for values in self._support_values(X):
            found += explain_row_sums(
                values, self.dual_coef_.T, offsets=self.intercept_, rows=self.support_, single=True,
            )  # fmt: skip
        if not isinstance(self._kernel, Linear):
            return found
        names = feature_names(self, self.n_features_in_)
        planes = self._planes(self.dual_coef_.T)
        by_features = explain_values(self._held_rows(X), planes, self.intercept_, names, single=True)
        return [
            replace(one, accounts=[*one.accounts, *other.accounts])
            for one, other in zip(by_features, found, strict=True)
        ]

    @property
    def alpha_(self) -> Floats:
        check_is_fitted(self)
        alpha = np.zeros(self.shape_fit_[0])
        alpha[self.support_] = np.abs(self.dual_coef_[0])
        return alpha

    @property
    def coef_(self) -> NDArray[Any]:
        self._require_linear()
        planes = np.asarray(self.support_vectors_.T @ self.dual_coef_.T, dtype=np.float64).T
        return np.ascontiguousarray(planes, dtype=self.support_vectors_.dtype)
