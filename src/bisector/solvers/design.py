"""The design [X 1] of a plane w·x + b: its products with vectors and its weighted Gram matrix, block by block.

X is seen in coordinates in which nothing overflows and nothing is lost beside a large offset: columns far from
zero are shifted (only if there is an intercept to take it up), columns of extreme size are scaled, and columns
too small to matter are set to zero. A quadratic penalty ½Σpⱼwⱼ² on the coordinates is then ½‖w‖² of the
columns as they came.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.moments import (
    FEW_COLUMNS,
    MOSTLY_ZERO,
    MUCH_WORK,
    Coordinates,
    block_sizes,
    first_coordinates,
)
from bisector.engine.sources import Source, SparseSource
from bisector.engine.validation import find_not_finite

Floats = NDArray[np.float64]

# Columns outside are measured in other units, or set to zero: squares of their values, weighted and summed,
# would leave the range of numbers. A penalised weight makes nothing of a column that is so small.
LARGEST, SMALLEST = 1e75, 1e-75
# The penalty on a weight in units of a huge column; smaller ones are not told from none.
LEAST_PENALTY = 1e-300


class Sums(NamedTuple):
    """Sums over rows, and the least of some numbers."""

    sums: tuple[Any, ...]
    least: float = np.inf

    def merge(self, other: "Sums") -> "Sums":
        added = tuple(mine + theirs for mine, theirs in zip(self.sums, other.sums, strict=True))
        return Sums(added, min(self.least, other.least))


class Plane(NamedTuple):
    """Weights and intercept."""

    weights: Floats
    intercept: float


@dataclass(frozen=True)
class Design:
    """Rows of a source in coordinates, ready to be multiplied.

    Attributes
    ----------
    rows : Source
    coordinates : Coordinates
        Of the columns.
    sizes : (n_features,) bounds on the absolute values in each column, in these coordinates
    penalty : (n_features,) what ½w² of each column's weight counts, in these coordinates
    intercept : whether planes may miss the origin
    n_jobs : number of threads
    whole : the only block in coordinates, if there is just one
    """

    rows: Source
    coordinates: Coordinates
    sizes: Floats
    penalty: Floats
    intercept: bool
    n_jobs: int | None
    whole: Block | None

    @property
    def width(self) -> int:
        """How many numbers describe a plane."""
        return self.rows.n_features + self.intercept

    def values(self, block: Block) -> Any:
        """Return a block's X in coordinates: an array, or CSR if it is mostly zero."""
        X = block.X
        if hasattr(X, "tocsr") and X.nnz < MOSTLY_ZERO * np.prod(X.shape):
            return self.coordinates.apply_sparse(X)
        return self.coordinates.apply(X)

    def sum(self, make: Callable[..., Sums], *fixed: Any, doing: str = "fitting planes") -> Sums:
        """Return the sums of all blocks: ``make(X, rows, *fixed)`` of each, `rows` the slice of its rows."""
        if self.whole is not None:
            return make(self.whole.X, slice(0, self.rows.n_rows), *fixed)
        return map_reduce(_visit, self.rows, self, make, *fixed, n_jobs=self.n_jobs, doing=doing)

    def each(self, make: Callable[..., Floats], *fixed: Any) -> Floats:
        """Return ``make(X, rows, *fixed)`` of all blocks, which has one entry a row, joined."""
        if self.whole is not None:
            return make(self.whole.X, slice(0, self.rows.n_rows), *fixed)
        return np.asarray(map_blocks(_visit, self.rows, self, make, *fixed, n_jobs=self.n_jobs))

    def scores(self, plane: Plane) -> Floats:
        """Return w·x + b of every row."""
        return self.each(score, plane)

    def combine(self, multipliers: Floats) -> Floats:
        """Return Σ vᵢxᵢ."""
        return np.asarray(self.sum(_combine, multipliers).sums[0])

    @property
    def by_loop(self) -> bool:
        """Whether products of columns are made by a compiled loop, which takes a moment to load.

        A fit makes them about ten times.
        """
        return self.width <= FEW_COLUMNS and 10 * self.rows.n_rows * self.width**2 >= MUCH_WORK

    def products(self, X: Any, beside: Floats, weights: Floats) -> Floats:
        """Return AᵀΘA for A = [X 1 B] of some rows, Θ the diagonal of weights; no ones if there is no intercept."""
        (n, d), root = X.shape, np.sqrt(weights)
        if self.by_loop and not hasattr(X, "tocsr"):
            from bisector.engine.column_products import joint_products

            Y = np.concatenate([np.ones((n, int(self.intercept))), beside], axis=1)
            width = d + Y.shape[1]
            return joint_products(X, Y, np.zeros(width), np.ones(width), root)[:-1, :-1]
        sparse = hasattr(X, "tocsr")
        dense = np.empty((n, (0 if sparse else d) + self.intercept + beside.shape[1]))
        split = dense.shape[1] - beside.shape[1]
        dense[:, split - self.intercept : split] = root[:, None]
        np.multiply(beside, root[:, None], out=dense[:, split:])
        if not sparse:
            np.multiply(X, root[:, None], out=dense[:, :d])
            return dense.T @ dense
        from bisector.engine.column_products import sparse_column_products

        scaled = X.multiply(root[:, None]).tocsr()
        border = np.asarray(scaled.T @ dense)
        return np.block([[sparse_column_products(scaled), border], [border.T, dense.T @ dense]])

    def in_own_units(self, plane: Plane) -> Plane:
        """Return the same plane for the columns as they came."""
        with np.errstate(over="ignore", invalid="ignore"):  # what is too large the estimator refuses
            weights = plane.weights * self.coordinates.scale
            return Plane(weights, float(plane.intercept - weights @ self.coordinates.shift))


def make_design(rows: Source, *, intercept: bool, n_jobs: int | None = None) -> Design:
    """Choose coordinates for a source.

    Raises
    ------
    ValueError
        When X has a NaN or infinity, naming its row and column.
    """
    sizes = column_sizes(rows, n_jobs)
    shift = first_coordinates(rows)[0].shift if intercept else np.zeros(rows.n_features)
    sizes = sizes + np.abs(shift)
    exponent = np.frexp(np.where(sizes > LARGEST, sizes, 1.0))[1]
    scale = np.where(sizes > LARGEST, np.ldexp(1.0, -exponent), 1.0)
    scale[sizes < SMALLEST] = 0.0
    with np.errstate(under="ignore"):
        penalty = np.where(scale > 0, np.maximum(scale**2, LEAST_PENALTY), 1.0)
    coordinates = Coordinates(shift, scale)
    design = Design(rows, coordinates, sizes * scale, penalty, intercept, n_jobs, None)
    if rows.n_blocks > 1:
        return design
    block = next(rows.blocks(range(1)))
    whole = Block(0, design.values(block), None, None)
    return Design(rows, coordinates, sizes * scale, penalty, intercept, n_jobs, whole)


def column_sizes(rows: Source, n_jobs: int | None) -> Floats:
    """Bound the absolute values in each column."""
    largest = np.inf
    if isinstance(rows, SparseSource):  # columns of rows that are mostly zero are slow to tell apart
        largest = float(np.abs(rows.X.data).max(initial=0.0))
    if largest <= LARGEST:
        return np.full(rows.n_features, max(largest, SMALLEST))
    sizes = map_reduce(block_sizes, rows, n_jobs=n_jobs, doing="measuring columns").of_x
    if not np.isfinite(sizes).all():
        find_not_finite(rows)
    return sizes


def _visit(block: Block, design: Design, make: Callable[..., Any], *fixed: Any) -> Any:
    rows = slice(block.first_row, block.first_row + block.X.shape[0])
    return make(design.values(block), rows, *fixed)


def score(X: Any, rows: slice, plane: Plane) -> Floats:
    """Return w·x + b of some rows."""
    return np.asarray(X @ plane.weights) + plane.intercept


def _combine(X: Any, rows: slice, multipliers: Floats) -> Sums:
    return Sums((np.asarray(X.T @ multipliers[rows]),))


def solve_positive(matrix: Floats, right: Floats) -> Floats:
    """Solve Mz = r for a positive definite M of any scaling; a little is added to its diagonal if it must be.

    Columns of `right` are right-hand sides. M is equilibrated, so that units do not matter.
    """
    from scipy.linalg import lapack

    diagonal = np.diagonal(matrix)
    unit = 1 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    equal = matrix * unit * unit[:, None]
    ridge = 0.0
    while True:
        factor, failed = lapack.dpotrf(equal + ridge * np.eye(len(equal)) if ridge else equal, lower=1)
        if not failed:
            break
        ridge = max(10 * ridge, 1e-15)
    solved, _ = lapack.dpotrs(factor, right * unit.reshape((-1,) + (1,) * (right.ndim - 1)), lower=1)
    return np.asarray(solved * unit.reshape((-1,) + (1,) * (right.ndim - 1)))
