"""Compiled steps of Lloyd's algorithm for many centres and rows that are not short, met in blocks of sixteen.

Labels are found as `bisector.solvers.lloyd_loops` says: bounds, products in single precision, the formula. Here
a row has a bound for each **group** of blocks, below its distance to every centre of the group but its own one
(Ding et al., 2015). A group is multiplied only by those rows whose bound no longer excludes it: after some moves
of the centres these are few, even where rows lie between many clusters and no single bound would hold.

Bounds are in single precision, in a unit of their own, and are made a little smaller whenever they are rounded.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.intrinsics import BITS, bits_below, lowest_bit, without_lowest_bit
from bisector.engine.loops import given, loop
from bisector.engine.registers import LANES
from bisector.engine.two_least import two_least
from bisector.solvers.lloyd_loops import (
    FARTHEST,
    LARGEST,
    ROUNDING,
    LloydBounds,
    LloydFrame,
    add_rows,
    decide,
    most_low,
    narrow_centres,
    place_rows,
    quick_square,
)

# Rows of a chunk, and its numbers, which should stay in the cache while the centres pass by.
_ROWS, _NUMBERS = 512, 2**16
# From this share of a chunk's rows on, all of them meet a group: they need not be picked.
_NEARLY_ALL = 0.75


class LloydChunk(NamedTuple):
    """What is found out about the rows of a chunk; `size` of them.

    Attributes
    ----------
    room : ndarray of shape (size, n_features)
        Rows as they are seen from the origin, narrowed.
    squares : ndarray of shape (size,)
        Of their lengths.
    floor : ndarray of shape (size,)
        What lows are added to for a lower bound of the distance: somewhat less than the squares.
    reach : ndarray of float32 of shape (size,)
        Above the distance to the own centre.
    left : ndarray of float32 of shape (n_groups, size)
        The bounds.
    best, second, owners : ndarray of shape (size,)
        The two least lows, and the centre of the least.
    inner : ndarray of shape (size,)
        The second least low in the group of that centre.
    own_met : ndarray of bool of shape (size,)
        Whether the group of the own centre is among those that were met.
    """

    room: Any
    squares: Any
    floor: Any
    reach: Any
    left: Any
    best: Any
    second: Any
    owners: Any
    inner: Any
    own_met: Any


class LloydLists(NamedTuple):
    """The rows of a chunk that meet each group, and what a group tells of the rows in its list.

    Attributes
    ----------
    rows : ndarray of shape (n_groups, size + 16)
    counts : ndarray of shape (n_groups,)
    least, second, owners : ndarray of shape (size + 16,)
    """

    rows: Any
    counts: Any
    least: Any
    second: Any
    owners: Any


@loop
def blocks_of_centres(narrow: Any, norms: Any) -> Any:
    """Stand centres side by side, sixteen in a block."""
    k, d = narrow.shape
    blocks = np.zeros((len(norms) // LANES, d, LANES), narrow.dtype)
    for c in range(k):
        for j in range(d):
            blocks[c // LANES, j, c % LANES] = narrow[c, j]
    return blocks


@loop
def widest_moves(drift: Any, of_a_group: int, unit: float, widest: Any, of: Any, next_widest: Any) -> None:
    """Find, for each group, how far its centres moved at most, which of them did, and how far the others."""
    widest[:] = 0.0
    next_widest[:] = 0.0
    of[:] = -1
    for c in range(len(drift)):
        g, move = c // of_a_group, np.float32(drift[c] * unit * (1.0 + ROUNDING))
        if not move <= widest[g]:
            widest[g], of[g], next_widest[g] = move, c, widest[g]
        elif move > next_widest[g]:
            next_widest[g] = move


@loop
def after_a_move(bound: Any, move: Any) -> Any:
    """Return what is left of a bound when centres have moved."""
    return bound * np.float32(1.0 - ROUNDING) - move


@loop
def read_bounds(lower: Any, at: int, m: int, widest: Any, left: Any) -> None:
    """Write what is left of the bounds of m rows after the widest moves of each group."""
    for g in range(len(widest)):
        line, move, room = lower[g, at : at + m], widest[g], left[g]
        for r in range(m):
            room[r] = after_a_move(line[r], move)


@loop
def write_bounds(left: Any, at: int, m: int, lower: Any) -> None:
    """Keep the bounds of m rows."""
    for g in range(len(lower)):
        line, room = lower[g, at : at + m], left[g]
        for r in range(m):
            line[r] = room[r]


@loop
def measure_rows(
    X: Any, first: int, m: int, centres: Any, bounds: Any, labels: Any, distances: Any, moves: Any, of_a_group: int,
    chunk: Any,
) -> None:  # fmt: skip
    """Find the distances of rows from their own centres, and what is left of their bounds."""
    widest, of, next_widest = moves
    lower, left, reach, own_met = bounds.lower, chunk.left, chunk.reach, chunk.own_met
    at, unit = bounds.first + first, bounds.unit * (1.0 + ROUNDING)
    read_bounds(lower, at, m, widest, left)
    for r in range(m):
        own = np.int64(labels[first + r])
        g = own // of_a_group
        distances[first + r] = quick_square(X, first + r, centres, own)
        reach[r] = np.sqrt(distances[first + r]) * unit
        if own == of[g]:  # its own move matters to no bound
            left[g, r] = after_a_move(lower[g, at + r], next_widest[g])
        own_met[r] = not reach[r] < left[g, r]
    reach[m:] = -np.inf  # so that what is beyond meets nothing
    left[:, m:] = 0.0


@loop
def open_groups(first: int, m: int, labels: Any, of_a_group: int, chunk: Any, lists: Any, chosen: Any) -> int:
    """List the rows that each group may have the nearest centre of, and all of these; return how many."""
    reach, left, rows, counts = chunk.reach, chunk.left, lists.rows, lists.counts
    counts[:] = 0
    n_open = 0
    for start in range(0, m, BITS):
        in_any: Any = np.uint64(0)
        for g in range(len(counts)):
            near = ~bits_below(reach, left[g], start)
            in_any |= near
            place = counts[g]
            while near != 0:
                rows[g, place] = start + lowest_bit(near)
                near = without_lowest_bit(near)
                place += 1
            counts[g] = place
        while in_any != 0:
            chosen[n_open] = start + lowest_bit(in_any)
            in_any = without_lowest_bit(in_any)
            n_open += 1
    if counts.max() < _NEARLY_ALL * m:
        return n_open
    for g in range(len(counts)):
        if counts[g] >= _NEARLY_ALL * m:
            counts[g] = m
    for r in range(m):
        chunk.own_met[r] |= counts[labels[first + r] // of_a_group] == m
        chosen[r] = r
    return m


@loop
def open_all(m: int, chunk: Any, lists: Any, chosen: Any) -> int:
    """List all rows for all groups."""
    for r in range(m):
        chosen[r] = r
        chunk.own_met[r] = True
    lists.counts[:] = m
    return m


@loop
def lesser(one: Any, other: Any) -> Any:
    """Return the lesser of two numbers."""
    return other if other < one else one


@loop
def bound_of(floor: Any, low: Any, factor: Any) -> Any:
    """Return a lower bound of the distance to all centres whose lows are no less, in the unit of bounds."""
    square = floor + low
    square = square if square > np.float32(0.0) else np.float32(0.0)
    bound = np.float32(np.sqrt(square)) * factor
    return bound if bound < np.float32(LARGEST) else np.float32(LARGEST)


@loop
def merge_all(m: int, lists: Any, factor: Any, chunk: Any, left: Any) -> None:
    """Do as `merge_listed` does with the first m rows, which the list consists of.

    Each step is a loop of its own, with so few arrays that the compiler finds out how to take many rows at once.
    """
    least, second, owners = lists.least, lists.second, lists.owners
    best, runners_up, winners, inner, floor = chunk.best, chunk.second, chunk.owners, chunk.inner, chunk.floor
    for r in range(m):
        low, known = least[r], best[r]
        runners_up[r] = lesser(runners_up[r], known if low < known else low)
    for r in range(m):
        runners_up[r] = lesser(runners_up[r], second[r])
    for r in range(m):
        nearer, owner, winner = least[r] < best[r], owners[r], winners[r]
        winners[r] = owner if nearer else winner
    for r in range(m):
        nearer, low, known = least[r] < best[r], second[r], inner[r]
        inner[r] = low if nearer else known
    for r in range(m):
        best[r] = lesser(best[r], least[r])
    for r in range(m):
        left[r] = bound_of(floor[r], least[r], factor)


@loop
def merge_listed(listed: Any, count: int, lists: Any, factor: Any, chunk: Any, left: Any) -> None:
    """Update what is known of rows by what a group tells of them; their bounds follow from its least low."""
    least, second, owners = lists.least, lists.second, lists.owners
    best, runners_up, winners, inner, floor = chunk.best, chunk.second, chunk.owners, chunk.inner, chunk.floor
    for q in range(count):
        r = listed[q]
        low, next_low, owner = least[q], second[q], owners[q]
        known, winner, next_known = best[r], winners[r], inner[r]
        nearer = low < known
        runners_up[r] = lesser(lesser(runners_up[r], known if nearer else low), next_low)
        best[r] = low if nearer else known
        winners[r] = owner if nearer else winner
        inner[r] = next_low if nearer else next_known
        left[r] = bound_of(floor[r], low, factor)


@loop
def meet_groups(blocks: Any, norms: Any, m: int, factor: Any, chunk: Any, lists: Any, everyone: Any) -> None:
    """Multiply the rows of the lists by the blocks of their groups."""
    room, least, second, owners = chunk.room, lists.least, lists.second, lists.owners
    n_groups = len(lists.counts)
    span = -(-len(blocks) // n_groups)
    chunk.best[:m] = np.inf
    chunk.second[:m] = np.inf
    chunk.inner[:m] = np.inf
    chunk.owners[:m] = 0
    for g in range(n_groups):
        count = lists.counts[g]
        if count == 0:
            continue
        listed = everyone if count == m else lists.rows[g]
        if count < m:
            listed[count : count + LANES] = listed[0]
        least[:count] = np.inf
        second[:count] = np.inf
        owners[:count] = 0
        for b in range(g * span, min((g + 1) * span, len(blocks))):
            for start in range(0, count, LANES):
                two_least(room, listed, start, blocks, b, norms, least, second, owners)
        if count == m:
            merge_all(m, lists, factor, chunk, chunk.left[g])
        else:
            merge_listed(listed, count, lists, factor, chunk, chunk.left[g])


@loop
def lows_of_row(row: Any, narrow: Any, lows: Any) -> None:
    """Write the products of a row with all centres, for a row that the two least do not decide."""
    for c in range(len(narrow)):
        lows[c] = quick_product(row, narrow, c)


@loop(fast=True)
def quick_product(row: Any, narrow: Any, c: int) -> Any:
    """Return the product of a row with centre c, up to the order of its terms."""
    total = row[0] * narrow[c, 0]
    for j in range(1, len(row)):
        total += row[j] * narrow[c, j]
    return total


@loop
def settle(
    X: Any, first: int, chosen: Any, n_open: int, weights: Any, centres: Any, narrow: Any, norms: Any, frame: Any,
    bounds: Any, factor: Any, of_a_group: int, chunk: Any, labels: Any, distances: Any,
) -> tuple[int, int]:  # fmt: skip
    """Label the rows that are open by what the groups told of them, or else by the formula.

    Their bounds become those of all centres but the own one: where products told which that is, its group is left
    with the second least low. The one before may be in a group that was not met, whose bound had left it out.

    Returns how many labels changed, and how many rows products could not decide.
    """
    room, squares, floor, left, own_met = chunk.room, chunk.squares, chunk.floor, chunk.left, chunk.own_met
    best, second, owners, inner = chunk.best, chunk.second, chunk.owners, chunk.inner
    share, scale, d, knows = frame.share, frame.scale, X.shape[1], len(bounds.drift) > 0
    all_lows = np.empty(len(centres), narrow.dtype)
    changed, undecided = 0, 0
    for number in range(n_open):
        r = chosen[number]
        i = first + r
        own, owner, square, told = labels[i], owners[r], squares[r], True
        least, runner_up = np.float64(best[r]), np.float64(second[r])
        if not own_met[r]:
            # The distance of the own centre is known: a low that errs less than others do.
            low = distances[i] * scale * scale - square - share * max(0.0, np.float64(norms[own]))
            if low < least:
                owner, least, runner_up, told = own, low, least, False
            else:
                runner_up = min(runner_up, low)
        far, most = not square <= FARTHEST, most_low(least, norms[owner], square, d, share)
        if far or not runner_up > most:
            undecided += 1
            lows = all_lows[: 0 if far else len(centres)]
            lows_of_row(room[r], narrow, lows)
            decided = np.int32(decide(X[i], centres, lows, norms, most))
            owner, told = decided, told and decided == owner
        if told:
            left[owner // of_a_group, r] = bound_of(floor[r], inner[r], factor)
        if owner != own and not own_met[r]:
            g, distance = own // of_a_group, np.sqrt(distances[i]) * bounds.unit * (1.0 - ROUNDING)
            left[g, r] = lesser(left[g, r], np.float32(distance))
        if far:
            left[:, r] = 0.0
        if owner != own or not knows:
            changed += owner != own and (len(weights) == 0 or weights[i] > 0.0)
            labels[i] = owner
            distances[i] = quick_square(X, i, centres, np.int64(owner))
    return changed, undecided


@loop
def assign_by_blocks(
    X: Any, weights: Any, centres: Any, frame: Any, bounds: Any, labels: Any, distances: Any, sums: Any, of: Any
) -> tuple[int, int]:  # fmt: skip
    """Label the rows of a block by their nearest centres, and add them to the sums of the clusters.

    As `bisector.solvers.lloyd_loops.assign` does; there may be bounds for several groups of centres.
    """
    (n, d), k, kind = X.shape, len(centres), frame.kind.dtype
    n_blocks, n_groups = -(-k // LANES), max(1, len(bounds.lower))
    of_a_group = -(-n_blocks // n_groups) * LANES
    narrow, norms = np.zeros((k, d), kind), np.full(n_blocks * LANES, np.inf, kind)
    narrow_centres(centres, frame, narrow, norms)
    blocks = blocks_of_centres(narrow, norms)
    size = max(BITS, min(_ROWS, _NUMBERS // d // BITS * BITS))
    chunk = LloydChunk(
        np.zeros((size, d), kind), np.zeros(size), np.zeros(size, kind),
        np.zeros(size, np.float32), np.zeros((n_groups, size), np.float32),
        np.zeros(size, kind), np.zeros(size, kind), np.zeros(size, np.int32), np.zeros(size, kind),
        np.zeros(size, np.bool_),
    )  # fmt: skip
    lists = LloydLists(
        np.zeros((n_groups, size + LANES), np.int64), np.zeros(n_groups, np.int64),
        np.zeros(size + LANES, kind), np.zeros(size + LANES, kind), np.zeros(size + LANES, np.int32),
    )  # fmt: skip
    everyone, chosen = np.minimum(np.arange(size + LANES), size - 1), np.empty(size, np.int64)
    moves = np.zeros(n_groups, np.float32), np.zeros(n_groups, np.int64), np.zeros(n_groups, np.float32)
    widest_moves(bounds.drift, of_a_group, bounds.unit, *moves)
    factor = np.float32(min(bounds.unit / frame.scale * (1.0 - ROUNDING), LARGEST))
    changed, undecided = 0, 0
    for first in range(0, n, size):
        m = min(size, n - first)
        if len(bounds.drift):
            measure_rows(X, first, m, centres, bounds, labels, distances, moves, of_a_group, chunk)
            n_open = open_groups(first, m, labels, of_a_group, chunk, lists, chosen)
        else:
            n_open = open_all(m, chunk, lists, chosen)
        if n_open:
            place_rows(X[first : first + m], chosen, n_open, frame, False, chosen, chunk.room, chunk.squares)
            chunk.floor[:m] = chunk.squares[:m] * (1.0 - 2.0 * frame.share)
            meet_groups(blocks, norms, m, factor, chunk, lists, everyone)
            counts = settle(
                X, first, chosen, n_open, weights, centres, narrow, norms, frame, bounds, factor, of_a_group, chunk,
                labels, distances,
            )  # fmt: skip
            changed, undecided = changed + counts[0], undecided + counts[1]
        write_bounds(chunk.left, bounds.first + first, m, bounds.lower)
        if len(sums):
            add_rows(X, first, first + m, weights, frame.origin, labels, distances, sums, of)
    return changed, undecided


def warm() -> None:
    """Compile the loops of this module."""
    d, none = 9, given(np.empty(0))
    frame = LloydFrame(given(np.zeros(d)), 1.0, 1e-6, given(np.empty(0, np.float32)))
    for dtype in (np.float32, np.float64):
        X, centres = given(np.ones((1, d), dtype)), given(np.ones((2, d)))
        bounds = LloydBounds(np.zeros((1, 1), np.float32), 0, 1.0, none)
        state = np.zeros(1, np.int32), np.zeros(1), np.zeros((2, d)), np.zeros((2, 2))
        assign_by_blocks(X, none, centres, frame, bounds, *state)
