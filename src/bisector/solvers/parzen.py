"""Parzen sums: the logarithm of Σ wᵢ·φ(‖x − xᵢ‖·sᵢ) for every query x (LFD 6.4).

Rows, and queries too, are arranged in the boxes of a k-d tree. A block of queries meets the rows from the
nearest box
outwards, and stops when all that is left could not change its sums by more than the error allowed: by default less
than the rounding of a sum, so that the answer is the exact one. Rows so far away that their terms are too small for
a number are no zero: there the logarithm is summed relative to the largest term.

Certificate: ``error`` bounds what was left out, relative to every sum.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.threads import parallel
from bisector.kernels.bumps import Bump

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows of a leaf, and queries of a block: the block's sums and coordinates stay in the first-level cache.
LEAF_ROWS, BLOCK_ROWS = 128, 128

# What is left out must not be seen in 53 bits; a sum above SURE has lost nothing to terms too small for a number.
UNSEEN, SURE = 2.0**-56, 1e-270


@dataclass(frozen=True)
class Arranged:
    """Rows in boxes, with their weights.

    Attributes
    ----------
    leaves : ndarray of shape (leaves, n_features + 1, 128)
        Coordinates, column-wise; then the rows' numbers.
    sizes : ndarray of shape (leaves,)
    weights, factors : ndarray of shape (leaves, 128)
        Of each row: its weight, and what its squared distances are multiplied by.
    lows, highs : ndarray of shape (leaves, n_features)
        The box of a leaf.
    """

    leaves: Floats
    sizes: Integers
    weights: Floats
    factors: Floats
    lows: Floats
    highs: Floats


@dataclass(frozen=True)
class ParzenSums:
    """Sums of bumps.

    Attributes
    ----------
    logs : ndarray of shape (n_queries,)
        Logarithms; −inf only where every bump is truly zero.
    error : float
        By how much, at most, a sum is too small, relative to itself; what `absolute` allowed comes on top.
    compared : float
        The share of all pairs that was computed.
    """

    logs: Floats
    error: float
    compared: float


def arranged(rows: Floats, weights: Floats | None = None, factors: Floats | None = None) -> Arranged:
    """Arrange rows whose distances are in units of the bumps' radius.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
    weights : ndarray of shape (n_rows,), optional
    factors : ndarray of shape (n_rows,), optional
        What squared distances from each row are multiplied by: 1/λ² for a bump that is λ times as wide.
    """
    from bisector.engine.loops import given
    from bisector.search.kd_build import arrange

    boxes = arrange(np.ascontiguousarray(rows, dtype=np.float64), LEAF_ROWS)
    leaves, sizes = boxes.leaves, boxes.sizes
    held = np.arange(LEAF_ROWS) < sizes[:, None]
    numbers = np.where(held, leaves[:, -1], 0).astype(np.int64)
    places = np.where(held[:, None], leaves[:, :-1], np.nan)
    return Arranged(
        given(leaves),
        given(sizes),
        given(np.where(held, 1.0 if weights is None else weights[numbers], 0.0)),
        given(np.where(held, 1.0 if factors is None else factors[numbers], 1.0)),
        given(np.nanmin(places, axis=2)),
        given(np.nanmax(places, axis=2)),
    )


def parzen_sums(
    bump: Bump,
    rows: Arranged,
    queries: Floats,
    *,
    relative: float = 0.0,
    absolute: float = 0.0,
    n_jobs: int | None = None,
) -> ParzenSums:
    """Return log Σ w·φ for every query.

    Parameters
    ----------
    bump : Bump
        φ.
    rows : Arranged
    queries : ndarray of shape (n_queries, n_features)
        In the same units as the rows.
    relative, absolute : float, default=0
        Each sum may be too small by relative · sum + absolute.
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.kernels import GaussianBump
    >>> from bisector.solvers.parzen import arranged, parzen_sums
    >>> rows = arranged(np.array([[0.0], [1.0]]))
    >>> np.exp(parzen_sums(GaussianBump(), rows, np.array([[0.5]])).logs).round(4)  # 2 exp(−1/8)
    array([1.765])
    """
    from bisector.engine.loops import given
    from bisector.search.kd_build import arrange
    from bisector.solvers.parzen_loops import sum_outwards

    formula, allowed = bump.lower(), max(relative, UNSEEN)
    blocks = arrange(np.ascontiguousarray(queries, dtype=np.float64), BLOCK_ROWS)
    logs = np.empty(len(queries))

    def add(number: int) -> int:
        size = int(blocks.sizes[number])
        sums = np.zeros(size)
        compared = sum_outwards(
            formula, given(blocks.leaves[number, :, :size]), size, rows.leaves, rows.sizes, rows.weights,
            rows.factors, rows.lows, rows.highs, allowed, absolute, sums,
        )  # fmt: skip
        with np.errstate(divide="ignore"):
            logs[blocks.leaves[number, -1, :size].astype(np.int64)] = np.log(sums)
        return compared * size

    compared = sum(parallel(add, range(len(blocks.sizes)), n_jobs=n_jobs))
    if math.isinf(bump.support) and absolute == 0.0:
        far = np.flatnonzero(logs < math.log(SURE))
        logs[far] = far_sums(bump, rows, queries[far], n_jobs=n_jobs)
    pairs = max(1, len(queries) * int(rows.sizes.sum()))
    return ParzenSums(logs, allowed, compared / pairs)


def far_sums(
    bump: Bump,
    rows: Arranged,
    queries: Floats,
    left_out: Integers | None = None,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Return log Σ w·φ for queries where φ itself is too small for a number, each without the row numbered so."""
    from bisector.engine.loops import given
    from bisector.solvers.parzen_loops import log_sum_far

    formula: Any = bump.lower()

    def add(q: int) -> float:
        query = given(queries[q][:, None])
        without = -1 if left_out is None else int(left_out[q])
        return float(
            log_sum_far(formula, query, rows.leaves, rows.sizes, rows.weights, rows.factors, without)
        )

    return np.array(parallel(add, range(len(queries)), n_jobs=n_jobs), dtype=np.float64)
