"""The likelihood of every row under the bumps of all others, for many widths in one pass.

With Gaussian bumps, halving r² squares every term: exp(−s/r²) = exp(−s/(2r²))². On a grid of widths whose squares
grow by 2^(1/p), only p exponentials are needed for each pair of rows, and a product for each other width.

Certificate: what is left out, rows too far to matter, could not be seen in a sum; terms that come from m
squarings have lost at most m bits.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bisector.engine.threads import parallel
from bisector.kernels.bumps import Bump
from bisector.solvers.parzen import SURE, UNSEEN, arranged, far_sums

Floats = NDArray[np.float64]

# Rows of a block: few, so that the sums of all widths stay in the first-level cache.
_BLOCK_ROWS = 96


@dataclass(frozen=True)
class WidthScores:
    """How well each width predicts rows it has not seen.

    Attributes
    ----------
    scores : ndarray of shape (n_widths,)
        The mean of the logarithms of the densities, each at a row from all others; −inf where it is zero.
    exponentials : int
        How many bumps were computed for each pair of rows; the other widths follow by squaring.
    """

    scores: Floats
    exponentials: int


def score_widths(
    bump: Bump, rows: Floats, widths: Floats, weights: Floats | None = None, *, n_jobs: int | None = None
) -> WidthScores:
    """Return the leave-one-out score of every width.

    Of a row that weighs w, one is left out: w − 1 equal rows remain.

    Parameters
    ----------
    bump : Bump
    rows : ndarray of shape (n_rows, n_features)
    widths : ndarray
        In ascending order.
    weights : ndarray of shape (n_rows,), optional
    n_jobs : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.kernels import GaussianBump
    >>> from bisector.solvers.parzen_widths import score_widths
    >>> rows = np.array([[0.0], [1.0]])  # each has the density of the other's bump
    >>> score_widths(GaussianBump(), rows, np.array([1.0])).scores.round(4)  # log(1/√2π) − 1/2
    array([-1.4189])
    """
    from bisector.engine.loops import given
    from bisector.search.kd_build import arrange
    from bisector.solvers.parzen_loops import sum_widths

    n, d = rows.shape
    counted = np.ones(n) if weights is None else weights
    left_out = np.minimum(counted, 1.0)
    bases, squarings, places = _chains(bump, widths)
    held, aside = arranged(rows, counted), arranged(rows, left_out)
    blocks = arrange(np.ascontiguousarray(rows, dtype=np.float64), _BLOCK_ROWS)
    logs = np.empty((len(widths), n))
    formula = bump.lower()

    def add(number: int) -> None:
        size = int(blocks.sizes[number])
        sums = np.zeros((len(bases) * squarings, size))
        sum_widths(
            formula, given(blocks.leaves[number, :, :size]), size, held.leaves, held.sizes, held.weights,
            aside.weights, held.lows, held.highs, given(bases), squarings, UNSEEN, sums,
        )  # fmt: skip
        with np.errstate(divide="ignore"):
            logs[:, blocks.leaves[number, -1, :size].astype(np.int64)] = np.log(sums[places])

    parallel(add, range(len(blocks.sizes)), n_jobs=n_jobs)
    if math.isinf(bump.support):
        for width, line in zip(widths, logs, strict=True):
            far = np.flatnonzero(line < math.log(SURE))
            if far.size:
                units = arranged(rows / width, counted)
                line[far] = far_sums(bump, units, rows[far] / width, far, n_jobs=n_jobs)
    logs += bump.log_constant(d) - d * np.log(widths)[:, None]
    with np.errstate(divide="ignore"):
        logs -= np.log(counted.sum() - left_out)
    return WidthScores(np.average(logs, axis=1, weights=counted), len(bases))


def _chains(bump: Bump, widths: Floats) -> tuple[Floats, int, NDArray[np.int64]]:
    """Return factors of squared distances to start from, how often to double them, and where each width then is."""
    factors = widths[::-1] ** -2.0  # the widest first
    n = len(factors)
    if bump.separable and n > 2:
        growth = (math.log2(factors[0]) - math.log2(factors[-1])) / (n - 1)
        steps = round(-1 / growth) if growth else 0
        grid = factors[0] * 2.0 ** (np.arange(n) / steps) if steps else factors
        if 0 < steps < n and np.allclose(grid, factors, rtol=1e-9, atol=0):
            return factors[:steps].copy(), -(-n // steps), np.arange(n)[::-1]
    order = np.argsort(factors)
    places = np.empty(n, dtype=np.int64)
    places[order] = np.arange(n)
    return factors[order], 1, places[::-1]
