"""Products of the columns of a sparse matrix with each other, as a dense matrix."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.loops import given, loop


def sparse_column_products(X: Any) -> NDArray[np.float64]:
    """Return XᵀX of a CSR matrix as a dense array.

    A row with m stored values costs m² additions into a matrix that stays in cache when it is small, where a
    sparse product would build, sort and copy its own result.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from bisector.engine.sparse_products import sparse_column_products
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
