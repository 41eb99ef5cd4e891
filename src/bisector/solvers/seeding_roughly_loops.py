"""Compiled steps of greedy k-means++ that compare all rows with a few candidates in single precision."""

from typing import Any

import numpy as np

from bisector.engine.group_products import GROUP, MOST_AT_ONCE, multiply_group, weigh_group
from bisector.engine.intrinsics import lowest_bit, without_lowest_bit
from bisector.engine.loops import given, loop
from bisector.solvers.lloyd_loops import quick_square

# Groups whose sums are made in single precision before they are added to the others.
GROUPS_AT_ONCE = 32


# The largest squared length of a row that is narrowed: what comes of it stays far from what single precision holds.
FARTHEST = 1e30


@loop
def narrow_rows(
    X: Any, weights: Any, closest: Any, origin: Any, scale: float, heaviest: float, groups: Any, known: Any
) -> bool:
    """Write rows as seen from an origin side by side, and what else `weigh_group` wants to know of them.

    Places without a row, and rows that weigh nothing, get a closest one that no candidate is nearer than. Returns
    whether all rows could be written.
    """
    n, d = X.shape
    for g in range(len(groups)):
        for r in range(GROUP):
            i = g * GROUP + r
            norm, weight = 0.0, 0.0
            if i < n:
                weight = weights[i] if len(weights) else 1.0
                for j in range(d):
                    value = (X[i, j] - origin[j]) * scale
                    norm += value * value
                if not norm <= FARTHEST:
                    return False
                for j in range(d):
                    groups[g, j, r] = (X[i, j] - origin[j]) * scale
            else:
                groups[g, :, r] = 0.0
            known[g, 0, r] = norm
            known[g, 1, r] = closest[i] * scale * scale if weight > 0.0 else -np.inf
            known[g, 2, r] = weight / heaviest
    return True


@loop
def weigh_candidates(
    groups: Any, known: Any, across: Any, sizes: Any, share: Any, near: Any, found: Any
) -> None:
    """Add up what each candidate gains, and by how much that may be off; tell to which rows it may be nearer.

    Parameters
    ----------
    groups : (n_groups, d, 16) float32
    known : (n_groups, 3, 16) float32
    across : (d, k) float32
        Twice the candidates, as columns; their number is even.
    sizes : (2, k) float32
    share : float32
    near : (n_groups, k) uint16, written
        Bits of rows, for each candidate.
    found : (2, k), changed
    """
    k = across.shape[1]
    products, sums = np.empty((k, GROUP), np.float32), np.zeros((2, k, GROUP), np.float32)
    for start in range(0, len(groups), GROUPS_AT_ONCE):
        for g in range(start, min(start + GROUPS_AT_ONCE, len(groups))):
            for first in range(0, k, MOST_AT_ONCE):
                multiply_group(groups[g], across, first, min(MOST_AT_ONCE, k - first), products)
            for c in range(k):
                near[g, c] = weigh_group(products, c, sizes, known[g], share, sums)
        for s in range(2):
            for c in range(k):
                for r in range(GROUP):
                    found[s, c] += sums[s, c, r]
                    sums[s, c, r] = 0.0


@loop
def list_near(near: Any, c: int, rows: Any) -> int:
    """List the rows whose bits are set for a candidate; return how many they are."""
    count = 0
    for g in range(len(near)):
        bits: Any = np.uint64(near[g, c])
        while bits:
            rows[count] = g * GROUP + lowest_bit(bits)
            count += 1
            bits = without_lowest_bit(bits)
    return count


@loop
def own_nearer(
    X: Any, at: Any, rows: Any, centre: Any, number: int, scale: float, closest: Any, owners: Any, known: Any
) -> None:
    """Let a new centre own those of some rows that it is nearer to, as measured exactly; row i is ``X[at[i]]``."""
    for i in range(len(rows)):
        row, value = rows[i], quick_square(X, at[i], centre, np.int64(0))
        if value < closest[row]:
            closest[row] = value
            owners[row] = number
            known[row // GROUP, 1, row % GROUP] = value * scale * scale


@loop(fast=True)
def add_stretches(weights: Any, closest: Any, size: int, totals: Any) -> None:
    """Write the weighted sums of squared distances of so many rows after each other."""
    for s in range(len(totals)):
        total = 0.0
        for i in range(s * size, min((s + 1) * size, len(closest))):
            total += weights[i] * closest[i] if len(weights) else closest[i]
        totals[s] = total


def warm() -> None:
    """Compile the loops of this module."""
    none, one, owners, at = (
        given(np.empty(0)),
        np.ones(1),
        np.zeros(1, np.int64),
        given(np.zeros(1, np.int64)),
    )
    groups, known = np.zeros((1, 1, GROUP), np.float32), np.zeros((1, 3, GROUP), np.float32)
    for dtype in (np.float32, np.float64):
        X = given(np.ones((1, 1), dtype))
        narrow_rows(X, none, given(one), given(one), 1.0, 1.0, groups, known)
        own_nearer(X, at, at, given(np.ones((1, 1))), 1, 1.0, one, owners, known)
    sizes, across = given(np.ones((2, 2), np.float32)), given(np.ones((1, 2), np.float32))
    near = np.zeros((1, 2), np.uint16)
    weigh_candidates(given(groups), given(known), across, sizes, np.float32(0), near, np.zeros((2, 2)))
    list_near(near, 0, np.zeros(GROUP, np.int64))
    add_stretches(none, given(one), 1, np.zeros(1))
