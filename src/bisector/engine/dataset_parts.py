"""Parts of data on disk, of which each is read by one thread: their columns in pieces, as the files have them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .direct_reads import Rooms
from .frames import numbers_of
from .memory import budget
from .parquet_chunks import Footer
from .parquet_groups import BATCH_BYTES, ROOM, Columns, ColumnsOfGroup, buffer_bytes, columns_of


class Part:
    """What one thread reads in a row: a row group of a Parquet file, or a whole file of another format."""

    def __init__(
        self, fragment: Any, n_rows: int, footer: Footer | None = None, row_group: int | None = None
    ) -> None:
        import pyarrow.dataset

        self._fragment = fragment
        self._footer, self._row_group = footer, row_group
        self.n_rows = n_rows
        self._columns: dict[tuple[str, ...], ColumnsOfGroup | None] = {}
        # What the name of the file's folder tells, as in "year=2024/".
        self._same_everywhere = pyarrow.dataset.get_partition_keys(fragment.partition_expression)

    def is_plain(self, names: list[str]) -> bool:
        """Tell whether columns need no decoder: as the file's footer has it, and once they were read, for sure."""
        columns = self._columns_called(names)
        return columns is not None and columns.are_plain

    def pieces(
        self,
        names: list[str],
        dtype: np.dtype[Any],
        first_row: int,
        n_rows: int,
        block_rows: int,
        rooms: Rooms | None = None,
    ) -> Iterator[Columns]:
        """Read the first rows of the part, in pieces that are good until the next one is asked for.

        Given rooms, what is not in the system's cache stays out of it, if it need not be decoded.
        """
        columns = self._columns_called(names)
        if columns is not None and (yield from columns.pieces(dtype, n_rows, rooms)):
            return
        for batch in self._batches(names, min(n_rows, batch_rows(block_rows, len(names)))):
            arrays = [numbers_of(self._column(batch, name), name, first_row) for name in names]
            arrays = [np.ascontiguousarray(array, dtype) for array in arrays]
            yield columns_of(arrays, batch.num_rows)
            first_row += batch.num_rows

    def _columns_called(self, names: list[str]) -> ColumnsOfGroup | None:
        """Find columns in the file, once; None if only Arrow can read them."""
        wanted = tuple(names)
        if wanted not in self._columns:
            chunks = None
            if self._footer is not None and self._row_group is not None:
                chunks = self._footer.chunks(self._row_group, names)
            self._columns[wanted] = None if chunks is None else ColumnsOfGroup(self._fragment.path, chunks)
        return self._columns[wanted]

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
                    file, metadata=metadata, pre_buffer=False, buffer_size=buffer_bytes()
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


def batch_rows(block_rows: int, n_columns: int) -> int:
    """Return how many rows Arrow decodes at a time: whole blocks, at least one.

    Where there is room, many: a batch costs the same few calls for every column, short or long.
    """
    if budget() < ROOM:
        return block_rows
    return block_rows * max(1, BATCH_BYTES // max(1, 8 * n_columns * block_rows))


def parts_of(fragment: Any) -> list[Part]:
    """Return the row groups of a Parquet file; of a file of another kind, the whole."""
    if not hasattr(fragment, "row_groups"):
        return [Part(fragment, fragment.count_rows())]
    metadata, footer = fragment.metadata, Footer(fragment)
    return [Part(fragment, metadata.row_group(i).num_rows, footer, i) for i in range(metadata.num_row_groups)]
