"""Strides along the path of support vector machines: many events at once, proved afterwards, or taken back."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .margin_members_loops import Walk
    from .path_lookout_loops import Stride

Floats = NDArray[np.float64]

# With fewer members a step costs less than what a stride needs to begin.
FEWEST_MEMBERS = 96
# So many steps are walked after a stride that ended in doubt: the fewest, and the most, after many such strides.
FEWEST_STEPS, MOST_STEPS = 4, 2048
# A stride with fewer events was not worth its beginning.
SHORT = 16


class Strides:
    """Takes strides, and learns how many steps to walk between them.

    Parameters
    ----------
    gram : (n, n) kernel values
    """

    def __init__(self, gram: Floats) -> None:
        self.mean_value = gram.mean(axis=0)
        own = np.diagonal(gram)
        square = own - 2 * self.mean_value + self.mean_value.mean()
        self.reach = np.sqrt(np.maximum(square, 0.0) + 1e-12 * np.abs(own))
        self.steps, self.failed = FEWEST_STEPS, False
        # Room that all strides share.
        self.changes = self.amounts = np.zeros((0, 0))
        self.roles = np.zeros((0, 0), np.int64)
        self.square = np.zeros(0)

    def take(self, walk: "Walk", target: float, end: float, constant: float, log: tuple[Any, ...]) -> int:
        """Take a stride; return how many events it had, none if there was no proof for it.

        Parameters
        ----------
        walk : Walk
            With room for as many more members as a stride has events, and scores that are true.
        target, end, constant : float
            As for `follow`.
        log : times, rows, roles and violations of events
        """
        from .margin_members_loops import N_EVENTS, SINCE
        from .path_proof_loops import LARGEST_ERROR
        from .path_strides_loops import LOST_MARGIN, take

        stride = self.begin(walk, target, constant)
        parts = ("role", "alpha", "score", "pull", "numbers", "counts")
        before = walk._replace(**{part: getattr(walk, part).copy() for part in parts})
        n_events = take(walk, stride, target, end, constant, np.zeros(len(stride.row)), *log[:3])
        self.failed = n_events == LOST_MARGIN
        if not self.failed:
            off = errors(walk, before, stride, target, self.room_for(stride), n_events)
            self.failed = not off.max(initial=0.0) <= LARGEST_ERROR
        if self.failed or (target == 0.0 and has_no_direction(walk, stride)):
            for part in parts:
                getattr(walk, part)[:] = getattr(before, part)
            n_events = 0
        else:
            start = int(before.counts[N_EVENTS])
            log[3][start : start + n_events] = off
            fold(walk, stride, self.room_for(stride))
            walk.counts[SINCE] = 0
        self.steps = (
            max(self.steps // 2, FEWEST_STEPS) if n_events >= SHORT else min(4 * self.steps, MOST_STEPS)
        )
        return n_events

    def room_for(self, stride: "Stride") -> Floats:
        """Return room for a square of the slots in use."""
        from .path_lookout_loops import N_SLOTS

        n_slots = int(stride.counts[N_SLOTS])
        if len(self.square) < n_slots**2:
            self.square = np.zeros(len(stride.row) ** 2)
        return self.square[: n_slots**2].reshape(n_slots, n_slots)

    def begin(self, walk: "Walk", target: float, constant: float) -> "Stride":
        """Make ready for a stride from where a walk stands."""
        from .margin_members_loops import INSIDE, N_MEMBERS, OUTSIDE, RATE_OF_SHIFT, TIME, add_members
        from .path_lookout_loops import (
            AHEAD,
            FIRST_PACE,
            FIRST_SQUARE,
            LONGEST,
            MEAN_PACE,
            NO_SLOT,
            NOT_SOLVED,
            SQUARE,
            START,
            TURN,
            Stride,
        )
        from .path_strides_loops import turn

        n, m = len(walk.role), int(walk.counts[N_MEMBERS])
        members, room = walk.members[:m], len(walk.members)
        inside, y = walk.role == INSIDE, walk.side
        signs, inverse = y[members], walk.inverse[:m, :m]
        growth = np.where(inside, y * walk.bound, 0.0)
        if self.changes.shape[1] != room:
            self.changes, self.amounts = np.zeros((LONGEST, room)), np.zeros((LONGEST, room))
            self.roles = np.zeros((LONGEST, room), np.int64)
        self.changes[:] = 0.0
        ones, pulled = np.zeros(room), np.zeros(room)
        both = inverse @ np.column_stack([signs, signs * walk.pull[members]])
        ones[:m], pulled[:m] = both.T
        slot, row = np.full(n, NO_SLOT), np.zeros(room, np.int64)
        row[:m], slot[members] = members, np.arange(m)
        amount = np.where(inside, walk.numbers[TIME] * growth, y * walk.alpha)
        first, numbers = np.zeros(room), np.zeros(10)
        first[:m], numbers[START] = amount[members], walk.numbers[TIME]
        outside = walk.role == OUTSIDE
        stride = Stride(
            row, slot, self.changes, np.zeros(LONGEST), ones, pulled, np.zeros(room), amount, growth,
            self.mean_value, self.reach, np.where(outside, y, np.where(inside, -y, 0.0)),
            seen=np.full(n, walk.numbers[TIME]), meets=np.full(n, np.inf), mean=np.zeros(n), mean_pace=np.zeros(n),
            turn=np.zeros(n), turned=np.zeros(n), first_score=walk.score.copy(), first_speed=np.zeros(n),
            room=np.zeros(n), fastest=np.zeros(n), times=np.zeros(LONGEST), shifts=np.zeros(LONGEST),
            amounts=self.amounts, roles=self.roles, first=first, solved=np.full(n, NOT_SOLVED),
            solutions=np.zeros((AHEAD, m)), numbers=numbers, counts=np.array([m, m, 0]),
        )  # fmt: skip
        turn(walk, stride, constant)
        walk.speed[:] = walk.pull + walk.numbers[RATE_OF_SHIFT]
        add_members(walk, stride.rates, walk.speed)
        stride.first_speed[:] = walk.speed
        numbers[FIRST_PACE], numbers[FIRST_SQUARE] = numbers[MEAN_PACE], numbers[SQUARE]
        stride.mean_pace[:], stride.turn[:] = numbers[MEAN_PACE], numbers[TURN]
        solve_ahead(walk, stride, target, constant)
        return stride


def solve_ahead(walk: "Walk", stride: "Stride", target: float, constant: float) -> None:
    """Solve the members' equations for the rows that seem to meet the margin first, all at once."""
    from .path_lookout_loops import AHEAD, N_FIRST

    closing = -stride.sign * walk.speed
    nearing = np.flatnonzero(closing > 0.0)
    ahead = (stride.sign * (walk.score - walk.side * target))[nearing] / closing[nearing]
    rows = nearing[np.argsort(ahead)[:AHEAD]]
    m, y = int(stride.counts[N_FIRST]), walk.side
    members = stride.row[:m]
    values = (walk.gram[np.ix_(rows, members)] + constant) * y[members] * y[rows, None]
    np.matmul(values, walk.inverse[:m, :m], out=stride.solutions[: len(rows)])
    stride.solved[rows] = np.arange(len(rows))


def errors(
    walk: "Walk", before: "Walk", stride: "Stride", target: float, values: Floats, n_events: int
) -> Floats:
    """Return how far rows that were members during a stride were from where they should be, after each event.

    Their scores are computed from the multipliers, by what has changed since the stride began. Rows that were never
    members are known to be on their side of the margin. `values` is room for the kernel values.
    """
    from bisector.engine.loops import given

    from .margin_members_loops import INSIDE
    from .path_lookout_loops import N_SLOTS
    from .path_proof_loops import gather, judge

    n_slots = int(stride.counts[N_SLOTS])
    rows = stride.row[:n_slots]
    gather(walk.gram, given(rows), values)
    unit = np.where(before.role[rows] == INSIDE, walk.side[rows] * walk.bound[rows], 0.0)
    scores = stride.amounts[:n_events, :n_slots] @ values
    off = np.zeros(n_events)
    judge(walk, stride, target, before, scores, before.pull[rows] - values @ unit, off)
    return off


def has_no_direction(walk: "Walk", stride: "Stride") -> bool:
    """Tell whether all scores have become equal."""
    from .hinge_path_loops import is_flat
    from .margin_members_loops import SHIFT

    walk.score[:] = walk.gram @ stride.amount + walk.numbers[SHIFT]
    return bool(is_flat(walk))


def fold(walk: "Walk", stride: "Stride", sums: Floats) -> None:
    """Make the inverse, and the list of members, what they have become; `sums` is room for the sum of changes."""
    from scipy.linalg.blas import dsyrk

    from bisector.engine.loops import given

    from .margin_members_loops import MEMBER
    from .path_lookout_loops import N_CHANGES, N_FIRST, N_SLOTS
    from .path_proof_loops import close_ranks

    n_slots, n_first, k = (int(stride.counts[place]) for place in (N_SLOTS, N_FIRST, N_CHANGES))
    changes, weights = stride.changes[:k, :n_slots], stride.weights[:k]
    scaled = changes * np.sqrt(np.abs(weights))[:, None]
    for sign, already in ((1.0, 0.0), (-1.0, 1.0)):
        # Half of a symmetric matrix is computed, in the order of Fortran: above the diagonal.
        dsyrk(sign, scaled[weights * sign > 0].T, already, sums.T, lower=1, overwrite_c=1)
    rows = stride.row[:n_slots]
    stay = np.flatnonzero(walk.role[rows] == MEMBER)
    m = len(stay)
    close_ranks(walk.inverse, sums, given(stay), int(np.searchsorted(stay, n_first)))
    walk.members[:m] = rows[stay]
