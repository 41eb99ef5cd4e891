"""How much nearer a row is to its own cluster than to the next (Flach 8.4; Rousseeuw, 1987).

With a, the mean distance of a row to the others of its cluster, and b, the least mean distance to another
cluster, s = (b − a) / max(a, b). The *simplified* form takes the distances to the means of the clusters instead,
and the *medoid* form those to their medoids.

A weight counts as so many equal rows, so a leaves out one of them: with the weight w of a row and W of its cluster,
a is the sum of the weighted distances over W − min(w, 1). A row that is alone in its cluster has s = 0.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.group_centres import Groups, Squares, centres_of
from bisector.distances.groups import exemplar_distances, group_sums
from bisector.distances.numeric_rows import NumericRows, numeric_rows
from bisector.engine.items import picked
from bisector.engine.validation import check_choice, check_weights

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FORMS = ("mean", "simplified", "medoid")


class Widths(NamedTuple):
    """The silhouettes of rows, and what they are made of.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
    own, other : ndarray of shape (n_rows,)
        a and b.
    neighbours : ndarray of shape (n_rows,)
        The number of the cluster that b belongs to.
    """

    values: Floats
    own: Floats
    other: Floats
    neighbours: Integers


class Clustered(NamedTuple):
    """Checked rows with their clusters.

    Attributes
    ----------
    distance : Distance
    rows : Rows
        As the distance compares them.
    X : rows
        As they came.
    labels : ndarray of shape (n_rows,)
    clusters : ndarray of shape (n_clusters,)
        The labels of which a row has a weight, in ascending order.
    groups : Groups
        With the place of each row's label in `clusters`.
    lone : ndarray of shape (n_rows,)
        Whether a row has no other in its cluster.
    """

    distance: Distance
    rows: Rows
    X: Any
    labels: NDArray[Any]
    clusters: NDArray[Any]
    groups: Groups
    lone: NDArray[np.bool_]


def check_clustered(
    X: Any,
    labels: ArrayLike,
    metric: Any,
    metric_params: Any = None,
    sample_weight: Any = None,
    sampler: Callable[[int], Integers] | None = None,
) -> Clustered:
    """Check rows, their labels and their weights; with a `sampler`, keep the rows that it chooses of so many."""
    from bisector.distances.names import resolve

    distance = resolve(metric, metric_params=metric_params).learned(X)
    rows = distance.prepare(X)
    n = len(rows)
    names = np.asarray(labels)
    if names.ndim == 2 and names.shape[1] == 1:
        names = names[:, 0]
    if names.shape != (n,):
        raise ValueError(
            f"labels must hold one label for each of the {n} rows of X, but has the shape {names.shape}."
        )
    _check_diagonal(rows)
    weights = check_weights(sample_weight, n)
    if sampler is not None:
        chosen = sampler(n)
        rows, names, X, n = rows.take(chosen), names[chosen], picked(X, chosen), len(chosen)
        weights = None if weights is None else weights[chosen]
    clusters, codes = np.unique(names, return_inverse=True)
    codes = codes.astype(np.int64, copy=False)
    if weights is None:
        weights, absent = np.ones(n), np.zeros(n, dtype=bool)
    else:
        held = np.bincount(codes, weights, minlength=len(clusters)) > 0
        absent = ~held[codes]
        codes = np.where(absent, 0, (np.cumsum(held) - 1)[codes])
        clusters = clusters[held]
    require_clusters(len(clusters), weighted=sample_weight is not None)
    groups = Groups(codes, weights, len(clusters))
    lone = absent | (groups.sizes[codes] - np.minimum(weights, 1.0) <= 0)
    return Clustered(distance, rows, X, names, clusters, groups, lone)


def require_clusters(n_clusters: int, *, weighted: bool) -> None:
    """Refuse labels that are all the same."""
    if n_clusters < 2:
        weighed = " with a weight" if weighted else ""
        raise ValueError(
            f"labels name {n_clusters} cluster{weighed}, but a silhouette compares a row's own cluster with the "
            "next: give labels of at least two. Whether there is more than one cluster at all is a question for "
            "structure_test."
        )


def _check_diagonal(rows: Rows) -> None:
    """Refuse a matrix that is not one of distances, as when it holds similarities."""
    matrix = getattr(rows, "distances", None)
    if matrix is None:
        return
    diagonal = np.abs(np.diagonal(matrix))
    allowed = 100 * np.finfo(matrix.dtype).eps if matrix.dtype.kind == "f" else 0
    if (diagonal > allowed).any():
        row = int(np.argmax(diagonal > allowed))
        raise ValueError(
            f"X holds {matrix[row, row]:g} as the distance of row {row} to itself, which must be 0: if X holds "
            "similarities, turn them into distances; otherwise call np.fill_diagonal(X, 0)."
        )


def silhouette_widths(clustered: Clustered, form: str, n_jobs: int | None) -> Widths:
    """Return the silhouettes of checked rows."""
    check_choice("form", form, FORMS)
    groups, n = clustered.groups, len(clustered.rows)
    sizes = groups.sizes
    found = Widths(np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64))

    def compare(numbers: Integers, own: Floats, others: Floats) -> None:
        here = compared_with_next(own, others, groups.codes[numbers], lone=clustered.lone[numbers])
        for every, some in zip(found, here, strict=True):
            every[numbers] = some

    def of_sums(numbers: Integers, sums: Floats) -> None:
        codes = groups.codes[numbers]
        rest = sizes[codes] - np.minimum(groups.weights[numbers], 1.0)
        own = sums[codes, np.arange(len(numbers))] / np.where(rest > 0, rest, 1.0)
        compare(numbers, own, sums / sizes[:, None])

    def of_distances(numbers: Integers, table: Floats) -> None:
        compare(numbers, table[groups.codes[numbers], np.arange(len(numbers))], table)

    if form == "mean":
        group_sums(clustered.distance, clustered.rows, groups, of_sums, n_jobs=n_jobs)
    else:
        exemplars = _means(clustered, n_jobs) if form == "simplified" else _medoids(clustered, n_jobs)
        exemplar_distances(clustered.distance, clustered.rows, exemplars, of_distances, n_jobs=n_jobs)
    return found


def compared_with_next(own: Floats, others: Floats, codes: Integers, *, lone: NDArray[np.bool_]) -> Widths:
    """Compare a, the distance of rows to their own clusters, with b, that to the nearest other one.

    `others` holds the distances to all clusters, a line for each, and is changed. s is (b − a) / max(a, b), and 0
    where both are 0 or both infinite, or where a row is alone.
    """
    places = np.arange(len(codes))
    others[codes, places] = np.inf
    nearest = others.argmin(axis=0)
    # Where no other cluster can be reached, the first of them is named.
    nearest = np.where(nearest == codes, np.where(codes == 0, 1, 0), nearest)
    own, other = np.where(lone, 0.0, own), others[nearest, places]
    with np.errstate(divide="ignore", invalid="ignore"):
        values = np.where(own < other, 1.0 - own / other, other / own - 1.0)
    return Widths(np.where((own == other) | lone, 0.0, values), own, other, nearest)


def _means(clustered: Clustered, n_jobs: int | None) -> Rows:
    """Return the means of the clusters, as the distance compares them."""
    if not isinstance(clustered.rows, NumericRows):
        raise ValueError(
            f"form='simplified' compares rows with the means of clusters, but what {clustered.distance!r} compares "
            "has none: take form='medoid'."
        )
    rows = numeric_rows(clustered.X, None, "X")
    centres = centres_of(Squares(rows, np.ones(rows.n_features)), clustered.groups, n_jobs=n_jobs)
    return clustered.distance.prepare(centres.means, like=clustered.rows, name="the means of clusters")


def _medoids(clustered: Clustered, n_jobs: int | None) -> Rows:
    """Return the medoid of each cluster."""
    from bisector.exemplars.central_row import central_row

    groups = clustered.groups
    counted = np.flatnonzero(groups.weights)
    order = counted[np.argsort(groups.codes[counted], kind="stable")]
    ends = np.searchsorted(groups.codes[order], np.arange(1, groups.n_groups))
    numbers = [
        members[
            central_row(
                clustered.distance, clustered.rows.take(members), groups.weights[members], n_jobs=n_jobs
            )
        ]
        for members in np.split(order, ends)
    ]
    return clustered.rows.take(np.array(numbers))
