"""Ridge regression by conjugate gradients, for data of which only products with vectors can be afforded.

Solves (S + αG)W = s for all targets side by side; if the diagonal of the matrix is uneven, in units in which it is
one (Jacobi). Each step is one pass over the rows, which multiplies every block by the directions, and its
transpose by the result, while it is in cache. The certificate is the duality gap: with the gradient
g = s − (S + αG)w made anew from the rows,

    objective(w) − minimum ≤ gᵀ(αG)⁻¹g,

since S + αG is nowhere less than αG. Where Γ leaves features free, or couples them, the diagonal of S + αG stands
for αG, and the gap is an estimate.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.progress import track
from bisector.engine.sources import Source, SparseSource
from bisector.engine.validation import find_not_finite

from .column_geometry import EPS
from .ridge import RidgeSolution
from .tikhonov import Tikhonov

Floats = NDArray[np.float64]

# The gradient is made anew from the rows so many times, in case the one carried along has drifted away from it.
MOST_ROUNDS = 5
# A residual of the carried gradient this much below what is asked for leaves room for the certificate.
CAUTION = 0.3
# Diagonals within this ratio are left as they are.
UNEVEN = 100.0
# A block of sparse rows holds at least so many entries for each feature.
ENTRIES_PER_FEATURE = 8


class Sums(NamedTuple):
    """Sums over rows, one array each."""

    arrays: tuple[Any, ...]

    def merge(self, other: "Sums") -> "Sums":
        return Sums(tuple(mine + theirs for mine, theirs in zip(self.arrays, other.arrays, strict=True)))


def block_means(block: Block) -> Sums:
    """Make Σv, Σvx and Σvy of one block."""
    weight = block.weights
    return Sums((weight.sum(), np.asarray(block.X.T @ weight), weight @ block.targets))


def block_squares(block: Block, mean: Floats, mean_y: Floats) -> Sums:
    """Make Σv(x − x̄)² per column and Σv(y − ȳ)² of one block."""
    weight = block.weights
    if hasattr(block.X, "tocsr"):
        squares = np.asarray(block.X.multiply(block.X).T @ weight)
        squares = squares - 2 * mean * np.asarray(block.X.T @ weight) + weight.sum() * mean**2
    else:
        squares = weight @ np.square(block.X - mean)
    return Sums((squares, weight @ np.square(block.targets - mean_y)))


def block_direction(block: Block, directions: Floats, mean: Floats) -> Sums:
    """Make Σv(x − x̄)·p and Σvx((x − x̄)·p) of one block for every direction p."""
    along = np.asarray(block.X @ directions) - mean @ directions
    if block.sample_weight is not None:
        along *= block.sample_weight[:, None]
    return Sums((along.sum(axis=0), np.asarray(block.X.T @ along)))


def block_gradient(block: Block, coef: Floats, mean: Floats, mean_y: Floats) -> Sums:
    """Make Σvr, Σvxr and Σvr² of one block, r = y − ȳ − (x − x̄)·w."""
    left = block.targets - mean_y - (np.asarray(block.X @ coef) - mean @ coef)
    weighted = left if block.sample_weight is None else left * block.sample_weight[:, None]
    return Sums(
        (weighted.sum(axis=0), np.asarray(block.X.T @ weighted), np.einsum("ij,ij->j", left, weighted))
    )


def conjugate_gradients(
    rows: Source,
    alpha: Floats,
    penalty: Tikhonov,
    *,
    intercept: bool,
    tol: float,
    max_iter: int | None,
    n_jobs: int | None,
) -> RidgeSolution:
    """Solve until the duality gap is at most tol² of Σv(y − ȳ)²."""
    if isinstance(rows, SparseSource):
        rows = CutRows(rows)
    weight, x, y = map_reduce(block_means, rows, n_jobs=n_jobs, doing="centring").arrays
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        find_not_finite(rows)
    mean = x / weight if intercept else np.zeros_like(x)
    mean_y = y / weight if intercept else np.zeros_like(y)
    squares, total = map_reduce(block_squares, rows, mean, mean_y, n_jobs=n_jobs, doing="centring").arrays
    squares = np.maximum(squares, 0.0)
    alpha = np.broadcast_to(alpha, total.shape)
    diagonal = squares[:, None] + alpha * penalty.diagonal[:, None]
    reciprocal = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    inverse = reciprocal if _is_uneven(diagonal) else np.ones_like(diagonal)
    bound = 1 / (alpha * penalty.diagonal[:, None]) if penalty.holds_every_feature else reciprocal

    def gradient(coef: Floats) -> tuple[Floats, Floats]:
        sums = map_reduce(block_gradient, rows, coef, mean, mean_y, n_jobs=n_jobs, doing="iterating")
        surplus, inner, squared = sums.arrays
        g = inner - np.outer(mean, surplus) - alpha * penalty.pull(coef)
        return g, squared + alpha * penalty.size(coef)

    def product(p: Floats) -> Floats:
        surplus, inner = map_reduce(block_direction, rows, p, mean, n_jobs=n_jobs, doing="iterating").arrays
        found: Floats = inner - np.outer(mean, surplus) + alpha * penalty.pull(p)
        return found

    most = 10 * rows.n_features if max_iter is None else max_iter
    wanted = np.maximum(tol, EPS) ** 2 * total
    coef = np.zeros(diagonal.shape)
    iterations = np.zeros(len(total), dtype=np.int64)
    left, objective = gradient(coef)
    gap = (bound * left**2).sum(axis=0)
    with track("iterating", total=None) as bar:
        for _ in range(MOST_ROUNDS):
            if (gap <= wanted).all() or iterations.max() >= most:
                break
            steps = most - int(iterations.max())
            coef, used = _descend(coef, left, inverse, bound, CAUTION * wanted, product, steps, bar)
            iterations += used
            left, objective = gradient(coef)
            gap = (bound * left**2).sum(axis=0)
    share = np.divide(gap, total, out=np.zeros_like(gap), where=total > 0)
    return RidgeSolution(
        coef,
        mean_y - mean @ coef,
        objective,
        np.full(len(total), np.nan),
        "cg",
        float(share.max(initial=0.0)),
        iterations,
        bool((gap <= wanted).all()),
    )


def _descend(
    coef: Floats,
    left: Floats,
    inverse: Floats,
    bound: Floats,
    wanted: Floats,
    product: Any,
    steps: int,
    bar: Any,
) -> tuple[Floats, NDArray[np.int64]]:
    """Take steps of conjugate gradients until the gap seems reached; targets that are done stand still."""
    scaled = inverse * left
    direction, size = scaled, np.einsum("ij,ij->j", left, scaled)
    used = np.zeros(len(size), dtype=np.int64)
    for _ in range(steps):
        gap = (bound * left**2).sum(axis=0)
        going = (gap > wanted) & (size > 0)
        if not going.any():
            break
        image = product(direction)
        curvature = np.einsum("ij,ij->j", direction, image)
        going &= curvature > 0
        step = np.divide(size, curvature, out=np.zeros_like(size), where=going)
        coef, left = coef + step * direction, left - step * image
        scaled = inverse * left
        before, size = size, np.einsum("ij,ij->j", left, scaled)
        direction = scaled + direction * np.divide(size, before, out=np.zeros_like(size), where=going)
        used += going
        bar.advance(note=f"gap {gap.max():.1e}")
        if not going.any():
            break
    return coef, used


def _is_uneven(diagonal: Floats) -> bool:
    """Tell whether some features are much longer than others, so that conjugate gradients would be slow.

    Otherwise they are left alone: with more features than rows, the many directions that no row has then share one
    eigenvalue, which costs a single step.
    """
    return bool(diagonal.max(initial=0.0) > UNEVEN * diagonal.min(initial=np.inf))


class CutRows(SparseSource):
    """Sparse rows whose blocks are cut once, as views, since they are read again and again."""

    def __init__(self, rows: SparseSource) -> None:
        vars(self).update(vars(rows))
        vars(self).pop("boundaries", None)
        # Every block makes sums as long as a row is wide: they should be few beside its entries.
        per_row = max(1, rows.X.nnz // max(1, rows.n_rows))
        self.block_rows = max(rows.block_rows or 1, ENTRIES_PER_FEATURE * rows.n_features // per_row)
        self._pieces: dict[int, Any] = {}

    def between(self, first: int, last: int) -> Any:
        if first not in self._pieces:
            X, (start, end) = self.X, self.X.indptr[[first, last]]
            parts = X.data[start:end], X.indices[start:end], X.indptr[first : last + 1] - start
            piece = type(X)(parts, shape=(last - first, self.n_features), copy=False)
            self._pieces[first] = piece.astype(np.float64, copy=False)
        return self._pieces[first]
