"""Sums of squared differences by matrix products: ‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y.

A matrix product is the fastest way to many dot products, but the difference cancels when two rows are close to each
other and far from the origin. So the rows are centred first, and every pair for which the rounding could exceed
`TOLERANCE` is computed again coordinate by coordinate. The error of ‖x − y‖² is at most (k + 6)·eps·(‖x‖ + ‖y‖)²,
where k is the length of the longest chain of additions that the product makes: all coordinates, or those of a panel
and then the panels.

Products only fill in values. Whatever decides which row is nearer uses the formula itself (`fill`).
"""

from typing import Any

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
        self._right = _centred(inner, None)
        self._left = self._right if outer is inner else _centred(outer, self._right[2])

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.product_loops import finish_products, repair_close
        from bisector.engine.loops import given

        left, left_squares, _ = self._left
        right, right_squares, _ = self._right
        part, other = left[outer.start : outer.stop], right[inner.start : inner.stop]
        products = (part @ other.T).toarray() if self.outer.sparse else part @ other.T
        place = (
            given(products),
            given(left_squares[outer.start : outer.stop]),
            given(right_squares[inner.start : inner.stop]),
            self._closest,
            out,
            row,
            column,
        )
        n_close = finish_products(self.formula, *place)
        if n_close > _MOST_AGAIN * products.size:
            super().write(outer, inner, out, row, column)
        elif n_close:
            rows = given(self.outer.dense(outer), np.float64), given(self.inner.dense(inner), np.float64)
            repair_close(self.formula, *rows, *place)


def _centred(
    rows: NumericRows, centre: NDArray[np.float64] | None
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64] | None]:
    """Return rows about a centre (by default their mean), the squares of their lengths, and the centre."""
    if rows.sparse:  # centring would fill them
        values = rows.values.astype(np.float64)
        return values, np.asarray(values.multiply(values).sum(axis=1)).ravel(), None
    if centre is None:
        centre = rows.values.mean(axis=0, dtype=np.float64) if len(rows) else np.zeros(rows.values.shape[1])
    values = rows.values - centre
    return values, np.einsum("ij,ij->i", values, values), centre
