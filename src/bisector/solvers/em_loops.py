"""Compiled steps of expectation maximisation: products of coordinates, and from logarithms to shares.

Rows stand side by side, so that all loops run over rows.
"""

from typing import Any

import numpy as np

from bisector.engine.exponential import decay
from bisector.engine.loops import given, loop


@loop
def write_products(rows: Any, products: Any) -> None:
    """Write 1, yᵢ and yᵢyⱼ (i ≤ j) of every row's coordinates, ``rows[i]`` being coordinate i of all rows."""
    d, n = rows.shape
    place = 1 + d
    for b in range(n):
        products[0, b] = 1.0
    for i in range(d):
        first, copied = rows[i], products[1 + i]
        for b in range(n):
            copied[b] = first[b]
        for j in range(i, d):
            second, product = rows[j], products[place]
            for b in range(n):
                product[b] = first[b] * second[b]
            place += 1


@loop
def share_rows(parts: Any, weights: Any, totals: Any) -> None:
    """Turn the logarithms of the components at every row into weighted shares, and write that of their sum."""
    k, n = parts.shape
    peaks = np.full(n, -np.inf)
    for j in range(k):
        logs = parts[j]
        for b in range(n):
            peaks[b] = max(peaks[b], logs[b])
    for b in range(n):
        totals[b] = 0.0
    for j in range(k):
        logs = parts[j]
        for b in range(n):
            logs[b] = decay(logs[b] - peaks[b])
            totals[b] += logs[b]
    scales = weights / totals
    for j in range(k):
        shares = parts[j]
        for b in range(n):
            shares[b] *= scales[b]
    for b in range(n):
        totals[b] = peaks[b] + np.log(totals[b])


def warm() -> None:
    """Compile the loops of this module."""
    write_products(given(np.ones((1, 1))), np.empty((3, 1)))
    share_rows(np.zeros((1, 1)), given(np.ones(1)), np.empty(1))
