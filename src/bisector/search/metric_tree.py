"""A tree for rows of any kind: all it needs is a metric.

Some rows, the pivots, are compared with all others, which are then divided among them. Of each part the tree
knows how far its rows are, at least and at most, from each pivot. A query is compared with the pivots; by the
triangle inequality that bounds its distance to every part, and parts that are too far for certain are passed
over.

A distance that is asked from Python for one pair after the other is slow, and fast for many at once. So a block
of queries walks through the tree together: those that have to visit a part are compared with it in one call.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel
from bisector.engine.validation import check_count
from bisector.search.index import Floats, Index, Integers, Nearest, Structure, Within

# Queries that walk together.
_BLOCK = 1024
# Rows that are compared with a pivot at once.
_ROWS_AT_ONCE = 2**13
# When one pivot would get more than this share of the rows, they are divided by rank, so that the tree stays
# flat.
_LARGEST_SHARE = 0.5


class MetricTree(Index):
    """A tree of pivots, for everything that has a metric: strings, sets, mixed rows, a function of yours.

    It saves the more comparisons the tighter the clusters are in which the rows lie, and the longer a comparison
    takes the more that is worth.

    Parameters
    ----------
    X : rows
        What the distance compares.
    metric : str, Distance or callable, default="euclidean"
        A metric or a pseudo-metric, by its own word (`law`); of a function you have to say it, as in
        ``Compiled(function, law="metric")``.
    branches : int, default=32
        How many pivots divide a part.
    leaf_size : int, default=128
        Parts with no more rows than these are not divided.

    Examples
    --------
    >>> from bisector.search.metric_tree import MetricTree
    >>> index = MetricTree(["apple", "maple", "plum", "cherry"], "levenshtein")
    >>> index.query(["ample"], k=2)
    (array([[1., 2.]]), array([[0, 1]]))
    """

    def __init__(
        self, X: Any, metric: Any = "euclidean", *, branches: int = 32, leaf_size: int = 128
    ) -> None:
        self.branches = check_count("branches", branches, at_least=2)
        self.leaf_size = check_count("leaf_size", leaf_size)
        super().__init__(X, metric)

    def _refusal(self) -> str | None:
        if self.distance.law != "none":
            return None
        return (
            f"MetricTree needs the triangle inequality, which {self.distance!r} does not keep for certain: use "
            'BruteForce, or for a function of yours that keeps it Compiled(function, law="metric").'
        )

    def _arrange(self, rows: Rows) -> "PivotStructure":
        return PivotStructure(self.distance, rows, self.branches, self.leaf_size)


class PivotStructure(Structure):
    """Rows in a tree of pivots."""

    def __init__(self, distance: Distance, rows: Rows, branches: int, leaf_size: int) -> None:
        super().__init__(distance, rows)
        self._branches, self._leaf_size = branches, leaf_size
        self.root = self._divided(np.arange(len(rows)), 0)

    def nearest(self, queries: Rows, k: int, alive: NDArray[np.bool_] | None, n_jobs: int | None) -> Nearest:
        from bisector.engine.loops import given
        from bisector.search.metric_walks import NearestWalk

        living = given(self._living(alive))

        def walk(block: range) -> NearestWalk:
            some = queries.take(np.asarray(block))
            return NearestWalk(self.distance, some, living, k).through(self.root)

        walks = parallel(walk, cut(len(queries), _BLOCK), n_jobs=n_jobs)
        return Nearest(
            np.concatenate([np.empty((0, k)), *(walk.reduced for walk in walks)]),
            np.concatenate([np.empty((0, k), dtype=np.int64), *(walk.numbers for walk in walks)]),
            sum(walk.computed for walk in walks),
        )

    def within(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> Within:
        walks = self._walks(queries, bounds, alive, n_jobs, listing=True)
        counts = [0, *(walk.counts for walk in walks)]
        listed = [(np.empty(0), np.empty(0, dtype=np.int64)), *(walk.listed() for walk in walks)]
        reduced, numbers = (np.concatenate(side) for side in zip(*listed, strict=True))
        starts = np.cumsum(np.hstack(counts))
        return Within(starts, reduced, numbers, sum(walk.computed for walk in walks))

    def count(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> tuple[Integers, int]:
        walks = self._walks(queries, bounds, alive, n_jobs, listing=False)
        counts = np.concatenate([np.empty(0, dtype=np.int64), *(walk.counts for walk in walks)])
        return counts, sum(walk.computed for walk in walks)

    def _walks(
        self,
        queries: Rows,
        bounds: Floats,
        alive: NDArray[np.bool_] | None,
        n_jobs: int | None,
        *,
        listing: bool,
    ) -> list[Any]:
        from bisector.search.metric_walks import RadiusWalk

        living = self._living(alive)
        order = np.concatenate(list(_order(self.root)))
        before = np.concatenate([[0], np.cumsum(living[order])])

        def walk(block: range) -> RadiusWalk:
            some, limits = queries.take(np.asarray(block)), bounds[block.start : block.stop]
            return RadiusWalk(self.distance, some, limits, before, living, listing).through(self.root)

        return parallel(walk, cut(len(queries), _BLOCK), n_jobs=n_jobs)

    def _living(self, alive: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        return np.ones(len(self.rows), dtype=bool) if alive is None else alive

    def _divided(self, numbers: Integers, start: int) -> Any:
        """Divide rows into a part of the tree that begins at a place."""
        from bisector.engine.loops import given
        from bisector.search.metric_tree_loops import range_parts
        from bisector.search.metric_walks import Part

        n, rows = len(numbers), self.rows.take(numbers)
        if n <= self._leaf_size:
            return Part(start, start + n, rows, numbers)
        # Not more parts than would make leaves.
        n_parts = min(self._branches, -(-n // self._leaf_size))
        pivots, distances = self._pivots(rows, n_parts)
        others = np.delete(np.arange(n), pivots)
        if not len(others):
            return Part(start, start + n, rows, numbers)
        distances = distances[:, others]
        owner = _owners(distances, n_parts)
        owners, owner, sizes = np.unique(owner, return_inverse=True, return_counts=True)
        low, high = np.empty((len(pivots), len(owners))), np.empty((len(pivots), len(owners)))
        range_parts(given(distances), given(owner), low, high)
        starts = start + len(pivots) + np.cumsum(sizes) - sizes

        def inner(part: int) -> Part:
            return self._divided(numbers[others[owner == part]], int(starts[part]))

        parts = parallel(inner, range(len(owners)))
        return Part(start, start + n, rows.take(pivots), numbers[pivots], tuple(parts), low, high)

    def _pivots(self, rows: Rows, wanted: int) -> tuple[Integers, Floats]:
        """Choose pivots, the first row and then always that farthest from all chosen; return also all distances."""
        chosen, distances = [0], []
        nearest = np.full(len(rows), np.inf)
        for _ in range(wanted):
            distances.append(self._distances(rows, chosen[-1]))
            nearest = np.minimum(nearest, distances[-1])
            chosen.append(int(np.argmax(nearest)))
            if not nearest[chosen[-1]]:
                break
        return np.array(chosen[:-1]), np.stack(distances)

    def _distances(self, rows: Rows, pivot: int) -> Floats:
        """Return the distances from one row to all."""
        pairs = self.distance.between(rows.take(np.array([pivot])), rows)
        reduced = np.empty((1, len(rows)))

        def compare(block: range) -> None:
            pairs.fill(range(1), block, reduced, 0, block.start)

        parallel(compare, cut(len(rows), _ROWS_AT_ONCE))
        return pairs.finish(reduced)[0]


def _owners(distances: Floats, n_parts: int) -> Integers:
    """Give each row to its nearest pivot, equally near ones taking turns; divide them by rank if one gets most."""
    from bisector.engine.loops import given
    from bisector.search.metric_tree_loops import assign_pivots

    n = distances.shape[1]
    owner = np.empty(n, dtype=np.int64)
    assign_pivots(given(distances), owner)
    if np.bincount(owner).max() <= max(_LARGEST_SHARE * n, 1):
        return owner
    # By their distance from the pivot that tells them apart best.
    finite = np.where(np.isinf(distances), np.nan, distances)
    spread = np.nanmax(finite, axis=1, initial=0.0) - np.nanmin(finite, axis=1, initial=0.0)
    order = np.argsort(distances[np.argmax(spread)], kind="stable")
    owner[order] = np.arange(n) * n_parts // n
    return owner


def _order(part: Any) -> Iterator[Integers]:
    """Give the numbers of the rows in the tree's order."""
    yield part.numbers
    for inner in part.parts:
        yield from _order(inner)
