"""What ridge regression adds to the sum of squares: α‖Γw‖², by default with Γ = I."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tikhonov:
    """The matrix Γ of a penalty ‖Γw‖²; G = ΓᵀΓ is what enters the normal equations.

    Attributes
    ----------
    diagonal : (d,) diagonal of G
    matrix : (m, d) matrix Γ, or None if G is diagonal
    """

    diagonal: Floats
    matrix: Floats | None = None

    @classmethod
    def plain(cls, n_features: int) -> "Tikhonov":
        return cls(np.ones(n_features))

    @classmethod
    def of_matrix(cls, matrix: Floats) -> "Tikhonov":
        return cls(np.einsum("ij,ij->j", matrix, matrix), matrix)

    @property
    def holds_every_feature(self) -> bool:
        """Whether G is diagonal and positive, so that features can be rescaled until it is the identity."""
        return self.matrix is None and bool((self.diagonal > 0).all())

    @cached_property
    def products(self) -> Floats:
        """The matrix G."""
        return np.diag(self.diagonal) if self.matrix is None else self.matrix.T @ self.matrix

    @property
    def root(self) -> Floats:
        """A matrix with rootᵀ·root = G."""
        return np.diag(np.sqrt(self.diagonal)) if self.matrix is None else self.matrix

    def pull(self, coef: Floats) -> Floats:
        """Return Gw for each column w."""
        if self.matrix is None:
            return self.diagonal[:, None] * coef
        return self.matrix.T @ (self.matrix @ coef)

    def size(self, coef: Floats) -> Floats:
        """Return ‖Γw‖² for each column w."""
        if self.matrix is None:
            return self.diagonal @ np.square(coef)
        return np.square(self.matrix @ coef).sum(axis=0)
