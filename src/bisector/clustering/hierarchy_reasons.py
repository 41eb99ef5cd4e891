"""How a row came into its cluster of a hierarchy: the merges it took part in; and where a new row joins."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bisector.clustering.cluster_reasons import told_distances
from bisector.distances.reductions import all_distances
from bisector.engine.explanation import Account, Explanation, account_of
from bisector.engine.show import number

if TYPE_CHECKING:
    from bisector.clustering.agglomerative import AgglomerativeClustering

Floats = NDArray[np.float64]

# Linkages that are squares of distances.
_SQUARES = ("ward", "centroid", "median")


def explain_merges(model: "AgglomerativeClustering", rows: NDArray[np.int64]) -> list[Explanation]:
    """Explain the clusters of training rows: at which levels, and with what, the cluster of each grew."""
    tree = model.dendrogram_
    n, parents = tree.n_leaves, np.full(2 * tree.n_leaves - 1, -1)
    parents[tree.merges] = n + np.arange(n - 1)[:, None]
    # The merges of the cut: clusters beyond them were not joined.
    last = 2 * n - 1 - (model.n_clusters_ - 1)
    explained = []
    for row in rows.tolist():
        node, path, levels, names, sizes = row, [], [0.0], [], []
        while 0 <= parents[node] < last:
            up = int(parents[node])
            other = int(tree.merges[up - n].sum()) - node
            joined = f"row {other}" if other < n else f"a cluster of {int(tree.sizes[other - n]):,} rows"
            level = float(tree.levels[up - n])
            path.append(f"at level {number(level)} it was joined with {joined}")
            names.append(f"joined with {joined}")
            levels.append(level)
            sizes.append(int(tree.sizes[up - n]))
            node = up
        label = int(model.labels_[row])
        accounts = [
            account_of(
                "level of its cluster", np.diff(levels), names=names, columns={"rows": sizes}, of="merges"
            )
        ]
        said = f"Cluster {label}, after {len(path)} merge{'s' * (len(path) != 1)} up to level {number(levels[-1])}."
        explained.append(Explanation(label, said, accounts if path else [], path))
    return explained


def explain_joining(model: "AgglomerativeClustering", queries: Any, linkages: Floats) -> list[Explanation]:
    """Explain the clusters that new rows join: those whose linkage with them is the smallest."""
    words = "by a squared linkage of" if model.linkage in _SQUARES else "by a linkage of"
    explained = []
    for i, label in enumerate(linkages.argmin(axis=1).tolist()):
        accounts = []
        if model.linkage == "average":
            accounts = [_mean_distance(model, queries.take(np.array([i])), label)]
        said = (
            f"Cluster {label}, {words} {number(float(linkages[i, label]))}, the smallest ({model.linkage})."
        )
        path = told_distances(linkages[i], "cluster", words)
        explained.append(Explanation(label, said, accounts, path))
    return explained


def _mean_distance(model: "AgglomerativeClustering", query: Any, label: int) -> Account:
    """Return what each row of a cluster adds to the mean distance."""
    members = np.flatnonzero(model.labels_ == label)
    apart = all_distances(model.metric_, query, model._rows.take(members), n_jobs=model.n_jobs)[0]
    columns = {"distance": apart}
    return account_of(
        f"mean distance from cluster {label}",
        apart.astype(np.float64) / len(members),
        rows=members,
        columns=columns,
    )
