"""How far new rows are from the clusters of a dendrogram, by its linkage.

Every linkage of a row {x} with a cluster follows from the distances between x and the rows of the cluster: the
smallest, the largest, or a mean with weights wᵢ. Where clusters are known by their middles, the squared distance to
the middle is Σ wᵢ‖x − xᵢ‖² − ½ΣΣ wᵢwⱼ‖xᵢ − xⱼ‖², and the second sum follows from the levels of the merges: no
middle needs to be known, so that distances of feature space or precomputed ones will do.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.clustering.dendrogram import Dendrogram
from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import all_distances

Floats = NDArray[np.float64]

# Distances that are held at a time.
_AT_ONCE = 2**22


def linkages_to_clusters(
    distance: Distance,
    queries: Rows,
    rows: Rows,
    tree: Dendrogram,
    k: int,
    linkage: str,
    n_jobs: int | None = None,
) -> Floats:
    """Return the linkage of every query with each of the k clusters of a cut.

    For single, complete, average and weighted linkage this is a distance, for the others the square of one.
    """
    labels = tree.cut(k)
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(k))
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    halved = linkage in ("weighted", "median")
    weights = _halved_weights(tree, k) if halved else 1.0 / sizes[labels]
    squared = linkage in ("ward", "centroid", "median")
    spreads = _spreads(tree, k, labels, linkage) if squared else np.zeros(k)
    references, by_cluster = rows.take(order), weights[order]
    found = np.empty((len(queries), k))
    for start in range(0, len(queries), max(1, _AT_ONCE // len(labels))):
        some = np.arange(start, min(len(queries), start + max(1, _AT_ONCE // len(labels))))
        apart = all_distances(distance, queries.take(some), references, n_jobs=n_jobs).astype(np.float64)
        if linkage in ("single", "complete"):
            gather = np.minimum if linkage == "single" else np.maximum
            found[some] = gather.reduceat(apart, starts, axis=1)
        else:
            values = (apart * apart if squared else apart) * by_cluster
            found[some] = np.add.reduceat(values, starts, axis=1) - spreads
    return found * (2.0 * sizes / (sizes + 1.0)) if linkage == "ward" else found


def _halved_weights(tree: Dendrogram, k: int) -> Floats:
    """Return the weight of each row in its cluster, where the two parts of a merge weigh the same."""
    n = tree.n_leaves
    weights = np.ones(2 * n - 1)
    for i in range(n - k - 1, -1, -1):
        weights[tree.merges[i]] = weights[n + i] / 2
    return weights[:n]


def _spreads(tree: Dendrogram, k: int, labels: NDArray[np.int64], linkage: str) -> Floats:
    """Return the mean squared distance of the rows of each cluster to its middle."""
    n = tree.n_leaves
    spread, size = np.zeros(2 * n - 1), np.concatenate([np.ones(n), tree.sizes])
    tops = np.arange(2 * n - 1)
    for i, (a, b) in enumerate(tree.merges[: n - k].tolist()):
        n_a, n_b, square = size[a], size[b], tree.levels[i] ** 2
        if linkage == "median":
            spread[n + i] = (spread[a] + spread[b]) / 2 + square / 4
        else:  # the level of Ward's linkage holds the sizes already
            growth = square / 2 if linkage == "ward" else square * n_a * n_b / (n_a + n_b)
            spread[n + i] = (n_a * spread[a] + n_b * spread[b] + growth) / (n_a + n_b)
    for i in range(n - k - 1, -1, -1):
        tops[tree.merges[i]] = tops[n + i]
    found = np.zeros(labels.max() + 1)
    found[labels] = spread[tops[:n]]
    return found
