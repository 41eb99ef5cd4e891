"""Refinement of least squares: steps by an approximate factor, residuals in twice the working precision."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import as_columns
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
) -> Refined:
    """Solve min Σw(y − a − Xb)² from a = start, b = 0 by steps in the geometry of the columns.

    Parameters
    ----------
    columns : geometry of X, centred at `mean` if there is an intercept; known to about κ·eps
    mean : column means, as far as floating point can tell
    weight : sum of the weights
    start : first intercept, near the mean of y
    unit : powers of two that y is multiplied by
    """
    coef = Pair(*np.zeros((2, rows.n_features, len(start))))
    offset = Pair(start * unit, np.zeros(len(start)))
    total, left, gap = np.zeros(len(start)), np.inf, np.inf
    with track("refining", total=MOST_STEPS) as bar:
        for step in range(MOST_STEPS):
            sums = map_reduce(block_sums, rows, coef, offset, unit, n_jobs=n_jobs, doing="refining")
            if step == 0:
                total = sums.rss.hi - (sums.total.hi**2 / weight if intercept else 0.0)
            gradient = _centred(sums, mean) if intercept else sums.gradient
            # The step as the fitted values see it: it shrinks by about κ·eps each time, the coefficients'
            # own change only from the second step on, until nothing but rounding is left.
            seen = columns.project(gradient.hi)
            was_left, left = left, float(np.abs(seen).max(initial=0.0))
            if gap <= SMALLEST_STEP or left > was_left / 2:
                break
            change = columns.combine(seen)
            coef = add(coef, (change, np.zeros_like(change)))
            gap = _relative_size(change, coef.hi, columns)
            if intercept:
                shift = sums.total.hi / weight - mean @ change
                offset = add(offset, (shift, np.zeros_like(shift)))
            bar.advance(note=f"last step {gap:.1e}")
    return Refined(
        coef.hi, offset.hi, np.maximum(sums.rss.hi, 0.0), np.maximum(total, 0.0), gap, gap <= SETTLED
    )


def _centred(sums: ResidualSums, mean: Floats) -> Pair:
    """Return Σw(x − x̄)r from Σwxr and Σwr."""
    total = Pair(sums.total.hi[None, :], sums.total.lo[None, :])
    return add(sums.gradient, scale(total, -mean[:, None]))


def block_sums(block: Block, coef: Pair, intercept: Pair, unit: Floats) -> ResidualSums:
    """Make the sums of residuals of one block."""
    X = block.X.toarray() if hasattr(block.X, "tocsr") else block.X
    Y = as_columns(block.y, len(X)) * unit
    weight = np.ones(len(X)) if block.sample_weight is None else block.sample_weight
    return residual_sums(X, Y, weight, coef, intercept)


def _relative_size(change: Floats, whole: Floats, columns: ColumnGeometry) -> float:
    """Compare what a step changes of the fitted values with what they are, feature by feature."""
    lengths = columns.lengths[:, None]
    moved, size = np.abs(change * lengths).max(initial=0.0), np.abs(whole * lengths).max(initial=0.0)
    return float(moved / size) if size > 0 else 0.0


def refined_inverse(
    rows: Source, columns: ColumnGeometry, mean: Floats, weight: float, *, intercept: bool, n_jobs: int | None
) -> Floats:
    """Return (AᵀWA)⁻¹ for A = [1 X], or X without intercept, whose columns are independent.

    The factor gives it up to κ·eps. The cross-products S = AᵀWA, summed in twice the working precision, tell
    what is missing, and a step of Newton's method, V ← V + V(I − SV), squares the error.
    """
    sums = map_reduce(block_products, rows, n_jobs=n_jobs, doing="refining errors")
    hi, lo = sums.gradient
    inverse = columns.root @ columns.root.T
    if intercept:
        hi, lo = (
            np.block([[np.full((1, 1), corner), total[None]], [total[:, None], inner]])
            for corner, total, inner in zip((weight, 0.0), sums.total, sums.gradient, strict=True)
        )
        of_mean = inverse @ mean
        inverse = np.block(
            [[np.full((1, 1), 1 / weight + mean @ of_mean), -of_mean[None]], [-of_mean[:, None], inverse]]
        )
    identity = np.eye(len(inverse))
    for _ in range(2):
        missing = Pair(identity, np.zeros_like(identity))
        for j, row in enumerate(inverse):
            missing = add(missing, scale(Pair(hi[:, j, None], lo[:, j, None]), -row))
        inverse = inverse + inverse @ missing.hi
    return (inverse + inverse.T) / 2


def block_products(block: Block) -> ResidualSums:
    """Make the products of the columns of one block with each other, as the sums of a fit that leaves them all."""
    X = block.X.toarray() if hasattr(block.X, "tocsr") else block.X
    weight = np.ones(len(X)) if block.sample_weight is None else block.sample_weight
    slopes, offsets = np.zeros((2, X.shape[1], X.shape[1])), np.zeros((2, X.shape[1]))
    return residual_sums(X, X, weight, (slopes[0], slopes[1]), (offsets[0], offsets[1]))
