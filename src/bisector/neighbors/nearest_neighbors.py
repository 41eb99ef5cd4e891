"""Who is near, and what they carry."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from bisector.engine.sources import is_collection
from bisector.engine.validation import store
from bisector.neighbors.kept_rows import FindsNearest, FindsWithin
from bisector.neighbors.partitioned_rows import keep_partitions


class NearestNeighbors(FindsNearest, FindsWithin):
    """Finds the nearest of the rows it was given, and returns them or what belongs to them.

    Parameters
    ----------
    n_neighbors : int or "sqrt", default=5
    radius : float, default=1.0
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "metric_tree", "string_search"}, default="auto"
        How to search. The answer is the same.
    leaf_size : int, default=30
    metric : str, Distance or callable, default="minkowski"
    p : float, default=2
    metric_params : dict, default=None
    n_jobs : int, default=None

    Attributes
    ----------
    index_ : Index
        ``index_.reason`` says why it was chosen, ``index_.stats`` what queries cost.
    metric_ : Distance
    n_features_in_, feature_names_in_, n_samples_fit_, effective_metric_
        As in scikit-learn.

    Examples
    --------
    >>> from bisector import NearestNeighbors
    >>> words = ["hotel", "house", "horse"]
    >>> translated = ["Hotel", "Haus", "Pferd"]
    >>> dictionary = NearestNeighbors(n_neighbors=1, metric="levenshtein").fit(words, payload=translated)
    >>> dictionary.retrieve(["hose", "hostel"])
    [['Haus'], ['Hotel']]
    """

    def __init__(
        self,
        *,
        n_neighbors: Any = 5,
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, *, payload: Sequence[Any] | None = None) -> Self:
        """Keep the rows.

        Parameters
        ----------
        X : rows
            What the metric compares: a matrix, strings, sets, a frame. Of a Dask collection the rows stay where
            they are, and each partition is searched there.
        y : ignored
        payload : sequence, optional
            What `retrieve` returns for each row: texts, images, anything. By default its position.

        Returns
        -------
        self
        """
        stand_in, learned = keep_partitions(self, X) if is_collection(X) else self._keep(X)
        if payload is not None and len(payload) != learned["n_samples_fit_"]:
            raise ValueError(
                f"payload has {len(payload)} items, but X has {learned['n_samples_fit_']} rows: give one a row."
            )
        return store(self, stand_in, **learned, _payload=payload)

    def retrieve(self, X: Any = None, n_neighbors: int | None = None) -> list[list[Any]]:
        """Return what the nearest rows carry, nearest first, for every row of X.

        Parameters
        ----------
        X : rows, optional
            By default the rows themselves, each of which is then not its own neighbour.
        n_neighbors : int, optional
        """
        positions = self.kneighbors(X, n_neighbors, return_distance=False)
        if self._payload is None:
            return positions.tolist()
        carried: Any = self._payload
        pick = carried.iloc.__getitem__ if hasattr(carried, "iloc") else carried.__getitem__
        return [[pick(int(position)) for position in row] for row in np.asarray(positions)]
