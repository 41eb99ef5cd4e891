"""Dask collections as sources: arrays, dataframes, and lists of delayed blocks of rows.

A chunk is a partition, and becomes blocks where it is computed: in its task it is an ordinary source in memory,
read as any other, so that only statistics and answers travel. Where the numbers of rows are unknown, one pass
counts them.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import Block, equal_shares, rows_per_block
from .columns import Column
from .sources import ArraySource, Source, float_dtype, is_collection, source


class Place(NamedTuple):
    """Where a partition lies among the rows, and how it is to be read."""

    number: int
    first_row: int
    n_rows: int
    first_block: int
    block_rows: int
    n_features: int
    dtype: np.dtype[Any]
    targets: Any  # names of the columns that hold y, as the user gave them


class Borders(NamedTuple):
    """Where partitions begin, to say where a row is."""

    starts: NDArray[np.int64]
    feature_names: list[str] | None

    def whereabouts(self, row: int) -> str:
        """Say where a row is, for people."""
        # Of partitions that begin at the same row, all but the last are empty.
        number = int(np.searchsorted(self.starts, row, side="right")) - 1
        return f"row {row} (row {row - int(self.starts[number])} of partition {number})"


class Outline(NamedTuple):
    """What is known of a source without its rows: what a task gets that is handed the source itself."""

    n_rows: int
    n_features: int
    n_blocks: int
    dtype: np.dtype[Any]


def outline(n_rows: int, n_features: int, n_blocks: int, dtype: Any) -> Outline:
    """Make an outline when a source is unpickled in a task."""
    return Outline(n_rows, n_features, n_blocks, dtype)


class DaskSource(Source):
    """Rows in the partitions of a Dask collection; passes run on whatever scheduler is active.

    Parameters
    ----------
    parts : list
        The rows of each partition, as Delayed; None for rows without features.
    sizes : list of int
        Their numbers of rows.
    n_features : int
    dtype : dtype
        Of the blocks.
    feature_names : list of str or None
    targets : str, list of str or None
        Columns of the partitions to be read as y.
    """

    def __init__(
        self,
        parts: list[Any],
        sizes: list[int],
        n_features: int,
        dtype: np.dtype[Any],
        feature_names: list[str] | None = None,
        targets: Any = None,
    ) -> None:
        self.parts, self.sizes, self.targets = parts, sizes, targets
        self.n_rows, self.n_features = sum(sizes), n_features
        self.dtype, self.feature_names = dtype, feature_names

    @property
    def executor(self) -> Any:
        from . import dask_passes

        return dask_passes

    @property
    def partitions(self) -> list[int]:
        return self.sizes

    @property
    def single_target(self) -> bool:
        return isinstance(self.targets, str) if self.targets is not None else super().single_target

    @property
    def n_targets(self) -> int:
        if self.targets is None:
            return super().n_targets
        return 1 if isinstance(self.targets, str) else len(self.targets)

    @cached_property
    def places(self) -> list[Place]:
        """Where each partition lies."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)
        blocks = np.searchsorted(self.boundaries, starts).tolist()
        return [
            Place(p, first, size, blocks[p], self._rows_a_block, self.n_features, self.dtype, self.targets)
            for p, (first, size) in enumerate(zip(starts.tolist(), self.sizes, strict=False))
        ]

    @property
    def _rows_a_block(self) -> int:
        if self.block_rows is not None:
            return self.block_rows
        return equal_shares(self.n_rows, rows_per_block(self.n_features, self.dtype.itemsize))

    def pieces(self) -> Iterator[tuple[Place, Any, Any, Any]]:
        """Go through the partitions that have rows: place, X, y and weights."""
        of_y, of_weight = self._parts_beside(self.y), self._parts_beside(self.sample_weight)
        for place in self.places:
            if place.n_rows:
                p = place.number
                yield place, self.parts[p], of_y and of_y[p], of_weight and of_weight[p]

    def _parts_beside(self, values: Any) -> list[Any] | None:
        if values is None:
            return None
        column = values if isinstance(values, Column) else Column.of(np.asarray(values), self.sizes)
        return column.parts

    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        """Read blocks here, a partition at a time: only the blocks asked for travel."""
        numbers = range(self.n_blocks) if numbers is None else numbers
        for place, X, y, weight in self.pieces():
            last = int(np.searchsorted(self.boundaries, place.first_row + place.n_rows))
            inside = range(max(numbers.start, place.first_block), min(numbers.stop, last))
            if inside:
                yield from self.executor.blocks_of(place, X, y, weight, inside)

    def take(self, rows: ArrayLike) -> Any:
        wanted = self.row_numbers(rows)
        asked = []
        for place, X, _, _ in self.pieces():
            here = np.flatnonzero((wanted >= place.first_row) & (wanted < place.first_row + place.n_rows))
            if len(here):
                asked.append((here, place, X, wanted[here] - place.first_row))
        return self.executor.rows_of(asked, len(wanted), self.n_features, self.dtype)

    @property
    def borders(self) -> Borders:
        return Borders(np.array([place.first_row for place in self.places]), self.feature_names)

    def whereabouts(self, row: int) -> str:
        return self.borders.whereabouts(row)

    def column(self, name: str, values: Any) -> Column:
        """Lay targets or weights, in memory or in a Dask collection, beside the rows."""
        column = lazy_column(values) if is_collection(values) else Column.of(np.asarray(values), self.sizes)
        if column.ndim not in (1, 2):
            raise ValueError(
                f"{name} must have one entry, or one row, for each of the {self.n_rows} rows of X."
            )
        n_rows = len(column) if column.held is None else len(column.held)
        if n_rows != self.n_rows:
            raise ValueError(f"X has {self.n_rows} rows but {name} has {n_rows}: give one entry a row.")
        return column if column.sizes == self.sizes else _cut_alike(column, self.sizes)

    def on_columns(self, columns: NDArray[np.int64]) -> "DaskSource":
        """Return the same rows with these columns alone, in blocks of the same rows."""
        from dask import delayed

        call, chosen = delayed(columns_of, pure=False), delayed(columns, traverse=False, pure=False)
        parts = [call(place, part, chosen) for place, part in zip(self.places, self.parts, strict=True)]
        made = DaskSource(parts, self.sizes, len(columns), self.dtype)
        made.y, made.sample_weight, made.block_rows = self.y, self.sample_weight, self._rows_a_block
        return made

    def beside(self) -> "Source":
        if self.targets is not None:
            return self
        made = DaskSource([None] * len(self.sizes), self.sizes, 0, self.dtype)
        made.y, made.sample_weight, made.block_rows = self.y, self.sample_weight, self._rows_a_block
        return made

    def __copy__(self) -> "DaskSource":
        made = object.__new__(type(self))
        vars(made).update(vars(self))
        return made

    def __reduce__(self) -> Any:
        # Only to be shipped to tasks, which have their rows already.
        return outline, (self.n_rows, self.n_features, self.n_blocks, self.dtype)


def aligned(values: Any) -> Any:
    """Return an array at an address that suits its type, copied if it must be.

    An array that has come from another process lies wherever its message had it. NumPy then copies or buffers
    what it would otherwise hand to BLAS or add up as it is, and gives other bits.
    """
    return np.require(values, requirements="A") if isinstance(values, np.ndarray) else values


def read(place: Place, X: Any, y: Any, weight: Any) -> Source:
    """Make the source of one partition, in the task that has it in memory."""
    if X is None:
        local: Source = ArraySource(np.empty((place.n_rows, 0)))
    else:
        local = source(aligned(X) if hasattr(X, "shape") else np.asarray(X), place.targets)
    if (local.n_rows, local.n_features) != (place.n_rows, place.n_features):
        raise ValueError(
            f"Partition {place.number} has {local.n_rows} rows of {local.n_features} features, where before it had "
            f"{place.n_rows} of {place.n_features}: let the collection give the same rows each time."
        )
    local.dtype, local.block_rows = place.dtype, place.block_rows
    local.sample_weight = aligned(weight)
    if place.targets is None:
        local.y = aligned(y)
    return local


def columns_of(place: Place, X: Any, columns: NDArray[np.int64]) -> Any:
    """Return some columns of one partition, in its task."""
    local = read(place, X, None, None)
    return local.take(np.arange(place.n_rows))[:, columns]


# What a collection is


def dask_source(X: Any, targets: Any, features: Sequence[str] | None) -> DaskSource:
    """Make the source of a Dask array, a dataframe or delayed blocks; `targets` are columns to be read as y."""
    if isinstance(X, list | tuple) or not hasattr(X, "ndim"):
        return _of_delayed(_delayed_blocks(X), targets)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and columns, but has {X.ndim}.")
    if hasattr(X, "columns"):
        return _of_frame(X, targets, features)
    if targets is not None:
        raise TypeError(f"y={targets!r} names columns, but X is a Dask array, whose columns have no names.")
    return _of_array(X)


def _delayed_blocks(values: Any) -> list[Any]:
    from dask.delayed import Delayed

    blocks = list(values) if isinstance(values, list | tuple) else [values]
    for block in blocks:
        if not isinstance(block, Delayed):
            raise TypeError(
                f"Rows cannot be read from a Dask {type(block).__name__}: pass an array, a dataframe, or delayed "
                "blocks."
            )
    return blocks


def _of_array(X: Any) -> DaskSource:
    if np.dtype(X.dtype).kind not in "fiubO":
        raise ValueError(f"X holds {X.dtype}, which are not numbers: encode them first.")
    if np.isnan(X.shape[1]):
        raise ValueError("The number of columns of X is unknown: call X.compute_chunk_sizes() first.")
    if len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    parts = X.to_delayed().ravel().tolist()
    return DaskSource(parts, _sizes(X.chunks[0], parts), X.shape[1], float_dtype([np.dtype(X.dtype)]))


def _of_frame(X: Any, targets: Any, features: Sequence[str] | None) -> DaskSource:
    from .frames import check_targets

    names = list(X.columns)
    wanted = [] if targets is None else [targets] if isinstance(targets, str) else list(targets)
    check_targets(wanted, names)
    others = [name for name in names if name not in wanted]
    chosen = list(features) if features is not None and set(features) <= set(others) else others
    dtypes = [_numpy_dtype(X.dtypes[name]) for name in chosen]
    strings = all(isinstance(name, str) for name in names)
    parts = list(X[[*chosen, *wanted]].to_delayed())
    # Counting reads one column, and no data where the files say how many rows there are.
    counted = list(X[[names[0]]].to_delayed()) if names else parts
    sizes = _sizes((np.nan,) * len(parts), counted)
    return DaskSource(parts, sizes, len(chosen), float_dtype(dtypes), chosen if strings else None, targets)


def _numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """Return a frame's dtype as one of NumPy's; what can hold missing values becomes a float in blocks."""
    if isinstance(dtype, np.dtype):
        return dtype
    single = (getattr(dtype, "kind", None), getattr(dtype, "itemsize", None)) == ("f", 4)
    return np.dtype(np.float32 if single else np.float64)


def _of_delayed(blocks: list[Any], targets: Any) -> DaskSource:
    from dask import delayed

    from .dask_passes import computed

    wanted = [] if targets is None else [targets] if isinstance(targets, str) else list(targets)
    look = delayed(facts, pure=False)
    found = computed([look(block, wanted) for block in blocks], doing="counting rows")
    widths = sorted({one.n_features for one in found})
    if len(widths) > 1 or widths == [None]:
        raise ValueError(
            f"Delayed blocks must be tables of rows with equally many columns, but they have {widths}."
        )
    sizes = [one.n_rows for one in found]
    dtype = float_dtype([kind for one in found for kind in one.dtypes])
    return DaskSource(blocks, sizes, widths[0], dtype, found[0].names, targets)


class Facts(NamedTuple):
    """What a delayed block turns out to be."""

    n_rows: int
    n_features: int | None
    dtypes: list[np.dtype[Any]]
    names: list[str] | None


def facts(block: Any, targets: list[str]) -> Facts:
    """Look at one delayed block, in its task."""
    if hasattr(block, "columns"):
        names = [name for name in block.columns if name not in targets]
        strings = all(isinstance(name, str) for name in names)
        dtypes = [_numpy_dtype(block.dtypes[name]) for name in names]
        return Facts(len(block), len(names), dtypes, names if strings else None)
    shape = block.shape if hasattr(block, "shape") else np.shape(block)
    kind = block.dtype if hasattr(block, "dtype") else np.asarray(block).dtype
    return Facts(shape[0], shape[1] if len(shape) == 2 else None, [kind], None)


def _sizes(chunks: Sequence[float], parts: list[Any]) -> list[int]:
    """Return the numbers of rows of the partitions, counted in one pass if any is unknown."""
    if not np.isnan(chunks).any():
        return [int(size) for size in chunks]
    from dask import delayed

    from .dask_passes import computed

    count = delayed(n_rows_of, pure=False)
    return computed([count(part) for part in parts], doing="counting rows")


def n_rows_of(part: Any) -> int:
    """Count the rows of one partition, in its task."""
    return int(part.shape[0]) if hasattr(part, "shape") else len(part)


# Targets and weights


def lazy_column(values: Any) -> Column:
    """Make the column of a Dask array, series or dataframe, or of a list of delayed blocks."""
    from dask import delayed

    from .dask_passes import computed

    as_array = delayed(array_of, pure=False)
    if isinstance(values, list | tuple) or not hasattr(values, "ndim"):
        parts = [as_array(block) for block in _delayed_blocks(values)]
        look = delayed(facts, pure=False)
        found = computed([look(part, []) for part in parts], doing="counting rows")
        dtype = np.result_type(*{kind for one in found for kind in one.dtypes})
        return Column(parts, [one.n_rows for one in found], dtype, found[0].n_features)
    if hasattr(values, "npartitions") and not hasattr(values, "chunks"):
        parts = [as_array(part) for part in values.to_delayed()]
        columns = hasattr(values, "columns") and values.ndim == 2
        dtypes = [_numpy_dtype(dtype) for dtype in values.dtypes] if columns else [values.dtype]
        dtype = np.result_type(*dtypes) if columns else _column_dtype(dtypes[0])
        width = len(values.columns) if columns else None
        return Column(parts, _sizes((np.nan,) * len(parts), parts), dtype, width)
    if values.ndim == 2 and len(values.chunks[1]) > 1:
        values = values.rechunk({1: -1})
    parts = values.to_delayed().ravel().tolist()
    width = values.shape[1] if values.ndim == 2 else None
    return Column(parts, _sizes(values.chunks[0], parts), np.dtype(values.dtype), width)


def _column_dtype(dtype: Any) -> np.dtype[Any]:
    if isinstance(dtype, np.dtype):
        return dtype
    return np.dtype(np.float64) if getattr(dtype, "kind", "O") in "iufb" else np.dtype(object)


def array_of(part: Any) -> NDArray[Any]:
    """Return a piece of a column as an array, in its task."""
    from .frames import column_values, is_frame

    if is_frame(part):
        return np.column_stack([column_values(part, j) for j in range(part.shape[1])])
    if hasattr(part, "to_frame") and hasattr(part, "to_numpy"):
        return column_values(part.to_frame(), 0)
    return np.asarray(part)


def _cut_alike(column: Column, sizes: list[int]) -> Column:
    """Cut a column anew, where the partitions of the rows end."""
    import dask.array as da

    rest = () if column.width is None else (column.width,)
    pieces = [
        da.from_delayed(part, (size, *rest), dtype=column.dtype)
        for part, size in zip(column.parts, column.sizes, strict=True)
    ]
    joined = da.concatenate(pieces).rechunk((tuple(sizes), *((width,) for width in rest)))
    made = copy(column)
    made.parts, made.sizes = joined.to_delayed().ravel().tolist(), sizes
    return made
