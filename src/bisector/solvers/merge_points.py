"""Merging clusters known by their middles: Ward, centroid and median linkage without a matrix.

Of rows in Euclidean space only the middle and the size of each cluster are kept: n·(d + 1) numbers. Ward's linkage
is reducible, and pairs that are nearest to each other are merged in rounds, as in `bisector.solvers.merge_matrix`;
who loses its nearest is compared with all others anew. Centroid and median linkage merge the closest pair of all
each time.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.distances.reductions import cut
from bisector.engine.progress import track
from bisector.engine.threads import parallel
from bisector.solvers.merge_matrix import Merged

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# A round is worth while if it merges at least one cluster in so many; so few clusters are merged one by one.
_SHARE, _FEW = 32, 64
# Clusters for which a thread looks for the nearest at a time.
_AT_ONCE = 64


def merge_middles(points: Floats, linkage: str, *, n_jobs: int | None = None) -> Merged:
    """Merge rows of Euclidean space until one cluster is left.

    Parameters
    ----------
    points : ndarray of shape (n_rows, n_features)
    linkage : {"ward", "centroid", "median"}
    n_jobs : int, optional

    Returns
    -------
    Merged
        With the squares of the levels.
    """
    clusters = _Middles(points, linkage == "ward", n_jobs)
    with track("merging", total=len(points)) as bar:
        if clusters.ward:
            while clusters.n > _FEW and (merged := clusters.merge_round()):
                bar.advance(merged)
        clusters.merge_rest(halfway=linkage == "median")
    return Merged(np.concatenate(clusters.pairs), np.concatenate(clusters.levels))


class _Middles:
    """The clusters that are left, in the order of their smallest rows, and what was merged."""

    def __init__(self, points: Floats, ward: bool, n_jobs: int | None) -> None:
        self.columns, self.ward, self.n_jobs = np.ascontiguousarray(points.T), ward, n_jobs
        n = len(points)
        self.names, self.sizes = np.arange(n), np.ones(n)
        self.pairs: list[Integers] = [np.empty((0, 2), dtype=np.int64)]
        self.levels: list[Floats] = [np.empty(0)]
        self.nearest, self.lowest = np.empty(n, dtype=np.int64), np.empty(n)
        self._find_nearest(np.arange(n))

    @property
    def n(self) -> int:
        """How many clusters are left."""
        return len(self.names)

    def _find_nearest(self, asked: Integers) -> None:
        from bisector.engine.loops import given
        from bisector.solvers.merge_points_loops import find_nearest_middles

        # While all sizes are one, Ward's linkage is the squared distance itself.
        weighed = self.ward and bool((self.sizes != 1).any())
        known = given(self.columns), given(self.sizes), weighed, given(asked)

        def find(part: range) -> None:
            find_nearest_middles(*known, part.start, part.stop, self.nearest, self.lowest)

        parallel(find, cut(len(asked), _AT_ONCE), n_jobs=self.n_jobs)

    def merge_round(self) -> int:
        """Merge all pairs that are nearest to each other, if they are many; return how many there were."""
        every = np.arange(self.n)
        firsts = np.flatnonzero((self.nearest[self.nearest] == every) & (every < self.nearest))
        if len(firsts) * _SHARE < self.n:
            return 0
        seconds = self.nearest[firsts]
        self._note(firsts, seconds, self.lowest[firsts])
        share = self.sizes[seconds] / (self.sizes[firsts] + self.sizes[seconds])
        self.columns[:, firsts] += share * (self.columns[:, seconds] - self.columns[:, firsts])
        self.sizes[firsts] += self.sizes[seconds]
        touched, stays = np.zeros(self.n, dtype=bool), np.ones(self.n, dtype=bool)
        touched[firsts] = touched[seconds] = True
        stays[seconds] = False
        lost = (touched | touched[self.nearest])[stays]
        places = np.cumsum(stays) - 1
        self.names, self.sizes = self.names[stays], self.sizes[stays]
        self.columns = np.ascontiguousarray(self.columns[:, stays])
        self.nearest, self.lowest = places[self.nearest[stays]], self.lowest[stays]
        self._find_nearest(np.flatnonzero(lost))
        return len(firsts)

    def _note(self, firsts: Integers, seconds: Integers, levels: Floats) -> None:
        self.pairs.append(np.stack([self.names[firsts], self.names[seconds]], axis=1))
        self.levels.append(levels)

    def merge_rest(self, halfway: bool) -> None:
        """Merge what is left pair by pair; the dead are removed when they are half."""
        from bisector.solvers.merge_points_loops import chain_middles, merge_closest_middles

        while self.n > 1:
            m = self.n
            n_merges = m - 1 if m <= _FEW else m // 2
            merged, levels = np.empty((n_merges, 2), dtype=np.int64), np.empty(n_merges)
            if self.ward:
                chain_middles(self.columns, self.sizes, n_merges, merged, levels)
            else:
                known = self.nearest, self.lowest
                merge_closest_middles(self.columns, self.sizes, halfway, n_merges, *known, merged, levels)
            self._note(merged[:, 0], merged[:, 1], levels)
            alive = np.ones(m, dtype=bool)
            alive[merged[:, 1]] = False
            self.names, self.sizes = self.names[alive], self.sizes[alive]
            self.columns = np.ascontiguousarray(self.columns[:, alive])
            if not self.ward and self.n > 1:
                self.nearest, self.lowest = np.empty(self.n, dtype=np.int64), np.empty(self.n)
                self._find_nearest(np.arange(self.n))
