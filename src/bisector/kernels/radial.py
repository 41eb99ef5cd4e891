"""Radial kernels: a bump of the distance between two rows."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from bisector.distances import Distance, Euclidean, Manhattan, resolve as resolve_distance
from bisector.distances.distance import Pairs, Rows
from bisector.distances.reductions import all_distances
from bisector.engine.blocks import spread_rows
from bisector.engine.validation import check_finite
from bisector.engine.values import value
from bisector.kernels.bumps import Bump, ExponentialBump, GaussianBump
from bisector.kernels.embedding import largest_exponent
from bisector.kernels.kernel import Derived, Kernel, Move, Products
from bisector.kernels.scales import SCALES, checked_scale, learned_gamma

Radial = TypeVar("Radial", bound="RadialKernel")

_RULES = ("median", *SCALES)
# The median of distances is taken over at most so many rows: half a million pairs.
_SAMPLED = 1000
# Bandwidths whose squares and reciprocals of squares are still numbers.
_SMALLEST, _LARGEST = 1e-150, 1e150


@value
class RadialKernel(Kernel):
    """φ(d(x, y) / bandwidth) for a bump φ and a distance d."""

    bandwidth: float | str = 1.0
    metric: Distance = Euclidean()

    bump: ClassVar[Bump]
    # φ(z) = exp(−c·z^α)
    exponent: ClassVar[float]

    def __post_init__(self) -> None:
        bandwidth = checked_scale("bandwidth", self.bandwidth, _RULES)
        if not isinstance(bandwidth, str) and not _SMALLEST <= bandwidth <= _LARGEST:
            raise ValueError(
                f"bandwidth is {bandwidth:g}, whose square is no float64 number: bring the rows to another scale."
            )
        if isinstance(self.metric, Kernel):
            raise TypeError(
                f"metric must be a distance, but {self.metric!r} is a kernel: KernelDistance makes a distance "
                "of it."
            )
        self._set(bandwidth=bandwidth, metric=resolve_distance(self.metric))

    @property
    def psd(self) -> bool:
        return largest_exponent(self.metric) >= self.exponent

    @property
    def symmetric(self) -> bool:  # type: ignore[override]
        return self.metric.symmetric

    @property
    def invariances(self) -> frozenset[Move]:
        metric = self.metric
        moves: dict[Move, bool] = {
            "translation": metric.translation_invariant,
            "rotation": metric.rotation_invariant,
            "scale": metric.scale_invariant,
        }
        return frozenset(move for move, changes_nothing in moves.items() if changes_nothing)

    @classmethod
    @abstractmethod
    def from_gamma(cls: type[Radial], gamma: float, **params: Any) -> Radial:
        """Make the kernel from scikit-learn's ``gamma``."""

    def learned(self: Radial, X: Any) -> Radial:
        """Return the kernel with bandwidth and metric learned from rows, where they are left open."""
        metric = self.metric.learned(X)
        if not isinstance(self.bandwidth, str):
            return self if metric is self.metric else replace(self, metric=metric)
        if self.bandwidth == "median":
            return replace(self, bandwidth=median_distance(metric, X), metric=metric)
        return type(self).from_gamma(learned_gamma(self.bandwidth, X), metric=metric)

    def prepare(self, X: Any, like: Rows | None = None, name: str = "X") -> Rows:
        return self.metric.prepare(X, like, name)

    def between(self, outer: Rows, inner: Rows) -> Products:
        return RadialProducts(self, outer, inner)

    def apart(self, outer: Rows, inner: Rows) -> Pairs:
        return RadialDifferences(self, outer, inner)

    def diagonal(self, rows: Rows) -> NDArray[np.float64]:
        return np.ones(len(rows))

    def known_bandwidth(self) -> float:
        """Return the bandwidth, if it is a number already."""
        if isinstance(self.bandwidth, str):
            raise ValueError(
                f"{self!r} does not know its bandwidth yet: use learned(X) to take that of the rows X."
            )
        return self.bandwidth

    @classmethod
    def from_scikit_learn(cls, *, gamma: Any, coef0: Any, degree: Any) -> Mapping[str, Any]:
        if gamma is None or isinstance(gamma, str):
            return {"bandwidth": gamma or "auto"}
        return {"bandwidth": cls.from_gamma(gamma).bandwidth}


@value
class Gaussian(RadialKernel):
    """exp(−d(x, y)² / (2·bandwidth²)) (Flach, Equation 7.14), which scikit-learn calls RBF.

    A row is similar to those within a few bandwidths, and to no others. With Euclidean distance, or one that
    becomes Euclidean by a linear map, it is psd; with others that is not known (`psd` is False).

    The error of a value is at most 1e-12, wherever the rows lie.

    Parameters
    ----------
    bandwidth : float, "median", "scale" or "auto", default=1
        The distance at which similarity has fallen to exp(−1/2). Or a rule by which it is learned from rows:
        the median of the distances between them (of 1,000 rows evenly spaced among them, if there are more);
        or what scikit-learn's ``gamma`` of the same name means, where gamma = 1 / (2·bandwidth²).
    metric : Distance or str, default=Euclidean()
        The distance.

    Examples
    --------
    >>> from bisector.kernels import Gaussian
    >>> round(Gaussian(bandwidth=5.0)([0, 0], [3, 4]), 4)
    0.6065
    >>> Gaussian("median").learned([[0, 0], [3, 4]])
    Gaussian(bandwidth=5.0)
    """

    names = ("gaussian", "rbf")
    bump = GaussianBump()
    exponent = 2.0

    @classmethod
    def from_gamma(cls, gamma: float, **params: Any) -> "Gaussian":
        """Make the kernel from scikit-learn's ``gamma``: exp(−gamma·d²).

        Examples
        --------
        >>> Gaussian.from_gamma(0.5)
        Gaussian()
        """
        return cls(bandwidth=1 / math.sqrt(2 * check_finite("gamma", gamma, above=0)), **params)


@value
class Laplacian(RadialKernel):
    """exp(−d(x, y) / bandwidth), by default of the Manhattan distance, as in scikit-learn.

    Similarity falls at once and then slowly. It is psd with Manhattan, Hamming and Euclidean distance, with
    Minkowski distances of an order from 1 to 2, and with those that become Euclidean by a linear map.

    Parameters
    ----------
    bandwidth : float, "median", "scale" or "auto", default=1
        The distance at which similarity has fallen to 1/e. Or a rule by which it is learned from rows: the
        median of the distances between them (of 1,000 rows evenly spaced among them, if there are more); or
        what scikit-learn's ``gamma`` of the same name means, where gamma = 1 / bandwidth.
    metric : Distance or str, default=Manhattan()
        The distance.

    Examples
    --------
    >>> from bisector.kernels import Laplacian
    >>> round(Laplacian(bandwidth=7.0)([0, 0], [3, 4]), 4)
    0.3679
    """

    bandwidth: float | str = 1.0
    metric: Distance = Manhattan()

    names = ("laplacian",)
    bump = ExponentialBump()
    exponent = 1.0

    @classmethod
    def from_gamma(cls, gamma: float, **params: Any) -> "Laplacian":
        """Make the kernel from scikit-learn's ``gamma``: exp(−gamma·d).

        Examples
        --------
        >>> Laplacian.from_gamma(0.5)
        Laplacian(bandwidth=2.0)
        """
        return cls(bandwidth=1 / check_finite("gamma", gamma, above=0), **params)


class _OfDistances(Derived):
    """Tiles made of distances."""

    def fill(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None:
        tile = np.empty((len(outer), len(inner)))
        self._pairs.fill(outer, inner, tile)
        out[row : row + len(outer), column : column + len(inner)] = self._pairs.finish(tile)
        self.change(outer, inner, out, row, column)


class RadialProducts(_OfDistances):
    """The heights of bumps on all inner rows at all outer rows."""

    def __init__(self, kernel: RadialKernel, outer: Rows, inner: Rows) -> None:
        metric, bandwidth = kernel.metric, kernel.known_bandwidth()
        # Where the bump needs the square of a distance, the root is not worth taking first.
        self._squared = kernel.exponent == 2 and metric.get_params(deep=False).get("squared") is False
        self._factor = 1 / bandwidth**2 if self._squared else 1 / bandwidth
        self._formula = kernel.bump.lower()
        super().__init__((metric.set_params(squared=True) if self._squared else metric).between(outer, inner))

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        from bisector.kernels.bump_formulas import raise_bumps

        raise_bumps(self._formula, self._factor, self._squared, out, row, column, len(outer), len(inner))


class RadialDifferences(_OfDistances):
    """2 − 2·exp(−t): squares of distances in feature space, without losing the small ones."""

    def __init__(self, kernel: RadialKernel, outer: Rows, inner: Rows) -> None:
        super().__init__(kernel.metric.between(outer, inner))
        self._bandwidth = kernel.known_bandwidth()
        self._exponent = kernel.exponent

    def change(self, outer: range, inner: range, out: NDArray[Any], row: int, column: int) -> None:
        part = out[row : row + len(outer), column : column + len(inner)]
        z = part / self._bandwidth
        np.multiply(np.expm1(-0.5 * z * z if self._exponent == 2 else -z), -2.0, out=part)


def median_distance(metric: Distance, X: Any) -> float:
    """Return the median distance between different rows; of those that are not zero, if most are."""
    rows = metric.prepare(X)
    if len(rows) > _SAMPLED:
        rows = rows.take(spread_rows(len(rows), _SAMPLED))
    distances = all_distances(metric, rows).astype(np.float64)[np.triu_indices(len(rows), k=1)]
    median = float(np.median(distances)) if distances.size else 0.0
    if not median:
        positive = distances[distances > 0]
        if not positive.size:
            raise ValueError(
                "A bandwidth cannot be learned from rows that are all equal: give it as a number."
            )
        median = float(np.median(positive))
    return median
