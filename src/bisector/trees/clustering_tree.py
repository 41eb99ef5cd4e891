"""A tree whose leaves are clusters, each with a description (Flach 5.3)."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import Tags, check_random_state

from bisector.distances.distance import Distance
from bisector.distances.minkowski import Euclidean
from bisector.distances.names import resolve
from bisector.distances.precomputed import Precomputed
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.memory import require
from bisector.engine.sources import source
from bisector.engine.validation import check_count, check_weights, find_not_finite, store
from bisector.engine.values import HoldsValues
from bisector.solvers.tree_arrays import Floats, Integers, Tree
from bisector.trees.columns import read_training
from bisector.trees.tree_model import TreeModel, walk, weights_of
from bisector.trees.tree_reasons import LeafBoxes, dense_rows, gains, told_way, way_to


class ClusteringTree(HoldsValues, ClusterMixin, TreeModel):
    """Split the rows by the question that brings the rows of each part closest together, and each part again.

    A split is judged by the mean dissimilarity of all pairs of rows in its parts, weighted by their size. So every
    cluster comes with the conditions that describe it (`rules`), and `predict` asks the same questions.

    Parameters
    ----------
    metric : str, Distance or callable, default="sqeuclidean"
        How dissimilar two rows are. For squared Euclidean distances the mean over all pairs is twice the
        variance, so splits are exact in one pass; for any other metric see `n_sampled`.
    max_leaf_nodes : int or None, default=8
        The most clusters; largest gains come first.
    max_depth : int, default=None
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
    min_impurity_decrease : float, default=0.0
        The least that a split must take off the mean dissimilarity, times the share of the rows that it splits.
    n_sampled : int, default=1000
        Other metrics compare all pairs of so many rows, drawn at random: all of them, if there are no more. A
        part is then judged by its sampled rows, and must have one.
    random_state : int, RandomState or None, default=0
        Draws the rows.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here. The tree is the same.

    Attributes
    ----------
    tree_ : Tree
        Its impurity is the mean dissimilarity of pairs, each row with itself included.
    labels_ : ndarray of int
        The cluster of every row, numbered from left to right.
    n_clusters_ : int
    exemplars_ : ndarray of shape (n_clusters, n_features)
        The means, or for other metrics the medoids among the sampled rows.
    sampled_ : ndarray of int, or None
        The rows that were compared; None if the tree needed no pairs.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> from bisector import ClusteringTree
    >>> X = [[1.0, 0.0], [2.0, 1.0], [1.0, 9.0], [2.0, 8.0], [9.0, 8.0], [8.0, 9.0]]
    >>> tree = ClusteringTree(max_leaf_nodes=3).fit(X)
    >>> print(tree.to_text())
    x1 ≤ 4.5: cluster 0 (2 rows)
    x1 > 4.5:
      x0 ≤ 5: cluster 1 (2 rows)
      x0 > 5: cluster 2 (2 rows)
    >>> tree.predict([[0.0, 7.0]])
    array([1])
    """

    # What a clustering tree does not vary.
    splitter, max_features, ccp_alpha, min_weight_fraction_leaf = "best", None, 0.0, 0.0
    monotonic_cst, categorical_features, multiway = None, None, False

    def __init__(
        self,
        metric: Any = "sqeuclidean",
        *,
        max_leaf_nodes: int | None = 8,
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_impurity_decrease: float = 0.0,
        n_sampled: int = 1000,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = metric
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.n_sampled = n_sampled
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, sparse matrix or frame of numbers, of shape (n_rows, n_features)
        y : ignored
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        metric = resolve(self.metric)
        if isinstance(metric, Precomputed):
            raise ValueError(
                "ClusteringTree asks for features, which distances do not have: give rows, and a metric."
            )
        n_sampled = check_count("n_sampled", self.n_sampled, at_least=2)
        matrix, columns, stand_in = read_training(self, X, None)
        find_not_finite(source(matrix))
        weight = check_weights(sample_weight, matrix.shape[0])
        kept = np.arange(matrix.shape[0]) if weight is None else np.flatnonzero(weight)
        rows = matrix if len(kept) == matrix.shape[0] else matrix[kept]
        weight = None if weight is None else weight[kept]
        limits, _ = self._limits(rows.shape[0], rows.shape[1], float(len(kept)))
        if _is_squared(metric):
            tree, exemplars, sampled = self._by_scatter(rows, columns, weight, limits)
        else:
            tree, exemplars, sampled = self._by_pairs(rows, columns, weight, limits, metric, n_sampled)
        cluster = _clusters(tree)
        labels = cluster[walk(tree, matrix, self.n_jobs)]
        return store(
            self,
            stand_in,
            tree_=tree,
            _columns=columns,
            labels_=labels,
            n_clusters_=tree.n_leaves,
            exemplars_=exemplars,
            sampled_=None if sampled is None else kept[sampled],
            metric_=metric.learned(rows),
        )

    def _by_scatter(
        self, rows: Any, columns: Any, weight: Floats | None, limits: Any
    ) -> tuple[Tree, Floats, None]:
        from bisector.solvers.split_costs_loops import SquaredTargets

        n_features = rows.shape[1]
        require(
            8 * rows.shape[0] * n_features,
            doing=f"Growing a clustering tree on {n_features:,} features",
            holding="the coordinates of the rows",
            instead="use fewer rows or features",
        )
        # A copy, so that loops meet one kind of array, whatever the order and the flags of X.
        y = np.array((rows.toarray() if hasattr(rows, "tocsr") else rows).T, dtype=np.float64, order="C")
        targets = SquaredTargets(y, weights_of(weight))
        # The mean squared distance of pairs is twice the variance; the solver has the mean over the coordinates.
        unit = 2.0 * n_features
        limits = replace(limits, min_decrease=limits.min_decrease / unit)
        tree = self._grown(rows, columns, targets, limits, (n_features, 1))
        tree = replace(tree, impurity=unit * tree.impurity)
        return tree, tree.value[_leaves(tree), :, 0], None

    def _by_pairs(
        self, rows: Any, columns: Any, weight: Floats | None, limits: Any, metric: Distance, n_sampled: int
    ) -> tuple[Tree, Floats, Integers]:
        from bisector.solvers.pair_costs_loops import PairTargets

        n_rows = rows.shape[0]
        sampled = np.arange(n_rows)
        if n_rows > n_sampled:
            rng = check_random_state(self.random_state)
            sampled = np.sort(rng.choice(n_rows, n_sampled, replace=False)).astype(np.int64)
        some = rows[sampled].toarray() if hasattr(rows, "tocsr") else np.asarray(rows[sampled])
        pairs = np.ascontiguousarray(
            metric.learned(rows).pairwise(some, n_jobs=self.n_jobs), dtype=np.float64
        )
        places = np.full(n_rows, -1, np.int64)
        places[sampled] = np.arange(len(sampled))
        targets = PairTargets(pairs, places, weights_of(weight))
        tree = self._grown(rows, columns, targets, limits, (1, 1))
        ends = walk(tree, some, self.n_jobs)
        exemplars = np.empty((tree.n_leaves, rows.shape[1]))
        weights = np.ones(n_rows) if weight is None else weight
        for k, leaf in enumerate(_leaves(tree)):
            inside = np.flatnonzero(ends == leaf)
            sums = pairs[np.ix_(inside, inside)] @ weights[sampled[inside]]
            exemplars[k] = some[inside[int(np.argmin(sums))]]
        return tree, exemplars, sampled

    @by_rows
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the cluster of every row, by the questions of the tree."""
        leaves = self._leaves(X)
        found: NDArray[np.int64] = _clusters(self.tree_)[leaves]
        return found

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its cluster: the conditions on its way, and what each takes off the dissimilarity.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            ``path`` are the conditions; the account adds up to the dissimilarity of the rows in the leaf, from that
            of all rows on. ``move`` is the shortest step in a straight line to another cluster.
        """
        leaves, matrix, reading = self._leaves(X), self._rows(X), self._read()
        clusters = _clusters(self.tree_)
        boxes, explained = LeafBoxes(reading, clusters), []
        for i, leaf in enumerate(leaves.tolist()):
            x, way = dense_rows(matrix, np.array([i]))[0], way_to(reading, leaf)
            account = gains("dissimilarity in the cluster", self.tree_.impurity, way)
            label, rows = int(clusters[leaf]), int(self.tree_.n_node_samples[leaf])
            said = f"Cluster {label}: {len(way.conditions)} conditions lead to a leaf with {rows:,} training rows."
            move = boxes.nearest_other(x, label)
            explained.append(Explanation(label, said, [account], told_way(reading, way, x), move))
        return explained

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the mean dissimilarity of the rows to the exemplars of their clusters."""
        rows = self._rows(X)
        rows = rows.toarray() if hasattr(rows, "tocsr") else rows
        clusters = _clusters(self.tree_)[walk(self.tree_, rows, self.n_jobs)]
        apart = np.empty(len(rows))
        for k, exemplar in enumerate(self.exemplars_):
            inside = clusters == k
            if inside.any():
                apart[inside] = self.metric_.pairwise(rows[inside], exemplar[None], n_jobs=self.n_jobs)[:, 0]
        return -float(np.average(apart, weights=check_weights(sample_weight, len(rows))))

    def _rows(self, X: Any) -> Any:
        rows = super()._rows(X)
        find_not_finite(source(rows))
        return rows

    def _answers(self) -> list[str]:
        leaves = self.tree_.is_leaf
        clusters = _clusters(self.tree_)
        return [f"cluster {c}" if leaf else "rows" for c, leaf in zip(clusters.tolist(), leaves, strict=True)]

    def _tones(self) -> Integers:
        return np.maximum(_clusters(self.tree_), 0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def _is_squared(metric: Distance) -> bool:
    return metric == Euclidean(squared=True)


def _leaves(tree: Tree) -> Integers:
    """Return the leaves from left to right."""
    order = tree.in_preorder_numbers()
    return order[tree.is_leaf[order]]


def _clusters(tree: Tree) -> Integers:
    """Return the number of the cluster of every leaf; −1 for other nodes."""
    clusters = np.full(tree.node_count, -1, np.int64)
    leaves = _leaves(tree)
    clusters[leaves] = np.arange(len(leaves))
    return clusters
