"""Passes of Lloyd's algorithm: rows go to their nearest centres, and clusters are summed up block by block."""

from math import frexp
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.memory import budget
from bisector.engine.sources import Source, SparseSource
from bisector.solvers.row_samples import Sample
from bisector.solvers.spread import Measured, check_finite_sums

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# From so many products of a row with all centres on, bounds that spare them pay for themselves.
_BOUNDS_PAY = 256
# When single precision leaves more than this share of the rows open, double precision takes over.
MOST_OPEN = 0.25
# Bounds take at most this share of the memory budget; the outcome is the same without them.
_SHARE_FOR_BOUNDS = 0.25
_SMALL = 2**26
# From so many on, centres are met in blocks; fewer are multiplied by BLAS at least as fast.
_FEWEST_IN_BLOCKS = 128
# How many groups of clusters have bounds of their own.
_MOST_GROUPS = 64
NO_WEIGHTS = np.empty(0)
NO_BOUNDS = np.empty((0, 0), np.float32)


class ClusterSums(NamedTuple):
    """What one block tells of its clusters.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
        Of the rows as seen from the origin, times their weights.
    of : ndarray of shape (2, n_clusters)
        The weights, and the scatters about the centres.
    changed, undecided : int
        How many labels changed; how many rows products could not decide.
    """

    sums: Floats
    of: Floats
    changed: int
    undecided: int

    def merge(self, other: Self) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):
            np.add(self.sums, other.sums, out=self.sums)
            np.add(self.of, other.of, out=self.of)
        return self._replace(changed=self.changed + other.changed, undecided=self.undecided + other.undecided)


class Assigned(NamedTuple):
    """What a pass over all rows tells of the clusters.

    Attributes
    ----------
    sums : ndarray of shape (n_clusters, n_features)
        Of the rows as seen from the origin, times their weights.
    sizes : ndarray of shape (n_clusters,)
        The weights.
    inertia : float
    changed : int
        How many labels changed.
    scatters : ndarray of shape (n_clusters,)
        About the centres; empty if only the inertia is known.
    """

    sums: Floats
    sizes: Floats
    inertia: float
    changed: int
    scatters: Floats


class Clusters:
    """The rows' labels while centres move, and one pass over the rows.

    Of a row, four bytes are held: its label; and four more for each bound, where bounds pay and there is room. Of
    rows that are elsewhere, nothing is: that no label has changed shows in the sums, which are then the same.
    """

    def __init__(self, rows: Source, measured: Measured, n_jobs: int | None) -> None:
        self.rows, self.measured, self.n_jobs = rows, measured, n_jobs
        self.elsewhere = rows.executor is not None
        self.labels = np.full(0 if self.elsewhere else rows.n_rows, -1, dtype=np.int32)
        self.lower: NDArray[Any] = np.empty(0)
        self._changes = ChangesElsewhere(rows.n_rows)
        self._before: Floats | None = None
        self._unit = 1.0
        self._kind: type = np.float32

    def assign(self, centres: NDArray[Any]) -> Assigned:
        """Label all rows by their nearest centres."""
        wide = centres.astype(np.float64, copy=False)
        drift = np.empty(0)
        if self._before is not None:
            moves = wide - self._before
            drift = np.sqrt(np.einsum("ij,ij->i", moves, moves))
        else:
            self.lower = np.empty((self._n_bounds(*centres.shape), self.rows.n_rows), np.float32)
        plan = Plan.of(wide, self.measured.origin, self._kind, drift)
        if self._before is None:
            self._unit = plan.frame.scale
        plan = plan._replace(unit=self._unit)
        if len(self.lower):
            self._before = wide
        found = map_reduce(
            block_sums, self.rows, plan, self.labels, self.lower, n_jobs=self.n_jobs, doing="assigning"
        )
        inertia = float(found.of[1].sum())
        check_finite_sums(self.rows, inertia)
        if found.undecided > MOST_OPEN * self.rows.n_rows:
            self._kind = np.float64
        changed = self._changes.seen(found.sums, found.of[0]) if self.elsewhere else found.changed
        return Assigned(found.sums, found.of[0], inertia, changed, found.of[1])

    def assign_in_full(self, centres: NDArray[Any]) -> Assigned:
        """Label all rows, and find out the scatter of each cluster, as every pass of this class does."""
        return self.assign(centres)

    def in_full(self, found: Assigned) -> Assigned:
        """Return what the last pass told, with the scatter of each cluster."""
        return found

    def _n_bounds(self, k: int, d: int) -> int:
        """Return how many bounds are kept of a row: one for each group of clusters, or for all of them, or none."""
        if k * d < _BOUNDS_PAY or self.elsewhere or isinstance(self.rows, SparseSource):
            return 0
        most = max(_SMALL, int(_SHARE_FOR_BOUNDS * budget())) // (4 * self.rows.n_rows)
        n_groups = _n_groups(k, d)
        return n_groups if n_groups <= most else min(most, 1)

    def farthest(self, centres: NDArray[Any], count: int) -> Sample:
        """Return the rows farthest from their centres."""
        plan = Plan.of(centres.astype(np.float64, copy=False), self.measured.origin, self._kind, np.empty(0))
        return map_reduce(block_farthest, self.rows, plan, count, n_jobs=self.n_jobs, doing="assigning")


class ChangesElsewhere:
    """Whether labels that are not held have changed: if not, the sums of the clusters repeat."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self._before: list[Floats] = []

    def seen(self, sums: Floats, sizes: Floats) -> int:
        """Return how many labels may have changed since the sums that were seen before."""
        before, self._before = self._before, [sums.copy(), sizes.copy()]
        same = bool(before) and all(map(np.array_equal, before, self._before))
        return 0 if same else self._n_rows


class Plan(NamedTuple):
    """The centres of one pass, as loops take them."""

    centres: Floats
    frame: Any
    drift: Floats
    unit: float

    def here(self) -> "Plan":
        """Return the plan as loops take it, which arrays that have travelled to another process are not."""
        from bisector.engine.loops import given

        frame = self.frame._replace(origin=given(self.frame.origin), kind=given(self.frame.kind))
        return Plan(given(self.centres), frame, given(self.drift), self.unit)

    @classmethod
    def of(cls, centres: Floats, origin: Floats, kind: type, drift: Floats) -> "Plan":
        from bisector.engine.loops import given
        from bisector.search.screening import share_of_errors
        from bisector.solvers.lloyd_loops import LloydFrame

        reach = float(np.abs(centres - origin).max())
        scale = 2.0 ** -frexp(reach)[1] if 1e-150 < reach < 1e150 else 1.0
        frame = LloydFrame(
            given(origin), scale, share_of_errors(centres.shape[1], kind), given(np.empty(0, kind))
        )
        return cls(given(centres), frame, given(drift), scale)


def _by_blocks(k: int, d: int) -> bool:
    """Tell whether rows meet centres in blocks."""
    from bisector.solvers.lloyd_loops import SEVERAL

    return d > SEVERAL and k >= _FEWEST_IN_BLOCKS


def _n_groups(k: int, d: int) -> int:
    """Return how many groups of clusters have bounds of their own."""
    from bisector.engine.registers import LANES

    n_blocks = -(-k // LANES)
    blocks_of_a_group = -(-n_blocks // _MOST_GROUPS)
    return -(-n_blocks // blocks_of_a_group) if _by_blocks(k, d) else 1


def block_sums(block: Block, plan: Plan, labels: Labels, lower: NDArray[Any]) -> ClusterSums:
    """Label the rows of a block and sum up its clusters; without labels to change, by labels of its own."""
    n = block.X.shape[0]
    if not len(labels):
        return label_block(block, plan, no_labels(n), np.empty(n), NO_BOUNDS, plan.centres.shape)
    here = slice(block.first_row, block.first_row + n)
    return label_block(block, plan, labels[here], np.empty(n), lower, plan.centres.shape)


def no_labels(n: int) -> Labels:
    return np.full(n, -1, dtype=np.int32)


def block_farthest(block: Block, plan: Plan, count: int) -> Sample:
    """Return the rows of a block that are farthest from their nearest centres, but not on them."""
    n = block.X.shape[0]
    labels, distances = no_labels(n), np.empty(n)
    label_block(block, plan, labels, distances, np.empty(0), (0, 0))
    eligible = (distances > 0) & (block.weights > 0)
    return Sample.of(block, count, -distances, eligible, labels, block.weights)


def label_block(
    block: Block, plan: Plan, labels: Labels, distances: Floats, lower: NDArray[Any], sums_of: tuple[int, ...]
) -> ClusterSums:
    """Label rows, and sum up clusters in an array of the shape `sums_of`, which may be empty."""
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_blocks_loops import assign_by_blocks
    from bisector.solvers.lloyd_loops import LloydBounds, assign, assign_entries

    plan = plan.here()
    X, k = block.X, len(plan.centres)
    sums, of = np.zeros(sums_of), np.zeros((2, k))
    weights = given(NO_WEIGHTS if block.sample_weight is None else block.sample_weight)
    if hasattr(X, "tocsr"):
        share = plan.frame.share if plan.frame.kind.dtype == np.float64 else _share64(X.shape[1])
        entries = given(X.data), given(X.indices, np.int64), given(X.indptr, np.int64)
        counts = assign_entries(*entries, weights, plan.centres, share, labels, distances, sums, of)
    else:
        rows = given(X, np.float64 if plan.frame.kind.dtype == np.float64 else None)
        bounds = LloydBounds(lower if len(lower) else NO_BOUNDS, block.first_row, plan.unit, plan.drift)
        step = assign_by_blocks if _by_blocks(*plan.centres.shape) else assign
        counts = step(rows, weights, plan.centres, plan.frame, bounds, labels, distances, sums, of)
    return ClusterSums(sums, of, *counts)


def _share64(n_features: int) -> float:
    from bisector.search.screening import share_of_errors

    return share_of_errors(n_features, np.float64)
