"""Compiled steps that prove a stride: what was the case after each event, and whether that was as it should be."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

from .margin_members_loops import INSIDE, MEMBER, N_EVENTS, OUTSIDE, SHIFT, TIME
from .path_lookout_loops import N_CHANGES, N_SLOTS, START, look

# A stride that leaves any row further from where it should be is taken back.
LARGEST_ERROR = 1e-10
# So many columns are mirrored at once.
TILE = 8


@loop
def gather(values: Any, rows: Any, out: Any) -> None:
    """Copy the values of some rows with each other."""
    for a in range(len(rows)):
        line = values[rows[a]]
        for b in range(len(rows)):
            out[a, b] = line[rows[b]]


@loop
def close_ranks(inverse: Any, sums: Any, stay: Any, n_first: int) -> None:
    """Add sums to the inverse, of which the upper half is known, with the lines and columns that stay at the front.

    The first so many of these have been in the inverse before. No value is written over before it is read, as
    lines and columns only move forward.
    """
    m = len(stay)
    for a in range(m):
        line, values, change = inverse[a], inverse[stay[a]], sums[stay[a]]
        for b in range(a, n_first):
            line[b] = values[stay[b]] + change[stay[b]]
        for b in range(max(a, n_first), m):
            line[b] = change[stay[b]]
    for start in range(0, m, TILE):
        for a in range(start, m):  # the lower half, in tiles that stay in the cache
            for b in range(start, min(start + TILE, a)):
                inverse[a, b] = inverse[b, a]


@loop
def write_down(walk: Any, stride: Any, row: int, k: int, times: Any, rows: Any, roles: Any) -> None:
    """Note an event, in the log and for the proof."""
    event = walk.counts[N_EVENTS]
    time = walk.numbers[TIME]
    times[event], rows[event], roles[event] = time, row, walk.role[row]
    walk.counts[N_EVENTS] = event + 1
    stride.times[k], stride.shifts[k] = time, walk.numbers[SHIFT]
    for s in range(stride.counts[N_SLOTS]):
        i = stride.row[s]
        role = walk.role[i]
        alpha = walk.alpha[i] if role == MEMBER else 0.0
        alpha = time * walk.bound[i] if role == INSIDE else alpha
        stride.roles[k, s], stride.amounts[k, s] = role, walk.side[i] * alpha - stride.first[s]


@loop
def write_up(walk: Any, stride: Any, slot: int) -> None:
    """Note where the row of a new slot has been since the stride began."""
    row = stride.row[slot]
    unit = walk.side[row] * walk.bound[row] if walk.role[row] == INSIDE else 0.0
    start = stride.numbers[START]
    stride.first[slot] = unit * start
    for k in range(stride.counts[N_CHANGES]):
        stride.roles[k, slot], stride.amounts[k, slot] = walk.role[row], unit * (stride.times[k] - start)


@loop
def judge(walk: Any, stride: Any, target: float, before: Any, scores: Any, pull: Any, off: Any) -> None:
    """Find how far the rows with slots were from where they should be, after each event.

    `scores` has what the changes of their own multipliers add to their scores, `pull` what the rows inside
    without a slot do.
    """
    for k in range(len(off)):
        elapsed = stride.times[k] - before.numbers[TIME]
        moved = stride.shifts[k] - before.numbers[SHIFT]
        worst = 0.0
        for s in range(stride.counts[N_SLOTS]):
            row = stride.row[s]
            score = before.score[row] + moved + elapsed * pull[s] + scores[k, s]
            beyond = walk.side[row] * score - target
            if stride.roles[k, s] == OUTSIDE:
                beyond = -beyond
            elif stride.roles[k, s] == MEMBER:
                beyond = abs(beyond)
            worst = max(worst, beyond)
        off[k] = worst


@loop
def is_astray(walk: Any, stride: Any, row: int, target: float) -> bool:
    """Look whether a member is off the margin."""
    if walk.role[row] != MEMBER:
        return False
    look(walk, stride, row, target)
    return bool(abs(walk.side[row] * walk.score[row] - target) > LARGEST_ERROR)


def warm() -> None:
    """Compile the loops of this module that strides do not always need."""
    close_ranks(np.eye(2), np.zeros((2, 2)), given(np.array([1])), 1)
