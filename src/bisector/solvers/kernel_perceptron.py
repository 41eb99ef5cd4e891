"""The kernel perceptron: Algorithm 7.4 of the book, the perceptron in the feature space of a kernel.

The weights are w = η Σ α_i y_i φ(x_i), of which only the α are known. Rows are visited one after the other, and

    α_i ← α_i + 1    whenever    y_i f(x_i) ≤ 0,    f(x) = η Σ_j α_j y_j (k(x_j, x) + b),

where b = 1 is the homogeneous coordinate. A row of weight k is shown k times in a row.

Every row's score f is kept. Rows stand in blocks in the order of the walk; within a block, a step changes the
scores of the block's rows at once. Other blocks hear of it when they are visited, together with all other steps
since, so that a step costs one kernel value a row, once, computed in tiles: no matrix of all values is held.

The proofs are those of the perceptron (`bisector.solvers.perceptron_pass`), with lengths measured in feature space:
R² = max k(x, x) + b, ‖w‖² = η Σ α_i y_i f(x_i).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.reductions import cut
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import track
from bisector.engine.threads import one_blas_thread, parallel
from bisector.kernels import Kernel
from bisector.solvers.perceptron_pass import Settings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK, _BLOCKS_TOGETHER = 256, 32
# Of a walk, what a pass goes on with, but for the lists of steps.
_NOTED = (
    "mistakes", "scores", "updates", "active", "runs", "pocket", "wrong", "better_at", "smallest", "square",
    "iterations", "bounds", "met",
)  # fmt: skip


@dataclass(frozen=True)
class KernelWalk:
    """Where kernel perceptrons ended, one for each two-class problem.

    Attributes
    ----------
    mistakes : ndarray of shape (n_problems, n_rows)
        α of the solution.
    converged : ndarray of bool of shape (n_problems,)
        Whether a pass made no mistake.
    reasons : list of str
        "no mistake", "no improvement" or "max_iter".
    objective : ndarray of shape (n_problems,)
        Weight of the rows that the solution has wrong.
    smallest_margins : ndarray of shape (n_problems,)
        Smallest y f(x) of all rows.
    norms : ndarray of shape (n_problems,)
        ‖w‖ of the solution.
    margin_bounds : ndarray of shape (n_problems,)
        No plane in feature space separates the rows with a larger margin.
    longest : ndarray of shape (n_problems,)
        R.
    updates, iterations : ndarray of shape (n_problems,)
        Number of steps, and of passes.
    """

    mistakes: Floats
    converged: NDArray[np.bool_]
    reasons: list[str]
    objective: Floats
    smallest_margins: Floats
    norms: Floats
    margin_bounds: Floats
    longest: Floats
    updates: Floats
    iterations: Integers

    def novikoff_bounds(self) -> Floats:
        """Return what the numbers of steps cannot exceed, by the margins reached; infinite if there is none."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            bounds = (self.longest * self.norms / self.smallest_margins) ** 2
        return np.where(self.smallest_margins > 0, bounds, inf)


class Tiles(ABC):
    """Kernel values of rows with the rows of a block, plus the bias."""

    n_rows: int
    diagonal: Floats

    @abstractmethod
    def tile(self, rows: Integers, block: range) -> Floats:
        """Return the values of some rows with those of a block, numbered in the order of the walk."""


class ComputedTiles(Tiles):
    """Values that a kernel computes when they are needed.

    Parameters
    ----------
    kernel : Kernel
    rows : Rows
        Prepared by it, in the order of the walk.
    bias : float
    """

    def __init__(self, kernel: Kernel, rows: Rows, bias: float) -> None:
        self.n_rows, self._kernel, self._rows, self._bias = len(rows), kernel, rows, bias
        self.diagonal = kernel.diagonal(rows) + bias
        self._blocks = {block.start: rows.take(np.array(block)) for block in cut(len(rows), _BLOCK)}

    def tile(self, rows: Integers, block: range) -> Floats:
        values = np.empty((len(rows), len(block)))
        products = self._kernel.between(self._rows.take(rows), self._blocks[block.start])
        products.write(range(len(rows)), range(len(block)), values)
        values += self._bias
        return values


class GivenTiles(Tiles):
    """Values that were computed beforehand.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_rows)
    order : ndarray of int
        The rows in the order of the walk.
    bias : float
    """

    def __init__(self, values: NDArray[Any], order: Integers, bias: float) -> None:
        self.n_rows, self._values, self._order, self._bias = len(order), values, order, bias
        self.diagonal = np.diag(values)[order].astype(np.float64) + bias

    def tile(self, rows: Integers, block: range) -> Floats:
        chosen = np.ix_(self._order[rows], self._order[block.start : block.stop])
        return np.asarray(self._values[chosen], dtype=np.float64) + self._bias


def kernel_perceptron(
    tiles: Tiles,
    labels: NDArray[np.int64],
    settings: Settings,
    *,
    weights: Floats | None = None,
    budget: int | None = None,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> KernelWalk:
    """Walk until no mistake is made, or until it is proven not to be worth while.

    Parameters
    ----------
    tiles : Tiles
    labels : ndarray of int of shape (n_problems, n_rows)
        ±1, or 0 for a row that a problem leaves out.
    settings : Settings
        As for `perceptron`; nothing is averaged or recorded.
    weights : ndarray of shape (n_rows,), optional
    budget : int, optional
        Largest number of rows with a step: when a block has been visited, those go whose steps move the weights
        least. The proofs do not hold then.
    n_jobs : int, optional
        The result does not depend on it.
    kept : Checkpoint, optional
        Where to note what the walks go on with: after every pass, and within long ones.
    """
    walk = _Walk(tiles, labels.astype(np.float64), settings, weights, budget, n_jobs, kept)
    walk.recall()
    # Tiles are too small for BLAS to share out; and so their bits do not depend on how many threads it has.
    with (
        one_blas_thread,
        track("kernel perceptron", total=settings.max_iter, verbose=settings.verbose) as bar,
    ):
        while walk.active.any() and walk.passes < settings.max_iter:
            wrong = walk.one_pass()
            walk.measure(walk.passes, wrong)
            walk.note()
            bar.advance(note=f"{int(wrong.sum())} mistakes")
    return walk.result()


class _Walk:
    """Steps and scores so far."""

    def __init__(
        self,
        tiles: Tiles,
        labels: Floats,
        settings: Settings,
        weights: Floats | None,
        budget: int | None,
        n_jobs: int | None,
        kept: Checkpoint,
    ) -> None:
        count, n = labels.shape
        self.tiles, self.labels, self.settings, self.n_jobs = tiles, labels, settings, n_jobs
        self.weights, self.budget, self.kept = weights, n if budget is None else budget, kept
        self.blocks = cut(n, _BLOCK)
        self.mistakes, self.scores = np.zeros((count, n)), np.zeros((count, n))
        self.updates = np.zeros(count)
        self.active = np.ones(count, dtype=bool)
        # Complete passes; and of the present one the next block, and the mistakes so far.
        self.passes, self.place, self.met = 0, 0, np.zeros(count, dtype=np.int64)
        # Steps in the order in which they were made: rows, and what they added to the weights in each problem.
        self._rows: list[int] = []
        self._steps: list[Floats] = []
        self._heard, self._steps_noted = [0] * len(self.blocks), 0
        # Rows without mistake in a row, the most so far, and the steps that stood so long, until they are measured.
        self.runs = np.zeros((count, 2), dtype=np.int64)
        self._stood: dict[int, Floats] = {}
        self._counts = np.where(labels != 0, 1.0 if weights is None else weights, 0.0)
        # The best so far: steps, errors, since when, scores' smallest and ‖w‖².
        self.pocket, self.wrong = self.mistakes.copy(), np.full(count, inf)
        self.better_at = np.zeros(count, dtype=np.int64)
        self.smallest, self.square, self.bounds = np.zeros(count), np.zeros(count), np.zeros(count)
        self.iterations = np.zeros(count, dtype=np.int64)
        self.reasons = ["max_iter"] * count
        longest = np.where(labels != 0, tiles.diagonal, 0.0).max(axis=1)
        self.longest = np.sqrt(np.maximum(longest, 0.0))

    def one_pass(self) -> Integers:
        """Visit all rows; return the number of mistakes in each problem."""
        for first in range(self.place, len(self.blocks), _BLOCKS_TOGETHER):
            if len(self._rows) - self._steps_noted >= _BLOCK:  # each has cost a kernel value a row
                self.place = first
                self.note()
            together = range(first, min(first + _BLOCKS_TOGETHER, len(self.blocks)))
            parallel(self._catch_up, together, n_jobs=self.n_jobs)
            for number in together:
                self._catch_up(number)
                self.met += self._walk_block(self.blocks[number])
                self._heard[number] = len(self._rows)
                self._keep_budget()
        parallel(self._catch_up, range(len(self.blocks)), n_jobs=self.n_jobs)
        self._rows, self._steps, self._heard, self._steps_noted = [], [], [0] * len(self.blocks), 0
        wrong, self.met = self.met, np.zeros_like(self.met)
        self.passes, self.place = self.passes + 1, 0
        return wrong

    def note(self) -> None:
        """Note what the walks go on with."""
        if self.kept is NOWHERE:
            return  # lists of many steps take a while to write
        self._steps_noted = len(self._rows)
        self.kept.note(
            "walk",
            counts=(self.passes, self.place),
            reasons=self.reasons,
            rows=np.array(self._rows, dtype=np.int64),
            steps=np.array(self._steps).reshape(-1, len(self.labels)),
            heard=self._heard,
            stood_in=np.array(list(self._stood), dtype=np.int64),
            stood=np.array(list(self._stood.values())),
            **{name: getattr(self, name) for name in _NOTED},
        )

    def recall(self) -> None:
        """Put walks that have not begun where they stood when they were interrupted, if they were."""
        known = self.kept.recall("walk")
        if known is None:
            return
        for name in _NOTED:
            setattr(self, name, known[name])
        self.passes, self.place = known["counts"].tolist()
        self.reasons = known["reasons"].tolist()
        self._rows, self._steps = known["rows"].tolist(), list(known["steps"])
        self._heard, self._steps_noted = known["heard"].tolist(), len(self._rows)
        self._stood = dict(zip(known["stood_in"].tolist(), known["stood"], strict=True))

    def _catch_up(self, number: int) -> None:
        """Let a block hear of the steps since it was visited."""
        block, now = self.blocks[number], len(self._rows)
        for start in range(self._heard[number], now, _BLOCK):
            some = slice(start, min(start + _BLOCK, now))
            tile = self.tiles.tile(np.array(self._rows[some]), block)
            self.scores[:, block.start : block.stop] += np.array(self._steps[some]).T @ tile
        self._heard[number] = now

    def _walk_block(self, block: range) -> Integers:
        from bisector.engine.loops import given
        from bisector.solvers.kernel_perceptron_loops import walk_block

        here, eta = slice(block.start, block.stop), self.settings.eta
        wrong = np.zeros(len(self.labels), dtype=np.int64)
        present = self.labels[:, here] != 0
        hopeful = self.active & (present & (self.labels[:, here] * self.scores[:, here] <= 0)).any(axis=1)
        self.runs[~hopeful, 0] += present.sum(axis=1)[~hopeful]
        if not hopeful.any():
            return wrong
        tile = given(self.tiles.tile(np.array(block), block))
        weights = given(np.empty(0) if self.weights is None else self.weights[here])
        squares = given(self.tiles.diagonal[here])
        counts, best = np.zeros((len(self.labels), len(block))), np.empty(len(block))
        for p in map(int, np.flatnonzero(hopeful)):
            labels = given(self.labels[p, here])
            scores, steps, runs = self.scores[p, here], counts[p], self.runs[p]
            if walk_block(tile, labels, weights, squares, eta, scores, steps, runs, best):
                self._stood[p] = self.mistakes[p].copy()
                self._stood[p][here] += best
            wrong[p] = np.count_nonzero(steps)
        self.mistakes[:, here] += counts
        self.updates += counts.sum(axis=1)
        for i in np.flatnonzero(counts.any(axis=0)):
            self._rows.append(block.start + int(i))
            self._steps.append(eta * counts[:, i] * self.labels[:, block.start + i])
        return wrong

    def _keep_budget(self) -> None:
        """Take back the steps at rows that move the weights least, as long as there are too many rows."""
        support = np.flatnonzero(self.mistakes.any(axis=0))
        surplus = len(support) - self.budget
        if surplus <= 0:
            return
        moves = (self.mistakes[:, support] ** 2).max(axis=0) * self.tiles.diagonal[support]
        for row in support[np.argsort(moves, kind="stable")[:surplus]]:
            self._rows.append(int(row))
            self._steps.append(-self.settings.eta * self.mistakes[:, row] * self.labels[:, row])
            self.mistakes[:, row] = 0.0

    def measure(self, number: int, wrong: Integers) -> None:
        """After a pass: which weights are better than the best so far, and which walks are at their end."""
        done = self.active & (wrong == 0)
        square = np.zeros(len(self.labels))
        for p in map(int, np.flatnonzero(self.active)):
            square[p] = self._judge(p, number, self.mistakes[p], self.scores[p], final=bool(done[p]))
            steps = self._stood.pop(p, None)
            if steps is not None and not done[p] and np.count_nonzero(steps) <= self.budget:
                self._judge(p, number, steps, self._scores_of(p, steps))
        self.iterations[self.active] = number
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = np.sqrt(np.maximum(square, 0.0)) / (self.settings.eta * self.updates)
        self.bounds = np.where(self.active, bounds, self.bounds)
        stalled = np.zeros_like(done)
        if self.settings.tol is not None:
            stalled = (number >= self.better_at + self.settings.patience) & (
                self.bounds <= self.settings.tol * self.longest
            )
        for p in map(int, np.flatnonzero(self.active & (done | stalled))):
            self.reasons[p] = "no mistake" if done[p] else "no improvement"
            self.active[p] = False

    def _judge(self, p: int, number: int, steps: Floats, scores: Floats, final: bool = False) -> float:
        """Put steps into the pocket of a problem if they are better, or final; return ‖w‖²."""
        present = self.labels[p] != 0
        margins = (self.labels[p] * scores)[present]
        # As predictions are made: a score of zero is negative.
        wrong = (scores[present] > 0) != (self.labels[p][present] > 0)
        errors = float(self._counts[p][present] @ wrong)
        square = self.settings.eta * float(steps[present] @ margins)
        if final or errors < self.wrong[p]:
            self.pocket[p], self.wrong[p], self.better_at[p] = steps, errors, number
            self.smallest[p], self.square[p] = margins.min(), square
        return square

    def _scores_of(self, p: int, steps: Floats) -> Floats:
        """Return the scores that other steps than the present ones give."""
        changes = (steps - self.mistakes[p]) * self.labels[p] * self.settings.eta
        rows, scores = np.flatnonzero(changes), self.scores[p].copy()

        def change(block: range) -> None:
            for start in range(0, len(rows), _BLOCK):
                some = rows[start : start + _BLOCK]
                scores[block.start : block.stop] += changes[some] @ self.tiles.tile(some, block)

        parallel(change, self.blocks, n_jobs=self.n_jobs)
        return scores

    def result(self) -> KernelWalk:
        return KernelWalk(
            mistakes=self.pocket,
            converged=np.array([reason == "no mistake" for reason in self.reasons]),
            reasons=self.reasons,
            objective=self.wrong,
            smallest_margins=self.smallest,
            norms=np.sqrt(np.maximum(self.square, 0.0)),
            margin_bounds=self.bounds,
            longest=self.longest,
            updates=self.updates,
            iterations=self.iterations,
        )
