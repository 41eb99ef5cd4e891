"""Where along its normal vector a plane should lie: thresholds on the projections w·x."""

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks
from bisector.engine.sources import Source

from .label_regression import labelled, projected_sums

Floats = NDArray[np.float64]


def midpoints(rows: Source, coef: Floats, n_classes: int, *, n_jobs: int | None = None) -> Floats:
    """Return, plane by plane, w·x halfway between the means of its class and of the rest."""
    sums = projected_sums(rows, coef, n_classes, n_jobs=n_jobs)
    weights, totals = sums.weights, sums.sums
    if n_classes == 2:
        inside, outside = sums.offsets[1], sums.offsets[0]
    else:
        inside = np.diagonal(sums.offsets)
        outside = (totals.sum(axis=0) - np.diagonal(totals)) / (weights.sum() - weights)
    return sums.of_x.shift + (inside + outside) / 2


def least_error_thresholds(
    rows: Source, coef: NDArray[np.floating], n_classes: int, *, n_jobs: int | None = None
) -> Floats:
    """Return, plane by plane, what w·x must exceed for the least weight of training rows on the wrong side."""
    scores = map_blocks(block_projections, rows, coef, n_jobs=n_jobs, doing="projecting")
    labels = np.asarray(labelled(rows, n_classes).y)
    weight = np.ones(rows.n_rows) if rows.sample_weight is None else np.asarray(rows.sample_weight)
    labels = labels[:, None] if labels.ndim == 1 else labels
    return np.array(
        [least_error_threshold(s, y > 0, weight) for s, y in zip(scores.T, labels.T, strict=True)]
    )


def block_projections(block: Block, coef: NDArray[np.floating]) -> NDArray[np.floating]:
    """Make the projections of one block's rows."""
    return np.asarray(block.X @ coef)


def least_error_threshold(scores: NDArray[np.floating], positive: NDArray[np.bool_], weight: Floats) -> float:
    """Return the threshold on scores that puts the least weight on the wrong side; of several, in the widest gap.

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([0.0, 1.0, 2.0, 6.0, 7.0]), np.array([False, True, False, True, True])
    >>> float(least_error_threshold(scores, positive, np.ones(5)))
    4.0
    """
    counted = np.flatnonzero(weight)
    order = counted[np.argsort(scores[counted], kind="stable")]
    s = scores[order].astype(np.float64)
    # What the threshold gets wrong once it has passed so many rows, less what it gets wrong before the first.
    errors = np.concatenate([[0.0], np.cumsum(np.where(positive[order], weight[order], -weight[order]))])
    gaps = np.concatenate([[0.0], np.diff(s), [0.0]])
    gaps[1:-1][gaps[1:-1] == 0] = -1.0  # no threshold fits between equal scores
    possible = gaps >= 0
    best = possible & (errors <= errors[possible].min() + 1e-12 * weight.sum())
    passed = int(np.flatnonzero(best)[gaps[best].argmax()])
    if passed == 0:
        return float(s[0] - max(1.0, s[-1] - s[0]))
    if passed == len(s):
        return float(s[-1])
    middle = s[passed - 1] + (s[passed] - s[passed - 1]) / 2
    return float(middle if middle < s[passed] else s[passed - 1])
