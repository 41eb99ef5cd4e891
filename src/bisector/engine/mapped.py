"""Bytes of files where the system has them already: looked at, not copied.

For rows that are looked at once in a pass, finding the system's pages takes at most half of the time of copying
them. What is mapped counts as memory of the process until the array is gone, so readers map a little at a time.
"""

import ctypes
import mmap
import os
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .stretches import Stretch, cut_short, joined

LARGE_PAGE = 2**21
# How much is mapped at a time to have the system read it, and what it is asked: Python has no name for this.
_MAPPED_BYTES, _POPULATE_READ = 2**24, 22
# In shorter stretches, what lies around them would be too large a part of what is read.
_WORTH_LARGE_PAGES = 2**23
# How much is copied at a time, out of the cache's way, where large pages are not to be had.
_READ_BYTES = 2**16


def mapped(file: int, first: int, last: int, *, scattered: bool = False) -> NDArray[np.uint8]:
    """Return the bytes of an open file from `first` up to `last`, read-only, for as long as the array lives.

    Of bytes that are looked at here and there, `scattered`, the system leaves alone what is between them.

    Bytes that are not in memory are read from the disk when they are looked at. A file that is cut short after
    this call and before they are looked at ends the process, as it does for every map: replace files, do not
    overwrite them.

    Examples
    --------
    >>> import tempfile
    >>> from bisector.engine.mapped import mapped
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(b"lines and planes")
    ...     file.flush()
    ...     mapped(file.fileno(), 10, 16).tobytes()
    b'planes'
    """
    if last <= first:
        return np.empty(0, np.uint8)
    begin = first - first % mmap.ALLOCATIONGRANULARITY
    try:
        held = mmap.mmap(file, last - begin, access=mmap.ACCESS_READ, offset=begin)
    except ValueError:  # where the system would give bytes beyond the end, Python gives this
        raise cut_short(last) from None
    if scattered and hasattr(mmap, "MADV_RANDOM"):
        held.madvise(mmap.MADV_RANDOM)
    return np.frombuffer(held, np.uint8)[first - begin :]


def read_in_order(file: int, stretches: list[Stretch]) -> None:
    """Have stretches of an open file in the system's memory, if it tells whether they are there.

    Bytes that are mapped are read from the disk by small pages in the order they are looked at. Read in the order
    they are stored in, they arrive sooner, and in large pages, which are found faster in every pass.
    """
    if are_in_memory(file, stretches):
        return
    for first, last in joined(stretches):
        if not (last - first >= _WORTH_LARGE_PAGES and _read_large_pages(file, first, last)):
            unused = np.empty(_READ_BYTES, np.uint8).data
            for place in range(first, last, _READ_BYTES):
                os.preadv(file, [unused[: last - place]], place)


def _read_large_pages(file: int, first: int, last: int) -> bool:
    """Have the system make large pages of these bytes and a few before them; tell whether it knows how to."""
    for begin in range(first - first % LARGE_PAGE, last, _MAPPED_BYTES):
        n_bytes = min(_MAPPED_BYTES, last - begin)
        with mmap.mmap(file, n_bytes, access=mmap.ACCESS_READ, offset=begin) as held:
            try:
                held.madvise(mmap.MADV_HUGEPAGE)
                held.madvise(mmap.MADV_RANDOM)
                held.madvise(_POPULATE_READ)
            except (AttributeError, OSError):
                return False
    return True


def are_in_memory(file: int, stretches: list[Stretch]) -> bool:
    """Tell whether the system has stretches of an open file in memory; where it does not tell, say yes.

    A few bytes of the first and of the last one stand for all: the system reads ahead into what comes next, and
    forgets first what it read first.

    Examples
    --------
    >>> import tempfile
    >>> from bisector.engine.mapped import are_in_memory
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(b"lines and planes")
    ...     file.flush()
    ...     are_in_memory(file.fileno(), [(0, 5), (10, 16)])
    True
    """
    return all(_is_in_memory(file, first, last) for first, last in {min(stretches), max(stretches)})


def _is_in_memory(file: int, first: int, last: int) -> bool:
    """Ask for a few bytes, not the last ones: next to them there may be a header that was read already."""
    first, last = max(first, last - 2 * _READ_BYTES), max(first + 1, last - _READ_BYTES)
    ask = _mincore()
    if ask is None or not _is_ours(file):
        return _can_be_had_at_once(file, last - 1)
    held = mapped(file, first - first % mmap.PAGESIZE, last)
    pages = np.zeros(-(-len(held) // mmap.PAGESIZE), np.uint8)
    if ask(held.ctypes.data, len(held), pages.ctypes.data) != 0:
        return True
    return bool(2 * np.count_nonzero(pages & 1) > len(pages))


@cache
def _mincore() -> Any:
    """Return the system's function, which asks without having anything read."""
    try:
        function = ctypes.CDLL(None).mincore
    except (TypeError, OSError, AttributeError):  # a system without it, as Windows
        return None
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
    return function


def _is_ours(file: int) -> bool:
    """Tell whether the system will say what it has of a file: of those of others, it says it has everything."""
    return os.geteuid() in (0, os.fstat(file).st_uid)


def _can_be_had_at_once(file: int, place: int) -> bool:
    """Ask for a byte without waiting for it. The system may begin to read what is around."""
    if not hasattr(os, "RWF_NOWAIT"):
        return True
    try:
        return os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
    except OSError:  # no answer on this file system
        return True
