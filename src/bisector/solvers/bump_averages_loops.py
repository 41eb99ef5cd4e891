"""Compiled steps of averages by bumps: heights relative to the highest that a query has met."""

from typing import Any

import numpy as np

from bisector.engine.exponential import decay
from bisector.engine.loops import given, loop
from bisector.kernels.bump_formulas import ExponentialHeight, GaussianHeight
from bisector.solvers.parzen_loops import measure_squares, square_gap


@loop
def raise_and_fade(
    bump: Any, tile: Any, n_rows: int, rates: Any, least: Any, faded: Any, heights: Any
) -> None:
    """Write heights relative to the highest bump that each column has met, in this tile or before.

    `least` holds how far below the centre's height, as a logarithm, the highest of each column lies; where this
    tile has a higher one, `faded` says by how much all heights of the tiles before shrink beside it.
    """
    n_columns = len(least)
    before = np.empty(n_columns)
    for b in range(n_columns):
        before[b] = least[b]
    for i in range(n_rows):
        rate, line, logs = rates[i], tile[i, :n_columns], heights[i, :n_columns]
        for b in range(n_columns):
            below = -bump.log_height_of_square(rate * line[b])
            logs[b] = below
            least[b] = min(least[b], below)
    for b in range(n_columns):
        faded[b] = 1.0 if least[b] == before[b] else decay(least[b] - before[b])
        before[b] = least[b] if least[b] < np.inf else 0.0  # all rows are infinitely far
    for i in range(n_rows):
        logs = heights[i, :n_columns]
        for b in range(n_columns):
            logs[b] = decay(before[b] - logs[b])


@loop
def average_outwards(
    bump: Any, queries: Any, leaves: Any, sizes: Any, parts: Any, scale: float, factors: Any, lows: Any, highs: Any,
    left_out: Any, leaving: bool, unseen: float, sums: Any,
) -> None:  # fmt: skip
    """Add what all rows contribute to a block of queries, relative to the highest bump of each.

    Leaves come in the order of the distance between their box and that of the queries. All that is left is left out
    when it could not be seen beside the first sum, that of the weights, of any query.
    """
    n_queries, n_leaves = queries.shape[1], len(leaves)
    depths, masses = np.empty(n_leaves), np.empty(n_leaves)
    for leaf in range(n_leaves):
        gap = square_gap(queries, n_queries, lows[leaf], highs[leaf]) * (1.0 - 1e-12)
        widest, masses[leaf] = factors[leaf, 0], 0.0
        for i in range(sizes[leaf]):
            masses[leaf] += parts[leaf, 0, i]
            widest = min(widest, factors[leaf, i])
        depths[leaf] = -bump.log_height_of_square(gap * widest * scale)
    order = np.argsort(depths)
    left = masses.sum()
    least = np.full(n_queries, np.inf)
    tile, before, squares = np.empty((64, n_queries)), np.empty(n_queries), np.empty(n_queries)
    for leaf in order:
        if all_seen(least, sums[0], left, depths[leaf], unseen):
            break
        near = leaving and depths[leaf] <= 0.0
        for first in range(0, sizes[leaf], 64):
            last = min(first + 64, sizes[leaf])
            for q in range(n_queries):
                before[q] = least[q]
            own_depths(bump, queries, leaves[leaf], first, last, scale, factors[leaf], squares, least, tile)
            if near:
                leave_out(queries, leaves[leaf], first, last, left_out[leaf], before, least, tile)
            fade(before, least, sums)
            for i in range(first, last):
                line = tile[i - first]
                for q in range(n_queries):
                    line[q] = decay(before[q] - line[q])
                for v in range(len(sums)):
                    part, total = parts[leaf, v, i], sums[v]
                    for q in range(n_queries):
                        total[q] += part * line[q]
            if near:
                take_back(queries, leaves[leaf], first, last, left_out[leaf], parts[leaf], tile, sums)
        left = max(left - masses[leaf], 0.0)


@loop
def all_seen(least: Any, mass: Any, left: float, depth: float, unseen: float) -> bool:
    """Tell whether rows of the weight `left`, at least so deep, cannot be seen in any query's sum."""
    for q in range(len(least)):
        if not depth > least[q] or left * decay(least[q] - depth) > unseen * mass[q]:
            return False
    return True


@loop
def own_depths(
    bump: Any, queries: Any, leaf: Any, first: int, last: int, scale: float, factors: Any, squares: Any,
    least: Any, tile: Any,
) -> None:  # fmt: skip
    """Write how deep below its centre's height each row's bump is at every query, and keep the least."""
    n_queries = len(least)
    for i in range(first, last):
        measure_squares(queries, n_queries, leaf, i, squares)
        rate, line = scale * factors[i], tile[i - first]
        for q in range(n_queries):
            below = -bump.log_height_of_square(rate * squares[q])
            line[q] = below
            least[q] = min(least[q], below)


@loop
def leave_out(
    queries: Any, leaf: Any, first: int, last: int, left_out: Any, before: Any, least: Any, tile: Any
) -> None:
    """Put rows that are left out as a whole infinitely deep at themselves, and find the least depth there anew."""
    numbers, own = leaf[len(leaf) - 1], queries[len(leaf) - 1]
    for q in range(len(own)):
        for i in range(first, last):
            if numbers[i] == own[q] and left_out[i] == 1.0:
                tile[i - first, q] = np.inf
                least[q] = before[q]
                for other in range(last - first):
                    least[q] = min(least[q], tile[other, q])


@loop
def take_back(
    queries: Any, leaf: Any, first: int, last: int, left_out: Any, parts: Any, tile: Any, sums: Any
) -> None:
    """Subtract the share of each row that is left out at itself, where some of it stays."""
    numbers, own = leaf[len(leaf) - 1], queries[len(leaf) - 1]
    for q in range(len(own)):
        for i in range(first, last):
            if numbers[i] == own[q] and left_out[i] < 1.0:
                for v in range(len(sums)):
                    sums[v, q] -= left_out[i] * parts[v, i] * tile[i - first, q]


@loop
def fade(before: Any, least: Any, sums: Any) -> None:
    """Measure sums by a higher bump; afterwards `before` is the depth that heights are measured from."""
    for q in range(len(before)):
        if least[q] < before[q]:
            shrunk = decay(least[q] - before[q])
            for v in range(len(sums)):
                sums[v, q] *= shrunk
        before[q] = least[q] if least[q] < np.inf else 0.0  # all rows are infinitely far


def warm() -> None:
    """Compile the loops of this module, for every bump that needs them."""
    tile, rate, one = np.ones((1, 1)), given(np.ones(1)), np.ones(1)
    leaf, sizes, ones = given(np.ones((1, 2, 1))), given(np.ones(1, np.int64)), given(np.ones((1, 1)))
    for bump in (GaussianHeight(), ExponentialHeight()):
        raise_and_fade(bump, tile, 1, rate, one, one.copy(), tile)
        average_outwards(
            bump,
            leaf[0],
            leaf,
            sizes,
            given(np.ones((1, 1, 1))),
            1.0,
            ones,
            ones,
            ones,
            ones,
            False,
            0.0,
            tile,
        )
