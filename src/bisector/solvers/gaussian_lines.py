"""The Gaussian kernel in single precision, for solvers that ask for many values and can bear their rounding.

exp(−γ‖x − y‖²) is exp(2γ x·y − γ‖x‖² − γ‖y‖²): a matrix product, two vectors, and an exponential. About their mean
rows have the smallest squares, so that little cancels.
"""

from dataclasses import dataclass, field
from functools import cached_property, singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances import Euclidean
from bisector.distances.distance import Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel
from bisector.kernels.kernel import Kernel
from bisector.kernels.radial import Gaussian
from bisector.solvers.side_by_side import PIECE, by_fours, in_pieces

Singles = NDArray[np.float32]
Integers = NDArray[np.int64]

# Tiles of so many rows and columns stay in the cache while they are finished.
_HEIGHT, _WIDTH = 128, PIECE
# A loop makes about so many values for a task, if that leaves enough tasks.
_VALUES, _FEWEST_TASKS = 2**19, 8
# Up to so many features a loop makes the products sooner than BLAS, which first copies what it multiplies.
_FEW_FEATURES = 32


@dataclass(frozen=True)
class GaussianLines:
    """Rows scaled so that the kernel is exp(a·b − ½‖a‖² − ½‖b‖²).

    Attributes
    ----------
    rows : ndarray of shape (n_rows, n_features)
    halves : ndarray of shape (n_rows,)
        ½‖a‖².
    error : float
        How far off a value typically is, for the row farthest out.
    """

    rows: Singles
    halves: Singles
    error: float
    _spare: list[Singles] = field(default_factory=list, repr=False, compare=False)

    def among(self, numbers: Integers, *, n_jobs: int | None = None) -> Singles:
        """Return the values among some of the rows."""
        out = np.empty((len(numbers), len(numbers)), dtype=np.float32)
        inner = in_pieces(self.rows[numbers])
        self._write(numbers, inner, self.halves[numbers], out, np.arange(len(numbers)), n_jobs)
        return out

    def write_lines(self, numbers: Integers, lines: Singles, slots: Integers, n_jobs: int | None) -> None:
        """Write the values of some rows with all of them into slots of an array of lines."""
        self._write(numbers, self._pieces, self.halves, lines, slots, n_jobs)

    @property
    def by_loops(self) -> bool:
        """Whether loops make the products, row by row, instead of BLAS, which rounds them by how many there are."""
        return bool(self.rows.shape[1] <= _FEW_FEATURES)

    @cached_property
    def _pieces(self) -> Singles:
        return in_pieces(self.rows)

    def _write(
        self, numbers: Integers, inner: Singles, inner_halves: Singles, lines: Singles, slots: Integers,
        n_jobs: int | None,
    ) -> None:  # fmt: skip
        from bisector.engine.loops import given
        from bisector.solvers.gaussian_lines_loops import raise_gaussians, write_pieces

        outer, outer_halves, places = given(self.rows[numbers]), given(self.halves[numbers]), given(slots)
        inner_halves, pieces = given(inner_halves), given(inner)
        few = self.by_loops

        def write(place: tuple[range, range]) -> None:
            columns, chosen = place
            part = slice(chosen.start, chosen.stop)
            # To touch fresh memory for every tile would take longer than to fill it.
            tile = self._spare.pop() if self._spare else np.empty((_HEIGHT, _WIDTH), np.float32)
            if few:
                write_pieces(
                    outer[part], outer_halves[part], pieces, columns.start, columns.stop, inner_halves, tile, lines,
                    places[part],
                )  # fmt: skip
            else:
                first = columns.start * _WIDTH
                own = inner_halves[first : first + _WIDTH]
                products = np.matmul(outer[part], inner[columns.start], out=tile[: len(chosen)])[
                    :, : len(own)
                ]
                raise_gaussians(given(products), outer_halves[part], own, lines, places[part], first)
            self._spare.append(tile)

        # To hand out a task takes as long as some thousand values: loops get several pieces at a time.
        several = _VALUES // (_WIDTH * max(1, len(numbers))) if few else 1
        ranges = cut(len(inner), max(1, min(several, len(inner) // _FEWEST_TASKS)))
        tiles = [(columns, part) for columns in ranges for part in cut(len(numbers), _HEIGHT)]
        parallel(write, tiles, n_jobs=n_jobs)


@singledispatch
def gaussian_lines(kernel: Kernel, rows: Rows) -> GaussianLines | None:
    """Return what makes the kernel's values in single precision, if it is Gaussian and its rows are dense."""
    return None


@gaussian_lines.register
def _(kernel: Gaussian, rows: Rows) -> GaussianLines | None:
    plain: Any = Euclidean()
    if kernel.metric != plain or not isinstance(rows, NumericRows) or rows.sparse:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        values = rows.values.astype(np.float64)
        values -= values.mean(axis=0)
        values /= kernel.known_bandwidth()
        halves = 0.5 * np.einsum("ij,ij->i", values, values)
        # The terms of the exponent are rounded, of which the product is at most as large as the largest square,
        # and so is the value.
        error = float(np.finfo(np.float32).eps) / 2 * (1.0 + 2.0 * float(halves.max(initial=0.0)))
        if not np.isfinite(error):
            return None
        return GaussianLines(by_fours(values), halves.astype(np.float32), error)
