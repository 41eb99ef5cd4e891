"""Compiled steps of condensing: what becomes of distances to rows that were just kept.

Nearness is an order on pairs (reduced distance, row number): among equally near rows the smaller number is the
nearer, as in every search.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def keep_nearer(tile: Any, numbers: Any, best: Any, owners: Any) -> None:
    """Keep, for each column, the nearest row so far and its reduced distance, after rows of a tile came."""
    for i in range(len(numbers)):
        number = numbers[i]
        for b in range(len(best)):
            value = tile[i, b]
            nearer = (value < best[b]) | ((value == best[b]) & (number < owners[b]))
            best[b] = value if nearer else best[b]
            owners[b] = number if nearer else owners[b]


@loop
def enter_rows(
    tile: Any, numbers: Any, codes: Any, best: Any, nearest: Any, votes: Any, answers: Any
) -> None:
    """Let rows enter the lists of k nearest kept rows, one list for each column, and count the votes anew.

    Lists are in ascending order; empty places are at the end and hold −1. A tie in the votes goes to the
    smallest class.
    """
    n_columns, k = best.shape
    for i in range(len(numbers)):
        number = numbers[i]
        code = codes[number]
        for b in range(n_columns):
            value, last = tile[i, b], nearest[b, k - 1]
            if last >= 0:
                if value > best[b, k - 1] or (value == best[b, k - 1] and number > last):
                    continue
                votes[b, codes[last]] -= 1
            votes[b, code] += 1
            place = k - 1
            while place > 0:
                before = nearest[b, place - 1]
                if before >= 0 and (
                    value > best[b, place - 1] or (value == best[b, place - 1] and number > before)
                ):
                    break
                best[b, place], nearest[b, place] = best[b, place - 1], before
                place -= 1
            best[b, place], nearest[b, place] = value, number
            winner = 0
            for c in range(1, votes.shape[1]):
                if votes[b, c] > votes[b, winner]:
                    winner = c
            answers[b] = winner


@loop
def count_influence(
    tile: Any, members: Any, radii: Any, first: int, n_columns: int, step: int, counts: Any
) -> None:
    """Add `step` to the count of each column, once for each row that is nearer to it than the row's radius.

    Nobody influences itself: columns are rows from `first` on, and the rows of the tile have the numbers
    `members`.
    """
    for i in range(len(members)):
        radius = radii[i]
        for b in range(n_columns):
            counts[first + b] += step * np.int64(tile[i, b] < radius)
        own = members[i] - first
        if 0 <= own < n_columns and tile[i, own] < radius:
            counts[members[i]] -= step


def warm() -> None:
    """Compile the loops of this module."""
    tile, one, none = given(np.ones((1, 1))), given(np.ones(1)), given(np.zeros(1, np.int64))
    keep_nearer(tile, none, np.ones(1), np.zeros(1, np.int64))
    lists = np.ones((1, 1)), np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64), np.zeros(1, np.int64)
    enter_rows(tile, none, none, *lists)
    count_influence(tile, none, one, 0, 1, 1, np.zeros(1, np.int64))
