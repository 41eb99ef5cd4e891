"""Compiled steps of dual coordinate descent: one multiplier after the other moves to where it is best."""

from typing import Any

import numpy as np

from bisector.engine.intrinsics import prefetch
from bisector.engine.loops import given, loop

# So many rows ahead of its turn, the values of a row are fetched, this many a line of the cache.
_AHEAD, _LINE = 4, 8


@loop
def shuffle(uniform: Any, count: int, numbers: Any) -> None:
    """Put the first numbers in another order by uniform random numbers, one for each place."""
    for place in range(count - 1, 0, -1):
        other = int(uniform[place] * (place + 1))
        numbers[place], numbers[other] = numbers[other], numbers[place]


@loop
def squared_lengths(values: Any, starts: Any, squares: Any) -> None:
    """Write x·x of every row."""
    for i in range(len(squares)):
        total = 0.0
        for k in range(starts[i], starts[i + 1]):
            total += np.float64(values[k]) ** 2
        squares[i] = total


@loop(fast=True)
def score(values: Any, columns: Any, start: int, stop: int, w: Any) -> float:
    """Return w·x of a row; dense rows have no columns."""
    total = 0.0
    if len(columns) == 0:
        for k in range(stop - start):
            total += np.float64(values[start + k]) * w[k]
    else:
        for k in range(np.uint64(start), np.uint64(stop)):  # unsigned: no place counts from the end
            total += np.float64(values[k]) * w[np.uint64(columns[k])]
    return total


@loop
def add(values: Any, columns: Any, start: int, stop: int, step: float, w: Any) -> None:
    """Add a multiple of a row to w."""
    if len(columns) == 0:
        for k in range(stop - start):
            w[k] += step * np.float64(values[start + k])
    else:
        for k in range(np.uint64(start), np.uint64(stop)):
            w[np.uint64(columns[k])] += step * np.float64(values[k])


@loop
def fetch(values: Any, columns: Any, start: int, stop: int) -> None:
    """Ask for a row before its turn."""
    for k in range(start, stop, _LINE):
        prefetch(values, k)
        if len(columns) > 0:
            prefetch(columns, k)


@loop
def descend(
    values: Any,
    columns: Any,
    starts: Any,
    side: Any,
    cost: Any,
    softness: Any,
    curvature: Any,
    alpha: Any,
    w: Any,
    intercept: Any,
    active: Any,
    n_active: int,
    relaxation: float,
    limits: Any,
    sums: Any,
) -> int:
    """Move the active multipliers once each, in the order given; return how many stay active.

    A row that rests at a bound and is pulled beyond it further than `limits` (below 0 and above 0) becomes
    inactive: it changes places with the last active one. `intercept` holds b and what a unit of yα adds to it.
    `sums` get, of the active rows as they were met, the loss, Σα(yf − 1), the part of α² in the dual, the sum of
    the pulls' sizes and the largest of them.
    """
    loss = products = soft = pulled = strongest = 0.0
    b, stiffness = intercept[0], intercept[1]
    place = 0
    while place < n_active:
        i = active[place]
        if place + _AHEAD < n_active:
            later = active[place + _AHEAD]
            fetch(values, columns, starts[later], starts[later + 1])
        a, C, extra, y = alpha[i], cost[i], softness[i], side[i]
        start, stop = starts[i], starts[i + 1]
        surplus = y * (score(values, columns, start, stop, w) + b) - 1.0
        if surplus < 0.0:
            loss += C * surplus * surplus if extra > 0.0 else -C * surplus
        products += a * surplus
        soft += 0.5 * extra * a * a
        slope = surplus + extra * a
        upper = np.inf if extra > 0.0 else C
        outside = (a == 0.0 and slope > limits[1]) or (a == upper and slope < limits[0])
        if outside:
            n_active -= 1
            active[place], active[n_active] = active[n_active], i
            continue
        place += 1
        moved = min(max(a - relaxation * slope / curvature[i], 0.0), upper)
        if moved != a:
            pulled += abs(slope)
            strongest = max(strongest, abs(slope))
            alpha[i] = moved
            step = (moved - a) * y
            add(values, columns, start, stop, step, w)
            b += stiffness * step
    intercept[0] = b
    sums[0], sums[1], sums[2], sums[3], sums[4] = loss, products, soft, pulled, strongest
    return n_active


def warm() -> None:
    """Compile the loops of this module."""
    starts, one, place = given(np.array([0, 1])), given(np.ones(1)), given(np.zeros(1, np.int64))
    shuffle(one, 1, np.zeros(1, np.int64))
    for dtype in (np.float64, np.float32):
        values = given(np.ones(1, dtype))
        squared_lengths(values, starts, np.ones(1))
        for columns in (place, given(np.empty(0, np.int64))):
            state = np.zeros(1), np.zeros(1), np.zeros(2), np.zeros(1, np.int64)
            descend(values, columns, starts, one, one, one, one, *state, 1, 1.0, np.ones(2), np.zeros(5))
