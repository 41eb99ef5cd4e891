"""Compiled steps that merge clusters whose linkages stand in a matrix.

The matrix is symmetric to the last bit, with NaN on its diagonal. As integers, the bits of numbers that are not
negative have the order of the numbers, and those of NaN are above all others: so the nearest cluster is found
several at a time, without an exception for the cluster itself. Clusters that are no more are `dead`: bits that make
a number NaN, where those that are alive have none.
"""

import math
from typing import Any

import numpy as np

from bisector.engine.loops import compile_methods, loop

compile_methods(join=lambda self, x, y, between, n_a, n_b, n_k: None)

# Columns that are searched at a time.
_TILE = 512


@loop
def smallest_alive(bits: Any, dead: Any) -> int:
    """Return the smallest of some numbers that are alive."""
    smallest = bits[0] | dead[0]
    for j in range(len(bits)):
        smallest = min(smallest, bits[j] | dead[j])
    return smallest


@loop
def nearest_alive(bits: Any, dead: Any) -> int:
    """Return the place of the smallest number in a row, the first of several."""
    n = len(bits)
    lowest, place = smallest_alive(bits[:_TILE], dead[:_TILE]), 0
    for start in range(_TILE, n, _TILE):
        # Slices, not places from `start` on: those might be negative for all the compiler knows, and be taken from
        # the end one by one.
        value = smallest_alive(bits[start : start + _TILE], dead[start : start + _TILE])
        if value < lowest:
            lowest, place = value, start
    while (bits[place] | dead[place]) != lowest:
        place += 1
    return place


@loop
def find_nearest(matrix: Any, bits: Any, dead: Any, first: int, stop: int, nearest: Any, lowest: Any) -> None:
    """Find the nearest cluster of each of consecutive clusters."""
    for row in range(first, stop):
        nearest[row] = nearest_alive(bits[row], dead)
        lowest[row] = matrix[row, nearest[row]]


@loop
def join_columns(linkage: Any, line: Any, plan: Any, first: int, stop: int, n_own: float) -> None:
    """Join, in the line of one cluster, the columns of the pairs from `first` to `stop`; clear the second one's."""
    for t in range(first, stop):
        p, q = plan.firsts[t], plan.seconds[t]
        line[p] = linkage.join(line[p], line[q], plan.levels[t], plan.n_firsts[t], plan.n_seconds[t], n_own)
        line[q] = math.nan


@loop
def join_lines(
    linkage: Any, x: Any, y: Any, between: float, n_a: float, n_b: float, sizes: Any, out: Any
) -> None:
    """Set `out` to the linkages of two clusters that are merged, to others."""
    for k in range(len(out)):
        out[k] = linkage.join(x[k], y[k], between, n_a, n_b, sizes[k])


@loop
def join_rows(
    linkage: Any, matrix: Any, bits: Any, plan: Any, pair_of: Any, sizes: Any, new_sizes: Any, gone: Any, rows: Any,
    nearest: Any, lowest: Any,
) -> None:  # fmt: skip
    """Carry out a round in the lines of some clusters, in place, and find whoever is now nearest to them.

    Where two pairs meet, the one that comes first is joined first, in whichever line: so the matrix stays symmetric
    to the last bit. No cluster comes nearer by being merged: where neither a cluster nor its nearest was, that one
    stays the nearest.
    """
    n_pairs = len(plan.firsts)
    for r in range(len(rows)):
        i = rows[r]
        line, t = matrix[i], pair_of[i]
        if t < 0:
            join_columns(linkage, line, plan, 0, n_pairs, sizes[i])
        else:
            other = matrix[plan.seconds[t]]
            between, n_a, n_b = plan.levels[t], plan.n_firsts[t], plan.n_seconds[t]
            join_columns(linkage, line, plan, 0, t, n_a)
            join_columns(linkage, other, plan, 0, t, n_b)
            join_lines(linkage, line[:i], other[:i], between, n_a, n_b, new_sizes[:i], line[:i])
            join_lines(linkage, line[i:], other[i:], between, n_a, n_b, sizes[i:], line[i:])
            join_columns(linkage, line, plan, t + 1, n_pairs, n_a + n_b)
            line[i] = line[plan.seconds[t]] = math.nan
        if t >= 0 or pair_of[nearest[i]] >= 0 or gone[nearest[i]] != 0:
            nearest[i] = nearest_alive(bits[i], gone)
            lowest[i] = line[nearest[i]]


@loop
def pick_columns(matrix: Any, rows: Any, columns: Any, out: Any) -> None:
    """Copy some columns of some lines."""
    for r in range(len(rows)):
        line, copied = matrix[rows[r]], out[r]
        for c in range(len(columns)):
            copied[c] = line[columns[c]]


@loop
def merge_pair(
    linkage: Any, matrix: Any, sizes: Any, dead: Any, death: int, a: int, b: int, line: Any
) -> None:
    """Merge cluster b into cluster a, in place."""
    m = len(matrix)
    between = matrix[a, b]
    join_lines(linkage, matrix[a], matrix[b], between, sizes[a], sizes[b], sizes, line)
    dead[b] = death
    for k in range(m):
        matrix[a, k] = line[k]
        if dead[k] == 0:
            matrix[k, a] = line[k]
    matrix[a, a] = math.nan
    sizes[a] += sizes[b]


@loop
def merge_along_chain(
    linkage: Any, matrix: Any, bits: Any, sizes: Any, dead: Any, death: int, n_merges: int, merged: Any, levels: Any
) -> None:  # fmt: skip
    """Merge pairs that are nearest to each other, found by walking from cluster to nearest cluster.

    Each step of the walk is shorter than the one before, so that it ends at such a pair; where it began it goes on.
    """
    m = len(matrix)
    chain, line, length, start = np.empty(m, np.int64), np.empty(m), 0, 0
    for step in range(n_merges):
        if length == 0:
            while dead[start] != 0:
                start += 1
            chain[0], length = start, 1
        while True:
            here = chain[length - 1]
            following = nearest_alive(bits[here], dead)
            if length > 1:
                before = chain[length - 2]
                if matrix[here, before] <= matrix[here, following]:
                    break
            chain[length] = following
            length += 1
        length -= 2
        a, b = min(here, before), max(here, before)
        merged[step, 0], merged[step, 1], levels[step] = a, b, matrix[a, b]
        merge_pair(linkage, matrix, sizes, dead, death, a, b, line)


@loop
def merge_closest(
    linkage: Any, matrix: Any, bits: Any, sizes: Any, dead: Any, death: int, n_merges: int, merged: Any, levels: Any
) -> None:  # fmt: skip
    """Merge the closest pair of all, again and again, for linkages that may fall.

    Every cluster knows its nearest and how far that is. When the nearest is merged and what it became is farther,
    the distance remains as a lower bound, and the row is searched again only if it is the smallest of all
    (the idea of Müllner's generic algorithm, 2011).
    """
    m = len(matrix)
    nearest, least, stale = np.empty(m, np.int64), np.empty(m), np.zeros(m, np.bool_)
    least_bits, lively, line = least.view(np.int64), np.zeros(m, np.int64), np.empty(m)
    for row in range(m):
        nearest[row] = nearest_alive(bits[row], dead)
        least[row] = matrix[row, nearest[row]]
    for step in range(n_merges):
        row = nearest_alive(least_bits, lively)
        while stale[row]:
            nearest[row] = nearest_alive(bits[row], dead)
            least[row], stale[row] = matrix[row, nearest[row]], False
            row = nearest_alive(least_bits, lively)
        a, b = min(row, nearest[row]), max(row, nearest[row])
        merged[step, 0], merged[step, 1], levels[step] = a, b, matrix[a, b]
        merge_pair(linkage, matrix, sizes, dead, death, a, b, line)
        least[b] = math.nan
        for k in range(m):
            if dead[k] == 0 and k != a:
                if line[k] < least[k]:
                    nearest[k], least[k], stale[k] = a, line[k], False
                elif nearest[k] == a or nearest[k] == b:
                    nearest[k], stale[k] = a, line[k] > least[k]
        if step < n_merges - 1:
            nearest[a] = nearest_alive(bits[a], dead)
            least[a], stale[a] = matrix[a, nearest[a]], False


def warm() -> None:
    """Compile the loops of this module for the common linkages."""
    from bisector.solvers.linkages import FORMULAS
    from bisector.solvers.merge_matrix import merge_in_matrix

    for formula in FORMULAS.values():
        for kind in (np.float32, np.float64):
            places = np.arange(80)
            merge_in_matrix(formula, np.abs(places[:, None] - places).astype(kind))
