"""A logistic regression as its solvers see it: what is minimised, in which coordinates, and how it is told."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block, spread_rows
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_reduce
from bisector.engine.moments import Coordinates, block_sizes, coordinates
from bisector.engine.row_sums import total_weight, weight_by_class
from bisector.engine.sources import MemorySource, Source

from .likelihood import Planes, basis_of
from .logistic_dual import ClassMeans, dual_gap
from .newton import Minimum, SmoothProblem

Floats = NDArray[np.float64]

# Data of so few numbers are solved further than asked for, since it costs nothing.
FEW_NUMBERS = 10**6
# Rows that tell where columns lie.
SAMPLE = 1024
# Deviations of mean probabilities from the shares of the classes that are rounding.
BALANCED = 1e-13

Watch = Callable[[str, Callable[[], tuple[Floats, Floats]]], bool]


@dataclass(frozen=True)
class LogisticFit:
    """The solution and its proof.

    Attributes
    ----------
    coef : (1, d) for two classes, else (K, d)
    intercept : (1,) or (K,), summing to zero; zeros without intercept
    loss : mean loss, minus the mean log-likelihood
    objective : mean loss plus penalty
    gradient_norm : largest absolute entry of the objective's gradient, or of its least subgradient
    gap : bound on the objective minus its minimum; infinite without penalty
    iterations : Newton steps
    converged : whether the gradient is as small as asked for, or as rounding allows
    separable : whether the likelihood was found to have no maximum
    method : "newton-cholesky", "newton-cg" or "proximal-newton"
    errors : standard errors (K or 1, n_coefficients), the intercept first if there is one: roots of the diagonal of
        the inverse Fisher information, NaN where the data determine none; None with a penalty, for too many
        coefficients, or where the likelihood has no maximum
    rank : number of coefficients that the data determine, where there are errors
    """

    coef: Floats
    intercept: Floats
    loss: float
    objective: float
    gradient_norm: float
    gap: float
    iterations: int
    converged: bool
    separable: bool
    method: str
    errors: Floats | None = None
    rank: int | None = None


@dataclass(frozen=True)
class Task:
    """What is to be minimised, and how well."""

    rows: Source
    n_classes: int
    l1: float
    l2: float
    intercept: bool
    tol: float
    max_iter: int
    n_jobs: int | None
    watch: Watch
    kept: Checkpoint = NOWHERE

    @cached_property
    def weight(self) -> float:
        return total_weight(self.rows)

    @property
    def n_planes(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def report(self, of_x: Coordinates, basis: Floats, note: str, planes: Planes) -> bool:
        """Tell who watches where a step has led; return whether to go on."""

        def coefficients() -> tuple[Floats, Floats]:
            coef, intercept = by_class(planes, of_x, basis)
            return coef.T, intercept

        return self.watch(note, coefficients)

    @cached_property
    def shares(self) -> Floats:
        return weight_by_class(self.rows, self.n_classes) / self.weight


def few_numbers(task: Task) -> bool:
    """Tell whether the data are so few that solving further than asked for costs nothing."""
    return task.rows.n_rows * task.rows.n_features * task.n_planes <= FEW_NUMBERS


def constant_loss(task: Task) -> float:
    """Return the loss of the best constant probabilities, the shares of the classes."""
    return -float(task.shares @ np.log(task.shares))


def smooth_problem(task: Task, of_x: Coordinates) -> SmoothProblem:
    """Put the problem into the coordinates given."""
    _, ridge = penalties(task, of_x)
    basis = basis_of(task.n_classes)
    return SmoothProblem(task.rows, of_x, basis, ridge, task.intercept, task.weight, task.n_jobs)


def penalties(task: Task, of_x: Coordinates) -> tuple[Floats, Floats]:
    """Return what slopes in these coordinates cost, absolute and squared; all or nothing at extreme sizes."""
    scale = np.clip(of_x.scale, 1e-100, 1e100)
    return np.minimum(task.l1 * scale, 1e100), np.minimum(task.l2 * np.square(scale), 1e100)


def sampled_coordinates(rows: Source, intercept: bool) -> Coordinates:
    """Choose coordinates from rows all over the data: far columns are shifted, extreme ones scaled."""
    sample = sample_rows(rows, SAMPLE)
    if not intercept:
        sample = np.concatenate([sample, -sample])  # around zero: nothing to shift
    return coordinates(sample, must_shift=np.zeros(rows.n_features, bool))


def sample_rows(rows: Source, size: int) -> Floats:
    """Return up to so many rows with a weight, evenly spread over the data, as an array."""
    if not isinstance(rows, MemorySource):
        block = next(rows.blocks(range(1)))
        return np.asarray(block.dense[block.weights > 0][:size], np.float64)
    counted = np.arange(rows.n_rows) if rows.sample_weight is None else np.flatnonzero(rows.sample_weight)
    if len(counted) > size:
        counted = counted[spread_rows(len(counted), size)]
    taken = rows.take(counted)
    return np.asarray(taken.toarray() if hasattr(taken, "tocsr") else taken, np.float64)


def measured_coordinates(rows: Source, n_jobs: int | None) -> Coordinates:
    """Choose coordinates from the sizes of all values, for columns whose products would overflow."""
    sizes = map_reduce(block_sizes, rows, n_jobs=n_jobs).of_x
    return coordinates(np.stack([sizes, -sizes]), must_shift=np.zeros(len(sizes), bool))


def other_units(task: Task) -> Task:
    """Return the task as it is begun anew in other coordinates, whose steps are noted apart."""
    return replace(task, kept=task.kept.part("measured"))


def first_planes(task: Task, of_x: Coordinates, basis: Floats, start: tuple[Floats, Floats] | None) -> Planes:
    """Return where to begin: at the planes given, or at the shares of the classes."""
    d = task.rows.n_features
    if start is not None:
        coef, intercept = (np.asarray(part, np.float64) for part in start)
        slopes = coef.T / of_x.scale[:, None]
        offsets = intercept + of_x.shift @ coef.T
        return Planes(slopes @ basis, offsets @ basis)
    logs = np.log(task.shares)
    scores = logs[1:] - logs[0] if task.n_classes == 2 else logs
    return Planes(np.zeros((d, basis.shape[1])), task.intercept * (scores @ basis))


def by_class(planes: Planes, of_x: Coordinates, basis: Floats) -> tuple[Floats, Floats]:
    """Return slopes (d, 1 or K) and offsets in the units of the data."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        slopes = (planes.slopes * of_x.scale[:, None]) @ basis.T
        return slopes, planes.offsets @ basis.T - of_x.shift @ slopes


def raw_gradient(gradient: Planes, of_x: Coordinates, basis: Floats) -> tuple[Floats, Floats]:
    """Return a gradient by slopes (d, 1 or K) and offsets in the units of the data."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        offsets = gradient.offsets @ basis.T
        slopes = (gradient.slopes / of_x.scale[:, None]) @ basis.T + np.outer(of_x.shift, offsets)
        return slopes, offsets


def conclude(task: Task, problem: SmoothProblem, found: Minimum, planes: Planes, method: str) -> LogisticFit:
    """Write down the solution in the units of the data, with its certificates."""
    of_x, basis = problem.of_x, problem.basis
    coef, intercept = by_class(planes, of_x, basis)
    slopes, offsets = raw_gradient(found.found.gradient, of_x, basis)
    total = slopes + task.l2 * coef
    norm = float(max(np.abs(total).max(initial=0.0), np.abs(offsets).max(initial=0.0)))
    means = None
    if task.intercept and np.abs(offsets).max(initial=0.0) > BALANCED and task.l2 > 0:
        means = class_means(task)
    return LogisticFit(
        coef.T,
        intercept,
        found.found.loss,
        problem.objective(planes, found.found),
        norm,
        dual_gap(found.found.loss, slopes, offsets, coef, intercept, 0.0, task.l2, means),
        found.iterations,
        converged=found.solved and not found.unbounded,
        separable=found.unbounded,
        method=method,
    )


@dataclass
class ClassSums:
    """Weighted sums of rows, by class: a statistic."""

    sums: Floats

    def merge(self, other: "ClassSums") -> "ClassSums":
        self.sums += other.sums
        return self


def block_class_sums(block: Block, n_classes: int) -> ClassSums:
    """Make the sums of one block."""
    member = np.zeros((block.X.shape[0], n_classes))
    member[np.arange(len(member)), block.targets[:, 0]] = block.weights
    with np.errstate(over="ignore", invalid="ignore"):  # noticed when the likelihood is evaluated
        return ClassSums(np.asarray(block.X.T @ member, np.float64))


def class_means(task: Task) -> ClassMeans:
    """Gather what mixing needs (`logistic_dual`)."""
    sums: Any = map_reduce(block_class_sums, task.rows, task.n_classes, n_jobs=task.n_jobs)
    by_class = sums.sums / task.weight
    return ClassMeans(task.shares, by_class.sum(axis=1), by_class)
