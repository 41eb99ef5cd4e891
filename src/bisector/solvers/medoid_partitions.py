"""Rows of a Dask collection from which medoids are drawn, and by which they are judged.

Samples of rows come here; all rows are compared with medoids where they are, a few numbers a pass.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import nearest
from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Judged(NamedTuple):
    """How well medoids stand for rows: a statistic.

    Attributes
    ----------
    loss : float
        The weighted sum of the distances of all rows to their nearest medoid.
    shares : float
        The weighted sum of 1 − d₁/d₂, by the distances to the two nearest; NaN with one medoid.
    weight : float
        Of all rows.
    counts : ndarray of int of shape (n_clusters,)
        How many rows each medoid is the nearest of.
    """

    loss: float
    shares: float
    weight: float
    counts: Integers

    def merge(self, other: "Judged") -> "Judged":
        return Judged(
            self.loss + other.loss,
            self.shares + other.shares,
            self.weight + other.weight,
            self.counts + other.counts,
        )

    @property
    def silhouette(self) -> float:
        """The average medoid silhouette."""
        return self.shares / self.weight


@dataclass(frozen=True, eq=False)
class PartitionedRows:
    """The rows of a collection, or those of them that count.

    Attributes
    ----------
    distance : Distance
    source : Source
        Of all rows, with their weights.
    numbers : ndarray of int, or None
        Which rows are meant; by default all.
    """

    distance: Distance
    source: Source
    numbers: Integers | None = None

    def __len__(self) -> int:
        return self.source.n_rows if self.numbers is None else len(self.numbers)

    def among(self, numbers: Integers) -> "PartitionedRows":
        """Return some of the rows, without reading them."""
        return PartitionedRows(self.distance, self.source, numbers)

    def take(self, places: Integers) -> Rows:
        """Read some rows, and prepare them."""
        return self.distance.prepare(
            self.source.take(places if self.numbers is None else self.numbers[places])
        )

    def judged(self, medoids: Rows) -> Judged:
        """Compare all rows with medoids, in one pass; rows without weight add nothing to sums."""
        return map_reduce(block_judged, self.source, self.distance, medoids, doing="comparing with medoids")


def block_judged(block: Block, distance: Distance, medoids: Rows) -> Judged:
    """Compare the rows of one block with medoids."""
    rows, weights = distance.prepare(block.X, like=medoids), block.weights
    found, places = nearest(distance, rows, medoids, min(2, len(medoids)))
    counts = np.bincount(places[:, 0], minlength=len(medoids)).astype(np.int64, copy=False)
    loss = float(weights @ found[:, 0])
    shares: Any = float("nan")
    if len(medoids) > 1:
        shares = float(weights @ medoid_shares(*found.T))
    return Judged(loss, shares, float(weights.sum()), counts)


def medoid_shares(near: Floats, far: Floats) -> Floats:
    """Return 1 − d₁/d₂; a row on top of two medoids belongs to neither more than to the other."""
    shares: Floats = 1.0 - np.divide(near, far, out=np.ones(len(near)), where=far > 0)
    return shares
