"""Rows of files that are read again and again, decoded once.

Data that are read a second time are likely to be read a third. So what the second reading decodes is kept: in
memory if all rows together take little of the budget, else in a scratch file if the user named a folder for such
(``bisector.config(scratch=...)``), else nowhere.
"""

import mmap
import shutil
import tempfile
import threading
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .memory import budget, readable
from .settings import current

# What rows kept in memory may take of the budget.
SHARE_FOR_KEEPING = 0.25

_opening = threading.Lock()


class KeptRows:
    """A table that is filled in pieces and read in pieces; nothing says that all of it was filled.

    Parameters
    ----------
    n_rows, n_columns : int
    dtype : dtype
    """

    def __init__(self, n_rows: int, n_columns: int, dtype: np.dtype[Any]) -> None:
        self.shape = (n_rows, n_columns)
        self.dtype = dtype
        self._row_bytes = n_columns * dtype.itemsize
        self.n_bytes = n_rows * self._row_bytes
        self.in_memory = self.n_bytes <= SHARE_FOR_KEEPING * budget()
        self._place: Any = None  # an array or a _ScratchFile, once there is something to keep
        self._closed = False

    def keep(self, first: int, table: NDArray[Any]) -> bool:
        """Keep these rows, and tell whether there was a place for them."""
        with _opening:
            if self._place is None and not self._closed:
                self._place = np.empty(self.shape, self.dtype) if self.in_memory else self._open_scratch()
        if self._closed:
            return False
        if self.in_memory:
            self._place[first : first + len(table)] = table
            return True
        try:
            self._place.write(first * self._row_bytes, table)
        except OSError as error:
            self._close(str(error))
        return not self._closed

    def expect(self, first: int, last: int) -> None:
        """Say that these rows will be asked for next, so that the system may begin to read them."""
        if not self.in_memory:
            self._place.advise("MADV_WILLNEED", first * self._row_bytes, last * self._row_bytes)

    def between(self, first: int, last: int) -> NDArray[Any]:
        """Return rows that were kept, as a view."""
        if self.in_memory:
            return np.asarray(self._place[first:last])
        count = (last - first) * self.shape[1]
        flat = np.frombuffer(self._place.map, self.dtype, count, first * self._row_bytes)
        return flat.reshape(last - first, self.shape[1])

    def forget(self, first: int, last: int) -> None:
        """Say that these rows are not looked at for now: they stay kept, but need not be in memory."""
        if not self.in_memory:
            self._place.advise("MADV_DONTNEED", first * self._row_bytes, last * self._row_bytes)

    def _open_scratch(self) -> "_ScratchFile | None":
        folder = current().scratch
        if folder is None:
            self._closed = True
            return None
        try:
            free = shutil.disk_usage(folder).free
            if free >= self.n_bytes:
                return _ScratchFile(folder, self.n_bytes)
            self._close(f"{readable(free)} are free")
        except OSError as error:
            self._close(str(error))
        return None

    def _close(self, reason: str) -> None:
        """Keep no more: what was kept already can still be read."""
        self._closed = True
        warnings.warn(
            f"The scratch folder {current().scratch} cannot hold {readable(self.n_bytes)} of decoded rows "
            f"({reason}): the other rows are decoded anew in every pass, which gives the same result more slowly.",
            stacklevel=2,
        )


class _ScratchFile:
    """A file without a name, gone with the process at the latest; written at places, read through a memory map."""

    def __init__(self, folder: str, n_bytes: int) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (it lives as long as this object)
        self._file.truncate(n_bytes)
        self._writing = threading.Lock()
        self.map = mmap.mmap(self._file.fileno(), n_bytes, access=mmap.ACCESS_READ)

    def write(self, offset: int, table: NDArray[Any]) -> None:
        with self._writing:
            self._file.seek(offset)
            self._file.write(np.ascontiguousarray(table).data.cast("B"))
            self._file.flush()

    def advise(self, kind: str, first: int, last: int) -> None:
        """Tell the system about whole pages, where it can be told."""
        if hasattr(mmap, kind):
            start = first // mmap.PAGESIZE * mmap.PAGESIZE
            self.map.madvise(getattr(mmap, kind), start, last - start)
