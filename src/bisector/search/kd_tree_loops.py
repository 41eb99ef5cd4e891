"""Compiled search in the boxes of a k-d tree.

**Bounds.** No row in a box is nearer to a query than the query itself, clamped into the box. That holds for the
computed numbers too. Let x be a coordinate of the query, y the same of the clamped query, and z that of a row in
the box. Either y = x, or y lies between x and z; rounding keeps the order of numbers, so the computed |x − y| is
at most the computed |x − z|, and so is the term made of it by operations that round correctly. (The term that
tells whether coordinates differ is 0 for y = x, and 1 for both otherwise.) Terms are gathered in the same order
by sums or maxima, which keep the order too. So a bound that the formula itself computes never exceeds the
reduced distance of a row in the box, and a box may be passed over if its bound exceeds the reduced distance of
the worst row to beat. Only powers need not keep the order of their arguments; they are wrong by about a unit in
the last place, and so bounds give way by thousands of units, which costs nothing.

**Keys.** Numbers that are not negative are ordered as the integers that their bits make. The last bits of bounds
and of distances give way to the number of their lane, so that the smallest and its lane are found together,
several lanes at a time; the next is the smallest key above it. The slack covers what keys leave out: reduced
distances decide.

**Speed.** Helpers called in the loops over boxes and leaves call nothing that takes arrays, and their loops run
to lengths that are not known when they are compiled: otherwise arrays would be counted in and out at every call,
by instructions that wait for the memory, and short loops be unrolled instead of vectorised.
"""

import math
from typing import Any

import numpy as np

from bisector.distances.tile_loops import weigh_columns
from bisector.engine.loops import given, loop
from bisector.search.heap_loops import EMPTY, is_nearer, replace_worst, sort_heap
from bisector.search.kd_build import MOST_LANES

# More than any key of a lane that is in use, and than any limit.
_NO_KEY = 2**63 - 1

# Up to so many nearest rows are kept in order, more in a heap.
_MOST_SORTED = 512


@loop
def limit_above(bits: int) -> int:
    """Return the largest key that may belong to what is no farther than a number with these bits."""
    return (bits | (MOST_LANES - 1)) + MOST_LANES


@loop
def make_keys(bits: Any, n: int, keys: Any, level: int) -> None:
    """Make the keys of `n` lanes from the bits of their numbers."""
    for lane in range(keys.shape[1]):
        keys[level, lane] = (bits[lane] & -MOST_LANES) | lane if lane < n else _NO_KEY


@loop
def next_key(keys: Any, level: int, last: int) -> int:
    """Return the smallest key above the last."""
    smallest = _NO_KEY
    for lane in range(keys.shape[1]):
        key = keys[level, lane]
        smallest = min(smallest, key if key > last else _NO_KEY)
    return smallest


@loop
def bound_children(formula: Any, weights: Any, row: Any, boxes: Any, branch: int, bounds: Any) -> None:
    """Set `bounds` to the reduced distances of a row to itself, clamped into the boxes of a branch's children."""
    n_lanes = len(bounds)
    for lane in range(n_lanes):
        bounds[lane] = 0.0
    for j in range(len(row)):
        x, weight = row[j], weights[j]
        for lane in range(n_lanes):
            clamped = min(max(x, boxes[branch, j, 0, lane]), boxes[branch, j, 1, lane])
            bounds[lane] = formula.gather(bounds[lane], formula.term(x, clamped, weight))


@loop
def compare_with_leaf(formula: Any, weights: Any, row: Any, leaves: Any, leaf: int, totals: Any) -> None:
    """Set `totals` to the reduced distances of a row to those of a leaf."""
    n_features, n_lanes = len(row), len(totals)
    done = n_features % 4  # the rest four at a time, for which the totals stay in registers
    if done == 0:
        for lane in range(n_lanes):
            totals[lane] = 0.0
    elif done == 1:
        x0, w0 = row[0], weights[0]
        for lane in range(n_lanes):
            totals[lane] = formula.gather(0.0, formula.term(x0, leaves[leaf, 0, lane], w0))
    elif done == 2:
        x0, x1, w0, w1 = row[0], row[1], weights[0], weights[1]
        for lane in range(n_lanes):
            total = formula.gather(0.0, formula.term(x0, leaves[leaf, 0, lane], w0))
            totals[lane] = formula.gather(total, formula.term(x1, leaves[leaf, 1, lane], w1))
    else:
        x0, x1, x2, w0, w1, w2 = row[0], row[1], row[2], weights[0], weights[1], weights[2]
        for lane in range(n_lanes):
            total = formula.gather(0.0, formula.term(x0, leaves[leaf, 0, lane], w0))
            total = formula.gather(total, formula.term(x1, leaves[leaf, 1, lane], w1))
            totals[lane] = formula.gather(total, formula.term(x2, leaves[leaf, 2, lane], w2))
    for j in range(done, n_features, 4):
        x0, x1, x2, x3 = row[j], row[j + 1], row[j + 2], row[j + 3]
        w0, w1, w2, w3 = weights[j], weights[j + 1], weights[j + 2], weights[j + 3]
        for lane in range(n_lanes):
            total = formula.gather(totals[lane], formula.term(x0, leaves[leaf, j, lane], w0))
            total = formula.gather(total, formula.term(x1, leaves[leaf, j + 1, lane], w1))
            total = formula.gather(total, formula.term(x2, leaves[leaf, j + 2, lane], w2))
            totals[lane] = formula.gather(total, formula.term(x3, leaves[leaf, j + 3, lane], w3))


@loop
def largest_in_box(formula: Any, weights: Any, row: Any, boxes: Any, branch: int, lane: int) -> float:
    """Return what no reduced distance of a row in a child's box exceeds, up to the slack."""
    total = 0.0
    for j in range(len(row)):
        low = formula.term(row[j], boxes[branch, j, 0, lane], weights[j])
        high = formula.term(row[j], boxes[branch, j, 1, lane], weights[j])
        total = formula.gather(total, max(low, high))
    return total


@loop
def insert(values: Any, numbers: Any, n_kept: int, value: float, number: int) -> None:
    """Insert a row into an ascending list with `n_kept` rows, whose last falls out if the list is full."""
    place = min(n_kept, len(values) - 1)
    while place > 0 and is_nearer(value, number, values[place - 1], numbers[place - 1]):
        values[place] = values[place - 1]
        numbers[place] = numbers[place - 1]
        place -= 1
    values[place] = value
    numbers[place] = number


@loop
def find_nearest(
    formula: Any, tree: Any, alive: Any, queries: Any, which: Any, first: int, stop: int,
    reduced: Any, numbers: Any,
) -> int:  # fmt: skip
    """Find the nearest rows of consecutive queries, as many as `reduced` has columns.

    The answer for query q goes to row ``which[q]``. Rows that are not alive do not count; an empty `alive` means
    that all are. Returns how many bounds and distances were computed.
    """
    n_features, k = queries.shape[1], reduced.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    leaves, sizes, boxes, children, lanes = tree.leaves, tree.sizes, tree.boxes, tree.children, tree.lanes
    row, all_alive = np.empty(n_features), len(alive) == 0
    # The way from the root to here: at each level the branch, the keys of its children, and the last one visited.
    branches, lasts = np.empty(tree.height, np.int64), np.empty(tree.height, np.int64)
    bounds, keys = np.empty(boxes.shape[3]), np.empty((tree.height, boxes.shape[3]), np.int64)
    totals, leaf_keys = np.empty(leaves.shape[2]), np.empty((1, leaves.shape[2]), np.int64)
    bound_bits, total_bits = bounds.view(np.int64), totals.view(np.int64)
    # The rows to keep; the worst of them is the last of a list, or the first of a heap.
    values, kept = np.empty(k), np.empty(k, np.int64)
    value_bits, few = values.view(np.int64), k <= _MOST_SORTED
    worst = k - 1 if few else 0
    root = tree.root
    computed = 0
    for q in range(first, stop):
        for j in range(n_features):
            row[j] = queries[q, j]
        for place in range(k):
            values[place], kept[place] = math.inf, EMPTY
        n_kept = 0
        limit = limit_above(value_bits[worst])
        level, child = -1, root
        while True:
            if child >= 0:
                level += 1
                bound_children(bare, weights, row, boxes, child, bounds)
                make_keys(bound_bits, lanes[child], keys, level)
                branches[level], lasts[level] = child, -1
                computed += lanes[child]
            else:
                leaf = ~child
                compare_with_leaf(bare, weights, row, leaves, leaf, totals)
                make_keys(total_bits, sizes[leaf], leaf_keys, 0)
                computed += sizes[leaf]
                key = next_key(leaf_keys, 0, -1)
                while key <= limit:
                    lane = key & (MOST_LANES - 1)
                    value, number = totals[lane], int(leaves[leaf, n_features, lane])
                    if is_nearer(value, number, values[worst], kept[worst]) and (all_alive or alive[number]):
                        if few:
                            insert(values, kept, n_kept, value, number)
                        else:
                            replace_worst(values, kept, value, number)
                        n_kept += 1
                        limit = limit_above(value_bits[worst])
                    key = next_key(leaf_keys, 0, key)
            key = next_key(keys, level, lasts[level])
            while key > limit and level > 0:
                level -= 1
                key = next_key(keys, level, lasts[level])
            if key > limit:
                break
            lasts[level] = key
            child = children[branches[level], key & (MOST_LANES - 1)]
        if not few:
            sort_heap(values, kept)
        for place in range(k):
            reduced[which[q], place] = values[place]
            numbers[which[q], place] = kept[place] if place < n_kept else -1
    return computed


@loop
def find_within(
    formula: Any, tree: Any, alive: Any, queries: Any, which: Any, first: int, stop: int, bounds: Any,
    counts: Any, listing: bool, starts: Any, reduced: Any, numbers: Any,
) -> int:  # fmt: skip
    """Count the rows whose reduced distance to consecutive queries is at most a bound; if `listing`, list them.

    The bound, the count and the start of the list of query q are those of ``which[q]``. Where rows are only counted
    and all are alive, those of a box that lies within the bound are counted together. Returns how many bounds and
    distances were computed.
    """
    n_features = queries.shape[1]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    leaves, sizes, boxes, children, lanes = tree.leaves, tree.sizes, tree.boxes, tree.children, tree.lanes
    row, all_alive = np.empty(n_features), len(alive) == 0
    branches, lasts = np.empty(tree.height, np.int64), np.empty(tree.height, np.int64)
    box_bounds, keys = np.empty(boxes.shape[3]), np.empty((tree.height, boxes.shape[3]), np.int64)
    totals = np.empty(leaves.shape[2])
    box_bits, bound_bits = box_bounds.view(np.int64), bounds.view(np.int64)
    together, root, rows_below = all_alive and not listing, tree.root, tree.rows_below
    computed = 0
    for q in range(first, stop):
        for j in range(n_features):
            row[j] = queries[q, j]
        bound, limit = bounds[which[q]], limit_above(bound_bits[which[q]])
        certain = bound * (1.0 - MOST_LANES * 2.0**-52)
        start, count = starts[which[q]] if listing else 0, 0
        level, lane, child = -1, 0, root
        while True:
            inside = False
            if together and level >= 0:
                inside = largest_in_box(bare, weights, row, boxes, branches[level], lane) <= certain
                computed += 1
            if inside:
                count += rows_below[child] if child >= 0 else sizes[~child]
            elif child >= 0:
                level += 1
                bound_children(bare, weights, row, boxes, child, box_bounds)
                make_keys(box_bits, lanes[child], keys, level)
                branches[level], lasts[level] = child, -1
                computed += lanes[child]
            else:
                leaf = ~child
                compare_with_leaf(bare, weights, row, leaves, leaf, totals)
                computed += sizes[leaf]
                for b in range(sizes[leaf]):
                    if totals[b] <= bound and (all_alive or alive[int(leaves[leaf, n_features, b])]):
                        if listing:
                            reduced[start + count] = totals[b]
                            numbers[start + count] = int(leaves[leaf, n_features, b])
                        count += 1
            key = next_key(keys, level, lasts[level])
            while key > limit and level > 0:
                level -= 1
                key = next_key(keys, level, lasts[level])
            if key > limit:
                break
            lasts[level], lane = key, key & (MOST_LANES - 1)
            child = children[branches[level], lane]
        counts[which[q]] = count
    return computed


def warm() -> None:
    """Compile the loops of this module for the common formulas."""
    from bisector.distances import terms
    from bisector.search.kd_build import arrange

    rows, which, alive = given(np.zeros((1, 1))), given(np.zeros(1, np.int64)), given(np.ones(0, np.bool_))
    tree, numbers, place = arrange(rows, 1), np.zeros((1, 1), np.int64), (rows, which, 0, 1)
    for formula in (terms.SquaredTerms(), terms.AbsoluteTerms(), terms.LargestTerm(), terms.KeptSquares(1.0)):
        find_nearest(formula, tree, alive, *place, np.empty((1, 1)), numbers)
        lists = False, which, np.empty(0), numbers[0]
        find_within(formula, tree, alive, *place, given(np.zeros(1)), numbers[0], *lists)
