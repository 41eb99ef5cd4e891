"""Lines of a distance matrix, held as a whole where that fits, and otherwise made when they are needed.

A line holds the distances of all rows *to* one row, which may become a medoid. Holding all n² of them spares
comparing the same rows in every pass; where they would take more than a share of the memory budget, a few lines at
a time are made by tiles, and forgotten.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import cut, write_all
from bisector.engine.blocks import spread_rows
from bisector.engine.memory import budget, require
from bisector.engine.threads import parallel

Integers = NDArray[np.int64]

# Of what a fit may plan to use, the lines of all rows take at most this share.
_SHARE = 0.5
# Where they are not held, distances of so many bytes are made at a time, and no more than a share of the budget.
_MOST_BYTES, _SHARE_MADE = 2**26, 0.25
# Data are told from others by the distances of all rows to so many of them.
_ROWS_TO_COMPARE = 4
# A matrix is compared with its mirror image in strips of so many rows.
_STRIP = 64


class DistanceLines(ABC):
    """The lines of a distance matrix.

    Attributes
    ----------
    n_rows : int
    dtype : dtype
        float32 or float64.
    at_once : int
        How many lines can be asked for at once.
    n_jobs : int or None
    """

    n_rows: int
    dtype: np.dtype[Any]
    at_once: int
    n_jobs: int | None

    @abstractmethod
    def of(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        """Return an array of lines, and where in it those of these rows stand."""

    def lent(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        """Return the same, to be used before the next call: up to `at_once` lines."""
        return self.of(rows)

    @abstractmethod
    def replace(self, values: NDArray[Any], slots: Integers, place: int, row: int, line: Any) -> None:
        """Let the line of a row take a place among those that `of` returned."""


class HeldLines(DistanceLines):
    """The lines of a matrix that is there as a whole: ``matrix[c, o]`` is the distance of o to c."""

    def __init__(self, matrix: NDArray[Any], *, n_jobs: int | None = None) -> None:
        from bisector.engine.loops import given

        self._matrix = given(matrix)
        self.n_rows, self.dtype, self.at_once, self.n_jobs = len(matrix), matrix.dtype, len(matrix), n_jobs

    def of(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        return self._matrix, rows.copy()

    def replace(self, values: NDArray[Any], slots: Integers, place: int, row: int, line: Any) -> None:
        slots[place] = row


class MadeLines(DistanceLines):
    """Lines that are made when they are asked for."""

    def __init__(self, distance: Distance, rows: Rows, *, n_jobs: int | None = None) -> None:
        self._distance, self._rows = distance, rows
        self.n_rows, self.dtype, self.n_jobs = len(rows), np.dtype(np.float64), n_jobs
        n_bytes = int(min(_MOST_BYTES, _SHARE_MADE * budget()))
        self.at_once = max(1, min(self.n_rows, n_bytes // (8 * self.n_rows)))
        self._buffer: NDArray[np.float64] | None = None

    def lent(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        if self._buffer is None:  # fresh memory costs about as much as the distances written to it
            self._buffer = np.empty((self.at_once, self.n_rows))
        return self._made(rows, self._buffer[: len(rows)])

    def of(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        n_bytes = 8 * len(rows) * self.n_rows
        require(
            n_bytes,
            doing=f"Comparing {len(rows):,} medoids with {self.n_rows:,} rows",
            instead='use fewer clusters, or method="clara"',
        )
        return self._made(rows, np.empty((len(rows), self.n_rows)))

    def _made(self, rows: Integers, out: NDArray[np.float64]) -> tuple[NDArray[Any], Integers]:
        pairs = self._distance.between(self._rows.take(rows), self._rows, flipped=True)
        parallel(
            lambda inner: pairs.write(range(len(rows)), inner, out, 0, inner.start),
            cut(self.n_rows, pairs.tile_shape[1]),
            n_jobs=self.n_jobs,
        )
        return out, np.arange(len(rows))

    def replace(self, values: NDArray[Any], slots: Integers, place: int, row: int, line: Any) -> None:
        values[place] = line


def distance_lines(distance: Distance, rows: Rows, *, n_jobs: int | None = None) -> DistanceLines:
    """Hold the distances among rows if they are there already or there is room for them; else make them.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    n_jobs : int, optional
    """
    pairs = distance.between(rows, rows, flipped=True)
    if pairs.matrix is not None:
        return HeldLines(_contiguous(pairs.matrix, n_jobs), n_jobs=n_jobs)
    n = len(rows)
    if n * n * pairs.dtype.itemsize > _SHARE * budget():
        return MadeLines(distance, rows, n_jobs=n_jobs)
    matrix = np.empty((n, n), dtype=pairs.dtype)
    write_all(pairs, matrix, mirrored=distance.symmetric, n_jobs=n_jobs)
    return HeldLines(matrix, n_jobs=n_jobs)


def telling_lines(distance: Distance, rows: Rows, *, n_jobs: int | None = None) -> NDArray[np.float64]:
    """Return the distances of all rows to a few of them, by which these data can be told from others.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    n_jobs : int, optional
    """
    few = spread_rows(len(rows), _ROWS_TO_COMPARE)
    return MadeLines(distance, rows, n_jobs=n_jobs).of(few)[0]


def _contiguous(values: NDArray[Any], n_jobs: int | None) -> NDArray[Any]:
    """Return a matrix whose lines are contiguous: its mirror image, if that is the same; else a copy."""
    from bisector.engine.loops import given
    from bisector.solvers.distance_lines_loops import strip_is_mirrored

    dtype = np.float32 if values.dtype == np.float32 else np.float64
    if values.dtype == dtype and values.flags.c_contiguous:
        return values
    turned = given(values.T, dtype)
    strips = cut(len(turned), _STRIP)
    if all(parallel(lambda strip: strip_is_mirrored(turned, strip.start, strip.stop), strips, n_jobs=n_jobs)):
        return turned
    require(
        values.size * np.dtype(dtype).itemsize,
        doing="Clustering by distances that are not symmetric",
        holding="them in the order of their columns",
        instead="give symmetric distances, or fewer rows",
    )
    return np.ascontiguousarray(values, dtype=dtype)
