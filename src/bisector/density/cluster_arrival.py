"""Rows stream in; a new cluster arrives when the gap statistic asks for one more (LFD Problem 6.25)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from bisector.density.boxes import check_dense
from bisector.density.clusters_of_rows import best_clusters, cluster_errors, reference_logs
from bisector.engine.validation import blank, check_count, store
from bisector.search import build_index

Floats = NDArray[np.float64]

# Within a cluster, this share of the rows have a neighbour within its reach; the others may be outliers.
_USUAL = 0.9


class ClusterArrivalDetector(BaseEstimator):
    """Watches a stream of rows, and says when a new cluster has arrived and which rows it is.

    The number of clusters is where the gap G(k) = log E_rand(k) − log E(k) is largest: E(k) is the squared
    error of k
    centres, E_rand(k) that on rows spread evenly over the same box. `fit` finds it for the rows known at first;
    `partial_fit` takes in rows, and finds it again after every few. More clusters alone are nothing new, since a
    known one that grows may be split: one has arrived if most of its rows lie outside of those that were known,
    farther from their rows than these commonly lie from each other.

    Parameters
    ----------
    max_clusters : int, default=8
    check_every : int, default=10
        After how many new rows the number of clusters is found again.
    n_references : int, default=5
        Sets of evenly spread rows.
    n_starts : int, default=2
        Clusterings tried for each k.
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    n_clusters_ : int
        As of the last time it was found.
    n_clusters_history_ : list of (int, int)
        How many rows had arrived since `fit`, and the number of clusters then.
    arrived_ : bool
        Whether there have been more clusters than after `fit`, one of them where none was known.
    arrived_at_ : int or None
        How many rows had arrived by then.
    new_rows_ : ndarray of int
        The rows of the new cluster, counted from the first row of `fit`; at the time it arrived.
    gaps_ : ndarray of shape (max_clusters,)
        G(1), G(2), … as of the last time.
    labels_ : ndarray of int
        The cluster of every row so far, as of the last time.
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import ClusterArrivalDetector
    >>> rng = np.random.default_rng(0)
    >>> corners = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    >>> known = corners[rng.integers(4, size=200)] + 0.15 * rng.normal(size=(200, 2))
    >>> watch = ClusterArrivalDetector().fit(known)
    >>> watch.n_clusters_, watch.arrived_
    (4, False)
    >>> watch = watch.partial_fit(0.15 * rng.normal(size=(100, 2)))
    >>> watch.arrived_, bool((watch.new_rows_ >= 200).all())
    (True, True)
    """

    _instead_of_gathering = "begin with a sample of the rows"

    def __init__(
        self,
        max_clusters: int = 8,
        *,
        check_every: int = 10,
        n_references: int = 5,
        n_starts: int = 2,
        random_state: Any = 0,
    ) -> None:
        self.max_clusters = max_clusters
        self.check_every = check_every
        self.n_references = n_references
        self.n_starts = n_starts
        self.random_state = random_state

    X_fit_: Floats
    n_clusters_: int
    n_clusters_history_: list[tuple[int, int]]
    arrived_at_: int | None
    new_rows_: NDArray[np.int64]
    _first: int
    _known: NDArray[np.int64]
    _since: int
    _reference: tuple[Floats, Floats, Floats]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the number of clusters in the rows known at first."""
        stand_in = blank(self)
        check_count("check_every", self.check_every)
        check_count("n_references", self.n_references)
        check_count("n_starts", self.n_starts)
        check_count("max_clusters", self.max_clusters)
        rows = check_dense(stand_in, X, reset=True, at_least=2).astype(np.float64)
        stand_in.X_fit_, stand_in._reference = rows, (np.full(1, np.nan),) * 3
        gaps, k, labels = stand_in._count_clusters()
        return store(
            self,
            stand_in,
            n_clusters_=k,
            n_clusters_history_=[(0, k)],
            gaps_=gaps,
            labels_=labels,
            arrived_=False,
            arrived_at_=None,
            new_rows_=np.empty(0, dtype=np.int64),
            _first=len(rows),
            _known=labels,
            _since=0,
            _reference=stand_in._reference,
        )

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in more rows, one after the other."""
        if not hasattr(self, "X_fit_"):
            return self.fit(X)
        rows = check_dense(self, X, reset=False).astype(np.float64)
        while len(rows):
            step = min(len(rows), self.check_every - self._since)
            self.X_fit_, rows = np.concatenate([self.X_fit_, rows[:step]]), rows[step:]
            self._since += step
            if self._since >= self.check_every:
                self._look_again()
        return self

    def _look_again(self) -> None:
        self._since = 0
        self.gaps_, k, self.labels_ = self._count_clusters()
        added = len(self.X_fit_) - self._first
        self.n_clusters_ = k
        self.n_clusters_history_.append((added, k))
        if k > self.n_clusters_history_[0][1] and self.arrived_at_ is None:
            recent = np.arange(len(self.X_fit_)) >= self._first
            counts = np.bincount(self.labels_, minlength=k)
            shares = np.bincount(self.labels_, recent, minlength=k) / np.maximum(counts, 1)
            outside = np.bincount(self.labels_, ~self._lie_within_known(), minlength=k)
            shares[2 * outside <= counts] = 0.0  # a part of what was known
            if shares.any():
                self.arrived_, self.arrived_at_ = True, added
                self.new_rows_ = np.flatnonzero(self.labels_ == shares.argmax())

    def _lie_within_known(self) -> NDArray[np.bool_]:
        """Tell of every row whether it lies as near to a cluster of the first rows as these do to each other."""
        found = np.zeros(len(self.X_fit_), dtype=bool)
        for cluster in range(self._known.max() + 1):
            rows = self.X_fit_[: self._first][self._known == cluster]
            if len(rows):
                index = build_index(rows)
                reach = np.quantile(index.query(rows, 2)[0][:, 1], _USUAL) if len(rows) > 1 else 0.0
                found |= index.query(self.X_fit_)[0][:, 0] <= reach
        return found

    def _count_clusters(self) -> tuple[Floats, int, NDArray[np.int64]]:
        """Return the gaps, where the largest is, and the clusters of all rows then."""
        rows, rng = self.X_fit_, check_random_state(self.random_state)
        most = min(self.max_clusters, len(rows) - 1)
        lows, highs = rows.min(axis=0), rows.max(axis=0)
        # Evenly spread rows are made anew only when the box has changed: their error grows with their number alone.
        if not (np.array_equal(lows, self._reference[0]) and np.array_equal(highs, self._reference[1])):
            logs = reference_logs(lows, highs, len(rows), most, self.n_references, self.n_starts, rng)
            self._reference = lows, highs, logs
        errors = cluster_errors(rows, most, self.n_starts, rng)
        known = self._reference[2][:most]
        with np.errstate(divide="ignore", invalid="ignore"):
            gaps = known - np.log(errors / len(rows))[: len(known)]
        gaps = np.where(np.isnan(gaps), -np.inf, gaps)  # rows that are all equal are one cluster
        k = int(gaps.argmax()) + 1
        return gaps, k, best_clusters(rows, k, self.n_starts, rng)[0]
