"""Compiled steps that merge clusters known by their middles, without a matrix.

Middles stand column-wise. The linkage of clusters i and j is w·‖cᵢ − cⱼ‖² with w = 2nᵢnⱼ/(nᵢ + nⱼ) for Ward's
linkage and w = 1 for centroid and median linkage. A cluster that is no more has infinite coordinates.
"""

import math
from typing import Any

import numpy as np

from bisector.engine.loops import given, loop

# Columns that are compared with a row at a time.
_TILE = 512
# Less than what rounding of a few products can change.
_SLACK = 1.0 - 1e-14


@loop
def square_apart(columns: Any, start: int, row: Any, squares: Any) -> None:
    """Set `squares` to the squared distances of one middle to those that stand in the columns from `start` on."""
    n, d = len(squares), len(row)
    for b in range(n):
        squares[b] = 0.0
    whole = d - d % 4
    for j in range(0, whole, 4):
        # Slices of rows, which are contiguous; one of several rows would not be.
        p, q = columns[j, start : start + n], columns[j + 1, start : start + n]
        r, s = columns[j + 2, start : start + n], columns[j + 3, start : start + n]
        x, y, z, w = row[j], row[j + 1], row[j + 2], row[j + 3]
        for b in range(n):
            t, u, v, k = x - p[b], y - q[b], z - r[b], w - s[b]
            squares[b] = squares[b] + t * t + u * u + v * v + k * k
    for j in range(whole, d):
        p, x = columns[j, start : start + n], row[j]
        for b in range(n):
            t = x - p[b]
            squares[b] = squares[b] + t * t


@loop
def weigh(squares: Any, sizes: Any, n_own: float) -> None:
    """Turn squared distances between means into Ward's linkages."""
    for b in range(len(squares)):
        squares[b] *= 2.0 * n_own * sizes[b] / (n_own + sizes[b])


@loop
def lowest_bits(bits: Any) -> int:
    """Return the smallest of some integers."""
    lowest = bits[0]
    for b in range(len(bits)):
        lowest = min(lowest, bits[b])
    return lowest


@loop
def place_of(bits: Any, wanted: int) -> int:
    """Return the first place of a number that is there."""
    for b in range(len(bits)):
        if bits[b] == wanted:
            return b
    return 0


@loop
def find_nearest_middles(
    columns: Any, sizes: Any, ward: bool, asked: Any, first: int, stop: int, nearest: Any, lowest: Any
) -> None:
    """Find the nearest of all clusters for some of them, the first of several."""
    d, m = columns.shape
    squares, row = np.empty(_TILE), np.empty(d)
    bits, best = squares.view(np.int64), np.empty(1)
    best_bits = best.view(np.int64)
    for q in range(first, stop):
        nearest[asked[q]], lowest[asked[q]] = -1, math.inf
    for start in range(0, m, _TILE):
        width = min(_TILE, m - start)
        fewest = sizes[start : start + width].min()
        for q in range(first, stop):
            i = asked[q]
            for j in range(d):
                row[j] = columns[j, i]
            square_apart(columns, start, row, squares[:width])
            if start <= i < start + width:
                squares[i - start] = math.nan  # whose bits are above all others
            smallest = lowest_bits(bits[:width])
            if ward:
                # Nothing here weighs less than it would with the fewest rows; divisions are few then.
                best_bits[0] = smallest
                if best[0] * (2.0 * sizes[i] * fewest / (sizes[i] + fewest)) * _SLACK > lowest[i]:
                    continue
                weigh(squares[:width], sizes[start : start + width], sizes[i])
                smallest = lowest_bits(bits[:width])
            best[0] = lowest[i]
            if smallest < best_bits[0] or nearest[i] < 0:
                best_bits[0] = smallest
                if not math.isnan(best[0]):
                    nearest[i], lowest[i] = start + place_of(bits[:width], smallest), best[0]


@loop
def move_to_middle(columns: Any, sizes: Any, halfway: bool, a: int, b: int) -> None:
    """Put the middle of two clusters in the place of the first, and take the second away."""
    share = 0.5 if halfway else sizes[b] / (sizes[a] + sizes[b])
    for j in range(len(columns)):
        columns[j, a] += share * (columns[j, b] - columns[j, a])
        columns[j, b] = math.inf
    sizes[a] += sizes[b]


@loop
def linkages_of(columns: Any, sizes: Any, ward: bool, i: int, row: Any, out: Any) -> int:
    """Set `out` to the linkages of one cluster to all, NaN to itself; return the nearest."""
    m, bits = len(out), out.view(np.int64)
    for j in range(len(row)):
        row[j] = columns[j, i]
    lowest, place = 0, -1
    for start in range(0, m, _TILE):
        stop = min(m, start + _TILE)
        here = out[start:stop]
        square_apart(columns, start, row, here)
        if ward:
            weigh(here, sizes[start:stop], sizes[i])
        if start <= i < stop:
            out[i] = math.nan
        smallest = lowest_bits(bits[start:stop])
        if place < 0 or smallest < lowest:
            lowest, place = smallest, start
    return place + place_of(bits[place : place + _TILE], lowest)


@loop
def chain_middles(columns: Any, sizes: Any, n_merges: int, merged: Any, levels: Any) -> None:
    """Merge by Ward's linkage pairs that are nearest to each other, found by walking from nearest to nearest."""
    d, m = columns.shape
    chain, out, row, alive = np.empty(m, np.int64), np.empty(m), np.empty(d), np.ones(m, np.bool_)
    length, start = 0, 0
    for step in range(n_merges):
        if length == 0:
            while not alive[start]:
                start += 1
            chain[0], length = start, 1
        while True:
            here = chain[length - 1]
            following = linkages_of(columns, sizes, True, here, row, out)
            if length > 1:
                before = chain[length - 2]
                # A merger may have rounded the way back: never longer than the way here was, but for rounding.
                if out[before] <= out[following] * (1.0 + 1e-14):
                    break
            chain[length] = following
            length += 1
        length -= 2
        a, b = min(here, before), max(here, before)
        merged[step, 0], merged[step, 1], levels[step] = a, b, out[before]
        move_to_middle(columns, sizes, False, a, b)
        alive[b] = False


@loop
def merge_closest_middles(
    columns: Any, sizes: Any, halfway: bool, n_merges: int, nearest: Any, least: Any, merged: Any, levels: Any
) -> None:
    """Merge the two closest clusters, again and again, for linkages that may fall.

    When the nearest of a cluster is merged and what it became is farther, the distance remains as a lower bound,
    and the cluster is compared with all others again only if it is the smallest of all (the idea of Müllner's
    generic algorithm, 2011).
    """
    d, m = columns.shape
    out, row, stale = np.empty(m), np.empty(d), np.zeros(m, np.bool_)
    bits = least.view(np.int64)
    for step in range(n_merges):
        i = place_of(bits, lowest_bits(bits))
        while stale[i]:
            nearest[i] = linkages_of(columns, sizes, False, i, row, out)
            least[i], stale[i] = out[nearest[i]], False
            i = place_of(bits, lowest_bits(bits))
        a, b = min(i, nearest[i]), max(i, nearest[i])
        merged[step, 0], merged[step, 1], levels[step] = a, b, least[i]
        move_to_middle(columns, sizes, halfway, a, b)
        least[b] = math.nan
        nearest[a] = linkages_of(columns, sizes, False, a, row, out)
        least[a], stale[a] = out[nearest[a]], False
        for k in range(m):
            if k != a and out[k] < least[k]:
                nearest[k], least[k], stale[k] = a, out[k], False
            elif nearest[k] == b or (nearest[k] == a and k != a):
                nearest[k], stale[k] = a, out[k] != least[k]


def warm() -> None:
    """Compile the loops of this module."""
    columns, sizes = np.arange(3.0)[None, :].copy(), np.ones(3)
    nearest, lowest = np.empty(3, np.int64), np.empty(3)
    merged, levels = np.empty((2, 2), np.int64), np.empty(2)
    for ward in (True, False):
        find_nearest_middles(given(columns), given(sizes), ward, given(np.arange(3)), 0, 3, nearest, lowest)
    merge_closest_middles(columns.copy(), sizes.copy(), False, 2, nearest, lowest, merged, levels)
    chain_middles(columns, sizes, 2, merged, levels)
