"""Refinement of least squares: steps by an approximate factor, residuals in twice the working precision."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.progress import track
from bisector.engine.sources import Source

from .column_geometry import ColumnGeometry
from .double_double import Pair, ResidualSums, add, residual_sums, scale

Floats = NDArray[np.float64]

# Steps this small, relative to the whole, are below what is kept of any but a vanishing coefficient.
SMALLEST_STEP = 1e-20
# What the coefficients must at least be settled to; their rounding to float64 is 1e-16.
SETTLED = 1e-12
MOST_STEPS = 20


class Refined(NamedTuple):
    """The refined solution, in units of y; `gap` is the size of the last step relative to the solution."""

    coef: Floats
    intercept: Floats
    residual: Floats
    total: Floats
    gap: float
    converged: bool


def refine(
    rows: Source,
    columns: ColumnGeometry,
    mean: Floats,
    weight: float,
    start: Floats,
    unit: Floats,
    *,
    intercept: bool,
    n_jobs: int | None,
    pull: Callable[[Floats], Floats] | None = None,
) -> Refined:
    """Solve min Σw(y − a − Xb)² from a = start, b = 0 by steps in the geometry of the columns.

    Parameters
    ----------
    columns : geometry of X, centred at `mean` if there is an intercept; known to about κ·eps
    mean : column means, as far as floating point can tell
    weight : sum of the weights
    start : first intercept, near the mean of y
    unit : powers of two that y is multiplied by
    pull : half the gradient of a penalty that is added to the sum of squares, as a function of b; `columns` are
        then those of X with the rows of the penalty below them
    """
    coef = Pair(*np.zeros((2, rows.n_features, len(start))))
    offset = Pair(start * unit, np.zeros(len(start)))
    total, left, gap = np.zeros(len(start)), np.inf, np.inf
    with track("refining", total=MOST_STEPS) as bar:
        for number in range(MOST_STEPS):
            sums = map_reduce(block_sums, rows, coef, offset, unit, n_jobs=n_jobs, doing="refining")
            if number == 0:
                total = sums.rss.hi - (sums.total.hi**2 / weight if intercept else 0.0)
            gradient = sums.gradient if pull is None else add(sums.gradient, _exact(-pull(coef.hi)))
            step = _step(columns, gradient, sums.total if intercept else None, mean, weight)
            if gap <= SMALLEST_STEP or step.size > left / 2:
                break
            left = step.size
            coef, offset = add(coef, _exact(step.coef)), add(offset, _exact(step.intercept))
            gap = _relative_size(step.coef, coef.hi, columns)
            bar.advance(note=f"last step {gap:.1e}")
    return Refined(
        coef.hi, offset.hi, np.maximum(sums.rss.hi, 0.0), np.maximum(total, 0.0), gap, gap <= SETTLED
    )


class _Step(NamedTuple):
    """A change of the solution; `size` is what the fitted values see of it.

    The size shrinks by about κ·eps from step to step until only rounding is left; the coefficients' own
    change does so from the second step on.
    """

    coef: Floats
    intercept: Floats
    size: float


def _step(columns: ColumnGeometry, gradient: Pair, total: Pair | None, mean: Floats, weight: float) -> _Step:
    """Solve AᵀWA·δ = (Σwr, Σwxr) for A = [1 X], by the approximate factor; without `total`, for A = X."""
    if total is not None:  # Σw(x − x̄)r
        gradient = add(gradient, scale(Pair(total.hi[None], total.lo[None]), -mean[:, None]))
    seen = columns.project(gradient.hi)
    change = columns.combine(seen)
    shift = np.zeros(change.shape[1]) if total is None else total.hi / weight - mean @ change
    return _Step(change, shift, float(np.abs(seen).max(initial=0.0)))


def _exact(values: Floats) -> Pair:
    return Pair(values, np.zeros_like(values))


def block_sums(block: Block, coef: Pair, intercept: Pair, unit: Floats) -> ResidualSums:
    """Make the sums of residuals of one block."""
    return residual_sums(block.dense, block.targets * unit, block.weights, coef, intercept)


def _relative_size(change: Floats, whole: Floats, columns: ColumnGeometry) -> float:
    """Compare what a step changes of the fitted values with what they are, feature by feature."""
    lengths = columns.lengths[:, None]
    moved, size = np.abs(change * lengths).max(initial=0.0), np.abs(whole * lengths).max(initial=0.0)
    return float(moved / size) if size > 0 else 0.0


def refined_errors(
    rows: Source, columns: ColumnGeometry, mean: Floats, weight: float, *, intercept: bool, n_jobs: int | None
) -> Floats:
    """Return the roots of the diagonal of (AᵀWA)⁻¹ for A = [1 X], or X without intercept, of full rank.

    The factor alone gives them up to κ·eps. The cross-products S = AᵀWA are summed in twice the working
    precision, in units in which columns have about length one, and the columns of SV = I are solved by the
    same steps as the coefficients.
    """
    unit = np.ldexp(1.0, -np.frexp(columns.lengths)[1])
    columns = ColumnGeometry(columns.lengths * unit, columns.factor, columns.condition_number**2)
    mean = mean * unit
    sums = map_reduce(block_products, rows, unit, n_jobs=n_jobs, doing="refining errors")
    products = sums.gradient
    if intercept:
        corners = np.array([[weight]]), np.zeros((1, 1))
        products = Pair(
            *(
                np.block([[corner, total[None]], [total[:, None], inner]])
                for corner, total, inner in zip(corners, sums.total, sums.gradient, strict=True)
            )
        )
    identity = np.eye(len(products.hi))
    inverse, left = _exact(np.zeros_like(identity)), np.inf
    for _ in range(MOST_STEPS):
        missing = _exact(identity)
        for j in range(len(identity)):
            column = Pair(products.hi[:, j, None], products.lo[:, j, None])
            missing = add(missing, scale(column, -inverse.hi[j]))
            missing = add(missing, scale(column, -inverse.lo[j]))
        gradient = Pair(missing.hi[intercept:], missing.lo[intercept:])
        total = Pair(missing.hi[0], missing.lo[0]) if intercept else None
        step = _step(columns, gradient, total, mean, weight)
        if step.size == 0 or step.size > left / 2:
            break
        left = step.size
        inverse = add(inverse, _exact(np.vstack([step.intercept, step.coef][not intercept :])))
    return np.sqrt(np.diagonal(inverse.hi)) * (np.r_[1.0, unit] if intercept else unit)


def block_products(block: Block, unit: Floats) -> ResidualSums:
    """Make the products of the columns of one block with each other, as the sums of a fit that leaves them all."""
    X = block.dense * unit
    slopes, offsets = np.zeros((2, X.shape[1], X.shape[1])), np.zeros((2, X.shape[1]))
    return residual_sums(X, X, block.weights, (slopes[0], slopes[1]), (offsets[0], offsets[1]))
