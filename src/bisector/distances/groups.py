"""What clusters ask of distances: from every row, the sum of its distances to the rows of each group.

No more is held than the sums of a few rows, or of all rows where that is little: tiles of distances are reduced as
they are made. Every function hands the sums, a line for each group and a place for each row, to `visit`, together
with the numbers of these rows; `visit` runs on several threads, each time with other rows.

- Where the distance is symmetric, a tile is made once and serves both ways: its rows' sums and its columns'. The
  rows are cut into strips which meet each other in rounds, as teams in a tournament: no two threads add to the same
  place at a time, and every place is added to in the same order, however many threads there are.
- Where squares are summed, no pair need be looked at: Σⱼ‖x − xⱼ‖² = W(‖x − μ‖² + v), with the mean μ of a group,
  its weight W and its mean squared distance v to the mean.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Pairs, Rows
from bisector.distances.group_centres import Groups, Squares, centres_of, squares_of
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Visit = Callable[[Integers, Floats], None]

# Beyond this size the sums of all rows are not held, and pairs are made twice instead.
_TABLE_BYTES = 2**28
# Rows of a strip: enough work for one meeting, few enough for many threads to have one.
_STRIP, _MOST_STRIPS, _TILE = 1024, 64, (256, 512)
# Rows whose sums are made or handed on at once.
_BLOCK = 2048


def group_sums(
    distance: Distance, rows: Rows, groups: Groups, visit: Visit, *, n_jobs: int | None = None
) -> None:
    """Sum the distances from every row to the rows of each group, times their weights.

    No row counts for itself. Rows without weight count for nobody, even when they are infinitely far.
    """
    if (squares := squares_of(distance, rows)) is not None:
        _square_sums(squares, groups, visit, n_jobs)
    elif distance.symmetric and groups.weights.all() and 8 * groups.n_groups * len(rows) <= _TABLE_BYTES:
        _mutual_sums(distance, rows, groups, visit, n_jobs)
    else:
        _one_way_sums(distance, rows, groups, visit, n_jobs)


def exemplar_distances(
    distance: Distance, rows: Rows, exemplars: Rows, visit: Visit, *, n_jobs: int | None = None
) -> None:
    """Compute the distances from every row to each exemplar."""
    pairs = distance.between(exemplars, rows, flipped=True)

    def measure(inner: range) -> None:
        table = np.empty((len(exemplars), len(inner)))
        pairs.write(range(len(exemplars)), inner, table)
        visit(np.arange(inner.start, inner.stop), table)

    parallel(measure, cut(len(rows), _BLOCK), n_jobs=n_jobs)


# All pairs


def _one_way_sums(distance: Distance, rows: Rows, groups: Groups, visit: Visit, n_jobs: int | None) -> None:
    from bisector.distances.group_loops import add_to_groups
    from bisector.engine.loops import given

    counted = np.flatnonzero(groups.weights)
    held = groups.take(counted)
    codes, weights = given(held.codes), given(held.weights)
    references = rows if len(counted) == len(rows) else rows.take(counted)
    pairs = distance.between(references, rows, flipped=True)
    height, width = pairs.tile_shape

    def add_up(inner: range) -> None:
        sums = np.zeros((groups.n_groups, len(inner)))
        tile = np.empty((height, len(inner)))
        for outer in cut(len(counted), height):
            pairs.write(outer, inner, tile)
            own = counted[outer.start : outer.stop] - inner.start
            here = np.flatnonzero((own >= 0) & (own < len(inner)))
            tile[here, own[here]] = 0.0
            add_to_groups(tile, len(outer), outer.start, codes, weights, sums)
        visit(np.arange(inner.start, inner.stop), sums)

    parallel(add_up, cut(len(rows), width), n_jobs=n_jobs)


def _mutual_sums(distance: Distance, rows: Rows, groups: Groups, visit: Visit, n_jobs: int | None) -> None:
    order = np.argsort(groups.codes, kind="stable")
    sums = np.zeros((groups.n_groups, len(rows)))
    meet = _Meeting(distance, rows.take(order), groups.take(order), sums)
    strips = cut(len(rows), max(_STRIP, -(-len(rows) // (_MOST_STRIPS * _STRIP)) * _STRIP))
    parallel(meet.itself, strips, n_jobs=n_jobs)
    for matches in _rounds(len(strips)):
        parallel(
            lambda match: meet.each_other(*match), [(strips[s], strips[t]) for s, t in matches], n_jobs=n_jobs
        )

    def hand_on(part: range) -> None:
        visit(order[part.start : part.stop], sums[:, part.start : part.stop])

    parallel(hand_on, cut(len(rows), _BLOCK), n_jobs=n_jobs)


class _Meeting:
    """The pairs of two strips of rows, added to the sums of both."""

    def __init__(self, distance: Distance, rows: Rows, groups: Groups, sums: Floats) -> None:
        from bisector.engine.loops import given

        self.pairs: Pairs = distance.between(rows, rows)
        self.codes, self.weights = given(groups.codes), given(groups.weights)
        self.sums = sums

    def itself(self, strip: range) -> None:
        from bisector.distances.group_loops import add_to_groups

        parts = _cut_range(strip, _TILE[0])
        tile = np.empty((_TILE[0], _TILE[0]))
        for number, outer in enumerate(parts):
            square = np.empty((len(outer), len(outer)))
            self.pairs.write(outer, outer, square)
            np.fill_diagonal(square, 0.0)
            columns = np.zeros((len(self.sums), len(outer)))
            add_to_groups(square, len(outer), outer.start, self.codes, self.weights, columns)
            self.sums[:, outer.start : outer.stop] += columns
            for inner in parts[number + 1 :]:
                self._add(outer, inner, tile)

    def each_other(self, one: range, other: range) -> None:
        height, width = _TILE
        tile = np.empty((height, width))
        for outer in _cut_range(one, height):
            for inner in _cut_range(other, width):
                self._add(outer, inner, tile)

    def _add(self, outer: range, inner: range, tile: Floats) -> None:
        from bisector.distances.group_loops import add_both_ways

        self.pairs.write(outer, inner, tile)
        places = (len(outer), len(inner), outer.start, inner.start)
        add_both_ways(tile, *places, self.codes, self.weights, self.sums)


def _cut_range(strip: range, size: int) -> list[range]:
    return [strip[start : start + size] for start in range(0, len(strip), size)]


def _rounds(n: int) -> Iterator[list[tuple[int, int]]]:
    """Let each of n teams meet each other once, in rounds in which no team plays twice (the circle method)."""
    places = n - 1 + n % 2  # with an odd number, who would meet the team that is not there has a rest
    for r in range(places if n > 1 else 0):
        matches = [((r + i) % places, (r - i) % places) for i in range(1, (places + 1) // 2)]
        yield ([(r, places)] if places < n else []) + matches


def _square_sums(squares: Squares, groups: Groups, visit: Visit, n_jobs: int | None) -> None:
    from bisector.distances.group_loops import square_to_means
    from bisector.engine.loops import given

    rows = squares.rows
    centres = centres_of(squares, groups, n_jobs=n_jobs)
    factors = given(centres.sizes)
    spreads = given(centres.scatters / np.where(centres.sizes > 0, centres.sizes, 1.0))
    fixed = (given(centres.means), given(centres.rests), given(squares.scales), factors, spreads)

    def measure(part: range) -> None:
        sums = np.empty((groups.n_groups, len(part)))
        square_to_means(given(rows.dense(part)), *fixed, sums)
        visit(np.arange(part.start, part.stop), sums)

    parallel(measure, cut(len(rows), _BLOCK), n_jobs=n_jobs)
