"""Logistic regression with a penalty that has corners: proximal Newton steps on growing working sets,

    min over V, c of  (1/W) Σᵢ wᵢ ℓᵢ(V, c) + Σⱼ (αⱼ‖Vⱼ‖₁ + ½βⱼ‖Vⱼ‖²).

A step minimises the second-order model of the loss plus the penalty by coordinate descent, and is shortened until
the objective decreases. Only columns that have coefficients, or would gain most from one, take part; a pass over
all columns then says whether others must join.

Certificates: the largest entry of the least subgradient, and the duality gap (`logistic_dual`).
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source, SparseSource

from .compressed_rows import CompressedRows
from .likelihood import Likelihood, Planes, basis_of
from .logistic_dual import ClassMeans, dual_gap
from .logistic_task import (
    LogisticFit,
    Task,
    by_class,
    class_means,
    constant_loss,
    few_numbers,
    first_planes,
    measured_coordinates,
    other_units,
    penalties,
    raw_gradient,
    sampled_coordinates,
)
from .newton import SmoothProblem, require_finite
from .newton_model import ColumnModel, ProductModel, narrowed

Floats = NDArray[np.float64]

# Columns of the first working set, and how it grows.
FIRST_SIZE, GROWTH = 64, 4
# Coefficients of a working set whose second derivatives are worth making: a few of sparse columns, more of dense.
FEW_SPARSE, FEW_DENSE = 256, 1024
# How far to go where it costs nothing.
CLOSELY = 1e-7


@dataclass(frozen=True)
class CorneredProblem:
    """The objective for the rows of a source: a smooth problem whose ridge is β, and the corners α."""

    smooth: SmoothProblem
    lasso: Floats

    @cached_property
    def units(self) -> Floats:
        return self.smooth.of_x.scale[:, None]

    def objective(self, planes: Planes, found: Likelihood) -> float:
        corners = float(self.lasso @ np.abs(planes.slopes).sum(axis=1))
        return self.smooth.objective(planes, found) + corners

    def subgradient(self, planes: Planes, found: Likelihood) -> Planes:
        """Return the least subgradient, by slopes in the units of the data."""
        smooth = self.smooth.gradient(planes, found)
        slopes, alpha = smooth.slopes, self.lasso[:, None]
        at_corner = np.sign(slopes) * np.maximum(np.abs(slopes) - alpha, 0.0)
        away = slopes + alpha * np.sign(planes.slopes)
        with np.errstate(over="ignore", invalid="ignore"):
            return Planes(np.where(planes.slopes == 0, at_corner, away) / self.units, smooth.offsets)

    def on(self, columns: NDArray[np.int64], *, compressed: bool) -> "CorneredProblem":
        """Return the problem with these columns alone."""
        smooth = self.smooth
        of_x = Coordinates(smooth.of_x.shift[columns], smooth.of_x.scale[columns])
        rows = narrowed(smooth.rows, columns, of_x, compressed=compressed, n_jobs=smooth.n_jobs)
        if compressed:  # its values are in these coordinates already
            of_x = Coordinates.plain(len(columns))
        part = replace(smooth, rows=rows, of_x=of_x, ridge=smooth.ridge[columns])
        return CorneredProblem(part, self.lasso[columns])


def by_proximal_newton(task: Task, start: tuple[Floats, Floats] | None) -> LogisticFit:
    """Solve a task with l1 > 0."""
    rows = task.rows
    sparse = isinstance(rows, SparseSource)
    try:
        of_x = Coordinates.plain(rows.n_features) if sparse else sampled_coordinates(rows, task.intercept)
        return _solve_in(task, of_x, start)
    except OverflowError:
        return _solve_in(other_units(task), measured_coordinates(rows, task.n_jobs), start)


def _solve_in(task: Task, of_x: Coordinates, start: tuple[Floats, Floats] | None) -> LogisticFit:
    rows: Source = task.rows
    if isinstance(rows, SparseSource):
        rows = CompressedRows(rows, task.n_planes)
    lasso, ridge = penalties(task, of_x)
    basis = basis_of(task.n_classes, complete=True)
    smooth = SmoothProblem(rows, of_x, basis, ridge, task.intercept, task.weight, task.n_jobs)
    problem = CorneredProblem(smooth, lasso)
    planes = first_planes(task, of_x, basis, start)
    means = class_means(task) if task.intercept else None
    tol = min(task.tol, CLOSELY) if few_numbers(task) else task.tol
    size, steps = max(1, FIRST_SIZE // task.n_planes), 0
    stuck, going = False, True
    known = task.kept.recall("proximal newton")
    if known is not None:
        planes = Planes(known["slopes"], known["offsets"])
        size, steps, stuck = int(known["size"]), int(known["steps"]), bool(known["stuck"])
    while True:
        found = smooth.evaluate(planes, curved=False)
        require_finite(task.rows, found)
        rest = problem.subgradient(planes, found)
        gap = _gap(task, problem, planes, found, means)
        small = rest.largest <= tol and gap <= tol * constant_loss(task)
        if small or stuck or steps >= task.max_iter or not going:
            break
        violation = np.abs(rest.slopes).max(axis=1, initial=0.0)
        active = np.asarray(planes.slopes.any(axis=1))
        size = min(max(size, 2 * int(active.sum())), rows.n_features)
        candidates = np.flatnonzero(active | (violation > 0))
        order = np.lexsort((-violation[candidates], ~active[candidates]))
        working = np.sort(candidates[order[:size]])
        part = Planes(planes.slopes[working], planes.offsets)
        goal = 0.1 * rest.largest
        moved, taken = _proximal_newton(problem, part, working, goal, task.max_iter - steps)
        slopes = np.zeros_like(planes.slopes)
        slopes[working] = moved.slopes
        # Without a step on all that could move, only rounding is left.
        stuck = taken == 0 and len(working) == len(candidates)
        planes, steps, size = Planes(slopes, moved.offsets), steps + taken, GROWTH * size
        task.kept.note(
            "proximal newton", slopes=slopes, offsets=planes.offsets, size=size, steps=steps, stuck=stuck
        )
        going = task.report(of_x, basis, f"{int(slopes.any(axis=1).sum())} columns, gap {gap:.2g}", planes)
    return _conclude(task, problem, planes, found, rest.largest, gap, steps, small or stuck)


def _proximal_newton(
    problem: CorneredProblem, planes: Planes, working: NDArray[np.int64], goal: float, max_iter: int
) -> tuple[Planes, int]:
    """Take steps on some columns until the least subgradient is below the goal, or none decreases the objective."""
    rows, n_planes = problem.smooth.rows, len(planes.offsets)
    sparse = isinstance(rows, CompressedRows)
    n_coefficients = (1 + len(working)) * n_planes
    by_products = n_coefficients <= (FEW_SPARSE if sparse else FEW_DENSE)
    if sparse or not by_products or len(working) < rows.n_features:
        problem = problem.on(working, compressed=not by_products)
    model = (ProductModel if by_products else ColumnModel)(problem.smooth, problem.lasso)
    found = model.evaluate(planes)
    for taken in range(max_iter):
        if problem.subgradient(planes, found).largest <= goal:
            return planes, taken
        step = model.minimum(planes, found).plus(planes, -1.0)
        moved = _shorten(problem, model, planes, found, step)
        if moved is None:
            return planes, taken
        planes, found = moved
    return planes, max_iter


def _shorten(
    problem: CorneredProblem,
    model: ProductModel | ColumnModel,
    planes: Planes,
    found: Likelihood,
    step: Planes,
) -> tuple[Planes, Likelihood] | None:
    """Walk along the step until the objective has decreased; None if it does not."""
    level = problem.objective(planes, found)
    whole = planes.plus(step)
    corners = float(problem.lasso @ (np.abs(whole.slopes) - np.abs(planes.slopes)).sum(axis=1))
    promised = problem.smooth.gradient(planes, found).dot(step) + corners
    if not promised < -1e-17 * abs(level):
        return None
    length = 1.0
    while length > 1e-6:
        trial = planes.plus(step, length)
        there = model.evaluate(trial)
        risen = problem.objective(trial, there) - level
        if risen <= 1e-4 * length * promised + 1e-15 * abs(level):
            return trial, there
        length *= 0.5
    return None


def _gap(
    task: Task, problem: CorneredProblem, planes: Planes, found: Likelihood, means: ClassMeans | None
) -> float:
    of_x, basis = problem.smooth.of_x, problem.smooth.basis
    coef, intercept = by_class(planes, of_x, basis)
    slopes, offsets = raw_gradient(found.gradient, of_x, basis)
    return dual_gap(found.loss, slopes, offsets, coef, intercept, task.l1, task.l2, means)


def _conclude(
    task: Task,
    problem: CorneredProblem,
    planes: Planes,
    found: Likelihood,
    norm: float,
    gap: float,
    steps: int,
    converged: bool,
) -> LogisticFit:
    if task.n_planes > 1:  # the same offset for every class means nothing
        planes = Planes(planes.slopes, planes.offsets - planes.offsets.mean())
    coef, intercept = by_class(planes, problem.smooth.of_x, problem.smooth.basis)
    return LogisticFit(
        coef.T,
        intercept,
        found.loss,
        problem.objective(planes, found),
        norm,
        gap,
        steps,
        converged=converged,
        separable=False,
        method="proximal-newton",
    )
