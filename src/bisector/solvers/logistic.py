"""Logistic regression: planes whose scores are log-odds of classes,

    min over w, b of  (1/W) Σᵢ wᵢ ℓᵢ(w, b) + (1/(CW)) (ρ‖w‖₁ + ½(1 − ρ)‖w‖²),

ℓᵢ = −log of the probability that row i's own class has: 1/(1 + e^−m) of the score m for the second of two classes,
the softmax of the scores for more. W is the sum of the weights.

Few columns are solved by Newton's method with all second derivatives (`newton`), many by conjugate gradients
(`newton_cg`), and penalties with corners (ρ > 0) by coordinate descent inside Newton's method (`proximal_newton`).
Certificates: the largest entry of the gradient (or of the least subgradient), and, where there is a penalty, a
bound on how far the objective is from its minimum (`logistic_dual`).
"""

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.memory import readable, require
from bisector.engine.moments import Coordinates
from bisector.engine.row_sums import total_weight
from bisector.engine.sources import MemorySource, Source, SparseSource, source
from bisector.engine.threads import one_blas_thread, threads_for

from .curvature_factor import CurvatureFactor
from .likelihood import Planes, basis_of
from .logistic_task import (
    LogisticFit,
    Task,
    Watch,
    conclude,
    few_numbers,
    first_planes,
    measured_coordinates,
    other_units,
    raw_gradient,
    sampled_coordinates,
    smooth_problem,
)
from .newton import SOLVED, SmoothProblem, newton
from .recession import has_no_maximum

Floats = NDArray[np.float64]

# So many coefficients, or so many products a pass, and all second derivatives are cheap.
FEW_COEFFICIENTS, CHEAP_PRODUCTS, MOST_COEFFICIENTS = 128, 2e9, 1024
# Newton's decrement where another pass costs nothing: a hundred-millionth of a standard error.
EXACT = 1e-16
# Newton's method begins on every sixteenth row when so many rows would be left for each coefficient.
THINNED, ROWS_PER_COEFFICIENT = 16, 64


def logistic(
    rows: Source,
    n_classes: int,
    *,
    C: float = 1.0,
    l1_ratio: float = 0.0,
    intercept: bool = True,
    tol: float = 1e-4,
    max_iter: int = 100,
    method: str = "",
    start: tuple[Floats, Floats] | None = None,
    watch: Watch = lambda note, coefficients: True,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> LogisticFit:
    """Solve the problem for a source whose y are codes of classes.

    Parameters
    ----------
    method : "newton-cholesky", "newton-cg", or "" for what suits the data
    start : coef and intercept to begin with
    watch : told after every step where it stands, with a function that gives the coef and intercept of then;
        whether to go on
    kept : where steps are noted, and from which they go on

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.logistic import logistic
    >>> rows = source(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1]))
    >>> found = logistic(rows, 2, C=np.inf)
    >>> found.coef.round(4), found.gradient_norm < 1e-6
    (array([[0.9082]]), True)
    """
    penalty = 1.0 / (C * total_weight(rows))
    n_jobs = threads_for(n_jobs)
    task = Task(
        rows, n_classes, penalty * l1_ratio, penalty * (1 - l1_ratio), intercept, tol, max_iter, n_jobs, watch,
        kept,
    )  # fmt: skip
    with one_blas_thread:
        if task.l1 > 0:
            from .proximal_newton import by_proximal_newton

            return by_proximal_newton(task, start)
        if method == "newton-cholesky" or (not method and _has_few_products(task)):
            return _by_newton(task, start)
        from .wide_logistic import by_conjugate_gradients

        return by_conjugate_gradients(task, start)


def _has_few_products(task: Task) -> bool:
    """Tell whether all second derivatives are cheap to make and to factorise."""
    rows, planes = task.rows, max(1, task.n_planes - 1)
    D = planes * (1 + rows.n_features)
    if D > MOST_COEFFICIENTS:
        return False
    filled = rows.n_features
    if isinstance(rows, SparseSource):
        filled = min(filled, 1 + rows.X.nnz // rows.n_rows)
    return D <= FEW_COEFFICIENTS or rows.n_rows * float(planes * filled) ** 2 <= CHEAP_PRODUCTS


def _by_newton(task: Task, start: tuple[Floats, Floats] | None) -> LogisticFit:
    D = max(1, task.n_planes - 1) * (1 + task.rows.n_features)
    require(
        8 * D * D * (4 + threads_for(task.n_jobs) + task.rows.n_blocks.bit_length()),
        doing=f"Newton's method for {D:,} coefficients",
        holding=f"the products of every two of them ({readable(8 * D * D)} a copy)",
        instead='choose solver="newton-cg"',
    )
    try:
        return _newton_in(task, sampled_coordinates(task.rows, task.intercept), start)
    except OverflowError:
        return _newton_in(other_units(task), measured_coordinates(task.rows, task.n_jobs), start)


def _newton_in(task: Task, of_x: Coordinates, start: tuple[Floats, Floats] | None) -> LogisticFit:
    problem = smooth_problem(task, of_x)
    thinned = _thinned(task, problem.basis.shape[1] * (1 + task.rows.n_features)) if start is None else None
    planes = first_planes(task, of_x, problem.basis, start)
    if thinned is not None:
        few = smooth_problem(thinned, of_x)
        planes = newton(few, planes, max_iter=10, enough=1.0).planes
    unpenalised = task.l2 == 0
    hunch = partial(has_no_maximum, task, problem) if unpenalised else None
    found = newton(
        problem,
        planes,
        max_iter=task.max_iter,
        enough=EXACT if few_numbers(task) else SOLVED,
        small=partial(_is_small, task, of_x),
        has_no_minimum=hunch,
        after_step=partial(task.report, of_x, problem.basis),
        kept=task.kept,
    )
    if not unpenalised or found.unbounded:
        return conclude(task, problem, found, found.planes, "newton-cholesky")
    factor = problem.factor(problem.evaluate(found.planes, curved=True))
    planes = _shortened(problem, found.planes, factor.null_space)
    fit = conclude(task, problem, found, planes, "newton-cholesky")
    return replace(fit, errors=_standard_errors(task, problem, factor), rank=factor.rank)


def _thinned(task: Task, n_coefficients: int) -> Task | None:
    """Return the task for every sixteenth row, if these are enough to come close to the solution."""
    rows = task.rows
    few = rows.n_rows // THINNED
    if not isinstance(rows, MemorySource) or few < ROWS_PER_COEFFICIENT * n_coefficients:
        return None
    chosen = np.arange(0, rows.n_rows, THINNED)
    weights = None if rows.sample_weight is None else rows.sample_weight[chosen]
    codes = np.asarray(rows.y)[chosen]
    if np.bincount(codes, weights, task.n_classes).min() == 0:
        return None
    return replace(task, rows=source(rows.take(chosen), codes, weights))


def _is_small(task: Task, of_x: Coordinates, gradient: Planes) -> bool:
    basis = basis_of(task.n_classes)
    slopes, offsets = raw_gradient(gradient, of_x, basis)
    return bool(max(np.abs(slopes).max(initial=0.0), np.abs(offsets).max(initial=0.0)) <= task.tol)


def _shortened(problem: SmoothProblem, planes: Planes, lost: Floats) -> Planes:
    """Of all planes that differ only along the lost directions, return those with the shortest slopes."""
    if not lost.shape[1]:
        return planes
    parts = [problem.planes(vector) for vector in lost.T]
    scale = problem.of_x.scale[:, None]
    table = np.column_stack([(part.slopes * scale).ravel() for part in parts])
    shares = np.linalg.lstsq(table, (planes.slopes * scale).ravel(), rcond=1e-10)[0]
    for part, share in zip(parts, shares, strict=True):
        planes = planes.plus(part, -share)
    return planes


def _standard_errors(task: Task, problem: SmoothProblem, factor: CurvatureFactor) -> Floats:
    """Return the standard errors of the coefficients in the units of the data, by class."""
    inverse, undetermined = factor.inverse()
    scale, shift = problem.of_x.scale, problem.of_x.shift
    moved, units = np.eye(1 + len(scale)), np.r_[1.0, scale]
    moved[0, 1:] = -shift * scale
    if not task.intercept:
        moved, units = moved[1:, 1:], scale
    by_plane = np.kron(problem.basis, moved)
    variances = np.einsum("ij,jk,ik->i", by_plane, inverse / task.weight, by_plane, optimize=True)
    errors = np.sqrt(variances).reshape(task.n_planes, -1) * units
    # A class's coefficient is unknown where any plane's is.
    errors[:, undetermined.reshape(problem.basis.shape[1], -1).any(axis=0)] = np.nan
    return errors
