"""One pass of expectation maximisation for full covariances, as two products of matrices.

The logarithm of a Gaussian bump is a quadratic in the row: numbers of the component times the products 1, yᵢ and
yᵢyⱼ (i ≤ j) of the row's coordinates. So the logarithms of all components at all rows of a piece are one product of
matrices, and the moments of the M-step, shares times the same products, are another. Written out like this a row
costs half as much as when it is whitened by each component in turn.

The price is cancellation, for which coordinates are chosen well: y is the row measured from the centre of the
mixture in standard deviations of the mixture. What is lost is then about as many digits as the squared ratio of
the spread of the mixture to that of its narrowest component has, and where that is too many (`largest`), a mixture
is better left to `bisector.solvers.em`, component by component.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from bisector.engine.blocks import Block
from bisector.solvers.mixture import Mixture

Floats = NDArray[np.float64]

# Products of a piece of rows fill about so many bytes, which stay in the second-level cache.
_PIECE_BYTES = 2**19
_FEWEST_ROWS, _MOST_ROWS = 64, 1024


@dataclass(frozen=True)
class Quadratics:
    """The components of a mixture as quadratics.

    Attributes
    ----------
    centre : ndarray of shape (d,)
        Where coordinates are measured from.
    spread : ndarray of shape (d, d)
        L, lower triangular: x = centre + Ly.
    inverse : ndarray of shape (d, d)
        L⁻¹.
    coefficients : ndarray of shape (k, 1 + d + d(d + 1)/2)
        What 1, yᵢ and yᵢyⱼ are multiplied by.
    """

    centre: Floats
    spread: Floats
    inverse: Floats
    coefficients: Floats

    @property
    def largest(self) -> float:
        """The largest coefficient of a square, which tells how much cancels."""
        d = len(self.centre)
        return float(np.abs(self.coefficients[:, 1 + d :]).max(initial=0.0))


@dataclass
class RawMoments:
    """Σ γ·(1, yᵢ, yᵢyⱼ) for every component, Σ w log p(x), and Σ w."""

    sums: Floats
    likelihood: float
    weight: float

    def merge(self, other: "RawMoments") -> "RawMoments":
        self.sums += other.sums
        self.likelihood += other.likelihood
        self.weight += other.weight
        return self

    def unpacked(self, of: Quadratics) -> tuple[Floats, Floats, Floats]:
        """Return Σ γ, Σ γ(x − centre) and Σ γ(x − centre)(x − centre)ᵀ."""
        k, d = len(self.sums), len(of.centre)
        squares = np.empty((k, d, d))
        above = np.triu_indices(d)
        squares[:, above[0], above[1]] = squares[:, above[1], above[0]] = self.sums[:, 1 + d :]
        squares = of.spread @ squares @ of.spread.T
        squares += np.swapaxes(squares, 1, 2)  # symmetric again, whatever rounding did
        return self.sums[:, 0], self.sums[:, 1 : 1 + d] @ of.spread.T, 0.5 * squares


def quadratics(mixture: Mixture) -> Quadratics:
    """Write the components of a mixture with full covariances as quadratics.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.mixture import Mixture
    >>> from bisector.solvers.mixture_shapes import SHAPES
    >>> from bisector.solvers.quadratic_shares import quadratics
    >>> one = Mixture(np.ones(1), np.array([[3.0]]), np.array([[[4.0]]]), SHAPES["full"])
    >>> made = quadratics(one)  # log N(y; 0, 1) − log 2 = −log(2 √2π) − y²/2
    >>> made.centre, made.coefficients.round(4)
    (array([3.]), array([[-1.6121,  0.    , -0.5   ]]))
    """
    weights, d = mixture.weights, mixture.means.shape[1]
    centre = weights @ mixture.means
    away = mixture.means - centre
    total = np.einsum("k,kij->ij", weights, mixture.covariances) + (away.T * weights) @ away
    spread = np.linalg.cholesky(total)
    inverse = np.asarray(dtrtri(spread, lower=1)[0])
    roots = spread.T @ mixture.roots
    precisions = roots @ np.swapaxes(roots, 1, 2)
    means = away @ inverse.T
    slopes = np.einsum("kij,kj->ki", precisions, means)
    heights = mixture.log_heights - 0.5 * np.einsum("ki,ki->k", means, slopes)
    i, j = np.triu_indices(d)
    squares = np.where(i == j, -0.5, -1.0) * precisions[:, i, j]
    return Quadratics(centre, spread, inverse, np.concatenate([heights[:, None], slopes, squares], axis=1))


def share_by_quadratics(block: Block, of: Quadratics) -> RawMoments:
    """E-step and sums of the M-step over a block of rows."""
    from bisector.engine.loops import given
    from bisector.solvers.em_loops import share_rows, write_products

    X, weights = block.dense, block.weights
    k, width = of.coefficients.shape
    sums, likelihood = np.zeros((k, width)), 0.0
    size = int(np.clip(_PIECE_BYTES // (8 * width), _FEWEST_ROWS, _MOST_ROWS))
    for first in range(0, len(X), size):
        part = slice(first, first + size)
        rows = of.inverse @ (X[part] - of.centre).T
        products, own, totals = np.empty((width, rows.shape[1])), weights[part], np.empty(rows.shape[1])
        write_products(given(rows), products)
        shares = of.coefficients @ products
        share_rows(shares, given(own), totals)
        sums += shares @ products.T
        likelihood += float(own @ totals)
    return RawMoments(sums, likelihood, float(weights.sum()))
