"""The squared-hinge plane by Newton's method (Mangasarian 2002; Keerthi and DeCoste 2005).

P(w, b) = ½Σpⱼwⱼ² + ΣCᵢ max(0, −mᵢ)² is convex, and quadratic as long as the same rows lie inside their margin.
A Newton step solves (diag(p) + 2XᵀCX)Δ = −∇P over these rows, and the best point on its line is found exactly.
Once the rows inside are the right ones, a step lands on the minimum itself: after about ten steps the gap is
rounding. The multipliers that certify it are αᵢ = 2Cᵢ max(0, −mᵢ).

What a checkpoint keeps are the steps: where rows lie follows from them, in one pass.
"""

from typing import Any

import numpy as np

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import Bar

from .design import Floats, Plane, Sums, score, solve_positive
from .hinge_certificate import Certificate, MarginProblem, best_intercept, certify

# Relative to P, what a step gains less than this is rounding.
LEAST_GAIN = 1e-20


def squared_hinge_newton(
    problem: MarginProblem, *, max_iter: int, bar: Bar, kept: Checkpoint = NOWHERE
) -> tuple[Certificate, int]:
    """Return a plane with its multipliers and certificate, and the number of steps.

    Steps are taken until nothing is left to gain: the last of them gain all digits at once.

    Parameters
    ----------
    problem : MarginProblem
        With the squared hinge loss.
    max_iter : int
    bar : Bar
    kept : Checkpoint, optional
        Where to note the steps.
    """
    design, d = problem.design, problem.design.rows.n_features
    solution, surplus = np.zeros(design.width), np.full(len(problem.side), -1.0)
    directions: list[Floats] = []
    lengths: list[float] = []
    last = np.inf
    known = kept.recall("newton")
    if known is not None:
        directions, lengths = list(known["directions"]), known["lengths"].tolist()
        last = float(known["last"])
        for direction, length in zip(directions, lengths, strict=True):
            solution += length * direction
        surplus = design.each(walk, problem.side, directions, lengths)
    for iteration in range(len(lengths), max_iter + 1):
        short = np.maximum(-surplus, 0.0)
        matrix, towards = design.sum(curve, problem, short).sums
        towards[:d] -= design.penalty * solution[:d]
        matrix[np.arange(d), np.arange(d)] += design.penalty
        direction = solve_positive(matrix, towards)
        objective = problem.length(solution[:d]) + problem.loss(surplus)
        gain = 0.5 * float(direction @ towards) / max(objective, 1e-300)
        bar.advance(note=f"to gain {gain:.1e}")
        # Near the minimum a step squares the error; one that does not even halve it works on rounding.
        if gain <= LEAST_GAIN or (gain < 1e-10 and gain > 0.5 * last) or iteration == max_iter:
            break
        ahead = problem.side * design.scores(_plane(direction, d))
        step = best_step(problem, solution[:d], direction[:d], surplus, ahead)
        solution += step * direction
        surplus += step * ahead
        last = gain
        directions.append(direction)
        lengths.append(step)
        kept.note("newton", directions=directions, lengths=lengths, last=last)
    plane = _plane(solution, d)
    if design.intercept:
        plane = best_intercept(problem, plane)
    alpha = 2 * problem.cost * np.maximum(-problem.surplus(plane), 0.0)
    return certify(problem, plane, alpha), iteration


def curve(X: Any, rows: slice, problem: MarginProblem, short: Floats) -> Sums:
    """Sum the second derivatives over the rows inside their margin, and the slope that the loss adds."""
    design = problem.design
    inside = np.flatnonzero(short[rows])
    pull = problem.side[rows][inside] * short[rows][inside]
    joint = design.products(X[inside], pull[:, None], 2 * problem.cost[rows][inside])
    return Sums((joint[:-1, :-1], joint[:-1, -1].copy()))


def walk(X: Any, rows: slice, side: Floats, directions: list[Floats], lengths: list[float]) -> Floats:
    """Return mᵢ of some rows after these steps, each taken as it was at first, so that no bit differs."""
    surplus = np.full(X.shape[0], -1.0)
    for direction, length in zip(directions, lengths, strict=True):
        surplus += length * (side[rows] * score(X, rows, _plane(direction, X.shape[1])))
    return surplus


def best_step(
    problem: MarginProblem, weights: Floats, direction: Floats, surplus: Floats, ahead: Floats
) -> float:
    """Find the step t that minimises P along a line: its slope rises along straight pieces."""
    slope_at_0 = float(problem.design.penalty @ (weights * direction))
    rise = float(problem.design.penalty @ direction**2)
    low, high, step = 0.0, np.inf, 1.0
    weighted = 2 * problem.cost * ahead
    for _ in range(60):
        reached = surplus + step * ahead
        slope = slope_at_0 + step * rise + float(weighted @ np.minimum(reached, 0.0))
        curvature = rise + float(weighted @ np.where(reached < 0, ahead, 0.0))
        if slope > 0:
            high = step
        else:
            low = step
        if curvature <= 0 or abs(slope) <= 1e-14 * curvature * step:
            break
        following = step - slope / curvature
        if not low < following < high:
            following = 0.5 * (low + high) if np.isfinite(high) else 2 * step
        if following == step:
            break
        step = following
    return step


def _plane(solution: Floats, d: int) -> Plane:
    return Plane(solution[:d].copy(), float(solution[d]) if len(solution) > d else 0.0)
