"""K-medoids by alternation (Flach, Algorithm 8.2): rows go to the nearest medoid, medoids to the middle of theirs.

Either step can only lower the loss, and it ends when neither does. That is a weaker end than that of swaps: a
medoid never leaves the cluster it is in.
"""

import math

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import nearest_one
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.engine.progress import track
from bisector.exemplars.central_row import central_row
from bisector.solvers.distance_lines import distance_lines
from bisector.solvers.medoid_swap import Medoids, line_totals

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def alternate_medoids(
    distance: Distance,
    rows: Rows,
    start: Integers,
    weights: Floats,
    *,
    max_iter: int,
    n_jobs: int | None = None,
    kept: Checkpoint = NOWHERE,
) -> Medoids:
    """Improve medoids by turns until the loss stays.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        Prepared by it.
    start : ndarray of int of shape (n_clusters,)
    weights : ndarray of shape (n_rows,)
        All positive.
    max_iter : int
        The most rounds.
    n_jobs : int, optional
    kept : Checkpoint, optional
        Where to note what is reached.

    Returns
    -------
    Medoids
        Without having looked at swaps: `change` is NaN.
    """
    medoids, loss, n_done = start.copy(), math.inf, 0
    known = kept.recall("rounds")
    if known is not None:
        medoids, loss, n_done = known["medoids"], float(known["loss"]), int(known["n_done"])
    with track("k-medoids", total=max_iter) as bar:
        for n_iter in range(1 + n_done, max_iter + 1):
            distances, owners = nearest_one(distance, rows, rows.take(medoids), n_jobs=n_jobs)
            before, loss = loss, math.fsum(weights * distances)
            if loss >= before:
                return Medoids(medoids, loss, math.nan, 0.0, 0, n_iter, True)
            moved = medoids.copy()
            for place in range(len(medoids)):
                members = np.flatnonzero(owners == place)
                if len(members):  # none, if an earlier medoid is at the same place
                    own = rows.take(members)
                    moved[place] = members[central_member(distance, own, weights[members], n_jobs)]
            bar.advance(note=f"loss {loss:.6g}")
            if np.array_equal(moved, medoids):
                return Medoids(medoids, loss, math.nan, 0.0, 0, n_iter, True)
            medoids = moved
            kept.note("rounds", medoids=medoids, loss=loss, n_done=n_iter)
    distances, _ = nearest_one(distance, rows, rows.take(medoids), n_jobs=n_jobs)
    return Medoids(medoids, math.fsum(weights * distances), math.nan, 0.0, 0, max_iter, False)


def central_member(distance: Distance, rows: Rows, weights: Floats, n_jobs: int | None = None) -> int:
    """Return the row to which the total distance of all rows is least; the first of equals."""
    if distance.symmetric:
        return central_row(distance, rows, weights, n_jobs=n_jobs)
    return int(np.argmin(line_totals(distance_lines(distance, rows, n_jobs=n_jobs), weights)))
