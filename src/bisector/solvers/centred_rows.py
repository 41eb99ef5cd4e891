"""Few rows of many features: the rows as vectors from their mean, for methods that compare rows with rows.

With A = diag(√v)(X − 1x̄ᵀ)·unit, rows weighed by v, everything ridge regression needs of X is the n × n matrix
AAᵀ, and the products of A and Aᵀ with a few vectors. A sparse X stays sparse, and one whose mean is near zero
beside its spread is not copied: the mean is subtracted from the products instead.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import as_columns
from bisector.engine.memory import require
from bisector.engine.moments import FAR, Coordinates
from bisector.engine.sources import MemorySource, Source, SparseSource
from bisector.engine.validation import find_not_finite

from .column_geometry import EPS, column_norms
from .least_squares import is_constant

Floats = NDArray[np.float64]

# Numbers within these sizes can be squared and summed as they are.
SMALLEST_SIZE, LARGEST_SIZE = 1e-60, 1e60
# A mean whose square is at most so many variances costs less than a digit when it is subtracted from products.
NEAR = 4.0


@dataclass(frozen=True)
class CentredRows:
    """The matrix A and the targets beside it.

    Attributes
    ----------
    values : dense A, or an array or CSR matrix that is A up to the mean
    shift : (d,) what is left to subtract from the rows, times their root; None if nothing is
    root : (n,) √v of the rows that weigh anything
    kept : (n,) their numbers
    unit : (d,) what columns were multiplied by
    scale : a power of two, of which `unit` is made: penalties of the coefficients of A are multiplied by its square
    mean : (d,) column means x̄, or zeros without intercept
    targets : (n, T) √v(y − ȳ), each column multiplied by its power of two in `unit_y`
    mean_y : (T,) ȳ, or zeros
    intercept : whether means were subtracted
    """

    values: Any
    shift: Floats | None
    root: Floats
    kept: NDArray[np.int64]
    unit: Floats
    scale: float
    mean: Floats
    targets: Floats
    unit_y: Floats
    mean_y: Floats
    intercept: bool

    @property
    def n_rows(self) -> int:
        return len(self.root)

    @property
    def weight(self) -> float:
        return float(self.root @ self.root)

    def gram(self) -> Floats:
        """Return AAᵀ."""
        K = _dense(self.values @ self.values.T)
        if self.shift is None:
            return K
        side = self.values @ self.shift
        K -= np.outer(side, self.root)
        K -= np.outer(self.root, side - self.root * (self.shift @ self.shift))
        return K

    def times(self, coef: Floats) -> Floats:
        """Return A·coef."""
        product = np.asarray(self.values @ coef)
        return product if self.shift is None else product - np.outer(self.root, self.shift @ coef)

    def transposed_times(self, dual: Floats) -> Floats:
        """Return Aᵀ·dual."""
        product = np.asarray(self.values.T @ dual)
        return product if self.shift is None else product - np.outer(self.shift, self.root @ dual)

    def dense(self) -> Floats:
        """Return A as an array."""
        values = _dense(self.values)
        return values if self.shift is None else values - np.outer(self.root, self.shift)

    def column_lengths(self) -> Floats:
        """Return the lengths of the columns of A."""
        return column_norms(self.dense())

    def like(self, X: Any) -> Floats:
        """Return new rows as those of A, each of weight one."""
        with np.errstate(over="ignore", invalid="ignore"):
            return (_dense(X) - self.mean) * self.unit

    def original(self, coef: Floats) -> tuple[Floats, Floats]:
        """Turn coefficients of A for the targets as they are here into those of X and y, with the intercepts."""
        with np.errstate(over="ignore", invalid="ignore"):
            coef = coef * self.unit[:, None] / self.unit_y
            return coef, self.mean_y - self.mean @ coef


def centred_rows(rows: Source, column_weights: Floats, *, intercept: bool) -> CentredRows:
    """Gather the rows of a source, with columns divided by the roots of `column_weights`."""
    n, d, sparse = rows.n_rows, rows.n_features, isinstance(rows, SparseSource)
    if not sparse:
        require(
            8 * n * (2 * d + 2 * n),
            doing=f"comparing {n:,} rows of {d:,} features with each other",
            instead="use fewer rows, or choose among the features first",
        )
    X = _whole(rows)
    Y = (
        as_columns(np.asarray(rows.y), n)
        if rows.y is not None
        else np.concatenate([one.targets for one in rows.blocks()])
    )
    weight = np.ones(n) if rows.sample_weight is None else np.asarray(rows.sample_weight)
    kept = np.flatnonzero(weight)
    if len(kept) < n:
        X, Y, weight = X[kept], Y[kept], weight[kept]
    root = np.sqrt(weight)
    mean_y, left_y = _from_mean(Y, weight) if intercept else (np.zeros(Y.shape[1]), Y)
    unit_y = _power_of_two(np.abs(left_y).max(axis=0, initial=0.0))
    targets = left_y * unit_y * root[:, None]
    shift: Floats | None = None
    if sparse:
        left, shift, mean = _sparse_from_mean(X, weight) if intercept else (X, np.zeros(d), np.zeros(d))
        largest = float(abs(left).max()) if left.nnz else 0.0
    elif intercept and rows.sample_weight is None and (column_weights == 1).all() and _is_near(X):
        mean, left, largest = X.mean(axis=0), X, 1.0
        shift = mean
    else:
        mean, left = _from_mean(X, weight) if intercept else (np.zeros(d), X)
        lengths = _column_lengths(left, weight)
        largest = float(lengths.max(initial=0.0))
        if intercept:
            left[:, is_constant(lengths, mean, float(weight.sum()))] = 0.0
    if not (np.isfinite(largest) and np.isfinite(mean).all() and np.isfinite(targets).all()):
        find_not_finite(rows)
        raise ValueError("X or y has values too large to be multiplied: divide columns by a power of ten.")
    scale = 1.0 if SMALLEST_SIZE < largest < LARGEST_SIZE else float(_power_of_two(np.array([largest]))[0])
    unit = scale / np.sqrt(column_weights)
    if sparse:
        left = left.multiply(root[:, None]).multiply(unit).tocsr()
        shift = np.asarray(shift) * unit
    elif shift is None:
        if (unit != 1).any():
            left = np.multiply(left, unit, out=left if intercept else None)
        if rows.sample_weight is not None:
            left = left * root[:, None]
    return CentredRows(left, shift, root, kept, unit, scale, mean, targets, unit_y, mean_y, intercept)


def _is_near(X: Floats) -> bool:
    """Tell whether all columns have means of the size of their spread, and both can be squared."""
    n = len(X)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, squares = np.ones(n) @ X / n, np.einsum("ij,ij->j", X, X) / n
        usual = (squares > SMALLEST_SIZE**2) & (squares < LARGEST_SIZE**2)
        return bool((usual & (mean**2 <= NEAR * (squares - mean**2))).all())


def _dense(values: Any) -> Floats:
    return np.asarray(values.toarray() if hasattr(values, "tocsr") else values)


def _whole(rows: Source) -> Any:
    """Return X as one float64 array or CSR matrix, without copying where it is one already."""
    if isinstance(rows, MemorySource):
        return rows.between(0, rows.n_rows).astype(np.float64, copy=False)
    return np.concatenate([block.dense for block in rows.blocks()], dtype=np.float64)


def _column_lengths(values: Floats, weight: Floats) -> Floats:
    """Return the lengths of columns whose rows are weighed."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij,i->j", values, values, weight))
        if lengths.min(initial=np.inf) > SMALLEST_SIZE and lengths.max(initial=0.0) < LARGEST_SIZE:
            return lengths
        return column_norms(values * np.sqrt(weight)[:, None])


def _from_mean(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the weighted means of columns and what is left without them; twice where the first is too rough."""
    share = weight / weight.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        mean = share @ values
        left = values - mean
        rest = share @ left
        if (np.abs(rest) > EPS * np.abs(left[:64]).max(axis=0)).any():
            left -= rest
            mean = mean + rest
    return mean, left


def _sparse_from_mean(X: Any, weight: Floats) -> tuple[Any, Floats, Floats]:
    """Return the values, what is left to subtract from them, and the means.

    Columns that lie far from zero, beside their spread, are shifted at once: they have few zeros to lose.
    """
    share = weight / weight.sum()
    mean = np.asarray(X.T @ share).ravel()
    unit = _power_of_two(abs(X).max(axis=0).toarray().ravel())  # else squares of large values would overflow
    scaled = X.multiply(unit).tocsr()
    spread = np.sqrt(np.maximum(scaled.multiply(scaled).T @ share - (mean * unit) ** 2, 0.0))
    far = np.abs(mean * unit) > FAR * spread
    if not far.any():
        return X, mean, mean
    shift = np.where(far, mean, 0.0)
    moved = Coordinates(shift, np.ones(len(mean))).apply_sparse(X)
    largest = abs(moved).max(axis=0).toarray().ravel()
    moved = moved.multiply(largest > 4 * EPS * np.abs(shift)).tocsr()  # else its rounding is all that varies
    rest = np.asarray(moved.T @ share).ravel()
    return moved, rest, shift + rest


def _power_of_two(size: Floats) -> Floats:
    """Return what brings a size to about one; one where there is none."""
    exponent = np.clip(np.frexp(size)[1], -1000, 1000)
    return np.where(size > 0, np.ldexp(1.0, -exponent), 1.0)
