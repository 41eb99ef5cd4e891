"""Sums that are rounded once, so that the order of their terms does not matter."""

import math

import numpy as np

from bisector.exemplars.rows import Floats


def exact_sums(table: Floats, weights: Floats | None, *, squared: bool, about: float) -> list[float]:
    """Return the weighted sum of each row of a table, or of its squares, rounded once at the end.

    Each term is cut into pieces of so few digits that sums of pieces of equal place have no rounding error.
    Digits beyond the hundredth binary place of the sum are left out, term by term.

    Parameters
    ----------
    table : ndarray of shape (n, m)
        No entry is negative.
    weights : ndarray of shape (m,) or None
    squared : bool
    about : float
        The largest sum, but for rounding.
    """
    parts, exponent = [table], 0
    if squared:
        exponent = int(np.frexp(about)[1]) // 2 * 2
        high, low = _halves(np.ldexp(table, -exponent // 2))
        parts = [high * high, 2 * high * low, low * low]
    if weights is not None:
        heaviest = int(np.frexp(weights.max())[1])
        halves = _halves(np.ldexp(weights, -heaviest))
        parts = [piece * half for part in parts for piece in _halves(part) for half in halves]
        exponent += heaviest
    to_one = int(np.frexp(about)[1]) + 1 - exponent  # beyond this power of two is no sum
    parts = [np.ldexp(part, -to_one) for part in parts]
    # Adding 1.5·2ᵏ and taking it away again rounds to multiples of 2^(k−52). What is left over is so small that
    # the sums of all of it fit into the next round.
    place, spare = 1, math.ceil(math.log2(2 * table.shape[1])) + 3
    sums = []
    for _ in range(3):
        rounder = math.ldexp(1.5, place)
        total = np.zeros(len(table))
        for part in parts:
            piece = (part + rounder) - rounder
            part -= piece
            total += piece.sum(axis=1)
        sums.append(total)
        place += spare - 52
    return [math.ldexp(math.fsum(row), to_one + exponent) for row in zip(*sums, strict=True)]


def _halves(values: Floats) -> tuple[Floats, Floats]:
    """Cut numbers into two of half as many digits, whose products have no rounding error (Veltkamp)."""
    scaled = values * 134217729.0
    high = scaled - (scaled - values)
    return high, values - high
