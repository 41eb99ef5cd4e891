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
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks, map_reduce
from bisector.engine.progress import track
from bisector.engine.sources import Source, SparseSource
from bisector.engine.threads import one_blas_thread
from bisector.engine.validation import find_not_finite

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# From so many products of a row with all centres on, bounds that spare them pay for themselves.
_BOUNDS_PAY = 256
# When single precision leaves more than this share of the rows open, double precision takes over.
_MOST_OPEN = 0.25
# Rows of the first block that the origin is the median of.
_ROWS_FOR_ORIGIN = 101


@dataclass(frozen=True, eq=False)
class Lloyd:
    """Clusters, and how they were reached.

    Attributes
    ----------
    centres : ndarray of shape (n_clusters, n_features)
        In the dtype of the rows.
    labels : ndarray of int32 of shape (n_rows,)
        The nearest centre of every row; of equals, the first.
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


class Spread(NamedTuple):
    """How rows lie about their mean: weight, sums and squares as seen from an origin."""

    weight: float
    sums: Floats
    squares: Floats

    def merge(self, other: Self) -> Self:
        with np.errstate(over="ignore", invalid="ignore"):
            np.add(self.sums, other.sums, out=self.sums)
            np.add(self.squares, other.squares, out=self.squares)
        return self._replace(weight=self.weight + other.weight)

    @property
    def scatter(self) -> float:
        """Σ w‖x − mean‖²."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.maximum(0.0, self.squares - self.sums * self.sums / self.weight).sum())


class Measured(NamedTuple):
    """What a fit knows of its rows beforehand.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
        Where sums are measured from, since far from zero they lose their digits: a value of each column, so that
        differences of whole numbers stay whole; zero for sparse rows.
    mean : ndarray of shape (n_features,)
    scatter, weight : float
        About the mean; and of all rows.
    """

    origin: Floats
    mean: Floats
    scatter: float
    weight: float


def measure(rows: Source, *, n_jobs: int | None = None) -> Measured:
    """Find out where rows lie and how far they spread; raise if one of them is not finite."""
    sample = next(iter(rows.blocks(range(1)))).X
    if hasattr(sample, "tocsr"):
        origin = np.zeros(rows.n_features)
    else:
        some = sample[:: -(-len(sample) // _ROWS_FOR_ORIGIN)]
        middle = len(some) // 2
        origin = np.nan_to_num(np.partition(some, middle, axis=0)[middle].astype(np.float64))
    spread = map_reduce(_block_spread, rows, origin, n_jobs=n_jobs, doing="measuring")
    scatter = spread.scatter
    check_finite_sums(rows, scatter)
    return Measured(origin, origin + spread.sums / spread.weight, scatter, spread.weight)


def check_finite_sums(rows: Source, total: float) -> None:
    """Say where a number is not finite, if a total tells that one is not, or that numbers are too large."""
    if not np.isfinite(total):
        find_not_finite(rows)
        raise ValueError(
            "X has numbers so large that their squares overflow: divide its columns by a common factor."
        )


def _block_spread(block: Block, origin: Floats) -> Spread:
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_loops import add_spread

    d = block.X.shape[1]
    weights = _NO_WEIGHTS if block.sample_weight is None else block.sample_weight
    if hasattr(block.X, "tocsr"):
        X = block.X.astype(np.float64)
        ones = block.weights
        return Spread(float(ones.sum()), np.asarray(X.T @ ones), np.asarray(X.multiply(X).T @ ones).ravel())
    sums, squares = np.zeros(d), np.zeros(d)
    weight = add_spread(given(block.X), given(weights), given(origin), sums, squares)
    return Spread(weight, sums, squares)


_NO_WEIGHTS = np.empty(0)


class _Clusters:
    """The rows' labels while centres move, and one pass over the rows."""

    def __init__(self, rows: Source, measured: Measured, n_jobs: int | None) -> None:
        self.rows, self.measured, self.n_jobs = rows, measured, n_jobs
        self.labels = np.full(rows.n_rows, -1, dtype=np.int32)
        self.distances = np.empty(rows.n_rows)
        self.lower = np.empty(0)
        self._before: Floats | None = None
        self._kind: type = np.float32

    def assign(self, centres: NDArray[Any]) -> ClusterSums:
        """Label all rows by their nearest centres."""
        k, d = centres.shape
        wide = centres.astype(np.float64, copy=False)
        drift = np.empty(0)
        if k * d >= _BOUNDS_PAY and not isinstance(self.rows, SparseSource):
            if self._before is None:
                self.lower = np.empty(self.rows.n_rows)
            else:
                moves = wide - self._before
                drift = np.sqrt(np.einsum("ij,ij->i", moves, moves))
            self._before = wide
        plan = Plan.of(wide, self.measured.origin, self._kind, drift)
        found = map_reduce(block_sums, self.rows, plan, self, n_jobs=self.n_jobs, doing="assigning")
        check_finite_sums(self.rows, float(found.of[1].sum()))
        if found.undecided > _MOST_OPEN * self.rows.n_rows:
            self._kind = np.float64
        return found


class Plan(NamedTuple):
    """The centres of one pass, as loops take them."""

    centres: Floats
    frame: Any
    drift: Floats

    @classmethod
    def of(cls, centres: Floats, origin: Floats, kind: type, drift: Floats) -> "Plan":
        from bisector.engine.loops import given
        from bisector.search.screening import share_of_errors
        from bisector.solvers.lloyd_loops import LloydFrame

        reach = float(np.abs(centres - origin).max())
        scale = 2.0 ** -int(np.frexp(reach)[1]) if 1e-150 < reach < 1e150 else 1.0
        frame = LloydFrame(
            given(origin), scale, share_of_errors(centres.shape[1], kind), given(np.empty(0, kind))
        )
        return cls(given(centres), frame, given(drift))


def block_sums(block: Block, plan: Plan, clusters: _Clusters) -> ClusterSums:
    """Label the rows of a block and sum up its clusters."""
    here = slice(block.first_row, block.first_row + block.X.shape[0])
    state = clusters.labels[here], clusters.distances[here]
    return label_block(block, plan, *state, clusters.lower[here], plan.centres.shape)


def label_block(
    block: Block, plan: Plan, labels: Labels, distances: Floats, lower: Floats, sums_of: tuple[int, ...]
) -> ClusterSums:
    """Label rows, and sum up clusters in an array of the shape `sums_of`, which may be empty."""
    from bisector.engine.loops import given
    from bisector.solvers.lloyd_loops import LloydBounds, assign, assign_entries

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


_ROW = np.dtype([("label", np.int32), ("distance", np.float64)])


def _label_rows(block: Block, plan: Plan) -> NDArray[Any]:
    n = block.X.shape[0]
    labels, distances = np.full(n, -1, dtype=np.int32), np.empty(n)
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
    history = []
    converged, repeated, n_iter = False, False, 0
    with one_blas_thread, track("k-means", max_iter, verbose) as bar:
        while n_iter < max_iter and not converged:
            found = clusters.assign(centres)
            history.append(float(found.of[1].sum()))
            n_iter += 1
            repeated = found.changed == 0
            moved = _move(clusters, centres, found)
            moves = (moved - centres).astype(np.float64)
            converged = repeated or float(np.vdot(moves, moves)) <= tol
            centres = moved
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
        _fill_empty(clusters, found)
    return _means(clusters.measured.origin, found, centres).astype(centres.dtype)


def _fill_empty(clusters: _Clusters, found: ClusterSums) -> None:
    """Give each cluster without weight a row far from its centre, and take it from the cluster it was in.

    Rows that are on their centre, or alone in their cluster, stay: where all do, clusters stay empty.
    """
    rows, sizes = clusters.rows, found.of[0]
    empty = np.flatnonzero(sizes == 0)
    far = np.where(clusters.distances > 0, clusters.distances, 0.0)
    if rows.sample_weight is not None:
        far[rows.sample_weight == 0] = 0.0
    n_asked = min(rows.n_rows, len(empty) + len(sizes))
    candidates = np.argpartition(-far, n_asked - 1)[:n_asked]
    candidates = candidates[np.lexsort((candidates, -far[candidates]))]
    places = iter(empty.tolist())
    place = next(places)
    for row in candidates[far[candidates] > 0]:
        owner = clusters.labels[row]
        weight = 1.0 if rows.sample_weight is None else float(rows.sample_weight[row])
        if not sizes[owner] > weight:
            continue
        x = rows.take([row])
        x = (x.toarray() if hasattr(x, "tocsr") else x)[0] - clusters.measured.origin
        found.sums[owner] -= weight * x
        sizes[owner] -= weight
        found.sums[place], sizes[place] = weight * x, weight
        place = next(places, -1)
        if place < 0:
            return
