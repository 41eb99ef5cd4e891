"""Logistic regression with many columns: conjugate gradients, preconditioned by how the columns lie."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.memory import readable, require
from bisector.engine.moments import Coordinates
from bisector.engine.sources import SparseSource
from bisector.engine.validation import find_not_finite

from .compressed_rows import CompressedRows
from .likelihood import Planes
from .logistic_task import (
    LogisticFit,
    Task,
    conclude,
    constant_loss,
    few_numbers,
    first_planes,
    measured_coordinates,
    other_units,
    raw_gradient,
    sample_rows,
    sampled_coordinates,
    smooth_problem,
)
from .newton_cg import newton_cg
from .recession import has_no_maximum

Floats = NDArray[np.float64]
Precondition = Callable[[float], Callable[[Planes], Planes]]

# For so many columns the curvature of a sample is factorised in a fraction of what it saves; rows for each column.
MOST_COLUMNS, ROWS_PER_COLUMN = 2048, 4
# A sample misses part of the curvature: so much of the diagonal is added.
SAFETY = 0.02
# How far to go where it costs nothing.
CLOSELY = 1e-8
# What sums of a column's values lose to rounding, beside its size.
ROUNDING = 1e-14
# A linear programme on more columns takes longer than the fit.
MOST_COLUMNS_OF_A_PROGRAMME = 2000


def by_conjugate_gradients(task: Task, start: tuple[Floats, Floats] | None) -> LogisticFit:
    """Solve the smooth problem of a task."""
    rows, n_planes = task.rows, task.n_planes
    if rows.executor is None:
        require(
            8 * rows.n_rows * n_planes,
            doing=f"Newton's method for {n_planes} planes",
            holding=f"the probabilities of {rows.n_rows:,} rows ({readable(8 * rows.n_rows)} a class)",
            instead="use fewer rows",
        )
    if isinstance(rows, SparseSource):
        task = replace(task, rows=CompressedRows(rows, n_planes))
    try:
        of_x = (
            Coordinates.plain(rows.n_features)
            if isinstance(rows, SparseSource)
            else sampled_coordinates(rows, task.intercept)
        )
        return _solve_in(task, of_x, start)
    except OverflowError:
        return _solve_in(other_units(task), measured_coordinates(rows, task.n_jobs), start)


def _solve_in(task: Task, of_x: Coordinates, start: tuple[Floats, Floats] | None) -> LogisticFit:
    problem = smooth_problem(task, of_x)
    rows = task.rows
    narrow = rows.n_features <= MOST_COLUMNS and not isinstance(rows, CompressedRows)
    made = by_sample if narrow else by_diagonal
    precondition, sizes = made(task, of_x, problem.ridge)
    hunch = None
    if task.l2 == 0 and rows.n_features <= MOST_COLUMNS_OF_A_PROGRAMME:
        hunch = partial(has_no_maximum, task, problem)
    found = newton_cg(
        problem,
        first_planes(task, of_x, problem.basis, start),
        precondition,
        max_iter=task.max_iter,
        small=_goal(task, of_x, problem.basis, sizes),
        has_no_minimum=hunch,
        after_step=partial(task.report, of_x, problem.basis),
        kept=task.kept,
    )
    if task.l2 == 0 and found.found.least_lead > 0:
        found = replace(found, unbounded=True)
    return conclude(task, problem, found, found.planes, "newton-cg")


def _goal(task: Task, of_x: Coordinates, basis: Floats, sizes: Floats) -> Callable[[Planes], bool]:
    """Return the test of a gradient: no entry above the tolerance, and, with a penalty, a small duality gap.

    The gap may be the same share of the loss that shares of classes alone would give. An entry that is rounding
    beside the size of its column counts as zero.
    """
    tol = min(task.tol, CLOSELY) if few_numbers(task) else task.tol
    gap = tol * constant_loss(task)

    def is_small(gradient: Planes) -> bool:
        above = np.abs(gradient.slopes) > ROUNDING * sizes[:, None]
        slopes, offsets = raw_gradient(Planes(above * gradient.slopes, gradient.offsets), of_x, basis)
        if max(np.abs(slopes).max(initial=0.0), np.abs(offsets).max(initial=0.0)) > tol:
            return False
        return task.l2 == 0 or np.square(slopes).sum() <= 2 * task.l2 * gap

    return is_small


@dataclass
class Spread:
    """Weighted sums of the columns and of their squares, in given coordinates: a statistic."""

    x: Floats
    xx: Floats

    def merge(self, other: "Spread") -> "Spread":
        return Spread(self.x + other.x, self.xx + other.xx)


def block_spread(block: Block, of_x: Coordinates) -> Spread:
    """Make the spread of one block."""
    weight = block.weights[:, None]
    with np.errstate(over="ignore", invalid="ignore"):
        if not hasattr(block.X, "tocsr"):
            Z = of_x.apply(block.X)
            return Spread((weight.T @ Z)[0], (weight.T @ np.square(Z))[0])
        x = (block.X.T @ weight)[:, 0]
        xx = (block.X.squared().T @ weight)[:, 0]
        # Σw(x − s)² with the shift taken out afterwards: good enough for units.
        total, shift = float(weight.sum()), of_x.shift
        moved = xx - 2 * shift * x + total * shift**2
        return Spread((x - total * shift) * of_x.scale, np.maximum(moved, 0.0) * of_x.scale**2)


def by_diagonal(task: Task, of_x: Coordinates, ridge: Floats) -> tuple[Precondition, Floats]:
    """Precondition by the variances of the columns, as if they were centred: offsets are then their own matter."""
    found: Any = map_reduce(block_spread, task.rows, of_x, n_jobs=task.n_jobs)
    if not np.isfinite(found.xx).all():
        find_not_finite(task.rows)
        raise OverflowError("squares of a column overflow in these units")
    mean = found.x / task.weight if task.intercept else np.zeros(len(ridge))
    variance = np.maximum(found.xx / task.weight - mean**2, 1e-6 * found.xx / task.weight)

    def at(bend: float) -> Callable[[Planes], Planes]:
        diagonal = bend * variance + ridge
        diagonal[diagonal == 0] = 1.0

        def inverse(gradient: Planes) -> Planes:
            slopes = (gradient.slopes - np.outer(mean, gradient.offsets)) / diagonal[:, None]
            return Planes(slopes, task.intercept * (gradient.offsets / bend - mean @ slopes))

        return inverse

    return at, np.sqrt(found.xx / task.weight)


def by_sample(task: Task, of_x: Coordinates, ridge: Floats) -> tuple[Precondition, Floats]:
    """Precondition by the products of the columns in a sample of rows, an intercept's ones among them."""
    sample = of_x.apply(sample_rows(task.rows, ROWS_PER_COLUMN * (1 + task.rows.n_features)))
    table = np.column_stack([np.full(len(sample), float(task.intercept)), sample])
    with np.errstate(over="ignore", invalid="ignore"):  # noticed when the likelihood is evaluated
        products = table.T @ table / len(table)
    penalty = np.r_[0.0, ridge]

    def at(bend: float) -> Callable[[Planes], Planes]:
        matrix = bend * products
        diagonal = np.diagonal(matrix) + penalty
        # A column that the sample does not show must not look as if it could be moved for nothing.
        matrix[np.diag_indices_from(matrix)] += penalty + SAFETY * diagonal
        matrix[np.diag_indices_from(matrix)] += np.where(diagonal == 0, 1.0, 0.0)
        factor = cho_factor(matrix, lower=True, check_finite=False)

        def inverse(gradient: Planes) -> Planes:
            table = cho_solve(factor, np.vstack([gradient.offsets, gradient.slopes]), check_finite=False)
            return Planes(table[1:], task.intercept * table[0])

        return inverse

    return at, np.sqrt(np.diagonal(products)[1:])
