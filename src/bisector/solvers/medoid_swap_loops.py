"""Compiled steps of k-medoids: what a row gains as a new medoid, what a swap changes, and who is nearest then.

A line holds the distances of all rows to one row. Loops see an array of lines, and where in it those they need
stand. Distances stay in the precision in which they came; what is summed is summed in double precision, in the
order of the rows. So no sum depends on how the candidates were divided among threads.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.intrinsics import BITS, bits_below, lowest_bit, without_lowest_bit
from bisector.engine.loops import given, loop

# So many of 64 places are noted at once.
_FEW = 4


class NearestTwo(NamedTuple):
    """The two nearest medoids of every row.

    Attributes
    ----------
    owner, rival : ndarray of int of shape (n_rows,)
        The places of the nearest and of the second nearest among the medoids.
    near, far : ndarray of shape (n_rows,)
        Their distances.
    """

    owner: Any
    rival: Any
    near: Any
    far: Any


@loop
def find_nearest_two(values: Any, slots: Any, rows: Any, n_rows: int, state: NearestTwo) -> None:
    """Find the two nearest medoids of some rows; of equally near ones, the first."""
    for r in range(n_rows):
        o = rows[r]
        state.near[o] = np.inf
        state.far[o] = np.inf
        state.owner[o] = 0
        state.rival[o] = 0
    for i in range(len(slots)):
        line = values[slots[i]]
        for r in range(n_rows):
            o = rows[r]
            value = line[o]
            if value < state.far[o]:
                if value < state.near[o]:
                    state.far[o], state.rival[o] = state.near[o], state.owner[o]
                    state.near[o], state.owner[o] = value, i
                else:
                    state.far[o], state.rival[o] = value, i


@loop
def swap_medoid(line: Any, place: int, state: NearestTwo, left: Any) -> int:
    """Let the medoid at a place be replaced by one with this line; return how many rows are to be looked at anew.

    Rows that lose one of their two nearest, with the new medoid farther than both, are noted in `left`: which
    medoid is nearest to them next, only a look at all medoids can tell.
    """
    n_left = 0
    for o in range(len(line)):
        value = line[o]
        if state.owner[o] == place:
            if value <= state.far[o]:
                state.near[o] = value
            else:
                left[n_left] = o
                n_left += 1
        elif state.rival[o] == place:
            if value < state.near[o]:
                state.far[o], state.rival[o] = state.near[o], state.owner[o]
                state.near[o], state.owner[o] = value, place
            elif value <= state.far[o]:
                state.far[o] = value
            else:
                left[n_left] = o
                n_left += 1
        elif value < state.near[o]:
            state.far[o], state.rival[o] = state.near[o], state.owner[o]
            state.near[o], state.owner[o] = value, place
        elif value < state.far[o]:
            state.far[o], state.rival[o] = value, place
    return n_left


@loop
def sum_losses(weights: Any, state: NearestTwo, losses: Any) -> float:
    """Return the loss, and set what it would rise by if each medoid were taken away."""
    losses[:] = 0.0
    loss = 0.0
    for o in range(len(weights)):
        near = np.float64(state.near[o])
        loss += weights[o] * near
        losses[state.owner[o]] += weights[o] * (np.float64(state.far[o]) - near)
    return loss


@loop
def note_below(line: Any, bounds: Any, hits: Any) -> int:
    """Note the places where a line is below a bound; return how many there are.

    `hits` has room for a few more. What matters is that nobody can foresee where they are: 64 places are compared
    without a branch, and the first of those found are noted whether they are there or not.
    """
    n, n_hits = len(bounds), 0
    whole = n - n % BITS
    for first in range(0, whole, BITS):
        bits = bits_below(line, bounds, first)
        at_most = n_hits
        for _ in range(_FEW):
            hits[at_most] = first + lowest_bit(bits)
            at_most += 1
            n_hits += bits != 0
            bits = without_lowest_bit(bits)
        while bits != 0:
            hits[n_hits] = first + lowest_bit(bits)
            n_hits += 1
            bits = without_lowest_bit(bits)
    for o in range(whole, n):
        hits[n_hits] = o
        n_hits += line[o] < bounds[o]
    return n_hits


@loop
def seek_swap(
    values: Any, slots: Any, is_medoid: Any, weights: Any, state: NearestTwo, losses: Any, bound: float,
    changes: Any, places: Any,
) -> int:  # fmt: skip
    """Find by how much each candidate can change the loss at best, until one changes it below the bound.

    A row matters only if the candidate is nearer to it than its second nearest medoid. If it is nearer than the
    nearest, the row gains whichever medoid goes; else only its nearest is missed less. Returns how many candidates
    were looked at; for these, `changes` and `places` hold the change and the place of the medoid to go. What is a
    medoid already changes nothing.
    """
    n_medoids = len(losses)
    hits = np.empty(len(weights) + _FEW, np.int64)
    change = np.empty(n_medoids)
    for c in range(len(slots)):
        if is_medoid[c]:
            changes[c], places[c] = 0.0, 0
            continue
        line = values[slots[c]]
        n_hits = note_below(line, state.far, hits)
        change[:] = losses
        gained = 0.0
        for h in range(n_hits):
            o = hits[h]
            value, near, far = np.float64(line[o]), np.float64(state.near[o]), np.float64(state.far[o])
            gained += weights[o] * (min(value, near) - near)
            change[state.owner[o]] += weights[o] * (max(value, near) - far)
        place = 0
        for i in range(1, n_medoids):
            if change[i] < change[place]:
                place = i
        changes[c], places[c] = gained + change[place], place
        if changes[c] < bound:
            return c + 1
    return len(slots)


@loop
def sum_gains(values: Any, slots: Any, weights: Any, near: Any, gains: Any) -> None:
    """Find by how much each candidate lowers the loss as one more medoid."""
    hits = np.empty(len(weights) + _FEW, np.int64)
    for c in range(len(slots)):
        line = values[slots[c]]
        n_hits = note_below(line, near, hits)
        gain = 0.0
        for h in range(n_hits):
            o = hits[h]
            gain += weights[o] * (np.float64(near[o]) - np.float64(line[o]))
        gains[c] = gain


@loop
def sum_lines(values: Any, slots: Any, weights: Any, totals: Any) -> None:
    """Find the loss that each candidate has as the only medoid."""
    for c in range(len(slots)):
        line = values[slots[c]]
        total = 0.0
        for o in range(len(weights)):
            total += weights[o] * np.float64(line[o])
        totals[c] = total


@loop
def keep_nearer_line(line: Any, near: Any) -> None:
    """Keep the smaller of two distances for every row."""
    for o in range(len(near)):
        near[o] = min(near[o], line[o])


def warm() -> None:
    """Compile the loops of this module."""
    one, none = given(np.ones(2)), given(np.zeros(2, np.int64))
    for dtype in (np.float32, np.float64):
        lines = given(np.ones((2, 2), dtype))
        state = NearestTwo(np.zeros(2, np.int64), np.zeros(2, np.int64), np.ones(2, dtype), np.ones(2, dtype))
        find_nearest_two(lines, none, none, 2, state)
        swap_medoid(lines[0], 0, state, np.zeros(2, np.int64))
        sum_losses(one, state, np.ones(2))
        seek_swap(
            lines,
            none,
            given(np.zeros(2, bool)),
            one,
            state,
            given(np.ones(2)),
            0.0,
            np.ones(2),
            np.zeros(2, np.int64),
        )
        sum_gains(lines, none, one, state.near, np.ones(2))
        sum_lines(lines, none, one, np.ones(2))
        keep_nearer_line(lines[0], state.near)
