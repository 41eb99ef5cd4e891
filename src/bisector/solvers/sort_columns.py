"""Features sorted once: the ranks of every column's values beside the rows that have them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.memory import require
from bisector.engine.threads import parallel

# What a cell takes: its record, its value, and a share of what sorting needs.
_BYTES_A_CELL = 24
# So many cells are sorted on one thread: handing out the work would take longer.
_FEW = 20_000


def sort_columns(
    column: Callable[[int], NDArray[Any]],
    n_rows: int,
    categories: NDArray[np.int64],
    *,
    n_jobs: int | None = None,
) -> Any:
    """Sort every feature.

    Parameters
    ----------
    column : function
        Gives column f as numbers; NaN where a value is missing. Categories are numbered from 0.
    n_rows : int
    categories : ndarray of int of shape (n_features,)
        How many categories a column has; 0 if it holds numbers.

    Returns
    -------
    SortedColumns
    """
    from bisector.engine.loops import given
    from bisector.solvers.grow_tree_loops import rank_column
    from bisector.solvers.split_search_loops import MISSING, SortedColumns

    n_features = len(categories)
    require(
        _BYTES_A_CELL * n_rows * n_features,
        doing=f"Growing a tree on {n_rows:,} rows and {n_features:,} features",
        holding="every feature in sorted order",
        instead="use fewer rows or features",
    )
    records = np.empty((n_features, n_rows), np.int64)

    def sort(f: int) -> NDArray[np.float64]:
        numbers = given(column(f), np.float64)
        if categories[f]:
            order = np.argsort(numbers, kind="stable")
            # The rank of a category is its number.
            ranks = np.where(np.isnan(numbers), MISSING, numbers).astype(np.int64)
            records[f] = (ranks[order] << 32) | order
            return np.empty(0)
        values = np.empty(n_rows)
        count = rank_column(numbers, np.argsort(numbers), records[f], values)
        return values[:count].copy() if count < n_rows // 2 else values[:count]

    few = n_rows * n_features <= _FEW
    values = [sort(f) for f in range(n_features)] if few else parallel(sort, range(n_features), n_jobs=n_jobs)
    lengths = np.array([0, *map(len, values)], dtype=np.int64)
    return SortedColumns(
        records, np.asarray(categories, np.int64), np.concatenate(values), np.cumsum(lengths)[:-1]
    )
