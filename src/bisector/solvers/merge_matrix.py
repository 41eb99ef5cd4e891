"""Merging clusters whose linkages stand in a matrix.

For a reducible linkage (`bisector.solvers.linkages`) two clusters that are nearest to each other stay so whatever
else is merged. So all such pairs are merged at once, in **rounds**: a round goes through the matrix once, line by
line, on all threads, and changes what the pairs change. A tenth of the clusters or so go in each round; when many
are gone, the lines of the others move together. Where a round would merge few, because distances grow along a line,
the rest is merged pair by pair along **chains** of nearest neighbours, which takes O(m²) for m clusters always.

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
# When fewer of the places have a cluster, lines move together.
_CROWDED = 0.7
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


class MergePlan(NamedTuple):
    """The pairs that a round merges, in the order of their first ones.

    Attributes
    ----------
    firsts, seconds : ndarray of int
        The places of the two, of which the first goes on.
    levels : ndarray
        Their linkage.
    n_firsts, n_seconds : ndarray
        How many rows they have.
    """

    firsts: Integers
    seconds: Integers
    levels: Floats
    n_firsts: Floats
    n_seconds: Floats


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
            while len(state.alive) > _FEW and (plan := state.plan()) is not None:
                bar.advance(len(plan.firsts))
                state.carry_out(plan)
                if len(state.alive) < _CROWDED * state.n:
                    state.move_together()
        state.merge_rest()
    return Merged(np.concatenate(state.pairs), np.concatenate(state.levels))


class _Clusters:
    """The clusters that are left, in the order of their smallest rows, and what was merged.

    A cluster has a place, which is a line and a column of the matrix; `alive` lists the places that still have one.
    """

    def __init__(self, formula: Any, matrix: NDArray[Any], n_jobs: int | None) -> None:
        self.formula, self.memory, self.n_jobs = formula, matrix.reshape(-1), n_jobs
        self.n = len(matrix)
        self.alive = np.arange(self.n)
        self.names, self.sizes = np.arange(self.n), np.ones(self.n)
        self.pairs: list[Integers] = [np.empty((0, 2), dtype=np.int64)]
        self.levels: list[Floats] = [np.empty(0)]
        self.integers = np.dtype(f"i{matrix.itemsize}")
        self.death = int(np.array(np.nan, dtype=matrix.dtype).view(self.integers))
        self.nearest, self.lowest = np.empty(self.n, dtype=np.int64), np.empty(self.n)
        if formula.reducible and self.n > _FEW:
            self._find_nearest()

    @property
    def matrix(self) -> NDArray[Any]:
        """The linkages between the clusters, NaN in the columns of those that are no more."""
        return self.memory[: self.n * self.n].reshape(self.n, self.n)

    def _find_nearest(self) -> None:
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import find_nearest

        matrix, dead = self.matrix, given(np.zeros(self.n, self.integers), self.integers)
        rows, bits = given(matrix), given(matrix.view(self.integers), self.integers)

        def find(part: range) -> None:
            find_nearest(rows, bits, dead, part.start, part.stop, self.nearest, self.lowest)

        parallel(find, cut(self.n, _ROWS_AT_ONCE), n_jobs=self.n_jobs)

    def plan(self) -> MergePlan | None:
        """Pair the clusters that are nearest to each other, if these are many."""
        alive, nearest = self.alive, self.nearest
        firsts = alive[(nearest[nearest[alive]] == alive) & (alive < nearest[alive])]
        if len(firsts) * _SHARE < len(alive):
            return None
        seconds, levels = nearest[firsts], self.lowest[firsts]
        self._note(firsts, seconds, levels)
        return MergePlan(firsts, seconds, levels, self.sizes[firsts], self.sizes[seconds])

    def _note(self, firsts: Integers, seconds: Integers, levels: Floats) -> None:
        self.pairs.append(np.stack([self.names[firsts], self.names[seconds]], axis=1))
        self.levels.append(levels)

    def carry_out(self, plan: MergePlan) -> None:
        """Merge the pairs of a round."""
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import join_rows

        pair_of, gone = np.full(self.n, -1), np.zeros(self.n, self.integers)
        pair_of[plan.firsts], gone[plan.seconds] = np.arange(len(plan.firsts)), self.death
        new_sizes = self.sizes.copy()
        new_sizes[plan.firsts] += plan.n_seconds
        self.alive = self.alive[gone[self.alive] == 0]
        # Places without a sign are not looked at for being negative, which would be taken from the end.
        places = (given(numbers.astype(np.uint64), np.uint64) for numbers in plan[:2])
        pairs = MergePlan(*places, *map(given, plan[2:]))
        matrix, alive = self.matrix, given(self.alive)
        bits = given(matrix.view(self.integers), self.integers)
        fixed = pairs, given(pair_of), given(self.sizes), given(new_sizes), given(gone, self.integers)

        def join(part: range) -> None:
            rows = alive[part.start : part.stop]
            join_rows(self.formula, matrix, bits, *fixed, rows, self.nearest, self.lowest)

        parallel(join, cut(len(alive), _ROWS_AT_ONCE), n_jobs=self.n_jobs)
        self.sizes = new_sizes

    def move_together(self) -> None:
        """Leave the places of clusters that are no more, some lines at a time.

        A line moves to a place before its own, where nothing is needed any more once those of its time are copied.
        """
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import pick_columns

        old, m = given(self.matrix), len(self.alive)
        alive, columns = given(self.alive), given(self.alive.astype(np.uint64), np.uint64)
        at_once = min(m, max(2 * _ROWS_AT_ONCE, _STAGED_BYTES // (m * old.itemsize)))
        stage = np.empty((at_once, m), dtype=old.dtype)
        for rows in cut(m, at_once):

            def copy(part: range, rows: range = rows) -> None:
                numbers = alive[rows.start + part.start : rows.start + part.stop]
                pick_columns(old, numbers, columns, stage[part.start : part.stop])

            def put(part: range, rows: range = rows) -> None:
                first = (rows.start + part.start) * m
                self.memory[first : first + len(part) * m] = stage[part.start : part.stop].reshape(-1)

            parts = cut(len(rows), _ROWS_AT_ONCE)
            parallel(copy, parts, n_jobs=self.n_jobs)
            parallel(put, parts, n_jobs=self.n_jobs)
        self.nearest = np.searchsorted(self.alive, self.nearest[self.alive])
        self.lowest, self.sizes = self.lowest[self.alive], self.sizes[self.alive]
        self.names = self.names[self.alive]
        self.n, self.alive = m, np.arange(m)

    def merge_rest(self) -> None:
        """Merge what is left pair by pair; the dead are removed when they are half."""
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import merge_along_chain, merge_closest

        if len(self.alive) < self.n:
            self.move_together()
        merge = merge_along_chain if self.formula.reducible else merge_closest
        while self.n > 1:
            n_merges = self.n - 1 if self.n <= _FEW else self.n // 2
            merged, levels = np.empty((n_merges, 2), dtype=np.int64), np.empty(n_merges)
            dead, matrix = np.zeros(self.n, dtype=self.integers), self.matrix
            bits = given(matrix.view(self.integers), self.integers)
            merge(self.formula, matrix, bits, self.sizes, dead, self.death, n_merges, merged, levels)
            self._note(merged[:, 0], merged[:, 1], levels)
            alive = np.flatnonzero(dead == 0)
            kept = matrix[np.ix_(alive, alive)]
            self.names, self.sizes, self.n = self.names[alive], self.sizes[alive], len(alive)
            self.memory[: kept.size] = kept.reshape(-1)
