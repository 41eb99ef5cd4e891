"""The distance that a kernel makes: how far apart two rows are in feature space (Flach, 8.6)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances import Distance
from bisector.distances.coordinate_distance import largest_reduced
from bisector.distances.distance import Law, Pairs, Rows
from bisector.distances.terms import SquaredTerms
from bisector.engine.values import value
from bisector.kernels.embedding import largest_exponent
from bisector.kernels.kernel import Kernel
from bisector.kernels.names import resolve


@value
class KernelDistance(Distance):
    """√(k(x, x) − 2 k(x, y) + k(y, y)): the Euclidean distance in the feature space of a kernel.

    Rows that differ may be at distance zero, where the kernel cannot tell them apart: a pseudo-metric. With the
    linear kernel it is the Euclidean distance. A difference of large numbers says little about a small distance:
    linear, polynomial and radial kernels, and what sums, products, powers and multiples make of them, have
    formulas of their own.

    Parameters
    ----------
    kernel : Kernel or str
        If it is not psd, the distance has no law, and is zero where the root of a negative number were to be
        taken.

    Examples
    --------
    >>> from bisector.kernels import KernelDistance, Linear, Polynomial
    >>> KernelDistance(Linear())([0, 0], [3, 4])
    5.0
    >>> KernelDistance(Polynomial(2))([1, 2], [-1, -2])  # products of two features do not know the sign
    0.0
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        self._set(kernel=resolve(self.kernel))

    @property
    def law(self) -> Law:
        return "pseudo-metric" if self.kernel.psd else "none"

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.kernel.symmetric

    @property
    def translation_invariant(self) -> bool:  # type: ignore[override]
        return "translation" in self.kernel.distance_invariances

    @property
    def rotation_invariant(self) -> bool:  # type: ignore[override]
        return "rotation" in self.kernel.distance_invariances

    @property
    def scale_invariant(self) -> bool:  # type: ignore[override]
        return "scale" in self.kernel.distance_invariances

    def learned(self, X: Any) -> "KernelDistance":
        """Return the distance with what its kernel leaves open learned from rows."""
        kernel = self.kernel.learned(X)
        return self if kernel is self.kernel else KernelDistance(kernel)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        return self.kernel.prepare(X, like, name)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        return RootPairs(self.kernel.apart(outer, inner))

    def __call__(self, x: Any, y: Any) -> float:
        right = self.kernel.single(y, name="y")
        left = self.kernel.single(x, like=right, name="x")
        tile = np.empty((1, 1))
        self.kernel.apart(left, right).fill(range(1), range(1), tile)
        return float(np.sqrt(tile[0, 0]))


class RootPairs(Pairs):
    """The roots of squared distances; the squares order pairs."""

    def __init__(self, squares: Pairs) -> None:
        self._squares = squares
        self.shape, self.dtype, self.tile_shape = squares.shape, squares.dtype, squares.tile_shape

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self._squares.fill(outer, inner, out, row, column)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self._squares.write(outer, inner, out, row, column)
        part = out[row : row + len(outer), column : column + len(inner)]
        np.sqrt(part, out=part)

    def finish(self, reduced: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.sqrt(reduced)

    def reduce(self, distance: float) -> float:
        return largest_reduced(SquaredTerms(), distance)


@largest_exponent.register
def _(metric: KernelDistance) -> float:
    return 2.0 if metric.kernel.psd else 0.0
