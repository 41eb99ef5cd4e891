"""What all neighbour models share: they keep the rows they were given, and search them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.distances.distance import Distance, Rows
from bisector.distances.estimator_input import check_items, tell_input_tags
from bisector.distances.minkowski import Minkowski
from bisector.distances.names import resolve
from bisector.engine.lazy_rows import promised
from bisector.engine.sources import is_collection, refuse_collections
from bisector.engine.validation import blank, check_choice, check_count, check_number
from bisector.engine.values import HoldsValues
from bisector.neighbors.partitioned_rows import nearest_rows
from bisector.search.choose import build_index
from bisector.search.index import Index
from bisector.search.partitioned_index import PartitionedIndex

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Neighbours are looked up for so many pairs of query and neighbour at a time.
PAIRS_AT_ONCE = 2**22


class Found(NamedTuple):
    """Neighbours of some queries, query by query: those of q stand from ``starts[q]`` to ``starts[q + 1]``.

    Attributes
    ----------
    starts : ndarray of shape (n_queries + 1,)
    positions : ndarray of int
        Which of the kept rows.
    distances : ndarray
    counts : ndarray or None
        How much of each neighbour counts: its sample weight, or the part of it that is still needed. None: one.
    """

    starts: Integers
    positions: Integers
    distances: Floats
    counts: Floats | None

    @property
    def queries(self) -> Integers:
        """The query to which each neighbour belongs."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def only(self, chosen: NDArray[np.bool_]) -> "Found":
        """Return some of the neighbours."""
        before = np.concatenate([[0], np.cumsum(chosen)])
        counts = None if self.counts is None else self.counts[chosen]
        return Found(before[self.starts], self.positions[chosen], self.distances[chosen], counts)


class KeepsRows(HoldsValues, BaseEstimator):
    """Base of models that keep their training rows in an index.

    A subclass has the parameters `metric`, `p`, `metric_params`, `algorithm`, `leaf_size` and `n_jobs`.
    """

    metric: Any
    p: float
    metric_params: Mapping[str, Any] | None
    algorithm: str
    leaf_size: int
    n_jobs: int | None
    _index: Index

    def _distance(self) -> Distance:
        return resolve(self.metric, p=self.p, metric_params=self.metric_params)

    def _keep(self, X: Any) -> tuple[Any, dict[str, Any]]:
        """Index training rows; return a stand-in that knows their features, and what was learned."""
        stand_in = blank(self)
        distance = self._distance()
        items = check_items(stand_in, X, distance, reset=True)
        index = build_index(items, distance, algorithm=self.algorithm, leaf_size=self.leaf_size)
        return stand_in, self._told(index)

    def _told(self, index: Any) -> dict[str, Any]:
        """Return what is learned by keeping rows in an index."""
        return {
            "_index": index,
            "metric_": index.distance,
            "effective_metric_": self._effective_metric(index.distance),
            "effective_metric_params_": dict(self.metric_params or {}),
            "n_samples_fit_": len(index),
        }

    def _effective_metric(self, distance: Distance) -> Any:
        """Return the metric as scikit-learn tells it: the usual name of a Minkowski distance that has one."""
        if not isinstance(self.metric, str):
            return distance
        usual = {1: "manhattan", 2: "euclidean", np.inf: "chebyshev"}
        return usual.get(self.p, self.metric) if self.metric in Minkowski.names else self.metric

    @property
    def index_(self) -> Index:
        """The index of the training rows: it says why it was chosen (`reason`), and what queries cost (`stats`)."""
        check_is_fitted(self)
        return self._index

    def _queries(self, X: Any) -> Rows:
        check_is_fitted(self)
        return self._index.prepare(check_items(self, X, self._index.distance, reset=False))

    def _k_nearest(self, queries: Rows | None, k: int) -> tuple[Floats, Integers]:
        """Return distances and positions of the k nearest; without queries, those of each row among the others."""
        index: Index = self._index
        if queries is not None:
            _refuse_too_many(k, len(index), "n_neighbors")
            distances, ids = index.query_prepared(queries, k, n_jobs=self.n_jobs)
            return distances, self._index.positions(ids)
        _refuse_too_many(k, len(index) - 1, "n_neighbors")
        distances, ids = index.query_prepared(index.rows, k + 1, n_jobs=self.n_jobs)
        positions = self._index.positions(ids)
        own = positions == np.arange(len(index))[:, None]
        # Among many equal rows a row may not find itself: then the last found is one too many.
        own[~own.any(axis=1), -1] = True
        return distances[~own].reshape(-1, k), positions[~own].reshape(-1, k)

    def __sklearn_tags__(self) -> Tags:
        return tell_input_tags(super().__sklearn_tags__(), self.metric)


class FindsNearest(KeepsRows):
    """Queries for the k nearest rows."""

    n_neighbors: Any

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """Find the nearest training rows of every row of X.

        Parameters
        ----------
        X : rows, optional
            By default the training rows, each of which is then not its own neighbour. For a Dask collection the
            answers are Dask arrays.
        n_neighbors : int, optional
            By default as in the constructor.
        return_distance : bool, default=True

        Returns
        -------
        distances : ndarray of shape (rows of X, n_neighbors)
            Only if asked for; in ascending order.
        positions : ndarray of shape (rows of X, n_neighbors)
            Of the training rows; among equally near ones, the smaller position comes first.
        """
        check_is_fitted(self)
        k = self._n_neighbors() if n_neighbors is None else check_count("n_neighbors", n_neighbors)
        if isinstance(self._index, PartitionedIndex):
            return nearest_rows(self, X, k, return_distance)
        if is_collection(X):
            return promised(type(self).kneighbors, self, X, (k, return_distance))
        distances, positions = self._k_nearest(None if X is None else self._queries(X), k)
        return (distances, positions) if return_distance else positions

    def kneighbors_graph(
        self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity"
    ) -> Any:
        """Return the neighbours of every row as a sparse matrix: ones, or with ``mode="distance"`` distances."""
        from scipy.sparse import csr_matrix

        refuse_collections(X, self.kneighbors_graph)
        check_choice("mode", mode, ("connectivity", "distance"))
        distances, positions = self.kneighbors(X, n_neighbors)
        values = distances if mode == "distance" else np.ones_like(distances)
        n_rows, k = positions.shape
        starts = np.arange(0, n_rows * k + 1, k)
        return csr_matrix(
            (values.ravel(), positions.ravel(), starts),
            shape=(n_rows, len(self._index)),
        )

    def _n_neighbors(self) -> int:
        """The number of neighbours: as given, or ⌊√N⌋ of the training rows."""
        if isinstance(self.n_neighbors, str):
            check_choice("n_neighbors", self.n_neighbors, ("sqrt",))
            return max(1, int(np.sqrt(len(self._index))))
        return check_count("n_neighbors", self.n_neighbors)


class FindsWithin(KeepsRows):
    """Queries for all rows within a radius."""

    radius: Any

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
        sort_results: bool = False,
    ) -> Any:
        """Find all training rows within a radius of every row of X.

        Parameters
        ----------
        X : rows, optional
            By default the training rows, each of which is then not its own neighbour.
        radius : float, optional
            By default as in the constructor.
        return_distance : bool, default=True
        sort_results : bool, default=False
            Nearest first; otherwise in the order of their positions.

        Returns
        -------
        distances : ndarray of shape (rows of X,) of arrays
            Only if asked for.
        positions : ndarray of shape (rows of X,) of arrays
        """
        if is_collection(X):
            asked = (radius, return_distance, sort_results)
            return promised(type(self).radius_neighbors, self, X, asked)
        found = self._near(None if X is None else self._queries(X), radius, sort_results)
        positions = _as_arrays(found.starts, found.positions)
        return (_as_arrays(found.starts, found.distances), positions) if return_distance else positions

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: str = "connectivity",
        sort_results: bool = False,
    ) -> Any:
        """Return the rows within the radius as a sparse matrix: ones, or with ``mode="distance"`` distances."""
        from scipy.sparse import csr_matrix

        check_choice("mode", mode, ("connectivity", "distance"))
        found = self._near(None if X is None else self._queries(X), radius, sort_results)
        values = found.distances if mode == "distance" else np.ones(len(found.positions))
        shape = (len(found.starts) - 1, len(self._index))
        return csr_matrix((values, found.positions, found.starts), shape=shape)

    def _near(self, queries: Rows | None, radius: float | None = None, sort: bool = False) -> Found:
        """Find what lies within the radius; without queries, of each row among the others."""
        check_is_fitted(self)
        index: Index = self._index
        reach = self._radius() if radius is None else check_number("radius", radius, at_least=0)
        rows = index.rows if queries is None else queries
        graph = index.query_radius_prepared(rows, reach, sort=sort, n_jobs=self.n_jobs)
        found = Found(
            graph.indptr.astype(np.int64),
            self._index.positions(graph.indices),
            graph.data,
            None,
        )
        if queries is not None:
            return found
        return found.only(found.queries != found.positions)

    def _radius(self) -> float:
        return check_number("radius", self.radius, at_least=0)


def _as_arrays(starts: Integers, values: NDArray[Any]) -> NDArray[np.object_]:
    arrays = np.empty(len(starts) - 1, dtype=object)
    arrays[:] = np.split(values, starts[1:-1])
    return arrays


def _refuse_too_many(k: int, n_rows: int, name: str) -> None:
    if k > n_rows:
        raise ValueError(
            f"Expected n_neighbors <= n_samples_fit, but {name} is {k} and there are {n_rows} rows to choose from: "
            "ask for fewer neighbours."
        )
