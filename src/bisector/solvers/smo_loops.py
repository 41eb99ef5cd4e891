"""Compiled steps of sequential minimal optimisation: pairs of variables of a working set, and what they change."""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop

# Between the lowest and the highest, so many steps are told apart when variables are chosen.
_STEPS = 1024


class Box(NamedTuple):
    """The bounds of the variables of a working set."""

    lower: Any
    upper: Any


@loop
def improve_pairs(
    gram: Any, box: Any, beta: Any, gradient: Any, tolerance: float, flat: float, most: int
) -> int:
    """Move pairs of variables, one up and one down by as much, until none violates the conditions; count the steps.

    The first of a pair is the one whose rise lowers the objective fastest, the second the one with which a step
    lowers it most (second-order choice, Fan, Chen & Lin 2005). A curvature of at most the part `flat` of the two
    diagonal entries is none: the step goes on to the next bound. `beta` and `gradient` are changed in place. The
    count is negative if a step had no bound to stop at.
    """
    m = len(beta)
    diagonal, falls, rises = np.empty(m), np.empty(m), np.empty(m)
    for v in range(m):
        diagonal[v] = gram[v, v]
    steps = 0
    while True:
        # What it gains to let v rise, and what it costs to let it fall: −g, where it can.
        first, most_gained = -1, -np.inf
        for v in range(m):
            gained = -gradient[v]
            rises[v] = gained if beta[v] < box.upper[v] else -np.inf
            falls[v] = gained if beta[v] > box.lower[v] else np.inf
            if rises[v] > most_gained:
                first, most_gained = v, rises[v]
        if first < 0 or steps == most:
            return steps
        line, own = gram[first], diagonal[first]
        second, largest, least_lost = -1, 0.0, np.inf
        for v in range(m):
            slope = most_gained - falls[v]
            least_lost = min(least_lost, falls[v])
            if slope > 0.0:
                both = own + diagonal[v]
                decrease = slope * slope / max(both - 2.0 * line[v], flat * abs(both))
                if decrease > largest:
                    second, largest = v, decrease
        if second < 0 or most_gained - least_lost <= tolerance:
            return steps
        other = gram[second]
        room_up, room_down = box.upper[first] - beta[first], beta[second] - box.lower[second]
        both = own + diagonal[second]
        curvature = both - 2.0 * line[second]
        step = min(room_up, room_down)
        if curvature > flat * abs(both):
            step = min(step, (most_gained - falls[second]) / curvature)
        if step == np.inf:
            return -steps - 1
        beta[first] = box.upper[first] if step == room_up else beta[first] + step
        beta[second] = box.lower[second] if step == room_down else beta[second] - step
        for v in range(m):
            gradient[v] += step * (line[v] - other[v])
        steps += 1


@loop
def survey(
    values: Any, rows: Any, linear: Any, lower: Any, upper: Any, beta: Any, made: Any
) -> tuple[float, float, float]:
    """Write the gradient, and what it gains to let each variable rise and fall (−inf where it cannot).

    Returns the most that a rise gains, the least that a fall costs, and the objective.
    """
    gradient, rises, drops = made[0], made[1], made[2]
    highest, lowest, objective = -np.inf, np.inf, 0.0
    for v in range(len(beta)):
        value = values[rows[v]]
        slope = value + linear[v]
        gradient[v] = slope
        rises[v] = -slope if beta[v] < upper[v] else -np.inf
        drops[v] = slope if beta[v] > lower[v] else -np.inf
        highest, lowest = max(highest, rises[v]), min(lowest, -drops[v])
        objective += beta[v] * (0.5 * value + linear[v])
    return highest, lowest, objective


@loop
def mark_highest(gains: Any, low: float, high: float, count: int, marked: Any) -> None:
    """Mark about as many variables as `count` says, of those that gain most between `low` and `high`.

    Gains are told apart by steps of equal size; of those on the last step, the ones with the smallest numbers are
    taken.
    """
    if not high > low:
        return
    scale = _STEPS / (high - low)
    steps, on_step = np.empty(len(gains), np.int64), np.zeros(_STEPS + 1, np.int64)
    for v in range(len(gains)):
        gained = gains[v] - low
        # What gains nothing is on the step below all others.
        steps[v] = min(int(gained * scale), _STEPS - 1) + 1 if gained > 0.0 else 0
    for v in range(len(gains)):
        on_step[steps[v]] += 1
    last, above = _STEPS, 0
    while last > 1 and above + on_step[last] < count:
        above += on_step[last]
        last -= 1
    left = count - above
    for v in range(len(gains)):
        if steps[v] >= last:
            if steps[v] > last:
                marked[v] = True
            elif left > 0:
                marked[v] = True
                left -= 1


@loop
def keep_tile(tile: Any, lines: Any, slots: Any, column: int) -> None:
    """Copy a tile into the slots of its rows, in the precision of the lines."""
    n_rows, n_columns = tile.shape
    for i in range(n_rows):
        line, found = lines[slots[i], column : column + n_columns], tile[i]
        for b in range(n_columns):
            line[b] = found[b]


@loop
def gather_square(lines: Any, slots: Any, columns: Any, first: int, last: int, out: Any) -> None:
    """Copy the values among some rows out of their lines, for the rows from `first` to `last` of them."""
    # Mirroring one half would read less, but write down columns, whose places in the cache fall together.
    for a in range(first, last):
        line, row = lines[slots[a]], out[a]
        for b in range(len(columns)):
            row[b] = line[columns[b]]


@loop(fast=True)
def add_lines(lines: Any, slots: Any, factors: Any, totals: Any, first: int, last: int) -> None:
    """Add multiples of lines to the totals from `first` to `last`, four lines at a time: memory sets the pace."""
    part = totals[first:last]
    n = len(slots)
    for s in range(0, n - 3, 4):
        a, b = lines[slots[s], first:last], lines[slots[s + 1], first:last]
        c, d = lines[slots[s + 2], first:last], lines[slots[s + 3], first:last]
        of_a, of_b, of_c, of_d = factors[s], factors[s + 1], factors[s + 2], factors[s + 3]
        for j in range(len(part)):
            part[j] += (of_a * a[j] + of_b * b[j]) + (of_c * c[j] + of_d * d[j])
    for s in range(n - n % 4, n):
        a, of_a = lines[slots[s], first:last], factors[s]
        for j in range(len(part)):
            part[j] += of_a * a[j]


def warm() -> None:
    """Compile the loops of this module."""
    numbers = given(np.zeros(1, np.int64))
    box = Box(given(np.zeros(1)), given(np.ones(1)))
    one = given(np.ones(1))
    survey(one, numbers, one, box.lower, box.upper, one, np.empty((3, 1)))
    mark_highest(one, 0.0, 1.0, 1, np.zeros(1, dtype=bool))
    for dtype in (np.float32, np.float64):
        gram = given(np.ones((1, 1), dtype))
        improve_pairs(gram, box, np.zeros(1), np.ones(1), 1e-3, 1e-12, 1)
        keep_tile(given(np.ones((1, 1))), np.empty((1, 1), dtype), numbers, 0)
        gather_square(gram, numbers, numbers, 0, 1, np.empty((1, 1), dtype))
        add_lines(gram, numbers, given(np.ones(1)), np.zeros(1), 0, 1)
