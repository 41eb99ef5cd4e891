"""The perceptron: step towards every row that is on the wrong side, until none is (Flach, Algorithm 7.1).

Rows x have a homogeneous coordinate 1, labels y are ±1. From w = w₀, rows are visited one after the other, and

    w ← w + η y x    whenever    y (w·x) ≤ 0.

A row of weight k is shown k times in a row (a part of a time is a step of that part): so that with α_i the
number of steps at row i, w = w₀ + η Σ α_i y_i x_i.

Proof either way. If a pass makes no mistake, w separates the rows, with the margin min y(w·x)/‖w‖; and if any unit
vector separates them with margin γ, there are at most (R² + 2γ‖w₀‖/η)/γ² steps, R being the length of the longest
row: Novikoff's (R/γ)² when w₀ = 0. If mistakes go on, every step raises the product with that unit vector by at
least ηγ, so that

    γ ≤ ‖w − w₀‖ / (η Σ α_i),

which tends to 0 when no plane separates the rows, since w then stays bounded. The walk ends when this bound is
below a tolerance and the best weights have not become better for some passes; these, the *pocket*, are the
result. They are the best of those that were measured on all rows: after most passes the current weights and those
that have stood the longest run without mistake (Gallant, 1990); all of them, if rows are few.
"""

from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import track
from bisector.engine.threads import parallel
from bisector.solvers.perceptron_notes import WalkNotes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Up to so many values, rows are measured within the compiled loop, and walked over several times in one call.
_FEW_VALUES = 2**18
_VISITS_AT_ONCE = 2**14
# So many values are worth a thread's while.
_VALUES_AT_ONCE = 2**19

# Weights kept to compare with, and the numbers in them at most.
_REFERENCES, _REFERENCE_VALUES = 32, 2**20

_FIRST_ROOM = 1024
_NAMES = {0: "no mistake", 1: "no improvement", 2: "max_iter"}


class Steps(NamedTuple):
    """The steps of a walk in their order: in which pass, towards which row, and η α y."""

    passes: Integers
    rows: Integers
    steps: Floats


@dataclass(frozen=True)
class PerceptronWalk:
    """Where a perceptron ended, with the proof.

    Attributes
    ----------
    solution : ndarray of shape (n_features + 1,)
        Weights, the intercept last.
    converged : bool
        Whether a pass made no mistake.
    reason : str
        "no mistake"; "no improvement" (see the tolerance); or "max_iter".
    objective : float
        Weight of the judging rows that the solution has wrong.
    smallest_margin : float
        Smallest y(w·x) of all rows: positive if the solution separates them.
    margin_bound : float
        No plane through the origin of homogeneous coordinates separates the rows with a larger margin.
    iterations : int
        Number of passes.
    updates : float
        Number of steps, Σ α.
    mistakes : ndarray of shape (n_rows,)
        α.
    longest : float
        R, the length of the longest row.
    start, last : ndarray
        w₀, and the weights at the end of the walk.
    moments, visits : ndarray, float
        What averaging needs to go on.
    record : Steps or None
    intercept : bool
        Whether rows have the homogeneous coordinate 1.
    """

    solution: Floats
    converged: bool
    reason: str
    objective: float
    smallest_margin: float
    margin_bound: float
    iterations: int
    updates: float
    mistakes: Floats
    longest: float
    start: Floats
    last: Floats
    moments: Floats
    visits: float
    record: Steps | None
    intercept: bool

    @property
    def gap(self) -> float:
        """Upper bound on the largest margin of any plane, minus the margin reached."""
        size = float(np.linalg.norm(self.solution))
        return self.margin_bound - (self.smallest_margin / size if size > 0 else 0.0)

    def novikoff_bound(self, eta: float) -> float:
        """Return what the number of steps cannot exceed, by the margin reached; infinite if there is none."""
        size = float(np.linalg.norm(self.solution))
        if not (self.smallest_margin > 0 and size > 0):
            return inf
        margin = self.smallest_margin / size
        with np.errstate(over="ignore"):
            far = 2 * margin * float(np.linalg.norm(self.start)) / eta
            return float((self.longest**2 + far) / np.float64(margin) ** 2)


class TooLargeError(ValueError):
    """A row has NaN, infinite or overflowing values; the message is for whoever does not look further."""


@dataclass(frozen=True)
class Settings:
    """How a perceptron walks.

    Attributes
    ----------
    eta : float
        Length of a step.
    max_iter : int
        Largest number of passes.
    tol : float or None
        The walk ends without separating the rows when no plane can with a margin of so much of the longest row's
        length, and the pocket's weights have not become better for `patience` passes. None: never. Where other rows
        judge, the share of their weight by which weights must become better to count as better.
    patience : int
    averaged : bool
        Whether the solution is the average of the weights over all visits.
    recorded : bool
        Whether steps are recorded.
    verbose : bool or int
    """

    eta: float = 1.0
    max_iter: int = 1000
    tol: float | None = 1e-3
    patience: int = 5
    averaged: bool = False
    recorded: bool = False
    verbose: bool | int = False


class Visits:
    """In which order rows are visited: as numbered, in a given order, or in a new random order in each pass.

    Parameters
    ----------
    rows : ndarray of int
        The rows to visit, in the order of a pass.
    seed : int, optional
        Of the random orders; by default the order stays.
    """

    def __init__(self, rows: Integers, seed: int | None = None) -> None:
        self._rows = rows
        self._rng = None if seed is None else np.random.default_rng(seed)

    def __len__(self) -> int:
        return len(self._rows)

    def passes(self, count: int) -> Integers:
        """Return the orders of the next passes."""
        from bisector.engine.loops import given
        from bisector.solvers.row_loops import shuffle

        orders = np.tile(self._rows, (count, 1))
        if self._rng is not None:
            shuffle(given(self._rng.random(orders.shape)), orders)
        return orders

    def skip(self, count: int) -> None:
        """Leave out the orders of so many passes, which were made before a walk was interrupted."""
        if self._rng is not None:
            source: Any = self._rng.bit_generator
            source.advance(count * len(self._rows))


def perceptron(
    rows: Any,
    labels: Integers,
    visits: Visits,
    start: Floats,
    settings: Settings,
    *,
    weights: Floats | None = None,
    judges: Floats | None = None,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> PerceptronWalk:
    """Walk until no mistake is made, or until it is proven not to be worth while.

    Parameters
    ----------
    rows : WalkedRows
    labels : ndarray of shape (n_rows,)
        ±1, or 0 for a row to be left out.
    visits : Visits
        Over rows that are not left out.
    start : ndarray of shape (n_features + 1,)
        w₀.
    settings : Settings
    weights : ndarray of shape (n_rows,), optional
        Of the rows that are walked over.
    judges : ndarray of shape (n_rows,), optional
        Weights of the rows that judge which weights are best, where they are others than those walked over.
    n_jobs : int, optional
        For measuring; the result does not depend on it.
    kept : Checkpoint, optional
        Where to note what the next pass begins with.
    """
    from bisector.solvers import perceptron_loops as loops

    walk = _Walk(rows, labels, start, settings, weights, judges, n_jobs)
    here, orders = walk.course[0], np.empty((0, len(visits)), np.int64)
    here.why = loops.NEEDS_ORDERS
    at_once = max(1, _VISITS_AT_ONCE // len(visits)) if walk.rule.inline else 1
    notes = WalkNotes(kept)
    notes.recall(walk)
    visits.skip(int(here.passes))
    with track("perceptron", total=settings.max_iter, verbose=settings.verbose) as bar:
        while here.why > loops.EXHAUSTED:
            passes = int(here.passes)
            if here.why == loops.NEEDS_ORDERS:
                soon = min(at_once, 8 + passes)
                orders = visits.passes(min(soon, settings.max_iter - passes))
                here.batch = 0
            elif here.why == loops.NEEDS_MEASURING:
                walk.measure()
            elif here.why == loops.NEEDS_ROOM:
                walk.make_room()
            else:
                raise TooLargeError("X has values that are not finite, or whose squares overflow.")
            walk.go(loops.walk_passes, orders)
            bar.advance(int(here.passes) - passes, note=f"{here.updates:.0f} updates")
            if here.why <= loops.NEEDS_ORDERS:
                notes.note(walk)
    return walk.ended(_NAMES[int(here.why)], converged=bool(here.why == loops.CONVERGED))


def perceptron_pass(
    rows: Any, labels: Integers, start: Floats, settings: Settings, *, weights: Floats | None = None,
    moments: Floats | None = None, visits: float = 0.0,
) -> PerceptronWalk:  # fmt: skip
    """Walk once over rows in their order, going on from weights learned before; nothing is measured.

    Parameters
    ----------
    moments, visits : ndarray, float
        Of the walk before, where weights are averaged.
    """
    from bisector.solvers.perceptron_loops import NEEDS_ROOM, TOO_LARGE, end_pass, walk as walk_along

    kept = np.flatnonzero(labels) if weights is None else np.flatnonzero((labels != 0) & (weights > 0))
    walk = _Walk(rows, labels, start, settings, weights, None, 1)
    here = walk.course[0]
    here.visits = visits
    if moments is not None:
        walk.weights.moments[:] = moments
    while (why := walk.go(walk_along, kept)) == NEEDS_ROOM:
        walk.make_room()
    if why == TOO_LARGE:
        raise TooLargeError("X has values that are not finite, or whose squares overflow.")
    wrong = int(here.wrong)
    end_pass(walk.rule, walk.weights, walk.course)
    return walk.result("one pass", wrong == 0, walk.average() if settings.averaged else walk.weights.w, None)


class _Walk:
    """The arrays of one walk, and the steps of it that are taken between compiled ones."""

    def __init__(
        self, rows: Any, labels: Integers, start: Floats, settings: Settings, weights: Floats | None,
        judges: Floats | None, n_jobs: int | None,
    ) -> None:  # fmt: skip
        from bisector.engine.loops import given
        from bisector.solvers.perceptron_loops import (
            COURSE,
            KEPT,
            WalkingRows,
            WalkingRule,
            WalkingWeights,
            blank_records,
        )

        n, size = rows.n_rows, len(start)
        start = np.array(start, dtype=np.float64)
        none = given(np.empty(0))
        judged = weights if judges is None else judges
        tol = -1.0 if settings.tol is None else settings.tol
        self.rows, self.n_jobs = rows, n_jobs
        self.rule = WalkingRule(
            eta=settings.eta,
            slack=4 * (size + 4) * float(np.finfo(np.float64).eps),
            averaged=settings.averaged,
            recorded=settings.recorded,
            validated=judges is not None,
            inline=len(rows.values) <= _FEW_VALUES,
            most_passes=settings.max_iter,
            patience=settings.patience,
            tolerance=tol,
            improvement=0.0 if judges is None else max(0.0, tol) * float(judges.sum()),
        )
        self.about = WalkingRows(
            given(labels.astype(np.int8), np.int8),
            none if weights is None else given(weights),
            none if judged is None else given(judged),
            np.zeros(n),
            blank_records(n, KEPT),
        )
        references = int(np.clip(_REFERENCE_VALUES // size, 2, _REFERENCES))
        w, run, pocket = (start.astype(np.float64) for _ in range(3))
        self.weights = WalkingWeights(
            w, start, run, pocket, np.zeros(size), np.tile(start, (references, 1)), np.full(references, inf)
        )
        self.weights.drifts[0] = 0.0
        self.about.kept.surplus = -inf
        self.course = blank_records(1, COURSE)
        here = self.course[0]
        here.best = inf
        here.norm = float(np.linalg.norm(start)) * (1 + self.rule.slack)
        self._grow(_FIRST_ROOM if settings.recorded else 0)

    def go(self, step: Any, order: Integers) -> Any:
        from bisector.engine.loops import given

        return step(self.rows, self.about, given(order), self.rule, self.weights, self.record, self.course)

    def measure(self) -> None:
        """Measure the current weights and those of the longest run on all rows."""
        from bisector.solvers.perceptron_loops import settle

        settle(self._found(self.weights.w, self.weights.run), self.rule, self.weights, self.course)

    def _found(self, w: Floats, run: Floats) -> Any:
        from bisector.solvers.perceptron_loops import LARGEST_SQUARE, Measured, measure

        n = self.rows.n_rows
        height = max(1, _VALUES_AT_ONCE * n // max(1, len(self.rows.values)))
        parts = parallel(
            lambda first: measure(self.rows, self.about, w, run, first, min(n, first + height)),
            range(0, n, height),
            n_jobs=self.n_jobs,
        )
        columns = list(zip(*parts, strict=True))
        found = Measured(sum(columns[0]), sum(columns[1]), min(columns[2]), max(columns[3]))
        if not found.largest <= LARGEST_SQUARE:
            raise TooLargeError("X has values that are not finite, or whose squares overflow.")
        return found

    def make_room(self) -> None:
        """Double the room for recorded steps."""
        self._grow(2 * len(self.record.rows))

    def _grow(self, room: int) -> None:
        from bisector.solvers.perceptron_loops import WalkRecord

        larger = WalkRecord(np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room))
        for old, new in zip(getattr(self, "record", ()), larger, strict=False):
            new[: len(old)] = old
        self.record = larger

    def average(self) -> Floats:
        """Return the mean of the weights over all visits."""
        average: Floats = self.weights.w - self.weights.moments / self.course[0].visits
        return average

    def ended(self, reason: str, converged: bool) -> PerceptronWalk:
        """Choose the solution, and measure it."""
        if self.rule.averaged:
            solution = self.average()
        elif converged and not self.rule.validated:
            solution = self.weights.w
        else:
            self.measure()
            solution = self.weights.pocket
        return self.result(reason, converged, solution, self._found(solution, np.empty(0)))

    def result(self, reason: str, converged: bool, solution: Floats, found: Any) -> PerceptronWalk:
        here = self.course[0]
        moved = float(np.linalg.norm(self.weights.w - self.weights.start))
        steps = self.rule.eta * float(here.updates)
        count = int(here.recorded)
        return PerceptronWalk(
            solution=solution.copy(),
            converged=converged,
            reason=reason,
            objective=np.nan if found is None else found.wrong,
            smallest_margin=np.nan if found is None else found.smallest,
            margin_bound=moved / steps if steps > 0 else inf,
            iterations=int(here.passes),
            updates=float(here.updates),
            mistakes=self.about.mistakes,
            longest=float(np.sqrt(here.largest)),
            start=self.weights.start.copy(),
            last=self.weights.w.copy(),
            moments=self.weights.moments.copy(),
            visits=float(here.visits),
            record=Steps(*(part[:count] for part in self.record)) if self.rule.recorded else None,
            intercept=self.rows.one > 0,
        )
