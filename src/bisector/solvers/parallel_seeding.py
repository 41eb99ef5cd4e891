"""Centres to begin with, of more rows than can be held: k-means‖ (Bahmani and others, 2012), in a few passes.

K-means++ draws one centre after another, and reads all rows for each. Instead, a pass draws 2k rows at once, each
with a chance proportional to its weight times its squared distance from those drawn before; five passes draw enough
*candidates* for every cluster to have some. One more pass tells how many rows each candidate stands for, and their
mean. What is left is small: k-means++ and Lloyd's algorithm on the candidates, by these weights.

A row is drawn if its *key*, E/(w·d²) with E an exponential random number of its own (`keyed_draws`), is among the
least: so samples of blocks merge, and the outcome does not depend on where blocks end or who reads them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source, SparseSource, source
from bisector.solvers.keyed_draws import uniforms
from bisector.solvers.lloyd import lloyd
from bisector.solvers.lloyd_passes import ClusterSums, Plan, label_block
from bisector.solvers.row_samples import Sample

Floats = NDArray[np.float64]

# Passes that draw, and how many candidates each draws for a centre: the figures of the paper.
PASSES, CANDIDATES_PER_CENTRE = 5, 2


def spread_in_passes(
    rows: Source, k: int, random: np.random.RandomState, *, n_jobs: int | None = None
) -> NDArray[Any]:
    """Return k centres that lie where the rows do, in the dtype of the rows.

    Parameters
    ----------
    rows : Source
        At least k, with weights if there are any.
    k : int
    random : numpy.random.RandomState
    n_jobs : int, optional

    Returns
    -------
    ndarray of shape (k, n_features)

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.parallel_seeding import spread_in_passes
    >>> numbers = np.repeat([[0.0], [5.0], [9.0]], 100, axis=0)
    >>> np.sort(spread_in_passes(source(numbers, block_rows=32), 3, np.random.RandomState(0)).ravel())
    array([0., 5., 9.])
    """
    seed, size = int(random.randint(2**31 - 1)), CANDIDATES_PER_CENTRE * k
    candidates = np.empty((0, rows.n_features))
    for number in range(PASSES):
        plan = Plan.of(candidates, candidates[0], np.float32, np.empty(0)) if len(candidates) else None
        drawn = map_reduce(
            draw_block, rows, plan, seed + number, size, n_jobs=n_jobs, doing="drawing candidates"
        )
        if not len(drawn.rows):  # every row is a candidate already
            break
        candidates = np.concatenate([candidates, drawn.rows.astype(np.float64)])
    origin = np.zeros(rows.n_features) if isinstance(rows, SparseSource) else candidates[0]
    plan = Plan.of(candidates, origin, np.float32, np.empty(0))
    cells = map_reduce(sum_up_cells, rows, plan, n_jobs=n_jobs, doing="weighing candidates")
    return _clustered(origin, cells, k, random).astype(rows.dtype)


def draw_block(block: Block, plan: Plan | None, seed: int, size: int) -> Sample:
    """Return the rows of a block with the least keys; none that is a candidate already or weighs nothing."""
    n = block.X.shape[0]
    chances = np.ones(n)
    if plan is not None:
        labels = np.full(n, -1, dtype=np.int32)
        label_block(block, plan, labels, chances, np.empty(0), (0, 0))
    if block.sample_weight is not None:
        chances = chances * block.sample_weight
    with np.errstate(divide="ignore", over="ignore"):
        keys = -np.log(uniforms(seed, block.first_row, n)[:, 0]) / chances
    return Sample.of(block, size, keys, (chances > 0) & (keys < np.inf))


def sum_up_cells(block: Block, plan: Plan) -> ClusterSums:
    """Sum up the rows nearest to each candidate."""
    n = block.X.shape[0]
    return label_block(
        block, plan, np.full(n, -1, dtype=np.int32), np.empty(n), np.empty(0), plan.centres.shape
    )


def _clustered(origin: Floats, cells: ClusterSums, k: int, random: np.random.RandomState) -> Floats:
    """Find k centres of the cells' means, by their weights."""
    from bisector.solvers.seeding import seeds

    weights = cells.of[0]
    held = weights > 0
    means = origin + cells.sums[held] / weights[held, None]
    few = source(means, sample_weight=weights[held])
    return np.asarray(lloyd(few, seeds("k-means++", few, k, random), n_jobs=1).centres)
