"""Blocked QR: the triangular factor of a tall matrix, from its blocks.

If A = QR is cut into blocks of rows, the factor of the whole is the factor of the blocks' factors stacked: so
R is a statistic that merges, needs no memory for Q, and keeps the accuracy of Householder's method.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source

Floats = NDArray[np.float64]


class TriangularFactor(NamedTuple):
    """Rows R with RᵀR = AᵀA, no more of them than A has columns or rows."""

    rows: Floats
    n_rows: int
    weight: float

    def merge(self, other: "TriangularFactor") -> "TriangularFactor":
        stacked = np.concatenate([self.rows, other.rows])
        return TriangularFactor(_triangle(stacked), self.n_rows + other.n_rows, self.weight + other.weight)


def block_factor(block: Block, of_x: Coordinates, intercept: bool) -> TriangularFactor:
    """Make the factor of one block; with an intercept, a column of ones stands before the others."""
    X = of_x.apply(block.X)
    A = np.concatenate([np.ones((len(X), 1)), X], axis=1) if intercept else X
    n_rows, weight = len(X), float(len(X))
    if block.sample_weight is not None:
        n_rows, weight = int(np.count_nonzero(block.sample_weight)), float(block.sample_weight.sum())
        A = A * np.sqrt(block.sample_weight)[:, None]
    return TriangularFactor(_triangle(A), n_rows, weight)


def _triangle(A: Floats) -> Floats:
    return np.asarray(np.linalg.qr(A, mode="r")) if A.shape[0] > A.shape[1] else A


def blocked_qr(rows: Source, of_x: Coordinates, *, intercept: bool, n_jobs: int | None) -> TriangularFactor:
    """Return the triangular factor of [1 X] or X, the columns of X in the coordinates given."""
    found = map_reduce(block_factor, rows, of_x, intercept, n_jobs=n_jobs, doing="factorising")
    return found._replace(rows=np.asarray(np.linalg.qr(found.rows, mode="r")))
