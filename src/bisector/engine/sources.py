"""Sources: data as the engine sees it, whatever it came in.

`source(X, y, sample_weight)` asks what X is and answers with an object that knows its shape, its dtype and
its feature names, and reads itself in row blocks as often as a fit wants, with y and the weights cut along.
Nothing is converted as a whole: integers, Fortran order, frames and files become float blocks one at a time.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import Block, cut, rows_per_block


class Source(ABC):
    """Rows that can be read again and again, block by block.

    Attributes
    ----------
    n_rows, n_features : int
    dtype : dtype of the blocks, float32 or float64
    feature_names : list of str, or None
    y : array, or None when there is none or it is read along with the rows
    sample_weight : float64 array, or None
    """

    n_rows: int
    n_features: int
    dtype: np.dtype[Any]
    feature_names: list[str] | None = None
    y: NDArray[Any] | None = None
    sample_weight: NDArray[np.float64] | None = None
    block_rows: int | None = None

    @cached_property
    def boundaries(self) -> NDArray[np.int64]:
        """First rows of the blocks, and the number of rows."""
        block_rows = self.block_rows or rows_per_block(self.n_features, self.dtype.itemsize)
        return cut(self.partitions, block_rows)

    @property
    def partitions(self) -> list[int]:
        """Numbers of rows of the parts the data came in; no block crosses their borders."""
        return [self.n_rows]

    @property
    def n_blocks(self) -> int:
        return len(self.boundaries) - 1

    def groups(self, size: int) -> list[range]:
        """Cut the block numbers into runs, about `size` long, that one thread reads in a row."""
        return [range(first, min(first + size, self.n_blocks)) for first in range(0, self.n_blocks, size)]

    @abstractmethod
    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        """Read the blocks with these consecutive numbers, in order; all of them by default."""

    @abstractmethod
    def take(self, rows: ArrayLike) -> Any:
        """Return these rows of X, in the order asked for."""

    def rows(self) -> Iterator[Block]:
        """Walk through the rows one at a time, in order: for learners that see one example after another."""
        for block in self.blocks():
            for i in range(block.X.shape[0]):
                yield Block(
                    block.first_row + i,
                    block.X[i : i + 1],
                    None if block.y is None else block.y[i : i + 1],
                    None if block.sample_weight is None else block.sample_weight[i : i + 1],
                )


class MemorySource(Source):
    """Base of sources whose rows can be reached in any order."""

    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        for number in range(self.n_blocks) if numbers is None else numbers:
            first, last = (int(row) for row in self.boundaries[number : number + 2])
            yield Block(
                first,
                self.between(first, last),
                None if self.y is None else self.y[first:last],
                None if self.sample_weight is None else self.sample_weight[first:last],
            )

    @abstractmethod
    def between(self, first: int, last: int) -> Any:
        """Return rows ``first:last`` of X as floats."""


class ArraySource(MemorySource):
    """A NumPy array or memory map, in any order and of any real dtype."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.X = X
        self.n_rows, self.n_features = X.shape
        self.dtype = float_dtype([X.dtype])

    def between(self, first: int, last: int) -> NDArray[Any]:
        return np.asarray(self.X[first:last], dtype=self.dtype)

    def take(self, rows: ArrayLike) -> NDArray[Any]:
        return np.asarray(self.X[np.asarray(rows)], dtype=self.dtype)


class SparseSource(MemorySource):
    """A SciPy sparse matrix or array; blocks are CSR."""

    def __init__(self, X: Any) -> None:
        self.X = X.tocsr()
        self.n_rows, self.n_features = X.shape
        self.dtype = float_dtype([X.dtype])
        # What a block costs to hold is what it stores, not its width; and since sparse products do not profit
        # from the cache, while their results are as wide as the data, blocks are longer.
        self.block_rows = 8 * rows_per_block(1 + X.nnz // max(1, self.n_rows), 2 * self.dtype.itemsize)

    def between(self, first: int, last: int) -> Any:
        return self.X[first:last].astype(self.dtype, copy=False)

    def take(self, rows: ArrayLike) -> Any:
        return self.X[np.asarray(rows)].astype(self.dtype, copy=False)


class ColumnSource(MemorySource):
    """Columns of equal length: pandas and polars frames, Arrow tables."""

    def __init__(self, columns: list[NDArray[Any]], feature_names: list[str] | None, n_rows: int) -> None:
        self.columns = columns
        self.feature_names = feature_names
        self.n_rows, self.n_features = n_rows, len(columns)
        self.dtype = float_dtype([column.dtype for column in columns])

    def between(self, first: int, last: int) -> NDArray[Any]:
        return self._gather(slice(first, last), last - first)

    def take(self, rows: ArrayLike) -> NDArray[Any]:
        rows = np.asarray(rows)
        chosen = np.flatnonzero(rows) if rows.dtype == bool else rows
        return self._gather(chosen, len(chosen))

    def _gather(self, rows: Any, count: int) -> NDArray[Any]:
        block = np.empty((count, self.n_features), self.dtype)
        for j, column in enumerate(self.columns):
            block[:, j] = column[rows]
        return block


def float_dtype(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the float type that blocks of such columns get: float32 only if all of them are."""
    single = bool(dtypes) and all(dtype == np.float32 for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def source(
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    block_rows: int | None = None,
) -> Source:
    """Make the source of X, y and the weights.

    Parameters
    ----------
    X : array, memory map, sparse matrix or array, pandas or polars frame, Arrow table or dataset, or the \
path of a Parquet file or folder
    y : array of shape (n_rows,) or (n_rows, n_targets), or the name(s) of columns of X
    sample_weight : array of shape (n_rows,)
    block_rows : number of rows in a block, instead of what the shape of the data suggests

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> rows = source(np.arange(10).reshape(5, 2), y=[0, 1, 0, 1, 0], block_rows=2)
    >>> [(block.first_row, len(block.X), block.X.dtype.name) for block in rows.blocks()]
    [(0, 2, 'float64'), (2, 2, 'float64'), (4, 1, 'float64')]
    """
    made = _open(X, y)
    if y is not None and not _names_columns(y):
        made.y = np.asarray(y)
        if len(made.y) != made.n_rows:
            raise ValueError(f"X has {made.n_rows} rows but y has {len(made.y)}: give one target a row.")
    if sample_weight is not None:
        made.sample_weight = np.asarray(sample_weight, dtype=np.float64)
    if block_rows is not None:
        made.block_rows = block_rows
    return made


def _names_columns(y: Any) -> bool:
    return isinstance(y, str) or (
        isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)
    )


def _open(X: Any, y: Any) -> Source:
    """Ask X what it is. Libraries that are not loaded cannot have made X, so none is imported for it."""
    from . import frames

    targets = ([y] if isinstance(y, str) else list(y)) if _names_columns(y) else []
    if frames.is_dataset(X):
        return frames.dataset_source(X, targets, single_target=isinstance(y, str))
    if frames.is_frame(X):
        return frames.frame_source(X, targets, single_target=isinstance(y, str))
    if targets:
        raise TypeError(f"y={y!r} names columns, but X is a {type(X).__name__}, whose columns have no names.")
    if hasattr(X, "tocsr"):
        return SparseSource(X)
    X = X if isinstance(X, np.ndarray) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, but has {X.ndim}.")
    return ArraySource(X)
