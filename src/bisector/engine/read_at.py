"""Reading a few bytes of a file inside a loop, without a call of Python for each."""

import os
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

# As systems other than Windows have it. It is found by its name, so that loops that use it can be kept on disk.
_pread = types.ExternalFunction("pread", types.intp(types.intc, types.voidptr, types.uintp, types.int64))


def read_at(file: int, place: int, into: NDArray[np.uint8]) -> int:
    """Fill an array with bytes of an open file, and return how many there were.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from bisector.engine.read_at import read_at
    >>> into = np.zeros(6, np.uint8)
    >>> with tempfile.TemporaryFile() as file:
    ...     _ = file.write(b"lines and planes")
    ...     file.flush()
    ...     read_at(file.fileno(), 10, into), into.tobytes()
    (6, b'planes')
    """
    return os.preadv(file, [into.data], place)


@overload(read_at)
def _compile_read_at(file: Any, place: Any, into: Any) -> Any:
    if isinstance(into, types.Array) and into.dtype == types.uint8 and into.layout == "C":

        def read(file: Any, place: Any, into: Any) -> Any:
            return _pread(file, into.ctypes, len(into), place)

        return read
    return None
