"""What models ask of distances: all of them, the nearest, sums, counts within a radius.

Only `all_distances` holds them all. The others make a tile, reduce it while it is in the cache, and forget it;
they work for every distance, because they only know `Pairs`. Results do not depend on tiles or threads; among
equally near rows the one with the smaller number comes first.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bisector.distances.distance import Distance, Pairs, Rows
from bisector.engine.memory import require
from bisector.engine.threads import parallel
from bisector.engine.validation import check_count


def all_distances(
    distance: Distance,
    rows: Rows,
    references: Rows | None = None,
    out: NDArray[Any] | None = None,
    *,
    n_jobs: int | None = None,
) -> NDArray[Any]:
    """Return the distances from every row to every reference; without references, among the rows."""
    pairs = distance.between(rows, rows if references is None else references)
    if out is None:
        n, m = pairs.shape
        require(
            n * m * pairs.dtype.itemsize,
            doing=f"Comparing {n:,} with {m:,} rows",
            holding=f"{n:,} × {m:,} distances",
            instead="use an estimator, which reduces distances as they are made, or fewer rows",
        )
        out = np.empty(pairs.shape, dtype=pairs.dtype)
    write_all(pairs, out, mirrored=references is None and distance.symmetric, n_jobs=n_jobs)
    return out


class Tiles(Protocol):
    """What can be written tile by tile: distances, or values of a kernel."""

    shape: tuple[int, int]
    tile_shape: tuple[int, int]

    def write(self, outer: range, inner: range, out: NDArray[Any], row: int = 0, column: int = 0) -> None: ...


def write_all(tiles: Tiles, out: Any, *, mirrored: bool, n_jobs: int | None = None) -> None:
    """Write all tiles into an array that the user may have given, on threads.

    When the result is `mirrored` in its diagonal, only one half is computed.
    """
    filled = _checked_out(out, tiles.shape)
    size = min(tiles.tile_shape) if mirrored else 0
    height, width = (size or length for length in tiles.tile_shape)

    def write(tile: tuple[range, range]) -> None:
        outer, inner = tile
        if filled.dtype == np.float64:
            tiles.write(outer, inner, filled, outer.start, inner.start)
        else:  # tiles are float64: one compilation a formula, not one a dtype
            values = np.empty((len(outer), len(inner)))
            tiles.write(outer, inner, values)
            with np.errstate(over="ignore"):  # what no float32 can hold is infinite
                filled[outer.start : outer.stop, inner.start : inner.stop] = values
        if mirrored:  # tiles on the diagonal too: a matrix product need not be symmetric in its last bits
            from bisector.distances.tile_loops import mirror_tile

            mirror_tile(filled, outer.start, inner.start, len(outer), len(inner))

    places = [
        (outer, inner)
        for outer in cut(tiles.shape[0], height)
        for inner in cut(tiles.shape[1], width)
        if not mirrored or inner.start >= outer.start
    ]
    parallel(write, places, n_jobs=n_jobs)


def _checked_out(out: Any, shape: tuple[int, int]) -> NDArray[Any]:
    """Check the array that is to be written into; return it as a plain array."""
    wanted = (
        f"out must be an aligned, writable, C-contiguous array of float32 or float64 with the shape {shape}"
    )
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{wanted}, not a {type(out).__name__}.")
    if out.shape != shape or out.dtype not in (np.float32, np.float64):
        raise ValueError(f"{wanted}, not one of {out.dtype} with the shape {out.shape}.")
    if not out.flags.carray:
        lacking = "writable" if not out.flags.writeable else "C-contiguous and aligned"
        raise ValueError(f"{wanted}, but it is not {lacking}.")
    return out.view(np.ndarray)


def nearest(
    distance: Distance, queries: Rows, references: Rows, k: int = 1, *, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return, for every query, the distances and numbers of its k nearest references, nearest first.

    References that are infinitely far are the last, in the order of their numbers.
    """
    from bisector.distances.reduction_loops import keep_k_nearest

    _check_any(references)
    k = check_count("k", k, at_most=len(references))
    best = np.full((len(queries), k), np.inf)
    numbers = np.full((len(queries), k), -1, dtype=np.int64)

    def start(inner: range) -> tuple[NDArray[Any], NDArray[Any]]:
        return best[inner.start : inner.stop], numbers[inner.start : inner.stop]

    def keep(tile: NDArray[np.float64], outer: range, state: Any) -> None:
        keep_k_nearest(tile, len(outer), outer.start, *state)

    pairs = distance.between(references, queries, flipped=True)
    _reduce_tiles(pairs, start, keep, n_jobs)
    for query in np.flatnonzero((numbers < 0).any(axis=1)):
        reached = numbers[query] >= 0
        others = np.setdiff1d(np.arange(k), numbers[query, reached])
        numbers[query, ~reached] = others[: k - reached.sum()]
    return pairs.finish(best), numbers


def nearest_one(
    distance: Distance, queries: Rows, references: Rows, *, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return, for every query, the distance and number of its nearest reference."""
    from bisector.distances.reduction_loops import keep_nearest

    _check_any(references)
    best = np.full(len(queries), np.inf)
    numbers = np.zeros(len(queries), dtype=np.int64)

    def start(inner: range) -> tuple[NDArray[Any], NDArray[Any]]:
        return best[inner.start : inner.stop], numbers[inner.start : inner.stop]

    def keep(tile: NDArray[np.float64], outer: range, state: Any) -> None:
        keep_nearest(tile, len(outer), outer.start, *state)

    pairs = distance.between(references, queries, flipped=True)
    _reduce_tiles(pairs, start, keep, n_jobs)
    return pairs.finish(best), numbers


def sums(
    distance: Distance,
    queries: Rows,
    references: Rows,
    weights: ArrayLike | None = None,
    *,
    n_jobs: int | None = None,
) -> NDArray[np.float64]:
    """Return, for every query, the sum of its distances to the references, each times its weight.

    References of weight zero do not count, even when they are infinitely far.
    """
    from bisector.distances.reduction_loops import add_weighted
    from bisector.engine.loops import given

    weight = given(np.ones(len(references)) if weights is None else weights, np.float64)
    if weight.shape != (len(references),):
        raise ValueError(
            f"There must be one weight for each of {len(references)} references, but weights have the shape "
            f"{weight.shape}."
        )
    totals = np.zeros(len(queries))

    def start(inner: range) -> NDArray[Any]:
        return totals[inner.start : inner.stop]

    def keep(tile: NDArray[np.float64], outer: range, state: Any) -> None:
        add_weighted(tile, len(outer), outer.start, weight, state)

    _reduce_tiles(distance.between(references, queries, flipped=True), start, keep, n_jobs, finished=True)
    return totals


def counts_within(
    distance: Distance, queries: Rows, references: Rows, radius: ArrayLike, *, n_jobs: int | None = None
) -> NDArray[np.int64]:
    """Return, for every query, how many references are at most a radius away: one for all, or one for each.

    No reference is within a negative radius.
    """
    from bisector.distances.reduction_loops import count_within
    from bisector.engine.loops import given

    pairs = distance.between(references, queries, flipped=True)
    radii = np.asarray(radius, dtype=np.float64)
    if radii.shape not in ((), (len(queries),)):
        raise ValueError(
            f"radius must be one number, or one for each of {len(queries)} rows, but has the shape {radii.shape}."
        )
    if np.isnan(radii).any():
        raise ValueError("radius must be a number, not NaN.")
    radii = np.broadcast_to(radii, (len(queries),))
    different, which = np.unique(radii, return_inverse=True)
    bounds = given(np.array([pairs.reduce(float(r)) for r in different])[which])
    counts = np.zeros(len(queries), dtype=np.int64)

    def start(inner: range) -> tuple[NDArray[Any], NDArray[Any]]:
        return given(bounds[inner.start : inner.stop]), counts[inner.start : inner.stop]

    def keep(tile: NDArray[np.float64], outer: range, state: Any) -> None:
        count_within(tile, len(outer), *state)

    _reduce_tiles(pairs, start, keep, n_jobs)
    return counts


def _check_any(references: Rows) -> None:
    if not len(references):
        raise ValueError("There are no rows to search: the nearest of none is not defined.")


def cut(n: int, size: int) -> list[range]:
    """Cut 0…n into consecutive ranges of a size; the last may be shorter."""
    return [range(start, min(start + size, n)) for start in range(0, n, size)]


def _reduce_tiles(
    pairs: Pairs,
    start: Callable[[range], Any],
    keep: Callable[[NDArray[np.float64], range, Any], None],
    n_jobs: int | None,
    *,
    finished: bool = False,
) -> None:
    """Make the tiles of every set of inner rows in the order of the outer rows, and reduce each at once."""
    height, width = pairs.tile_shape
    fill = pairs.write if finished else pairs.fill

    def reduce(inner: range) -> None:
        state = start(inner)
        tile = np.empty((min(height, pairs.shape[0]), len(inner)))
        for outer in cut(pairs.shape[0], height):
            fill(outer, inner, tile)
            keep(tile, outer, state)

    parallel(reduce, cut(pairs.shape[1], width), n_jobs=n_jobs)
