"""A walk along the path of support vector machines: its beginning, its end, and what compiled steps leave open."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.threads import one_blas_thread

from .path_strides import FEWEST_MEMBERS, FEWEST_STEPS, Strides

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Events nearer to each other, relative to C, are one knot.
SAME_KNOT = 1e-11
# Events that come so many times later than all before never come.
NEVER = 1e6


class Walker:
    """A walk along the path, with room for it that grows."""

    def __init__(self, gram: Floats, side: Floats, bound: Floats) -> None:
        from .margin_members_loops import begin_walk

        n = len(side)
        self.walk = begin_walk(gram, side, bound, room=min(n + 2, 64))
        self.constant = float(np.diagonal(gram).mean()) or 1.0
        self.log = _new_log(4 * n + 16)
        self.flat: Floats | None = None
        self.reach = np.inf
        self.strides: Strides | None = None

    def begin(self, weights: list[float], bar: Any) -> Integers:
        """Go to where the path begins; return the places of the rows near C = 0.

        Parameters
        ----------
        weights : the sums of the bounds on the negative and on the positive side
        bar : Bar
        """
        from .hinge_path_loops import FLAT, LOST
        from .margin_members_loops import HELD, INSIDE, N_EVENTS, SHIFT, TIME

        walk, (negative, positive) = self.walk, weights
        walk.role[:] = INSIDE
        if abs(positive - negative) <= 1e-12 * (positive + negative):
            self.settle(1.0)
            return walk.role.copy()
        heavier = 1.0 if positive > negative else -1.0
        light = walk.side != heavier
        walk.role[light], walk.alpha[light] = HELD, walk.bound[light]
        walk.numbers[TIME] = min(weights) / max(weights)
        self.settle(0.0)
        # Far enough for all of the heavier class to be inside.
        walk.numbers[SHIFT] = -heavier * float((heavier * walk.score[~light]).max())
        self.settle(0.0)
        ended = self.go(0.0, 1.0, bar)
        walk = self.walk  # it may have grown
        walk.counts[N_EVENTS] = 0
        if ended in (FLAT, LOST):
            if ended == FLAT:
                self.flat = np.where(walk.role == INSIDE, walk.numbers[TIME] * walk.bound, walk.alpha)
            self.reach = 0.0 if ended == LOST else np.inf
            walk.numbers[TIME] = np.inf
            return walk.role.copy()
        self.settle(0.0)
        walk.role[light] = INSIDE
        first = walk.role.copy()
        self.go_to_first_event(heavier, light)
        return first

    def go_to_first_event(self, heavier: float, light: NDArray[np.bool_]) -> None:
        """Go from C = 0 to where the first row of the lighter class meets the margin.

        Until then multipliers are C times what they are now, and so are scores, plus one on the heavier side.
        """
        from .margin_members_loops import INSIDE, N_MEMBERS, SHIFT, TIME

        walk, time = self.walk, 0.0
        if walk.counts[N_MEMBERS]:
            margins = (walk.side * walk.score)[light]
            time = 2 / float(margins.max()) if margins.max() > 0 else np.inf
        if np.isinf(time):
            walk.numbers[TIME] = np.inf
            return
        walk.numbers[TIME], walk.numbers[SHIFT] = time, heavier + time * walk.numbers[SHIFT]
        walk.alpha[:] = np.where(walk.role == INSIDE, 0.0, time * walk.alpha)
        self.settle(1.0)

    @property
    def events(self) -> tuple[Any, ...]:
        """When they happened, to whom, what these became, and how far rows were from where they should be."""
        from .margin_members_loops import N_EVENTS

        return tuple(part[: int(self.walk.counts[N_EVENTS])] for part in self.log)

    def settle(self, target: float) -> None:
        from .margin_members_loops import settle

        settle(self.walk, target, self.constant, np.zeros((3, len(self.walk.members))))

    def go(self, target: float, end: float, bar: Any) -> int:
        """Walk until the time `end`; return why it ended."""
        from .hinge_path_loops import (
            ARRIVED,
            DESERTED,
            ENDLESS,
            FLAT,
            FULL,
            LOST,
            RESTED,
            SETTLE_AFTER,
            WORN,
            follow,
        )
        from .margin_members_loops import N_EVENTS, N_MEMBERS, TIME

        while np.isfinite(self.walk.numbers[TIME]):
            before = int(self.walk.counts[N_EVENTS])
            steps = SETTLE_AFTER
            if self.walk.counts[N_MEMBERS] >= FEWEST_MEMBERS:
                steps = self.stride(target, end)
            if steps:
                work = np.zeros((3, len(self.walk.members)))
                paused = follow(self.walk, target, end, self.constant, steps, work, *self.log)
            else:
                paused = RESTED
            bar.advance(int(self.walk.counts[N_EVENTS]) - before)
            if paused == DESERTED:
                paused = self.find_members(target, end)
            if paused in (ARRIVED, ENDLESS, FLAT):
                return paused
            if paused == FULL:
                self.make_room()
            elif paused == WORN:
                self.renew()
            elif paused != RESTED:
                self.give_up()
                return LOST
        return ENDLESS

    def stride(self, target: float, end: float) -> int:
        """Take a stride; return how many steps to walk before the next."""
        from .margin_members_loops import SINCE
        from .path_lookout_loops import LONGEST

        if self.strides is None:
            self.strides = Strides(self.walk.gram)
        self.make_room(LONGEST + 2)
        if self.walk.counts[SINCE]:
            self.settle(target)
        with one_blas_thread:
            n_events = self.strides.take(self.walk, target, end, self.constant, self.log)
        if n_events:
            self.settle(target)
        elif self.strides.failed and self.strides.steps <= 4 * FEWEST_STEPS:
            self.renew()
        return 0 if n_events == LONGEST else self.strides.steps

    def find_members(self, target: float, end: float) -> int:
        """Go on from where nobody is on the margin: find the rows that meet it next, if any do before the end."""
        from .hinge_path_loops import ARRIVED, ENDLESS, FULL, LOST, pass_time
        from .margin_members_loops import HELD, INSIDE, OUTSIDE, RATE_OF_SHIFT, SURPLUS, TIME

        walk, numbers = self.walk, self.walk.numbers
        outside, free = walk.role == OUTSIDE, walk.role != HELD
        # Rows that keep the intercept from growing, or from shrinking.
        above = (walk.role == INSIDE) == (walk.side > 0)
        ends = [np.flatnonzero(free & above), np.flatnonzero(free & ~above)]
        rooms = np.where(outside, 1, -1) * (walk.side * walk.score - target)
        if numbers[SURPLUS] != 0:
            # One side outweighs the other, and more so with time: a row must be met that can make up for it.
            upwards = numbers[SURPLUS] > 0
            candidates = ends[0] if upwards else ends[1]
            row = int(candidates[rooms[candidates].argmin()])
            return FULL if self.enter(row, target, rooms[row] if upwards else -rooms[row]) else LOST
        rates = np.where(outside, 1, -1) * walk.side * walk.pull
        elapsed, pair = _collapse(rooms, rates, ends)
        numbers[RATE_OF_SHIFT], walk.speed[:] = 0.0, walk.pull
        if numbers[TIME] + elapsed >= end:
            if np.isinf(end):
                return ENDLESS
            pass_time(walk, end - numbers[TIME])
            return ARRIVED
        pass_time(walk, elapsed)
        if not self.enter(pair[0], target, rooms[pair[0]] + elapsed * rates[pair[0]]):
            return LOST
        self.enter(pair[1], target, 0.0)
        return FULL

    def enter(self, row: int, target: float, shift: float) -> bool:
        """Move the intercept, and make a row a member; say whether it could be one."""
        from .hinge_path_loops import note
        from .margin_members_loops import SHIFT, enter

        self.walk.numbers[SHIFT] += shift
        self.walk.score[:] += shift
        entered = bool(enter(self.walk, row, self.constant, np.zeros((3, len(self.walk.members)))))
        if entered:
            note(self.walk, row, target, *self.log)
        return entered

    def give_up(self) -> None:
        """Go back to the last event after which all rows were where they should be.

        An event that would come very much later is rounding of one that never comes; otherwise the path ends there.
        """
        from .hinge_path_loops import LARGEST_VIOLATION
        from .margin_members_loops import N_EVENTS

        n_events = int(self.walk.counts[N_EVENTS])
        if not n_events:
            self.reach = 0.0
            return
        times, off = self.log[0][:n_events], self.log[3][:n_events]
        bad = np.flatnonzero(off > LARGEST_VIOLATION)
        good = int(bad[0]) if len(bad) else n_events
        while good and times[good - 1] >= (1 - SAME_KNOT) * times[min(good, n_events - 1)]:
            good -= 1  # what happened at the same time is in doubt too
        last = float(times[good - 1]) if good else 0.0
        lost = float(times[min(good, n_events - 1)])
        self.reach = np.inf if lost > NEVER * last > 0 else last
        self.walk.counts[N_EVENTS] = good

    def make_room(self, more: int = 2) -> None:
        """Double what has no room for so many more events or members."""
        from .margin_members_loops import N_EVENTS, N_MEMBERS

        walk = self.walk
        if walk.counts[N_EVENTS] + more > len(self.log[0]):
            self.log = tuple(np.concatenate([part, np.zeros_like(part)]) for part in self.log)
        room, m = len(walk.members), int(walk.counts[N_MEMBERS])
        if m + more > room:
            larger = max(2 * room, m + more)
            inverse = np.zeros((larger, larger))
            inverse[:room, :room] = walk.inverse
            members, rates = np.zeros(larger, np.int64), np.zeros(larger)
            members[:room] = walk.members
            self.walk = walk._replace(members=members, rates=rates, inverse=inverse)

    def renew(self) -> None:
        """Compute the inverse of the members' matrix anew."""
        from scipy.linalg import lapack

        from bisector.engine.loops import given

        from .margin_members_loops import N_MEMBERS
        from .path_proof_loops import gather

        walk = self.walk
        m = int(walk.counts[N_MEMBERS])
        members = walk.members[:m]
        signs = walk.side[members]
        matrix = np.zeros((m, m))
        gather(walk.gram, given(members), matrix)
        matrix = (matrix + self.constant) * signs * signs[:, None]
        with one_blas_thread:
            factor, failed = lapack.dpotrf(matrix)
            if failed:
                inverse = np.linalg.inv(matrix)
            else:
                inverse = np.triu(lapack.dpotri(factor)[0])
                inverse += np.triu(inverse, 1).T
        walk.inverse[:m, :m] = 0.5 * (inverse + inverse.T)


def _collapse(rooms: Floats, rates: Floats, ends: list[Integers]) -> tuple[float, list[int]]:
    """Find when the interval of intercepts, between the least rooms of its ends, shrinks to a point, and by whom.

    Its length is concave in time, so that Newton's method comes down to the point from the right, exactly.
    """
    if not (len(ends[0]) and len(ends[1])):
        return np.inf, []
    pair = [int(end[np.lexsort((rooms[end], rates[end]))[0]]) for end in ends]  # those that win in the end
    elapsed = np.inf
    while (closing := -float(rates[pair].sum())) > 0:
        following = max(float(rooms[pair].sum()), 0.0) / closing
        if following >= elapsed:
            break
        elapsed, met = following, pair
        pair = [int(end[(rooms[end] + elapsed * rates[end]).argmin()]) for end in ends]
    return (elapsed, met) if np.isfinite(elapsed) else (np.inf, [])


def _new_log(length: int) -> tuple[Any, ...]:
    return np.zeros(length), np.zeros(length, np.int64), np.zeros(length, np.int64), np.zeros(length)
