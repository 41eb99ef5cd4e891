"""A few rows out of many, chosen by a key: what blocks hold of them merges."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block


class Sample(NamedTuple):
    """The rows of least key: a statistic.

    Attributes
    ----------
    size : int
        How many are wanted.
    keys, numbers : ndarray of shape (n,)
        In the order of the keys; of equals, the smaller row number first.
    rows : ndarray of shape (n, n_features)
    beside : ndarray of shape (n, any)
        What else is to be known of them.
    """

    size: int
    keys: NDArray[np.float64]
    numbers: NDArray[np.int64]
    rows: NDArray[Any]
    beside: NDArray[np.float64]

    @classmethod
    def of(
        cls, block: Block, size: int, keys: NDArray[np.float64], eligible: NDArray[np.bool_], *beside: Any
    ) -> "Sample":
        """Choose among the eligible rows of a block; `beside` are arrays with an entry for each."""
        kept = np.flatnonzero(eligible)
        if len(kept) > size:  # those of the size-th least key stay together, since ties go by row number
            most = np.partition(keys[kept], size - 1)[size - 1]
            kept = kept[keys[kept] <= most]
        kept = kept[np.argsort(keys[kept], kind="stable")[:size]]
        rows = block.X[kept]
        rows = rows.toarray() if hasattr(rows, "tocsr") else rows
        known = (
            np.array([array[kept] for array in beside], dtype=np.float64).reshape(len(beside), len(kept)).T
        )
        return cls(size, keys[kept], block.first_row + kept, rows, known)

    def merge(self, other: Self) -> Self:
        keys, numbers = np.append(self.keys, other.keys), np.append(self.numbers, other.numbers)
        kept = np.lexsort((numbers, keys))[: self.size]
        rows, beside = (
            np.concatenate(pair)[kept] for pair in ((self.rows, other.rows), (self.beside, other.beside))
        )
        return self._replace(keys=keys[kept], numbers=numbers[kept], rows=rows, beside=beside)
