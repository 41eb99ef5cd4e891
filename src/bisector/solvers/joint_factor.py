"""The triangular factor of the features and the targets together, [1 X Y] = QR, from blocks of rows.

Its rows hold all that methods without normal equations need: how the columns of X lie to each other, and where
Y lies among them, to the accuracy of Householder's method.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source

from .blocked_qr import TriangularFactor

Floats = NDArray[np.float64]


def joint_factor(
    rows: Source,
    of_x: Coordinates,
    of_y: Coordinates,
    *,
    intercept: bool,
    n_jobs: int | None = None,
) -> TriangularFactor:
    """Return a square upper triangle R with RᵀR = AᵀA for A = [1 X Y], or [X Y] without intercept."""
    rows = rows.in_dense_blocks()
    found = map_reduce(block_joint_factor, rows, of_x, of_y, intercept, n_jobs=n_jobs, doing="factorising")
    width = found.rows.shape[1]
    square = np.zeros((width, width))
    with np.errstate(invalid="ignore"):
        triangle = np.asarray(np.linalg.qr(found.rows, mode="r"))
    square[: len(triangle)] = triangle
    return found._replace(rows=square)


def block_joint_factor(
    block: Block, of_x: Coordinates, of_y: Coordinates, intercept: bool
) -> TriangularFactor:
    """Make the factor of one block."""
    A = np.concatenate([of_x.apply(block.X), of_y.apply(block.targets)], axis=1)
    if intercept:
        A = np.concatenate([np.ones((len(A), 1)), A], axis=1)
    n_rows, weight = len(A), float(len(A))
    if block.sample_weight is not None:
        n_rows, weight = int(np.count_nonzero(block.sample_weight)), float(block.sample_weight.sum())
        A = A * np.sqrt(block.sample_weight)[:, None]
    with np.errstate(invalid="ignore"):
        triangle = np.asarray(np.linalg.qr(A, mode="r")) if A.shape[0] > A.shape[1] else A
    return TriangularFactor(triangle, n_rows, weight)
