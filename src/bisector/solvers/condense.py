"""Fewer rows, same answers: condensing for the k-NN rule (LFD 6.2.3).

Let g_D(x) be the vote of the k rows of D nearest to x. A subset S of D is **training-set consistent** if
g_S(x) = g_D(x) for every row x of D. D itself is; to find a small S is hard, and two greedy ways lead to some S:

- *one by one*, for any k: S begins with k rows; while some row x has g_S(x) ≠ g_D(x), the row nearest to x that
  is not in S and has the class g_D(x) enters S;
- *by cells*, for k = 1: S begins with the row nearest to the middle of each class; while there are rows that
  their nearest row of S answers wrongly, the nearest such row of each cell enters S (Angiulli, 2005). What
  enters does not depend on the order of the rows, but for ties.

Both keep, for every row of D, its nearest rows of S, so that a row that enters costs one distance to each row
of D: |S|·n distances in all, and memory for n·k of them. The certificate comes with the result: the answer of S
to every row of D beside that of D.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Distance, Pairs, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel
from bisector.exemplars.central_row import central_row
from bisector.search.brute_force import EveryRow
from bisector.search.index import Index

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows that a thread compares with a new one at a time.
_ROWS_AT_ONCE = 8192
# Rows that are looked at one after the other before others catch up; and blocks of them that do so together.
_BLOCK, _BLOCKS_TOGETHER = 256, 32


class Condensed(NamedTuple):
    """A subset of rows, with what it answers to each row.

    Attributes
    ----------
    kept : ndarray of int
        The numbers of the rows in the subset, ascending.
    answers : ndarray of int of shape (n_rows,)
        The class that the subset's rule gives to each row.
    wanted : ndarray of int of shape (n_rows,)
        The class that the rule of all rows gives to each.
    """

    kept: Integers
    answers: Integers
    wanted: Integers

    @property
    def consistent(self) -> bool:
        """Whether the two agree on every row."""
        return bool(np.array_equal(self.answers, self.wanted))


def condense_by_cells(
    distance: Distance, rows: Rows, codes: Integers, *, n_jobs: int | None = None
) -> Condensed:
    """Condense for the nearest-neighbour rule, cell by cell.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    codes : ndarray of int of shape (n_rows,)
        The class of each row, from 0 on.
    n_jobs : int, optional

    Returns
    -------
    Condensed
    """
    n = len(rows)
    every = np.arange(n)
    # The nearest row of D to a row is the row itself, but for rows at distance zero from an earlier one, which
    # show while they are condensed. Where the axioms of a distance do not say so, it is looked up.
    leads = every if _is_own_nearest(distance) else _nearest_of_all(distance, rows, every, n_jobs)
    wanted = codes[leads].copy()
    best, owners = np.full(n, np.inf), np.full(n, n, dtype=np.int64)
    chosen = np.zeros(n, dtype=bool)
    batch = np.unique(leads[_middles(distance, rows, codes, n_jobs)])
    while True:
        chosen[batch] = True
        _compare_with(distance, rows, batch, best, owners, n_jobs)
        answers = codes[owners]
        wrong = answers != wanted
        # An earlier row at the same place answers for it, whatever is kept.
        contradicted = wrong & (best == 0) & (owners < leads)
        batch = _nearest_in_each_cell(wrong & ~contradicted, best, owners, leads)
        if not len(batch):
            break
    if contradicted.any():
        left = np.flatnonzero(contradicted)
        wanted[left] = codes[_nearest_of_all(distance, rows, left, n_jobs)]
    return Condensed(np.flatnonzero(chosen & ~contradicted), answers, wanted)


def _is_own_nearest(distance: Distance) -> bool:
    return distance.law != "none" and distance.symmetric


def _nearest_of_all(distance: Distance, rows: Rows, asked: Integers, n_jobs: int | None) -> Integers:
    return EveryRow(distance, rows).nearest(rows.take(asked), 1, None, n_jobs).numbers[:, 0]


def _middles(distance: Distance, rows: Rows, codes: Integers, n_jobs: int | None) -> Integers:
    """Return, for each class, the row nearest to its mean, or its medoid where rows have no mean."""
    found = []
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        own = rows.take(members)
        if isinstance(distance, CoordinateDistance):
            assert isinstance(own, NumericRows)
            mean = NumericRows(_mean(own)[None, :], own.dtype, own.n_features, origin=own.origin)
            place = int(EveryRow(distance, own).nearest(mean, 1, None, n_jobs).numbers[0, 0])
        else:
            place = _medoid(distance, own, n_jobs)
        found.append(members[place])
    return np.array(found)


def _medoid(distance: Distance, rows: Rows, n_jobs: int | None) -> int:
    try:
        return central_row(distance, rows, None, n_jobs=n_jobs)
    except ValueError:  # no row reaches all others, so that none is central
        return 0


def _mean(rows: NumericRows) -> Floats:
    """Return the mean of the values present in each column, the same in whatever order the rows stand."""
    n = len(rows)
    if rows.sparse:
        by_column = rows.values.tocsc()
        columns = np.split(by_column.data, by_column.indptr[1:-1])
        return np.array([math.fsum(column.astype(np.float64) / n) for column in columns])
    present = (column[~np.isnan(column)].astype(np.float64) for column in rows.values.T)
    return np.array([math.fsum(column / len(column)) if len(column) else math.nan for column in present])


def _compare_with(
    distance: Distance, rows: Rows, batch: Integers, best: Floats, owners: Integers, n_jobs: int | None
) -> None:
    """Let rows own those that they are nearer to than the owners so far."""
    from bisector.engine.loops import given
    from bisector.solvers.condense_loops import keep_nearer

    pairs = distance.between(rows.take(batch), rows, flipped=True)
    height, width = pairs.tile_shape

    def compare(inner: range) -> None:
        tile = np.empty((min(height, len(batch)), len(inner)))
        here = slice(inner.start, inner.stop)
        for outer in cut(len(batch), height):
            pairs.fill(outer, inner, tile)
            keep_nearer(given(tile), given(batch[outer.start : outer.stop]), best[here], owners[here])

    # Few rows are compared with wide parts of all rows, so that a part is worth a thread's while.
    parts = max(1, height // max(1, len(batch)))
    parallel(compare, cut(len(rows), min(parts * width, _ROWS_AT_ONCE)), n_jobs=n_jobs)


def _nearest_in_each_cell(
    open_rows: NDArray[np.bool_], best: Floats, owners: Integers, leads: Integers
) -> Integers:
    """Return, for each cell, the row nearest to its owner among those that are open."""
    left = np.flatnonzero(open_rows)
    order = np.lexsort((left, best[left], owners[left]))
    _, first = np.unique(owners[left][order], return_index=True)
    return np.unique(leads[left[order[first]]])


def condense_one_by_one(
    index: Index,
    codes: Integers,
    n_classes: int,
    k: int,
    *,
    rng: np.random.Generator | None = None,
    n_jobs: int | None = None,
) -> Condensed:
    """Condense for the k-nearest-neighbour rule, one row after the other.

    Parameters
    ----------
    index : Index
        Of all rows.
    codes : ndarray of int of shape (n_rows,)
        The class of each row, from 0 on.
    n_classes : int
    k : int
        At most the number of rows.
    rng : numpy.random.Generator, optional
        Draws the rows to begin with, and the order in which rows are looked at. By default the first k rows, and
        the order of the rows.
    n_jobs : int, optional

    Returns
    -------
    Condensed
    """
    n = len(index)
    order = np.arange(n) if rng is None else rng.permutation(n)
    neighbours = index.query_prepared(index.rows, k, return_distance=False, n_jobs=n_jobs)
    wanted = _votes(codes[neighbours], n_classes).argmax(axis=1)
    kept = _Kept(index, codes, n_classes, k, order)
    for row in order[:k]:
        kept.enter(int(row))
    blocks = range(len(kept.blocks))
    block = agreed = 0
    while agreed < len(blocks):  # round and round, until all rows agree one after the other
        if block % _BLOCKS_TOGETHER == 0:
            parallel(kept.catch_up, blocks[block : block + _BLOCKS_TOGETHER], n_jobs=n_jobs)
        entered = False
        while (row := kept.next_to_disagree(block, wanted)) is not None:
            kept.enter(kept.helper(row, int(wanted[row]), neighbours[row]))
            entered = True
        agreed = 0 if entered else agreed + 1
        block = (block + 1) % len(blocks)
    answers = np.empty(n, dtype=np.int64)
    answers[order] = kept.answers
    return Condensed(np.flatnonzero(kept.chosen), answers, wanted)


class _Kept:
    """The rows kept so far, and the k nearest of these for every row.

    Rows stand in the order in which they are looked at, cut into blocks. A block is compared with the kept rows
    when it is looked at, with all at once that were kept since it was looked at last.
    """

    def __init__(self, index: Index, codes: Integers, n_classes: int, k: int, order: Integers) -> None:
        n = len(index)
        self.distance, self.rows = index.distance, index.rows.take(order)
        self.codes, self.order = codes, order
        self.places = np.argsort(order)
        self.blocks = cut(n, _BLOCK)
        self.chosen = np.zeros(n, dtype=bool)
        self.answers = np.zeros(n, dtype=np.int64)
        self._entered: list[int] = []
        self._seen = [0] * len(self.blocks)
        self._pairs: Pairs = self.distance.between(self.rows, self.rows, flipped=True)
        self._best, self._numbers = np.full((n, k), np.inf), np.full((n, k), -1, dtype=np.int64)
        self._votes = np.zeros((n, n_classes), dtype=np.int64)
        self._looked_at = 0  # place of the row that disagreed last

    def enter(self, row: int) -> None:
        """Keep a row."""
        self.chosen[row] = True
        self._entered.append(int(self.places[row]))

    def next_to_disagree(self, block: int, wanted: Integers) -> int | None:
        """Return the next row of a block whose answer is not what is wanted, if there is one."""
        self.catch_up(block)
        here = self.blocks[block]
        start = self._looked_at if self._looked_at in here else here.start
        rows = self.order[start : here.stop]
        disagree = np.flatnonzero(self.answers[start : here.stop] != wanted[rows])
        if not len(disagree):
            self._looked_at = -1  # when this block comes again, it is looked at from its start
            return None
        self._looked_at = start + int(disagree[0])
        return int(rows[disagree[0]])

    def catch_up(self, block: int) -> None:
        """Compare a block with the rows kept since it was looked at last."""
        from bisector.engine.loops import given
        from bisector.solvers.condense_loops import enter_rows

        new, here = self._entered[self._seen[block] :], self.blocks[block]
        self._seen[block] += len(new)
        lists = [
            part[here.start : here.stop] for part in (self._best, self._numbers, self._votes, self.answers)
        ]
        for some in (new[start : start + _BLOCK] for start in range(0, len(new), _BLOCK)):
            tile = np.empty((len(some), len(here)))
            if len(some) == 1:
                self._pairs.fill(range(some[0], some[0] + 1), here, tile)
            else:
                pairs = self.distance.between(self.rows.take(np.array(some)), self.rows, flipped=True)
                pairs.fill(range(len(some)), here, tile)
            enter_rows(given(tile), given(self.order[some]), given(self.codes), *lists)

    def helper(self, row: int, code: int, neighbours: Integers) -> int:
        """Return the nearest row that is not kept and has a class.

        With two classes, one of the row's own k nearest always is such a row (LFD, Exercise 6.7). With more, the
        votes against the class may have gathered on one other class, so that it takes rows farther away; and when
        all rows of the class are kept, the nearest row of any class that is not.
        """
        free = neighbours[~self.chosen[neighbours]]
        alike = free[self.codes[free] == code]
        if len(alike):
            return int(alike[0])
        others = np.flatnonzero(~self.chosen & (self.codes == code))
        if not len(others):
            return int(free[0])
        place = int(self.places[row])
        pairs = self.distance.between(self.rows.take(np.array([place])), self.rows.take(self.places[others]))
        values = np.empty((1, len(others)))
        pairs.fill(range(1), range(len(others)), values)
        return int(others[np.argmin(values[0])])


def _votes(codes: Integers, n_classes: int) -> Integers:
    """Count the classes in each row of a table."""
    n = len(codes)
    cells = (np.arange(n)[:, None] * n_classes + codes).ravel()
    return np.bincount(cells, minlength=n * n_classes).reshape(n, n_classes)


def certify(index: Index, codes: Integers, kept: Integers, *, n_jobs: int | None = None) -> Condensed:
    """Ask the nearest-neighbour rules of a subset and of all rows about every row.

    Parameters
    ----------
    index : Index
        Of all rows.
    codes : ndarray of int of shape (n_rows,)
        The class of each row.
    kept : ndarray of int
        The numbers of the rows in the subset, ascending.
    n_jobs : int, optional

    Returns
    -------
    Condensed
    """
    rows = index.rows
    nearest = EveryRow(index.distance, rows.take(kept)).nearest(rows, 1, None, n_jobs).numbers[:, 0]
    of_all = index.query_prepared(rows, 1, return_distance=False, n_jobs=n_jobs)[:, 0]
    return Condensed(kept, codes[kept[nearest]], codes[of_all])
