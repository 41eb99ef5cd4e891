"""Reliability: whether what was given a probability p comes true in a share p of cases (Flach 2.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.scored_rows import ScoredRows, check_scored_rows
from bisector.engine.show import Table
from bisector.engine.validation import check_choice, check_count
from bisector.solvers.isotonic import pooled
from bisector.solvers.ranking import Ranking, rank_scores

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Rows in bins of similar probability, and what came true in each.

    Unpacks as the pair of scikit-learn's ``calibration_curve``: ``prob_true, prob_pred = reliability_curve(…)``.

    Attributes
    ----------
    prob_true, prob_pred : ndarray of shape (n_bins,)
        In each bin that is not empty, the share of positives and the mean probability.
    lowest, highest : ndarray of shape (n_bins,)
        Between which probabilities its rows lie.
    weights : ndarray of shape (n_bins,)
        What its rows weigh.
    squared_error : float
        The mean of (p − y)² over all rows, the Brier score.
    """

    prob_true: Floats
    prob_pred: Floats
    lowest: Floats
    highest: Floats
    weights: Floats
    squared_error: float

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.prob_true, self.prob_pred))

    @property
    def calibration_loss(self) -> float:
        """The mean squared difference of probability and share, between bins: what calibration could remove."""
        return self._mean((self.prob_pred - self.prob_true) ** 2)

    @property
    def refinement_loss(self) -> float:
        """The mean of q(1 − q) over the bins' shares q: what remains when every bin gets its own share.

        If all rows of a bin have one probability, the squared error is the sum of the two losses.
        """
        return self._mean(self.prob_true * (1 - self.prob_true))

    @property
    def expected_calibration_error(self) -> float:
        """The mean absolute difference of probability and share, between bins."""
        return self._mean(np.abs(self.prob_pred - self.prob_true))

    def _mean(self, values: Floats) -> float:
        return float(self.weights @ values / self.weights.sum())

    def table(self) -> Table:
        """Return the bins as a table."""
        columns = (self.lowest, self.highest, self.prob_pred, self.prob_true, self.weights)
        heads = ["from", "to", "mean probability", "share of positives", "rows"]
        return Table(heads, list(zip(*(column.tolist() for column in columns), strict=True)))


def reliability_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    pos_label: Any = None,
    n_bins: int = 5,
    strategy: Literal["uniform", "quantile", "hull"] = "uniform",
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> ReliabilityCurve:
    """Compare probabilities with what came true.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels of two classes, of any kind.
    y_prob : array of shape (n,)
        Probabilities of the positive class.
    pos_label : label, default=None
        The positive class; by default the second of the two in ascending order. If it is given, all other labels
        together are the negative class.
    n_bins : int, default=5
        Without effect if the hull decides.
    strategy : {"uniform", "quantile", "hull"}, default="uniform"
        Bins of equal width, of equally many rows, or those of the ROC convex hull: then the shares ascend, and no
        number of bins has to be chosen.
    sample_weight : array of shape (n,), default=None
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here.

    Returns
    -------
    ReliabilityCurve

    References
    ----------
    Flach, *Machine Learning* (2012), section 2.3. For the bins of the hull: Dimitriadis, Gneiting and Jordan,
    *Stable reliability diagrams for probabilistic classifiers* (2021).

    Examples
    --------
    >>> from bisector.measures.calibration import reliability_curve
    >>> y, p = [0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.2, 0.3, 0.8, 0.9]
    >>> prob_true, prob_pred = reliability_curve(y, p, n_bins=2)
    >>> prob_true, prob_pred
    (array([0.25, 1.  ]), array([0.2 , 0.85]))
    """
    bins = check_count("n_bins", n_bins)
    check_choice("strategy", strategy, ("uniform", "quantile", "hull"))
    rows = check_scored_rows(y_prob, y_true, sample_weight, pos_label=pos_label, names=("y_prob", "y_true"))
    low, high = rows.scores.min(), rows.scores.max()
    if low < 0 or high > 1:
        raise ValueError(
            f"y_prob must hold probabilities from 0 to 1, but has {low if low < 0 else high:g}: give the column of "
            "predict_proba for the positive class."
        )
    ranking = rank_scores(rows, n_jobs=n_jobs)
    weights = ranking.positives + ranking.negatives
    if strategy == "hull":
        starts = pooled(ranking.positives, weights).starts[:-1]
    else:
        edges = np.linspace(0, 1, bins + 1) if strategy == "uniform" else _quantiles(ranking, weights, bins)
        # A bin takes its upper edge but not its lower one; those without a score vanish here.
        starts = np.unique(np.searchsorted(ranking.scores, edges[1:-1], side="right"))
        starts = np.concatenate([[0], starts[(starts > 0) & (starts < len(weights))]])
    totals = np.add.reduceat(weights, starts)
    return ReliabilityCurve(
        prob_true=np.add.reduceat(ranking.positives, starts) / totals,
        prob_pred=np.add.reduceat(weights * ranking.scores, starts) / totals,
        lowest=ranking.scores[starts],
        highest=ranking.scores[np.append(starts[1:], len(weights)) - 1],
        weights=totals,
        squared_error=_squared_error(rows),
    )


def _quantiles(ranking: Ranking, weights: Floats, bins: int) -> Floats:
    """Return the edges of bins of equal weight; whole weights give those of the repeated rows."""
    ends = np.cumsum(weights)
    places = np.arange(bins + 1) * max(ends[-1] - 1, 0) / bins
    before = np.floor(places)
    last = len(ends) - 1
    lower = ranking.scores[np.minimum(np.searchsorted(ends, before, side="right"), last)]
    upper = ranking.scores[np.minimum(np.searchsorted(ends, before + 1, side="right"), last)]
    edges: Floats = lower + (upper - lower) * (places - before)
    return edges


def _squared_error(rows: ScoredRows) -> float:
    return float(np.average((rows.scores - rows.positive) ** 2, weights=rows.weight))
