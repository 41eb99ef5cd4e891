"""Logistic regression, with a proof of its optimum and what it can say about its own coefficients."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from bisector.engine.callbacks import CallbackSupport, Iterations, iterations, with_callbacks
from bisector.engine.checkpoint import checkpoint_of
from bisector.engine.columns import mapped
from bisector.engine.lazy_rows import by_rows
from bisector.engine.row_sums import total_weight
from bisector.engine.show import Sheet
from bisector.engine.sources import Source
from bisector.engine.sparse_planes import DecidesBySparsePlanes
from bisector.engine.validation import (
    check_choice,
    check_classes,
    check_count,
    check_flag,
    check_number,
    store,
)
from bisector.linear.planes import PlaneClassifier, narrowed
from bisector.solvers.logistic import logistic
from bisector.solvers.logistic_task import LogisticFit, Watch

from .logistic_summary import LogisticInference

Floats = NDArray[np.floating[Any]]

SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


class LogisticRegression(CallbackSupport, DecidesBySparsePlanes, PlaneClassifier):
    """Logistic regression: planes whose scores w·x + b are the log-odds of classes.

    A drop-in for scikit-learn's estimator that minimises the same objective,

        Σᵢ wᵢ ℓᵢ(w, b) + (1/C) (ρ‖w‖₁ + ½(1 − ρ)‖w‖²),   ρ = l1_ratio,

    with ℓᵢ minus the log of the probability that row i's own class is given. It is solved to a certificate,
    whatever the units of the columns; tells when an unpenalised likelihood has no maximum; and, when it has one,
    how far its coefficients can be trusted.

    Parameters
    ----------
    penalty : {"l1", "l2", "elasticnet", None}, default="deprecated"
        As in scikit-learn, superseded by `C` and `l1_ratio`: None means C=inf, "l2" and "l1" mean an `l1_ratio` of
        0 and 1.
    C : float, default=1.0
        Inverse of the strength of the penalty; inf for none. The intercept is never penalised.
    l1_ratio : float, default=0.0
        Share ρ of the absolute values in the penalty, from 0 to 1; the rest is of squares.
    dual : bool, default=False
        Without effect: there is one solution, however it is found.
    tol : float, default=1e-4
        The largest absolute entry that the gradient of the objective, divided by the sum of the weights, may keep
        (with corners, its least subgradient). Where it costs next to nothing, as with few features, the solution is
        exact up to rounding; with many features and a penalty, the duality gap must also be below `tol` times the
        loss of constant probabilities.
    fit_intercept : bool, default=True
        Whether planes may miss the origin.
    intercept_scaling : float, default=1
        Without effect: the intercept is not penalised, so there is nothing to scale.
    class_weight : dict, "balanced" or None, default=None
        What rows of each class weigh; "balanced" gives all classes the same weight together.
    random_state : int, RandomState or None, default=None
        Without effect: nothing is drawn at random.
    solver : {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}, default="lbfgs"
        "newton-cholesky" asks for Newton's method with all second derivatives, "newton-cg" for conjugate gradients;
        with any other word the shape of the data decides between the two. With an `l1_ratio` above 0, all words
        mean proximal Newton steps by coordinate descent. All find the same solution.
    max_iter : int, default=100
        The most Newton steps; ordinary data take about ten.
    verbose : int, default=0
        Whether to show a progress bar.
    warm_start : bool, default=False
        Whether to begin at the coefficients of the last fit.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the same,
        bit for bit, for any number.
    scheme : {"multinomial", "one-vs-rest"}, default="multinomial"
        For more than two classes: the softmax of all scores, or one two-class problem for each class, whose
        probabilities are divided by their sum.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Of several best solutions (dependent features without penalty) the one of least length.
    intercept_ : array of shape (1,) or (n_classes,)
        Summing to zero for more than two classes.
    n_iter_ : array of shape (1,), or (n_classes,) for one-vs-rest
        Newton steps taken.
    gradient_norm_ : float
        Largest absolute entry of the gradient (or least subgradient) of the objective at the solution, divided by
        the sum of the weights: zero at the optimum.
    dual_gap_ : float
        The objective, divided by the sum of the weights, is at most so far above its minimum; infinite without
        penalty.
    converged_ : bool
        Whether the gradient is as small as `tol` asks for, or as rounding allows.
    separable_ : bool
        Without penalty: whether planes separate a class from the others, except for rows on them. The likelihood
        then grows with the length of w for ever; where the fit stopped, probabilities are near 0 and 1 and
        coefficients mean nothing. A warning says so. Always false with a penalty.
    solver_ : str
        "newton-cholesky", "newton-cg" or "proximal-newton".
    standard_errors_, z_values_, p_values_ : array of shape (n_coefficients,) or (n_classes, n_coefficients)
        Without penalty: for every coefficient, the intercept first if there is one; NaN where the data determine
        none. For more than two classes the coefficients are those that sum to zero over the classes.
    deviance_, null_deviance_, aic_ : float
        Twice minus the log-likelihood, of the fit and of constant probabilities; and the deviance plus twice the
        number of coefficients.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight w counts as w equal rows, in the standard errors too. Standard errors are those of maximum
    likelihood: roots of the diagonal of the inverse Fisher information.

    References
    ----------
    Flach, *Machine Learning* (2012), sections 7.4 and 9.3.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import LogisticRegression
    >>> X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> model = LogisticRegression(C=np.inf).fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> model.coef_.round(4), model.intercept_.round(4)
    (array([[1.214]]), array([-4.2491]))
    >>> model.predict_proba([[3.5]]).round(6)
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        penalty: Any = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        scheme: Literal["multinomial", "one-vs-rest"] = "multinomial",
        checkpoint: Any = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.scheme = scheme
        self.checkpoint = checkpoint

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the planes.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, path of a Parquet file or \
folder, Dask array or dataframe, or list of delayed blocks, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        C, ratio = self._penalty()
        intercept = check_flag("fit_intercept", self.fit_intercept)
        solver = check_choice("solver", self.solver, SOLVERS)
        single = check_choice("scheme", self.scheme, ("multinomial", "one-vs-rest")) == "multinomial"
        tol = check_number("tol", self.tol, at_least=0)
        max_iter = check_count("max_iter", self.max_iter, at_least=1)
        warm = check_flag("warm_start", self.warm_start)
        check_flag("dual", self.dual)
        rows, codes, classes, stand_in = check_classes(self, X, y, sample_weight, self.class_weight)
        n_classes, rows.read_often = len(classes), True
        start = self._start(rows, classes) if warm else None
        problems = [(rows, n_classes, start)]
        if n_classes > 2 and not single:
            problems = [
                (_one_against_rest(rows, codes, k), 2, start and (start[0][[k]], start[1][[k]]))
                for k in range(n_classes)
            ]
        metadata = {"sample_weight": sample_weight}
        with (
            checkpoint_of(self.checkpoint, self, rows) as kept,
            iterations(
                self,
                "logistic regression",
                max_iter * len(problems),
                self.verbose,
                X=X,
                y=y,
                metadata=metadata,
            ) as steps,
        ):
            watch = _watcher(steps, classes if len(problems) == 1 else None)
            fits = [
                logistic(
                    part,
                    n_parts,
                    C=C,
                    l1_ratio=ratio,
                    intercept=intercept,
                    tol=tol,
                    max_iter=max_iter,
                    method=solver if solver.startswith("newton") else "",
                    start=begin,
                    watch=watch,
                    n_jobs=self.n_jobs,
                    kept=kept.part(f"problem {number}"),
                )
                for number, (part, n_parts, begin) in enumerate(problems)
            ]
        if not steps.stopped:
            _warn(fits, max_iter)
        coef, offset = narrowed(
            rows.dtype,
            np.concatenate([fit.coef for fit in fits]),
            np.concatenate([fit.intercept for fit in fits]),
            remedy="give the features in units closer to each other, or X as float64",
        )
        weight = total_weight(rows)
        inference = LogisticInference.of(fits, rows, n_classes, intercept) if np.isinf(C) else None
        return store(
            self,
            stand_in,
            classes_=classes,
            coef_=coef,
            intercept_=offset,
            n_iter_=np.array([fit.iterations for fit in fits], np.int32),
            gradient_norm_=max(fit.gradient_norm for fit in fits),
            dual_gap_=sum(fit.gap for fit in fits),
            converged_=all(fit.converged for fit in fits),
            separable_=any(fit.separable for fit in fits),
            solver_=fits[0].method,
            deviance_=2.0 * weight * sum(fit.loss for fit in fits),
            _inference=inference,
            _softmax=single,
        )

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class at each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1 or not self._softmax:
            # Both from the exponential of a negative number, so that neither overflows nor cancels.
            columns = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            small = np.exp(-np.abs(columns))
            shares = np.where(columns >= 0, 1, small) / (1 + small)
            if scores.ndim == 1:
                return shares
            totals = shares.sum(axis=1, keepdims=True)
            even = np.full_like(shares, 1 / shares.shape[1])
            return np.divide(shares, totals, out=even, where=totals > 0)
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)

    @by_rows
    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithms of `predict_proba`, exact also where probabilities are too small for a number.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.logaddexp(0, np.column_stack([scores, -scores]))
        logs = scores if self._softmax else -np.logaddexp(0, -scores)
        logs = logs - logs.max(axis=1, keepdims=True)
        return logs - np.log(np.exp(logs).sum(axis=1, keepdims=True))

    # How sure: everything below follows from what `fit` stored.

    @property
    def standard_errors_(self) -> Floats:
        return self._per_class(self._sure.standard_errors)

    @property
    def z_values_(self) -> Floats:
        return self._per_class(self._sure.z_values)

    @property
    def p_values_(self) -> Floats:
        return self._per_class(self._sure.p_values)

    @property
    def null_deviance_(self) -> float:
        return self._sure.null_deviance

    @property
    def aic_(self) -> float:
        return self._sure.aic

    def confidence_intervals(self, level: float = 0.95) -> Floats:
        """Return intervals that hold the true coefficients with probability `level`, each by itself.

        They are Wald's: an estimate, plus and minus its standard error times a normal quantile.

        Parameters
        ----------
        level : float, default=0.95

        Returns
        -------
        array of shape (n_coefficients, 2) or (n_classes, n_coefficients, 2)
            Lower and upper end for every coefficient, the intercept first if there is one.
        """
        level = check_number("level", level, above=0, below=1)
        return self._per_class(self._sure.confidence_intervals(level))

    def summary(self, feature_names: Sequence[str] | None = None) -> Sheet:
        """Describe an unpenalised fit as R's ``summary(glm)`` does, and say in plain words what not to trust.

        Parameters
        ----------
        feature_names : sequence of str, default=None
            What to call the features; by default as the columns of X were called, or x0, x1, ….

        Returns
        -------
        Sheet
            Prints as text; shows as HTML in a notebook.
        """
        from .logistic_summary import summarize

        sure = self._sure
        if feature_names is None:
            numbered = [f"x{j}" for j in range(self.n_features_in_)]
            feature_names = getattr(self, "feature_names_in_", numbered)
        names = [str(name) for name in feature_names]
        if len(names) != self.n_features_in_:
            raise ValueError(f"{len(names)} feature_names were given for {self.n_features_in_} features.")
        return summarize(sure, names, [str(label) for label in self.classes_.tolist()])

    @property
    def _sure(self) -> LogisticInference:
        check_is_fitted(self)
        if self._inference is None:
            raise AttributeError(
                "Standard errors, tests and summaries are for maximum likelihood, without a penalty: fit "
                "with C=inf."
            )
        inference: LogisticInference = self._inference
        return inference

    def _per_class(self, values: NDArray[np.float64]) -> Any:
        """Drop the axis of classes where there is one plane."""
        return values[0] if len(values) == 1 else values

    def _penalty(self) -> tuple[float, float]:
        """Check what is penalised; return C and the share of absolute values."""
        C = check_number("C", self.C, above=0)
        ratio = 0.0 if self.l1_ratio is None else check_number("l1_ratio", self.l1_ratio, at_least=0)
        if ratio > 1:
            raise ValueError(f"l1_ratio must be a number at least 0 and at most 1, not {self.l1_ratio!r}.")
        words = {"deprecated": (C, ratio), "elasticnet": (C, ratio), "l2": (C, 0.0), "l1": (C, 1.0)}
        if self.penalty is None:
            return np.inf, 0.0
        if not isinstance(self.penalty, str) or self.penalty not in words:
            raise ValueError(f"penalty must be 'l1', 'l2', 'elasticnet' or None, not {self.penalty!r}.")
        return words[self.penalty]

    def _start(
        self, rows: Source, classes: NDArray[Any]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Return the planes of the last fit, if they fit these data."""
        if not hasattr(self, "coef_") or not np.array_equal(self.classes_, classes):
            return None
        coef, intercept = (np.asarray(part, np.float64) for part in (self._dense_weights(), self.intercept_))
        return (coef, intercept) if coef.shape[1] == rows.n_features else None


def _watcher(steps: Iterations, classes: NDArray[Any] | None) -> Watch:
    """Hand a solver's steps to the progress bar and the callbacks; with classes, they may see the model so far."""
    numbers = iter(steps)
    next(numbers)

    def watch(note: str, coefficients: Callable[[], tuple[Floats, Floats]]) -> bool:
        steps.note(note)
        if classes is not None:
            steps.fitted(lambda: _so_far(coefficients, classes))
        return next(numbers, None) is not None

    return watch


def _so_far(coefficients: Callable[[], tuple[Floats, Floats]], classes: NDArray[Any]) -> dict[str, Any]:
    coef, intercept = coefficients()
    return {"classes_": classes, "coef_": coef, "intercept_": intercept, "_softmax": True}


def _one_against_rest(rows: Source, codes: Any, k: int) -> Source:
    one = copy(rows)
    one.y = mapped(codes, belongs_to, k, dtype=np.int64)
    return one


def belongs_to(codes: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return 1 for the rows of class k, 0 for the others."""
    return (codes == k).astype(np.int64)


def _warn(fits: list[LogisticFit], max_iter: int) -> None:
    """Say what the user must know of fits that did not reach an optimum."""
    if any(fit.separable for fit in fits):
        warnings.warn(
            "Planes separate the classes, so the likelihood has no maximum without a penalty: probabilities are as "
            "near 0 and 1 as the iterations went, and coefficients mean nothing. Set C to a finite value, or use a "
            "support vector machine.",
            ConvergenceWarning,
            stacklevel=3,
        )
    elif not all(fit.converged for fit in fits):
        norm = max(fit.gradient_norm for fit in fits)
        warnings.warn(
            f"After {max_iter} steps the gradient was still {norm:.1g}: raise max_iter, or tol if that is enough.",
            ConvergenceWarning,
            stacklevel=3,
        )
