"""Ridge regression: min over a, w of Σᵢ vᵢ(yᵢ − a − w·xᵢ)² + α‖Γw‖², the intercept a free of penalty.

This is least squares on the centred rows with the rows of √αΓ below them, and is solved as such. With S and s
the centred products of the features with each other and with y, the solution has

    (S + αΓᵀΓ)w = s.

- Tall data: one pass gathers S and s; the matrix, in units in which its diagonal is one, is factorised by Cholesky
  if its condition number is at most 10⁶, so that at least ten digits remain. Otherwise the triangular factor of
  the rows comes from a blocked QR decomposition, and the solution is refined with residuals in twice the working
  precision, as for least squares.
- Fewer rows than features: the same solution from the products of rows with rows (`ridge_dual`).
- Sparse data too wide for either, or where asked for: conjugate gradients (`ridge_iterative`), whose certificate is
  the duality gap.

With α = 0 it is the least-squares solution, of least length if there are many.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bisector.engine.memory import budget, require
from bisector.engine.moments import Coordinates, Moments, moments
from bisector.engine.sources import Source, SparseSource
from bisector.engine.threads import one_blas_thread, threads_for
from bisector.engine.validation import find_not_finite

from .blocked_qr import TriangularFactor, blocked_qr
from .column_geometry import EPS, LARGEST_SAFE_CONDITION, ColumnGeometry, column_norms
from .least_squares import column_lengths, is_constant, least_squares, residual_squares
from .tikhonov import Tikhonov

if TYPE_CHECKING:
    from .ridge_dual import DualRidge

Floats = NDArray[np.float64]
Method = Literal["auto", "cholesky", "svd", "iterative"]

# Conjugate gradients are counted on to need so many products with X and its transpose.
USUAL_STEPS = 100
# So many times a factorisation holds the matrix, counted generously and alike for any number of threads.
COPIES = 6
# Up to so many rows and columns, a matrix is factorised on one thread.
SMALL = 1024
# What one core does in a second: operations of dense factorisations, and on sparse entries.
DENSE_RATE, SPARSE_RATE = 3e10, 5e8


@dataclass(frozen=True)
class RidgeSolution:
    """The solution with its proof.

    Attributes
    ----------
    coef : (n_features, n_targets)
    intercept : (n_targets,)
    objective : (n_targets,) Σv(y − a − w·x)² + α‖Γw‖², up to the rounding of Σv(y − ȳ)²
    degrees_of_freedom : (n_targets,) trace of the matrix that takes targets to fitted values; NaN where it was not
        made
    method : "cholesky", "qr", "svd", "nnls", "cg", or that of least squares if α = 0
    gap : estimate of the relative error of the coefficients; by conjugate gradients, a bound on how much of
        Σv(y − ȳ)² the objective lies above its minimum
    iterations : (n_targets,) steps of conjugate gradients, or None
    converged : whether the gap is as small as the method promises
    """

    coef: Floats
    intercept: Floats
    objective: Floats
    degrees_of_freedom: Floats
    method: str
    gap: float
    iterations: NDArray[np.int64] | None = None
    converged: bool = True

    def with_targets(self, chosen: NDArray[np.bool_], other: "RidgeSolution") -> "RidgeSolution":
        """Take the chosen targets from another solution; method and gap are those of the less certain one."""
        worse = max(self, other, key=lambda one: one.gap)
        return RidgeSolution(
            np.where(chosen, other.coef, self.coef),
            np.where(chosen, other.intercept, self.intercept),
            np.where(chosen, other.objective, self.objective),
            np.where(chosen, other.degrees_of_freedom, self.degrees_of_freedom),
            worse.method,
            worse.gap,
            converged=self.converged and other.converged,
        )


def ridge(
    rows: Source,
    alpha: Floats,
    penalty: Tikhonov | None = None,
    *,
    intercept: bool = True,
    method: Method = "auto",
    positive: bool = False,
    tol: float = 1e-4,
    max_iter: int | None = None,
    design: "PrimalRidge | DualRidge | None" = None,
    n_jobs: int | None = None,
) -> RidgeSolution:
    """Solve the ridge problem of a source with targets.

    Parameters
    ----------
    alpha : (n_targets,) strength of the penalty for each target, or (1,) for all of them
    penalty : what is squared, by default the coefficients themselves
    method : "auto"; "cholesky" or "svd" for a direct method, the latter without normal equations; "iterative"
    positive : whether coefficients must not be negative
    tol, max_iter : for conjugate gradients
    design : what `prepare` made of the same rows before

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.ridge import ridge
    >>> rows = source(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0]))
    >>> found = ridge(rows, np.array([2.0]))
    >>> found.coef.ravel(), found.intercept
    (array([1.]), array([3.]))
    """
    penalty = Tikhonov.plain(rows.n_features) if penalty is None else penalty
    strengths = np.unique(alpha)
    if method == "auto" and not positive and (strengths > 0).all() and _iteration_pays(rows):
        method = "iterative"
    if method == "iterative" and (strengths > 0).all():
        from .ridge_iterative import conjugate_gradients

        return conjugate_gradients(
            rows, alpha, penalty, intercept=intercept, tol=tol, max_iter=max_iter, n_jobs=n_jobs
        )
    joined: RidgeSolution | None = None
    for strength in strengths:
        if strength == 0 and not positive:
            solved = _without_penalty(rows, intercept, n_jobs)
        else:
            if design is None:
                design = prepare(rows, penalty, intercept=intercept, positive=positive, n_jobs=n_jobs)
            solved = design.solve(float(strength), method, positive)
        joined = solved if joined is None else joined.with_targets(alpha == strength, solved)
    assert joined is not None
    return joined


def prepare(
    rows: Source, penalty: Tikhonov, *, intercept: bool, positive: bool = False, n_jobs: int | None = None
) -> "PrimalRidge | DualRidge":
    """Gather what serves every strength of the penalty, from features or, if these are more, from rows."""
    if by_rows(rows, penalty) and not positive:
        from .ridge_dual import DualRidge

        return DualRidge.of(rows, penalty, intercept=intercept, n_jobs=n_jobs)
    return PrimalRidge.of(rows, penalty, intercept=intercept, n_jobs=n_jobs)


def by_rows(rows: Source, penalty: Tikhonov) -> bool:
    """Tell whether products of rows with rows are fewer than those of features with features, and enough."""
    return rows.n_rows < rows.n_features and penalty.holds_every_feature


def _iteration_pays(rows: Source) -> bool:
    """Tell whether conjugate gradients on sparse data are expected to be faster than a factorisation."""
    if not isinstance(rows, SparseSource):
        return False
    smaller = min(rows.n_rows, rows.n_features)
    held = 8 * smaller**2 * COPIES
    if held > 64e6 and held > budget():
        return True
    nnz = rows.X.nnz
    products = nnz**2 / max(1, rows.n_rows if smaller == rows.n_features else rows.n_features)
    return products / SPARSE_RATE + smaller**3 / DENSE_RATE > USUAL_STEPS * 2 * nnz / SPARSE_RATE


def _without_penalty(rows: Source, intercept: bool, n_jobs: int | None) -> RidgeSolution:
    found = least_squares(rows, intercept=intercept, n_jobs=n_jobs)
    rank = np.nan if found.columns is None else found.columns.rank + intercept
    return RidgeSolution(
        found.coef,
        found.intercept,
        found.residual_norm**2,
        np.full(len(found.intercept), float(rank)),
        found.method,
        found.gap,
        converged=found.converged,
    )


def blas_threads(size: int) -> AbstractContextManager[None]:
    """Hold BLAS to one thread for small matrices: threads that wait for each other take longer than the work."""
    return one_blas_thread if size <= SMALL else nullcontext()


class Products(NamedTuple):
    """S and s of the features in their own units up to `scale`, y in units of its own; lengths are true ones."""

    scatter: Floats
    xy: Floats
    yy: Floats
    lengths: Floats


@dataclass(frozen=True)
class PrimalRidge:
    """Ridge regression through products of features with features."""

    rows: Source
    penalty: Tikhonov
    found: Moments
    intercept: bool
    n_jobs: int | None

    @classmethod
    def of(cls, rows: Source, penalty: Tikhonov, *, intercept: bool, n_jobs: int | None) -> "PrimalRidge":
        d = rows.n_features
        require(
            8 * d * d * (4 + threads_for(n_jobs) + rows.n_blocks.bit_length()),
            doing=f"ridge regression on {d:,} features",
            holding="products of every two of them",
            instead='use Ridge(solver="sparse_cg"), which needs none, or choose among the features first',
        )
        return cls(rows, penalty, moments(rows, n_jobs=n_jobs), intercept, n_jobs)

    @cached_property
    def products(self) -> Products:
        found = self.found
        scatter, xy, yy = found.about_mean() if self.intercept else found.about_zero()
        lengths = column_lengths(found, scatter, self.intercept)
        still = lengths == 0
        if still.any():  # what a constant column seems to vary by is rounding
            scatter[still], scatter[:, still], xy[still] = 0.0, 0.0, 0.0
        return Products(scatter, xy, yy, lengths / found.of_x.scale)

    @cached_property
    def triangle(self) -> TriangularFactor:
        """The triangular factor of [1 X], in the coordinates of the moments."""
        rows, d = self.rows.in_dense_blocks(), self.rows.n_features
        require(
            8 * (d + 1) ** 2 * (6 + 2 * threads_for(self.n_jobs)),
            doing=f"ridge regression on {d:,} nearly dependent features",
            instead='use Ridge(solver="sparse_cg"), or choose among the features first',
        )
        of_x = self.found.of_x
        if not self.intercept:
            of_x = Coordinates(np.zeros(d), of_x.scale)
        return blocked_qr(rows, of_x, intercept=self.intercept, n_jobs=self.n_jobs)

    def geometry(self, alpha: float, method: Method = "auto") -> ColumnGeometry:
        """Return the geometry of the columns of X with √αΓ below them."""
        columns = None if method == "svd" else self._by_products(alpha)
        return self._by_rows(alpha) if columns is None else columns

    def _by_products(self, alpha: float) -> ColumnGeometry | None:
        scatter, _, _, lengths = self.products
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            penalised = alpha * self.penalty.diagonal
            whole = np.hypot(lengths, np.sqrt(penalised))
            active = np.flatnonzero(whole)
            if not len(active):
                return ColumnGeometry(whole, np.empty((0, 0)), 1.0)
            inverse = 1 / (self.found.of_x.scale[active] * whole[active])
            matrix = scatter if len(active) == len(whole) else scatter[np.ix_(active, active)]
            matrix = matrix * inverse * inverse[:, None]
            share = np.sqrt(alpha) / whole[active]
            if self.penalty.matrix is None:
                matrix[np.diag_indices_from(matrix)] += share**2 * self.penalty.diagonal[active]
            else:
                matrix += self.penalty.products[np.ix_(active, active)] * share * share[:, None]
            norm = lapack.dlange("1", matrix.T)
            lower, failed = lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
            reciprocal = 0.0 if failed else lapack.dpocon(lower, norm, uplo="L")[0]
        if not reciprocal * LARGEST_SAFE_CONDITION**2 >= 1:
            return None
        return ColumnGeometry(whole, lower.T, 1 / reciprocal)

    def _by_rows(self, alpha: float) -> ColumnGeometry:
        inner, scale = self.triangle.rows, self.found.of_x.scale
        if not np.isfinite(inner).all():
            find_not_finite(self.rows)
            raise ValueError("X has values too large to be multiplied: divide its columns by a power of ten.")
        if self.intercept:
            inner = inner[1:, 1:]
            constant = is_constant(column_norms(inner) / scale, self.mean, self.found.weight)
            inner = np.where(constant, 0.0, inner)
        with np.errstate(over="ignore"):
            below = np.clip(np.sqrt(alpha) * self.penalty.root * scale, -1e300, 1e300)
        return ColumnGeometry.from_rows(
            np.concatenate([inner, below]), scale, np.zeros(len(scale), dtype=bool)
        )

    @property
    def mean(self) -> Floats:
        return self.found.mean_x if self.intercept else np.zeros(self.rows.n_features)

    def solve(self, alpha: float, method: Method = "auto", positive: bool = False) -> RidgeSolution:
        """Solve for one strength of the penalty."""
        with blas_threads(self.rows.n_features):
            columns = self.geometry(alpha, method)
            if columns.squared_condition is None:
                solution = self._refined(alpha, columns)
            else:
                solution = self._direct(alpha, columns)
            if positive and (solution.coef < 0).any():
                solution = self._nonnegative(alpha, columns, solution)
            return solution

    def _direct(self, alpha: float, columns: ColumnGeometry) -> RidgeSolution:
        _, xy, yy, _ = self.products
        gradient = xy / self.found.of_x.scale[:, None]
        coef = columns.solve(gradient)
        objective = np.maximum(yy - np.einsum("ij,ij->j", coef, gradient), 0.0)
        unit = self.found.of_y.scale
        with np.errstate(over="ignore", invalid="ignore"):  # what no number can hold the estimator refuses
            coef = coef / unit
            offset = self.found.mean_y - self.mean @ coef if self.intercept else np.zeros(len(unit))
            objective = objective / unit**2
        gap = EPS * (columns.squared_condition or 0.0)
        freedom = self._degrees_of_freedom(alpha, columns, len(unit))
        return RidgeSolution(coef, offset, objective, freedom, "cholesky", gap)

    def _refined(self, alpha: float, columns: ColumnGeometry) -> RidgeSolution:
        from .refinement import refine

        of_y = self.found.of_y
        start = of_y.shift if self.intercept else np.zeros_like(of_y.shift)
        found = refine(
            self.rows.in_dense_blocks(),
            columns,
            self.mean,
            self.found.weight,
            start,
            of_y.scale,
            intercept=self.intercept,
            n_jobs=self.n_jobs,
            pull=lambda coef: alpha * self.penalty.pull(coef),
        )
        with np.errstate(over="ignore", invalid="ignore"):
            objective = (found.residual + alpha * self.penalty.size(found.coef)) / of_y.scale**2
            coef, offset = found.coef / of_y.scale, found.intercept / of_y.scale
        freedom = self._degrees_of_freedom(alpha, columns, len(start))
        return RidgeSolution(coef, offset, objective, freedom, "qr", found.gap, None, found.converged)

    def _nonnegative(self, alpha: float, columns: ColumnGeometry, free: RidgeSolution) -> RidgeSolution:
        """Take the free solution to the nearest one without negative coefficients, in the geometry of the columns.

        The objective at w is its minimum plus the square of the distance from the free solution there.
        """
        from scipy.optimize import nnls

        active, lengths = columns.active, columns.lengths[columns.active, None]
        wanted = columns.factor @ (free.coef[active] * lengths)
        coef = np.zeros_like(free.coef)
        for target in range(coef.shape[1]):
            unit = np.ldexp(1.0, -np.frexp(np.abs(wanted[:, target]).max(initial=0.0))[1])
            found = nnls(columns.factor, wanted[:, target] * unit)[0]
            coef[active, target] = found / unit / lengths[:, 0]
        offset = free.intercept + self.mean @ (free.coef - coef)
        squares = residual_squares(self.rows, coef, offset, self.found.of_y.scale, self.n_jobs)
        with np.errstate(over="ignore"):
            objective = squares / self.found.of_y.scale**2 + alpha * self.penalty.size(coef)
        nobody = np.full(coef.shape[1], np.nan)
        return replace(
            free, coef=coef, intercept=offset, objective=objective, degrees_of_freedom=nobody, method="nnls"
        )

    def _degrees_of_freedom(self, alpha: float, columns: ColumnGeometry, n_targets: int) -> Floats:
        """Return tr(S(S + αG)⁻¹), and one for the intercept: the rank less what the penalty takes of it."""
        root = inverse_root(columns)
        if self.penalty.matrix is None:
            taken = alpha * (self.penalty.diagonal @ np.square(root).sum(axis=1))
        else:
            taken = alpha * np.square(self.penalty.matrix @ root).sum()
        return np.full(n_targets, max(columns.rank - taken, 0.0) + self.intercept)


def inverse_root(columns: ColumnGeometry) -> Floats:
    """Return B with BBᵀ = (S + αG)⁻¹."""
    if columns.squared_condition is None or not len(columns.active):
        return columns.root
    root = np.zeros((columns.n_features, len(columns.active)))
    # To LAPACK, which reads columns first, the upper factor is a lower one, and its inverse comes back as such.
    inverse = lapack.dtrtri(columns.factor.T, lower=1)[0].T
    root[columns.active] = inverse / columns.lengths[columns.active, None]
    return root
