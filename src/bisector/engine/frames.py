"""Frames and files as sources: pandas, polars, Arrow tables in memory; Parquet and Arrow datasets on disk."""

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import Block
from .kept_rows import SHARE_FOR_KEEPING, KeptRows
from .memory import budget
from .parquet_pages import PlainColumn, plain_columns
from .sources import ColumnSource, Source, float_dtype


def _made_by(X: Any, library: str, *kinds: str) -> bool:
    # A module that another thread is importing may lack its classes yet.
    module = sys.modules.get(library)
    return isinstance(X, tuple(getattr(module, kind, ()) for kind in kinds))


def is_frame(X: Any) -> bool:
    """Tell whether X is a table in memory with named columns."""
    return (
        _made_by(X, "pandas", "DataFrame")
        or _made_by(X, "polars", "DataFrame")
        or _made_by(X, "pyarrow", "Table", "RecordBatch")
    )


def is_dataset(X: Any) -> bool:
    """Tell whether X is data on disk: a path, or an Arrow dataset."""
    return isinstance(X, str | os.PathLike) or _made_by(X, "pyarrow.dataset", "Dataset")


def header(X: Any, feature_names: list[str] | None, targets: list[str]) -> Any:
    """Return a table without rows that has the names of X's columns, the targets left out."""
    if _made_by(X, "pandas", "DataFrame"):
        return X.iloc[:0, [j for j, name in enumerate(X.columns) if name not in targets]]
    if _made_by(X, "polars", "DataFrame"):
        return X.clear().drop(targets)
    import pyarrow

    names = feature_names or []
    return pyarrow.table([pyarrow.array([], pyarrow.float64())] * len(names), names=names)


def split_column(X: Any, name: str) -> tuple[Any, NDArray[Any]]:
    """Take one column out of a frame or of data on disk: return the rest, and the column as it is."""
    if is_dataset(X):
        X = _dataset(X)
        check_targets([name], list(X.schema.names))
        return X, _arrow_column(X.to_table(columns=[name]).column(0))
    if not is_frame(X):
        raise TypeError(
            f"y={name!r} names a column, but X is a {type(X).__name__}, whose columns have no names."
        )
    names, column = _columns_of(X)
    check_targets([name], names)
    values = column(names.index(name))
    if _made_by(X, "pandas", "DataFrame"):
        return X.drop(columns=name), values
    if _made_by(X, "polars", "DataFrame"):
        return X.drop(name), values
    return X.drop_columns(name), values


# Tables in memory


def frame_source(X: Any, targets: list[str], *, single_target: bool) -> ColumnSource:
    """Make the source of a frame; `targets` are columns to be read as y."""
    names, column = _columns_of(X)
    check_targets(targets, names)
    kept = [j for j, name in enumerate(names) if name not in targets]
    strings = all(isinstance(name, str) for name in names)
    made = ColumnSource(
        [_numbers(column(j), names[j]) for j in kept],
        [names[j] for j in kept] if strings else None,
        n_rows=len(X),
    )
    if targets:
        columns = [_numbers(column(names.index(name)), name) for name in targets]
        made.y = columns[0] if single_target else np.column_stack(columns)
    return made


def check_targets(targets: list[str], names: list[Any]) -> None:
    """Check that y names columns, each of which there is once."""
    for target in targets:
        if target not in names:
            raise ValueError(f"y names the column {target!r}, which X does not have; it has {names}.")
        if names.count(target) > 1:
            raise ValueError(f"y names the column {target!r}, of which X has {names.count(target)}.")


def column_values(X: Any, j: int) -> NDArray[Any]:
    """Return column j of a frame as an array, a view if it can."""
    values: NDArray[Any] = _columns_of(X)[1](j)
    return values


def _columns_of(X: Any) -> tuple[list[Any], Any]:
    """Return the names of the columns and a function that gives column j as an array, a view if it can."""
    if _made_by(X, "pandas", "DataFrame"):
        return list(X.columns), lambda j: _pandas_column(X.iloc[:, j])
    if _made_by(X, "polars", "DataFrame"):
        return list(X.columns), lambda j: X.to_series(j).to_numpy()
    return list(X.schema.names), lambda j: _arrow_column(X.column(j))


def _pandas_column(column: Any) -> NDArray[Any]:
    kind = column.dtype.kind
    if isinstance(column.dtype, np.dtype) and kind in "iufb":
        return column.to_numpy()
    if kind in "iufb":  # an extension type that may hold missing values
        single = (kind, getattr(column.dtype, "itemsize", None)) == ("f", 4)
        return column.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan)
    return column.to_numpy(dtype=object, na_value=np.nan)


def _arrow_column(column: Any) -> NDArray[Any]:
    chunked = hasattr(column, "combine_chunks") and hasattr(column, "num_chunks")
    return column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)


def _numbers(column: NDArray[Any], name: Any, first_row: int = 0) -> NDArray[Any]:
    """Return the column as numbers, missing ones as NaN, or say which of its values is none."""
    if column.dtype.kind in "iufb" and column.ndim == 1:
        return column
    numbers = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            numbers[i] = _number(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"Column {name!r} holds {value!r} in row {first_row + i}, which is not a number: encode the "
                "column first, for example with sklearn.preprocessing.OneHotEncoder, or leave it out."
            ) from None
    return numbers


def _number(value: Any) -> float:
    if isinstance(value, np.ndarray | np.datetime64 | np.timedelta64):
        raise TypeError  # NumPy would make a float of some of them
    return np.nan if value is None else float(value)


# Data on disk

# What Parquet files are mostly written with; what reading may take of the memory budget.
PAGE_BYTES = 2**20
SHARE_FOR_READING = 0.75
# So much is decoded at a time where there is room for it: a batch costs the same few calls for every column, short
# or long. Elsewhere a batch is a block, and files are read through small buffers, of which each column has one.
BATCH_BYTES, ROOM = 2**26, 2**30
SMALL_BUFFER = 2**16
# Rows whose columns are held side by side before they become rows: as many as the cache holds of a few columns.
PIECE_ROWS = 2**13


# The number of the first row, features and targets.
_Rows = tuple[int, NDArray[Any], NDArray[Any]]


class DatasetSource(Source):
    """An Arrow dataset or Parquet files, read as a stream: a few blocks are in memory at a time."""

    def __init__(
        self, dataset: Any, targets: list[str], features: Sequence[str] | None, *, single_target: bool
    ) -> None:
        names = list(dataset.schema.names)
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise ValueError(f"The data have several columns called {twice[0]!r}: give each its own name.")
        check_targets(targets, names)
        others = [name for name in names if name not in targets]
        self.feature_names = (
            list(features) if features is not None and set(features) <= set(others) else others
        )
        self._targets = targets
        self._single_target = single_target
        self._parts = [part for fragment in dataset.get_fragments() for part in _parts_of(fragment)]
        self.n_rows = sum(part.n_rows for part in self._parts)
        self.n_features = len(self.feature_names)
        self.dtype = float_dtype([_arrow_dtype(dataset.schema.field(name)) for name in self.feature_names])
        self._kept = KeptRows(self.n_rows, self.n_features + len(targets), self._row_dtype)
        self._read_once: set[int] = set()
        self._kept_parts: set[int] = set()

    @property
    def partitions(self) -> list[int]:
        return [part.n_rows for part in self._parts]

    @property
    def single_target(self) -> bool:
        return self._single_target if self._targets else super().single_target

    @property
    def n_targets(self) -> int:
        return len(self._targets) or super().n_targets

    def most_readers(self) -> int:
        """Return how many threads may read at once: each holds pages and a batch of columns, and two blocks."""
        longest = max(self.partitions, default=0)
        block_rows = int(np.diff(self.boundaries).max(initial=0))
        columns = self.n_features + len(self._targets)
        batch_rows = min(longest, _batch_rows(block_rows, columns))
        per_reader = columns * (
            2 * min(PAGE_BYTES, 8 * longest) + 8 * (batch_rows + 2 * block_rows + min(longest, PIECE_ROWS))
        )
        share = SHARE_FOR_READING - (SHARE_FOR_KEEPING if self._kept.in_memory else 0)
        return max(1, int(share * budget() / max(1, per_reader)))

    def groups(self, size: int) -> list[range]:
        ends = np.searchsorted(self.boundaries, np.cumsum(self.partitions)).tolist()
        return [range(first, last) for first, last in zip([0, *ends], ends, strict=False) if first < last]

    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        numbers = range(self.n_blocks) if numbers is None else numbers
        if not numbers:
            return
        first, last = int(self.boundaries[numbers.start]), int(self.boundaries[numbers.stop])
        starts = np.concatenate([[0], np.cumsum(self.partitions)])
        for number, (part, start) in enumerate(zip(self._parts, starts.tolist(), strict=False)):
            if part.n_rows and start < last and start + part.n_rows > first:
                end = min(start + part.n_rows, last)
                inside = self.boundaries[(self.boundaries >= start) & (self.boundaries <= end)]
                for first_row, X, targets in self._tables(number, np.unique(inside)):
                    if first <= first_row:
                        yield self._block(first_row, X, targets)

    def take(self, rows: ArrayLike) -> NDArray[Any]:
        wanted = self.row_numbers(rows)
        taken = np.empty((len(wanted), self.n_features), self.dtype)
        if not len(wanted):
            return taken
        first, last = np.searchsorted(self.boundaries, [wanted.min(), wanted.max()], side="right").tolist()
        for block in self.blocks(range(first - 1, last)):
            here = np.flatnonzero((wanted >= block.first_row) & (wanted < block.first_row + len(block.X)))
            taken[here] = block.X[wanted[here] - block.first_row]
        return taken

    def _tables(self, number: int, boundaries: NDArray[np.int64]) -> Iterator[_Rows]:
        """Read a part, or its beginning, in tables between these rows: decode it, or take what was kept of it."""
        if number in self._kept_parts:
            for first, last in pairwise(boundaries.tolist()):
                table = self._kept.between(first, last)
                yield first, table[:, : self.n_features], table[:, self.n_features :]
            return
        whole = boundaries[-1] - boundaries[0] == self._parts[number].n_rows
        keeping = whole and number in self._read_once
        for first, X, targets in self._decode(self._parts[number], boundaries):
            keeping = keeping and self._kept.keep(first, np.hstack([X, targets]) if self._targets else X)
            yield first, X, targets
        if whole:
            self._read_once.add(number)
        if keeping:
            self._kept_parts.add(number)

    def _decode(self, part: "_Part", boundaries: NDArray[np.int64]) -> Iterator[_Rows]:
        """Fill table after table from the columns that arrive in pieces, which are cut as the file likes."""
        from .loops import given
        from .upright_loops import stand_upright

        names = [*(self.feature_names or []), *self._targets]
        sizes, first_row = np.diff(boundaries).tolist(), int(boundaries[0])
        number, filled = 0, 0
        X, targets = self._room(sizes[0])
        for columns, arrived in part.pieces(names, self._row_dtype, first_row, sum(sizes), max(sizes)):
            used = 0
            while used < arrived:
                count = min(len(X) - filled, arrived - used)
                stand_upright(given(columns[: self.n_features]), used, count, X, filled)
                stand_upright(given(columns[self.n_features :]), used, count, targets, filled)
                filled, used = filled + count, used + count
                if filled == len(X):
                    yield int(boundaries[number]), X, targets
                    number, filled = number + 1, 0
                    if number == len(sizes):
                        return
                    X, targets = self._room(sizes[number])

    def _room(self, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Make tables of their own for features and targets: loops want rows without gaps."""
        widths = self.n_features, len(self._targets)
        X, targets = (np.empty((n_rows, width), self._row_dtype) for width in widths)
        return X, targets

    @property
    def _row_dtype(self) -> np.dtype[Any]:
        return self.dtype if not self._targets else np.dtype(np.float64)

    def _block(self, first: int, X: NDArray[Any], targets: NDArray[Any]) -> Block:
        y: NDArray[Any] | None
        if self._targets:
            y = targets[:, 0] if self._single_target else targets
        else:
            y = None if self.y is None else self.y[first : first + len(X)]
        weight = None if self.sample_weight is None else self.sample_weight[first : first + len(X)]
        return Block(first, np.asarray(X, dtype=self.dtype), y, weight)


class _Part:
    """What one thread reads in a row: a row group of a Parquet file, or a whole file of another format."""

    def __init__(self, fragment: Any, row_group: int | None, n_rows: int) -> None:
        import pyarrow.dataset

        self._fragment = fragment
        self._row_group = row_group
        self.n_rows = n_rows
        self._plain: dict[tuple[str, ...], list[PlainColumn] | None] = {}
        # What the name of the file's folder tells, as in "year=2024/".
        self._same_everywhere = pyarrow.dataset.get_partition_keys(fragment.partition_expression)

    def pieces(
        self, names: list[str], dtype: np.dtype[Any], first_row: int, n_rows: int, block_rows: int
    ) -> Iterator[tuple[NDArray[Any], int]]:
        """Read the first rows of the part: columns that stand side by side, and how many rows of them are filled.

        The array is the same every time; its lines are a little longer than its pieces, because those of exactly
        a power of two would all fall on the same few places of the cache.
        """
        columns = np.empty((len(names), min(PIECE_ROWS, n_rows) + 8), dtype)
        plain = self._plain_columns(names)
        if plain is not None:
            yield from self._plain_pieces(plain, columns, n_rows)
            return
        for batch in self._batches(names, min(n_rows, _batch_rows(block_rows, len(names)))):
            arrays = [_numbers(self._column(batch, name), name, first_row) for name in names]
            for first in range(0, batch.num_rows, PIECE_ROWS):
                count = min(PIECE_ROWS, batch.num_rows - first)
                for line, array in zip(columns, arrays, strict=True):
                    line[:count] = array[first : first + count]
                yield columns, count
            first_row += batch.num_rows

    def _plain_columns(self, names: list[str]) -> list[PlainColumn] | None:
        """Find the columns in the file, once: what has to be decoded stays so."""
        if self._row_group is None:
            return None
        wanted = tuple(names)
        if wanted not in self._plain:
            self._plain[wanted] = plain_columns(self._fragment, self._row_group, names)
        return self._plain[wanted]

    def _plain_pieces(
        self, plain: list[PlainColumn], columns: NDArray[Any], n_rows: int
    ) -> Iterator[tuple[NDArray[Any], int]]:
        with open(self._fragment.path, "rb", buffering=0) as file:
            for first in range(0, n_rows, PIECE_ROWS):
                count = min(PIECE_ROWS, n_rows - first)
                for line, column in zip(columns, plain, strict=True):
                    column.read(file.fileno(), first, line[:count])
                yield columns, count

    def _batches(self, columns: list[str], batch_rows: int) -> Iterator[Any]:
        present = [name for name in columns if name in self._fragment.physical_schema.names]
        if self._row_group is None:
            yield from self._fragment.to_batches(
                columns=present, batch_size=batch_rows, batch_readahead=1, use_threads=False
            )
            return
        import pyarrow.parquet

        try:
            # Without pre-buffering, pages are read as they are needed: a row group may be larger than memory.
            with self._fragment.open() as file:
                metadata = self._fragment.metadata  # known already: the file's footer need not be read again
                parquet = pyarrow.parquet.ParquetFile(
                    file, metadata=metadata, pre_buffer=False, buffer_size=_buffer_bytes()
                )
                yield from parquet.iter_batches(
                    batch_rows, row_groups=[self._row_group], columns=present, use_threads=False
                )
        finally:
            # Arrow keeps what a thread has freed for that thread: with several, a multiple of what is in use. Where
            # there is no room, it is given back, although asking for it anew takes a third of the time of decoding.
            if budget() < ROOM:
                pyarrow.default_memory_pool().release_unused()

    def _column(self, batch: Any, name: str) -> NDArray[Any]:
        """Return a column of one batch; one that this file lacks is missing in every row."""
        if batch.schema.get_field_index(name) >= 0:
            return batch.column(name).to_numpy(zero_copy_only=False)
        return np.full(batch.num_rows, self._same_everywhere.get(name))


def _buffer_bytes() -> int:
    return PAGE_BYTES if budget() >= ROOM else SMALL_BUFFER


def _batch_rows(block_rows: int, n_columns: int) -> int:
    """Return how many rows are decoded at a time: whole blocks, at least one."""
    if budget() < ROOM:
        return block_rows
    return block_rows * max(1, BATCH_BYTES // max(1, 8 * n_columns * block_rows))


def _parts_of(fragment: Any) -> list[_Part]:
    if not hasattr(fragment, "row_groups"):
        return [_Part(fragment, None, fragment.count_rows())]
    metadata = fragment.metadata
    return [_Part(fragment, i, metadata.row_group(i).num_rows) for i in range(metadata.num_row_groups)]


def _arrow_dtype(field: Any) -> np.dtype[Any]:
    return np.dtype(np.float32) if str(field.type) == "float" else np.dtype(np.float64)


def dataset_source(
    X: Any, targets: list[str], features: Sequence[str] | None, *, single_target: bool
) -> DatasetSource:
    """Make the source of a path or Arrow dataset; `targets` are columns to be read as y.

    Where the data have all of `features`, only these are read, in this order.
    """
    return DatasetSource(_dataset(X), targets, features, single_target=single_target)


def _dataset(X: Any) -> Any:
    """Open a path as an Arrow dataset, if it is not one already."""
    try:
        import pyarrow.dataset
    except ImportError as error:
        raise ImportError(
            f"Reading {X} needs pyarrow: install it with `pip install pyarrow`, or pass a table in memory."
        ) from error
    if isinstance(X, str | os.PathLike):
        return pyarrow.dataset.dataset(os.fspath(X), format="parquet")
    return X
