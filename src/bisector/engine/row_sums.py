"""Sums of what lies beside the rows: how much all of them weigh, and each class."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .blocks import Block
from .map_reduce import map_reduce
from .sources import Source

Floats = NDArray[np.float64]


class Weight(NamedTuple):
    """Weights added up, in total or by class: a statistic."""

    sums: Floats

    def merge(self, other: "Weight") -> "Weight":
        return Weight(self.sums + other.sums)


def total_weight(rows: Source) -> float:
    """Return the sum of the weights, or the number of rows if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.row_sums import total_weight
    >>> from bisector.engine.sources import source
    >>> total_weight(source(np.zeros((3, 1)), sample_weight=[1.0, 0.5, 2.0]))
    3.5
    """
    if rows.sample_weight is None:
        return float(rows.n_rows)
    return float(map_reduce(block_weight, rows.beside(), doing="adding weights").sums)


def weight_by_class(rows: Source, n_classes: int) -> Floats:
    """Return how much the rows of each class weigh; their targets are places of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.row_sums import weight_by_class
    >>> from bisector.engine.sources import source
    >>> weight_by_class(source(np.zeros((3, 1)), y=[0, 2, 0]), 3)
    array([2., 0., 1.])
    """
    return map_reduce(block_class_weight, rows.beside(), n_classes, doing="adding weights").sums


def rows_with_weight(rows: Source) -> int:
    """Count the rows that weigh anything."""
    if rows.sample_weight is None:
        return rows.n_rows
    return int(map_reduce(block_counted, rows.beside(), doing="adding weights").sums)


def block_counted(block: Block) -> Weight:
    """Count the rows of one block that weigh anything."""
    return Weight(np.asarray(float(np.count_nonzero(block.weights))))


def block_weight(block: Block) -> Weight:
    """Add up the weights of one block."""
    return Weight(np.asarray(block.weights.sum()))


def block_class_weight(block: Block, n_classes: int) -> Weight:
    """Add up the weights of one block by class."""
    codes = block.targets[:, 0]
    return Weight(np.bincount(codes, block.sample_weight, minlength=n_classes).astype(np.float64))
