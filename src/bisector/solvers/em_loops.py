"""Compiled step of expectation maximisation: from whitened rows to the shares of the components."""

from typing import Any

import numpy as np

from bisector.engine.exponential import decay
from bisector.engine.loops import given, loop


@loop(fast=True)
def add_square_lengths(whitened: Any, offsets: Any, k: int, d: int, row: int, parts: Any) -> None:
    """Write −½ of the squared distance from every component's mean."""
    line = whitened[row]
    for j in range(k):
        total = 0.0
        for c in range(j * d, (j + 1) * d):
            away = line[c] - offsets[c]
            total += away * away
        parts[j] = -0.5 * total


@loop
def share_rows(whitened: Any, offsets: Any, heights: Any, weights: Any, roots: Any, totals: Any) -> None:
    """Write, for every row, the roots of its weighted shares, and the logarithm of its density."""
    k = len(heights)
    d = len(offsets) // k
    parts = np.empty(k)
    for row in range(len(whitened)):
        add_square_lengths(whitened, offsets, k, d, row, parts)
        peak = -np.inf
        for j in range(k):
            parts[j] += heights[j]
            peak = max(peak, parts[j])
        total = 0.0
        for j in range(k):
            parts[j] = decay(parts[j] - peak)
        for j in range(k):
            total += parts[j]
        totals[row] = peak + np.log(total)
        scale = weights[row] / total
        for j in range(k):
            roots[j, row] = np.sqrt(parts[j] * scale)


def warm() -> None:
    """Compile the loops of this module."""
    one = given(np.ones(1))
    share_rows(given(np.ones((1, 1))), one, one, one, np.empty((1, 1)), np.empty(1))
