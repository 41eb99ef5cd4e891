"""Parquet files and Arrow datasets as sources: read in blocks, as often as a fit wants."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .blocks import Block, ColumnsInPlace
from .dataset_parts import Part, batch_rows, parts_of
from .direct_reads import Rooms
from .frames import check_targets
from .kept_rows import SHARE_FOR_KEEPING, KeptRows
from .memory import available, budget
from .parquet_groups import PAGE_BYTES, ROOM, most_read_at_once
from .reused_tables import ReusedTables
from .sources import Source, float_dtype

# What reading may take of the memory budget, beside what is kept.
SHARE_FOR_READING = 0.75 - SHARE_FOR_KEEPING
# What was read so often before is kept when it is read again; at once if a fit says that it reads often. Some read
# twice and no more: for what needs no decoder, keeping pays only beyond that.
READINGS, READINGS_WITHOUT_DECODER = 1, 2
# What the system's cache is thought to hold of the data while they are read again and again, of the memory that is
# free now.
SHARE_FOR_CACHE = 0.75

# The number of the first row, features and targets; `ColumnsInPlace` have the targets among them.
_Rows = tuple[int, Any, Any]


class DatasetSource(Source):
    """An Arrow dataset or Parquet files, read as a stream: a few blocks are in memory at a time."""

    _in_columns = False

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
        self._parts = [part for fragment in dataset.get_fragments() for part in parts_of(fragment)]
        self._starts = np.cumsum([0, *self.partitions])
        self.n_rows = int(self._starts[-1])
        self.n_features = len(self.feature_names)
        self.dtype = float_dtype([_arrow_dtype(dataset.schema.field(name)) for name in self.feature_names])
        self._kept = KeptRows(self.n_rows, self.n_features, len(targets), self._row_dtype)
        self._readings: Counter[int] = Counter()
        self._kept_parts: set[int] = set()
        row_bytes = self._row_dtype.itemsize * (self.n_features + len(targets))
        self._cached_rows = SHARE_FOR_CACHE * available() / max(1, row_bytes)
        self._rooms, self._tables = Rooms(), ReusedTables()

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
        read_rows = min(longest, batch_rows(block_rows, columns))
        read_bytes = max(8 * columns * read_rows, min(8 * columns * longest, most_read_at_once()))
        per_reader = read_bytes + columns * (2 * min(PAGE_BYTES, 8 * longest) + 16 * block_rows)
        return max(1, int(SHARE_FOR_READING * budget() / max(1, per_reader)))

    def in_columns(self) -> "DatasetSource":
        made = copy(self)
        made._in_columns = True
        return made

    def groups(self, size: int) -> list[range]:
        ends = np.searchsorted(self.boundaries, self._starts[1:]).tolist()
        return [range(first, last) for first, last in zip([0, *ends], ends, strict=False) if first < last]

    def blocks(self, numbers: range | None = None) -> Iterator[Block]:
        numbers = range(self.n_blocks) if numbers is None else numbers
        if not numbers:
            return
        first, last = int(self.boundaries[numbers.start]), int(self.boundaries[numbers.stop])
        of_first = int(self._starts.searchsorted(first, side="right")) - 1
        of_last = int(self._starts.searchsorted(last))
        for number, (start, end) in enumerate(
            pairwise(self._starts[of_first : of_last + 1].tolist()), of_first
        ):
            if start < end:
                # A part is read from its beginning, whichever of its blocks are wanted.
                inside = self.boundaries.searchsorted([start, min(end, last)])
                for first_row, X, targets in self._tables_of(
                    number, self.boundaries[inside[0] : inside[1] + 1]
                ):
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

    def _tables_of(self, number: int, boundaries: NDArray[np.int64]) -> Iterator[_Rows]:
        """Read a part, or its beginning, in tables between these rows: decode it, or take what was kept of it."""
        if number in self._kept_parts:
            for first, last in pairwise(boundaries.tolist()):
                yield first, *self._kept.between(first, last)
            return
        part = self._parts[number]
        whole = boundaries[-1] - boundaries[0] == part.n_rows
        plain = part.is_plain(self._names)
        known = self._readings[number] >= (READINGS_WITHOUT_DECODER if plain else READINGS)
        worth_it = whole and (self.read_often or known)
        rooms = self._rooms if self._stays_out_of_cache(number, int(boundaries[0])) else None
        keeping = self._kept.begin(part.n_rows, decoded=not plain) if worth_it else None
        with keeping or nullcontext():
            in_columns = self._in_columns and keeping is None
            for first, X, targets in self._decode(part, boundaries, rooms, in_columns=in_columns):
                if keeping is not None:
                    keeping.add(first, (X, targets))
                yield first, X, targets
            if keeping is not None:
                keeping.complete()
        if whole:
            self._readings[number] += 1
        if keeping is not None and keeping.completed:
            self._kept_parts.add(number)

    def _stays_out_of_cache(self, number: int, first_row: int) -> bool:
        """Tell whether a part is read past the system's cache, if it is not there.

        Of data larger than the cache, the first parts go through it if they are read again, always the same ones:
        were all of them to, each would have been dropped when its turn comes.
        """
        if self.n_rows <= self._cached_rows or budget() < ROOM:
            return False
        once = not self._readings[number] and not self.read_often
        return once or first_row + self._parts[number].n_rows > self._cached_rows

    def _decode(
        self, part: Part, boundaries: NDArray[np.int64], rooms: Rooms | None, *, in_columns: bool
    ) -> Iterator[_Rows]:
        """Fill table after table from the columns that arrive in pieces, which are cut as the file likes.

        Columns that arrive for a whole table at once are left in place, if that is wanted.
        """
        from .loops import given
        from .upright_loops import copy_rows

        sizes, first_row = np.diff(boundaries).tolist(), int(boundaries[0])
        number, filled = 0, 0
        X: Any
        for addresses, cuts in part.pieces(
            self._names, self._row_dtype, first_row, sum(sizes), max(sizes), rooms
        ):
            columns, used, arrived = (given(addresses), given(cuts)), int(cuts[0]), int(cuts[-1])
            while used < arrived:
                size = sizes[number]
                count = min(size - filled, arrived - used)
                if in_columns and count == size:
                    X, targets = ColumnsInPlace(*columns, used, size, self._row_dtype), None
                else:
                    if not filled:
                        X, targets = self._room(size)
                    copy_rows(*columns, used, count, X, targets, filled)
                filled, used = filled + count, used + count
                if filled == size:
                    yield int(boundaries[number]), X, targets
                    number, filled = number + 1, 0
                    if number == len(sizes):
                        return

    def _room(self, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Make tables of their own for features and targets: loops want rows without gaps."""
        widths = self.n_features, len(self._targets)
        X, targets = (self._tables.empty((n_rows, width), self._row_dtype) for width in widths)
        return X, targets

    @property
    def _names(self) -> list[str]:
        return [*(self.feature_names or []), *self._targets]

    @property
    def _row_dtype(self) -> np.dtype[Any]:
        return self.dtype if not self._targets else np.dtype(np.float64)

    def _block(self, first: int, X: NDArray[Any] | ColumnsInPlace, targets: NDArray[Any] | None) -> Block:
        y: NDArray[Any] | None
        rows = slice(first, first + X.shape[0])
        if self._targets:
            y = targets[:, 0] if targets is not None and self._single_target else targets
        else:
            y = None if self.y is None else self.y[rows]
        weight = None if self.sample_weight is None else self.sample_weight[rows]
        if not isinstance(X, ColumnsInPlace):
            X = np.asarray(X, dtype=self.dtype)
        return Block(first, X, y, weight)


def _arrow_dtype(field: Any) -> np.dtype[Any]:
    return np.dtype(np.float32) if str(field.type) == "float" else np.dtype(np.float64)


def dataset_source(
    X: Any, targets: list[str], features: Sequence[str] | None, *, single_target: bool
) -> DatasetSource:
    """Make the source of a path or Arrow dataset; `targets` are columns to be read as y.

    Where the data have all of `features`, only these are read, in this order.
    """
    return DatasetSource(open_dataset(X), targets, features, single_target=single_target)


def open_dataset(X: Any) -> Any:
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
