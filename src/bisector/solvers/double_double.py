"""Residuals of a linear fit, and the sums made from them, in twice the working precision.

A number is carried as the unevaluated sum of two float64, hi + lo with |lo| ≤ ulp(hi)/2: about 106 bits. What
a rounded sum or product loses is itself a float64, found in a few operations (Dekker 1971; Knuth 4.2.2):

- `two_sum`: a + b = s + t exactly, with s = fl(a + b);
- `two_prod`: a·b = p + e exactly, with p = fl(a·b); in loops e is one fused multiply-add.

A least squares solution is refined by solving again for what it leaves over. On ill-conditioned problems the
residual Y − a − XB cancels to its last digits, and so does Xᵀ R, which vanishes at the solution: computed in
float64 they are noise, computed as here they are right to about 2⁻¹⁰⁰ of the sum of the absolute terms.

The intercept is treated as the coefficient of a column of ones. Infinite or NaN input gives NaN; terms below
about 1e-290 lose their second half to underflow.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.intrinsics import fma
from bisector.engine.loops import given, loop

# Row i is summed in lane i % LANES, however high the tile: so many sums run side by side in vector registers.
LANES = 64
# A tile holds this many rows of few features, and fewer of many, to stay in the second-level cache.
TILE_ROWS = 256
TILE_VALUES = 131_072
# The rows of a tile: the two halves of the residual, the intercept's column of ones, then the features.
RESIDUAL, REST, ONES, FIRST_FEATURE = 0, 1, 2, 3

Array = NDArray[np.float64]


class Pair(NamedTuple):
    """Numbers hi + lo in twice the working precision; `hi` alone is the number rounded to float64."""

    hi: Array
    lo: Array


class ResidualSums(NamedTuple):
    """What one block of rows contributes to a refinement step; blocks `merge`.

    Attributes
    ----------
    gradient : Pair, shape (n_features, n_targets)
        Xᵀ W R, zero at the least squares solution.
    total : Pair, shape (n_targets,)
        Σ w R, the same for the intercept.
    rss : Pair, shape (n_targets,)
        Σ w R², the weighted sum of squared residuals.
    """

    gradient: Pair
    total: Pair
    rss: Pair

    def merge(self, other: Self) -> "ResidualSums":
        """Sum up what two blocks contribute."""
        return ResidualSums(*(add(ours, theirs) for ours, theirs in zip(self, other, strict=True)))


def residual_sums(
    X: ArrayLike,
    Y: ArrayLike,
    weight: ArrayLike,
    coef: tuple[ArrayLike, ArrayLike],
    intercept: tuple[ArrayLike, ArrayLike],
) -> ResidualSums:
    """Compute the gradient and the residual sum of squares of a linear fit on one block of rows.

    Parameters
    ----------
    X : array of shape (n_rows, n_features), float64 or float32
    Y : array of shape (n_rows, n_targets)
    weight : array of shape (n_rows,)
    coef : pair (hi, lo) of arrays of shape (n_features, n_targets)
    intercept : pair (hi, lo) of arrays of shape (n_targets,)

    Returns
    -------
    ResidualSums

    Examples
    --------
    The residual 2⁻⁷⁰ is far below the last digit of y:

    >>> import numpy as np
    >>> from bisector.solvers.double_double import residual_sums
    >>> X, Y, weight = np.ones((3, 1)), np.ones((3, 1)), np.ones(3)
    >>> coef, intercept = (np.ones((1, 1)), np.full((1, 1), -(2.0**-70))), (np.zeros(1), np.zeros(1))
    >>> residual_sums(X, Y, weight, coef, intercept).gradient.hi * 2.0**70
    array([[3.]])
    """
    block, targets, lines = _at_the_door(X, Y, coef, intercept)
    weights = given(weight, np.float64)
    if weights.shape != block.shape[:1]:
        raise ValueError(f"weight has shape {weights.shape}, where X has {len(block)} rows")
    sums = np.empty((2, FIRST_FEATURE + block.shape[1], len(lines)))
    for k, line in enumerate(lines):
        tile = _make_tile(block.shape[1])
        lanes = np.zeros((2, len(tile), LANES))
        _sum_residuals(block, given(targets[:, k]), weights, line, tile, lanes)
        sums[:, :, k] = lanes[:, :, 0]
    hi, lo = sums
    return ResidualSums(
        gradient=Pair(hi[FIRST_FEATURE:], lo[FIRST_FEATURE:]),
        total=Pair(hi[ONES], lo[ONES]),
        rss=add((hi[RESIDUAL], lo[RESIDUAL]), (hi[REST], lo[REST])),
    )


def residuals(
    X: ArrayLike, Y: ArrayLike, coef: tuple[ArrayLike, ArrayLike], intercept: tuple[ArrayLike, ArrayLike]
) -> Pair:
    """Compute Y − intercept − X coef for each row; with Y = 0, the negative of the fitted values.

    Parameters
    ----------
    X, Y, coef, intercept
        As for `residual_sums`.

    Returns
    -------
    Pair, shape (n_rows, n_targets)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.double_double import residuals
    >>> tenth = np.array([[0.1]])
    >>> residuals(tenth, tenth * 0.1, (tenth, np.zeros((1, 1))), (np.zeros(1), np.zeros(1))).hi
    array([[8.32667268e-19]])
    """
    block, targets, lines = _at_the_door(X, Y, coef, intercept)
    left = np.empty((len(lines), 2, len(block)))
    for k, line in enumerate(lines):
        _subtract_fit(block, given(targets[:, k]), line, _make_tile(block.shape[1]), left[k])
    return Pair(left[:, 0].T, left[:, 1].T)


def add(a: tuple[Array, Array], b: tuple[Array, Array]) -> Pair:
    """Add two pairs, elementwise; the relative error is below 2⁻¹⁰⁴ if signs agree.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.double_double import add
    >>> one, tiny, zero = np.array([1.0]), np.array([1e-25]), np.array([0.0])
    >>> add(add((one, zero), (tiny, zero)), (-one, zero)).hi
    array([1.e-25])
    """
    with np.errstate(invalid="ignore", over="ignore"):
        hi, lost = two_sum(a[0], b[0])
        lo, lost_below = two_sum(a[1], b[1])
        hi, lo = _renormalise(hi, lost + lo)
        return Pair(*_renormalise(hi, lo + lost_below))


def scale(pair: tuple[Array, Array], factor: ArrayLike) -> Pair:
    """Multiply a pair by a float64, elementwise.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.double_double import scale
    >>> tenth = np.array([0.1]), np.array([0.0])
    >>> scale(tenth, 3.0)
    Pair(hi=array([0.3]), lo=array([-2.77555756e-17]))
    """
    factor = np.asarray(factor, dtype=np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        hi, lost = two_prod(pair[0], factor)
        return Pair(*_renormalise(hi, lost + pair[1] * factor))


def two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    """Return fl(a + b) and what the rounding lost, for numbers or arrays."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def two_prod(a: Any, b: Any) -> tuple[Any, Any]:
    """Return fl(a·b) and what the rounding lost, for numbers or arrays below 2⁹⁹⁶ in magnitude."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def _halves(a: Any) -> tuple[Any, Any]:
    """Split a float64 into two numbers of 26 bits, so that products of them are exact."""
    shifted = 134217729.0 * a  # 2²⁷ + 1
    high = shifted - (shifted - a)
    return high, a - high


def _renormalise(hi: Any, lo: Any) -> tuple[Any, Any]:
    """Make |lo| ≤ ulp(hi)/2 again, given that |lo| is not above |hi|."""
    total = hi + lo
    return total, lo - (total - hi)


def _at_the_door(
    X: ArrayLike, Y: ArrayLike, coef: tuple[ArrayLike, ArrayLike], intercept: tuple[ArrayLike, ArrayLike]
) -> tuple[NDArray[Any], Array, list[Array]]:
    """Bring a block into the loops' form: per target one line, intercept and coefficients as (hi, lo)."""
    block, targets = given(X), given(Y, np.float64)
    if block.dtype.kind != "f":
        block = given(block, np.float64)
    slopes, offsets = np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    # Compiled code would read beyond the end of arrays that do not fit together.
    if (
        block.ndim != 2
        or targets.ndim != 2
        or len(targets) != len(block)
        or slopes.shape != (2, block.shape[1], targets.shape[1])
        or offsets.shape != (2, targets.shape[1])
    ):
        raise ValueError(
            f"shapes do not fit together: X {block.shape}, Y {targets.shape}, "
            f"coef pair {slopes.shape}, intercept pair {offsets.shape}"
        )
    lines = np.concatenate([offsets[:, np.newaxis], slopes], axis=1)
    return block, targets, [given(lines[:, :, k]) for k in range(targets.shape[1])]


def _make_tile(n_features: int) -> Array:
    """Allocate a tile, in which columns are stored as rows.

    Each target has its own: what a tile's end keeps from earlier rows is multiplied by zero, and must not be
    another target's NaN.
    """
    height = LANES * max(1, min(TILE_ROWS, TILE_VALUES // (FIRST_FEATURE + n_features)) // LANES)
    tile = np.zeros((FIRST_FEATURE + n_features, height))
    tile[ONES] = 1.0
    return tile


_two_sum = loop(two_sum)
_renormalised = loop(_renormalise)


@loop
def _add_product(hi: float, lo: float, x: float, y_hi: float, y_lo: float) -> tuple[float, float]:
    """Return (hi, lo) + x·(y_hi, y_lo)."""
    product = x * y_hi
    lost = fma(x, y_lo, fma(x, y_hi, -product))
    total, lost_above = _two_sum(hi, product)
    return _renormalised(total, lost_above + (lo + lost))


@loop
def _load_columns(rows: NDArray[Any], columns: Array) -> None:
    """Transpose some rows of X, so that the loops below run over rows side by side."""
    for j in range(rows.shape[1]):
        for i in range(rows.shape[0]):
            columns[j, i] = rows[i, j]


@loop
def _subtract_columns(columns: Array, line_hi: Array, line_lo: Array, hi: Array, lo: Array) -> None:
    """Subtract each column times its coefficient from the vector (hi, lo)."""
    for j in range(columns.shape[0]):
        slope_hi, slope_lo = -line_hi[j], -line_lo[j]
        for i in range(hi.size):
            hi[i], lo[i] = _add_product(hi[i], lo[i], columns[j, i], slope_hi, slope_lo)


@loop
def _fill_tile(X: NDArray[Any], y: Array, first: int, line: Array, tile: Array) -> int:
    """Bring the rows from `first` on, with their residuals, into the tile; return how many they are."""
    rows = X[first : first + tile.shape[1]]
    count = rows.shape[0]
    _load_columns(rows, tile[FIRST_FEATURE:])
    for i in range(count):
        tile[RESIDUAL, i], tile[REST, i] = y[first + i], 0.0
    _subtract_columns(tile[ONES:], line[0], line[1], tile[RESIDUAL, :count], tile[REST, :count])
    return count


@loop
def _subtract_fit(X: NDArray[Any], y: Array, line: Array, tile: Array, left: Array) -> None:
    for first in range(0, y.size, tile.shape[1]):
        count = _fill_tile(X, y, first, line, tile)
        for i in range(count):
            left[0, first + i], left[1, first + i] = tile[RESIDUAL, i], tile[REST, i]


@loop
def _weigh(weight: Array, hi: Array, lo: Array, weighted: Array) -> None:
    """Multiply the residuals (hi, lo) by their weights; rows of the tile past the last weigh nothing."""
    for i in range(weight.size):
        weighted[0, i], weighted[1, i] = _add_product(0.0, 0.0, weight[i], hi[i], lo[i])
    for i in range(weight.size, weighted.shape[1]):
        weighted[0, i], weighted[1, i] = 0.0, 0.0


@loop
def _sum_columns(columns: Array, hi: Array, lo: Array, sums_hi: Array, sums_lo: Array) -> None:
    """Add each column's products with the vector (hi, lo) to its sums, lane by lane."""
    for j in range(columns.shape[0]):
        for i in range(columns.shape[1]):
            for lane in range(LANES):
                sums_hi[j, lane], sums_lo[j, lane] = _add_product(
                    sums_hi[j, lane], sums_lo[j, lane], columns[j, i, lane], hi[i, lane], lo[i, lane]
                )


@loop
def _fold_lanes(sums_hi: Array, sums_lo: Array) -> None:
    """Add the upper half of the lanes to the lower one until the first lane holds the sum."""
    for j in range(sums_hi.shape[0]):
        width = LANES // 2
        while width > 0:
            for lane in range(width):
                sums_hi[j, lane], sums_lo[j, lane] = _add_product(
                    sums_hi[j, lane],
                    sums_lo[j, lane],
                    1.0,
                    sums_hi[j, lane + width],
                    sums_lo[j, lane + width],
                )
            width //= 2


@loop
def _sum_residuals(X: NDArray[Any], y: Array, weight: Array, line: Array, tile: Array, lanes: Array) -> None:
    """Sum the weighted residuals times each row of the tile, the residuals themselves included."""
    side_by_side = (tile.shape[1] // LANES, LANES)
    columns = tile.reshape((tile.shape[0],) + side_by_side)
    weighted = np.empty((2, tile.shape[1]))
    hi, lo = weighted[0].reshape(side_by_side), weighted[1].reshape(side_by_side)
    for first in range(0, y.size, tile.shape[1]):
        count = _fill_tile(X, y, first, line, tile)
        _weigh(weight[first : first + count], tile[RESIDUAL], tile[REST], weighted)
        _sum_columns(columns, hi, lo, lanes[0], lanes[1])
    _fold_lanes(lanes[0], lanes[1])


def warm() -> None:
    """Compile the loops of this module for the types they meet."""
    for dtype in (np.float32, np.float64):
        X, Y = np.ones((1, 1), dtype), np.ones((1, 1))
        coef, intercept = (np.ones((1, 1)), np.zeros((1, 1))), (np.zeros(1), np.zeros(1))
        residuals(X, Y, coef, intercept)
        residual_sums(X, Y, np.ones(1), coef, intercept)
