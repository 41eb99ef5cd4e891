"""Compiled steps of Lloyd's algorithm: the nearest centre of every row of a block, and the sums of the clusters.

Rows are taken a chunk at a time, in three steps: bounds say whose nearest centre may have changed; products in
single precision tell most centres of these rows from the nearest one; and what the products leave open is decided
by the formula, Σ(x−c)² in the order of the coordinates, ties going to the smaller number. So labels are those of
comparing every row with every centre. Sums are added up in the order of the rows, whatever was skipped.

The error of products is bounded as in `bisector.search.screening`: seen from the origin in units of `scale`, let
a be a row and b a centre. The *low* of a pair is −2a·b + ‖b‖²(1 − E); the reduced distance lies between
‖a‖²(1 − E) + low and that plus 2E‖a‖² + 2.05E‖b‖².
"""

from typing import Any, NamedTuple

import numpy as np

from bisector.engine.loops import given, loop

# Up to so many coordinates, products are made in registers; with more, by BLAS.
FEW, SEVERAL = 3, 8
# Rows of a chunk, and numbers in its tile of products.
_ROWS, _FEWEST_ROWS, _TILE = 256, 32, 2**17
# Numbers of a chunk: its rows are read twice, and should still be in the cache the second time.
_CHUNK = 2**15
# Rows that are farther out than this, in units of `scale`, are compared by the formula alone.
FARTHEST = 2.0**80
_VANISHING = 2.0**-120
# By what share bounds become smaller, or what they are compared with larger, for rounding; and the largest of them.
ROUNDING, LARGEST = 2.0**-20, 2.0**100
_EPSILON = 2.0**-52


class LloydFrame(NamedTuple):
    """Where rows and centres are seen from.

    Attributes
    ----------
    origin : ndarray of shape (n_features,)
    scale : float
        A power of two that makes the centres' coordinates about one.
    share : float
        E, for products in the dtype of `kind`.
    kind : ndarray
        Empty; products have its dtype.
    """

    origin: Any
    scale: float
    share: float
    kind: Any


class LloydBounds(NamedTuple):
    """What is known of rows from the pass before.

    Attributes
    ----------
    lower : ndarray of float32 of shape (n_groups, n_rows)
        For all rows of the source, below the distance to every centre of a group but the own one; or empty.
    first : int
        Which row of the source is the first of the block.
    unit : float
        What distances are multiplied by to be compared with bounds.
    drift : ndarray of shape (n_clusters,)
        How far each centre has moved since; empty if nothing is known yet.
    """

    lower: Any
    first: int
    unit: float
    drift: Any


@loop
def square(x: Any, c: Any) -> float:
    """Return Σ(x−c)², as the formula says: this decides."""
    total = 0.0
    for j in range(len(c)):
        difference = x[j] - c[j]
        total += difference * difference
    return total


@loop
def square_in_any_order(x: Any, c: Any) -> float:
    """Return Σ(x−c)², up to the order of its terms."""
    total = 0.0
    for j in range(len(c)):
        total = plus_square(total, x[j] - c[j])
    return total


@loop(fast=True)
def plus_square(total: float, difference: float) -> float:
    """Add a term to a sum whose terms may be added in any order."""
    return total + difference * difference


@loop(fast=True)
def quick_square(X: Any, i: int, centres: Any, c: Any) -> float:
    """Return Σ(x−c)² for row i and centre c, up to the order of its terms."""
    total = 0.0
    for j in range(X.shape[1]):
        difference = X[i, j] - centres[c, j]
        total += difference * difference
    return total


@loop
def add_rows(
    X: Any, first: int, last: int, weights: Any, origin: Any, labels: Any, distances: Any, sums: Any, of: Any
) -> None:  # fmt: skip
    """Add rows, seen from the origin, to the sums of their clusters, one after the other."""
    d = X.shape[1]
    for i in range(first, last):
        weight = weights[i] if len(weights) else 1.0
        if weight > 0.0:
            own = labels[i]
            of[0, own] += weight
            of[1, own] += weight * distances[i]
            for j in range(d):
                sums[own, j] += weight * (X[i, j] - origin[j])


@loop
def rows_of_a_chunk(k: int, d: int) -> int:
    """Return how many rows are taken at a time."""
    return max(_FEWEST_ROWS, min(_ROWS, _TILE // k, _CHUNK // d))


@loop
def narrow_centres(centres: Any, frame: Any, narrow: Any, norms: Any) -> None:
    """Write −2b, and what the lows add to the products."""
    k, d = centres.shape
    for c in range(k):
        total = 0.0
        for j in range(d):
            b = (centres[c, j] - frame.origin[j]) * frame.scale
            total += b * b
            narrow[c, j] = -2.0 * b
        norms[c] = total * (1.0 - frame.share) - d * _VANISHING


@loop(fast=True)
def scan_few(columns: Any, m: int, narrow: Any, norms: Any, best: Any, second: Any, owners: Any) -> None:
    """Find the least and the second least low of m rows with up to three coordinates, stored column by column."""
    x, y, z = columns[0], columns[1], columns[2]
    for c in range(0, len(norms), 2):  # two at a time: what is known of a row is then read half as often
        u0, u1, u2, u3 = narrow[c, 0], narrow[c, 1], narrow[c, 2], norms[c]
        v0, v1, v2, v3 = narrow[c + 1, 0], narrow[c + 1, 1], narrow[c + 1, 2], norms[c + 1]
        first, next_one = np.int32(c), np.int32(c + 1)
        for i in range(m):
            least, runner_up, owner = best[i], second[i], owners[i]
            u = u3 + x[i] * u0 + y[i] * u1 + z[i] * u2
            v = v3 + x[i] * v0 + y[i] * v1 + z[i] * v2
            nearer = u < least
            above = least if nearer else u
            least = u if nearer else least
            owner = first if nearer else owner
            runner_up = above if above < runner_up else runner_up
            nearer = v < least
            above = least if nearer else v
            best[i] = v if nearer else least
            owners[i] = next_one if nearer else owner
            second[i] = above if above < runner_up else runner_up


@loop(fast=True)
def scan_several(columns: Any, m: int, narrow: Any, norms: Any, best: Any, second: Any, owners: Any) -> None:
    """Do as `scan_few` does, with up to eight coordinates."""
    p, q, r, s = columns[0], columns[1], columns[2], columns[3]
    t, u, v, w = columns[4], columns[5], columns[6], columns[7]
    for c in range(len(norms)):
        c0, c1, c2, c3 = narrow[c, 0], narrow[c, 1], narrow[c, 2], narrow[c, 3]
        c4, c5, c6, c7 = narrow[c, 4], narrow[c, 5], narrow[c, 6], narrow[c, 7]
        norm, number = norms[c], np.int32(c)
        for i in range(m):
            low = norm + p[i] * c0 + q[i] * c1 + r[i] * c2 + s[i] * c3
            low = low + t[i] * c4 + u[i] * c5 + v[i] * c6 + w[i] * c7
            least, runner_up = best[i], second[i]
            nearer = low < least
            above = least if nearer else low
            best[i] = low if nearer else least
            owners[i] = number if nearer else owners[i]
            second[i] = above if above < runner_up else runner_up


@loop(fast=True)
def scan_tile(tile: Any, norms: Any, best: Any, second: Any, owners: Any) -> None:
    """Find the least and the second least low of rows whose products with all centres are given."""
    m = tile.shape[1]
    for c in range(len(norms)):
        norm, number, line = norms[c], np.int32(c), tile[c]
        for i in range(m):
            low = line[i] + norm
            least, runner_up = best[i], second[i]
            nearer = low < least
            above = least if nearer else low
            best[i] = low if nearer else least
            owners[i] = number if nearer else owners[i]
            second[i] = above if above < runner_up else runner_up


@loop
def most_low(least: float, norm: float, size: float, d: int, share: float) -> float:
    """Return the largest low of a centre that may be the nearest of a row, by the least of its lows.

    The size of the row is its square as seen from the origin, and the norm that of the centre with the least low.
    """
    error = share * (2.0 * size + 2.05 * max(0.0, np.float64(norm)))
    return least + error + 4.0 * d * _VANISHING


@loop
def decide(x: Any, centres: Any, lows: Any, norms: Any, most: float) -> int:
    """Return the nearest centre by the formula, among those whose low is at most `most`.

    Without lows (an empty array), or where they are not numbers, all centres are compared. The order of terms
    matters only among centres that are as near as rounding can tell, so that the others of long rows are left out
    first, by sums in any order, which is faster.
    """
    most_by_rounding, long = np.inf, len(x) > SEVERAL
    if long:
        for c in range(len(centres)):
            if len(lows) == 0 or not lows[c] + norms[c] > most:
                most_by_rounding = min(most_by_rounding, square_in_any_order(x, centres[c]))
        most_by_rounding *= 1.0 + 4.0 * (len(x) + 4) * _EPSILON
    best, owner = np.inf, 0
    for c in range(len(centres)):
        if len(lows) == 0 or not lows[c] + norms[c] > most:
            if long and square_in_any_order(x, centres[c]) > most_by_rounding:
                continue
            value = square(x, centres[c])
            if value < best:
                best, owner = value, c
    return owner


@loop
def open_rows(
    X: Any, first: int, last: int, centres: Any, bounds: Any, lower: Any, labels: Any, distances: Any, chosen: Any
) -> int:  # fmt: skip
    """List the rows whose nearest centre may no longer be their own; return how many."""
    k, drift, larger = len(centres), bounds.drift, bounds.unit * (1.0 + ROUNDING)
    if len(drift) == 0:
        for i in range(first, last):
            chosen[i - first] = i
        return last - first
    widest, of, next_widest = -1.0, 0, 0.0
    for c in range(k):
        if drift[c] > widest:
            widest, of, next_widest = drift[c], c, max(widest, 0.0)
        elif drift[c] > next_widest:
            next_widest = drift[c]
    m = 0
    for i in range(first, last):
        own = labels[i]
        distances[i] = quick_square(X, i, centres, np.int64(own))
        left = lower[i] * (1.0 - ROUNDING) - (next_widest if own == of else widest) * larger
        lower[i] = left
        if not np.sqrt(distances[i]) * larger < left:
            chosen[m] = i
            m += 1
    return m


@loop(fast=True)
def place_rows(
    X: Any, chosen: Any, m: int, frame: Any, by_columns: bool, places: Any, placed: Any, squares: Any
) -> None:  # fmt: skip
    """Write rows as they are seen from the origin, narrowed, and the squares of their lengths, to their places."""
    d = X.shape[1]
    for number in range(m):
        row, i, total = chosen[number], places[number], 0.0
        if by_columns:
            for j in range(d):
                a = (X[row, j] - frame.origin[j]) * frame.scale
                total += a * a
                placed[j, i] = a
        else:
            for j in range(d):
                a = (X[row, j] - frame.origin[j]) * frame.scale
                total += a * a
                placed[i, j] = a
        squares[i] = total


@loop
def assign(
    X: Any, weights: Any, centres: Any, frame: Any, bounds: Any, labels: Any, distances: Any, sums: Any, of: Any
) -> tuple[int, int]:  # fmt: skip
    """Label the rows of a block by their nearest centres, and add them to the sums of the clusters.

    Parameters
    ----------
    X : (n, d) rows
    weights : (n,), or empty where all are one
    centres : (k, d), float64
    frame, bounds : LloydFrame, LloydBounds
    labels, distances : (n,), changed
        The squared distances are to the own centre.
    sums : (k, d), changed; or empty if only labels are wanted
    of : (2, k), changed
        The weight and the scatter of each cluster.

    Returns
    -------
    changed, undecided : int
        How many labels changed, of rows that weigh anything; and how many rows products could not decide.
    """
    (n, d), k, kind, by_columns = X.shape, len(centres), frame.kind, X.shape[1] <= SEVERAL
    width = FEW if d <= FEW else (SEVERAL if by_columns else d)
    size = rows_of_a_chunk(k, d)
    even = k + k % 2 if d <= FEW else k
    narrow, norms = np.zeros((even, width), kind.dtype), np.full(even, np.inf, kind.dtype)
    narrow_centres(centres, frame, narrow, norms)
    placed = np.zeros((width, size) if by_columns else (size, width), kind.dtype)
    products = np.empty(0 if by_columns else k * size, kind.dtype)
    best, second = np.empty(size, kind.dtype), np.empty(size, kind.dtype)
    owners, chosen, squares = np.empty(size, np.int32), np.empty(size, np.int64), np.empty(size)
    places, no_lows = np.arange(size), np.empty(0, kind.dtype)
    lower = bounds.lower.reshape(bounds.lower.size)[bounds.first : bounds.first + n]
    smaller = bounds.unit / frame.scale * (1.0 - ROUNDING)
    changed, undecided = 0, 0
    for first in range(0, n, size):
        last = min(first + size, n)
        m = open_rows(X, first, last, centres, bounds, lower, labels, distances, chosen)
        if m:
            place_rows(X, chosen, m, frame, by_columns, places, placed, squares)
            best[:m] = np.inf
            second[:m] = np.inf
            owners[:m] = 0
            tile = products[: k * m if not by_columns else 0].reshape(k, m if not by_columns else 0)
            if not by_columns:
                np.dot(narrow, placed[:m].T, tile)
                scan_tile(tile, norms, best, second, owners)
            elif d <= FEW:
                scan_few(placed, m, narrow, norms, best, second, owners)
            else:
                scan_several(placed, m, narrow, norms, best, second, owners)
        for number in range(m):
            i, owner = chosen[number], owners[number]
            least, runner_up = np.float64(best[number]), np.float64(second[number])
            most = most_low(least, norms[owner], squares[number], d, frame.share)
            if not (runner_up > most and squares[number] <= FARTHEST):
                undecided += 1
                far = not squares[number] <= FARTHEST
                lows = no_lows if by_columns or far else tile[:, number].copy()
                decided = decide(X[i], centres, lows, norms, most)
                if decided != owner:
                    runner_up = least
                owner = np.int32(decided)
                if far:
                    runner_up = np.float64(-np.inf)
            if len(lower):
                beyond = squares[number] * (1.0 - frame.share) + runner_up
                lower[i] = min(np.sqrt(beyond) * smaller, LARGEST) if beyond > 0.0 else 0.0
            if owner != labels[i] or len(bounds.drift) == 0:
                changed += owner != labels[i] and (len(weights) == 0 or weights[i] > 0.0)
                labels[i] = owner
                distances[i] = quick_square(X, i, centres, np.int64(owner))
        if len(sums):
            add_rows(X, first, last, weights, frame.origin, labels, distances, sums, of)
    return changed, undecided


@loop
def assign_entries(
    entries: Any, columns: Any, starts: Any, weights: Any, centres: Any, share: float,
    labels: Any, distances: Any, sums: Any, of: Any,
) -> tuple[int, int]:  # fmt: skip
    """Do as `assign` does with the rows of a CSR matrix, seen from zero."""
    k, d = centres.shape
    across = np.empty((d, k))
    norms = np.zeros(k)
    for c in range(k):
        for j in range(d):
            across[j, c] = -2.0 * centres[c, j]
            norms[c] += centres[c, j] * centres[c, j]
    lows, dense, none = np.empty(k), np.zeros(d), np.zeros(k)
    changed, undecided = 0, 0
    for i in range(len(starts) - 1):
        lows[:] = norms * (1.0 - share)
        size = 0.0
        for e in range(starts[i], starts[i + 1]):
            value, line = np.float64(entries[e]), across[columns[e]]
            size += value * value
            for c in range(k):
                lows[c] += value * line[c]
        owner, runner_up = 0, np.inf
        for c in range(1, k):
            if lows[c] < lows[owner]:
                runner_up, owner = lows[owner], c
            elif lows[c] < runner_up:
                runner_up = lows[c]
        most = lows[owner] + share * (2.0 * size + 2.05 * norms[owner]) + 1e-300
        if not runner_up > most:
            undecided += 1
            for e in range(starts[i], starts[i + 1]):
                dense[columns[e]] += entries[e]
            owner = decide(dense, centres, lows, none, most)
            for e in range(starts[i], starts[i + 1]):
                dense[columns[e]] = 0.0
        centre = centres[owner]
        change = 0.0
        for e in range(starts[i], starts[i + 1]):
            change += entries[e] * (entries[e] - 2.0 * centre[columns[e]])
        distances[i] = max(0.0, norms[owner] + change)
        weight = weights[i] if len(weights) else 1.0
        changed += owner != labels[i] and weight > 0.0
        labels[i] = owner
        if len(sums) and weight > 0.0:
            for e in range(starts[i], starts[i + 1]):
                sums[owner, columns[e]] += weight * entries[e]
            of[0, owner] += weight
            of[1, owner] += weight * distances[i]
    return changed, undecided


@loop
def add_spread(X: Any, weights: Any, origin: Any, sums: Any, squares: Any) -> float:
    """Add rows and their squares, seen from the origin; return the weight."""
    n, d = X.shape
    total = 0.0
    for i in range(n):
        weight = weights[i] if len(weights) else 1.0
        if weight > 0.0:
            total += weight
            for j in range(d):
                difference = X[i, j] - origin[j]
                sums[j] += weight * difference
                squares[j] += weight * difference * difference
    return total


def warm() -> None:
    """Compile the loops of this module."""
    none, one = given(np.empty(0)), given(np.zeros(1))
    for dtype in (np.float32, np.float64):
        for d in (1, 9):
            X, centres = given(np.ones((1, d), dtype)), given(np.ones((2, d)))
            frame = LloydFrame(given(np.zeros(d)), 1.0, 1e-6, given(np.empty(0, np.float32)))
            bounds = LloydBounds(np.zeros((1, 1), np.float32), 0, 1.0, given(np.empty(0)))
            state = np.zeros(1, np.int32), np.zeros(1), np.zeros((2, d)), np.zeros((2, 2))
            assign(X, none, centres, frame, bounds, *state)
        add_spread(X, none, one, np.zeros(9), np.zeros(9))
        entries = given(np.ones(1, dtype)), given(np.zeros(1, np.int64)), given(np.array([0, 1]))
        assign_entries(*entries, none, centres, 1e-12, *state)
