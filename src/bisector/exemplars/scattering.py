"""Scatter: the total squared distance to the mean, and how clusters divide it (Flach, Definition 8.3)."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.memory import require
from bisector.engine.show import Table, number
from bisector.exemplars.averages import mean_about, mean_of, scatter_about
from bisector.exemplars.rows import Floats, numbers


def scatter_matrix(X: Any, sample_weight: ArrayLike | None = None) -> Floats:
    """Return Σ (x − μ)(x − μ)ᵀ over the rows x, where μ is their mean: n times their covariance.

    Parameters
    ----------
    X : array-like, sparse matrix, frame or Dask collection of shape (n_rows, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        In float64.

    Examples
    --------
    >>> from bisector.exemplars import scatter_matrix
    >>> scatter_matrix([[5, 0], [3, 5], [1, 7]])
    array([[  8., -14.],
           [-14.,  26.]])
    """
    from bisector.engine.moments import moments
    from bisector.engine.sources import Source, is_collection, source
    from bisector.engine.validation import weighted

    rows: Source
    if is_collection(X):
        rows = weighted(source(X), sample_weight)
    else:
        checked, weights = numbers(X, sample_weight)
        rows = source(checked.values, sample_weight=weights)
    require(
        3 * 8 * rows.n_features**2,
        doing=f"The scatter matrix of {rows.n_features:,} features",
        instead="use fewer features, or scatter(X) for the sum of its diagonal",
    )
    found = moments(rows)
    products, *_ = found.about_mean()
    products /= found.of_x.scale[:, None] * found.of_x.scale
    return 0.5 * products + 0.5 * products.T


def scatter(X: Any, sample_weight: ArrayLike | None = None) -> float:
    """Return Σ‖x − μ‖² over the rows x, where μ is their mean: the trace of the scatter matrix.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        Finite numbers.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.

    Examples
    --------
    >>> from bisector.exemplars import scatter
    >>> scatter([[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]])
    76.0
    """
    rows, weights = numbers(X, sample_weight)
    return scatter_about(rows, weights, mean_of(rows, weights))


@dataclass(frozen=True, eq=False, repr=False)
class ScatterDecomposition:
    """The scatter of rows, divided into scatter within clusters and between them.

    Attributes
    ----------
    clusters : ndarray of shape (n_clusters,)
        The labels, sorted.
    sizes : ndarray of shape (n_clusters,)
        How many rows each cluster has; with weights, the sum of theirs.
    means : ndarray of shape (n_clusters, n_features)
    within : ndarray of shape (n_clusters,)
        The scatter of each cluster about its mean.
    between : float
        The scatter of all rows after each is moved to the mean of its cluster.
    total : float
        The scatter of all rows: the sum of the others, up to rounding, though computed by itself.
    """

    clusters: NDArray[Any]
    sizes: Floats
    means: Floats
    within: Floats
    between: float
    total: float

    def table(self) -> Table:
        """Return the scatters, and their shares of the total, as a table."""

        def share(part: float) -> str:
            return f"{100 * part / self.total:.1f}%" if self.total > 0 else ""

        parts = zip(self.clusters.tolist(), self.sizes.tolist(), self.within.tolist(), strict=True)
        size = float(self.sizes.sum())
        lines: list[list[object]] = [
            [f"within {label}", number(count), part, share(part)] for label, count, part in parts
        ]
        lines.append(["between", number(size), self.between, share(self.between)])
        lines.append(["total", number(size), self.total, share(self.total)])
        return Table(["", "rows", "scatter", "share"], lines)

    def __repr__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def scatter_decomposition(
    X: Any, labels: ArrayLike, sample_weight: ArrayLike | None = None
) -> ScatterDecomposition:
    """Divide the scatter of rows into scatter within clusters and between them: total = within + between.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_rows, n_features)
        Finite numbers.
    labels : array-like of shape (n_rows,)
        The cluster of each row.
    sample_weight : array-like of shape (n_rows,), optional
        How often each row counts.

    Returns
    -------
    ScatterDecomposition
        `clusters`, `sizes`, `means`, `within` (one for each cluster), `between`, `total`.

    Examples
    --------
    >>> from bisector.exemplars import scatter_decomposition
    >>> X = [[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]]
    >>> scatter_decomposition(X, ["a", "a", "a", "b", "b"])
              rows  scatter   share
    within a     3       12   15.8%
    within b     2        4    5.3%
    between      5       60   78.9%
    total        5       76  100.0%
    """
    rows, weights = numbers(X, sample_weight, keep_all=True)
    names = np.asarray(labels)
    if names.shape != (len(rows),):
        raise ValueError(
            f"labels must hold one label for each of the {len(rows)} rows of X, but has the shape {names.shape}."
        )
    if weights is not None:
        counted = np.flatnonzero(weights)
        rows, weights, names = rows.take(counted), weights[counted], names[counted]
    clusters, members = np.unique(names, return_inverse=True)
    order = np.argsort(members, kind="stable")
    groups = np.split(order, np.searchsorted(members[order], np.arange(1, len(clusters))))
    sizes, within = np.empty(len(clusters)), np.empty(len(clusters))
    means = np.empty((len(clusters), rows.n_features))
    # Means are compared as seen from the mean of all: far from zero, their own digits would not tell them apart.
    centre = mean_of(rows, weights)
    offsets = np.empty_like(means)
    for k, group in enumerate(groups):
        own, own_weights = rows.take(group), None if weights is None else weights[group]
        sizes[k] = len(group) if own_weights is None else own_weights.sum()
        means[k] = mean_of(own, own_weights)
        offsets[k] = (means[k] - centre) + mean_about(own, own_weights, means[k])
        within[k] = scatter_about(own, own_weights, means[k])
    offsets -= mean_about(rows, weights, centre)
    between = float(sizes @ np.einsum("ij,ij->i", offsets, offsets))
    return ScatterDecomposition(clusters, sizes, means, within, between, scatter_about(rows, weights, centre))
