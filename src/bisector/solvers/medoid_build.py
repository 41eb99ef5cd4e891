"""Rows to begin k-medoids with: BUILD, which is greedy, and cheaper choices.

BUILD takes the most central row first, and then, again and again, the row that lowers the loss most. What a row
would gain can only shrink as others are taken. So what it would have gained earlier is a bound, and only rows
whose bound exceeds the best gain known are looked at again (Minoux, 1978): the rows chosen are those of looking
at all of them every time, for little more than the distances of two passes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.engine.checkpoint import NOWHERE, Checkpoint
from bisector.exemplars.covering import cover
from bisector.solvers.distance_lines import DistanceLines
from bisector.solvers.medoid_swap import line_totals, over_candidates

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Rows looked at again at first, in each step; then twice as many.
_FIRST_LOOK = 16


def build(lines: DistanceLines, n_clusters: int, weights: Floats, *, kept: Checkpoint = NOWHERE) -> Integers:
    """Choose rows greedily, each for the lowest loss together with those before; of equals, the first.

    Parameters
    ----------
    lines : DistanceLines
    n_clusters : int
        At most the number of rows.
    weights : ndarray of shape (n_rows,)
    kept : Checkpoint, optional
        Where to note what is reached.

    Returns
    -------
    ndarray of int of shape (n_clusters,)
        In the order in which they were chosen: the first of them are what fewer clusters begin with.
    """
    from bisector.solvers.medoid_swap_loops import sum_gains

    known = kept.recall("build")
    if known is None:
        chosen = [int(np.argmin(line_totals(lines, weights)))]
        near = np.full(lines.n_rows, np.inf, dtype=lines.dtype)
        bounds = np.full(lines.n_rows, np.inf)
    else:
        chosen, near, bounds = known["chosen"].tolist(), known["near"], known["bounds"]
    while len(chosen) < n_clusters:
        _come_nearer(lines, chosen[-1], near)
        bounds[chosen[-1]] = -1.0
        stale = bounds >= 0
        best, gain, size = -1, -1.0, _FIRST_LOOK
        while len(hopeful := np.flatnonzero(stale & (bounds >= gain))):
            if len(hopeful) > size:
                hopeful = np.sort(hopeful[np.argpartition(-bounds[hopeful], size)[:size]])
            bounds[hopeful] = over_candidates(lines, hopeful, sum_gains, weights, near)
            stale[hopeful] = False
            top = int(hopeful[np.argmax(bounds[hopeful])])
            if bounds[top] > gain or (bounds[top] == gain and top < best):
                best, gain = top, float(bounds[top])
            size *= 2
        chosen.append(best)
        kept.note("build", chosen=chosen, near=near, bounds=bounds)
    return np.array(chosen)


def _come_nearer(lines: DistanceLines, row: int, near: Any) -> None:
    from bisector.engine.loops import given
    from bisector.solvers.medoid_swap_loops import keep_nearer_line

    values, slots = lines.lent(np.array([row]))
    keep_nearer_line(given(values[slots[0]]), near)


def scattered_rows(
    lines: DistanceLines, n_clusters: int, weights: Floats, rng: np.random.Generator
) -> Integers:
    """Draw rows one after another, each with a chance in proportion to its weight and its loss so far.

    This is k-means++ (Arthur and Vassilvitskii, 2007) for the distance itself instead of its square.
    """
    n = lines.n_rows
    chosen = [int(rng.choice(n, p=weights / weights.sum()))]
    near = np.full(n, np.inf, dtype=lines.dtype)
    taken = np.zeros(n, dtype=bool)
    while len(chosen) < n_clusters:
        _come_nearer(lines, chosen[-1], near)
        taken[chosen[-1]] = True
        chances = np.where(taken, 0.0, weights * near.astype(np.float64))
        total = chances.sum()
        if not np.isfinite(total):  # rows that nothing reaches come first
            chances = np.where(np.isinf(near), weights, 0.0)
            total = chances.sum()
        if total > 0:
            chosen.append(int(rng.choice(n, p=chances / total)))
        else:  # every row is where a chosen one is
            chosen.append(int(np.flatnonzero(~taken)[0]))
    return np.array(chosen)


def random_rows(n_clusters: int, weights: Floats, rng: np.random.Generator) -> Integers:
    """Draw rows with chances in proportion to their weights."""
    return rng.choice(len(weights), n_clusters, replace=False, p=weights / weights.sum())


def far_rows(distance: Distance, rows: Rows, n_clusters: int, n_jobs: int | None) -> Integers:
    """Take rows that are each the farthest from those before, beginning with the first row."""
    indices = cover(distance, rows, n_clusters, 0, n_jobs=n_jobs).indices
    others = np.setdiff1d(np.arange(len(rows)), indices)
    return np.concatenate([indices, others[: n_clusters - len(indices)]])
