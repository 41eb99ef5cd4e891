"""Where the bumps of a network stand: centres that represent the rows, whatever the targets (LFD 6.3.2).

- *kmeans*: the means of clusters, by Lloyd's algorithm from a k-means++ start.
- *farthest*: rows that cover all others, each the farthest from those before.
- *groups*: the rows in order along the axis of their largest spread, cut into equal groups; the means of these.
- *mixture*: the means of a Gaussian mixture, with its covariances (the first stage of Problem 6.19).
- *all*: every row that differs from those before.

An integer weight counts as so many equal rows.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.sources import Source, source
from bisector.exemplars.covering import cover
from bisector.solvers.em import Floor, expectation_maximisation, maximised, moments_of_shares, references_of
from bisector.solvers.lloyd import lloyd
from bisector.solvers.mixture import Mixture
from bisector.solvers.mixture_shapes import SHAPES
from bisector.solvers.mixture_start import cluster_labels
from bisector.solvers.seeding import seeds
from bisector.solvers.spread import measure

Floats = NDArray[np.float64]

# Clusters end to move when their centres together move less than this share of the features' variance; and a
# mixture when its mean log likelihood rises by less than the last.
_STILL, _RISE = 1e-4, 1e-3
# The least variance of a mixture's bump, as a share of that of the features: a narrower bump is seen by few rows.
_FLATTEST = 1e-6


@dataclass(frozen=True)
class Centres:
    """Places of bumps.

    Attributes
    ----------
    rows : Rows
        Comparable with the rows they represent.
    covariances : ndarray of shape (k, d, d), or None
        The shapes that a mixture found.
    numbers : ndarray of int, or None
        Where the centres are rows: which.
    labels : ndarray of int of shape (n_rows,), or None
        Where each row is at a centre: at which.
    """

    rows: Rows
    covariances: Floats | None = None
    numbers: NDArray[np.int64] | None = None
    labels: NDArray[np.int64] | None = None


def place_centres(
    how: str,
    k: int,
    distance: Distance,
    rows: Rows,
    weights: Floats,
    random: np.random.RandomState,
    *,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> Centres:
    """Place k bumps.

    Parameters
    ----------
    how : {"kmeans", "farthest", "groups", "mixture", "all"}
    k : int
        Not used by "all".
    distance : Distance
    rows : Rows
    weights : ndarray of shape (n_rows,)
    random : numpy.random.RandomState
    n_jobs : int, optional
    kept : Checkpoint, optional
        Where clusters and mixtures note what they reach, and from which they go on.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean
    >>> from bisector.solvers.bump_centres import place_centres
    >>> metric, draw = Euclidean(), np.random.RandomState(0)
    >>> rows = metric.prepare([[0.0], [10.0], [1.0], [13.0], [2.0], [11.0]])
    >>> place_centres("groups", 3, metric, rows, np.ones(6), draw).rows.values.ravel()
    array([ 0.5,  6. , 12. ])
    """
    if how in _BY_ROWS:
        return _BY_ROWS[how](distance, rows, k, n_jobs)
    values = _points(how, rows)
    distinct = n_distinct(distance, rows, k)
    if distinct < k:
        raise ValueError(_too_many(k, len(rows), distinct))
    numbers = source(values, sample_weight=weights)
    places, covariances = _BY_POINTS[how](numbers, values, weights, k, random, n_jobs, kept)
    return Centres(distance.prepare(places, like=rows), covariances)


def _points(how: str, rows: Rows) -> Any:
    if not isinstance(rows, NumericRows) or rows.before is not None or rows.origin is not None:
        raise ValueError(
            f"centers={how!r} takes means of rows, which this metric has none of: use centers='farthest' or 'all'."
        )
    return rows.dense(range(len(rows)))


def n_distinct(distance: Distance, rows: Rows, enough: int) -> int:
    """Count the rows that differ from each other; where `enough` are found among the first ones, no more."""
    if isinstance(rows, NumericRows) and not rows.sparse:
        first = len(np.unique(rows.values[: 1000 + 4 * enough], axis=0))
        return first if first >= enough else len(np.unique(rows.values, axis=0))
    return len(cover(distance, rows, enough, 0).indices)


def _too_many(k: int, n_rows: int, distinct: int) -> str:
    return (
        f"n_centers is {k}, but X has n_samples={n_rows} rows, of which {distinct} differ from each other: ask for "
        "fewer centres."
    )


def _by_means(
    rows: Source,
    values: Any,
    weights: Floats,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None,
    kept: Checkpoint,
) -> tuple[Any, None]:
    measured = measure(rows, n_jobs=n_jobs)
    start = kept.drawn(
        "start", random, lambda: {"centres": seeds("k-means++", rows, k, random, n_jobs=n_jobs)}
    )["centres"]
    tol = _STILL * measured.scatter / (measured.weight * rows.n_features)
    return lloyd(rows, start, tol=tol, measured=measured, n_jobs=n_jobs, kept=kept).centres, None


def _by_groups(
    rows: Source,
    values: Any,
    weights: Floats,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None,
    kept: Checkpoint,
) -> tuple[Any, None]:
    X = values.astype(np.float64)
    total = float(weights.sum())
    away = X - weights @ X / total
    axis = np.linalg.eigh((away * weights[:, None]).T @ away)[1][:, -1]
    axis *= np.sign(axis[np.abs(axis).argmax()])
    order = np.argsort(away @ axis, kind="stable")
    ends = np.concatenate([[0.0], np.cumsum(weights[order])])
    whole = total.is_integer()
    edges = (
        np.cumsum([0, *map(len, np.array_split(np.empty(int(total)), k))])
        if whole
        else total * np.arange(k + 1) / k
    )
    # Sums of the rows up to any total weight: a heavy row may lie in two groups, as its copies would.
    sums = np.concatenate([np.zeros((1, X.shape[1])), np.cumsum(away[order] * weights[order, None], axis=0)])
    at_edges = np.stack([np.interp(edges, ends, column) for column in sums.T], axis=1)
    means = np.diff(at_edges, axis=0) / np.diff(edges)[:, None] + weights @ X / total
    return means.astype(values.dtype), None


def _by_mixture(
    rows: Source,
    values: Any,
    weights: Floats,
    k: int,
    random: np.random.RandomState,
    n_jobs: int | None,
    kept: Checkpoint,
) -> tuple[Any, Floats]:
    X, d = values.astype(np.float64, copy=False), values.shape[1]
    total = weights.sum()
    away = X - weights @ X / total
    variance = float((weights @ np.square(away)).mean() / total) or 1.0
    floor = Floor(_FLATTEST * variance)
    shape = SHAPES["full"]
    middles, round_ones = np.tile(weights @ X / total, (k, 1)), np.tile(variance * np.eye(d), (k, 1, 1))
    blank = Mixture(np.full(k, 1 / k), middles, round_ones, shape)
    shares = np.eye(k)[cluster_labels(X, k, weights, random, kept=kept.part("start"))] * weights[:, None]
    references = references_of(blank)
    start = maximised(blank, moments_of_shares(X, shares, references, shape), references, floor)
    found = expectation_maximisation(rows, start, floor=floor, tol=_RISE, n_jobs=n_jobs, kept=kept).mixture
    return found.means.astype(values.dtype), found.covariances


def _by_cover(distance: Distance, rows: Rows, k: int, n_jobs: int | None) -> Centres:
    found = cover(distance, rows, k, 0, n_jobs=n_jobs)
    if len(found.indices) < k:
        raise ValueError(_too_many(k, len(rows), len(found.indices)))
    return Centres(rows.take(found.indices), numbers=found.indices)


def _by_rows(distance: Distance, rows: Rows, k: int, n_jobs: int | None) -> Centres:
    if isinstance(rows, NumericRows) and not rows.sparse:
        _, first, labels = np.unique(rows.values, axis=0, return_index=True, return_inverse=True)
    else:
        found = cover(distance, rows, len(rows), 0, n_jobs=n_jobs)
        first, labels = found.indices, found.labels
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return Centres(rows.take(first[order]), numbers=first[order], labels=places[labels.reshape(-1)])


_BY_ROWS: dict[str, Callable[[Distance, Rows, int, int | None], Centres]] = {
    "farthest": _by_cover,
    "all": _by_rows,
}
_BY_POINTS: dict[str, Callable[..., tuple[Any, Floats | None]]] = {
    "kmeans": _by_means,
    "groups": _by_groups,
    "mixture": _by_mixture,
}
WAYS = (*_BY_POINTS, *_BY_ROWS)
