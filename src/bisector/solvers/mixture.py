"""A Gaussian mixture as plain arrays: Σₖ πₖ N(x; μₖ, Σₖ), its logarithm, and what each component has in a row."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.mixture_shapes import Diagonal, Shape, Tied, inverse

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mixture:
    """Weights, means and covariances of Gaussian components.

    Attributes
    ----------
    weights : ndarray of shape (k,)
        Which add up to one.
    means : ndarray of shape (k, d)
    covariances : ndarray
        As `shape` has it.
    shape : Shape

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.mixture import Mixture
    >>> from bisector.solvers.mixture_shapes import SHAPES
    >>> two = Mixture(np.array([0.5, 0.5]), np.array([[0.0], [4.0]]), np.array([1.0, 1.0]), SHAPES["spherical"])
    >>> logs = two.log_parts(np.array([[2.0]]))
    >>> bool(logs[0, 0] == logs[0, 1])  # half way between equal bumps
    True
    """

    weights: Floats
    means: Floats
    covariances: Floats
    shape: Shape

    @property
    def k(self) -> int:
        return len(self.means)

    @cached_property
    def roots(self) -> Floats:
        """P with P Pᵀ = Σ⁻¹, as `shape` has it."""
        return self.shape.roots(self.covariances)

    @cached_property
    def precisions(self) -> Floats:
        """Σ⁻¹, as `shape` has it."""
        made: Floats = inverse(self.shape, self.roots)
        return made

    @cached_property
    def log_heights(self) -> Floats:
        """The logarithm of each weighted component at its mean."""
        d, roots = self.means.shape[1], self.roots
        if isinstance(self.shape, Diagonal):
            spread = np.log(np.broadcast_to(roots.reshape(self.k, -1), (self.k, d))).sum(axis=1)
        else:
            spread = np.log(np.diagonal(roots, axis1=-2, axis2=-1)).sum(axis=-1)
        with np.errstate(divide="ignore"):
            return np.log(self.weights) - 0.5 * d * math.log(2 * math.pi) + spread

    @cached_property
    def stacked(self) -> Floats:
        """The roots of all components side by side: one product whitens rows for all of them."""
        return np.ascontiguousarray(self.roots.transpose(1, 0, 2).reshape(self.means.shape[1], -1))

    def log_parts(self, X: NDArray[Any]) -> Floats:
        """Return log πₖ N(x; μₖ, Σₖ) for every row and component."""
        X = X.astype(np.float64, copy=False)
        parts = np.empty((len(X), self.k))
        tied = X @ self.roots if isinstance(self.shape, Tied) else None
        for j, (mean, height) in enumerate(zip(self.means, self.log_heights, strict=True)):
            if tied is not None:
                away = tied - mean @ self.roots
            elif isinstance(self.shape, Diagonal):
                away = (X - mean) * self.roots[j]
            else:
                away = (X - mean) @ self.roots[j]
            parts[:, j] = height - 0.5 * np.einsum("ij,ij->i", away, away)
        return parts

    def drawn(self, n: int, rng: np.random.RandomState) -> tuple[Floats, NDArray[np.int64]]:
        """Draw rows, component by component, and say of which component each is."""
        counts = rng.multinomial(n, self.weights / self.weights.sum())
        d = self.means.shape[1]
        lowers = np.linalg.cholesky(self.shape.matrices(self.covariances, self.k, d))
        parts = [
            mean + rng.standard_normal(size=(count, d)) @ lower.T
            for mean, lower, count in zip(self.means, lowers, counts, strict=True)
        ]
        return np.concatenate(parts), np.repeat(np.arange(self.k), counts)


def log_totals(parts: Floats) -> Floats:
    """Return the logarithm of the sum of every row's parts, which may be tiny."""
    peak = parts.max(axis=1)
    safe = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(safe + np.log(np.exp(parts - safe[:, None]).sum(axis=1)))
