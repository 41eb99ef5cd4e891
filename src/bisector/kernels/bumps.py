"""Bumps: radial functions of a distance, with the constants that make them densities (LFD 6.3 and 6.4)."""

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.engine.validation import check_count
from bisector.engine.values import Value, value
from bisector.kernels.lookup import Named, named_class

Floats = NDArray[np.float64]


class Bump(Named, Value):
    """A function φ(z) of the distance from a centre, in units of the bump's radius: z = distance / r ≥ 0.

    It is 1 at the centre and never rises away from it. ``constant(d) / r**d * bump(distance / r)`` is a
    density in d dimensions.

    Attributes
    ----------
    support : float
        Beyond which z it is zero: 1, or infinity.
    reach : float
        Beyond which z it holds nothing that could be seen in a sum of float64 numbers.
    separable : bool
        Whether in several dimensions it is the product of bumps of one, so that boxes have a known integral.
    """

    support: ClassVar[float] = 1.0
    reach: ClassVar[float] = 1.0
    separable: ClassVar[bool] = False

    @abstractmethod
    def lower(self) -> Any:
        """Return the formula as compiled loops see it: ``height(z)`` and ``height_of_square(z * z)``."""

    @abstractmethod
    def _log_constant(self, d: int) -> float: ...

    def log_height(self, z: Floats) -> Floats:
        """Return the logarithm of the height at z, a number even where the height itself is too small for one."""
        with np.errstate(divide="ignore"):
            return np.log(self(z))

    @abstractmethod
    def cumulative(self, z: Floats) -> Floats:
        """Return how much of the bump lies below z on a line, where z may be negative: from 0 to 1."""

    @abstractmethod
    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        """Draw how far from the centre n points of the density in d dimensions lie, in units of the radius."""

    def log_constant(self, d: int) -> float:
        """Return the logarithm of `constant`, which stays a number in hundreds of dimensions."""
        return self._log_constant(check_count("d", d))

    def constant(self, d: int) -> float:
        """Return c for which c·φ(‖x‖) integrates to 1 over d-dimensional space."""
        return math.exp(self.log_constant(d))

    def __call__(self, z: ArrayLike) -> Any:
        """Return the height at z, a number or an array of distances in units of the radius."""
        from bisector.kernels.bump_formulas import raise_bumps

        heights = np.array(z, dtype=np.float64, order="C", ndmin=2)
        if heights.size and not heights.min() >= 0:
            raise ValueError("z must hold distances, which are not negative and not NaN.")
        tile = heights.reshape(1, -1)
        raise_bumps(self.lower(), 1.0, False, tile, 0, 0, 1, tile.shape[1])
        return float(tile[0, 0]) if np.ndim(z) == 0 else tile.reshape(np.shape(z))


@value
class GaussianBump(Bump):
    """φ(z) = exp(−z²/2), the bell.

    Examples
    --------
    >>> from bisector.kernels import GaussianBump
    >>> round(GaussianBump()(1.0), 4)
    0.6065
    >>> round(GaussianBump().constant(1), 4)
    0.3989
    """

    names = ("gaussian",)
    support = math.inf
    reach = 9.0
    separable = True

    def lower(self) -> Any:
        from bisector.kernels.bump_formulas import GaussianHeight

        return GaussianHeight()

    def _log_constant(self, d: int) -> float:
        return -0.5 * d * math.log(2 * math.pi)

    def log_height(self, z: Floats) -> Floats:
        return -0.5 * z * z

    def cumulative(self, z: Floats) -> Floats:
        from scipy.special import ndtr

        return np.asarray(ndtr(z))

    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        return np.sqrt(rng.chisquare(d, size=n))


@value
class WindowBump(Bump):
    """φ(z) = 1 for z ≤ 1, else 0: every row within the radius counts alike.

    Examples
    --------
    >>> from bisector.kernels import WindowBump
    >>> WindowBump()([0.5, 1.0, 1.5])
    array([1., 1., 0.])
    >>> round(WindowBump().constant(1), 4)
    0.5
    """

    names = ("window", "tophat")

    def lower(self) -> Any:
        from bisector.kernels.bump_formulas import WindowHeight

        return WindowHeight()

    def _log_constant(self, d: int) -> float:
        return -log_ball(d)

    def cumulative(self, z: Floats) -> Floats:
        return 0.5 * (1 + np.clip(z, -1, 1))

    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        return rng.uniform(size=n) ** (1 / d)


@value
class EpanechnikovBump(Bump):
    """φ(z) = 1 − z² for z ≤ 1, else 0: the one that estimates a density with the least squared error.

    Examples
    --------
    >>> from bisector.kernels import EpanechnikovBump
    >>> round(EpanechnikovBump().constant(1), 4)
    0.75
    """

    names = ("epanechnikov",)

    def lower(self) -> Any:
        from bisector.kernels.bump_formulas import EpanechnikovHeight

        return EpanechnikovHeight()

    def _log_constant(self, d: int) -> float:
        return math.log((d + 2) / 2) - log_ball(d)

    def cumulative(self, z: Floats) -> Floats:
        z = np.clip(z, -1, 1)
        return 0.25 * (2 + 3 * z - z**3)

    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        return np.sqrt(rng.beta(d / 2, 2, size=n))


@value
class ExponentialBump(Bump):
    """φ(z) = exp(−z): a peak with long tails.

    Examples
    --------
    >>> from bisector.kernels import ExponentialBump
    >>> round(ExponentialBump().constant(1), 4)
    0.5
    """

    names = ("exponential",)
    support = math.inf
    reach = 45.0

    def lower(self) -> Any:
        from bisector.kernels.bump_formulas import ExponentialHeight

        return ExponentialHeight()

    def _log_constant(self, d: int) -> float:
        return -log_ball(d) - math.lgamma(d + 1)

    def log_height(self, z: Floats) -> Floats:
        return -z

    def cumulative(self, z: Floats) -> Floats:
        tail = 0.5 * np.exp(-np.abs(z))
        return np.where(z < 0, tail, 1 - tail)

    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        return rng.gamma(d, size=n)


@value
class TriangularBump(Bump):
    """φ(z) = 1 − z for z ≤ 1, else 0; scikit-learn calls it linear.

    Examples
    --------
    >>> from bisector.kernels import TriangularBump
    >>> round(TriangularBump().constant(1), 4)
    1.0
    """

    names = ("triangular", "linear")

    def lower(self) -> Any:
        from bisector.kernels.bump_formulas import TriangularHeight

        return TriangularHeight()

    def _log_constant(self, d: int) -> float:
        return math.log(d + 1) - log_ball(d)

    def cumulative(self, z: Floats) -> Floats:
        z = np.clip(z, -1, 1)
        return 0.5 + z - 0.5 * z * np.abs(z)

    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        return rng.beta(d, 2, size=n)


@value
class CosineBump(Bump):
    """φ(z) = cos(πz/2) for z ≤ 1, else 0.

    Examples
    --------
    >>> from bisector.kernels import CosineBump
    >>> round(CosineBump().constant(1), 4)  # π/4
    0.7854
    """

    names = ("cosine",)

    def lower(self) -> Any:
        from bisector.kernels.bump_formulas import CosineHeight

        return CosineHeight()

    def _log_constant(self, d: int) -> float:
        return -log_ball(d) - math.log(d) - _log_cosine_moment(d)

    def cumulative(self, z: Floats) -> Floats:
        return 0.5 * (1 + np.sin(0.5 * np.pi * np.clip(z, -1, 1)))

    def radii(self, n: int, d: int, rng: np.random.RandomState) -> Floats:
        # cos(πz/2) = sin(π(1 − z)/2) is at most π/2 · (1 − z), and nowhere less than 2/π of that: triangular
        # bumps are drawn from, and some draws refused.
        kept: list[Floats] = []
        while (missing := n - sum(map(len, kept))) > 0:
            drawn = rng.beta(d, 2, size=2 * missing + 8)
            height = np.sinc(0.5 * (1 - drawn))
            kept.append(drawn[rng.uniform(size=len(drawn)) < height][:missing])
        return np.concatenate([*kept, np.empty(0)])


def resolve_bump(bump: Any) -> Bump:
    """Return the bump that a parameter means: a name, such as scikit-learn's ``"tophat"``, or a bump itself.

    Examples
    --------
    >>> from bisector.kernels import resolve_bump
    >>> resolve_bump("tophat")
    WindowBump()
    """
    if isinstance(bump, Bump):
        return bump
    return named_class(Bump, "bump", bump)()  # type: ignore[type-abstract]


def log_ball(d: int) -> float:
    """Return the logarithm of the volume of the unit ball in d dimensions, π^(d/2) / Γ(d/2 + 1).

    Examples
    --------
    >>> from bisector.kernels.bumps import log_ball
    >>> round(math.exp(log_ball(3)), 4)  # 4π/3
    4.1888
    """
    return 0.5 * d * math.log(math.pi) - math.lgamma(0.5 * d + 1)


def _log_cosine_moment(d: int) -> float:
    """Return the logarithm of ∫₀¹ cos(πz/2) z^(d−1) dz.

    The usual recursion over d loses its digits within a dozen dimensions. Expanding sin(π(1 − z)/2) around z
    = 1 instead gives terms that fall by more than (π/2)²/((d + 2)(d + 3)) each.
    """
    total, term, k = 0.0, 1.0, 0
    while abs(term) > 1e-18:
        total += term
        k += 1
        term *= -((math.pi / 2) ** 2) / ((d + 2 * k) * (d + 2 * k + 1))
    return math.log(math.pi / 2) - math.log(d) - math.log(d + 1) + math.log(total)
