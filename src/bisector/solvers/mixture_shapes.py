"""The shapes that the bumps of a Gaussian mixture may have: one class each for full, tied, diagonal and round ones.

A shape knows how covariances follow from sums over rows, how they are kept above a floor, and how steps are
*whitened*: measured in standard deviations, so that a bump's exponent is −½ of the squared length.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Shape(ABC):
    """What covariances look like: arrays of shape (k, d, d), (d, d), (k, d) or (k,)."""

    name: ClassVar[str]

    @abstractmethod
    def covariances(self, scatter: Floats, counts: Floats) -> Floats:
        """Return the covariances of the highest likelihood, from Σ γ (x − μ)(x − μ)ᵀ as the shape gathers it."""

    @abstractmethod
    def floored(self, covariances: Floats, floor: float) -> Floats:
        """Return the most likely covariances of which no variance, in any direction, is below the floor."""

    @abstractmethod
    def added(self, covariances: Floats, ridge: float) -> Floats:
        """Return the covariances with a number added to every variance."""

    @abstractmethod
    def roots(self, covariances: Floats) -> Floats:
        """Return P with P Pᵀ = Σ⁻¹, upper triangular; of diagonal shapes, inverse standard deviations."""

    @abstractmethod
    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        """Return the covariances as matrices, one a component."""

    @abstractmethod
    def n_parameters(self, k: int, d: int) -> int:
        """Count the free parameters of the covariances."""

    @abstractmethod
    def alike(self, variances: Floats, k: int) -> Floats:
        """Return covariances of k components that all have these variances along the axes."""

    @abstractmethod
    def wanted(self, k: int, d: int) -> tuple[int, ...]:
        """Return the shape of the array of covariances."""


class Full(Shape):
    """Every component has a covariance matrix of its own."""

    name = "full"

    def covariances(self, scatter: Floats, counts: Floats) -> Floats:
        return scatter / counts[:, None, None]

    def floored(self, covariances: Floats, floor: float) -> Floats:
        # Of all Σ ⪰ floor·I, that of the highest likelihood has the same axes, with variances cut at the floor.
        variances, axes = np.linalg.eigh(covariances)
        low = variances.min(axis=-1) < floor
        if not np.any(low):
            return covariances
        cut = (axes * np.maximum(variances, floor)[..., None, :]) @ np.swapaxes(axes, -1, -2)
        return np.where(low[..., None, None], cut, covariances)

    def added(self, covariances: Floats, ridge: float) -> Floats:
        return covariances + ridge * np.eye(covariances.shape[-1])

    def roots(self, covariances: Floats) -> Floats:
        from scipy.linalg.lapack import dtrtri

        lower = np.linalg.cholesky(covariances)
        flat = lower.reshape(-1, *lower.shape[-2:])
        made = np.stack([dtrtri(one, lower=1)[0].T for one in flat])
        return made.reshape(covariances.shape)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return covariances

    def n_parameters(self, k: int, d: int) -> int:
        return k * d * (d + 1) // 2

    def alike(self, variances: Floats, k: int) -> Floats:
        return np.tile(np.diag(variances), (k, 1, 1))

    def wanted(self, k: int, d: int) -> tuple[int, ...]:
        return (k, d, d)


class Tied(Full):
    """All components share one covariance matrix."""

    name = "tied"

    def covariances(self, scatter: Floats, counts: Floats) -> Floats:
        return scatter / counts.sum()

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.broadcast_to(covariances, (k, d, d))

    def n_parameters(self, k: int, d: int) -> int:
        return d * (d + 1) // 2

    def alike(self, variances: Floats, k: int) -> Floats:
        return np.diag(variances)

    def wanted(self, k: int, d: int) -> tuple[int, ...]:
        return (d, d)


class Diagonal(Shape):
    """Every component has a variance for each feature."""

    name = "diag"

    def covariances(self, scatter: Floats, counts: Floats) -> Floats:
        return scatter / counts[:, None]

    def floored(self, covariances: Floats, floor: float) -> Floats:
        return np.maximum(covariances, floor)

    def added(self, covariances: Floats, ridge: float) -> Floats:
        return covariances + ridge

    def roots(self, covariances: Floats) -> Floats:
        if (covariances <= 0).any():
            raise np.linalg.LinAlgError("a variance is zero")
        return 1 / np.sqrt(covariances)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.eye(d) * covariances[:, None, :]

    def n_parameters(self, k: int, d: int) -> int:
        return k * d

    def alike(self, variances: Floats, k: int) -> Floats:
        return np.tile(variances, (k, 1))

    def wanted(self, k: int, d: int) -> tuple[int, ...]:
        return (k, d)


class Spherical(Diagonal):
    """Every component has one variance, the same in all directions."""

    name = "spherical"

    def covariances(self, scatter: Floats, counts: Floats) -> Floats:
        return (scatter / counts[:, None]).mean(axis=1)

    def matrices(self, covariances: Floats, k: int, d: int) -> Floats:
        return np.eye(d) * covariances[:, None, None]

    def n_parameters(self, k: int, d: int) -> int:
        return k

    def alike(self, variances: Floats, k: int) -> Floats:
        return np.full(k, variances.mean())

    def wanted(self, k: int, d: int) -> tuple[int, ...]:
        return (k,)


SHAPES: dict[str, Shape] = {shape.name: shape for shape in (Full(), Tied(), Diagonal(), Spherical())}


def inverse(shape: Shape, roots: Floats) -> Any:
    """Return Σ⁻¹ from its roots, in the form of the covariances."""
    return roots**2 if isinstance(shape, Diagonal) else roots @ np.swapaxes(roots, -1, -2)
