"""Compiled step of expectation maximisation: from whitened rows to the shares of the components."""

from typing import Any

import numpy as np

from bisector.engine.exponential import decay
from bisector.engine.loops import given, loop


@loop
def share_rows(whitened: Any, offsets: Any, heights: Any, weights: Any, roots: Any, totals: Any) -> None:
    """Write, for every row, the roots of its weighted shares, and the logarithm of its density.

    Rows stand side by side, and ``whitened[k * d + c]`` is coordinate c as component k measures it, so that all
    loops run over rows.
    """
    k, n = roots.shape
    d = len(offsets) // k
    peaks = np.full(n, -np.inf)
    for j in range(k):
        parts, height = roots[j], heights[j]
        for i in range(n):
            parts[i] = 0.0
        for c in range(j * d, (j + 1) * d):
            line, offset = whitened[c], offsets[c]
            for i in range(n):
                away = line[i] - offset
                parts[i] += away * away
        for i in range(n):
            parts[i] = height - 0.5 * parts[i]
            peaks[i] = max(peaks[i], parts[i])
    for i in range(n):
        totals[i] = 0.0
    for j in range(k):
        parts = roots[j]
        for i in range(n):
            parts[i] = decay(parts[i] - peaks[i])
            totals[i] += parts[i]
    scales = weights / totals
    for j in range(k):
        parts = roots[j]
        for i in range(n):
            parts[i] = np.sqrt(parts[i] * scales[i])
    for i in range(n):
        totals[i] = peaks[i] + np.log(totals[i])


def warm() -> None:
    """Compile the loops of this module."""
    one = given(np.ones(1))
    share_rows(given(np.ones((1, 1))), one, one, one, np.empty((1, 1)), np.empty(1))
