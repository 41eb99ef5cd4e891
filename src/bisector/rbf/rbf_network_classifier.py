"""Classification by a network of radial basis functions (LFD 6.3.1 and 6.3.2)."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.columns import mapped
from bisector.engine.decisions import explain_sums
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.sources import is_collection
from bisector.engine.validation import check_choice, check_classes, store
from bisector.rbf.bump_network import BumpNetwork, Floats, Task, dtype_of
from bisector.rbf.kept_labels import kept_labels
from bisector.rbf.partitioned_network import as_signs, as_table, sampled
from bisector.solvers.bump_features import Bumps, features_of
from bisector.solvers.bump_weights import BumpWeights, curvature_mix, fit_weights
from bisector.solvers.logistic import logistic
from bisector.solvers.two_class_problems import two_class_problems


def _has_probabilities(model: Any) -> bool:
    return bool(model.output == "logistic")


class RBFNetworkClassifier(ClassifierMixin, BumpNetwork):
    """A few bumps, each with a height of its own for every class, add up to the classes' scores.

    Parameters
    ----------
    n_centers, centers, width, penalty, bump, metric, random_state, n_jobs, checkpoint
        As for `RBFNetworkRegressor`.
    alpha : float, "gcv" or "cv", default="gcv"
        The strength of the penalty, as for `RBFNetworkRegressor`. With output="logistic" both words mean that of
        the least logarithmic loss at rows left out, in five parts.
    output : {"linear", "logistic"}, default="linear"
        What is fitted: scores that are 1 for the row's own class and −1 for others, by least squares; or
        log-odds, by the greatest likelihood, which also gives probabilities.

    Attributes
    ----------
    classes_ : ndarray
    coef_ : ndarray of shape (n_centers,) for two classes, else (n_classes, n_centers)
    intercept_ : float or ndarray of shape (n_classes,)
    n_centers_, centers_, center_indices_, width_, precision_roots_, alpha_, alphas_, gcv_errors_,
    degrees_of_freedom_
        As of `RBFNetworkRegressor`; with output="logistic", degrees of freedom are not computed.
    gap_ : float
        The certificate of the fit; with output="logistic", a bound on how far the mean objective is from its
        minimum.
    cv_n_centers_, cv_alphas_, cv_errors_ : ndarray
        What was tried by cross-validation, and the mean squared errors of scores or logarithmic losses.
    metric_ : Distance
    bump_ : Bump

    Examples
    --------
    A ring around a disc:

    >>> import numpy as np
    >>> from bisector import RBFNetworkClassifier
    >>> angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.concatenate([0.3 * circle, circle]), np.repeat(["disc", "ring"], 40)
    >>> model = RBFNetworkClassifier(5, random_state=0).fit(X, y)
    >>> model.predict([[0.0, 0.1], [0.9, 0.1]])
    array(['disc', 'ring'], dtype='<U4')
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        n_centers: Any = "auto",
        *,
        centers: Any = "kmeans",
        width: Any = "auto",
        alpha: Any = "gcv",
        output: str = "linear",
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
        self.output = output
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
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_choice("output", self.output, ("linear", "logistic"))
        if is_collection(X):
            stand_in, classes, learned = self._learn_partitions(X, y, sample_weight)
        else:
            stand_in, distance, rows, weights = self._start(X, sample_weight)
            counted = np.flatnonzero(weights)
            codes, classes = kept_labels(self, y, len(rows), counted)
            targets = self._targets(codes, len(classes))
            task = Task(rows.take(counted), targets, weights[counted], len(classes))
            with self._noting(distance, task) as kept:
                learned = self._learn(distance, task, counted, kept)
        self._warn(learned["_network"])
        found: BumpWeights = learned["_network"].weights
        single = len(classes) == 2
        return store(
            self,
            stand_in,
            **learned,
            classes_=classes,
            coef_=(found.coef[:, 0] if single else found.coef.T).astype(dtype_of(X)),
            intercept_=float(found.intercept[0]) if single else found.intercept,
        )

    def _targets(self, codes: Any, n_classes: int) -> Any:
        """Return what is learned of classes: their codes, or signs."""
        if self.output == "logistic":
            return mapped(codes, as_table, dtype=np.int64, width=1)
        width = n_classes if n_classes > 2 else 1
        return mapped(codes, as_signs, n_classes, dtype=np.float64, width=width)

    def _learn_partitions(
        self, X: Any, y: Any, sample_weight: Any
    ) -> tuple[Any, NDArray[Any], dict[str, Any]]:
        rows, codes, classes, stand_in = check_classes(self, X, y, sample_weight)
        targets = self._targets(codes, len(classes))
        with checkpoint_of(self.checkpoint, self, rows) as kept:
            found = sampled(self, rows, targets, len(classes), kept=kept)
            learned = self._learn(found.distance, found.sample, found.numbers, kept, found.whole)
        return stand_in, classes, learned

    @by_rows
    def decision_function(self, X: Any) -> Floats:
        """Return the score of the second class, shape (n_rows,), or of every class, shape (n_rows, n_classes)."""
        signals = self._signals(X)
        return signals[:, 0] if signals.shape[1] == 1 else signals

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the highest score; of equals, the first."""
        check_is_fitted(self)
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_has_probabilities)
    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every class; only with output="logistic"."""
        scores = self._signals(X)
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))
        made: Floats = raised / raised.sum(axis=1, keepdims=True)
        return made

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each bump adds to the score, its weight times its height there.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            The account adds up to the score of `decision_function`; of several classes, that of the predicted one.
        """
        found: list[Explanation] = []
        for heights in self._height_blocks(X):
            weights = self._network.weights
            scores = heights @ weights.coef + weights.intercept
            codes = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.int64)
            problems = two_class_problems("one-vs-rest", len(self.classes_)).problems
            found += explain_sums(
                heights, weights.coef, weights.intercept, problems, codes, self.classes_,
                names=self._bump_names(), beside=lambda problem: {}, value="height", of="bumps",
            )  # fmt: skip
        return found

    @property
    def _has_gcv(self) -> bool:
        return bool(self.output == "linear")

    def _solve(
        self, bumps: Bumps, task: Task, labels: Any, alpha: float | None, kept: Checkpoint
    ) -> BumpWeights:
        if self.output == "linear":
            return fit_weights(bumps, *task[:3], labels, alpha, self.penalty, n_jobs=self.n_jobs)
        assert alpha is not None
        mix = curvature_mix(bumps) if self.penalty == "curvature" else None
        codes = mapped(task.targets, np.ravel, dtype=np.int64).astype(np.int64, copy=False)
        features = features_of(bumps, task.rows, codes, task.weights, mix)
        strength = np.inf if alpha == 0 else 1 / alpha
        found = logistic(
            features, task.n_classes, C=strength, intercept=labels is None, tol=1e-6, n_jobs=self.n_jobs,
            kept=kept,
        )  # fmt: skip
        coef = found.coef.T if mix is None else mix @ found.coef.T
        return BumpWeights(coef, found.intercept, alpha, None, None, float("nan"), found.gap, found.converged)

    def _loss(self, signals: Floats, targets: Floats, weights: Floats) -> float:
        if self.output == "linear":
            return float(weights @ np.square(signals - targets).mean(axis=1))
        codes = targets[:, 0].astype(np.int64)
        if signals.shape[1] == 1:
            signals = np.column_stack([np.zeros(len(signals)), signals])
        peak = signals.max(axis=1)
        logs = peak + np.log(np.exp(signals - peak[:, None]).sum(axis=1))
        return float(weights @ (logs - signals[np.arange(len(codes)), codes]))
