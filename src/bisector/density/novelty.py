"""Novelty: rows where the density is lower than it is for nearly all known rows."""

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bisector.density.boxes import check_dense
from bisector.density.gaussian_mixture import GaussianMixture
from bisector.density.kernel_density import KernelDensity
from bisector.engine.explanation import Explanation, account_of
from bisector.engine.lazy_rows import by_rows
from bisector.engine.show import number
from bisector.engine.validation import blank, check_finite, check_number, store

Floats = NDArray[np.float64]


class NoveltyDetector(OutlierMixin, BaseEstimator):
    """Calls a row new when its density is below that of nearly all rows that were set aside.

    One part of the rows makes the density, the other is scored by it. A further row of the same kind is as
    likely to
    take any place among those scores, whatever the density: the rate of false alarms on rows not yet seen is at
    most `alpha`, without assumptions but that rows are drawn alike (split conformal prediction).

    Parameters
    ----------
    alpha : float, default=0.05
        The rate of false alarms.
    density : "kernel", "mixture" or an estimator with score_samples, default="kernel"
        What measures how usual a row is: KernelDensity with Scott's width in units of the data, GaussianMixture
        with three components, or any other.
    calibration : float, default=0.5
        The share of rows set aside.
    random_state : int, RandomState or None, default=0
        Which rows these are.

    Attributes
    ----------
    offset_ : float
        The log density below which a row is new.
    calibration_scores_ : ndarray
        The log densities of the rows set aside, in ascending order.
    smallest_alpha_ : float
        1/(m + 1) for m rows set aside: with a smaller alpha no row can be called new.
    density_ : estimator
        Fitted to the other rows.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import NoveltyDetector
    >>> usual = np.random.default_rng(0).normal(size=(400, 2))
    >>> model = NoveltyDetector(alpha=0.01).fit(usual)
    >>> model.predict([[0.0, 0.0], [8.0, 8.0]])
    array([ 1, -1])
    """

    _instead_of_gathering = "fit a sample of the rows"

    def __init__(
        self,
        alpha: float = 0.05,
        *,
        density: Literal["kernel", "mixture"] | Any = "kernel",
        calibration: float = 0.5,
        random_state: Any = 0,
    ) -> None:
        self.alpha = alpha
        self.density = density
        self.calibration = calibration
        self.random_state = random_state

    offset_: float
    calibration_scores_: Floats
    density_: Any
    _usual: NDArray[Any]
    _aside: NDArray[Any]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what is usual.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        y : ignored

        Returns
        -------
        self
        """
        stand_in = blank(self)
        rows = check_dense(stand_in, X, reset=True, at_least=2)
        usual, aside = self._divided(rows)
        return self._learned(stand_in, usual, aside)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in more usual rows: some for the density, the others for the scores it is compared with."""
        if not hasattr(self, "_usual"):
            return self.fit(X)
        rows = check_dense(self, X, reset=False)
        usual, aside = self._divided(rows, first=False)
        stand_in = blank(self)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(stand_in, name, getattr(self, name))
        return self._learned(
            stand_in, np.concatenate([self._usual, usual]), np.concatenate([self._aside, aside])
        )

    @by_rows
    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at every row: the lower, the more unusual."""
        check_is_fitted(self)
        rows = check_dense(self, X, reset=False)
        # Where every bump is zero the density's logarithm is −inf: still a number to compare by.
        return np.maximum(self.density_.score_samples(rows), np.finfo(np.float64).min / 4)

    @by_rows
    def decision_function(self, X: Any) -> Floats:
        """Return how far the log density is above the level of alarm; rows below zero are new."""
        return self.score_samples(X) - self.offset_

    @by_rows
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return −1 for new rows, 1 for usual ones."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is called new or usual: its log density, and the level of alarm.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            The first account adds up to the value of `decision_function`; where the density can explain itself,
            its own account is the second.
        """
        answers, scores, p = self.predict(X), self.score_samples(X), self.p_values(X)
        rows = check_dense(self, X, reset=False)
        inner: list[Explanation | None] = [None] * len(rows)
        if hasattr(self.density_, "explain_rows"):
            inner = list(self.density_.explain_rows(rows))
        explained = []
        for answer, score, value, own in zip(
            answers.tolist(), scores.tolist(), p.tolist(), inner, strict=True
        ):
            parts = np.array([score, -self.offset_])
            names = ["log density", "less the level of alarm"]
            account = account_of("log density above the alarm", parts, names=names)
            word, side = ("Usual", "not below") if answer == 1 else ("New", "below")
            said = (
                f"{word}: the log density, {number(score)}, is {side} the level of alarm, {number(self.offset_)} "
                f"(p = {number(value)})."
            )
            more = [] if own is None else list(own.accounts)
            explained.append(Explanation(answer, said, [account, *more]))
        return explained

    @by_rows
    def p_values(self, X: Any) -> Floats:
        """Return how probable it is that a usual row is at least as unusual as each row; at most alpha is new."""
        m = len(self.calibration_scores_)
        below = np.searchsorted(self.calibration_scores_, self.score_samples(X), side="right")
        return np.asarray((1.0 + below) / (m + 1))

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log density of the rows of X."""
        return float(self.score_samples(X).mean())

    def _divided(self, rows: NDArray[Any], first: bool = True) -> tuple[NDArray[Any], NDArray[Any]]:
        share = check_number("calibration", self.calibration, above=0, below=1)
        order = check_random_state(self.random_state).permutation(len(rows))
        count = round(share * len(rows))
        if first:
            count = min(max(count, 1), len(rows) - 1)
        return rows[np.sort(order[count:])], rows[np.sort(order[:count])]

    def _learned(self, stand_in: Any, usual: NDArray[Any], aside: NDArray[Any]) -> Self:
        alpha = check_number("alpha", self.alpha, above=0, below=1)
        check_finite("alpha", alpha)
        model = self._density(usual)
        with warnings.catch_warnings():
            if isinstance(self.density, str):  # a bump on a few rows is no fault here: they are usual
                warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(usual)
        scores = np.sort(np.maximum(model.score_samples(aside), np.finfo(np.float64).min / 4))
        # p = (1 + number of scores up to it)/(m + 1) ≤ alpha: as many scores as `rank` may not be reached.
        rank = int(np.floor(alpha * (len(scores) + 1) * (1 + 1e-12)))
        offset = float(scores[rank - 1]) if rank else float(np.finfo(np.float64).min / 2)
        return store(
            self,
            stand_in,
            density_=model,
            offset_=offset,
            calibration_scores_=scores,
            smallest_alpha_=1 / (len(scores) + 1),
            X_fit_=usual,
            _usual=usual,
            _aside=aside,
        )

    def _density(self, usual: NDArray[Any]) -> Any:
        if not isinstance(self.density, str):
            return clone(self.density)
        if self.density == "mixture":
            return GaussianMixture(min(3, len(usual)), random_state=0)
        if self.density != "kernel":
            raise ValueError(f"density must be 'kernel', 'mixture' or an estimator, not {self.density!r}.")
        flat = len(usual) < 2 or not np.ptp(usual, axis=0).any()
        return KernelDensity(bandwidth="scott", scale=None if flat else "common")
