"""Sequential minimal optimisation: the quadratic problem behind support vector machines.

With a Gram matrix K and rows r(v), one for each variable v,

    minimise  ½ βᵀKβ + pᵀβ   subject to  Σβ = 0  and  lower ≤ β ≤ upper,

where lower ≤ 0 ≤ upper and several variables may share a row: their sum is what weighs it. With g = Kβ + p, a
point is optimal exactly when some offset b has gᵥ + b ≥ 0 wherever βᵥ can fall no further, ≤ 0 where it can rise
no further, and 0 between.

The certificate is twofold. The *violation* is by how much the best offset misses these conditions. The *gap* is Σ
sᵥ(βᵥ − lowerᵥ) over s = g + b > 0 and Σ −sᵥ(upperᵥ − βᵥ) over s < 0: no point is lower than this one by more (if
K is psd; and if an upper bound is infinite, see `bisector.solvers.support_vectors`).

Working sets of some hundred variables, those that violate the conditions most, are solved by moving two variables
at a time; the lines of the Gram matrix that they need are made together, and their changes reach all other rows
in one product (Joachims 1999; Fan, Chen & Lin 2005; Wen et al. 2018, ThunderSVM). Where pairs crawl, all free
variables are moved at once (`bisector.solvers.free_variables`).
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Arrays, Checkpoint
from bisector.engine.progress import Bar, track
from bisector.solvers.free_variables import step_free_variables
from bisector.solvers.kernel_lines import KernelLines

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Variables in a working set; up to so many are taken all, since choosing among them would take longer.
AT_ONCE, _ALL_AT_ONCE = 640, 1200
# The share of a working set that is chosen anew. Those that stay have their lines at hand.
_FRESH = 0.35
# A working set is solved until it violates the conditions by this part of what all variables do.
_PART = 0.2
# Steps in a working set before all free variables are moved at once, for each variable.
_PATIENCE = 20
# The most free variables that are moved at once.
_MOST_FREE = 2048
# Up to so many, the solution is finished by such moves, until rounding stops them.
_POLISHED = 512
# The part of the diagonal below which a curvature counts as none.
_FLAT = 1e-12
# No fit takes more steps than this, or than this for each variable, if no number was given.
_MOST_STEPS, _MOST_STEPS_EACH = 1_000_000, 1_000
# The solver stops when so many sets have each lowered the objective by less than this part of it.
_STALLED, _PROGRESS = 5, 1e-13
# A finished solution violates the conditions by this part of the tolerance; after so many attempts it is left as
# it is.
_FINISHED, _FINISHES = 1e-8, 6
# The same where rounding is in the way, which is where it may amount to such a part of the tolerance.
_EXACT, _EXACT_FINISHES = 0.1, 30
# A Gram matrix of rows as long as 1, without bounds on β, gives no objective below minus this: a ray was found.
_BOTTOMLESS = 1e10


class Problem(NamedTuple):
    """A quadratic problem with bounds and a balance, without its Gram matrix.

    Attributes
    ----------
    linear : ndarray of shape (n_variables,)
        p.
    lower, upper : ndarray of shape (n_variables,)
        Lower bounds are at most 0, upper ones at least.
    rows : ndarray of int of shape (n_variables,)
        To which row of the Gram matrix each variable belongs.
    """

    linear: Floats
    lower: Floats
    upper: Floats
    rows: Integers

    def fit_start(self, beta: Floats) -> Floats:
        """Return a feasible point near β: clipped to the bounds, then the heavier side made lighter.

        Variables between their bounds give way first: those on a bound are commonly where they belong.
        """
        start = np.clip(beta, self.lower, self.upper)
        surplus = float(start.sum())
        yields = (start > self.lower) & (start < self.upper) & (start * surplus > 0)
        held = float(np.abs(start[yields]).sum())
        if held > 0:
            start[yields] *= max(0.0, 1.0 - abs(surplus) / held)
        ups, downs = start[start > 0].sum(), -start[start < 0].sum()
        least = min(ups, downs)
        return np.where(
            start > 0, start * (least / ups if ups else 0.0), start * (least / downs if downs else 0.0)
        )


@dataclass(frozen=True)
class Solution:
    """A point and how good it is.

    Attributes
    ----------
    beta : ndarray of shape (n_variables,)
    values : ndarray of shape (n_rows,)
        Kβ.
    offset : float
        b: the middle of the offsets that fit best.
    objective : float
    gap : float
        No point is lower by more; infinite where an infinite bound leaves it open.
    violation : float
        By how much the conditions are missed.
    iterations : int
        Steps of two variables.
    converged : bool
        Whether the violation is at most the tolerance.
    unbounded : bool
        Whether the objective falls for ever.
    negative_curvature : bool
        Whether the Gram matrix was seen not to be psd.
    """

    beta: Floats
    values: Floats
    offset: float
    objective: float
    gap: float
    violation: float
    iterations: int
    converged: bool
    unbounded: bool = False
    negative_curvature: bool = False


def smo(
    problem: Problem,
    lines: KernelLines,
    *,
    tolerance: float = 1e-3,
    max_iter: int = -1,
    start: Floats | None = None,
    verbose: bool | int = False,
    kept: Checkpoint = NOWHERE,
) -> Solution:
    """Solve the problem of this module.

    Parameters
    ----------
    problem : Problem
    lines : KernelLines
    tolerance : float, default=1e-3
        The violation at which to stop.
    max_iter : int, default=-1
        The most steps of two variables; -1 leaves it to the solver, which ends in any case.
    start : ndarray of shape (n_variables,), optional
        Where to begin, for instance the solution for other bounds; by default at 0.
    kept : Checkpoint, optional
        Where to note, after every working set, the point and which lines are held.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.kernel_lines import AllLines
    >>> from bisector.solvers.smo import Problem, smo
    >>> y, X = np.array([-1.0, 1.0]), np.array([[0.0], [2.0]])  # two points, a margin of 1 between them
    >>> problem = Problem(-y, np.minimum(y, 0.0), np.maximum(y, 0.0), np.arange(2))
    >>> found = smo(problem, AllLines(X @ X.T))
    >>> found.beta, found.offset, found.converged
    (array([-0.5,  0.5]), -1.0, True)
    """
    return _Run(problem, lines, tolerance, max_iter, start, kept).solve(verbose)


class _State(NamedTuple):
    """All variables at one point.

    Attributes
    ----------
    highest : float
        What it gains most to let a variable rise.
    lowest : float
        What it costs least to let one fall.
    objective : float
        ½ βᵀKβ + pᵀβ.
    gradient : ndarray of shape (n_variables,)
    rises, drops : ndarray of shape (n_variables,)
        What is gained where a variable rises or falls; −inf where it cannot.
    """

    highest: float
    lowest: float
    objective: float
    gradient: Floats
    rises: Floats
    drops: Floats

    @property
    def violation(self) -> float:
        return max(0.0, self.highest - self.lowest)


class _Run:
    """The course of one solution."""

    def __init__(
        self,
        problem: Problem,
        lines: KernelLines,
        tolerance: float,
        max_iter: int,
        start: Floats | None,
        kept: Checkpoint,
    ) -> None:
        self.problem, self.lines, self.tolerance, self.kept = problem, lines, tolerance, kept
        self.turns, self.finishes = kept.recall("turns"), kept.recall("finishes")
        known = self.finishes or self.turns
        if known is not None:
            lines.go_on(known)
        n = len(problem.linear)
        self.most_steps = max(_MOST_STEPS, _MOST_STEPS_EACH * n) if max_iter < 0 else max_iter
        if lines.most_at_once == lines.n_rows and n <= _ALL_AT_ONCE:
            self.at_once = n
        else:
            self.at_once = min(n, AT_ONCE, lines.most_at_once)
        self.steps = 0
        self.unbounded = self.negative = False
        self.open_ended = bool(np.isinf(problem.lower).any() or np.isinf(problem.upper).any())
        self.longest = float(np.abs(lines.diagonal).max(initial=0.0))
        self.reach = np.sqrt(np.abs(lines.diagonal))[problem.rows]
        if known is not None:
            self.beta, self.values = known["beta"], known["values"]
            self.steps, unbounded, negative = known["seen"].tolist()
            self.unbounded, self.negative = bool(unbounded), bool(negative)
            return
        self.beta = np.zeros(n) if start is None else problem.fit_start(start)
        self.values = np.zeros(lines.n_rows)
        if start is not None:
            self._spread(np.flatnonzero(self.beta), self.beta[self.beta != 0])

    def solve(self, verbose: bool | int) -> Solution:
        with track("support vectors", verbose=verbose) as bar:
            if self.finishes is None:
                self._descend(bar)
            if not self.unbounded and self.steps < self.most_steps:
                self._polish()
        return self._certified()

    def _descend(self, bar: Bar) -> None:
        """Solve one working set after the other, until the conditions hold or nothing more is gained."""
        chosen, stalled, before = np.empty(0, np.int64), 0, math.inf
        if self.turns is not None:
            stalled, before = int(self.turns["stalled"]), float(self.turns["before"])
            chosen = self.turns["chosen"]
        while True:
            state = self.survey()
            violation, now = state.highest - state.lowest, state.objective
            self.unbounded |= self.open_ended and -now * self.longest > _BOTTOMLESS
            stalled = stalled + 1 if now >= before - _PROGRESS * abs(before) else 0
            before = min(before, now)
            if (
                self.unbounded
                or violation <= max(self.tolerance, self.noise())
                or self.steps >= self.most_steps
                or stalled == _STALLED
            ):
                break
            chosen = self._choose(chosen, state)
            part = 0.0 if len(chosen) == len(self.beta) else _PART * violation
            wanted = max(part, 0.5 * self.tolerance)
            if not self._solve_set(chosen, state.gradient, wanted):
                self._move_free()
            bar.advance(note=f"violation {violation:.2e}")
            self._note("turns", chosen=chosen, stalled=stalled, before=before)

    def _note(self, name: str, **values: Any) -> None:
        """Note what the next turn of a loop begins with."""
        if self.kept is NOWHERE:  # to tell of the lines takes a moment
            return
        seen = self.steps, self.unbounded, self.negative
        self.kept.note(name, beta=self.beta, values=self.values, seen=seen, **values, **self.lines.as_notes())

    def gradient(self) -> Floats:
        gradient: Floats = self.values[self.problem.rows] + self.problem.linear
        return gradient

    def survey(self) -> "_State":
        """Look at all variables."""
        from bisector.engine.loops import given
        from bisector.solvers.smo_loops import survey

        problem, made = self.problem, np.empty((3, len(self.beta)))
        numbers = survey(
            given(self.values), given(problem.rows), given(problem.linear), given(problem.lower),
            given(problem.upper), given(self.beta), made,
        )  # fmt: skip
        return _State(*numbers, *made)

    def _choose(self, former: Integers, state: "_State") -> Integers:
        """Choose those that violate the conditions most; much of the former set stays, so that it can settle."""
        from bisector.engine.loops import given
        from bisector.solvers.smo_loops import mark_highest

        n, m = len(self.beta), self.at_once
        if n == m:
            return np.arange(n)
        new = m if not len(former) else int(_FRESH * m)
        half = max(1, new // 2)
        picked = np.zeros(n, dtype=bool)
        mark_highest(given(state.rises), state.lowest, state.highest, half, picked)
        mark_highest(given(state.drops), -state.highest, -state.lowest, half, picked)
        fresh = np.flatnonzero(picked)
        kept = former[~picked[former]][: m - len(fresh)]
        return np.concatenate([fresh, kept])

    def _solve_set(
        self, chosen: Integers, gradient: Floats, wanted: float, patience: int = _PATIENCE
    ) -> bool:
        """Solve a working set; say whether it was solved in time."""
        from bisector.engine.loops import given
        from bisector.solvers.smo_loops import Box, improve_pairs

        problem = self.problem
        gram = self.lines.square(problem.rows[chosen])
        box = Box(given(problem.lower[chosen]), given(problem.upper[chosen]))
        beta, own = self.beta[chosen], gradient[chosen]
        most = min(patience * max(len(chosen), 50), self.most_steps - self.steps)
        steps = improve_pairs(given(gram), box, beta, own, wanted, _FLAT, most)
        self.unbounded |= steps < 0
        steps = abs(steps)
        self.steps += steps
        self._change(chosen, beta - self.beta[chosen], beta)
        return steps < most

    def _change(self, chosen: Integers, change: Floats, beta: Floats) -> None:
        moved = change != 0
        self.beta[chosen] = beta
        self._spread(chosen[moved], change[moved])

    def _spread(self, chosen: Integers, change: Floats) -> None:
        """Let a change of some variables reach the values of all rows."""
        if len(chosen):
            self.lines.add(self.problem.rows[chosen], change, self.values)

    def _move_free(self, most: int = _MOST_FREE) -> bool:
        """Move all free variables at once; say whether they moved."""
        problem = self.problem
        free = np.flatnonzero((self.beta > problem.lower) & (self.beta < problem.upper))
        if not 2 <= len(free) <= min(most, self.lines.largest_square):
            return False
        gram = self.lines.square(problem.rows[free])
        bounds = problem.lower[free], problem.upper[free]
        step = step_free_variables(gram, self.gradient()[free], self.beta[free], *bounds)
        self.negative |= not step.psd
        self._change(free, step.change, np.clip(self.beta[free] + step.change, *bounds))
        return bool(step.change.any())

    def _polish(self) -> None:
        """Finish what is nearly solved, until rounding stops it, as long as few variables are free.

        Where rounding is in the way of the tolerance, values are computed anew each time, with more digits.
        """
        if self.finishes is None:
            exactly = self.noise() > _EXACT * self.tolerance and self.lines.most_at_once == self.lines.n_rows
            if exactly:
                self._renew()
            best, chosen = (self.survey().violation, self.beta, self.values), np.empty(0, np.int64)
            done = _EXACT * self.tolerance if exactly else max(self.noise(), _FINISHED * self.tolerance)
            before = 0
        else:
            known = self.finishes
            exactly, before, done = bool(known["exactly"]), int(known["turn"]), float(known["done"])
            best, chosen = self._best(known), known["chosen"]
        for turn in range(before, _EXACT_FINISHES if exactly else _FINISHES):
            self.beta, self.values = self.beta.copy(), self.values.copy()
            if best[0] <= done:
                break
            moved = self._move_free(_POLISHED)
            if exactly:
                self._renew()
            elif not moved:
                break
            state = self.survey()
            if state.violation > done:  # a variable wants to leave its bound
                chosen = self._choose(chosen, state)
                self._solve_set(chosen, state.gradient, 0.1 * state.violation, patience=1)
                if exactly:
                    self._renew()
                state = self.survey()
            violation = state.violation
            if violation < best[0]:
                best = violation, self.beta, self.values
            # The best point only where it is not the one that is noted anyway.
            other = best[1:] if best[1] is not self.beta else (np.empty(0), np.empty(0))
            self._note(
                "finishes", exactly=exactly, turn=turn + 1, done=done, chosen=chosen,
                best=best[0], best_beta=other[0], best_values=other[1],
            )  # fmt: skip
            self.kept.forget("turns")
        _, self.beta, self.values = best

    def _best(self, known: Arrays) -> tuple[float, Floats, Floats]:
        """Return the best point so far: with its violation, β and values."""
        if len(known["best_beta"]):
            return float(known["best"]), known["best_beta"], known["best_values"]
        return float(known["best"]), self.beta, self.values

    def _renew(self) -> None:
        """Compute the values anew."""
        weights = np.zeros(len(self.values))
        np.add.at(weights, self.problem.rows, self.beta)
        self.values = self.lines.total(weights)

    def noise(self) -> float:
        """By how much values may differ through rounding alone."""
        total = float((np.abs(self.beta) * self.reach).sum())
        return 4 * float(np.finfo(np.float64).eps) * math.sqrt(self.longest) * total

    def _certified(self) -> Solution:
        problem, state = self.problem, self.survey()
        offset = middle(state.highest, state.lowest)
        shifted = state.gradient + offset
        with np.errstate(invalid="ignore"):
            above = np.where(shifted > 0, shifted * (self.beta - problem.lower), 0.0)
            below = np.where(shifted < 0, -shifted * (problem.upper - self.beta), 0.0)
        return Solution(
            beta=self.beta,
            values=self.values,
            offset=offset,
            objective=state.objective,
            gap=float(np.sum(above + below)),
            violation=state.violation,
            iterations=self.steps,
            converged=not self.unbounded and state.violation <= self.tolerance,
            unbounded=self.unbounded,
            negative_curvature=self.negative,
        )


def middle(highest: float, lowest: float) -> float:
    """Return the middle of the offsets that fit; the finite end where the other is open, 0 where both are."""
    if math.isinf(highest) and math.isinf(lowest):
        return 0.0
    if math.isinf(highest) or math.isinf(lowest):
        return lowest if math.isinf(highest) else highest
    return 0.5 * (highest + lowest)
