"""Sums of squares about k centres, of rows and of rows without clusters, for the gap statistic (LFD, 6.24)."""

import numpy as np
from numpy.typing import NDArray

from bisector.engine.sources import source
from bisector.solvers.lloyd import lloyd
from bisector.solvers.seeding import seeds

Floats = NDArray[np.float64]


def cluster_errors(rows: Floats, most: int, n_starts: int, rng: np.random.RandomState) -> Floats:
    """Return the smallest sum of squares about k centres that was found, for k = 1 … most."""
    return np.array([best_clusters(rows, k, n_starts, rng)[1] for k in range(1, most + 1)])


def best_clusters(
    rows: Floats, k: int, n_starts: int, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], float]:
    """Return labels and the sum of squares of the best of several clusterings."""
    table = source(rows)
    runs = [lloyd(table, seeds("k-means++", table, k, rng)) for _ in range(n_starts if k > 1 else 1)]
    best = min(runs, key=lambda run: run.inertia)
    return best.labels.astype(np.int64), float(best.inertia)


def reference_logs(
    lows: Floats,
    highs: Floats,
    n: int,
    most: int,
    n_references: int,
    n_starts: int,
    rng: np.random.RandomState,
) -> Floats:
    """Return log E(k)/n of rows spread evenly over a box, averaged over several such sets."""
    errors = [
        cluster_errors(rng.uniform(lows, highs, size=(n, len(lows))), most, n_starts, rng)
        for _ in range(n_references)
    ]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.mean(errors, axis=0) / n))
