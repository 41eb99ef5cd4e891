"""Compiled steps of seeding: what new centres would leave of the distances to the nearest centre."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.lloyd_loops import quick_square

# Two centres so far apart that, rounding included, no row of one is nearer to the other.
_APART = 4.0 * (1.0 + 1e-9)


@loop
def measure_apart(candidates: Any, centres: Any, apart: Any) -> None:
    """Write the squared distances of candidates from centres."""
    for c in range(len(candidates)):
        for m in range(len(centres)):
            total = 0.0
            for j in range(candidates.shape[1]):
                difference = candidates[c, j] - centres[m, j]
                total += difference * difference
            apart[c, m] = total


@loop
def potentials(
    X: Any, weights: Any, closest: Any, owners: Any, candidates: Any, apart: Any, found: Any
) -> None:
    """Add up, for each candidate, the squared distances of the rows to the nearest centre if it becomes one.

    A row at squared distance D from its centre is not nearer to a candidate whose squared distance from that
    centre (`apart`) is 4D or more: then the two are not compared.
    """
    t = len(candidates)
    for i in range(len(closest)):
        now, own = closest[i], owners[i]
        weight = weights[i] if len(weights) else 1.0
        if now > 0.0 and weight > 0.0:
            for c in range(t):
                left = now
                if apart[c, own] < _APART * now:
                    left = min(now, quick_square(X, i, candidates, c))
                found[c] += weight * left


@loop
def draw_nearer(
    X: Any, weights: Any, closest: Any, owners: Any, centre: Any, number: Any, apart: Any
) -> float:
    """Let a new centre own the rows it is nearer to; return the weighted sum of squared distances."""
    total = 0.0
    for i in range(len(closest)):
        if number == 0 or apart[0, owners[i]] < _APART * closest[i]:
            value = quick_square(X, i, centre, np.int64(0))
            if number == 0 or value < closest[i]:
                closest[i] = value
                owners[i] = number
        total += (weights[i] if len(weights) else 1.0) * closest[i]
    return total


@loop
def walk_to(weights: Any, closest: Any, mark: float) -> int:
    """Return the first row at which the running sum of weighted squared distances reaches a mark."""
    total, last = 0.0, -1
    for i in range(len(closest)):
        step = (weights[i] if len(weights) else 1.0) * closest[i]
        if step > 0.0:
            total += step
            last = i
            if total >= mark:
                return i
    return last


@loop
def find_rows(weights: Any, closest: Any, totals: Any, size: int, marks: Any, rows: Any) -> None:
    """Write the rows at which the running sum reaches marks, given the sums of so many rows after each other.

    Not all of the sums are zero; marks beyond their end are reached with the last row that adds to it.
    """
    last = len(totals) - 1
    while totals[last] == 0.0:
        last -= 1
    for m in range(len(marks)):
        run, before = 0, 0.0
        while run < last and before + totals[run] < marks[m]:
            before += totals[run]
            run += 1
        some = slice(run * size, (run + 1) * size)
        rows[m] = run * size + walk_to(weights[some], closest[some], marks[m] - before)


@loop
def draw_centres(X: Any, weights: Any, closest: Any, owners: Any, draws: Any, chosen: Any) -> None:
    """Choose a row for every line of draws from 0 to 1: of the rows drawn, that which leaves the least total.

    `chosen` begins with the first row. When every row is a centre already, the last one is another.
    """
    trials = draws.shape[1]
    candidates, centres = np.empty((trials, X.shape[1])), np.empty((len(chosen), X.shape[1]))
    apart, numbers = np.empty((trials, len(chosen))), np.full(trials, len(X) - 1)
    centres[0] = X[chosen[0]]
    total = draw_nearer(X, weights, closest, owners, centres[:1], np.int64(0), apart)
    for number in range(1, len(chosen)):
        best = len(X) - 1
        if total > 0.0:
            for c in range(trials):
                numbers[c] = walk_to(weights, closest, draws[number - 1, c] * total)
                candidates[c] = X[numbers[c]]
            measure_apart(candidates, centres[:number], apart)
            found = np.zeros(trials)
            potentials(X, weights, closest, owners, candidates, apart, found)
            best = numbers[np.argmin(found)]
        chosen[number] = best
        centres[number] = X[best]
        measure_apart(centres[number : number + 1], centres[:number], apart)
        total = draw_nearer(X, weights, closest, owners, centres[number : number + 1], number, apart)


def warm() -> None:
    """Compile the loops of this module."""
    none, one, square = given(np.empty(0)), np.ones(1), given(np.ones((1, 1)))
    for dtype in (np.float32, np.float64):
        X = given(np.ones((1, 1), dtype))
        potentials(X, none, given(one), given(np.zeros(1, np.int64)), square, square, np.zeros(1))
        draw_nearer(X, none, one, np.zeros(1, np.int64), square, 0, square)
        draw_centres(X, none, one, np.zeros(1, np.int64), square, np.zeros(2, np.int64))
    find_rows(none, given(one), given(one), 1, given(one), np.zeros(1, np.int64))
    measure_apart(square, square, np.zeros((1, 1)))
