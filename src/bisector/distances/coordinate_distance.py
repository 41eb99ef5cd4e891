"""Distances that are computed coordinate by coordinate, on rows of numbers.

Such a distance gives a formula (`lower`, see `bisector.distances.terms`) and, where it has one, a transformation
of the rows (`transform`) after which the formula holds: whitening for Mahalanobis, normalising for cosine.
Everything else is here, once for all of them.
"""

import math
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Pairs, Rows
from bisector.distances.numeric_rows import NumericRows, numeric_rows, numeric_vector

# Inner rows of a tile stand column-wise in a scratch array that should stay in the second-level cache.
_SCRATCH_BYTES = 2**18
_FEWEST_INNER, _MOST_INNER, _MOST_OUTER = 64, 512, 256
# Where rows are so long that a tile would exceed this size, it has fewer of them.
_MOST_BYTES = 2**26
# Sparse rows with up to so many columns are compared as dense tiles, longer ones along their nonzero entries.
_DENSE_COLUMNS = 4096


class CoordinateDistance(Distance):
    """A distance with a formula for one pair of numbers, gathered over the coordinates."""

    numeric = True

    @abstractmethod
    def lower(self, n_features: int) -> Any:
        """Return the formula for rows of so many coordinates, as compiled loops see it."""

    def transform(self, rows: NumericRows, like: NumericRows | None) -> NumericRows:
        """Return the rows for which the formula holds; by default these."""
        return rows

    def again(self, formula: Any) -> Any:
        """Return how pairs that are close are computed again, from their rows as they were before `transform`."""
        from bisector.distances.close_pairs import OfCoordinates

        return OfCoordinates(formula)

    @property
    def may_miss(self) -> bool:
        """Whether rows may lack values."""
        return False

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> NumericRows:
        rows = numeric_rows(X, like, name, missing=self.may_miss)
        return self.transform(rows, like if isinstance(like, NumericRows) else None)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        assert isinstance(outer, NumericRows)
        assert isinstance(inner, NumericRows)
        if not np.array_equal(outer.origin, inner.origin):  # type: ignore[arg-type]
            raise ValueError("Rows can only be compared when one set was prepared like the other.")
        formula = self.lower(inner.values.shape[1])
        if formula.sums_squares and not self.may_miss:
            from bisector.distances import matrix_products

            if matrix_products.pay(outer, inner):
                return matrix_products.ProductPairs(formula, self.again(formula), outer, inner)
        return CoordinatePairs(formula, outer, inner, may_miss=self.may_miss)

    def __call__(self, x: ArrayLike, y: ArrayLike) -> float:
        right = numeric_vector(y, "y", missing=self.may_miss)
        left = numeric_vector(x, "x", missing=self.may_miss)
        if left.n_features != right.n_features:
            raise ValueError(f"x has {left.n_features} coordinates, but y has {right.n_features}.")
        right = self.transform(right, None)
        left = self.transform(left, right)
        row = range(1)
        return distance_of_pair(
            self.lower(left.values.shape[1]),
            left.dense(row)[0].astype(np.float64),
            right.dense(row)[0].astype(np.float64),
            may_miss=self.may_miss,
        )


class CoordinatePairs(Pairs):
    """Pairs of rows of numbers under a formula."""

    def __init__(
        self, formula: Any, outer: NumericRows, inner: NumericRows, *, may_miss: bool = False
    ) -> None:
        self.formula = formula
        self.outer, self.inner = outer, inner
        self.shape = (len(outer), len(inner))
        self.dtype = np.result_type(outer.dtype, inner.dtype)
        self.may_miss = may_miss
        wide = inner.values.shape[1] > _DENSE_COLUMNS
        self._along_entries = wide and outer.sparse and inner.sparse and not may_miss
        row_bytes = 8 * inner.values.shape[1]
        width = min(_MOST_INNER, max(_FEWEST_INNER, _SCRATCH_BYTES // row_bytes // 64 * 64))
        most = _MOST_OUTER if self._along_entries else max(8, _MOST_BYTES // row_bytes)
        self.tile_shape = self._in_cache = (min(_MOST_OUTER, most), min(width, most))

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self._fill(outer, inner, False, out, row, column)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self._fill(outer, inner, True, out, row, column)

    def finish(self, reduced: NDArray[np.float64]) -> NDArray[np.float64]:
        from bisector.distances.tile_loops import finish_all
        from bisector.engine.loops import given

        finished = np.empty(reduced.shape)
        finish_all(self.formula, given(reduced.reshape(-1), np.float64), finished.reshape(-1))
        return finished

    def reduce(self, distance: float) -> float:
        return largest_reduced(self.formula, distance)

    def _fill(
        self, outer: range, inner: range, finished: bool, out: NDArray[Any], row: int, column: int
    ) -> None:
        height, width = self._in_cache
        for top in range(0, len(outer), height):
            for left in range(0, len(inner), width):
                part, other = outer[top : top + height], inner[left : left + width]
                self._fill_tile(part, other, finished, out, row + top, column + left)

    def _fill_tile(
        self, outer: range, inner: range, finished: bool, out: NDArray[Any], row: int, column: int
    ) -> None:
        from bisector.distances import tile_loops
        from bisector.engine.loops import given

        place = (finished, out, row, column, len(outer), len(inner))
        if self._along_entries:
            left, right = self._entries
            tile_loops.fill_sparse_tile(self.formula, left, outer.start, right, inner.start, *place)
            return
        fill = tile_loops.fill_present_tile if self.may_miss else tile_loops.fill_tile
        rows, first = _doubles(self.outer, outer)
        others, other_first = _doubles(self.inner, inner)
        fill(self.formula, given(rows), first, given(others), other_first, *place)

    @cached_property
    def _entries(self) -> tuple[Any, Any]:
        """The entries of sparse outer and inner rows, as loops take them."""
        right = _entries(self.inner.values)
        return (right if self.outer is self.inner else _entries(self.outer.values)), right


def _doubles(rows: NumericRows, numbers: range) -> tuple[NDArray[np.float64], int]:
    """Return a float64 array that holds consecutive rows, and the number of the first of them in it."""
    if rows.sparse or rows.values.dtype != np.float64:
        return rows.dense(numbers).astype(np.float64, copy=False), 0
    return rows.values, numbers.start


def _entries(rows: Any) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    from bisector.engine.loops import given

    return given(rows.data, np.float64), given(rows.indices, np.int64), given(rows.indptr, np.int64)


def largest_reduced(formula: Any, distance: float) -> float:
    """Return the largest reduced distance that finishes at no more than `distance`, so that no rounding decides."""
    if not 0 <= distance < math.inf:
        return distance

    def fits(bits: int) -> bool:
        return _or_infinite(formula.finish, _double(bits)) <= distance

    # Doubles that are not negative are ordered as the integers that their bits make. From a first guess, steps
    # grow until the answer lies between a value that fits and one that does not; then halving finds it.
    high = _bits(math.inf)
    if fits(high):  # as when the radius reaches around the globe
        return math.inf
    near, step = _bits(abs(_or_infinite(formula.reduce, distance))), 1
    while near and not fits(near):
        high, near, step = near, max(near - step, 0), 2 * step
    low, step = near, 1
    while near + step < high and fits(near + step):
        low, step = near + step, 2 * step
    high = min(high, near + step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return _double(low)


def _bits(value: float) -> int:
    return int(np.float64(value).view(np.int64))


def _double(bits: int) -> float:
    return float(np.int64(bits).view(np.float64))


def _or_infinite(function: Callable[[float], float], value: float) -> float:
    """Call a formula from Python, whose powers raise an error where compiled ones are infinite."""
    try:
        return function(value)
    except OverflowError:
        return math.inf


def distance_of_pair(
    formula: Any, x: NDArray[np.float64], y: NDArray[np.float64], *, may_miss: bool = False
) -> float:
    """Run a formula over one pair of rows in plain Python."""
    total, present, weight = 0.0, 0.0, 0.0
    try:
        for j, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
            here = float(formula.weight(j))
            weight += here
            if not (may_miss and (math.isnan(a) or math.isnan(b))):
                present += here
                total = formula.gather(total, formula.term(a, b, here))
        if may_miss:
            total = formula.rescale(total, weight, present)
        return float(formula.finish(total))
    except OverflowError:  # of a power, which is infinite in compiled loops
        return math.inf
