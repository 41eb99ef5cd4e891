"""Newton steps from a matrix of second derivatives, whatever the units of its columns and however dependent they
are.

The matrix is divided by the roots of its diagonal, which takes the units out. It is then factorised by Cholesky,
or, where columns depend on each other up to rounding, by its eigenvectors: directions without curvature are left
alone.
"""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, lapack

Floats = NDArray[np.float64]
EPS = float(np.finfo(np.float64).eps)

# A reciprocal condition number below this leaves no digit that could be trusted.
DEPENDENT = 1e-13


class CurvatureFactor:
    """H = SES with S the roots of the diagonal; E is factorised."""

    def __init__(self, curvature: Floats) -> None:
        size = np.sqrt(np.maximum(np.diagonal(curvature), 0.0))
        self._flat = size == 0
        self._size = np.where(self._flat, 1.0, size)
        equal = curvature / self._size / self._size[:, None]
        equal[self._flat, self._flat] = 1.0
        self._lower, failed = lapack.dpotrf(equal.T, lower=1)
        reciprocal = 0.0
        if not failed:
            reciprocal = lapack.dpocon(self._lower, lapack.dlange("1", equal), uplo="L")[0]
        self._equal = equal if reciprocal < DEPENDENT else None

    @cached_property
    def _eigen(self) -> tuple[Floats, Floats, Floats]:
        """Eigenvalues and eigenvectors that count, and the vectors that do not."""
        values, vectors = eigh(self._equal, check_finite=False)
        kept = values > 8 * EPS * len(values) * values[-1]
        return values[kept], vectors[:, kept], vectors[:, ~kept]

    def solve(self, right: Floats) -> Floats:
        """Return H⁺g, the shortest of many in units of the diagonal."""
        scaled = np.where(self._flat, 0.0, right / self._size)
        if self._equal is None:
            return np.asarray(lapack.dpotrs(self._lower, scaled, lower=1)[0]) / self._size
        values, vectors, _ = self._eigen
        return (vectors @ ((vectors.T @ scaled) / values)) / self._size

    @property
    def rank(self) -> int:
        """Number of directions along which H bends."""
        return len(self._size) - self.null_space.shape[1]

    @property
    def null_space(self) -> Floats:
        """Directions, as columns, along which H does not bend."""
        flat = np.eye(len(self._size))[:, self._flat]
        if self._equal is None:
            return flat
        return np.column_stack([flat, self._eigen[2] / self._size[:, None]])

    def inverse(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Return H⁺ and which coordinates H does not determine."""
        if self._equal is None:
            inverse = np.asarray(lapack.dpotrs(self._lower, np.eye(len(self._size)), lower=1)[0])
            undetermined = self._flat
        else:
            values, vectors, lost = self._eigen
            inverse = (vectors / values) @ vectors.T
            undetermined = self._flat | (np.square(lost).sum(axis=1) > 1e-10)
        inverse = inverse / self._size / self._size[:, None]
        inverse[self._flat], inverse[:, self._flat] = 0.0, 0.0
        return inverse, undetermined
