"""How good a plane is for the margin, and how much better any plane could be.

For labels yᵢ = ±1, costs Cᵢ and mᵢ = yᵢ(w·xᵢ + b) − 1, what a row lies above or below the margin, the problems are

    P(w, b) = ½Σpⱼwⱼ² + Σ Cᵢ max(0, −mᵢ)     (hinge)    or    ½Σpⱼwⱼ² + Σ Cᵢ max(0, −mᵢ)²     (squared hinge).

Multipliers 0 ≤ αᵢ ≤ Cᵢ (squared hinge: 0 ≤ αᵢ) with Σαᵢyᵢ = 0 bound every plane from below: with ρ = Σαᵢyᵢxᵢ − pw,

    P ≥ D = ½Σpⱼwⱼ² − Σαᵢmᵢ − ½Σρⱼ²/pⱼ       less Σαᵢ²/(4Cᵢ) for the squared hinge,

for any w that D is written with. The **gap** P − D is the certificate: no plane is better by more. What in ρ
cannot be told from the rounding of its own sum does not count; on columns that are huge, nothing could be
proved otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .design import Design, Floats, Plane

EPS = float(np.finfo(np.float64).eps)
# Sums of products with multipliers that were moved some ten times are off by so many roundings of their parts.
ROUNDINGS = 64


@dataclass(frozen=True)
class MarginProblem:
    """Rows on two sides, and what it costs to have them on the wrong side of the margin.

    Attributes
    ----------
    design : Design
    side : (n_rows,) yᵢ, 1 or −1
    cost : (n_rows,) Cᵢ, positive
    squared : whether the loss is squared
    """

    design: Design
    side: Floats
    cost: Floats
    squared: bool

    def surplus(self, plane: Plane) -> Floats:
        """Return mᵢ, how far each row lies beyond its margin."""
        return self.side * self.design.scores(plane) - 1

    def loss(self, surplus: Floats) -> float:
        short = np.maximum(-surplus, 0.0)
        return float(self.cost @ (short * short if self.squared else short))

    def length(self, weights: Floats) -> float:
        """Return ½Σpⱼwⱼ²."""
        return 0.5 * float(self.design.penalty @ weights**2)

    def missing(self, off: Floats, total: float) -> float:
        """Return ½Σρⱼ²/pⱼ, less what rounding may have added to ρ, given Σαᵢ."""
        beyond = np.maximum(np.abs(off) - ROUNDINGS * EPS * total * self.design.sizes, 0.0)
        with np.errstate(over="ignore"):
            return 0.5 * float((beyond**2 / self.design.penalty).sum())


class Certificate(NamedTuple):
    """P and D of a plane with multipliers, and their difference relative to P (or to 1 if P is 0)."""

    plane: Plane
    alpha: Floats
    objective: float
    bound: float

    @property
    def gap(self) -> float:
        distance = max(self.objective - self.bound, 0.0)
        return distance / self.objective if self.objective > 0 else distance

    def as_notes(self) -> dict[str, Any]:
        """Return all of it under names that a checkpoint can keep beside others."""
        (weights, intercept), alpha, objective, bound = self
        return {
            "best_weights": weights, "best_intercept": intercept, "best_alpha": alpha,
            "best_objective": objective, "best_bound": bound,
        }  # fmt: skip

    @staticmethod
    def from_notes(known: Mapping[str, Any]) -> "Certificate | None":
        """Return what was noted; None if nothing was."""
        if "best_alpha" not in known:
            return None
        plane = Plane(known["best_weights"], float(known["best_intercept"]))
        return Certificate(
            plane, known["best_alpha"], float(known["best_objective"]), float(known["best_bound"])
        )


def certify(problem: MarginProblem, plane: Plane, alpha: Floats) -> Certificate:
    """Compute P and D anew, with multipliers that are balanced first if there is an intercept."""
    design = problem.design
    if design.intercept:
        alpha = balanced(alpha, problem.side, np.inf if problem.squared else problem.cost)
    surplus = problem.surplus(plane)
    objective = problem.length(plane.weights) + problem.loss(surplus)
    off = design.combine(alpha * problem.side) - design.penalty * plane.weights
    missing = problem.missing(off, float(alpha.sum()))
    bound = problem.length(plane.weights) - float(alpha @ surplus) - missing
    if problem.squared:
        bound -= 0.25 * float((alpha**2 / problem.cost).sum())
    return Certificate(plane, alpha, objective, bound)


def balanced(alpha: Floats, side: Floats, most: Floats | float = np.inf) -> Floats:
    """Scale multipliers of the heavier side down, so that both sides weigh the same.

    Those on their bound, `most`, stay there if the others suffice.
    """
    excess = float(alpha @ side)
    if abs(excess) <= ROUNDINGS * EPS * float(alpha.sum()):
        return alpha
    heavier = side == np.sign(excess)
    between = heavier & (alpha < most)
    if float(alpha[between].sum()) < abs(excess):
        between = heavier
    total = float(alpha[between].sum())
    return np.where(between, alpha * (1 - min(abs(excess) / total, 1.0)), alpha)


def best_intercept(problem: MarginProblem, plane: Plane) -> Plane:
    """Return the plane with its weights and the best intercept for them; the middle of several."""
    score = problem.design.scores(Plane(plane.weights, 0.0))
    # At these intercepts a row enters its margin (on the positive side, from above) or leaves it.
    kinks = problem.side - score
    find = squared_middle if problem.squared else hinge_middle
    return Plane(plane.weights, find(kinks, problem.side, problem.cost))


def lifted(problem: MarginProblem, plane: Plane) -> Plane:
    """Return a plane that separates the sides made so much steeper that no row lies inside its margin."""
    for roundings in (0, 1, 8, 64):
        nearest = 1 + float(problem.surplus(plane).min())
        if nearest >= 1 or not nearest > 0:
            break
        factor = (1 + roundings * EPS) / nearest
        plane = Plane(factor * plane.weights, factor * plane.intercept)
    return plane


def hinge_middle(kinks: Floats, side: Floats, cost: Floats) -> float:
    """Minimise Σ Cᵢ max(0, yᵢ(kᵢ − b)) over b.

    The slope is −ΣCᵢ over positive rows with kᵢ > b plus ΣCᵢ over negative rows with kᵢ < b: it begins at minus the
    cost of the positive rows and rises by Cᵢ at every kink, whatever the side.
    """
    order = np.argsort(kinks, kind="stable")
    slope = np.cumsum(cost[order]) - cost[side > 0].sum()
    level = 1e-12 * cost.sum()
    first = int(np.searchsorted(slope, -level))
    last = int(np.searchsorted(slope, level))
    sorted_kinks = kinks[order]
    n = len(kinks)
    low, high = sorted_kinks[min(first, n - 1)], sorted_kinks[min(last, n - 1)]
    return float(0.5 * (low + high))


def squared_middle(kinks: Floats, side: Floats, cost: Floats) -> float:
    """Minimise Σ Cᵢ max(0, yᵢ(kᵢ − b))² over b: half its slope is Σ Cᵢ(b − kᵢ) over the rows inside."""
    positive = side > 0
    up, down = np.argsort(kinks[positive], kind="stable"), np.argsort(kinks[~positive], kind="stable")
    above, below = kinks[positive][up], kinks[~positive][down]
    weight_above, weight_below = cost[positive][up], cost[~positive][down]

    def fitted(b: float) -> tuple[float, float]:
        """Return the slope at b and the mean of the kinks inside."""
        first, last = np.searchsorted(above, b, side="right"), np.searchsorted(below, b)
        weight = weight_above[first:].sum() + weight_below[:last].sum()
        total = weight_above[first:] @ above[first:] + weight_below[:last] @ below[:last]
        return float(weight * b - total), float(total / weight) if weight > 0 else b

    low, high = min(above[0], below[0]), max(above[-1], below[-1])
    if below[0] >= above[-1]:  # nobody is inside between them
        return float(0.5 * (above[-1] + below[0]))
    b = float(0.5 * (low + high))
    for _ in range(100):  # Newton's method on a convex piecewise quadratic, kept within a bracket
        slope, mean = fitted(b)
        if slope == 0 or mean == b:
            break
        if slope > 0:
            high = b
        else:
            low = b
        b = mean if low < mean < high else float(0.5 * (low + high))
        if high - low <= EPS * max(abs(low), abs(high)):
            break
    return b
