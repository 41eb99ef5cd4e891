"""Parts of data on disk, of which each is read by one thread: their columns in pieces, as the files have them."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from .frames import numbers_of
from .mapped import mapped, read_in_order
from .memory import budget
from .parquet_pages import StoredColumn, cut_at_pages, stored_columns

# What Parquet files are mostly written with.
PAGE_BYTES = 2**20
# So much is decoded at a time where there is room for it: a batch costs the same few calls for every column, short
# or long. Elsewhere a batch is a block, and files are read through small buffers, of which each column has one.
BATCH_BYTES, ROOM = 2**26, 2**30
SMALL_BUFFER = 2**16

# Addresses of the columns in memory, and how many numbers are there.
Piece = tuple[NDArray[np.int64], int]


class Part:
    """What one thread reads in a row: a row group of a Parquet file, or a whole file of another format."""

    def __init__(self, fragment: Any, row_group: int | None, n_rows: int) -> None:
        import pyarrow.dataset

        self._fragment = fragment
        self._row_group = row_group
        self.n_rows = n_rows
        self._stored: dict[tuple[str, ...], list[StoredColumn] | None] = {}
        # What the name of the file's folder tells, as in "year=2024/".
        self._same_everywhere = pyarrow.dataset.get_partition_keys(fragment.partition_expression)

    @property
    def is_plain(self) -> bool:
        """Tell whether what was read of it so far needed no decoder."""
        found = self._stored.values()
        return bool(found) and all(columns is not None and _are_plain(columns) for columns in found)

    def pieces(
        self, names: list[str], dtype: np.dtype[Any], first_row: int, n_rows: int, block_rows: int
    ) -> Iterator[Piece]:
        """Read the first rows of the part, in pieces that are good until the next one is asked for."""
        stored = self._stored_columns(names)
        if stored is not None and _are_plain(stored) and all(column.stored_as == dtype for column in stored):
            yield from self._mapped_pieces(stored, n_rows)
        elif stored is not None and budget() >= ROOM:
            yield from self._unpacked_pieces(stored, dtype, n_rows)
        else:
            for batch in self._batches(names, min(n_rows, batch_rows(block_rows, len(names)))):
                arrays = [numbers_of(self._column(batch, name), name, first_row) for name in names]
                arrays = [np.ascontiguousarray(array, dtype) for array in arrays]
                yield _addresses(arrays), batch.num_rows
                first_row += batch.num_rows

    def _stored_columns(self, names: list[str]) -> list[StoredColumn] | None:
        """Find the columns in the file, once: what Arrow has to read stays so."""
        if self._row_group is None:
            return None
        wanted = tuple(names)
        if wanted not in self._stored:
            self._stored[wanted] = stored_columns(self._fragment, self._row_group, names)
        return self._stored[wanted]

    def _mapped_pieces(self, stored: list[StoredColumn], n_rows: int) -> Iterator[Piece]:
        """Look at plain numbers where the system has them."""
        most = _buffer_bytes() // stored[0].stored_as.itemsize
        with self._opened(stored, n_rows) as file:
            for start in range(0, n_rows, most):
                window = start, min(start + most, n_rows)
                stretches = [column.between(*window) for column in stored]
                begin = min(first for first, _ in stretches)
                raw = mapped(file.fileno(), begin, max(last for _, last in stretches))
                address = raw.ctypes.data - begin
                for first, last in pairwise(cut_at_pages(stored, *window)):
                    yield np.array([address + column.place(first) for column in stored]), last - first

    def _unpacked_pieces(
        self, stored: list[StoredColumn], dtype: np.dtype[Any], n_rows: int
    ) -> Iterator[Piece]:
        """Unpack a page of every column, and the next one of those that are used up."""
        with self._opened(stored, n_rows) as file:
            pages = [column.unpacked(file.fileno(), dtype) for column in stored]
            current = [next(numbers) for numbers in pages]
            row = 0
            while row < n_rows:
                count = min(n_rows - row, *(len(numbers) for numbers in current))
                yield _addresses(current), count
                row += count
                if row < n_rows:
                    current = [
                        numbers[count:] if len(numbers) > count else next(following)
                        for numbers, following in zip(current, pages, strict=True)
                    ]

    @contextmanager
    def _opened(self, stored: list[StoredColumn], n_rows: int) -> Iterator[IO[bytes]]:
        with open(self._fragment.path, "rb", buffering=0) as file:
            for column in stored:
                read_in_order(file.fileno(), *column.extent(n_rows))
            yield file

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


def _are_plain(columns: list[StoredColumn]) -> bool:
    return all(column.is_plain for column in columns)


def _addresses(arrays: list[NDArray[Any]]) -> NDArray[np.int64]:
    return np.array([array.ctypes.data for array in arrays])


def _buffer_bytes() -> int:
    return PAGE_BYTES if budget() >= ROOM else SMALL_BUFFER


def batch_rows(block_rows: int, n_columns: int) -> int:
    """Return how many rows are decoded at a time: whole blocks, at least one."""
    if budget() < ROOM:
        return block_rows
    return block_rows * max(1, BATCH_BYTES // max(1, 8 * n_columns * block_rows))


def parts_of(fragment: Any) -> list[Part]:
    """Return the row groups of a Parquet file; of a file of another kind, the whole."""
    if not hasattr(fragment, "row_groups"):
        return [Part(fragment, None, fragment.count_rows())]
    metadata = fragment.metadata
    return [Part(fragment, i, metadata.row_group(i).num_rows) for i in range(metadata.num_row_groups)]
