"""Where a support vector machine may begin if pairs of multipliers crawl: at the solution for short vectors.

Features on very different scales, or a polynomial of few features, give a Gram matrix of many rows but low rank,
badly conditioned. Its pivoted Cholesky factor L, with K ≈ LLᵀ, holds each row as a short vector. Among these the
machine is a linear one, which an interior-point method finds in a few steps however badly scaled
(`hinge_interior`). Its multipliers are nearly those of the kernel machine.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.kernel_lines import FEW, KernelLines

Floats = NDArray[np.float64]

# The highest rank for which this pays.
_MOST_FEATURES = 300
# What is left of a row's square when its part in the others is taken out: less than this is rounding.
_NOTHING = 1e-15
# The relative gap to which the linear machine is solved.
_TOLERANCE = 1e-6


def low_rank_start(lines: KernelLines, sides: Floats, costs: Floats) -> Floats | None:
    """Return multipliers β near the solution, or None if there are too many rows or the rank is too high.

    Parameters
    ----------
    lines : KernelLines
    sides : ndarray of shape (n_rows,)
        +1 or −1.
    costs : ndarray of shape (n_rows,)
        Finite; zero where a row does not count.
    """
    from bisector.engine.progress import Bar
    from bisector.engine.sources import source
    from bisector.solvers.linear_svm import Task, margin_planes

    counted = np.flatnonzero(costs)
    if len(counted) > min(FEW, lines.most_at_once):
        return None
    vectors = short_vectors(lines.square(counted).astype(np.float64))
    if vectors.shape[1] > _MOST_FEATURES:
        return None
    task = Task(squared=False, absolute=False, tol=_TOLERANCE, max_iter=1000, seed=0)
    (plane,) = margin_planes(
        source(vectors),
        [sides[counted] > 0],
        costs[counted],
        task,
        intercept=True,
        n_jobs=lines.n_jobs,
        bar=Bar(),
    )
    beta = np.zeros(len(sides))
    beta[counted] = plane.alpha * sides[counted]
    return beta


def short_vectors(gram: Floats) -> Floats:
    """Return as few columns as describe all rows: vectors whose dot products are the kernel's values.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.solvers.low_rank_start import short_vectors
    >>> x = np.array([1.0, 2.0, -3.0])
    >>> abs(short_vectors(np.outer(x, x)))
    array([[1.],
           [2.],
           [3.]])
    """
    from scipy.linalg import lapack

    lengths = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    lengths[lengths == 0] = 1.0
    factor, order, rank, _ = lapack.dpstrf(gram / lengths / lengths[:, None], lower=1, tol=_NOTHING)
    vectors = np.empty((len(gram), rank))
    vectors[order - 1] = np.tril(factor)[:, :rank]
    return vectors * lengths[:, None]
