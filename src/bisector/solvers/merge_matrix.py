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

    def for_loops(self) -> "MergePlan":
        """Return the plan as compiled loops take it.

        Places without a sign are not looked at for being negative, which would be taken from the end.
        """
        from bisector.engine.loops import given

        places = (given(numbers.astype(np.uint64), np.uint64) for numbers in self[:2])
        return MergePlan(*places, *map(given, self[2:]))


class Clusters:
    """The clusters that are left, in the order of their smallest rows, and what was merged.

    A cluster has a place; `alive` lists the places that still have one.
    """

    def __init__(self, n: int) -> None:
        self.alive = np.arange(n)
        self.names, self.sizes = np.arange(n), np.ones(n)
        self.pairs: list[Integers] = [np.empty((0, 2), dtype=np.int64)]
        self.levels: list[Floats] = [np.empty(0)]
        self.nearest, self.lowest = np.zeros(n, dtype=np.int64), np.zeros(n)

    def plan(self) -> MergePlan | None:
        """Pair the clusters that are nearest to each other, if these are many."""
        alive, nearest = self.alive, self.nearest
        if len(alive) <= _FEW:
            return None
        firsts = alive[(nearest[nearest[alive]] == alive) & (alive < nearest[alive])]
        if len(firsts) * _SHARE < len(alive):
            return None
        seconds, levels = nearest[firsts], self.lowest[firsts]
        self.note(firsts, seconds, levels)
        return MergePlan(firsts, seconds, levels, self.sizes[firsts], self.sizes[seconds])

    def note(self, firsts: Integers, seconds: Integers, levels: Floats) -> None:
        """List merges of the clusters at some places."""
        self.pairs.append(np.stack([self.names[firsts], self.names[seconds]], axis=1))
        self.levels.append(levels)

    def leave_places(self) -> None:
        """Give the clusters that are alive the first places, in their order.

        Whoever was nearest to a cluster must be alive, or be found anew.
        """
        self.nearest = np.searchsorted(self.alive, self.nearest[self.alive])
        self.lowest, self.sizes = self.lowest[self.alive], self.sizes[self.alive]
        self.names = self.names[self.alive]
        self.alive = np.arange(len(self.alive))

    def merged(self) -> Merged:
        return Merged(np.concatenate(self.pairs), np.concatenate(self.levels))


def merge_in_matrix(
    formula: Any, matrix: NDArray[Any], clusters: Clusters | None = None, *, n_jobs: int | None = None
) -> Merged:
    """Merge clusters until one is left.

    Parameters
    ----------
    formula : lowered linkage
    matrix : ndarray of shape (n_clusters, n_clusters)
        float32 or float64, symmetric, not negative, of the values that the formula works on; it is overwritten.
    clusters : Clusters, optional
        What was merged before; by default nothing was.
    n_jobs : int, optional

    Returns
    -------
    Merged
    """
    np.fill_diagonal(matrix, np.nan)
    clusters = clusters or Clusters(len(matrix))
    state = _InMatrix(formula, matrix, clusters, n_jobs)
    with track("merging", total=len(matrix)) as bar:
        if formula.reducible:
            while (plan := clusters.plan()) is not None:
                bar.advance(len(plan.firsts))
                state.carry_out(plan)
                if len(clusters.alive) < _CROWDED * state.n:
                    state.move_together()
        state.merge_rest()
    return clusters.merged()


class _InMatrix:
    """Linkages of clusters, whose places are lines and columns of a matrix."""

    def __init__(self, formula: Any, matrix: NDArray[Any], clusters: Clusters, n_jobs: int | None) -> None:
        self.formula, self.memory, self.n_jobs = formula, matrix.reshape(-1), n_jobs
        self.n, self.clusters = len(matrix), clusters
        self.integers = np.dtype(f"i{matrix.itemsize}")
        self.death = int(np.array(np.nan, dtype=matrix.dtype).view(self.integers))
        if formula.reducible and self.n > _FEW:
            self._find_nearest()

    @property
    def matrix(self) -> NDArray[Any]:
        """The linkages between the clusters, NaN in the columns of those that are no more."""
        return self.memory[: self.n * self.n].reshape(self.n, self.n)

    def _find_nearest(self) -> None:
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import find_nearest

        clusters, matrix = self.clusters, self.matrix
        dead = given(np.zeros(self.n, self.integers), self.integers)
        rows, bits = given(matrix), given(matrix.view(self.integers), self.integers)

        def find(part: range) -> None:
            find_nearest(rows, bits, dead, part.start, part.stop, clusters.nearest, clusters.lowest)

        parallel(find, cut(self.n, _ROWS_AT_ONCE), n_jobs=self.n_jobs)

    def carry_out(self, plan: MergePlan) -> None:
        """Merge the pairs of a round."""
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import join_rows

        clusters = self.clusters
        pair_of, gone = np.full(self.n, -1), np.zeros(self.n, self.integers)
        pair_of[plan.firsts], gone[plan.seconds] = np.arange(len(plan.firsts)), self.death
        new_sizes = clusters.sizes.copy()
        new_sizes[plan.firsts] += plan.n_seconds
        clusters.alive = clusters.alive[gone[clusters.alive] == 0]
        matrix, alive = self.matrix, given(clusters.alive)
        bits = given(matrix.view(self.integers), self.integers)
        sizes = given(clusters.sizes), given(new_sizes)
        fixed = plan.for_loops(), given(pair_of), *sizes, given(gone, self.integers)

        def join(part: range) -> None:
            rows = alive[part.start : part.stop]
            join_rows(self.formula, matrix, bits, *fixed, rows, clusters.nearest, clusters.lowest)

        parallel(join, cut(len(alive), _ROWS_AT_ONCE), n_jobs=self.n_jobs)
        clusters.sizes = new_sizes

    def move_together(self) -> None:
        """Leave the places of clusters that are no more, some lines at a time.

        A line moves to a place before its own, where nothing is needed any more once those of its time are copied.
        """
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import pick_columns

        places = self.clusters.alive
        old, m = given(self.matrix), len(places)
        alive, columns = given(places), given(places.astype(np.uint64), np.uint64)
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
        self.clusters.leave_places()
        self.n = m

    def merge_rest(self) -> None:
        """Merge what is left pair by pair; the dead are removed when they are half."""
        from bisector.engine.loops import given
        from bisector.solvers.merge_loops import merge_along_chain, merge_closest

        clusters = self.clusters
        if len(clusters.alive) < self.n:
            self.move_together()
        merge = merge_along_chain if self.formula.reducible else merge_closest
        while self.n > 1:
            n_merges = self.n - 1 if self.n <= _FEW else self.n // 2
            merged, levels = np.empty((n_merges, 2), dtype=np.int64), np.empty(n_merges)
            dead, matrix = np.zeros(self.n, dtype=self.integers), self.matrix
            bits = given(matrix.view(self.integers), self.integers)
            merge(self.formula, matrix, bits, clusters.sizes, dead, self.death, n_merges, merged, levels)
            clusters.note(merged[:, 0], merged[:, 1], levels)
            clusters.alive = np.flatnonzero(dead == 0)
            kept = matrix[np.ix_(clusters.alive, clusters.alive)]
            clusters.leave_places()
            self.n = len(kept)
            self.memory[: kept.size] = kept.reshape(-1)
