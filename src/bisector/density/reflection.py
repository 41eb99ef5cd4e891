"""Boundaries: what bumps put beyond a limit is folded back, as if the limit were a mirror."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mirror_images(values: Floats, limits: Floats, reach: float) -> list[Floats]:
    """Return the places outside the limits, low and high, that fold back to these values, up to `reach` beyond.

    The first is the value itself.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.density.reflection import mirror_images
    >>> mirror_images(np.array([1.0]), np.array([0.0, np.inf]), 3.0)
    [array([1.]), array([-1.])]
    """
    low, high = limits
    images = [values]
    if np.isfinite(low):
        images.append(2 * low - values)
    if np.isfinite(high):
        images.append(2 * high - values)
    if np.isfinite(low) and np.isfinite(high):
        period = 2 * (high - low)
        for k in range(1, int((reach + high - low) / period) + 1):
            shift = k * period
            images += [
                values + shift,
                values - shift,
                2 * high - values + shift,
                2 * low - values - shift,
            ]
    return images


def reflected(rows: Floats, bounds: Floats, reach: Floats) -> list[Floats]:
    """Return the rows and all their mirror images at the bounds, those of each feature with those of the others."""
    columns = [mirror_images(rows[:, j], bounds[j], reach[j]) for j in range(rows.shape[1])]
    return [np.stack(chosen, axis=1) for chosen in product(*columns)]


def folded(rows: Floats, bounds: Floats) -> Floats:
    """Fold places beyond the bounds back into them."""
    found = rows.copy()
    for j, (low, high) in enumerate(bounds):
        column = found[:, j]
        if np.isfinite(low) and np.isfinite(high):
            along = np.mod(column - low, 2 * (high - low))
            column = low + np.minimum(along, 2 * (high - low) - along)
        elif np.isfinite(low):
            column = low + np.abs(column - low)
        elif np.isfinite(high):
            column = high - np.abs(high - column)
        found[:, j] = column
    return found
