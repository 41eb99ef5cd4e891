"""The equivalent kernel of ridge regression: the weights with which training targets enter a prediction.

A prediction of ridge regression is linear in the targets (LFD, Problem 6.6):

    g(x) = Σₙ K(x, xₙ)·yₙ,   K(x, xₙ) = vₙ((x − x̄)ᵀ(S + αΓᵀΓ)⁻¹(xₙ − x̄) + 1/Σv),

the last term with an intercept only. So ridge regression is also a similarity method.
"""

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_blocks
from bisector.engine.memory import require
from bisector.engine.sources import Source

from .ridge import PrimalRidge, inverse_root, prepare
from .ridge_dual import DualRidge
from .tikhonov import Tikhonov

Floats = NDArray[np.float64]


def equivalent_kernel(
    training: Source,
    new: Source,
    alpha: float,
    penalty: Tikhonov,
    *,
    intercept: bool,
    n_jobs: int | None = None,
) -> Floats:
    """Return K(x, xₙ) for every new row (rows) and every training row (columns).

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.equivalent_kernel import equivalent_kernel
    >>> from bisector.solvers.tikhonov import Tikhonov
    >>> rows = source(np.array([[-1.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0]))
    >>> equivalent_kernel(rows, source(np.array([[3.0]])), 1.0, Tikhonov.plain(1), intercept=False)
    array([[-1.,  0.,  1.]])
    """
    m, n = new.n_rows, training.n_rows
    require(
        8 * (m * n + n * min(n, training.n_features)),
        doing=f"comparing {m:,} with {n:,} training rows",
        holding=f"{m:,} × {n:,} weights",
        instead="ask for fewer rows at a time",
    )
    design = prepare(training, penalty, intercept=intercept, n_jobs=n_jobs)
    new = new.in_dense_blocks()
    if isinstance(design, DualRidge) and not design.is_accurate(alpha):
        design = design.through_features or design
    if isinstance(design, DualRidge):
        kept = map_blocks(block_by_rows, new, design, alpha, n_jobs=n_jobs, doing="comparing")
        weights = np.zeros((m, n))
        weights[:, design.rows.kept] = kept
        return weights
    assert isinstance(design, PrimalRidge)
    columns = design.geometry(alpha)
    root = inverse_root(columns)
    along = map_blocks(
        block_along, training.in_dense_blocks(), root, design.mean, n_jobs=n_jobs, doing="comparing"
    )
    constant = 1 / design.found.weight if intercept else 0.0
    return np.asarray(
        map_blocks(
            block_by_features,
            new,
            root,
            design.mean,
            along,
            constant,
            training.sample_weight,
            n_jobs=n_jobs,
            doing="comparing",
        )
    )


def block_along(block: Block, root: Floats, mean: Floats) -> Floats:
    """Make B(x − x̄) for the rows of one block, BᵀB = (S + αΓᵀΓ)⁻¹."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((block.dense.astype(np.float64) - mean) @ root)


def block_by_features(
    block: Block, root: Floats, mean: Floats, along: Floats, constant: float, weight: Floats | None
) -> Floats:
    """Make the weights of all training rows in the predictions at one block's rows."""
    kernel = block_along(block, root, mean) @ along.T + constant
    return kernel if weight is None else kernel * weight


def block_by_rows(block: Block, design: DualRidge, alpha: float) -> Floats:
    """Make the same from products with the training rows, for those that weigh anything."""
    rows = design.rows
    kernel = design.hat_of(rows.like(block.dense.astype(np.float64)), alpha)
    return kernel + np.square(rows.root) / rows.weight if rows.intercept else kernel
