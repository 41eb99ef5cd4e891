"""Compiled walks through a tree: from the root to a leaf, and from node to node."""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop

# So many rows walk in step: while one waits for a node from memory, the others go on.
_IN_STEP = 16
# The lower half of a step.
CHILD = 0xFFFFFFFF


class WalkedTree(NamedTuple):
    """A tree laid out for walking: the children of a node are neighbours.

    `step` holds the feature in the upper half of 64 bits and the first child in the lower; −1 at leaves.
    `threshold` is NaN where a node splits by category; the child of category c is then the first child or the
    one so many places after it as ``slots[first_slot[node] + c]`` says. `usual` is the child of what a node
    cannot place, `missing` that of missing values.
    """

    step: Any
    threshold: Any
    missing: Any
    usual: Any
    first_slot: Any
    n_slots: Any
    slots: Any


@loop
def _place(tree: Any, node: int, x: float) -> int:
    """Return the child of a missing value or of a category."""
    first = tree.step[node] & CHILD
    if tree.threshold[node] == tree.threshold[node]:
        return first + tree.missing[node]
    last = tree.n_slots[node] - 1  # where missing values are kept
    slot = -1
    if x != x:
        slot = tree.slots[tree.first_slot[node] + last]
    elif 0.0 <= x < last and x == np.floor(x):
        slot = tree.slots[tree.first_slot[node] + int(x)]
    if slot == -2:
        return node  # the child would be empty: the row stays
    return first + (tree.usual[node] if slot < 0 else slot)


@loop
def walk_rows(tree: Any, values: Any, n_features: int, start: int, stop: int, leaves: Any) -> None:
    """Set the leaves that the rows from `start` to before `stop` end in.

    `values` are all rows, one after the other. Some walk side by side; one that arrives makes room for the next.
    """
    steps, threshold = tree.step, tree.threshold
    nodes, rows = np.zeros(_IN_STEP, np.uint32), np.empty(_IN_STEP, np.int64)
    counts = np.empty(_IN_STEP, np.int64)
    for k in range(_IN_STEP):
        # Where there are too few rows, one walks more than once, and counts once.
        rows[k], counts[k] = min(start + k, stop - 1), start + k < stop
    following, remaining = start + _IN_STEP, stop - start
    while remaining > 0:
        for k in range(_IN_STEP):
            node = nodes[k]
            step = steps[node]
            arrived = step < 0
            if step >= 0:
                # Unsigned, since a place that could be negative would be looked at twice.
                x, t = values[np.uint64(rows[k] * n_features + (step >> 32))], threshold[node]
                child = (step & CHILD) + (not x <= t)
                if x != x or t != t:
                    child = _place(tree, node, x)
                    arrived = child == node
                nodes[k] = child
            if arrived:
                leaves[rows[k]] = node
                remaining -= counts[k]
                nodes[k] = 0
                if following < stop:
                    rows[k] = following
                    following += 1
                else:
                    counts[k] = 0


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


@loop
def list_in_preorder(first_child: Any, n_children: Any, children: Any, numbers: Any) -> None:
    """Write the nodes so that each comes before all that is below it, and elder siblings before younger ones."""
    waiting = np.zeros(len(numbers), np.int64)  # the root, at first
    n_waiting, place = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        numbers[place] = node
        place += 1
        for c in range(n_children[node] - 1, -1, -1):  # the last one to wait is the next to come
            waiting[n_waiting] = children[first_child[node] + c]
            n_waiting += 1


def warm() -> None:
    """Compile the loops of this module."""
    one = np.zeros(1, np.int64)
    list_in_preorder(given(one), given(one), given(one), one.copy())
    tree = WalkedTree(one - 1, np.zeros(1), one, one, one, one, one)
    for dtype in (np.float32, np.float64):
        walk_rows(tree, given(np.zeros(1, dtype)), 1, 0, 1, one.copy())
    count_ancestors(one - 1, one, np.zeros(2, np.int64))
    list_ancestors(one - 1, one, np.array([0, 1]), one)
