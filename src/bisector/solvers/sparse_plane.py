"""A plane with few weights: the squared hinge under an absolute penalty (Yuan, Chang, Hsieh and Lin 2010).

The problem, in the words of `hinge_certificate`, is to minimise

    P(w, b) = Σpⱼ|wⱼ| + ΣCᵢ max(0, −mᵢ)².

One weight after the other takes a Newton step, shortened until it gains, and the intercept its best place after
every round. Multipliers α ≥ 0 with Σαᵢyᵢ = 0 and |Σαᵢyᵢxᵢⱼ| ≤ pⱼ for every j bound every plane from below,

    P ≥ D = Σαᵢ − Σαᵢ²/(4Cᵢ);

those of the loss, αᵢ = 2Cᵢ max(0, −mᵢ), satisfy this after they are scaled. P − D is the certificate.
"""

from typing import Any

import numpy as np

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import Bar

from .design import Design, Floats, Plane
from .dual_coordinate import skip_draws
from .hinge_certificate import EPS, ROUNDINGS, Certificate, MarginProblem, balanced, squared_middle

# Rounds between two measurements of the gap.
ROUNDS = 5


def sparse_plane(
    problem: MarginProblem,
    X: Any,
    *,
    tol: float,
    max_iter: int,
    rng: np.random.Generator,
    bar: Bar,
    kept: Checkpoint = NOWHERE,
) -> tuple[Certificate, int]:
    """Return a plane with its multipliers and certificate, and the number of rounds.

    Parameters
    ----------
    problem : MarginProblem
        With the squared hinge loss.
    X : array or CSR matrix
        All rows, in the coordinates of the problem's design.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        The most rounds.
    rng : Generator
        Decides on the order of the weights.
    bar : Bar
    kept : Checkpoint, optional
        Where to note weights and slacks after every round.
    """
    from bisector.engine.loops import given

    from .dual_coordinate_loops import shuffle
    from .sparse_plane_loops import sweep

    design, d = problem.design, X.shape[1]
    price = absolute_price(design)
    columns = _as_columns(X)
    side, cost = given(problem.side), given(problem.cost)
    w, b, surplus = np.zeros(d), 0.0, np.full(len(side), -1.0)
    active, n_active, sums, limit = np.arange(d), d, np.zeros(2), np.inf
    best: Certificate | None = None
    before, drawn = 0, 0
    known = kept.recall("rounds")
    if known is not None:
        w, surplus, active = known["w"], known["surplus"], known["active"]
        n_active, before, drawn = known["counts"].tolist()
        b, limit, best = float(known["b"]), float(known["limit"]), Certificate.from_notes(known)
        skip_draws(rng, drawn)
    for iteration in range(before + 1, max_iter + 1):
        if design.intercept:
            moved = squared_middle(b - problem.side * surplus, problem.side, problem.cost)
            surplus += problem.side * (moved - b)
            b = moved
        shuffle(given(rng.random(n_active)), n_active, active)
        drawn += n_active
        met = n_active
        n_active = sweep(
            *columns, given(price), side, cost, w, surplus, active, met, limit, np.zeros(2), sums
        )
        limit = min(1.0, 2 * float(sums[1]) / max(met, 1))
        bar.advance(note=f"slope {sums[0]:.1e}")
        if iteration % ROUNDS == 0 or sums[0] <= 0.1 * tol or iteration == max_iter:
            found = certify_sparse(problem, Plane(w.copy(), b), price)
            best = found if best is None or found.gap < best.gap else best
            if best.gap <= tol or iteration == max_iter:
                return best, iteration
            surplus = problem.surplus(Plane(w, b))  # rounding of many small moves
            if sums[0] <= 0.1 * tol or n_active == 0:
                n_active, limit = d, np.inf
        kept.note(
            "rounds",
            w=w,
            surplus=surplus,
            active=active,
            counts=(n_active, iteration, drawn),
            b=b,
            limit=limit,
            **(best.as_notes() if best else {}),
        )
    raise AssertionError("the last round returns")


def absolute_price(design: Design) -> Floats:
    """Return what |w| of each column counts in the design's coordinates."""
    scale = design.coordinates.scale
    return np.where(scale > 0, scale, 1.0)


def certify_sparse(problem: MarginProblem, plane: Plane, price: Floats) -> Certificate:
    """Compute P and D anew."""
    design = problem.design
    if design.intercept:
        kinks = problem.side - design.scores(Plane(plane.weights, 0.0))
        plane = Plane(plane.weights, squared_middle(kinks, problem.side, problem.cost))
    surplus = problem.surplus(plane)
    objective = float(price @ np.abs(plane.weights)) + problem.loss(surplus)
    alpha = 2 * problem.cost * np.maximum(-surplus, 0.0)
    if design.intercept:
        alpha = balanced(alpha, problem.side)
    pulls = np.abs(design.combine(alpha * problem.side))
    excess = float((pulls / price).max(initial=0.0))
    if excess > 2:  # on columns that are huge, rounding alone could make it so
        rounding = ROUNDINGS * EPS * design.sizes * float(alpha.sum())
        excess = float((np.maximum(pulls - rounding, 0.0) / price).max(initial=0.0))
    total, squares = float(alpha.sum()), 0.25 * float((alpha**2 / problem.cost).sum())
    share = min(1 / excess if excess > 1 else 1.0, 0.5 * total / squares if squares > 0 else 1.0)
    alpha = share * alpha
    return Certificate(plane, alpha, objective, share * total - share**2 * squares)


def _as_columns(X: Any) -> tuple[Any, Any, Any]:
    """Present columns to the loops: values one column after the other, their rows (none if dense), their begins."""
    from bisector.engine.loops import given

    if hasattr(X, "tocsr"):
        X = X.tocsc()
        return given(X.data), given(X.indices, np.int64), given(X.indptr, np.int64)
    n, d = X.shape
    return given(given(X.T).reshape(-1)), given(np.empty(0, np.int64)), given(np.arange(d + 1) * n)
