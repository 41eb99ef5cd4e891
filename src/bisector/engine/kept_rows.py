"""Rows of files that are read again and again, decoded once.

Data that are read a second time are likely to be read a third. So what the second reading decodes is kept, and what
the first does if a fit has said that it reads often: in memory as far as a share of the budget goes, beyond it in a
scratch file if the user named a folder for such (``bisector.config(scratch=...)``), else nowhere. What needs no
decoder is kept in memory only, from the third reading on if nothing was said: a scratch file would take as much of
the system's cache as the data, and hardly be read faster.
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

# Rows as they are kept: features, and targets beside them.
Tables = tuple[NDArray[Any], NDArray[Any]]


class KeptRows:
    """Blocks of rows, kept part by part; nothing says that all parts were kept.

    Parameters
    ----------
    n_rows, n_features, n_targets : int
    dtype : dtype
    """

    def __init__(self, n_rows: int, n_features: int, n_targets: int, dtype: np.dtype[Any]) -> None:
        self._n_features, self._width, self.dtype = n_features, n_features + n_targets, dtype
        self._row_bytes = self._width * dtype.itemsize
        self._n_bytes = n_rows * self._row_bytes
        self._memory_left = SHARE_FOR_KEEPING * budget()
        self._blocks: dict[int, Tables] = {}
        self._scratch: _ScratchFile | None = None  # once there is something to write
        self._closed = False
        self._changing = threading.Lock()

    def begin(self, n_rows: int, *, decoded: bool) -> "KeptPart | None":
        """Find a place for so many rows, if there is one; only rows that were decoded are worth a scratch file."""
        n_bytes = n_rows * self._row_bytes
        with self._changing:
            if n_bytes <= self._memory_left:
                self._memory_left -= n_bytes
                return KeptPart(self, n_bytes)
            if not decoded:
                return None
            if self._scratch is None and not self._closed:
                self._scratch = self._open_scratch()
        return None if self._closed else KeptPart(self, 0)

    def between(self, first: int, last: int) -> Tables:
        """Return rows of a part that was kept, between two boundaries of blocks."""
        if first in self._blocks:
            return self._blocks[first]
        assert self._scratch is not None
        rows = self._scratch.read(first * self._row_bytes, last * self._row_bytes)
        table = rows.view(self.dtype).reshape(last - first, self._width)
        return table[:, : self._n_features], table[:, self._n_features :]

    def write(self, first: int, tables: Tables) -> bool:
        """Write a block to the scratch file, and tell whether there was room."""
        assert self._scratch is not None
        X, targets = tables
        try:
            self._scratch.write(first * self._row_bytes, np.hstack([X, targets]) if targets.size else X)
        except OSError as error:
            self._close(str(error))
        return not self._closed

    def end(self, n_bytes: int, blocks: dict[int, Tables] | None) -> None:
        """Hold on to the blocks of a part, or take back the memory that was set aside for it."""
        with self._changing:
            if blocks is None:
                self._memory_left += n_bytes
            else:
                self._blocks |= blocks

    def _open_scratch(self) -> "_ScratchFile | None":
        folder = current().scratch
        if folder is None:
            self._closed = True
            return None
        try:
            free = shutil.disk_usage(folder).free
            if free >= self._n_bytes:
                return _ScratchFile(folder, self._n_bytes)
            self._close(f"{readable(free)} are free")
        except OSError as error:
            self._close(str(error))
        return None

    def _close(self, reason: str) -> None:
        """Keep no more: what was kept already can still be read."""
        self._closed = True
        warnings.warn(
            f"The scratch folder {current().scratch} cannot hold {readable(self._n_bytes)} of decoded rows "
            f"({reason}): the other rows are decoded anew in every pass, which gives the same result more slowly.",
            stacklevel=2,
        )


class KeptPart:
    """A part that is being kept, in memory if bytes were set aside for it, or else in the scratch file.

    As a context manager it gives up what was not completed.
    """

    def __init__(self, kept: KeptRows, n_bytes: int) -> None:
        self._kept, self._n_bytes = kept, n_bytes
        self._blocks: dict[int, Tables] = {}
        self._going_on = True
        self.completed = False

    def add(self, first: int, tables: Tables) -> None:
        """Take a block in."""
        if self._n_bytes:
            self._blocks[first] = tables
        else:
            self._going_on = self._going_on and self._kept.write(first, tables)

    def complete(self) -> None:
        """Say that all blocks were taken in."""
        self.completed = self._going_on

    def __enter__(self) -> "KeptPart":
        return self

    def __exit__(self, *error: object) -> None:
        self._kept.end(self._n_bytes, self._blocks if self.completed else None)


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
        read_in_order(self._file.fileno(), [(first, last)])
        return mapped(self._file.fileno(), first, last)
