"""Compiled steps of merging prototypes.

Squares are added in the order of the coordinates, as Euclidean distance does.

Slots hold prototypes; a merged one takes the smaller of the two slots, the other is empty from then on. Every
slot knows its partner: the nearest prototype of the same class among the later slots, the first of equals. A
slot that must not be merged with its partner waits until it has another.
"""

from typing import Any

import numpy as np

from bisector.engine.loops import given, loop


@loop
def squared_distance(points: Any, i: int, j: int) -> float:
    total = 0.0
    for c in range(points.shape[1]):
        difference = points[i, c] - points[j, c]
        total += difference * difference
    return total


@loop
def find_partner(points: Any, codes: Any, full: Any, i: int, partners: Any, gaps: Any, waiting: Any) -> None:
    """Find the nearest prototype of the same class in a later slot; −1 and infinity if there is none."""
    partners[i], gaps[i], waiting[i] = -1, np.inf, False
    for j in range(i + 1, len(points)):
        if full[j] and codes[j] == codes[i]:
            gap = squared_distance(points, i, j)
            if gap < gaps[i] or partners[i] < 0:
                partners[i], gaps[i] = j, gap


@loop
def find_all_partners(points: Any, codes: Any, full: Any, partners: Any, gaps: Any, waiting: Any) -> None:
    """Find the partners of all slots."""
    for i in range(len(points)):
        find_partner(points, codes, full, i, partners, gaps, waiting)


@loop
def closest_pair(partners: Any, gaps: Any, full: Any, waiting: Any) -> int:
    """Return the first slot of the closest pair, the first of equals; −1 if there is none."""
    first = -1
    for i in range(len(partners)):
        if full[i] and not waiting[i] and partners[i] >= 0 and (first < 0 or gaps[i] < gaps[first]):
            first = i
    return first


@loop
def merge_pair(
    points: Any, codes: Any, full: Any, i: int, j: int, partners: Any, gaps: Any, waiting: Any
) -> None:
    """Put the middle of the prototypes in slots i < j into slot i, empty slot j, and find new partners."""
    for c in range(points.shape[1]):
        points[i, c] = 0.5 * points[i, c] + 0.5 * points[j, c]
    full[j] = False
    find_partner(points, codes, full, i, partners, gaps, waiting)
    for k in range(j):
        if k == i or not full[k] or codes[k] != codes[i]:
            continue
        if partners[k] == i or partners[k] == j:
            find_partner(points, codes, full, k, partners, gaps, waiting)
        elif k < i:
            gap = squared_distance(points, k, i)
            if gap < gaps[k] or (gap == gaps[k] and i < partners[k]):
                partners[k], gaps[k], waiting[k] = i, gap, False


@loop
def find_owners(rows: Any, points: Any, full: Any, owners: Any, nearest: Any) -> None:
    """Find the nearest prototype of each row, the first of equals, and the squared distance to it."""
    for x in range(len(rows)):
        owners[x], nearest[x] = nearest_prototype(rows, x, points, full)


@loop
def nearest_prototype(rows: Any, x: int, points: Any, full: Any) -> Any:
    """Return the slot of the prototype nearest to a row, the first of equals, and the squared distance to it."""
    owner, least = -1, np.inf
    for slot in range(len(points)):
        if full[slot]:
            gap = 0.0
            for c in range(rows.shape[1]):
                difference = rows[x, c] - points[slot, c]
                gap += difference * difference
            if gap < least or owner < 0:
                owner, least = slot, gap
    return owner, least


@loop
def answers_would_stay(
    rows: Any, points: Any, codes: Any, full: Any, i: int, j: int, wanted: Any, owners: Any, nearest: Any,
    new_owners: Any, new_nearest: Any,
) -> bool:  # fmt: skip
    """Tell whether all rows keep their answers if slots i < j are merged; write who would own them then."""
    n_features = points.shape[1]
    middle = np.empty((1, n_features))
    for c in range(n_features):
        middle[0, c] = 0.5 * points[i, c] + 0.5 * points[j, c]
    full[i] = full[j] = False
    stay = True
    for x in range(len(rows)):
        owner, least = owners[x], nearest[x]
        if owner in (i, j):
            owner, least = nearest_prototype(rows, x, points, full)
        gap = 0.0
        for c in range(n_features):
            difference = rows[x, c] - middle[0, c]
            gap += difference * difference
        if gap < least or (gap == least and i < owner) or owner < 0:
            owner, least = i, gap
        if codes[owner] != wanted[x]:
            stay = False
            break
        new_owners[x], new_nearest[x] = owner, least
    full[i] = full[j] = True
    return stay


def warm() -> None:
    """Compile the loops of this module."""
    rows, points = given(np.zeros((2, 1))), np.zeros((2, 1))
    codes, wanted, full = given(np.zeros(2, np.int64)), given(np.zeros(2, np.int64)), np.ones(2, np.bool_)
    lists = np.zeros(2, np.int64), np.zeros(2), np.zeros(2, np.bool_)
    owners, nearest = np.zeros(2, np.int64), np.zeros(2)
    find_all_partners(points, codes, full, *lists)
    closest_pair(lists[0], lists[1], full, lists[2])
    find_owners(rows, points, full, owners, nearest)
    answers_would_stay(
        rows, points, codes, full, 0, 1, wanted, owners, nearest, owners.copy(), nearest.copy()
    )
    merge_pair(points, codes, full, 0, 1, *lists)
