"""All values of a kernel, tile by tile on threads; and their means, without holding them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Rows
from bisector.distances.reductions import cut
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
    from bisector.distances.tile_loops import mirror_tile

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
    elif not (
        isinstance(out, np.ndarray)
        and out.shape == products.shape
        and out.dtype in (np.float32, np.float64)
        and out.flags.carray
    ):
        raise ValueError(
            "out must be an aligned, writable, C-contiguous array of float32 or float64 with the shape "
            f"{products.shape}."
        )
    filled = out.view(np.ndarray)
    mirrored = references is None and kernel.symmetric and products.mirrored
    size = min(products.tile_shape) if mirrored else 0
    height, width = (size or length for length in products.tile_shape)

    def write(tile: tuple[range, range]) -> None:
        outer, inner = tile
        if filled.dtype == np.float64:
            products.write(outer, inner, filled, outer.start, inner.start)
        else:
            values = np.empty((len(outer), len(inner)))
            products.write(outer, inner, values)
            with np.errstate(over="ignore"):  # what no float32 can hold is infinite
                filled[outer.start : outer.stop, inner.start : inner.stop] = values
        if mirrored:  # tiles on the diagonal too: a matrix product need not be symmetric in its last bits
            mirror_tile(filled, outer.start, inner.start, len(outer), len(inner))

    tiles = [
        (outer, inner)
        for outer in cut(products.shape[0], height)
        for inner in cut(products.shape[1], width)
        if not mirrored or inner.start >= outer.start
    ]
    parallel(write, tiles, n_jobs=n_jobs)
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
