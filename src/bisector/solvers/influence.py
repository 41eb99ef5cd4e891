"""Condensing by influence (LFD, Problem 6.12).

The influence set of a row n holds the rows m of its class that are nearer to n than to any row of another
class, n itself left out. The row with the largest set is kept and its set removed, both are struck out of the
other sets, and so on until all sets are empty. What is removed stays nearer to the row it was removed for than
to any row of another class, so the remaining rows are training-set consistent.

Sets are never stored. Their sizes are counted from tiles of distances, and a row that leaves the sets takes its
share of the counts away, by the distances to it: at most two distances for each pair of a class, and memory for
n numbers. No class has to do with the sets of another, so each is condensed by itself.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel
from bisector.search.brute_force import EveryRow

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Influence:
    """The influence sets of one class.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Those of the class.
    radii : ndarray of shape (n_rows,)
        The reduced distance from each to the nearest row of another class.
    n_jobs : int, optional

    Attributes
    ----------
    counts : ndarray of int of shape (n_rows,)
        How many rows the influence set of each row holds now.
    """

    def __init__(self, distance: Distance, rows: Rows, radii: Floats, n_jobs: int | None = None) -> None:
        self.distance, self.rows, self.radii, self.n_jobs = distance, rows, radii, n_jobs
        self.counts = np.zeros(len(rows), dtype=np.int64)
        self._to_row = distance.between(rows, rows, flipped=True)
        self._in_sets = np.ones(len(rows), dtype=bool)
        self._add(np.arange(len(rows)), 1)

    def members(self, row: int) -> Integers:
        """List the influence set of a row."""
        distances = np.empty((1, len(self.rows)))
        self._to_row.fill(range(row, row + 1), range(len(self.rows)), distances)
        inside = (distances[0] < self.radii) & self._in_sets
        inside[row] = False
        return np.flatnonzero(inside)

    def strike_out(self, leaving: Integers) -> None:
        """Take rows out of all influence sets."""
        leaving = leaving[self._in_sets[leaving]]
        self._in_sets[leaving] = False
        self._add(leaving, -1)

    def _add(self, members: Integers, step: int) -> None:
        """Count rows in the influence sets that they are members of."""
        from bisector.engine.loops import given
        from bisector.solvers.condense_loops import count_influence

        pairs = self.distance.between(self.rows.take(members), self.rows)
        height, width = pairs.tile_shape

        def count(inner: range) -> None:
            tile = np.empty((min(height, len(members)), len(inner)))
            for outer in cut(len(members), height):
                pairs.fill(outer, inner, tile)
                some = members[outer.start : outer.stop]
                count_influence(
                    given(tile),
                    given(some),
                    given(self.radii[some]),
                    inner.start,
                    len(inner),
                    step,
                    self.counts,
                )

        parallel(count, cut(len(self.rows), width), n_jobs=self.n_jobs)


def condense_by_influence(
    distance: Distance, rows: Rows, codes: Integers, *, n_jobs: int | None = None
) -> Integers:
    """Return the numbers of the rows that remain, in ascending order.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    codes : ndarray of int of shape (n_rows,)
        The class of each row.
    n_jobs : int, optional
    """
    kept = []
    for code in np.unique(codes):
        own = np.flatnonzero(codes == code)
        kept.append(own[_remaining(distance, rows, own, np.flatnonzero(codes != code), n_jobs)])
    return np.sort(np.concatenate(kept))


def _remaining(
    distance: Distance, rows: Rows, own: Integers, others: Integers, n_jobs: int | None
) -> NDArray[np.bool_]:
    """Tell which rows of one class remain."""
    of_class = rows.take(own)
    radii = np.full(len(own), np.inf)
    if len(others):
        radii = EveryRow(distance, rows.take(others)).nearest(of_class, 1, None, n_jobs).reduced[:, 0]
    influence = Influence(distance, of_class, radii, n_jobs)
    remaining = np.ones(len(own), dtype=bool)
    while True:
        counts = np.where(remaining, influence.counts, 0)
        largest = int(np.argmax(counts))
        if not counts[largest]:
            return remaining
        removed = influence.members(largest)
        remaining[removed] = False
        influence.strike_out(np.append(removed, largest))
