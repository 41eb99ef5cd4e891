"""Row groups of Parquet files, read from their pages: plain numbers where they stand, others unpacked."""

import mmap
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .direct_reads import Rooms, opened_directly, read_directly
from .mapped import are_in_memory, mapped, read_in_order
from .memory import budget
from .parquet_chunks import Chunk
from .parquet_pages import StoredColumn, stored_columns
from .stretches import Stretch, joined

# What Parquet files are mostly written with.
PAGE_BYTES = 2**20
# With less memory than `ROOM`, little is looked at at a time, and nothing is unpacked or read past the cache.
ROOM, SMALL_BUFFER = 2**30, 2**16
# So much is mapped or read past the cache at a time, and a whole row group that is no more than a small share of
# the budget: then headers are looked at along with what is between them.
BATCH_BYTES, SHARE_FOR_GROUP = 2**26, 1 / 16

# Columns in pieces, as `upright_loops` copies them: addresses in memory, a line a piece, and where rows are cut.
Columns = tuple[NDArray[np.int64], NDArray[np.int64]]
# Columns of rows that follow each other, and in the end whether they could be had: if not, there were none.
Stream = Generator[Columns, None, bool]


class ColumnsOfGroup:
    """Columns of a row group in a file on this machine.

    Parameters
    ----------
    path : str
    chunks : list of Chunk
        The columns, as the file's footer tells of them.
    """

    def __init__(self, path: str, chunks: list[Chunk]) -> None:
        self._path, self._chunks = path, chunks
        self._extents = [(chunk.begin, chunk.end) for chunk in chunks]
        self._n_rows = chunks[0].n_numbers
        self._n_bytes = sum(end - begin for begin, end in self._extents)
        self._stored: list[StoredColumn] | None = None
        self._unreadable = False
        self._layouts: dict[tuple[int, int], Layout] = {}

    @property
    def are_plain(self) -> bool:
        """Tell whether, as far as it is known yet, they need no decoder."""
        if self._stored is not None:
            return all(column.is_plain for column in self._stored)
        return not self._unreadable and not any(chunk.codec or chunk.has_dictionary for chunk in self._chunks)

    def pieces(self, dtype: np.dtype[Any], n_rows: int, rooms: Rooms | None) -> Stream:
        """Read the first rows, in pieces that are good until the next one is asked for; or leave them to Arrow.

        Given rooms, what is not in the system's cache stays out of it, if it need not be decoded.
        """
        as_wanted = all(chunk.stored_as == dtype for chunk in self._chunks)
        with open(self._path, "rb", buffering=0) as opened:
            file = opened.fileno()
            direct = self.are_plain and as_wanted and n_rows == self._n_rows
            if not are_in_memory(file, self._extents):
                if rooms is not None and direct:
                    with opened_directly(self._path) as around:
                        if around is not None and (yield from self._direct_pieces(around, file, rooms)):
                            return True
                self._have_read(file, n_rows)
            return (yield from self._cached_pieces(file, dtype, n_rows, as_wanted=as_wanted))

    def _have_read(self, file: int, n_rows: int) -> None:
        """Have the system read what the first rows need."""
        if not self._unreadable:
            stored = self._stored
            read_in_order(
                file, self._extents if stored is None else [column.extent(n_rows) for column in stored]
            )

    def _cached_pieces(self, file: int, dtype: np.dtype[Any], n_rows: int, *, as_wanted: bool) -> Stream:
        """Look at the file where the system has it; a row group that is not too large is mapped once for all."""
        if self._unreadable:
            return False
        at_once = self._n_bytes <= most_read_at_once()
        raws = _mapped_together(file, self._extents) if at_once else []
        if self._stored is None:
            self._find_pages(raws or [mapped(file, *extent, scattered=True) for extent in self._extents])
        plain = self.are_plain and as_wanted
        if self._stored is None or not (plain or budget() >= ROOM):
            return False
        if not plain:
            raws.clear()
            yield from _unpacked_pieces(file, self._stored, dtype, n_rows)
        elif at_once:
            yield self._window_of_all(n_rows).columns(_shifts(raws, self._extents))
        else:
            yield from _mapped_pieces(file, self._layout(n_rows, self._window_rows()))
        return True

    def _find_pages(self, raws: list[NDArray[np.uint8]]) -> None:
        self._stored = stored_columns(self._chunks, raws)
        self._unreadable = self._stored is None

    def _direct_pieces(self, around: int, file: int, rooms: Rooms) -> Stream:
        """Have plain numbers from the disk in a room of our own."""
        if self._stored is None:
            if self._n_bytes <= most_read_at_once():
                return (yield from self._whole_pieces(around, rooms))
            with _left_on_disk(file, self._extents):
                self._find_pages([mapped(file, *extent, scattered=True) for extent in self._extents])
        if not self.are_plain:
            return False
        for window in self._layout(self._n_rows, self._window_rows()).windows():
            with read_directly(around, window.stretches, rooms) as raws:
                yield window.columns(_shifts(raws, window.stretches))
        return True

    def _whole_pieces(self, around: int, rooms: Rooms) -> Stream:
        """Have all of it at once, and find its pages there."""
        with read_directly(around, self._extents, rooms) as raws:
            self._find_pages(raws)
            if not self.are_plain:
                return False
            yield self._window_of_all(self._n_rows).columns(_shifts(raws, self._extents))
        return True

    def _window_rows(self) -> int:
        """Return how many rows of plain numbers are looked at at a time where all of them are too many."""
        if budget() < ROOM:
            return SMALL_BUFFER // self._chunks[0].stored_as.itemsize
        return BATCH_BYTES * self._n_rows // self._n_bytes

    def _window_of_all(self, n_rows: int) -> "Window":
        (window,) = self._layout(n_rows, n_rows).windows()
        return window

    def _layout(self, n_rows: int, window_rows: int) -> "Layout":
        wanted = n_rows, window_rows
        if wanted not in self._layouts:
            assert self._stored is not None
            self._layouts[wanted] = _lay_out(self._stored, n_rows, max(1, window_rows))
        return self._layouts[wanted]


class Window(NamedTuple):
    """Rows that are looked at together, cut at the ends of pages."""

    cuts: NDArray[np.int64]
    places: NDArray[np.int64]  # where in the file the numbers of each piece begin, a column for each of ours
    itemsize: int

    @property
    def stretches(self) -> list[Stretch]:
        """Where in the file the numbers of each column begin and end, with the headers between them."""
        ends = self.places[-1] + (self.cuts[-1] - self.cuts[-2]) * self.itemsize
        return list(zip(self.places[0].tolist(), ends.tolist(), strict=True))

    def columns(self, shifts: ArrayLike) -> Columns:
        """Return the columns in pieces, given how far their bytes are in memory from where they are in the file."""
        return self.places + np.asarray(shifts), self.cuts


class Layout(NamedTuple):
    """How plain numbers of a row group lie in the file, in windows that begin with these pieces."""

    cuts: NDArray[np.int64]
    places: NDArray[np.int64]
    firsts: list[int]
    itemsize: int

    def windows(self) -> Iterator[Window]:
        for first, last in pairwise(self.firsts):
            yield Window(self.cuts[first : last + 1], self.places[first:last], self.itemsize)


def _lay_out(stored: list[StoredColumn], n_rows: int, window_rows: int) -> Layout:
    """Cut the first rows where a column has a page's end or a window begins."""
    windows = np.append(np.arange(0, n_rows, window_rows), n_rows)
    cuts = np.unique(np.concatenate([windows, *(column.starts for column in stored)]))
    cuts = cuts[cuts <= n_rows]
    places = np.stack([column.places(cuts[:-1]) for column in stored], axis=1)
    return Layout(cuts, places, np.searchsorted(cuts, windows).tolist(), stored[0].stored_as.itemsize)


def _shifts(raws: list[NDArray[np.uint8]], stretches: list[Stretch]) -> list[int]:
    return [raw.ctypes.data - begin for raw, (begin, _) in zip(raws, stretches, strict=True)]


def _mapped_together(file: int, extents: list[Stretch]) -> list[NDArray[np.uint8]]:
    """Map stretches of a file as one, with what is between them, which nobody will look at."""
    begin = min(first for first, _ in extents)
    raw = mapped(file, begin, max(last for _, last in extents))
    return [raw[first - begin : last - begin] for first, last in extents]


def _mapped_pieces(file: int, layout: Layout) -> Iterator[Columns]:
    """Look at plain numbers where the system has them."""
    for window in layout.windows():
        stretches = window.stretches
        begin = min(first for first, _ in stretches)
        raw = mapped(file, begin, max(last for _, last in stretches))
        yield window.columns(raw.ctypes.data - begin)


def _unpacked_pieces(
    file: int, stored: list[StoredColumn], dtype: np.dtype[Any], n_rows: int
) -> Iterator[Columns]:
    """Unpack a page of every column, and the next one of those that are used up."""
    pages = [column.unpacked(file, dtype) for column in stored]
    current = [next(numbers) for numbers in pages]
    row = 0
    while row < n_rows:
        count = min(n_rows - row, *(len(numbers) for numbers in current))
        yield columns_of(current, count)
        row += count
        if row < n_rows:
            current = [
                numbers[count:] if len(numbers) > count else next(following)
                for numbers, following in zip(current, pages, strict=True)
            ]


@contextmanager
def _left_on_disk(file: int, extents: list[Stretch]) -> Iterator[None]:
    """Have the system forget what was looked at here and there: it would keep it from making large pages later."""
    yield
    for first, last in joined(extents):
        begin = first - first % mmap.PAGESIZE
        os.posix_fadvise(file, begin, last + mmap.PAGESIZE - begin, os.POSIX_FADV_DONTNEED)


def columns_of(arrays: list[NDArray[Any]], n_rows: int) -> Columns:
    """Return arrays as columns in one piece. Whoever asks holds on to the arrays."""
    return np.array([[array.ctypes.data for array in arrays]]), np.array([0, n_rows])


def most_read_at_once() -> int:
    """Return up to how many bytes a row group is mapped, or read past the cache, as a whole."""
    return max(BATCH_BYTES, int(SHARE_FOR_GROUP * budget())) if budget() >= ROOM else 0


def buffer_bytes() -> int:
    """Return how much of a column Arrow reads at a time."""
    return PAGE_BYTES if budget() >= ROOM else SMALL_BUFFER
