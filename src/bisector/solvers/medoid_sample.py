"""Medoids of many rows from samples of them: CLARA (Kaufman and Rousseeuw, 1986).

Medoids are found by swaps among the rows of a sample, and judged by the loss on all rows; of several samples
the best is taken. Each sample holds the best medoids so far, so that it can improve on them. It takes samples ·
n · k distances on top of those within the samples.
"""

import math
from dataclasses import asdict, replace

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import nearest_one
from bisector.engine.checkpoint import NOWHERE, Arrays, Checkpoint
from bisector.engine.progress import track
from bisector.solvers.distance_lines import distance_lines
from bisector.solvers.medoid_build import build
from bisector.solvers.medoid_partitions import PartitionedRows
from bisector.solvers.medoid_swap import Medoids, swap_medoids

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def sample_medoids(
    distance: Distance,
    rows: Rows | PartitionedRows,
    n_clusters: int,
    weights: Floats,
    rng: np.random.Generator,
    *,
    sample_size: int,
    n_samples: int,
    max_iter: int,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> Medoids:
    """Find medoids in samples.

    Parameters
    ----------
    distance : Distance
    rows : Rows or PartitionedRows
        Prepared by it, or in a collection.
    n_clusters : int
    weights : ndarray of shape (n_rows,)
        All positive: the chances of being drawn are in proportion to them.
    rng : numpy.random.Generator
    sample_size : int
        At least `n_clusters`. If there are no more rows than that, all are the one sample.
    n_samples, max_iter : int
    n_jobs : int, optional
    kept : Checkpoint, optional
        Where to note what is reached.

    Returns
    -------
    Medoids
        Row numbers among all rows, with the loss on all rows. `change` is NaN unless all rows were the sample;
        `converged` says that no swap within the sample lowers the loss there.
    """
    best: Medoids | None = None
    whole = len(rows) <= sample_size
    with track("samples", total=n_samples) as bar:
        for number in range(1 if whole else n_samples):
            here = kept.part(f"sample {number}")
            best_rows = np.empty(0, np.int64) if best is None else best.medoids

            def draw(best_rows: Integers = best_rows) -> Arrays:
                if whole:
                    return {"members": np.arange(len(rows)), "counts": weights}
                return _draw(weights, sample_size, n_clusters, best_rows, rng)

            drawn = here.drawn("rows", rng, draw)
            members, counts = drawn["members"], drawn["counts"]
            done = here.recall("best")
            if done is not None:
                best = Medoids.recalled(done)
                bar.advance()
                continue
            lines = distance_lines(distance, rows.take(members), n_jobs=n_jobs)
            start = build(lines, n_clusters, counts)
            found = swap_medoids(lines, start, counts, max_iter=max_iter)
            medoids = members[found.medoids]
            loss = _loss(distance, rows, weights, rows.take(medoids), n_jobs)
            bar.advance(note=f"loss {loss:.6g}")
            if best is None or loss < best.loss:
                change = found.change if whole else math.nan
                best = replace(found, medoids=medoids, loss=loss, change=change)
            here.note("best", **asdict(best))
    assert best is not None
    return best


def _loss(
    distance: Distance, rows: Rows | PartitionedRows, weights: Floats, medoids: Rows, n_jobs: int | None
) -> float:
    if isinstance(rows, PartitionedRows):
        return rows.judged(medoids).loss
    return math.fsum(weights * nearest_one(distance, rows, medoids, n_jobs=n_jobs)[0])


def _draw(
    weights: Floats, size: int, n_clusters: int, best_rows: Integers, rng: np.random.Generator
) -> Arrays:
    """Draw rows, and say how often each counts in the sample."""
    n = len(weights)
    if (weights == weights[0]).all():
        drawn = rng.choice(n, size, replace=False)
    else:  # a row that weighs much may come more than once
        drawn = rng.choice(n, size, p=weights / weights.sum())
    members, counts = np.unique(np.concatenate([drawn, best_rows]), return_counts=True)
    if len(members) < n_clusters:
        others = np.setdiff1d(np.arange(n), members)
        members = np.union1d(members, rng.choice(others, n_clusters - len(members), replace=False))
        counts = np.ones(len(members), dtype=np.int64)
    return {"members": members, "counts": counts.astype(np.float64)}
