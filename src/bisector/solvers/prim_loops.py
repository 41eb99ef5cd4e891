"""Compiled steps of Prim's algorithm: the tree grows by the row nearest to it.

Numbers that are not negative are ordered as the integers that their bits make, of which the smallest of many is
found several at a time; no compiler does that for floating-point numbers, because of NaN.
"""

import math
from typing import Any

import numpy as np

from bisector.distances.tile_loops import gather_row, weigh_columns
from bisector.engine.loops import given, loop

# Rows that are compared with the newest at a time: their coordinates and distances stay in the first-level cache.
_TILE = 512


@loop
def keep_nearer(values: Any, newest: int, best: Any, nearest: Any) -> None:
    """Note where the newest row of the tree is nearer than those before."""
    for b in range(len(values)):
        closer = values[b] < best[b]
        best[b] = values[b] if closer else best[b]
        nearest[b] = newest if closer else nearest[b]


@loop
def smallest_bits(bits: Any) -> int:
    """Return the smallest of some integers."""
    smallest = bits[0]
    for b in range(len(bits)):
        smallest = min(smallest, bits[b])
    return smallest


@loop
def first_of_smallest(bits: Any, numbers: Any, tiles: Any, n: int) -> int:
    """Return the place of the smallest, that with the smallest number if there are several, by tiles' minima."""
    lowest = smallest_bits(tiles[: -(-n // _TILE)])
    place, number = -1, 0
    for t in range(-(-n // _TILE)):
        if tiles[t] == lowest:
            for b in range(t * _TILE, min(n, (t + 1) * _TILE)):
                if bits[b] == lowest and (place < 0 or numbers[b] < number):
                    place, number = b, numbers[b]
    return place


@loop
def grow_tree(formula: Any, rows: Any, ends: Any, lengths: Any) -> None:
    """List the edges of a minimum spanning tree of rows of numbers, in the order in which they join it."""
    n, n_features = rows.shape
    weights, bare = weigh_columns(formula, n_features), formula.bare()
    # Those that are not in the tree yet, column-wise in tiles; who joins makes room for the last.
    n_tiles = -(-n // _TILE)
    columns, numbers = np.zeros((n_tiles, n_features, _TILE)), np.arange(n)
    for i in range(n):
        for j in range(n_features):
            columns[i // _TILE, j, i % _TILE] = rows[i, j]
    best, nearest, row = np.full(n, math.inf), np.zeros(n, np.int64), np.empty(n_features)
    bits, tiles, values = best.view(np.int64), np.empty(n_tiles, np.int64), np.empty(_TILE)
    newest, place, left = 0, 0, n
    for step in range(n - 1):
        left -= 1
        numbers[place], best[place], nearest[place] = numbers[left], best[left], nearest[left]
        for j in range(n_features):
            row[j] = columns[place // _TILE, j, place % _TILE]
            columns[place // _TILE, j, place % _TILE] = columns[left // _TILE, j, left % _TILE]
        for t in range(-(-left // _TILE)):
            start, stop = t * _TILE, min(left, (t + 1) * _TILE)
            gather_row(bare, weights, row, columns[t], values)
            keep_nearer(values[: stop - start], newest, best[start:stop], nearest[start:stop])
            tiles[t] = smallest_bits(bits[start:stop])
        place = first_of_smallest(bits, numbers, tiles, left)
        newest = numbers[place]
        ends[step, 0], ends[step, 1], lengths[step] = nearest[place], newest, best[place]


@loop
def join_nearest(values: Any, newest: int, inside: Any, best: Any, nearest: Any) -> int:
    """Note where the newest row of the tree is nearer than those before; return the row that joins next."""
    following, least = -1, math.inf
    for b in range(len(values)):
        if not inside[b]:
            if values[b] < best[b]:
                best[b], nearest[b] = values[b], newest
            if following < 0 or best[b] < least:
                following, least = b, best[b]
    return following


@loop
def grow_tree_in_matrix(matrix: Any, ends: Any, lengths: Any) -> None:
    """List the edges of a minimum spanning tree whose distances are given, in the order in which they join it."""
    n = len(matrix)
    inside, best, nearest = np.zeros(n, np.bool_), np.full(n, math.inf), np.zeros(n, np.int64)
    newest = 0
    for step in range(n - 1):
        inside[newest] = True
        newest = join_nearest(matrix[newest], newest, inside, best, nearest)
        ends[step, 0], ends[step, 1], lengths[step] = nearest[newest], newest, best[newest]


def warm() -> None:
    """Compile the loops of this module."""
    from bisector.distances import terms

    rows, ends, lengths = given(np.zeros((2, 1))), np.empty((1, 2), np.int64), np.empty(1)
    for formula in (terms.SquaredTerms(), terms.AbsoluteTerms()):
        grow_tree(formula, rows, ends, lengths)
    join_nearest(given(np.zeros(1)), 0, np.zeros(1, np.bool_), np.zeros(1), np.zeros(1, np.int64))
    for kind in (np.float32, np.float64):
        grow_tree_in_matrix(given(np.zeros((2, 2), kind)), ends, lengths)
