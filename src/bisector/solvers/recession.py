"""Does an unpenalised likelihood of classes have a maximum? It has none if planes can grow for ever without loss.

A direction (p₁, …, p_K) of planes, offsets included, is one of recession if it ranks no row below another class
than its own, (p_y − p_k)·(x, 1) ≥ 0 for all rows and k ≠ y, and some row strictly above: going along it, the
likelihood rises and never falls. Whether there is one is a linear programme,

    max over |p| ≤ 1 of  Σᵢₖ (p_y − p_k)·(xᵢ, 1)   subject to   (p_y − p_k)·(xᵢ, 1) ≥ 0,

whose maximum is then positive, and zero otherwise. It is solved for few rows first; rows that the direction found
violates are added until there is none (then it is the proof), or the maximum is zero (then nobody has one).
"""

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.moments import Coordinates
from bisector.engine.sources import Source

from .likelihood import Planes, PlaneSums, gradient_at, scores_at
from .logistic_task import SAMPLE, Task, sample_rows
from .newton import SmoothProblem

Floats = NDArray[np.float64]

# Constraints of a programme of this kind that take about a second, and rounds of adding some.
CONSTRAINTS_AT_ONCE = 2000
MOST_ROUNDS = 50
# In units of the columns, with planes of size one: what counts as violated, and as a gain.
VIOLATED, GAINED = 1e-6, 1e-4


def has_no_maximum(task: Task, problem: SmoothProblem, planes: Planes) -> bool:
    """Look for a direction in which an unpenalised likelihood grows for ever."""
    basis = problem.basis
    guess = Planes(planes.slopes @ basis.T, planes.offsets @ basis.T)
    sample = problem.of_x.apply(sample_rows(task.rows, SAMPLE))
    return bool(
        has_recession(
            task.rows,
            problem.of_x,
            guess,
            np.abs(sample).max(axis=0, initial=0.0),
            intercept=task.intercept,
            n_jobs=task.n_jobs,
        )
    )


def has_recession(
    rows: Source, of_x: Coordinates, guess: Planes, units: Floats, *, intercept: bool, n_jobs: int | None
) -> bool | None:
    """Tell whether the likelihood grows for ever along some planes; None if it could not be told.

    Parameters
    ----------
    of_x, guess : coordinates, and planes in them that hold for most rows: one of two classes, one a class of more
    units : (d,) sizes of the columns in these coordinates
    """
    units = np.r_[1.0, np.where(units > 0, units, 1.0)]
    counted = np.ones(rows.n_rows, bool) if rows.sample_weight is None else np.asarray(rows.sample_weight) > 0
    total = map_reduce(block_total, rows, of_x, len(guess.offsets), n_jobs=n_jobs).planes
    objective = np.vstack([total.offsets, total.slopes]) / units[:, None]
    leads = map_blocks(block_leads, rows, of_x, guess, n_jobs=n_jobs)
    leads[~counted] = np.inf
    held = np.zeros(rows.n_rows, bool)
    at_once = max(1, CONSTRAINTS_AT_ONCE // len(guess.offsets))
    worst = np.argsort(leads, kind="stable")[:at_once]
    for _ in range(MOST_ROUNDS):
        held[worst] = True
        direction = _best_direction(rows, of_x, np.flatnonzero(held), objective, units, intercept)
        found = Planes(direction[1:] / units[1:, None], direction[0])
        leads = map_blocks(block_leads, rows, of_x, found, n_jobs=n_jobs)
        if leads.max(initial=0.0, where=counted) < GAINED:
            return False
        leads[~counted] = np.inf
        violated = np.flatnonzero((leads < -VIOLATED) & ~held)
        if not len(violated):
            return True
        worst = violated[np.argsort(leads[violated], kind="stable")[:at_once]]
    return None


def block_leads(block: Block, of_x: Coordinates, planes: Planes) -> Floats:
    """Return by how much each row's own class leads the best other."""
    scores = scores_at(block.X, of_x, planes, np.eye(len(planes.offsets)))[1]
    codes = block.targets[:, 0]
    every = np.arange(len(scores))
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    own = scores[every, codes]
    scores[every, codes] = -np.inf
    return own - scores.max(axis=1)


def block_total(block: Block, of_x: Coordinates, n_planes: int) -> PlaneSums:
    """Return the gradient, by the planes, of the sum of all leads over all other classes."""
    Z = block.X if hasattr(block.X, "tocsr") else of_x.apply(block.X)
    pulls = _pulls(block.targets[:, 0], n_planes) * (block.weights > 0)[:, None]
    return PlaneSums(gradient_at(Z, of_x, pulls, np.eye(n_planes)))


def _pulls(codes: NDArray[np.int64], n_planes: int) -> Floats:
    """Return how the sum of a row's leads over other classes depends on its scores."""
    if n_planes == 1:
        return np.asarray((2.0 * codes - 1.0)[:, None], np.float64)
    return np.where(codes[:, None] == np.arange(n_planes), n_planes - 1.0, -1.0)


def _best_direction(
    rows: Source,
    of_x: Coordinates,
    held: NDArray[np.int64],
    objective: Floats,
    units: Floats,
    intercept: bool,
) -> Floats:
    """Solve the programme with the constraints of some rows; return a direction (1 + d, planes)."""
    from scipy.optimize import linprog

    width, n_planes = objective.shape
    table = np.column_stack([np.ones(len(held)), of_x.apply(rows.take(held))]) / units
    codes = np.asarray(rows.y)[held]
    constraints = []
    for row, code in zip(table, codes, strict=True):
        if n_planes == 1:
            constraints.append((2.0 * code - 1.0) * row)
            continue
        for k in set(range(n_planes)) - {int(code)}:
            one = np.zeros((width, n_planes))
            one[:, code], one[:, k] = row, -row
            constraints.append(one.ravel())
    bounds = np.tile([-1.0, 1.0], (objective.size, 1))
    if not intercept:
        bounds[:n_planes] = 0.0
    size = np.abs(objective).max(initial=0.0)
    found = linprog(
        -objective.ravel() / (size or 1.0),
        A_ub=-np.array(constraints),
        b_ub=np.zeros(len(constraints)),
        bounds=bounds,
        method="highs",
    )
    return np.zeros_like(objective) if found.x is None else found.x.reshape(objective.shape)
