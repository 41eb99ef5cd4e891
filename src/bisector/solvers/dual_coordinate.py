"""The plane of either hinge loss by dual coordinate descent (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008).

The dual problem in the multipliers alone is, with e = 0 for the hinge and eᵢ = 1/(2Cᵢ) for its square,

    min ½‖Σαᵢyᵢxᵢ‖² + ½Σeᵢαᵢ² − Σαᵢ    over 0 ≤ αᵢ ≤ Cᵢ (squared hinge: 0 ≤ αᵢ)    with Σαᵢyᵢ = 0.

One multiplier after the other moves to where it is best, while w = Σαᵢyᵢxᵢ is kept up to date: a move costs as
much as the row has values, whatever the number of features. The equation, which stands for an intercept that is
not penalised, is not kept but priced: its price is the intercept, and after every round b grows by κΣαᵢyᵢ (the
method of multipliers; Bertsekas 1982), with κ the mean squared length of the rows. Within a few rounds it
holds.

Rows that rest at a bound are left out of the rounds until the gap is measured on all of them.
"""

from typing import Any

import numpy as np

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import Bar

from .design import Floats, Plane
from .hinge_certificate import Certificate, MarginProblem, best_intercept, certify

# Rounds before rows are left out, and before moves overshoot.
FULL_ROUNDS, CAUTIOUS_ROUNDS = 3, 4
# By how much moves overshoot: a valley is crossed rather than descended into.
RELAXATION = 1.3
# A row at a bound is left out if it is pulled beyond it by so many times the mean pull on all rows.
TIMES_THE_MEAN = 2.0


def dual_coordinate(
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
    X : array or CSR matrix
        All rows, in the coordinates of the problem's design, which must not be scaled.
    tol : float
        Relative gap at which to stop.
    max_iter : int
        The most rounds.
    rng : Generator
        Decides on the order in which multipliers move.
    bar : Bar
    kept : Checkpoint, optional
        Where to note the multipliers after every round.
    """
    from bisector.engine.loops import given

    from .dual_coordinate_loops import descend, shuffle, squared_lengths

    (n, d), C = X.shape, problem.cost
    values, columns, starts = _as_rows(X)
    lengths = np.empty(n)
    squared_lengths(values, starts, lengths)
    price = (float(lengths.mean()) or 1.0) if problem.design.intercept else 0.0
    softness = 0.5 / C if problem.squared else np.zeros(n)
    curvature = np.maximum(lengths + price + softness, np.finfo(np.float64).tiny)
    fixed = given(problem.side), given(C), given(softness), given(curvature)
    alpha, w, intercept = np.zeros(n), np.zeros(d), np.array([0.0, price])
    active, n_active, limits, sums = np.arange(n), n, np.array([-np.inf, np.inf]), np.zeros(5)
    best: Certificate | None = None
    threshold, since, before, drawn = 1.5 * tol, 0, 0, 0
    known = kept.recall("rounds")
    if known is not None:
        alpha, w, intercept, active, limits = (
            known[name] for name in ("alpha", "w", "intercept", "active", "limits")
        )
        n_active, since, before, drawn = known["counts"].tolist()
        threshold, best = float(known["threshold"]), Certificate.from_notes(known)
        skip_draws(rng, drawn)
    for iteration in range(before + 1, max_iter + 1):
        shuffle(given(rng.random(n_active)), n_active, active)
        drawn += n_active
        relaxation = RELAXATION if iteration > CAUTIOUS_ROUNDS else 1.0
        met = n_active
        n_active = descend(
            values, columns, starts, *fixed, alpha, w, intercept, active, met, relaxation, limits, sums
        )
        intercept[0] += price * float(alpha @ problem.side)
        loss, products, soft, pulled, strongest = sums
        # What the rows had told of the gap when they were met, the ones left out not counted.
        told = (loss + products + soft) / max(0.5 * float(w @ w) + loss, 1e-300)
        bar.advance(note=f"gap {told:.1e}")
        limits[:] = np.inf
        if since >= FULL_ROUNDS:
            limits[:] = TIMES_THE_MEAN * pulled / met
        limits[0] *= -1
        since += 1
        settled = n_active == 0 or strongest == 0
        if told <= threshold or settled or iteration == max_iter:
            plane = Plane(w.copy(), float(intercept[0]))
            if problem.design.intercept:
                plane = best_intercept(problem, plane)
            found = certify(problem, plane, alpha.copy())
            best = found if best is None or found.gap < best.gap else best
            if best.gap <= tol or iteration == max_iter or (settled and met == n):
                return best, iteration
            threshold = 0.6 * min(told, threshold)
            if n_active < n:
                n_active, since = n, FULL_ROUNDS - 1
                limits[:] = -np.inf, np.inf
        kept.note(
            "rounds",
            alpha=alpha,
            w=w,
            intercept=intercept,
            active=active,
            limits=limits,
            counts=(n_active, since, iteration, drawn),
            threshold=threshold,
            **(best.as_notes() if best else {}),
        )
    raise AssertionError("the last round returns")


def skip_draws(rng: np.random.Generator, count: int) -> None:
    """Leave a generator as if so many uniform numbers had been drawn from it."""
    source: Any = rng.bit_generator
    source.advance(count)


def _as_rows(X: Any) -> tuple[Floats, Any, Any]:
    """Present rows to the loops: their values, the columns of these (none if dense), and where rows begin."""
    from bisector.engine.loops import given

    if hasattr(X, "tocsr"):
        return given(X.data), given(X.indices, np.int64), given(X.indptr, np.int64)
    n, d = X.shape
    return given(given(X).reshape(-1)), given(np.empty(0, np.int64)), given(np.arange(n + 1) * d)
