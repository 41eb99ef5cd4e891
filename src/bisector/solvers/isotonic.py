"""Isotonic regression: the ascending values nearest to given ones, by pooling adjacent violators.

The problem, for groups of weight w_i > 0 with means y_i in a given order:

    minimise  Σ w_i (y_i − v_i)²   subject to  v_1 ≤ v_2 ≤ … ≤ v_n.

Its solution is constant on blocks, and on each block the mean. The certificate: let λ_i = Σ_{j≤i} w_j (y_j − v_j),
summed within a block. If v ascends, all λ are at least zero, and λ is zero at the end of each block, v is optimal.
For any λ ≥ 0 that ends each block at zero, weak duality bounds how far the objective is above the smallest one:

    gap = Σ (w_i (y_i − v_i) − (λ_i − λ_{i−1}))² / w_i,

which is computed with the sums above, negative ones raised to zero. O(n).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IsotonicFit:
    """Ascending values, block by block, with their proof.

    Attributes
    ----------
    starts : ndarray of int of shape (n_blocks + 1,)
        The first group of each block, and at the end the number of groups.
    values : ndarray of shape (n_blocks,)
        Strictly ascending.
    weights : ndarray of shape (n_blocks,)
    objective, gap : float
        The weighted sum of squares that is left, and a bound on how far it is above the smallest possible.
    iterations : int
        How many times two blocks were pooled.
    converged : bool
        Always: the method is finite.
    """

    starts: NDArray[np.int64]
    values: Floats
    weights: Floats
    objective: float
    gap: float
    iterations: int
    converged: bool = True

    @property
    def fitted(self) -> Floats:
        """The value of every group."""
        return np.repeat(self.values, np.diff(self.starts))


def isotonic(y: ArrayLike, weight: ArrayLike | None = None) -> IsotonicFit:
    """Fit ascending values to numbers in their order.

    Parameters
    ----------
    y : array of shape (n,)
    weight : array of shape (n,), optional
        Positive.

    Returns
    -------
    IsotonicFit

    Examples
    --------
    >>> from bisector.solvers.isotonic import isotonic
    >>> isotonic([1.0, 3.0, 2.0, 4.0]).fitted
    array([1. , 2.5, 2.5, 4. ])
    """
    targets = np.asarray(y, dtype=np.float64)
    weights = np.ones(len(targets)) if weight is None else np.asarray(weight, dtype=np.float64)
    # Sums of numbers far from zero would lose the digits in which they differ.
    middle = 0.5 * targets.min() + 0.5 * targets.max()
    return pooled((targets - middle) * weights, weights, offset=middle)


def pooled(sums: Floats, weights: Floats, *, offset: float = 0.0) -> IsotonicFit:
    """Fit ascending means to groups, given by their sums and weights; `offset` is added to the means.

    With whole numbers up to 2²⁶ every comparison is exact.
    """
    from bisector.engine.loops import given
    from bisector.solvers.isotonic_loops import certify, pool_violators

    sums, weights = given(sums), given(weights)
    n = len(sums)
    starts = np.empty(n + 1, np.int64)
    block_sums, block_weights, values = (np.empty(n) for _ in range(3))
    count = pool_violators(sums, weights, starts, block_sums, block_weights, values)
    starts[count] = n
    starts, means = starts[: count + 1].copy(), values[:count].copy()
    objective, gap = certify(sums, weights, given(starts), given(means))
    return IsotonicFit(starts, means + offset, block_weights[:count].copy(), objective, gap, n - count)
