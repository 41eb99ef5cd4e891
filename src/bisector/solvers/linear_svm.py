"""Maximum-margin planes: which method finds one, by the shape of the data.

With few features, Newton's method on the whole plane at once needs some ten steps whatever the scaling of the data
(`hinge_interior`, `squared_hinge_newton`); a step takes n·d² operations. With many, dual coordinate descent moves
one multiplier at a time (`dual_coordinate`), and where it has not proved its plane after as much work as Newton's
method would take, and the features are not too many, that method takes over. Weights under an absolute penalty are
found one by one (`sparse_plane`). Every answer comes with a gap: no plane is better by more.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import Bar
from bisector.engine.sources import Source
from bisector.engine.threads import one_blas_thread, parallel

from .design import Design, Floats, Plane, make_design
from .dual_coordinate import dual_coordinate
from .held_rows import held
from .hinge_certificate import Certificate, MarginProblem, certify, lifted
from .hinge_interior import hinge_interior
from .sparse_plane import sparse_plane
from .squared_hinge_newton import squared_hinge_newton

# Up to so many features the whole plane is found at once; up to the second number, if nothing else helps.
FEW_FEATURES, MANY_FEATURES = 300, 5000
# Newton's methods need about so many steps; more than the second number, and rounding is in the way.
USUAL_STEPS, MOST_STEPS = 15, 200
# A product in a matrix product takes so much less time than one in a row that is visited alone.
MATRIX_SPEED = 20
# So many products take no time worth saving: the plane is then found to all digits.
CHEAP = 10**8
ALL_DIGITS = 1e-13
# For sides that can be separated, costs that are tried instead of larger ones, times the square of the longest row.
# The slacks they leave are the inverse of that, and must be large beside rounding.
LARGER_BOUNDS, SOFTER = (1e3, 1e9, 1e15), (1e9, 1e12, 1e6)


@dataclass(frozen=True)
class MarginPlane:
    """A plane with the proof of how good it is.

    Attributes
    ----------
    weights : (n_features,)
    intercept : float
    alpha : (n_rows,) multipliers, which prove it
    objective : P, what the plane costs
    gap : relative to P, how much a better plane could cost less
    iterations : int
    converged : whether the gap is as small as was asked for
    method : "interior point", "newton", "dual coordinate descent" or "coordinate descent"
    """

    weights: Floats
    intercept: float
    alpha: Floats
    objective: float
    gap: float
    iterations: int
    converged: bool
    method: str


@dataclass(frozen=True)
class Task:
    """What is asked for: the loss, the penalty, and when to stop."""

    squared: bool
    absolute: bool
    tol: float
    max_iter: int
    seed: int


def margin_planes(
    rows: Source,
    sides: list[NDArray[np.bool_]],
    cost: Floats,
    task: Task,
    *,
    intercept: bool,
    n_jobs: int | None,
    bar: Bar,
    kept: Checkpoint = NOWHERE,
) -> list[MarginPlane]:
    """Find a plane for each way to divide the rows into two sides.

    Parameters
    ----------
    rows : Source
    sides : list of (n_rows,) masks
        For each plane, the rows on its positive side; there must be some, and some others.
    cost : (n_rows,)
        Cᵢ, above zero.
    task : Task
    intercept : bool
    n_jobs : int, optional
        Planes are found side by side; a single one with all threads.
    bar : Bar
    kept : Checkpoint, optional
        Where to note what each plane has come to.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.progress import Bar
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.linear_svm import Task, margin_planes
    >>> rows = source(np.array([[1.0, 2.0], [-1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]))
    >>> task = Task(squared=False, absolute=False, tol=1e-4, max_iter=1000, seed=0)
    >>> sides = [np.array([False, False, True, True])]
    >>> plane, = margin_planes(rows, sides, np.ones(4), task, intercept=True, n_jobs=1, bar=Bar())
    >>> plane.weights.round(6), abs(round(plane.intercept, 6))
    (array([ 0.6, -0.8]), 0.0)
    """
    # One BLAS thread throughout: what is not done block by block is short, and waking others takes longer.
    with one_blas_thread:
        design = make_design(rows, intercept=intercept, n_jobs=n_jobs)
        visited = None
        if _visits_rows(design, task):
            visited = _visited_rows(design)
            task = _same_order(task, kept)

        def find(number: int) -> MarginPlane:
            side = np.where(sides[number], 1.0, -1.0)
            problem = MarginProblem(design, side, cost, task.squared)
            return _find(problem, visited, task, bar, kept.part(f"plane {number}"))

        return parallel(find, range(len(sides)), n_jobs=n_jobs) if len(sides) > 1 else [find(0)]


def _same_order(task: Task, kept: Checkpoint) -> Task:
    """Return the task with the seed that the fit began with: one that goes on may have drawn another."""
    known = kept.recall("order")
    if known is not None:
        return replace(task, seed=int(known["seed"]))
    kept.note("order", seed=task.seed)
    return task


def _visits_rows(design: Design, task: Task) -> bool:
    return task.absolute or design.rows.n_features > FEW_FEATURES


def _visited_rows(design: Design) -> Any:
    X = held(design.rows, "Fitting LinearSVC")
    if design.coordinates.is_plain:
        return X
    return design.coordinates.apply_sparse(X) if hasattr(X, "tocsr") else design.coordinates.apply(X)


def _find(problem: MarginProblem, visited: Any, task: Task, bar: Bar, kept: Checkpoint) -> MarginPlane:
    d, steps = problem.design.rows.n_features, min(task.max_iter, MOST_STEPS)
    work = float(problem.design.rows.n_rows) * d * d
    if task.absolute:
        found, iterations = sparse_plane(
            problem,
            visited,
            tol=task.tol,
            max_iter=task.max_iter,
            rng=np.random.default_rng(task.seed),
            bar=bar,
            kept=kept,
        )
        return _plane(problem, found, iterations, task, "coordinate descent")
    iterations = 0
    if visited is not None and problem.design.coordinates.keeps_units:
        rounds = task.max_iter
        if d <= MANY_FEATURES:
            size = visited.nnz if hasattr(visited, "nnz") else visited.size
            rounds = min(rounds, max(20, int(USUAL_STEPS * work / MATRIX_SPEED / max(1, size))))
        found, iterations = dual_coordinate(
            problem,
            visited,
            tol=task.tol,
            max_iter=rounds,
            rng=np.random.default_rng(task.seed),
            bar=bar,
            kept=kept,
        )
        if found.gap <= task.tol or d > MANY_FEATURES or iterations >= task.max_iter:
            return _plane(problem, found, iterations, task, "dual coordinate descent")
    if problem.squared:
        found, more = squared_hinge_newton(problem, max_iter=steps, bar=bar, kept=kept)
        if found.gap > task.tol:
            found, more = _nearly_hard(problem, found, more, task, bar, kept)
        return _plane(problem, found, iterations + more, task, "newton")
    tol = min(task.tol, ALL_DIGITS) if work <= CHEAP else task.tol
    found, more = hinge_interior(problem, tol=tol, max_iter=steps, bar=bar, kept=kept)
    if found.gap > task.tol:
        found, more = _nearly_hard(problem, found, more, task, bar, kept)
    return _plane(problem, found, iterations + more, task, "interior point")


def _nearly_hard(
    problem: MarginProblem, found: Certificate, iterations: int, task: Task, bar: Bar, kept: Checkpoint
) -> tuple[Certificate, int]:
    """Find the plane of sides that can be separated, where rows are so long that no multiplier gets near its bound.

    Beside such bounds multipliers would be lost in rounding. For all bounds that none meets, the plane is the same;
    and of the squared hinge, whose multipliers are 2C times the slacks, for all costs that leave next to none.
    """
    length = float((problem.design.sizes**2 / problem.design.penalty).sum())
    steps = min(task.max_iter, MOST_STEPS)
    for factor in SOFTER if problem.squared else LARGER_BOUNDS:
        bound = factor / length
        if bound >= problem.cost.min():
            continue
        part = kept.part(f"bound {factor:g}")
        nearer = replace(problem, cost=np.full_like(problem.cost, bound))
        if problem.squared:
            tried, more = squared_hinge_newton(nearer, max_iter=steps, bar=bar, kept=part)
            tried = tried._replace(plane=lifted(problem, tried.plane))
        else:
            tried, more = hinge_interior(nearer, tol=task.tol, max_iter=steps, bar=bar, kept=part)
        proved = certify(problem, tried.plane, tried.alpha)
        iterations += more
        if proved.gap < found.gap:
            found = proved
        if found.gap <= task.tol:
            break
    return found, iterations


def _plane(
    problem: MarginProblem, found: Certificate, iterations: int, task: Task, method: str
) -> MarginPlane:
    plane: Plane = problem.design.in_own_units(found.plane)
    return MarginPlane(
        plane.weights,
        plane.intercept,
        found.alpha,
        found.objective,
        found.gap,
        iterations,
        found.gap <= task.tol,
        method,
    )
