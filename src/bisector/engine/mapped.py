"""Bytes of files where the system has them already: looked at, not copied.

For rows that are looked at once in a pass, finding the system's pages takes at most half of the time of copying
them. What is mapped counts as memory of the process until the array is gone, so readers map a little at a time.
"""

import mmap
import os

import numpy as np
from numpy.typing import NDArray

# How much is copied at a time, out of the cache's way, to have the system read it.
_READ_BYTES = 2**16


def mapped(file: int, first: int, last: int) -> NDArray[np.uint8]:
    """Return the bytes of an open file from `first` up to `last`, read-only, for as long as the array lives.

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
        raise OSError(
            f"A file has no byte {last}: is it shorter than when it was opened, because it was written anew?"
        ) from None
    return np.frombuffer(held, np.uint8)[first - begin :]


def read_in_order(file: int, first: int, last: int) -> None:
    """Have these bytes of an open file in the system's memory, if it tells whether they are there.

    Bytes that are mapped are read from the disk by small pages in the order they are looked at. Read in the order
    they are stored in, they arrive sooner, and in large pages, which are found faster in every pass.
    """
    if last <= first or _is_in_memory(file, last - 1):
        return
    unused = np.empty(_READ_BYTES, np.uint8).data
    for place in range(first, last, _READ_BYTES):
        os.preadv(file, [unused[: last - place]], place)


def _is_in_memory(file: int, place: int) -> bool:
    if not hasattr(os, "RWF_NOWAIT"):
        return True
    try:
        return os.preadv(file, [bytearray(1)], place, os.RWF_NOWAIT) == 1
    except BlockingIOError:
        return False
    except OSError:  # no answer on this file system
        return True
