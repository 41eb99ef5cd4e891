"""Compiled steps of Borůvka's algorithm in the boxes of a k-d tree.

Rows are known by their *place*: the leaf times its size, plus the lane. For every place is kept the nearest row
outside its component that is known, its *mate*, and how far away it is, its *reach*. A search notes several, which
stand in one after the other when those before have joined the component: so most rows search once. When all have
joined there is no mate (−1), but no other row outside can be nearer than the last was: the reach is then a lower
bound, and a component that has a shorter way out need not look for another from there.

The rows of a leaf search together. Boxes are compared with the box around those of them that look for a way out;
only a leaf that is near enough is compared with the rows themselves, and only with those near enough to its box.

Of ways out of one length, the one whose row has the smaller number counts as nearer, and only what lies beyond the
length to beat is passed over. So every component chooses the first of all its edges in one order of them, and the
tree is the only one that is least in this order.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.tile_loops import weigh_columns
from bisector.engine.intrinsics import BITS, bits_below, lowest_bit, without_lowest_bit
from bisector.engine.loops import given, loop
from bisector.search.kd_build import MOST_LANES
from bisector.search.kd_tree_loops import compare_with_leaf, limit_above, next_key

# More than any key of a lane that is in use, and than any limit.
_NO_KEY = 2**63 - 1

# The owner of what belongs to several components, and of what is empty.
MIXED, NOBODY = -1, -2

# Rows of a leaf, at most: one bit each tells which of them a box is near enough to.
MOST_ROWS = BITS

# By so much bounds of rows give way, as keys do.
_SLACK = 1.0 + MOST_LANES * 2.0**-52


class WaysOut(NamedTuple):
    """What is known of the nearest rows outside the component of each place.

    Attributes
    ----------
    mates, reach : ndarray of shape (places,)
        The nearest row, or −1, and its reduced distance, or what no row outside is nearer than.
    found, lengths : ndarray of shape (places, kept)
        The nearest rows when the place searched last, and their reduced distances, in the same way.
    used : ndarray of shape (places,)
        Which of these is the mate.
    """

    mates: NDArray[np.int64]
    reach: NDArray[np.float64]
    found: NDArray[np.int64]
    lengths: NDArray[np.float64]
    used: NDArray[np.int64]


def unknown_ways(n_places: int, n_kept: int) -> WaysOut:
    """Return what is known before any search: nothing is nearer than 0."""
    found, lengths = np.empty((n_places, n_kept), dtype=np.int64), np.empty((n_places, n_kept))
    return WaysOut(
        np.full(n_places, -1), np.zeros(n_places), found, lengths, np.zeros(n_places, dtype=np.int64)
    )


@loop
def make_keys_outside(bits: Any, n: int, owners: Any, part: int, owner: int, keys: Any, level: int) -> None:
    """Make the keys of those of `n` lanes that hold anything outside a component; of all if it is `MIXED`."""
    for lane in range(keys.shape[1]):
        outside = (lane < n) & ((owners[part, lane] != owner) | (owner == MIXED))
        keys[level, lane] = (bits[lane] & -MOST_LANES) | lane if outside else _NO_KEY


@loop
def bound_boxes(
    formula: Any, weights: Any, low: Any, high: Any, boxes: Any, branch: int, bounds: Any
) -> None:
    """Set `bounds` to what no row between `low` and `high` is nearer to rows of a branch's children than.

    In each coordinate these are the nearest numbers of two intervals: the start of the child's, clamped into the
    other, and this one clamped into the child's.
    """
    n_lanes = len(bounds)
    for lane in range(n_lanes):
        bounds[lane] = 0.0
    for j in range(len(low)):
        lowest, highest, weight = low[j], high[j], weights[j]
        for lane in range(n_lanes):
            x = min(max(boxes[branch, j, 0, lane], lowest), highest)
            clamped = min(max(x, boxes[branch, j, 0, lane]), boxes[branch, j, 1, lane])
            bounds[lane] = formula.gather(bounds[lane], formula.term(x, clamped, weight))


@loop
def bound_rows(
    formula: Any, weights: Any, leaves: Any, own: int, boxes: Any, branch: int, lane: int, bounds: Any
) -> None:  # fmt: skip
    """Set `bounds` to the reduced distances of a leaf's rows to themselves, clamped into the box of a child."""
    size = leaves.shape[2]
    for b in range(size):
        bounds[b] = 0.0
    for j in range(len(weights)):
        low, high, weight = boxes[branch, j, 0, lane], boxes[branch, j, 1, lane], weights[j]
        for b in range(size):
            x = leaves[own, j, b]
            bounds[b] = formula.gather(bounds[b], formula.term(x, min(max(x, low), high), weight))


@loop
def largest(values: Any) -> float:
    """Return the largest of numbers, or −1 if there is none above it."""
    most = -1.0
    for i in range(len(values)):
        most = max(most, values[i])
    return most


@loop
def insert_mate(found: Any, lengths: Any, place: int, numbers: Any, mate: int, length: float) -> None:
    """Put a row among the nearest that a place has found, if it is one; of equally near ones the smaller first."""
    number = numbers[mate]
    for k in range(found.shape[1] - 1, -1, -1):
        other = found[place, k]
        tied = length == lengths[place, k] and (other < 0 or number < numbers[other])
        if not (length < lengths[place, k] or tied):
            break
        if k + 1 < found.shape[1]:
            found[place, k + 1], lengths[place, k + 1] = other, lengths[place, k]
        found[place, k], lengths[place, k] = mate, length


@loop
def gather_searchers(
    tree: Any, owners: Any, own: int, to_beat: Any, ways: Any, limits: Any, low: Any, high: Any
) -> int:  # fmt: skip
    """Find the rows of a leaf that look for a way out no longer than `to_beat`; return their common owner.

    Sets their `limits`, those of others being −1, and the box around them.
    """
    leaves, mates, reach, found, lengths = tree.leaves, ways.mates, ways.reach, ways.found, ways.lengths
    size, group = leaves.shape[2], NOBODY
    low[:], high[:], limits[:] = math.inf, -math.inf, -1.0
    for b in range(tree.sizes[own]):
        place, owner = own * size + b, owners[own, b]
        if mates[place] >= 0 or reach[place] > to_beat[b]:
            continue
        limits[b] = to_beat[b] * _SLACK
        for k in range(found.shape[1]):
            found[place, k], lengths[place, k] = -1, math.inf
        group = owner if group in (NOBODY, owner) else MIXED
        for j in range(len(low)):
            low[j], high[j] = min(low[j], leaves[own, j, b]), max(high[j], leaves[own, j, b])
    return group


@loop
def settle_searches(own: int, n: int, to_beat: Any, limits: Any, ways: Any) -> None:
    """Note the mates of those of `n` rows that have searched; none is known for sure beyond what was to beat."""
    mates, reach, found, lengths, size = ways.mates, ways.reach, ways.found, ways.lengths, len(to_beat)
    for b in range(n):
        if limits[b] < 0.0:
            continue
        place, beyond = own * size + b, np.nextafter(to_beat[b], math.inf)
        for k in range(found.shape[1]):
            if lengths[place, k] > to_beat[b]:
                found[place, k], lengths[place, k] = -1, beyond
        mates[place], reach[place], ways.used[place] = found[place, 0], lengths[place, 0], 0


@loop
def find_ways_out(
    formula: Any, tree: Any, numbers: Any, owners: Any, owners_below: Any, shortest: Any, first: int, stop: int,
    ways: Any, searched: Any,
) -> None:  # fmt: skip
    """Find the nearest rows outside its component for the rows of some leaves that need not exceed `shortest`.

    `numbers` are those of the rows at all places. Sets in which leaves any row has `searched`.
    """
    n_features, size, worst = tree.leaves.shape[1] - 1, tree.leaves.shape[2], ways.found.shape[1] - 1
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    leaves, sizes, boxes, children, lanes = tree.leaves, tree.sizes, tree.boxes, tree.children, tree.lanes
    mates, found, lengths = ways.mates, ways.found, ways.lengths
    row, low, high, value = np.empty(n_features), np.empty(n_features), np.empty(n_features), np.empty(1)
    # The way from the root to here: at each level the branch, the keys of its children, and the last one visited.
    branches, lasts = np.empty(tree.height, np.int64), np.empty(tree.height, np.int64)
    bounds, keys = np.empty(boxes.shape[3]), np.empty((tree.height, boxes.shape[3]), np.int64)
    totals, leaf_keys = np.empty(size), np.empty((1, size), np.int64)
    bound_bits, total_bits, value_bits = bounds.view(np.int64), totals.view(np.int64), value.view(np.int64)
    # Of each row of a leaf: what a way out must not exceed; the same with slack, and less once enough are found.
    to_beat, limits, row_bounds = np.empty(size), np.empty(MOST_ROWS), np.zeros(MOST_ROWS)
    several = len(shortest) < tree.rows_below[tree.root]  # else no row has a component to learn from
    # What rows of one component find shortens the search of those that follow.
    previous, carried = MIXED, math.inf
    for own in range(first, stop):
        n, whole = sizes[own], True
        for b in range(n):
            if owners[own, b] != previous:
                previous, carried = owners[own, b], shortest[owners[own, b]]
            whole = whole and previous == owners[own, 0]
            to_beat[b] = carried
        group = gather_searchers(tree, owners, own, to_beat, ways, limits, low, high)
        searched[own] = group != NOBODY
        if group == NOBODY:
            continue
        value[0] = largest(limits)
        limit = limit_above(value_bits[0])
        # Its own leaf first, if there is anything outside: that leaves little to look for.
        level, lane, child, at_home = -1, 0, tree.root if whole else ~own, not whole
        while True:
            if child >= 0:
                level += 1
                bound_boxes(bare, weights, low, high, boxes, child, bounds)
                make_keys_outside(bound_bits, lanes[child], owners_below, child, group, keys, level)
                branches[level], lasts[level] = child, -1
            elif at_home or child != ~own:
                leaf, of_leaf, shortened = ~child, MIXED, False
                if at_home:
                    row_bounds[:], at_home = 0.0, False
                else:
                    bound_rows(bare, weights, leaves, own, boxes, branches[level], lane, row_bounds)
                    of_leaf = owners_below[branches[level], lane]
                near = ~bits_below(limits, row_bounds, 0)
                while near != 0:
                    b, near = lowest_bit(near), without_lowest_bit(near)
                    place, owner = own * size + b, owners[own, b]
                    if owner == of_leaf:
                        continue
                    for j in range(n_features):
                        row[j] = leaves[own, j, b]
                    compare_with_leaf(bare, weights, row, leaves, leaf, totals)
                    make_keys_outside(total_bits, sizes[leaf], owners, leaf, owner, leaf_keys, 0)
                    key, value[0] = next_key(leaf_keys, 0, -1), min(lengths[place, worst], to_beat[b])
                    if key > limit_above(value_bits[0]):
                        continue
                    while key <= limit_above(value_bits[0]):
                        other = key & (MOST_LANES - 1)
                        if totals[other] <= to_beat[b]:
                            insert_mate(found, lengths, place, numbers, leaf * size + other, totals[other])
                            value[0] = min(lengths[place, worst], to_beat[b])
                        key = next_key(leaf_keys, 0, key)
                    limits[b], shortened = value[0] * _SLACK, True
                    for c in range(n if several else 0):
                        if c != b and owners[own, c] == owner and lengths[place, 0] < to_beat[c]:
                            to_beat[c] = lengths[place, 0]
                            limits[c] = min(limits[c], to_beat[c] * _SLACK)
                if shortened:
                    value[0] = largest(limits)
                    limit = limit_above(value_bits[0])
            if level < 0:
                child = tree.root
                continue
            key = next_key(keys, level, lasts[level])
            while key > limit and level > 0:
                level -= 1
                key = next_key(keys, level, lasts[level])
            if key > limit:
                break
            lasts[level], lane = key, key & (MOST_LANES - 1)
            child = children[branches[level], lane]
        settle_searches(own, n, to_beat, limits, ways)
        last = own * size + n - 1
        carried = min(to_beat[n - 1], ways.reach[last]) if mates[last] >= 0 else to_beat[n - 1]


@loop
def choose_edges(
    tree: Any, numbers: Any, owners: Any, ways: Any, asked: Any, chosen: Any, shortest: Any
) -> None:  # fmt: skip
    """Replace mates that have joined the component, and choose the shortest known edge out of each component.

    Only the rows of leaves that are `asked` count. `chosen` is the place of the row where the edge begins, or −1.
    Of edges of one length it is the one with the smaller row numbers, the smaller of the two compared first.
    """
    sizes, size, n_kept = tree.sizes, tree.leaves.shape[2], ways.found.shape[1]
    mates, reach, found, lengths, used = ways.mates, ways.reach, ways.found, ways.lengths, ways.used
    components = owners.reshape(owners.size)
    for leaf in range(len(sizes)):
        if not asked[leaf]:
            continue
        for place in range(leaf * size, leaf * size + sizes[leaf]):
            mate, c = mates[place], components[place]
            if (mate < 0) | (reach[place] > shortest[c]):  # too far, whether or not the mate has joined
                continue
            if components[mate] == c:
                k = used[place]
                while mate >= 0 and components[mate] == c:
                    k += 1
                    mate = found[place, k] if k < n_kept else -1
                mates[place], reach[place], used[place] = mate, lengths[place, min(k, n_kept - 1)], k
                if mate < 0:
                    continue
            if reach[place] < shortest[c] or chosen[c] < 0:
                chosen[c], shortest[c] = place, reach[place]
            elif reach[place] == shortest[c]:
                rival = chosen[c]
                a, b, x, y = numbers[place], numbers[mate], numbers[rival], numbers[mates[rival]]
                low, high, rival_low, rival_high = min(a, b), max(a, b), min(x, y), max(x, y)
                if low < rival_low or (low == rival_low and high < rival_high):
                    chosen[c] = place


@loop
def find_root(parents: Any, c: int) -> int:
    """Return what a component has become part of, and shorten the way there."""
    while parents[c] != c:
        parents[c] = parents[parents[c]]
        c = parents[c]
    return c


@loop
def join_components(
    numbers: Any, owners: Any, ways: Any, chosen: Any, names: Any, n_edges: int, ends: Any, lengths: Any
) -> int:  # fmt: skip
    """Join components by the chosen edges, which are listed; return how many edges there are now.

    `names` are the new numbers of the components.
    """
    n, components = len(chosen), owners.reshape(owners.size)
    parents = np.arange(n)
    for c in range(n):
        place = chosen[c]
        if place < 0:
            continue
        mate = ways.mates[place]
        a, b = find_root(parents, c), find_root(parents, components[mate])
        if a != b:  # else the other component has chosen this edge already, or one as short
            parents[max(a, b)] = min(a, b)
            ends[n_edges, 0], ends[n_edges, 1] = numbers[place], numbers[mate]
            lengths[n_edges] = ways.reach[place]
            n_edges += 1
    n_left = 0
    for c in range(
        n
    ):  # the root of a component is the smallest in it, and so is named before it is asked for
        if parents[c] == c:
            names[c] = n_left
            n_left += 1
        else:
            names[c] = names[find_root(parents, c)]
    return n_edges


@loop
def rename_owners(tree: Any, names: Any, owners: Any, owners_below: Any) -> None:
    """Give all rows the new numbers of their components; note which parts of the tree belong to one only."""
    sizes, children, lanes = tree.sizes, tree.children, tree.lanes
    n_branches = len(lanes)
    whole = np.empty(len(sizes), np.int64)
    for leaf in range(len(sizes)):
        owner = names[owners[leaf, 0]]
        for lane in range(sizes[leaf]):
            owners[leaf, lane] = names[owners[leaf, lane]]
            if owners[leaf, lane] != owner:
                owner = MIXED
        whole[leaf] = owner
    # Branches stand after what is below them.
    of_branch = np.empty(n_branches, np.int64)
    for branch in range(n_branches):
        owner = MIXED
        for lane in range(lanes[branch]):
            child = children[branch, lane]
            below = of_branch[child] if child >= 0 else whole[~child]
            owners_below[branch, lane] = below
            owner = below if lane == 0 or below == owner else MIXED
        of_branch[branch] = owner


def warm() -> None:
    """Compile the loops of this module for Euclidean distance."""
    from bisector.distances.terms import SquaredTerms
    from bisector.search.kd_build import arrange

    tree, numbers = arrange(given(np.arange(2.0)[:, None]), 2), given(np.arange(2))
    owners, below = np.arange(2)[None, :].copy(), np.full(tree.children.shape, MIXED)
    ways, asked, known = unknown_ways(2, 1), np.ones(1, np.bool_), (numbers, given(owners))
    shortest, chosen, names = np.full(2, np.inf), np.full(2, -1), np.empty(2, np.int64)
    find_ways_out(SquaredTerms(), tree, *known, given(below), given(shortest), 0, 1, ways, asked)
    choose_edges(tree, *known, ways, given(asked), chosen, shortest)
    join_components(*known, ways, given(chosen), names, 0, np.empty((1, 2), np.int64), np.empty(1))
    rename_owners(tree, given(names), owners, below)
