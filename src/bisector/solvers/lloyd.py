"""Lloyd's algorithm: rows go to the nearest centre, centres to the mean of their rows (Flach, Algorithm 8.1).

The problem, for rows x of weight w: find centres c_1 … c_k that make the **inertia** small, the scatter within
clusters

    Σ w ‖x − c(x)‖²,   where c(x) is the centre nearest to x.

Both steps lower it or leave it, so the algorithm ends: when no row changes its cluster, the sums repeat, and the
solution is *stationary* (neither step can improve it, though other solutions may be better). This is the
certificate, `converged`; with a tolerance the end may come earlier, when all centres together move by less.

A pass is one `map_reduce` over the source: the statistic of a block is the sums of its clusters, so that rows are
never held, and the result has the same bits for any number of threads. Rows are compared with centres as
`bisector.solvers.lloyd_loops` says; the labels are those of comparing all with all.
"""

from dataclasses import dataclass
from math import frexp
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.memory import budget
from bisector.engine.progress import track
from bisector.engine.sources import Source, SparseSource
from bisector.engine.threads import one_blas_thread
from bisector.solvers.row_samples import Sample
from bisector.solvers.spread import Measured, check_finite_sums, measure

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# From so many products of a row with all centres on, bounds that spare them pay for themselves.
_BOUNDS_PAY = 256
# When single precision leaves more than this share of the rows open, double precision takes over.
_MOST_OPEN = 0.25
# Bounds take at most this share of the memory budget; the outcome is the same without them.
_SHARE_FOR_BOUNDS = 0.25
_SMALL = 2**26
_NO_WEIGHTS = np.empty(0)


@dataclass(frozen=True, eq=False)
class Lloyd:
    """Clusters, and how they were reached.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_features)
        In the dtype of the rows.
    labels : ndarray of int32 of shape (n_rows,)
        The nearest centre of every row; of equals, the first. Empty for rows that are elsewhere.
    inertia : float
    n_iter : int
        How often centres were moved.
    history : ndarray
        The inertia after every assignment; the last one is `inertia`.
    converged : bool
        Whether the labels repeat (then the solution is stationary), or the centres moved by no more than was
        tolerated.
    means : ndarray of shape (n_clusters, n_features)
        Of the rows of each cluster, in float64; the centre itself where it has none.
    sizes, within : ndarray of shape (n_clusters,)
        The weight of each cluster, and its scatter about its mean.
    """

    centres: NDArray[Any]
    labels: Labels
    inertia: float
    n_iter: int
    history: Floats
    converged: bool
    means: Floats
    sizes: Floats
    within: Floats


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


class _Clusters:
    """The rows' labels while centres move, and one pass over the rows.

    Of a row, four bytes are held: its label; and eight more for a bound, where that pays and there is room. Of rows
    that are elsewhere, nothing is: that no label has changed shows in the sums, which are then the same.
    """

    def __init__(self, rows: Source, measured: Measured, n_jobs: int | None) -> None:
        self.rows, self.measured, self.n_jobs = rows, measured, n_jobs
        self.elsewhere = rows.executor is not None
        self.labels = np.full(0 if self.elsewhere else rows.n_rows, -1, dtype=np.int32)
        self.lower = np.empty(0)
        self._sums: tuple[Floats, Floats] | None = None
        self._before: Floats | None = None
        self._kind: type = np.float32

    def assign(self, centres: NDArray[Any]) -> ClusterSums:
        """Label all rows by their nearest centres."""
        wide = centres.astype(np.float64, copy=False)
        drift = np.empty(0)
        if self._before is not None:
            moves = wide - self._before
            drift = np.sqrt(np.einsum("ij,ij->i", moves, moves))
        elif self._bounds_pay(*centres.shape):
            self.lower = np.empty(self.rows.n_rows)
        if len(self.lower):
            self._before = wide
        plan = Plan.of(wide, self.measured.origin, self._kind, drift)
        found = map_reduce(
            block_sums, self.rows, plan, self.labels, self.lower, n_jobs=self.n_jobs, doing="assigning"
        )
        check_finite_sums(self.rows, float(found.of[1].sum()))
        if self.elsewhere:
            sums, self._sums = self._sums, (found.sums.copy(), found.of[0].copy())
            same = sums is not None and all(map(np.array_equal, sums, self._sums))
            found = found._replace(changed=0 if same else self.rows.n_rows)
        if found.undecided > _MOST_OPEN * self.rows.n_rows:
            self._kind = np.float64
        return found

    def _bounds_pay(self, k: int, d: int) -> bool:
        n_bytes = 8 * self.rows.n_rows
        pay = k * d >= _BOUNDS_PAY and not (self.elsewhere or isinstance(self.rows, SparseSource))
        return pay and (n_bytes <= _SMALL or n_bytes <= _SHARE_FOR_BOUNDS * budget())

    def farthest(self, centres: NDArray[Any], count: int) -> Sample:
        """Return the rows farthest from their centres."""
        plan = Plan.of(centres.astype(np.float64, copy=False), self.measured.origin, self._kind, np.empty(0))
        return map_reduce(block_farthest, self.rows, plan, count, n_jobs=self.n_jobs, doing="assigning")


class Plan(NamedTuple):
    """The centres of one pass, as loops take them."""

    centres: Floats
    frame: Any
    drift: Floats

    def here(self) -> "Plan":
        """Return the plan as loops take it, which arrays that have travelled to another process are not."""
        from bisector.engine.loops import given

        frame = self.frame._replace(origin=given(self.frame.origin), kind=given(self.frame.kind))
        return Plan(given(self.centres), frame, given(self.drift))

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
        return cls(given(centres), frame, given(drift))


def block_sums(block: Block, plan: Plan, labels: Labels, lower: Floats) -> ClusterSums:
    """Label the rows of a block and sum up its clusters; without labels to change, by labels of its own."""
    n = block.X.shape[0]
    if not len(labels):
        return label_block(block, plan, _no_labels(n), np.empty(n), np.empty(0), plan.centres.shape)
    here = slice(block.first_row, block.first_row + n)
    return label_block(block, plan, labels[here], np.empty(n), lower[here], plan.centres.shape)


def _no_labels(n: int) -> Labels:
    return np.full(n, -1, dtype=np.int32)


def block_farthest(block: Block, plan: Plan, count: int) -> Sample:
    """Return the rows of a block that are farthest from their nearest centres, but not on them."""
    n = block.X.shape[0]
    labels, distances = _no_labels(n), np.empty(n)
    label_block(block, plan, labels, distances, np.empty(0), (0, 0))
    eligible = (distances > 0) & (block.weights > 0)
    return Sample.of(block, count, -distances, eligible, labels, block.weights)


def label_block(
    block: Block, plan: Plan, labels: Labels, distances: Floats, lower: Floats, sums_of: tuple[int, ...]
) -> ClusterSums:
    """Label rows, and sum up clusters in an array of the shape `sums_of`, which may be empty."""
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_loops import LloydBounds, assign, assign_entries

    plan = plan.here()
    X, k = block.X, len(plan.centres)
    sums, of = np.zeros(sums_of), np.zeros((2, k))
    weights = given(_NO_WEIGHTS if block.sample_weight is None else block.sample_weight)
    if hasattr(X, "tocsr"):
        share = plan.frame.share if plan.frame.kind.dtype == np.float64 else _share64(X.shape[1])
        entries = given(X.data), given(X.indices, np.int64), given(X.indptr, np.int64)
        counts = assign_entries(*entries, weights, plan.centres, share, labels, distances, sums, of)
    else:
        rows = given(X, np.float64 if plan.frame.kind.dtype == np.float64 else None)
        bounds = LloydBounds(lower, plan.drift)
        counts = assign(rows, weights, plan.centres, plan.frame, bounds, labels, distances, sums, of)
    return ClusterSums(sums, of, *counts)


def _share64(n_features: int) -> float:
    from bisector.search.screening import share_of_errors

    return share_of_errors(n_features, np.float64)


def nearest_centres(
    rows: Source, centres: NDArray[Any], *, n_jobs: int | None = None
) -> tuple[Labels, Floats]:
    """Return the nearest centre of every row, and the squared distance to it.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.lloyd import nearest_centres
    >>> nearest_centres(source(np.array([[0.0], [4.0], [5.0]])), np.array([[0.0], [8.0]]))
    (array([0, 0, 1], dtype=int32), array([ 0., 16.,  9.]))
    """
    wide = centres.astype(np.float64, copy=False)
    plan = Plan.of(wide, wide[0], np.float32, np.empty(0))
    found = map_blocks(_label_rows, rows, plan, n_jobs=n_jobs)
    labels, distances = found["label"].copy(), found["distance"].copy()
    check_finite_sums(rows, float(distances.sum()))
    return labels, distances


def nearest_labels(rows: Source, centres: NDArray[Any], *, n_jobs: int | None = None) -> Labels:
    """Return the nearest centre of every row; of equals, the first.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.lloyd import nearest_labels
    >>> nearest_labels(source(np.array([[0.0], [4.0], [5.0]])), np.array([[0.0], [8.0]]))
    array([0, 0, 1], dtype=int32)
    """
    wide = centres.astype(np.float64, copy=False)
    plan = Plan.of(wide, wide[0], np.float32, np.empty(0))
    labels: Labels = map_blocks(_labels_of_rows, rows, plan, n_jobs=n_jobs)
    check_finite_sums(rows, 0.0 if labels.min() >= 0 else np.nan)
    return labels


def _labels_of_rows(block: Block, plan: Plan) -> Labels:
    """Label the rows of a block; by -1 where they are not finite."""
    found = _label_rows(block, plan)
    return np.where(np.isfinite(found["distance"]), found["label"], np.int32(-1))


_ROW = np.dtype([("label", np.int32), ("distance", np.float64)])


def _label_rows(block: Block, plan: Plan) -> NDArray[Any]:
    n = block.X.shape[0]
    labels, distances = _no_labels(n), np.empty(n)
    label_block(block, plan, labels, distances, np.empty(0), (0, 0))
    found = np.empty(n, _ROW)
    found["label"], found["distance"] = labels, distances
    return found


def lloyd(
    rows: Source,
    centres: NDArray[Any],
    *,
    max_iter: int = 300,
    tol: float = 0.0,
    measured: Measured | None = None,
    n_jobs: int | None = None,
    verbose: bool | int = False,
    kept: Checkpoint = NOWHERE,
) -> Lloyd:
    """Move centres until they stay.

    Parameters
    ----------
    rows : Source
        With weights, if there are any.
    centres : ndarray of shape (n_clusters, n_features)
        Where to begin.
    max_iter : int, default=300
        How often centres are moved at most.
    tol : float, default=0.0
        End when the sum of the squares of all moves is at most this.
    measured : Measured, optional
        What `measure` says of the rows, if it is known already.
    n_jobs : int, optional
    verbose : bool or int, default=False
    kept : Checkpoint, optional
        Where moves are noted, and from which they go on.

    Returns
    -------
    Lloyd

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.lloyd import lloyd
    >>> numbers = np.array([[8.0], [44.0], [50.0], [58.0], [84.0]])
    >>> found = lloyd(source(numbers), np.array([[10.0], [50.0]]))
    >>> found.centres.ravel(), found.labels, found.inertia, found.n_iter
    (array([ 8., 59.]), array([0, 1, 1, 1, 1], dtype=int32), 932.0, 2)
    """
    measured = measure(rows, n_jobs=n_jobs) if measured is None else measured
    clusters = _Clusters(rows, measured, n_jobs)
    centres = centres.astype(rows.dtype)
    history: list[float] = []
    converged, repeated, n_iter = False, False, 0
    with one_blas_thread, track("k-means", max_iter, verbose) as bar:
        state = kept.recall("moves")
        if state is not None:
            # Labels are not noted: those of the last pass follow from the centres it was made with.
            found = clusters.assign(state["before"])
            _move(clusters, state["before"], found)
            centres, history, n_iter = state["centres"], state["history"].tolist(), int(state["n_iter"])
            converged, repeated = bool(state["converged"]), bool(state["repeated"])
        while n_iter < max_iter and not converged:
            found = clusters.assign(centres)
            history.append(float(found.of[1].sum()))
            n_iter += 1
            repeated = found.changed == 0
            moved = _move(clusters, centres, found)
            moves = (moved - centres).astype(np.float64)
            converged = repeated or float(np.vdot(moves, moves)) <= tol
            before, centres = centres, moved
            kept.note(
                "moves", before=before, centres=centres, history=history, n_iter=n_iter,
                converged=converged, repeated=repeated,
            )  # fmt: skip
            bar.advance(note=f"inertia {history[-1]:.6g}")
        if not repeated:
            found = clusters.assign(centres)
            history.append(float(found.of[1].sum()))
    sizes = found.of[0]
    means = _means(measured.origin, found, centres)
    offsets = means - centres
    shift = sizes * np.einsum("ij,ij->i", offsets, offsets)
    return Lloyd(
        centres=centres,
        labels=clusters.labels,
        inertia=history[-1],
        n_iter=n_iter,
        history=np.array(history),
        converged=converged,
        means=means,
        sizes=sizes,
        within=np.maximum(0.0, found.of[1] - shift),
    )


def _means(origin: Floats, found: ClusterSums, centres: NDArray[Any]) -> Floats:
    sizes = found.of[0]
    held = sizes > 0
    means = origin + found.sums / np.where(held, sizes, 1.0)[:, None]
    if not held.all():
        means[~held] = centres[~held]
    return means


def _move(clusters: _Clusters, centres: NDArray[Any], found: ClusterSums) -> NDArray[Any]:
    """Return the means of the clusters; one without rows takes the row farthest from its centre."""
    if not found.of[0].all():
        _fill_empty(clusters, centres, found)
    return _means(clusters.measured.origin, found, centres).astype(centres.dtype)


def _fill_empty(clusters: _Clusters, centres: NDArray[Any], found: ClusterSums) -> None:
    """Give each cluster without weight a row far from its centre, and take it from the cluster it was in.

    Rows that are on their centre, or alone in their cluster, stay: where all do, clusters stay empty.
    """
    sizes = found.of[0]
    places = iter(np.flatnonzero(sizes == 0).tolist())
    place = next(places)
    far = clusters.farthest(centres, int(np.count_nonzero(sizes == 0)) + len(sizes))
    for row, (label, weight) in zip(far.rows, far.beside.tolist(), strict=True):
        owner = int(label)
        if not sizes[owner] > weight:
            continue
        x = row - clusters.measured.origin
        found.sums[owner] -= weight * x
        sizes[owner] -= weight
        found.sums[place], sizes[place] = weight * x, weight
        place = next(places, -1)
        if place < 0:
            return
