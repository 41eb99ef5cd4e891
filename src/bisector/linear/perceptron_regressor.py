"""The perceptron as a regressor: a plane that is pulled by one row after the other."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.lazy_rows import by_rows
from bisector.engine.planes import HasPlanes, narrowed
from bisector.engine.seeds import seed_of
from bisector.engine.validation import (
    check_choice,
    check_count,
    check_finite,
    check_flag,
    check_number,
    check_training,
    store,
)
from bisector.linear.perceptron_input import check_order, located
from bisector.solvers.delta_rule import DeltaRuleWalk, DivergedError, delta_rule
from bisector.solvers.held_rows import held
from bisector.solvers.perceptron_pass import Visits

Floats = NDArray[np.floating[Any]]


class PerceptronRegressor(RegressorMixin, HasPlanes):
    """Pull the plane towards one row after the other, by its residual (Flach, Algorithm 7.3).

    In homogeneous coordinates, w ← w + η (y − w·x) x / s for every row in turn, where the scale s keeps steps from
    growing without bound. The rate η is halved when it no longer helps, so that w comes to rest where the pulls of
    all rows balance: Σ (y − w·x) x / s = 0, which is least squares, or least squares with long rows counting less.

    Slow next to `LinearRegression`, most of all where features are correlated or far from zero; it shows how the
    answer can be learned one row at a time.

    Parameters
    ----------
    rule : {"residual", "squared-residual"}, default="residual"
        Step by the residual; or by its square, as the book prints the rule, which can push the plane only up and
        ends well on few data.
    learning_rate : float, default=1.0
        η. With ``scale="row"``, 1 puts the plane through every row in its turn, and 2 is too much.
    scale : {"row", "longest"} or None, default="row"
        The length that steps are divided by the square of: that of the row itself (normalised LMS, Kaczmarz's
        method), that of the longest row, or nothing, as the book has it. With "longest" the plane comes to rest at
        least squares; with "row", at least squares with rows weighted by one over their squared length.
    schedule : {"halving", "constant"}, default="halving"
        Halve η after every pass that does not lower the sum of the squared residuals met, or leave it.
    max_epochs : int, default=1000
        Largest number of passes over the data.
    until : float, default=None
        End as soon as the squared residuals met in a pass sum to no more than this.
    tol : float, default=1e-3
        A pass lowers the sum if it is smaller by this share; the fit ends when η is below this share of
        `learning_rate`.
    fit_intercept : bool, default=True
        Whether rows have the homogeneous coordinate 1.
    shuffle : bool, default=True
        Visit the rows in a new random order in each pass.
    random_state : int, RandomState, numpy.random.Generator or None, default=0
    order : array of int, default=None
        Visit the rows in this order in every pass; `shuffle` is then without effect.
    verbose : int, default=0
        Show a progress bar.
    n_jobs : int, default=None
        Number of threads for `predict`; a fit goes from row to row and uses one.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends. It holds the weights and the errors of the passes, some
        kilobytes.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
    intercept_ : float
    n_epochs_ : int
        Number of passes over the data.
    converged_ : bool
        Whether the fit ended before `max_epochs`.
    stopping_reason_ : {"until", "no improvement", "max_epochs"}
    errors_ : array of shape (epochs,)
        Sum of the squared residuals met in each pass.
    learning_rate_ : float
        η at the end.
    gap_ : float
        How far pulls are from balance: the length of their sum over the sum of their lengths.
    n_features_in_ : int
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    A sample weight k shows the row k times in a row; a part of a time is that part of a step. Since the order of
    rows matters, repeated rows elsewhere end close by, not at the same plane.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.2. Kaczmarz (1937). Censor, Eggermont and Gordon (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import PerceptronRegressor
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> model = PerceptronRegressor().fit(X, [1.0, 3.0, 5.0, 7.0])
    >>> model.coef_.round(4), round(model.intercept_, 4)
    (array([2.]), 1.0)
    """

    _instead_of_gathering = "use LinearRegression"

    def __init__(
        self,
        rule: Literal["residual", "squared-residual"] = "residual",
        *,
        learning_rate: float = 1.0,
        scale: Literal["row", "longest"] | None = "row",
        schedule: Literal["halving", "constant"] = "halving",
        max_epochs: int = 1000,
        until: float | None = None,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        shuffle: bool = True,
        random_state: Any = 0,
        order: ArrayLike | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.rule = rule
        self.learning_rate = learning_rate
        self.scale = scale
        self.schedule = schedule
        self.max_epochs = max_epochs
        self.until = until
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.shuffle = shuffle
        self.random_state = random_state
        self.order = order
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Walk over the rows until their pulls balance.

        Parameters
        ----------
        X : array, sparse matrix, pandas or polars frame, Arrow table or dataset, or path of a Parquet file \
or folder, of shape (n_samples, n_features)
        y : array of shape (n_samples,), or the name of a column of X
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        from bisector.solvers.row_loops import walked

        options = self._options()
        rows, stand_in = check_training(self, X, y, sample_weight)
        weight = rows.sample_weight
        if weight is not None and self.rule == "squared-residual":
            raise ValueError('rule="squared-residual" takes no sample_weight: repeat rows instead.')
        targets = (
            rows.y if rows.y is not None else np.concatenate([block.targets for block in rows.blocks()])[:, 0]
        )
        order = check_order(self.order, rows.n_rows)
        if weight is not None:
            order = order[weight[order] > 0]
        shuffled = check_flag("shuffle", self.shuffle) and self.order is None
        start = np.zeros(rows.n_features + 1)
        with checkpoint_of(self.checkpoint, self, rows) as kept, located(rows):
            visits = Visits(order, seed_of(self.random_state, kept) if shuffled else None)
            walked_rows = walked(held(rows, "Fitting PerceptronRegressor"), self.fit_intercept)
            found = self._walk(walked_rows, targets, visits, start, weight, options, kept)
        (weights,) = narrowed(rows.dtype, found.solution, remedy="give X as float64")
        return store(
            self,
            stand_in,
            coef_=weights[:-1].copy(),
            intercept_=float(weights[-1]),
            n_epochs_=found.iterations,
            n_iter_=found.iterations,
            converged_=found.converged,
            stopping_reason_=found.reason,
            errors_=found.errors,
            learning_rate_=found.rate,
            gap_=found.gap,
        )

    @by_rows
    def predict(self, X: Any) -> Floats:
        """Return w·x + b for each row.

        Parameters
        ----------
        X : as for `fit`, of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._plane_values(X)

    def _options(self) -> dict[str, Any]:
        scale = self.scale
        if scale is not None:
            check_choice("scale", scale, ("row", "longest"))
        check_flag("fit_intercept", self.fit_intercept)
        return {
            "rule": check_choice("rule", self.rule, ("residual", "squared-residual")),
            "rate": check_finite("learning_rate", self.learning_rate, above=0),
            "scale": scale,
            "halving": check_choice("schedule", self.schedule, ("halving", "constant")) == "halving",
            "max_epochs": check_count("max_epochs", self.max_epochs),
            "until": None if self.until is None else check_number("until", self.until, at_least=0),
            "tol": check_number("tol", self.tol, above=0, below=1),
            "verbose": self.verbose,
        }

    def _walk(
        self,
        rows: Any,
        targets: Any,
        visits: Visits,
        start: Any,
        weight: Any,
        options: dict[str, Any],
        kept: Checkpoint,
    ) -> DeltaRuleWalk:
        try:
            return delta_rule(rows, targets, visits, start, weights=weight, kept=kept, **options)
        except DivergedError:
            if self.rule == "squared-residual":
                remedy = 'a squared residual can only push the plane up: use rule="residual"'
            elif self.scale is None:
                remedy = 'use a smaller one, or scale="row", which suits data of any size'
            else:
                remedy = "use one below 2"
            raise ValueError(
                f"With learning_rate={self.learning_rate:g} the steps overshoot more and more, and the weights "
                f"grow without bound: {remedy}."
            ) from None
