"""Products of the columns of a block with each other, where a compiled loop beats BLAS.

BLAS copies its operands into an order of its own before it multiplies them. For a block with few columns
that takes longer than the multiplication, so that a loop with its sums in registers is about twice as fast
up to a hundred columns; and as it fills its own tile first, shifting, scaling and weighting cost nothing.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import ColumnsInPlace
from bisector.engine.intrinsics import WIDTH, add_products
from bisector.engine.loops import given, loop
from bisector.engine.upright_loops import fetch_bytes, fetch_columns, stand_upright_moved

Floats = NDArray[np.float64]

# Few enough for a narrow tile to leave most of the first-level cache to rows that arrive while it is multiplied.
_TILE_ROWS = 48


def joint_products(
    X: NDArray[Any] | ColumnsInPlace,
    Y: NDArray[Any],
    shift: Floats,
    scale: Floats,
    root: Floats | None = None,
) -> Floats:
    """Return AᵀA for A = [([X, Y] − shift)·scale, 1], each row multiplied by its `root` of a weight, if any.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.column_products import joint_products
    >>> X = np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0]])
    >>> joint_products(X, np.empty((3, 0)), np.zeros(2), np.ones(2))
    array([[35., 22.,  9.],
           [22., 74., 12.],
           [ 9., 12.,  3.]])
    """
    columns = 1 + X.shape[1] + Y.shape[1]
    padded = -(-columns // WIDTH) * WIDTH
    tile, sums = np.zeros((_TILE_ROWS, padded)), np.zeros((padded, padded))
    root = np.empty(0) if root is None else root
    beside = given(Y, np.float64), given(shift), given(scale), given(root, np.float64)
    if isinstance(X, ColumnsInPlace):
        places = given(X.addresses), given(X.cuts), X.first, X.n_rows
        _add_products_of_columns(*places, *beside, np.empty(0, X.dtype), tile, sums)
    else:
        _add_joint_products(given(X), *beside, tile, sums)
    return sums[:columns, :columns]


@loop
def _add_joint_products(X, Y, shift, scale, root, tile, sums):  # type: ignore[no-untyped-def]
    n, d, m = len(X), X.shape[1], Y.shape[1]
    n_bytes = len(tile) * d * X.itemsize
    for first in range(0, n, len(tile)):
        ahead = X.ctypes.data + (first + len(tile)) * d * X.itemsize
        for r in range(min(len(tile), n - first)):
            line, x, y = tile[r], X[first + r], Y[first + r]
            weight = root[first + r] if len(root) else 1.0
            for k in range(d):
                line[k] = (x[k] - shift[k]) * scale[k] * weight
            for k in range(m):
                line[d + k] = (y[k] - shift[d + k]) * scale[d + k] * weight
            line[d + m] = weight
        tile[n - first :, :] = 0.0
        for i in range(0, len(sums), WIDTH):
            # The next tile's rows are on their way while this one's are multiplied.
            fetch_bytes(ahead + i * n_bytes // len(sums), WIDTH * n_bytes // len(sums))
            for j in range(i, len(sums), WIDTH):
                add_products(tile, i, j, sums)
    _mirror(sums)


@loop
def _add_products_of_columns(addresses, cuts, start, n, Y, shift, scale, root, like, tile, sums):  # type: ignore[no-untyped-def]
    """Add products of columns in place, whose numbers are of the type of the array `like`."""
    d, m, weights = addresses.shape[1], Y.shape[1], np.ones(len(tile))
    tile[:, d + m] = 1.0
    for p in range(len(addresses)):
        begin, end = max(start, cuts[p]), min(start + n, cuts[p + 1])
        for first in range(begin, end, len(tile)):
            before, count = first - cuts[p], min(len(tile), end - first)
            if len(root):
                weights[:count] = root[first - start : first - start + count]
                tile[:, d + m] = weights
            stand_upright_moved(addresses[p], before, count, (shift, scale, weights), like, tile)
            for r in range(count):
                for k in range(m):
                    tile[r, d + k] = (Y[first - start + r, k] - shift[d + k]) * scale[d + k] * weights[r]
            tile[count:, :] = 0.0
            for i in range(0, len(sums), WIDTH):
                # The next tile's numbers are on their way while this one's are multiplied.
                fetch_columns(addresses[p, i : i + WIDTH], before + count, len(tile), like)
                for j in range(i, len(sums), WIDTH):
                    add_products(tile, i, j, sums)
        tile[:, d + m] = 1.0
    _mirror(sums)


@loop
def _mirror(sums):  # type: ignore[no-untyped-def]
    for i in range(len(sums)):
        for j in range(i):
            sums[i, j] = sums[j, i]


def sparse_column_products(X: Any) -> Floats:
    """Return XᵀX of a CSR matrix as a dense array.

    A row with m stored values costs m² additions into a matrix that stays in cache when it is small, where a
    sparse product would build, sort and copy its own result.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from bisector.engine.column_products import sparse_column_products
    >>> sparse_column_products(csr_array(np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0]])))
    array([[35., 22.],
           [22., 74.]])
    """
    products = np.zeros((X.shape[1], X.shape[1]))
    _add_row_products(
        given(X.indptr, np.int64), given(X.indices, np.int64), given(X.data, np.float64), products
    )
    return products


@loop
def _add_row_products(starts, columns, values, products):  # type: ignore[no-untyped-def]
    for i in range(len(starts) - 1):
        for a in range(starts[i], starts[i + 1]):
            line, value = products[columns[a]], values[a]
            for b in range(starts[i], starts[i + 1]):
                line[columns[b]] += value * values[b]


def warm() -> None:
    """Compile the loops of this module."""
    from scipy.sparse import csr_array

    sparse_column_products(csr_array(np.eye(2)))
    for dtype in (np.float32, np.float64):
        X = np.ones((1, 1), dtype)
        in_place = ColumnsInPlace(np.array([[X.ctypes.data]]), np.array([0, 1]), 0, 1, X.dtype)
        for rows in (X, in_place):
            joint_products(rows, np.ones((1, 1)), np.zeros(2), np.ones(2))
