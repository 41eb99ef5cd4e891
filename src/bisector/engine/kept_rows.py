"""Rows of files that are read again and again, decoded once.

Data that are read a second time are likely to be read a third. So what the second reading decodes is kept (of what
needs no decoder, what the third reads): in memory if all rows together take little of the budget, else in a scratch
file if the user named a folder for such (``bisector.config(scratch=...)``), else nowhere.
"""

import shutil
import tempfile
import threading
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mapped import mapped, read_in_order
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

    def between(self, first: int, last: int) -> NDArray[Any]:
        """Return rows that were kept."""
        if self.in_memory:
            return np.asarray(self._place[first:last])
        rows = self._place.read(first * self._row_bytes, last * self._row_bytes)
        return np.asarray(rows.view(self.dtype).reshape(last - first, self.shape[1]))

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
    """A file without a name, gone with the process at the latest; written and read at places."""

    def __init__(self, folder: str, n_bytes: int) -> None:
        self._file = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 (it lives as long as this object)
        self._file.truncate(n_bytes)
        self._moving = threading.Lock()

    def write(self, offset: int, table: NDArray[Any]) -> None:
        left = np.ascontiguousarray(table).data.cast("B")
        with self._moving:
            self._file.seek(offset)
            while left:
                left = left[self._file.write(left) :]

    def read(self, first: int, last: int) -> NDArray[np.uint8]:
        read_in_order(self._file.fileno(), first, last)
        return mapped(self._file.fileno(), first, last)
