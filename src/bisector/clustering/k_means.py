"""K-means: clusters around means (Flach 8.4)."""

import warnings
from collections.abc import Callable, Iterable
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, check_random_state

from bisector.clustering.each_number import Clustering, cluster_each
from bisector.engine.blocks import Block
from bisector.engine.checkpoint import Checkpoint, checkpoint_of
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import by_rows
from bisector.engine.map_reduce import map_blocks
from bisector.engine.sources import Source
from bisector.engine.threads import one_blas_thread
from bisector.engine.validation import (
    check_choice,
    check_count,
    check_finite,
    check_flag,
    check_rows,
    check_training,
    check_weights,
    raise_not_finite,
    store,
)
from bisector.exemplars import ScatterDecomposition
from bisector.solvers.lloyd import Lloyd, lloyd, nearest_centres, nearest_labels
from bisector.solvers.one_dimensional_clusters import best_intervals, is_feasible
from bisector.solvers.refine_clusters import refine_clusters
from bisector.solvers.seeding import WAYS, seeds
from bisector.solvers.spread import Measured, measure

Floats = NDArray[np.floating[Any]]
Init = (
    Literal["k-means++", "k-means||", "random", "farthest-first", "random-partition"]
    | Callable[..., Any]
    | ArrayLike
)

# How often to begin, for n_init="auto": from the ways that spread centres once.
_ONCE = ("k-means++", "k-means||", "farthest-first")
_AUTO = 10


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Find k centres with the least scatter around them: Σ w ‖x − c(x)‖², c(x) being the centre nearest to x.

    Lloyd's algorithm lets rows go to the nearest centre and centres to the mean of their rows until nothing
    changes. Where it ends depends on where it begins, so what it finds is then refined: a centre goes from
    where two share a cluster to where one serves two, and single rows change clusters, as long as the scatter
    falls. With one feature, the clusters of least scatter are found outright.

    Differs from scikit-learn's by this refinement, which is off where the caller gives the starting centres: then
    labels and centres are those of Lloyd's algorithm. With the same random state, k-means++ draws the same rows.

    Parameters
    ----------
    n_clusters : int, default=8
    init : {"k-means++", "k-means||", "random", "farthest-first", "random-partition"}, callable or array of shape \
(n_clusters, n_features), default="k-means++"
        Where to begin: at rows drawn far from each other (greedily, as in scikit-learn); the same in a few passes
        over more rows than memory holds (which "k-means++" means too, for data on disk); at any rows; at rows each
        farthest from those before; or at the means of random parts. A callable gets
        ``(X, n_clusters, random_state=...)``.
    n_init : "auto" or int, default="auto"
        How often to begin; the result of least scatter is kept. "auto" means once for "k-means++", "k-means||",
        "farthest-first" and an array, ten times otherwise.
    max_iter : int, default=300
        How often the centres move at most in a run, those of the refinement on all rows included.
    tol : float, default=1e-4
        A run ends when the centres' moves, squared and summed, are at most this share of the mean variance of
        the features.
    verbose : int, default=0
        Show a progress bar.
    random_state : int, RandomState or None, default=None
        Of the beginning, and of the sample that many rows are refined on.
    copy_x : bool, default=True
        Without effect: X is never changed.
    algorithm : {"lloyd", "elkan"}, default="lloyd"
        Without effect: both mean the same clusters, and what is fastest is chosen by itself.
    refine : {"auto"} or bool, default="auto"
        Whether to refine. "auto" means yes, unless `init` gives the centres (an array or a callable).
    n_jobs : int, default=None
        Number of threads; None means all cores allowed here, one inside a joblib worker. The result is the same,
        bit for bit, for any number.
    checkpoint : str or path, default=None
        A file in which a long fit keeps what it has reached, every few seconds. If the fit is interrupted, even
        killed, the same call goes on from there, to the same result bit for bit; other data or parameters are
        refused. The file is removed when the fit ends.

    Attributes
    ----------
    cluster_centers_ : array of shape (n_clusters, n_features)
    labels_ : array of int32 of shape (n_samples,)
        The nearest centre of each row; of equals, the first. For Dask collections, a Dask array.
    inertia_ : float
        The scatter within clusters, about `cluster_centers_`.
    n_iter_ : int
        How often the centres moved in the run that was kept.
    history_ : array
        The inertia after every assignment of that run; it never rises.
    converged_ : bool
        Whether the run ended by itself.
    optimal_ : bool
        Whether no other clusters have less scatter: proven for one feature.
    scatter_ : ScatterDecomposition
        The scatter of all rows, divided into that within clusters and that between them.
    n_features_in_ : int
    feature_names_in_ : array of str
        Where X has column names.

    Examples
    --------
    >>> from bisector import KMeans
    >>> X = [[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]]
    >>> model = KMeans(2, random_state=0).fit(X)
    >>> model.inertia_
    16.0
    >>> model.scatter_
              rows  scatter   share
    within 0     3       12   15.8%
    within 1     2        4    5.3%
    between      5       60   78.9%
    total        5       76  100.0%
    >>> KMeans(2).fit([[8], [44], [50], [58], [84]]).optimal_
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: Init = "k-means++",
        n_init: int | Literal["auto"] = "auto",
        max_iter: int = 300,
        tol: float = 1e-4,
        verbose: int = 0,
        random_state: Any = None,
        copy_x: bool = True,
        algorithm: Literal["lloyd", "elkan"] = "lloyd",
        refine: bool | Literal["auto"] = "auto",
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state
        self.copy_x = copy_x
        self.algorithm = algorithm
        self.refine = refine
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array, sparse matrix, frame, path or Dask collection of shape (n_samples, n_features)
        y : ignored
        sample_weight : array of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
        """
        given_start = not isinstance(self.init, str)
        k, n_init = self._check_parameters(given_start)
        refine = not given_start if self.refine == "auto" else check_flag("refine", self.refine)
        rows, stand_in = check_training(self, X, None, sample_weight)
        if rows.n_rows < k:
            raise ValueError(
                f"n_samples={rows.n_rows} should be >= n_clusters={k}: ask for fewer clusters, or give more rows."
            )
        rows.read_often = True
        measured = measure(rows, n_jobs=self.n_jobs)
        solved = refine and rows.n_features == 1 and is_feasible(rows.n_rows, k)
        if solved:
            found = self._solve_numbers(rows, measured)
        else:
            with checkpoint_of(
                self.checkpoint, self, rows, np.append(measured.mean, measured.scatter)
            ) as kept:
                found = self._search(X, rows, measured, n_init, refine, kept)
        n_found = int(np.count_nonzero(found.sizes))
        distinct = len(np.unique(found.centres, axis=0)) if n_found < k else k
        if distinct < k:
            warnings.warn(
                f"Number of distinct clusters ({n_found}) found smaller than n_clusters ({k}). Possibly due to "
                "duplicate points in X.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return store(
            self,
            stand_in,
            cluster_centers_=found.centres,
            labels_=self._labels(X, rows, found),
            inertia_=found.inertia,
            n_iter_=found.n_iter,
            history_=found.history,
            converged_=found.converged,
            optimal_=solved,
            scatter_=_decomposition(found, measured),
        )

    def _check_parameters(self, given_start: bool) -> tuple[int, int]:
        k = check_count("n_clusters", self.n_clusters)
        check_count("max_iter", self.max_iter)
        check_finite("tol", self.tol, at_least=0)
        check_flag("copy_x", self.copy_x)
        check_choice("algorithm", self.algorithm, ("lloyd", "elkan"))
        if not given_start:
            check_choice("init", self.init, WAYS)
        if isinstance(self.n_init, str):
            check_choice("n_init", self.n_init, ("auto",))
            once = self.init in _ONCE if isinstance(self.init, str) else not callable(self.init)
            return k, 1 if once else _AUTO
        n_init = check_count("n_init", self.n_init)
        if n_init > 1 and given_start and not callable(self.init):
            warnings.warn(
                f"Explicit initial center position passed: performing only one init in KMeans instead of "
                f"n_init={n_init}.",
                RuntimeWarning,
                stacklevel=3,
            )
            n_init = 1
        return k, n_init

    def _search(
        self, X: Any, rows: Source, measured: Measured, n_init: int, refine: bool, kept: Checkpoint
    ) -> Lloyd:
        """Begin `n_init` times, and keep the best."""
        random = check_random_state(self.random_state)
        tol = self.tol * measured.scatter / (measured.weight * rows.n_features)
        limits: dict[str, Any] = {
            "max_iter": self.max_iter, "tol": tol, "measured": measured, "n_jobs": self.n_jobs,
        }  # fmt: skip
        best: Lloyd | None = None
        for number in range(n_init):
            run = kept.part(f"run {number}")
            start = run.drawn("start", random, lambda: {"centres": self._start(X, rows, random)})
            with one_blas_thread:  # once, rather than for every pass
                found = lloyd(rows, start["centres"], verbose=self.verbose, kept=run, **limits)
                if refine:
                    found = refine_clusters(rows, found, random, kept=run, **limits)
            if best is None or found.inertia < best.inertia:
                best = found
        assert best is not None
        return best

    def _start(self, X: Any, rows: Source, random: np.random.RandomState) -> NDArray[Any]:
        k = self.n_clusters
        if isinstance(self.init, str):
            return seeds(self.init, rows, k, random, n_jobs=self.n_jobs)
        centres = self.init(X, k, random_state=random) if callable(self.init) else self.init
        centres = np.asarray(centres.toarray() if hasattr(centres, "toarray") else centres, dtype=rows.dtype)
        if centres.shape != (k, rows.n_features):
            raise ValueError(
                f"The shape of the initial centers {centres.shape} does not match the number of clusters {k} and "
                f"of features of the data {rows.n_features}: give one row a cluster."
            )
        raise_not_finite(centres, "init", None, 0)
        return centres

    def _solve_numbers(self, rows: Source, measured: Measured) -> Lloyd:
        """Find the best clusters of one column; where it has fewer values, the last centre is repeated."""
        X = rows.take(np.arange(rows.n_rows))
        values = (X.toarray() if hasattr(X, "tocsr") else X)[:, 0].astype(np.float64)
        best = best_intervals(values, self.n_clusters, rows.sample_weight).centres
        centres = np.append(best, np.full(self.n_clusters - len(best), best[-1]))
        return lloyd(rows, centres[:, None], max_iter=1, measured=measured, n_jobs=self.n_jobs)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Find the clusters and return the labels of the rows."""
        return self.fit(X, sample_weight=sample_weight).labels_

    def cluster_each(self, X: Any, k_range: Iterable[int]) -> list[Clustering]:
        """Find clusters in several numbers, as one does to choose among them; faster than by a fit for each.

        With few features, default beginnings and numbers close to each other, the clusters of one number begin from
        those of the numbers beside it, one centre more or less. Otherwise a copy of this model is fitted for each.
        The model itself stays as it is.

        Parameters
        ----------
        X : array, sparse matrix, frame or path of shape (n_samples, n_features)
        k_range : iterable of int
            The numbers of clusters, instead of `n_clusters`.

        Returns
        -------
        list of Clustering
            For each number the `labels` of the rows, the `scatter` within clusters, and `n_clusters`, how many of
            them have rows.

        Examples
        --------
        >>> from bisector import KMeans
        >>> X = [[0, 3], [3, 3], [3, 0], [-2, -4], [-4, -2]]
        >>> [found.scatter for found in KMeans(random_state=0).cluster_each(X, range(1, 4))]
        [76.0, 16.0, 8.5]
        """
        n_init = self._check_parameters(not isinstance(self.init, str))[1]
        default = isinstance(self.init, str) and self.init == "k-means++" and n_init == 1
        refine = self.refine == "auto" or check_flag("refine", self.refine)
        return cluster_each(self, X, k_range, may_climb=default and refine)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Floats:
        """Find the clusters and return the distances of the rows to all centres."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    @by_rows
    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the nearest centre of every row; of equals, the first."""
        return nearest_labels(check_rows(self, X), self._centres(), n_jobs=self.n_jobs)

    @by_rows
    def transform(self, X: Any) -> Floats:
        """Return the distance of every row to every centre, shape (n_samples, n_clusters)."""
        rows = check_rows(self, X)
        return map_blocks(_distances, rows, self._centres(), n_jobs=self.n_jobs)

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its cluster: how far the exemplars are, and which features make the distance.

        Parameters
        ----------
        X : rows, as for `predict`

        Returns
        -------
        list of Explanation
            ``path`` lists the distances, the nearest first. The first account adds up to the
            squared distance from the centre, the second to how much larger that from the next is. ``move`` is the
            shortest step to another cluster, over the nearest bisector.
        """
        from bisector.clustering.cluster_reasons import explain_clusters
        from bisector.distances import Euclidean

        labels, apart = self.predict(X), self.transform(X)
        centres, found = self.cluster_centers_.astype(np.float64), []
        for block in check_rows(self, X).in_dense_blocks().blocks():
            here = slice(block.first_row, block.first_row + block.X.shape[0])
            rows = block.dense.astype(np.float64)
            found += explain_clusters(
                self, labels[here], apart[here], rows, centres, Euclidean(), straight=True
            )
        return found

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the scatter of rows about their nearest centres: the higher the better."""
        rows = check_rows(self, X)
        weights = check_weights(sample_weight, rows.n_rows)
        distances = nearest_centres(rows, self._centres(), n_jobs=self.n_jobs)[1]
        return -float(distances.sum() if weights is None else weights @ distances)

    def _centres(self) -> NDArray[Any]:
        return self.cluster_centers_

    def _labels(self, X: Any, rows: Source, found: Lloyd) -> Any:
        """Return the labels; those of a Dask collection as one that is computed when it is asked for."""
        if rows.executor is None:
            return found.labels
        model = KMeans(self.n_clusters)
        model.cluster_centers_, model.n_features_in_ = found.centres, rows.n_features
        if rows.feature_names is not None:
            model.feature_names_in_ = np.array(rows.feature_names, dtype=object)
        return model.predict(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _distances(block: Block, centres: NDArray[Any]) -> Floats:
    """Return the distances of a block's rows to the centres."""
    from bisector.distances import Euclidean

    return Euclidean().pairwise(block.X, centres, n_jobs=1).astype(block.X.dtype, copy=False)


def _decomposition(found: Lloyd, measured: Measured) -> ScatterDecomposition:
    held = np.flatnonzero(found.sizes)
    offsets = found.means[held] - measured.mean
    between = float(found.sizes[held] @ np.einsum("ij,ij->i", offsets, offsets))
    return ScatterDecomposition(
        held, found.sizes[held], found.means[held], found.within[held], between, measured.scatter
    )
