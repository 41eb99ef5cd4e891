"""Rows in a box: every column moved and divided so that its values fill −1…1.

What separates two classes does not depend on units, but what a solver's tolerances mean does. In the box they mean
a share of the spread of each column. Columns that do not vary become zero. Sparse columns that hold zeros are only
divided, so that they stay sparse.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source, SparseSource
from bisector.engine.validation import find_not_finite

Floats = NDArray[np.float64]


class Extremes(NamedTuple):
    """The smallest and the largest value of each column."""

    low: Floats
    high: Floats

    def merge(self, other: "Extremes") -> "Extremes":
        return Extremes(np.minimum(self.low, other.low), np.maximum(self.high, other.high))


def block_extremes(block: Block) -> Extremes:
    """Make the extremes of one block."""
    if hasattr(block.X, "tocsr"):
        low, high = (
            np.asarray(part.toarray(), dtype=np.float64).ravel()
            for part in (block.X.min(axis=0), block.X.max(axis=0))
        )
        return Extremes(low, high)
    return Extremes(block.X.min(axis=0).astype(np.float64), block.X.max(axis=0).astype(np.float64))


@dataclass(frozen=True)
class UnitBox:
    """The rows of a source, seen as (x − centre)/half.

    Attributes
    ----------
    rows : Source
    centre : (n_features,)
    half : (n_features,)
        Half of each column's range; infinite where a column does not vary.
    n_jobs : int or None
    """

    rows: Source
    centre: Floats
    half: Floats
    n_jobs: int | None

    @classmethod
    def around(cls, rows: Source, *, n_jobs: int | None = None) -> "UnitBox":
        """Measure the columns, in one pass.

        Raises
        ------
        ValueError
            When X has a NaN or infinity, naming its row and column.
        """
        low, high = map_reduce(block_extremes, rows, n_jobs=n_jobs, doing="measuring columns")
        if not (np.isfinite(low).all() and np.isfinite(high).all()):
            find_not_finite(rows)
        centre, half = low / 2 + high / 2, high / 2 - low / 2
        if isinstance(rows, SparseSource):
            zeros = (low <= 0) & (high >= 0)
            centre[zeros], half[zeros] = 0.0, np.maximum(-low, high)[zeros]
        return cls(rows, centre, np.where(high > low, half, np.inf), n_jobs)

    def inside(self, X: Any) -> Any:
        """Return rows in the coordinates of the box."""
        if hasattr(X, "tocsr"):
            return Coordinates(self.centre, 1 / self.half).apply_sparse(X)
        return (X - self.centre) / self.half

    def take(self, numbers: ArrayLike) -> Any:
        """Return some rows in the coordinates of the box."""
        return self.inside(self.rows.take(numbers))

    def project(self, normal: Floats) -> Floats:
        """Return w·x for every row x and a normal w in the coordinates of the box."""
        if self._is_near_zero:
            outside = normal / self.half
            return project_outside(self.rows, outside, n_jobs=self.n_jobs) - outside @ self.centre
        return map_blocks(block_in_box, self.rows, self, normal, n_jobs=self.n_jobs, doing="projecting")

    @cached_property
    def _is_near_zero(self) -> bool:
        """Whether so little is lost by moving projections instead of rows that it is not worth its time."""
        return bool((np.abs(self.centre) <= 1e3 * self.half).all() and (self.half > 1e-100).all())

    def normal_outside(self, normal: Floats) -> Floats:
        """Return the normal vector in the units of the data, of length one."""
        outside = normal / self.half
        outside /= np.abs(outside).max(initial=0.0) or 1.0
        return outside / (np.linalg.norm(outside) or 1.0)


def block_in_box(block: Block, box: UnitBox, normal: Floats) -> Floats:
    """Project one block's rows in the coordinates of a box."""
    return np.asarray(box.inside(block.X) @ normal)


def project_outside(rows: Source, normal: Floats, *, n_jobs: int | None = None) -> Floats:
    """Return w·x in float64 for every row x and a normal w in the units of the data."""
    return map_blocks(block_outside, rows, normal, n_jobs=n_jobs, doing="projecting")


def block_outside(block: Block, normal: Floats) -> Floats:
    """Project one block's rows as they are."""
    return np.asarray(block.X @ normal)


def fingerprints(rows: Source, *, n_jobs: int | None = None) -> NDArray[np.uint64]:
    """Return a number for every row that is the same for equal rows, and hardly ever for others."""
    keys = np.random.default_rng(0).integers(2**64, size=rows.n_features, dtype=np.uint64) | np.uint64(1)
    return map_blocks(block_fingerprints, rows, keys, n_jobs=n_jobs, doing="comparing rows")


def block_fingerprints(block: Block, keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Make the fingerprints of one block's rows: sums of the bits of their values times the keys, modulo 2⁶⁴."""
    if hasattr(block.X, "tocsr"):
        values = (block.X.data.astype(np.float64) + 0.0).view(np.uint64) * keys[block.X.indices]
        before = np.concatenate([[np.uint64(0)], np.cumsum(values, dtype=np.uint64)])
        return before[block.X.indptr[1:]] - before[block.X.indptr[:-1]]
    bits = np.ascontiguousarray(block.X.astype(np.float64) + 0.0).view(np.uint64)  # −0 is 0
    return (bits * keys).sum(axis=1, dtype=np.uint64)
