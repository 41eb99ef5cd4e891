"""Compiled steps of seeding: what new centres would leave of the distances to the nearest centre."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.lloyd_loops import quick_square

# Two centres so far apart that, rounding included, no row of one is nearer to the other.
_APART = 4.0 * (1.0 + 1e-9)


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
    X: Any, weights: Any, closest: Any, owners: Any, centre: Any, number: int, apart: Any
) -> float:
    """Let a new centre own the rows it is nearer to; return the weighted sum of squared distances."""
    total = 0.0
    for i in range(len(closest)):
        if number == 0 or apart[0, owners[i]] < _APART * closest[i]:
            value = quick_square(X, i, centre, 0)
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


def warm() -> None:
    """Compile the loops of this module."""
    none, one, square = given(np.empty(0)), np.ones(1), given(np.ones((1, 1)))
    for dtype in (np.float32, np.float64):
        X = given(np.ones((1, 1), dtype))
        potentials(X, none, given(one), given(np.zeros(1, np.int64)), square, square, np.zeros(1))
        draw_nearer(X, none, one, np.zeros(1, np.int64), square, 0, square)
    walk_to(none, given(one), 1.0)
