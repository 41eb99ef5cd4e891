"""The perceptron with a penalty: steps of stochastic gradient descent on

    (1/n) Σ max(0, −y_i (w·x_i + b)) + α (ρ ‖w‖₁ + (1 − ρ)/2 ‖w‖²).

Every visit to a row shrinks w by the penalty, and a mistake steps towards the row as without one. The L1 part
is the cumulative penalty of Tsuruoka, Tsujii and Ananiadou (2009), which cuts each weight to zero and not
beyond. The weights end where steps and penalty balance, with the step length as it was: near a minimum and not
at it. Weights are no longer a sum over mistakes, so that neither Novikoff's bound nor a margin bound holds, and
nothing is proven.
"""

from math import inf
from typing import Any

import numpy as np

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import track
from bisector.solvers.perceptron_notes import passes_a_note
from bisector.solvers.perceptron_pass import Floats, Integers, PerceptronWalk, Settings, TooLargeError, Visits


def penalised_perceptron(
    rows: Any,
    labels: Integers,
    visits: Visits,
    start: Floats,
    settings: Settings,
    *,
    alpha: float,
    l1_ratio: float,
    weights: Floats | None = None,
    kept: Checkpoint = NOWHERE,
) -> PerceptronWalk:
    """Walk until no mistake is made, or until the loss no longer falls.

    Parameters
    ----------
    rows, labels, visits, start, settings : as for `perceptron`
        The walk ends when the loss of a pass has not been below the lowest so far by `tol` a row, for `patience`
        passes.
    alpha, l1_ratio : float
        α and ρ.
    weights : ndarray of shape (n_rows,), optional
        Factors of the steps.
    kept : Checkpoint, optional
        Where to note what the next pass begins with.

    Returns
    -------
    PerceptronWalk
        The objective is the loss of the last pass.
    """
    from bisector.engine.loops import given
    from bisector.solvers.penalised_loops import penalised_pass

    n, w = rows.n_rows, start.astype(np.float64)
    shrink, cut = max(0.0, 1.0 - (1.0 - l1_ratio) * settings.eta * alpha), l1_ratio * settings.eta * alpha
    sides, weighed = (
        given(labels.astype(np.int8), np.int8),
        given(np.empty(0) if weights is None else weights),
    )
    taken, due, mistakes = np.zeros(rows.n_features), np.zeros(1), np.zeros(n)
    best, stale, passes, reason, loss = inf, 0, 0, "", inf
    together = passes_a_note(len(visits))
    known = kept.recall("walk")
    if known is not None:
        w, taken, due, mistakes = (known[name] for name in ("w", "taken", "due", "mistakes"))
        best, loss = known["losses"].tolist()
        stale, passes = known["counts"].tolist()
        reason = str(known["reason"])
        visits.skip(passes)
    with track("perceptron", total=settings.max_iter, verbose=settings.verbose) as bar:
        while not reason:
            order = given(visits.passes(1)[0])
            wrong, loss = penalised_pass(
                rows, sides, weighed, order, settings.eta, shrink, cut, w, taken, due, mistakes
            )
            passes += 1
            bar.advance(note=f"loss {loss:.4g}")
            if wrong < 0 or not np.isfinite(w).all():
                kept.forget("walk")  # it would end here again
                raise TooLargeError(
                    "X has values that are not finite, or so large that the weights overflow."
                )
            if wrong:
                stale = 0 if settings.tol is None or loss <= best - settings.tol * len(visits) else stale + 1
                best = min(best, loss)
            if not wrong:
                reason = "no mistake"
            elif stale >= settings.patience:
                reason = "no improvement"
            elif passes == settings.max_iter:
                reason = "max_iter"
            if reason or passes % together == 0:
                kept.note(
                    "walk", w=w, taken=taken, due=due, mistakes=mistakes, losses=(best, loss),
                    counts=(stale, passes), reason=reason,
                )  # fmt: skip
    return PerceptronWalk(
        solution=w, converged=reason == "no mistake", reason=reason, objective=loss, smallest_margin=np.nan,
        margin_bound=inf, iterations=passes, updates=float(mistakes.sum()), mistakes=mistakes, longest=np.nan,
        start=start, last=w, moments=np.zeros_like(w), visits=float(passes * len(visits)), record=None,
        intercept=rows.one > 0,
    )  # fmt: skip
