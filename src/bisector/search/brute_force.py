"""Brute force: every query is compared with every row. Other indexes are measured by it."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from bisector.distances.coordinate_distance import CoordinatePairs
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel, threads_for
from bisector.search.comparing import ByFormula, Heaps, Listed, Mask, in_turn, merged, parts_of, whole_groups
from bisector.search.index import Floats, Index, Integers, Nearest, Structure, Within
from bisector.search.screening import LARGEST_SHARE, ByProducts, Screen, Screens

# So many times as many items of work as threads, that all threads end at about the same time.
_ITEMS_A_THREAD = 4
# References that an item has at least.
_FEWEST_REFERENCES = 2**14
# So few pairs are not worth waking a thread.
_FEW_PAIRS = 2**16
# Queries, and pairs of a query and a row, for which it pays to prepare the rows for screening; if these hold fewer
# numbers than an eighth of that, the formula is through with them sooner.
_QUERIES_TO_SCREEN, _PAIRS_TO_SCREEN = 4, 2**18


class BruteForce(Index):
    """All rows, searched by comparing the query with each.

    For any distance. Where it sums squares of differences (Euclidean, Mahalanobis, cosine …), matrix products
    in single precision rule out the rows that are certainly too far, and only the others are decided by the
    formula: the answers are the same, bit for bit. The rows are held a second time for that, in single
    precision. With tens of coordinates this is hard to beat; with few, or with rows that lie in clusters, a
    tree looks at a small part of the rows only.

    Parameters
    ----------
    X : rows
        What the distance compares: a matrix, strings, sets, a frame.
    metric : str, Distance or callable, default="euclidean"

    Examples
    --------
    >>> from bisector.search.brute_force import BruteForce
    >>> index = BruteForce([[0, 0], [1, 0], [5, 5]])
    >>> distances, numbers = index.query([[4, 5]], k=2)
    >>> numbers
    array([[2, 1]])
    >>> distances.round(3)
    array([[1.   , 5.831]])
    >>> index.query_radius([[0, 0]], 1).toarray()
    array([[0., 1., 0.]])
    """

    def _arrange(self, rows: Rows) -> Structure:
        return EveryRow(self.distance, rows)


class EveryRow(Structure):
    """Rows as they are, and what their screening needs once enough queries have come for it to pay."""

    def __init__(self, distance: Distance, rows: Rows) -> None:
        super().__init__(distance, rows)
        self._asked = 0
        self._screens = Screens(distance, rows)
        self._width = rows.values.shape[1] if isinstance(rows, NumericRows) else 1

    def nearest(self, queries: Rows, k: int, alive: Mask | None, n_jobs: int | None) -> Nearest:
        reduced, numbers = np.empty((len(queries), k)), np.empty((len(queries), k), dtype=np.int64)
        left = np.arange(len(queries))
        for screen in self._ways(len(queries), k, n_jobs):
            way = self._way(queries if len(left) == len(queries) else queries.take(left), screen)
            (reduced[left], numbers[left]), decided = _nearest(way, k, alive, n_jobs)
            left = left[~decided]
            if not len(left):
                break
        return Nearest(reduced, numbers, self._computed(queries, alive))

    def within(self, queries: Rows, bounds: Floats, alive: Mask | None, n_jobs: int | None) -> Within:
        way = self._first_way(queries, n_jobs)

        def search(block: range) -> Listed:
            return way.within(block, bounds[block.start : block.stop], range(len(self.rows)), alive)

        found = parallel(search, _blocks(len(queries), way.most_queries(0), n_jobs), n_jobs=n_jobs)
        counts, reduced, numbers = in_turn(found)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return Within(starts, reduced, numbers, self._computed(queries, alive))

    def count(
        self, queries: Rows, bounds: Floats, alive: Mask | None, n_jobs: int | None
    ) -> tuple[Integers, int]:
        way = self._first_way(queries, n_jobs)

        def search(block: range) -> Integers:
            return way.count(block, bounds[block.start : block.stop], range(len(self.rows)), alive)

        found = parallel(search, _blocks(len(queries), way.most_queries(0), n_jobs), n_jobs=n_jobs)
        return np.concatenate([np.zeros(0, dtype=np.int64), *found]), self._computed(queries, alive)

    def _ways(self, n_queries: int, k: int, n_jobs: int | None) -> Iterator[Screen | None]:
        """Yield the screens to compare by, the fastest first; then None: the formula, which leaves nothing open."""
        self._asked += n_queries
        n = len(self.rows)
        many = self._asked >= _QUERIES_TO_SCREEN and self._asked * n >= _PAIRS_TO_SCREEN
        if many and 8 * n * self._width >= _PAIRS_TO_SCREEN and k <= LARGEST_SHARE * n:
            for dtype in (np.float32, np.float64):
                if screen := self._screens.of(dtype, n_jobs):
                    yield screen
        yield None

    def _first_way(self, queries: Rows, n_jobs: int | None) -> ByFormula | ByProducts:
        return self._way(queries, next(self._ways(len(queries), 0, n_jobs)))

    def _way(self, queries: Rows, screen: Screen | None) -> ByFormula | ByProducts:
        pairs = self.distance.between(queries, self.rows)
        if screen is None:
            return ByFormula(pairs)
        assert isinstance(pairs, CoordinatePairs)
        return ByProducts(screen, pairs)

    def _computed(self, queries: Rows, alive: Mask | None) -> int:
        return len(queries) * (len(self.rows) if alive is None else int(alive.sum()))


def _nearest(
    way: ByFormula | ByProducts, k: int, alive: Mask | None, n_jobs: int | None
) -> tuple[Heaps, Mask]:
    """Find the k nearest of all queries, in ascending order; tell also which queries have been decided."""
    n_queries, n_references = way.pairs.shape
    if n_queries * n_references <= _FEW_PAIRS and isinstance(way.pairs, CoordinatePairs):
        n_jobs = 1
    blocks = _blocks(n_queries, way.most_queries(k), n_jobs)
    # Where the blocks are fewer than the threads, these share the references.
    n_parts = -(-threads_for(n_jobs) // max(1, len(blocks)))
    share = max(_FEWEST_REFERENCES, -(-n_references // n_parts))
    parts = parts_of(range(n_references), whole_groups(share))
    searches = parallel(
        lambda item: way.nearest(item[0], k, item[1], alive), list(product(blocks, parts)), n_jobs=n_jobs
    )
    heaps = Heaps.empty(n_queries, k)
    decided = np.ones(n_queries, dtype=bool)
    for block, first in zip(blocks, range(0, len(searches), len(parts)), strict=True):
        here = slice(block.start, block.stop)
        found, sure = zip(*searches[first : first + len(parts)], strict=True)
        heaps.reduced[here], heaps.numbers[here] = merged(found, k)
        decided[here] = np.all(sure, axis=0)
    return heaps, decided


def _blocks(n_queries: int, most: int, n_jobs: int | None) -> list[range]:
    """Cut queries into blocks: as large as is best, and enough of them for all threads."""
    threads = threads_for(n_jobs)
    share = -(-n_queries // (_ITEMS_A_THREAD * threads)) if threads > 1 else n_queries
    return cut(n_queries, min(most, whole_groups(max(1, share))))
