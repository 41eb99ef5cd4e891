"""Sums of squared differences by matrix products: ‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y.

A matrix product is the fastest way to many dot products, but the difference cancels when two rows are close to each
other and far from the origin. So the rows are centred first, and every pair for which the rounding could exceed
`TOLERANCE` is computed again coordinate by coordinate. The error of ‖x − y‖² is at most (k + 6)·eps·(‖x‖ + ‖y‖)²,
where k is the length of the longest chain of additions that the product makes: all coordinates, or those of a panel
and then the panels.

Products only fill in values. Whatever decides which row is nearer uses the formula itself (`fill`).
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinatePairs
from bisector.distances.numeric_rows import NumericRows

# The relative error that a distance may have when it comes from products.
TOLERANCE = 1e-12

# With fewer coordinates, computing differences is faster than the product and its repair.
FEWEST_COORDINATES = 12

# BLAS adds up panels of at most so many coordinates, and then the panels.
_PANEL = 512

# When more than this share of a tile would be computed again, all of it is.
_MOST_AGAIN = 0.05


def pay(outer: NumericRows, inner: NumericRows) -> bool:
    """Whether products are the faster way to compare these rows."""
    return outer.sparse == inner.sparse and inner.values.shape[1] >= FEWEST_COORDINATES


class ProductPairs(CoordinatePairs):
    """Pairs of rows whose squared distances come from dot products."""

    def __init__(self, formula: Any, outer: NumericRows, inner: NumericRows) -> None:
        super().__init__(formula, outer, inner)
        self.tile_shape = (256, 512)
        n_features = inner.values.shape[1]
        chain = min(n_features, _PANEL) + -(-n_features // _PANEL)
        # An error of 2·TOLERANCE in the square is one of TOLERANCE in the distance; halved once more for formulas
        # that keep the square.
        self._closest = (chain + 6) * np.finfo(np.float64).eps / TOLERANCE * 2

    @cached_property
    def _right(self) -> "Centred":
        return _centred(self.inner, None)

    @cached_property
    def _left(self) -> "Centred":
        return self._right if self.outer is self.inner else _centred(self.outer, self._right.centre)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.product_loops import finish_products, repair_close
        from bisector.engine.loops import given

        left, right = self._left, self._right
        part, other = left.values[outer.start : outer.stop], right.values[inner.start : inner.stop]
        products = (part @ other.T).toarray() if self.outer.sparse else part @ other.T
        lengths = given(left.squares[outer.start : outer.stop])
        others = given(right.squares[inner.start : inner.stop])
        n_close = finish_products(
            self.formula, given(products), lengths, others, self._closest, out, row, column
        )
        if n_close > _MOST_AGAIN * products.size:
            super().write(outer, inner, out, row, column)
        elif n_close:
            rows = given(self.outer.dense(outer), np.float64), given(self.inner.dense(inner), np.float64)
            repair_close(
                self.formula, *rows, given(products), lengths, others, self._closest, out, row, column
            )


class Centred(NamedTuple):
    """Rows about a centre, and the squares of their lengths."""

    values: Any
    squares: NDArray[np.float64]
    centre: NDArray[np.float64] | None


def _centred(rows: NumericRows, centre: NDArray[np.float64] | None) -> Centred:
    """Move rows so that a centre, by default their mean, is the origin; sparse rows stay, as it would fill them."""
    if rows.sparse:
        values = rows.values.astype(np.float64)
        return Centred(values, np.asarray(values.multiply(values).sum(axis=1)).ravel(), None)
    if centre is None:
        centre = rows.values.mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(rows.values.shape[1])
    values = rows.values - centre
    return Centred(values, np.einsum("ij,ij->i", values, values), centre)
