"""Rows in the partitions of a Dask collection, searched where they are.

Each partition has an index of its own, made in the task that has its rows; what all of them find merges by reduced
distance and row number. So the nearest rows are those that one index of all rows would find, and no partition
travels: only queries go out, and their nearest rows come back, with what belongs to these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.engine.dask_questions import Question, answers_later, answers_now, pieces_of
from bisector.engine.sources import MemorySource, Source
from bisector.engine.validation import check_count
from bisector.search.choose import build_index
from bisector.search.index import Index

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# About fewer queries than these, comparing with every row takes less time than arranging them.
FEW_QUERIES = 64
# So many pairs of a query and a neighbour are found at once.
PAIRS_AT_ONCE = 2**22


class Near(NamedTuple):
    """The nearest rows of some queries, nearest first.

    Attributes
    ----------
    reduced, distances : ndarray of shape (n_queries, k)
        As they are compared, and finished.
    numbers : ndarray of int of shape (n_queries, k)
        Which rows of the collection.
    targets : ndarray of shape (n_queries, k, n_targets) or None
        What belongs to these rows.
    """

    reduced: Floats
    distances: Floats
    numbers: Integers
    targets: NDArray[Any] | None


class Arranged(NamedTuple):
    """A partition that can be searched."""

    searched: Index
    first_row: int
    targets: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class NearestQuestion(Question):
    """Which k rows are nearest."""

    distance: Distance
    algorithm: str
    leaf_size: int | None
    k: int

    def arrange(self, rows: Source, first_row: int) -> Arranged:
        assert isinstance(rows, MemorySource)
        items = rows.between(0, rows.n_rows)
        index = build_index(items, self.distance, algorithm=self.algorithm, leaf_size=self.leaf_size)
        targets = None if rows.y is None else np.asarray(rows.y).reshape(rows.n_rows, -1)
        return Arranged(index, first_row, targets)

    def ask(self, arranged: Arranged, queries: Any) -> Near:
        index = arranged.searched
        prepared = index.prepare(queries)
        reduced, numbers = index.reduced_prepared(prepared, min(self.k, len(index)))
        targets = None if arranged.targets is None else arranged.targets[numbers]
        return Near(reduced, index.finish(prepared, reduced), numbers + arranged.first_row, targets)

    def merge(self, answers: Sequence[Near]) -> Near:
        reduced, distances, numbers = (
            np.concatenate([getattr(one, name) for one in answers], axis=1)
            for name in ("reduced", "distances", "numbers")
        )
        order = np.lexsort((numbers, reduced), axis=1)[:, : self.k]
        rows = np.arange(len(order))[:, None]
        carried = [one.targets for one in answers if one.targets is not None]
        targets = np.concatenate(carried, axis=1)[rows, order] if carried else None
        return Near(reduced[rows, order], distances[rows, order], numbers[rows, order], targets)

    def finish(self, answer: Near, queries: Any) -> Any:
        return answer


class PartitionedIndex:
    """The rows of a Dask collection, which can be searched for the nearest of a query, exactly.

    An index of a partition is made when it is needed, and not kept: each call reads the collection once.
    If its rows fit into the memory of the cluster, persist the collection first.

    Parameters
    ----------
    rows : Source
        Of a Dask collection; its targets come back with the rows they belong to.
    distance : Distance
        With what it learned from the rows.
    algorithm, leaf_size
        Of the index of each partition, as for `bisector.search.build_index`.

    Examples
    --------
    >>> import dask.array as da
    >>> from bisector.distances import Euclidean
    >>> from bisector.engine.sources import source
    >>> from bisector.search.partitioned_index import PartitionedIndex
    >>> rows = source(da.arange(10, chunks=4).reshape(-1, 1))
    >>> PartitionedIndex(rows, Euclidean()).query([[3.4]], k=3)
    (array([[0.4, 0.6, 1.4]]), array([[3, 4, 2]]))
    """

    def __init__(
        self, rows: Source, distance: Distance, *, algorithm: str = "auto", leaf_size: int | None = None
    ) -> None:
        self.distance = distance
        self.pieces = pieces_of(rows)
        self.n_rows = rows.n_rows
        self.algorithm, self.leaf_size = algorithm, leaf_size
        self.reason = f"PartitionedIndex: {len(self.pieces):,} partitions, each searched where it is."

    def __len__(self) -> int:
        return self.n_rows

    def question(self, k: int, n_queries: int | None = None) -> NearestQuestion:
        """Return the question for the k nearest rows, of so many queries if that is known."""
        k = check_count("k", k)
        if k > len(self):
            raise ValueError(f"k is {k}, but the index holds only {len(self)} rows: k must not exceed that.")
        few = self.algorithm == "auto" and n_queries is not None and n_queries < FEW_QUERIES
        return NearestQuestion(self.distance, "brute" if few else self.algorithm, self.leaf_size, k)

    def query(self, X: Any, k: int = 1, *, return_distance: bool = True, n_jobs: int | None = None) -> Any:
        """Find the k nearest rows of every row of X, which is in memory; see `Index.query`."""
        items = X if hasattr(X, "shape") else np.asarray(X)
        found = self.near(items, k)
        return (found.distances, found.numbers) if return_distance else found.numbers

    def near(self, items: Any, k: int) -> Near:
        """Find the k nearest rows of items in memory, and what belongs to them."""
        n, at_once = items.shape[0], max(1, PAIRS_AT_ONCE // k)
        question = self.question(k, n)
        found = [self.now(question, items[first : first + at_once]) for first in range(0, max(n, 1), at_once)]
        return (
            found[0] if len(found) == 1 else Near(*(_joined(column) for column in zip(*found, strict=True)))
        )

    def now(self, question: Question, items: Any) -> Any:
        """Ask a question about items in memory."""
        return answers_now(question, self.pieces, items, "searching")

    def later(self, question: Question, X: Any, model: Any, empty: Any) -> Any:
        """Promise the answers to a question about the rows of a Dask collection."""
        return answers_later(question, self.pieces, X, model, empty)

    def positions(self, ids: Integers) -> Integers:
        """Return where rows stand: at their numbers."""
        return ids

    # What needs the rows here

    def prepare(self, X: Any) -> NoReturn:
        """Refuse: queries are prepared where the rows are."""
        self._refuse()

    def query_prepared(self, queries: Any, k: int = 1, *, n_jobs: int | None = None) -> NoReturn:
        """Refuse: there are no prepared queries."""
        self._refuse()

    @property
    def rows(self) -> NoReturn:
        """Refuse to gather the rows."""
        self._refuse()

    @property
    def ids(self) -> NoReturn:
        """Refuse to name rows one by one."""
        self._refuse()

    def add(self, X: Any) -> NoReturn:
        """Refuse to add rows."""
        self._refuse()

    def remove(self, ids: Any) -> NoReturn:
        """Refuse to remove rows."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise TypeError(
            "This model was fitted on a Dask collection, whose rows stay where they are, and can be asked for "
            "kneighbors and predictions at other rows only: for all else fit it on X.compute(), if that fits into "
            "memory."
        )


def _joined(column: tuple[Any, ...]) -> Any:
    return None if column[0] is None else np.concatenate(column)
