"""Lines of a Gram matrix, made when they are needed and kept while there is room.

A line holds the kernel values of one row with all rows. Solvers that touch a part of the rows ask for the lines of
these alone; they are made together, by matrix products where the kernel has them, and the ones not used for longest
are forgotten first.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.reductions import cut
from bisector.engine.memory import budget, require
from bisector.engine.threads import parallel
from bisector.kernels.kernel import Kernel
from bisector.kernels.tiles import all_products
from bisector.solvers.gaussian_lines import gaussian_lines
from bisector.solvers.line_batches import LineBatches

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Up to so many rows all lines are made at once, in double precision.
FEW = 2048
# Lines are added up for so many rows at a time: their totals stay in the nearest cache.
_COLUMNS = 2048
# Lines from which values are gathered at a time; to gather so few is not worth waking a thread.
_GATHERED, _FEW_VALUES = 128, 2**16
# Of what a fit may plan to use, lines take at most this share.
_SHARE = 0.5
# So many lines, or so many bytes of them, are kept if they are quickly made.
_KEPT, _KEPT_BYTES = 2048, 256 * 2**20
# Single precision rounds a value by this part of it, at most.
_SINGLE = float(np.finfo(np.float32).eps) / 2


class KernelLines(ABC):
    """The lines of a Gram matrix.

    Attributes
    ----------
    n_rows : int
    diagonal : ndarray of shape (n_rows,)
    n_jobs : int or None
    """

    n_rows: int
    diagonal: Floats
    n_jobs: int | None

    @property
    @abstractmethod
    def most_at_once(self) -> int:
        """How many lines can be had at once."""

    @property
    def largest_square(self) -> int:
        """Among how many rows values can be had."""
        return self.most_at_once

    @abstractmethod
    def held(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        """Return an array of lines, and where in it those of these rows stand."""

    def square(self, rows: Integers) -> NDArray[Any]:
        """Return the values among some rows, symmetric up to rounding."""
        from bisector.engine.loops import given
        from bisector.solvers.smo_loops import gather_square

        lines, slots = self.held(rows)
        out = np.empty((len(rows), len(rows)), dtype=lines.dtype)
        arrays: tuple[Any, Any, Any] = given(lines), given(slots), given(rows)

        def gather(part: range) -> None:
            gather_square(*arrays, part.start, part.stop, out)

        size = len(rows) if len(rows) ** 2 <= _FEW_VALUES else _GATHERED
        parallel(gather, cut(len(rows), size), n_jobs=self.n_jobs)
        return out

    def add(self, rows: Integers, factors: Floats, totals: Floats) -> None:
        """Add to the totals, one for each row, the lines of some rows, each times its factor."""
        from bisector.engine.loops import given
        from bisector.solvers.smo_loops import add_lines

        for start in range(0, len(rows), self.most_at_once):
            part = slice(start, start + self.most_at_once)
            lines, slots = self.held(rows[part])
            arrays: tuple[Any, Any, Any] = given(lines), given(slots), given(factors[part])

            def add(columns: range, arrays: tuple[Any, Any, Any] = arrays) -> None:
                add_lines(*arrays, totals, columns.start, columns.stop)

            parallel(add, cut(self.n_rows, _COLUMNS), n_jobs=self.n_jobs)

    def total(self, factors: Floats) -> Floats:
        """Return the sum of all lines, each times its factor, added up with more digits if the machine has them."""
        rows = np.flatnonzero(factors)
        lines, slots = self.held(rows)
        return np.asarray(factors[rows].astype(np.longdouble) @ lines[slots], dtype=np.float64)

    def as_notes(self) -> dict[str, Any]:
        """Return what a checkpoint must keep, so that the values to come have the same bits."""
        return {}

    def go_on(self, known: Mapping[str, Any]) -> None:
        """Hold the lines that were held when this was noted."""
        return  # all of them are held in any case, or none


class AllLines(KernelLines):
    """The lines of a Gram matrix that is there as a whole."""

    def __init__(self, gram: NDArray[Any], *, n_jobs: int | None = None) -> None:
        self._gram = gram
        self._numbers = np.arange(len(gram))
        self.n_rows, self.n_jobs = len(gram), n_jobs
        self.diagonal = np.diagonal(gram).astype(np.float64)

    @property
    def most_at_once(self) -> int:
        return self.n_rows

    def held(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        return self._gram, rows

    def square(self, rows: Integers) -> NDArray[Any]:
        return self._gram if np.array_equal(rows, self._numbers) else super().square(rows)


class MadeLines(KernelLines):
    """Lines that are made when they are asked for.

    Parameters
    ----------
    kernel : Kernel
    rows : Rows
        Prepared by the kernel.
    single : bool
        Whether to keep the values in single precision.
    capacity : int
        How many lines may be kept.
    """

    def __init__(
        self, kernel: Kernel, rows: Rows, *, single: bool, capacity: int, n_jobs: int | None = None
    ) -> None:
        self._kernel, self._rows = kernel, rows
        self._fast = gaussian_lines(kernel, rows) if single else None
        self.n_rows, self.n_jobs = len(rows), n_jobs
        self.diagonal = kernel.diagonal(rows)
        self._lines = np.empty((capacity, self.n_rows), dtype=np.float32 if single else np.float64)
        self._slot_of = np.full(self.n_rows, -1)
        self._row_in = np.full(capacity, -1)
        self._last_use = np.zeros(capacity, dtype=np.int64)
        self._clock = 0
        self._batches = LineBatches(capacity)

    @property
    def most_at_once(self) -> int:
        return len(self._lines)

    def held(self, rows: Integers) -> tuple[NDArray[Any], Integers]:
        self._clock += 1
        missing = np.unique(rows[self._slot_of[rows] < 0])
        self._last_use[self._slot_of[rows][self._slot_of[rows] >= 0]] = self._clock
        if len(missing):
            # The slots not used for longest, empty ones first; those of this call were used just now.
            slots = np.sort(np.argsort(self._last_use, kind="stable")[: len(missing)])
            gone = self._row_in[slots]
            self._slot_of[gone[gone >= 0]] = -1
            self._make(missing, slots)
            if not self._each_alone:
                self._batches.add(missing, slots)
            self._slot_of[missing], self._row_in[slots], self._last_use[slots] = slots, missing, self._clock
        return self._lines, self._slot_of[rows]

    @property
    def largest_square(self) -> int:
        return self.most_at_once if self._fast is None else self.n_rows

    def square(self, rows: Integers) -> NDArray[Any]:
        if self._fast is None:
            return super().square(rows)
        # Lines are long and far apart in memory: made anew, their values are had sooner than gathered.
        return self._fast.among(rows, n_jobs=self.n_jobs)

    def as_notes(self) -> dict[str, Any]:
        capacity = {"capacity": len(self._lines)}
        if self._each_alone:
            return capacity
        return {**capacity, "last_use": self._last_use, "clock": self._clock, **self._batches.as_notes()}

    def go_on(self, known: Mapping[str, Any]) -> None:
        # As many slots as there were, though there may be another amount of free memory now.
        capacity, n = int(known["capacity"]), self.n_rows
        if capacity > len(self._lines):
            require(
                capacity * n * self._lines.itemsize,
                doing=f"Going on with a kernel machine on {n:,} rows",
                holding=f"{capacity:,} lines of the Gram matrix, as many as the checkpoint had",
                instead="remove the checkpoint to begin anew",
            )
        self._lines = np.empty((capacity, n), dtype=self._lines.dtype)
        self._slot_of, self._row_in = np.full(n, -1), np.full(capacity, -1)
        self._last_use, self._clock = np.zeros(capacity, dtype=np.int64), 0
        self._batches = LineBatches(capacity)
        if self._each_alone:
            return
        for numbers, slots in LineBatches.noted(known):
            self._make(numbers, slots)
            self._batches.add(numbers, slots)
            self._row_in[slots] = numbers
        held = np.flatnonzero(self._row_in >= 0)
        self._slot_of[self._row_in[held]] = held
        self._last_use, self._clock = known["last_use"], int(known["clock"])

    @property
    def _each_alone(self) -> bool:
        """Whether a line has the same bits whatever others are made with it, so that it may be made at any time."""
        return self._fast is not None and self._fast.by_loops

    def _make(self, numbers: Integers, slots: Integers) -> None:
        """Write the lines of rows into slots, tile by tile."""
        if self._fast is not None:
            self._fast.write_lines(numbers, self._lines, slots, self.n_jobs)
            return
        from bisector.engine.loops import given
        from bisector.solvers.smo_loops import keep_tile

        products = self._kernel.between(self._rows.take(numbers), self._rows)
        height, width = products.tile_shape
        height, places = min(height, len(numbers)), given(slots)

        def write(inner: range) -> None:
            tile = np.empty((height, len(inner)))
            for outer in cut(len(numbers), height):
                products.write(outer, inner, tile)
                keep_tile(
                    given(tile[: len(outer)]), self._lines, places[outer.start : outer.stop], inner.start
                )

        parallel(write, cut(self.n_rows, width), n_jobs=self.n_jobs)


def kernel_lines(
    kernel: Kernel,
    rows: Rows,
    *,
    at_least: int,
    allowed_error: float,
    sharing: int = 1,
    n_jobs: int | None = None,
) -> KernelLines:
    """Choose how to hold the lines of a Gram matrix.

    Parameters
    ----------
    kernel : Kernel
    rows : Rows
        Prepared by the kernel.
    at_least : int
        How many lines must be had at once.
    allowed_error : float
        How far off a value may typically be: single precision, which takes half the room, is used within it.
    sharing : int, default=1
        How many such sets of lines there may be at once.
    n_jobs : int, optional
    """
    n = len(rows)
    if n <= FEW:
        return AllLines(
            np.asarray(all_products(kernel, rows, n_jobs=n_jobs), dtype=np.float64), n_jobs=n_jobs
        )
    fast = gaussian_lines(kernel, rows)
    size = float(np.abs(kernel.diagonal(rows)).mean())
    single = (fast.error if fast is not None else _SINGLE * size) <= allowed_error
    n_bytes = n * (4 if single else 8)
    room = int(_SHARE * budget()) // sharing
    least = min(n, at_least)
    require(
        sharing * least * n_bytes,
        doing=f"Fitting a kernel machine on {n:,} rows",
        holding=f"{least:,} lines of the Gram matrix",
        instead="use fewer rows",
    )
    # What is quickly made anew is not worth much memory: to touch fresh memory takes as long.
    worth = max(_KEPT, _KEPT_BYTES // n_bytes) if single and fast is not None else n
    capacity = min(n, max(least, min(worth, room // n_bytes)))
    return MadeLines(kernel, rows, single=single, capacity=capacity, n_jobs=n_jobs)
