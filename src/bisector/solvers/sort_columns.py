"""Features sorted once: the ranks of every column's values beside the rows that have them."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.memory import require
from bisector.engine.threads import parallel

# What a cell takes: its record, its value, and a share of what sorting needs.
_BYTES_A_CELL = 24


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
    from bisector.solvers.grow_tree_loops import rank_column
    from bisector.solvers.split_search_loops import SortedColumns

    n_features = len(categories)
    require(
        _BYTES_A_CELL * n_rows * n_features,
        doing=f"Growing a tree on {n_rows:,} rows and {n_features:,} features",
        holding="every feature in sorted order",
        instead="use fewer rows or features",
    )
    records = np.empty((n_features, n_rows), np.int64)

    def sort(f: int) -> NDArray[np.float64]:
        numbers = np.ascontiguousarray(column(f), dtype=np.float64)
        values = np.empty(n_rows)
        if categories[f]:
            values[: categories[f]] = 0.0  # the rank of a category is its number
            order = np.argsort(numbers, kind="stable")
            ranks = np.where(np.isnan(numbers), 2**31 - 1, numbers).astype(np.int64)
            records[f] = (ranks[order] << 32) | order
            return np.empty(0)
        count = rank_column(numbers, np.argsort(numbers), records[f], values)
        return values[:count].copy() if count < n_rows // 2 else values[:count]

    values = parallel(sort, range(n_features), n_jobs=n_jobs)
    lengths = np.array([0, *map(len, values)], dtype=np.int64)
    return SortedColumns(
        records, np.asarray(categories, np.int64), np.concatenate(values), np.cumsum(lengths)[:-1]
    )
