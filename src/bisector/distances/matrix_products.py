"""Sums of squared differences by matrix products: ‖x − y‖² = ‖x‖² + ‖y‖² − 2 x·y.

A matrix product is the fastest way to many dot products, but the difference cancels when two rows are close to each
other and far from the origin. So the rows are centred first, and every pair for which the rounding could exceed
`TOLERANCE` is computed again from its rows as they came (`bisector.distances.close_pairs`). The error of ‖x − y‖²
is at most (k + 6)·eps·(‖x‖ + ‖y‖)², where k is the length of the longest chain of additions that the product makes:
all coordinates, or those of a panel and then the panels.

Products only fill in values. Whatever decides which row is nearer uses the formula itself (`fill`).
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinatePairs
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.terms import WeightedTerms

# The relative error that a distance may have when it comes from products.
TOLERANCE = 1e-12

# With fewer coordinates, computing differences is faster than the product and its repair.
FEWEST_COORDINATES = 12

# BLAS adds up panels of at most so many coordinates, and then the panels.
_PANEL = 512

# When more than this share of a tile would be computed again, all of it is.
_MOST_AGAIN = 0.05


def pay(outer: NumericRows, inner: NumericRows) -> bool:
    """Whether products, with close pairs repaired, are the faster or more accurate way to compare these rows."""
    enough = inner.values.shape[1] >= FEWEST_COORDINATES or inner.before is not None
    return enough and outer.sparse == inner.sparse


class ProductPairs(CoordinatePairs):
    """Pairs of rows whose squared distances come from dot products."""

    def __init__(self, formula: Any, again: Any, outer: NumericRows, inner: NumericRows) -> None:
        super().__init__(formula, outer, inner)
        self.again = again
        self.tile_shape = (256, 512)

    @cached_property
    def _right(self) -> "Centred":
        return _centred(self.inner, None, self.formula)

    @cached_property
    def _left(self) -> "Centred":
        if self.outer is self.inner:
            return self._right
        return _centred(self.outer, self._right.centre, self.formula)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        from bisector.distances.product_loops import finish_products
        from bisector.engine.loops import given

        left, right = self._left, self._right
        part, other = left.values[outer.start : outer.stop], right.values[inner.start : inner.stop]
        with np.errstate(over="ignore", invalid="ignore"):
            products = (part @ other.T).toarray() if self.outer.sparse else part @ other.T
        place = (given(products), left.sizes(outer), right.sizes(inner), out, row, column)
        n_close = finish_products(self.formula, *place)
        if n_close > _MOST_AGAIN * products.size and self.inner.before is None:
            super().write(outer, inner, out, row, column)
        elif n_close:
            self._repair(outer, inner, place)

    def _repair(self, outer: range, inner: range, place: tuple[Any, ...]) -> None:
        from bisector.distances.product_loops import repair_close, repair_close_entries
        from bisector.engine.loops import given

        if self.outer.sparse:
            left, right = self._entries
            repair_close_entries(self.formula, left, outer.start, right, inner.start, *place)
        else:
            rows = given(_as_it_came(self.outer).dense(outer), np.float64)
            others = given(_as_it_came(self.inner).dense(inner), np.float64)
            repair_close(self.formula, self.again, rows, others, *place)


def _as_it_came(rows: NumericRows) -> NumericRows:
    return rows if rows.before is None else rows.before


class Centred(NamedTuple):
    """Rows about a centre.

    Attributes
    ----------
    values : ndarray or CSR matrix
    centre : ndarray or None
    squares : ndarray of shape (n_rows,)
        The squares of their lengths.
    least : ndarray of shape (n_rows,)
        What each row adds to the least reduced distance for which the rounding stays within `TOLERANCE`.
    """

    values: Any
    centre: NDArray[np.float64] | None
    squares: NDArray[np.float64]
    least: NDArray[np.float64]

    def sizes(self, numbers: range) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return `squares` and `least` of consecutive rows, as loops take them."""
        from bisector.engine.loops import given

        chosen = slice(numbers.start, numbers.stop)
        return given(self.squares[chosen]), given(self.least[chosen])


def _centred(rows: NumericRows, centre: NDArray[np.float64] | None, formula: Any) -> Centred:
    """Move rows so that a centre, by default their mean, is the origin; sparse rows stay, as it would fill them."""
    scale = np.sqrt(formula.weights) if isinstance(formula, WeightedTerms) else None
    with np.errstate(over="ignore", invalid="ignore"):
        if rows.sparse:
            values = rows.values.astype(np.float64)
            values = values if scale is None else values.multiply(scale[None, :]).tocsr()
            squares = np.asarray(values.multiply(values).sum(axis=1)).ravel()
        else:
            if centre is None:
                centre = np.zeros(rows.values.shape[1])
                if len(rows):
                    rows.values.mean(axis=0, dtype=np.float64, out=centre)
            values = rows.values - centre
            values = values if scale is None else values * scale
            squares = np.einsum("ij,ij->i", values, values)
        return Centred(values, centre, squares, _least(rows, squares))


def _least(rows: NumericRows, squares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what rows add to the least reduced distance that is trusted."""
    # (‖x‖ + ‖y‖)² is at most 2(‖x‖² + ‖y‖²). An error of TOLERANCE in the square is half of it in the distance.
    n_features = rows.values.shape[1]
    chain = min(n_features, _PANEL) + -(-n_features // _PANEL)
    least = 2 * (chain + 6) * np.finfo(np.float64).eps / TOLERANCE * squares
    # And a distance is off by no more than both of its rows are; its square, by twice as much.
    return least if rows.blur is None else least + 2 * (2 * rows.blur / TOLERANCE) ** 2
