"""Columns of Parquet files, read from their pages.

A column of a row group is a row of pages, each a short header and then its numbers. Written without compression and
without a dictionary, they stand there as they stand in memory: once the places of the pages are known, rows are
made of the file's bytes where the system has them, without a copy. Packed pages are unpacked by Arrow's codecs, and
entries of dictionaries looked up, in two thirds of the time that Arrow takes to make columns of them.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .mapped import mapped
from .parquet_chunks import Chunk
from .stretches import Stretch

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


_PLACE = Page._fields.index("place")


class StoredColumn(NamedTuple):
    """A column of a row group: page p has rows from ``starts[p]`` to ``starts[p + 1]``.

    Files have many pages, so what is known of them stands in arrays: a line of `pages` is a `Page`.
    """

    stored_as: np.dtype[Any]
    codec: str | None
    starts: NDArray[np.int64]
    pages: NDArray[np.int64]
    dictionary: Page | None
    is_plain: bool  # whether the numbers stand in the file as in memory

    def places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where in the file the plain numbers of rows stand."""
        its_page = self.starts.searchsorted(rows, side="right") - 1
        return self.pages[its_page, _PLACE] + (rows - self.starts[its_page]) * self.stored_as.itemsize

    def extent(self, n_rows: int) -> Stretch:
        """Return where in the file the pages of the first rows begin and end."""
        first = self.dictionary or self.page(0)
        last = self.page(int(self.starts.searchsorted(n_rows - 1, side="right")) - 1)
        return first.place, last.place + last.n_bytes

    def page(self, number: int) -> Page:
        """Return what is known of a page."""
        return Page(*self.pages[number].tolist())

    def unpacked(self, file: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
        """Return the numbers of page after page, each good until the next one is asked for."""
        from .loops import given
        from .parquet_pages_loops import look_up

        entries = np.empty(0, dtype)
        pages = [Page(*line) for line in self.pages.tolist()]
        room = np.empty(max((page.n_numbers for page in pages if page.by_entries), default=0), dtype)
        pages = pages if self.dictionary is None else [self.dictionary, *pages]
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


def stored_columns(chunks: list[Chunk], raws: list[NDArray[np.uint8]]) -> list[StoredColumn] | None:
    """Find the pages of chunks, given the bytes of each; None if any of them must be read by Arrow.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import pyarrow as pa, pyarrow.dataset, pyarrow.parquet
    >>> from bisector.engine.parquet_chunks import Footer
    >>> from bisector.engine.parquet_pages import stored_columns
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "rows.parquet"
    ...     table = pa.table({"x": np.arange(50_000.0)})
    ...     pa.parquet.write_table(table, path, compression=None, use_dictionary=False)
    ...     (fragment,) = pa.dataset.dataset(path).get_fragments()
    ...     chunks, raw = Footer(fragment).chunks(0, ["x"]), np.fromfile(path, np.uint8)
    >>> (column,) = stored_columns(chunks, [raw[chunk.begin : chunk.end] for chunk in chunks])
    >>> column.is_plain, column.starts[-1]
    (True, np.int64(50000))
    >>> (place,) = column.places(np.array([40_000]))
    >>> raw[place : place + 24].view(float)
    array([40000., 40001., 40002.])
    """
    found = []
    for chunk, raw in zip(chunks, raws, strict=True):
        stored = _stored(chunk, raw)
        if stored is None:
            return None
        found.append(stored)
    return found


def _stored(chunk: Chunk, raw: NDArray[np.uint8]) -> StoredColumn | None:
    """Find the pages of a chunk; None if they are not what the footer lets expect, or too many."""
    from .loops import given
    from .parquet_pages_loops import N_NUMBERS, N_TOLD, find_pages, page_kinds

    most = 1 + max(1, chunk.n_numbers // FEWEST_ROWS)
    lines, starts = np.empty((most, N_TOLD), np.int64), np.empty(most, np.int64)
    packed = chunk.codec is not None
    count = find_pages(given(raw, np.uint8), chunk.begin, chunk.optional, packed, lines, starts)
    if count < 2 or starts[count - 1] != chunk.n_numbers:
        return None
    dictionary = Page(*lines[0].tolist()) if lines[0, N_NUMBERS] else None
    n_entries, n_plain, n_wrong = page_kinds(lines[1:count], chunk.stored_as.itemsize)
    if n_wrong or (n_entries and dictionary is None):
        return None
    pages = lines[1:count].copy()
    return StoredColumn(
        chunk.stored_as, chunk.codec, starts[:count].copy(), pages, dictionary, n_plain == len(pages)
    )
