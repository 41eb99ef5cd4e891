"""Columns of Parquet files, read from their pages.

A column of a row group is a row of pages, each a short header and then its numbers. Written without compression and
without a dictionary, they stand there as they stand in memory: once the places of the pages are known, rows are
made of the file's bytes where the system has them, without a copy. Packed pages are unpacked by Arrow's codecs, and
entries of dictionaries looked up, in two thirds of the time that Arrow takes to make columns of them. Columns with
other encodings, with missing numbers or of other types are Arrow's.
"""

import os
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .mapped import mapped, read_in_order

# How the numbers of Parquet's types are stored. Types with a further meaning (dates, decimals) are not among them.
_STORED_AS: dict[str, np.dtype[Any]] = {
    "DOUBLE": np.dtype("<f8"),
    "FLOAT": np.dtype("<f4"),
    "INT64": np.dtype("<i8"),
    "INT32": np.dtype("<i4"),
}
_KINDS = {"double", "float", "int64", "int32"}
_CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "ZSTD": "zstd", "GZIP": "gzip"}
# Pages that have fewer rows than this on average are not worth looking for: Arrow is as fast.
FEWEST_ROWS = 1024
# How much of a file with packed pages is looked at at a time.
_MAPPED_BYTES = 2**20


class Page(NamedTuple):
    """What a header tells, as `find_pages` leaves it."""

    n_numbers: int
    place: int
    n_bytes: int
    n_unpacked: int
    by_entries: int
    levels_inside: int
    packed: int


class StoredColumn(NamedTuple):
    """A column of a row group: page p has rows from ``starts[p]`` to ``starts[p + 1]``."""

    stored_as: np.dtype[Any]
    codec: str | None
    starts: list[int]
    pages: list[Page]
    dictionary: Page | None = None

    @property
    def is_plain(self) -> bool:
        """Tell whether the numbers stand in the file as in memory."""
        return not any(page.packed or page.by_entries for page in self.pages)

    def place(self, row: int) -> int:
        """Return where in the file the plain number of a row stands."""
        page = bisect_right(self.starts, row) - 1
        return self.pages[page].place + (row - self.starts[page]) * self.stored_as.itemsize

    def between(self, first: int, last: int) -> tuple[int, int]:
        """Return where in the file the plain numbers of rows from `first` up to `last` begin and end."""
        return self.place(first), self.place(last - 1) + self.stored_as.itemsize

    def extent(self, n_rows: int) -> tuple[int, int]:
        """Return where in the file the pages of the first rows begin and end."""
        last = self.pages[bisect_right(self.starts, n_rows - 1) - 1]
        return (self.dictionary or self.pages[0]).place, last.place + last.n_bytes

    def unpacked(self, file: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
        """Return the numbers of page after page, each good until the next one is asked for."""
        from .loops import given
        from .parquet_pages_loops import look_up

        entries = np.empty(0, dtype)
        room = np.empty(max((page.n_numbers for page in self.pages if page.by_entries), default=0), dtype)
        pages = self.pages if self.dictionary is None else [self.dictionary, *self.pages]
        for page, raw in self._bodies(file, pages):
            if page.by_entries:
                numbers = room[: page.n_numbers]
                if look_up(given(raw, np.uint8), page.n_numbers, given(entries), numbers) < page.n_numbers:
                    raise _damaged()
            elif len(raw) != page.n_numbers * self.stored_as.itemsize:
                raise _damaged()
            else:
                numbers = np.frombuffer(raw, self.stored_as).astype(dtype, copy=False)
            if page is self.dictionary:
                entries = numbers
            else:
                yield numbers

    def _bodies(self, file: int, pages: list[Page]) -> Iterator[tuple[Page, NDArray[np.uint8]]]:
        """Return what each page has beside its header, unpacked, without the levels, which tell what is missing."""
        import pyarrow

        codec = None if self.codec is None else pyarrow.Codec(self.codec)
        begin, end, whole = 0, 0, np.empty(0, np.uint8)
        column_end = pages[-1].place + pages[-1].n_bytes
        for page in pages:
            last = page.place + page.n_bytes
            if last > end:
                begin, end = page.place, max(last, min(page.place + _MAPPED_BYTES, column_end))
                whole = mapped(file, begin, end)
            raw = whole[page.place - begin : last - begin]
            if page.packed and codec is not None:
                raw = np.frombuffer(codec.decompress(pyarrow.py_buffer(raw), page.n_unpacked), np.uint8)
            if page.levels_inside:
                raw = raw[4 + int.from_bytes(raw[:4].tobytes(), "little") :]
            yield page, raw


def _damaged() -> OSError:
    return OSError("A page of a Parquet file has fewer numbers than its header tells: the file is damaged.")


def cut_at_pages(columns: list[StoredColumn], first: int, last: int) -> list[int]:
    """Cut the rows from `first` up to `last` where a column has a page's end.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.parquet_pages import Page, StoredColumn, cut_at_pages
    >>> pages = [Page(5, 100, 40, 40, 0, 0, 0), Page(5, 200, 40, 40, 0, 0, 0)]
    >>> column = StoredColumn(np.dtype(float), None, [0, 5, 10], pages)
    >>> cut_at_pages([column], 3, 8), column.place(6)
    ([3, 5, 8], 208)
    """
    inside = {start for column in columns for start in column.starts if first < start < last}
    return [first, *sorted(inside), last]


def stored_columns(fragment: Any, row_group: int, names: list[str]) -> list[StoredColumn] | None:
    """Find columns of a row group in a file on this machine; None if any of them must be read by Arrow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa, pyarrow.dataset, pyarrow.parquet
    >>> from bisector.engine.parquet_pages import stored_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.parquet"
    ...     pa.parquet.write_table(pa.table({"x": [1.0, 2.0]}), path, compression=None, use_dictionary=False)
    ...     (fragment,) = pa.dataset.dataset(path).get_fragments()
    ...     (column,) = stored_columns(fragment, 0, ["x"])
    >>> column.stored_as, column.starts, column.is_plain
    (dtype('float64'), [0, 2], True)
    """
    from pyarrow.fs import LocalFileSystem

    if not (hasattr(os, "preadv") and isinstance(fragment.filesystem, LocalFileSystem)):
        return None
    schema, group = fragment.metadata.schema, fragment.metadata.row_group(row_group)
    numbers = {schema.column(j).path: j for j in range(len(schema))}
    # Arrow's types say more than Parquet's: a duration is stored as a mere integer.
    kinds = {field.name: str(field.type) for field in fragment.physical_schema}
    if not all(name in numbers and kinds.get(name) in _KINDS for name in names):
        return None
    chosen = [(schema.column(numbers[name]), group.column(numbers[name])) for name in names]
    if not chosen or not all(_has_numbers(column, chunk) for column, chunk in chosen):
        return None
    with open(fragment.path, "rb", buffering=0) as file:
        found = []
        for column, chunk in chosen:
            stored = _stored(file.fileno(), chunk, optional=column.max_definition_level == 1)
            if stored is None:
                return None
            found.append(stored)
    return found


def _has_numbers(column: Any, chunk: Any) -> bool:
    """Tell whether, by the file's footer, a column of a row group has numbers of which none is missing."""
    told = chunk.statistics is not None and chunk.statistics.has_null_count
    nothing_missing = column.max_definition_level == 0 or (told and chunk.statistics.null_count == 0)
    return bool(
        chunk.physical_type in _STORED_AS
        and column.logical_type.type == "NONE"
        and column.max_definition_level <= 1
        and column.max_repetition_level == 0
        and nothing_missing
        and chunk.compression in _CODECS
    )


def _stored(file: int, chunk: Any, *, optional: bool) -> StoredColumn | None:
    """Find the pages of a column of a row group; None if they are not what the footer lets expect, or too many."""
    from .parquet_pages_loops import N_NUMBERS, N_TOLD, find_pages

    codec, stored_as = _CODECS[chunk.compression], _STORED_AS[chunk.physical_type]
    begin = chunk.dictionary_page_offset if chunk.has_dictionary_page else chunk.data_page_offset
    end = begin + chunk.total_compressed_size
    read_in_order(file, begin, end)
    lines = np.zeros((1 + max(1, chunk.num_values // FEWEST_ROWS), N_TOLD), np.int64)
    count = find_pages(file, begin, end, optional, codec is not None, lines)
    pages = [Page(*line) for line in lines[:count].tolist()]
    if count < 2 or sum(page.n_numbers for page in pages[1:]) != chunk.num_values:
        return None
    dictionary = pages[0] if pages[0].n_numbers else None
    starts = [0, *np.cumsum(lines[1:count, N_NUMBERS]).tolist()]
    stored = StoredColumn(stored_as, codec, starts, pages[1:], dictionary)
    plain = all(
        page.n_unpacked == page.n_numbers * stored_as.itemsize
        for page in pages[1:]
        if not (page.packed or page.by_entries)
    )
    needs_dictionary = any(page.by_entries for page in pages[1:])
    return stored if plain and (dictionary is not None or not needs_dictionary) else None
