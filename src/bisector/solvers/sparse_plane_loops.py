"""Compiled steps of coordinate descent for a plane with few weights: one after the other takes a Newton step."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

# How much of what the slope promises a step must gain, and how often it may be halved for that.
_SHARE, _HALVINGS = 0.01, 40


@loop
def place_of(rows: Any, start: int, k: int) -> int:
    """Return the row of a column's value; dense columns have all rows in order."""
    return k - start if len(rows) == 0 else rows[k]


@loop
def slope_and_curvature(
    values: Any, rows: Any, start: int, stop: int, side: Any, cost: Any, surplus: Any, out: Any
) -> None:
    """Write the first and second derivative of the loss along one weight."""
    first = second = 0.0
    for k in range(start, stop):
        i = place_of(rows, start, k)
        if surplus[i] < 0.0:
            x = np.float64(values[k])
            first += 2.0 * cost[i] * surplus[i] * side[i] * x
            second += 2.0 * cost[i] * x * x
    out[0], out[1] = first, second


@loop
def change_in_loss(
    values: Any, rows: Any, start: int, stop: int, side: Any, cost: Any, surplus: Any, step: float
) -> float:
    """Return what a step of one weight adds to the loss."""
    total = 0.0
    for k in range(start, stop):
        i = place_of(rows, start, k)
        before = min(surplus[i], 0.0)
        after = min(surplus[i] + step * side[i] * np.float64(values[k]), 0.0)
        total += cost[i] * (after - before) * (after + before)
    return total


@loop
def sweep(
    values: Any,
    rows: Any,
    starts: Any,
    price: Any,
    side: Any,
    cost: Any,
    w: Any,
    surplus: Any,
    active: Any,
    n_active: int,
    limit: float,
    pair: Any,
    sums: Any,
) -> int:
    """Let the active weights take a step each, in the order given; return how many stay active.

    A weight of zero whose slope lies within its price by more than `limit` times the price becomes inactive.
    `sums` get the largest violation of optimality, relative to the price, and the sum of all.
    """
    largest = total = 0.0
    place = 0
    while place < n_active:
        j = active[place]
        start, stop, p = starts[j], starts[j + 1], price[j]
        slope_and_curvature(values, rows, start, stop, side, cost, surplus, pair)
        slope, curvature = pair[0], max(pair[1], 1e-12 * p)
        if w[j] == 0.0:
            violation = max(abs(slope) - p, 0.0)
            if abs(slope) < p * (1.0 - limit):
                n_active -= 1
                active[place], active[n_active] = active[n_active], j
                continue
        else:
            violation = abs(slope + p * np.sign(w[j]))
        place += 1
        violation /= p
        largest = max(largest, violation)
        total += violation
        if slope + p < curvature * w[j]:
            step = -(slope + p) / curvature
        elif slope - p > curvature * w[j]:
            step = -(slope - p) / curvature
        else:
            step = -w[j]
        promised = slope * step + p * (abs(w[j] + step) - abs(w[j]))
        if promised >= 0.0:
            continue
        for _ in range(_HALVINGS):
            gained = change_in_loss(values, rows, start, stop, side, cost, surplus, step)
            gained += p * (abs(w[j] + step) - abs(w[j]))
            if gained <= _SHARE * promised:
                w[j] += step
                for k in range(start, stop):
                    i = place_of(rows, start, k)
                    surplus[i] += step * side[i] * np.float64(values[k])
                break
            step *= 0.5
            promised *= 0.5
    sums[0], sums[1] = largest, total
    return n_active


def warm() -> None:
    """Compile the loops of this module."""
    starts, one = given(np.array([0, 1])), given(np.ones(1))
    for dtype in (np.float64, np.float32):
        for rows in (given(np.zeros(1, np.int64)), given(np.empty(0, np.int64))):
            state = np.zeros(1), np.full(1, -1.0), np.zeros(1, np.int64)
            sweep(
                given(np.ones(1, dtype)),
                rows,
                starts,
                one,
                one,
                one,
                *state,
                1,
                1.0,
                np.zeros(2),
                np.zeros(2),
            )
