"""Compiled steps that arrange rows in the boxes of a k-d tree.

Rows are divided at medians of the coordinate in which they spread most, until what remains fits into a leaf. Only
row numbers are moved, and the partition has no branch that a processor could guess wrongly.
"""

import math
from typing import Any

import numpy as np

from bisector.engine.loops import given, loop
from bisector.search.kd_build import LANES

# From so many rows of a part its spread is estimated.
_SAMPLED = 32

# Rows that go down the cuts together, so that one need not wait for the memory that another reads.
_TOGETHER = 256


@loop
def widest_coordinate(columns: Any, order: Any, start: int, stop: int) -> int:
    """Find the coordinate in which some rows spread most, from a sample of them."""
    step = max(1, (stop - start) // _SAMPLED)
    widest, spread = 0, -1.0
    for j in range(len(columns)):
        lowest, highest = math.inf, -math.inf
        for i in range(start, stop, step):
            value = columns[j, order[i]]
            lowest, highest = min(lowest, value), max(highest, value)
        if highest - lowest > spread:
            widest, spread = j, highest - lowest
    return widest


@loop
def put_smaller_first(column: Any, order: Any, start: int, stop: int, pivot: float) -> int:
    """Put rows whose coordinate is below the pivot before the others; return where these begin."""
    place = start
    for i in range(start, stop):
        row = order[i]
        order[i] = order[place]
        order[place] = row
        place += column[row] < pivot
    return place


@loop
def next_drawn(drawn: int) -> int:
    """Return the next of a sequence of numbers below 2³¹ that look random."""
    return (drawn * 1103515245 + 12345) % 2**31


@loop
def divide_at(column: Any, order: Any, start: int, stop: int, middle: int) -> None:
    """Order rows so that no coordinate before the place `middle` exceeds one from there on: Hoare's selection."""
    drawn = 12345
    while stop - start > 1:
        # The median of three rows drawn at random, always the same: no order of the rows makes this slow.
        a, drawn = column[order[start + drawn % (stop - start)]], next_drawn(drawn)
        b, drawn = column[order[start + drawn % (stop - start)]], next_drawn(drawn)
        c, drawn = column[order[start + drawn % (stop - start)]], next_drawn(drawn)
        pivot = max(min(a, b), min(max(a, b), c))
        place = put_smaller_first(column, order, start, stop, pivot)
        if middle < place:
            stop = place
        elif place > start:
            start = place
        else:  # the pivot is the smallest: those that equal it are one side
            place = put_smaller_first(column, order, start, stop, np.nextafter(pivot, math.inf))
            if middle < place or place == start:  # the latter where values are not numbers
                return
            start = place


@loop
def cut_sample(rows: Any, n: int, coordinates: Any, cuts: Any) -> None:
    """Cut a sample of `n` rows at medians into equal parts.

    Cut c divides into the parts that cuts 2c + 1 and 2c + 2 divide.
    """
    columns, order = np.empty((rows.shape[1], n)), np.empty(n, np.int64)
    step = len(rows) // n
    for i in range(n):
        order[i] = i
        for j in range(rows.shape[1]):
            columns[j, i] = rows[i * step, j]
    first, level = 0, 0
    while first < len(cuts):
        for part in range(1 << level):
            start, stop = (part * n) >> level, ((part + 1) * n) >> level
            middle = ((2 * part + 1) * n) >> (level + 1)
            j = widest_coordinate(columns, order, start, stop)
            divide_at(columns[j], order, start, stop, middle)
            coordinates[first + part] = j
            cuts[first + part] = columns[j, order[middle]]
        first, level = 2 * first + 1, level + 1


@loop
def find_cells(
    rows: Any, first: int, stop: int, coordinates: Any, cuts: Any, cells: Any, counts: Any
) -> None:
    """Find the cells into which cuts divide consecutive rows, and add to how many each holds."""
    reached = np.empty(_TOGETHER, np.int64)
    for start in range(first, stop, _TOGETHER):
        n = min(_TOGETHER, stop - start)
        for i in range(n):
            reached[i] = 0
        level = 0
        while level < len(cuts):
            for i in range(n):
                cut = reached[i]
                reached[i] = 2 * cut + 1 + (rows[start + i, coordinates[cut]] >= cuts[cut])
            level = 2 * level + 1
        for i in range(n):
            cell = reached[i] - len(cuts)
            cells[start + i] = cell
            counts[cell] += 1


@loop
def list_by_cell(cells: Any, first: int, stop: int, places: Any, order: Any) -> None:
    """Write the numbers of consecutive rows to the places of their cells, which move on."""
    for i in range(first, stop):
        order[places[cells[i]]] = i
        places[cells[i]] += 1


@loop
def leaves_on_the_left(n_leaves: int) -> int:
    """Return how many of two or more leaves go to the first half, so that its branches are full."""
    whole = 1  # as many leaves as the largest full branch below has
    while whole * LANES < n_leaves:
        whole *= LANES
    return (n_leaves // whole + 1) // 2 * whole


@loop
def divide_into_leaves(columns: Any, order: Any, size: int) -> None:
    """Order rows so that each `size` consecutive ones are those of a leaf."""
    # What is still to be divided; the first part of each is divided before the second, so few wait at a time.
    starts, stops = np.empty(64, np.int64), np.empty(64, np.int64)
    starts[0], stops[0] = 0, len(order)
    n_waiting = 1
    while n_waiting > 0:
        start, stop = starts[n_waiting - 1], stops[n_waiting - 1]
        n_leaves = -(-(stop - start) // size)
        if n_leaves <= 1:
            n_waiting -= 1
            continue
        middle = start + size * leaves_on_the_left(n_leaves)
        divide_at(columns[widest_coordinate(columns, order, start, stop)], order, start, stop, middle)
        starts[n_waiting - 1] = middle
        starts[n_waiting], stops[n_waiting] = start, middle
        n_waiting += 1


@loop
def arrange_cell(
    rows: Any, order: Any, start: int, stop: int, first_leaf: int, first_branch: int,
    leaves: Any, sizes: Any, boxes: Any, children: Any, lanes: Any,
) -> None:  # fmt: skip
    """Fill the leaves of one cell, whose rows are listed in ascending order, and the branches just above them."""
    n, n_features, size = stop - start, rows.shape[1], leaves.shape[2]
    columns, places = np.empty((n_features, n)), np.empty(n, np.int64)
    for i in range(n):
        places[i] = i
        for j in range(n_features):
            columns[j, i] = rows[order[start + i], j]
    divide_into_leaves(columns, places, size)
    owners = np.empty(n, np.int64)
    for place in range(n):
        owners[places[place]] = place // size
    # In the order of the rows, so that equally near rows of a leaf are met with the smaller number first.
    n_leaves = -(-n // size)
    for leaf in range(first_leaf, first_leaf + n_leaves):
        sizes[leaf] = 0
    for i in range(n):
        leaf = first_leaf + owners[i]
        b = sizes[leaf]
        sizes[leaf] = b + 1
        leaves[leaf, n_features, b] = order[start + i]
        for j in range(n_features):
            leaves[leaf, j, b] = columns[j, i]
    for leaf in range(n_leaves):
        enclose_leaf(leaves, sizes, first_leaf + leaf, boxes, first_branch + leaf // LANES, leaf % LANES)
        children[first_branch + leaf // LANES, leaf % LANES] = ~(first_leaf + leaf)
        lanes[first_branch + leaf // LANES] = leaf % LANES + 1


@loop
def enclose_leaf(leaves: Any, sizes: Any, leaf: int, boxes: Any, branch: int, lane: int) -> None:
    """Set the box of a leaf; repeat a row in places where the leaf has none, so that nothing there overflows."""
    for j in range(boxes.shape[1]):
        lowest, highest = math.inf, -math.inf
        for b in range(sizes[leaf]):
            value = leaves[leaf, j, b]
            lowest, highest = min(lowest, value), max(highest, value)
        boxes[branch, j, 0, lane], boxes[branch, j, 1, lane] = lowest, highest
        for b in range(sizes[leaf], leaves.shape[2]):
            leaves[leaf, j, b] = leaves[leaf, j, 0]


def warm() -> None:
    """Compile the loops of this module."""
    row, one, numbers = given(np.ones((2, 1))), np.ones(1), np.zeros(2, np.int64)
    counts = np.zeros(2, np.int64)
    cut_sample(row, 2, numbers[:1], one)
    find_cells(row, 0, 2, given(numbers[:1]), given(one), cells := np.empty(2, np.uint16), counts)
    list_by_cell(given(cells, np.uint16), 0, 2, np.zeros(2, np.int64), numbers)
    leaves, boxes, lanes = np.empty((2, 2, 1)), np.empty((1, 1, 2, LANES)), np.empty((1, LANES), np.int64)
    arrange_cell(row, given(np.arange(2)), 0, 2, 0, 0, leaves, counts, boxes, lanes, np.empty(1, np.int64))
