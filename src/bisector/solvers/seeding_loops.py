"""Compiled steps of seeding: what new centres would leave of the distances to the nearest centre."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.lloyd_loops import quick_square
from bisector.solvers.side_by_side_loops import multiply_four

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
def rough_potentials(
    candidates: Any, sizes: Any, pieces: Any, norms: Any, closest: Any, weights: Any, squares: Any, found: Any
) -> None:
    """Write squared distances by products, and add up those to the nearest centre if the candidate becomes one.

    ``candidates`` are 2c, and −squares are 2c·a − ‖c‖² − ‖a‖².
    """
    n, width = len(norms), pieces.shape[2]
    below = np.empty((4, width), np.float32)
    for p in range(len(pieces)):
        first, last = p * width, min((p + 1) * width, n)
        for c in range(0, len(candidates), 4):
            multiply_four(candidates, sizes, c, pieces[p], norms[first:last], below)
            for q in range(min(4, len(candidates) - c)):
                found[c + q] += add_least(
                    below[q], closest[first:last], weights[first:last], squares[c + q, first:last]
                )


@loop(fast=True)
def add_least(below: Any, closest: Any, weights: Any, squares: Any) -> float:
    """Turn the signs of numbers, and sum up what they or the closest are at least, times the weights."""
    total = 0.0
    for i in range(len(closest)):
        squares[i] = -below[i]
        least = min(-np.float64(below[i]), closest[i])
        total += weights[i] * least
    return total


@loop
def draw_nearer(
    X: Any, weights: Any, lows: Any, closest: Any, owners: Any, centre: Any, number: Any, apart: Any
) -> float:
    """Let a new centre own the rows it is nearer to; return the weighted sum of squared distances.

    Rows whose squared distance from it is known to be at least `lows` need no look if they have a nearer one.
    """
    total = 0.0
    for i in range(len(closest)):
        far = len(lows) > 0 and lows[i] >= closest[i]
        if not far and (number == 0 or apart[0, owners[i]] < _APART * closest[i]):
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
def draw_centres(X: Any, weights: Any, closest: Any, owners: Any, draws: Any, chosen: Any) -> None:
    """Choose a row for every line of draws from 0 to 1: of the rows drawn, that which leaves the least total.

    `chosen` begins with the first row. When every row is a centre already, the last one is another.
    """
    trials = draws.shape[1]
    candidates, centres = np.empty((trials, X.shape[1])), np.empty((len(chosen), X.shape[1]))
    apart, numbers = np.empty((trials, len(chosen))), np.full(trials, len(X) - 1)
    centres[0] = X[chosen[0]]
    total = draw_nearer(X, weights, weights[:0], closest, owners, centres[:1], np.int64(0), apart)
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
        total = draw_nearer(
            X, weights, weights[:0], closest, owners, centres[number : number + 1], number, apart
        )


def warm() -> None:
    """Compile the loops of this module."""
    none, one, square = given(np.empty(0)), np.ones(1), given(np.ones((1, 1)))
    for dtype in (np.float32, np.float64):
        X = given(np.ones((1, 1), dtype))
        potentials(X, none, given(one), given(np.zeros(1, np.int64)), square, square, np.zeros(1))
        draw_nearer(X, none, none, one, np.zeros(1, np.int64), square, 0, square)
        draw_centres(X, none, one, np.zeros(1, np.int64), square, np.zeros(2, np.int64))
    single, flat = given(np.ones(1, np.float32)), given(np.ones((1, 4), np.float32))
    pieces, squares = given(np.ones((1, 4, 1), np.float32)), np.ones((1, 1), np.float32)
    rough_potentials(flat, single, pieces, single, given(one), given(one), squares, np.zeros(1))
    walk_to(none, given(one), 1.0)
    measure_apart(square, square, np.zeros((1, 1)))
