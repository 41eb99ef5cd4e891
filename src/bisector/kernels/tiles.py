"""All values of a kernel, tile by tile on threads; and their means, without holding them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.reductions import cut, write_all
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.kernels.kernel import Kernel


def all_products(
    kernel: Kernel,
    rows: Rows,
    references: Rows | None = None,
    out: NDArray[Any] | None = None,
    *,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Return the values for every row with every reference; without references, among the rows."""
    products = kernel.between(rows, rows if references is None else references)
    if out is None:
        n, m = products.shape
        require(
            n * m * products.dtype.itemsize,
            doing=f"Comparing {n:,} with {m:,} rows",
            holding=f"{n:,} × {m:,} kernel values",
            instead="use fewer rows, or a linear model on feature_map(X) where the kernel has one",
        )
        out = np.empty(products.shape, dtype=products.dtype)
    mirrored = references is None and kernel.symmetric and products.mirrored
    write_all(products, out, mirrored=mirrored, n_jobs=n_jobs)
    return out


def means(kernel: Kernel, rows: Rows, references: Rows) -> NDArray[np.float64]:
    """Return, for every row, the mean of its values with the references: equal bits for equal rows."""
    from bisector.distances.reduction_loops import add_weighted
    from bisector.engine.loops import given

    products = kernel.between(references, rows)
    weights = given(np.ones(len(references)))
    totals = np.zeros(len(rows))
    height, width = products.tile_shape

    def add(inner: range) -> None:
        tile = np.empty((min(height, products.shape[0]), len(inner)))
        for outer in cut(products.shape[0], height):
            products.fill(outer, inner, tile)
            add_weighted(tile, len(outer), outer.start, weights, totals[inner.start : inner.stop])

    parallel(add, cut(len(rows), width))
    return totals / len(references)
