"""First and second moments: the statistic behind least squares, covariances and scatter.

They are measured from a shift c rather than from zero, because the sums Σ(x−c)(x−c)ᵀ lose about
(c−μ)²/σ² of their precision when they are moved to the mean μ: data far from zero (a year, a coordinate at
10⁸) would lose every digit. The shift comes from the first rows, and is left at zero when zero is as good,
since the matrix products then run on the data as it is. A mean of rows is far from μ only if these rows are
few among many, or the weights play a trick; that is checked at the end.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .blocks import Block
from .map_reduce import map_reduce
from .sources import Source, SparseSource
from .validation import find_not_finite

Floats = NDArray[np.float64]

# With |mean − shift| beyond so many σ, more than a digit goes when moments are moved to the mean.
FAR = 5.0
# A pass is repeated from a better shift when two digits would go, and with them the promise of twelve.
TOO_FAR = 10.0
# Squares of larger numbers overflow, of smaller ones vanish: such columns are measured in other units.
LARGEST, SMALLEST = 1e120, 1e-140
# Sparse blocks with a larger share of stored values are faster as dense ones.
MOSTLY_ZERO = 0.2
# For so few columns a compiled loop is faster than BLAS, and from so many products on, by enough to pay for
# loading it (a third of a second, where other libraries take seconds).
FEW_COLUMNS = 128
MUCH_WORK = 10**9
# So many rows are looked at to choose a shift.
SAMPLE = 64


@dataclass(frozen=True)
class Coordinates:
    """Where columns are measured from and in what units: x ↦ (x − shift)·scale, each scale a power of two."""

    shift: Floats
    scale: Floats

    @classmethod
    def plain(cls, width: int) -> "Coordinates":
        return cls(np.zeros(width), np.ones(width))

    @cached_property
    def keeps_units(self) -> bool:
        return bool((self.scale == 1).all())

    @cached_property
    def is_plain(self) -> bool:
        return self.keeps_units and not self.shift.any()

    def apply(self, values: Any) -> Floats:
        values = values.toarray() if hasattr(values, "tocsr") else values
        if self.is_plain:
            return values.astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # noticed in what is made of it
            moved = np.subtract(values, self.shift, dtype=np.float64)
        return moved if self.keeps_units else np.multiply(moved, self.scale, out=moved)

    def apply_sparse(self, values: Any) -> Any:
        """Return sparse values in these coordinates, still sparse: only columns without zeros are shifted."""
        from scipy.sparse import csr_array

        values = values.astype(np.float64, copy=False)
        if self.is_plain:
            return values
        n, shifted = values.shape[0], np.flatnonzero(self.shift)
        starts = np.arange(n + 1) * len(shifted)
        shift = csr_array((np.tile(self.shift[shifted], n), np.tile(shifted, n), starts), shape=values.shape)
        return (values - shift).multiply(self.scale).tocsr()


@dataclass
class Moments:
    """Weighted sums over rows of x, y, xxᵀ, xyᵀ and y², in the coordinates given.

    `n_rows` counts the rows with a positive weight; `weight` is the sum of the weights, or the number of rows
    when there are none.
    """

    of_x: Coordinates
    of_y: Coordinates
    n_rows: int
    weight: float
    x: Floats
    y: Floats
    xx: Floats
    xy: Floats
    yy: Floats

    def merge(self, other: "Moments") -> "Moments":
        self.n_rows += other.n_rows
        self.weight += other.weight
        with np.errstate(over="ignore", invalid="ignore"):
            self.x += other.x
            self.y += other.y
            self.xx += other.xx
            self.xy += other.xy
            self.yy += other.yy
        return self

    @property
    def mean_x(self) -> Floats:
        return self.of_x.shift + self.x / self.weight / self.of_x.scale

    @property
    def mean_y(self) -> Floats:
        return self.of_y.shift + self.y / self.weight / self.of_y.scale

    def about_mean(self) -> tuple[Floats, Floats, Floats]:
        """Return the scatter Σ(x−x̄)(x−x̄)ᵀ, Σ(x−x̄)(y−ȳ)ᵀ and Σ(y−ȳ)², in units of the coordinates."""
        to_mean = self.x / self.weight
        xx = np.outer(to_mean, self.x)
        np.subtract(self.xx, xx, out=xx)
        xy = self.xy - np.outer(to_mean, self.y)
        yy = self.yy - self.y**2 / self.weight
        return xx, xy, np.maximum(yy, 0.0)

    def about_zero(self) -> tuple[Floats, Floats, Floats]:
        """Return Σxxᵀ, Σxyᵀ and Σy², in units of the coordinates."""
        to_x, to_y = self.of_x.shift * self.of_x.scale, self.of_y.shift * self.of_y.scale
        half = np.outer(to_x, self.x + self.weight / 2 * to_x)
        xx = self.xx + half + half.T
        xy = self.xy + np.outer(to_x, self.y + self.weight * to_y) + np.outer(self.x, to_y)
        yy = self.yy + to_y * (2 * self.y + self.weight * to_y)
        return xx, xy, np.maximum(yy, 0.0)


class Sizes(NamedTuple):
    """Largest absolute value of each column of X and of y."""

    of_x: Floats
    of_y: Floats

    def merge(self, other: "Sizes") -> "Sizes":
        return Sizes(np.maximum(self.of_x, other.of_x), np.maximum(self.of_y, other.of_y))


def block_sizes(block: Block) -> Sizes:
    """Make the sizes of one block."""
    X = abs(block.X).max(axis=0)
    X = X.toarray().ravel() if hasattr(X, "toarray") else X
    return Sizes(X.astype(np.float64), np.abs(block.targets).max(axis=0))


def moments(rows: Source, *, n_jobs: int | None = None) -> Moments:
    """Gather the moments of a source's X and y: one pass, and another only if its coordinates were bad.

    Raises
    ------
    ValueError
        When X or y has a NaN or infinity, naming its row and column.
    """
    found = _gather(rows, *first_coordinates(rows), n_jobs)
    sums, squares = _joined(found)
    overflowed = not np.isfinite(squares).all()
    if overflowed:
        find_not_finite(rows)  # if this returns, only the squares are too large
    if overflowed or sums[squares < found.weight * SMALLEST**2].any():
        sizes = map_reduce(block_sizes, rows, n_jobs=n_jobs, doing="measuring columns")
        found = _gather(rows, _in_units(sizes.of_x), _in_units(sizes.of_y), n_jobs)
        sums, squares = _joined(found)
    far = _too_far(sums, squares, found.weight)
    if far.any():
        far_x, far_y = np.split(far, [rows.n_features])
        of_x = Coordinates(np.where(far_x, found.mean_x, found.of_x.shift), found.of_x.scale)
        of_y = Coordinates(np.where(far_y, found.mean_y, found.of_y.shift), found.of_y.scale)
        found = _gather(rows, of_x, of_y, n_jobs)
    return found


def _joined(found: Moments) -> tuple[Floats, Floats]:
    """Return the sums and the sums of squares of all columns, those of y last."""
    return np.concatenate([found.x, found.y]), np.concatenate([found.xx.diagonal(), found.yy])


def _too_far(sums: Floats, squares: Floats, weight: float) -> NDArray[np.bool_]:
    variance = np.maximum(squares - sums**2 / weight, 0.0) / weight
    return np.abs(sums) / weight > TOO_FAR * np.sqrt(variance)


def _gather(rows: Source, of_x: Coordinates, of_y: Coordinates, n_jobs: int | None) -> Moments:
    width = rows.n_features + len(of_y.shift)
    by_loop = (
        width <= FEW_COLUMNS and rows.n_rows * width**2 >= MUCH_WORK and not isinstance(rows, SparseSource)
    )
    make, rows = (narrow_block_moments, rows.in_columns()) if by_loop else (block_moments, rows)
    return map_reduce(make, rows, of_x, of_y, n_jobs=n_jobs, doing="gathering moments")


def narrow_block_moments(block: Block, of_x: Coordinates, of_y: Coordinates) -> Moments:
    """Make the moments of one block with few columns, by a compiled loop."""
    from .column_products import joint_products

    n_rows, d = block.X.shape[0], len(of_x.shift)
    weights, weight, root = block.sample_weight, float(n_rows), None
    if weights is not None:
        n_rows, weight, root = int(np.count_nonzero(weights)), float(weights.sum()), np.sqrt(weights)
    shift, scale = np.append(of_x.shift, of_y.shift), np.append(of_x.scale, of_y.scale)
    products = joint_products(block.X, block.targets, shift, scale, root)
    return Moments(
        of_x,
        of_y,
        n_rows,
        weight,
        x=products[-1, :d],
        y=products[-1, d:-1],
        xx=products[:d, :d],
        xy=products[:d, d:-1],
        yy=np.diagonal(products)[d:-1].copy(),
    )


def block_moments(block: Block, of_x: Coordinates, of_y: Coordinates) -> Moments:
    """Make the moments of one block."""
    sparse = hasattr(block.X, "tocsr") and block.X.nnz < MOSTLY_ZERO * np.prod(block.X.shape)
    X: Any = of_x.apply_sparse(block.X) if sparse else of_x.apply(block.X)
    n_rows, weight = X.shape[0], float(X.shape[0])
    Y = block.targets
    beside = np.empty((n_rows, 1 + Y.shape[1]))
    beside[:, 0], beside[:, 1:] = 1.0, of_y.apply(Y)
    # NaN and infinities are noticed in the sums, and products that overflow are made again in other units.
    with np.errstate(over="ignore", invalid="ignore"):
        if block.sample_weight is not None:
            n_rows, weight = int(np.count_nonzero(block.sample_weight)), float(block.sample_weight.sum())
            root = np.sqrt(block.sample_weight)[:, None]
            X = X.multiply(root).tocsr() if sparse else X * root
            beside *= root
        sums, inner = np.asarray((X.T @ beside).T if sparse else beside.T @ X), beside.T @ beside
        products = _sparse_products(X) if sparse else X.T @ X
        yy = np.diagonal(inner)[1:].copy()
        return Moments(of_x, of_y, n_rows, weight, sums[0], inner[0, 1:], products, sums[1:].T, yy)


def _sparse_products(X: Any) -> Floats:
    from .column_products import sparse_column_products  # its compiled loop takes a moment to load

    return sparse_column_products(X)


def first_coordinates(rows: Source) -> tuple[Coordinates, Coordinates]:
    """Choose coordinates by looking at the first rows: of X shifted where it pays, of y always."""
    block = next(rows.blocks(range(1)))
    counts = slice(SAMPLE) if block.sample_weight is None else np.flatnonzero(block.sample_weight)[:SAMPLE]
    Y, d = block.targets[counts], rows.n_features
    if hasattr(block.X, "tocsr"):
        return Coordinates.plain(d), coordinates(Y, must_shift=np.ones(Y.shape[1], dtype=bool))
    both = coordinates(
        np.concatenate([block.X[counts], Y], axis=1), must_shift=np.arange(d + Y.shape[1]) >= d
    )
    return Coordinates(both.shift[:d], both.scale[:d]), Coordinates(both.shift[d:], both.scale[d:])


def coordinates(values: NDArray[Any], *, must_shift: NDArray[np.bool_]) -> Coordinates:
    """Choose where to measure the columns of a sample from, and in what units.

    A constant column gets exactly its value as shift, so that nothing of it is left to mistake for scatter.
    """
    if not len(values):
        return Coordinates.plain(values.shape[1])
    values = values.astype(np.float64, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        # Sums by name: for a few rows, ``mean`` takes longer to set out than to add up.
        mean = values[0] + np.add.reduce(values - values[0], axis=0) / len(values)
        spread = np.add.reduce(np.abs(values - mean), axis=0) / len(values)
        far = np.isfinite(mean) & ((np.abs(mean) > FAR * spread) | must_shift)
        shift = np.where(far, mean, 0.0)
        # Not less than the rounding of the shift, lest its own square overflow or vanish.
        size = np.maximum(np.abs(values - shift).max(axis=0), 2.0**-52 * np.abs(shift))
    return Coordinates(shift, _in_units(size).scale)


def _in_units(size: Floats) -> Coordinates:
    """Scale columns of extreme size to about one; the others are left alone."""
    odd = np.isfinite(size) & ((size > LARGEST) | ((size > 0) & (size < SMALLEST)))
    if not odd.any():
        return Coordinates.plain(len(size))
    exponent = np.maximum(np.frexp(np.where(odd, size, 1.0))[1], -1000)  # 2¹⁰⁰⁰ is still a number
    return Coordinates(np.zeros(len(size)), np.where(odd, np.ldexp(1.0, -exponent), 1.0))
