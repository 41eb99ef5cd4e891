"""Compiled steps of Borůvka's algorithm in the boxes of a k-d tree.

Rows are known by their *place*: the leaf times its size, plus the lane. For every place is kept the nearest row
outside its component that is known, `mates`, at the reduced distance `reach`. Once the mate has joined the
component there is none (−1), but no other row outside can be nearer than it was: `reach` is then a lower bound, and
a component that has a shorter way out need not look for another from there. A search notes the second nearest too,
which stands in when the nearest has joined: so most rows search once instead of twice.
"""

import math
from typing import Any

import numpy as np

from bisector.distances.tile_loops import weigh_columns
from bisector.engine.loops import given, loop
from bisector.search.kd_build import MOST_LANES
from bisector.search.kd_tree_loops import bound_children, compare_with_leaf, limit_above, next_key

# More than any key of a lane that is in use, and than any limit.
_NO_KEY = 2**63 - 1

# The owner of what belongs to several components.
MIXED = -1


@loop
def make_keys_outside(bits: Any, n: int, owners: Any, part: int, owner: int, keys: Any, level: int) -> None:
    """Make the keys of those of `n` lanes that hold anything outside a component."""
    for lane in range(keys.shape[1]):
        outside = (lane < n) & (owners[part, lane] != owner)
        keys[level, lane] = (bits[lane] & -MOST_LANES) | lane if outside else _NO_KEY


@loop
def find_ways_out(
    formula: Any, tree: Any, owners: Any, owners_below: Any, shortest: Any, first: int, stop: int,
    reach: Any, mates: Any,
) -> int:  # fmt: skip
    """Find the nearest two rows outside its component for the rows of some leaves that may beat `shortest`.

    Returns how many bounds and distances were computed.
    """
    n_features, size = tree.leaves.shape[1] - 1, tree.leaves.shape[2]
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    leaves, sizes, boxes, children, lanes = tree.leaves, tree.sizes, tree.boxes, tree.children, tree.lanes
    row, value, root = np.empty(n_features), np.empty(1), tree.root
    # The way from the root to here: at each level the branch, the keys of its children, and the last one visited.
    branches, lasts = np.empty(tree.height, np.int64), np.empty(tree.height, np.int64)
    bounds, keys = np.empty(boxes.shape[3]), np.empty((tree.height, boxes.shape[3]), np.int64)
    totals, leaf_keys = np.empty(size), np.empty((1, size), np.int64)
    bound_bits, total_bits, value_bits = bounds.view(np.int64), totals.view(np.int64), value.view(np.int64)
    # What rows of one component find shortens the search of those that follow.
    previous, to_beat, computed = MIXED, math.inf, 0
    for own in range(first, stop):
        for b in range(sizes[own]):
            place, owner = own * size + b, owners[own, b]
            if owner != previous:
                previous, to_beat = owner, shortest[owner]
            if mates[place, 0] >= 0 or reach[place, 0] >= to_beat:
                continue
            for j in range(n_features):
                row[j] = leaves[own, j, b]
            best, mate, mate_number = to_beat, -1, math.inf
            second, next_mate, next_number = to_beat, -1, math.inf
            value[0] = second
            limit = limit_above(value_bits[0])
            level, child, at_home = -1, ~own, True  # its own leaf first: that leaves little to look for
            while True:
                if child >= 0:
                    level += 1
                    bound_children(bare, weights, row, boxes, child, bounds)
                    make_keys_outside(bound_bits, lanes[child], owners_below, child, owner, keys, level)
                    branches[level], lasts[level] = child, -1
                    computed += lanes[child]
                elif at_home or child != ~own:
                    leaf, at_home = ~child, False
                    compare_with_leaf(bare, weights, row, leaves, leaf, totals)
                    make_keys_outside(total_bits, sizes[leaf], owners, leaf, owner, leaf_keys, 0)
                    computed += sizes[leaf]
                    key = next_key(leaf_keys, 0, -1)
                    while key <= limit:
                        lane = key & (MOST_LANES - 1)
                        found, number = totals[lane], leaves[leaf, n_features, lane]
                        if found < best or (found == best and number < mate_number):
                            second, next_mate, next_number = best, mate, mate_number
                            best, mate, mate_number = found, leaf * size + lane, number
                        elif found < second or (found == second and number < next_number):
                            second, next_mate, next_number = found, leaf * size + lane, number
                        value[0] = second
                        limit = limit_above(value_bits[0])
                        key = next_key(leaf_keys, 0, key)
                if level < 0:
                    child = root
                    continue
                key = next_key(keys, level, lasts[level])
                while key > limit and level > 0:
                    level -= 1
                    key = next_key(keys, level, lasts[level])
                if key > limit:
                    break
                lasts[level] = key
                child = children[branches[level], key & (MOST_LANES - 1)]
            reach[place, 0], mates[place, 0] = best, mate
            reach[place, 1], mates[place, 1] = second, next_mate
            to_beat = min(to_beat, best)
    return computed


@loop
def choose_edges(tree: Any, owners: Any, reach: Any, mates: Any, chosen: Any, shortest: Any) -> None:
    """Replace mates that have joined the component, and choose the shortest known edge out of each component.

    `chosen` is the place of the row where it begins, or −1. Of edges of one length it is the one with the smaller
    row numbers, the smaller of the two compared first.
    """
    sizes, leaves, size = tree.sizes, tree.leaves, tree.leaves.shape[2]
    last = leaves.shape[1] - 1
    for c in range(len(chosen)):
        chosen[c], shortest[c] = -1, math.inf
    for leaf in range(len(sizes)):
        for lane in range(sizes[leaf]):
            place = leaf * size + lane
            mate, c = mates[place, 0], owners[leaf, lane]
            if mate >= 0 and owners[mate // size, mate % size] == c:
                mate = mates[place, 1]
                if mate >= 0 and owners[mate // size, mate % size] == c:
                    mate = -1
                reach[place, 0], mates[place, 0], mates[place, 1] = reach[place, 1], mate, -1
            if mate < 0:
                continue
            length = reach[place, 0]
            if length < shortest[c] or chosen[c] < 0:
                chosen[c], shortest[c] = place, length
            elif length == shortest[c]:
                rival = chosen[c]
                other = mates[rival, 0]
                a, b = leaves[leaf, last, lane], leaves[mate // size, last, mate % size]
                x, y = leaves[rival // size, last, rival % size], leaves[other // size, last, other % size]
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
    tree: Any, owners: Any, reach: Any, mates: Any, chosen: Any, names: Any, n_edges: int, ends: Any, lengths: Any
) -> int:  # fmt: skip
    """Join components by the chosen edges, which are listed; return how many edges there are now.

    `names` are the new numbers of the components.
    """
    leaves, size = tree.leaves, tree.leaves.shape[2]
    last, n = leaves.shape[1] - 1, len(chosen)
    parents = np.arange(n)
    for c in range(n):
        place = chosen[c]
        if place < 0:
            continue
        mate = mates[place, 0]
        a, b = find_root(parents, c), find_root(parents, owners[mate // size, mate % size])
        if a != b:  # else the other component has chosen this edge already, or one as short
            parents[max(a, b)] = min(a, b)
            ends[n_edges, 0] = int(leaves[place // size, last, place % size])
            ends[n_edges, 1] = int(leaves[mate // size, last, mate % size])
            lengths[n_edges] = reach[place, 0]
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

    tree = arrange(given(np.arange(2.0)[:, None]), 2)
    owners, below = np.arange(2)[None, :].copy(), np.full(tree.children.shape, MIXED)
    reach, mates = np.zeros((2, 2)), np.full((2, 2), -1)
    shortest, chosen, names = np.full(2, np.inf), np.empty(2, np.int64), np.empty(2, np.int64)
    places = given(shortest), 0, 1, reach, mates
    find_ways_out(SquaredTerms(), tree, given(owners), given(below), *places)
    choose_edges(tree, given(owners), reach, mates, chosen, shortest)
    ends, lengths = np.empty((1, 2), np.int64), np.empty(1)
    found = given(owners), given(reach), given(mates), given(chosen), names, 0, ends, lengths
    join_components(tree, *found)
    rename_owners(tree, given(names), owners, below)
