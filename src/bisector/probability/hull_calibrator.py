"""Calibration along the ROC convex hull, which is isotonic regression (Flach 7.4)."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from bisector.engine.explanation import Explanation, account_of, told
from bisector.engine.scored_rows import check_scored_rows, check_scores
from bisector.engine.show import Table, number
from bisector.engine.validation import blank, store
from bisector.measures.roc import RocHull, hull_of

from .calibrator import Calibrator


class HullCalibrator(Calibrator):
    """Turn scores into probabilities that ascend with them, one plateau for each segment of the ROC convex hull.

    Scores that rank positives and negatives no better than chance are pooled into one segment of the hull; its
    probability is the share of positives among them. These are the ascending probabilities of the smallest squared
    error (isotonic regression). Nothing is assumed about the scores, but more rows are needed than for a sigmoid.

    Within a plateau scores are no longer told apart, so that the area under the ROC curve may change. Between two
    plateaus, from the highest score of one to the lowest of the next, probabilities go up in a straight line. Below
    the lowest score of all and above the highest they are those of the first and the last plateau, often 0 and 1.

    Parameters
    ----------
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the
        same, bit for bit, for any number.

    Attributes
    ----------
    hull_ : RocHull
        The hull: ``fpr``, ``tpr`` and ``thresholds`` of its corners, and its segments from the highest scores down.
    scores_ : array of shape (n_knots,)
        Scores at the ends of plateaus, ascending; between them probabilities are straight lines.
    probabilities_ : array of shape (n_knots,)
        Probabilities there.
    classes_ : array of shape (2,)
        The labels; the second is positive.
    gap_ : float
        How far the sum of squared errors is at most above the smallest possible.

    References
    ----------
    Flach, *Machine Learning* (2012), sections 2.3 and 7.4. Fawcett and Niculescu-Mizil, *PAV and the ROC convex
    hull* (2007). Zadrozny and Elkan, *Transforming classifier scores into accurate multiclass probability
    estimates* (2002).

    Examples
    --------
    >>> from bisector import HullCalibrator
    >>> calibrator = HullCalibrator().fit([1.0, 2.0, 3.0, 4.0, 5.0], [0, 1, 0, 1, 1])
    >>> print(calibrator.plateaus())
    from score  to score  probability  positives  negatives  likelihood ratio
             1         1            0          0          1                 0
             2         3          0.5          1          1            0.6667
             4         5            1          2          0               Inf
    >>> calibrator.predict([0.0, 1.5, 2.5, 3.5])
    array([0.  , 0.25, 0.5 , 0.75])
    """

    hull_: RocHull
    scores_: NDArray[np.float64]
    probabilities_: NDArray[np.float64]

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fit(self, scores: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Find the hull.

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
        rows = check_scored_rows(scores, y, sample_weight)
        hull = hull_of(rows, n_jobs=self.n_jobs)
        ends = np.column_stack([hull.segment_lowest, hull.segment_highest])[::-1].ravel()
        probabilities = np.repeat(hull.segment_probability[::-1], 2)
        another = np.append(True, ends[1:] > ends[:-1])  # a plateau of one score is one knot
        return store(
            self,
            blank(self),
            hull_=hull,
            scores_=ends[another].astype(np.float64),
            probabilities_=probabilities[another],
            classes_=rows.classes,
            gap_=hull.gap,
        )

    def plateaus(self) -> Table:
        """Return the plateaus as a table: between which scores, which probability, from how many rows."""
        check_is_fitted(self)
        return self.hull_.segments()

    def _positive(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.interp(scores, self.scores_, self.probabilities_)

    def explain_rows(self, scores: ArrayLike) -> list[Explanation]:
        """Say how each score becomes a probability: by the plateau it is on, or the two it lies between.

        Parameters
        ----------
        scores : array of shape (n_samples,) or (n_samples, 1)

        Returns
        -------
        list of Explanation
            The answer is the probability of the positive class; the account has a part for each plateau, which add
            up to it.
        """
        check_is_fitted(self)
        values = check_scores(scores).astype(np.float64)
        knots, heights = self.scores_, self.probabilities_
        explained = []
        for score in values.tolist():
            above = int(np.clip(np.searchsorted(knots, score), 1, len(knots) - 1)) if len(knots) > 1 else 0
            below = max(above - 1, 0)
            gap = knots[above] - knots[below]
            share = float(np.clip((score - knots[below]) / gap, 0.0, 1.0)) if gap > 0 else 0.0
            ends = {below: 1 - share, above: share}
            where = "between two plateaus"
            if heights[below] == heights[above]:
                ends, where = {above: 1.0}, "on a plateau"
            account = account_of(
                f"probability of {told(self.classes_[1])}",
                [weight * heights[knot] for knot, weight in ends.items()],
                names=[f"the plateau at {number(float(heights[knot]))}" for knot in ends],
                columns={"its nearest score": knots[list(ends)], "weight": list(ends.values())},
            )
            said = f"A score of {number(score)} is {where}: the probability is {number(account.total)}."
            explained.append(Explanation(account.total, said, [account]))
        return explained
