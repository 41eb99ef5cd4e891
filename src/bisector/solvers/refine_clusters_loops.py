"""Compiled steps of improving clusters: moving whole centres, and single rows, where it lowers the inertia.

For every row the nearest and the second nearest centre are known. When a few centres move, a row is compared with
these alone, unless one of its own two has moved: so a trial costs little more than the rows it concerns.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop
from bisector.solvers.lloyd_loops import quick_square

# A change counts if it lowers the inertia by more than this share: less is rounding.
_WORTH = 1e-10
# Rounds of splitting a cluster in two; of moving centres in a trial; of exchanging rows.
_SPLIT_ROUNDS, _TRIAL_ROUNDS, _EXCHANGE_ROUNDS = 8, 40, 20
# What removing a centre costs is bounded by what its rows lose before the others move; about half of it is true.
_HOPE = 0.5
# Centres considered for removal, clusters for splitting; and trials in a row that may fail.
_FEW, _MOST_FAILURES = 4, 4


class ClusterState(NamedTuple):
    """Clusters of rows in memory: what a trial changes, and has to restore when it fails.

    `near` and `next_near` are squared distances to the centres `labels` and `others`; `sums` and `sizes` are of
    the clusters.
    """

    centres: Any
    sums: Any
    sizes: Any
    labels: Any
    others: Any
    near: Any
    next_near: Any


@loop
def look_at_all(X: Any, i: int, state: Any) -> None:
    """Compare a row with every centre."""
    near, next_near, label, other = np.inf, np.inf, 0, 0
    for c in range(len(state.centres)):
        value = quick_square(X, i, state.centres, c)
        if value < near:
            near, next_near, label, other = value, near, c, label
        elif value < next_near:
            next_near, other = value, c
    state.near[i], state.next_near[i] = near, next_near
    state.labels[i], state.others[i] = label, other


@loop
def gather(X: Any, weights: Any, state: Any) -> None:
    """Sum up all clusters."""
    state.sums[:] = 0.0
    state.sizes[:] = 0.0
    for i in range(len(X)):
        own = state.labels[i]
        state.sizes[own] += weights[i]
        for j in range(X.shape[1]):
            state.sums[own, j] += weights[i] * X[i, j]


@loop
def follow(X: Any, weights: Any, state: Any, moved: Any, n_moved: int, touched: Any) -> int:
    """Relabel rows after some centres have moved; mark clusters that lost or won a row. Return the work done."""
    touched[:] = False
    is_moved = np.zeros(len(state.centres), np.bool_)
    for a in range(n_moved):
        is_moved[moved[a]] = True
    work = 0
    for i in range(len(X)):
        before = state.labels[i]
        if is_moved[before] or is_moved[state.others[i]]:
            look_at_all(X, i, state)
            work += len(state.centres)
        else:
            work += n_moved
            for a in range(n_moved):
                c = moved[a]
                value = quick_square(X, i, state.centres, c)
                if value < state.near[i]:
                    state.next_near[i], state.others[i] = state.near[i], state.labels[i]
                    state.near[i], state.labels[i] = value, c
                elif value < state.next_near[i]:
                    state.next_near[i], state.others[i] = value, c
        after = state.labels[i]
        if after != before:
            touched[before] = True
            touched[after] = True
            state.sizes[before] -= weights[i]
            state.sizes[after] += weights[i]
            for j in range(X.shape[1]):
                part = weights[i] * X[i, j]
                state.sums[before, j] -= part
                state.sums[after, j] += part
    return work


@loop
def settle(X: Any, weights: Any, state: Any, moved: Any, n_moved: int, changed: Any) -> int:
    """Let rows and centres follow each other until they stay; mark clusters that changed. Return the work done."""
    k, d = state.centres.shape
    touched = np.zeros(k, np.bool_)
    work = 0
    for _ in range(_TRIAL_ROUNDS):
        work += follow(X, weights, state, moved, n_moved, touched)
        n_moved = 0
        for c in range(k):
            if touched[c]:
                changed[c] = True
                if state.sizes[c] > 0.0:
                    moved[n_moved] = c
                    n_moved += 1
                    for j in range(d):
                        state.centres[c, j] = state.sums[c, j] / state.sizes[c]
        if n_moved == 0:
            break
    return work


@loop
def inertia_of(weights: Any, state: Any) -> float:
    total = 0.0
    for i in range(len(weights)):
        total += weights[i] * state.near[i]
    return total


@loop
def split(X: Any, weights: Any, members: Any, centre: Any, halves: Any) -> float:
    """Divide rows in two, across the axis along which they scatter most; return by how much the scatter falls."""
    m, d = len(members), X.shape[1]
    axis, image = np.zeros(d), np.zeros(d)
    far = -1.0
    for a in range(m):  # the axis is sought from the row farthest from the centre
        total = 0.0
        for j in range(d):
            total += (X[members[a], j] - centre[j]) ** 2
        if total > far:
            far = total
            for j in range(d):
                axis[j] = X[members[a], j] - centre[j]
    if not far > 0.0:
        return 0.0
    for _ in range(_SPLIT_ROUNDS):
        image[:] = 0.0
        for a in range(m):
            along = 0.0
            for j in range(d):
                along += (X[members[a], j] - centre[j]) * axis[j]
            along *= weights[members[a]]
            for j in range(d):
                image[j] += along * (X[members[a], j] - centre[j])
        length = np.sqrt((image * image).sum())
        if not length > 0.0:
            break
        axis[:] = image / length
    side = np.zeros(m, np.bool_)
    sizes, gain = np.zeros(2), 0.0
    for a in range(m):
        along = 0.0
        for j in range(d):
            along += (X[members[a], j] - centre[j]) * axis[j]
        side[a] = along > 0.0
    for _ in range(_SPLIT_ROUNDS):
        halves[:] = 0.0
        sizes[:] = 0.0
        for a in range(m):
            h = 1 if side[a] else 0
            sizes[h] += weights[members[a]]
            for j in range(d):
                halves[h, j] += weights[members[a]] * (X[members[a], j] - centre[j])
        if not (sizes[0] > 0.0 and sizes[1] > 0.0):
            return 0.0
        gain = 0.0
        for h in range(2):
            for j in range(d):
                halves[h, j] /= sizes[h]
                gain += sizes[h] * halves[h, j] ** 2
        changes = 0
        for a in range(m):
            difference = 0.0
            for j in range(d):
                x = X[members[a], j] - centre[j]
                difference += (x - halves[0, j]) ** 2 - (x - halves[1, j]) ** 2
            if (difference > 0.0) != side[a]:
                side[a] = not side[a]
                changes += 1
        if changes == 0:
            break
    for h in range(2):
        for j in range(d):
            halves[h, j] += centre[j]
    return gain


@loop
def restore(state: Any, kept: Any) -> None:
    state.centres[:] = kept.centres
    state.sums[:] = kept.sums
    state.sizes[:] = kept.sizes
    state.labels[:] = kept.labels
    state.others[:] = kept.others
    state.near[:] = kept.near
    state.next_near[:] = kept.next_near


@loop
def exchange(X: Any, weights: Any, state: Any, is_moved: Any) -> int:
    """Move single rows to other clusters where that lowers the inertia, centres following at once.

    A row of weight w that leaves a cluster of weight A for one of weight B changes the inertia by
    B/(B + w)·‖x − b‖² − A/(A − w)·‖x − a‖² (Hartigan and Wong). Return how many rows moved.
    """
    n, d = X.shape
    k = len(state.centres)
    count = 0
    least = np.inf
    for c in range(k):
        if 0.0 < state.sizes[c] < least:
            least = state.sizes[c]
    for i in range(n):
        own, w = state.labels[i], weights[i]
        if not (w > 0.0 and state.sizes[own] > w * (1.0 + 1e-9)):
            continue
        saved = state.sizes[own] / (state.sizes[own] - w)
        if least / (least + w) * state.next_near[i] >= saved * state.near[i]:
            continue
        saved *= quick_square(X, i, state.centres, own)
        cost, to = np.inf, own
        for c in range(k):
            if c != own:
                value = state.sizes[c] / (state.sizes[c] + w) * quick_square(X, i, state.centres, c)
                if value < cost:
                    cost, to = value, c
        if cost < saved * (1.0 - 1e-9):
            count += 1
            state.labels[i] = to
            state.sizes[own] -= w
            state.sizes[to] += w
            is_moved[own] = True
            is_moved[to] = True
            for j in range(d):
                state.sums[own, j] -= w * X[i, j]
                state.sums[to, j] += w * X[i, j]
                state.centres[own, j] = state.sums[own, j] / state.sizes[own]
                state.centres[to, j] = state.sums[to, j] / state.sizes[to]
    return count


@loop
def move_centres(X: Any, weights: Any, state: Any, kept: Any, most_work: int) -> int:
    """Take centres from where two share a cluster to where one serves two; return how many were moved."""
    n, d = X.shape
    k = len(state.centres)
    gains, halves = np.zeros(k), np.zeros((k, 2, d))
    removal, changed, moved = np.zeros(k), np.ones(k, np.bool_), np.zeros(k, np.int64)
    starts, members = np.zeros(k + 1, np.int64), np.zeros(n, np.int64)
    swaps, work = 0, 0
    total = inertia_of(weights, state)
    while work < most_work:
        starts[:] = 0
        removal[:] = 0.0
        for i in range(n):
            starts[state.labels[i] + 1] += 1
            removal[state.labels[i]] += weights[i] * (state.next_near[i] - state.near[i])
        starts[1:] = np.cumsum(starts[1:])
        place = starts[:-1].copy()
        for i in range(n):
            members[place[state.labels[i]]] = i
            place[state.labels[i]] += 1
        for c in range(k):
            if changed[c]:
                here = members[starts[c] : starts[c + 1]]
                gains[c] = split(X, weights, here, state.centres[c], halves[c])
                work += 2 * _SPLIT_ROUNDS * len(here)
                changed[c] = False
        takers, givers = np.argsort(-gains)[:_FEW], np.argsort(removal)[:_FEW]
        scores = np.full((len(takers), len(givers)), -np.inf)
        for a in range(len(takers)):
            for b in range(len(givers)):
                if takers[a] != givers[b] and gains[takers[a]] > _HOPE * removal[givers[b]]:
                    scores[a, b] = gains[takers[a]] - removal[givers[b]]
        found = False
        restore(kept, state)
        for _ in range(_MOST_FAILURES):
            best = int(np.argmax(scores))
            a, b = best // len(givers), best % len(givers)
            if not scores[a, b] > -np.inf or work >= most_work:
                break
            scores[a, b] = -np.inf
            taker, giver = takers[a], givers[b]
            state.centres[taker] = halves[taker, 0]
            state.centres[giver] = halves[taker, 1]
            moved[0], moved[1] = taker, giver
            changed[:] = False
            work += settle(X, weights, state, moved, 2, changed)
            lower = inertia_of(weights, state)
            if lower < total * (1.0 - _WORTH):
                total = lower
                swaps += 1
                changed[taker] = True
                changed[giver] = True
                found = True
                break
            restore(state, kept)
        if not found:
            break
    return swaps


@loop
def improve(X: Any, weights: Any, state: Any, kept: Any, most_work: int, by_rows: bool) -> tuple[int, int]:
    """Improve clusters until neither moving a centre nor a row helps, or enough work is done.

    Returns how many centres and how many rows were moved.
    """
    k = len(state.centres)
    for i in range(len(X)):
        look_at_all(X, i, state)
    gather(X, weights, state)
    swaps = move_centres(X, weights, state, kept, most_work) if k > 1 else 0
    exchanged = 0
    moved, changed = np.zeros(k, np.int64), np.zeros(k, np.bool_)
    for _ in range(_EXCHANGE_ROUNDS if by_rows and k > 1 else 0):
        changed[:] = False
        count = exchange(X, weights, state, changed)
        if count == 0:
            break
        exchanged += count
        n_moved = 0
        for c in range(k):
            if changed[c]:
                moved[n_moved] = c
                n_moved += 1
        settle(X, weights, state, moved, n_moved, changed)
    return swaps, exchanged


def warm() -> None:
    """Compile the loops of this module."""
    X = given(np.arange(4.0)[:, None])
    improve(X, given(np.ones(4)), new_state(X[:2], 4), new_state(X[:2], 4), 10, True)


def new_state(centres: Any, n: int) -> ClusterState:
    """Make room for n rows around centres."""
    k = len(centres)
    return ClusterState(
        np.array(centres, dtype=np.float64), np.zeros(centres.shape), np.zeros(k),
        np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n), np.zeros(n),
    )  # fmt: skip
