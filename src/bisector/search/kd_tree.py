"""The k-d tree: rows in boxes along the axes, which a query mostly passes over."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance
from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.engine.validation import check_count
from bisector.search.index import Floats, Index, Integers, Nearest, Structure, Within
from bisector.search.kd_build import MOST_LANES, arrange, cells_of

# Queries that a thread takes at once.
_BLOCK = 512

# From so many queries on it pays to search in the order of the cells they lie in, which then are in the cache.
_MANY_QUERIES = 1024


class KDTree(Index):
    """A tree of boxes along the axes: the fastest index for rows with few coordinates.

    For every distance that is computed coordinate by coordinate, whether it is a metric or not, except those that
    skip missing values. A box is passed over when the query, clamped into it, is farther away than the rows found
    so far; `stats` count that as a distance too. With more than some fifteen coordinates that differ independently,
    few boxes are passed over.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    metric : str, Distance or callable, default="euclidean"
    leaf_size : int, default=32
        How many rows the smallest boxes hold, at most 4096. Multiples of 16 use the processor best. It changes how
        long a query takes, but not what it finds.

    Examples
    --------
    >>> from bisector.search.kd_tree import KDTree
    >>> index = KDTree([[0, 0], [1, 0], [5, 5]])
    >>> distances, numbers = index.query([[4, 5]], k=2)
    >>> numbers
    array([[2, 1]])
    >>> distances.round(3)
    array([[1.   , 5.831]])
    """

    def __init__(self, X: Any, metric: Any = "euclidean", *, leaf_size: int = 32) -> None:
        self.leaf_size = check_count("leaf_size", leaf_size, at_most=MOST_LANES)
        super().__init__(X, metric)

    def _refusal(self) -> str | None:
        if not isinstance(self.distance, CoordinateDistance):
            return (
                f"KDTree needs coordinates to make boxes of, and {self.distance!r} compares none: use MetricTree "
                "if it is a metric, else BruteForce."
            )
        if self.distance.may_miss:
            return (
                f"KDTree needs all coordinates, and {self.distance!r} skips what is missing: use BruteForce."
            )
        return None

    def _arrange(self, rows: Rows) -> "KDStructure":
        assert isinstance(self.distance, CoordinateDistance)
        return KDStructure(self.distance, rows, self.leaf_size)


class KDStructure(Structure):
    """Rows in the boxes of a k-d tree."""

    distance: CoordinateDistance

    def __init__(self, distance: CoordinateDistance, rows: Rows, leaf_size: int) -> None:
        super().__init__(distance, rows)
        self.boxes = arrange(_doubles(rows), leaf_size)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        # Arrays come back writable, for which loops would be compiled anew.
        self.boxes = self.boxes.readable()

    @property
    def formula(self) -> Any:
        """The distance's formula."""
        return self.distance.lower(self.boxes.boxes.shape[1])

    def nearest(self, queries: Rows, k: int, alive: NDArray[np.bool_] | None, n_jobs: int | None) -> Nearest:
        from bisector.search.kd_tree_loops import find_nearest

        n = len(queries)
        reduced, numbers = np.empty((n, k)), np.empty((n, k), dtype=np.int64)
        rows, which = self._neighbouring(queries, n_jobs)
        formula, living = self.formula, _living(alive)

        def search(block: range) -> int:
            place = block.start, block.stop, reduced, numbers
            return int(find_nearest(formula, self.boxes, living, rows, which, *place))

        return Nearest(reduced, numbers, _summed(search, n, n_jobs))

    def within(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> Within:
        from bisector.engine.loops import given

        # Counted first, so that the lists take no more memory than they fill.
        counts, counted = self.count(queries, bounds, alive, n_jobs)
        starts = np.concatenate([[0], np.cumsum(counts)])
        n_found = int(starts[-1])
        require(
            16 * n_found,
            doing=f"Listing what {len(queries):,} queries find",
            holding=f"{n_found:,} rows within their radius",
            instead="use a smaller radius, fewer queries at once, or count_only=True",
        )
        reduced, numbers = np.empty(n_found), np.empty(n_found, dtype=np.int64)
        listed = self._find_within(
            queries, bounds, alive, n_jobs, counts, True, given(starts), reduced, numbers
        )

        def sort(block: range) -> None:
            """Bring the rows that each query of a block found into the order of their numbers."""
            here = slice(starts[block.start], starts[block.stop])
            owners = np.repeat(np.arange(len(block)), counts[block.start : block.stop])
            order = np.argsort(owners * len(self.rows) + numbers[here])
            reduced[here], numbers[here] = reduced[here][order], numbers[here][order]

        parallel(sort, cut(len(queries), _BLOCK), n_jobs=n_jobs)
        return Within(starts, reduced, numbers, counted + listed)

    def count(
        self, queries: Rows, bounds: Floats, alive: NDArray[np.bool_] | None, n_jobs: int | None
    ) -> tuple[Integers, int]:
        from bisector.engine.loops import given

        counts = np.empty(len(queries), dtype=np.int64)
        nothing = given(counts[:0]), np.empty(0), counts[:0]
        return counts, self._find_within(queries, bounds, alive, n_jobs, counts, False, *nothing)

    def _find_within(
        self,
        queries: Rows,
        bounds: Floats,
        alive: NDArray[np.bool_] | None,
        n_jobs: int | None,
        *found: Any,
    ) -> int:
        from bisector.engine.loops import given
        from bisector.search.kd_tree_loops import find_within

        rows, which = self._neighbouring(queries, n_jobs)
        formula, living, limits = self.formula, _living(alive), given(bounds)

        def search(block: range) -> int:
            place = rows, which, block.start, block.stop
            return int(find_within(formula, self.boxes, living, *place, limits, *found))

        return _summed(search, len(queries), n_jobs)

    def _neighbouring(self, queries: Rows, n_jobs: int | None) -> tuple[Floats, Integers]:
        """Return queries as loops take them, ordered by cells if they are many, and which queries they are."""
        from bisector.engine.loops import given

        rows, cuts = _doubles(queries), self.boxes.cuts
        if len(rows) < _MANY_QUERIES or not len(cuts):
            return rows, given(np.arange(len(rows)))
        cells, _, _ = cells_of(rows, self.boxes.coordinates, cuts, n_jobs)
        which = np.argsort(cells, kind="stable")
        return given(rows[which]), given(which)


def _summed(search: Callable[[range], int], n_queries: int, n_jobs: int | None) -> int:
    """Search for all queries, block by block, and add up what it took."""
    if n_queries <= _BLOCK:
        return search(range(n_queries))  # without the few microseconds that starting threads takes
    return sum(parallel(search, cut(n_queries, _BLOCK), n_jobs=n_jobs))


def _living(alive: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    from bisector.engine.loops import given

    return given(np.empty(0, dtype=bool) if alive is None else alive)


def _doubles(rows: Rows) -> Floats:
    """Return rows as a dense float64 array that loops can read."""
    from bisector.engine.loops import given

    assert isinstance(rows, NumericRows)
    if rows.sparse:
        raise ValueError("KDTree takes dense rows: use BruteForce for sparse ones, or X.toarray().")
    return given(rows.values, np.float64)
