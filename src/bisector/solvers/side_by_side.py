"""Rows in single precision, as loops take them that multiply a few with many (`side_by_side_loops`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

# Rows that stand side by side: a coordinate of so many stays in the first-level cache.
PIECE = 1024


def by_fours(rows: NDArray[Any]) -> Singles:
    """Return rows with zeros behind, so that the number of coordinates is a multiple of four.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.side_by_side import by_fours
    >>> by_fours(np.ones((1, 3)))
    array([[1., 1., 1., 0.]], dtype=float32)
    """
    n, d = rows.shape
    filled = np.zeros((n, -(-d // 4) * 4), dtype=np.float32)
    filled[:, :d] = rows
    return filled


def in_pieces(rows: Singles) -> Singles:
    """Return rows side by side, (pieces, n_features, PIECE), the last piece filled up with zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.side_by_side import in_pieces
    >>> in_pieces(np.ones((3, 4), np.float32)).shape
    (1, 4, 1024)
    """
    n, d = rows.shape
    pieces = np.zeros((-(-n // PIECE), PIECE, d), dtype=np.float32)
    pieces.reshape(-1, d)[:n] = rows
    return np.ascontiguousarray(pieces.transpose(0, 2, 1))
