"""Parts of data on disk, of which each is read by one thread: their columns in pieces, as the files have them."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .frames import numbers_of
from .mapped import mapped, read_in_order
from .memory import budget
from .parquet_pages import PlainColumn, cut_at_pages, plain_columns

# What Parquet files are mostly written with.
PAGE_BYTES = 2**20
# So much is decoded at a time where there is room for it: a batch costs the same few calls for every column, short
# or long. Elsewhere a batch is a block, and files are read through small buffers, of which each column has one.
BATCH_BYTES, ROOM = 2**26, 2**30
SMALL_BUFFER = 2**16
# Rows whose columns are held side by side before they become rows: as many as the cache holds of a few columns.
PIECE_ROWS = 2**13

# Bytes, where in them the numbers of each column begin, and how many they are.
Piece = tuple[NDArray[np.uint8], NDArray[np.int64], int]


class Part:
    """What one thread reads in a row: a row group of a Parquet file, or a whole file of another format."""

    def __init__(self, fragment: Any, row_group: int | None, n_rows: int) -> None:
        import pyarrow.dataset

        self._fragment = fragment
        self._row_group = row_group
        self.n_rows = n_rows
        self._plain: dict[tuple[str, ...], list[PlainColumn] | None] = {}
        # What the name of the file's folder tells, as in "year=2024/".
        self._same_everywhere = pyarrow.dataset.get_partition_keys(fragment.partition_expression)

    @property
    def is_plain(self) -> bool:
        """Tell whether what was read of it so far needed no decoder."""
        return bool(self._plain) and None not in self._plain.values()

    def pieces(
        self, names: list[str], dtype: np.dtype[Any], first_row: int, n_rows: int, block_rows: int
    ) -> Iterator[Piece]:
        """Read the first rows of the part, in pieces that are good until the next one is asked for."""
        plain = self._plain_columns(names)
        if plain is not None:
            yield from self._plain_pieces(plain, dtype, n_rows)
            return
        columns, raw, places = _side_by_side(len(names), min(PIECE_ROWS, n_rows), dtype)
        for batch in self._batches(names, min(n_rows, batch_rows(block_rows, len(names)))):
            arrays = [numbers_of(self._column(batch, name), name, first_row) for name in names]
            for first in range(0, batch.num_rows, PIECE_ROWS):
                count = min(PIECE_ROWS, batch.num_rows - first)
                for line, array in zip(columns, arrays, strict=True):
                    line[:count] = array[first : first + count]
                yield raw, places, count
            first_row += batch.num_rows

    def _plain_columns(self, names: list[str]) -> list[PlainColumn] | None:
        """Find the columns in the file, once: what has to be decoded stays so."""
        if self._row_group is None:
            return None
        wanted = tuple(names)
        if wanted not in self._plain:
            self._plain[wanted] = plain_columns(self._fragment, self._row_group, names)
        return self._plain[wanted]

    def _plain_pieces(self, plain: list[PlainColumn], dtype: np.dtype[Any], n_rows: int) -> Iterator[Piece]:
        """Look at the file's own numbers, or copy them into others where they are of another type."""
        as_they_are = all(column.stored_as == dtype for column in plain)
        most = _buffer_bytes() // dtype.itemsize if as_they_are else PIECE_ROWS
        columns, copied, copies = _side_by_side(len(plain), 0 if as_they_are else min(most, n_rows), dtype)
        with open(self._fragment.path, "rb", buffering=0) as file:
            for column in plain:
                read_in_order(file.fileno(), *column.between(0, n_rows))
            for start in range(0, n_rows, most):
                window = start, min(start + most, n_rows)
                stretches = [column.between(*window) for column in plain]
                begin = min(first for first, _ in stretches)
                raw = mapped(file.fileno(), begin, max(last for _, last in stretches))
                for first, last in pairwise(cut_at_pages(plain, *window)):
                    places = np.array([column.place(first) - begin for column in plain])
                    if as_they_are:
                        yield raw, places, last - first
                        continue
                    for line, column, place in zip(columns, plain, places, strict=True):
                        line[: last - first] = np.frombuffer(raw, column.stored_as, last - first, place)
                    yield copied, copies, last - first

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


def _side_by_side(n_columns: int, n_rows: int, dtype: np.dtype[Any]) -> tuple[NDArray[Any], ...]:
    """Make room for columns, the same as bytes, and where in these each column begins.

    The lines are a little longer than the columns, because those of exactly a power of two would all fall on the
    same few places of the cache.
    """
    columns = np.empty((n_columns, n_rows + 8), dtype)
    return columns, columns.reshape(-1).view(np.uint8), np.arange(n_columns) * columns.strides[0]


def _buffer_bytes() -> int:
    return PAGE_BYTES if budget() >= ROOM else SMALL_BUFFER


def batch_rows(block_rows: int, n_columns: int) -> int:
    """Return how many rows are decoded at a time: whole blocks, at least one."""
    if budget() < ROOM:
        return block_rows
    return block_rows * max(1, BATCH_BYTES // max(1, 8 * n_columns * block_rows))


def parts_of(fragment: Any) -> list[Part]:
    if not hasattr(fragment, "row_groups"):
        return [Part(fragment, None, fragment.count_rows())]
    metadata = fragment.metadata
    return [Part(fragment, i, metadata.row_group(i).num_rows) for i in range(metadata.num_row_groups)]
