"""Kernels made of kernels: sums, products, whole powers and multiples are dot products again.

In feature space a sum puts two feature vectors behind each other, a product multiplies each feature of one
with each of the other, and a multiple stretches.
"""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace as replaced
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs, Rows
from bisector.engine.validation import check_count, check_finite
from bisector.engine.values import value
from bisector.kernels.dot_products import Affine, ChangedPairs, change_tile
from bisector.kernels.feature_distances import PowerDifferences, ProductDifferences
from bisector.kernels.kernel import Kernel, Move, Products
from bisector.kernels.monomials import polynomial_features, stacked, tensor
from bisector.kernels.names import resolve

OfOne = TypeVar("OfOne", bound="OfOneKernel")
OfTwo = TypeVar("OfTwo", bound="OfTwoKernels")


def added(left: object, right: object) -> Kernel:
    """Return left + right."""
    if isinstance(left, Kernel) and isinstance(right, Kernel):
        return Sum(left, right)
    raise TypeError(
        f"Only kernels can be added, but this is {left!r} + {right!r}: a number can be a factor, 2 * kernel."
    )


def multiplied(left: object, right: object) -> Kernel:
    """Return left · right, where one of them may be a number."""
    if isinstance(left, Kernel) and isinstance(right, Kernel):
        return Product(left, right)
    kernel, factor = (left, right) if isinstance(left, Kernel) else (right, left)
    if isinstance(kernel, Kernel) and isinstance(factor, Real) and not isinstance(factor, bool):
        return Scaled(kernel, float(factor))
    raise TypeError(f"A kernel can be multiplied by a kernel or a number, but not by {factor!r}.")


@dataclass(frozen=True)
class JoinedRows(Rows):
    """Rows as two kernels compare them."""

    left: Rows
    right: Rows

    def __len__(self) -> int:
        return len(self.left)

    def take(self, numbers: NDArray[np.int64]) -> "JoinedRows":
        return JoinedRows(self.left.take(numbers), self.right.take(numbers))

    def joined(self, others: Sequence[Rows]) -> "JoinedRows":
        more = [rows for rows in others if isinstance(rows, JoinedRows)]
        return JoinedRows(
            self.left.joined([rows.left for rows in more]), self.right.joined([rows.right for rows in more])
        )


class JoinedPairs(Products):
    """The values of two sets of tiles, joined by an operation of NumPy."""

    def __init__(self, join: np.ufunc, left: Pairs, right: Pairs) -> None:
        self._join, self._left, self._right = join, left, right
        self.shape, self.tile_shape = left.shape, left.tile_shape
        self.dtype = np.result_type(left.dtype, right.dtype)

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        tile = np.empty((len(outer), len(inner)))
        self._left.fill(outer, inner, out, row, column)
        self._right.fill(outer, inner, tile)
        self._add(tile, out, row, column)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        tile = np.empty((len(outer), len(inner)))
        self._left.write(outer, inner, out, row, column)
        self._right.write(outer, inner, tile)
        self._add(tile, out, row, column)

    def _add(self, tile: NDArray[Any], out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + tile.shape[0], column : column + tile.shape[1]]
        self._join(part, tile, out=part)


@value
class OfTwoKernels(Kernel):
    """A kernel that joins the values of two."""

    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        self._set(left=resolve(self.left), right=resolve(self.right))

    @property
    @abstractmethod
    def _join(self) -> np.ufunc:
        """How two values become one."""

    @property
    def psd(self) -> bool:
        return self.left.psd and self.right.psd

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.left.symmetric and self.right.symmetric

    @property
    def invariances(self) -> frozenset[Move]:
        return self.left.invariances & self.right.invariances

    def learned(self: OfTwo, X: Any) -> OfTwo:
        """Return the kernel with what both leave open learned from rows."""
        left, right = self.left.learned(X), self.right.learned(X)
        unchanged = left is self.left and right is self.right
        return self if unchanged else replaced(self, left=left, right=right)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> JoinedRows:
        like_left, like_right = (like.left, like.right) if isinstance(like, JoinedRows) else (None, None)
        return JoinedRows(self.left.prepare(X, like_left, name), self.right.prepare(X, like_right, name))

    def single(self, x: Any, like: Rows | None = None, name: str = "x") -> JoinedRows:
        like_left, like_right = (like.left, like.right) if isinstance(like, JoinedRows) else (None, None)
        return JoinedRows(self.left.single(x, like_left, name), self.right.single(x, like_right, name))

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, JoinedRows)
        assert isinstance(inner, JoinedRows)
        return JoinedPairs(
            self._join,
            self.left.between(outer.left, inner.left),
            self.right.between(outer.right, inner.right),
        )

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, JoinedRows)
        joined: NDArray[np.float64] = self._join(
            self.left.diagonal(rows.left), self.right.diagonal(rows.right)
        )
        return joined

    def _written(self, sign: str) -> str:
        # Operators bind their left operand first.
        return f"{written(self.left, self._precedence)} {sign} {written(self.right, self._precedence + 1)}"


@value
class Sum(OfTwoKernels):
    """left(x, y) + right(x, y), made by ``left + right``: similar in one sense or the other.

    Examples
    --------
    >>> from bisector.kernels import Linear, Polynomial
    >>> kernel = Linear() + Polynomial(2)
    >>> kernel
    Linear() + Polynomial()
    >>> kernel([1, 2], [3, 4])  # 11 + 11²
    132.0
    """

    _precedence = 1

    @property
    def _join(self) -> np.ufunc:
        return np.add

    @property
    def distance_invariances(self) -> frozenset[Move]:
        return self.left.distance_invariances & self.right.distance_invariances

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        assert isinstance(outer, JoinedRows)
        assert isinstance(inner, JoinedRows)
        return JoinedPairs(
            np.add, self.left.apart(outer.left, inner.left), self.right.apart(outer.right, inner.right)
        )

    def feature_map(self, X: Any, like: Any = None) -> Any:
        return stacked([self.left.feature_map(X, like), self.right.feature_map(X, like)])

    def __repr__(self) -> str:
        return self._written("+")


@value
class Product(OfTwoKernels):
    """left(x, y) · right(x, y), made by ``left * right``: similar in one sense and the other.

    Examples
    --------
    >>> from bisector.kernels import Gaussian, Linear
    >>> Linear() * Gaussian(bandwidth=2)
    Linear() * Gaussian(bandwidth=2.0)
    """

    _precedence = 2

    @property
    def _join(self) -> np.ufunc:
        return np.multiply

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        assert isinstance(outer, JoinedRows)
        assert isinstance(inner, JoinedRows)
        return ProductDifferences(self.left, self.right, (outer.left, outer.right), (inner.left, inner.right))

    def feature_map(self, X: Any, like: Any = None) -> Any:
        return tensor(self.left.feature_map(X, like), self.right.feature_map(X, like))

    def __repr__(self) -> str:
        return self._written("*")


@value
class OfOneKernel(Kernel):
    """A kernel made of another."""

    kernel: Kernel

    @property
    def psd(self) -> bool:
        return self.kernel.psd

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.kernel.symmetric

    @property
    def invariances(self) -> frozenset[Move]:
        return self.kernel.invariances

    def learned(self: OfOne, X: Any) -> OfOne:
        """Return the kernel with what it leaves open learned from rows."""
        kernel = self.kernel.learned(X)
        return self if kernel is self.kernel else replaced(self, kernel=kernel)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        return self.kernel.prepare(X, like, name)

    def single(self, x: Any, like: Rows | None = None, name: str = "x") -> Rows:
        return self.kernel.single(x, like, name)


@value
class Power(OfOneKernel):
    """kernel(x, y)^exponent, made by ``kernel ** exponent``.

    Examples
    --------
    >>> from bisector.kernels import Linear
    >>> (Linear() ** 3)([1, 2], [3, 4])
    1331.0
    """

    exponent: int = 2

    _precedence = 3

    def __post_init__(self) -> None:
        self._set(kernel=resolve(self.kernel), exponent=check_count("exponent", self.exponent))

    def between(self, outer: Rows, inner: Rows) -> Products:
        return ChangedPairs(self.kernel.between(outer, inner), Affine(degree=self.exponent))

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        return PowerDifferences(self.kernel, self.exponent, outer, inner)

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        values = self.kernel.diagonal(rows)[None, :].copy()
        change_tile(Affine(degree=self.exponent), values, 0, 0, *values.shape)
        return values[0]

    def feature_map(self, X: Any, like: Any = None) -> Any:
        return polynomial_features(self.kernel.feature_map(X, like), self.exponent)

    def __repr__(self) -> str:
        return f"{written(self.kernel, self._precedence + 1)} ** {self.exponent}"


@value
class Scaled(OfOneKernel):
    """scale · kernel(x, y), made by ``scale * kernel``, with a scale that is not negative.

    Examples
    --------
    >>> from bisector.kernels import Linear
    >>> 2 * Linear()
    2.0 * Linear()
    >>> (2 * Linear())([1, 2], [3, 4])
    22.0
    """

    scale: float = 1.0

    _precedence = 2

    def __post_init__(self) -> None:
        self._set(kernel=resolve(self.kernel), scale=check_finite("scale", self.scale, at_least=0))

    def between(self, outer: Rows, inner: Rows) -> Products:
        return ChangedPairs(self.kernel.between(outer, inner), Affine(scale=self.scale))

    @property
    def distance_invariances(self) -> frozenset[Move]:
        return self.kernel.distance_invariances

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        return ChangedPairs(self.kernel.apart(outer, inner), Affine(scale=self.scale))

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        return self.scale * self.kernel.diagonal(rows)

    def feature_map(self, X: Any, like: Any = None) -> Any:
        return self.kernel.feature_map(X, like) * math.sqrt(self.scale)

    def __repr__(self) -> str:
        return f"{self.scale!r} * {written(self.kernel, self._precedence + 1)}"


def written(kernel: Kernel, binding: int) -> str:
    """Write a kernel as an operand: in parentheses, where its own operator binds less tightly."""
    return repr(kernel) if kernel._precedence >= binding else f"({kernel!r})"
