"""The perceptron in the feature space of a kernel: it keeps the rows it was wrong about."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.engine.blocks import spread_rows
from bisector.engine.checkpoint import checkpoint_of_pairs
from bisector.engine.decisions import explain_sums
from bisector.engine.explanation import Explanation
from bisector.engine.frames import is_frame, split_column
from bisector.engine.lazy_rows import by_rows
from bisector.engine.seeds import seed_of
from bisector.engine.targets import check_labels, row_weights
from bisector.engine.validation import (
    blank,
    check_count,
    check_finite,
    check_flag,
    check_weights,
    store,
)
from bisector.engine.values import HoldsValues
from bisector.kernels import Kernel, Precomputed, resolve
from bisector.kernels.gram_matrices import checked_square
from bisector.kernels.tiles import all_products
from bisector.kernels.value_blocks import value_blocks
from bisector.linear.perceptron_input import check_order
from bisector.solvers.feature_rows import FeatureRows, check_items, count, picked
from bisector.solvers.kernel_perceptron import ComputedTiles, GivenTiles, Tiles, kernel_perceptron
from bisector.solvers.perceptron_pass import Settings
from bisector.solvers.two_class_problems import TwoClassProblems, ordered_problems

Floats = NDArray[np.floating[Any]]

# Rows whose kernel values tell these data from others, in a checkpoint.
_ROWS_TO_COMPARE = 64


class KernelPerceptron(HoldsValues, ClassifierMixin, BaseEstimator):
    """The perceptron in dual form, with a kernel in the place of dot products (Flach, Algorithms 7.2 and 7.4).

    What is learned are numbers of mistakes α, one for each training row: f(x) = Σ α_i y_i (k(x_i, x) + 1), and
    α_i grows by one whenever y_i f(x_i) ≤ 0. Rows that were never mistaken do not count and are not kept. Kernel
    values are computed when they are needed: no matrix of all of them is held.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        A kernel of `bisector.kernels`, or its name; a function, as scikit-learn's `SVC` takes it; "precomputed",
        if X holds the kernel's values. Rows are whatever it compares: numbers, strings, sets.
    gamma, coef0, degree : float, default="scale", 0 and 3
        scikit-learn's parameters of the kernels it knows by name.
    bias : bool, default=True
        Add 1 to the kernel: the homogeneous coordinate, so that planes in feature space may miss the origin.
    max_iter : int, default=1000
        Largest number of passes over the data.
    tol : float or None, default=1e-3
        When to give up: when no plane in feature space can separate the rows by more than `tol` times the length of
        the longest row, as the mistakes prove, and the best α have not become better for `n_iter_no_change` passes.
    n_iter_no_change : int, default=5
    shuffle : bool, default=True
        Visit the rows in a random order, the same in every pass.
    random_state : int, RandomState, numpy.random.Generator or None, default=0
    order : array of int, default=None
        Visit the rows in this order; `shuffle` is then without effect.
    budget : int, default=None
        Largest number of rows to keep. Rows whose mistakes move the plane least are forgotten; then there is no
        guarantee that the fit ends by separating the classes.
    class_weight : dict, "balanced" or None, default=None
    multi_class : {"one-vs-rest", "one-vs-one", "nested"}, default="one-vs-rest"
    class_order : sequence of labels, default=None
        As for `Perceptron`.
    verbose : int, default=0
        Show a progress bar.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the same,
        bit for bit, for any number.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds scores and mistakes, 24 bytes a row for each
        two-class problem, and within a pass its updates.

    Attributes
    ----------
    classes_ : array
    two_class_problems_ : TwoClassProblems
    kernel_ : Kernel
        With what it learned from the rows.
    support_ : array of int of shape (n_support,)
        The rows that were mistaken, in any two-class problem.
    support_vectors_ : the rows themselves
        Not with precomputed kernel values.
    dual_coef_ : array of shape (1, n_support) or (n_problems, n_support)
        α y of these rows.
    intercept_ : array of shape (1,) or (n_problems,)
        Σ α y where there is a bias: what its part of the kernel adds up to.
    threshold_ : float or array of shape (n_problems,)
        The same as what Σ α y k(x_i, x) must exceed.
    mistakes_ : array of shape (n_support,) or (n_problems, n_support)
        α of these rows.
    n_updates_, margin_, margin_bound_, novikoff_bound_, stopping_reason_, converged_, n_iter_
        As of `Perceptron`, with all lengths measured in feature space, the bias included.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    With the linear kernel and the same order of rows, it makes the same mistakes as `Perceptron`, up to rounding.
    Sample weights show rows several times in a row, as there.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.kernels import Polynomial
    >>> from bisector import KernelPerceptron
    >>> X = np.array([[0.0, 0.5], [0.5, 0.0], [2.0, 0.0], [0.0, -2.0], [-2.0, 1.0]])
    >>> y = ["inside", "inside", "outside", "outside", "outside"]
    >>> model = KernelPerceptron(Polynomial(2)).fit(X, y)  # an ellipse
    >>> model.predict([[0.1, 0.1], [3.0, 3.0]])
    array(['inside', 'outside'], dtype='<U7')
    >>> bool(model.converged_)
    True
    """

    _instead_of_gathering = "use LogisticRegression"

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        coef0: float = 0.0,
        degree: int = 3,
        bias: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        random_state: Any = 0,
        order: ArrayLike | None = None,
        budget: int | None = None,
        class_weight: Any = None,
        multi_class: Literal["one-vs-rest", "one-vs-one", "nested"] = "one-vs-rest",
        class_order: Sequence[Any] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.bias = bias
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.shuffle = shuffle
        self.random_state = random_state
        self.order = order
        self.budget = budget
        self.class_weight = class_weight
        self.multi_class = multi_class
        self.class_order = class_order
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    classes_: NDArray[Any]
    two_class_problems_: TwoClassProblems
    dual_coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Walk over the rows until none is on the wrong side.

        Parameters
        ----------
        X : rows of what the kernel compares: array, sparse matrix or frame of shape (n_samples, n_features), \
strings, sets; or kernel values of shape (n_samples, n_samples)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        kernel, stand_in = (
            resolve(self.kernel, gamma=self.gamma, coef0=self.coef0, degree=self.degree),
            blank(self),
        )
        settings, bias = self._settings(), check_flag("bias", self.bias)
        if isinstance(y, str) and is_frame(X):
            X, y = split_column(X, y)
        items = check_items(stand_in, X, kernel, reset=True)
        found_labels = check_labels(self, y, count(items))
        if not found_labels.single:
            raise ValueError(
                f"{type(self).__name__} learns one label a row, but y has the shape {np.shape(y)}."
            )
        codes, classes = found_labels.codes[:, 0], found_labels.classes[0]
        weight = row_weights(self.class_weight, codes, classes, check_weights(sample_weight, count(items)))
        targets, order = codes, check_order(self.order, len(codes))
        shuffled = self.order is None and check_flag("shuffle", self.shuffle)
        if weight is not None:  # rows without weight are absent
            held = np.bincount(codes, weight, minlength=len(classes)) > 0
            codes, classes = np.where(held, np.cumsum(held) - 1, 0)[codes], classes[held]
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes, but y has one class"
                f"{'' if weight is None else ' with a weight'}: {classes.tolist()}."
            )
        problems = ordered_problems(self.multi_class, classes, self.class_order)
        kernel, some_values, tiles_of = self._values(kernel, items, float(bias))
        with checkpoint_of_pairs(
            self.checkpoint,
            self,
            some_values,
            len(codes),
            what="kernel values",
            weights=weight,
            targets=targets,
        ) as reached:
            if shuffled:
                order = np.random.default_rng(seed_of(self.random_state, reached)).permutation(order)
            if weight is not None:
                order = order[weight[order] > 0]
            labels = np.array([problems.labels(p, codes[order]) for p in range(len(problems))])
            found = kernel_perceptron(
                tiles_of(order),
                labels,
                settings,
                weights=None if weight is None else weight[order],
                budget=self.budget,
                n_jobs=self.n_jobs,
                kept=reached,
            )
        steps = np.zeros((len(problems), len(codes)))
        sides = np.zeros_like(steps)
        steps[:, order], sides[:, order] = found.mistakes, labels
        support = np.flatnonzero(steps.any(axis=0))
        dual = (steps * sides)[:, support]
        intercept = dual.sum(axis=1) if bias else np.zeros(len(problems))
        whole = (steps == np.floor(steps)).all()
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = found.smallest_margins / found.norms
        learned: dict[str, Any] = {
            "mistakes_": steps[:, support].astype(np.int64 if whole else np.float64),
            "n_updates_": found.updates.astype(np.int64 if whole else np.float64),
            "margin_": margins,
            "margin_bound_": found.margin_bounds,
            "novikoff_bound_": found.novikoff_bounds(),
            "stopping_reason_": found.reasons,
        }
        if len(problems) == 1:
            learned = {name: values[0] for name, values in learned.items()}
        kept = None if isinstance(kernel, Precomputed) else FeatureRows.of(kernel, picked(items, support))
        if kept is not None:
            learned["support_vectors_"] = kept.items
        return store(
            self,
            stand_in,
            classes_=classes,
            two_class_problems_=problems,
            kernel_=kernel,
            support_=support,
            dual_coef_=dual,
            intercept_=intercept,
            converged_=bool(found.converged.all()),
            n_iter_=int(found.iterations.max()),
            **learned,
            _rows=kept,
            _n_training=len(codes),
            # Of the weights alone: the walk counts the bias as a coordinate.
            _lengths=np.sqrt(np.maximum(found.norms**2 - intercept**2, 0.0)),
        )

    @by_rows
    def decision_function(self, X: Any) -> Floats:
        """Return how much speaks for each class.

        Parameters
        ----------
        X : as for `fit`; with precomputed kernel values, those with the training rows

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes) if there are more than two
            Of two classes f(x), positive for ``classes_[1]``. Of more, what ``two_class_problems_`` makes of the
            scores: the largest value decides.
        """
        scores = self._problem_scores(X)
        return self.two_class_problems_.decide(scores)

    @property
    def threshold_(self) -> Any:
        """What Σ α y k(x_i, x) must exceed for the positive class."""
        offset = np.negative(self.intercept_)
        return float(offset[0]) if len(offset) == 1 else offset

    def signed_distance(self, X: Any) -> Floats:
        """Return how far each row lies from each plane in feature space, on the positive side or the negative.

        Parameters
        ----------
        X : as for `decision_function`

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_problems) if there are more than two classes
            f(x) divided by the length of Σ α y φ(x_i); infinite where that is zero, since then there is no plane.
        """
        scores = self._problem_scores(X)
        with np.errstate(divide="ignore", invalid="ignore"):
            distances = np.where(scores == 0, scores, scores / self._lengths)
        return distances[:, 0] if distances.shape[1] == 1 else distances

    def _problem_scores(self, X: Any) -> Floats:
        """Return f(x) of every two-class problem."""
        check_is_fitted(self)
        items = check_items(self, X, self.kernel_, reset=False)
        if self._rows is None:
            values = self.kernel_.gram(items)
            if values.shape[1] != self._n_training:
                raise ValueError(
                    f"X holds kernel values with {values.shape[1]} rows, but the model was fitted on "
                    f"{self._n_training}."
                )
            sums = np.asarray(values[:, self.support_] @ self.dual_coef_.T, dtype=np.float64)
        else:
            sums = self._rows.sums(items, self.dual_coef_.T, n_jobs=self.n_jobs)
        return sums + self.intercept_

    @by_rows
    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : as for `decision_function`

        Returns
        -------
        array of shape (n_samples,)
            A row on the boundary (score 0) belongs to ``classes_[0]``; of classes with the largest value, the
            first.
        """
        values = self.decision_function(X)
        labels: NDArray[Any] = self.classes_[self.two_class_problems_.codes(values)]
        return labels

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its class: what each row that was mistaken once adds to the score that decides.

        Parameters
        ----------
        X : as for `decision_function`

        Returns
        -------
        list of Explanation
            The account adds up to the score of two classes, or of the predicted class against the rest; where
            classes are compared with some others, to the score of the comparison that was won by least.
        """
        check_is_fitted(self)
        codes = self.two_class_problems_.codes(self.decision_function(X))
        items = check_items(self, X, self.kernel_, reset=False)
        found, problems = [], self.two_class_problems_.problems
        prepared = None if self._rows is None else self._rows.prepared
        with np.errstate(divide="ignore"):
            units = 1 / self._lengths if self.two_class_problems_.scheme == "one-vs-one" else None
        for part, values in value_blocks(self.kernel_, items, prepared, n_jobs=self.n_jobs):
            found += explain_sums(
                values if prepared is not None else values[:, self.support_],
                self.dual_coef_.T, self.intercept_, problems, codes[part.start : part.stop], self.classes_,
                rows=self.support_, units=units, beside=lambda problem: {},
            )  # fmt: skip
        return found

    def _settings(self) -> Settings:
        if self.budget is not None:
            check_count("budget", self.budget)
        return Settings(
            max_iter=check_count("max_iter", self.max_iter),
            tol=None if self.tol is None else check_finite("tol", self.tol, at_least=0),
            patience=check_count("n_iter_no_change", self.n_iter_no_change),
            verbose=self.verbose,
        )

    def _values(
        self, kernel: Kernel, items: Any, bias: float
    ) -> tuple[Kernel, Callable[[], NDArray[Any]], Callable[[NDArray[np.int64]], Tiles]]:
        """Return the kernel with what it learned, values of some rows, and those of all in the order of a walk."""
        n = count(items)
        some = spread_rows(n, _ROWS_TO_COMPARE)
        if isinstance(kernel, Precomputed):
            values = checked_square(items, "X")
            return kernel, lambda: values[np.ix_(some, some)], lambda order: GivenTiles(values, order, bias)
        learned = kernel.learned(items)
        return (
            learned,
            lambda: all_products(learned, learned.prepare(picked(items, some)), n_jobs=self.n_jobs),
            lambda order: ComputedTiles(learned, learned.prepare(items).take(order), bias),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed" or isinstance(self.kernel, Precomputed)
        return tags
