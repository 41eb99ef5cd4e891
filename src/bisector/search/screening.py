"""Screening by matrix products: a cheap look that tells most references from the near ones.

For sums of squares, ‖q − y‖² = ‖a‖² + ‖b‖² − 2a·b with a = q − c and b = y − c for any centre c, and a matrix
product gives all a·b at the speed of the machine. Products round, so they decide nothing: they bound the
reduced distance from both sides, and what the bounds leave open is computed by the formula itself.

**The bound.** Let w be the unit roundoff of the products, u that of float64, d the number of coordinates. Narrowing
a and b, the d additions of a product (in any order), narrowing ‖b‖² and adding it err together by at most
(d + 16)·w·(‖a‖² + ‖b‖²), as 2‖a‖‖b‖ ≤ ‖a‖² + ‖b‖²; the formula, the centring, the lengths and the weights by
(4d + 64)·u·(‖a‖² + ‖b‖²). The sum, and 5 % for products of errors, is the share E. It splits into a part of the
query and a part of the reference, so that a reference far out widens no bound but its own.

Products in single precision take half the time of those in double precision, and tell references apart unless they
are a thousand times closer to each other than to the centre, whatever the dtype of the rows. Then double precision
does, or else the formula.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bisector.distances.coordinate_distance import CoordinateDistance, CoordinatePairs
from bisector.distances.distance import Distance, Rows
from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.engine.memory import budget
from bisector.engine.threads import parallel
from bisector.search.comparing import (
    GROUP,
    ByFormula,
    Heaps,
    Listed,
    Mask,
    counted,
    in_groups,
    joined,
    listed,
    parts_of,
    whole_groups,
)
from bisector.search.index import Floats, Integers

# A single coordinate is compared faster than multiplied.
FEWEST_COORDINATES = 2

# With more neighbours than this share of the references, nearly all of these would have to be decided.
LARGEST_SHARE = 1 / 8

# The tile of products, queries × references: in single precision it just fits into the second-level cache.
_TILE = (2048, 256)
# References that a query's list holds at least, and a multiple of k: up to half of them may stay undecided.
_LIST, _LISTS_OF_K = 1024, 4
# What the lists of all queries of a tile hold at most, by having fewer queries.
_ALL_LISTS = 2**20
# When more than this share of a tile would be decided by the formula one by one, it computes the tile.
_MOST_LISTED = 0.2

# Rows that are centred, or looked up, at once; and rows that the centre is the median of.
_ROWS_AT_ONCE, _ROWS_FOR_CENTRE = 2048, 256
# With exponents up to these no square of a coordinate leaves the range of float64, so that only rounding errs.
_LARGEST_EXPONENT, _LARGEST_WEIGHT = 300, 100
# The square of a query's distance to the centre, when that of the farthest reference is about one.
_FARTHEST_QUERY = 2.0**80
# Up to this share of errors, 5 % cover the products of errors.
_LARGEST_SHARE_OF_ERRORS = 0.01
# What numbers that vanish can amount to, per coordinate, when lengths are about one.
_VANISHING = {np.dtype(np.float32): 2.0**-120, np.dtype(np.float64): 2.0**-360}


@lru_cache(maxsize=64)
def share_of_errors(n_features: int, dtype: Any) -> float:
    """Return E, the bound of all errors as a share of ‖a‖² + ‖b‖²."""
    narrow, wide = np.finfo(dtype).eps / 2, np.finfo(np.float64).eps / 2
    return float(1.05 * ((n_features + 16) * narrow + (4 * n_features + 64) * wide))


@dataclass(frozen=True)
class Frame:
    """Where rows are seen from: the middle becomes the origin, and the largest coordinate about one.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
    factors : ndarray of shape (n_features,)
        What coordinates are multiplied by: a power of two, times the root of the feature's weight.
    scale : float
        That power of two.
    """

    centre: Floats
    factors: Floats
    scale: float

    @classmethod
    def of(cls, rows: NumericRows, formula: Any, n_jobs: int | None = None) -> "Frame | None":
        """Return the frame of rows; None if squares of theirs, or weights, would leave the range of numbers."""
        weights = np.array([float(formula.weight(j)) for j in range(rows.values.shape[1])])
        positive = weights[weights > 0]
        if not positive.size or np.abs(np.log2(positive)).max() > _LARGEST_WEIGHT:
            return None
        with np.errstate(over="ignore"):
            # The median, as a few rows far out would draw the mean away from all others.
            centre = np.median(rows.values[:: -(-len(rows) // _ROWS_FOR_CENTRE)], axis=0).astype(np.float64)

        def reach(part: range) -> Floats:
            values = rows.dense(part)
            with np.errstate(over="ignore", invalid="ignore"):
                return np.maximum(values.max(axis=0) - centre, centre - values.min(axis=0))

        roots = np.sqrt(weights)
        reached = np.max(parallel(reach, cut(len(rows), _ROWS_AT_ONCE), n_jobs=n_jobs), axis=0)
        with np.errstate(invalid="ignore"):
            farthest = float((roots * reached).max())
        exponent = int(np.frexp(farthest)[1])
        if not np.isfinite(farthest) or abs(exponent) > _LARGEST_EXPONENT:
            return None
        scale = 2.0**-exponent
        return cls(centre, roots * scale, scale)

    def place(self, values: NDArray[Any]) -> Floats:
        """Return rows as seen in the frame."""
        placed: Floats = values - self.centre
        placed *= self.factors
        return placed


class Seen(NamedTuple):
    """Queries as a screen sees them.

    Attributes
    ----------
    values : ndarray of shape (n_queries, n_features)
        −2a.
    base : ndarray of shape (n_queries,)
        What the lows of a query leave out: ‖a‖², less the query's part of the bound.
    slack : ndarray of shape (n_queries,)
        By how much a high exceeds a low, the reference's part left out.
    fit : ndarray of shape (n_queries,)
        False for queries that are too far out to be screened; they stand at the origin.
    """

    values: NDArray[Any]
    base: Floats
    slack: Floats
    fit: Mask


class Screen:
    """References in a frame, narrowed to the dtype of the products.

    For a query and a reference, the *low* is −2a·b + ‖b‖², less the reference's part of the bound, as computed. The
    reduced distance, scaled as the frame is, lies between ``base + low`` and ``base + high``, where
    ``high = low + slack + slope · norm``.

    Parameters
    ----------
    frame : Frame
    rows : NumericRows
        The references, dense.
    dtype : dtype
        float32 or float64.
    n_jobs : int or None

    Attributes
    ----------
    share : float
        E, the bound of all errors as a share of ‖a‖² + ‖b‖².
    norms : ndarray of shape (n_references filled up to whole groups,)
        ‖b‖² less the reference's part of the bound; infinite where there is no reference.
    slope : float
    """

    def __init__(self, frame: Frame, rows: NumericRows, dtype: Any, n_jobs: int | None = None) -> None:
        n, n_features = rows.values.shape
        self.frame = frame
        self.dtype = np.dtype(dtype)
        self.share = share_of_errors(n_features, dtype)
        self.slope = 2.05 * self.share
        self._vanishing = n_features * _VANISHING[self.dtype]
        self._values = np.zeros((whole_groups(n), n_features), self.dtype)
        self.norms = np.full(len(self._values), np.inf, self.dtype)

        def narrow(part: range) -> None:
            placed = frame.place(rows.dense(part))
            squares = np.einsum("ij,ij->i", placed, placed)
            self._values[part.start : part.stop] = placed
            self.norms[part.start : part.stop] = squares * (1 - self.share) - self._vanishing

        parallel(narrow, cut(n, _ROWS_AT_ONCE), n_jobs=n_jobs)

    def see(self, queries: NDArray[Any]) -> Seen:
        """Return queries as this screen sees them."""
        with np.errstate(over="ignore", invalid="ignore"):
            placed = self.frame.place(queries)
            squares = np.einsum("ij,ij->i", placed, placed)
            fit = squares <= _FARTHEST_QUERY
        placed[~fit] = 0.0
        squares[~fit] = 0.0
        placed *= -2.0
        slack = 2 * self.share * squares + 4 * self._vanishing
        return Seen(placed.astype(self.dtype, copy=False), squares * (1 - self.share), slack, fit)

    def products(
        self, seen: Seen, references: range, alive: Mask | None
    ) -> Iterator[tuple[range, NDArray[Any], NDArray[Any]]]:
        """Yield tiles of −2a·b, in groups, with their references and the norms of these."""
        n_queries = len(seen.values)
        width = max(_TILE[1], _TILE[0] * _TILE[1] // max(1, n_queries) // GROUP * GROUP)
        room = np.empty(n_queries * min(width, whole_groups(len(references))), self.dtype)
        for part in parts_of(references, width):
            stop = part.start + whole_groups(len(part))
            tile = room[: n_queries * (stop - part.start)].reshape(n_queries, -1)
            np.matmul(seen.values, self._values[part.start : stop].T, out=tile)
            norms = self.norms[part.start : stop]
            if alive is not None:
                norms = norms.copy()
                norms[: len(part)][~alive[part.start : part.stop]] = np.inf
            yield part, in_groups(tile), norms.reshape(-1, GROUP)


class Screens:
    """The screens of references, each made when it is first needed.

    Parameters
    ----------
    distance : Distance
    rows : Rows
        The references.
    """

    def __init__(self, distance: Distance, rows: Rows) -> None:
        self._distance, self._rows = distance, rows
        self._made: dict[type, Screen | None] = {}

    def of(self, dtype: type, n_jobs: int | None = None) -> Screen | None:
        """Return the screen whose products have a dtype; None if there can be none, or no memory for it."""
        if dtype not in self._made:
            self._made[dtype] = self._make(dtype, n_jobs)
        return self._made[dtype]

    def _make(self, dtype: type, n_jobs: int | None) -> Screen | None:
        rows, distance = self._rows, self._distance
        if not (isinstance(rows, NumericRows) and isinstance(distance, CoordinateDistance)):
            return None
        n_features = rows.values.shape[1]
        if rows.sparse or distance.may_miss or n_features < FEWEST_COORDINATES:
            return None
        formula = distance.lower(n_features)
        frame = Frame.of(rows, formula, n_jobs) if formula.sums_squares else None
        if frame is None or share_of_errors(n_features, dtype) > _LARGEST_SHARE_OF_ERRORS:
            return None
        if rows.values.size * np.dtype(dtype).itemsize > budget():
            return None
        return Screen(frame, rows, dtype, n_jobs)


class ByProducts:
    """Queries and references, compared by products first and by the formula where these leave it open.

    Ranges of references begin with a whole group, and end with one or with the last reference.

    Parameters
    ----------
    screen : Screen
        Of the references.
    pairs : CoordinatePairs
        Of queries (outer) and references (inner).
    """

    def __init__(self, screen: Screen, pairs: CoordinatePairs) -> None:
        self.screen = screen
        self.pairs = pairs
        self.by_formula = ByFormula(pairs)

    def most_queries(self, k: int) -> int:
        """Return how many queries should be compared at once when k neighbours of each are searched for."""
        return max(GROUP, min(_TILE[0], _ALL_LISTS // _list_size(k)))

    def nearest(self, queries: range, k: int, references: range, alive: Mask | None) -> tuple[Heaps, Mask]:
        """Find the k nearest references; return them, and for which queries that was possible."""
        from bisector.engine.loops import given
        from bisector.search.screening_loops import collect, drop_all_above, join_lists
        from bisector.search.selection_loops import keep_smallest_listed

        seen = self.screen.see(self.pairs.outer.dense(queries))
        dtype, n, size = self.screen.dtype, len(queries), _list_size(k)
        thresholds = np.where(seen.fit, np.finfo(dtype).max, -np.inf).astype(dtype)
        highs, counts = np.full((n, k), np.inf), np.zeros(n, dtype=np.int64)
        lows, numbers = np.empty((n, size), dtype), np.empty((n, size), dtype=np.int64)
        bound = given(seen.slack), self.screen.slope, float(np.finfo(dtype).eps)
        for part, tile, norms in self.screen.products(seen, references, alive):
            place = given(tile), given(norms), part.start
            if not collect(*place, *bound, thresholds, highs, counts, lows, numbers):
                break
        drop_all_above(thresholds, counts, lows, numbers)
        open_pairs = np.empty(counts.sum(), dtype=np.int64)
        join_lists(given(counts), given(numbers), open_pairs)
        reduced = self._decide(queries, counts, open_pairs)
        heaps = Heaps.empty(n, k)
        keep_smallest_listed(given(counts), given(reduced), given(open_pairs), *heaps)
        return heaps, thresholds > -np.inf

    def within(self, queries: range, bounds: Floats, references: range, alive: Mask | None) -> Listed:
        """List the references whose reduced distance is at most the query's bound."""
        seen = self.screen.see(self.pairs.outer.dense(queries))
        thresholds = self._possible(seen, bounds)

        def found() -> Iterator[Listed]:
            for part, tile, norms in self.screen.products(seen, references, alive):
                tile += norms
                counts = counted(tile, thresholds)
                if counts.sum() > _MOST_LISTED * tile.size:
                    yield self.by_formula.within(queries, bounds, part, alive)
                    continue
                possible = listed(tile, None, thresholds, counts, part.start)
                reduced, owners, inside = self._decide_within(queries, bounds, possible)
                kept = np.bincount(owners[inside], minlength=len(queries))
                yield Listed(kept, reduced[inside], possible.numbers[inside])

        return joined(len(queries), found())

    def count(self, queries: range, bounds: Floats, references: range, alive: Mask | None) -> Integers:
        """Count these references."""
        seen = self.screen.see(self.pairs.outer.dense(queries))
        thresholds = self._possible(seen, bounds)
        counts = np.zeros(len(queries), dtype=np.int64)
        for part, tile, norms in self.screen.products(seen, references, alive):
            sure = self._certain(seen, bounds, float(norms.max(where=np.isfinite(norms), initial=0.0)))
            tile += norms
            certain, possible = counted(tile, sure), counted(tile, thresholds)
            n_open = int((possible - certain).sum())
            if n_open > _MOST_LISTED * tile.size:
                counts += self.by_formula.count(queries, bounds, part, alive)
                continue
            counts += certain
            if n_open:
                between = listed(tile, sure, thresholds, possible - certain, part.start)
                _, owners, inside = self._decide_within(queries, bounds, between)
                counts += np.bincount(owners[inside], minlength=len(queries))
        return counts

    def _possible(self, seen: Seen, bounds: Floats) -> NDArray[Any]:
        """Return, for every query, the largest low of a pair whose reduced distance may be within the bound."""
        lows = _rounded(self._lows(seen, bounds), self.screen.dtype, np.inf)
        return np.where(seen.fit, lows, np.finfo(lows.dtype).max)

    def _certain(self, seen: Seen, bounds: Floats, largest_norm: float) -> NDArray[Any]:
        """Return, for every query, the largest low that is certainly within the bound, norms being so large."""
        lows = self._lows(seen, bounds) - seen.slack - self.screen.slope * largest_norm
        return np.where(seen.fit, _rounded(lows, self.screen.dtype, -np.inf), -np.inf)

    def _lows(self, seen: Seen, bounds: Floats) -> Floats:
        """Return bounds as lows: at most the largest number, which is still less than what is no reference."""
        with np.errstate(over="ignore"):
            lows = bounds * self.screen.frame.scale**2 - seen.base
        return np.minimum(lows, float(np.finfo(self.screen.dtype).max))

    def _decide_within(
        self, queries: range, bounds: Floats, open_pairs: Listed
    ) -> tuple[Floats, Integers, Mask]:
        """Return the reduced distances of listed pairs, their queries, and whether they are within the bounds."""
        reduced = self._decide(queries, open_pairs.counts, open_pairs.numbers)
        owners = np.repeat(np.arange(len(queries)), open_pairs.counts)
        return reduced, owners, reduced <= bounds[owners]

    def _decide(self, queries: range, counts: Integers, numbers: Integers) -> Floats:
        """Return the reduced distances of listed pairs, those of one query after the other, by the formula."""
        from bisector.engine.loops import given
        from bisector.search.screening_loops import reduce_pairs

        owners = np.repeat(np.arange(len(queries)), counts)
        values = given(self.pairs.outer.dense(queries), np.float64)
        rows = self.pairs.inner.values
        reduced = np.empty(len(numbers))
        if rows.dtype == np.float64:
            reduce_pairs(self.pairs.formula, values, given(owners), given(rows), given(numbers), reduced)
            return reduced
        for part in cut(len(numbers), _ROWS_AT_ONCE):
            some = slice(part.start, part.stop)
            widened = given(rows[numbers[some]], np.float64)
            places = given(np.arange(len(part)))
            reduce_pairs(self.pairs.formula, values, given(owners[some]), widened, places, reduced[some])
        return reduced


def _list_size(k: int) -> int:
    return max(_LIST, _LISTS_OF_K * k)


def _rounded(values: Floats, dtype: Any, towards: float) -> NDArray[Any]:
    """Round to a dtype, up or down."""
    near = values.astype(dtype)
    with np.errstate(over="ignore"):
        beyond = np.nextafter(near, towards, dtype=near.dtype)
    return np.where(near < values if towards > 0 else near > values, beyond, near)
