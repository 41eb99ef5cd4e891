"""Condensing into prototypes: the two closest points of a class become the point between them (LFD, Problem 6.2b).

    (x, c) + (x′, c) → (½(x + x′), c)

Merging goes on down to a number of prototypes; or as long as the nearest prototype gives every row the class
that the nearest row gave it: then a pair whose merger would change an answer is passed over, and the first of
the two waits until another prototype is its nearest (after Chang, 1974). A prototype counts once, however many
rows went into it. Every prototype knows its nearest later one of the same class, and every row its nearest
prototype; a merger changes few of them, so that n rows of d coordinates take about n²d steps, and memory for n
numbers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Merged(NamedTuple):
    """Prototypes, and where each row went.

    Attributes
    ----------
    mergers : ndarray of int of shape (n_mergers, 2)
        Which prototypes were merged, by the first row in each; the smaller stands for both from then on.
    slots : ndarray of int
        The first row of each prototype that is left, ascending.
    answers : ndarray of int of shape (n_rows,)
        The class of the prototype nearest to each row.
    wanted : ndarray of int of shape (n_rows,)
        The class of the row nearest to each row: its own, unless an earlier row at its place has another.
    """

    mergers: Integers
    slots: Integers
    answers: Integers
    wanted: Integers

    @property
    def consistent(self) -> bool:
        """Whether prototypes answer to every row as the rows do."""
        return bool(np.array_equal(self.answers, self.wanted))

    def prototypes(self, values: Floats) -> Floats:
        """Return the prototypes, from the rows in whichever coordinates."""
        points = np.array(values, dtype=np.float64)
        for i, j in self.mergers:
            points[i] = 0.5 * points[i] + 0.5 * points[j]
        return points[self.slots]

    def members(self) -> Integers:
        """Return, for each row, which of the prototypes it went into."""
        went = np.arange(len(self.wanted))
        for i, j in self.mergers[::-1]:
            went[j] = went[i]
        return np.searchsorted(self.slots, went)


def merge_closest(rows: Floats, codes: Integers, n_prototypes: int | None = None) -> Merged:
    """Merge the closest two prototypes of a class, again and again; of equals, the first.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Coordinates in which Euclidean distance tells how close two are.
    codes : ndarray of int of shape (n_rows,)
        The class of each.
    n_prototypes : int, optional
        How many to leave, at least one a class. By default only pairs are merged after which the prototypes still
        answer to every row as the rows do.
    """
    from bisector.engine.loops import given
    from bisector.solvers import merge_prototypes_loops as loops

    n = len(rows)
    fixed, classes = given(rows, np.float64), given(codes, np.int64)
    points, full = np.array(rows, dtype=np.float64, order="C"), np.ones(n, dtype=bool)
    partners, gaps, waiting = np.empty(n, dtype=np.int64), np.empty(n), np.zeros(n, dtype=bool)
    owners, nearest = np.empty(n, dtype=np.int64), np.empty(n)
    loops.find_all_partners(points, classes, full, partners, gaps, waiting)
    loops.find_owners(fixed, points, full, owners, nearest)
    wanted = codes[owners]
    mergers: list[tuple[int, int]] = []
    new_owners, new_nearest = owners.copy(), nearest.copy()
    while n_prototypes is None or n - len(mergers) > n_prototypes:
        i = int(loops.closest_pair(partners, gaps, full, waiting))
        if i < 0:
            break
        j = int(partners[i])
        if n_prototypes is None:
            pair = (points, classes, full, i, j)
            lists = (given(wanted), owners, nearest, new_owners, new_nearest)
            if not loops.answers_would_stay(fixed, *pair, *lists):
                waiting[i] = True
                continue
            owners, new_owners, nearest, new_nearest = new_owners, owners, new_nearest, nearest
        loops.merge_pair(points, classes, full, i, j, partners, gaps, waiting)
        mergers.append((i, j))
    if n_prototypes is not None:
        loops.find_owners(fixed, points, full, owners, nearest)
    return Merged(
        np.array(mergers, dtype=np.int64).reshape(-1, 2), np.flatnonzero(full), codes[owners], wanted
    )
