"""Sources: data as the engine sees it, whatever it came in.

`source(X, y, sample_weight)` asks what X is and answers with an object that knows its shape, its dtype and
its feature names, and reads itself in row blocks as often as a fit wants, with y and the weights cut along.
Nothing is converted as a whole: integers, Fortran order, frames and files become float blocks one at a time.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from itertools import pairwise
from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import Block, ColumnsInPlace, cut, equal_shares, rows_per_block
from .kept_rows import SHARE_FOR_KEEPING
from .memory import budget


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
    y: Any = None
    sample_weight: Any = None
    block_rows: int | None = None
    # Whether a fit has said that it will pass over the rows many times: what is on a disk is then kept at once.
    read_often: bool = False
    # Who runs passes over the rows: map_reduce itself, on threads, unless they are elsewhere.
    executor: Any = None

    @cached_property
    def boundaries(self) -> NDArray[np.int64]:
        """First rows of the blocks, and the number of rows."""
        block_rows = self.block_rows
        if block_rows is None:
            block_rows = equal_shares(self.n_rows, rows_per_block(self.n_features, self.dtype.itemsize))
        return cut(self.partitions, block_rows)

    @property
    def partitions(self) -> list[int]:
        """Numbers of rows of the parts the data came in; no block crosses their borders."""
        return [self.n_rows]

    @property
    def n_blocks(self) -> int:
        return len(self.boundaries) - 1

    @property
    def single_target(self) -> bool:
        """Whether y has one number a row, rather than a row of numbers."""
        return self.y is None or self.y.ndim == 1

    @property
    def n_targets(self) -> int:
        """How many targets a row has; none if there is no y."""
        if self.y is None:
            return 0
        return 1 if self.y.ndim == 1 else int(self.y.shape[1])

    def column(self, name: str, values: Any) -> Any:
        """Lay targets or weights beside the rows, one entry a row."""
        return _beside(self, name, np.asarray(values))

    def beside(self) -> "Source":
        """Return the same blocks without features: for passes over targets and weights alone."""
        if self.y is None and self.sample_weight is None:
            return self  # targets that are read along with the rows
        made = ArraySource(np.empty((self.n_rows, 0)))
        made.y, made.sample_weight = self.y, self.sample_weight
        vars(made)["boundaries"] = self.boundaries
        return made

    def only(self, kept: NDArray[np.bool_]) -> "Source":
        """Return the rows with a flag, without targets and weights."""
        return source(self.take(kept))

    def whereabouts(self, row: int) -> str:
        """Say where a row is, for people."""
        return f"row {row}"

    def most_readers(self) -> float:
        """Return how many threads may read at once within the memory budget."""
        return inf

    def in_dense_blocks(self) -> "Source":
        """Return the same rows in blocks that can be held dense."""
        return self

    def in_columns(self) -> "Source":
        """Return the same rows in blocks whose columns may be left in place, for those who can take them so."""
        return self

    def groups(self, size: int) -> list[range]:
        """Cut the block numbers into runs, about `size` long, that one thread reads in a row."""
        return [range(first, min(first + size, self.n_blocks)) for first in range(0, self.n_blocks, size)]

    @abstractmethod
    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        """Read the blocks with these consecutive numbers, in order; all of them by default."""

    @abstractmethod
    def take(self, rows: ArrayLike) -> Any:
        """Return these rows of X, in the order asked for: row numbers or a mask, as for a NumPy array."""

    def row_numbers(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Return the rows asked for as numbers counted from the first row."""
        asked = np.asarray(rows)
        if asked.dtype == bool and asked.shape == (self.n_rows,):
            return np.flatnonzero(asked)
        if asked.ndim != 1 or (asked.size and asked.dtype.kind not in "iu"):
            raise IndexError("rows are taken by a list of row numbers, or a mask with one flag a row.")
        asked = asked.astype(np.int64)
        outside = (asked < -self.n_rows) | (asked >= self.n_rows)
        if outside.any():
            raise IndexError(f"row {asked[outside][0]} was asked for, but there are {self.n_rows} rows.")
        return np.where(asked < 0, asked + self.n_rows, asked)

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

    # Whether rows are there as blocks want them, so that making a block costs nothing.
    has_rows: bool = True

    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        numbers = range(self.n_blocks) if numbers is None else numbers
        boundaries = self.boundaries[numbers.start : numbers.stop + 1].tolist()
        for first, last in pairwise(boundaries):
            yield Block(
                first,
                self._between_again(first, last),
                None if self.y is None else self.y[first:last],
                None if self.sample_weight is None else self.sample_weight[first:last],
            )

    @abstractmethod
    def between(self, first: int, last: int) -> Any:
        """Return rows ``first:last`` of X as floats."""

    def _between_again(self, first: int, last: int) -> Any:
        """Return rows of a block: those that are made of something else once, if a fit reads often."""
        if self.has_rows or not self.read_often or not self._may_keep:
            return self.between(first, last)
        if (first, last) not in self._kept:
            self._kept[first, last] = np.ascontiguousarray(self.between(first, last))
        return self._kept[first, last]

    @cached_property
    def _kept(self) -> dict[tuple[int, int], NDArray[Any]]:
        return {}

    @cached_property
    def _may_keep(self) -> bool:
        return self.n_rows * self.n_features * self.dtype.itemsize <= SHARE_FOR_KEEPING * budget()


class ArraySource(MemorySource):
    """A NumPy array or memory map, in any order and of any real dtype."""

    def __init__(self, X: NDArray[Any]) -> None:
        self.X = X
        self.n_rows, self.n_features = X.shape
        self.dtype = float_dtype([X.dtype])
        self.has_rows = X.flags.c_contiguous and X.dtype == self.dtype

    def between(self, first: int, last: int) -> NDArray[Any]:
        return np.asarray(self.X[first:last], dtype=self.dtype)

    def in_columns(self) -> Source:
        return self if self.X.flags.c_contiguous else _in_columns(self, list(self.X.T))

    def take(self, rows: ArrayLike) -> NDArray[Any]:
        return np.asarray(self.X[self.row_numbers(rows)], dtype=self.dtype)


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
        return self.X[self.row_numbers(rows)].astype(self.dtype, copy=False)

    def in_dense_blocks(self) -> "SparseSource":
        shorter = copy(self)
        shorter.block_rows = rows_per_block(self.n_features, 8)
        vars(shorter).pop("boundaries", None)
        return shorter


class ColumnSource(MemorySource):
    """Columns of equal length: pandas and polars frames, Arrow tables."""

    has_rows = False

    def __init__(self, columns: list[NDArray[Any]], feature_names: list[str] | None, n_rows: int) -> None:
        self.columns = columns
        self.feature_names = feature_names
        self.n_rows, self.n_features = n_rows, len(columns)
        self.dtype = float_dtype([column.dtype for column in columns])

    def between(self, first: int, last: int) -> NDArray[Any]:
        return self._gather(slice(first, last), last - first)

    def in_columns(self) -> Source:
        return _in_columns(self, self.columns)

    def take(self, rows: ArrayLike) -> NDArray[Any]:
        chosen = self.row_numbers(rows)
        return self._gather(chosen, len(chosen))

    def _gather(self, rows: Any, count: int) -> NDArray[Any]:
        block = np.empty((count, self.n_features), self.dtype)
        for j, column in enumerate(self.columns):
            block[:, j] = column[rows]
        return block


class InColumnsSource(MemorySource):
    """Columns of one float type, each of which stands in memory in one piece: blocks leave them there."""

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self.columns = columns  # to be held on to
        self.n_rows, self.n_features = len(columns[0]), len(columns)
        self.dtype = columns[0].dtype
        self._addresses = np.array([[column.ctypes.data for column in columns]])
        self._cuts = np.array([0, self.n_rows])

    def between(self, first: int, last: int) -> ColumnsInPlace:
        return ColumnsInPlace(self._addresses, self._cuts, first, last - first, self.dtype)

    def take(self, rows: ArrayLike) -> NDArray[Any]:
        return np.stack([column[self.row_numbers(rows)] for column in self.columns], axis=1)


def _in_columns(rows: Source, columns: list[NDArray[Any]]) -> Source:
    """Return the same blocks with columns in place, if they can be."""
    native = rows.dtype.newbyteorder("=")
    if not columns or not all(column.dtype == native and column.flags.c_contiguous for column in columns):
        return rows
    made = InColumnsSource(columns)
    made.y, made.sample_weight = rows.y, rows.sample_weight
    vars(made)["boundaries"] = rows.boundaries
    return made


def float_dtype(dtypes: list[np.dtype[Any]]) -> np.dtype[Any]:
    """Return the float type that blocks of such columns get: float32 only if all of them are."""
    single = bool(dtypes) and all((dtype.kind, dtype.itemsize) == ("f", 4) for dtype in dtypes)
    return np.dtype(np.float32 if single else np.float64)


def source(
    X: Any,
    y: Any = None,
    sample_weight: ArrayLike | None = None,
    *,
    features: Sequence[str] | None = None,
    block_rows: int | None = None,
) -> Source:
    """Make the source of X, y and the weights.

    Parameters
    ----------
    X : array, memory map, sparse matrix or array, pandas or polars frame, Arrow table or dataset, the path of a \
Parquet file or folder, Dask array or dataframe, or list of delayed blocks
    y : array of shape (n_rows,) or (n_rows, n_targets), or the name(s) of columns of X
    sample_weight : array of shape (n_rows,)
    features : columns to read of data on disk, if it has them all; by default all but y
    block_rows : number of rows in a block, instead of what the shape of the data suggests

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> rows = source(np.arange(10).reshape(5, 2), y=[0, 1, 0, 1, 0], block_rows=2)
    >>> [(block.first_row, len(block.X), block.X.dtype.name) for block in rows.blocks()]
    [(0, 2, 'float64'), (2, 2, 'float64'), (4, 1, 'float64')]
    """
    made = _open(X, y, features)
    if y is not None and not named_columns(y):
        made.y = made.column("y", y)
    if sample_weight is not None:
        made.sample_weight = made.column("sample_weight", sample_weight).astype(np.float64, copy=False)
    if block_rows is not None:
        made.block_rows = block_rows
    return made


def _beside(rows: Source, name: str, values: NDArray[Any]) -> NDArray[Any]:
    if values.ndim == 0:
        raise ValueError(f"{name} must be an array with one entry for each of the {rows.n_rows} rows of X.")
    if len(values) != rows.n_rows:
        raise ValueError(f"X has {rows.n_rows} rows but {name} has {len(values)}: give one entry a row.")
    return values


def named_columns(y: Any) -> list[str]:
    """Return the columns of X that y names; none when y is data."""
    if isinstance(y, str):
        return [y]
    names = isinstance(y, list | tuple) and all(isinstance(name, str) for name in y)
    return list(y) if names else []


def is_collection(X: Any) -> bool:
    """Tell whether X is a Dask collection or a list of delayed blocks: rows that are not here."""
    if isinstance(X, list | tuple):
        return bool(X) and all(hasattr(block, "__dask_graph__") for block in X)
    return hasattr(X, "__dask_graph__")


def refuse_collections(X: Any, asked: Any = None) -> None:
    """Refuse rows that are not here, which NumPy would quietly gather as a whole.

    What to do about it the estimator or function that was asked says, in words that follow a colon: its attribute
    ``_instead_of_gathering``.
    """
    if is_collection(X):
        who = "what was asked for" if asked is None else getattr(asked, "__name__", type(asked).__name__)
        remedy = getattr(asked, "_instead_of_gathering", "pass X.compute(), if that fits into memory")
        raise TypeError(f"X is a Dask collection, but {who} needs all rows in memory: {remedy}.")


def _open(X: Any, y: Any, features: Sequence[str] | None) -> Source:
    """Ask X what it is. Libraries that are not loaded cannot have made X, so none is imported for it."""
    targets = named_columns(y)
    if type(X) is np.ndarray and X.ndim == 2 and not targets:
        return ArraySource(X)
    from . import frames

    if is_collection(X):
        from .dask_source import dask_source

        return dask_source(X, y if targets else None, features)
    if frames.is_dataset(X):
        from .dataset_source import dataset_source

        return dataset_source(X, targets, features, single_target=isinstance(y, str))
    if frames.is_frame(X):
        return frames.frame_source(X, targets, single_target=isinstance(y, str))
    if targets:
        raise TypeError(f"y={y!r} names columns, but X is a {type(X).__name__}, whose columns have no names.")
    sparse = hasattr(X, "tocsr")
    X = X if sparse or isinstance(X, np.ndarray) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, but has {X.ndim}.")
    return SparseSource(X) if sparse else ArraySource(X)
