"""Least squares: min over a, b of Σᵢ wᵢ(yᵢ − a − b·xᵢ)², on data of any size and any conditioning.

One pass gathers the moments. If the equilibrated columns are far from dependent (condition number κ ≤ 1000),
the normal equations Sb = s are solved by Cholesky: they lose twice the digits of κ, so at least ten remain.
Otherwise a blocked QR decomposition gives the factor R, and the solution is refined,

    b ← b + (RᵀR)⁺Xᵀ(y − a − Xb),

with residuals and their products carried in twice the working precision. R is off by rounding only, so each
step gains about −log₁₀(κ·eps) digits, and the limit is the least-squares solution of the data as given, of
least length if it is not unique. The last step's size is the proof: it bounds what further steps would change.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block, as_columns
from bisector.engine.map_reduce import map_reduce
from bisector.engine.memory import budget, readable, require
from bisector.engine.moments import Coordinates, Moments, first_coordinates, moments
from bisector.engine.sources import Source, SparseSource
from bisector.engine.threads import one_blas_thread, threads_for
from bisector.engine.validation import find_not_finite

from .blocked_qr import blocked_qr
from .column_geometry import EPS, ColumnGeometry, column_norms

Floats = NDArray[np.float64]

# Below this share of the total, the residual sum of squares taken from moments is mostly rounding.
NEARLY_PERFECT = 1e-6
# So many products in twice the working precision take some tenths of a second.
CHEAP_PRODUCTS = 2e8


@dataclass(frozen=True)
class LeastSquares:
    """The solution, with what its inference and its diagnosis need.

    Attributes
    ----------
    coef : (n_features, n_targets)
    intercept : (n_targets,)
    columns : geometry of the (centred) columns; None if there were too many to compare with each other
    mean : (n_features,) column means, or zeros without intercept
    n_rows : rows with a positive weight
    weight : sum of the weights; the number of rows if there are none
    residual_norm, total_norm : (n_targets,) root of Σwr² and of Σw(y−ȳ)² (Σwy² without intercept)
    method : "cholesky", "qr", "lsmr" or "nnls"
    gap : bound on, or estimate of, the relative error of the coefficients
    converged : whether the gap is as small as the method promises
    errors : standard errors of the coefficients for residuals of variance one, the intercept first, where the
        factor alone would lose digits of them
    """

    coef: Floats
    intercept: Floats
    columns: ColumnGeometry | None
    mean: Floats
    n_rows: int
    weight: float
    residual_norm: Floats
    total_norm: Floats
    method: str
    gap: float
    converged: bool
    errors: Floats | None = None


def least_squares(
    rows: Source, *, intercept: bool = True, tol: float = 1e-6, n_jobs: int | None = None
) -> LeastSquares:
    """Solve the least-squares problem of a source with targets.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.least_squares import least_squares
    >>> found = least_squares(source(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])))
    >>> found.coef.ravel(), found.intercept
    (array([2.]), array([1.]))
    """
    n_jobs = threads_for(n_jobs)
    if isinstance(rows, SparseSource) and _gram_bytes(rows, n_jobs) > budget():
        return _iterative(rows, intercept, tol)
    if rows.n_rows > rows.n_features + intercept:
        # One BLAS thread: the factor takes a fraction of the pass over the data, and threads that wait for each
        # other on a busy machine can take many times that.
        with one_blas_thread:
            found = gather(rows, n_jobs)
            solved = _by_moments(rows, found, intercept, n_jobs)
        if solved is not None:
            return solved
        of_x, of_y = found.of_x, found.of_y
    else:
        of_x, of_y = first_coordinates(rows)
    return _by_qr(rows, of_x, of_y, intercept, n_jobs)


def gather(rows: Source, n_jobs: int | None) -> Moments:
    """Gather the moments, if there is memory for them."""
    d = rows.n_features
    require(
        _gram_bytes(rows, n_jobs),
        doing=f"least squares on {d:,} features",
        holding=f"products of every two of them ({readable(8 * d * d)} a copy)",
        instead="choose among the features first, or pass them as a sparse matrix",
    )
    return moments(rows, n_jobs=n_jobs)


def _gram_bytes(rows: Source, n_jobs: int | None) -> int:
    copies = 2 + threads_for(n_jobs) + rows.n_blocks.bit_length()
    return 8 * rows.n_features**2 * copies


# Few dependencies between the columns: normal equations


def _by_moments(rows: Source, found: Moments, intercept: bool, n_jobs: int | None) -> LeastSquares | None:
    scatter, xy, yy = found.about_mean() if intercept else found.about_zero()
    lengths = column_lengths(found, scatter, intercept)
    columns = ColumnGeometry.from_scatter(scatter, lengths, found.of_x.scale)
    if columns is None:
        return None
    gradient = xy / found.of_x.scale[:, None]
    coef = columns.solve(gradient)
    residual = yy - np.einsum("ij,ij->j", coef, gradient)
    return _solution(rows, found, columns, coef, residual, yy, intercept, n_jobs)


def decomposed_least_squares(
    rows: Source, *, intercept: bool = True, n_jobs: int | None = None
) -> LeastSquares:
    """Fit every feature alone, bⱼ = σⱼᵧ/σⱼⱼ, as if the columns were uncorrelated (Flach, Equation 7.2)."""
    found = gather(rows, n_jobs)
    scatter, xy, yy = found.about_mean() if intercept else found.about_zero()
    unit = found.of_x.scale[:, None]
    columns = ColumnGeometry.uncorrelated(column_lengths(found, scatter, intercept) / found.of_x.scale)
    coef = columns.solve(xy / unit)
    residual = yy - np.einsum("ij,ij->j", coef / unit, 2 * xy - scatter @ (coef / unit))
    return _solution(rows, found, columns, coef, residual, yy, intercept, n_jobs)


def _solution(
    rows: Source,
    found: Moments,
    columns: ColumnGeometry,
    coef: Floats,
    residual: Floats,
    total: Floats,
    intercept: bool,
    n_jobs: int | None,
) -> LeastSquares:
    """Gather what belongs to coefficients that were found, with their sums of squares, in units of y."""
    unit = found.of_y.scale
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large for a number the estimator refuses
        coef = coef / unit
        offset = found.mean_y - found.mean_x @ coef if intercept else np.zeros(coef.shape[1])
    if (residual <= NEARLY_PERFECT * total).any():
        residual = residual_squares(rows, coef, offset, unit, n_jobs)
    return LeastSquares(
        coef,
        offset,
        columns,
        found.mean_x if intercept else np.zeros(rows.n_features),
        found.n_rows,
        found.weight,
        np.sqrt(np.maximum(residual, 0.0)) / unit,
        np.sqrt(total) / unit,
        method="cholesky",
        gap=EPS * (columns.squared_condition or 0.0),
        converged=True,
    )


def column_lengths(found: Moments, scatter: Floats, intercept: bool) -> Floats:
    """Return the lengths of the columns, in units of the coordinates; zero where rounding is all that varies."""
    lengths = np.sqrt(np.maximum(np.diagonal(scatter), 0.0))
    if intercept:
        lengths[is_constant(lengths / found.of_x.scale, found.mean_x, found.weight)] = 0.0
    return lengths


def is_constant(lengths: Floats, mean: Floats, weight: float) -> NDArray[np.bool_]:
    """Tell which columns vary by no more than the rounding of their own values."""
    return lengths <= 4 * EPS * np.abs(mean) * np.sqrt(weight)


class Squares(NamedTuple):
    """Weighted sums of squared residuals, one a target."""

    squares: Floats

    def merge(self, other: "Squares") -> "Squares":
        return Squares(self.squares + other.squares)


def residual_squares(
    rows: Source, coef: Floats, intercept: Floats, unit: Floats, n_jobs: int | None
) -> Floats:
    """Return Σwr² for each target, in units of y, by a pass over the data."""
    found = map_reduce(
        block_residuals, rows, coef, intercept, unit, n_jobs=n_jobs, doing="measuring residuals"
    )
    return found.squares


def block_residuals(block: Block, coef: Floats, intercept: Floats, unit: Floats) -> Squares:
    """Make the sums of squared residuals of one block, in units of y."""
    left = (block.targets - intercept - block.X @ coef) * unit
    if block.sample_weight is not None:
        left *= np.sqrt(block.sample_weight)[:, None]
    return Squares(np.einsum("ij,ij->j", left, left))


def nonnegative(rows: Source, free: LeastSquares, *, n_jobs: int | None = None) -> LeastSquares:
    """Take the free solution b* to the best one without negative coefficients.

    Since ‖y − Xb‖² = ‖y − Xb*‖² + ‖X(b − b*)‖², the nearest point to b* in the geometry of the columns is it.
    """
    from .nonnegative import nonnegative_least_squares

    columns = free.columns
    if columns is None:
        raise MemoryError(
            f"Coefficients without negative ones need the products of all {rows.n_features:,} features, which "
            "exceed the memory budget: choose among the features first."
        )
    active, lengths = columns.active, columns.lengths[columns.active, None]
    wanted = columns.factor @ (free.coef[active] * lengths)
    coef = np.zeros_like(free.coef)
    unit = np.ldexp(1.0, -np.frexp(free.total_norm)[1])
    for target in range(coef.shape[1]):
        found = nonnegative_least_squares(columns.factor, wanted[:, target] * unit[target])
        coef[active, target] = found.solution / unit[target] / lengths[:, 0]
    intercept = free.intercept + free.mean @ (free.coef - coef)
    squares = residual_squares(rows, coef, intercept, unit, n_jobs)
    return replace(free, coef=coef, intercept=intercept, residual_norm=np.sqrt(squares) / unit, method="nnls")


# Many or exact dependencies: QR and refinement


def _by_qr(
    rows: Source, of_x: Coordinates, of_y: Coordinates, intercept: bool, n_jobs: int | None
) -> LeastSquares:
    from .refinement import refine, refined_errors

    d = rows.n_features
    require(
        8 * (d + 1) * min(rows.n_rows, d + 1) * (4 + 2 * threads_for(n_jobs)),
        doing=f"least squares on {rows.n_rows:,} rows of {d:,} dependent features",
        instead="choose among the features first, or use a penalty such as Ridge",
    )
    rows = rows.in_dense_blocks()
    if not intercept:
        of_x = Coordinates(np.zeros(d), of_x.scale)
    factor = blocked_qr(rows, of_x, intercept=intercept, n_jobs=n_jobs)
    if not np.isfinite(factor.rows).all():
        find_not_finite(rows)
        raise ValueError("X has values too large to be multiplied: divide its columns by a power of ten.")
    if intercept:
        mean = of_x.shift + factor.rows[0, 1:] / factor.rows[0, 0] / of_x.scale
        inner = factor.rows[1:, 1:]
        constant = is_constant(column_norms(inner) / of_x.scale, mean, factor.weight)
        columns = ColumnGeometry.from_rows(inner, of_x.scale, constant)
    else:
        mean = np.zeros(d)
        columns = ColumnGeometry.from_rows(factor.rows, of_x.scale, np.zeros(d, dtype=bool))
    start = of_y.shift if intercept else np.zeros_like(of_y.shift)
    found = refine(rows, columns, mean, factor.weight, start, of_y.scale, intercept=intercept, n_jobs=n_jobs)
    if not np.isfinite(found.residual).all():
        find_not_finite(rows)
    errors = None
    independent = columns.is_full and len(columns.active) == d
    if independent and columns.condition_number > 1e5 and rows.n_rows * d * d <= CHEAP_PRODUCTS:
        errors = refined_errors(rows, columns, mean, factor.weight, intercept=intercept, n_jobs=n_jobs)
    with np.errstate(over="ignore"):
        coef, offset = found.coef / of_y.scale, found.intercept / of_y.scale
    return LeastSquares(
        coef,
        offset,
        columns,
        mean,
        factor.n_rows,
        factor.weight,
        np.sqrt(found.residual) / of_y.scale,
        np.sqrt(found.total) / of_y.scale,
        method="qr",
        gap=found.gap,
        converged=found.converged,
        errors=errors,
    )


# Sparse data with more columns than can be compared with each other: an iterative method


def _iterative(rows: SparseSource, intercept: bool, tol: float) -> LeastSquares:
    """Solve by LSMR (Fong and Saunders 2011), which only multiplies with X; from zero, so of least length."""
    from scipy.sparse.linalg import LinearOperator, lsmr

    X, Y = rows.X.astype(np.float64, copy=False), as_columns(rows.y, rows.n_rows).astype(np.float64)
    find_not_finite(rows)
    weight = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
    root, total = np.sqrt(weight), float(weight.sum())
    d = rows.n_features
    mean, start = (
        (X.T @ weight / total, weight @ Y / total) if intercept else (np.zeros(d), np.zeros(Y.shape[1]))
    )
    centred = LinearOperator(
        X.shape,
        matvec=lambda b: root * (X @ b.ravel() - mean @ b.ravel()),
        rmatvec=lambda r: X.T @ (root * r.ravel()) - mean * (root @ r.ravel()),
        dtype=np.float64,
    )
    targets = root[:, None] * (Y - start)
    solved = [lsmr(centred, target, atol=tol, btol=tol, maxiter=10 * max(X.shape)) for target in targets.T]
    coef = np.column_stack([one[0] for one in solved])
    return LeastSquares(
        coef,
        start - mean @ coef if intercept else start,
        None,
        mean,
        int(np.count_nonzero(weight)),
        total,
        np.array([one[3] for one in solved]),
        np.linalg.norm(targets, axis=0),
        method="lsmr",
        gap=max(one[4] / max(one[3] * one[5], np.finfo(float).tiny) for one in solved),
        converged=all(one[1] in (0, 1, 2, 4, 5) for one in solved),
    )
