"""Passes of Lloyd's algorithm over long rows and few clusters, which touch only the rows whose cluster changes.

A pass as in `bisector.solvers.lloyd_passes` reads every row, to compare it with the centres, to measure its
distance from its own one, and to add it to a sum. With long rows and few centres reading and adding take most of
the time, for nothing where rows stay in their clusters:

- Sums follow from those before and the rows that moved. They are exact (`bisector.solvers.lloyd_changes_loops`),
  and so do not depend on the way they were reached.
- The inertia follows from them: seen from the origin, with T = Σ w‖x‖² of all rows, S the sum of a cluster, w its
  weight and c its centre, it is T + Σ (w‖c‖² − 2c·S).
- Products need rows as they are seen from the origin, in single precision. They are kept, where there is room, and
  half as much is then to be read.

The formula loses digits where clusters are small beside their distances, and exact sums lose them where some rows
are many orders of magnitude longer than others: there passes are made in full. So is the last one, in any case.

The labels are those of comparing all rows with all centres; and the outcome does not depend on what is kept.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.memory import budget
from bisector.engine.sources import ArraySource, Source, SparseSource
from bisector.solvers.lloyd_passes import (
    MOST_OPEN,
    NO_WEIGHTS,
    Assigned,
    ChangesElsewhere,
    Clusters,
    ClusterSums,
    Plan,
    no_labels,
)
from bisector.solvers.row_samples import Sample
from bisector.solvers.spread import Measured

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Rows from this length on, up to so many clusters, so many numbers in all rows, and so many moves.
_LONG, _FEW_CLUSTERS, _MANY_NUMBERS, _MANY_MOVES = 128, 16, 2**22, 8
# In which pass rows are kept, since some fits end before.
_KEPT_FROM = 3
# What is kept takes at most this share of the memory budget.
_SHARE_FOR_ROWS = 0.25
# Passes are made in full where the inertia is a smaller share of Σ w‖x‖² than this.
_TIGHT = 2.0**-10
# Rows that are kept serve for centres that are at most so many times as far out as those they were placed for.
_FARTHER = 2.0**40
# What a row may lose on the grids is this many times shorter than the row.
_DIGITS = 2.0**46
# Squares neither overflow nor vanish.
_SMALL, _LARGE = 1e-100, 1e100


class PlacedRows(NamedTuple):
    """Rows as products take them, made in one pass and kept for others.

    Attributes
    ----------
    blocks : dict
        By the first row of a block, its rows in groups of shape (n_groups, n_features, 16), and the squares of
        their lengths; None if they are not kept.
    scale : float
        In units of which they are seen.
    """

    blocks: dict[int, tuple[NDArray[np.float32], Floats]] | None = None
    scale: float = 1.0

    def serve(self, plan: Plan) -> bool:
        """Tell whether they can be multiplied by the centres of a plan."""
        return self.blocks is not None and self.scale <= _FARTHER * float(plan.frame.scale)


_NONE_PLACED = PlacedRows()


def changes_pay(rows: Source, measured: Measured, k: int, max_iter: int) -> bool:
    """Tell whether passes by changes pay, and sums can be made exactly."""
    n, d = rows.n_rows, rows.n_features
    if isinstance(rows, SparseSource) or rows.dtype != np.float64 or max_iter < _MANY_MOVES:
        return False
    if d < _LONG or k > _FEW_CLUSTERS or n * d < _MANY_NUMBERS:
        return False
    return all(_SMALL < total < _LARGE for total in (_squares(measured).sum(), measured.weight))


def _squares(measured: Measured) -> Floats:
    """Return Σ wx² of every column, as seen from the origin."""
    offsets = measured.mean - measured.origin
    return np.asarray(measured.weight * (measured.variances + offsets * offsets))


def _grids(measured: Measured, n_rows: int) -> Any:
    """Return the grids on which sums are exact, whichever rows they are of.

    By the inequality of Cauchy and Schwarz Σ w|x| is at most the root of Σ w · Σ wx².
    """
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_changes_loops import LloydGrids

    squares = _squares(measured) + n_rows * np.finfo(np.float64).tiny
    coarse = _rounding(8.0 * np.sqrt(measured.weight) * np.sqrt(squares))
    finer = float(_rounding(8.0 * n_rows * np.spacing(1.5)) / 1.5)
    lost = 0.5 * np.spacing(coarse * finer)
    return LloydGrids(given(coarse), finer, float(lost @ lost) * _DIGITS * _DIGITS)


def _rounding(most: Any) -> Any:
    """Return numbers whose last digit is the step of a grid on which sums up to `most` are exact."""
    return np.ldexp(1.5, np.frexp(most)[1])


class ClustersByChanges:
    """The rows' labels and the sums of the clusters while centres move: as `Clusters`, by changes."""

    def __init__(self, rows: Source, measured: Measured, n_jobs: int | None) -> None:
        self._fully = Clusters(rows, measured, n_jobs)
        self.rows, self.measured, self.n_jobs = rows, measured, n_jobs
        self.labels = self._fully.labels
        self._squares = float(_squares(measured).sum())
        self._grids = _grids(measured, rows.n_rows)
        self._sums: Floats | None = None
        self._n_passes = 0
        self._centres: NDArray[Any] | None = None
        self._placed = _NONE_PLACED
        self._always_fully = False
        self._kind: type = np.float32
        self._changes = ChangesElsewhere(rows.n_rows)

    def assign(self, centres: NDArray[Any]) -> Assigned:
        """Label all rows by their nearest centres."""
        if self._always_fully:
            return self._fully.assign(centres)
        found = self._assign(centres)
        self._always_fully |= found.inertia < _TIGHT * self._squares
        if self._always_fully:
            self._placed = _NONE_PLACED
            return self._fully.assign(centres)._replace(changed=found.changed)
        self._centres = centres
        return found

    def assign_in_full(self, centres: NDArray[Any]) -> Assigned:
        """Label all rows, and find out the scatter of each cluster."""
        return self._fully.assign(centres)

    def in_full(self, found: Assigned) -> Assigned:
        """Return what the last pass told, with the scatter of each cluster."""
        if self._always_fully or self._centres is None:
            return found
        full = self._fully.assign(self._centres)
        return found._replace(inertia=full.inertia, scatters=full.scatters)

    def farthest(self, centres: NDArray[Any], count: int) -> Sample:
        """Return the rows farthest from their centres."""
        return self._fully.farthest(centres, count)

    def _assign(self, centres: NDArray[Any]) -> Assigned:
        wide = centres.astype(np.float64, copy=False)
        plan = Plan.of(wide, self.measured.origin, self._kind, np.empty(0))
        self._n_passes += 1
        placed = self._placed_for(plan)
        if placed.blocks is not None:
            plan = plan._replace(frame=plan.frame._replace(scale=placed.scale))
        found = map_reduce(
            block_changes,
            self.rows,
            plan,
            self._grids,
            self.labels,
            placed,
            n_jobs=self.n_jobs,
            doing="assigning",
        )
        if found.undecided > MOST_OPEN * self.rows.n_rows:
            self._kind, self._placed = np.float64, _NONE_PLACED
        self._always_fully = bool(found.of[1].any())
        elsewhere = self.rows.executor is not None
        self._sums = found.sums if self._sums is None or elsewhere else self._sums + found.sums
        sums, sizes = self._sums[0] + self._sums[1], found.of[0]
        changed = self._changes.seen(sums, sizes) if elsewhere else found.changed
        seen = wide - self.measured.origin
        gains = sizes * np.einsum("ij,ij->i", seen, seen) - 2.0 * np.einsum("ij,ij->i", seen, sums)
        return Assigned(sums, sizes, self._squares + float(gains.sum()), changed, np.empty(0))

    def _placed_for(self, plan: Plan) -> PlacedRows:
        """Return the rows that are kept, or are to be."""
        if self._kind is np.float64 or self._n_passes < _KEPT_FROM:
            return _NONE_PLACED
        if self._placed.blocks is None and _read_as_they_are(self.rows):
            n_bytes = 4 * self.rows.n_rows * (self.rows.n_features + 2)
            if n_bytes <= _SHARE_FOR_ROWS * budget():
                self._placed = PlacedRows({}, plan.frame.scale)
        return self._placed if self._placed.serve(plan) else _NONE_PLACED


def _read_as_they_are(rows: Source) -> bool:
    """Tell whether blocks are parts of an array, so that not all of a block need be read."""
    if not isinstance(rows, ArraySource):
        return False
    return bool(rows.X.dtype == np.float64 and rows.X.flags.c_contiguous)


def block_changes(block: Block, plan: Plan, grids: Any, labels: Labels, placed: PlacedRows) -> ClusterSums:
    """Label the rows of a block, and say how that changes the sums of its clusters.

    The sums are two for each cluster, on either grid. Without labels to change, all rows are new to their clusters.
    """
    from bisector.engine.group_products import GROUP
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_changes_loops import assign_by_changes

    plan, grids = plan.here(), grids._replace(coarse=given(grids.coarse))
    (n, d), kind = block.X.shape, plan.frame.kind.dtype
    labels = labels[block.first_row : block.first_row + n] if len(labels) else no_labels(n)
    groups, squares, known = np.empty((0, d, GROUP), kind), np.empty(n), False
    if placed.blocks is not None:
        known = block.first_row in placed.blocks
        if not known:
            placed.blocks[block.first_row] = np.empty((-(-n // GROUP), d, GROUP), np.float32), squares
        groups, squares = placed.blocks[block.first_row]
    sums, of = np.zeros((2, *plan.centres.shape)), np.zeros((2, len(plan.centres)))
    counts = assign_by_changes(
        given(block.X),
        given(NO_WEIGHTS if block.sample_weight is None else block.sample_weight),
        plan.centres, plan.frame, grids, groups, known, squares, labels, sums, of,
    )  # fmt: skip
    return ClusterSums(sums, of, *counts)
