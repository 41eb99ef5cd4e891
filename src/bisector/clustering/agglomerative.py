"""Agglomerative clustering: a hierarchy of clusters, from single rows to all of them (Flach 8.5)."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.clustering.connectivity import check_connectivity, warn_of_components
from bisector.clustering.dendrogram import Dendrogram
from bisector.clustering.linkage_scores import linkages_to_clusters
from bisector.distances.distance import Distance, Rows
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed
from bisector.engine.explanation import Explanation
from bisector.engine.validation import blank, check_choice, check_count, check_flag, check_number, store
from bisector.engine.values import HoldsValues
from bisector.solvers.linkages import FORMULAS, LINKAGES
from bisector.solvers.merge import merge_clusters
from bisector.solvers.merge_graph import merge_along_graph
from bisector.solvers.row_graph import find_components

Linkage = Literal["ward", "complete", "average", "single", "centroid", "median", "weighted"]


class AgglomerativeClustering(ClusterMixin, HoldsValues, BaseEstimator):
    """Merge the two closest clusters, from single rows on, until all are one; then cut the tree.

    A drop-in for scikit-learn's estimator that takes any distance, on vectors, strings or sets, or distances that
    are known already; knows three more linkages; and gives new rows to clusters.

    Parameters
    ----------
    n_clusters : int or None, default=2
        How many clusters; None if `distance_threshold` is given.
    metric : str, Distance or callable, default="euclidean"
        With "precomputed", X holds the distances between all rows, of which those above the diagonal count.
    memory : None, str or joblib.Memory, default=None
        Without effect, for scikit-learn's signature: the dendrogram is kept, and can be cut again at no cost.
    connectivity : array-like or sparse matrix of shape (n_rows, n_rows), or callable, default=None
        A graph of the rows, along which alone clusters are merged: any entry but zero, on either side of the
        diagonal, is an edge. A callable makes the matrix from X, as scikit-learn's ``kneighbors_graph`` does. If
        the graph falls into several components, any two are joined by their nearest rows, with a warning.
        Complete, average and weighted linkage then go by the distances along edges only; Ward, centroid and median
        linkage need the coordinates of rows.
    compute_full_tree : "auto" or bool, default="auto"
        Without effect: the tree is always full.
    linkage : {"ward", "complete", "average", "single", "centroid", "median", "weighted"}, default="ward"
        How far apart two clusters are: by what their merger adds to the scatter; by their farthest rows; on
        average; by their nearest rows; by their means; by their middles, each half way between those of two parts;
        or by the mean over two parts. Ward, centroid and median linkage are of Euclidean space.
    distance_threshold : float, default=None
        The level from which on clusters are not merged, in place of `n_clusters`.
    compute_distances : bool, default=False
        Whether there is an attribute `distances_` without a threshold too.
    dtype : {"float64", "float32"}, default="float64"
        Of the matrix of n² distances. Single linkage needs none, nor do Ward, centroid and median linkage on
        Euclidean rows with up to 64 features, nor does merging along a graph.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. It does not change the result.

    Attributes
    ----------
    n_clusters_, labels_, n_leaves_, n_connected_components_, children_, distances_
        As in scikit-learn. Clusters are numbered in the order of their first rows.
    dendrogram_ : Dendrogram
        The whole hierarchy. Its levels may fall under centroid and median linkage and, along a graph, under Ward's;
        ``dendrogram_.monotone`` tells.
    metric_ : Distance
        With what it learned from the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn; not for strings and sets.

    Notes
    -----
    Rows have no weights: a row that counts twice would have to be there twice, with a merge at level zero.

    Examples
    --------
    >>> from bisector import AgglomerativeClustering
    >>> words = ["cat", "cats", "hat", "house", "houses", "mouse"]
    >>> model = AgglomerativeClustering(2, metric="levenshtein", linkage="average").fit(words)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1])
    >>> model.predict(["bat", "blouse"])
    array([0, 1])

    Along a chain of rows, the last is not merged with the first, although it is near to it:

    >>> chain = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> AgglomerativeClustering(2, connectivity=chain).fit([[0.0], [5.0], [1.0]]).labels_
    array([0, 1, 1])
    """

    _instead_of_gathering = "use KMeans, and merge its many small clusters"
    _rows: Rows
    dendrogram_: Dendrogram
    metric_: Distance

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        metric: Any = "euclidean",
        memory: Any = None,
        connectivity: Any = None,
        compute_full_tree: Any = "auto",
        linkage: Linkage = "ward",
        distance_threshold: float | None = None,
        compute_distances: bool = False,
        dtype: Literal["float64", "float32"] = "float64",
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.memory = memory
        self.connectivity = connectivity
        self.compute_full_tree = compute_full_tree
        self.linkage = linkage
        self.distance_threshold = distance_threshold
        self.compute_distances = compute_distances
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Build the hierarchy and cut it.

        Parameters
        ----------
        X : rows
            What the metric compares: a matrix, strings, sets, a frame, or a matrix of distances.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        stand_in, distance = blank(self), resolve(self.metric)
        if self.linkage in FORMULAS and FORMULAS[self.linkage].values == "squares":
            self._check_euclidean(distance)
        items = check_items(stand_in, X, distance, reset=True)
        distance = distance.learned(items)
        rows = distance.prepare(items)
        n = len(rows)
        if not n:
            raise ValueError("There are no rows to cluster.")
        if self.n_clusters is not None and self.n_clusters > n:
            raise ValueError(
                f"Cannot extract more clusters than samples: n_clusters is {self.n_clusters}, but X has {n} rows."
            )
        n_components = 1
        if self.connectivity is None:
            found = merge_clusters(distance, rows, self.linkage, dtype=self.dtype, n_jobs=self.n_jobs)
        else:
            ends = check_connectivity(self.connectivity, items, n)
            components = find_components(ends, n)
            n_components = components.number
            warn_of_components(n_components)
            found = merge_along_graph(distance, rows, self.linkage, ends, components, n_jobs=self.n_jobs)
        tree = Dendrogram(*found)
        if self.distance_threshold is None:
            k = check_count("n_clusters", self.n_clusters)
        else:
            k = int((tree.levels >= self.distance_threshold).sum()) + 1
        learned: dict[str, Any] = {}
        if self.compute_distances or self.distance_threshold is not None:
            learned["distances_"] = tree.levels
        return store(
            self,
            stand_in,
            **learned,
            labels_=tree.cut(k),
            n_clusters_=k,
            n_leaves_=n,
            n_connected_components_=n_components,
            children_=tree.merges,
            dendrogram_=tree,
            metric_=distance,
            _rows=rows,
        )

    def fit_predict(self, X: Any, y: Any = None) -> NDArray[np.int64]:
        """Build the hierarchy, cut it, and return the labels of the rows."""
        return self.fit(X).labels_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Give new rows to the clusters of the cut: each to the one whose linkage to it is the smallest.

        For single linkage this is the cluster of the nearest row, for complete linkage the one whose farthest row
        is nearest, for average linkage the one with the least mean distance, for centroid linkage the one with the
        nearest mean, for Ward's the one whose scatter it adds least to. A row that was clustered need not return to
        its own cluster, since merges are not undone. The smaller label wins a tie.

        Parameters
        ----------
        X : rows
            With "precomputed", distances from new rows to those that were clustered.
        """
        return self._linkages(X)[1].argmin(axis=1)

    def explain_rows(self, X: Any = None, *, rows: Any = None) -> list[Explanation]:
        """Say why rows are of their clusters: which merges led there, or which cluster a new row is nearest to.

        Parameters
        ----------
        X : rows, as for `predict`, default=None
            New rows; None explains rows that were clustered.
        rows : array of int, default=None
            The numbers of the rows that were clustered; by default all.

        Returns
        -------
        list of Explanation
            Of a row that was clustered, ``path`` lists its merges, and the account adds up their levels to that of
            its cluster. Of a new row ``path`` lists its linkages with the clusters, the smallest first; for average
            linkage the account adds up to it.
        """
        from bisector.clustering.hierarchy_reasons import explain_joining, explain_merges

        if X is not None:
            return explain_joining(self, *self._linkages(X))
        check_is_fitted(self)
        chosen = np.arange(self.n_leaves_) if rows is None else np.atleast_1d(np.asarray(rows))
        if chosen.dtype.kind not in "iu" or ((chosen < 0) | (chosen >= self.n_leaves_)).any():
            raise ValueError(f"rows must be whole numbers from 0 to {self.n_leaves_ - 1}.")
        return explain_merges(self, chosen.astype(np.int64))

    def _linkages(self, X: Any) -> tuple[Rows, NDArray[np.float64]]:
        """Return new rows as the metric compares them, and their linkages with the clusters."""
        check_is_fitted(self)
        items = check_items(self, X, self.metric_, reset=False)
        queries = self.metric_.prepare(items, like=self._rows)
        return queries, linkages_to_clusters(
            self.metric_, queries, self._rows, self.dendrogram_, self.n_clusters_, self.linkage, self.n_jobs
        )

    def _check_parameters(self) -> None:
        check_choice("linkage", self.linkage, LINKAGES)
        check_choice("dtype", self.dtype, ("float64", "float32"))
        check_flag("compute_distances", self.compute_distances)
        if (self.n_clusters is None) == (self.distance_threshold is None):
            raise ValueError(
                "Exactly one of n_clusters and distance_threshold has to be set, and the other needs to be None."
            )
        if self.n_clusters is not None:
            check_count("n_clusters", self.n_clusters)
        if self.distance_threshold is not None:
            check_number("distance_threshold", self.distance_threshold, at_least=0)
            if self.compute_full_tree is False:
                raise ValueError("compute_full_tree must be True if distance_threshold is set.")

    def _check_euclidean(self, distance: Distance) -> None:
        """Refuse a distance that is not one of Euclidean space; of precomputed ones the user knows."""
        from bisector.distances.elliptical import Elliptical, Mahalanobis
        from bisector.distances.minkowski import Euclidean, Minkowski
        from bisector.kernels import KernelDistance

        straight = isinstance(distance, Euclidean | Elliptical | Mahalanobis) and not distance.squared
        straight = straight or (isinstance(distance, Minkowski) and distance.p == 2)
        if not (straight or isinstance(distance, Precomputed | KernelDistance)):
            raise ValueError(
                f'metric is {self.metric!r}, but linkage="{self.linkage}" works in Euclidean space only: take '
                'metric="euclidean", or another linkage, such as "average".'
            )

    def __sklearn_tags__(self) -> Tags:
        return tell_input_tags(super().__sklearn_tags__(), self.metric)
