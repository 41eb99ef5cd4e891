"""Parzen sums for any distance: tile by tile, relative to the largest term met so far."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance, Rows
from bisector.distances.reductions import cut
from bisector.engine.threads import parallel
from bisector.kernels.bumps import Bump

Floats = NDArray[np.float64]


def parzen_sums_any_metric(
    bump: Bump,
    distance: Distance,
    rows: Rows,
    queries: Rows,
    widths: Floats,
    weights: Floats,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Return log Σ w·φ(distance/width) for every query; each row has its width and weight.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Manhattan
    >>> from bisector.kernels import WindowBump
    >>> from bisector.solvers.parzen_any_metric import parzen_sums_any_metric
    >>> metric = Manhattan()
    >>> rows, queries = metric.prepare([[0.0, 0.0], [1.0, 1.0]]), metric.prepare([[0.5, 0.25]])
    >>> np.exp(parzen_sums_any_metric(WindowBump(), metric, rows, queries, np.ones(2), np.ones(2)))
    array([1.])
    """
    pairs = distance.between(rows, queries, flipped=True)
    height, width = pairs.tile_shape
    logs = np.empty(len(queries))
    with np.errstate(divide="ignore"):
        log_weights = np.log(weights)

    def add(inner: range) -> None:
        peak, total = np.full(len(inner), -math.inf), np.zeros(len(inner))
        tile: Any = np.empty((min(height, len(rows)), len(inner)))
        for outer in cut(len(rows), height):
            part = slice(outer.start, outer.stop)
            pairs.fill(outer, inner, tile)
            units = pairs.finish(tile[: len(outer)]) / widths[part, None]
            terms = bump.log_height(units) + log_weights[part, None]
            higher = np.maximum(peak, terms.max(axis=0))
            measured_by = np.where(np.isfinite(higher), higher, 0.0)
            total = total * np.exp(peak - measured_by) + np.exp(terms - measured_by).sum(axis=0)
            peak = higher
        with np.errstate(divide="ignore"):
            logs[inner.start : inner.stop] = np.where(np.isfinite(peak), peak, 0.0) + np.log(total)

    parallel(add, cut(len(queries), width), n_jobs=n_jobs)
    return logs
