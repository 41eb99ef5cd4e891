"""Blocks: the rows of a source, cut where only the shape of the data decides.

Block boundaries depend on the number of rows and features, the dtype and the source's own partitions;
never on threads or timing. Together with the fixed tree in which statistics merge (`map_reduce`), this is
why a fit gives the same bits for any ``n_jobs``.
"""

from math import log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A block should stay in the second-level cache, be tall enough for the products made of it to pay, and never
# be a burden to hold when rows are very long.
CACHE_BYTES = 2**21
LARGEST_BYTES = 2**26
FEWEST_ROWS = 1024
FEW_BLOCKS = 24


class ColumnsInPlace(NamedTuple):
    """Consecutive rows whose columns are left where they stand in memory, until the next block is asked for.

    Columns come in pieces: the rows from ``cuts[p]`` to ``cuts[p + 1]`` begin at the addresses in line p. Targets
    that are read along with the rows are the last columns.
    """

    addresses: NDArray[np.int64]
    cuts: NDArray[np.int64]
    first: int  # where these rows begin, as the cuts count
    n_rows: int
    dtype: np.dtype[Any]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, self.addresses.shape[1]


class Block(NamedTuple):
    """Consecutive rows of a source with what belongs to them."""

    first_row: int
    X: Any  # (rows, features) float32 or float64 array, or CSR; from a source `in_columns` also `ColumnsInPlace`
    y: NDArray[Any] | None
    sample_weight: NDArray[np.float64] | None

    @property
    def dense(self) -> NDArray[Any]:
        """X as an array, whatever it is held as."""
        return self.X.toarray() if hasattr(self.X, "tocsr") else self.X

    @property
    def targets(self) -> NDArray[Any]:
        """y as a matrix, with no column when there are no targets."""
        return as_columns(self.y, self.X.shape[0])

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of the rows, which are one unless they were given."""
        return np.ones(self.X.shape[0]) if self.sample_weight is None else self.sample_weight


def as_columns(y: NDArray[Any] | None, n_rows: int) -> NDArray[Any]:
    """Return targets as a matrix, with no column when there are none."""
    if y is None:
        return np.empty((n_rows, 0))
    return y[:, None] if y.ndim == 1 else y


def rows_per_block(n_features: int, itemsize: int) -> int:
    """Choose how many rows a block holds: a power of two, decided by the width of a row alone."""
    row = max(1, n_features * itemsize)
    fits_cache = _power_of_two_below(CACHE_BYTES // row)
    feeds_blas = _power_of_two_below(8 * n_features - 1)
    fits_memory = _power_of_two_below(LARGEST_BYTES // row)
    return max(1, min(max(fits_cache, feeds_blas, FEWEST_ROWS), fits_memory))


def equal_shares(n_rows: int, block_rows: int) -> int:
    """Change the rows of a block so that a few blocks are a power of two in number, and equal.

    Otherwise one thread would still work on its last block while the others have none left.
    """
    blocks = n_rows / block_rows
    if not 1 < blocks < FEW_BLOCKS:
        return block_rows
    return -(-n_rows // 2 ** round(log2(blocks)))


def spread_rows(n_rows: int, most: int) -> NDArray[np.int64]:
    """Return the numbers of up to so many rows, from all over the data.

    Examples
    --------
    >>> from bisector.engine.blocks import spread_rows
    >>> spread_rows(100, 4)
    array([ 0, 33, 66, 99])
    """
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)


def _power_of_two_below(count: int) -> int:
    return 1 << max(0, count.bit_length() - 1)


def cut(partitions: list[int], block_rows: int) -> NDArray[np.int64]:
    """Return the block boundaries 0 = b₀ < b₁ < … = n of partitions with the given numbers of rows.

    No block crosses the border of a partition.
    """
    boundaries = [0]
    for rows in partitions:
        start = boundaries[-1]
        boundaries.extend(range(start + block_rows, start + rows, block_rows))
        if rows:
            boundaries.append(start + rows)
    return np.array(boundaries, dtype=np.int64)
