"""Dot products of rows, and whole powers of them, tile by tile.

Dense rows are multiplied by BLAS where rounding may depend on the tile (`write`), and in the order of their
coordinates where it may not (`fill`). Sparse rows are multiplied along the entries that both have, in that
order too, so that both ways are one.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinatePairs
from bisector.distances.distance import Pairs
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.terms import SUMMED, keep
from bisector.engine.values import lowered
from bisector.kernels.kernel import Derived, Products


@lowered(**SUMMED, finish=keep, reduce=keep)
class ProductTerms(NamedTuple):
    """Σ x·y, in the form of a distance's formula: so it runs in the tiles of distances."""

    start: float = 0.0

    def term(self, x: float, y: float, weight: float) -> float:
        return x * y


class Affine(NamedTuple):
    """What becomes of a dot product: (scale · x·y + bias) raised to a degree."""

    scale: float = 1.0
    bias: float = 0.0
    degree: int = 1


PLAIN = Affine()

# From so many entries on that two sparse rows have in common, copying their product is faster than computing it.
_MATCHES = 2


def dot_products(change: Affine, outer: NumericRows, inner: NumericRows) -> Products:
    """Join rows of numbers into the pairs (scale · x·y + bias)^degree."""
    return (SparseProducts if outer.sparse and inner.sparse else DenseProducts)(change, outer, inner)


class DotProducts(Products):
    """(scale · x·y + bias)^degree of rows of numbers."""

    tile_shape = (256, 512)

    def __init__(self, change: Affine, outer: NumericRows, inner: NumericRows) -> None:
        self._change = change
        self._outer, self._inner = outer, inner
        self.shape = (len(outer), len(inner))
        self.dtype = np.result_type(outer.dtype, inner.dtype)


class DenseProducts(DotProducts):
    """Of rows that are arrays, or that become arrays tile by tile."""

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        in_order = CoordinatePairs(ProductTerms(), self._outer, self._inner)
        height, width = in_order.tile_shape
        for top in range(0, len(outer), height):
            for left in range(0, len(inner), width):
                part = outer[top : top + height], inner[left : left + width]
                in_order.fill(*part, out, row + top, column + left)
        change_tile(self._change, out, row, column, len(outer), len(inner))

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        left = self._outer.dense(outer).astype(np.float64, copy=False)
        right = self._inner.dense(inner).astype(np.float64, copy=False)
        np.matmul(left, right.T, out=out[row : row + len(outer), column : column + len(inner)])
        change_tile(self._change, out, row, column, len(outer), len(inner))


class SparseProducts(DotProducts):
    """Of sparse rows, along the entries that both have; the inner rows may lack the last columns of the outer."""

    tile_shape = (512, 2048)

    @property
    def mirrored(self) -> bool:  # type: ignore[override]
        in_columns = np.diff(self._entries[1][2]).astype(np.float64)
        return bool((in_columns**2).sum() > _MATCHES * len(self._inner) ** 2)

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.kernels.dot_loops import multiply_entries

        n_rows, n_columns = len(outer), len(inner)
        multiply_entries(*self._entries, outer.start, inner.start, out, row, column, n_rows, n_columns)
        change_tile(self._change, out, row, column, n_rows, n_columns)

    @cached_property
    def _entries(self) -> tuple[Any, Any]:
        """The entries of the outer rows by row, and of the inner rows by column."""
        return _arrays(self._outer.values), _arrays(self._inner.values.tocsc())


class ChangedPairs(Derived):
    """The values of other tiles, scaled and raised to a power."""

    def __init__(self, pairs: Pairs, change: Affine) -> None:
        super().__init__(pairs)
        self._change = change

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        change_tile(self._change, out, row, column, len(outer), len(inner))


def squared_lengths(rows: NumericRows, change: Affine = PLAIN) -> NDArray[np.float64]:
    """Return (scale · x·x + bias)^degree for every row, with the bits that `fill` gives."""
    from bisector.engine.loops import given
    from bisector.kernels.dot_loops import square_entries, square_rows

    squares = np.zeros((1, len(rows)))
    if rows.sparse:
        values, _, starts = _arrays(rows.values)
        square_entries(values, starts, squares[0])
    else:
        square_rows(given(rows.values, np.float64), squares[0])
    change_tile(change, squares, 0, 0, 1, len(rows))
    return squares[0]


def change_tile(
    change: Affine, out: NDArray[Any], row: int, column: int, n_rows: int, n_columns: int
) -> None:
    """Scale a rectangle, add the bias and raise it to the degree, in place."""
    if change != PLAIN:
        from bisector.kernels.dot_loops import raise_tile

        raise_tile(*change, out, row, column, n_rows, n_columns)


def _arrays(rows: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    from bisector.engine.loops import given

    return given(rows.data, np.float64), given(rows.indices, np.int64), given(rows.indptr, np.int64)
