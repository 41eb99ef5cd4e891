"""Dividing rows into a tree of balls, level by level (Learning From Data, 6.2.3).

Farthest first: a row at the edge is the first centre, the row farthest from it the next, then always that
farthest from all centres so far. Each row belongs to its nearest centre; the mean of these rows becomes the
centre, and the rows are divided anew, once: the search needs parts that lie together, not the best of all
partitions.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given
from bisector.engine.threads import parallel
from bisector.search.ball_partition_loops import (
    add_up,
    assign_rows,
    average_parts,
    divide_at_medians,
    find_farthest,
    find_middle,
    lay_out_rows,
    regroup,
)
from bisector.search.ball_tree import Shape
from bisector.search.index import Floats, Integers

# Rows of a tile.
_TILE = 256
# Rows that a thread divides at once: about a millisecond of work.
_ROWS_AT_ONCE = 2**13
# Balls that were divided far more often than parts of similar size would be (there are data with a few rows far
# out at every scale) are divided at medians, so that it takes O(n log n) whatever the data.
_DEPTH_FACTOR, _SPARE_DEPTH = 2, 8


class Partition(NamedTuple):
    """Balls within balls, breadth first: ball 0 holds all rows.

    Attributes
    ----------
    children : ndarray of shape (balls + 1,)
        Ball b is divided into those from ``children[b]`` to ``children[b + 1]``; a leaf is not divided.
    starts, stops : ndarray of shape (balls,)
        Which places of the order lie in a ball.
    order : ndarray of shape (rows,)
        The numbers of the rows.
    centres : ndarray of shape (balls, coordinates)
    radii : ndarray of shape (balls,)
        The largest reduced distance from the centre to a row.
    n_levels : int
    """

    children: Integers
    starts: Integers
    stops: Integers
    order: Integers
    centres: Floats
    radii: Floats
    n_levels: int


def divide(formula: Any, rows: Floats, shape: Shape) -> Partition:
    """Divide rows into balls, and these again, until none has too many rows or the depth is reached."""
    divider = _Divider(formula, rows, shape)
    levels: list[_Level] = []
    starts, stops = np.array([0]), np.array([len(rows)])
    deepest = _SPARE_DEPTH + _DEPTH_FACTOR * math.ceil(math.log(len(rows), shape.branches))
    while len(starts):
        if len(levels) == shape.depth:
            divider.leaf_size = len(rows)
        level = divider.divide_level(starts, stops, shape.at_medians or len(levels) > deepest)
        levels.append(level)
        ends = starts[:, None] + np.cumsum(level.sizes, axis=1)
        filled = level.sizes > 0
        starts, stops = (ends - level.sizes)[filled], ends[filled]
    starts, stops, sizes, centres, radii = (np.concatenate(side) for side in zip(*levels, strict=True))
    children = 1 + np.concatenate([[0], np.cumsum(np.count_nonzero(sizes, axis=1))])
    return Partition(children, starts, stops, divider.order, centres, radii, len(levels))


class _Level(NamedTuple):
    """Balls that were divided equally often."""

    starts: Integers
    stops: Integers
    sizes: Integers  # of their parts, balls × branches; those of a leaf are zero
    centres: Floats
    radii: Floats


class _Divider:
    """Rows on their way into balls."""

    def __init__(self, formula: Any, rows: Floats, shape: Shape) -> None:
        self.formula, self.rows = formula, rows
        self.branches, self.leaf_size = shape.branches, shape.leaf_size
        n, n_features = rows.shape
        self.weights = np.array([formula.weight(j) for j in range(n_features)])
        self.order = np.arange(n)
        self.columns = np.empty(n * n_features)
        # At the place of each row: how far its nearest centre is, and which part that makes it belong to.
        self.nearest = np.empty(n)
        self.parts = np.zeros(n, dtype=np.int64)

    def divide_level(self, starts: Integers, stops: Integers, at_medians: bool) -> _Level:
        """Measure the balls of a level, and divide those that are too large for leaves."""
        n_balls, n_features = len(starts), self.rows.shape[1]
        level = _Level(
            starts,
            stops,
            np.zeros((n_balls, self.branches), dtype=np.int64),
            np.empty((n_balls, n_features)),
            np.empty(n_balls),
        )

        def work(some: slice) -> None:
            balls = _Balls.of(starts[some], stops[some])
            self._lay_out(balls)
            level.centres[some], level.radii[some], edge = self._measure(balls)
            n_rows = balls.stops - balls.starts
            # Not more parts than would make leaves.
            wanted = np.where(
                n_rows > self.leaf_size, np.minimum(-(-n_rows // self.leaf_size), self.branches), 0
            )
            if not wanted.any():
                return
            if not at_medians:
                level.sizes[some] = self._divide_farthest_first(balls, wanted, edge)
            # Rows that are all alike have no farthest.
            whole = (wanted > 0) & (np.count_nonzero(level.sizes[some], axis=1) < 2)
            if whole.any():
                level.sizes[some][whole] = self._divide_at_medians(balls, whole, wanted)

        parallel(work, _shares(stops - starts))
        return level

    def _lay_out(self, balls: "_Balls") -> None:
        lay_out_rows(self.rows, self.order, balls.tile_starts, balls.tile_stops, self.columns)

    def _measure(self, balls: "_Balls") -> tuple[Floats, Floats, Integers]:
        """Return the means of balls as centres, the largest reduced distances from them, and to which places.

        Where the row nearest to the mean has the smaller ball, that is the centre: the mean of codes is no code.
        """
        self.parts[balls.span] = 0
        means = self._average(balls, 1)[0]
        everywhere = np.ones((len(means), 1), dtype=bool)
        self._assign(balls, means, everywhere, afresh=True)
        edge = _found(find_farthest, self.nearest, balls)
        around_means = self.nearest[edge]
        rows = self.rows[self.order[_found(find_middle, self.nearest, balls)], None]
        self._assign(balls, rows, everywhere, afresh=True)
        around_rows = self.nearest[_found(find_farthest, self.nearest, balls)]
        better = around_rows < around_means
        centres = np.where(better[:, None], rows[:, 0], means[:, 0])
        return centres, np.where(better, around_rows, around_means), edge

    def _divide_farthest_first(self, balls: "_Balls", wanted: Integers, edge: Integers) -> Integers:
        """Divide balls into as many parts as wanted, the first around a row at the edge; return their sizes."""

        def sums() -> Floats:
            found = np.empty(len(wanted))
            add_up(self.nearest, balls.starts, balls.stops, found)
            return found

        farthest = edge
        for part in range(int(wanted.max())):
            new = part < wanted
            if part:
                farthest = _found(find_farthest, self.nearest, balls)
                new &= self.nearest[farthest] > 0
            centres = self.rows[self.order[farthest], None]
            self._assign(balls, centres, new[:, None], part, afresh=part == 0)
        regions, before = self.parts[balls.span].copy(), sums()
        means, counts = self._average(balls, self.branches)
        self._assign(balls, means, (counts > 0) & (wanted > 0)[:, None], afresh=True)
        # Means need not be nearer than rows are: of codes, say.
        for ball in np.flatnonzero((wanted > 0) & ~(sums() < before)):
            start, stop = balls.starts[ball], balls.stops[ball]
            self.parts[start:stop] = regions[start - balls.span.start : stop - balls.span.start]
        sizes = np.zeros((len(wanted), self.branches), dtype=np.int64)
        divided = np.flatnonzero(wanted)
        grouped = np.zeros((len(divided), self.branches), dtype=np.int64)
        regroup(self.order, given(balls.starts[divided]), given(balls.stops[divided]), self.parts, grouped)
        sizes[divided] = grouped
        return sizes

    def _divide_at_medians(self, balls: "_Balls", whole: NDArray[np.bool_], wanted: Integers) -> Integers:
        sizes = np.zeros((int(whole.sum()), self.branches), dtype=np.int64)
        bounds = given(balls.starts[whole]), given(balls.stops[whole])
        divide_at_medians(self.rows, self.weights, self.order, *bounds, given(wanted[whole]), sizes)
        return sizes

    def _assign(
        self,
        balls: "_Balls",
        centres: Floats,
        wanted: NDArray[np.bool_],
        first_part: int = 0,
        *,
        afresh: bool,
    ) -> None:
        """Offer every ball new centres (balls × centres × coordinates), where they are wanted."""
        if afresh:
            self.nearest[balls.span] = np.inf
        assign_rows(
            self.formula, self.columns, balls.tile_starts, balls.tile_stops, balls.tile_owner, given(centres),
            given(wanted), first_part, self.nearest, self.parts,
        )  # fmt: skip

    def _average(self, balls: "_Balls", n_parts: int) -> tuple[Floats, Integers]:
        """Return the mean of every part of every ball, and the number of its rows."""
        counts = np.zeros((len(balls.starts), n_parts), dtype=np.int64)
        means = np.zeros((len(balls.starts), n_parts, self.rows.shape[1]))
        average_parts(self.rows, self.order, balls.starts, balls.stops, self.parts, counts, means)
        return means, counts


class _Balls(NamedTuple):
    """Some balls of a level, cut into tiles: ranges of places, each in one ball."""

    starts: Integers
    stops: Integers
    tile_starts: Integers
    tile_stops: Integers
    tile_owner: Integers

    @classmethod
    def of(cls, starts: Integers, stops: Integers) -> "_Balls":
        n_tiles = -(-(stops - starts) // _TILE)
        owner = np.repeat(np.arange(len(starts)), n_tiles)
        which = np.arange(len(owner)) - np.repeat(np.cumsum(n_tiles) - n_tiles, n_tiles)
        width = -(-(stops - starts) // n_tiles)  # tiles of one ball are of one size, but for the last
        first = starts[owner] + which * width[owner]
        last = np.minimum(first + width[owner], stops[owner])
        return cls(*map(given, (starts, stops, first, last, owner)))

    @property
    def span(self) -> slice:
        """The places from the first ball to the last; what lies between them lies in no ball of the level."""
        return slice(int(self.starts[0]), int(self.stops[-1]))


def _found(find: Callable[..., None], nearest: Floats, balls: _Balls) -> Integers:
    """Return the place of each ball that `find` finds."""
    places = np.empty(len(balls.starts), dtype=np.int64)
    find(nearest, balls.starts, balls.stops, places)
    return places


def _shares(sizes: Integers) -> list[slice]:
    """Cut consecutive balls into shares of about the same number of rows."""
    share = np.cumsum(sizes) // _ROWS_AT_ONCE
    ends = np.append(np.flatnonzero(np.diff(share)) + 1, len(sizes)).tolist()
    return [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
