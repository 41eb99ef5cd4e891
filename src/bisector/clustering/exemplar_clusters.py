"""What clusterings around exemplars share: their input, and the nearest exemplar of a row."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.distances.distance import Distance, Rows
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.names import resolve
from bisector.distances.places import places_of
from bisector.distances.reductions import all_distances, nearest_one
from bisector.engine.explanation import Explanation
from bisector.engine.items import picked
from bisector.engine.lazy_rows import by_rows
from bisector.engine.validation import blank, check_weights
from bisector.engine.values import HoldsValues

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CheckedInput:
    """Rows that were checked, and those of them that count.

    Attributes
    ----------
    distance : Distance
        With what it learned from the rows.
    items : the rows as they came
    all_rows : Rows
        Prepared by the distance.
    all_weights : ndarray of shape (n_rows,)
    counted : ndarray of int
        The numbers of the rows that have a weight.
    """

    distance: Distance
    items: Any
    all_rows: Rows
    all_weights: Floats
    counted: Integers

    @property
    def n_counted(self) -> int:
        return len(self.counted)

    @property
    def rows(self) -> Rows:
        """The rows that count."""
        return self.all_rows if len(self.counted) == len(self.all_rows) else self.all_rows.take(self.counted)

    @property
    def weights(self) -> Floats:
        """The weights of these."""
        return self.all_weights[self.counted]


def checked_input(estimator: Any, X: Any, sample_weight: ArrayLike | None) -> tuple[Any, CheckedInput]:
    """Check training rows and weights; return a stand-in that knows the features, and the rows."""
    stand_in = blank(estimator)
    distance = resolve(estimator.metric)
    items = check_items(stand_in, X, distance, reset=True)
    n = items.shape[0] if hasattr(items, "shape") else len(items)
    weights = check_weights(sample_weight, n)
    counted = np.arange(n) if weights is None else np.flatnonzero(weights)
    distance = distance.learned(items if len(counted) == n else picked(items, counted))
    rows = distance.prepare(items)
    if not len(rows):
        raise ValueError("X has no rows: there is nothing to cluster.")
    return stand_in, CheckedInput(distance, items, rows, np.ones(n) if weights is None else weights, counted)


class ExemplarClusters(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, HoldsValues, BaseEstimator
):
    """Base of clusterings in which each row belongs to the nearest of a few exemplars."""

    metric: Any
    n_jobs: int | None
    _references: Rows

    @by_rows
    def predict(self, X: Any) -> Integers:
        """Return the cluster of the nearest exemplar, for every row.

        Parameters
        ----------
        X : rows, as for `fit`; if distances are precomputed, those of shape (n_rows, n_training_rows)

        Returns
        -------
        array of int of shape (n_rows,)
        """
        queries = self._queries(X)
        return self._nearest(self.metric_, queries, self._references)[0]

    @by_rows
    def transform(self, X: Any) -> NDArray[Any]:
        """Return the distances of every row to the exemplars: an array of shape (n_rows, n_clusters)."""
        queries = self._queries(X)
        return all_distances(self.metric_, queries, self._references, n_jobs=self.n_jobs)

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the sum of the distances of all rows to the nearest exemplar."""
        queries = self._queries(X)
        _, distances = self._nearest(self.metric_, queries, self._references)
        weights = check_weights(sample_weight, len(queries))
        return -math.fsum(distances if weights is None else weights * distances)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its cluster: how far the exemplars are, and which features make the distance.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            ``path`` lists the distances, the nearest first. Where the distance, or a power of it, is a sum over
            features, the first account adds up to it. Under Euclidean distance ``move`` is the shortest step to
            another cluster.
        """
        from bisector.clustering.cluster_reasons import explain_clusters
        from bisector.distances.minkowski import Euclidean, Minkowski

        queries = self._queries(X)
        apart = all_distances(self.metric_, queries, self._references, n_jobs=self.n_jobs)
        labels = self._nearest(self.metric_, queries, self._references)[0]
        rows, centres = (places_of(one, self.metric_) for one in (queries, self._references))
        straight = self.metric_ in (Euclidean(), Minkowski(2), Euclidean(squared=True))
        return explain_clusters(self, labels, apart, rows, centres, self.metric_, straight=straight)

    def _queries(self, X: Any) -> Rows:
        check_is_fitted(self)
        return self.metric_.prepare(check_items(self, X, self.metric_, reset=False), like=self._references)

    def _nearest(self, distance: Distance, queries: Rows, references: Rows) -> tuple[Integers, Floats]:
        distances, labels = nearest_one(distance, queries, references, n_jobs=self.n_jobs)
        return labels, distances

    def _checked_rows(self, numbers: Any, n_clusters: int, given: CheckedInput) -> Integers:
        """Check row numbers to begin with; return their places among the rows that count."""
        if numbers.shape != (n_clusters,):
            raise ValueError(
                f"init must hold one row number for each of {n_clusters} clusters, not the shape {numbers.shape}."
            )
        if not np.isin(numbers, given.counted).all() or len(np.unique(numbers)) < n_clusters:
            raise ValueError(
                f"init must hold different row numbers from 0 to {len(given.all_rows) - 1}, of rows with a weight, "
                f"not {numbers.tolist()}."
            )
        return np.searchsorted(given.counted, numbers)

    @property
    def _n_features_out(self) -> int:
        return len(self._references)

    def __sklearn_tags__(self) -> Tags:
        return tell_input_tags(super().__sklearn_tags__(), self.metric)
