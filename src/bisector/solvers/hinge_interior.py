"""The hinge-loss plane by an interior-point method (Mehrotra 1992; Ferris and Munson 2002).

With slacks sᵢ, ξᵢ ≥ 0 and multipliers αᵢ = Cᵢaᵢ, a plane is best if and only if

    pw = Σαᵢyᵢxᵢ,    Σαᵢyᵢ = 0,    yᵢ(w·xᵢ + b) − 1 = sᵢ − ξᵢ,    aᵢsᵢ = 0,    (1 − aᵢ)ξᵢ = 0.

The last two are relaxed to μ, which goes to zero. Newton's equations for all of them come down to one system as
wide as a plane, (diag(p) + XᵀΘX)Δw = r with Θᵢ = Cᵢ / (sᵢ/aᵢ + ξᵢ/(1 − aᵢ)), so that a step costs three passes
over the rows, and steps number about fifteen whatever the data: badly scaled columns and large C included.

As the products are relaxed to μ per unit of cost, a row of cost 2C takes the path of two rows of cost C.

The state of a row follows from the steps taken, which are all that a checkpoint keeps. Tasks cannot write where
other processes read: of rows that are elsewhere the state is kept here, and what moves them is fetched.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import Bar

from .design import Design, Floats, Plane, Sums, solve_positive
from .hinge_certificate import Certificate, MarginProblem, best_intercept, certify

# How far a step goes towards the first bound in its way.
SHARE_OF_STEP = 0.995
# Smaller products are rounding.
LEAST_PRODUCT = 1e-15
# No multiplier may be on its bound by rounding.
ALMOST_ONE = 1 - 2.0**-53


class Interior(NamedTuple):
    """The state of every row, and the direction in which it moves."""

    side: Floats
    cost: Floats
    a: Floats
    s: Floats
    xi: Floats
    da: Floats
    ds: Floats
    dxi: Floats


class Step(NamedTuple):
    """A step of the plane: the direction that was tried, the one that was taken, the μ aimed at, and how far."""

    first: Floats
    direction: Floats
    mu: float
    length: float = 0.0


def hinge_interior(
    problem: MarginProblem, *, tol: float, max_iter: int, bar: Bar, kept: Checkpoint = NOWHERE
) -> tuple[Certificate, int]:
    """Return a plane with its multipliers and certificate, and the number of steps.

    Parameters
    ----------
    problem : MarginProblem
        With the hinge loss.
    tol : float
        Relative gap at which to stop.
    max_iter : int
    bar : Bar
    kept : Checkpoint, optional
        Where to note the steps.
    """
    design, total = problem.design, float(problem.cost.sum())
    d, width = design.rows.n_features, design.width
    state, solution = begin(problem), np.zeros(width)
    alpha = state.cost * state.a * state.side
    # What is missing in the two equations of the multipliers; steps shrink it.
    off = np.append(design.combine(alpha) - design.penalty * solution[:d], alpha.sum())[:width]
    taken: list[Step] = []
    target, best, best_at = 5 * tol, None, -1
    known = kept.recall("interior point")
    if known is not None:
        taken = [
            Step(first, direction, float(mu), float(length))
            for first, direction, mu, length in zip(
                known["first"], known["direction"], known["mu"], known["length"], strict=True
            )
        ]
        target, best_at = float(known["target"]), int(known["best_at"])
        if best_at >= 0:
            best = finish(problem, *_position(problem, taken[:best_at]), tol)
        state = _retraced(problem, taken)
        for step in taken:
            solution += step.length * step.direction
            off *= 1 - step.length
    elsewhere = design.rows.executor is not None
    for iteration in range(len(taken), max_iter + 1):
        length = taken[-1].length if taken else 0.0
        if elsewhere:
            move(state, length)
            length = 0.0
        with np.errstate(over="ignore", invalid="ignore"):  # noticed below
            gram, towards, centring, loss, bound, products = design.sum(advance, state, length, design).sums
        cost = problem.length(solution[:d])
        bound = cost + bound - problem.missing(off[:d], float(state.cost @ state.a))
        objective = cost + loss
        gap, mu = (objective - bound) / max(objective, 1e-300), products / (2 * total)
        bar.advance(note=f"gap {gap:.1e}")
        stuck = iteration == max_iter or mu < LEAST_PRODUCT or not np.isfinite(gram).all()
        if gap <= target or stuck:
            found = finish(problem, _plane(solution, d), state, tol)
            if best is None or found.gap < best.gap:
                best, best_at = found, iteration
            if best.gap <= tol or stuck:
                return best, iteration
            target = 0.3 * gap
        gram[np.arange(d), np.arange(d)] += design.penalty
        first = solve_positive(gram, np.column_stack([towards + off, centring]))
        aim = first[:, 0].copy()
        tried = design.sum(predict, state, aim, design.intercept, not elsewhere)
        correction, linear, quadratic = tried.sums
        reach = min(1.0, tried.least)
        left = (products + reach * (linear + reach * quadratic)) / products
        wanted = mu * min(max(left, 0.0), 1.0) ** 3
        direction = aim + wanted * first[:, 1] + solve_positive(gram, correction)
        step = Step(aim, direction, wanted)
        if elsewhere:
            moves = design.each(turn, state, step, design.intercept)
            state.da[:], state.ds[:], state.dxi[:] = moves.T
            reach = _reach(*state[2:])
        else:
            reach = design.sum(correct, state, step, design.intercept).least
        taken.append(step._replace(length=min(1.0, SHARE_OF_STEP * reach)))
        solution += taken[-1].length * direction
        off *= 1 - taken[-1].length
        columns = dict(zip(Step._fields, zip(*taken, strict=True), strict=True))
        kept.note("interior point", **columns, target=target, best_at=best_at)
    raise AssertionError("the last iteration returns")


def begin(problem: MarginProblem) -> Interior:
    """Put every row in the middle, with w = 0 and b = 0: s − ξ = −1, and multipliers that balance the sides."""
    n = len(problem.side)
    positive = problem.side > 0
    on_positive, on_negative = problem.cost[positive].sum(), problem.cost[~positive].sum()
    lighter = min(on_positive, on_negative)
    a = np.where(positive, 0.5 * lighter / on_positive, 0.5 * lighter / on_negative)
    return Interior(problem.side, problem.cost, a, np.ones(n), np.full(n, 2.0), *np.zeros((3, n)))


def advance(X: Any, rows: slice, state: Interior, step: float, design: Design) -> Sums:
    """Move some rows, and sum what the next step is made of."""
    part = Interior(*(array[rows] for array in state))
    move(part, step)
    side, cost, a, s, xi, *_ = part
    rest, surplus = 1 - a, s - xi
    theta = cost / (s / a + xi / rest)
    pulls = np.stack([-surplus * side, (1 / a - 1 / rest) * side], axis=1)
    products = design.products(X, pulls, theta)
    width = len(products) - 2
    return Sums(
        (
            products[:width, :width],
            products[:width, width],
            products[:width, width + 1],
            float(cost @ np.maximum(-surplus, 0.0)),
            -float((cost * a) @ surplus),
            float(cost @ (a * s + rest * xi)),
        )
    )


def move(part: Interior, length: float) -> None:
    """Move rows in the direction they have."""
    if length:
        np.clip(part.a + length * part.da, LEAST_PRODUCT**2, ALMOST_ONE, out=part.a)
        part.s[:] += length * part.ds
        part.xi[:] += length * part.dxi


def predict(X: Any, rows: slice, state: Interior, direction: Floats, intercept: bool, noted: bool) -> Sums:
    """Try the step to μ = 0: what it leaves of the products, and the terms of second order to correct for."""
    side, cost, a, s, xi, *_ = part = tuple(array[rows] for array in state)
    da, ds, dxi = _moves(X, part, direction, 0.0, 0.0, intercept)
    rest = 1 - a
    theta = cost / (s / a + xi / rest)
    if noted:  # for the correction
        state.ds[rows], state.dxi[rows] = da * ds, da * dxi
    pull = -theta * side * (da * ds / a + da * dxi / rest)
    linear = float(cost @ (a * ds + s * da + rest * dxi - xi * da))
    return Sums(
        (_bordered(X, pull, intercept), linear, float(cost @ (da * ds - da * dxi))),
        _reach(a, s, xi, da, ds, dxi),
    )


def correct(X: Any, rows: slice, state: Interior, step: Step, intercept: bool) -> Sums:
    """Find how the rows move, and how far they can."""
    part = tuple(array[rows] for array in state)
    below, above = step.mu - state.ds[rows], step.mu + state.dxi[rows]
    moves = _moves(X, part, step.direction, below, above, intercept)
    state.da[rows], state.ds[rows], state.dxi[rows] = moves
    return Sums((), _reach(part[2], part[3], part[4], *moves))


def turn(X: Any, rows: slice, state: Interior, step: Step, intercept: bool) -> Floats:
    """Return how some rows move, as columns: what `predict` and `correct` find, without writing anything."""
    part = tuple(array[rows] for array in state)
    da, ds, dxi = _moves(X, part, step.first, 0.0, 0.0, intercept)
    moves = _moves(X, part, step.direction, step.mu - da * ds, step.mu + da * dxi, intercept)
    return np.stack(moves, axis=1)


def retrace(X: Any, rows: slice, state: Interior, taken: Sequence[Step], intercept: bool) -> Floats:
    """Return a, s, ξ and their moves of some rows after these steps, as columns; the last is not yet made."""
    part = Interior(*(array[rows].copy() for array in state))
    everyone = slice(None)
    for number, step in enumerate(taken):
        move(part, taken[number - 1].length if number else 0.0)
        part.da[:], part.ds[:], part.dxi[:] = turn(X, everyone, part, step, intercept).T
    return np.stack(part[2:], axis=1)


def _retraced(problem: MarginProblem, taken: Sequence[Step]) -> Interior:
    """Return the state of all rows after these steps, in one pass; the last is not yet made."""
    design, state = problem.design, begin(problem)
    rows = design.each(retrace, state, taken, design.intercept)
    return Interior(problem.side, problem.cost, *(column.copy() for column in rows.T))


def _position(problem: MarginProblem, taken: Sequence[Step]) -> tuple[Plane, Interior]:
    """Return the plane and the rows where these steps lead."""
    solution, state = np.zeros(problem.design.width), _retraced(problem, taken)
    for step in taken:
        solution += step.length * step.direction
    move(state, taken[-1].length if taken else 0.0)
    return _plane(solution, problem.design.rows.n_features), state


def _moves(
    X: Any, part: tuple[Floats, ...], direction: Floats, below: Any, above: Any, intercept: bool
) -> tuple[Floats, Floats, Floats]:
    """Return Δa, Δs, Δξ of some rows for a step of the plane; products go to `below` (a·s) and `above`."""
    side, _, a, s, xi, *_ = part
    d, rest = X.shape[1], 1 - a
    ahead = side * (np.asarray(X @ direction[:d]) + (direction[d] if intercept else 0.0))
    da = (below / a - s - above / rest + xi - ahead) / (s / a + xi / rest)
    return da, (below - s * da) / a - s, (above + xi * da) / rest - xi


def _reach(a: Floats, s: Floats, xi: Floats, da: Floats, ds: Floats, dxi: Floats) -> float:
    """Return how many times the moves can be made before the first bound is met."""
    speed = max((-da / a).max(), (da / (1 - a)).max(), (-ds / s).max(), (-dxi / xi).max())
    return float(1 / speed) if speed > 0 else np.inf


def _bordered(X: Any, multipliers: Floats, intercept: bool) -> Floats:
    """Return [X 1]ᵀv."""
    combined = np.asarray(X.T @ multipliers)
    return np.append(combined, multipliers.sum()) if intercept else combined


def _plane(solution: Floats, d: int) -> Plane:
    return Plane(solution[:d].copy(), float(solution[d]) if len(solution) > d else 0.0)


def finish(problem: MarginProblem, plane: Plane, state: Interior, tol: float) -> Certificate:
    """Certify the plane with the best intercept for its weights; with multipliers on their bounds, if that serves.

    Inside, no multiplier is quite 0 or Cᵢ; each is put on the bound that it is nearer to than its row to the
    margin. Commonly that makes the gap smaller.
    """
    if problem.design.intercept:
        plane = best_intercept(problem, plane)
    a = np.where(state.a < state.s, 0.0, np.where(1 - state.a < state.xi, 1.0, state.a))
    on_bounds = certify(problem, plane, state.cost * a)
    if on_bounds.gap <= tol:
        return on_bounds
    inside = certify(problem, plane, state.cost * state.a)
    return on_bounds if on_bounds.gap <= inside.gap else inside
