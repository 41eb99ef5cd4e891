"""Which rows are equal: for every row, the first that has the same numbers."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# So many rows, evenly spread, tell whether it is worth while to look at all. If none of them are equal, hardly any
# row is there more often than once in a thousand.
_SAMPLED = 4096


def first_equals(rows: Floats) -> Integers:
    """Return, for every row, the number of the first row that is equal to it: its own, if there is none before.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Finite; 0 and −0 are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.equal_rows import first_equals
    >>> first_equals(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 4.0]]))
    array([0, 1, 0, 1])
    """
    from bisector.engine.loops import given
    from bisector.solvers.equal_rows_loops import find_first_equals

    firsts = np.empty(len(rows), dtype=np.int64)
    table = np.full(1 << max(2, (2 * len(rows)).bit_length()), -1)
    find_first_equals(given(rows, np.float64), table, firsts)
    return firsts


def seem_to_repeat(rows: Floats) -> bool:
    """Tell whether any of some rows, evenly spread, are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.equal_rows import seem_to_repeat
    >>> seem_to_repeat(np.arange(8.0)[:, None]), seem_to_repeat(np.ones((8, 1)))
    (False, True)
    """
    some = rows[:: max(1, len(rows) // _SAMPLED)]
    return bool((first_equals(some) < np.arange(len(some))).any())
