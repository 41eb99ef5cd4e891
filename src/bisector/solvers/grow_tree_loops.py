"""Compiled steps of growing a tree: sending rows to children, keeping every order, describing nodes."""

from typing import Any

import numpy as np

from bisector.engine.loops import loop
from bisector.solvers.split_costs_loops import ROW
from bisector.solvers.split_search_loops import (
    EVERY_VALUE,
    MISSING,
    arrange_categories,
    end_of_present,
)


# The slot of a value whose child would be empty: it takes the label of the node itself.
NO_ROWS = -2


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
def send_rows(
    targets: Any, columns: Any, starts: Any, stops: Any, features: Any, at: Any, missing_left: Any, keys: Any,
    arranged: Any, side: Any, n_children: Any, ranks: Any, first_slot: Any, slots: Any,
) -> None:  # fmt: skip
    """Note for every row of a node that is split which child it goes to.

    Parameters
    ----------
    ranks : ndarray of shape (n_splits, 2)
        Set to the ranks on both sides of a threshold; the second is −1 if only missing values are to the right.
    slots : ndarray
        Set to the child of every category, from ``first_slot[j]`` on; −1 for those without rows, and −2 where each
        value has a child of its own, which is then empty.
    """
    for j in range(len(starts)):
        f, start, stop = features[j], starts[j], stops[j]
        records = columns.records[f]
        n_children[j] = 2
        if columns.categories[f] == 0:
            present = end_of_present(records, start, stop)
            border = start + at[j] + 1
            for i in range(start, present):
                side[records[i] & ROW] = i >= border
            for i in range(present, stop):
                side[records[i] & ROW] = not missing_left[j]
            ranks[j, 0] = records[border - 1] >> 32
            ranks[j, 1] = records[border] >> 32 if border < present else -1
            continue
        if at[j] == EVERY_VALUE:
            child = 0
            for i in range(start, stop):
                child += i > start and (records[i] >> 32) != (records[i - 1] >> 32)
                side[records[i] & ROW] = child
            n_children[j] = child + 1
        else:
            arrange_categories(targets, records, start, stop, keys[j], arranged)
            for i in range(stop - start):
                side[arranged[i] & ROW] = i > at[j]
        last = columns.categories[f]  # where missing values are kept
        if at[j] == EVERY_VALUE:
            for code in range(last):
                slots[first_slot[j] + code] = NO_ROWS
        for i in range(start, stop):
            code = records[i] >> 32
            slots[first_slot[j] + (last if code == MISSING else code)] = side[records[i] & ROW]


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
def count_children(rows: Any, starts: Any, stops: Any, n_children: Any, side: Any, first: Any, counts: Any) -> None:
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
