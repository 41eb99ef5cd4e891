"""Tables whose memory is used again as soon as nobody refers to them any more.

A new table is memory that the system has to find and to clear first. For blocks of rows, of which each is looked at
once, that takes as long as half of what it takes to fill them.
"""

import threading
from collections import deque
from sys import getrefcount
from typing import Any

import numpy as np
from numpy.typing import NDArray

# So many tables are remembered for a thread. Of those it makes, two or three are in use at a time, unless rows are
# kept: then the tables that hold them are forgotten here before long.
_MOST = 8


class ReusedTables(threading.local):
    """Makes tables, of those that the same thread made before if they are free.

    Examples
    --------
    >>> from bisector.engine.reused_tables import ReusedTables
    >>> tables = ReusedTables()
    >>> first, second = tables.empty((5, 2), float), tables.empty((5, 2), float)
    >>> first is second
    False
    >>> place = first.ctypes.data
    >>> del first
    >>> tables.empty((5, 2), float).ctypes.data == place
    True
    """

    def __init__(self) -> None:
        self._made: deque[NDArray[Any]] = deque([np.empty((0, 0))], _MOST)
        # How many refer to a table that nobody else has, as Python counts them here: versions of it differ.
        self._when_free = self._oldest()[1]

    def empty(self, shape: tuple[int, int], dtype: Any) -> NDArray[Any]:
        """Return a table with anything in it. It is in use as long as it, or a view of it, is referred to."""
        for _ in range(len(self._made)):
            table, holders = self._oldest()
            self._made.append(table)
            if holders == self._when_free and table.shape == shape and table.dtype == dtype:
                return table
        table = np.empty(shape, dtype)
        self._made.append(table)
        return table

    def _oldest(self) -> tuple[NDArray[Any], int]:
        table = self._made.popleft()
        return table, getrefcount(table)
