"""Gaussian mixtures: a few bumps instead of one on every row, fitted by expectation maximisation (LFD 6.4.1)."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bisector.density.boxes import check_box
from bisector.density.mixture_parameters import (
    check_covariances,
    check_means,
    check_mixture_weights,
    collapsed,
    told,
)
from bisector.density.mixture_rows import known_rows, rows_of
from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.map_reduce import map_blocks
from bisector.engine.sources import Source
from bisector.engine.validation import (
    blank,
    check_choice,
    check_count,
    check_finite,
    check_flag,
    check_weights,
    store,
)
from bisector.solvers.em import (
    Floor,
    MixtureFit,
    expectation_maximisation,
)
from bisector.solvers.held_rows import held
from bisector.solvers.interval_em import interval_expectation_maximisation
from bisector.solvers.mixture import Mixture, log_totals
from bisector.solvers.mixture_shapes import SHAPES, Diagonal, Shape
from bisector.solvers.mixture_start import WAYS, even_mixture, first_mixture
from bisector.solvers.spread import Measured, measure

Floats = NDArray[np.float64]

FIXABLE = ("weights", "means", "covariances")


class GaussianMixture(DensityMixin, BaseEstimator):
    """Density as a weighted sum of Gaussian bumps.

    The likelihood of the rows is maximised over weights, means and covariances, subject to no variance, in any
    direction, below `reg_covar`. Without that floor there is no maximum: a bump that shrinks onto one row makes the
    likelihood infinite. Under it, the objective never falls from step to step, and `lower_bounds_` shows it.

    Parameters
    ----------
    n_components : int, default=1
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
    tol : float, default=1e-3
        Iterations end when one raises the mean log likelihood by less.
    reg_covar : float, default=1e-6
        The least variance; see `floor`.
    max_iter : int, default=100
    n_init : int, default=1
        From how many starts; the best result is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
    weights_init, means_init, precisions_init : array-like, optional
        Where to start, as far as given.
    random_state : int, RandomState or None, default=None
    warm_start : bool, default=False
        Start from the mixture found by the last fit.
    verbose, verbose_interval : int
        Without effect: use ``bisector.progress()``.
    floor : {"least", "added"}, default="least"
        ``"least"`` makes `reg_covar` a constraint of the objective. ``"added"`` adds it to the variances after
        every step, as scikit-learn does, by which the likelihood may fall.
    fixed : tuple of "weights", "means", "covariances", default=()
        What stays as it starts; it has to be given.
    interval : float, optional
        Values of the one feature are known up to ± this number only, and the probability of the intervals is
        maximised (LFD Problem 6.27): it is bounded, so that no floor is needed.
    n_jobs : int, optional
        Threads; all cores by default.
    checkpoint : str or path, optional
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends.

    Attributes
    ----------
    weights_, means_, covariances_, precisions_, precisions_cholesky_ : ndarray
    converged_ : bool
    n_iter_ : int
    lower_bound_ : float
        The mean log likelihood before the last step.
    lower_bounds_ : list of float
        The same before every step.
    collapsed_ : ndarray of bool of shape (n_components,)
        Components that lie at the floor in a direction in which the data as a whole do not: they describe a few
        rows, or equal ones, rather than a density. A warning says so.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import GaussianMixture
    >>> rows = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> model = GaussianMixture(2, random_state=0).fit(rows)
    >>> np.sort(model.means_.ravel()).round(3)
    array([1., 9.])
    >>> known = GaussianMixture.from_parameters([0.5, 0.5], [[0.0], [4.0]], [[[1.0]], [[1.0]]])
    >>> known.predict([[1.0], [3.0]])
    array([0, 1])
    """

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: Literal["kmeans", "k-means++", "random", "random_from_data"] = "kmeans",
        weights_init: ArrayLike | None = None,
        means_init: ArrayLike | None = None,
        precisions_init: ArrayLike | None = None,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        verbose_interval: int = 10,
        floor: Literal["least", "added"] = "least",
        fixed: Iterable[str] = (),
        interval: float | None = None,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.verbose_interval = verbose_interval
        self.floor = floor
        self.fixed = fixed
        self.interval = interval
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    _mixture: Mixture

    @classmethod
    def from_parameters(
        cls,
        weights: ArrayLike,
        means: ArrayLike,
        covariances: ArrayLike,
        *,
        covariance_type: Literal["full", "tied", "diag", "spherical"] = "full",
        random_state: Any = None,
    ) -> Self:
        """Make a mixture of known parameters, which needs no fitting.

        Parameters
        ----------
        weights : array-like of shape (k,)
        means : array-like of shape (k, d)
        covariances : array-like of shape (k, d, d), (d, d), (k, d) or (k,)
            As `covariance_type` says.
        covariance_type : str
        random_state : int, RandomState or None
            For `sample`.
        """
        shape = SHAPES[check_choice("covariance_type", covariance_type, tuple(SHAPES))]
        centres = check_means("means", means)
        shares = check_mixture_weights("weights", weights, len(centres))
        spread = check_covariances("covariances", covariances, shape, *centres.shape)
        mixture = Mixture(shares, centres, spread, shape)
        model = cls(len(centres), covariance_type=covariance_type, random_state=random_state)
        model.n_features_in_ = centres.shape[1]
        never = MixtureFit(mixture, (), True, 0.0)
        return store(model, model, **told(never), collapsed_=np.zeros(len(centres), dtype=bool))

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture.

        Parameters
        ----------
        X : array-like, memory map, frame, path of Parquet files or Dask collection, of shape (n_rows, n_features)
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            A weight counts as so many equal rows.

        Returns
        -------
        self
        """
        stand_in, shape = blank(self), self._checked()
        rows = rows_of(stand_in, X, sample_weight)
        k, d = self.n_components, rows.n_features
        if rows.n_rows < k:
            raise ValueError(
                f"Expected n_samples >= n_components but got n_components = {k}, n_samples = {rows.n_rows}"
            )
        if self.interval is not None and d != 1:
            raise ValueError(f"interval is for a single feature, but X has {d}: use reg_covar.")
        floor = Floor(float(self.reg_covar), self.floor == "added")
        again = self.warm_start and hasattr(self, "_mixture") and self._mixture.means.shape == (k, d)
        rng = check_random_state(self.random_state)
        rows.read_often = True
        measured = measure(rows, n_jobs=self.n_jobs)
        best: MixtureFit | None = None
        with checkpoint_of(self.checkpoint, self, rows, np.append(measured.mean, measured.scatter)) as kept:
            for number in range(1 if again else self.n_init):
                run = kept.part(f"run {number}")
                start = self._mixture if again else self._start(rows, measured, shape, floor, rng, run)
                try:
                    found = self._run(rows, start, floor, run)
                except np.linalg.LinAlgError:
                    raise ValueError(
                        f"A component has no variance in some direction, with reg_covar={self.reg_covar:g}: raise "
                        "it."
                    ) from None
                if best is None or (found.history and found.history[-1] > best.history[-1]):
                    best = found
        assert best is not None
        if not best.converged and self.max_iter > 0:
            warnings.warn(
                f"The mixture still improved by {best.gap:.2g} in step {len(best.history)}: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        flat = collapsed(best.mixture, rows, measured.mean, float(self.reg_covar))
        if flat.any():
            warnings.warn(
                f"Component {int(np.flatnonzero(flat)[0])} has collapsed to the least variance, reg_covar="
                f"{self.reg_covar:g}, in some direction: use fewer components, or raise reg_covar.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return store(self, stand_in, **told(best), collapsed_=flat)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> NDArray[np.int64]:
        """Fit, and return the most probable component of every row."""
        return self.fit(X, y, sample_weight).predict(X)

    @by_rows
    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at every row of X."""
        return log_totals(self._parts(X))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log density of the rows of X, by their weights if there are any."""
        logs = self.score_samples(X)
        return float(np.average(logs, weights=check_weights(sample_weight, len(logs))))

    @by_rows
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable component of every row."""
        return np.asarray(self._parts(X).argmax(axis=1))

    @by_rows
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of every component for every row."""
        parts = self._parts(X)
        shares = np.exp(parts - parts.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say to which component each row belongs, and what each adds to the density there.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            The answer is the most probable component. The first account are the probabilities of the components,
            which add up to one; the second adds up to the density.
        """
        from bisector.density.mixture_reasons import explain_components

        return explain_components(self, self._parts(X), self.predict_proba(X))

    def sample(self, n_samples: int = 1) -> tuple[Floats, NDArray[np.int64]]:
        """Draw rows, component by component, and tell the component of each."""
        check_is_fitted(self)
        check_count("n_samples", n_samples)
        return self._mixture.drawn(n_samples, check_random_state(self.random_state))

    def integrate(self, box: ArrayLike) -> float:
        """Return the probability of a box.

        Parameters
        ----------
        box : array-like of shape (n_features, 2)
            The lowest and highest value of each feature; ±inf for no limit.
        """
        check_is_fitted(self)
        from scipy.special import ndtr
        from scipy.stats import multivariate_normal

        mixture, d = self._mixture, self.n_features_in_
        sides = check_box("box", box, d)
        matrices = mixture.shape.matrices(mixture.covariances, mixture.k, d)
        total = 0.0
        for weight, mean, matrix in zip(mixture.weights, mixture.means, matrices, strict=True):
            if np.array_equal(matrix, np.diag(np.diag(matrix))):
                low, high = ((sides - mean[:, None]) / np.sqrt(np.diag(matrix))[:, None]).T
                mass = float(np.prod(ndtr(high) - ndtr(low)))
            else:
                mass = float(
                    multivariate_normal(mean, matrix, seed=0).cdf(sides[:, 1], lower_limit=sides[:, 0])
                )
            total += float(weight) * mass
        return total

    def bic(self, X: Any) -> float:
        """Return Bayes's information criterion, −2 log L + p log n: lower is better."""
        logs = self.score_samples(X)
        return float(-2 * logs.sum() + self._n_parameters() * np.log(len(logs)))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion, −2 log L + 2p: lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def _n_parameters(self) -> int:
        k, d = self._mixture.means.shape
        return int(self._mixture.shape.n_parameters(k, d) + k * d + k - 1)

    def _parts(self, X: Any) -> Floats:
        check_is_fitted(self)
        rows = known_rows(self, X)
        return np.asarray(map_blocks(_block_parts, rows, self._mixture, n_jobs=self.n_jobs))

    def _checked(self) -> Shape:
        """Check the parameters; return the shape of the covariances."""
        check_count("n_components", self.n_components)
        check_finite("tol", self.tol, at_least=0)
        check_finite("reg_covar", self.reg_covar, at_least=0)
        check_count("max_iter", self.max_iter, at_least=0)
        check_count("n_init", self.n_init)
        check_choice("init_params", self.init_params, WAYS)
        check_choice("floor", self.floor, ("least", "added"))
        check_flag("warm_start", self.warm_start)
        if self.interval is not None:
            check_finite("interval", self.interval, above=0)
        given = {
            "weights": self.weights_init,
            "means": self.means_init,
            "covariances": self.precisions_init,
        }
        for part in self.fixed:
            check_choice("fixed", part, FIXABLE)
            if given[part] is None:
                name = "precisions_init" if part == "covariances" else f"{part}_init"
                raise ValueError(f"fixed names the {part}, which therefore have to be given as {name}.")
        return SHAPES[check_choice("covariance_type", self.covariance_type, tuple(SHAPES))]

    def _run(self, rows: Source, start: Mixture, floor: Floor, kept: Checkpoint) -> MixtureFit:
        if self.interval is not None:
            x = held(rows, "Fitting GaussianMixture with intervals")[:, 0].astype(np.float64)
            counted = np.ones(len(x)) if rows.sample_weight is None else rows.sample_weight
            return interval_expectation_maximisation(
                x, counted, start, float(self.interval), floor=floor.variance, tol=self.tol,
                max_iter=self.max_iter, fixed=frozenset(self.fixed),
            )  # fmt: skip
        return expectation_maximisation(
            rows, start, floor=floor, tol=self.tol, max_iter=self.max_iter, fixed=self.fixed, n_jobs=self.n_jobs,
            kept=kept,
        )  # fmt: skip

    def _start(
        self, rows: Source, measured: Measured, shape: Shape, floor: Floor, rng: np.random.RandomState,
        kept: Checkpoint,
    ) -> Mixture:  # fmt: skip
        """Return the mixture of rows shared out as `init_params` says, with what was given in its place."""
        k, d = self.n_components, rows.n_features
        if self.interval is not None:  # values known up to ± an interval have at least its variance
            floor = Floor(max(floor.variance, float(self.interval) ** 2 / 3))
        made = even_mixture(measured, k, shape, floor)
        if any(part is None for part in (self.weights_init, self.means_init, self.precisions_init)):
            how, first = self.init_params, kept.part("start")
            made = first_mixture(how, rows, measured, made, floor, rng, n_jobs=self.n_jobs, kept=first)
        changes: dict[str, Any] = {}
        if self.weights_init is not None:
            changes["weights"] = check_mixture_weights("weights_init", self.weights_init, k)
        if self.means_init is not None:
            changes["means"] = check_means("means_init", self.means_init, k, d)
        if self.precisions_init is not None:
            precisions = check_covariances("precisions_init", self.precisions_init, shape, k, d)
            inverted: Floats = (
                1 / precisions
                if isinstance(shape, Diagonal)
                else np.linalg.inv(precisions).astype(np.float64)
            )
            changes["covariances"] = inverted if floor.added else shape.floored(inverted, floor.variance)
        return replace(made, **changes)


def _block_parts(block: Any, mixture: Mixture) -> Floats:
    return mixture.log_parts(block.dense)
