"""Columns: targets and weights that stay with the partitions of a Dask collection.

In a fit they are cut along with the rows and never come together. Whoever asks for them as an array gets one all
the same, within the memory budget: one number a row is little beside the rows, though it may be too much.
"""

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from .memory import require


def mapped(
    values: Any, function: Callable[..., NDArray[Any]], *fixed: Any, dtype: Any, width: int | None = None
) -> Any:
    """Return ``function(values, *fixed)``; of a column, the column that it makes of each partition's values.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.columns import mapped
    >>> mapped(np.array([1, 2]), np.power, 2, dtype=np.int64)
    array([1, 4])
    """
    if isinstance(values, Column):
        return values.mapped(function, *fixed, dtype=dtype, width=width)
    return function(values, *fixed)


class Column(NDArrayOperatorsMixin):
    """One value a row, or a few, in the partitions of a Dask collection.

    Parameters
    ----------
    parts : list of Delayed
        The values of each partition, as arrays.
    sizes : list of int
        Their numbers of rows.
    dtype : dtype
    width : int or None
        Number of values a row; None if there is one, and arrays have one dimension.
    """

    def __init__(
        self, parts: list[Any], sizes: list[int], dtype: np.dtype[Any], width: int | None = None
    ) -> None:
        self.parts, self.sizes, self.dtype, self.width = parts, sizes, dtype, width
        self.held: NDArray[Any] | None = None

    @classmethod
    def of(cls, values: NDArray[Any], sizes: list[int]) -> "Column":
        """Cut values in memory along partitions of these sizes."""
        from dask import delayed

        starts = [0, *accumulate(sizes)]
        parts = [
            delayed(values[first : first + size], pure=False, traverse=False)
            for first, size in zip(starts, sizes, strict=False)
        ]
        from .dask_passes import placed

        made = cls(placed(parts), sizes, values.dtype, None if values.ndim == 1 else values.shape[1])
        made.held = values
        return made

    @property
    def shape(self) -> tuple[int, ...]:
        return (sum(self.sizes),) if self.width is None else (sum(self.sizes), self.width)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def __len__(self) -> int:
        return sum(self.sizes)

    def mapped(
        self, function: Callable[..., NDArray[Any]], *fixed: Any, dtype: Any, width: int | None = None
    ) -> "Column":
        """Return the column that ``function(values, *fixed)`` makes of each partition's values, when it is read.

        Columns among what is fixed are cut along.
        """
        from dask import delayed

        call = delayed(function, pure=False)
        beside = [
            value.parts
            if isinstance(value, Column)
            else [delayed(value, traverse=False, pure=False)] * len(self.parts)
            for value in fixed
        ]
        parts = [call(part, *others) for part, *others in zip(self.parts, *beside, strict=True)]
        return Column(parts, self.sizes, np.dtype(dtype), width)

    def astype(self, dtype: Any, copy: bool = True) -> "Column":
        """Return the values as another type."""
        if self.dtype == np.dtype(dtype):
            return self
        if self.held is not None:
            return Column.of(self.held.astype(dtype), self.sizes)
        return self.mapped(np.asarray, dtype, dtype=dtype, width=self.width)

    def take(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Return the values of some rows, in the order asked for; only these travel."""
        if self.held is not None:
            return self.held[numbers]
        from dask import delayed

        from .dask_passes import computed

        order = np.argsort(numbers, kind="stable")
        starts = [0, *accumulate(self.sizes)]
        cuts = np.searchsorted(numbers[order], starts)
        pick = delayed(np.take, pure=False)
        pieces = [
            pick(part, numbers[order[first:last]] - start, axis=0)
            for part, start, first, last in zip(self.parts, starts, cuts, cuts[1:], strict=False)
            if last > first
        ]
        found = computed(pieces, doing="reading")
        values = np.empty((len(numbers), *self.shape[1:]), self.dtype)
        if found:
            values[order] = np.concatenate(found)
        return values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.held is None:
            from .dask_passes import computed

            n_bytes = max(1, self.dtype.itemsize) * int(np.prod(self.shape))
            require(
                2 * n_bytes,
                doing=f"gathering a column of {len(self):,} rows",
                instead="use a model that learns from sums over the rows, such as LinearRegression",
            )
            pieces = computed(self.parts, doing="gathering")
            self.held = np.concatenate(pieces).astype(self.dtype, copy=False)
        return np.array(self.held, dtype=dtype) if copy else np.asarray(self.held, dtype=dtype)

    def __getitem__(self, key: Any) -> Any:
        return np.asarray(self)[key]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        gathered = (np.asarray(value) if isinstance(value, Column) else value for value in inputs)
        return getattr(ufunc, method)(*gathered, **kwargs)
