"""Compiled steps of screening: which references may be among the nearest of a query, and the formula for those.

A tile holds products, in groups as `bisector.search.selection_loops` describes; with the norms of the
references added they are the *lows* of `bisector.search.screening.Screen`.
"""

from typing import Any

import numpy as np

from bisector.distances.tile_loops import weigh_columns
from bisector.engine.loops import given, loop
from bisector.search.comparing import GROUP


@loop
def collect(
    tile: Any, norms: Any, first: int, slack: Any, slope: float, rounding: float,
    thresholds: Any, highs: Any, counts: Any, lows: Any, numbers: Any,
) -> int:  # fmt: skip
    """Collect for every query the references whose low is no more than its threshold; return how many still do.

    The threshold is the k-th smallest high so far, kept in a heap: k references are no farther than that, and
    one whose low is above is not among the nearest. References collected before may drop out, which is
    noticed when the list is full. If more than half of it stays, too many references cannot be told apart:
    the query gives up, with a threshold of −∞.
    """
    n_queries, n_groups, size = tile.shape
    n_open = 0
    for q in range(n_queries):
        threshold = thresholds[q]
        for g in range(n_groups):
            found = False
            for j in range(size):
                found |= tile[q, g, j] + norms[g, j] <= threshold
            if found:
                for j in range(size):
                    low = tile[q, g, j] + norms[g, j]
                    if low <= threshold:
                        high = low + slack[q] + slope * norms[g, j]
                        if high < highs[q, 0]:
                            replace_largest(highs[q], high)
                            if highs[q, 0] < np.inf:
                                thresholds[q] = highs[q, 0] + rounding * abs(highs[q, 0])
                        if counts[q] == lows.shape[1]:
                            drop_above(q, thresholds, counts, lows, numbers)
                            if 2 * counts[q] > lows.shape[1]:
                                thresholds[q] = -np.inf
                        threshold = thresholds[q]
                        if low <= threshold:
                            lows[q, counts[q]] = low
                            numbers[q, counts[q]] = first + g * size + j
                            counts[q] += 1
        n_open += threshold > -np.inf
    return n_open


@loop
def replace_largest(heap: Any, value: float) -> None:
    """Put a value in the place of the largest, which comes first, and let it sink to where it belongs."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= len(heap):
            break
        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@loop
def drop_above(q: int, thresholds: Any, counts: Any, lows: Any, numbers: Any) -> None:
    """Keep those of a query's list that are no more than its threshold, in their order."""
    kept = 0
    for c in range(counts[q]):
        if lows[q, c] <= thresholds[q]:
            lows[q, kept] = lows[q, c]
            numbers[q, kept] = numbers[q, c]
            kept += 1
    counts[q] = kept


@loop
def drop_all_above(thresholds: Any, counts: Any, lows: Any, numbers: Any) -> None:
    """Keep those of every list that are no more than its query's threshold."""
    for q in range(len(counts)):
        drop_above(q, thresholds, counts, lows, numbers)


@loop
def join_lists(counts: Any, numbers: Any, joined: Any) -> None:
    """Write the lists of all queries one after the other."""
    c = 0
    for q in range(len(counts)):
        for place in range(counts[q]):
            joined[c] = numbers[q, place]
            c += 1


@loop
def reduce_pairs(
    formula: Any, queries: Any, owners: Any, references: Any, numbers: Any, reduced: Any
) -> None:
    """Write the reduced distances of listed pairs: four at a time, each gathered in the order of coordinates."""
    n_features = queries.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    n = len(reduced)
    for c in range(0, n, 4):
        # The last few pairs are filled up by repeating the last one.
        c1, c2, c3 = min(c + 1, n - 1), min(c + 2, n - 1), min(c + 3, n - 1)
        q0, q1, q2, q3 = owners[c], owners[c1], owners[c2], owners[c3]
        r0, r1, r2, r3 = numbers[c], numbers[c1], numbers[c2], numbers[c3]
        t0, t1, t2, t3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n_features):
            w = weights[j]
            t0 = bare.gather(t0, bare.term(queries[q0, j], references[r0, j], w))
            t1 = bare.gather(t1, bare.term(queries[q1, j], references[r1, j], w))
            t2 = bare.gather(t2, bare.term(queries[q2, j], references[r2, j], w))
            t3 = bare.gather(t3, bare.term(queries[q3, j], references[r3, j], w))
        reduced[c], reduced[c1], reduced[c2], reduced[c3] = t0, t1, t2, t3


def warm() -> None:
    """Compile the loops of this module: screening for both dtypes, and the formulas that sum squares."""
    from bisector.distances.terms import ArcOfChord, KeptSquares, SquaredTerms

    number = np.zeros(1, np.int64)
    for dtype in (np.float32, np.float64):
        tile, thresholds = given(np.ones((1, 1, GROUP), dtype)), np.zeros(1, dtype)
        lists = (np.zeros(1, np.int64), np.ones((1, 1), dtype), np.zeros((1, 1), np.int64))
        collect(tile, given(tile[0]), 0, given(np.ones(1)), 1.0, 1.0, thresholds, np.ones((1, 1)), *lists)
        drop_all_above(thresholds, *lists)
    join_lists(given(lists[0]), given(lists[2]), number)
    row = given(np.ones((1, 1)))
    for formula in (SquaredTerms(), KeptSquares(1.0), ArcOfChord(1.0)):
        reduce_pairs(formula, row, given(number), row, given(number), np.ones(1))
