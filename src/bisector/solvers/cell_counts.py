"""Histograms as statistics: between which values columns lie, and how much the rows in every cell weigh.

Both merge, so one pass over the rows gives each, wherever the rows are. Only cells that hold rows are counted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source
from bisector.engine.validation import find_not_finite
from bisector.solvers.unit_box import Extremes

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def column_ranges(rows: Source, *, n_jobs: int | None = None) -> Extremes:
    """Return between which values each column lies, among the rows that have a weight.

    Raises
    ------
    ValueError
        When X has a NaN or infinity, naming its row and column.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.cell_counts import column_ranges
    >>> column_ranges(source(np.array([[3.0, 1.0], [2.0, 5.0]])))
    Extremes(low=array([2., 1.]), high=array([3., 5.]))
    """
    found = map_reduce(block_ranges, rows, n_jobs=n_jobs, doing="measuring columns")
    if not (np.isfinite(found.low) & np.isfinite(found.high)).all():
        find_not_finite(rows)
    return found


def block_ranges(block: Block) -> Extremes:
    """Measure the columns of one block."""
    X = _counted(block)[0]
    return Extremes(X.min(axis=0, initial=np.inf), X.max(axis=0, initial=-np.inf))


@dataclass(frozen=True)
class CellCounts:
    """How much the rows in every cell weigh: a statistic.

    Attributes
    ----------
    numbers : ndarray of int of shape (n_cells,)
        Of the cells that hold rows, ascending: their places along the features as digits, the last feature's last.
    weights : ndarray of shape (n_cells,)
    outside : str or None
        What is to be said about the first row beyond the edges, if there is one.
    """

    numbers: Integers
    weights: Floats
    outside: str | None = None

    def merge(self, other: "CellCounts") -> "CellCounts":
        numbers, cells = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        both = np.concatenate([self.weights, other.weights])
        weights = np.bincount(cells.ravel(), both).astype(np.float64, copy=False)
        return CellCounts(numbers, weights, self.outside or other.outside)


def cell_counts(rows: Source, edges: list[Floats], *, n_jobs: int | None = None) -> CellCounts:
    """Count rows in the cells between edges.

    Parameters
    ----------
    rows : Source
        With finite values.
    edges : list of ndarray
        Where cells begin and end in each feature, ascending; a cell includes its beginning, the last also its end.
    n_jobs : int, optional

    Raises
    ------
    ValueError
        When a row lies beyond the edges.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.cell_counts import cell_counts
    >>> cell_counts(source(np.array([[0.2], [3.0], [0.7]])), [np.array([0.0, 1.0, 2.0, 4.0])])
    CellCounts(numbers=array([0, 2]), weights=array([2., 1.]), outside=None)
    """
    found = map_reduce(block_cells, rows, edges, n_jobs=n_jobs, doing="counting")
    if found.outside is not None:
        raise ValueError(found.outside)
    return found


def block_cells(block: Block, edges: list[Floats]) -> CellCounts:
    """Count the rows of one block."""
    X, weights, kept = _counted(block)
    places, said = places_among(X, edges), None
    if (places < 0).any():
        row, column = np.argwhere(places < 0)[0]
        said = (
            f"Row {block.first_row + kept[row]} of X has {X[row, column]:g} in column {column}, outside of the "
            "edges: widen them."
        )
    numbers, cells = np.unique(cell_numbers(places, edges), return_inverse=True)
    counts = np.bincount(cells.ravel(), weights, minlength=len(numbers)).astype(np.float64, copy=False)
    return CellCounts(numbers, counts, said)


def places_among(X: Floats, edges: list[Floats]) -> Integers:
    """Return the place of every row along each feature, −1 outside; the last cell includes its end."""
    places = np.empty(X.shape, dtype=np.int64)
    for j, one in enumerate(edges):
        found = np.searchsorted(one, X[:, j], side="right") - 1
        found[X[:, j] == one[-1]] = len(one) - 2
        places[:, j] = np.where(found < len(one) - 1, found, -1)
    return places


def cell_numbers(places: Integers, edges: list[Floats]) -> Integers:
    """Return the number of the cell at every place."""
    numbers = np.zeros(len(places), dtype=np.int64)
    for j, one in enumerate(edges):
        numbers = numbers * (len(one) - 1) + places[:, j]
    return numbers


def cell_places(numbers: Integers, edges: list[Floats]) -> Integers:
    """Return the places of cells along each feature, shape (n_cells, n_features): the inverse of `cell_numbers`."""
    places = np.empty((len(numbers), len(edges)), dtype=np.int64)
    for j in range(len(edges) - 1, -1, -1):
        numbers, places[:, j] = np.divmod(numbers, len(edges[j]) - 1)
    return places


def _counted(block: Block) -> tuple[Any, Floats, Integers]:
    """Return the rows of a block that have a weight, as float64, their weights, and which they are."""
    weights = block.weights
    kept = np.flatnonzero(weights > 0)
    X = block.dense.astype(np.float64, copy=False)
    return (X, weights, kept) if len(kept) == len(weights) else (X[kept], weights[kept], kept)
