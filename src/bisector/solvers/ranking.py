"""Rankings: what lies at each score, from the lowest to the highest.

All that a curve or a calibration asks of scores is how many positives and negatives there are at each of them.
Positives and negatives are sorted apart and then merged: numbers alone are sorted several times faster than the
order that would sort them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.scored_rows import ScoredRows
from bisector.engine.threads import parallel

Floats = NDArray[np.float64]


class Ranking(NamedTuple):
    """The different scores in ascending order.

    Attributes
    ----------
    scores : ndarray
    positives, negatives : ndarray
        What the rows of each class with this score weigh.
    """

    scores: Floats
    positives: Floats
    negatives: Floats


class CurvePoints(NamedTuple):
    """Points of an ROC curve, from the highest threshold to the lowest.

    Attributes
    ----------
    true_positives, false_positives : ndarray
        What lies at or above each threshold.
    thresholds : ndarray
    area : float
        Below the curve, with the two kinds of positives as axes.
    """

    true_positives: Floats
    false_positives: Floats
    thresholds: Floats
    area: float


def rank_scores(rows: ScoredRows, *, n_jobs: int | None = None) -> Ranking:
    """Rank rows by their scores, O(n log n).

    Examples
    --------
    >>> from bisector.engine.scored_rows import check_scored_rows
    >>> from bisector.solvers.ranking import rank_scores
    >>> rank_scores(check_scored_rows([0.3, 0.1, 0.3, 0.9], [0, 0, 1, 1])).positives
    array([0., 1., 1.])
    """
    from bisector.solvers.ranking_loops import merge

    (above, above_weight), (below, below_weight) = parallel(_sorted, _classes(rows), n_jobs=n_jobs)
    scores, positives, negatives = (np.empty(len(rows.scores)) for _ in range(3))
    count = merge(above, below, above_weight, below_weight, scores, positives, negatives)
    return Ranking(scores[:count], positives[:count], negatives[:count])


def _classes(rows: ScoredRows) -> list[tuple[Floats, Floats | None]]:
    """Return the scores and the weights of the positive rows, and of the negative ones."""
    from bisector.engine.loops import given
    from bisector.solvers.ranking_loops import split

    positive = given(rows.positive)
    count = int(np.count_nonzero(positive))

    def parts(values: Floats) -> tuple[Floats, Floats]:
        above, below = np.empty(count + 1), np.empty(len(values) - count + 1)
        split(given(values), positive, above, below)
        return above[:-1], below[:-1]

    scores = parts(rows.scores)
    weights = (None, None) if rows.weight is None else parts(rows.weight)
    return list(zip(scores, weights, strict=True))


def _sorted(part: tuple[Floats, Floats | None]) -> tuple[Floats, Floats]:
    from bisector.engine.loops import given

    scores, weights = part
    if weights is None:
        scores.sort()
        return given(scores), given(np.ones(len(scores)))
    order = np.argsort(scores)
    return given(scores[order]), given(weights[order])


def curve_points(ranking: Ranking, *, corners: bool) -> CurvePoints:
    """Return the points of the ROC curve; if `corners`, without those between two equal steps."""
    from bisector.engine.loops import given
    from bisector.solvers.ranking_loops import count_corners, walk_curve

    scores, positives, negatives = map(given, ranking)
    n = count_corners(positives, negatives) if corners else len(scores)
    true, false, thresholds = np.empty(n), np.empty(n), np.empty(n)
    area = walk_curve(scores, positives, negatives, corners, true, false, thresholds)
    return CurvePoints(true, false, thresholds, area)
