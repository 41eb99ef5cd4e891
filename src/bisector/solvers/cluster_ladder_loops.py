"""Compiled steps of the ladder of clusters: rows in columns, compared with one centre at a time, a chunk at a time.

A chunk of each column stays in the cache while all centres pass by, and every step runs along the rows of a chunk,
so that several rows are compared at once. Sums of clusters change by the rows that change clusters alone.
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop

# Rows of a chunk; and coordinates that are compared at once: there are as many columns, or a multiple, some of them
# zero.
CHUNK, FOUR = 256, 4
# A change counts if it lowers the inertia by more than this share: less is rounding.
_WORTH = 1e-9
# On the way down to k clusters, this number divided by k pairs are tried, at least one: few centres settle fast.
_JOINED = 8


class LadderState(NamedTuple):
    """Clusters of rows, and room to find them.

    Attributes
    ----------
    near : ndarray of shape (n_rows,)
        The squared distance of each row to its centre.
    labels : ndarray of int of shape (n_rows,)
        Its centre; −1 if it has been added to no cluster yet.
    sums, sizes : ndarray of shape (n_clusters, n_features) and (n_clusters,)
        Of the rows of each cluster.
    tile, owners : ndarray of shape (CHUNK,)
        The squared distances of the rows of a chunk to one centre; and which is the nearest of those before.
    """

    near: Any
    labels: Any
    sums: Any
    sizes: Any
    tile: Any
    owners: Any


def new_ladder_state(n_rows: int, n_clusters: int, n_features: int) -> LadderState:
    """Make room for rows and clusters."""
    return LadderState(
        np.empty(n_rows), np.full(n_rows, -1), np.zeros((n_clusters, n_features)), np.zeros(n_clusters),
        np.empty(CHUNK), np.empty(CHUNK, np.int64),
    )  # fmt: skip


@loop(fast=True)
def square_chunk(columns: Any, first: int, point: Any, squares: Any) -> None:
    """Write the squared distances of consecutive rows from a point."""
    last = first + len(squares)
    for j in range(0, len(columns), FOUR):  # squares are then written a quarter as often
        p, q = columns[j, first:last], columns[j + 1, first:last]
        r, s = columns[j + 2, first:last], columns[j + 3, first:last]
        a, b, c, e = point[j], point[j + 1], point[j + 2], point[j + 3]
        if j == 0:
            for i in range(len(squares)):
                squares[i] = (p[i] - a) ** 2 + (q[i] - b) ** 2 + (r[i] - c) ** 2 + (s[i] - e) ** 2
        else:
            for i in range(len(squares)):
                squares[i] += (p[i] - a) ** 2 + (q[i] - b) ** 2 + (r[i] - c) ** 2 + (s[i] - e) ** 2


@loop(fast=True)
def scan_four(columns: Any, first: int, centres: Any, least: Any, owners: Any) -> None:
    """Find the nearest centres of consecutive rows with four coordinates, and the squared distances."""
    last, k = first + len(least), len(centres)
    p, q, r, s = (
        columns[0, first:last],
        columns[1, first:last],
        columns[2, first:last],
        columns[3, first:last],
    )
    for c in range(0, k, 2):  # two at a time: what is known of a row is then read half as often
        u0, u1, u2, u3 = centres[c, 0], centres[c, 1], centres[c, 2], centres[c, 3]
        another = min(c + 1, k - 1)  # the last once more changes nothing
        v0, v1, v2, v3 = centres[another, 0], centres[another, 1], centres[another, 2], centres[another, 3]
        for i in range(len(least)):
            u = (p[i] - u0) ** 2 + (q[i] - u1) ** 2 + (r[i] - u2) ** 2 + (s[i] - u3) ** 2
            v = (p[i] - v0) ** 2 + (q[i] - v1) ** 2 + (r[i] - v2) ** 2 + (s[i] - v3) ** 2
            nearer = u < least[i]
            now = u if nearer else least[i]
            owner = c if nearer else owners[i]
            nearer = v < now
            least[i] = v if nearer else now
            owners[i] = another if nearer else owner


@loop(fast=True)
def keep_nearer(squares: Any, c: int, least: Any, owners: Any) -> None:
    """Let a centre own the rows to which it is nearer than those before."""
    for i in range(len(squares)):
        nearer = squares[i] < least[i]
        least[i] = squares[i] if nearer else least[i]
        owners[i] = c if nearer else owners[i]


@loop
def count_different(some: Any, others: Any) -> int:
    count = 0
    for i in range(len(some)):
        count += some[i] != others[i]
    return count


@loop(fast=True)
def add_up(values: Any) -> float:
    total = 0.0
    for i in range(len(values)):
        total += values[i]
    return total


@loop(fast=True)
def add_lesser(some: Any, others: Any) -> float:
    """Return the sum of the lesser of two numbers at every place."""
    total = 0.0
    for i in range(len(some)):
        total += some[i] if some[i] < others[i] else others[i]
    return total


@loop
def follow_centres(columns: Any, centres: Any, state: Any) -> int:
    """Label all rows by their nearest centres, sums following; return how many labels changed."""
    d, n = columns.shape
    n_changed = 0
    for first in range(0, n, CHUNK):
        last = min(first + CHUNK, n)
        near, labels, owners = state.near[first:last], state.labels[first:last], state.owners[: last - first]
        near[:] = np.inf
        owners[:] = 0
        if d == FOUR:
            scan_four(columns, first, centres, near, owners)
        else:
            tile = state.tile[: last - first]
            for c in range(len(centres)):
                square_chunk(columns, first, centres[c], tile)
                keep_nearer(tile, c, near, owners)
        if count_different(labels, owners) == 0:
            continue
        for i in range(last - first):
            before, after = labels[i], owners[i]
            if before != after:
                n_changed += 1
                labels[i] = after
                state.sizes[after] += 1.0
                for j in range(d):
                    state.sums[after, j] += columns[j, first + i]
                if before >= 0:
                    state.sizes[before] -= 1.0
                    for j in range(d):
                        state.sums[before, j] -= columns[j, first + i]
    return n_changed


@loop
def move_to_means(columns: Any, centres: Any, state: Any) -> float:
    """Move centres to the means of their rows, one without rows to the row farthest from its centre.

    Returns the sum of the squares of all moves.
    """
    moves = 0.0
    for c in range(len(centres)):
        farthest = 0 if state.sizes[c] > 0.0 else int(np.argmax(state.near))
        if state.sizes[c] > 0.0 or state.near[farthest] > 0.0:
            for j in range(len(columns)):
                to = state.sums[c, j] / state.sizes[c] if state.sizes[c] > 0.0 else columns[j, farthest]
                moves += (to - centres[c, j]) ** 2
                centres[c, j] = to
        if not state.sizes[c] > 0.0:
            state.near[farthest] = 0.0  # the next one without rows takes another
    return moves


@loop
def settle_centres(columns: Any, centres: Any, tol: float, max_iter: int, state: Any) -> float:
    """Let rows and centres follow each other until they stay (Lloyd's algorithm); return the inertia."""
    state.labels[:] = -1
    state.sums[:] = 0.0
    state.sizes[:] = 0.0
    for _ in range(max_iter):
        if follow_centres(columns, centres, state) == 0:
            break
        if move_to_means(columns, centres, state) <= tol:
            follow_centres(columns, centres, state)
            break
    return add_up(state.near)


@loop
def row_reaching(near: Any, mark: float) -> int:
    """Return the row at which the running sum of squared distances reaches a mark."""
    total, last = 0.0, 0
    for first in range(0, len(near), CHUNK):
        chunk = near[first : first + CHUNK]
        more = add_up(chunk)
        if total + more >= mark:
            for i in range(len(chunk)):
                if chunk[i] > 0.0:
                    total += chunk[i]
                    last = first + i
                    if total >= mark:
                        return last
            return last
        total += more
    return int(np.argmax(near))


@loop
def add_centre(columns: Any, shares: Any, state: Any, centre: Any) -> None:
    """Write a centre on the row, of those at certain shares of the inertia, that would lower it most."""
    d, n = columns.shape
    total, least, chosen = add_up(state.near), np.inf, 0
    for t in range(len(shares)):
        row = row_reaching(state.near, shares[t] * total)
        point = columns[:, row].copy()
        left = 0.0
        for first in range(0, n, CHUNK):
            size = min(CHUNK, n - first)
            square_chunk(columns, first, point, state.tile[:size])
            left += add_lesser(state.tile[:size], state.near[first : first + size])
        if left < least:
            least, chosen = left, row
    for j in range(d):
        centre[j] = columns[j, chosen]


@loop
def join_two(centres: Any, sizes: Any, rank: int, joined: Any) -> None:
    """Write centres with two of them joined: the pair of this rank by how much more its clusters scatter as one.

    The scatter of two clusters of A and B rows rises by AB/(A + B) times the squared distance of their means.
    """
    k, d = centres.shape
    firsts, seconds = np.empty(k * (k - 1) // 2, np.int64), np.empty(k * (k - 1) // 2, np.int64)
    rises = np.zeros(len(firsts))
    p = 0
    for a in range(k):
        for b in range(a + 1, k):
            both = sizes[a] + sizes[b]
            for j in range(d if both > 0.0 else 0):
                rises[p] += sizes[a] * sizes[b] / both * (centres[a, j] - centres[b, j]) ** 2
            firsts[p], seconds[p] = a, b
            p += 1
    p = np.argsort(rises)[rank]
    a, b = firsts[p], seconds[p]
    joined[:b] = centres[:b]
    joined[b:] = centres[b + 1 :]
    both = sizes[a] + sizes[b]
    for j in range(d if both > 0.0 else 0):
        joined[a, j] = (sizes[a] * centres[a, j] + sizes[b] * centres[b, j]) / both


@loop
def climb(
    columns: Any, tol: float, max_iter: int, nothing: float, shares: Any, state: Any, ladder: Any, inertias: Any
) -> int:  # fmt: skip
    """Find clusters in every number up to that of the rungs: up, by one centre more, and down, by two in one.

    Parameters
    ----------
    columns : (d, n)
        Rows as seen from their mean, with columns of zeros up to a multiple of four.
    tol, max_iter
        Of every run of Lloyd's algorithm.
    nothing : float
        An inertia that is no more than rounding.
    shares : (rungs, trials)
        Where among the rows candidates for a new centre are drawn, as shares of the inertia.
    state : LadderState
    ladder : (rungs, rungs, d), zero; changed
        The first k + 1 points of rung k become the centres of k + 1 clusters.
    inertias : (rungs,), changed

    Returns
    -------
    int
        How many rungs were reached before nothing was left to divide.
    """
    rungs = len(ladder)
    sizes = np.zeros((rungs, rungs))
    inertias[0] = settle_centres(columns, ladder[0, :1], tol, max_iter, state)
    reached = 1
    while reached < rungs and inertias[reached - 1] > nothing:
        centres = ladder[reached, : reached + 1]
        centres[:reached] = ladder[reached - 1, :reached]
        add_centre(columns, shares[reached], state, centres[reached])
        inertias[reached] = settle_centres(columns, centres, tol, max_iter, state)
        sizes[reached] = state.sizes
        reached += 1
    for k in range(reached - 2, 0, -1):
        centres = np.empty((k + 1, len(columns)))
        for rank in range(min(max(1, _JOINED // (k + 1)), (k + 2) * (k + 1) // 2)):
            join_two(ladder[k + 1, : k + 2], sizes[k + 1], rank, centres)
            inertia = settle_centres(columns, centres, tol, max_iter, state)
            if inertia < inertias[k] * (1.0 - _WORTH):
                inertias[k] = inertia
                ladder[k, : k + 1] = centres
                sizes[k] = state.sizes
    return reached


@loop
def scatter_of(columns: Any, centres: Any, state: Any) -> float:
    """Label all rows by their nearest centres, and return their scatter about the means of the clusters."""
    state.labels[:] = -1
    state.sums[:] = 0.0
    state.sizes[:] = 0.0
    follow_centres(columns, centres, state)
    shift = 0.0
    for c in range(len(centres)):
        if state.sizes[c] > 0.0:
            for j in range(len(columns)):
                shift += state.sizes[c] * (state.sums[c, j] / state.sizes[c] - centres[c, j]) ** 2
    return max(0.0, add_up(state.near) - shift)


def warm() -> None:
    """Compile the loops of this module."""
    columns, ladder = given(np.arange(16.0).reshape(4, 4)), np.zeros((3, 3, 4))
    state = new_ladder_state(4, 3, 4)
    climb(columns, 0.0, 2, 0.0, given(np.full((3, 2), 0.5)), state, ladder, np.zeros(3))
    scatter_of(columns, ladder[1, :2], state)
