"""Compiled steps that find the next event of a stride, looking at few rows.

The plane moves by w′, and a row's score by ⟨w′, φ(x) − φ̄⟩ more than the mean score. So a score is off from where a
known speed leads by at most what w′ has changed since, times the row's distance from the mean. Since the stride
began w′ has changed by a length that all speeds at the beginning tell; since the row was looked at, by at most the
sum of the turns at events, and as w′ is a projection that an event makes by one member finer or coarser, it turns
by the root of what ‖w′‖² changes. Rows that cannot have met the margin by the next event are not looked at.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import loop

from .hinge_path_loops import SAME_RATE, way_out
from .margin_members_loops import MEMBER, RATE_OF_SHIFT, SHIFT, TIME

LONGEST = 64
# A row without a slot.
NO_SLOT = -1
# Places of `counts`: slots in use, of these the first ones with a place in H₀, and changes since.
N_SLOTS, N_FIRST, N_CHANGES = 0, 1, 2
# Places of `numbers`: how far the mean score has come; its pace, now and at the start, and ‖w′‖²; how much w′ has
# turned, event by event, and its distance from where it was at the start, with their integrals over time; and the
# time at the start.
MEAN, MEAN_PACE, FIRST_PACE, SQUARE, FIRST_SQUARE, TURN, TURNED, ASIDE, STRAYED, START = range(10)
# For so many rows H₀k is solved ahead; and a row for which it is not.
AHEAD, NOT_SOLVED = 48, -1
# Events nearer to each other, or to now, relative to the time, are ties.
TIE = 1e-12
# A multiplier leaves clearly if it goes beyond its bound by this share of the bound's rate.
CLEAR_RATE = 1e-6


class Stride(NamedTuple):
    """What a stride knows beside the walk.

    Attributes
    ----------
    row : (room,) the row of each slot; those with the role of a member are members now
    slot : (n,) a row's slot, or NO_SLOT
    changes, weights : (LONGEST, room) and (LONGEST,) z and σ of each change of the inverse
    ones, pulled : (room,) H·y and H·(y pull)
    rates : (room,) what a unit of time adds to the multipliers of members
    amount, growth : (n,) αy of all rows, and what a unit of time adds to it
    mean_value, reach : (n,) a row's mean kernel value, and its distance from the mean of all rows
    sign : (n,) the side of rows outside, its negative for rows inside, 0 for others
    seen, meets, mean, mean_pace, turn, turned : (n,) the time when the row was looked at, when it seemed to meet
        the margin, and what the numbers of these names were
    first_score, first_speed : (n,) at the start
    room, fastest : (n,) how near rows can have come to the margin, and how fast they can be closing in
    times, shifts : (LONGEST,) time and intercept after each event
    amounts, roles : (LONGEST, room) by how much αy had changed since the stride began, and the role, of each slot
    first : (room,) αy of each slot when the stride began
    solved, solutions : (n,) and (AHEAD, members at the start) which line has H₀k of a row, or NOT_SOLVED; and lines
    numbers, counts : as their places say
    """

    row: NDArray[np.int64]
    slot: NDArray[np.int64]
    changes: NDArray[np.float64]
    weights: NDArray[np.float64]
    ones: NDArray[np.float64]
    pulled: NDArray[np.float64]
    rates: NDArray[np.float64]
    amount: NDArray[np.float64]
    growth: NDArray[np.float64]
    mean_value: NDArray[np.float64]
    reach: NDArray[np.float64]
    sign: NDArray[np.float64]
    seen: NDArray[np.float64]
    meets: NDArray[np.float64]
    mean: NDArray[np.float64]
    mean_pace: NDArray[np.float64]
    turn: NDArray[np.float64]
    turned: NDArray[np.float64]
    first_score: NDArray[np.float64]
    first_speed: NDArray[np.float64]
    room: NDArray[np.float64]
    fastest: NDArray[np.float64]
    times: NDArray[np.float64]
    shifts: NDArray[np.float64]
    amounts: NDArray[np.float64]
    roles: NDArray[np.int64]
    first: NDArray[np.float64]
    solved: NDArray[np.int64]
    solutions: NDArray[np.float64]
    numbers: NDArray[np.float64]
    counts: NDArray[np.int64]


@loop(fast=True)
def dot(values: Any, others: Any, n: int) -> float:
    """Sum the products of the first n values."""
    total = 0.0
    for i in range(n):
        total += values[i] * others[i]
    return total


@loop(fast=True)
def weigh(values: Any, amount: Any, growth: Any) -> tuple[float, float]:
    """Sum the products of values with amounts, and with their growth."""
    score = speed = 0.0
    for j in range(len(values)):
        score += values[j] * amount[j]
        speed += values[j] * growth[j]
    return score, speed


@loop
def look(walk: Any, stride: Any, i: int, target: float) -> float:
    """Compute a row's score, and its speed, from all multipliers; return when it meets the margin."""
    score, speed = weigh(walk.gram[i], stride.amount, stride.growth)
    walk.score[i] = score + walk.numbers[SHIFT]
    walk.speed[i] = speed + walk.numbers[RATE_OF_SHIFT]
    numbers = stride.numbers
    stride.seen[i], stride.mean[i], stride.mean_pace[i] = (
        walk.numbers[TIME],
        numbers[MEAN],
        numbers[MEAN_PACE],
    )
    stride.turn[i], stride.turned[i] = numbers[TURN], numbers[TURNED]
    wait = wait_of_row(walk, stride, i, target)
    stride.meets[i] = walk.numbers[TIME] + wait
    return wait


@loop
def wait_of_row(walk: Any, stride: Any, i: int, target: float) -> float:
    """Return the time from when a row was looked at until it meets the margin."""
    closing = -stride.sign[i] * walk.speed[i]
    room = stride.sign[i] * (walk.score[i] - walk.side[i] * target)
    return max(room, 0.0) / closing if closing > 0.0 else np.inf


@loop
def likely_next(stride: Any) -> int:
    """Return the row that seemed to meet the margin first when it was looked at; −1 if none did."""
    best, row = np.inf, -1
    for i in range(len(stride.meets)):
        if stride.meets[i] < best and stride.sign[i] != 0.0:
            best, row = stride.meets[i], i
    return row


@loop
def bound_rows(walk: Any, stride: Any, target: float) -> None:
    """Find how near rows can have come to the margin, and how fast they can be closing in."""
    numbers = stride.numbers
    since = walk.numbers[TIME] - numbers[START]
    for i in range(len(stride.sign)):
        sign, reach, margin = stride.sign[i], stride.reach[i], walk.side[i] * target
        elapsed = walk.numbers[TIME] - stride.seen[i]
        ahead = walk.speed[i] - stride.mean_pace[i]
        score = walk.score[i] - margin + elapsed * ahead + numbers[MEAN] - stride.mean[i]
        room = sign * score - reach * (numbers[TURNED] - stride.turned[i] - stride.turn[i] * elapsed)
        closing = reach * (numbers[TURN] - stride.turn[i]) - sign * (ahead + numbers[MEAN_PACE])
        ahead = stride.first_speed[i] - numbers[FIRST_PACE]
        score = stride.first_score[i] - margin + since * ahead + numbers[MEAN]
        other = sign * score - reach * numbers[STRAYED]
        other_closing = reach * numbers[ASIDE] - sign * (ahead + numbers[MEAN_PACE])
        stride.room[i] = room if room > other else other
        stride.fastest[i] = closing if closing < other_closing else other_closing


@loop
def next_event(walk: Any, stride: Any, target: float, event: Any) -> float:
    """Return the time until the next event, and put it into `event` as `find_event` does; −1 if in doubt."""
    time = walk.numbers[TIME]
    best = second = np.inf
    clear = 1.0
    event[0] = -1
    for s in range(stride.counts[N_SLOTS]):
        row = stride.row[s]
        if walk.role[row] != MEMBER:
            continue
        rate, alpha, bound = stride.rates[s], walk.alpha[row], walk.bound[row]
        beyond, room, role = way_out(rate, alpha, bound, time)
        if beyond <= SAME_RATE * bound:
            continue
        wait = max(room, 0.0) / beyond
        if wait < best:
            best, second, clear = wait, best, beyond / bound
            event[0], event[1], event[2] = row, s, role
        elif wait < second:
            second = wait
    bound_rows(walk, stride, target)
    first = likely_next(stride)
    for k in range(-1, len(walk.role)):
        i = first if k < 0 else k
        if i < 0 or stride.sign[i] == 0.0 or (i == first and k >= 0):
            continue
        # A bound that is off by its rounding must not hide an event.
        if (
            stride.room[i] > (1.0 + 1e-9) * (best + 2 * TIE * time) * stride.fastest[i]
            and stride.room[i] > 0.0
        ):
            continue
        wait = look(walk, stride, i, target)
        if wait < best:
            best, second, clear = wait, best, 1.0
            event[0], event[1], event[2] = i, -1, MEMBER
        elif wait < second:
            second = wait
    if clear < CLEAR_RATE or not best > TIE * time or second - best <= TIE * time:
        return -1.0
    return best


def warm() -> None:
    """Compile the loops of this module, by those that call them."""
    from .path_strides_loops import warm as warm_strides

    warm_strides()
