"""Squares of distances in feature space: k(x, x) − 2 k(x, y) + k(y, y), without losing the small ones.

The difference cancels for rows that are close to each other and far from the origin. Where a kernel is made of
others whose squared distances are known, its own is written in terms of these. Let u = k(x, x), v = k(y, y),
w = k(x, y) and E = u + v − 2w belong to a part. Then, for a power p of one part and for the product of two,

- u^p + v^p − 2w^p = ½·E·(A + B) + ½·(u − v)²·C, where A, B and C are sums of products of powers of u, v and w;
- u₁u₂ + v₁v₂ − 2w₁w₂ = ½·((u₁ + v₁)E₂ + (u₂ + v₂)E₁ − E₁E₂ + (u₁ − v₁)(u₂ − v₂)).

All that is left to cancel is u − v, which is about as large as the root of E·u, or does not matter. All have the
same bits for (x, y) and (y, x), and are exactly 0 for equal rows.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.kernels.kernel import Derived, Kernel


class Lengths:
    """k(x, x) of the outer and the inner rows of a set of tiles."""

    def __init__(self, kernel: Kernel, outer: Rows, inner: Rows) -> None:
        self._inner = kernel.diagonal(inner)
        self._outer = self._inner if outer is inner else kernel.diagonal(outer)

    def of(self, outer: range, inner: range) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return those of a tile, as a column and a row."""
        return self._outer[outer.start : outer.stop, None], self._inner[None, inner.start : inner.stop]


class Differences(Derived):
    """u + v − 2w as it stands, for any kernel.

    For rows that are close but not equal it is wrong by some units in the last place of u and v; never negative.
    """

    def __init__(self, kernel: Kernel, outer: Rows, inner: Rows) -> None:
        super().__init__(kernel.between(outer, inner))
        self._lengths = Lengths(kernel, outer, inner)

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        u, v = self._lengths.of(outer, inner)
        part *= -2.0
        part += u + v
        np.maximum(part, 0.0, out=part)

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        self.fill(outer, inner, out, row, column)  # what a matrix product rounds would not cancel


class PowerDifferences(Derived):
    """u^p + v^p − 2w^p for a power of a kernel."""

    def __init__(self, kernel: Kernel, exponent: int, outer: Rows, inner: Rows) -> None:
        super().__init__(kernel.apart(outer, inner))
        self._lengths = Lengths(kernel, outer, inner)
        self._exponent = exponent

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        one, other = self._lengths.of(outer, inner)
        u, v = np.minimum(one, other), np.maximum(one, other)
        w = 0.5 * (u + v - part)
        u_power, v_power = np.ones_like(u), np.ones_like(v)
        a, b, both, c = (np.full_like(w, start) for start in (1.0, 1.0, 0.0, 0.0))
        for _ in range(1, self._exponent):  # a = Σ uⁱ w^(k−i), b the same of v, both = Σ uⁱ v^(k−1−i)
            both = both * v + u_power
            c = c * w + both
            u_power, v_power = u_power * u, v_power * v
            a, b = a * w + u_power, b * w + v_power
        part[:] = 0.5 * (part * (a + b) + (u - v) ** 2 * c)
        np.maximum(part, 0.0, out=part)


class ProductDifferences(Derived):
    """u₁u₂ + v₁v₂ − 2w₁w₂ for a product of kernels."""

    def __init__(
        self, left: Kernel, right: Kernel, outer: tuple[Rows, Rows], inner: tuple[Rows, Rows]
    ) -> None:
        super().__init__(left.apart(outer[0], inner[0]))
        self._other = right.apart(outer[1], inner[1])
        self._lengths = Lengths(left, outer[0], inner[0])
        self._other_lengths = Lengths(right, outer[1], inner[1])

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        first = out[row : row + len(outer), column : column + len(inner)]
        second = np.empty(first.shape)
        self._other.fill(outer, inner, second)
        (u, v), (s, t) = self._lengths.of(outer, inner), self._other_lengths.of(outer, inner)
        first[:] = 0.5 * ((u + v) * second + (s + t) * first - first * second + (u - v) * (s - t))
        np.maximum(first, 0.0, out=first)
