"""Compiled steps along the path of support vector machines, from event to event."""

from typing import Any

import numpy as np

from bisector.engine.loops import loop

from .margin_members_loops import (
    DRIFT,
    HELD,
    INSIDE,
    MEMBER,
    N_EVENTS,
    N_INSIDE,
    N_MEMBERS,
    NOISE,
    OUTSIDE,
    RATE_OF_SHIFT,
    SHIFT,
    SINCE,
    STANDING,
    TIME,
    aim,
    enter,
    leave,
    mend,
    settle,
    small_walk,
)

# Why a walk pauses: it has arrived, nothing more happens, there is no room, the inverse is worn, it has lost
# its way, all scores have become equal, there are no members, or it has gone far enough.
ARRIVED, ENDLESS, FULL, WORN, LOST, FLAT, DESERTED, RESTED = 0, 1, 2, 3, 4, 5, 6, 7
# So many events later scores are computed anew; members further off the margin then mean a worn inverse.
SETTLE_AFTER, LARGEST_DRIFT = 64, 1e-8
# Rows further from where they should be mean that rounding has the better of the walk.
LARGEST_VIOLATION = 1e-6
# Rates of multipliers that differ by this share of the bound's are the same.
SAME_RATE = 1e-10
# Scores are equal if they differ by this share of what they are sums of.
EQUAL_SCORES = 1e-10
# Shorter times, relative to the time itself, are none.
NO_TIME = 1e-13


@loop
def room_of(walk: Any, i: int, target: float) -> float:
    """Return how far a row is from the margin, on its own side of it."""
    beyond = walk.side[i] * walk.score[i] - target
    return beyond if walk.role[i] == OUTSIDE else -beyond


@loop
def noise_of_rate(walk: Any, place: int) -> float:
    """Return what rounding may add to the rate of a member's multiplier."""
    total = 0.0
    for b in range(walk.counts[N_MEMBERS]):
        total += abs(walk.inverse[place, b])
    return walk.numbers[NOISE] * total


@loop
def way_out(rate: float, alpha: float, bound: float, time: float) -> tuple[float, float, int]:
    """Return how fast a member goes beyond the bound ahead of it, how far that is, and what it will be there."""
    if rate > bound:
        return rate - bound, time * bound - alpha, INSIDE
    return -rate, alpha, OUTSIDE


@loop
def find_event(walk: Any, target: float, out: Any) -> float:
    """Return the time until the next event; `out` gets the row, its place among members (or −1), and its new role.

    Of events at the same time the one of the smallest row comes first, lest ties make the walk turn in circles
    (Murty).
    """
    best = np.inf
    time = walk.numbers[TIME]
    none = NO_TIME * time
    out[0] = -1
    for a in range(walk.counts[N_MEMBERS]):
        row = walk.members[a]
        rate, alpha, bound = walk.rates[a], walk.alpha[row], walk.bound[row]
        beyond, room, role = way_out(rate, alpha, bound, time)
        if beyond <= SAME_RATE * bound:
            continue
        wait = max(room, 0.0) / beyond
        wait = wait if wait > none else 0.0
        if (wait < best or (wait == best and row < out[0])) and beyond > noise_of_rate(walk, a):
            best, out[0], out[1], out[2] = wait, row, a, role
    for i in range(len(walk.score)):
        role = walk.role[i]
        if role in (MEMBER, HELD) or walk.passed_by[i]:
            continue
        speed = walk.side[i] * walk.speed[i]
        closing = -speed if role == OUTSIDE else speed
        if closing > walk.numbers[NOISE]:
            wait = max(room_of(walk, i, target), 0.0) / closing
            wait = wait if wait > none else 0.0
            if wait < best or (wait == best and i < out[0]):
                best, out[0], out[1], out[2] = wait, i, -1, MEMBER
    return best


@loop
def pass_time(walk: Any, elapsed: float) -> None:
    """Let multipliers, scores and intercept change as they do."""
    walk.numbers[TIME] += elapsed
    walk.numbers[SHIFT] += elapsed * walk.numbers[RATE_OF_SHIFT]
    for a in range(walk.counts[N_MEMBERS]):
        walk.alpha[walk.members[a]] += elapsed * walk.rates[a]
    for i in range(len(walk.score)):
        walk.score[i] += elapsed * walk.speed[i]


@loop
def note(walk: Any, row: int, target: float, times: Any, rows: Any, roles: Any, off: Any) -> bool:
    """Write an event down, with how far rows are from where they should be; tell whether that is near enough."""
    k, worst = walk.counts[N_EVENTS], 0.0
    for i in range(len(walk.score)):
        beyond = walk.side[i] * walk.score[i] - target
        if walk.role[i] == OUTSIDE:
            worst = max(worst, -beyond)
        elif walk.role[i] == INSIDE:
            worst = max(worst, beyond)
        elif walk.role[i] == MEMBER:
            worst = max(worst, abs(beyond))
    times[k], rows[k], roles[k], off[k] = walk.numbers[TIME], row, walk.role[row], worst
    walk.counts[N_EVENTS] = k + 1
    walk.counts[SINCE] += 1
    return worst <= LARGEST_VIOLATION


@loop
def is_flat(walk: Any) -> bool:
    """Tell whether all scores are equal: the plane has no direction."""
    low, high, size = np.inf, -np.inf, 0.0
    for i in range(len(walk.score)):
        low, high = min(low, walk.score[i]), max(high, walk.score[i])
        alpha = walk.numbers[TIME] * walk.bound[i] if walk.role[i] == INSIDE else walk.alpha[i]
        size += alpha * walk.gram[i, i]
    return high - low <= EQUAL_SCORES * size


@loop
def follow(
    walk: Any,
    target: float,
    end: float,
    constant: float,
    most: int,
    work: Any,
    times: Any,
    rows: Any,
    roles: Any,
    off: Any,
) -> int:
    """Walk until the time `end`, or for `most` events, noting each; return why the walk pauses."""
    event = np.zeros(3, np.int64)
    rest = walk.counts[N_EVENTS] + most
    while walk.counts[N_EVENTS] < rest:
        if walk.counts[N_EVENTS] + 2 > len(times) or walk.counts[N_MEMBERS] + 2 > len(walk.members):
            return FULL
        if walk.counts[SINCE] >= SETTLE_AFTER:
            walk.counts[SINCE] = 0
            drift = settle(walk, target, constant, work)
            walk.numbers[DRIFT] = max(walk.numbers[DRIFT], drift)
            if drift > LARGEST_DRIFT:
                return WORN
        if walk.counts[N_INSIDE] == 0:
            return ENDLESS  # nobody is on the wrong side of the margin: a larger C changes nothing
        if walk.counts[N_MEMBERS] == 0:
            return DESERTED
        aim(walk, constant, work)
        elapsed = find_event(walk, target, event)
        if walk.numbers[TIME] + elapsed >= end:
            if end == np.inf:
                return ENDLESS
            pass_time(walk, end - walk.numbers[TIME])
            return ARRIVED
        pass_time(walk, elapsed)
        mend(walk, target, constant, work)
        if target == 0.0 and is_flat(walk):
            return FLAT
        walk.counts[STANDING] = walk.counts[STANDING] + 1 if elapsed == 0.0 else 0
        if walk.counts[STANDING] > 8 * len(walk.score) + 64:
            return LOST
        row, place = event[0], event[1]
        if place >= 0:
            leave(walk, place, event[2])
        elif not enter(walk, row, constant, work):
            walk.passed_by[row] = True
            continue
        if not note(walk, row, target, times, rows, roles, off):
            return LOST
    return RESTED


def warm() -> None:
    """Compile the loops of this module."""
    walk, work = small_walk(), np.zeros((3, 4))
    log = np.zeros(8), np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8)
    settle(walk, 1.0, 1.0, work)
    enter(walk, 0, 1.0, work)
    note(walk, 0, 1.0, *log)
    follow(walk, 1.0, np.inf, 1.0, 8, work, *log)
    is_flat(walk)
