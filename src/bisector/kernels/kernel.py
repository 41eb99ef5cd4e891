"""What every kernel is: a dot product in some feature space, computed without going there.

As distances do, a kernel computes in three steps, which models use directly so that each row is looked at
once: `prepare` checks rows and brings them into the form that the kernel compares, `between` joins two
prepared sets into `Products`, and these write kernel values tile by tile. `gram` does all three.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs, Rows
from bisector.engine.values import Value
from bisector.kernels.lookup import Named

Move = Literal["translation", "rotation", "scale"]


class Products(Pairs):
    """The kernel values of all pairs of an outer and an inner row, computed tile by tile.

    `fill` writes values that have the same bits in every tile that holds the pair, and equal those of
    `diagonal` where both rows are equal. `write` may take a faster way, and then differs from them by
    rounding.

    Attributes
    ----------
    mirrored : bool
        Whether copying a value across the diagonal is faster than computing it.
    """

    mirrored: bool = True

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.fill(outer, inner, out, row, column)


class Derived(Products):
    """Values made of those of other tiles, which are changed in place."""

    def __init__(self, pairs: Pairs) -> None:
        self._pairs = pairs
        self.shape, self.dtype, self.tile_shape = pairs.shape, pairs.dtype, pairs.tile_shape

    @abstractmethod
    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        """Change the rectangle of `out` from (row, column) on, which holds the values of these rows."""

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self._pairs.fill(outer, inner, out, row, column)
        self.change(outer, inner, out, row, column)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self._pairs.write(outer, inner, out, row, column)
        self.change(outer, inner, out, row, column)


class Kernel(Named, Value):
    """A dot product in feature space: k(x, y) = φ(x)·φ(y).

    Kernels are added, multiplied, raised to whole powers and scaled by numbers that are not negative; each of
    these gives a kernel again.

    Attributes
    ----------
    psd : bool
        Whether every Gram matrix, whatever its rows, has no negative eigenvalue, so that there is a feature
        space.
    symmetric : bool
        Whether the two rows can change places.
    invariances : frozenset of "translation", "rotation" and "scale"
        What changes no value: to add the same vector to all rows, to rotate them all, to rescale a feature in
        all and learn the kernel anew.
    distance_invariances : frozenset of the same
        What changes no distance in feature space.
    """

    symmetric: ClassVar[bool] = True
    # How tightly the operator binds that the kernel is written with; a call binds most tightly.
    _precedence: ClassVar[int] = 4
    # Arrays and NumPy's numbers leave arithmetic with kernels to the kernels.
    __array_ufunc__ = None

    @property
    @abstractmethod
    def psd(self) -> bool:
        """Whether every Gram matrix has no negative eigenvalue."""

    @property
    def invariances(self) -> frozenset[Move]:
        """What can be done to all rows without changing a value."""
        return frozenset()

    @property
    def distance_invariances(self) -> frozenset[Move]:
        """What can be done to all rows without changing a distance in feature space."""
        return self.invariances

    @abstractmethod
    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        """Check rows and bring them into the form that is compared.

        Parameters
        ----------
        X : rows
            What the kernel compares: a matrix, strings, sets.
        like : Rows, optional
            Prepared rows that these will be compared with.
        name : str, default="X"
            What errors call the rows.
        """

    @abstractmethod
    def between(self, outer: Rows, inner: Rows) -> Products:
        """Join prepared rows into the pairs k(outer, inner)."""

    @abstractmethod
    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        """Return k(x, x) for every prepared row."""

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        """Join prepared rows into the squares of their distances in feature space."""
        from bisector.kernels.feature_distances import Differences

        return Differences(self, outer, inner)

    def learned(self, X: Any) -> "Kernel":
        """Return the kernel with what it leaves open learned from rows; most have nothing to learn."""
        return self

    def feature_map(self, X: Any, like: Any = None) -> Any:
        """Return φ(x) for every row, where feature space is finite: their dot products are the kernel's values.

        Parameters
        ----------
        X : rows
        like : rows, optional
            For strings and sets, whose features are what occurs in them: take the features of these rows, in
            their order, instead of those of X.

        Returns
        -------
        ndarray or CSR matrix of shape (rows of X, features)
        """
        raise ValueError(
            f"{self!r} has no finite feature map: use gram, or a method that needs kernel values only."
        )

    def __call__(self, x: Any, y: Any) -> float:
        """Return the kernel's value for two rows."""
        right = self.single(y, name="y")
        left = self.single(x, like=right, name="x")
        tile = np.empty((1, 1))
        self.between(left, right).fill(range(1), range(1), tile)
        return float(tile[0, 0])

    def single(self, x: Any, like: Rows | None = None, name: str = "x") -> Rows:
        """Prepare one row."""
        is_table = hasattr(x, "tocsr") or hasattr(x, "columns") or (isinstance(x, np.ndarray) and x.ndim == 2)
        rows = self.prepare(x if is_table else [x], like, name)
        if len(rows) != 1:
            raise ValueError(f"{name} must be one row, but has {len(rows)}: use gram for several.")
        return rows

    def gram(
        self, X: Any, Y: Any = None, out: NDArray[Any] | None = None, *, n_jobs: int | None = None
    ) -> NDArray[Any]:
        """Return the kernel's values for every row of X and every row of Y.

        Parameters
        ----------
        X : rows
        Y : rows, optional
            By default the rows of X: the Gram matrix, exactly symmetric.
        out : ndarray of shape (rows of X, rows of Y), optional
            Where to write them: float32 or float64, C-contiguous.
        n_jobs : int, optional
            On how many threads; by default all cores allowed here.

        Returns
        -------
        ndarray of shape (rows of X, rows of Y)
            float32 if X and Y both are, else float64.
        """
        from bisector.kernels.tiles import all_products

        kernel = self.learned(X)
        if Y is None:
            return all_products(kernel, kernel.prepare(X), None, out, n_jobs=n_jobs)
        references = kernel.prepare(Y, name="Y")
        return all_products(kernel, kernel.prepare(X, like=references), references, out, n_jobs=n_jobs)

    def diag(self, X: Any) -> NDArray[np.float64]:
        """Return k(x, x) for every row: the squared lengths in feature space.

        Up to rounding, they are the diagonal of the Gram matrix.
        """
        kernel = self.learned(X)
        return kernel.diagonal(kernel.prepare(X))

    @classmethod
    def from_scikit_learn(cls, *, gamma: Any, coef0: Any, degree: Any) -> Mapping[str, Any]:
        """Translate scikit-learn's parameters into those of this class; None means the default there."""
        return {}

    def __add__(self, other: object) -> "Kernel":
        from bisector.kernels.algebra import added

        return added(self, other)

    def __radd__(self, other: object) -> "Kernel":
        from bisector.kernels.algebra import added

        return added(other, self)

    def __mul__(self, other: object) -> "Kernel":
        from bisector.kernels.algebra import multiplied

        return multiplied(self, other)

    def __rmul__(self, other: object) -> "Kernel":
        from bisector.kernels.algebra import multiplied

        return multiplied(other, self)

    def __pow__(self, exponent: int) -> "Kernel":
        from bisector.kernels.algebra import Power

        return Power(self, exponent)
