"""Compiled steps of Parzen sums: one block of queries against blocks of rows, from the nearest outwards.

Queries and rows stand column-wise, one coordinate after the other, so that every inner loop runs over queries.
"""

from typing import Any

import numpy as np

from bisector.engine.exponential import decay
from bisector.engine.intrinsics import fma
from bisector.engine.loops import given, loop
from bisector.kernels.bump_formulas import (
    CosineHeight,
    EpanechnikovHeight,
    ExponentialHeight,
    GaussianHeight,
    TriangularHeight,
    WindowHeight,
)


@loop
def sum_outwards(
    bump: Any,
    queries: Any,
    n_queries: int,
    leaves: Any,
    sizes: Any,
    weights: Any,
    factors: Any,
    lows: Any,
    highs: Any,
    relative: float,
    absolute: float,
    sums: Any,
) -> int:
    """Add w·φ(√(factor · ‖x − row‖²)) over all rows to the sum of every query; return how many rows were compared.

    Leaves come in the order of the distance between their box and the queries' box. When all that is left could
    add no more than relative · sum + absolute to any of the queries, it is left out.
    """
    n_leaves = len(leaves)
    bounds = np.empty(n_leaves)
    for leaf in range(n_leaves):
        gap = square_gap(queries, n_queries, lows[leaf], highs[leaf])
        mass, widest = 0.0, factors[leaf, 0]
        for i in range(sizes[leaf]):
            mass += weights[leaf, i]
            widest = min(widest, factors[leaf, i])
        # A little nearer than the box can be, for the rounding of what is compared with it.
        bounds[leaf] = mass * bump.height_of_square(gap * widest * (1.0 - 1e-12))
    order = np.argsort(-bounds)
    left = np.empty(n_leaves + 1)
    left[n_leaves] = 0.0
    for place in range(n_leaves - 1, -1, -1):
        left[place] = left[place + 1] + bounds[order[place]]
    squares = np.empty(n_queries)
    compared = 0
    for place in range(n_leaves):
        least = sums[0]
        for q in range(n_queries):
            least = min(least, sums[q])
        if left[place] <= relative * least + absolute:
            break
        leaf = order[place]
        add_leaf(
            bump, queries, n_queries, leaves[leaf], sizes[leaf], weights[leaf], factors[leaf], squares, sums
        )
        compared += sizes[leaf]
    return compared


@loop
def add_leaf(
    bump: Any, queries: Any, n_queries: int, leaf: Any, size: int, weights: Any, factors: Any, squares: Any,
    sums: Any
) -> None:  # fmt: skip
    """Add what the rows of one leaf contribute."""
    for i in range(size):
        measure_squares(queries, n_queries, leaf, i, squares)
        weight, factor = weights[i], factors[i]
        for q in range(n_queries):
            sums[q] += weight * bump.height_of_square(factor * squares[q])


@loop
def measure_squares(queries: Any, n_queries: int, leaf: Any, i: int, squares: Any) -> None:
    """Write the squared distances from row i of a leaf to the queries."""
    for q in range(n_queries):
        squares[q] = 0.0
    for j in range(len(leaf) - 1):
        place, column = leaf[j, i], queries[j]
        for q in range(n_queries):
            away = column[q] - place
            squares[q] += away * away


@loop
def log_sum_far(
    bump: Any, query: Any, leaves: Any, sizes: Any, weights: Any, factors: Any, left_out: int
) -> float:
    """Return log Σ w·φ for one query so far from all rows that every φ is too small for a number.

    The largest term is found first, and the others are measured by it. A row numbered `left_out` does not count.
    """
    square = np.empty(1)
    peak = -np.inf
    for leaf in range(len(leaves)):
        numbers = leaves[leaf, len(query)]
        for i in range(sizes[leaf]):
            if numbers[i] != left_out and weights[leaf, i] > 0.0:
                measure_squares(query, 1, leaves[leaf], i, square)
                peak = max(peak, bump.log_height_of_square(factors[leaf, i] * square[0]))
    if peak == -np.inf:
        return peak
    total = 0.0
    for leaf in range(len(leaves)):
        numbers = leaves[leaf, len(query)]
        for i in range(sizes[leaf]):
            if numbers[i] != left_out:
                measure_squares(query, 1, leaves[leaf], i, square)
                height = bump.log_height_of_square(factors[leaf, i] * square[0])
                total += weights[leaf, i] * decay(height - peak)
    return peak + np.log(total)


@loop
def sum_widths(
    bump: Any, queries: Any, n_queries: int, leaves: Any, sizes: Any, weights: Any, left_out: Any, lows: Any,
    highs: Any, bases: Any, squarings: int, unseen: float, sums: Any,
) -> None:  # fmt: skip
    """Add w·φ of squared distances times base · 2^s, for every base and s = 0, 1, …, without a row's own bump.

    Only the first power is computed: a Gaussian of twice the exponent is the square of the one before. The sum of
    base b and power s is ``sums[s * len(bases) + b]``; of a row itself, `left_out` of its weight does not count.
    Leaves come from the nearest box outwards, and a power ends when all that is left cannot be seen in its sums.
    """
    n_leaves, n_bases = len(leaves), len(bases)
    gaps, left = np.empty(n_leaves), 0.0
    for leaf in range(n_leaves):
        gaps[leaf] = square_gap(queries, n_queries, lows[leaf], highs[leaf]) * (1.0 - 1e-12)
        left += weights[leaf].sum()
    powers, widest = squarings, bases.min()
    for leaf in np.argsort(gaps):
        while powers > 0:
            factor, least = widest * 2.0 ** (powers - 1), np.inf
            for line in range((powers - 1) * n_bases, powers * n_bases):
                least = min(least, sums[line].min())
            if left * bump.height_of_square(factor * gaps[leaf]) > unseen * least:
                break
            powers -= 1
        if powers == 0:
            break
        add_widths(bump, queries, n_queries, leaves[leaf], sizes[leaf], weights[leaf], left_out[leaf],
                   gaps[leaf] == 0.0, bases, powers, sums)  # fmt: skip
        left = max(left - weights[leaf].sum(), 0.0)


@loop
def add_widths(
    bump: Any, queries: Any, n_queries: int, leaf: Any, size: int, weights: Any, left_out: Any, near: bool,
    bases: Any, powers: int, sums: Any,
) -> None:  # fmt: skip
    """Add what the rows of a leaf contribute to all widths; only if it is `near` can they be among the queries."""
    numbers, n_bases, last = queries[len(leaf) - 1], len(bases), size - 1
    squares, heights = np.empty((4, n_queries)), np.empty((4, n_queries))
    for start in range(0, size, 4):
        for r in range(4):
            i, row = start + r, squares[r]
            if i > last:
                row[:] = np.inf  # there is none
                continue
            measure_squares(queries, n_queries, leaf, i, row)
            if near:
                number = leaf[len(leaf) - 1, i]
                for q in range(n_queries):
                    if numbers[q] == number:
                        row[q] = np.inf  # its own bump does not count, but what equal rows weigh does
                        for line in range(len(sums)):
                            sums[line, q] += weights[i] - left_out[i]
        second, third, fourth = min(start + 1, last), min(start + 2, last), min(start + 3, last)
        shares = weights[start], weights[second], weights[third], weights[fourth]
        for b in range(n_bases):
            base = bases[b]
            for r in range(4):
                row, line = squares[r], heights[r]
                for q in range(n_queries):
                    line[q] = bump.height_of_square(base * row[q])
            add_powers(shares, heights, n_queries, b, n_bases, powers, sums)


@loop
def add_powers(
    shares: Any, heights: Any, n_queries: int, b: int, n_bases: int, powers: int, sums: Any
) -> None:
    """Add the heights of four rows, times their shares, and their squares, to the sums of base b and all powers.

    Four rows and four powers at a time: less to load and to store, which takes longer than the arithmetic.
    """
    one, two, three, four = heights[0], heights[1], heights[2], heights[3]
    s = 0
    while s + 4 <= powers:
        first, second = sums[s * n_bases + b], sums[(s + 1) * n_bases + b]
        third, fourth = sums[(s + 2) * n_bases + b], sums[(s + 3) * n_bases + b]
        for q in range(n_queries):
            h, i, j, k = one[q], two[q], three[q], four[q]
            first[q] = add_shares(shares, h, i, j, k, first[q])
            h, i, j, k = h * h, i * i, j * j, k * k
            second[q] = add_shares(shares, h, i, j, k, second[q])
            h, i, j, k = h * h, i * i, j * j, k * k
            third[q] = add_shares(shares, h, i, j, k, third[q])
            h, i, j, k = h * h, i * i, j * j, k * k
            fourth[q] = add_shares(shares, h, i, j, k, fourth[q])
            one[q], two[q], three[q], four[q] = h * h, i * i, j * j, k * k
        s += 4
    while s < powers:
        line = sums[s * n_bases + b]
        for q in range(n_queries):
            h, i, j, k = one[q], two[q], three[q], four[q]
            line[q] = add_shares(shares, h, i, j, k, line[q])
            one[q], two[q], three[q], four[q] = h * h, i * i, j * j, k * k
        s += 1


@loop
def add_shares(shares: Any, h: float, i: float, j: float, k: float, total: float) -> float:
    """Return a sum with the heights of four rows added."""
    return fma(shares[0], h, fma(shares[1], i, fma(shares[2], j, fma(shares[3], k, total))))


@loop
def square_gap(queries: Any, n_queries: int, lows: Any, highs: Any) -> float:
    """Return the squared distance between the box of the queries and another."""
    gap = 0.0
    for j in range(len(lows)):
        own = queries[j, :n_queries]
        away = max(lows[j] - own.max(), own.min() - highs[j], 0.0)
        gap += away * away
    return gap


def warm() -> None:
    """Compile the loops of this module, for every bump."""
    one, ones, box = given(np.ones((1, 2, 1))), given(np.ones((1, 1))), given(np.ones((1, 1)))
    sizes, vector = given(np.ones(1, np.int64)), given(np.ones(1))
    for bump in (
        GaussianHeight(),
        WindowHeight(),
        EpanechnikovHeight(),
        ExponentialHeight(),
        TriangularHeight(),
        CosineHeight(),
    ):
        sum_outwards(bump, one[0], 1, one, sizes, ones, ones, box, box, 0.0, 0.0, np.zeros(1))
        sum_widths(bump, one[0], 1, one, sizes, ones, ones, box, box, vector, 1, 0.0, np.zeros((1, 1)))
    for bump in (GaussianHeight(), ExponentialHeight()):
        log_sum_far(bump, given(np.ones((1, 1))), one, sizes, ones, ones, -1)
