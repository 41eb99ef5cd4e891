"""Kernels that come from outside: a user's function, or a Gram matrix computed beforehand."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.engine.validation import check_flag
from bisector.engine.values import value
from bisector.kernels.kernel import Kernel, Products


class ForeignRows(Rows):
    """Rows of whatever a user's function compares."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return int(self.values.shape[0]) if hasattr(self.values, "shape") else len(self.values)

    def take(self, numbers: NDArray[np.int64]) -> "ForeignRows":
        if hasattr(self.values, "shape"):
            return ForeignRows(self.values[numbers])
        return ForeignRows([self.values[i] for i in numbers])

    def joined(self, others: Sequence[Rows]) -> "ForeignRows":
        parts = [self.values, *(rows.values for rows in others if isinstance(rows, ForeignRows))]
        if isinstance(self.values, np.ndarray):
            return ForeignRows(np.concatenate(parts))
        return ForeignRows([item for part in parts for item in part])

    def part(self, numbers: range) -> Any:
        """Return consecutive rows as the function takes them."""
        return self.values[numbers.start : numbers.stop]


@value
class Custom(Kernel):
    """A user's function as a kernel.

    Parameters
    ----------
    function : callable
        ``function(X, Y)`` returns the values of all rows of X with all rows of Y, as scikit-learn's `SVC`
        takes it.
    rowwise : bool, default=False
        Whether ``function(x, y)`` returns the value of two rows instead, as scikit-learn's `KernelRidge`
        takes it.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.kernels import Custom
    >>> Custom(lambda X, Y: X @ Y.T).gram([[1.0, 2.0], [3.0, 4.0]])
    array([[ 5., 11.],
           [11., 25.]])
    """

    function: Callable[[Any, Any], Any]
    rowwise: bool = False

    symmetric = False  # nobody knows

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise TypeError(f"function must be a function of two sets of rows, not {self.function!r}.")
        self._set(rowwise=check_flag("rowwise", self.rowwise))

    @property
    def psd(self) -> bool:
        return False

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> ForeignRows:
        if hasattr(X, "columns"):
            X = np.asarray(X)
        if not hasattr(X, "shape"):
            X = list(X)
            if (
                X and np.ndim(X[0]) == 1 and not isinstance(X[0], str)
            ):  # rows of numbers; strings and sets stay
                X = np.asarray(X)
        return ForeignRows(X)

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, ForeignRows)
        assert isinstance(inner, ForeignRows)
        return CustomProducts(self, outer, inner)

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, ForeignRows)
        products, values = self.between(rows, rows), np.empty((len(rows), 1))
        for i in range(len(rows)):
            products.fill(range(i, i + 1), range(i, i + 1), values, i)
        return values[:, 0]

    def values(self, X: Any, Y: Any, shape: tuple[int, int]) -> NDArray[np.float64]:
        """Call the function, and check what it returns."""
        if self.rowwise:
            returned: Any = [[self.function(x, y) for y in Y] for x in X]
        else:
            returned = self.function(X, Y)
        try:
            values = np.asarray(returned, dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{self!r} must return numbers, but returned {returned!r}.") from None
        if values.shape != shape:
            raise ValueError(
                f"{self!r} must return one number for every pair, but for {shape[0]} and {shape[1]} rows it "
                f"returned the shape {values.shape}."
            )
        if not np.isfinite(values).all():
            row, column = map(int, np.argwhere(~np.isfinite(values))[0])
            raise ValueError(f"{self!r} returned {values[row, column]} for rows {row} and {column}.")
        return values


class CustomProducts(Products):
    """The values of a user's function: it sees all rows at once, since it may look at all of them."""

    def __init__(self, kernel: Custom, outer: ForeignRows, inner: ForeignRows) -> None:
        self._kernel, self._outer, self._inner = kernel, outer, inner
        self.shape = self.tile_shape = (len(outer), len(inner))

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        part[:] = self._kernel.values(self._outer.part(outer), self._inner.part(inner), part.shape)


@value
class Precomputed(Kernel):
    """The Gram matrix itself takes the place of the rows.

    Examples
    --------
    >>> from bisector.kernels import Precomputed
    >>> Precomputed().gram([[2, 1], [1, 2]])
    array([[2., 1.],
           [1., 2.]])
    """

    names = ("precomputed",)
    symmetric = False  # a matrix between two sets of rows need not even be square

    @property
    def psd(self) -> bool:
        return False

    def gram(
        self, X: Any, Y: Any = None, out: NDArray[Any] | None = None, *, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Return X, checked: the kernel's values of some rows with those a model was fitted on."""
        from bisector.kernels.gram_matrices import checked_values

        if Y is not None:
            raise ValueError("A precomputed kernel has no rows Y: X holds the values of all pairs already.")
        values = checked_values(X, "X")
        if out is None:
            return values
        if out.shape != values.shape:
            raise ValueError(f"out must have the shape {values.shape}, not {out.shape}.")
        out[:] = values
        return out

    def diag(self, X: Any) -> NDArray[np.float64]:
        """Return the diagonal of the Gram matrix X."""
        from bisector.kernels.gram_matrices import checked_square

        return np.diag(checked_square(X, "X")).astype(np.float64)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        raise _without_rows()

    def between(self, outer: Rows, inner: Rows) -> Products:
        raise _without_rows()

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        raise _without_rows()


def _without_rows() -> TypeError:
    return TypeError(
        "A precomputed kernel knows its values and not the rows: only gram and diag can be asked."
    )
