"""Sparse rows for solvers that pass over them many times: blocks are views, products are compiled loops."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.sources import MemorySource, SparseSource

Floats = NDArray[np.float64]
Compressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]

# Stored values in a block: enough for a thread to be worth its errand.
VALUES_PER_BLOCK = 2**18


class CompressedRows(MemorySource):
    """The rows of a sparse source, without a copy of its values.

    Parameters
    ----------
    rows : SparseSource
    width : int, default=1
        Columns of the matrices that it will be multiplied with. A block's result is as large as a column has
        coefficients, so that blocks must not be much smaller than that.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.compressed_rows import CompressedRows
    >>> rows = CompressedRows(source(csr_array(np.array([[5.0, 0.0], [3.0, 5.0], [1.0, 7.0]]))))
    >>> block = next(rows.blocks())
    >>> (block.X @ np.ones((2, 1))).ravel(), (block.X.T @ np.ones((3, 1))).ravel()
    (array([5., 8., 8.]), array([ 9., 12.]))
    """

    def __init__(self, rows: SparseSource, width: int = 1) -> None:
        from bisector.engine.loops import given

        X = rows.X
        self.sparse = rows
        self.n_rows, self.n_features = rows.n_rows, rows.n_features
        self.dtype, self.feature_names = rows.dtype, rows.feature_names
        self.y, self.sample_weight = rows.y, rows.sample_weight
        self._starts = given(X.indptr.astype(np.uint64), np.uint64)
        kind = np.uint32 if self.n_features < 2**32 else np.uint64
        self._columns = given(X.indices.astype(kind, copy=False), kind)
        self._values = given(X.data.astype(rows.dtype, copy=False))
        per_block = max(VALUES_PER_BLOCK, 4 * self.n_features * width)
        self.block_rows = max(1, -(-self.n_rows * per_block // max(1, X.nnz)))

    def between(self, first: int, last: int) -> "RowRange":
        return RowRange(self._starts[first : last + 1], self._columns, self._values, self.n_features)

    def take(self, rows: ArrayLike) -> Any:
        return self.sparse.take(rows)


class RowRange:
    """Consecutive compressed rows, which can be multiplied from either side."""

    def __init__(
        self, starts: NDArray[np.uint64], columns: NDArray[Any], values: NDArray[Any], n_columns: int
    ) -> None:
        self._arrays = starts, columns, values
        self.shape = len(starts) - 1, n_columns

    def tocsr(self) -> Any:
        from scipy.sparse import csr_array

        starts, columns, values = self._arrays
        inside = slice(int(starts[0]), int(starts[-1]))
        where = columns[inside].astype(np.int64), (starts - starts[0]).astype(np.int64)
        return csr_array((values[inside], *where), shape=self.shape)

    def squared(self) -> "RowRange":
        """Return the same rows with every value squared."""
        starts, columns, _ = self._arrays
        first, inside = starts[0], slice(int(starts[0]), int(starts[-1]))
        values = np.square(self.data, dtype=np.float64)
        return RowRange(_read_only(starts - first), columns[inside], _read_only(values), self.shape[1])

    @property
    def data(self) -> NDArray[Any]:
        starts, _, values = self._arrays
        return values[int(starts[0]) : int(starts[-1])]

    def toarray(self) -> NDArray[Any]:
        dense: NDArray[Any] = self.tocsr().toarray()
        return dense

    def __matmul__(self, matrix: Floats) -> Floats:
        from bisector.engine.loops import given

        from .compressed_rows_loops import times_matrix, times_vector

        out = np.zeros((self.shape[0], matrix.shape[1]))
        if matrix.shape[1] == 1:
            times_vector(*self._arrays, given(matrix[:, 0], np.float64), out[:, 0])
        else:
            times_matrix(*self._arrays, given(matrix, np.float64), out)
        return out

    @cached_property
    def T(self) -> "TransposedRange":
        return TransposedRange(self._arrays, self.shape[1])


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


class TransposedRange:
    """The transpose of a `RowRange`, for products from the left."""

    def __init__(self, arrays: Compressed, n_columns: int) -> None:
        self._arrays = arrays
        self._n_columns = n_columns

    def tocsr(self) -> Any:
        starts, columns, values = self._arrays
        return RowRange(starts, columns, values, self._n_columns).tocsr().T.tocsr()

    def __matmul__(self, matrix: Floats) -> Floats:
        from bisector.engine.loops import given

        from .compressed_rows_loops import transposed_times_matrix, transposed_times_vector

        out = np.zeros((self._n_columns, matrix.shape[1]))
        if matrix.shape[1] == 1:
            transposed_times_vector(*self._arrays, given(matrix[:, 0], np.float64), out[:, 0])
        else:
            transposed_times_matrix(*self._arrays, given(matrix, np.float64), out)
        return out
