"""Kernels moved or stretched in feature space: centred on the mean of some rows, or on the unit sphere."""

from collections.abc import Sequence
from dataclasses import dataclass, replace as replaced
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs, Rows
from bisector.engine.memory import require
from bisector.engine.values import frozen_array, value
from bisector.kernels.algebra import OfOneKernel
from bisector.kernels.gram_matrices import Lengths, divide_by_lengths, split_lengths
from bisector.kernels.kernel import Derived, Kernel, Move, Products
from bisector.kernels.monomials import scaled_rows
from bisector.kernels.names import resolve
from bisector.kernels.tiles import means


@dataclass(frozen=True)
class CentredRows(Rows):
    """Rows with the mean of their kernel values with the rows that the origin comes from."""

    rows: Rows
    means: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, numbers: NDArray[np.int64]) -> "CentredRows":
        return CentredRows(self.rows.take(numbers), self.means[numbers])

    def joined(self, others: Sequence[Rows]) -> "CentredRows":
        more = [rows for rows in others if isinstance(rows, CentredRows)]
        means = [self.means, *(rows.means for rows in more)]
        return CentredRows(self.rows.joined([rows.rows for rows in more]), np.concatenate(means))


@value
class Centred(OfOneKernel):
    """A kernel after the mean of some rows is moved to the origin of feature space.

    Distances in feature space stay as they are; lengths and angles are those seen from the mean.

    Parameters
    ----------
    kernel : Kernel or str
        The kernel to centre.
    reference : rows, optional
        Whose mean becomes the origin; sparse rows are kept dense. By default it is learned: from the rows
        given to `learned`, or X of ``gram(X, Y)``.

    Examples
    --------
    >>> from bisector.kernels import Centred, Linear
    >>> kernel = Centred(Linear()).learned([[5, 0], [3, 5], [1, 7]])  # their mean is (3, 4)
    >>> kernel([3, 5], [3, 7])
    3.0
    """

    reference: Any = None

    def __post_init__(self) -> None:
        self._set(kernel=resolve(self.kernel))
        if self.reference is not None:
            self._set(reference=_kept(self.reference))

    @property
    def invariances(self) -> frozenset[Move]:
        return frozenset()  # the origin stays where it is

    @property
    def distance_invariances(self) -> frozenset[Move]:
        return self.kernel.distance_invariances

    def learned(self, X: Any) -> "Centred":
        """Return the kernel centred on the mean of these rows, unless others were given."""
        kernel = self.kernel.learned(X)
        if self.reference is None:
            return replaced(self, kernel=kernel, reference=X)
        return self if kernel is self.kernel else replaced(self, kernel=kernel)

    @cached_property
    def _origin(self) -> tuple[Rows, float]:
        """The rows whose mean is the origin, and the squared length of that mean."""
        if self.reference is None:
            raise ValueError(
                f"{self!r} does not know its origin yet: use learned(X) to take the mean of the rows X."
            )
        rows = self.kernel.prepare(self.reference, name="reference")
        if not len(rows):
            raise ValueError("There are no rows whose mean could become the origin.")
        return rows, float(means(self.kernel, rows, rows).mean())

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> CentredRows:
        reference, _ = self._origin
        return self._placed(self.kernel.prepare(X, _rows(like) or reference, name))

    def single(self, x: Any, like: Rows | None = None, name: str = "x") -> CentredRows:
        reference, _ = self._origin
        return self._placed(self.kernel.single(x, _rows(like) or reference, name))

    def _placed(self, rows: Rows) -> CentredRows:
        return CentredRows(rows, means(self.kernel, rows, self._origin[0]))

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, CentredRows)
        assert isinstance(inner, CentredRows)
        return CentredProducts(self.kernel, outer, inner, self._origin[1])

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        assert isinstance(outer, CentredRows)
        assert isinstance(inner, CentredRows)
        return self.kernel.apart(outer.rows, inner.rows)

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, CentredRows)
        values = self.kernel.diagonal(rows.rows) - (rows.means + rows.means) + self._origin[1]
        return np.maximum(values, 0.0)

    def feature_map(self, X: Any, like: Any = None) -> Any:
        if like is None and isinstance(
            self.reference, tuple
        ):  # strings or sets: the features of both are needed
            like = [*self.reference, *X]
        features = _dense(self.kernel.feature_map(X, like))
        return features - _dense(self.kernel.feature_map(self.reference, like)).mean(axis=0)


class CentredProducts(Derived):
    """k(x, y) less the means of x and of y, plus the mean of the means."""

    def __init__(self, kernel: Kernel, outer: CentredRows, inner: CentredRows, mean: float) -> None:
        super().__init__(kernel.between(outer.rows, inner.rows))
        self._outer, self._inner, self._mean = outer.means, inner.means, mean

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        part -= np.add.outer(self._outer[outer.start : outer.stop], self._inner[inner.start : inner.stop])
        part += self._mean


@dataclass(frozen=True)
class DirectedRows(Rows):
    """Rows with their lengths in feature space."""

    rows: Rows
    lengths: Lengths

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, numbers: NDArray[np.int64]) -> "DirectedRows":
        return DirectedRows(self.rows.take(numbers), Lengths(*(part[numbers] for part in self.lengths)))

    def joined(self, others: Sequence[Rows]) -> "DirectedRows":
        more = [rows for rows in others if isinstance(rows, DirectedRows)]
        lengths = zip(self.lengths, *(rows.lengths for rows in more), strict=True)
        return DirectedRows(
            self.rows.joined([rows.rows for rows in more]), Lengths(*map(np.concatenate, lengths))
        )


@value
class Normalised(OfOneKernel):
    """k(x, y) / √(k(x, x) k(y, y)): the cosine of the angle in feature space (Flach, Equation 8.6).

    A row at the origin of feature space has no direction: its cosines are 0, with itself too.

    Parameters
    ----------
    kernel : Kernel or str
        The kernel to normalise.

    Examples
    --------
    >>> from bisector.kernels import Linear, Normalised
    >>> round(Normalised(Linear())([1, 0], [3, 3]), 4)
    0.7071
    """

    def __post_init__(self) -> None:
        self._set(kernel=resolve(self.kernel))

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> DirectedRows:
        return self._placed(self.kernel.prepare(X, _rows(like), name))

    def single(self, x: Any, like: Rows | None = None, name: str = "x") -> DirectedRows:
        return self._placed(self.kernel.single(x, _rows(like), name))

    def _placed(self, rows: Rows) -> DirectedRows:
        return DirectedRows(rows, split_lengths(self.kernel.diagonal(rows)))

    def between(self, outer: Rows, inner: Rows) -> Products:
        assert isinstance(outer, DirectedRows)
        assert isinstance(inner, DirectedRows)
        return NormalisedProducts(self.kernel, outer, inner)

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        assert isinstance(rows, DirectedRows)
        return np.isfinite(rows.lengths.mantissa).astype(np.float64)

    def feature_map(self, X: Any, like: Any = None) -> Any:
        lengths = np.sqrt(self.kernel.diagonal(self.kernel.prepare(X)))
        reciprocals = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return scaled_rows(self.kernel.feature_map(X, like), reciprocals)


class NormalisedProducts(Derived):
    """Kernel values divided by the lengths of both rows."""

    def __init__(self, kernel: Kernel, outer: DirectedRows, inner: DirectedRows) -> None:
        super().__init__(kernel.between(outer.rows, inner.rows))
        self._outer, self._inner = outer.lengths, inner.lengths

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        divide_by_lengths(part, self._outer.part(outer), self._inner.part(inner))


def _rows(like: Rows | None) -> Rows | None:
    """Return the rows as the kernel inside compares them."""
    return like.rows if isinstance(like, CentredRows | DirectedRows) else None


def _kept(reference: Any) -> Any:
    """Copy rows into a form that cannot change: an array, or a tuple of strings or sets."""
    if hasattr(reference, "tocsr"):
        n, d = reference.shape
        require(
            8 * n * d,
            doing=f"Centring on {n:,} sparse rows",
            holding=f"{n:,} × {d:,} numbers",
            instead="learn the centre from fewer rows",
        )
        reference = reference.toarray()
    values = reference.tolist() if getattr(reference, "dtype", np.dtype("f8")).kind in "USO" else reference
    if isinstance(values, list | tuple) and values and isinstance(values[0], str | set | frozenset):
        return tuple(item if isinstance(item, str) else frozenset(item) for item in values)
    array = np.array(values)
    if array.dtype != np.bool_:
        return frozen_array(values)
    array.setflags(write=False)
    return array


def _dense(features: Any) -> NDArray[np.float64]:
    dense: NDArray[np.float64] = features.toarray() if hasattr(features, "tocsr") else features
    return dense
