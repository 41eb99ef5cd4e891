"""Compiled steps of growing a tree: sending rows to children, keeping every order, describing nodes."""

from typing import Any

import numpy as np

from bisector.engine.loops import loop
from bisector.solvers.split_costs_loops import ROW
from bisector.solvers.split_search_loops import MISSING, end_of_present


@loop
def rank_column(column: Any, order: Any, records: Any, values: Any) -> int:
    """Write the records of a column that `order` sorts, missing values last; return how many values it has."""
    rank = -1
    for i in range(len(order)):
        value = column[order[i]]
        if np.isnan(value):
            records[i] = (MISSING << 32) | order[i]
            continue
        if rank < 0 or value != values[rank]:
            rank += 1
            values[rank] = value
        records[i] = (rank << 32) | order[i]
    return rank + 1


@loop
def describe_nodes(
    targets: Any, rows: Any, starts: Any, stops: Any, weight: Any, total: Any, pure: Any, stats: Any
) -> None:
    """Set what the targets of every node amount to."""
    for j in range(len(starts)):
        weight[j], total[j], pure[j] = targets.describe(rows, starts[j], stops[j], stats[j])


@loop
def send_by_threshold(
    columns: Any, starts: Any, stops: Any, features: Any, at: Any, missing_left: Any, side: Any, ranks: Any
) -> None:
    """Note for every row of a node that is split by a threshold which child it goes to.

    `ranks` are set to those on both sides of the threshold; the second is −1 if only missing values are to the
    right.
    """
    for j in range(len(starts)):
        f, start, stop = features[j], starts[j], stops[j]
        if columns.categories[f] > 0:
            continue
        records = columns.records[f]
        present = end_of_present(records, start, stop)
        border = start + at[j] + 1
        for i in range(start, present):
            side[records[i] & ROW] = i >= border
        for i in range(present, stop):
            side[records[i] & ROW] = not missing_left[j]
        ranks[j, 0] = records[border - 1] >> 32
        ranks[j, 1] = records[border] >> 32 if border < present else -1


@loop
def part_records(
    all_records: Any, first: int, last: int, starts: Any, stops: Any, n_children: Any, side: Any, room: Any
) -> None:
    """Bring the records of every stretch into the order of their children, and keep their order within each."""
    for f in range(first, last):
        records = all_records[f]
        for j in range(len(starts)):
            start, stop = starts[j], stops[j]
            if n_children[j] == 2:
                kept, moved = start, 0
                for i in range(start, stop):
                    record = records[i]
                    right = side[record & ROW]
                    records[kept] = record  # one of the two stays: no branch that could be guessed wrong
                    room[moved] = record
                    kept += 1 - right
                    moved += right
                for i in range(moved):
                    records[kept + i] = room[i]
                continue
            places = np.zeros(n_children[j] + 1, np.int64)
            for i in range(start, stop):
                places[side[records[i] & ROW] + 1] += 1
            for child in range(n_children[j]):
                places[child + 1] += places[child]
            for i in range(start, stop):
                child = side[records[i] & ROW]
                room[places[child]] = records[i]
                places[child] += 1
            for i in range(stop - start):
                records[start + i] = room[i]


@loop
def count_children(
    rows: Any, starts: Any, stops: Any, n_children: Any, side: Any, first: Any, counts: Any
) -> None:
    """Count the rows of every child; those of node j from ``first[j]`` on."""
    for j in range(len(starts)):
        for child in range(n_children[j]):
            counts[first[j] + child] = 0
        for i in range(starts[j], stops[j]):
            counts[first[j] + side[rows[i]]] += 1


@loop
def note_places(orders: Any, starts: Any, stops: Any, places: Any) -> None:
    """Note where in the order of its targets each row of the nodes stands."""
    for o in range(len(orders)):
        for j in range(len(starts)):
            for i in range(starts[j], stops[j]):
                places[o, orders[o, i]] = i


def warm() -> None:
    """Compile the loops that trees grow by: for classes, squares and absolute errors."""
    from bisector.solvers.deviation_costs_loops import AbsoluteTargets
    from bisector.solvers.grow_tree import Limits, grow_tree
    from bisector.solvers.impurities import class_impurity
    from bisector.solvers.sort_columns import sort_columns
    from bisector.solvers.split_costs_loops import LabelTargets, SquaredTargets

    X, y = np.array([[0.0], [1.0], [2.0], [np.nan]]), np.array([[0.0, 1.0, 0.0, 1.0]])
    places, none = np.arange(4)[None], np.empty(0)
    kinds = [
        LabelTargets(class_impurity(name, 2, None, 4), y.astype(np.int16), none, np.array([2]))
        for name in ("gini", "entropy", "sqrt-gini", "minority")
    ]
    for targets in (*kinds, SquaredTargets(y, none), AbsoluteTargets(y, none, places.copy(), places.copy())):
        columns = sort_columns(lambda f: X[:, f], 4, np.zeros(1, np.int64))
        width = 2 if isinstance(targets, LabelTargets) else 1
        grow_tree(targets, columns, Limits(), n_rows=4, stats_shape=(1, width))
