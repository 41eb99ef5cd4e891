"""Clustering around medoids (Flach 8.4)."""

import math
import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from bisector.clustering.cluster_counts import checked_number, warn_of_empty
from bisector.clustering.exemplar_clusters import ExemplarClusters, checked_input
from bisector.clustering.partitioned_input import partitioned_input
from bisector.distances.precomputed import Precomputed
from bisector.engine.checkpoint import checkpoint_of_pairs
from bisector.engine.items import picked
from bisector.engine.seeds import seed_of
from bisector.engine.sources import is_collection
from bisector.engine.validation import check_choice, check_count, store
from bisector.solvers.medoid_search import MedoidSearch, Method, Start

Integers = NDArray[np.int64]

_METHODS = ("fasterpam", "pam", "alternate", "clara")
_STARTS = ("build", "k-medoids++", "random", "farthest-first")
# The most clusters among which the number is chosen, unless others are asked for.
_MOST_CHOSEN = 10


class KMedoids(ExemplarClusters):
    """Clusters around rows: k of the rows are medoids, and each row belongs to the nearest.

    The medoids are to have a small loss Σ d(x, nearest medoid). Any distance will do, since rows are only compared:
    strings, sets, tables of mixed columns, a function of two rows. As distances are not squared, outliers pull less
    than on means; and what stands for a cluster is one of its rows.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        With "auto", the number in `k_range` with the largest average medoid silhouette.
    metric : str, Distance, callable or "precomputed", default="euclidean"
        With "precomputed", X holds distances: of training rows to each other for `fit`, of new rows to all training
        rows for `predict`. They need not be symmetric: row i, column j is the distance of i to a medoid j.
    method : {"fasterpam", "pam", "alternate", "clara"}, default="fasterpam"
        How medoids are improved. "fasterpam": a medoid is swapped for another row whenever that lowers the loss,
        until no swap does. "pam" (Flach, Algorithm 8.3): the same, but always by the best of all swaps; slower and
        about as good. "alternate" (Algorithm 8.2): rows go to the nearest medoid, medoids to the middle of their
        rows; ends sooner and at a higher loss. "clara": "fasterpam" on samples, for very many rows.
    init : {"build", "k-medoids++", "random", "farthest-first"} or array of int, default="build"
        The rows to begin with. "build": the most central row, then the one that lowers the loss most, and so on.
        "k-medoids++": drawn, with chances in proportion to the distance from those drawn before. An array holds row
        numbers. "clara" builds in each sample.
    n_init : int, default=1
        How many times to begin, when the start is drawn; the lowest loss wins.
    max_iter : int, default=300
        The most passes over all rows.
    k_range : iterable of int, default=None
        The numbers of clusters among which "auto" chooses; by default 2 to 10.
    sample_size : int, default=None
        Rows in a sample of "clara"; by default 80 + 4k.
    n_samples : int, default=5
        How many samples "clara" draws.
    random_state : int, RandomState, Generator or None, default=0
        Of starts and samples that are drawn.
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the same for
        any number.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends.

    Attributes
    ----------
    medoid_indices_ : array of int of shape (n_clusters,)
        Which rows of X the medoids are.
    cluster_centers_ : array of shape (n_clusters, n_features), list, or None
        These rows as they came; None if distances are precomputed.
    labels_ : array of int of shape (n_rows,)
        The place of the nearest medoid, the first of equally near ones. A Dask array, if X was a Dask collection.
    inertia_ : float
        The loss: the sum of the distances of all rows to their medoid, each times its weight.
    medoid_silhouette_ : float
        The average of 1 − d₁/d₂ over the rows, where d₁ and d₂ are the distances to the two nearest medoids.
    n_swaps_, n_iter_ : int
    converged_ : bool
        Whether the method came to its own end.
    swap_change_ : float
        The certificate of "fasterpam" and "pam": by how much the best single swap would change the loss. Not
        negative but for rounding, if converged. NaN where swaps were not all looked at.
    n_clusters_ : int
    k_range_, silhouettes_ : array
        With "auto": the numbers of clusters that were tried, and their medoid silhouettes.
    metric_ : Distance
        With what it learned from the rows.
    n_features_in_ : int, if rows are numbers
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    All distances among n rows are held in memory if they take at most half of the memory budget; otherwise they
    are made again in every pass, a few rows at a time. When fewer than k rows are different, some clusters stay
    empty, and a warning says so.

    References
    ----------
    L. Kaufman and P. Rousseeuw, Finding Groups in Data, 1990; E. Schubert and P. Rousseeuw, Fast and eager
    k-medoids clustering, Information Systems 101, 2021.

    Examples
    --------
    >>> from bisector import KMedoids, Levenshtein
    >>> words = ["house", "mouse", "horse", "table", "cable", "fable"]
    >>> model = KMedoids(2, metric=Levenshtein()).fit(words)
    >>> model.cluster_centers_, model.labels_
    (['house', 'table'], array([0, 0, 0, 1, 1, 1]))
    >>> model.inertia_, model.predict(["louse", "stable"])
    (4.0, array([0, 1]))
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = 8,
        *,
        metric: Any = "euclidean",
        method: Method = "fasterpam",
        init: Start | ArrayLike = "build",
        n_init: int = 1,
        max_iter: int = 300,
        k_range: Iterable[int] | None = None,
        sample_size: int | None = None,
        n_samples: int = 5,
        random_state: Any = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.method = method
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.k_range = k_range
        self.sample_size = sample_size
        self.n_samples = n_samples
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the medoids.

        Parameters
        ----------
        X : rows
            What the metric compares: an array, sparse matrix or frame, strings, sets; or distances of shape
            (n_rows, n_rows) if they are precomputed; with ``method="clara"`` a Dask collection too.
        y : ignored
        sample_weight : array of shape (n_rows,), default=None
            How often each row counts; a row of weight zero is no medoid.

        Returns
        -------
        self
        """
        check_choice("method", self.method, _METHODS)
        elsewhere = is_collection(X)
        given: Any
        stand_in, given = (partitioned_input if elsewhere else checked_input)(self, X, sample_weight)
        numbers = self._numbers(given.n_counted)
        search = MedoidSearch(
            given.distance, given.rows, given.weights, self.method, self._start(given, numbers),
            check_count("n_init", self.n_init), check_count("max_iter", self.max_iter),
            np.random.default_rng(seed_of(self.random_state)),
            None if self.sample_size is None else check_count("sample_size", self.sample_size),
            check_count("n_samples", self.n_samples), max(numbers), self.n_jobs,
        )  # fmt: skip
        learned: dict[str, Any] = {}
        told, weights = search.some_distances, search.weights
        with checkpoint_of_pairs(self.checkpoint, self, told, len(weights), weights=weights) as kept:
            search = replace(search, kept=kept)
            if self.n_clusters == "auto":
                found, silhouettes = search.choose(numbers)
                learned = {"k_range_": np.array(numbers), "silhouettes_": silhouettes}
            else:
                found = search.find(numbers[0])
        if not found.converged:
            warnings.warn(
                f"KMedoids(method={self.method!r}) ended after {found.n_iter} passes while the loss was still "
                "falling: raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        medoids = given.counted[found.medoids]
        references = given.all_rows.take(medoids)
        if elsewhere:
            judged = given.all_rows.judged(references)
            stand_in.metric_, stand_in._references = given.distance, references
            labels, inertia = type(self).predict(stand_in, X), judged.loss
            warn_of_empty(np.flatnonzero(judged.counts), len(medoids))
            centres = given.items.take(medoids)
        else:
            labels, distances = self._nearest(given.distance, given.all_rows, references)
            inertia = math.fsum(given.all_weights * distances)
            warn_of_empty(labels, len(medoids))
            precomputed = isinstance(given.distance, Precomputed)
            centres = None if precomputed else picked(given.items, medoids)
        return store(
            self,
            stand_in,
            medoid_indices_=medoids,
            cluster_centers_=centres,
            labels_=labels,
            inertia_=inertia,
            medoid_silhouette_=search.silhouette(found.medoids),
            n_swaps_=found.n_swaps,
            n_iter_=found.n_iter,
            converged_=found.converged,
            swap_change_=found.change,
            n_clusters_=len(medoids),
            metric_=given.distance,
            _references=references,
            **learned,
        )

    @property
    def _instead_of_gathering(self) -> str:
        """What to do about rows that are not here, unless the method can."""
        if self.method == "clara":
            raise AttributeError("CLARA takes samples of the rows.")
        return 'use method="clara", or KMeans'

    def _numbers(self, n_rows: int) -> list[int]:
        """The numbers of clusters to try."""
        if not isinstance(self.n_clusters, str):
            return [checked_number(self.n_clusters, n_rows)]
        check_choice("n_clusters", self.n_clusters, ("auto",))
        if n_rows < 3:
            raise ValueError(
                f'n_clusters="auto" compares two or more clusters, and X has n_samples={n_rows}: give three '
                "rows or more, or a number of clusters."
            )
        asked = range(2, min(_MOST_CHOSEN, n_rows - 1) + 1) if self.k_range is None else self.k_range
        numbers = [check_count("k_range", number, at_least=2, at_most=n_rows) for number in asked]
        if not numbers:
            raise ValueError("k_range is empty: give the numbers of clusters to choose from.")
        return numbers

    def _start(self, given: Any, numbers: list[int]) -> Any:
        """Where to begin: a word, or positions among the rows that count."""
        if isinstance(self.init, str):
            return check_choice("init", self.init, _STARTS)
        rows = np.asarray(self.init)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or self.n_clusters == "auto":
            raise ValueError(
                f"init must be one of {', '.join(map(repr, _STARTS))}, or, for a given number of clusters, hold "
                f"one row number for each, not {self.init!r}."
            )
        return self._checked_rows(rows, numbers[0], given)
