"""Means and scatters of checked rows, that keep their digits far from zero."""

import numpy as np

from bisector.distances.numeric_rows import NumericRows
from bisector.distances.reductions import cut
from bisector.exemplars.rows import Floats

# Rows are read in blocks of about so many numbers, so that what is made of a block stays in the cache.
_BLOCK = 2**17


def mean_of(rows: NumericRows, weights: Floats | None) -> Floats:
    shares = _shares(rows, weights)
    if rows.sparse:
        return np.asarray(rows.values.T @ shares, dtype=np.float64).ravel()
    rough = mean_about(rows, weights, np.zeros(rows.n_features))
    # Sums round by the size of their terms: far from zero, those of the differences to the mean are better.
    return rough + mean_about(rows, weights, rough)


def mean_about(rows: NumericRows, weights: Floats | None, origin: Floats) -> Floats:
    """Return the mean of x − origin over the rows x."""
    shares = _shares(rows, weights)
    total = np.zeros(rows.n_features)
    for part in _blocks(rows):
        total += shares[part.start : part.stop] @ (rows.dense(part) - origin)
    return total


def scatter_about(rows: NumericRows, weights: Floats | None, centre: Floats) -> float:
    """Return the scatter of rows whose mean is `centre`, up to the rounding of its digits."""
    total, offset, weight = 0.0, np.zeros(rows.n_features), 0.0
    for part in _blocks(rows):
        counts = np.ones(len(part)) if weights is None else weights[part.start : part.stop]
        differences = rows.dense(part) - centre
        total += float(counts @ np.einsum("ij,ij->i", differences, differences))
        offset += counts @ differences
        weight += float(counts.sum())
    return max(0.0, total - float(offset @ offset) / weight)


def _shares(rows: NumericRows, weights: Floats | None) -> Floats:
    return np.full(len(rows), 1 / len(rows)) if weights is None else weights / weights.sum()


def _blocks(rows: NumericRows) -> list[range]:
    return cut(len(rows), max(1, _BLOCK // rows.n_features))
