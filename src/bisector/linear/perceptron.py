"""The perceptron: a linear classifier that learns from its mistakes, one row at a time."""

from collections.abc import Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.engine.checkpoint import checkpoint_of
from bisector.engine.seeds import seed_of
from bisector.engine.sources import Source
from bisector.engine.targets import check_labels, row_weights
from bisector.engine.threads import parallel
from bisector.engine.validation import (
    check_choice,
    check_classes,
    check_count,
    check_finite,
    check_flag,
    check_number,
    check_rows,
    check_training,
    check_weights,
    store,
)
from bisector.linear.perceptron_history import history_of
from bisector.linear.perceptron_input import (
    basic_starts,
    check_order,
    check_penalty,
    check_starts,
    located,
    set_aside,
)
from bisector.linear.planes import narrowed
from bisector.linear.problem_planes import ProblemPlanes
from bisector.solvers.held_rows import held
from bisector.solvers.perceptron_pass import (
    PerceptronWalk,
    Settings,
    Visits,
    perceptron,
    perceptron_pass,
)
from bisector.solvers.two_class_problems import TwoClassProblems, ordered_problems

Floats = NDArray[np.floating[Any]]
Penalty = Literal["l2", "l1", "elasticnet"]


class Perceptron(ProblemPlanes):
    """Step towards every row on the wrong side of a plane, until no row is (Flach, Algorithm 7.1).

    In homogeneous coordinates x = (x, 1), labels y = ±1: from w = 0, rows are visited one after the other, and
    w ← w + η y x whenever y (w·x) ≤ 0. If a plane separates the classes with margin γ, this ends after at most
    (R/γ)² mistakes (Novikoff). If none does, it never would: then the fit ends with a proof that no plane
    separates them by a margin worth mentioning, and with the best weights it has seen.

    Differs from scikit-learn's in that it goes on until the data are separated; takes weights as repeated rows; and
    steps the intercept of sparse data as that of dense.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None, default=None
        With a penalty, every visit to a row also shrinks the weights: stochastic gradient descent on the
        perceptron's loss, as in scikit-learn. The result is then the last weights, and what is proven below
        does not hold.
    alpha : float, default=0.0001
        Strength of the penalty.
    l1_ratio : float, default=0.15
        Share of the L1 part, with ``penalty="elasticnet"``.
    fit_intercept : bool, default=True
        Whether rows have the homogeneous coordinate 1, so that planes may miss the origin.
    max_iter : int, default=1000
        Largest number of passes over the data.
    tol : float or None, default=1e-3
        When to give up. After every mistake it is known that no plane separates the rows by more than
        ‖w − w₀‖/(η · number of mistakes), in homogeneous coordinates. The fit ends when this is below `tol`
        times the length of the longest row, and the best weights have not become better for `n_iter_no_change`
        passes. Data that some plane separates by more than that are always separated (within `max_iter`
        passes). None: only `max_iter` ends the fit. With `early_stopping` or a penalty, as in scikit-learn: by
        how much the share of right rows, or the mean loss, must become better to count as better.
    shuffle : bool, default=True
        Visit the rows in a new random order in each pass.
    verbose : int, default=0
        Show a progress bar.
    eta0 : float, default=1
        The learning rate η. From zero weights it changes only their scale.
    n_jobs : int, default=None
        Number of threads, for several classes and for measuring weights on all rows; None means all cores allowed
        here, one inside a joblib worker. The result is the same, bit for bit, for any number.
    random_state : int, RandomState, numpy.random.Generator or None, default=0
        Of the orders, and of the validation rows.
    early_stopping : bool, default=False
        Set a random part of the rows aside, learn from the others, and take the weights that have most of those
        set aside right; stop when these do not become better.
    validation_fraction : float, default=0.1
        The part to set aside.
    n_iter_no_change : int, default=5
        Number of passes without improvement before the fit may end.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by which those of their rows are multiplied.
    warm_start : bool, default=False
        Begin with the weights of the fit before.
    init : {"zero", "basic"}, default="zero"
        Where to begin: at zero, or with the basic linear classifier, μ⊕ − μ⊖ and the middle of the means.
    order : array of int, default=None
        Visit the rows in this order in every pass; `shuffle` is then without effect.
    averaged : bool, default=False
        Take the average of the weights over all visits (Freund and Schapire) instead of the last or best ones. It
        often predicts better on data that no plane separates, but may leave errors on data that one does.
    multi_class : {"one-vs-rest", "one-vs-one", "nested"}, default="one-vs-rest"
        How more than two classes become two-class problems: each class against all others; every two against each
        other; or one after the other against those that are left.
    class_order : sequence of labels, default=None
        In which order ``multi_class="nested"`` splits off the classes; by default in ascending order.
    history : bool, default=False
        Keep every update.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused, and other weights to begin with, be they given or those of the fit before (`warm_start`). The
        file is removed when the fit ends. It holds weights, and 8 bytes a row for each two-class problem; 24 for
        every update that `history` keeps. `partial_fit` takes no part in it.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_problems, n_features)
    intercept_ : array of shape (1,) or (n_problems,)
    classes_ : array
    two_class_problems_ : TwoClassProblems
        Which classes each plane tells apart.
    mistakes_ : array of shape (n_samples,) or (n_problems, n_samples)
        α, the number of updates each training row caused: without penalty, w = w₀ + η Σ α y x at the end of the
        walk (``coef_`` where it converged). Not in a model file, which does not grow with the data.
    dual_coef_ : array of shape (1, n_samples) or (n_problems, n_samples)
        η α y: what each training row added to w. Not in a model file either.
    n_updates_ : int or array of shape (n_problems,)
        Number of mistakes, Σ α; a fraction where weights are fractions.
    n_iter_ : int
        Number of passes over the data, of the two-class problem that took most.
    converged_ : bool
        Whether a pass made no mistake, in every two-class problem.
    stopping_reason_ : str or list of str
        "no mistake", "no improvement", "max_iter", or "one pass" after `partial_fit`.
    margin_ : float or array of shape (n_problems,)
        Smallest distance of a training row from the plane, negative on the wrong side; NaN after `partial_fit`.
    margin_bound_ : float or array of shape (n_problems,)
        What no plane's margin exceeds in homogeneous coordinates, as the mistakes prove.
    novikoff_bound_ : float or array of shape (n_problems,)
        (R/γ)², with the margin γ that was reached, in homogeneous coordinates: what `n_updates_` cannot exceed.
        From other weights than zero, (R² + 2γ‖w₀‖/η)/γ². Infinite if errors are left.
    history_ : PerceptronHistory, or list of them
        If asked for.
    t_ : float
        Number of visits plus one, as scikit-learn counts.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight k shows the row k times in a row, up to k updates while it is on the wrong side; a part of a
    time is an update of that part. So whole weights are repeated rows in place, zero is none; since the order
    of rows matters, repeated rows elsewhere are not the same. With a penalty, weights are factors of the step.

    A score of exactly 0 is a mistake in training, and ``classes_[0]`` in prediction.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.2. Novikoff (1962). Gallant (1990), for the best weights seen.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import Perceptron
    >>> X = np.array([[1.0, 1.0], [2.0, 3.0], [-1.0, -1.0], [-2.0, 0.0]])
    >>> model = Perceptron(shuffle=False).fit(X, ["yes", "yes", "no", "no"])
    >>> model.coef_, model.mistakes_
    (array([[1., 1.]]), array([1, 0, 0, 0]))
    >>> model.converged_, model.n_updates_ <= model.novikoff_bound_
    (True, True)
    >>> model.predict([[3.0, 1.0], [-3.0, 1.0]])
    array(['yes', 'no'], dtype='<U3')
    """

    n_updates_: Any
    t_: float

    _instead_of_gathering = "call partial_fit with a part of the rows at a time, or use LogisticRegression"

    def __init__(
        self,
        *,
        penalty: Penalty | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        verbose: int = 0,
        eta0: float = 1.0,
        n_jobs: int | None = None,
        random_state: Any = 0,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        init: Literal["zero", "basic"] = "zero",
        order: ArrayLike | None = None,
        averaged: bool = False,
        multi_class: Literal["one-vs-rest", "one-vs-one", "nested"] = "one-vs-rest",
        class_order: Sequence[Any] | None = None,
        history: bool = False,
        checkpoint: Any = None,
    ) -> None:
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.verbose = verbose
        self.eta0 = eta0
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.init = init
        self.order = order
        self.averaged = averaged
        self.multi_class = multi_class
        self.class_order = class_order
        self.history = history
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Any,
        y: Any,
        coef_init: ArrayLike | None = None,
        intercept_init: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Walk over the rows until none is on the wrong side.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, or path of a Parquet file \
or folder, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        coef_init : array of the shape of ``coef_``, default=None
        intercept_init : array of the shape of ``intercept_``, default=None
            Where to begin, instead of `init`.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        settings, penalty = self._settings(), check_penalty(self)
        rows, codes, classes, stand_in = check_classes(self, X, y, sample_weight, self.class_weight)
        problems = ordered_problems(self.multi_class, classes, self.class_order)
        order = check_order(self.order, rows.n_rows)
        starts = self._starts(rows, classes, problems, coef_init, intercept_init)
        walked_rows, X_held = self._walked(rows)
        with checkpoint_of(self.checkpoint, self, rows, start=starts) as kept, located(rows):
            seed = seed_of(self.random_state, kept)
            weight, judges = rows.sample_weight, None
            if self.early_stopping:
                judges = set_aside(codes, weight, self.validation_fraction, seed)
                weight = np.where(judges > 0, 0.0, 1.0 if weight is None else weight)

            def learn(problem: int) -> PerceptronWalk:
                labels = problems.labels(problem, codes)
                learns = labels != 0 if weight is None else (labels != 0) & (weight > 0)
                if not ((labels[learns] > 0).any() and (labels[learns] < 0).any()):
                    raise ValueError(
                        "Beside the rows set aside, only one class is left: use early_stopping=False."
                    )
                seen = np.flatnonzero(learns) if self.order is None else order[learns[order]]
                labels = np.where(learns | (False if judges is None else judges > 0), labels, 0)
                visits = Visits(seen, seed if self.shuffle and self.order is None else None)
                task = walked_rows, labels, visits, starts[problem], settings
                part = kept.part(f"plane {problem}")
                if penalty is None:
                    return perceptron(*task, weights=weight, judges=judges, n_jobs=self.n_jobs, kept=part)
                from bisector.solvers.penalised_perceptron import penalised_perceptron

                alpha, l1_ratio = penalty
                return penalised_perceptron(*task, alpha=alpha, l1_ratio=l1_ratio, weights=weight, kept=part)

            found = parallel(learn, range(len(problems)), n_jobs=self.n_jobs)
        return self._stored(stand_in, rows, codes, classes, problems, found, X_held)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Go on learning from more rows, once, in the order in which they come.

        Parameters
        ----------
        X, y, sample_weight : as for `fit`
        classes : array, default=None
            All labels that will ever come: needed in the first call.

        Returns
        -------
        self
            What it says of mistakes is said of these rows; ``n_updates_`` counts on.
        """
        settings, penalty = self._settings(), check_penalty(self)
        if isinstance(self.class_weight, str):
            raise ValueError(
                'class_weight="balanced" needs all rows at once: give partial_fit the weights as a dict.'
            )
        if penalty is not None:
            raise ValueError("partial_fit learns without penalty: set penalty=None, or call fit.")
        first = not hasattr(self, "classes_")
        if first and classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: all labels that will come."
            )
        if first:
            rows, stand_in = check_training(self, X, np.zeros(len(y)), sample_weight)
        else:
            rows, stand_in = check_rows(self, X), self
            rows.sample_weight = check_weights(sample_weight, rows.n_rows)
        known = np.unique(np.asarray(classes)) if first else self.classes_
        if classes is not None and not np.array_equal(np.unique(np.asarray(classes)), known):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}"
            )
        codes = check_labels(self, y, rows.n_rows, known).codes[:, 0]
        weight = row_weights(self.class_weight, codes, known, rows.sample_weight)
        if len(known) < 2:
            raise ValueError(
                f"Perceptron needs at least two classes, but classes has one class: {known.tolist()}."
            )
        problems = ordered_problems(self.multi_class, known, self.class_order)
        walked_rows, X_held = self._walked(rows)
        fresh = (np.zeros(rows.n_features + 1), None, 0.0)

        def learn(problem: int) -> PerceptronWalk:
            labels = problems.labels(problem, codes)
            last, moments, visits = fresh if first else self._going_on[problem]
            return perceptron_pass(
                walked_rows, labels, last, settings, weights=weight, moments=moments, visits=visits
            )

        with located(rows):
            found = parallel(learn, range(len(problems)), n_jobs=self.n_jobs)
        before: tuple[Any, float] = (0, 1.0) if first else (self.n_updates_, self.t_)
        self._stored(stand_in, rows, codes, known, problems, found, X_held)
        self.n_updates_, self.t_ = self.n_updates_ + before[0], before[1] + rows.n_rows
        return self

    def _walked(self, rows: Source) -> tuple[Any, Any]:
        """Return the rows as loops see them, and as they are held."""
        from bisector.solvers.row_loops import walked

        X = held(rows, f"Fitting {type(self).__name__}")
        return walked(X, self.fit_intercept), X

    @property
    def mistakes_(self) -> NDArray[Any]:
        """The number of updates that each training row caused."""
        check_is_fitted(self)
        if "_mistakes" not in vars(self):
            raise AttributeError(
                "mistakes_ and dual_coef_ have a number for every training row, which a model that was pickled or "
                "copied no longer has: fit it again."
            )
        mistakes: NDArray[Any] = self._mistakes
        return mistakes

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """What each training row added to the weights: η α y, one line for each two-class problem."""
        mistakes = self.mistakes_
        eta, sides = self._steps
        steps: NDArray[np.float64] = eta * sides * mistakes
        return steps

    def _settings(self) -> Settings:
        check_number("validation_fraction", self.validation_fraction, above=0, below=1)
        for flag in ("fit_intercept", "shuffle", "early_stopping", "warm_start"):
            check_flag(flag, getattr(self, flag))
        check_choice("init", self.init, ("zero", "basic"))
        return Settings(
            eta=check_finite("eta0", self.eta0, above=0),
            max_iter=check_count("max_iter", self.max_iter),
            tol=None if self.tol is None else check_finite("tol", self.tol, at_least=0),
            patience=check_count("n_iter_no_change", self.n_iter_no_change),
            averaged=check_flag("averaged", self.averaged),
            recorded=check_flag("history", self.history),
            verbose=self.verbose,
        )

    def _starts(
        self,
        rows: Source,
        classes: NDArray[Any],
        problems: TwoClassProblems,
        coef_init: ArrayLike | None,
        intercept_init: ArrayLike | None,
    ) -> NDArray[np.float64]:
        warm = self.warm_start and hasattr(self, "classes_") and coef_init is None and intercept_init is None
        if warm and np.array_equal(self.classes_, classes) and len(self.intercept_) == len(problems):
            coef_init, intercept_init = self._dense_weights(), self.intercept_
        if coef_init is None and intercept_init is None and self.init == "basic":
            return basic_starts(rows, problems, self.fit_intercept, self.n_jobs)
        if not self.fit_intercept:
            intercept_init = None
        return check_starts(coef_init, intercept_init, len(problems), rows.n_features)

    def _stored(
        self,
        stand_in: Any,
        rows: Source,
        codes: NDArray[np.int64],
        classes: NDArray[Any],
        problems: TwoClassProblems,
        found: list[PerceptronWalk],
        held_rows: Any,
    ) -> Self:
        weights = np.array([walk.solution for walk in found])
        (narrow,) = narrowed(rows.dtype, weights, remedy="give the features in larger units, or X as float64")
        whole = all((walk.mistakes == np.floor(walk.mistakes)).all() for walk in found)
        counted = np.int64 if whole else np.float64
        size = np.linalg.norm(weights[:, :-1], axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            margins = np.array([walk.smallest_margin for walk in found]) / size
        passes = max(walk.iterations for walk in found)
        learned: dict[str, Any] = {
            "n_updates_": np.array([walk.updates for walk in found]).astype(counted),
            "margin_": margins,
            "margin_bound_": np.array([walk.margin_bound for walk in found]),
            "novikoff_bound_": np.array([walk.novikoff_bound(self.eta0) for walk in found]),
            "stopping_reason_": [walk.reason for walk in found],
            "_mistakes": np.array([walk.mistakes for walk in found]).astype(counted),
        }
        sides = np.array([problems.labels(problem, codes) for problem in range(len(problems))], np.int8)
        if self.history:
            learned["history_"] = [history_of(walk, held_rows) for walk in found]
        if len(problems) == 1:
            learned = {name: values[0] for name, values in learned.items()}
            for name in ("n_updates_", "margin_", "margin_bound_", "novikoff_bound_"):
                learned[name] = learned[name].item()
        return store(
            self,
            stand_in,
            coef_=np.ascontiguousarray(narrow[:, :-1]),
            intercept_=narrow[:, -1].copy(),
            classes_=classes,
            two_class_problems_=problems,
            n_iter_=passes,
            t_=float(passes * rows.n_rows + 1),
            converged_=all(walk.converged for walk in found),
            **learned,
            _steps=(float(self.eta0), sides),
            _going_on=[
                (
                    walk.last if walk.reason == "one pass" or self.averaged else walk.solution,
                    walk.moments,
                    walk.visits,
                )
                for walk in found
            ],
        )

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        for name in ("_mistakes", "_steps"):  # a model file does not grow with the training data
            state.pop(name, None)
        return state
