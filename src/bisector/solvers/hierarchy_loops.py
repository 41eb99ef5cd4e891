"""Compiled walks through hierarchies of merges, none of which calls itself."""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def number_merges(pairs: Any, children: Any, sizes: Any) -> None:
    """Number clusters: rows by themselves, the cluster that merge i makes by the number of rows plus i."""
    n = len(pairs) + 1
    parents, clusters, counts = np.arange(n), np.arange(n), np.ones(n, np.int64)
    for i in range(n - 1):
        a, b = pairs[i, 0], pairs[i, 1]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        children[i, 0], children[i, 1] = min(clusters[a], clusters[b]), max(clusters[a], clusters[b])
        if counts[a] < counts[b]:
            a, b = b, a
        parents[b] = a
        counts[a] += counts[b]
        clusters[a], sizes[i] = n + i, counts[a]


@loop
def raise_levels(pairs: Any, levels: Any) -> None:
    """Lift levels that rounding has put below those of the parts; clusters are named by their smallest rows."""
    reached = np.zeros(len(pairs) + 1)
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        levels[i] = max(levels[i], reached[a], reached[b])
        reached[a] = levels[i]


@loop
def label_leaves(children: Any, joined: Any, labels: Any) -> int:
    """Label rows by the clusters of the merges that are `joined`, numbered by their first rows; return how many."""
    n = len(children) + 1
    tops = np.arange(2 * n - 1)
    for i in range(
        n - 2, -1, -1
    ):  # from above, so that what a cluster belongs to is known before its parts are asked
        if joined[i]:
            tops[children[i, 0]] = tops[n + i]
            tops[children[i, 1]] = tops[n + i]
    names, count = np.full(2 * n - 1, -1), 0
    for row in range(n):
        top = tops[row]
        if names[top] < 0:
            names[top] = count
            count += 1
        labels[row] = names[top]
    return count


@loop
def order_leaves(children: Any, order: Any) -> None:
    """List rows as they stand below the dendrogram, the first child's before the second's."""
    n = len(children) + 1
    waiting, n_waiting, place = np.empty(n, np.int64), 1, 0
    waiting[0] = 2 * n - 2
    while n_waiting > 0:
        n_waiting -= 1
        node = waiting[n_waiting]
        if node < n:
            order[place] = node
            place += 1
        else:
            waiting[n_waiting], waiting[n_waiting + 1] = children[node - n, 1], children[node - n, 0]
            n_waiting += 2


@loop
def list_cophenetic(children: Any, sizes: Any, levels: Any, order: Any, distances: Any) -> None:
    """Fill a condensed matrix with the levels at which two rows first are in one cluster.

    `order` are the rows as they stand below the dendrogram, so that those of a cluster are consecutive.
    """
    n = len(children) + 1
    starts, places = np.empty(2 * n - 1, np.int64), np.empty(n, np.int64)
    for place in range(n):
        places[order[place]] = place
        starts[order[place]] = place
    for i in range(n - 1):
        a, b = children[i, 0], children[i, 1]
        n_a = 1 if a < n else sizes[a - n]
        n_b = 1 if b < n else sizes[b - n]
        starts[n + i] = min(starts[a], starts[b])
        for p in range(starts[a], starts[a] + n_a):
            for q in range(starts[b], starts[b] + n_b):
                x, y = min(order[p], order[q]), max(order[p], order[q])
                distances[n * x - x * (x + 1) // 2 + y - x - 1] = levels[i]


def warm() -> None:
    """Compile the loops of this module."""
    pairs, numbers = given(np.array([[0, 1]])), np.empty(2, np.int64)
    number_merges(pairs, np.empty((1, 2), np.int64), numbers[:1])
    raise_levels(pairs, np.ones(1))
    label_leaves(pairs, given(np.ones(1, np.bool_)), numbers)
    order_leaves(pairs, numbers)
    sizes, levels = given(np.full(1, 2)), given(np.ones(1))
    list_cophenetic(pairs, sizes, levels, given(np.arange(2)), np.empty(1))
