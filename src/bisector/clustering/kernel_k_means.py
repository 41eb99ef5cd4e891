"""K-means in the feature space of a kernel (Flach 8.5)."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bisector.clustering.cluster_counts import checked_number, warn_of_empty
from bisector.clustering.cluster_reasons import told_distances
from bisector.distances.reductions import cut, write_all
from bisector.engine.checkpoint import Checkpoint, checkpoint_of_pairs
from bisector.engine.explanation import Explanation, account_of
from bisector.engine.seeds import seed_of
from bisector.engine.show import number
from bisector.engine.validation import blank, check_choice, check_count, check_weights, store
from bisector.engine.values import HoldsValues
from bisector.kernels import Kernel, KernelDistance, Precomputed, resolve
from bisector.kernels.gram_matrices import checked_square
from bisector.kernels.value_blocks import AT_ONCE, value_blocks
from bisector.solvers.bisecting_planes import weighted_sums
from bisector.solvers.feature_rows import FeatureRows, check_items, count, picked
from bisector.solvers.kernel_lloyd import (
    ComputedPairs,
    GivenPairs,
    KernelClusters,
    KernelPairs,
    kernel_lloyd,
    nearest_start,
    scattered_start,
    small_labels,
)

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_STARTS = ("k-means++", "random")


class KernelKMeans(ClusterMixin, HoldsValues, BaseEstimator):
    """K-means in the feature space of a kernel: clusters that no straight line separates in the space of the rows.

    A cluster has a mean in feature space, which kernel values suffice to measure distances from. Rows go to the
    nearest mean by turns, and the sum of squared distances falls until it stays.

    Parameters
    ----------
    n_clusters : int, default=8
    kernel : str, Kernel or callable, default="rbf"
        A kernel of `bisector.kernels`, or its name; one of scikit-learn's names; "precomputed", if X holds the
        kernel's values; or a function of two arrays of rows.
    gamma, degree, coef0 : as in scikit-learn
        Parameters of kernels given by name; those that a kernel does not have are ignored.
    kernel_params : dict, default=None
        More parameters of a kernel given by name.
    assign : {"centroid", "mean-distance"}, default="centroid"
        "centroid" is k-means: a row goes to the nearest mean in feature space. "mean-distance" is Flach's
        Algorithm 8.5 as printed: a row goes to the cluster whose rows are nearest to it on average, which
        favours tight clusters and need not come to an end; it stops when an assignment comes again.
    init : {"k-means++", "random"} or array of int, default="k-means++"
        Where to begin: rows drawn apart from each other, a random partition, or an array that holds a row
        number for each cluster, or a cluster for each row.
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
    labels_ : array of int of shape (n_rows,)
    inertia_ : float
        The objective: the sum over the rows of the squared distance to the mean of their cluster in feature
        space; or of the mean distance to its rows.
    history_ : array
        The objective of each assignment. In the centroid form it never rises.
    n_iter_ : int
    converged_ : bool
    kernel_ : Kernel
        With what it learned from the rows.
    X_fit_ : the training rows that have a weight, or their Gram matrix if precomputed
    n_features_in_ : int, if rows are numbers
    feature_names_in_ : array of str, if X has string column names

    Notes
    -----
    The values of all pairs of rows are held in memory if they take at most half of the memory budget; otherwise
    they are made again in every round, tile by tile.

    References
    ----------
    I. S. Dhillon, Y. Guan and B. Kulis, Kernel k-means, spectral clustering and normalized cuts, KDD 2004.

    Examples
    --------
    Numbers that are large or small, whatever their sign: the square is a feature of the polynomial kernel.

    >>> from bisector import KernelKMeans
    >>> X = [[-3.0], [-2.9], [3.0], [3.1], [-0.1], [0.0], [0.2]]
    >>> KernelKMeans(2, kernel="linear", init=[0, 2]).fit_predict(X)
    array([0, 0, 1, 1, 0, 0, 0])
    >>> KernelKMeans(2, kernel="poly", degree=2, coef0=0, init=[0, 4]).fit_predict(X)
    array([0, 0, 0, 0, 1, 1, 1])
    """

    _instead_of_gathering = "use KMeans"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: str | Kernel | Callable[..., Any] = "rbf",
        gamma: float | str | None = None,
        degree: int = 3,
        coef0: float = 1,
        kernel_params: Mapping[str, Any] | None = None,
        assign: Literal["centroid", "mean-distance"] = "centroid",
        init: str | ArrayLike = "k-means++",
        n_init: int = 4,
        max_iter: int = 300,
        random_state: Any = 0,
        n_jobs: int | None = None,
        checkpoint: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.assign = assign
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : rows of what the kernel compares: array, sparse matrix or frame of shape (n_rows, n_features),
        strings, \
sets; or kernel values of shape (n_rows, n_rows)
        y : ignored
        sample_weight : array of shape (n_rows,), default=None

        Returns
        -------
        self
        """
        check_choice("assign", self.assign, ("centroid", "mean-distance"))
        kernel, stand_in = self._kernel(), blank(self)
        items = check_items(stand_in, X, kernel, reset=True)
        n = count(items)
        weights = check_weights(sample_weight, n)
        counted = np.arange(n) if weights is None else np.flatnonzero(weights)
        n_clusters = checked_number(self.n_clusters, len(counted))
        own = np.ones(len(counted)) if weights is None else weights[counted]
        if isinstance(kernel, Precomputed):
            gram = checked_square(items, "X")[np.ix_(counted, counted)]
            rows = FeatureRows(kernel, gram, None)
            pairs: KernelPairs = GivenPairs(gram)
        else:
            rows = FeatureRows.of(kernel, picked(items, counted))
            assert rows.prepared is not None
            pairs = ComputedPairs(rows.kernel, rows.prepared, self.n_jobs)
        with checkpoint_of_pairs(
            self.checkpoint,
            self,
            pairs.some_values,
            n,
            what="kernel values",
            weights=weights,
        ) as kept:
            found = self._best(pairs, n_clusters, own, counted, n, kept)
            learned = {
                "kernel_": rows.kernel,
                "X_fit_": rows.items,
                "_rows": rows,
                "_columns": counted,
                "_n_training": n,
                "_found": found,
            }
            labels = np.empty(n, dtype=np.int64)
            labels[counted] = found.labels
            others = np.setdiff1d(np.arange(n), counted)
            if len(others):
                vars(stand_in).update(learned)
                labels[others] = stand_in._assigned(picked(items, others))
        self._warn(found)
        warn_of_empty(found.labels, n_clusters)
        return store(
            self,
            stand_in,
            **learned,
            labels_=labels,
            inertia_=float(found.history[-1]),
            history_=found.history,
            n_iter_=found.n_iter,
            converged_=found.converged,
        )

    def predict(self, X: Any) -> Integers:
        """Return the cluster of every row.

        Parameters
        ----------
        X : as for `fit`; if the kernel is precomputed, its values with the training rows, of shape \
(n_rows, n_training_rows)

        Returns
        -------
        array of int of shape (n_rows,)
        """
        check_is_fitted(self)
        return self._assigned(check_items(self, X, self.kernel_, reset=False))

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why each row is of its cluster: how far the clusters are in feature space, and which rows pull.

        Parameters
        ----------
        X : as for `predict`

        Returns
        -------
        list of Explanation
            ``path`` lists what decides, the smallest first: squared distances to the means in feature space, less
            k(x, x), or mean distances. The account by training rows adds up to that of the cluster.
        """
        check_is_fitted(self)
        items = check_items(self, X, self.kernel_, reset=False)
        decided, found = self._values(items), []
        for part, values in self._row_values(items):
            for line, decides in zip(values, decided[part.start : part.stop], strict=True):
                found.append(_explained(line, decides, self._found, self._columns, self.assign == "centroid"))
        return found

    def _row_values(self, items: Any) -> Iterator[tuple[range, Floats]]:
        """Yield the kernel values, or distances, of some rows at a time with the training rows."""
        given = isinstance(self.kernel_, Precomputed)
        if self.assign == "centroid":
            chosen = items[:, self._columns] if given else items
            yield from value_blocks(self.kernel_, chosen, self._rows.prepared, n_jobs=self.n_jobs)
            return
        references = self._rows.prepared
        queries = self.kernel_.prepare(items, like=references)
        apart = KernelDistance(self.kernel_)
        for part in cut(len(queries), max(1, AT_ONCE // len(references))):
            some = queries.take(np.arange(part.start, part.stop))
            out = np.empty((len(part), len(references)))
            write_all(apart.between(some, references), out, mirrored=False, n_jobs=self.n_jobs)
            yield part, out

    def score(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return minus the objective of rows assigned to their clusters."""
        check_is_fitted(self)
        items = check_items(self, X, self.kernel_, reset=False)
        weights = check_weights(sample_weight, count(items))
        values = self._values(items)
        if self.assign == "centroid":
            values += self._squares(items)[:, None]
        least = values.min(axis=1)
        return -float(least.sum() if weights is None else weights @ least)

    def _assigned(self, items: Any) -> Integers:
        return self._values(items).argmin(axis=1)

    def _values(self, items: Any) -> Floats:
        """Return what decides: squared distances to the means, less k(x, x); or mean distances."""
        found: KernelClusters = self._found
        if isinstance(self.kernel_, Precomputed):
            if items.shape[1] != self._n_training:
                raise ValueError(
                    f"X must hold the kernel values of each row with the {self._n_training} training rows, but has "
                    f"{items.shape[1]} columns."
                )
            items = items[:, self._columns]
        empty = found.shares.sum(axis=0) == 0
        if self.assign == "centroid":
            values = found.squares - 2.0 * self._rows.sums(items, found.shares, n_jobs=self.n_jobs)
        elif isinstance(self.kernel_, Precomputed):
            raise ValueError(
                'With a precomputed kernel, assign="mean-distance" cannot predict: the distance of a new row '
                'needs its kernel value with itself. Take assign="centroid", or a kernel that compares rows.'
            )
        else:
            queries = self.kernel_.prepare(items, like=self._rows.prepared)
            apart = KernelDistance(self.kernel_).between(queries, self._rows.prepared)
            values = weighted_sums(apart, found.shares, n_jobs=self.n_jobs)
        values[:, empty] = np.inf
        return values

    def _squares(self, items: Any) -> Floats:
        """Return k(x, x) for every row."""
        if isinstance(self.kernel_, Precomputed):
            raise ValueError(
                "With a precomputed kernel, new rows have no score: it needs their kernel values with themselves."
            )
        return self.kernel_.diagonal(self.kernel_.prepare(items, like=self._rows.prepared))

    def _best(
        self, pairs: KernelPairs, n_clusters: int, weights: Floats, counted: Integers, n_rows: int,
        kept: Checkpoint,
    ) -> KernelClusters:  # fmt: skip
        """Run from every start; return the one with the lowest objective."""
        max_iter, n_init = check_count("max_iter", self.max_iter), check_count("n_init", self.n_init)
        rng = np.random.default_rng(seed_of(self.random_state))
        centroid = self.assign == "centroid"

        def begin() -> dict[str, Any]:
            start = self._start(pairs, n_clusters, weights, rng, counted, n_rows)
            return {"labels": small_labels(start, n_clusters)}

        def run(own: Checkpoint) -> KernelClusters:
            start = own.drawn("start", rng, begin)["labels"].astype(np.int64)
            return kernel_lloyd(
                pairs, start, n_clusters, weights, centroid=centroid, max_iter=max_iter, kept=own
            )

        drawn = isinstance(self.init, str)
        runs = (run(kept.part(f"run {number}")) for number in range(n_init if drawn else 1))
        return min(runs, key=lambda found: float(found.history[-1]))

    def _start(
        self, pairs: KernelPairs, n_clusters: int, weights: Floats, rng: np.random.Generator, counted: Integers,
        n_rows: int,
    ) -> Integers:  # fmt: skip
        if isinstance(self.init, str):
            if check_choice("init", self.init, _STARTS) == "k-means++":
                return scattered_start(pairs, n_clusters, weights, rng)
            # Every cluster gets a row, and all are about as large.
            return rng.permutation(np.arange(len(weights)) % n_clusters)
        start = np.asarray(self.init)
        if start.dtype.kind in "iu" and start.shape == (n_clusters,) and np.isin(start, counted).all():
            return nearest_start(pairs, np.searchsorted(counted, start))
        if (
            start.dtype.kind in "iu"
            and start.shape == (n_rows,)
            and ((start >= 0) & (start < n_clusters)).all()
        ):
            return start[counted].astype(np.int64)
        raise ValueError(
            f"init must be one of {', '.join(map(repr, _STARTS))}, or hold the numbers of {n_clusters} rows that "
            f"have a weight, or a cluster from 0 to {n_clusters - 1} for each of {n_rows} rows."
        )

    def _kernel(self) -> Kernel:
        params = dict(self.kernel_params or {})
        return resolve(self.kernel, gamma=self.gamma, coef0=self.coef0, degree=self.degree, **params)

    def _warn(self, found: KernelClusters) -> None:
        if not found.converged:
            warnings.warn(
                f"KernelKMeans ended after {found.n_iter} rounds while rows still moved: raise max_iter, or, if "
                'assignments came again with assign="mean-distance", take assign="centroid".',
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = isinstance(self.kernel, Precomputed) or self.kernel == "precomputed"
        return tags


def _explained(
    values: Floats, decides: Floats, found: KernelClusters, numbers: Integers, centroid: bool
) -> Explanation:
    """Explain one row from its kernel values, or distances, with the training rows of these numbers."""
    label = int(np.argmin(decides))
    members = np.flatnonzero(found.shares[:, label])
    weight = found.shares[members, label] * (-2.0 if centroid else 1.0)
    what = "squared distance less k(x, x)" if centroid else "mean distance"
    account = account_of(
        f"{what} of cluster {label}",
        weight * values[members],
        rows=numbers[members],
        columns={"kernel" if centroid else "distance": values[members], "weight": weight},
        also={"(the mean's own square)": float(found.squares[label])} if centroid else None,
    )
    path = told_distances(decides, "cluster", f"at a {what} of")
    said = f"Cluster {label}: its {what} in feature space is the smallest, {number(float(decides[label]))}."
    return Explanation(label, said, [account], path)
