"""Parzen windows: a bump on every row, and their average is the density (LFD 6.4)."""

import math
from collections.abc import Mapping
from copy import copy
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from bisector.density.bandwidths import Widths, find_widths, spread_of, spread_of_source
from bisector.density.boxes import check_box, check_dense, outside, refuse_outside
from bisector.density.density_reasons import density_account, explain_density
from bisector.density.partitioned_windows import InBox, LogDensity
from bisector.density.reflection import folded, mirror_images, reflected
from bisector.distances.distance import Distance
from bisector.distances.estimator_input import check_collection
from bisector.distances.minkowski import Euclidean, Minkowski
from bisector.distances.names import resolve
from bisector.distances.reductions import all_distances
from bisector.engine.dask_questions import Piece, answers_later, answers_now, pieces_of
from bisector.engine.explanation import Explanation
from bisector.engine.lazy_rows import promised
from bisector.engine.row_sums import total_weight
from bisector.engine.sources import is_collection
from bisector.engine.validation import (
    blank,
    check_choice,
    check_count,
    check_finite,
    check_flag,
    check_weights,
    fresh_rows,
    store,
    weighted,
)
from bisector.engine.values import HoldsValues
from bisector.kernels.bumps import Bump, resolve_bump
from bisector.search.choose import build_index
from bisector.search.index import Index
from bisector.solvers.cell_counts import column_ranges
from bisector.solvers.parzen import Arranged, arranged, parzen_sums
from bisector.solvers.parzen_any_metric import parzen_sums_any_metric

Floats = NDArray[np.float64]


class KernelDensity(HoldsValues, BaseEstimator):
    """Density as the average of bumps, one on every training row.

    The density at x is 1/(W r^d) Σ wᵢ c φ(‖x − xᵢ‖/r), where φ is the bump, c its constant, r the bandwidth and
    W the
    sum of the weights. Sums are exact to rounding, everywhere: far from all rows the logarithm is still a number,
    and −inf means that every bump is zero there.

    Parameters
    ----------
    bandwidth : float, "scott", "silverman", "consistent", or array, default=1.0
        The radius r of the bumps; one a feature; or a matrix H, and bumps are ellipsoids (a Gaussian bump has the
        covariance H). The rules give n^(−1/(d+4)), (n(d+2)/4)^(−1/(d+4)) and n^(−1/(2d)), for rows of variance one:
        without `scale` they know nothing of the spread of the data, as in scikit-learn. With weights, n is
        their sum.
    algorithm : {"auto", "kd_tree", "ball_tree"}, default="auto"
        Without effect; as are `breadth_first` and `leaf_size`.
    kernel : str or Bump, default="gaussian"
        ``"gaussian"``, ``"tophat"``, ``"epanechnikov"``, ``"exponential"``, ``"linear"``, ``"cosine"``.
    metric : str, distance or function, default="euclidean"
        With another metric, the constants are still those of balls in d dimensions, as in scikit-learn: the result
        then need not integrate to 1.
    atol, rtol : float, default=0
        The density may be too small by rtol · density + atol, which allows far rows to be left out. It is never
        farther off than this. With a metric other than the Euclidean, sums are always exact.
    breadth_first : bool, default=True
    leaf_size : int, default=40
    metric_params : dict, optional
    scale : {"common", "features", "covariance"}, optional
        Bandwidths are multiplied by the spread of the data: the root of the features' mean variance; the standard
        deviation of each feature; or the covariance matrix, so that bumps have the shape of the data.
    adaptive : bool, default=False
        Bumps are wider where rows are sparse: by the factor (f/g)^(−1/2), where f is the density with equal
        bumps at the row, and g its geometric mean (Abramson).
    bounds : array-like of shape (n_features, 2), optional
        The lowest and highest possible value of each feature, ±inf where there is none. What bumps put beyond is
        reflected, so that no density leaks out. Not with bumps that are askew.
    n_jobs : int, optional
        Threads; all cores by default.

    Attributes
    ----------
    bandwidth_ : float or ndarray
        The width in units of the data; one a feature; or the matrix H.
    local_factors_ : ndarray of shape (n_rows,)
        By what each bump is wider than the bandwidth; ones unless `adaptive`.
    X_fit_ : ndarray
        The training rows, those without weight left out. This, the weights and the factors are not there after a
        fit on a Dask collection.
    weights_fit_ : ndarray
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from bisector import KernelDensity
    >>> rows = np.array([[0.0], [1.0], [5.0]])
    >>> model = KernelDensity(bandwidth=0.5).fit(rows)
    >>> np.exp(model.score_samples([[0.5], [2.0]])).round(4)
    array([0.3226, 0.0361])
    >>> round(model.integrate([(-1, 2)]), 4)  # two of three bumps, nearly
    0.6515
    """

    def __init__(
        self,
        *,
        bandwidth: float | str | ArrayLike = 1.0,
        algorithm: Literal["auto", "kd_tree", "ball_tree"] = "auto",
        kernel: Any = "gaussian",
        metric: Any = "euclidean",
        atol: float = 0,
        rtol: float = 0,
        breadth_first: bool = True,
        leaf_size: int = 40,
        metric_params: Mapping[str, Any] | None = None,
        scale: Literal["common", "features", "covariance"] | None = None,
        adaptive: bool = False,
        bounds: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.algorithm = algorithm
        self.kernel = kernel
        self.metric = metric
        self.atol = atol
        self.rtol = rtol
        self.breadth_first = breadth_first
        self.leaf_size = leaf_size
        self.metric_params = metric_params
        self.scale = scale
        self.adaptive = adaptive
        self.bounds = bounds
        self.n_jobs = n_jobs

    # Of a fit on a Dask collection: its partitions, the density of one, and how much all rows weigh.
    _partitions: tuple[list[Piece], "KernelDensity", float] | None = None
    _bump: Bump
    _distance: Distance
    _widths: Widths
    _bounds: Floats | None
    _numbers: NDArray[np.int64]
    _arranged: Arranged | None
    X_fit_: NDArray[Any]
    weights_fit_: Floats
    local_factors_: Floats

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Put a bump on every row of X.

        Parameters
        ----------
        X : array-like or Dask collection of shape (n_rows, n_features)
            Of a collection, partitions add up their bumps when the density is asked for, where they are.
        y : ignored
        sample_weight : array-like of shape (n_rows,), optional
            A weight counts as so many equal rows.

        Returns
        -------
        self
        """
        stand_in = blank(self)
        check_choice("algorithm", self.algorithm, ("auto", "kd_tree", "ball_tree"))
        check_count("leaf_size", self.leaf_size)
        check_finite("atol", self.atol, at_least=0)
        check_finite("rtol", self.rtol, at_least=0)
        check_flag("breadth_first", self.breadth_first)
        stand_in._bump = resolve_bump(self.kernel)
        distance = resolve(self.metric, metric_params=self.metric_params)
        if is_collection(X):
            return self._fit_partitions(X, sample_weight, distance, stand_in._bump)
        rows = check_dense(stand_in, X, reset=True)
        weights = check_weights(sample_weight, len(rows))
        numbers = np.arange(len(rows))
        if weights is not None and not weights.all():
            numbers = np.flatnonzero(weights)
            rows, weights = rows[numbers], weights[numbers]
        spread = spread_of(rows.astype(np.float64, copy=False), weights)
        widths = find_widths(self.bandwidth, self.scale, spread)
        bounds = self._checked_bounds(rows, widths)
        learned = {
            "_distance": distance.learned(rows),
            "_widths": widths,
            "_bounds": bounds,
            "_numbers": numbers,
            "_partitions": None,
            "bandwidth_": widths.told,
            "X_fit_": rows,
            "weights_fit_": np.ones(len(rows)) if weights is None else weights,
            "local_factors_": np.ones(len(rows)),
        }
        vars(stand_in).update(learned)
        stand_in._arrange()
        if check_flag("adaptive", self.adaptive):
            logs = stand_in._log_density(stand_in.X_fit_)
            middle = np.average(logs, weights=learned["weights_fit_"])
            learned["local_factors_"] = stand_in.local_factors_ = np.exp(-0.5 * (logs - middle))
            stand_in._arrange()
        return store(self, stand_in, **learned, _bump=stand_in._bump, _arranged=stand_in._arranged)

    def _fit_partitions(self, X: Any, sample_weight: Any, distance: Distance, bump: Bump) -> Self:
        """Find the width of the bumps, and leave the rows where they are."""
        if check_flag("adaptive", self.adaptive):
            raise TypeError(
                "X is a Dask collection, and adaptive=True asks for the density at all of its rows: leave it "
                "False, use HistogramDensity, or fit a sample of the rows."
            )
        rows, stand_in = fresh_rows(self, X)
        rows = weighted(rows, sample_weight)
        distance = check_collection(distance, rows)
        total = total_weight(rows)
        widths = find_widths(self.bandwidth, self.scale, spread_of_source(rows, total))
        bounds = None
        if self.bounds is not None:
            bounds = self._checked_bounds(np.stack(column_ranges(rows)), widths)
        model = type(self)(**self.get_params(deep=False))
        model.set_params(bandwidth=widths.told, scale=None, metric=distance, metric_params=None)
        return store(
            self,
            stand_in,
            _bump=bump,
            _distance=distance,
            _widths=widths,
            _bounds=bounds,
            bandwidth_=widths.told,
            _arranged=None,
            _partitions=(pieces_of(rows), model, total),
        )

    def _checked_bounds(self, rows: NDArray[Any], widths: Widths) -> Floats | None:
        if self.bounds is None:
            return None
        bounds = check_box("bounds", self.bounds, rows.shape[1])
        refuse_outside(rows, bounds, "bounds")
        if widths.lower is not None:
            raise ValueError("bounds cannot be kept by bumps that are askew: use scale='features'.")
        return bounds

    def _ask_partitions(self, question: type[LogDensity] | type[InBox], X: Any) -> Any:
        """Ask the partitions on which the density was fitted."""
        assert self._partitions is not None
        pieces, model, total = self._partitions
        asked = copy(self)
        asked._partitions = None
        wanted = question(model, asked, total)
        if is_collection(X):
            return answers_later(wanted, pieces, X, self, np.empty(0))
        return answers_now(wanted, pieces, X, "adding bumps")

    def _refuse_partitions(self) -> None:
        check_is_fitted(self)
        if self._partitions is not None:
            raise TypeError(
                "This density was fitted on a Dask collection, whose rows stay where they are, and can be scored "
                "and integrated only: for all else fit a sample of the rows."
            )

    def score_samples(self, X: Any) -> Floats:
        """Return the logarithm of the density at every row of X; for a Dask collection, lazily."""
        check_is_fitted(self)
        if self._partitions is not None:
            return self._ask_partitions(LogDensity, X)
        if is_collection(X):
            return promised(type(self).score_samples, self, X)
        rows = check_dense(self, X, reset=False).astype(np.float64, copy=False)
        if self._bounds is None:
            return self._log_density(rows)
        reach = self._reach()
        known = self.X_fit_.astype(np.float64, copy=False)
        nearby = np.stack([known.min(axis=0) - reach, known.max(axis=0) + reach], axis=1)
        logs = np.full(len(rows), -np.inf)
        for number, images in enumerate(reflected(rows, self._bounds, reach)):
            near = slice(None) if number == 0 else np.flatnonzero(~outside(images, nearby))
            if len(images[near]):
                logs[near] = np.logaddexp(logs[near], self._log_density(images[near]))
        logs[outside(rows, self._bounds)] = -np.inf
        return logs

    def explain_rows(self, X: Any) -> list[Explanation]:
        """Say why the density is as high as it is at each row: what the bump on each training row adds.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)

        Returns
        -------
        list of Explanation
            The answer is the log density; the account adds up to the density.
        """
        self._refuse_partitions()
        logs = self.score_samples(X)
        rows = check_dense(self, X, reset=False).astype(np.float64, copy=False)
        images = [rows] if self._bounds is None else reflected(rows, self._bounds, self._reach())
        explained = []
        for i, log in enumerate(logs.tolist()):
            parts = self._log_parts(images[0][i])
            for image in images[1:]:
                parts = np.logaddexp(parts, self._log_parts(image[i]))
            numbers = self._numbers
            account = None if log == -np.inf else density_account(parts, rows=numbers)
            explained.append(explain_density(log, account))
        return explained

    def _log_parts(self, row: Floats) -> Floats:
        """Return the logarithm of what the bump on each training row adds to the density at a place."""
        d, factors = self.n_features_in_, self.local_factors_
        if self._euclidean:
            steps = self._widths.units(self._centred(self.X_fit_)) - self._widths.units(
                self._centred(row[None])
            )
            far = np.linalg.norm(steps, axis=1) / factors
        else:
            prepared = self._distance.prepare(self.X_fit_)
            apart = all_distances(self._distance, self._distance.prepare(row[None], prepared), prepared)[0]
            far = apart.astype(np.float64) / (self._widths.along[0] * factors)
        constant = self._bump.log_constant(d) - self._widths.log_volume - math.log(self.weights_fit_.sum())
        return self._bump.log_height(far) + np.log(self.weights_fit_) - d * np.log(factors) + constant

    def _reach(self) -> Floats:
        """Return how far the widest bump reaches along each feature."""
        return np.asarray(self._bump.reach * self._widths.along * self.local_factors_.max())

    def score(self, X: Any, y: Any = None) -> float:
        """Return the logarithm of the likelihood of all rows of X together."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples: int = 1, random_state: Any = None) -> Floats:
        """Draw rows from the density: a training row by its weight, and a place in its bump."""
        self._refuse_partitions()
        check_count("n_samples", n_samples)
        if not self._euclidean:
            raise NotImplementedError(
                "Rows are drawn from bumps in Euclidean space only: fit with metric='euclidean'."
            )
        rng = check_random_state(random_state)
        share = np.cumsum(self.weights_fit_ / self.weights_fit_.sum())
        chosen = np.minimum(np.searchsorted(share, rng.uniform(size=n_samples), side="right"), len(share) - 1)
        d = self.n_features_in_
        directions = rng.normal(size=(n_samples, d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        far = self._bump.radii(n_samples, d, rng) * self.local_factors_[chosen]
        drawn = self.X_fit_[chosen] + self._widths.steps(directions * far[:, None])
        return drawn if self._bounds is None else folded(drawn, self._bounds)

    def integrate(self, box: ArrayLike) -> float:
        """Return the probability of a box.

        It is exact for Gaussian bumps along the axes, and for all bumps of a single feature.

        Parameters
        ----------
        box : array-like of shape (n_features, 2)
            The lowest and highest value of each feature; ±inf for no limit.
        """
        check_is_fitted(self)
        sides = check_box("box", box, self.n_features_in_)
        if self._partitions is not None:
            return float(self._ask_partitions(InBox, sides))
        askew = self._widths.lower is not None
        known = self._bump.separable or self.n_features_in_ == 1
        if not self._euclidean or askew or not known:
            raise NotImplementedError(
                "Only Gaussian bumps along the axes, or bumps of one feature, have a known integral over a box: "
                "count how many rows of sample(100_000) lie in it."
            )
        if self._bounds is not None:
            sides = np.clip(sides, self._bounds[:, :1], self._bounds[:, 1:])
        masses = np.ones(len(self.X_fit_))
        for j, (low, high) in enumerate(sides):
            masses *= self._interval_masses(j, low, high)
        return float(np.average(masses, weights=self.weights_fit_))

    @property
    def tree_(self) -> Index:
        """The training rows as an index, which can be searched; built when it is asked for."""
        self._refuse_partitions()
        return build_index(self.X_fit_, self._distance)

    @property
    def _euclidean(self) -> bool:
        return self._distance in (Euclidean(), Minkowski(2))

    def _arrange(self) -> None:
        self._arranged = None
        if self._euclidean:
            d, factors = self.n_features_in_, self.local_factors_
            units = self._widths.units(self._centred(self.X_fit_))
            self._arranged = arranged(units, self.weights_fit_ * factors**-d, factors**-2.0)

    def _centred(self, rows: NDArray[Any]) -> Floats:
        return rows.astype(np.float64, copy=False) - self.X_fit_[0].astype(np.float64)

    def _log_density(self, rows: NDArray[Any]) -> Floats:
        """Return the logarithm of the density without bounds."""
        d = self.n_features_in_
        factor = self._bump.log_constant(d) - self._widths.log_volume - math.log(self.weights_fit_.sum())
        if self._arranged is not None:
            absolute = self.atol * math.exp(-factor) if self.atol else 0.0
            found = parzen_sums(
                self._bump,
                self._arranged,
                self._widths.units(self._centred(rows)),
                relative=self.rtol,
                absolute=absolute,
                n_jobs=self.n_jobs,
            )
            return found.logs + factor
        if not (self._widths.along == self._widths.along[0]).all() or self._widths.lower is not None:
            raise ValueError("A bandwidth for each feature needs metric='euclidean'.")
        prepared = self._distance.prepare(self.X_fit_)
        logs = parzen_sums_any_metric(
            self._bump,
            self._distance,
            prepared,
            self._distance.prepare(rows, prepared),
            self._widths.along[0] * self.local_factors_,
            self.weights_fit_ * self.local_factors_**-d,
            n_jobs=self.n_jobs,
        )
        return logs + factor

    def _interval_masses(self, j: int, low: float, high: float) -> Floats:
        """Return how much of every bump lies between two values of a feature, mirror images included."""
        centres, widths = self.X_fit_[:, j], self._widths.along[j] * self.local_factors_
        places = [np.array([low, high])]
        if self._bounds is not None:
            reach = self._bump.reach * float(widths.max())
            places = mirror_images(places[0], self._bounds[j], reach)
        total = np.zeros(len(centres))
        for ends in places:
            below, above = ((end - centres) / widths for end in np.sort(ends))
            total += self._bump.cumulative(above) - self._bump.cumulative(below)
        return total
