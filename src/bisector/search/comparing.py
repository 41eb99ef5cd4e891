"""Comparing queries with every reference, tile by tile, by the formula of the distance itself."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Pairs
from bisector.engine.memory import require
from bisector.search.index import Floats, Integers

Mask = NDArray[np.bool_]

# References that the processor compares with a bound at once: tiles have whole groups of them.
GROUP = 64

# Pairs that a tile holds at least, so that few queries do not take many calls.
_PAIRS_AT_ONCE = 2**15
# Neighbours that a thread holds at most, by having fewer queries.
_NEIGHBOURS_AT_ONCE = 2**20


class Heaps(NamedTuple):
    """The nearest so far of every query, as `bisector.search.heap_loops` keeps them."""

    reduced: Floats
    numbers: Integers

    @classmethod
    def empty(cls, n_queries: int, k: int) -> "Heaps":
        """Return heaps of k empty places."""
        from bisector.search.heap_loops import EMPTY

        return cls(np.full((n_queries, k), np.inf), np.full((n_queries, k), EMPTY))


class Listed(NamedTuple):
    """References found for every query: how many, and one query after the other what they are."""

    counts: Integers
    reduced: Floats
    numbers: Integers


class ByFormula:
    """Queries and references, compared by the formula of their distance.

    Parameters
    ----------
    pairs : Pairs
        Of queries (outer) and references (inner).
    """

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs

    def most_queries(self, k: int) -> int:
        """Return how many queries should be compared at once when k neighbours of each are searched for."""
        return min(self.pairs.tile_shape[0], max(1, _NEIGHBOURS_AT_ONCE // max(1, k)))

    def nearest(self, queries: range, k: int, references: range, alive: Mask | None) -> tuple[Heaps, Mask]:
        """Find the k nearest references; return them, and for which queries that was possible: all."""
        from bisector.search.selection_loops import keep_smallest

        heaps = Heaps.empty(len(queries), k)
        for part, tile in self._tiles(queries, references, alive):
            keep_smallest(tile, part.start, *heaps)
        return heaps, np.ones(len(queries), dtype=bool)

    def within(self, queries: range, bounds: Floats, references: range, alive: Mask | None) -> Listed:
        """List the references whose reduced distance is at most the query's bound."""
        tiles = self._tiles(queries, references, alive)
        return joined(
            len(queries),
            (listed(tile, None, bounds, counted(tile, bounds), part.start) for part, tile in tiles),
        )

    def count(self, queries: range, bounds: Floats, references: range, alive: Mask | None) -> Integers:
        """Count these references."""
        counts = np.zeros(len(queries), dtype=np.int64)
        for _, tile in self._tiles(queries, references, alive):
            counts += counted(tile, bounds)
        return counts

    def _tiles(
        self, queries: range, references: range, alive: Mask | None
    ) -> Iterator[tuple[range, NDArray[np.float64]]]:
        """Make the tiles of references one after the other, as loops of selection take them."""
        from bisector.engine.loops import given

        width = max(self.pairs.tile_shape[1], _PAIRS_AT_ONCE // max(1, len(queries)))
        width = whole_groups(min(width, len(references)))
        tile = np.empty((len(queries), width))
        for part in parts_of(references, width):
            self.pairs.fill(queries, part, tile)
            tile[:, len(part) :] = np.nan
            if alive is not None:
                tile[:, np.flatnonzero(~alive[part.start : part.stop])] = np.nan
            yield part, given(in_groups(tile))


def counted(tile: NDArray[Any], bounds: NDArray[Any]) -> Integers:
    """Count, for every query, the values of a tile that are at most its bound."""
    from bisector.engine.loops import given
    from bisector.search.selection_loops import count_up_to

    counts = np.zeros(len(bounds), dtype=np.int64)
    count_up_to(given(tile), given(bounds), counts)
    return counts


def listed(
    tile: NDArray[Any], above: NDArray[Any] | None, bounds: NDArray[Any], counts: Integers, first: int
) -> Listed:
    """List the values of a tile that are at most their query's bound, and above another one if there is any.

    Their counts are known; the numbers of the references count from `first`.
    """
    from bisector.engine.loops import given
    from bisector.search.selection_loops import list_between

    if above is None:
        above = np.full_like(bounds, -np.inf)
    total = int(counts.sum())
    found = Listed(counts, np.empty(total, dtype=tile.dtype), np.empty(total, dtype=np.int64))
    list_between(given(tile), given(above), given(bounds), first, found.reduced, found.numbers)
    return found


def joined(n_queries: int, parts: Iterator[Listed]) -> Listed:
    """Join what was found for the same queries among consecutive parts of the references."""
    from bisector.engine.loops import given
    from bisector.search.selection_loops import append_lists

    found, counts, total = [], np.zeros(n_queries, dtype=np.int64), 0
    for part in parts:
        total += len(part.numbers)
        _require_room(total)
        counts += part.counts
        if len(part.numbers):
            found.append(part)
    together = Listed(counts, np.empty(total), np.empty(total, dtype=np.int64))
    ends = np.cumsum(counts) - counts
    for part in found:
        lists = given(part.counts), given(part.reduced), given(part.numbers)
        append_lists(*lists, ends, together.reduced, together.numbers)
    return together


def in_turn(blocks: Sequence[Listed]) -> Listed:
    """Put what was found for consecutive blocks of queries one after the other."""
    _require_room(sum(len(block.numbers) for block in blocks))
    nothing = Listed(np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(0, dtype=np.int64))
    return Listed(*map(np.concatenate, zip(nothing, *blocks, strict=True)))


def merged(parts: Sequence[Heaps], k: int) -> Heaps:
    """Merge what was found for the same queries in several parts: the k nearest, in ascending order.

    Empty places come last, and get the number −1.
    """
    from bisector.search.heap_loops import EMPTY
    from bisector.search.selection_loops import sort_heaps

    if len(parts) == 1:
        sort_heaps(*parts[0])
        return parts[0]
    reduced = np.concatenate([part.reduced for part in parts], axis=1)
    numbers = np.concatenate([part.numbers for part in parts], axis=1)
    order = np.lexsort((numbers, reduced), axis=1)[:, :k]
    numbers = np.take_along_axis(numbers, order, axis=1)
    numbers[numbers == EMPTY] = -1
    return Heaps(np.take_along_axis(reduced, order, axis=1), numbers)


def _require_room(total: int) -> None:
    """Refuse a list that would exceed the memory budget."""
    require(
        16 * total,
        doing="Listing the rows within a radius",
        holding=f"{total:,} rows",
        instead="take a smaller radius, fewer queries, or only count them (count_only=True)",
    )


def whole_groups(n: int) -> int:
    """Round a number of references up to whole groups."""
    return -(-n // GROUP) * GROUP


def in_groups(tile: NDArray[Any]) -> NDArray[Any]:
    """View the columns of a tile as whole groups."""
    return tile.reshape(len(tile), -1, GROUP)


def parts_of(references: range, width: int) -> list[range]:
    """Cut consecutive references into parts of a width; the last may be shorter."""
    return [references[start : start + width] for start in range(0, len(references), width)]
