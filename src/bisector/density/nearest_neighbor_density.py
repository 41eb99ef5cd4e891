"""Density from neighbours: how large a ball must be to hold k rows (LFD 6.4)."""

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bisector.density.boxes import check_box, check_dense, outside, refuse_outside
from bisector.density.density_reasons import density_account, explain_density
from bisector.density.neighbor_samples import draw_places
from bisector.distances.estimator_input import check_collection
from bisector.distances.minkowski import Euclidean
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import promised
from bisector.engine.show import number
from bisector.engine.sources import is_collection
from bisector.engine.validation import blank, check_choice, check_count, fresh_rows, store
from bisector.kernels.bumps import log_ball
from bisector.search.choose import build_index
from bisector.search.index import Index
from bisector.search.partitioned_index import Near, NearestQuestion, PartitionedIndex

Floats = NDArray[np.float64]

# Places at which the density is integrated to normalise it, and in how many independent lots.
_PLACES, _LOTS = 2**12, 8


class NearestNeighborDensity(BaseEstimator):
    """Density as c·k/(N·Vₖ(x)), where Vₖ(x) is the volume of the smallest ball about x that holds k rows.

    Over unbounded space this has no integral: far away it falls like 1/‖x‖^d. Without a `box` it is therefore a
    score with c = 1, not a density; `normalised_` says which.

    Parameters
    ----------
    n_neighbors : int or "sqrt", default="sqrt"
        k; by default the root of the number of rows.
    box : array-like of shape (n_features, 2), optional
        Where rows can be. The density is zero outside, and c makes it integrate to one inside.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
    n_jobs : int, optional

    Attributes
    ----------
    normalised_ : bool
    log_factor_ : float
        log c: 0 without a box.
    log_factor_error_ : float
        Its standard error, since c is found by quasi-random integration, with a fixed seed.
    index_ : Index
        The training rows, which can be searched.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import NearestNeighborDensity
    >>> model = NearestNeighborDensity(n_neighbors=1).fit([[0.0], [10.0]])
    >>> np.exp(model.score_samples([[1.0]]))  # one of two rows in an interval of length 2
    array([0.25])
    >>> model.normalised_
    False
    >>> bounded = NearestNeighborDensity(n_neighbors=2, box=[(0, 10)]).fit([[2.0], [3.0], [7.0], [7.5]])
    >>> bounded.sample(3, random_state=0).round(2).tolist()
    [[9.43], [7.53], [7.28]]
    """

    def __init__(
        self,
        n_neighbors: int | Literal["sqrt"] = "sqrt",
        *,
        box: ArrayLike | None = None,
        algorithm: Literal["auto", "brute", "kd_tree", "ball_tree"] = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.box = box
        self.algorithm = algorithm
        self.n_jobs = n_jobs

    index_: Index | PartitionedIndex
    normalised_: bool
    log_factor_: float
    _k: int
    _box: Floats | None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Keep the rows, and find c if there is a box."""
        if is_collection(X):
            index: Any
            rows, stand_in, index = self._partitions(X)
        else:
            stand_in = blank(self)
            rows = check_dense(stand_in, X, reset=True)
            index = build_index(rows, "euclidean", algorithm=self.algorithm)
        if isinstance(self.n_neighbors, str):
            check_choice("n_neighbors", self.n_neighbors, ("sqrt",))
            k = max(1, math.isqrt(len(index)))
        else:
            k = check_count("n_neighbors", self.n_neighbors)
            if k > len(index):
                raise ValueError(f"n_neighbors is {k}, but there are only {len(index)} rows: ask for fewer.")
        stand_in._k, stand_in._box = k, None
        stand_in.index_ = index
        factor, error = 0.0, 0.0
        if self.box is not None:
            box = check_box("box", self.box, rows.shape[1])
            if not np.isfinite(box).all():
                raise ValueError("box must be bounded: over unbounded space a k-NN density has no integral.")
            refuse_outside(rows, box, "box")
            factor, error = stand_in._normaliser(box)
            stand_in._box = box
        return store(
            self,
            stand_in,
            _k=k,
            _box=stand_in._box,
            normalised_=self.box is not None,
            log_factor_=factor,
            log_factor_error_=error,
        )

    def _partitions(self, X: Any) -> tuple[Any, Any, PartitionedIndex]:
        """Leave the rows of a Dask collection where they are, to be searched there."""
        if self.box is not None:
            raise TypeError(
                "X is a Dask collection, and the density in a box is divided by its integral, which asks for the "
                "neighbours of all rows: leave box=None, use HistogramDensity, or fit a sample of the rows."
            )
        rows, stand_in = fresh_rows(self, X)
        distance = check_collection(Euclidean(), rows)
        return rows, stand_in, PartitionedIndex(rows, distance, algorithm=self.algorithm)

    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at every row of X: +inf where k rows are equal to it."""
        check_is_fitted(self)
        if is_collection(X):
            if not isinstance(self.index_, PartitionedIndex):
                return promised(type(self).score_samples, self, X)
            light = copy(self)
            del light.index_
            question = self.index_.question(self._k)
            asked = Reach(
                question.distance, question.algorithm, question.leaf_size, self._k, light, len(self.index_)
            )
            return self.index_.later(asked, X, self, np.empty(0))
        rows = check_dense(self, X, reset=False)
        logs = self._log_raw(rows) + self.log_factor_
        if self._box is not None:
            logs[outside(rows, self._box)] = -np.inf
        return logs

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why the density is as high as it is at each row: the k nearest rows, each with its share.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            The answer is the log density; the account by neighbours adds up to the density, or where that is
            infinite to one.
        """
        logs = self.score_samples(X)
        rows = check_dense(self, X, reset=False)
        distances, ids = self.index_.query(rows, self._k, n_jobs=self.n_jobs)
        positions = self.index_.positions(ids)
        explained = []
        for log, apart, near in zip(logs.tolist(), distances, positions, strict=True):
            share = np.full(self._k, log - math.log(self._k))
            account = None
            if log > -math.inf:
                share = share if log < math.inf else np.zeros(self._k)
                account = density_account(share, rows=near, columns={"distance": apart})
            found = explain_density(log, account)
            reach = f"{self._k} of {len(self.index_):,} rows lie within {number(float(apart[-1]))}"
            outside = log == -math.inf
            said = found.summary if outside else f"The log density is {number(log)}: {reach}."
            explained.append(replace(found, summary=said))
        return explained

    def score(self, X: Any, y: Any = None) -> float:
        """Return the logarithm of the likelihood of all rows of X together."""
        return float(np.sum(self.score_samples(X)))

    def integrate(self, box: ArrayLike) -> float:
        """Return the probability of a part of the box, by quasi-random integration.

        Raises
        ------
        ValueError
            Without a box: the density is then not normalised.
        """
        check_is_fitted(self)
        whole = self._bounded()
        part = check_box("box", box, self.n_features_in_)
        part = np.clip(part, whole[:, :1], whole[:, 1:])
        if (part[:, 0] >= part[:, 1]).any():
            return 0.0
        return float(np.exp(self._log_integrals(part).mean() + self.log_factor_))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw rows from the density in the box, exactly: places are drawn below bounds on it, and some are kept.

        Raises
        ------
        ValueError
            Without a box: the density is then not normalised. In many dimensions, where bounds are too far off.
        """
        check_is_fitted(self)
        check_count("n_samples", n_samples)
        box = self._bounded()
        # Of the k rows nearest to a place each has all k within twice their reach.
        floor = float(self._own_reach().min()) / 2
        return draw_places(self._reach, box, floor, n_samples, check_random_state(random_state))

    def _bounded(self) -> Floats:
        if self._box is None:
            raise ValueError(
                "Over unbounded space a k-NN density has no integral: give the box in which rows can be."
            )
        return self._box

    def _reach(self, rows: NDArray[Any]) -> Floats:
        distances, _ = self.index_.query(rows, self._k, n_jobs=self.n_jobs)
        return np.asarray(distances[:, -1], dtype=np.float64)

    def _own_reach(self) -> Floats:
        distances, _ = self.index_.query_prepared(self.index_.rows, self._k, n_jobs=self.n_jobs)
        return np.asarray(distances[:, -1], dtype=np.float64)

    def _log_raw(self, rows: NDArray[Any]) -> Floats:
        return log_densities(self._reach(rows), self._k / len(self.index_), rows.shape[1])

    def _normaliser(self, box: Floats) -> tuple[float, float]:
        """Return −log of the integral over the box, and its standard error."""
        own = self._own_reach()
        if not own.all():  # 1/r^d about a row has no integral
            row = int(np.flatnonzero(own == 0)[0])
            raise ValueError(
                f"At row {row} the density is infinite, and has no integral, since {self._k} row(s) lie "
                "there: raise n_neighbors."
            )
        logs = self._log_integrals(box)
        return -float(logs.mean()), float(logs.std(ddof=1) / math.sqrt(len(logs)))

    def _log_integrals(self, box: Floats) -> Floats:
        """Return logarithms of estimates of the integral over a box, each from places of its own."""
        volume = float(np.log(box[:, 1] - box[:, 0]).sum())
        estimates = []
        for lot in range(_LOTS):
            shift = np.random.default_rng(lot).uniform(size=len(box))
            places = (shift + np.arange(_PLACES)[:, None] * _steps(len(box))) % 1.0
            raw = self._log_raw(box[:, 0] + places * (box[:, 1] - box[:, 0]))
            peak = raw.max()
            estimates.append(volume + peak + math.log(np.exp(raw - peak).mean()))
        return np.array(estimates)


def log_densities(reach: Floats, share: float, d: int) -> Floats:
    """Return the logarithm of the density where a ball of this radius holds this share of the rows."""
    with np.errstate(divide="ignore"):
        logs: Floats = math.log(share) - log_ball(d) - d * np.log(reach)
    return logs


@dataclass(frozen=True, eq=False)
class Reach(NearestQuestion):
    """How far the k-th nearest row is, and how dense that makes it."""

    model: NearestNeighborDensity
    n_rows: int

    def prepare(self, queries: Any) -> Any:
        return check_dense(self.model, queries, reset=False)

    def finish(self, answer: Near, queries: Any) -> Floats:
        return log_densities(answer.distances[:, -1], self.k / self.n_rows, queries.shape[1])


def _steps(d: int) -> Floats:
    """Return steps whose multiples fill the unit cube evenly: powers of the root of g^(d+1) = g + 1."""
    g = 2.0
    for _ in range(60):
        g = (1 + g) ** (1 / (d + 1))
    return g ** -np.arange(1.0, d + 1)
