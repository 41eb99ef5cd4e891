"""The perceptron for regression: the delta rule (Widrow and Hoff), one row at a time (Flach, Algorithm 7.3).

Rows x have a homogeneous coordinate 1. With the residual r = y − w·x of the row visited,

    w ← w + η r x / s,

where s is x·x of the row (then η = 1 puts the plane through it: Kaczmarz's method), the largest x·x of all
rows, or 1. Steps by a row cannot grow as long as η x·x / s < 2; with s = 1 they can, and then w overflows. A
row of weight k is shown k times in a row.

With noise there is no plane through all rows, and with a constant rate w goes round for ever. So the rate is halved
after every pass that does not lower the sum of squared residuals met on the way; as it goes to zero, w goes to the
plane with Σ r x / s = 0 (Censor, Eggermont and Gordon, 1983): least squares, if s is one number for all rows, and
least squares with rows weighted by 1/(x·x) if it is that of the row. If there is a plane through all rows, no
halving is needed, and w goes to that.

The certificate is the gap ‖Σ r x / s‖ / Σ ‖r x / s‖, which is 0 where pulls balance.

The book prints the rule with r² in the place of r. That can only push w along +x: it is here, under its own name,
for whoever wants to see it.
"""

from array import array
from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import track
from bisector.solvers.perceptron_notes import passes_a_note
from bisector.solvers.perceptron_pass import TooLargeError, Visits

Floats = NDArray[np.float64]
Rule = Literal["residual", "squared-residual"]
Scale = Literal["row", "longest"]

# Residuals so much larger than at the beginning come from steps that overshoot more and more.
_DIVERGED = 1e6


class DivergedError(ValueError):
    """Steps grew without bound."""


@dataclass(frozen=True)
class DeltaRuleWalk:
    """Where the walk ended.

    Attributes
    ----------
    solution : ndarray of shape (n_features + 1,)
        Weights, the intercept last.
    objective : float
        Sum of squared residuals.
    gap : float
        ‖Σ r x / s‖ / Σ ‖r x / s‖.
    iterations : int
        Number of passes.
    converged : bool
        Whether the walk ended by itself.
    reason : str
        "until", "no improvement" or "max_epochs".
    rate : float
        η at the end.
    errors : ndarray of shape (iterations,)
        Sums of the squared residuals met in each pass.
    """

    solution: Floats
    objective: float
    gap: float
    iterations: int
    converged: bool
    reason: str
    rate: float
    errors: Floats


def delta_rule(
    rows: Any,
    targets: Floats,
    visits: Visits,
    start: Floats,
    *,
    rule: Rule = "residual",
    rate: float = 1.0,
    scale: Scale | None = "row",
    halving: bool = True,
    max_epochs: int = 1000,
    until: float | None = None,
    tol: float = 1e-3,
    weights: Floats | None = None,
    verbose: bool | int = False,
    kept: Checkpoint = NOWHERE,
) -> DeltaRuleWalk:
    """Walk until pulls balance.

    Parameters
    ----------
    rows : WalkedRows
    targets : ndarray of shape (n_rows,)
    visits : Visits
    start : ndarray of shape (n_features + 1,)
    rule : {"residual", "squared-residual"}
    rate : float
        η.
    scale : {"row", "longest"} or None
    halving : bool
        Whether η is halved when it no longer helps; the walk then ends when it is `tol` of what it was.
    max_epochs : int
    until : float, optional
        End as soon as a pass meets residuals whose squares sum to no more than this.
    tol : float
        A pass lowers the sum of squares if it is smaller by this share.
    weights : ndarray of shape (n_rows,), optional
    kept : Checkpoint, optional
        Where to note what the next pass begins with.

    Raises
    ------
    DivergedError
    """
    from bisector.engine.loops import given
    from bisector.solvers.delta_rule_loops import gather_residuals, longest_square, regress_pass

    y, counts = given(targets), given(np.empty(0) if weights is None else weights)
    longest = longest_square(rows, counts)
    if not longest < inf:
        raise TooLargeError("X has values that are not finite, or whose squares overflow.")
    divisor = {"row": 0.0, "longest": longest, None: 1.0}[scale]
    w, now = np.array(start, dtype=np.float64), rate
    first = gather_residuals(rows, y, counts, divisor, w, np.zeros_like(w))[0]
    errors = array("d")
    reason, lowest, together = "", inf, passes_a_note(len(visits))
    known = kept.recall("walk")
    if known is not None:
        w, errors, reason = known["w"], array("d", known["errors"]), str(known["reason"])
        now, lowest = known["numbers"].tolist()
        visits.skip(len(errors))
    with track("perceptron regression", total=max_epochs, verbose=verbose) as bar, np.errstate(all="ignore"):
        while not reason:
            order = given(visits.passes(1)[0])
            met = regress_pass(rows, y, counts, order, now, divisor, rule == "squared-residual", w)
            errors.append(met)
            bar.advance(note=f"sum of squares {met:.4g}")
            if not (met <= _DIVERGED * first + np.finfo(np.float64).tiny and np.isfinite(w).all()):
                kept.forget("walk")  # it would end here again
                raise DivergedError("the steps grew without bound")
            lowers, lowest = met < lowest * (1 - tol), min(lowest, met)
            if until is not None and met <= until:
                reason = "until"
            elif halving and not lowers:
                now /= 2
                reason = "no improvement" if now < tol * rate else ""
            elif met == 0.0:
                reason = "no improvement"
            if not reason and len(errors) == max_epochs:
                reason = "max_epochs"
            if reason or len(errors) % together == 0:
                kept.note("walk", w=w, errors=errors, numbers=(now, lowest), reason=reason)
    slope = np.zeros_like(w)
    total, size = gather_residuals(rows, y, counts, divisor, w, slope)
    gap = float(np.linalg.norm(slope)) / size if size > 0 else 0.0
    return DeltaRuleWalk(w, total, gap, len(errors), reason != "max_epochs", reason, now, np.array(errors))
