"""The second-order model of the loss that a proximal Newton step minimises together with its penalty.

By products: the matrix of second derivatives is made once a step, and coordinate descent works on it; for few
coefficients. By columns: coordinate descent goes through the columns of the data and carries the rows' scores
along; for many.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from bisector.engine.blocks import Block
from bisector.engine.dask_source import DaskSource
from bisector.engine.map_reduce import map_blocks
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source, SparseSource, source

from .compressed_rows import CompressedRows
from .likelihood import Likelihood, Planes
from .newton import SmoothProblem
from .newton_cg import CurvedProblem

Floats = NDArray[np.float64]

# Gains of coordinate descent shrink to this share of the first sweep's; what is left is for the next step.
SHRINK_BY_PRODUCTS, SHRINK_BY_COLUMNS = 1e-8, 1e-4
SWEEPS_BETWEEN, MOST_ROUNDS, SWEEPS_BY_COLUMNS = 5, 50, 30
DAMPING = 1e-9


class ProductModel:
    """The model by its matrix."""

    def __init__(self, problem: SmoothProblem, lasso: Floats) -> None:
        self.problem = problem
        q = problem.basis.shape[1]
        self._lasso, self._ridge = (self._repeated(values, q) for values in (lasso, problem.ridge))

    def _repeated(self, values: Floats, n_planes: int) -> Floats:
        """Give penalties to every plane, in the order of the curvature; offsets have none."""
        return np.tile(np.r_[0.0, values] if self.problem.intercept else values, n_planes)

    def evaluate(self, planes: Planes) -> Likelihood:
        return self.problem.evaluate(planes, curved=True)

    def minimum(self, planes: Planes, found: Likelihood) -> Planes:
        """Minimise the model around the planes that were just evaluated.

        Coordinate descent finds which coefficients are zero, and of which sign the others are; given that, all
        others follow from one system of equations, whatever their dependence on each other.
        """
        from bisector.engine.loops import given

        from .proximal_newton_loops import descend

        problem = self.problem
        curvature = problem.curvature(found)
        gradient, here = problem.flat(found.gradient), problem.flat(planes)
        slope, there = gradient.copy(), here.copy()
        penalties = given(self._lasso), given(self._ridge)
        _, gain = descend(given(curvature), slope, *penalties, there, 0.0, 1)
        for _ in range(MOST_ROUNDS):
            self._solve_support(curvature, slope, there)
            slope = gradient + curvature @ (there - here)
            enough = SHRINK_BY_PRODUCTS * gain
            sweeps, _ = descend(given(curvature), slope, *penalties, there, enough, SWEEPS_BETWEEN)
            if sweeps == 1:
                break
        return problem.planes(there)

    def _solve_support(self, curvature: Floats, slope: Floats, solution: Floats) -> None:
        """Go to the minimum over the coefficients that are not zero, as far as they keep their signs."""
        held = np.flatnonzero((solution != 0) | (self._lasso == 0))
        matrix = curvature[np.ix_(held, held)]
        # The same change in every class does not bend the loss: without a little more, Cholesky would fail.
        matrix[np.diag_indices_from(matrix)] *= 1.0 + DAMPING
        matrix[np.diag_indices_from(matrix)] += self._ridge[held]
        values, corners = solution[held], self._lasso[held]
        rest = slope[held] + self._ridge[held] * values + corners * np.sign(values)
        _, step, failed = lapack.dposv(matrix, -rest, lower=1)
        if failed:  # coordinate descent has to do
            return
        crossing = (corners > 0) & (values * (values + step) < 0)
        lengths = np.where(crossing, -values / np.where(crossing, step, 1.0), 1.0)
        nearest = int(lengths.argmin())
        solution[held] += lengths[nearest] * step
        if crossing[nearest]:
            solution[held[nearest]] = 0.0


class ColumnModel:
    """The model by the columns of compressed rows."""

    def __init__(self, problem: SmoothProblem, lasso: Floats) -> None:
        from bisector.engine.loops import given

        rows = problem.rows
        assert isinstance(rows, CompressedRows)
        self._curved = CurvedProblem(problem)
        self._lasso = given(lasso)
        columns = rows.sparse.X.tocsc()
        self._columns = (
            given(columns.indptr.astype(np.uint64), np.uint64),
            given(columns.indices.astype(np.uint32), np.uint32),
            given(columns.data, np.float64),
        )
        weight = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
        self._weight = given(weight / problem.weight)

    def evaluate(self, planes: Planes) -> Likelihood:
        return self._curved.evaluate(planes)

    def minimum(self, planes: Planes, found: Likelihood) -> Planes:
        """Minimise the model around the planes that were just evaluated."""
        from bisector.engine.loops import given

        from .proximal_newton_loops import descend_by_columns

        problem, p = self._curved.problem, self._curved.probabilities
        assert p is not None
        slopes, offsets = planes.slopes.copy(), planes.offsets.copy()
        descend_by_columns(
            *self._columns,
            self._weight,
            given(p),
            given(found.gradient.slopes),
            self._lasso,
            given(problem.ridge),
            slopes,
            given(found.gradient.offsets),
            offsets,
            problem.intercept,
            np.zeros_like(p),
            np.zeros(len(p)),
            np.zeros_like(slopes),
            SHRINK_BY_COLUMNS,
            SWEEPS_BY_COLUMNS,
        )
        return Planes(slopes, offsets)


def narrowed(
    rows: Source, columns: NDArray[np.int64], of_x: Coordinates, *, compressed: bool, n_jobs: int | None
) -> Source:
    """Return the same rows with these columns alone; compressed rows are in the coordinates given."""
    if isinstance(rows, DaskSource) and not compressed:
        return rows.on_columns(columns)
    if isinstance(rows, CompressedRows):
        chosen: Any = rows.sparse.X[:, columns]
        if compressed:
            chosen = of_x.apply_sparse(chosen)
    else:
        chosen = map_blocks(block_columns, rows, columns, n_jobs=n_jobs, doing="choosing columns")
        if compressed:
            from scipy.sparse import csr_array

            chosen = csr_array(of_x.apply(chosen))
    weight = None if rows.sample_weight is None else np.asarray(rows.sample_weight)
    made = source(chosen, np.asarray(rows.y), weight)
    if compressed:
        assert isinstance(made, SparseSource)
        return CompressedRows(made)
    return made.in_dense_blocks()


def block_columns(block: Block, columns: NDArray[np.int64]) -> NDArray[Any]:
    """Return some columns of one block."""
    return np.ascontiguousarray(block.X[:, columns])
