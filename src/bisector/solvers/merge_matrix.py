"""Merging clusters whose linkages stand in a matrix.

For a reducible linkage (`bisector.solvers.linkages`) two clusters that are nearest to each other stay so whatever
else is merged. So all such pairs are merged at once, in **rounds**: a round reads the matrix once, row by row, and
writes the smaller matrix of the next in its place, in the order of memory, on all threads. A tenth of the clusters
or more go in each round, so that all rounds together read a few times what the first one did. Where a round would
merge few, because distances grow along a line, the rest is merged pair by pair along **chains** of nearest
neighbours, which takes O(m²) for m clusters in any case.

For centroid and median linkage the closest pair of all has to be merged each time.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.reductions import cut
from bisector.engine.progress import track
from bisector.engine.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A round is worth while if it merges at least one cluster in so many.
_SHARE = 16
# So few clusters are merged pair by pair.
_FEW = 64
# Rows that are written before they take the place of old ones, and bytes they may take.
_ROWS_AT_ONCE, _STAGED_BYTES = 16, 2**24


class Merged(NamedTuple):
    """Merges in the order in which they were made.

    Attributes
    ----------
    pairs : ndarray of int of shape (n_rows - 1, 2)
        Which clusters became one, each named by the smallest of its rows.
    levels : ndarray of shape (n_rows - 1,)
        Their linkage.
    """

    pairs: Integers
    levels: Floats


class RoundPlan(NamedTuple):
    """What becomes of clusters in a round.

    Attributes
    ----------
    firsts, seconds : ndarray of int
        For each new cluster the old ones it is made of; twice the same where it stays what it was.
    levels : ndarray
        Their linkage.
    paired : ndarray of int
        Which new clusters are made of two.
    n_firsts, n_seconds, sizes : ndarray
        How many rows the two have, and the new one.
    """

    firsts: Integers
    seconds: Integers
    levels: Floats
    paired: Integers
    n_firsts: Floats
    n_seconds: Floats
    sizes: Floats


def merge_in_matrix(formula: Any, matrix: NDArray[Any], *, n_jobs: int | None = None) -> Merged:
    """Merge clusters, from single rows on, until one is left.

    Parameters
    ----------
    formula : lowered linkage
    matrix : ndarray of shape (n_rows, n_rows)
        float32 or float64, symmetric, not negative, of the values that the formula works on; it is overwritten.
    n_jobs : int, optional

    Returns
    -------
    Merged
    """
    np.fill_diagonal(matrix, np.nan)
    state = _Clusters(formula, matrix, n_jobs)
    with track("merging", total=len(matrix)) as bar:
        if formula.reducible:
            while state.n > _FEW and (plan := state.plan()) is not None:
                bar.advance(state.n - len(plan.firsts))
                state.carry_out(plan)
        state.merge_rest()
    return Merged(np.concatenate(state.pairs), np.concatenate(state.levels))


class _Clusters:
    """The clusters that are left, in the order of their smallest rows, and what was merged."""

    def __init__(self, formula: Any, matrix: NDArray[Any], n_jobs: int | None) -> None:
        self.formula, self.memory, self.n_jobs = formula, matrix.reshape(-1), n_jobs
        self.n = len(matrix)
        self.names, self.sizes = np.arange(self.n), np.ones(self.n)
        self.pairs: list[Integers] = [np.empty((0, 2), dtype=np.int64)]
        self.levels: list[Floats] = [np.empty(0)]
        self.integers = np.dtype(f"i{matrix.itemsize}")
        self.nearest, self.lowest = np.empty(self.n, dtype=np.int64), np.empty(self.n)
        if formula.reducible and self.n > _FEW:
            self._find_nearest()

    @property
    def matrix(self) -> NDArray[Any]:
        """The linkages between the clusters that are left."""
        return self.memory[: self.n * self.n].reshape(self.n, self.n)

    def _find_nearest(self) -> None:
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import find_nearest

        matrix, dead = self.matrix, given(np.zeros(self.n, self.integers), self.integers)
        rows, bits = given(matrix), given(matrix.view(self.integers), self.integers)

        def find(part: range) -> None:
            find_nearest(rows, bits, dead, part.start, part.stop, self.nearest, self.lowest)

        parallel(find, cut(self.n, _ROWS_AT_ONCE), n_jobs=self.n_jobs)

    def plan(self) -> RoundPlan | None:
        """Pair the clusters that are nearest to each other, if these are many."""
        every = np.arange(self.n)
        nearest = self.nearest[: self.n]
        chosen = np.flatnonzero((nearest[nearest] == every) & (every < nearest))
        if len(chosen) * _SHARE < self.n:
            return None
        stays = np.ones(self.n, dtype=bool)
        stays[nearest[chosen]] = False
        firsts = np.flatnonzero(stays)
        seconds, paired = firsts.copy(), np.searchsorted(firsts, chosen)
        seconds[paired] = nearest[chosen]
        levels = np.zeros(len(firsts))
        levels[paired] = self.lowest[chosen]
        self._note(chosen, nearest[chosen], levels[paired])
        sizes = self.sizes[firsts]
        sizes[paired] += self.sizes[nearest[chosen]]
        return RoundPlan(firsts, seconds, levels, paired, self.sizes[firsts], self.sizes[seconds], sizes)

    def _note(self, firsts: Integers, seconds: Integers, levels: Floats) -> None:
        self.pairs.append(np.stack([self.names[firsts], self.names[seconds]], axis=1))
        self.levels.append(levels)

    def carry_out(self, plan: RoundPlan) -> None:
        """Write the new matrix in the place of the old one, some rows at a time.

        A new row needs no old row before its own place, so that what it overwrites is not needed any more once all
        rows of its time are written elsewhere.
        """
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import join_rows

        m = len(plan.firsts)
        old, sizes = given(self.matrix), given(self.sizes)
        # Places without a sign are not looked at for being negative, which would be taken from the end.
        places = (given(numbers.astype(np.uint64), np.uint64) for numbers in plan[:2])
        plan = RoundPlan(*places, *map(given, plan[2:]))
        dead = given(np.zeros(m, self.integers), self.integers)
        at_once = min(m, max(2 * _ROWS_AT_ONCE, _STAGED_BYTES // (m * old.itemsize)))
        stage = np.empty((at_once, m), dtype=old.dtype)
        for rows in cut(m, at_once):

            def write(part: range, rows: range = rows) -> None:
                out = stage[part.start : part.stop]
                first, stop = rows.start + part.start, rows.start + part.stop
                bits = given(out.view(self.integers), self.integers)
                places = first, stop, out, bits, dead, self.nearest, self.lowest
                join_rows(self.formula, old, sizes, plan, *places)

            def put(part: range, rows: range = rows) -> None:
                first = (rows.start + part.start) * m
                self.memory[first : first + len(part) * m] = stage[part.start : part.stop].reshape(-1)

            parts = cut(len(rows), _ROWS_AT_ONCE)
            parallel(write, parts, n_jobs=self.n_jobs)
            parallel(put, parts, n_jobs=self.n_jobs)
        self.names, self.sizes, self.n = self.names[plan.firsts.astype(np.int64)], plan.sizes.copy(), m

    def merge_rest(self) -> None:
        """Merge what is left pair by pair; the dead are removed when they are half."""
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import merge_along_chain, merge_closest

        merge = merge_along_chain if self.formula.reducible else merge_closest
        death = int(np.array(np.nan, dtype=self.memory.dtype).view(self.integers))
        while self.n > 1:
            n_merges = self.n - 1 if self.n <= _FEW else self.n // 2
            merged, levels = np.empty((n_merges, 2), dtype=np.int64), np.empty(n_merges)
            dead, matrix = np.zeros(self.n, dtype=self.integers), self.matrix
            bits = given(matrix.view(self.integers), self.integers)
            merge(self.formula, matrix, bits, self.sizes, dead, death, n_merges, merged, levels)
            self._note(merged[:, 0], merged[:, 1], levels)
            alive = np.flatnonzero(dead == 0)
            kept = matrix[np.ix_(alive, alive)]
            self.names, self.sizes, self.n = self.names[alive], self.sizes[alive], len(alive)
            self.memory[: kept.size] = kept.reshape(-1)
