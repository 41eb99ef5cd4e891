"""Row groups of Parquet files, read from their pages: plain numbers where they stand, others unpacked."""

import mmap
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .direct_reads import Rooms, opened_directly, read_directly
from .mapped import are_in_memory, mapped, read_in_order
from .memory import budget
from .parquet_chunks import Chunk
from .parquet_pages import StoredColumn, cut_at_pages, stored_columns
from .stretches import Stretch, joined

# What Parquet files are mostly written with.
PAGE_BYTES = 2**20
# With less memory than `ROOM`, little is looked at at a time, and nothing is unpacked or read past the cache.
ROOM, SMALL_BUFFER = 2**30, 2**16
# So much is read past the cache at a time, and a whole row group that is no more than a small share of the budget:
# then headers are read along with what is between them.
BATCH_BYTES, SHARE_FOR_GROUP = 2**26, 1 / 16

# Addresses of the columns in memory, and how many numbers are there.
Piece = tuple[NDArray[np.int64], int]
# Pieces, and in the end whether they could be had: if not, there was none.
Pieces = Generator[Piece, None, bool]


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

    @property
    def are_plain(self) -> bool:
        """Tell whether, as far as it is known yet, they need no decoder."""
        return self._stored is not None and all(column.is_plain for column in self._stored)

    def pieces(self, dtype: np.dtype[Any], n_rows: int, rooms: Rooms | None) -> Pieces:
        """Read the first rows, in pieces that are good until the next one is asked for; or leave them to Arrow.

        Given rooms, what is not in the system's cache stays out of it, if it need not be decoded.
        """
        seem_plain = not any(chunk.codec or chunk.has_dictionary for chunk in self._chunks)
        as_wanted = all(chunk.stored_as == dtype for chunk in self._chunks)
        with open(self._path, "rb", buffering=0) as opened:
            file = opened.fileno()
            whole = n_rows == self._n_rows
            if rooms is not None and seem_plain and as_wanted and whole and not self._are_cached(file):
                with opened_directly(self._path) as around:
                    if around is not None and (yield from self._direct_pieces(around, file, rooms)):
                        return True
            if self._stored is None and not self._unreadable:
                read_in_order(file, self._extents)
                self._find_pages([mapped(file, *extent, scattered=True) for extent in self._extents])
            plain = self.are_plain and as_wanted
            if self._stored is None or not (plain or budget() >= ROOM):
                return False
            read_in_order(file, [column.extent(n_rows) for column in self._stored])
            if plain:
                yield from _mapped_pieces(file, self._stored, n_rows)
            else:
                yield from _unpacked_pieces(file, self._stored, dtype, n_rows)
            return True

    def _are_cached(self, file: int) -> bool:
        return are_in_memory(file, self._extents)

    def _find_pages(self, raws: list[NDArray[np.uint8]]) -> None:
        self._stored = stored_columns(self._chunks, raws)
        self._unreadable = self._stored is None

    def _direct_pieces(self, around: int, file: int, rooms: Rooms) -> Pieces:
        """Have plain numbers from the disk in a room of our own."""
        if self._stored is None:
            if self._n_bytes <= most_read_at_once():
                return (yield from self._whole_pieces(around, rooms))
            with _left_on_disk(file, self._extents):
                self._find_pages([mapped(file, *extent, scattered=True) for extent in self._extents])
        if self._stored is None or not self.are_plain:
            return False
        for window in _windows(self._n_rows, BATCH_BYTES * self._n_rows // self._n_bytes):
            stretches = [column.between(*window) for column in self._stored]
            with read_directly(around, stretches, rooms) as raws:
                yield from _cut(self._stored, window, raws, stretches)
        return True

    def _whole_pieces(self, around: int, rooms: Rooms) -> Pieces:
        """Have all of it at once, and find its pages there."""
        with read_directly(around, self._extents, rooms) as raws:
            self._find_pages(raws)
            if self._stored is None or not self.are_plain:
                return False
            yield from _cut(self._stored, (0, self._n_rows), raws, self._extents)
        return True


def _mapped_pieces(file: int, stored: list[StoredColumn], n_rows: int) -> Iterator[Piece]:
    """Look at plain numbers where the system has them."""
    for window in _windows(n_rows, buffer_bytes() // stored[0].stored_as.itemsize):
        stretches = [column.between(*window) for column in stored]
        begin = min(first for first, _ in stretches)
        raw = mapped(file, begin, max(last for _, last in stretches))
        yield from _cut(stored, window, [raw] * len(stored), [(begin, begin + len(raw))] * len(stored))


def _cut(
    stored: list[StoredColumn],
    rows: tuple[int, int],
    raws: list[NDArray[np.uint8]],
    stretches: list[Stretch],
) -> Iterator[Piece]:
    """Cut rows at the ends of pages; of each column, the bytes of a stretch of the file are given."""
    cuts = cut_at_pages(stored, *rows)
    addresses = np.empty((len(cuts) - 1, len(stored)), np.int64)
    for j, (column, raw, (begin, _)) in enumerate(zip(stored, raws, stretches, strict=True)):
        addresses[:, j] = column.places(cuts[:-1]) + (raw.ctypes.data - begin)
    yield from zip(addresses, np.diff(cuts).tolist(), strict=True)


def _unpacked_pieces(
    file: int, stored: list[StoredColumn], dtype: np.dtype[Any], n_rows: int
) -> Iterator[Piece]:
    """Unpack a page of every column, and the next one of those that are used up."""
    pages = [column.unpacked(file, dtype) for column in stored]
    current = [next(numbers) for numbers in pages]
    row = 0
    while row < n_rows:
        count = min(n_rows - row, *(len(numbers) for numbers in current))
        yield addresses_of(current), count
        row += count
        if row < n_rows:
            current = [
                numbers[count:] if len(numbers) > count else next(following)
                for numbers, following in zip(current, pages, strict=True)
            ]


def _windows(n_rows: int, most: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n_rows, max(1, most)):
        yield start, min(start + most, n_rows)


@contextmanager
def _left_on_disk(file: int, extents: list[Stretch]) -> Iterator[None]:
    """Have the system forget what was looked at here and there: it would keep it from making large pages later."""
    yield
    for first, last in joined(extents):
        begin = first - first % mmap.PAGESIZE
        os.posix_fadvise(file, begin, last + mmap.PAGESIZE - begin, os.POSIX_FADV_DONTNEED)


def addresses_of(arrays: list[NDArray[Any]]) -> NDArray[np.int64]:
    """Return where in memory arrays begin."""
    return np.array([array.ctypes.data for array in arrays])


def most_read_at_once() -> int:
    """Return how many bytes are read past the cache at a time."""
    return max(BATCH_BYTES, int(SHARE_FOR_GROUP * budget())) if budget() >= ROOM else 0


def buffer_bytes() -> int:
    """Return how much of a column is looked at at a time."""
    return PAGE_BYTES if budget() >= ROOM else SMALL_BUFFER
