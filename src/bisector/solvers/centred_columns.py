"""The columns of X, centred and weighted as a fit sees them, without a copy of X.

Column j stands for √w·(xⱼ − x̄ⱼ)·unitⱼ, where w are the weights of the rows and unitⱼ is one, but for columns so
large or small that their squares are no numbers. Only the columns that enter a fit are ever written out like
this; of all others a fit needs products with a vector, and those are made of X as it is.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.moments import LARGEST, SMALLEST
from bisector.engine.sources import ArraySource, Source, SparseSource
from bisector.engine.threads import parallel
from bisector.engine.validation import find_not_finite

from .least_squares import is_constant

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A tile that is converted or centred should stay in the second-level cache; others only be worth a thread.
_COPIED_TILE, _READ_TILE = 2**17, 2**21
# Sparse columns are cheaper: so many stored values are worth a thread.
_SPARSE_RUN = 2**18


class CentredColumns(ABC):
    """Columns in the form above.

    Parameters
    ----------
    rows : Source
        X with the weights of its rows.
    intercept : bool
        Whether columns are centred.

    Attributes
    ----------
    n_rows, n_features : int
    weight : float
        The sum of the weights.
    roots : (n_rows,) square roots of the weights, or None if all are one
    mean, unit : (n_features,)
    squares : (n_features,) squared lengths; zero for columns that are constant
    slack : (n_features,)
        Bounds on the rounding of a product with a vector of length one.
    """

    squares: Floats
    mean: Floats
    unit: Floats

    def __init__(self, rows: Source, *, intercept: bool, n_jobs: int | None) -> None:
        self.n_rows, self.n_features = rows.n_rows, rows.n_features
        self.n_jobs = n_jobs
        self.intercept = intercept
        self.row_weights = rows.sample_weight
        self.roots = None if rows.sample_weight is None else np.sqrt(rows.sample_weight)
        self.weight = float(rows.n_rows if rows.sample_weight is None else rows.sample_weight.sum())
        self._open(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            self._measure()
        if not np.isfinite(self.squares).all():
            find_not_finite(rows)
            raise ValueError("X has values too large to be centred: divide its columns by a power of ten.")
        raw = np.sqrt(self.squares + self.weight * (self.mean * self.unit) ** 2)
        self.slack = 1e-15 * np.sqrt(self.n_rows) * raw

    def _measure(self) -> None:
        """Find the means, the units and the squared lengths."""
        ones = np.ones(self.n_rows) if self.row_weights is None else self.row_weights
        d = self.n_features
        self.mean = self._products(ones) / self.weight if self.intercept else np.zeros(d)
        self.unit = np.ones(d)
        self.squares = self._squares()
        odd = ~((self.squares >= SMALLEST**2) & (self.squares < LARGEST**2))
        if odd.any():
            size = self._sizes() * np.sqrt(self.weight)
            usable = odd & np.isfinite(size) & (size > 0)
            exponent = np.clip(np.frexp(np.where(usable, size, 1.0))[1], -1000, 1000)
            self.unit = np.where(usable, np.ldexp(1.0, -exponent), 1.0)
            self.squares = self._squares()
        if self.intercept:
            lengths = np.sqrt(self.squares) / self.unit
            self.squares[is_constant(lengths, self.mean, self.weight)] = 0.0

    def target(self, y: Floats) -> tuple[Floats, float]:
        """Return √w·(y − ȳ), and ȳ, which is zero without an intercept."""
        weights = self.row_weights
        # From the first value on, so that nothing is left of a constant.
        mean = float(y[0] + np.average(y - y[0], weights=weights)) if self.intercept else 0.0
        centred = y - mean
        if self.intercept:  # what rounding left of the mean
            centred -= np.average(centred, weights=weights)
        return (centred if self.roots is None else centred * self.roots), mean

    def correlations(self, vector: Floats, features: Integers | None = None) -> Floats:
        """Return the products of the columns, or of some of them, with a vector."""
        u = vector if self.roots is None else vector * self.roots
        chosen = slice(None) if features is None else features
        found = self._products(u, features)
        if self.intercept:
            found -= self.mean[chosen] * u.sum()
        found *= self.unit[chosen]
        found[self.squares[chosen] == 0] = 0.0
        return found

    @abstractmethod
    def written_out(self, features: Integers) -> Floats:
        """Write out some columns, as rows of an array."""

    @abstractmethod
    def _open(self, rows: Source) -> None: ...

    @abstractmethod
    def _products(self, u: Floats, features: Integers | None = None) -> Floats:
        """Return Xᵀu, or some of its entries."""

    @abstractmethod
    def _squares(self) -> Floats:
        """Return the squared lengths of all columns, with the means and units as they are."""

    @abstractmethod
    def _sizes(self) -> Floats:
        """Return the largest absolute value of each column."""


class DenseColumns(CentredColumns):
    """Columns of an array in row-major or column-major order."""

    def _open(self, rows: Source) -> None:
        assert isinstance(rows, ArraySource)
        X = np.asarray(rows.X, dtype=rows.dtype)
        if not (X.flags.aligned and (X.flags.c_contiguous or X.flags.f_contiguous)):
            X = np.ascontiguousarray(X)
        self.X = X
        self.by_column = X.flags.f_contiguous and not X.flags.c_contiguous

    def written_out(self, features: Integers) -> Floats:
        if self.by_column:
            found = self.X.T[features].astype(np.float64, copy=False)
        else:
            found = np.ascontiguousarray(self.X[:, features].T, dtype=np.float64)
        if self.intercept:
            found -= self.mean[features, None]
        found *= self.unit[features, None]
        if self.roots is not None:
            found *= self.roots
        found[self.squares[features] == 0] = 0.0
        return found

    def _products(self, u: Floats, features: Integers | None = None) -> Floats:
        if features is not None:
            if self.by_column:
                return self.X.T[features].astype(np.float64, copy=False) @ u
            return u @ self.X[:, features].astype(np.float64, copy=False)
        wide = self.X.dtype == np.float64

        def multiply(tile: tuple[slice, slice]) -> Floats:
            return u[tile[0]] @ self.X[tile].astype(np.float64, copy=False)

        return self._over(multiply, _READ_TILE if wide else _COPIED_TILE)

    def _squares(self) -> Floats:
        rescaled = bool((self.unit != 1).any())

        def square(tile: tuple[slice, slice]) -> Floats:
            part = self.X[tile].astype(np.float64, copy=False)
            if self.intercept:
                part = part - self.mean[tile[1]]
            if rescaled:
                part = part * self.unit[tile[1]]
            if self.roots is not None:
                part = part * self.roots[tile[0], None]
            return np.einsum("ij,ij->j", part, part)

        return self._over(square, _COPIED_TILE)

    def _sizes(self) -> Floats:
        return np.abs(self.X).max(axis=0).astype(np.float64)

    def _over(self, work: Any, size: int) -> Floats:
        """Sum over the rows what `work` makes of each tile, for each column."""
        n, d = self.X.shape
        if self.by_column:
            width = max(1, size // n)
            tiles = [(slice(None), slice(a, min(a + width, d))) for a in range(0, d, width)]
            return np.concatenate(parallel(work, tiles, n_jobs=self.n_jobs))
        height = max(1, size // d)
        tiles = [(slice(a, min(a + height, n)), slice(None)) for a in range(0, n, height)]
        found = parallel(work, tiles, n_jobs=self.n_jobs)
        total = found[0].copy()
        for part in found[1:]:
            total += part
        return total


class SparseColumns(CentredColumns):
    """Columns of a sparse matrix; zeros are never written out, nor are means subtracted."""

    def _open(self, rows: Source) -> None:
        from bisector.engine.loops import given

        assert isinstance(rows, SparseSource)
        X = rows.X.tocsc()
        X.sum_duplicates()
        self.X = X
        self.starts = given(X.indptr, np.int64)
        self.places = given(X.indices, np.int64)
        self.values = given(X.data, rows.dtype)
        self.everything = given(np.arange(self.n_features))
        self.density = len(self.values) / (self.n_rows * self.n_features)

    def written_out(self, features: Integers) -> Floats:
        starts, places, values = self.stored(features)
        roots = np.ones(self.n_rows) if self.roots is None else self.roots
        means = self.mean[features] * self.unit[features] * (self.squares[features] > 0)
        found = -np.outer(means, roots)
        for j in range(len(features)):
            found[j, places[starts[j] : starts[j + 1]]] += values[starts[j] : starts[j + 1]]
        return found

    def stored(self, features: Integers) -> tuple[Integers, Integers, Floats]:
        """Return the stored values of some columns: where each column begins, and the rows and values."""
        lengths = np.diff(self.starts)[features]
        starts = np.concatenate([[0], np.cumsum(lengths)])
        chosen = np.arange(starts[-1]) + np.repeat(self.starts[features] - starts[:-1], lengths)
        places, values = self.places[chosen], self.values[chosen].astype(np.float64)
        values *= np.repeat(self.unit[features] * (self.squares[features] > 0), lengths)
        if self.roots is not None:
            values *= self.roots[places]
        return starts, places, values

    def _products(self, u: Floats, features: Integers | None = None) -> Floats:
        from bisector.engine.loops import given

        from .coordinate_descent_loops import correlate_sparse

        asked = self.everything if features is None else given(features, np.int64)
        found, u = np.empty(len(asked)), given(u)
        share = max(1, _SPARSE_RUN * self.n_features // max(1, len(self.values)))

        def multiply(first: int) -> None:
            part = slice(first, first + share)
            correlate_sparse(self.starts, self.places, self.values, asked[part], u, found[part])

        parallel(multiply, range(0, len(asked), share), n_jobs=self.n_jobs)
        return found

    def _squares(self) -> Floats:
        column = np.repeat(np.arange(self.n_features), np.diff(self.starts))
        inside = (self.values - self.mean[column]) * self.unit[column]
        weights = np.ones(self.n_rows) if self.row_weights is None else self.row_weights
        stored = np.bincount(column, weights[self.places], self.n_features)
        found = np.bincount(column, inside**2 * weights[self.places], self.n_features)
        return found + np.maximum(self.weight - stored, 0.0) * (self.mean * self.unit) ** 2

    def _sizes(self) -> Floats:
        return np.asarray(abs(self.X).max(axis=0).todense(), dtype=np.float64).ravel()


def centred_columns(rows: Source, *, intercept: bool, n_jobs: int | None) -> CentredColumns:
    """Return the columns of a source."""
    kind = SparseColumns if isinstance(rows, SparseSource) else DenseColumns
    return kind(rows, intercept=intercept, n_jobs=n_jobs)
