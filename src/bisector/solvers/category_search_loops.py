"""Compiled search for the best split by category.

Into two groups: in the order of their mean target, the best of all groupings is among the n − 1 places for two
classes and for squares (Breiman et al., 1984, theorem 4.5). With more classes the shares of every class in turn
order the categories, which may miss the best grouping. Or into one child a value. Missing values are one more
category.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import loop
from bisector.solvers.split_costs_loops import ROW
from bisector.solvers.split_search_loops import MISSING, choose_place

# The place of a split into one child a value.
EVERY_VALUE = -2
# The slot of a value whose child would be empty: it takes the label of the node itself.
NO_ROWS = -2
# What rows are sent by: places among the children.
MOST_CHILDREN = 2**15 - 1


@loop
def arrange_categories(targets: Any, records: Any, start: int, stop: int, which: int, arranged: Any) -> int:
    """Copy a stretch of records with its categories in the order of their mean keys; ranks number them anew."""
    n_runs = 1
    for i in range(start + 1, stop):
        n_runs += (records[i] >> 32) != (records[i - 1] >> 32)
    means, firsts = np.empty(n_runs), np.empty(n_runs + 1, np.int64)
    run, total, weight = 0, 0.0, 0.0
    firsts[0] = start
    weighted = len(targets.weights) > 0
    for i in range(start, stop):
        row = records[i] & ROW
        w = targets.weights[row] if weighted else 1.0
        total += w * targets.key(row, which)
        weight += w
        if i + 1 == stop or (records[i] >> 32) != (records[i + 1] >> 32):
            means[run] = total / weight
            run += 1
            firsts[run] = i + 1
            total, weight = 0.0, 0.0
    filled = 0
    for rank, run in enumerate(np.argsort(means, kind="mergesort")):
        for i in range(firsts[run], firsts[run + 1]):
            arranged[filled] = (rank << 32) | (records[i] & ROW)
            filled += 1
    return n_runs


@loop
def search_categories(
    targets: Any, columns: Any, nodes: Any, rules: Any, scratch: Any, first: int, last: int, found: Any
) -> None:
    """Find the best grouping for all open nodes on the features of categories from `first` to before `last`."""
    for f in range(first, last):
        for j in range(len(nodes.start)):
            if columns.categories[f] == 0 or not nodes.allowed[j % len(nodes.allowed), f]:
                continue
            start, stop = nodes.start[j], nodes.stop[j]
            if columns.records[f, start] >> 32 == columns.records[f, stop - 1] >> 32:
                continue
            if rules.multiway:
                _search_every_value(targets, columns, nodes, rules, scratch, f, j, found)
            else:
                _search_groups(targets, columns, nodes, rules, scratch, f, j, found)


@loop
def _search_groups(
    targets: Any, columns: Any, nodes: Any, rules: Any, scratch: Any, f: int, j: int, found: Any
) -> None:
    records, start, stop = columns.records[f], nodes.start[j], nodes.stop[j]
    n = stop - start
    for which in range(targets.n_keys()):
        arrange_categories(targets, records, start, stop, which, scratch.records)
        targets.fill(scratch, scratch.records, 0, n, n, False, nodes.stats[j], nodes.weight[j], start)
        low, high = rules.min_leaf - 1, min(n - 1, n - rules.min_leaf)
        choose_place(
            targets.level(nodes.stats[j]),
            nodes,
            rules,
            scratch,
            scratch.records,
            0,
            low,
            high,
            n,
            f,
            j,
            found,
            False,
            which,
        )


@loop
def _search_every_value(
    targets: Any, columns: Any, nodes: Any, rules: Any, scratch: Any, f: int, j: int, found: Any
) -> None:
    records, start, stop = columns.records[f], nodes.start[j], nodes.stop[j]
    weighted = len(targets.weights) > 0
    run, weight, children = 0, 0.0, 0
    for i in range(start, stop):
        run += 1
        weight += targets.weights[records[i] & ROW] if weighted else 1.0
        if i + 1 == stop or (records[i] >> 32) != (records[i + 1] >> 32):
            if run < rules.min_leaf or weight < rules.min_weight:
                return
            run, weight, children = 0, 0.0, children + 1
    if children <= MOST_CHILDREN:
        found.cost[f, j] = targets.many_cost(scratch, records, start, stop, nodes.stats[j])
        found.at[f, j] = EVERY_VALUE
        found.missing_left[f, j] = False
        found.key[f, j] = 0


@loop
def send_by_category(
    targets: Any, columns: Any, starts: Any, stops: Any, features: Any, at: Any, keys: Any, arranged: Any,
    side: Any, n_children: Any, first_slot: Any, slots: Any,
) -> None:  # fmt: skip
    """Note for every row of a node that is split by category which child it goes to.

    `slots` are set to the child of every category, from ``first_slot[j]`` on; −1 for those without rows, and −2
    where each value has a child of its own, which is then empty.
    """
    for j in range(len(starts)):
        f, start, stop = features[j], starts[j], stops[j]
        last = columns.categories[f]  # where missing values are kept
        if last == 0:
            continue
        records = columns.records[f]
        if at[j] == EVERY_VALUE:
            child = 0
            for i in range(start, stop):
                child += i > start and (records[i] >> 32) != (records[i - 1] >> 32)
                side[records[i] & ROW] = child
            n_children[j] = child + 1
            for code in range(last):
                slots[first_slot[j] + code] = NO_ROWS
        else:
            arrange_categories(targets, records, start, stop, keys[j], arranged)
            for i in range(stop - start):
                side[arranged[i] & ROW] = i > at[j]
        for i in range(start, stop):
            code = records[i] >> 32
            slots[first_slot[j] + (last if code == MISSING else code)] = side[records[i] & ROW]


def warm() -> None:
    """Compile the loops of this module, for classes by the Gini index and for squares."""
    from bisector.solvers.grow_tree import Limits, grow_tree
    from bisector.solvers.impurities import class_impurity
    from bisector.solvers.sort_columns import sort_columns
    from bisector.solvers.split_costs_loops import LabelTargets, SquaredTargets

    X, y, none = np.array([[0.0], [1.0], [2.0], [np.nan]]), np.array([[0.0, 1.0, 0.0, 1.0]]), np.empty(0)
    labels = LabelTargets(class_impurity("gini", 2, None, 4), y.astype(np.int16), none, np.array([2]))
    for targets, width in ((labels, 2), (SquaredTargets(y, none), 1)):
        columns = sort_columns(lambda f: X[:, f], 4, np.array([3]))
        grow_tree(targets, columns, Limits(), n_rows=4, stats_shape=(1, width))
