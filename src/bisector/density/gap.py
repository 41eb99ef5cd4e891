"""The gap statistic: how much better k clusters fit the rows than rows without clusters (LFD Problem 6.24)."""

import numpy as np
from numpy.typing import NDArray

from bisector.solvers.mixture_start import cluster_labels

Floats = NDArray[np.float64]


def cluster_errors(rows: Floats, most: int, n_starts: int, rng: np.random.RandomState) -> Floats:
    """Return the smallest sum of squares about k centres that was found, for k = 1 … most."""
    return np.array([best_clusters(rows, k, n_starts, rng)[1] for k in range(1, most + 1)])


def best_clusters(
    rows: Floats, k: int, n_starts: int, rng: np.random.RandomState
) -> tuple[NDArray[np.int64], float]:
    """Return labels and the sum of squares of the best of several clusterings."""
    ones, best = np.ones(len(rows)), (np.zeros(len(rows), dtype=np.int64), np.inf)
    for _ in range(n_starts if k > 1 else 1):
        labels = cluster_labels(rows, k, ones, rng)
        counts = np.maximum(np.bincount(labels, minlength=k), 1)
        sums = np.stack([np.bincount(labels, column, minlength=k) for column in rows.T], axis=1)
        away = rows - (sums / counts[:, None])[labels]
        error = float(np.einsum("ij,ij->", away, away))
        if error < best[1]:
            best = labels, error
    return best


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
