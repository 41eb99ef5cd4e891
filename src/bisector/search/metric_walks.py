"""Walks of a block of queries through a tree of pivots.

Queries that have to visit a part are compared with it together, in one call. Each walk keeps what it has found
for all queries of its block; a visit is made by some of them, given by their numbers in the block.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Pairs, Rows
from bisector.engine.loops import given
from bisector.search.heap_loops import EMPTY
from bisector.search.metric_tree_loops import bound_parts, keep_nearest_listed
from bisector.search.selection_loops import sort_heaps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

# By which share of the two distances that it is made of a bound gives way, for rounding in either of them:
# generous, since nothing is known of how they are computed, and it costs nothing.
_SLACK = 1e-6
# A reduced distance may be wrong by so much besides, where it is a sum of powers too small for any number.
_VANISHING = 1e-306


class Part(NamedTuple):
    """Rows of the tree: those of a leaf, or pivots and the parts that the other rows are divided into.

    Attributes
    ----------
    start, stop : int
        Where its rows stand in the tree's order, the pivots first.
    rows : Rows
        Of the leaf, or the pivots.
    numbers : ndarray
        Theirs.
    parts : tuple of Part
    low, high : ndarray of shape (pivots, parts)
        The least and the largest distance from a pivot to the rows of a part.
    """

    start: int
    stop: int
    rows: Rows
    numbers: Integers
    parts: "tuple[Part, ...]" = ()
    low: Floats = np.empty((0, 0))
    high: Floats = np.empty((0, 0))


class _Walk:
    """What all walks have in common."""

    def __init__(self, distance: Distance, queries: Rows) -> None:
        self.distance = distance
        self.queries = queries
        self.computed = 0
        self._absolute: float | None = None

    def _compared(self, some: Integers, part: Part) -> tuple[Pairs, Floats]:
        """Compare some queries with the leaf or the pivots of a part; return the pairs and reduced distances."""
        pairs = self.distance.between(self.queries.take(some), part.rows)
        tile = np.empty(pairs.shape)
        pairs.fill(range(len(some)), range(len(part.numbers)), tile)
        self.computed += tile.size
        return pairs, tile

    def _bounds(self, pairs: Pairs, tile: Floats, part: Part) -> tuple[Floats, Floats]:
        """Return the least and the largest distance that queries compared with pivots can have to each part."""
        if self._absolute is None:
            # Of the query, the pivot, the row, and what it is compared with.
            self._absolute = 4 * float(pairs.finish(np.array([_VANISHING]))[0])
        lower = np.empty((len(tile), len(part.parts)))
        upper = np.empty(lower.shape)
        distances, low, high = given(pairs.finish(tile)), given(part.low), given(part.high)
        bound_parts(distances, low, high, _SLACK, self._absolute, lower, upper)
        return lower, upper


class NearestWalk(_Walk):
    """Looks for the k nearest rows of every query, once it knows about how far these are.

    For that, each query first goes straight to where it expects near rows, and nowhere else: the k-th nearest of
    those it meets on its way is an upper limit. Were it to begin with the parts in any order, it would visit most
    of them.
    """

    def __init__(self, distance: Distance, queries: Rows, alive: Mask, k: int) -> None:
        super().__init__(distance, queries)
        self.alive = alive
        self.reduced = np.full((len(queries), k), np.inf)
        self.numbers = np.full((len(queries), k), EMPTY)
        # No row beyond it is among the k nearest.
        self.limits = np.full(len(queries), np.inf)

    def through(self, part: Part) -> "NearestWalk":
        """Walk through a part with all queries; return the walk, its findings in order."""
        everyone = np.arange(len(self.queries))
        self._visit(part, everyone, straight=True)
        self.reduced[:], self.numbers[:] = np.inf, EMPTY
        self._visit(part, everyone, straight=False)
        sort_heaps(self.reduced, self.numbers)
        return self

    def _visit(self, part: Part, some: Integers, *, straight: bool) -> None:
        pairs, tile = self._compared(some, part)
        keep_nearest_listed(tile, given(part.numbers), self.alive, given(some), self.reduced, self.numbers)
        full = some[self.numbers[some, 0] != EMPTY]
        self.limits[full] = np.minimum(self.limits[full], pairs.finish(self.reduced[full, 0]))
        if not part.parts:
            return
        lower, upper = self._bounds(pairs, tile, part)
        expected = np.argmin(lower + upper, axis=1)
        for number, inner in enumerate(part.parts):
            theirs = expected == number if straight else lower[:, number] <= self.limits[some]
            if theirs.any():
                self._visit(inner, some[theirs], straight=straight)


class RadiusWalk(_Walk):
    """Lists, or only counts, the rows within a bound of every query."""

    def __init__(
        self,
        distance: Distance,
        queries: Rows,
        bounds: Floats,
        alive_before: Integers,
        alive: Mask,
        listing: bool,
    ) -> None:
        super().__init__(distance, queries)
        self.bounds = bounds
        self.alive, self.alive_before = alive, alive_before
        self.listing = listing
        self.counts = np.zeros(len(queries), dtype=np.int64)
        self._found: list[tuple[Integers, Integers, Floats]] = []

    def through(self, part: Part) -> "RadiusWalk":
        """Walk through a part with all queries; return the walk."""
        self._limits = self.distance.between(self.queries, part.rows).finish(self.bounds)
        self._visit(part, np.arange(len(self.queries)))
        return self

    def listed(self) -> tuple[Floats, Integers]:
        """Return the reduced distances and numbers of the rows found, query by query, by their numbers."""
        empty = np.empty(0, dtype=np.int64)
        queries, numbers, reduced = zip((empty, empty, np.empty(0)), *self._found, strict=True)
        owner, rows, values = map(np.concatenate, (queries, numbers, reduced))
        order = np.lexsort((rows, owner))
        return values[order], rows[order]

    def _visit(self, part: Part, some: Integers) -> None:
        pairs, tile = self._compared(some, part)
        within = (tile <= self.bounds[some, None]) & self.alive[part.numbers]
        self.counts[some] += within.sum(axis=1)
        if self.listing:
            queries, columns = np.nonzero(within)
            self._found.append((some[queries], part.numbers[columns], tile[queries, columns]))
        if not part.parts:
            return
        lower, upper = self._bounds(pairs, tile, part)
        for number, inner in enumerate(part.parts):
            near = lower[:, number] <= self._limits[some]
            if not self.listing:
                inside = upper[:, number] < self._limits[some] * (1 - _SLACK)
                self.counts[some[inside]] += self.alive_before[inner.stop] - self.alive_before[inner.start]
                near &= ~inside
            if near.any():
                self._visit(inner, some[near])
