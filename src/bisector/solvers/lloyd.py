"""Lloyd's algorithm: rows go to the nearest centre, centres to the mean of their rows (Flach, Algorithm 8.1).

The problem, for rows x of weight w: find centres c_1 … c_k that make the **inertia** small, the scatter within
clusters

    Σ w ‖x − c(x)‖²,   where c(x) is the centre nearest to x.

Both steps lower it or leave it, so the algorithm ends: when no row changes its cluster, the sums repeat, and the
solution is *stationary* (neither step can improve it, though other solutions may be better). This is the
certificate, `converged`; with a tolerance the end may come earlier, when all centres together move by less.

A pass is one `map_reduce` over the source: the statistic of a block is the sums of its clusters, so that rows need
not be held, and the result has the same bits for any number of threads. Rows are compared with centres as
`bisector.solvers.lloyd_loops` says; the labels are those of comparing all with all. Where rows are long and
clusters few, only those rows are added up whose cluster changes (`bisector.solvers.lloyd_changes`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_blocks
from bisector.engine.progress import track
from bisector.engine.sources import Source
from bisector.engine.threads import one_blas_thread
from bisector.solvers.lloyd_changes import ClustersByChanges, changes_pay
from bisector.solvers.lloyd_passes import Assigned, Clusters, Plan, label_block, no_labels
from bisector.solvers.spread import Measured, check_finite_sums, measure

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]
AnyClusters = Clusters | ClustersByChanges


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
    labels, distances = no_labels(n), np.empty(n)
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
    by_changes = changes_pay(rows, measured, len(centres), max_iter)
    clusters = (ClustersByChanges if by_changes else Clusters)(rows, measured, n_jobs)
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
            history.append(found.inertia)
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
        if repeated:
            found = clusters.in_full(found)
            history[-1] = found.inertia
        else:
            found = clusters.assign_in_full(centres)
            history.append(found.inertia)
    sizes = found.sizes
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
        within=np.maximum(0.0, found.scatters - shift),
    )


def _means(origin: Floats, found: Assigned, centres: NDArray[Any]) -> Floats:
    sizes = found.sizes
    held = sizes > 0
    means = origin + found.sums / np.where(held, sizes, 1.0)[:, None]
    if not held.all():
        means[~held] = centres[~held]
    return means


def _move(clusters: AnyClusters, centres: NDArray[Any], found: Assigned) -> NDArray[Any]:
    """Return the means of the clusters; one without rows takes the row farthest from its centre."""
    if not found.sizes.all():
        _fill_empty(clusters, centres, found)
    return _means(clusters.measured.origin, found, centres).astype(centres.dtype)


def _fill_empty(clusters: AnyClusters, centres: NDArray[Any], found: Assigned) -> None:
    """Give each cluster without weight a row far from its centre, and take it from the cluster it was in.

    Rows that are on their centre, or alone in their cluster, stay: where all do, clusters stay empty.
    """
    sizes = found.sizes
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
