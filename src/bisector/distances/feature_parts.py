"""What each feature adds to a distance, or to a power of it that is a sum over features."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bisector.distances.distance import Distance
from bisector.distances.minkowski import PowerDistance

Floats = NDArray[np.float64]


def feature_parts(distance: Distance, x: NDArray[Any], y: NDArray[Any]) -> tuple[str, Floats] | None:
    """Return what the sum of the parts is called, and the parts; None for a distance that is no such sum.

    Examples
    --------
    >>> import numpy as np
    >>> from bisector.distances import Euclidean, Manhattan
    >>> from bisector.distances.feature_parts import feature_parts
    >>> feature_parts(Euclidean(), np.array([1.0, 5.0]), np.array([4.0, 1.0]))
    ('squared distance', array([ 9., 16.]))
    >>> feature_parts(Manhattan(), np.array([1.0, 5.0]), np.array([4.0, 1.0]))
    ('distance', array([3., 4.]))
    """
    if not isinstance(distance, PowerDistance) or not np.isfinite(distance.order):
        return None
    apart = np.abs(np.asarray(x, np.float64) - np.asarray(y, np.float64))
    if not np.isfinite(apart).all():
        return None
    p = float(distance.order)
    parts = apart**p if distance.weights is None else np.asarray(distance.weights) * apart**p
    words = {1.0: "distance", 2.0: "squared distance"}
    return words.get(p, f"distance to the power {p:g}"), np.asarray(parts)
