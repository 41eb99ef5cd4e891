"""Where expectation maximisation starts: rows that are shared out among components in some plausible way."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.engine.sources import source
from bisector.solvers.lloyd import lloyd
from bisector.solvers.seeding import seeds

Floats = NDArray[np.float64]

# So many moves of the centres are enough to start from.
_MOVES = 30


def spread_rows(X: NDArray[Any], k: int, weights: Floats, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Return the numbers of k rows far apart, drawn as k-means++ does."""
    chosen = seeds("k-means++", source(X, sample_weight=weights), k, rng)
    return np.array([np.flatnonzero((row == X).all(axis=1))[0] for row in chosen], dtype=np.int64)


def cluster_labels(X: NDArray[Any], k: int, weights: Floats, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Assign rows to k centres, each of which is the mean of its rows, or nearly."""
    rows = source(X, sample_weight=weights)
    return lloyd(rows, seeds("k-means++", rows, k, rng), max_iter=_MOVES).labels.astype(np.int64)
