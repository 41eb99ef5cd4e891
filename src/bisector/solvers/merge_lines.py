"""Merging the first clusters without a matrix.

A matrix of all distances is largest before anything is merged. So in the first of the rounds of
`bisector.solvers.merge_matrix` the **line** of a cluster, its linkages to all others, is made from the rows when it
is asked for, and not kept: distances of few coordinates are computed anew about as quickly as they are fetched from
memory, and new memory is slow to get. What is written at last is less than half of the matrix, or as little as
there is room for.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.progress import track
from bisector.engine.threads import parallel
from bisector.solvers.merge_matrix import Clusters, MergePlan

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# The matrix is written when no more of the rows are left, if it fits.
_LEFT = 0.65
# Longer rows take longer to compare than their distances take to be read.
_MOST_FEATURES = 32
# Clusters whose lines a thread makes at a time, and the width of tiles of rows, which stay in the cache.
_AT_ONCE, _WIDTH = 16, 512


class RowsOfClusters(NamedTuple):
    """Rows in the order that `bisector.solvers.merge_lines_loops` wants, and in that of their clusters.

    Attributes
    ----------
    tiles : ndarray of shape (n_tiles, n_features, width)
        First one row of each cluster, then the others, column-wise; filled up with zeros.
    cluster_of : ndarray of int
        The clusters of these.
    shares : ndarray
        Their shares in them.
    points : ndarray of shape (n_rows, n_features)
        The rows of the first cluster, then those of the second, and so on.
    own_shares : ndarray
        The shares of these.
    starts : ndarray of int
        Where the rows of each cluster begin among them, and their number.
    """

    tiles: Floats
    cluster_of: Integers
    shares: Floats
    points: Floats
    own_shares: Floats
    starts: Integers

    @classmethod
    def alone(cls, points: Floats) -> Self:
        """Return rows of which each is a cluster."""
        return cls.of(points, np.arange(len(points)), np.ones(len(points)))

    @classmethod
    def of(cls, points: Floats, cluster_of: Integers, shares: Floats) -> Self:
        """Arrange rows by their clusters."""
        from bisector.engine.loops import given

        together = np.argsort(cluster_of, kind="stable")
        starts = np.searchsorted(cluster_of[together], np.arange(cluster_of.max() + 2))
        firsts = starts[:-1]
        order = np.concatenate([together[firsts], np.delete(together, firsts)])
        tiles = np.zeros((-(-len(points) // _WIDTH), points.shape[1], _WIDTH))
        for part, tile in zip(cut(len(points), _WIDTH), tiles, strict=True):
            tile[:, : len(part)] = points[order[part.start : part.stop]].T
        places = given(cluster_of[order]), given(shares[order])
        return cls(given(tiles), *places, given(points[together]), given(shares[together]), given(starts))


class ClusterLines:
    """Lines of clusters to all others, made from the rows.

    Parameters
    ----------
    linkage : lowered linkage
        With a `fold`.
    formula : lowered distance
    points : ndarray of shape (n_rows, n_features)
    n_jobs : int, optional
    """

    def __init__(self, linkage: Any, formula: Any, points: Floats, n_jobs: int | None) -> None:
        self.linkage, self.formula, self.points, self.n_jobs = linkage, formula, points, n_jobs
        self.cluster_of, self.shares = np.arange(len(points)), np.ones(len(points))
        self.rows = RowsOfClusters.alone(points)

    @property
    def n(self) -> int:
        """How many clusters there are."""
        return len(self.rows.starts) - 1

    def find_nearest(self, asked: Integers, clusters: Clusters) -> None:
        """Find whoever is nearest to some clusters."""
        from bisector.engine.loops import given
        from bisector.solvers.merge_lines_loops import find_nearest_by_rows

        numbers, found = given(asked), (clusters.nearest, clusters.lowest)

        def find(part: range) -> None:
            find_nearest_by_rows(
                self.linkage, self.formula, self.rows, numbers[part.start : part.stop], *found
            )

        parallel(find, cut(len(asked), _AT_ONCE), n_jobs=self.n_jobs)

    def carry_out(self, plan: MergePlan, clusters: Clusters) -> Integers:
        """Merge the pairs of a round; return the clusters whose nearest has to be found anew."""
        touched = np.zeros(self.n, dtype=bool)
        touched[plan.firsts] = touched[plan.seconds] = True
        clusters.alive = np.delete(clusters.alive, plan.seconds)
        lost = (touched | touched[clusters.nearest])[clusters.alive]
        clusters.sizes[plan.firsts] += plan.n_seconds
        become, share = np.arange(self.n), np.ones(self.n)
        become[plan.seconds] = plan.firsts
        share[plan.firsts], share[plan.seconds] = self.linkage.split(plan.n_firsts, plan.n_seconds)
        self.shares = self.shares * share[self.cluster_of]
        self.cluster_of = np.searchsorted(clusters.alive, become[self.cluster_of])
        self.rows = RowsOfClusters.of(self.points, self.cluster_of, self.shares)
        clusters.leave_places()
        return np.flatnonzero(lost)

    def written(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return the matrix of all lines."""
        from bisector.solvers.merge_lines_loops import write_lines

        matrix = np.empty((self.n, self.n), dtype=dtype)

        def write(part: range) -> None:
            lines = np.empty((len(part), len(self.points)))
            write_lines(self.linkage, self.formula, self.rows, part.start, part.stop, lines, matrix)

        parallel(write, cut(self.n, _AT_ONCE), n_jobs=self.n_jobs)
        return matrix


def cluster_lines(linkage: Any, distance: Distance, rows: Rows, n_jobs: int | None) -> ClusterLines | None:
    """Return lines of rows that are compared as quickly as distances are fetched from memory, of others none."""
    if not (
        hasattr(linkage, "fold")
        and isinstance(distance, CoordinateDistance)
        and isinstance(rows, NumericRows)
    ):
        return None
    d = rows.values.shape[1]
    if rows.sparse or distance.may_miss or d > _MOST_FEATURES:
        return None
    points = np.ascontiguousarray(rows.dense(range(len(rows))), dtype=np.float64)
    return ClusterLines(linkage, distance.lower(d), points, n_jobs)


def merge_first_rounds(lines: ClusterLines, clusters: Clusters, room: int) -> None:
    """Merge in rounds until few clusters are left, and so few that there is room for a number for each pair.

    Where rounds do not pay any more, more may be left.
    """
    asked = clusters.alive
    with track("merging first rows", total=len(asked)) as bar:
        while True:
            lines.find_nearest(asked, clusters)
            plan = clusters.plan()
            if plan is None:
                return
            asked = lines.carry_out(plan, clusters)
            bar.advance(len(plan.firsts))
            if lines.n <= _LEFT * len(lines.points) and lines.n**2 <= room:
                return
