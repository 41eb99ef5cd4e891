"""ROC curves, their convex hulls, and the point to operate at (Flach 2.2, 7.4).

The curve shows, for every threshold, the share of the negatives at or above it (the false positive rate) and that
of the positives (the true positive rate). Its convex hull is what the scores can reach when thresholds are
chosen well; a segment of the hull is a stretch of scores on which positives and negatives are as good as mixed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.scored_rows import ScoredRows, check_scored_rows
from bisector.engine.show import Table
from bisector.engine.validation import check_choice, check_flag, check_number
from bisector.solvers.isotonic import pooled
from bisector.solvers.ranking import curve_points, rank_scores

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Points from (0, 0) to (1, 1), in the order of descending thresholds.

    Unpacks as scikit-learn's triple: ``fpr, tpr, thresholds = roc_curve(y, scores)``.

    Attributes
    ----------
    fpr, tpr : ndarray
        False and true positive rates.
    thresholds : ndarray
        A point counts as positive what scores at least its threshold; the first is infinite.
    positives, negatives : float
        What the rows of the two classes weigh.
    auc : float
        The area below the curve: how probably a positive scores higher than a negative, a tie counting half.
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats
    positives: float
    negatives: float
    auc: float

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.fpr, self.tpr, self.thresholds))

    @property
    def class_ratio(self) -> float:
        """Positives over negatives."""
        return self.positives / self.negatives

    def operating_point(
        self,
        *,
        false_positive_cost: float = 1.0,
        false_negative_cost: float = 1.0,
        class_ratio: float | Literal["data"] = "data",
    ) -> "OperatingPoint":
        """Return the point of the lowest expected cost.

        Points of equal cost lie on a line of slope c = (cost of a false positive / cost of a false negative) /
        class ratio; with equal costs these are the lines of equal accuracy. The best point is the one that such a
        line touches first when it comes from above left, where tpr − c·fpr is largest.

        Parameters
        ----------
        false_positive_cost, false_negative_cost : float, default=1.0
            Not negative, and not both zero.
        class_ratio : float or "data", default="data"
            Positives over negatives, where the threshold will be used.

        Returns
        -------
        OperatingPoint
            Of several best points, the one with the fewest positives.

        Examples
        --------
        >>> from bisector.measures.roc import roc_curve
        >>> curve = roc_curve([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
        >>> float(curve.operating_point().threshold)
        0.5
        >>> float(curve.operating_point(false_negative_cost=5).threshold)
        0.3
        """
        wrong_alarm = check_number("false_positive_cost", false_positive_cost, at_least=0, below=np.inf)
        miss = check_number("false_negative_cost", false_negative_cost, at_least=0, below=np.inf)
        if wrong_alarm == miss == 0:
            raise ValueError(
                "false_positive_cost and false_negative_cost are both zero: one must cost something."
            )
        if isinstance(class_ratio, str):
            check_choice("class_ratio", class_ratio, ("data",))
            ratio = self.class_ratio
        else:
            ratio = check_number("class_ratio", class_ratio, above=0, below=np.inf)
        share = ratio / (1 + ratio)
        costs = wrong_alarm * (1 - share) * self.fpr + miss * share * (1 - self.tpr)
        # What differs by rounding only is equal, so that the choice among equal points does not depend on it.
        best = int(np.argmax(costs <= costs.min() + 1e-14 * (wrong_alarm + miss)))
        return OperatingPoint(
            threshold=float(self.thresholds[best]),
            fpr=float(self.fpr[best]),
            tpr=float(self.tpr[best]),
            slope=float(wrong_alarm / miss / ratio) if miss > 0 else np.inf,
            cost=float(costs[best]),
            accuracy=float(share * self.tpr[best] + (1 - share) * (1 - self.fpr[best])),
        )


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, and what to expect of it.

    Attributes
    ----------
    threshold : float
        Rows count as positive that score at least this much; infinite if none should.
    fpr, tpr : float
    slope : float
        Of the lines of equal cost.
    cost : float
        The expected cost a row.
    accuracy : float
        The expected share of rows that are right.
    """

    threshold: float
    fpr: float
    tpr: float
    slope: float
    cost: float
    accuracy: float


@dataclass(frozen=True, eq=False)
class RocHull(RocCurve):
    """The corners of the convex hull, and its segments, from the highest scores to the lowest.

    Attributes
    ----------
    segment_highest, segment_lowest : ndarray
        The scores between which each segment lies.
    segment_positives, segment_negatives : ndarray
        What the rows between them weigh.
    gap : float
        How far the sum of squared errors of `segment_probability` is at most above that of the best ascending
        function of the scores.
    """

    segment_highest: Floats
    segment_lowest: Floats
    segment_positives: Floats
    segment_negatives: Floats
    gap: float

    @property
    def segment_probability(self) -> Floats:
        """The share of positives in each segment: the isotonic, calibrated probability."""
        return self.segment_positives / (self.segment_positives + self.segment_negatives)

    @property
    def segment_slope(self) -> Floats:
        """The slope of each segment: the likelihood ratio of its scores."""
        with np.errstate(divide="ignore"):
            ratio: Floats = self.segment_positives / self.segment_negatives / self.class_ratio
        return ratio

    def segments(self) -> Table:
        """Return the segments as a table, the lowest scores first."""
        columns = (
            self.segment_lowest, self.segment_highest, self.segment_probability,
            self.segment_positives, self.segment_negatives, self.segment_slope,
        )  # fmt: skip
        heads = ["from score", "to score", "probability", "positives", "negatives", "likelihood ratio"]
        return Table(heads, list(zip(*(column[::-1].tolist() for column in columns), strict=True)))


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = True,
    n_jobs: int | None = None,
) -> RocCurve:
    """Return the ROC curve of scores.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels of two classes, of any kind.
    y_score : array of shape (n,)
        Scores; the higher, the more positive.
    pos_label : label, default=None
        The positive class; by default the second of the two in ascending order. If it is given, all other labels
        together are the negative class.
    sample_weight : array of shape (n,), default=None
    drop_intermediate : bool, default=True
        Whether points between two equal steps are left out. The curve is the same.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here.

    Returns
    -------
    RocCurve

    References
    ----------
    Flach, *Machine Learning* (2012), section 2.2.

    Examples
    --------
    >>> from bisector.measures.roc import roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr, thresholds = curve
    >>> tpr
    array([0. , 0.5, 0.5, 1. , 1. ])
    >>> curve.auc
    0.75
    """
    corners = check_flag("drop_intermediate", drop_intermediate)
    rows = _scored(y_true, y_score, sample_weight, pos_label)
    points = curve_points(rank_scores(rows, n_jobs=n_jobs), corners=corners)
    positives, negatives = points.true_positives[-1], points.false_positives[-1]
    return RocCurve(
        fpr=_from_zero(points.false_positives / negatives),
        tpr=_from_zero(points.true_positives / positives),
        thresholds=_from_infinity(points.thresholds, rows),
        positives=float(positives),
        negatives=float(negatives),
        auc=float(points.area / (positives * negatives)),
    )


def roc_convex_hull(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> RocHull:
    """Return the convex hull of the ROC curve of scores.

    Its segments are the blocks of isotonic regression of the labels on the scores: pooling adjacent scores whose
    share of positives does not ascend is walking along the hull.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight, n_jobs : as of `roc_curve`

    Returns
    -------
    RocHull

    References
    ----------
    Flach, *Machine Learning* (2012), section 7.4. Fawcett and Niculescu-Mizil, *PAV and the ROC convex hull*,
    2007.

    Examples
    --------
    >>> from bisector.measures.roc import roc_convex_hull
    >>> hull = roc_convex_hull([0, 1, 0, 1, 1], [1.0, 2.0, 3.0, 4.0, 5.0])
    >>> hull.tpr, hull.fpr
    (array([0.        , 0.66666667, 1.        , 1.        ]), array([0. , 0. , 0.5, 1. ]))
    >>> print(hull.segments())
    from score  to score  probability  positives  negatives  likelihood ratio
             1         1            0          0          1                 0
             2         3          0.5          1          1            0.6667
             4         5            1          2          0               Inf
    """
    return hull_of(_scored(y_true, y_score, sample_weight, pos_label), n_jobs=n_jobs)


def hull_of(rows: ScoredRows, *, n_jobs: int | None = None) -> RocHull:
    """Return the convex hull of the ROC curve of checked rows."""
    ranking = rank_scores(rows, n_jobs=n_jobs)
    fit = pooled(ranking.positives, ranking.positives + ranking.negatives)
    lowest, highest = ranking.scores[fit.starts[:-1]], ranking.scores[fit.starts[1:] - 1]
    positives = np.add.reduceat(ranking.positives, fit.starts[:-1])[::-1]
    negatives = np.add.reduceat(ranking.negatives, fit.starts[:-1])[::-1]
    fpr = _from_zero(_shares(negatives))
    tpr = _from_zero(_shares(positives))
    return RocHull(
        fpr=fpr,
        tpr=tpr,
        thresholds=_from_infinity(lowest[::-1], rows),
        positives=float(positives.sum()),
        negatives=float(negatives.sum()),
        auc=auc(fpr, tpr),
        segment_highest=highest[::-1].astype(rows.dtype),
        segment_lowest=lowest[::-1].astype(rows.dtype),
        segment_positives=positives,
        segment_negatives=negatives,
        gap=fit.gap,
    )


def auc(x: ArrayLike, y: ArrayLike) -> float:
    """Return the area below a curve of straight lines, by the trapezoidal rule.

    The area below an ROC curve is its attribute ``auc`` too.

    Parameters
    ----------
    x : array of shape (n,)
        Ascending or descending.
    y : array of shape (n,)

    Returns
    -------
    float

    Examples
    --------
    >>> from bisector.measures.roc import auc
    >>> auc([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    0.75
    """
    across, up = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if across.ndim != 1 or across.shape != up.shape or len(across) < 2:
        raise ValueError(
            f"x and y must be two vectors of equal length, at least 2, not of shapes {across.shape} and {up.shape}."
        )
    steps = np.diff(across)
    if not ((steps >= 0).all() or (steps <= 0).all()):
        raise ValueError("x is neither ascending nor descending: sort the points of the curve by x.")
    return abs(float(0.5 * steps @ (up[1:] + up[:-1])))


def _scored(y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any) -> ScoredRows:
    return check_scored_rows(y_score, y_true, sample_weight, pos_label=pos_label, names=("y_score", "y_true"))


def _from_zero(rates: Floats) -> Floats:
    return np.concatenate([[0.0], rates])


def _shares(counts: Floats) -> Floats:
    totals = np.cumsum(counts)
    shares: Floats = totals / totals[-1]
    return shares


def _from_infinity(thresholds: Floats, rows: ScoredRows) -> Floats:
    return np.concatenate([[np.inf], thresholds]).astype(rows.dtype)
