"""Distances that the user has computed already."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Law, Pairs, Rows
from bisector.engine.values import value


@dataclass(frozen=True)
class PrecomputedRows(Rows):
    """Rows that are known only by their distances.

    Attributes
    ----------
    distances : ndarray of shape (rows, all references)
    numbers : ndarray of int or None
        Which of the references these rows are; None for queries.
    """

    distances: NDArray[Any]
    numbers: NDArray[np.int64] | None

    def __len__(self) -> int:
        return len(self.distances)

    def take(self, numbers: NDArray[np.int64]) -> "PrecomputedRows":
        kept = None if self.numbers is None else self.numbers[numbers]
        return replace(self, distances=self.distances[numbers], numbers=kept)

    def joined(self, others: Sequence[Rows]) -> "PrecomputedRows":
        raise ValueError(
            "No rows can be added to precomputed distances, since theirs to the others are not known: fit anew "
            "with the distances among all."
        )


@value
class Precomputed(Distance):
    """The distances are what is given: row q, column i of X is the distance from q to the i-th reference.

    What holds of them nobody knows, so nothing is assumed: `law` is "none", and every search compares with every
    reference.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Precomputed
    >>> Precomputed().pairwise(np.array([[0.0, 2.0], [2.0, 0.0]]))
    array([[0., 2.],
           [2., 0.]])
    """

    names = ("precomputed",)
    numeric = True
    symmetric = False

    @property
    def law(self) -> Law:
        return "none"

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> PrecomputedRows:
        matrix = np.asarray(X)
        if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
            raise ValueError(
                f"{name} must be a matrix of distances, but is of {matrix.dtype} and shape {matrix.shape}."
            )
        if matrix.size and not matrix.min() >= 0:  # false too if there is a NaN
            row, column = map(int, np.argwhere(~(matrix >= 0))[0])
            raise ValueError(
                f"{name} holds {matrix[row, column]} in row {row}, column {column}: distances must not be negative."
                if matrix[row, column] < 0
                else f"{name} holds NaN in row {row}, column {column}: write inf where a distance is not known."
            )
        if like is None:
            if matrix.shape[0] != matrix.shape[1]:
                raise ValueError(
                    f"{name} must be square, with the distances among references, but has the shape {matrix.shape}."
                )
            return PrecomputedRows(matrix, np.arange(len(matrix)))
        assert isinstance(like, PrecomputedRows)
        if matrix.shape[1] != like.distances.shape[1]:
            raise ValueError(
                f"{name} has {matrix.shape[1]} columns, but there are {like.distances.shape[1]} references: "
                "give the distance from every row to each of them."
            )
        return PrecomputedRows(matrix, None)

    def between(self, outer: Rows, inner: Rows, *, flipped: bool = False) -> Pairs:
        assert isinstance(outer, PrecomputedRows)
        assert isinstance(inner, PrecomputedRows)
        return PrecomputedPairs(outer, inner, flipped)

    def __call__(self, x: Any, y: Any) -> float:
        raise TypeError(
            "Precomputed distances are known between the rows of a matrix, not between two rows given."
        )


class PrecomputedPairs(Pairs):
    """Distances looked up in the matrix of whichever side has them."""

    def __init__(self, outer: PrecomputedRows, inner: PrecomputedRows, flipped: bool) -> None:
        self.shape = (len(outer), len(inner))
        sources, targets = (inner, outer) if flipped else (outer, inner)
        if targets.numbers is None:
            raise ValueError("Distances to queries are not known: only those from queries to references are.")
        self._distances, self._columns, self._flipped = sources.distances, targets.numbers, flipped
        if np.array_equal(targets.numbers, np.arange(sources.distances.shape[1])):
            self.matrix = sources.distances.T if flipped else sources.distances

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        sources, targets = (inner, outer) if self._flipped else (outer, inner)
        columns = self._columns[targets.start : targets.stop]
        tile = self._distances[sources.start : sources.stop][:, columns]
        place = (slice(row, row + len(outer)), slice(column, column + len(inner)))
        out[place] = tile.T if self._flipped else tile

    write = fill
