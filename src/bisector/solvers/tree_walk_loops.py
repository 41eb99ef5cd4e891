"""Compiled walks from the root of a tree to a leaf."""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop

# So many rows walk in step: while one waits for a node from memory, the others go on.
_IN_STEP = 16


class WalkedTree(NamedTuple):
    """A tree laid out for walking: the children of a node are neighbours, and a leaf is its own child.

    `threshold` is NaN where a node splits by category; the child of category c is then
    ``first[node] + slots[first_slot[node] + c]``. `usual` is the child of what a node cannot place, `missing` that
    of missing values.
    """

    feature: Any
    threshold: Any
    first: Any
    missing: Any
    usual: Any
    first_slot: Any
    n_slots: Any
    slots: Any


@loop
def _place(tree: Any, node: int, x: float) -> int:
    """Return the child of a missing value or of a category."""
    if tree.threshold[node] == tree.threshold[node]:
        return tree.first[node] + tree.missing[node]
    last = tree.n_slots[node] - 1  # where missing values are kept
    slot = -1
    if x != x:
        slot = tree.slots[tree.first_slot[node] + last]
    elif 0.0 <= x < last and x == np.floor(x):
        slot = tree.slots[tree.first_slot[node] + int(x)]
    if slot == -2:
        return node  # the child would be empty: the row stays
    return tree.first[node] + (tree.usual[node] if slot < 0 else slot)


@loop
def walk_rows(tree: Any, X: Any, start: int, stop: int, leaves: Any) -> None:
    """Set the leaves that the rows from `start` to before `stop` end in."""
    feature, threshold, first = tree.feature, tree.threshold, tree.first
    nodes = np.empty(_IN_STEP, np.int64)
    for base in range(start, stop, _IN_STEP):
        n = min(_IN_STEP, stop - base)
        nodes[:] = 0
        moving = True
        while moving:
            moving = False
            for k in range(n):
                node = nodes[k]
                x, t = X[base + k, feature[node]], threshold[node]
                child = first[node] + (not x <= t)
                if x != x or t != t:
                    child = _place(tree, node, x)
                moving = moving or child != node
                nodes[k] = child
        for k in range(n):
            leaves[base + k] = nodes[k]


@loop
def count_ancestors(parent: Any, leaves: Any, ends: Any) -> None:
    """Set ``ends[i + 1]`` to the number of nodes on the ways of the first i + 1 rows."""
    ends[0] = 0
    for i in range(len(leaves)):
        node, count = leaves[i], 0
        while node >= 0:
            count += 1
            node = parent[node]
        ends[i + 1] = ends[i] + count


@loop
def list_ancestors(parent: Any, leaves: Any, ends: Any, nodes: Any) -> None:
    """Set the nodes on the way of every row, from the root on."""
    for i in range(len(leaves)):
        node, place = leaves[i], ends[i + 1]
        while node >= 0:
            place -= 1
            nodes[place] = node
            node = parent[node]


def warm() -> None:
    """Compile the loops of this module."""
    one = np.zeros(1, np.int64)
    tree = WalkedTree(one, np.full(1, np.inf), one, one, one, one, one, one)
    for dtype in (np.float32, np.float64):
        walk_rows(tree, given(np.zeros((1, 1), dtype)), 0, 1, one)
    count_ancestors(one - 1, one, np.zeros(2, np.int64))
    list_ancestors(one - 1, one, np.array([0, 1]), one)
