"""Do two contestants give the same answer?"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Difference(NamedTuple):
    """How far two answers lie apart: the largest relative ``size`` over all arrays, and ``where`` it is.

    Answers that cannot be compared (other names or shapes, NaN against a number) are infinitely far apart.
    """

    size: float
    where: str


def difference(ours: Mapping[str, np.ndarray], peer: Mapping[str, np.ndarray]) -> Difference:
    """Largest difference between two answers, relative to the largest absolute value in its array.

    Examples
    --------
    >>> import numpy as np
    >>> difference({"coef": np.array([1.0, 10.0])}, {"coef": np.array([1.5, 10.0])})
    Difference(size=0.05, where='coef')
    """
    if set(ours) != set(peer):
        return Difference(np.inf, f"names {sorted(ours)} against {sorted(peer)}")
    worst = Difference(0.0, "")
    for name in sorted(ours):
        a, b = np.asarray(ours[name]), np.asarray(peer[name])
        if a.shape != b.shape:
            return Difference(np.inf, f"{name}: shape {a.shape} against {b.shape}")
        size = _relative(a, b)
        if size > worst.size:
            worst = Difference(size, name)
    return worst


def _relative(a: np.ndarray, b: np.ndarray) -> float:
    if np.array_equal(a, b):
        return 0.0
    if not (np.issubdtype(a.dtype, np.number) and np.issubdtype(b.dtype, np.number)):
        return np.inf
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return np.inf
    a, b = a[finite], b[finite]
    gap = np.abs(a - b).max(initial=0.0)
    return float(gap / max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))) if gap else 0.0
