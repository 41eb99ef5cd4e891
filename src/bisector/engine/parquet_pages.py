"""Columns of Parquet files whose numbers stand in the file as they stand in memory.

A column that was written without compression and without a dictionary is a row of pages, each a short header and
then its numbers one after the other. Such numbers need no decoder and no copy: once the places of the pages are
known, rows are made of the file's bytes where the system has them. Every other column is Arrow's.
"""

import os
from bisect import bisect_right
from typing import Any, NamedTuple

import numpy as np

from .mapped import read_in_order

# How the numbers of Parquet's types are stored. Types with a further meaning (dates, decimals) are not among them.
_STORED_AS: dict[str, np.dtype[Any]] = {
    "DOUBLE": np.dtype("<f8"),
    "FLOAT": np.dtype("<f4"),
    "INT64": np.dtype("<i8"),
    "INT32": np.dtype("<i4"),
}
# Pages that have fewer rows than this on average are not worth looking for: Arrow is as fast.
FEWEST_ROWS = 1024


class PlainColumn(NamedTuple):
    """Where the numbers of a column stand: page p has rows from ``starts[p]`` to ``starts[p + 1]``."""

    stored_as: np.dtype[Any]
    starts: list[int]
    places: list[int]

    def place(self, row: int) -> int:
        """Return where in the file the number of a row stands."""
        page = bisect_right(self.starts, row) - 1
        return self.places[page] + (row - self.starts[page]) * self.stored_as.itemsize

    def between(self, first: int, last: int) -> tuple[int, int]:
        """Return where in the file the numbers of rows from `first` up to `last` begin and end."""
        return self.place(first), self.place(last - 1) + self.stored_as.itemsize


def cut_at_pages(columns: list[PlainColumn], first: int, last: int) -> list[int]:
    """Cut the rows from `first` up to `last` where a column has a page's end.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.parquet_pages import PlainColumn, cut_at_pages
    >>> pages = PlainColumn(np.dtype(float), [0, 5, 10], [100, 200])
    >>> cut_at_pages([pages], 3, 8), pages.place(6)
    ([3, 5, 8], 208)
    """
    inside = {start for column in columns for start in column.starts if first < start < last}
    return [first, *sorted(inside), last]


def plain_columns(fragment: Any, row_group: int, names: list[str]) -> list[PlainColumn] | None:
    """Find columns of a row group in a file on this machine; None if any of them needs a decoder.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.dataset, pyarrow.parquet
    >>> from bisector.engine.parquet_pages import plain_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.parquet"
    ...     pa.parquet.write_table(pa.table({"x": [1.0, 2.0]}), path, compression=None, use_dictionary=False)
    ...     (fragment,) = pa.dataset.dataset(path).get_fragments()
    ...     (column,) = plain_columns(fragment, 0, ["x"])
    >>> column.stored_as, column.starts
    (dtype('float64'), [0, 2])
    """
    from pyarrow.fs import LocalFileSystem

    if not (hasattr(os, "preadv") and isinstance(fragment.filesystem, LocalFileSystem)):
        return None
    schema, group = fragment.metadata.schema, fragment.metadata.row_group(row_group)
    numbers = {schema.column(j).path: j for j in range(len(schema))}
    if not all(name in numbers for name in names):
        return None
    chosen = [(schema.column(numbers[name]), group.column(numbers[name])) for name in names]
    if not chosen or not all(_may_stand_plain(column, chunk) for column, chunk in chosen):
        return None
    with open(fragment.path, "rb", buffering=0) as file:
        found = []
        for column, chunk in chosen:
            pages = _pages(file.fileno(), chunk, optional=column.max_definition_level == 1)
            if pages is None:
                return None
            found.append(pages)
    return found


def _may_stand_plain(column: Any, chunk: Any) -> bool:
    """Tell whether, by the file's footer, a column of a row group has plain numbers of which none is missing."""
    told = chunk.statistics is not None and chunk.statistics.has_null_count
    nothing_missing = column.max_definition_level == 0 or (told and chunk.statistics.null_count == 0)
    return bool(
        chunk.physical_type in _STORED_AS
        and column.logical_type.type == "NONE"
        and column.max_definition_level <= 1
        and column.max_repetition_level == 0
        and nothing_missing
        and chunk.compression == "UNCOMPRESSED"
        and not chunk.has_dictionary_page
    )


def _pages(file: int, chunk: Any, *, optional: bool) -> PlainColumn | None:
    """Find the pages of a column of a row group; None if they are not what the footer lets expect, or too many."""
    from .parquet_pages_loops import find_pages

    stored_as, begin = _STORED_AS[chunk.physical_type], chunk.data_page_offset
    most = max(1, chunk.num_values // FEWEST_ROWS)
    starts, places = np.zeros(most + 1, np.int64), np.zeros(most, np.int64)
    end = begin + chunk.total_compressed_size
    read_in_order(file, begin, end)
    count = find_pages(file, begin, end, stored_as.itemsize, optional, starts, places)
    if count == 0 or starts[count] != chunk.num_values:
        return None
    return PlainColumn(stored_as, starts[: count + 1].tolist(), places[:count].tolist())
