"""Segments of the instance space in the order of their share of positives: the ROC curve of a grouping model.

A tree sees the rows of a leaf as equal, so its ROC curve on the rows it was grown from is made of straight
segments, one a leaf, of slope (positives / all positives) / (negatives / all negatives). In descending order of
the empirical probability the slopes descend, so the curve is convex, and no other order of the leaves lies
above it (Flach 5.2). The *coverage curve* is the same with counts on its axes. A split bends one segment into
two: it never lowers the curve.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.engine.show import Table
from bisector.measures.roc import RocCurve, auc

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class LeafRanking:
    """Leaves in descending order of their share of positives.

    Attributes
    ----------
    leaves : ndarray of int
        Their numbers in the tree; among equal shares the smaller number first.
    positives, negatives : ndarray
        What the rows of each leaf weigh.
    curve : RocCurve
        The ROC curve, whose segments are the leaves; those of equal share are one segment.
    """

    leaves: Integers
    positives: Floats
    negatives: Floats
    curve: RocCurve

    @property
    def probability(self) -> Floats:
        """The share of positives in each leaf."""
        return self.positives / (self.positives + self.negatives)

    @property
    def slope(self) -> Floats:
        """The slope of each segment of the ROC curve: the likelihood ratio of the leaf."""
        with np.errstate(divide="ignore"):
            ratio: Floats = (self.positives / self.curve.positives) / (self.negatives / self.curve.negatives)
        return ratio

    @property
    def coverage(self) -> tuple[Floats, Floats]:
        """The corners of the coverage curve: negatives and positives covered by the first 0, 1, 2, … leaves."""
        return (
            np.concatenate([[0.0], np.cumsum(self.negatives)]),
            np.concatenate([[0.0], np.cumsum(self.positives)]),
        )

    def segments(self) -> Table:
        """Return the leaves as a table."""
        columns = (self.leaves, self.positives, self.negatives, self.probability, self.slope)
        heads = ["leaf", "positives", "negatives", "probability", "slope"]
        return Table(heads, list(zip(*(column.tolist() for column in columns), strict=True)))


def rank_leaves(leaves: Integers, positives: Floats, negatives: Floats) -> LeafRanking:
    """Rank leaves by their share of positives.

    Parameters
    ----------
    leaves : ndarray of int
    positives, negatives : ndarray
        What the rows of each leaf weigh; both classes must be there.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.measures.leaf_ranking import rank_leaves
    >>> ranking = rank_leaves(np.array([1, 3, 4]), np.array([1.0, 6.0, 3.0]), np.array([5.0, 0.0, 3.0]))
    >>> print(ranking.segments())
    leaf  positives  negatives  probability  slope
       3          6          0            1    Inf
       4          3          3          0.5    0.8
       1          1          5       0.1667   0.16
    """
    all_positive, all_negative = float(positives.sum()), float(negatives.sum())
    if not (all_positive > 0 and all_negative > 0):
        raise ValueError("A ranking needs rows of both classes.")
    probability = positives / (positives + negatives)
    order = np.lexsort((leaves, -probability))
    up, across = np.cumsum(positives[order]), np.cumsum(negatives[order])
    ends = np.append(probability[order][1:] != probability[order][:-1], True)
    tpr = np.concatenate([[0.0], up[ends] / up[-1]])
    fpr = np.concatenate([[0.0], across[ends] / across[-1]])
    curve = RocCurve(
        fpr=fpr,
        tpr=tpr,
        thresholds=np.concatenate([[np.inf], probability[order][ends]]),
        positives=all_positive,
        negatives=all_negative,
        auc=auc(fpr, tpr),
    )
    return LeafRanking(leaves[order], positives[order], negatives[order], curve)
