"""Logistic calibration: a sigmoid over the distance from the boundary (Flach 7.4)."""

from math import inf, log
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation, account_of, told
from bisector.engine.scored_rows import check_scored_rows, check_scores
from bisector.engine.show import number
from bisector.engine.validation import blank, check_choice, check_flag, check_number, store
from bisector.solvers.sigmoid import Sigmoid, class_distances, likelihood_sigmoid

from .calibrator import Calibrator, Floats


class LogisticCalibrator(Calibrator):
    """Turn scores into probabilities by a sigmoid: log-odds that are a line over the scores.

    If the scores of both classes are normal with one variance σ², as signed distances from a boundary often nearly
    are, the likelihood ratio of a score d is exp(γ(d − d0)), with γ the difference of the class means over σ², and
    d0 halfway between the means. With the class ratio clr, positives over negatives, the probability is
    p = LR / (LR + 1/clr). The likelihood can choose the line as well, and assumes less.

    The order of the scores is kept (reversed if γ < 0), so that the area under the ROC curve is; only the
    threshold moves.

    Parameters
    ----------
    method : {"geometric", "likelihood"}, default="geometric"
        The closed form from means and variance, or the sigmoid of the largest likelihood (Platt, 1999).
    class_ratio : "data" or float, default="data"
        Positives over negatives where probabilities are wanted: as in the training data, or another; 1 leaves the
        class ratio out of account. On data with 10 % positives that raises the mean probability far above 10 %.
    smoothing : bool, default=True
        Whether the likelihood is that of targets a little less extreme than 0 and 1, which keeps the slope finite
        when scores separate the classes. Without effect on the geometric method.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    gamma_ : float
        The slope γ of the log-odds. Infinite if a score at d0 divides the classes and nothing limits the slope: no
        variance, or the likelihood without smoothing.
    d0_ : float
        The score at which the likelihood ratio is one: the boundary if classes were equally frequent.
    means_ : array of shape (2,)
        Mean scores of the negatives and the positives.
    variance_ : float
        Of the scores within the classes, σ².
    class_ratio_ : float
        The class ratio in use.
    classes_ : array of shape (2,)
        The labels; the second is positive.
    n_iter_ : int
        Steps of Newton's method; 0 for the closed form.
    gap_ : float
        How far the negative log-likelihood is at most above its smallest value; NaN for the closed form.

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.4. Platt, *Probabilistic outputs for support vector machines*
    (1999). Lin, Lin and Weng, *A note on Platt's probabilistic outputs for support vector machines* (2007).

    Examples
    --------
    >>> from bisector import LogisticCalibrator
    >>> scores, y = [-2.0, -1.0, 0.0, 0.0, 1.0, 2.0], [0, 0, 0, 1, 1, 1]
    >>> calibrator = LogisticCalibrator().fit(scores, y)
    >>> calibrator.gamma_, calibrator.d0_
    (3.0, 0.0)
    >>> calibrator.predict([-1.0, 0.0, 1.0]).round(3)
    array([0.047, 0.5  , 0.953])
    """

    def __init__(
        self,
        method: Literal["geometric", "likelihood"] = "geometric",
        *,
        class_ratio: float | Literal["data"] = "data",
        smoothing: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.method = method
        self.class_ratio = class_ratio
        self.smoothing = smoothing
        self.n_jobs = n_jobs

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the sigmoid.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)
            The higher, the more positive.
        y : array of shape (n_samples,)
            Labels of two classes; the second in ascending order is positive.
        sample_weight : array of shape (n_samples,), default=None

        Returns
        -------
        self
        """
        check_choice("method", self.method, ("geometric", "likelihood"))
        smoothing = check_flag("smoothing", self.smoothing)
        if not isinstance(self.class_ratio, str):
            check_number("class_ratio", self.class_ratio, above=0, below=inf)
        else:
            check_choice("class_ratio", self.class_ratio, ("data",))
        rows = check_scored_rows(scores, y, sample_weight)
        found = class_distances(rows, n_jobs=self.n_jobs)
        ratio = found.class_ratio if isinstance(self.class_ratio, str) else float(self.class_ratio)
        if self.method == "geometric":
            sigmoid, d0 = Sigmoid(found.slope, found.middle, log(ratio)), found.middle
            steps, gap = 0, np.nan
        else:
            fit = likelihood_sigmoid(rows, smoothing=smoothing, n_jobs=self.n_jobs)
            sigmoid, d0 = _with_ratio(fit.sigmoid, found.class_ratio, ratio)
            steps, gap = fit.iterations, fit.gap
        return store(
            self,
            blank(self),
            gamma_=sigmoid.slope,
            d0_=d0,
            means_=np.array([found.negative_mean, found.positive_mean]),
            variance_=found.variance,
            class_ratio_=ratio,
            classes_=rows.classes,
            n_iter_=steps,
            gap_=gap,
            _sigmoid=sigmoid,
        )

    def log_odds(self, scores: ArrayLike) -> Floats:
        """Return log p/(1 − p) at each score, which tells probabilities apart that round to 0 or 1.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        return self._at(self._sigmoid.at, scores)

    def explain_rows(self, scores: ArrayLike) -> list[Explanation]:
        """Say how each score becomes a probability: which log-odds it has, and what they are made of.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        list of Explanation
            The answer is the probability of the positive class; the account adds up to its log-odds.
        """
        check_is_fitted(self)
        values = check_scores(scores).astype(np.float64)
        sigmoid, probabilities = self._sigmoid, self._at(self._positive, values)
        explained = []
        for score, probability in zip(values.tolist(), probabilities.tolist(), strict=True):
            centre = f"{number(float(sigmoid.slope))} × (score − {number(float(sigmoid.centre))})"
            odds = float(sigmoid.at(np.array([score]))[0])
            title = f"log-odds of {told(self.classes_[1])}"
            parts = [odds - sigmoid.log_odds, sigmoid.log_odds]
            account = account_of(title, parts, names=[centre, "log-odds at the centre"])
            said = (
                f"A score of {number(score)} has log-odds of {number(odds)}: the probability is "
                f"{number(probability)}."
            )
            # A sigmoid that is a step has infinite log-odds, which nothing adds up to.
            explained.append(Explanation(probability, said, [account] if np.isfinite(odds) else []))
        return explained

    def _positive(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return expit(self._sigmoid.at(scores))

    def _negative(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return expit(-self._sigmoid.at(scores))  # one minus the other would lose the digits of small ones


def _with_ratio(fitted: Sigmoid, data_ratio: float, ratio: float) -> tuple[Sigmoid, float]:
    """Change the class ratio in the log-odds; return where the likelihood ratio is one, too."""
    evidence = fitted.log_odds - log(data_ratio)
    d0 = fitted.centre - evidence / fitted.slope if fitted.slope else fitted.centre
    return fitted._replace(log_odds=evidence + log(ratio)), d0
