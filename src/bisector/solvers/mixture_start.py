"""Where expectation maximisation starts: rows that are shared out among components in some plausible way.

- *kmeans*: every row belongs to the nearest of k centres, each of which is the mean of its rows, or nearly.
- *k-means++*, *random_from_data*: every component has one row, far from the others or any.
- *random*: rows belong to all components, by random shares of their own.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.blocks import Block
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.map_reduce import map_reduce
from bisector.engine.sources import Source, source
from bisector.solvers.em import Floor, Shared, maximised, moments_of_shares, references_of
from bisector.solvers.keyed_draws import different_rows, uniforms
from bisector.solvers.lloyd import lloyd
from bisector.solvers.lloyd_passes import Plan, label_block
from bisector.solvers.mixture import Mixture
from bisector.solvers.mixture_shapes import Shape
from bisector.solvers.seeding import seeds
from bisector.solvers.spread import Measured

Floats = NDArray[np.float64]

# So many moves of the centres are enough to start from.
_MOVES = 30


def cluster_labels(
    X: NDArray[Any], k: int, weights: Floats, rng: np.random.RandomState, *, kept: Checkpoint = NOWHERE
) -> NDArray[np.int64]:
    """Assign rows to k centres, each of which is the mean of its rows, or nearly."""
    rows = source(X, sample_weight=weights)
    start = kept.drawn("seeds", rng, lambda: {"centres": seeds("k-means++", rows, k, rng)})["centres"]
    return lloyd(rows, start, max_iter=_MOVES, kept=kept).labels.astype(np.int64)


def even_mixture(measured: Measured, k: int, shape: Shape, floor: Floor) -> Mixture:
    """Return the mixture of components that all have the mean and the variances of the rows.

    A component without rows stays with these.
    """
    spread = shape.alike(np.maximum(measured.variances, floor.variance), k)
    return Mixture(np.full(k, 1 / k), np.tile(measured.mean, (k, 1)), spread, shape)


def first_mixture(
    how: str,
    rows: Source,
    measured: Measured,
    even: Mixture,
    floor: Floor,
    rng: np.random.RandomState,
    *,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> Mixture:
    """Return the mixture of rows that are shared out.

    Parameters
    ----------
    how : str
        One of `WAYS`.
    rows : Source
        As many as components, or more, with weights if there are any.
    measured : Measured
        What `measure` says of the rows.
    even : Mixture
        As `even_mixture` makes it.
    floor : Floor
    rng : numpy.random.RandomState
    n_jobs : int, optional
    kept : Checkpoint, optional

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.engine.sources import source
    >>> from bisector.solvers.em import Floor
    >>> from bisector.solvers.lloyd import measure
    >>> from bisector.solvers.mixture_shapes import SHAPES
    >>> from bisector.solvers.mixture_start import even_mixture, first_mixture
    >>> rows, floor = source(np.array([[0.0], [1.0], [9.0], [11.0]])), Floor(1e-6)
    >>> measured = measure(rows)
    >>> even = even_mixture(measured, 2, SHAPES["diag"], floor)
    >>> np.sort(first_mixture("kmeans", rows, measured, even, floor, np.random.RandomState(0)).means.ravel())
    array([ 0.5, 10. ])
    """
    references = references_of(even)
    if how in _FROM_ROWS:
        chosen = kept.drawn("rows", rng, lambda: {"rows": _FROM_ROWS[how](rows, even.k, rng, n_jobs)})["rows"]
        found = moments_of_shares(chosen, np.eye(even.k), references, even.shape)
        return maximised(even, found, references, floor)
    if how == "random":
        seed = int(rng.randint(2**31 - 1))
        found = map_reduce(
            _share_by_chance, rows, seed, references, even.shape, n_jobs=n_jobs, doing="mixing"
        )
        return maximised(even, found, references, floor)
    start = kept.drawn(
        "seeds", rng, lambda: {"centres": seeds("k-means++", rows, even.k, rng, n_jobs=n_jobs)}
    )
    centres = lloyd(
        rows, start["centres"], max_iter=_MOVES, measured=measured, n_jobs=n_jobs, kept=kept
    ).centres
    plan = Plan.of(centres.astype(np.float64), measured.origin, np.float32, np.empty(0))
    found = map_reduce(_share_by_nearness, rows, plan, references, even.shape, n_jobs=n_jobs, doing="mixing")
    return maximised(even, found, references, floor)


def _share_by_nearness(block: Block, plan: Plan, references: Floats, shape: Shape) -> Shared:
    n = block.X.shape[0]
    labels = np.full(n, -1, dtype=np.int32)
    label_block(block, plan, labels, np.empty(n), np.empty(0), (0, 0))
    shares = np.zeros((n, len(references)))
    shares[np.arange(n), labels] = block.weights
    return moments_of_shares(block.dense, shares, references, shape)


def _share_by_chance(block: Block, seed: int, references: Floats, shape: Shape) -> Shared:
    shares = uniforms(seed, block.first_row, block.X.shape[0], len(references))
    shares *= (block.weights / shares.sum(axis=1))[:, None]
    return moments_of_shares(block.dense, shares, references, shape)


def _far_rows(rows: Source, k: int, rng: np.random.RandomState, n_jobs: int | None) -> Any:
    return seeds("k-means++", rows, k, rng, n_jobs=n_jobs)


def _any_rows(rows: Source, k: int, rng: np.random.RandomState, n_jobs: int | None) -> Any:
    return rows.take(different_rows(rows.n_rows, k, rng))


_FROM_ROWS: dict[str, Callable[[Source, int, np.random.RandomState, int | None], Any]] = {
    "k-means++": _far_rows,
    "random_from_data": _any_rows,
}
WAYS = ("kmeans", *_FROM_ROWS, "random")
