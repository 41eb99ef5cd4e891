"""Classification by the widest margin, in the feature space of any kernel."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from bisector.engine.checkpoint import NOWHERE, Checkpoint, checkpoint_of_pairs
from bisector.engine.lazy_rows import by_rows
from bisector.engine.packed_notes import packed, unpacked
from bisector.engine.targets import check_labels, row_weights
from bisector.engine.threads import parallel
from bisector.engine.validation import blank, check_choice, check_classes, check_flag, check_weights, store
from bisector.kernels import Kernel
from bisector.solvers.held_rows import held
from bisector.solvers.support_vectors import NoHardMargin, SupportVectors, classify
from bisector.solvers.two_class_problems import TwoClassProblems, two_class_problems
from bisector.svm.one_vs_one import dual_coefficients, offsets, pair_weights, support_by_class
from bisector.svm.soft_margin import SoftMargin
from bisector.svm.told_margins import TellsMargins
from bisector.svm.training_lines import TrainingLines, foreign_items, is_foreign, smallest_eigenvalue

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def _without_probabilities(model: Any) -> bool:
    raise AttributeError(
        "SVC has no probabilities of its own, since they would contradict its predictions: calibrate its scores, "
        "for instance by bisector.CalibratedClassifier(SVC(), ensemble=False)."
    )


class Labelled(NamedTuple):
    """Checked training rows: items as the kernel takes them, whether numbers, with codes of labels and weights."""

    items: Any
    codes: Integers
    classes: NDArray[Any]
    weight: Floats | None
    stand_in: Any
    numbers: bool


class SVC(ClassifierMixin, TellsMargins):
    """The plane with the widest soft margin between two classes, in the feature space of a kernel (Flach 7.3, 7.5).

    A drop-in for scikit-learn's estimator that takes any kernel, on vectors, strings or sets; proves how close it
    came to the optimum; and tells of every training row how it lies to the margin. More than two classes are told
    apart two at a time.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of slack costs, above 0. ``float("inf")`` allows none: the hard margin, which exists only if a
        plane separates the classes.
    kernel : str, Kernel or callable, default="rbf"
        A name ("linear", "poly", "rbf", "sigmoid", "laplacian", …), a kernel of `bisector.kernels`, a function of
        two sets of rows that returns all values, or "precomputed" if X holds them.
    degree : int, default=3
        Of the polynomial kernel, if given by name.
    gamma : {"scale", "auto"} or float, default="scale"
        Of kernels given by name: 1 / (n_features · variance of X), 1 / n_features, or a number. Rows with weights
        count so many times in the variance.
    coef0 : float, default=0.0
        Of the polynomial and sigmoid kernels, if given by name.
    shrinking : bool, default=True
        Without effect: the solver only ever works on the rows that matter.
    probability : bool, default="deprecated"
        Without effect, and True is refused: scikit-learn gives it up, since such probabilities contradict
        predictions.
    tol : float, default=1e-3
        By how much the optimality conditions may be violated.
    cache_size : float, default=200
        Without effect: kernel values are kept within the memory budget (``bisector.config(memory=...)``).
    class_weight : dict, "balanced" or None, default=None
        What C is multiplied by for each class.
    verbose : bool, default=False
        Show a progress bar.
    max_iter : int, default=-1
        The most steps of the solver for two classes; -1 sets no limit but that of the solver itself.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` has one column for each class or for each pair of classes, if there are more
        than two.
    break_ties : bool, default=False
        Whether classes that win as many comparisons are told apart by their scores, instead of by their order.
    random_state : int, default=None
        Without effect: nothing is random.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. The result is the same, bit for bit, for any number.
    warm_start : bool, default=False
        Begin with the solution of the last fit if it had as many rows of the same classes: quick steps along C.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds a multiplier and f(x) of every row, 16 bytes for
        each pair of classes, and twice that while a solution is finished; of the lines of the Gram matrix that are
        held their numbers, some 12 bytes a line, but no kernel values.

    Attributes
    ----------
    support_ : array of int of shape (n_support,)
        The numbers of the support vectors, class by class.
    support_vectors_ : array or sparse matrix of shape (n_support, n_features), or list
        An empty array if the kernel is precomputed.
    n_support_ : array of int of shape (n_classes,)
    dual_coef_ : array of shape (n_classes - 1, n_support)
        αy of the support vectors, arranged as in scikit-learn.
    intercept_ : array of shape (n_pairs,)
    coef_ : array of shape (n_pairs, n_features)
        For the linear kernel only.
    classes_, class_weight_, fit_status_, shape_fit_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    alpha_ : array of shape (n_samples,), or (n_samples, n_pairs) for more than two classes
        The Lagrange multiplier of each training row; 0 for rows outside a pair of classes.
    slack_ : array of the same shape
        By how much each training row misses the margin; NaN for rows outside a pair, or without weight.
    role_ : array of str of the same shape
        How each training row lies to the margin: "outside", "on margin" (within `tol`), "inside" or
        "misclassified". A row on the margin may have α = 0. Empty for rows outside a pair.
    margin_ : float or array of shape (n_pairs,)
        1/‖w‖ in feature space.
    weights_, threshold_ : w and t of w·x > t, the condition for the positive class
        The weights for the linear kernel only; of a pair, the first class is positive if there are more than two.
    objective_ : float or array of shape (n_pairs,)
        ½‖w‖² + Σ Cξ.
    dual_gap_ : float or array of shape (n_pairs,)
        The objective is at most this far above its minimum.
    kkt_violation_ : float or array of shape (n_pairs,)
        The largest violation of the optimality conditions.
    kernel_ : Kernel
        The kernel with what it learned from the rows.

    Notes
    -----
    A sample weight multiplies C: a weight of 2 is as good as two equal rows. With many rows, kernel values are
    kept in single precision if `tol` allows.

    References
    ----------
    Flach, *Machine Learning* (2012), sections 7.3 and 7.5.

    Examples
    --------
    >>> from bisector import SVC
    >>> X, y = [[1, 2], [-1, 2], [-1, -2], [3, 1]], ["-", "-", "+", "+"]  # Flach, Example 7.5
    >>> model = SVC(C=float("inf"), kernel="linear").fit(X, y)
    >>> model.weights_.round(6), round(model.margin_, 6)
    (array([-0.6,  0.8]), 1.0)
    >>> model.alpha_.round(6).tolist()
    [0.5, 0.0, 0.1, 0.4]
    >>> model.role_.tolist()
    ['on margin', 'outside', 'on margin', 'on margin']
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Mapping[Any, float] | str | None = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        checkpoint: Any = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Find the planes with the widest margins.

        Parameters
        ----------
        X : rows
            What the kernel compares: an array, sparse matrix, pandas or polars frame, Arrow table, path of a
            Parquet file, strings or sets; for ``kernel="precomputed"``, the kernel values of every two rows.
        y : array of shape (n_samples,), or the name of a column of X
            Class labels.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_decisions()
        kernel = self._resolved()
        given = self._check_labelled(X, y, sample_weight, kernel)
        own = check_weights(sample_weight, len(given.codes))
        pairs = two_class_problems("one-vs-one", len(given.classes))
        kernel = self._weighted(kernel, given.items, own)
        training = self._training_lines(kernel, given.items, in_parts=len(pairs) > 1)
        items = training.items

        failed = None
        with self._checkpoint(given, training) as kept:

            def solve(pair: int) -> tuple[SoftMargin, float | None]:
                return self._solve(pairs, pair, given, training, kept)

            try:
                solved = parallel(solve, range(len(pairs)), n_jobs=self.n_jobs)
            except NoHardMargin as proof:  # not an interruption: there is nothing to go on with
                failed = proof
        if failed is not None:
            raise self._refusal(failed, pairs, given, training)
        margins = [margin for margin, _ in solved]
        planes = [margin.plane for margin in margins]
        support = support_by_class(margins, given.codes)
        self._warn(planes, [eigenvalue for _, eigenvalue in solved])
        return store(
            self,
            given.stand_in,
            classes_=given.classes,
            class_weight_=_class_weights(self.class_weight, given, own),
            fit_status_=0 if all(plane.converged for plane in planes) else 1,
            n_iter_=np.array([plane.iterations for plane in planes], dtype=np.int32),
            shape_fit_=tuple(items.shape) if hasattr(items, "shape") else (len(items),),
            kernel_=training.kernel,
            _kernel=training.kernel,
            _margins=margins,
            support_=support.astype(np.int32),
            support_vectors_=training.vectors(support),
            n_support_=np.bincount(given.codes[support], minlength=len(given.classes)).astype(np.int32),
            dual_coef_=dual_coefficients(margins, given.codes, support, len(given.classes)),
            intercept_=offsets(margins, training),
        )

    def _check_decisions(self) -> None:
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_flag("break_ties", self.break_ties)
        if self.probability not in ("deprecated", False):
            raise ValueError(
                f"probability={self.probability!r} is not offered, since such probabilities contradict "
                "predictions: calibrate the scores instead, for instance by "
                "bisector.CalibratedClassifier(SVC(), ensemble=False)."
            )

    def _check_labelled(self, X: Any, y: Any, sample_weight: ArrayLike | None, kernel: Kernel) -> Labelled:
        name = type(self).__name__
        if is_foreign(X, kernel):
            stand_in, items, numbers = blank(self), foreign_items(X), False
            found = check_labels(self, y, len(items))
            codes, classes = found.codes[:, 0], found.classes[0]
        else:
            rows, codes, classes, stand_in = check_classes(self, X, y)
            items, numbers = held(rows, f"Fitting {name}"), True
        weight = check_weights(sample_weight, len(codes))
        weight = row_weights(self.class_weight, codes, classes, weight)
        kept = np.bincount(codes, weight, minlength=len(classes)) > 0
        if kept.sum() < 2:
            weighed = "" if weight is None else " with a weight"
            raise ValueError(
                f"{name} needs rows of at least two classes, but y has one class{weighed}: "
                f"{classes[kept].tolist()}."
            )
        # A class without weight is as good as absent; its rows have no code.
        codes = np.where(kept, np.cumsum(kept) - 1, -1)[codes]
        return Labelled(items, codes, classes[kept], weight, stand_in, numbers)

    def _checkpoint(self, given: Labelled, training: TrainingLines) -> AbstractContextManager[Checkpoint]:
        former = vars(self).get("_margins") if self.warm_start else None
        return checkpoint_of_pairs(
            self.checkpoint, self, training.some_values, len(given.codes), what="kernel values",
            targets=given.classes[given.codes], weights=given.weight,
            rows=given.items if given.numbers else None,
            start=[margin.plane.beta for margin in former or ()],
        )  # fmt: skip

    def _solve(
        self, pairs: TwoClassProblems, pair: int, given: Labelled, training: TrainingLines, kept: Checkpoint
    ) -> tuple[SoftMargin, float | None]:
        """Solve the problem of two classes, unless it was done before."""
        negative, positive, members, sides = _pair(pairs, pair, given)
        own = self.C * (np.ones(len(members)) if given.weight is None else given.weight[members])
        known = kept.recall(f"margin {pair}")
        if known is not None:
            plane, lowest = unpacked(SupportVectors, known), float(known["eigenvalue"])
            margin = SoftMargin(negative, positive, members, sides, own, plane, self.tol)
            return margin, None if np.isnan(lowest) else lowest
        lines = training.among(members, allowed_error=self._bearable_error(own), sharing=len(pairs))
        try:
            plane = classify(
                lines, sides, own, tolerance=self.tol, max_iter=self.max_iter,
                start=self._start(pair, members, own, given.classes), verbose=self.verbose,
                kept=kept.part(f"pair {pair}"),
            )  # fmt: skip
        except NoHardMargin as failed:
            failed.pair = pair
            raise
        support = np.flatnonzero(plane.beta)
        eigenvalue = smallest_eigenvalue(
            training.kernel, lines, support, plane.negative_curvature, training.precision
        )
        if kept is not NOWHERE:
            kept.note(
                f"margin {pair}", **packed(plane), eigenvalue=np.nan if eigenvalue is None else eigenvalue
            )
            kept.forget(f"pair {pair}")  # some numbers for each row, of no use any more
        return SoftMargin(negative, positive, members, sides, own, plane, self.tol), eigenvalue

    @staticmethod
    def _refusal(
        failed: NoHardMargin, pairs: TwoClassProblems, given: Labelled, training: TrainingLines
    ) -> ValueError:
        from bisector.svm.hard_margin import refusal

        negative, positive, members, sides = _pair(pairs, failed.pair, given)
        names = given.classes[negative].item(), given.classes[positive].item()
        return refusal(failed, training.kernel, training.items, members, sides, names)

    def _start(self, pair: int, members: Integers, costs: Floats, classes: NDArray[Any]) -> Floats | None:
        """Return where the last fit ended, if it was of the same shape; what was at its limit is at the new one."""
        former = vars(self).get("_margins") if self.warm_start else None
        if not former or not np.array_equal(self.classes_, classes):
            return None
        last = former[pair]
        if not np.array_equal(last.members, members):
            return None
        at_limit = (last.alpha >= last.costs) & np.isfinite(costs)
        return np.where(at_limit, last.sides * np.where(at_limit, costs, 0.0), last.plane.beta)

    @by_rows
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the score of each row.

        Parameters
        ----------
        X : as for `fit`; for ``kernel="precomputed"``, the kernel values of each row with all training rows

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) or (n_samples, n_pairs) if there are more than two
        classes
            Of two classes f(x), positive for ``classes_[1]``. One column for a pair: f(x), positive for the first
            class of the pair. One column for a class: how many comparisons it wins, and a little more or less by
            how clearly.
        """
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        return scores if self.decision_function_shape == "ovo" else self._class_scores(scores)

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : as for `decision_function`

        Returns
        -------
        array of shape (n_samples,)
            The class that wins most comparisons; of several, the first. A score of 0 counts for the first class
            of two.
        """
        check_is_fitted(self)
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'.")
        scores = self._pair_scores(X)
        if len(self.classes_) == 2:
            codes = (scores[:, 0] > 0).astype(np.int64)
        elif self.break_ties:
            codes = self._class_scores(scores).argmax(axis=1)
        else:
            codes = self._pairs.codes(self._pairs.decide(-scores))
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    @available_if(_without_probabilities)
    def predict_proba(self, X: Any) -> Any:
        """Not available: calibrate the scores of `decision_function` instead."""

    @available_if(_without_probabilities)
    def predict_log_proba(self, X: Any) -> Any:
        """Not available: calibrate the scores of `decision_function` instead."""

    @property
    def _pairs(self) -> TwoClassProblems:
        return two_class_problems("one-vs-one", len(self.classes_))

    def _pair_scores(self, X: Any) -> NDArray[Any]:
        """Return f(x) of every pair; of more than two classes positive for the first of the pair."""
        check_is_fitted(self)
        return self._sums(X, pair_weights(self.dual_coef_, self.n_support_), self.intercept_)

    def _class_scores(self, scores: NDArray[Any]) -> NDArray[Any]:
        """Count the comparisons won, and add the sum of the scores squeezed into ±1/3: no count is overtaken."""
        sums = -scores @ self._pairs.problems.astype(scores.dtype)
        return self._pairs.decide(-scores) + sums / (3 * (np.abs(sums) + 1))


def _pair(pairs: TwoClassProblems, pair: int, given: Labelled) -> tuple[int, int, Integers, Floats]:
    """Return the two classes of a problem, negative and positive, its rows, and on which side each is."""
    negative, positive = (int(np.flatnonzero(pairs.problems[pair] == side)[0]) for side in (-1, 1))
    member = (given.codes == negative) | (given.codes == positive)
    if given.weight is not None:
        member &= given.weight > 0
    members = np.flatnonzero(member)
    return negative, positive, members, np.where(given.codes[members] == positive, 1.0, -1.0)


def _class_weights(class_weight: Any, given: Labelled, own: Floats | None) -> Floats:
    """Return what each class's costs were multiplied by."""
    if class_weight is None or given.weight is None:
        return np.ones(len(given.classes))
    counted = (given.codes >= 0) & (given.weight > 0)
    ratio = given.weight[counted] / (1.0 if own is None else own[counted])
    weights = np.ones(len(given.classes))
    weights[given.codes[counted]] = ratio
    return weights
