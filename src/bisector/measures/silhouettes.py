"""Silhouettes: how well each row fits its cluster, and how well a clustering fits its rows (Flach 8.4)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance
from bisector.distances.names import resolve
from bisector.engine.show import Heading, Sheet, Table, number
from bisector.engine.sources import is_collection, refuse_collections
from bisector.engine.validation import check_choice, check_count
from bisector.measures.silhouette_values import FORMS, check_clustered, silhouette_widths

Floats = NDArray[np.floating[Any]]
Form = Literal["mean", "simplified", "medoid"]


@dataclass(frozen=True, eq=False, repr=False)
class Silhouette:
    """The silhouettes of all rows, ready to be drawn.

    Attributes
    ----------
    values : ndarray of shape (n_rows,)
        s = (b − a) / max(a, b) of each row: near 1 in the midst of its cluster, near 0 between two, negative where
        another cluster is nearer; 0 for a row that is alone in its cluster.
    labels : ndarray of shape (n_rows,)
        The cluster of each row.
    neighbours : ndarray of shape (n_rows,)
        The label of the next cluster, that of b.
    own, other : ndarray of shape (n_rows,)
        a, the mean distance to the rest of the cluster, and b, that to the next cluster.
    clusters : ndarray of shape (n_clusters,)
        The labels, in ascending order.
    sizes : ndarray of shape (n_clusters,)
        How many rows each cluster has; with weights, the sum of theirs.
    averages : ndarray of shape (n_clusters,)
        The mean silhouette of each cluster.
    score : float
        The mean silhouette of all rows.
    order : ndarray of shape (n_rows,)
        The numbers of the rows as a silhouette is drawn: cluster by cluster, largest values first.
    metric : Distance
    form : str
    """

    values: Floats
    labels: NDArray[Any]
    neighbours: NDArray[Any]
    own: Floats
    other: Floats
    clusters: NDArray[Any]
    sizes: Floats
    averages: Floats
    score: float
    order: NDArray[np.int64]
    metric: Distance
    form: str

    def of_cluster(self, label: Any) -> Floats:
        """Return the values of one cluster, largest first: what is drawn of it."""
        if label not in self.clusters:
            raise ValueError(f"No row has the label {label!r}: there are {self.clusters.tolist()}.")
        rows = self.order[self.labels[self.order] == label]
        return self.values[rows]

    def table(self) -> Table:
        """Return the clusters with their sizes, average silhouettes, and the shares of rows nearer to others."""
        lines = []
        for label, size, average in zip(self.clusters.tolist(), self.sizes, self.averages, strict=True):
            values = self.of_cluster(label)
            astray = int((values < 0).sum())
            lines.append([str(label), number(float(size)), float(average), float(values[-1]), astray])
        return Table(["cluster", "rows", "average", "least", "nearer to another"], lines)

    def summary(self) -> Sheet:
        """Return the clusters as a table, below the score."""
        form = "" if self.form == "mean" else f", {self.form} form"
        heading = f"Average silhouette {number(self.score)} ({self.metric!r}{form})"
        return Sheet([Heading(heading), self.table()])

    def __repr__(self) -> str:
        return self.summary().text()

    def _repr_html_(self) -> str:
        return self.summary().html()


def silhouette(
    X: Any,
    labels: ArrayLike,
    *,
    metric: Any = "euclidean",
    form: Form = "mean",
    sample_weight: ArrayLike | None = None,
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Silhouette:
    """Compare, for each row, its own cluster with the next nearest one.

    Parameters
    ----------
    X : rows
        What the distance compares: a matrix, a frame, strings, sets; a square matrix of distances with
        ``metric="precomputed"``.
    labels : array-like of shape (n_rows,)
        The cluster of each row, of any kind; at least two clusters.
    metric : str, Distance or callable, default="euclidean"
        A name, a distance, or a function of two rows. With "sqeuclidean", the distance that k-means lessens, no
        pairs are compared, and a million rows are no burden.
    form : {"mean", "simplified", "medoid"}, default="mean"
        Compare the mean distances to the rows of clusters; or the distances to their means; or to their medoids.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts. A row of weight zero counts for no other.
    metric_params : dict, optional
        Parameters of the distance that a name means.
    n_jobs : int, optional
        On how many threads; by default all cores allowed here.

    Returns
    -------
    Silhouette
        Prints as a table of the clusters.

    References
    ----------
    Flach, *Machine Learning* (2012), section 8.4. Rousseeuw, *Silhouettes*, 1987.

    Examples
    --------
    >>> from bisector import silhouette
    >>> silhouette([[0], [1], [2], [10], [11], [30]], ["a", "a", "a", "b", "b", "c"])
    Average silhouette 0.7274 (Euclidean())
    =======================================
    <BLANKLINE>
    cluster  rows  average   least  nearer to another
    a           3   0.8585  0.8235                  0
    b           2   0.8944  0.8889                  0
    c           1        0       0                  0
    """
    refuse_collections(X, silhouette)
    clustered = check_clustered(X, labels, metric, metric_params, sample_weight)
    found = silhouette_widths(clustered, form, n_jobs)
    groups, names = clustered.groups, clustered.labels
    weighed = np.bincount(groups.codes, groups.weights * found.values, minlength=groups.n_groups)
    place = np.unique(names, return_inverse=True)[1]
    return Silhouette(
        values=found.values.astype(_dtype(clustered.rows)),
        labels=names,
        neighbours=clustered.clusters[found.neighbours],
        own=found.own,
        other=found.other,
        clusters=clustered.clusters,
        sizes=groups.sizes,
        averages=weighed / groups.sizes,
        score=float(np.average(found.values, weights=groups.weights)),
        order=np.lexsort((-found.values, place)),
        metric=clustered.distance,
        form=form,
    )


silhouette._instead_of_gathering = (  # type: ignore[attr-defined]
    "use silhouette_samples or silhouette_score with metric='sqeuclidean', or a sample of the rows"
)


def silhouette_samples(
    X: Any,
    labels: ArrayLike,
    *,
    metric: Any = "euclidean",
    form: Form = "mean",
    sample_weight: ArrayLike | None = None,
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> Floats:
    """Return the silhouette of each row: 1 in the midst of its cluster, 0 between two, negative in a wrong one.

    With a, the mean distance to the other rows of its cluster, and b, the least mean distance to the rows of
    another cluster, it is (b − a) / max(a, b); 0 for a row that is alone in its cluster. Distances are summed as
    they are made and never held, and each pair is computed once.

    Parameters
    ----------
    X, labels, metric, form, sample_weight, metric_params, n_jobs : as of `silhouette`

    Returns
    -------
    ndarray of shape (n_rows,)
        float32 if X is, else float64. A Dask array if X is a Dask collection, which needs metric="sqeuclidean".

    Examples
    --------
    >>> from bisector import silhouette_samples
    >>> silhouette_samples([[0], [1], [10]], ["a", "a", "b"])
    array([0.9       , 0.88888889, 0.        ])
    >>> silhouette_samples(["hotel", "hostel", "cat", "hat"], [0, 0, 1, 1], metric="levenshtein").round(2)
    array([0.71, 0.78, 0.78, 0.71])
    """
    if is_collection(X):
        from bisector.measures.partitioned_silhouettes import squared_silhouettes

        check_choice("form", form, FORMS)
        distance = resolve(metric, metric_params=metric_params)
        return squared_silhouettes(X, labels, distance, form, sample_weight)
    clustered = check_clustered(X, labels, metric, metric_params, sample_weight)
    values = silhouette_widths(clustered, form, n_jobs).values
    return values.astype(_dtype(clustered.rows), copy=False)


def silhouette_score(
    X: Any,
    labels: ArrayLike,
    *,
    metric: Any = "euclidean",
    sample_size: int | None = None,
    random_state: Any = None,
    form: Form = "mean",
    sample_weight: ArrayLike | None = None,
    metric_params: dict[str, Any] | None = None,
    n_jobs: int | None = None,
) -> float:
    """Return the mean silhouette of all rows.

    Parameters
    ----------
    X, labels, metric : as of `silhouette`
    sample_size : int, optional
        Compare only so many rows, chosen at random, with each other. Of a Dask collection this is how to use a
        metric other than "sqeuclidean".
    random_state : int, RandomState, numpy.random.Generator or None, default=None
        Of the random choice. The same number chooses the same rows as in scikit-learn.
    form, sample_weight, metric_params, n_jobs : as of `silhouette`

    Returns
    -------
    float

    Examples
    --------
    >>> from bisector import silhouette_score
    >>> round(silhouette_score([[0], [1], [10]], ["a", "a", "b"]), 3)
    0.596
    """
    sampler = _sampler(sample_size, random_state)
    if is_collection(X):
        from bisector.measures.partitioned_silhouettes import mean_squared_silhouette, sampled_rows

        check_choice("form", form, FORMS)
        if sampler is None:
            distance = resolve(metric, metric_params=metric_params)
            return mean_squared_silhouette(X, labels, distance, form, sample_weight)
        X, labels, sample_weight = sampled_rows(X, labels, sample_weight, sampler)
        sampler = None
    clustered = check_clustered(X, labels, metric, metric_params, sample_weight, sampler)
    values = silhouette_widths(clustered, form, n_jobs).values
    return float(np.average(values, weights=clustered.groups.weights))


def _sampler(sample_size: int | None, random_state: Any) -> Callable[[int], NDArray[np.int64]] | None:
    """Return a function that chooses rows of so many, or None when all are taken."""
    if sample_size is None:
        return None

    def choose(n: int) -> NDArray[np.int64]:
        from sklearn.utils import check_random_state

        size = check_count("sample_size", sample_size, at_most=n)
        seed = random_state
        shuffled = (seed if isinstance(seed, np.random.Generator) else check_random_state(seed)).permutation(
            n
        )
        return np.asarray(shuffled[:size], dtype=np.int64)

    return choose


def _dtype(rows: Any) -> Any:
    """The dtype of the rows as they came, where that is float32."""
    return np.float32 if getattr(rows, "dtype", None) == np.float32 else np.float64
