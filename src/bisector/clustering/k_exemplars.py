"""Lloyd's scheme for other distances than the squared Euclidean (Flach 8.4)."""

import math
import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from bisector.clustering.cluster_counts import checked_number, warn_of_empty
from bisector.clustering.exemplar_clusters import CheckedInput, ExemplarClusters, checked_input
from bisector.distances.distance import Exemplar
from bisector.distances.precomputed import Precomputed
from bisector.engine.checkpoint import Checkpoint, checkpoint_of_pairs
from bisector.engine.items import picked
from bisector.engine.seeds import seed_of
from bisector.engine.validation import check_choice, check_count, store
from bisector.exemplars.centroids import CENTROIDS
from bisector.solvers.distance_lines import MadeLines, telling_lines
from bisector.solvers.exemplar_lloyd import Exemplars, exemplar_lloyd
from bisector.solvers.medoid_build import far_rows, random_rows, scattered_rows

_STARTS = ("k-medoids++", "random", "farthest-first")


class KExemplars(ExemplarClusters):
    """Clusters around exemplars that suit the distance: k-means for any distance.

    By turns, rows go to the nearest exemplar and exemplars to the middle of their rows. What the middle is,
    follows from the distance: the mean for squared Euclidean distance (k-means), the geometric median for
    Euclidean distance, the median of each coordinate for Manhattan distance, the medoid for any other. The
    objective, the sum of the distances of all rows to their exemplar, falls from round to round.

    Parameters
    ----------
    n_clusters : int, default=8
    metric : str, Distance, callable or "precomputed", default="euclidean"
    exemplar : {"matching", "mean", "coordinate-median", "geometric-median", "medoid"}, default="matching"
        What stands for a cluster: by default what has the least total distance to its rows. One that does not
        belong to the metric moves only as long as the objective falls.
    init : {"k-medoids++", "random", "farthest-first"} or array, default="k-medoids++"
        Where to begin: rows, drawn with chances in proportion to the distance from those drawn before, or with
        equal chances, or each the farthest from those before. An array holds row numbers, or exemplars one a
        row.
    n_init : int, default=4
        How many times to begin, when the start is drawn; the lowest objective wins.
    max_iter : int, default=300
    random_state : int, RandomState, Generator or None, default=0
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the same for
        any number.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features), list, or None
        The exemplars; None if distances are precomputed.
    exemplar_indices_ : array of int of shape (n_clusters,)
        Which rows of X they are; only if they are medoids.
    labels_ : array of int of shape (n_rows,)
    inertia_ : float
        The objective.
    history_ : array of shape (moves + 1,), or one less
        The objective after each assignment: it never rises.
    n_iter_ : int
    converged_ : bool
    exemplar_ : str
        What stands for a cluster.
    metric_ : Distance
        With what it learned from the rows.
    n_features_in_ : int, if rows are numbers
    feature_names_in_ : array of str, if X has string column names

    See Also
    --------
    KMedoids : medoids with a lower loss, by swaps.

    Examples
    --------
    An outlier moves a mean, but not a median:

    >>> from bisector import KExemplars
    >>> X = [[0, 0], [1, 0], [0, 1], [9, 9], [9, 8], [8, 9], [30, 9]]
    >>> KExemplars(2, metric="manhattan", init=[0, 3]).fit(X).cluster_centers_
    array([[0., 0.],
           [9., 9.]])
    >>> KExemplars(2, metric="sqeuclidean", init=[0, 3]).fit(X).cluster_centers_[1]
    array([14.  ,  8.75])
    """

    _instead_of_gathering = "use KMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        metric: Any = "euclidean",
        exemplar: Exemplar | Literal["matching"] = "matching",
        init: str | ArrayLike = "k-medoids++",
        n_init: int = 4,
        max_iter: int = 300,
        random_state: Any = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.metric = metric
        self.exemplar = exemplar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the exemplars.

        Parameters
        ----------
        X : rows
            What the metric compares: an array, sparse matrix or frame, strings, sets; or distances of shape
            (n_rows, n_rows) if they are precomputed.
        y : ignored
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_choice("exemplar", self.exemplar, ("matching", *CENTROIDS, "medoid"))
        stand_in, given = checked_input(self, X, sample_weight)
        exemplar = given.distance.exemplar if self.exemplar == "matching" else self.exemplar
        numeric = given.distance.numeric and not isinstance(given.distance, Precomputed)
        if exemplar in CENTROIDS and not numeric:
            raise ValueError(
                f"exemplar={exemplar!r} is a point of a space, which {given.distance!r} does not have: take "
                'exemplar="medoid".'
            )
        n_clusters = checked_number(self.n_clusters, given.n_counted)

        def told() -> NDArray[np.float64]:
            return self._told(given, points=exemplar in CENTROIDS)

        weights = given.all_weights
        with checkpoint_of_pairs(self.checkpoint, self, told, len(weights), weights=weights) as kept:
            found = self._best(given, exemplar, n_clusters, kept)
            labels, distances = self._nearest(given.distance, given.all_rows, found.references)
        if not found.converged:
            warnings.warn(
                f"KExemplars ended after {found.n_iter} rounds while the objective still fell: raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        warn_of_empty(labels, n_clusters)
        learned: dict[str, Any] = {"cluster_centers_": found.points}
        if found.medoids is not None:
            indices = given.counted[found.medoids]
            learned["exemplar_indices_"] = indices
            learned["cluster_centers_"] = (
                picked(given.items, indices) if numeric or not given.distance.numeric else None
            )
        return store(
            self,
            stand_in,
            labels_=labels,
            inertia_=math.fsum(given.all_weights * distances),
            history_=found.history,
            n_iter_=found.n_iter,
            converged_=found.converged,
            exemplar_=exemplar,
            metric_=given.distance,
            _references=found.references,
            **learned,
        )

    def _told(self, given: CheckedInput, *, points: bool) -> NDArray[np.float64]:
        """Return distances of all rows to a few, by which these data can be told from others.

        Points need more: they depend on where the rows are, of which distances say nothing.
        """
        lines = telling_lines(given.distance, given.rows, n_jobs=self.n_jobs)
        return np.append(lines, given.items.sum(axis=0) if points else ())

    def _best(self, given: CheckedInput, exemplar: Exemplar, n_clusters: int, kept: Checkpoint) -> Exemplars:
        """Run from every start; return the one with the lowest objective."""
        max_iter, n_init = check_count("max_iter", self.max_iter), check_count("n_init", self.n_init)
        rng = np.random.default_rng(seed_of(self.random_state))
        items = (
            given.items if len(given.counted) == len(given.all_rows) else picked(given.items, given.counted)
        )
        rows, weights = given.rows, given.weights
        drawn = isinstance(self.init, str) and self.init != "farthest-first"

        def run(own: Checkpoint) -> Exemplars:
            start = own.drawn("start", rng, lambda: {"start": self._start(given, exemplar, n_clusters, rng)})
            return exemplar_lloyd(
                given.distance, items, rows, exemplar, start["start"], weights, max_iter=max_iter,
                n_jobs=self.n_jobs, kept=own,
            )  # fmt: skip

        runs = (run(kept.part(f"run {number}")) for number in range(n_init if drawn else 1))
        return min(runs, key=lambda found: float(found.history[-1]))

    def _start(
        self, given: CheckedInput, exemplar: Exemplar, n_clusters: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        if isinstance(self.init, str):
            check_choice("init", self.init, _STARTS)
            if self.init == "farthest-first":
                return far_rows(given.distance, given.rows, n_clusters, self.n_jobs)
            if self.init == "random":
                return random_rows(n_clusters, given.weights, rng)
            lines = MadeLines(given.distance, given.rows, n_jobs=self.n_jobs)
            return scattered_rows(lines, n_clusters, given.weights, rng)
        start = np.asarray(self.init)
        if start.ndim == 1 and start.dtype.kind in "iu":
            return self._checked_rows(start, n_clusters, given)
        width = getattr(given.items, "shape", (0, 0))[1]
        if exemplar == "medoid" or start.shape != (n_clusters, width) or not np.isfinite(start).all():
            raise ValueError(
                f"init must be one of {', '.join(map(repr, _STARTS))}, or hold {n_clusters} row numbers, or, where "
                f"exemplars are points, as many rows of {width} finite numbers."
            )
        return start.astype(given.items.dtype)
